"""The walk of `walk.py`, compiled: floats with error bounds. Where these do not decide a sign, it gives up.

The state of the walk lives in arrays, so that the kernel can return after some work and be called again:

    X, E   (levels, r, m + r)   tableau and error bounds by level; after the hyperplanes come the coordinates themselves
    F      (2, levels)          determinant and its error bound by level
    I      (5, levels, levels)  I[0, 0] members, I[0, 1] their columns, I[0, 2] next hyperplane to try by level,
                                I[1] signs T, I[2] the columns that decided them, I[3] free coordinates, by level;
                                I[4, 0] signs of a leaf
    M      (4, levels, words)   bit masks: M[0] closure by level, M[1] and M[2] followers of each member with its sign
                                and with the opposite one, M[3] scratch: 0 cell, 1 leaf, 2 far point
    S      (5, m + r)           points of a line (lower bounds), value, leading entries, sizes of members, upper bounds
    J      (2, m)               scratch: hyperplanes by point, and whether a new point starts

Here m and r are padded to multiples of 8: rows of zeros after the hyperplanes, which count as members of every
closure, and after the coordinates.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.tableau import (
    clear_bits,
    compare_points,
    compile_,
    compile_call,
    copy_bits,
    leading_entries,
    least_beyond,
    line_column,
    line_points,
    lowest,
    member_size,
    order_points,
    overrule,
    pivot,
    pivot_integers,
    positive,
    same_ratio,
    set_bit,
    spanned_hyperplane,
    usual_size,
    write_on_line,
    write_point,
)

DONE, GO_ON, UNDECIDED, START = range(4)
"""What `advance` returns: the walk has ended; call again; floats do not decide a sign."""

ROUNDED, INTEGERS = range(2)
"""What entries are: floats with errors, integers when the error is below 1/2; exact integers."""

COMPARED = 32  # on a line the sets to try are compared with all others one by one; if there are more, all are sorted
UNSURE = 1 << 32  # added to the spanned hyperplane of a circuit that may have more members than needed


@compile_
def log_circuit(mask, j, log, counts, seen):  # type: ignore[no-untyped-def]
    """Write down a broken circuit and the hyperplane that it spans, unless the same one was met recently."""
    words = len(mask)
    h = np.uint64(1469598103934665603)
    for w in range(words):
        h = (h ^ mask[w]) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
    slot = np.int64(h & np.uint64(len(seen) - 1))
    same = True
    for w in range(words):
        same &= seen[slot, w] == mask[w]
    if same:
        return
    for w in range(words):
        seen[slot, w] = mask[w]
        log[counts[1], w] = mask[w]
    log[counts[1], words] = np.uint64(j)
    counts[1] += 1


@compile_
def log_support(X, k, level, I, e, j, span, mask, log, counts, seen):  # type: ignore[no-untyped-def]
    """Log the broken circuit of e and the first k members that hyperplane j depends on; it spans `span`."""
    clear_bits(mask)
    set_bit(mask, e)
    for t in range(k):
        if X[level, I[0, 1, t], j] != 0.0:
            set_bit(mask, I[0, 0, t])
    log_circuit(mask, span, log, counts, seen)


@compile_
def log_spanned(X, I, k, c, e, j, mask, log, counts, seen):  # type: ignore[no-untyped-def]
    """Log the broken circuit that `spanned` has found."""
    clear_bits(mask)
    set_bit(mask, e)
    for t in range(k):
        column = X[k, I[0, 1, t]]
        if column[j] * X[k, c, e] != X[k, c, j] * column[e]:
            set_bit(mask, I[0, 0, t])
    log_circuit(mask, j, log, counts, seen)


@compile_
def emit(bits, I, k, T, cells, kept, counts):  # type: ignore[no-untyped-def]
    """Write down a cell and its set (the point is written by the caller)."""
    at = counts[0]
    copy_bits(bits, cells[at])
    members = kept[at]
    for t in range(k):
        members[t] = I[0, 0, t] << 16 | I[0, 1, t] << 1 | (T[t] > 0)
    if k < len(members):
        members[k] = -1
    counts[0] += 1


@compile_
def side_bits(I, M, k, T, bits):  # type: ignore[no-untyped-def]
    """Put the hyperplanes of the closure of level k in, by the sides T of the members."""
    for t in range(k):
        followers = M[1, t] if T[t] > 0 else M[2, t]
        for w in range(len(bits)):
            bits[w] |= followers[w]


@compile_
def visit(X, I, M, S, k, m, base, det, cells, closures, points, kept, counts):  # type: ignore[no-untyped-def]
    """Emit the cell of the set at level k: the far point of its flat, and a direction off its members."""
    bits, value = M[3, 0], S[1]
    sign = 1.0 if det > 0.0 else -1.0
    positive(S[2, :m], sign, bits)
    side_bits(I, M, k, I[1, k], bits)
    for j in range(len(value)):
        value[j] = X[k, base, j]
    for l in range(X.shape[1] - 1, -1, -1):
        if I[3, k, l]:
            overrule(value, X[k, l], m)
    write_point(X, I, M, S, k, I[1, k], m, sign, closures, points, counts[0])
    emit(bits, I, k, I[1, k], cells, kept, counts)


@compile_
def leaf_signs(X, I, k, c, e, T):  # type: ignore[no-untyped-def]
    """The signs T of the members after e was added in the last free column c."""
    p = X[k, c, e]
    for t in range(k):
        T[t] = I[1, k, t]
        a = X[k, I[0, 1, t], e]
        if I[2, k, t] < c and a != 0.0:
            T[t] = 1 if (a > 0.0) == (p > 0.0) else -1


@compile_
def log_parallel(X, E, I, k, c, e, other, mask, log, counts, seen):  # type: ignore[no-untyped-def]
    """Log the broken circuit of two hyperplanes e < other that meet a line in the same point."""
    clear_bits(mask)
    set_bit(mask, other)
    unsure = 0
    for t in range(k):
        same = same_ratio(X, E, k, c, I[0, 1, t], e, other)
        if same < 1:
            set_bit(mask, I[0, 0, t])
        unsure |= same < 0
    log_circuit(mask, e + (UNSURE if unsure else 0), log, counts, seen)


@compile_
def visit_points(  # type: ignore[no-untyped-def]
    X, E, I, M, S, k, m, base, det, last, whole, cells, closures, points, kept, log, counts, seen
):
    """The far cell of a line, and all sets that add one hyperplane to it, each compared with all others.

    False: only the far cell was emitted, because there are many sets or because floats leave some order undecided.
    """
    c = line_column(I, k)
    low, high = S[0, :m], S[4, :m]
    far, leaf, level, T = M[3, 2], M[3, 0], M[3, 1], I[4, 0]
    sign = 1.0 if det > 0.0 else -1.0
    exact = line_points(X, E, k, c, base, low, high, whole)
    if exact:
        high = low
    least, length = least_beyond(low, -np.inf), usual_size(low)
    positive(S[2, :m], sign, far)
    copy_bits(far, leaf)
    side_bits(I, M, k, I[1, k], leaf)
    write_on_line(X, I, M, S, k, c, base, least - length, I[1, k], m, sign, closures, points, counts[0])
    emit(leaf, I, k, I[1, k], cells, kept, counts)
    start = counts[0]
    if last > COMPARED:
        return False
    I[0, 1, k] = c
    for e in range(1, last):
        if X[k, c, e] == 0.0:
            log_support(X, k, k, I, e, e, 0, level, log, counts, seen)
            continue
        compare_points(low, high, e, leaf, level)
        first, others = -1, np.uint64(0)
        for w in range(len(level)):
            if first < 0 and level[w]:
                first = 64 * w + lowest(level[w])
                others |= level[w] & (level[w] - np.uint64(1))
            else:
                others |= level[w]
        if others and not exact:
            counts[0] = start
            return False
        if first < e:
            log_parallel(X, E, I, k, c, first, e, level, log, counts, seen)
            continue
        leaf_signs(X, I, k, c, e, T)
        for w in range(len(leaf)):
            leaf[w] ^= far[w]
        side_bits(I, M, k, T, leaf)
        beyond = least_beyond(low, high[e])
        middle = (high[e] + beyond) / 2 if beyond < np.inf else high[e] + length
        write_on_line(X, I, M, S, k, c, base, middle, T, m, sign, closures, points, counts[0])
        T[k] = -1 if (X[k, c, e] > 0.0) == (det > 0.0) else 1
        I[0, 0, k] = e
        emit(leaf, I, k + 1, T, cells, kept, counts)
    return True


@compile_
def visit_line(  # type: ignore[no-untyped-def]
    X, E, I, M, S, J, k, m, base, det, last, count, cells, closures, points, kept, log, counts, seen
):
    """All sets that add one hyperplane to a flat that is a line, its `count` points in order, from far to near."""
    c = line_column(I, k)
    y, keys = X[k, c], S[0]
    far, bits, leaf, T = M[3, 2], M[3, 0], M[3, 1], I[4, 0]
    for e in range(1, last):
        if y[e] == 0.0:
            log_support(X, k, k, I, e, e, 0, leaf, log, counts, seen)
    spread = keys[count - 1] - keys[0]
    sign = 1.0 if det > 0.0 else -1.0
    I[0, 1, k] = c
    copy_bits(far, bits)
    stop = 0
    while stop < count:
        i = stop
        stop += 1
        while stop < count and J[1, stop] == 0:
            stop += 1
        for s in range(i, stop):
            bits[J[0, s] >> 6] ^= np.uint64(1) << np.uint64(J[0, s] & 63)
        e = J[0, i]
        if e >= last:
            continue
        copy_bits(bits, leaf)
        leaf_signs(X, I, k, c, e, T)
        side_bits(I, M, k, T, leaf)
        middle = (keys[i] + keys[stop]) / 2 if stop < count else keys[i] + max(spread, abs(keys[i]), 1.0)
        write_on_line(X, I, M, S, k, c, base, middle, T, m, sign, closures, points, counts[0])
        T[k] = -1 if (y[e] > 0.0) == (det > 0.0) else 1
        I[0, 0, k] = e
        emit(leaf, I, k + 1, T, cells, kept, counts)
        for s in range(i + 1, stop):
            if J[0, s] >= last:
                break
            log_parallel(X, E, I, k, c, e, J[0, s], leaf, log, counts, seen)


@compile_
def descend(X, I, M, F, leading, k, c, e, log, counts, seen):  # type: ignore[no-untyped-def]
    """Closure, followers and signs of level k + 1 after the pivot (c, e). False: a broken circuit was logged."""
    copy_bits(M[0, k], M[0, k + 1])
    clear_bits(M[1, k])
    clear_bits(M[2, k])
    p, C = F[0, k + 1], X[k, c]
    for w in range(M.shape[2]):
        part = leading[64 * w : 64 * w + 64]
        zero = np.uint64(0)
        for i in range(len(part)):
            zero |= np.uint64(part[i] == 0.0) << np.uint64(i)
        zero &= ~M[0, k, w]
        M[0, k + 1, w] |= zero
        while zero:
            j = 64 * w + lowest(zero)
            zero &= zero - np.uint64(1)
            if j < e:
                log_support(X, k, k + 1, I, e, j, j, M[3, 1], log, counts, seen)
                return False
            set_bit(M[1 if (C[j] > 0.0) == (p > 0.0) else 2, k], j)
    for t in range(k):
        I[1, k + 1, t] = I[1, k, t]
        I[2, k + 1, t] = I[2, k, t]
        a = X[k, I[0, 1, t], e]
        if c > I[2, k, t] and a != 0.0:
            I[1, k + 1, t] = 1 if (a > 0.0) == (p > 0.0) else -1
            I[2, k + 1, t] = c
    I[1, k + 1, k] = -1 if (p > 0.0) == (F[0, k] > 0.0) else 1
    I[2, k + 1, k] = c
    return True


@compile_
def add(X, E, I, M, F, k, e, base, mode, log, counts, seen):  # type: ignore[no-untyped-def]
    """Add e to the set of level k. GO_ON: level k + 1 is made; UNDECIDED: not all of it; DONE: e is rejected."""
    r = X.shape[1]
    c = 0
    while c < r and not (I[3, k, c] and X[k, c, e] != 0.0):
        c += 1
    if c == r:
        log_support(X, k, k, I, e, e, 0, M[3, 1], log, counts, seen)
        return DONE
    I[0, 0, k] = e
    I[0, 1, k] = c
    F[0, k + 1] = X[k, c, e]
    F[1, k + 1] = E[k, c, e]
    if mode != INTEGERS:
        return UNDECIDED if pivot(X, E, k, c, e, F[0, k], F[1, k]) else GO_ON
    j = spanned_hyperplane(X, I, k, c, e, base)
    if j >= 0:
        log_spanned(X, I, k, c, e, j, M[3, 1], log, counts, seen)
        return DONE
    pivot_integers(X, k, c, e, F[0, k])
    return GO_ON


@compile_call
def advance(  # type: ignore[no-untyped-def]
    X, E, F, I, M, S, J, m, base, mode, cells, closures, points, kept, log, counts, seen, resume, work
):
    """Go on with the walk until something has to be done outside; see the codes above.

    counts: cells written, circuits written, the level.
    resume is the code that was returned before (START at the start).
    """
    D = X.shape[1] - 1
    leading = S[2, :m]
    k = counts[2]  # level of the set whose next continuation is tried
    e = I[0, 2, 0] + 1  # at the start: the hyperplane after the last
    new = 0 if resume == START else -1  # level that was just made
    while True:
        if new >= 0:
            if new > 0:
                for l in range(X.shape[1]):
                    I[3, new, l] = I[3, k, l] if l != I[0, 1, k] else 0
            leading_entries(X, I, new, base, leading)
            if new > 0:
                if not descend(X, I, M, F, leading, k, I[0, 1, k], e, log, counts, seen):
                    new = -1
                    continue
                member_size(X, I, M, new, m, F[0, new], S[3])
            if new < D - 1:
                visit(X, I, M, S, new, m, base, F[0, new], cells, closures, points, kept, counts)
                k = new
                I[0, 2, k] = e - 1
            elif not visit_points(
                X, E, I, M, S, new, m, base, F[0, new], e, mode == INTEGERS,
                cells, closures, points, kept, log, counts, seen,
            ):  # fmt: skip
                count = order_points(X, E, new, line_column(I, new), base, S[0], J, m)
                if count < 0:
                    return UNDECIDED
                visit_line(
                    X, E, I, M, S, J, new, m, base, F[0, new], e, count,
                    cells, closures, points, kept, log, counts, seen,
                )  # fmt: skip
            new = -1
            if D == 1:
                return DONE
        e = I[0, 2, k]
        if e < 1:
            k -= 1
            if k < 0:
                return DONE
            continue
        if counts[0] + m + 2 > len(cells) or counts[1] + 2 * m + 2 > len(log) or work <= 0:
            counts[2] = k
            return GO_ON
        work -= 1
        I[0, 2, k] = e - 1
        added = add(X, E, I, M, F, k, e, base, mode, log, counts, seen)
        if added == UNDECIDED:
            return UNDECIDED
        if added == GO_ON:
            new = k + 1
