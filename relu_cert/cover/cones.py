"""Cones of a walk: the root, and the children of a cone that is split on an edge, by a sign, or at a ray or plane.

Generators are integers from the start, so that what is written is exact. Values of crossing lines at the generators are
carried along: a new generator's values are the same combination as the generator itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relu_cert.cover.stack import FACE, MOST_SIGNS, PENDING, SIGN, TOP, VISIT, Floats, Integers, SignedProblem, Stack

CROSSING = 1e-13


def bit_length(g, D):
    """The bits of the longest entry."""
    m = 0
    for l in range(D):
        m = max(m, abs(g[l]))
    b = 0
    while m > 0:
        m >>= 1
        b += 1
    return b


def integer_unit(g, u, D):
    """An integer vector of length about 2^30 along g, by the checker's own rule."""
    e = 29 - bit_length(g, D)
    s = 0
    for l in range(D):
        u[l] = g[l] << e if e >= 0 else g[l] >> (-e)
        s += u[l] * u[l]
    r = np.int64(np.sqrt(float(s)))
    while r * r > s:
        r -= 1
    while (r + 1) * (r + 1) <= s:
        r += 1
    for l in range(D):
        u[l] = (u[l] << 30) // r


def start(side: SignedProblem, stack: Stack, cone: Integers) -> None:
    """Put a root cone on the stack."""
    place_root(side, stack, cone)
    stack.lin[0] = products(stack.G[0], side.c0[None, :])[:, 0]
    stack.low[0] = 0.0
    stack.n_P[0] = root_lines(side.P, stack.G[0], stack.VP[0], stack.IP[0], stack.lin[0])
    stack.n_N[0] = root_lines(side.N, stack.G[0], stack.VN[0], stack.IN[0], stack.low[0])


def place_root(side: SignedProblem, stack: Stack, cone: Integers) -> None:
    """Put the generators of a root cone, integers, on the stack."""
    d, D = side.frame.shape
    stack.g[0] = cone
    for i in range(d):
        stack.size[0, i] = np.sqrt(sum(float(x) ** 2 for x in cone[i]))
        stack.bits[0, i] = bit_length(cone[i], D)
        integer_unit(stack.g[0, i], stack.unit[0, i], D)
    stack.ray[0] = -1
    stack.G[0] = products(cone.astype(np.float64), side.frame) / stack.size[0, :, None]
    stack.depth[0] = 0
    stack.n_signs[0] = 0
    stack.counts[TOP] = 1
    stack.counts[PENDING] = VISIT


def products(A: Floats, B: Floats) -> Floats:
    """A B', every sum from left to right, as in compiled code."""
    s = np.zeros((len(A), len(B)))
    for l in range(A.shape[1]):
        s += A[:, l, None] * B[:, l]
    return s


def root_lines(Z: Floats, G: Floats, V: Floats, rows: NDArray[np.int32], lin: Floats) -> int:
    """Put the lines that cross the root cone into V, and those that are on in all of it into lin."""
    X = products(G, Z)
    lowest, highest = X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
    crosses = (lowest < -CROSSING) & (highest > CROSSING)
    n = int(crosses.sum())
    V[:, :n] = X[:, crosses]
    rows[:n] = np.flatnonzero(crosses)
    for k in np.flatnonzero(~crosses & (highest > CROSSING)):
        lin += X[:, k]
    return n


def copy_level(stack, source, target, d, D):
    """Everything of a level but its lines, to another level."""
    for i in range(d):
        stack.lin[target, i] = stack.lin[source, i]
        stack.low[target, i] = stack.low[source, i]
        stack.size[target, i] = stack.size[source, i]
        stack.bits[target, i] = stack.bits[source, i]
        stack.ray[target, i] = stack.ray[source, i]
        for l in range(D):
            stack.g[target, i, l] = stack.g[source, i, l]
            stack.unit[target, i, l] = stack.unit[source, i, l]
        for j in range(d):
            stack.G[target, i, j] = stack.G[source, i, j]
    for k in range(MOST_SIGNS):
        stack.signs[target, k] = stack.signs[source, k]
    stack.n_signs[target] = stack.n_signs[source]
    stack.depth[target] = stack.depth[source]


def copy_lines(V, rows, n, V_to, rows_to, d):
    """The first n crossing lines of a level."""
    for i in range(d):
        for k in range(n):
            V_to[i, k] = V[i, k]
    for k in range(n):
        rows_to[k] = rows[k]


