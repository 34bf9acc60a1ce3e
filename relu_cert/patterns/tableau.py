"""The tableau, compiled: pivots with error bounds, and the points of a line in order.

Every entry is a minor of the integer normals, carried as a float64 x with a proved bound E on its error. Where E < 1/2,
x is rounded to the integer that it must be, and E = 0. An entry with |x| <= E, E > 0 is
undecided.

A point in each cell, compiled: only proposed, in floats; its signs are proved later.

The least or the largest of many floats is found among integers that are in the same order, because only these
reductions become vectors: the bits of a float, all but the sign turned over if it is negative.

Compiled functions that all kernels share: the ways of compiling, and bit masks in 64-bit words.

Compiled code is kept in __pycache__. Numba renews it when the file of the function itself changes, not when a function
that it calls does: after a change in this file, in `tableau.py` or in `points.py`, remove `__pycache__/*.nbi`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import options


def uncounted(options: object = options) -> dict[str, Any]:
    """The option that takes the counting of references out of functions that allocate nothing, where numba has it.

    It is not a public one. Without it views of arrays are counted, which takes time; nothing else changes.
    """
    return {"_nrt": False} if hasattr(getattr(options, "DefaultOptions", None), "_nrt") else {}


_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_CALLED: dict[str, Any] = {**_OPTIONS, **uncounted()}
_BARE: dict[str, Any] = {**_CALLED, "forceinline": True}  # passing arrays costs more than most of these functions do

compile_ = njit(**_BARE)
"""Strict floating point: for whatever decides or proves a sign."""

compile_call = njit(**_CALLED)
"""The same for functions that are long, or called from Python."""

compile_fused = njit(**_BARE, fastmath={"contract"})
"""Strict, but a product and a sum may be rounded once instead of twice."""

propose_ = njit(**_BARE, fastmath={"reassoc", "contract", "arcp", "nsz", "nnan"})
"""Sums in any order: for points that are only proposed."""

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, dtype=np.int64)
for _i in range(64):
    _POSITION[(0x03F79D71B4CB0A89 << _i & 2**64 - 1) >> 58] = _i


@compile_
def lowest(word):  # type: ignore[no-untyped-def]
    """The position of the lowest one in a word that is not zero."""
    return _POSITION[((word & (~word + np.uint64(1))) * _DE_BRUIJN) >> np.uint64(58)]


@compile_
def set_bit(mask, j):  # type: ignore[no-untyped-def]
    """Put hyperplane j into a mask."""
    mask[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@compile_
def copy_bits(source, target):  # type: ignore[no-untyped-def]
    """target = source"""
    for w in range(len(target)):
        target[w] = source[w]


@compile_
def clear_bits(target):  # type: ignore[no-untyped-def]
    """target = empty"""
    for w in range(len(target)):
        target[w] = np.uint64(0)


U = 2.0**-51  # four times the unit roundoff: room for the rounding of the bounds themselves


@compile_
def pivot(X, E, k, c, e, det, det_error):  # type: ignore[no-untyped-def]
    """Level k + 1 from level k: X'_jl = (X_jl X_ec - X_jc X_el) / det. True if some entry is undecided."""
    r, rows = X.shape[1], X.shape[2]
    p, pe = X[k, c, e], E[k, c, e]
    ap = abs(p) + pe
    scale = 1.0 / det
    inv = (1.0 + 1e-9) / (abs(det) - det_error)
    undecided = 0
    C, CE = X[k, c], E[k, c]
    for l in range(r):
        x, xe, y, ye = X[k, l], E[k, l], X[k + 1, l], E[k + 1, l]
        if l == c:
            for j in range(rows):
                y[j] = x[j]
                ye[j] = xe[j]
            continue
        q, qe = x[e], xe[e]
        aq = abs(q) + qe
        for j in range(rows):
            a, b = x[j] * p, C[j] * q
            v = (a - b) * scale
            err = abs(x[j]) * pe + ap * xe[j] + abs(C[j]) * qe + aq * CE[j] + U * (abs(a) + abs(b))
            err = (err + abs(v) * det_error) * inv + U * abs(v)
            whole = err < 0.5 and abs(v) < 2.0**52
            y[j] = np.rint(v) if whole else v
            ye[j] = 0.0 if whole else err
        y[e] = 0.0
        ye[e] = 0.0
        for j in range(rows):
            undecided |= (ye[j] > 0.0) & (abs(y[j]) <= ye[j])
    return undecided != 0


