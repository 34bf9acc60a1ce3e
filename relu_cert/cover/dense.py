"""The walk where rows are many and nothing ties: every new generator, and every atom, looks at all rows.

No values are carried along: f1, f2 and their gradients at a point are one pass over the rows, in short loops without
branches. Every few levels those that cross the cone are copied, if they are few, and the others added up. Kinks between
two generators are measured by gradients: f1(g_i) - f1'(g_j).g_i is the mass of the convex rows that change sign, and
what a new generator takes from the interpolation of f1 follows. What is written is what `walk` writes, but for splits
by signs and at ties. Rows are floats of 32 bits, which is enough for leaves that hold with some room (`delta`); one
whose sign at an atom integers may tell otherwise counts against the cone.
"""

from __future__ import annotations

from types import FunctionType

import numpy as np

from relu_cert.cover.cones import bisect, place_root
from relu_cert.cover.leaf import seen_products, strict_leaf
from relu_cert.cover.node import EVEN, FROM_ENDS, enter, is_full, point_out, too_deep
from relu_cert.cover.stack import (
    DONE,
    FULL,
    GO_ON,
    LEAVES,
    OFFSET,
    PENDING,
    STEP,
    STUCK,
    TOP,
    UNSTARRED,
    VIOLATED,
    VISIT,
    Integers,
    Room,
    SignedProblem,
    Stack,
)

DOUBT = 1e-6  # a height whose sign integers may tell otherwise, relative to the lengths of both vectors
NOTHING, HUGE = np.float32(0.0), np.float32(3e38)
FEWER = 0.7  # rows that cross a cone are copied if they are at most this part of those looked at so far


def times(h, q, x):
    """h = q x"""
    for k in range(h.shape[0]):
        h[k] = q * x[k]


def add_times(h, q, x):
    """h = h + q x"""
    for k in range(h.shape[0]):
        h[k] += q * x[k]


def add_on(lanes, h, x):
    """lanes = lanes + x where h > 0"""
    for k in range(h.shape[0]):
        lanes[k] += x[k] if h[k] > NOTHING else NOTHING


def lowest_of(low, h):
    """low = min(low, h)"""
    for k in range(h.shape[0]):
        low[k] = min(low[k], h[k])


def highest_of(high, h):
    """high = max(high, h)"""
    for k in range(h.shape[0]):
        high[k] = max(high[k], h[k])


def least_of(least, h):
    """least = min(least, |h|)"""
    for k in range(h.shape[0]):
        least[k] = min(least[k], abs(h[k]))


def heights_of(rows, begin, p, heights):
    """p.z of the rows z from here on, as many as there is room for."""
    end = begin + heights.shape[0]
    times(heights, np.float32(p[0]), rows[0, begin:end])
    for l in range(1, rows.shape[0]):
        add_times(heights, np.float32(p[l]), rows[l, begin:end])


def sum_on(rows, begin, end, p, total, room):
    """Add the sum of the rows z with z.p > 0 among those of numbers from `begin` to `end` (columns here). The least
    |z.p| are noted."""
    heights, lanes, least = room.heights, room.lanes, room.least
    for k in range(lanes.shape[1]):
        for l in range(rows.shape[0]):
            lanes[l, k] = NOTHING
        least[k] = HUGE
    for at in range(begin, end, heights.shape[0]):
        m = min(heights.shape[0], end - at)
        heights_of(rows, at, p, heights[:m])
        least_of(least[:m], heights[:m])
        for l in range(rows.shape[0]):
            add_on(lanes[l, :m], heights[:m], rows[l, at : at + m])
    for k in range(lanes.shape[1]):
        for l in range(rows.shape[0]):
            total[l] += lanes[l, k]


