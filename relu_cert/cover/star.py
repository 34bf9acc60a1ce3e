"""Cones at stars: where a ray that the data fix (all its rows are tight) lies in a cone, the cone is split into a star
at the ray; where a plane does, into stars at the ends of the part of the plane inside the cone.

The ray, or the end, takes the place of each generator in turn and is a tip of the children. They are proved with the
gradient c on the ray or plane, or bisected away from their tips, until no cone with tips is left.
"""

from __future__ import annotations

import numpy as np

from relu_cert.cover.cones import bisect, insert
from relu_cert.cover.leaf import quantised, weights, write_atoms
from relu_cert.cover.node import enter, is_full, point_out, too_deep
from relu_cert.cover.small import coordinates, reaches, without_noise
from relu_cert.cover.stack import (
    AT_STAR,
    FACE,
    FULL,
    GO_ON,
    LEAVES,
    PENDING,
    RAY,
    STAR,
    STEPS,
    STUCK,
    TOP,
    UNSTARRED,
    VISIT,
    WEIGHT,
)

TOUCHES = 2.0**-24  # a row through a ray is switched on only well above the ray's plane


def all_rows(side, ties, stack, cur, name, f1, margin, points, whole, count, left, v):
    """Whether a star leaf holds with all concave rows, those that do not cross the cone among them: a row that touches
    it counts only for the points at which it is on, and where floats leave that open, for the worse of both."""
    d = side.frame.shape[0]
    for i in range(d):
        left[i] = -f1[i] - margin
        for l in range(d):
            left[i] += ties.c[name, l] * stack.G[cur, i, l]
    for k in range(side.N.shape[0]):
        for i in range(d):
            v[i] = 0.0
            for l in range(d):
                v[i] += side.N[k, l] * stack.G[cur, i, l]
        share = 0.0
        other = 0.0
        if ties.ray_N[name, k] == 0:
            height = 0.0
            for l in range(d):
                height += side.N[k, l] * ties.ray[name, l]
            share = 1.0 if height > 0.0 else 0.0
            other = share
        else:
            for a in range(count):
                height = 0.0
                size = 0.0
                for l in range(d):
                    x = 0.0
                    for i in range(d):
                        if stack.ray[cur, i] < 0:
                            x += points[a, i] * stack.G[cur, i, l]
                    size += x * x
                    height += side.N[k, l] * x
                height /= TOUCHES * side.lengths[k] * np.sqrt(size)
                if height > 0.9:
                    share += whole[a] / WEIGHT
                if height > 1.1:
                    other += whole[a] / WEIGHT
        for i in range(d):
            left[i] += min(share * v[i], other * v[i])
    least = 0.0
    for i in range(d):
        if stack.ray[cur, i] < 0:
            least = min(least, left[i])
    return least == 0.0