@compile_
def pivot_integers(X, k, c, e, det):  # type: ignore[no-untyped-def]
    """The same where products of two minors are below 2^52: then every number here is an exact integer."""
    r, rows = X.shape[1], X.shape[2]
    p = X[k, c, e]
    scale = 1.0 / det
    C = X[k, c]
    for l in range(r):
        x, y = X[k, l], X[k + 1, l]
        if l == c:
            for j in range(rows):
                y[j] = x[j]
            continue
        q = x[e]
        for j in range(rows):
            y[j] = np.rint((x[j] * p - C[j] * q) * scale)
        y[e] = 0.0


@compile_
def spanned_hyperplane(X, I, k, c, e, base):  # type: ignore[no-untyped-def]
    """A hyperplane before e that the pivot (c, e) would bring into the closure, or -1; for exact integers."""
    p, q = X[k, c, e], X[k, base, e]
    for start in range(0, e, 64):
        C, b = X[k, c, start : start + 64], X[k, base, start : start + 64]
        word = np.uint64(0)
        for i in range(len(C)):
            word |= np.uint64((C[i] != 0.0) & (b[i] * p == C[i] * q)) << np.uint64(i)
        if e - start < 64:
            word &= (np.uint64(1) << np.uint64(e - start)) - np.uint64(1)
        while word:
            i = lowest(word)
            word &= word - np.uint64(1)
            same = True
            for l in range(X.shape[1]):
                same &= I[3, k, l] == 0 or X[k, l, start + i] * p == C[i] * X[k, l, e]
            if same:
                return start + i
    return -1


@compile_
def leading_entries(X, I, k, base, leading):  # type: ignore[no-untyped-def]
    """The first non-zero entry of each row in the free columns, then that of z_0: zero on the closure only."""
    column = X[k, base]
    for j in range(len(leading)):
        leading[j] = column[j]
    for l in range(X.shape[1] - 1, -1, -1):
        if I[3, k, l]:
            column = X[k, l]
            for j in range(len(leading)):
                x, before = column[j], leading[j]
                leading[j] = x if x != 0.0 else before


@compile_
def positive(values, sign, mask):  # type: ignore[no-untyped-def]
    """mask = all j with sign * values_j > 0"""
    for w in range(len(mask)):
        part = values[64 * w : 64 * w + 64]
        word = np.uint64(0)
        for i in range(len(part)):
            word |= np.uint64(part[i] * sign > 0.0) << np.uint64(i)
        mask[w] = word


@compile_
def line_points(X, E, k, c, base, low, high, whole):  # type: ignore[no-untyped-def]
    """Bounds on the points b/y of a line, infinity where y = 0. True if `low` are the points themselves.

    Then they are equal just where the points are, and `high` is left alone.

    Integers below 2^25 have quotients that are different floats where they are different numbers; `whole` says that
    all entries are such integers.
    """
    y, b, ye, be = X[k, c], X[k, base], E[k, c], E[k, base]
    exact = True
    if not whole:
        for j in range(len(low)):
            small = (ye[j] == 0.0) & (be[j] == 0.0) & (abs(y[j]) < 2.0**25) & (abs(b[j]) < 2.0**25)
            exact &= small | (y[j] == 0.0)
    for j in range(len(low)):
        slope = y[j]
        key = b[j] / slope + 0.0  # there is one zero only
        low[j] = key if slope != 0.0 else np.inf
    if not exact:
        for j in range(len(low)):
            key = low[j]
            error = (be[j] + abs(key) * ye[j]) * (1.0 + 1e-9) / (abs(y[j]) - ye[j]) + U * abs(key)
            error = error if y[j] != 0.0 else 0.0
            high[j] = key + error
            low[j] = key - error
    return exact


