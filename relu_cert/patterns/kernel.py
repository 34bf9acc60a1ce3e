"""The walk of `walk.py`, compiled: floats with error bounds, and residues where these do not decide.

Every entry of the tableau is a minor of the integer normals. It is carried as a float64 x with a proved bound E on its
error. Where E < 1/2 and nothing was scaled, x is rounded to the integer that it must be, and E = 0. An entry with
|x| <= E, E > 0 is undecided: its residues give its exact sign and a new x with a small relative error. So
after each pivot every sign in the tableau is exact, whatever the data.

The state of the walk lives in arrays, so that the kernel can return after some work and be called again:

    X, E   (levels, r, m + r)   tableau and error bounds by level; the last r rows are the coordinates themselves
    F      (2, levels)          determinant and its error bound by level
    I      (6, levels, levels)  I[0, 0] members, I[0, 1] their columns, I[0, 2] next hyperplane to try by level,
                                I[1] signs T, I[2] the columns that decided them, I[3] free coordinates, by level;
                                I[4, 0] signs of a leaf
    M      (4, levels, words)   bit masks: M[0] closure by level, M[1] and M[2] followers of each member with its sign
                                and with the opposite one, M[3] scratch: 0 cell, 1 leaf, 2 far point
    S      (4, m + r)           scratch: keys, value, step, sizes
    J      (2, m)               scratch: hyperplanes by point, and whether a new point starts
"""

from __future__ import annotations

import numpy as np
from numba import njit

compile_ = njit(cache=True, nogil=True, error_model="numpy")
# for points that are only proposed; whatever decides a sign is compiled strictly
propose_ = njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz", "nnan"})

DONE, GO_ON, RESOLVE, ORDER, START = range(5)
"""What `advance` returns: the walk has ended; call again; first resolve the entries of level k + 1; first settle the
order of the points of the line at level k + 1."""

SCALED, ROUNDED, INTEGERS = range(3)
"""What entries are: floats with errors; these, but integers when the error is below 1/2; exact integers."""

UNSURE = 1 << 32  # added to the spanned hyperplane of a circuit that may have more members than needed
U = 2.0**-51  # four times the unit roundoff: room for the rounding of the bounds themselves