def crossing(rows, begin, end, G, base, doubt, room):
    """Copy the rows that may cross a cone behind the others, and add those that are on in all of it to `base`; where
    the copies end, or -1 if they are not few."""
    heights, low, high = room.heights, room.lanes[0], room.lanes[1]
    d, most = rows.shape
    last = min(most, end + np.int64(FEWER * (end - begin)))
    n = end
    for at in range(begin, end, heights.shape[0]):
        m = min(heights.shape[0], end - at)
        for i in range(d):
            heights_of(rows, at, G[i], heights[:m])
            if i == 0:
                times(low[:m], np.float32(1.0), heights[:m])
                times(high[:m], np.float32(1.0), heights[:m])
            lowest_of(low[:m], heights[:m])
            highest_of(high[:m], heights[:m])
        for k in range(m):
            if low[k] < doubt and high[k] > -doubt:
                if n == last:
                    return -1
                for l in range(d):
                    rows[l, n] = rows[l, at + k]
                n += 1
            elif high[k] > NOTHING:
                for l in range(d):
                    base[l] += rows[l, at + k]
    return n


def look_nearer(side, stack, cur, room, d):
    """From here on only the rows that cross the cone are looked at, where these are few."""
    near, base, kept = stack.near[cur], stack.base[cur], room.kept
    doubt = DOUBT * side.lengths[0]
    near[4] = stack.depth[cur]
    for k in range(2):
        for l in range(d):
            kept[k, l] = base[k, l]
    n_P = crossing(room.near_P, near[0], near[1], stack.G[cur], kept[0], doubt, room)
    n_N = crossing(room.near_N, near[2], near[3], stack.G[cur], kept[1], doubt, room) if n_P >= 0 else n_P
    if n_N >= 0:
        near[0], near[1], near[2], near[3] = near[1], n_P, near[3], n_N
        for k in range(2):
            for l in range(d):
                base[k, l] = kept[k, l]


def atom(side, stack, cur, room, q, W):
    """W_i = a.g_i for the sum a of the concave rows that are on at sum (STEP q_i + OFFSET) g_i."""
    d = side.frame.shape[0]
    G, point, total = stack.G[cur], room.point, room.total
    for l in range(d):
        point[l] = 0.0
        for i in range(d):
            point[l] += (STEP * q[i] + OFFSET) * G[i, l]
    near = stack.near[cur]
    for l in range(d):
        total[l] = stack.base[cur, 1, l]
    sum_on(room.near_N, near[2], near[3], point, total, room)
    size = 0.0
    for i in range(d):
        W[i] = 0.0
        for l in range(d):
            W[i] += total[l] * G[i, l]
        size += point[i] * point[i]
    doubt = DOUBT * np.sqrt(size) * side.lengths[0]
    for k in range(room.least.shape[0]):
        if room.least[k] < doubt:
            against(room.near_N, near[2] + k, near[3], room.least.shape[0], point, doubt, G, W)


def against(rows, begin, end, every, p, doubt, G, W):
    """Rows z with |z.p| below `doubt` may be on or off: the worse of both, for every generator."""
    d = rows.shape[0]
    for k in range(begin, end, every):
        h = 0.0
        for l in range(d):
            h += p[l] * rows[l, k]
        if abs(h) < 2.0 * doubt:
            for i in range(d):
                s = 0.0
                for l in range(d):
                    s += rows[l, k] * G[i, l]
                W[i] -= abs(s)


dense_leaf = FunctionType(strict_leaf.__code__, {**strict_leaf.__globals__, "atom": atom})


def look(side, stack, cur, i, room):
    """Note f1, its gradient, and f2 at a generator; (f1 - f2)(g) / |g|."""
    d = side.frame.shape[0]
    g, slope, total, near = stack.G[cur, i], stack.slopes[cur, i], room.total, stack.near[cur]
    for l in range(d):
        slope[l] = stack.base[cur, 0, l]
        total[l] = stack.base[cur, 1, l]
    sum_on(room.near_P, near[0], near[1], g, slope, room)
    sum_on(room.near_N, near[2], near[3], g, total, room)
    f1 = 0.0
    f2 = 0.0
    size = 0.0
    for l in range(d):
        f1 += slope[l] * g[l]
        f2 += total[l] * g[l]
        if side.unseen == 0.0 or l < d - 1:
            size += g[l] * g[l]
    stack.lin[cur, i] = f1
    stack.low[cur, i] = f2
    return (f1 - f2) / np.sqrt(max(size, 1e-300))