def child(Vs, rows, n, d, mix, Vd, rows_d, lin, place, zero, room):
    """The crossing lines of a child, in which generator `place` is sum mix_l g_l. Lines that cross no more and are on
    are added to lin. Vs may be Vd."""
    new, lowest, highest = room.new, room.lowest, room.highest
    for k in range(n):
        new[k] = 0.0
    for l in range(d):
        if mix[l] != 0.0:
            for k in range(n):
                new[k] += mix[l] * Vs[l, k]
    if zero > 0.0:
        for k in range(n):
            if abs(new[k]) < zero:
                new[k] = 0.0
    for k in range(n):
        lowest[k] = new[k]
        highest[k] = new[k]
    for l in range(d):
        if l != place:
            for k in range(n):
                lowest[k] = min(lowest[k], Vs[l, k])
                highest[k] = max(highest[k], Vs[l, k])
    m = 0
    for k in range(n):
        if lowest[k] < -CROSSING and highest[k] > CROSSING:
            for l in range(d):
                Vd[l, m] = new[k] if l == place else Vs[l, k]
            rows_d[m] = rows[k]
            m += 1
        elif highest[k] > CROSSING:
            for l in range(d):
                lin[l] += new[k] if l == place else Vs[l, k]
    return m


def bisect(side, stack, tape, cur, first, second, ratio, room):
    """Replace one end of the edge, then the other, by m g_i + g_j or g_i + m g_j, with the m whose log2 is nearest to
    -ratio or ratio."""
    d, D = side.frame.shape
    mix = room.mix
    number = 0
    for i in range(first):
        number += d - 1 - i
    number += second - first - 1
    best = 1e300
    byte = 0
    p = 1
    q = 1
    for swap in range(2):
        for k in range(70):
            m = ((2 + (k & 1)) << (k >> 1)) >> 1
            beside = abs(ratio - np.log2(m)) if swap else abs(ratio + np.log2(m))
            if beside < best - 1e-9:
                best = beside
                byte = swap * 128 + k
                p = 1 if swap else m
                q = m if swap else 1
    tape.codes[tape.used[0]] = number
    tape.used[0] += 1
    tape.multipliers[tape.used[1]] = byte
    tape.used[1] += 1
    new = cur + 1
    copy_level(stack, cur, new, d, D)
    divisor = 0
    for l in range(D):
        v = stack.g[cur, first, l] * p + stack.g[cur, second, l] * q
        stack.g[new, second, l] = v
        u = abs(v)
        while u:
            u, divisor = divisor % u, u
    size = 0.0
    for l in range(D):
        stack.g[new, second, l] //= divisor
        size += float(stack.g[new, second, l]) ** 2
    size = np.sqrt(size)
    for l in range(d):
        mix[l] = 0.0
    mix[first] = stack.size[cur, first] * p / divisor / size
    mix[second] = stack.size[cur, second] * q / divisor / size
    new_lin = mix[first] * stack.lin[cur, first] + mix[second] * stack.lin[cur, second]
    new_low = mix[first] * stack.low[cur, first] + mix[second] * stack.low[cur, second]
    stack.lin[new, second] = new_lin
    stack.low[new, second] = new_low
    stack.n_P[new] = child(
        stack.VP[cur],
        stack.IP[cur],
        stack.n_P[cur],
        d,
        mix,
        stack.VP[new],
        stack.IP[new],
        stack.lin[new],
        second,
        0.0,
        room,
    )
    stack.n_N[new] = child(
        stack.VN[cur],
        stack.IN[cur],
        stack.n_N[cur],
        d,
        mix,
        stack.VN[new],
        stack.IN[new],
        stack.low[new],
        second,
        0.0,
        room,
    )
    stack.lin[cur, first] = new_lin
    stack.low[cur, first] = new_low
    stack.n_P[cur] = child(
        stack.VP[cur],
        stack.IP[cur],
        stack.n_P[cur],
        d,
        mix,
        stack.VP[cur],
        stack.IP[cur],
        stack.lin[cur],
        first,
        0.0,
        room,
    )
    stack.n_N[cur] = child(
        stack.VN[cur],
        stack.IN[cur],
        stack.n_N[cur],
        d,
        mix,
        stack.VN[cur],
        stack.IN[cur],
        stack.low[cur],
        first,
        0.0,
        room,
    )
    integer_unit(stack.g[new, second], stack.unit[new, second], D)
    stack.bits[new, second] = bit_length(stack.g[new, second], D)
    for j in range(d):
        s = 0.0
        for l in range(D):
            s += side.frame[j, l] * stack.g[new, second, l]
        stack.G[new, second, j] = s / size
        stack.G[cur, first, j] = s / size
    for l in range(D):
        stack.g[cur, first, l] = stack.g[new, second, l]
        stack.unit[cur, first, l] = stack.unit[new, second, l]
    stack.size[new, second] = size
    stack.size[cur, first] = size
    stack.bits[cur, first] = stack.bits[new, second]
    stack.ray[new, second] = -1
    stack.ray[cur, first] = -1
    stack.depth[new] += 1
    stack.depth[cur] += 1
    stack.counts[TOP] += 1


