"""The edge on which a cone is bisected: where the lines with the most kink mass cross it."""

from __future__ import annotations

import numpy as np

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