def kinks(stack, cur, i, j, d):
    """The mass at g_i of the convex rows that change sign between g_i and g_j."""
    s = stack.lin[cur, i]
    for l in range(d):
        s -= stack.slopes[cur, j, l] * stack.G[cur, i, l]
    return max(s, 0.0)


def widest(stack, cur, room, d):
    """The edge to bisect: where that takes most from the interpolation of f1, above all where the bound is largest."""
    M, t = room.M, room.best
    even = 0.0
    for i in range(d):
        even = max(even, EVEN * t[i])
    best = -1.0
    first = 0
    second = 1
    for i in range(d):
        for j in range(i + 1, d):
            mass = np.sqrt(kinks(stack, cur, i, j, d) * kinks(stack, cur, j, i, d))
            s = mass * np.sqrt((t[i] + even) * (t[j] + even)) + 1e-9 * (1.0 - M[i, j])
            if s > best:
                best = s
                first = i
                second = j
    return first, second


def part(side, stack, tape, cur, room):
    """Bisect a cone; (f1 - f2)(g) / |g| of the new generator g, which is noted as the point at which a walk may end."""
    d = side.frame.shape[0]
    i, j = widest(stack, cur, room, d)
    a, b = kinks(stack, cur, i, j, d), kinks(stack, cur, j, i, d)
    s = min(max(a / (a + b), FROM_ENDS), 1.0 - FROM_ENDS) if a + b > 0.0 else 0.5
    ratio = np.log2(stack.size[cur, i] / stack.size[cur, j]) - np.log2((1.0 - s) / s)
    for l in range(d):
        for k in range(d):
            stack.slopes[cur + 1, k, l] = stack.slopes[cur, k, l]
        for k in range(2):
            stack.base[cur + 1, k, l] = stack.base[cur, k, l]
    for k in range(5):
        stack.near[cur + 1, k] = stack.near[cur, k]
    bisect(side, stack, tape, cur, i, j, ratio, room)
    value = look(side, stack, cur, i, room)
    stack.lin[cur + 1, j] = stack.lin[cur, i]
    stack.low[cur + 1, j] = stack.low[cur, i]
    for l in range(d):
        stack.slopes[cur + 1, j, l] = stack.slopes[cur, i, l]
        stack.at[l] = stack.G[cur, i, l]
    return value


def walk_dense(side, stack, tape, room, budget, most_depth, violation):
    """Go on for at most `budget` nodes: DONE, GO_ON, FULL (the tape), STUCK (too deep, or too many bits), or VIOLATED
    (the value at a generator, `at`, exceeds `violation`)."""
    d = side.frame.shape[0]
    counts = stack.counts
    if counts[PENDING] != VISIT:
        for i in range(d):
            look(side, stack, 0, i, room)
        counts[PENDING] = VISIT
    while counts[TOP] > 0:
        if budget == 0:
            return GO_ON
        if is_full(tape):
            return FULL
        budget -= 1
        cur = counts[TOP] - 1
        longest = enter(stack, cur, room, d)
        for i in range(d):
            room.b[i] = room.f1[i]
            room.best[i] = 1.0
        if side.unseen > 0.0:
            seen_products(stack.G[cur], d, side.unseen, room.T, room.R)
        if dense_leaf(side, stack, tape, cur, room):
            counts[LEAVES] += 1
            counts[TOP] -= 1
            continue
        if stack.depth[cur] >= stack.near[cur, 4] + d:
            look_nearer(side, stack, cur, room, d)
        if too_deep(stack, cur, longest, most_depth, d):
            point_out(stack, cur, room.best, d)
            return STUCK
        if part(side, stack, tape, cur, room) > violation:
            return VIOLATED
    return DONE


def start_dense(side: SignedProblem, stack: Stack, room: Room, cone: Integers) -> None:
    """Put a root cone on the stack, whose generators are still to be looked at, and all rows in the room."""
    place_root(side, stack, cone)
    room.near_P[:, : side.P.shape[1]] = side.P
    room.near_N[:, : side.N.shape[1]] = side.N
    stack.near[0] = 0, side.P.shape[1], 0, side.N.shape[1], 0
    stack.base[0] = side.c0, 0.0 * side.c0
    stack.counts[PENDING] = UNSTARRED
