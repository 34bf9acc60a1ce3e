"""Compiled: from float points to small integer points whose signs are proved (see `witness.py`), many cells at a time.

Arrays end with the lane, the cell in its block, so that every inner loop is over numbers that lie side by side. The
normals come as columns Z (R x m), with zero rows so that R is a multiple of three.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, compile_fused, propose_

LANES = 32


@compile_fused
def products(Z, U, out):  # type: ignore[no-untyped-def]
    """out_j = sum_l Z_lj U_l"""
    R, m = Z.shape
    for j in range(m):
        row = out[j]
        x, y, z = Z[0, j], Z[1, j], Z[2, j]
        for i in range(LANES):
            row[i] = x * U[0, i] + y * U[1, i] + z * U[2, i]
        for l in range(3, R, 3):
            x, y, z = Z[l, j], Z[l + 1, j], Z[l + 2, j]
            u, v, w = U[l], U[l + 1], U[l + 2]
            for i in range(LANES):
                row[i] += x * u[i] + y * v[i] + z * w[i]


@propose_
def step(Z, closure, U, V, a, b, lanes):  # type: ignore[no-untyped-def]
    """U += eps V, with eps half of what would change a sign of a hyperplane outside the closure; a = Z U after it."""
    worst, total, length = lanes[0], lanes[1], lanes[2]
    products(Z, U, a)
    products(Z, V, b)
    for i in range(LANES):
        worst[i] = 0.0
        total[i] = 0.0
        length[i] = 0.0
    for j in range(len(a)):
        inside, shift = closure[j >> 6], np.uint64(j & 63)
        x, y = a[j], b[j]
        for i in range(LANES):
            ratio = -y[i] / x[i]
            ratio = ratio if (inside[i] >> shift) & np.uint64(1) == 0 else 0.0
            worst[i] = max(worst[i], ratio)
            total[i] += abs(x[i])
            length[i] += abs(y[i])
    for i in range(LANES):
        worst[i] = 1.0 / max(2.0 * worst[i], length[i] / total[i]) if length[i] > 0.0 else 0.0
    for l in range(len(U)):
        u, v = U[l], V[l]
        for i in range(LANES):
            u[i] += worst[i] * v[i]
    for j in range(len(a)):
        x, y = a[j], b[j]
        for i in range(LANES):
            x[i] += worst[i] * y[i]


@propose_
def center(Z, U, V, a, b, lanes):  # type: ignore[no-untyped-def]
    """Move U to the middle of the chord of its cell along grad sum_j log |z_j.u|, orthogonal to u; a = Z U, kept so."""
    R, m = Z.shape
    up, down = lanes[0], lanes[1]
    for l in range(R):
        for i in range(LANES):
            V[l, i] = 0.0
    for j in range(m):
        for i in range(LANES):
            up[i] = 1.0 / a[j, i]
        for l in range(R):
            z, v = Z[l, j], V[l]
            for i in range(LANES):
                v[i] += z * up[i]
    for i in range(LANES):
        up[i] = 0.0
        down[i] = 0.0
    for l in range(R):
        for i in range(LANES):
            up[i] += U[l, i] * V[l, i]
            down[i] += U[l, i] * U[l, i]
    for l in range(R):
        for i in range(LANES):
            V[l, i] -= up[i] / down[i] * U[l, i]
    products(Z, V, b)
    for i in range(LANES):
        up[i] = 0.0
        down[i] = 0.0
    for j in range(m):
        for i in range(LANES):
            rate = b[j, i] / a[j, i]  # relative change of z_j.u
            up[i] = max(up[i], -rate)
            down[i] = max(down[i], rate)
    for i in range(LANES):
        rise, fall = up[i], down[i]
        both = 0.5 / rise - 0.5 / fall
        up[i] = both if rise > 0.0 and fall > 0.0 else 1.0 / fall if fall > 0.0 else 0.5 / rise if rise > 0.0 else 0.0
    for l in range(R):
        for i in range(LANES):
            U[l, i] += up[i] * V[l, i]
    for j in range(m):
        for i in range(LANES):
            a[j, i] += up[i] * b[j, i]


@propose_
def fineness(U, a, scale, top, enough):  # type: ignore[no-untyped-def]
    """U with largest entry 1, and how fine a grid must be so that rounding to it changes no sign of Z U."""
    for i in range(LANES):
        top[i] = 0.0
        enough[i] = np.inf
    for l in range(len(U)):
        for i in range(LANES):
            top[i] = max(top[i], abs(U[l, i]))
    for j in range(len(a)):
        s, x = scale[j], a[j]
        for i in range(LANES):
            enough[i] = min(enough[i], abs(x[i]) * s)
    for i in range(LANES):
        top[i] = 1.0 / top[i]
        enough[i] = 0.5 / (enough[i] * top[i])
    for l in range(len(U)):
        for i in range(LANES):
            U[l, i] *= top[i]


@compile_fused
def signs(Z, scale, W, a, slack, found):  # type: ignore[no-untyped-def]
    """found[0], found[1]: masks of the hyperplanes with z_j.w > 0 and < 0, both proved: further from 0 than rounding.

    |fl(z.w) - z.w| < (r + 3) 2^-52 |z|_1 |w|_inf; slack_i is somewhat more than that over |z|_1; scale_j = 1/|z_j|_1.
    """
    products(Z, W, a)
    for w in range(found.shape[1]):
        for i in range(LANES):
            found[0, w, i] = np.uint64(0)
            found[1, w, i] = np.uint64(0)
    for j in range(len(a)):
        s, x, bit, zero = scale[j], a[j], np.uint64(1) << np.uint64(j & 63), np.uint64(0)
        plus, minus = found[0, j >> 6], found[1, j >> 6]
        for i in range(LANES):
            value = x[i] * s
            plus[i] |= bit if value > slack[i] else zero
            minus[i] |= bit if value < -slack[i] else zero


@compile_
def store(W, i, out, reduce):  # type: ignore[no-untyped-def]
    """The integers of a lane; without their common divisor if `reduce`."""
    divisor = np.int64(0 if reduce else 1)
    for l in range(len(out)):
        if divisor == 1:
            break
        a, b = divisor, abs(np.int64(W[l, i]))
        while b:
            a, b = b, a % b
        divisor = a
    for l in range(len(out)):
        out[l] = np.int64(W[l, i]) if divisor == 1 else np.int64(W[l, i]) // divisor


@compile_
def load(cells, closures, points, start, word, U, V):  # type: ignore[no-untyped-def]
    """A block of cells into lanes; the last cell is repeated where there are too few."""
    for i in range(LANES):
        n = min(start + i, len(cells) - 1)
        for w in range(cells.shape[1]):
            word[0, w, i] = cells[n, w]
            word[1, w, i] = closures[n, w]
        for l in range(points.shape[2]):
            U[l, i] = points[n, 0, l]
            V[l, i] = points[n, 1, l]


@compile_
def finish(Z, scale, full, cells, closures, points, W, good, space, word, rounds, attempts, reach):  # type: ignore[no-untyped-def]
    """W[n] = a small integer point of cell n, with good[n] if its signs are proved.

    scale_j = 1 / |z_j|_1; full is the mask of all hyperplanes. points[n] is a point of the closed cell, zero on the
    hyperplanes in closures[n] only, and a direction that leads into the cell. More rounds of centering and more
    attempts make smaller numbers. space has 3 R + 2 m + 6 rows and word is 4 x words, of LANES numbers each.
    """
    R, m = Z.shape
    r = W.shape[1]
    U, V, grid = space[:R], space[R : 2 * R], space[2 * R : 3 * R]
    a, b, lanes = space[3 * R : 3 * R + m], space[3 * R + m : 3 * R + 2 * m], space[3 * R + 2 * m :]
    top, enough, open_ = lanes[3], lanes[4], lanes[5]
    for start in range(0, len(cells), LANES):
        load(cells, closures, points, start, word, U, V)
        step(Z, word[1], U, V, a, b, lanes)
        for _ in range(rounds):
            center(Z, U, V, a, b, lanes)
        fineness(U, a, scale, top, enough)
        left = min(LANES, len(cells) - start)
        for i in range(LANES):
            open_[i] = 1.0 if i < left and 0.0 < enough[i] < reach else 0.0
        for attempt in range(attempts):
            factor = 0.5 ** (attempts - 2 - attempt)
            for i in range(LANES):
                top[i] = 0.0
            for l in range(R):
                for i in range(LANES):
                    x = np.rint(U[l, i] * max(enough[i] * factor, 1.0))
                    grid[l, i] = x
                    top[i] = max(top[i], abs(x))
            for i in range(LANES):
                lanes[0, i] = top[i] * (r + 6) * 2.0**-52
            signs(Z, scale, grid, a, lanes[0], word[2:])
            left = 0
            for i in range(LANES):
                if open_[i] == 0.0:
                    continue
                proved = top[i] < reach
                for w in range(len(full)):
                    proved &= word[2, w, i] == word[0, w, i] and word[2, w, i] | word[3, w, i] == full[w]
                if proved:
                    store(grid, i, W[start + i], rounds > 0)
                    good[start + i] = True
                    open_[i] = 0.0
                else:
                    left += 1
            if left == 0:
                break