def sign_split(side, stack, tape, cur, t, d):
    """Split by the sign of the convex line that costs most at t."""
    D = side.frame.shape[1]
    n = stack.n_P[cur]
    worst = 0.0
    row = -1
    for k in range(n):
        v = 0.0
        mass = 0.0
        for i in range(d):
            v += t[i] * stack.VP[cur, i, k]
            mass += t[i] * max(stack.VP[cur, i, k], 0.0)
        mass -= max(v, 0.0)
        if mass > worst:
            worst = mass
            row = k
    if row < 0 or stack.n_signs[cur] >= MOST_SIGNS:
        return False
    line = stack.IP[cur, row]
    tape.codes[tape.used[0]] = SIGN
    tape.used[0] += 1
    tape.rows[tape.used[3]] = line
    tape.used[3] += 1
    new = cur + 1
    stack.depth[cur] += 1
    stack.signs[cur, stack.n_signs[cur]] = 2 * line
    stack.n_signs[cur] += 1
    copy_level(stack, cur, new, d, D)
    stack.signs[cur, stack.n_signs[cur] - 1] = 2 * line + 1
    stack.IP[cur, row] = stack.IP[cur, n - 1]
    for i in range(d):
        stack.lin[cur, i] += stack.VP[cur, i, row]
        stack.VP[cur, i, row] = stack.VP[cur, i, n - 1]
    copy_lines(stack.VP[cur], stack.IP[cur], n - 1, stack.VP[new], stack.IP[new], d)
    copy_lines(stack.VN[cur], stack.IN[cur], stack.n_N[cur], stack.VN[new], stack.IN[new], d)
    stack.n_P[cur] = n - 1
    stack.n_P[new] = n - 1
    stack.n_N[new] = stack.n_N[cur]
    stack.counts[TOP] += 1
    return True


def insert(stack, tape, cur, hit, e, code, name, facet, d, D, room):
    """A child for each generator of which e = sum found_i g_i has a part, with e in its place."""
    found, mix = room.found, room.mix
    mask = 0
    for i in range(d):
        mix[i] = found[i] if found[i] > 1e-11 else 0.0
        if mix[i] > 0.0:
            mask |= 1 << i
    n = tape.used[2]
    tape.codes[tape.used[0]] = code
    tape.used[0] += 1
    tape.data[n] = name
    tape.data[n + 1] = mask & 255
    tape.data[n + 2] = mask >> 8 & 255
    tape.data[n + 3] = mask >> 16
    tape.used[2] = n + 4
    if code == FACE:
        tape.data[n + 4] = facet
        tape.used[2] = n + 5
    new_lin = 0.0
    new_low = 0.0
    for i in range(d):
        new_lin += mix[i] * stack.lin[cur, i]
        new_low += mix[i] * stack.low[cur, i]
    first = -1
    level = cur
    for place in range(d - 1, -1, -1):
        if mix[place] > 0.0:
            first = place
    for place in range(d + 1):
        at = first if place == d else place
        if place < d and (mix[place] == 0.0 or place == first):
            continue
        target = cur if place == d else level + 1
        if target != cur:
            level = target
            copy_level(stack, cur, target, d, D)
        stack.lin[target, at] = new_lin
        stack.low[target, at] = new_low
        zero = 1e-10
        stack.n_P[target] = child(
            stack.VP[cur], stack.IP[cur], stack.n_P[cur], d, mix, stack.VP[target], stack.IP[target],
            stack.lin[target], at, zero, room,
        )  # fmt: skip
        stack.n_N[target] = child(
            stack.VN[cur], stack.IN[cur], stack.n_N[cur], d, mix, stack.VN[target], stack.IN[target],
            stack.low[target], at, zero, room,
        )  # fmt: skip
        for j in range(d):
            stack.G[target, at, j] = e[j]
        stack.size[target, at] = 1.0
        stack.ray[target, at] = hit
        stack.depth[target] += 1
    stack.counts[TOP] = level + 1