def star_leaf(side, ties, stack, tape, cur, name, room):
    """Prove a cone with tips on a ray or plane: its c, and atoms on the concave rows through it only; `off` has the
    products of the generators' parts orthogonal to it."""
    M, off, f1, r, t, W, W2, dW, y = room.M, room.off, room.f1, room.r, room.t, room.W, room.W2, room.dW, room.new
    q, tq, shares, points, whole, AT = room.q, room.tq, room.shares, room.points, room.whole, room.AT
    d = M.shape[0]
    n_N = stack.n_N[cur]
    V = stack.VN[cur]
    tips = stack.ray[cur]
    margin = 1.0
    for i in range(d):
        if tips[i] < 0:
            margin = min(margin, off[i, i])
    margin = 1e-5 * np.sqrt(max(margin, 1e-20))
    for i in range(d):
        w = f1[i] - stack.low[cur, i]
        for l in range(d):
            w -= ties.c[name, l] * stack.G[cur, i, l]
        r[i] = w
        t[i] = 1.0 if tips[i] < 0 else 0.0
    for k in range(n_N):
        row = stack.IN[cur, k]
        if ties.ray_N[name, row] == 0:
            height = 0.0
            for l in range(d):
                height += side.N[row, l] * ties.ray[name, l]
            if height > 0.0:
                for i in range(d):
                    r[i] -= V[i, k]
    count = np.int64(0)
    for _ in range(STEPS):
        quantised(t, d, q, tq, 255.0)
        for i in range(d):
            if tips[i] < 0 and q[i] == 0:  # inside the cone: a line through its border is on at no point of the border
                q[i] = 1
                tq[i] = 1.0
        size = 0.0
        for i in range(d):
            for j in range(d):
                size += tq[i] * tq[j] * M[i, j]
        size = np.sqrt(size)
        for k in range(n_N):
            w = 0.0
            for i in range(d):
                if tips[i] < 0:
                    w += tq[i] * V[i, k]
            y[k] = w - TOUCHES * side.lengths[stack.IN[cur, k]] * size
        for i in range(d):
            w = 0.0
            if tips[i] < 0:
                for k in range(n_N):
                    if ties.ray_N[name, stack.IN[cur, k]] == 1 and y[k] > 0.0:
                        w += V[i, k]
            W2[i] = w
        if count == 0:
            for i in range(d):
                W[i] = W2[i]
                AT[0, i] = W2[i]
                points[0, i] = q[i]
            count = np.int64(1)
            shares[0] = 1.0
        else:
            p = 0.0
            for i in range(d):
                if tips[i] < 0:
                    p += tq[i] * (r[i] + margin - W2[i])
            if p > 0.0:
                return False
            away = -1
            lowest = 1e300
            for a in range(count):
                if shares[a] > 0.0:
                    w = 0.0
                    for i in range(d):
                        w += AT[a, i] * tq[i]
                    if w < lowest:
                        lowest = w
                        away = a
            for i in range(d):
                dW[i] = W2[i] - AT[away, i]
            high = shares[away]
            low = 0.0
            gamma = high
            for step in range(10):
                gamma = 0.5 * (low + high) if step > 0 else high
                w = 0.0
                for i in range(d):
                    if tips[i] < 0:
                        w += dW[i] * max(r[i] + 2.0 * margin - W[i] - gamma * dW[i], 0.0)
                if step == 0 and w >= 0.0:
                    break
                if w > 0.0:
                    low = gamma
                else:
                    high = gamma
            for i in range(d):
                W[i] += gamma * dW[i]
            shares[away] -= gamma
            place = away
            if shares[away] > 1e-12:
                place = count
                count += 1
            for i in range(d):
                AT[place, i] = W2[i]
                points[place, i] = q[i]
            shares[place] = gamma
        weights(shares, count, whole)
        good = True
        left = 0.0
        for i in range(d):
            if tips[i] < 0:
                w = 0.0
                for a in range(count):
                    w += whole[a] * AT[a, i]
                if w / WEIGHT < r[i] + margin:
                    good = False
                t[i] = max(r[i] + 2.0 * margin - W[i], 0.0)
                left += t[i]
        if good and not all_rows(side, ties, stack, cur, name, f1, margin, points, whole, count, room.e, room.x):
            return False
        if good:
            n = tape.used[2]
            tape.codes[tape.used[0]] = RAY
            tape.used[0] += 1
            tape.data[n] = ties.ray_names[name]
            tape.used[2] = write_atoms(tape.data, n + 1, points, whole, count, d)
            return True
        if left <= 0.0:
            return False
    return False


def cut_plane(side, ties, stack, tape, cur, name, length, room):
    """Bisect a cone without tips along a plane whose pattern changes in it, if it is no wider across the plane: all
    lines that cross it pass through the plane, and no other edge would part what is beyond."""
    d = side.frame.shape[0]
    first = 0
    last = 0
    least = 1e300
    most = -1e300
    for i in range(d):
        x = 0.0
        y = 0.0
        size = 0.0
        for l in range(d):
            x += ties.ray[name, l] * stack.G[cur, i, l]
            y += ties.across[name, l] * stack.G[cur, i, l]
            size += stack.G[cur, i, l] ** 2
        if stack.ray[cur, i] >= 0 or x <= 0.0 or size - x * x - y * y > length * length * x * x:
            return False
        if y / x < least:
            least = y / x
            first = i
        if y / x > most:
            most = y / x
            last = i
    if first == last:
        return False
    i = min(first, last)
    j = max(first, last)
    bisect(side, stack, tape, cur, i, j, np.log2(stack.size[cur, i] / stack.size[cur, j]), room)
    return True


def face_split(side, ties, stack, tape, cur, name, room):
    """Split at an end of the part of a plane that lies in the cone, if that end is no generator."""
    d, D = side.frame.shape
    found, slope, at, e, A = room.found, room.slope, room.x, room.e, room.wide
    ends = 0
    for i in range(d):
        if stack.ray[cur, i] == name:
            ends += 1
    if ends > 1:  # the plane is in a face: its other coordinates are 0, and what floats say of them is noise
        return False
    if not coordinates(stack.G[cur], ties.across[name], d, slope, A):
        return False
    coordinates(stack.G[cur], ties.ray[name], d, at, A)
    reaches(stack.G[cur], d, room.axis, found, room.reach, A)
    without_noise(at, room.reach, d)
    without_noise(slope, room.reach, d)
    low = -1e3
    high = 1e3
    low_at = np.int64(-1)
    high_at = np.int64(-1)
    for i in range(d):
        if slope[i] == 0.0:
            if at[i] < 0.0:
                return False
        elif slope[i] > 0.0:
            if -at[i] / slope[i] > low:
                low = -at[i] / slope[i]
                low_at = i
        elif -at[i] / slope[i] < high:
            high = -at[i] / slope[i]
            high_at = i
    if high - low < 1e-9:
        return False
    if low < ties.span[name, 0] or high > ties.span[name, 1]:
        return cut_plane(side, ties, stack, tape, cur, name, high - low, room)
    for end in range(2):
        s = high if end else low
        size = np.sqrt(1.0 + s * s)
        for l in range(d):
            e[l] = (ties.ray[name, l] + s * ties.across[name, l]) / size
        known = False
        for i in range(d):
            if stack.ray[cur, i] >= 0:
                product = 0.0
                for l in range(d):
                    product += (e[l] - stack.G[cur, i, l]) ** 2
                if product < 1e-18:
                    known = True
        if known:
            continue
        facet = high_at if end else low_at
        for i in range(d):
            found[i] = (at[i] + s * slope[i]) / size
        found[facet] = 0.0
        without_noise(found, room.reach, d)
        insert(stack, tape, cur, name, e, np.int64(FACE), ties.ray_names[name], facet, d, D, room)
        return True
    return False


