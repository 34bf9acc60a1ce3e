"""A cone of the walk as it is entered: what it measures, whether there is room, where the walk ends, and which edge is
to be bisected."""

from __future__ import annotations

import numpy as np

from relu_cert.cover.small import coordinates, positive_sum, reaches, without_noise
from relu_cert.cover.stack import DEEPEST, LONGEST, NODES, ROOM

MOST_BITS = 52


def is_full(tape):
    """Whether the tape may have too little room for one more node."""
    return (
        tape.used[0] + 2 > tape.codes.shape[0]
        or tape.used[1] + 2 > tape.multipliers.shape[0]
        or tape.used[2] + ROOM > tape.data.shape[0]
        or tape.used[3] + 2 > tape.rows.shape[0]
    )


def enter(stack, cur, room, d):
    """Count the node; f1 at its generators, their products; the bits of the longest generator that is no tip."""
    f1, M, G = room.f1, room.M, stack.G[cur]
    longest = np.int64(0)
    for i in range(d):
        f1[i] = stack.lin[cur, i] + positive_sum(stack.VP[cur, i], stack.n_P[cur])
        if stack.ray[cur, i] < 0:
            longest = max(longest, stack.bits[cur, i])
        for j in range(i, d):
            s = 0.0
            for l in range(d):
                s += G[i, l] * G[j, l]
            M[i, j] = s
            M[j, i] = s
    stack.counts[NODES] += 1
    stack.counts[DEEPEST] = max(stack.counts[DEEPEST], stack.depth[cur])
    stack.counts[LONGEST] = max(stack.counts[LONGEST], longest)
    return longest


def too_deep(stack, cur, longest, most_depth, d):
    """Whether the cone may not be split: too deep, too many bits, no room (a star has up to d cones), or no edge."""
    return stack.depth[cur] >= most_depth or longest > MOST_BITS or cur + d > stack.depth.shape[0] or d == 1


def point_out(stack, cur, t, d):
    """Note sum t_i g_i as the point at which the walk ends."""
    for j in range(d):
        s = 0.0
        for i in range(d):
            s += t[i] * stack.G[cur, i, j]
        stack.at[j] = s


def meets(ties, stack, cur, a, room, d):
    """Whether a ray, or a plane near its neuron, passes through the cone."""
    G, found, slope = stack.G[cur], room.found, room.slope
    if not coordinates(G, ties.ray[a], d, found, room.wide):
        return False
    low = ties.span[a, 0]
    high = ties.span[a, 1]
    plane = high > low
    if plane:
        coordinates(G, ties.across[a], d, slope, room.wide)
        reaches(G, d, room.axis, room.mix, room.reach, room.wide)
        without_noise(found, room.reach, d)
        without_noise(slope, room.reach, d)
    for i in range(d):
        if plane and slope[i] > 0.0:
            low = max(low, -found[i] / slope[i])
        elif plane and slope[i] < 0.0:
            high = min(high, -found[i] / slope[i])
        elif found[i] < -1e-11:
            return False
    return not plane or high >= low


def all_through(ties, stack, cur, a):
    """Whether all convex lines that cross the cone pass through a ray or plane."""
    for k in range(stack.n_P[cur]):
        if ties.ray_P[a, stack.IP[cur, k]] == 0:
            return False
    return True


FROM_ENDS = 0.25  # of an edge: splits stay so far from its ends
EVEN = 0.06  # of the largest coordinate of the point with the largest bound: so much counts for every generator


def middle(a, b, n):
    """The mean place, from 0 to 1, at which convex lines cross an edge, by the mass of their kinks."""
    mass = 0.0
    place = 0.0
    for k in range(n):
        if a[k] * b[k] < 0.0:
            m = min(abs(a[k]), abs(b[k]))
            mass += m
            place += m * a[k] / (a[k] - b[k])
    return min(max(place / mass, FROM_ENDS), 1.0 - FROM_ENDS) if mass > 0.0 else 0.5


def taken(a, b, n):
    """What a new generator at the middle of an edge takes from the interpolation of f1, each end counted alike."""
    s = middle(a, b, n)
    mass = 0.0
    for k in range(n):
        if a[k] * b[k] < 0.0:
            mass += (1.0 - s) * max(a[k], 0.0) + s * max(b[k], 0.0) - max((1.0 - s) * a[k] + s * b[k], 0.0)
    return mass / np.sqrt(s * (1.0 - s))


def choose_edge(stack, cur, room, d):
    """The edge to bisect, of those not tried, and marked as tried: where that takes most from the interpolation of f1,
    above all where the bound is largest."""
    M, t, tried, VP = room.M, room.best, room.tried, stack.VP[cur]
    best = -1.0
    first = 0
    second = 1
    n = stack.n_P[cur]
    even = 0.0
    for i in range(d):
        even = max(even, EVEN * t[i])
    for pass_ in range(2):
        for i in range(d):
            for j in range(i + 1, d):
                if tried[i, j] == 0:
                    if n == 0 or pass_ == 1:
                        s = 1.0 - M[i, j]
                    else:
                        s = taken(VP[i], VP[j], n) * np.sqrt((t[i] + even) * (t[j] + even))
                    if s > best:
                        best = s
                        first = i
                        second = j
        if best > 0.0:
            break
        best = -3.0
    tried[first, second] = 1
    return first, second


def bring_forward(ties, stack, cur, through, d):
    """The convex lines that do not pass through a ray or plane come first; how many they are."""
    lines = 0
    for k in range(stack.n_P[cur]):
        row = stack.IP[cur, k]
        if ties.ray_P[through, row] == 0:
            stack.IP[cur, k] = stack.IP[cur, lines]
            stack.IP[cur, lines] = row
            for i in range(d):
                v = stack.VP[cur, i, k]
                stack.VP[cur, i, k] = stack.VP[cur, i, lines]
                stack.VP[cur, i, lines] = v
            lines += 1
    return lines


def choose_edges(ties, stack, cur, through, many, d, room):
    """Note so many edges to bisect, the best first; those lines count that do not pass through a ray or plane inside
    the cone."""
    for i in range(d):
        for j in range(d):
            room.tried[i, j] = 0
    n = stack.n_P[cur]
    if through >= 0:
        stack.n_P[cur] = bring_forward(ties, stack, cur, through, d)
    for e in range(many):
        room.edges[e, 0], room.edges[e, 1] = choose_edge(stack, cur, room, d)
    stack.n_P[cur] = n
