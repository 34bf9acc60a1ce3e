"""A cone of the walk as it is entered: what it measures, whether there is room, where the walk ends."""

from __future__ import annotations

import numpy as np

from relu_cert.cover.small import coordinates, positive_sum
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
    for i in range(d):
        if plane and slope[i] > 1e-11:
            low = max(low, -found[i] / slope[i])
        elif plane and slope[i] < -1e-11:
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