@compile_
def compare_points(low, high, e, upto, level):  # type: ignore[no-untyped-def]
    """Masks: the hyperplanes whose point is not surely beyond that of e, and among these those not surely before it."""
    here, there = low[e], high[e]
    for w in range(len(upto)):
        a, b = low[64 * w : 64 * w + 64], high[64 * w : 64 * w + 64]
        before = np.uint64(0)
        same = np.uint64(0)
        for i in range(len(a)):
            before |= np.uint64(a[i] <= there) << np.uint64(i)
            same |= np.uint64((a[i] <= there) & (b[i] >= here)) << np.uint64(i)
        upto[w] = before
        level[w] = same


@compile_
def sort_keys(keys, index, count):  # type: ignore[no-untyped-def]
    """Shell sort of keys; index goes along. (Unsigned numbers: they are never taken for places from the end.)"""
    one, three, n = np.uint64(1), np.uint64(3), np.uint64(count)
    gap = one
    while gap < n // three:
        gap = three * gap + one
    while gap >= one:
        for i in range(gap, n):
            key, j = keys[i], index[i]
            at = np.uint64(i)
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                index[at] = index[at - gap]
                at -= gap
            keys[at] = key
            index[at] = j
        gap //= three


@compile_
def order_points(X, E, k, c, base, keys, J, m):  # type: ignore[no-untyped-def]
    """Sort the points b/y of a line. Returns their number, negative if floats leave some order undecided.

    J[0] are the hyperplanes in order; J[1] is 1 where a point is proved to be beyond the one before it. Integers below
    2^25 have quotients that are different floats where they are different numbers.
    """
    y, b, ye, be = X[k, c], X[k, base], E[k, c], E[k, base]
    count = 0
    exact = True
    for j in range(m):
        if y[j] != 0.0:
            J[0, count] = j
            keys[count] = b[j] / y[j]
            exact &= ye[j] == 0.0 and be[j] == 0.0 and abs(y[j]) < 2.0**25 and abs(b[j]) < 2.0**25
            count += 1
    sort_keys(keys, J[0], count)
    reach = -np.inf
    undecided = False
    for i in range(count):
        j = J[0, i]
        error = 0.0
        if not exact:
            error = (be[j] + abs(keys[i]) * ye[j]) * (1.0 + 1e-9) / (abs(y[j]) - ye[j]) + U * abs(keys[i])
        J[1, i] = 1 if keys[i] - error > reach else 0
        undecided |= J[1, i] == 0
        reach = max(reach, keys[i] + error)
    if exact:  # ties are ties
        for i in range(1, count):  # by number where the point is the same
            at = i
            while at > 0 and keys[at] == keys[at - 1] and J[0, at] < J[0, at - 1]:
                J[0, at], J[0, at - 1] = J[0, at - 1], J[0, at]
                at -= 1
        return count
    return -count if undecided else count


@compile_
def same_ratio(X, E, k, c, place, i, j):  # type: ignore[no-untyped-def]
    """1 if A_i y_j = A_j y_i in column `place`, 0 if not, -1 if floats do not decide it."""
    a, b, p, q = X[k, place, i], X[k, place, j], X[k, c, i], X[k, c, j]
    ae, be, pe, qe = E[k, place, i], E[k, place, j], E[k, c, i], E[k, c, j]
    if ae + be + pe + qe == 0.0 and max(abs(a), abs(b), abs(p), abs(q)) < 2.0**31:
        return 1 if np.int64(a) * np.int64(q) == np.int64(b) * np.int64(p) else 0
    error = abs(a) * qe + (abs(q) + qe) * ae + abs(b) * pe + (abs(p) + pe) * be + U * (abs(a * q) + abs(b * p))
    return 0 if abs(a * q - b * p) > 2.0 * error else 1 if error == 0.0 else -1


