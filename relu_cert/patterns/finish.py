"""Compiled: from float points to small integer points whose signs are proved (see `witness.py`), many cells at a time.

Arrays end with the lane, the cell in its block, so that every inner loop is over numbers that lie side by side.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, propose_

LANES = 128


@compile_
def products(Z, U, out):  # type: ignore[no-untyped-def]
    """out_j = sum_l Z_lj U_l"""
    r, m = Z.shape
    for j in range(m):
        for i in range(LANES):
            out[j, i] = Z[0, j] * U[0, i]
        for l in range(1, r):
            z = Z[l, j]
            for i in range(LANES):
                out[j, i] += z * U[l, i]


@propose_
def step(Z, closure, U, V, a, b, worst, total, length):  # type: ignore[no-untyped-def]
    """U += eps V, with eps half of what would change a sign of a hyperplane outside the closure."""
    r, m = Z.shape
    products(Z, U, a)
    products(Z, V, b)
    for i in range(LANES):
        worst[i] = 0.0
        total[i] = 0.0
        length[i] = 0.0
    for j in range(m):
        w, shift = j >> 6, np.uint64(j & 63)
        for i in range(LANES):
            outside = (closure[w, i] >> shift) & np.uint64(1) == 0
            worst[i] = max(worst[i], -b[j, i] / a[j, i] if outside else 0.0)
            total[i] += abs(a[j, i])
            length[i] += abs(b[j, i])
    for i in range(LANES):
        eps = 1.0 / max(2.0 * worst[i], length[i] / total[i]) if length[i] > 0.0 else 0.0
        for l in range(r):
            U[l, i] += eps * V[l, i]


@propose_
def center(Z, U, V, a, b, up, down):  # type: ignore[no-untyped-def]
    """Move U to the middle of the chord of its cell along grad sum_j log |z_j.u|, orthogonal to u."""
    r, m = Z.shape
    products(Z, U, a)
    for j in range(m):
        for i in range(LANES):
            a[j, i] = 1.0 / a[j, i]
    for l in range(r):
        for i in range(LANES):
            V[l, i] = 0.0
    for j in range(m):
        for l in range(r):
            z = Z[l, j]
            for i in range(LANES):
                V[l, i] += z * a[j, i]
    for i in range(LANES):
        uv = 0.0
        uu = 0.0
        for l in range(r):
            uv += U[l, i] * V[l, i]
            uu += U[l, i] * U[l, i]
        for l in range(r):
            V[l, i] -= uv / uu * U[l, i]
    products(Z, V, b)
    for i in range(LANES):
        up[i] = 0.0
        down[i] = 0.0
    for j in range(m):
        for i in range(LANES):
            rate = b[j, i] * a[j, i]  # relative change of z_j.u
            up[i] = max(up[i], -rate)
            down[i] = max(down[i], rate)
    for i in range(LANES):
        size = 0.0
        if up[i] > 0.0 and down[i] > 0.0:
            size = 0.5 / up[i] - 0.5 / down[i]
        elif down[i] > 0.0:
            size = 1.0 / down[i]
        elif up[i] > 0.0:
            size = 0.5 / up[i]
        for l in range(r):
            U[l, i] += size * V[l, i]


@compile_
def prove(Z, scale, sign, W, top, reach, a, proved):  # type: ignore[no-untyped-def]
    """proved_i: all signs of z_j.w are the wanted ones; floats, with room for their rounding."""
    r, m = Z.shape
    products(Z, W, a)
    for i in range(LANES):
        proved[i] = top[i] < reach
    for j in range(m):
        for i in range(LANES):
            proved[i] &= sign[j, i] * a[j, i] * scale[j] > top[i] * (r + 6) * 2.0**-52


@compile_
def store(W, i, out):  # type: ignore[no-untyped-def]
    """The integers of a lane without their common divisor."""
    divisor = np.int64(0)
    for l in range(len(W)):
        a, b = divisor, abs(np.int64(W[l, i]))
        while b:
            a, b = b, a % b
        divisor = a
        if divisor == 1:
            break
    for l in range(len(W)):
        out[l] = np.int64(W[l, i]) // divisor


@compile_
def finish(Z, scale, cells, closures, points, W, good, rounds, attempts, reach):  # type: ignore[no-untyped-def]
    """W[n] = a small integer point of cell n, with good[n] if its signs are proved.

    Z is r x m, scale_j = 1 / |z_j|_1. points[n] is a point of the closed cell, zero on the hyperplanes in closures[n]
    only, and a direction that leads into the cell. More rounds of centering and more attempts make smaller numbers.
    """
    r, m = Z.shape
    words = cells.shape[1]
    U, V, grid = np.empty((r, LANES)), np.empty((r, LANES)), np.empty((r, LANES))
    sign, a, b = np.empty((m, LANES)), np.empty((m, LANES)), np.empty((m, LANES))
    lanes = np.empty((5, LANES))
    word = np.empty((2, words, LANES), dtype=np.uint64)
    proved, open_ = np.empty(LANES, dtype=np.bool_), np.empty(LANES, dtype=np.bool_)
    for start in range(0, len(cells), LANES):
        for i in range(LANES):
            n = min(start + i, len(cells) - 1)
            for w in range(words):
                word[0, w, i] = cells[n, w]
                word[1, w, i] = closures[n, w]
            for l in range(r):
                U[l, i] = points[n, 0, l]
                V[l, i] = points[n, 1, l]
        for j in range(m):
            for i in range(LANES):
                bit = (word[0, j >> 6, i] >> np.uint64(j & 63)) & np.uint64(1)
                sign[j, i] = 2.0 * np.float64(np.int64(bit)) - 1.0
        step(Z, word[1], U, V, a, b, lanes[0], lanes[1], lanes[2])
        for _ in range(rounds):
            center(Z, U, V, a, b, lanes[0], lanes[1])
        top, least, enough = lanes[2], lanes[3], lanes[4]
        for i in range(LANES):
            top[i] = 0.0
            least[i] = np.inf
        for l in range(r):
            for i in range(LANES):
                top[i] = max(top[i], abs(U[l, i]))
        for l in range(r):
            for i in range(LANES):
                U[l, i] /= top[i]
        products(Z, U, a)
        for j in range(m):
            for i in range(LANES):
                least[i] = min(least[i], sign[j, i] * a[j, i] * scale[j])
        for i in range(LANES):
            enough[i] = 0.5 / least[i]  # rounding to a grid of this fineness changes no sign
            open_[i] = start + i < len(cells) and 0.0 < enough[i] < reach
        for attempt in range(attempts):
            left = 0
            for i in range(LANES):
                left += open_[i]
                top[i] = 0.0
            if left == 0:
                break
            for l in range(r):
                for i in range(LANES):
                    x = np.rint(U[l, i] * max(enough[i] * 0.5 ** (attempts - 2 - attempt), 1.0))
                    grid[l, i] = x
                    top[i] = max(top[i], abs(x))
            prove(Z, scale, sign, grid, top, reach, a, proved)
            for i in range(LANES):
                if open_[i] and proved[i]:
                    store(grid, i, W[start + i])
                    good[start + i] = True
                    open_[i] = False