def star_split(side, ties, stack, tape, cur, room):
    """Split at a ray or plane inside the cone, once all convex lines that cross the cone pass through it."""
    d, D = side.frame.shape
    found, A = room.found, room.wide
    hit = np.int64(-1)
    for a in range(ties.ray.shape[0]):
        through = True
        for k in range(stack.n_P[cur]):
            if ties.ray_P[a, stack.IP[cur, k]] == 0:
                through = False
                break
        if not through:
            continue
        if ties.span[a, 1] > ties.span[a, 0]:
            if face_split(side, ties, stack, tape, cur, a, room):
                return True
            continue
        if not coordinates(stack.G[cur], ties.ray[a], d, found, A):
            continue
        inside = True
        for i in range(d):
            if found[i] < -1e-11:
                inside = False
        if inside:
            hit = a
            break
    if hit < 0:
        return False
    insert(stack, tape, cur, hit, ties.ray[hit], np.int64(STAR), ties.ray_names[hit], np.int64(0), d, D, room)
    return True


def look_from_tips(ties, stack, cur, name, room, d):
    """The products of the parts of the generators that are orthogonal to the ray or plane of the tips."""
    M, off, x, y = room.M, room.off, room.t, room.tq
    for i in range(d):
        x[i] = 0.0
        y[i] = 0.0
        for l in range(d):
            x[i] += ties.ray[name, l] * stack.G[cur, i, l]
            y[i] += ties.across[name, l] * stack.G[cur, i, l]
    for i in range(d):
        for j in range(d):
            off[i, j] = M[i, j] - x[i] * x[j] - y[i] * y[j]


def widest_edge(stack, cur, off, d):
    """The edge away from the tips that is widest as seen from them."""
    best = -3.0
    first = 0
    second = 1
    for i in range(d):
        for j in range(i + 1, d):
            if stack.ray[cur, i] < 0 and stack.ray[cur, j] < 0:
                s = 1.0 - off[i, j] / np.sqrt(max(off[i, i], 1e-30) * max(off[j, j], 1e-30))
                if s > best:
                    best = s
                    first = i
                    second = j
    return first, second


def walk_stars(side, ties, stack, tape, room, budget, most_depth):
    """Split the cone on top at a star, if that is pending; then go on as long as cones with tips are on top, for at
    most `budget` nodes: GO_ON, FULL or STUCK."""
    d = side.frame.shape[0]
    counts = stack.counts
    if counts[PENDING] == AT_STAR:
        counts[PENDING] = VISIT if star_split(side, ties, stack, tape, counts[TOP] - 1, room) else UNSTARRED
    while counts[PENDING] == VISIT and counts[TOP] > 0 and budget > 0:
        cur = counts[TOP] - 1
        name = np.int64(-1)
        mixed = False
        for i in range(d):
            if stack.ray[cur, i] >= 0:
                if 0 <= name != stack.ray[cur, i]:
                    mixed = True
                name = stack.ray[cur, i]
        if name < 0:
            return GO_ON
        if is_full(tape):
            return FULL
        budget -= 1
        longest = enter(stack, cur, room, d)
        look_from_tips(ties, stack, cur, name, room, d)
        if not mixed and star_leaf(side, ties, stack, tape, cur, name, room):
            counts[LEAVES] += 1
            counts[TOP] -= 1
            continue
        if mixed or too_deep(stack, cur, longest, most_depth, d):
            for i in range(d):
                room.best[i] = 1.0
            point_out(stack, cur, room.best, d)
            return STUCK
        if not face_split(side, ties, stack, tape, cur, name, room):
            off = room.off
            i, j = widest_edge(stack, cur, off, d)
            a = stack.size[cur, i] * np.sqrt(max(off[i, i], 1e-30))
            b = stack.size[cur, j] * np.sqrt(max(off[j, j], 1e-30))
            bisect(side, stack, tape, cur, i, j, np.log2(a / b), room)
    return GO_ON