@compile_
def line_column(I, k):  # type: ignore[no-untyped-def]
    """The one free coordinate of a line."""
    c = 0
    while not I[3, k, c]:
        c += 1
    return c


BELOW_SIGN = np.int64(2**63 - 1)
INFINITY = np.int64(0x7FF0000000000000)  # the bits of it


@propose_
def member_size(X, I, M, k, m, det, sizes):  # type: ignore[no-untyped-def]
    """How far to step off the hyperplane of the last of k members: it must overrule earlier ones on its followers.

    In units of z, where the coefficients of followers are the same at all deeper levels; so this is done once.
    """
    t = k - 1
    column = X[k, I[0, 1, t]]
    total = 0.0
    for j in range(m):
        total += abs(column[j])
    sizes[t] = abs(det) / total
    for w in range(M.shape[2]):
        followers = M[1, t, w] | M[2, t, w]
        if w == I[0, 0, t] >> 6 and followers & (followers - np.uint64(1)) == 0:  # the member alone
            continue
        while followers:
            j = 64 * w + lowest(followers)
            followers &= followers - np.uint64(1)
            total = 0.0
            for s in range(t):
                total += abs(X[k, I[0, 1, s], j]) * sizes[s]
            sizes[t] = max(sizes[t], 2.0 * total / abs(column[j]))


@propose_
def overrule(value, column, m):  # type: ignore[no-untyped-def]
    """Add a multiple of the column that decides the signs of all of the first m rows where it is not zero."""
    total = 0.0
    length = 0.0
    need = np.int64(0)
    for j in range(m):
        x, y = value[j], column[j]
        total += abs(x)
        length += abs(y)
        clash = np.float64(-x / y).view(np.int64)
        need = max(need, clash if y != 0.0 else np.int64(0))
    size = max(2.0 * np.int64(need).view(np.float64), total / length)
    for j in range(len(value)):
        value[j] += size * column[j]


@propose_
def usual_size(low):  # type: ignore[no-untyped-def]
    """The mean absolute value of the points of a line (1 if all are 0)."""
    total, count = 0.0, 0.0
    for j in range(len(low)):
        x = abs(low[j])
        total += x if x < np.inf else 0.0
        count += 1.0 if x < np.inf else 0.0
    return total / count if total > 0.0 else 1.0


@propose_
def least_beyond(low, here):  # type: ignore[no-untyped-def]
    """The least point of a line beyond `here`, or infinity."""
    bits = np.float64(here).view(np.int64)
    start = bits ^ ((bits >> 63) & BELOW_SIGN)
    least = INFINITY
    for j in range(len(low)):
        bits = np.float64(low[j]).view(np.int64)
        key = bits ^ ((bits >> 63) & BELOW_SIGN)
        least = min(least, key if key > start else INFINITY)
    return np.int64(least ^ ((least >> 63) & BELOW_SIGN)).view(np.float64)


@compile_
def write_point(X, I, M, S, k, T, m, sign, closures, points, at):  # type: ignore[no-untyped-def]
    """The coordinates of the point S[1], zero on the closure of level k, and of a direction to the sides T of it."""
    value, sizes = S[1, m:], S[3]
    point, direction = points[at, 0], points[at, 1]
    copy_bits(M[0, k], closures[at])
    for l in range(len(point)):
        point[l] = sign * value[l]
        direction[l] = 0.0
    for t in range(k):
        f = sign * T[t] * sizes[t]
        column = X[k, I[0, 1, t], m:]
        for l in range(len(point)):
            direction[l] += f * column[l]


@compile_
def write_on_line(X, I, M, S, k, c, base, middle, T, m, sign, closures, points, at):  # type: ignore[no-untyped-def]
    """The same at the point `middle` of a line: b - middle y."""
    value, y, b = S[1, m:], X[k, c, m:], X[k, base, m:]
    for l in range(len(value)):
        value[l] = b[l] - middle * y[l]
    write_point(X, I, M, S, k, T, m, sign, closures, points, at)