@compile_
def set_bit(mask, j):  # type: ignore[no-untyped-def]
    mask[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@compile_
def get_bit(mask, j):  # type: ignore[no-untyped-def]
    return (mask[j >> 6] >> np.uint64(j & 63)) & np.uint64(1) != 0


@compile_
def copy_bits(source, target):  # type: ignore[no-untyped-def]
    for w in range(len(target)):
        target[w] = source[w]


@compile_
def clear_bits(target):  # type: ignore[no-untyped-def]
    for w in range(len(target)):
        target[w] = np.uint64(0)


@compile_
def pivot(X, E, k, c, e, det, det_error, rounding):  # type: ignore[no-untyped-def]
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
            whole = rounding and err < 0.5 and abs(v) < 2.0**52
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
def spanned(X, I, k, c, e, base):  # type: ignore[no-untyped-def]
    """A hyperplane before e that the pivot (c, e) would bring into the closure, or -1; for exact integers."""
    p, C, b = X[k, c, e], X[k, c], X[k, base]
    for j in range(1, e):
        if C[j] == 0.0 or b[j] * p != C[j] * b[e]:
            continue
        same = True
        for l in range(X.shape[1]):
            if I[3, k, l] and X[k, l, j] * p != C[j] * X[k, l, e]:
                same = False
                break
        if same:
            return j
    return -1


@compile_
def sort_keys(keys, index, count):  # type: ignore[no-untyped-def]
    """Shell sort of keys; index goes along."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(gap, count):
            key, j = keys[i], index[i]
            at = i
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                index[at] = index[at - gap]
                at -= gap
            keys[at] = key
            index[at] = j
        gap //= 3


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


@propose_
def member_sizes(X, I, M, k, m, sizes):  # type: ignore[no-untyped-def]
    """How far to step off each member's hyperplane: a later member must overrule earlier ones on its followers."""
    for t in range(k):
        column = X[k, I[0, 1, t]]
        largest = 0.0
        for j in range(m):
            largest = max(largest, abs(column[j]))
        sizes[t] = 1.0 / largest
        for w in range(M.shape[2]):
            followers = M[1, t, w] | M[2, t, w]
            if w == I[0, 0, t] >> 6 and followers & (followers - np.uint64(1)) == 0:  # the member alone
                continue
            j = 64 * w
            while followers:
                if followers & np.uint64(1):
                    total = 0.0
                    for s in range(t):
                        total += abs(X[k, I[0, 1, s], j]) * sizes[s]
                    sizes[t] = max(sizes[t], 2.0 * total / abs(column[j]))
                followers >>= np.uint64(1)
                j += 1


@compile_
def write_point(X, I, M, S, k, T, m, sign, closures, points, at):  # type: ignore[no-untyped-def]
    """The coordinates of the point S[1], zero on the closure of level k, and of a direction to the sides T of it."""
    value, sizes = S[1], S[3]
    copy_bits(M[0, k], closures[at])
    for l in range(points.shape[2]):
        total = 0.0
        for t in range(k):
            total += T[t] * sizes[t] * X[k, I[0, 1, t], m + l]
        points[at, 0, l] = sign * value[m + l]
        points[at, 1, l] = sign * total


@propose_
def step_off(X, I, k, T, S, m, sign, out):  # type: ignore[no-untyped-def]
    """A point near S[1] that lies on the side T of the members: S[1] + eps sum_t T_t size_t A_t.

    eps is half of what changes a sign; hyperplanes of the closure have value 0 and take the sign of the step.
    """
    value, step, sizes = S[1], S[2], S[3]
    rows = len(value)
    for j in range(rows):
        step[j] = 0.0
    for t in range(k):
        column = X[k, I[0, 1, t]]
        f = T[t] * sizes[t]
        for j in range(rows):
            step[j] += f * column[j]
    worst = 0.0  # largest -step / value
    total = 0.0
    length = 0.0
    for j in range(m):
        total += abs(value[j])
        length += abs(step[j])
        ratio = -step[j] / value[j] if value[j] != 0.0 else 0.0
        worst = max(worst, ratio)
    eps = 1.0 / max(2.0 * worst, length / total) if length > 0.0 else 0.0
    for l in range(rows - m):
        out[l] = sign * (value[m + l] + eps * step[m + l])


@propose_
def overrule(value, column, m):  # type: ignore[no-untyped-def]
    """Add a multiple of the column that decides the signs of all rows where it is not zero."""
    need = 0.0
    total = 0.0
    length = 0.0
    for j in range(m):
        total += abs(value[j])
        length += abs(column[j])
        need = max(need, -value[j] / column[j] if column[j] != 0.0 else 0.0)
    size = max(2.0 * need, total / length)
    for j in range(len(value)):
        value[j] += size * column[j]


@compile_
def emit(bits, I, k, T, cells, kept, counts):  # type: ignore[no-untyped-def]
    """Write down a cell and its set (the point is written by the caller)."""
    at = counts[0]
    copy_bits(bits, cells[at])
    for t in range(kept.shape[2]):
        kept[at, 0, t] = I[0, 0, t] if t < k else -1
        kept[at, 1, t] = I[0, 1, t] if t < k else -1
        kept[at, 2, t] = T[t] if t < k else 0
    counts[0] += 1


@compile_
def visit(X, I, M, S, k, m, base, det, cells, closures, points, kept, counts):  # type: ignore[no-untyped-def]
    """Emit the cell of the set at level k: the far point of its flat, and a step off its members."""
    r = X.shape[1]
    far, bits = M[3, 2], M[3, 0]
    leading = S[2]
    sign = 1.0 if det > 0.0 else -1.0
    for j in range(m):
        leading[j] = X[k, base, j]
    for l in range(r - 1, -1, -1):
        if I[3, k, l]:
            for j in range(m):
                leading[j] = X[k, l, j] if X[k, l, j] != 0.0 else leading[j]
    for w in range(len(far)):
        word = np.uint64(0)
        for i in range(min(64, m - 64 * w)):
            word |= np.uint64(leading[64 * w + i] * sign > 0.0) << np.uint64(i)
        far[w] = word
    member_sizes(X, I, M, k, m, S[3])
    value = S[1]
    for j in range(len(value)):
        value[j] = X[k, base, j]
    for l in range(r - 1, -1, -1):
        if not I[3, k, l]:
            continue
        column = X[k, l]
        overrule(value, column, m)
    step_off(X, I, k, I[1, k], S, m, sign, points[counts[0], 0])
    clear_bits(closures[counts[0]])
    for l in range(r):
        points[counts[0], 1, l] = 0.0
    copy_bits(far, bits)
    for t in range(k):
        for w in range(len(bits)):
            bits[w] |= M[1, t, w] if I[1, k, t] > 0 else M[2, t, w]
    emit(bits, I, k, I[1, k], cells, kept, counts)


@compile_
def visit_line(  # type: ignore[no-untyped-def]
    X, E, I, M, S, J, k, m, base, det, last, count, cells, closures, points, kept, log, counts, seen
):
    """All sets that add one hyperplane to a flat that is a line, its `count` points in order, from far to near."""
    c = line_column(I, k)
    y, b = X[k, c], X[k, base]
    far, bits, leaf, T = M[3, 2], M[3, 0], M[3, 1], I[4, 0]
    keys, value = S[0], S[1]
    for e in range(1, last):
        if y[e] == 0.0:
            log_support(X, k, k, I, e, e, 0, leaf, log, counts, seen)
    spread = keys[count - 1] - keys[0]
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
        for t in range(k):
            T[t] = I[1, k, t]
            a = X[k, I[0, 1, t], e]
            if I[2, k, t] < c and a != 0.0:
                T[t] = 1 if (a > 0.0) == (y[e] > 0.0) else -1
            for w in range(len(leaf)):
                leaf[w] |= M[1, t, w] if T[t] > 0 else M[2, t, w]
        middle = (keys[i] + keys[stop]) / 2 if stop < count else keys[i] + max(spread, abs(keys[i]), 1.0)
        for j in range(m, len(value)):
            value[j] = b[j] - middle * y[j]
        write_point(X, I, M, S, k, T, m, 1.0 if det > 0.0 else -1.0, closures, points, counts[0])
        T[k] = -1 if (y[e] > 0.0) == (det > 0.0) else 1
        I[0, 0, k] = e
        I[0, 1, k] = c
        emit(leaf, I, k + 1, T, cells, kept, counts)
        for s in range(i + 1, stop):
            other = J[0, s]
            if other >= last:
                break
            clear_bits(leaf)
            set_bit(leaf, other)
            unsure = 0
            for t in range(k):
                same = same_ratio(X, E, k, c, I[0, 1, t], e, other)
                if same < 1:
                    set_bit(leaf, I[0, 0, t])
                unsure |= same < 0
            log_circuit(leaf, e + (UNSURE if unsure else 0), log, counts, seen)


@compile_
def line_column(I, k):  # type: ignore[no-untyped-def]
    """The one free coordinate of a line."""
    c = 0
    while not I[3, k, c]:
        c += 1
    return c


@compile_
def descend(X, I, M, F, k, c, e, m, base, log, counts, seen):  # type: ignore[no-untyped-def]
    """Closure, followers and signs of level k + 1 after the pivot (c, e). False: a broken circuit was logged."""
    r = X.shape[1]
    for l in range(r):
        I[3, k + 1, l] = I[3, k, l] if l != c else 0
    copy_bits(M[0, k], M[0, k + 1])
    clear_bits(M[1, k])
    clear_bits(M[2, k])
    p = F[0, k + 1]
    for j in range(m):
        if X[k + 1, base, j] != 0.0 or get_bit(M[0, k], j):
            continue
        zero = True
        for l in range(r):
            if I[3, k + 1, l] and X[k + 1, l, j] != 0.0:
                zero = False
                break
        if not zero:
            continue
        if j < e:
            log_support(X, k, k + 1, I, e, j, j, M[3, 1], log, counts, seen)
            return False
        set_bit(M[0, k + 1], j)
        set_bit(M[1 if (X[k, c, j] > 0.0) == (p > 0.0) else 2, k], j)
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
def advance(  # type: ignore[no-untyped-def]
    X, E, F, I, M, S, J, m, base, mode, cells, closures, points, kept, log, counts, seen, resume, work
):
    """Go on with the walk until something has to be done outside; see the codes above.

    counts: cells written, circuits written, the level, the hyperplane that was added last, points of the line.
    resume is the code that was returned before (START at the start).
    """
    r = X.shape[1]
    D = r - 1
    k = counts[2]  # level of the set whose next continuation is tried
    e = counts[3]
    new = 0 if resume == START else k + 1 if resume in (RESOLVE, ORDER) else -1  # level that was just made
    while True:
        if new >= 0:
            if new > 0 and resume != ORDER and not descend(X, I, M, F, k, I[0, 1, k], e, m, base, log, counts, seen):
                new = -1
                continue
            if resume != ORDER:
                visit(X, I, M, S, new, m, base, F[0, new], cells, closures, points, kept, counts)
            if new < D - 1:
                k = new
                I[0, 2, k] = e - 1
            elif e > 1:
                if resume != ORDER:
                    counts[4] = order_points(X, E, new, line_column(I, new), base, S[0], J, m)
                    if counts[4] < 0:
                        counts[2] = k
                        counts[3] = e
                        return ORDER
                visit_line(
                    X,
                    E,
                    I,
                    M,
                    S,
                    J,
                    new,
                    m,
                    base,
                    F[0, new],
                    e,
                    counts[4],
                    cells,
                    closures,
                    points,
                    kept,
                    log,
                    counts,
                    seen,
                )
            resume = GO_ON
            new = -1
            if D == 1:
                return DONE
        e = I[0, 2, k]
        if e < 1:
            k -= 1
            if k < 0:
                return DONE
            continue
        if counts[0] + m + 2 > len(cells) or counts[1] + m + 2 > len(log) or work <= 0:
            counts[2] = k
            return GO_ON
        work -= 1
        I[0, 2, k] = e - 1
        c = 0
        while c < r and not (I[3, k, c] and X[k, c, e] != 0.0):
            c += 1
        if c == r:
            log_support(X, k, k, I, e, e, 0, M[3, 1], log, counts, seen)
            continue
        I[0, 0, k] = e
        I[0, 1, k] = c
        F[0, k + 1] = X[k, c, e]
        F[1, k + 1] = E[k, c, e]
        if mode == INTEGERS:
            j = spanned(X, I, k, c, e, base)
            if j >= 0:
                log_spanned(X, I, k, c, e, j, M[3, 1], log, counts, seen)
                continue
            pivot_integers(X, k, c, e, F[0, k])
            new = k + 1
            continue
        new = k + 1
        if pivot(X, E, k, c, e, F[0, k], F[1, k], mode == ROUNDED):
            counts[2] = k
            counts[3] = e
            return RESOLVE
