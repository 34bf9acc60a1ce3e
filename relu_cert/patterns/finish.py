"""Compiled: from float points to small integer points whose signs are proved (see `witness.py`), many cells at a time.

Arrays end with the lane, the cell in its block, so that every inner loop is over numbers that lie side by side. The
normals come as columns Z (R x m), with zero rows so that R is 3 a + 4 b with a < 4 (see `padded_rank` in `run.py`).

Compiled: packed patterns of all cells from the bits of half of them, and which broken circuits are minimal.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.tableau import compile_, compile_call, compile_fused, lowest, propose_

COARSEST, FINEST = -8, 1
POWERS = 2.0 ** np.arange(COARSEST, FINEST + 1)
SMALL = 64
DIVISOR = np.gcd.outer(np.arange(SMALL), np.arange(SMALL)).astype(np.uint8)


@compile_fused
def product(Z, j, U, out):  # type: ignore[no-untyped-def]
    """out = sum_l Z_lj U_l"""
    N = len(out)
    R = len(Z)
    threes = 3 * (-R % 4)
    if threes:
        x, y, z = Z[0, j], Z[1, j], Z[2, j]
        u, v, w = U[0], U[1], U[2]
        for i in range(N):
            out[i] = x * u[i] + y * v[i] + z * w[i]
    else:
        t, x, y, z = Z[0, j], Z[1, j], Z[2, j], Z[3, j]
        s, u, v, w = U[0], U[1], U[2], U[3]
        for i in range(N):
            out[i] = (t * s[i] + x * u[i]) + (y * v[i] + z * w[i])
    for l in range(3, threes, 3):
        x, y, z = Z[l, j], Z[l + 1, j], Z[l + 2, j]
        u, v, w = U[l], U[l + 1], U[l + 2]
        for i in range(N):
            out[i] += x * u[i] + y * v[i] + z * w[i]
    for l in range(threes if threes else 4, R, 4):
        t, x, y, z = Z[l, j], Z[l + 1, j], Z[l + 2, j], Z[l + 3, j]
        s, u, v, w = U[l], U[l + 1], U[l + 2], U[l + 3]
        for i in range(N):
            out[i] += (t * s[i] + x * u[i]) + (y * v[i] + z * w[i])


@propose_
def step(Z, closure, U, V, a, b, lanes):  # type: ignore[no-untyped-def]
    """U += eps V, with eps half of what would change a sign of a hyperplane outside the closure.

    a = Z U and b = Z V before it, and lanes[0] = eps.
    """
    N = U.shape[1]
    worst, size, length = lanes[0], lanes[4], lanes[5]
    for i in range(N):
        for row in range(6):
            lanes[row, i] = 0.0
    for j in range(len(a)):
        inside, shift = closure[j >> 6], np.uint64(j & 63)
        x, y, most = a[j], b[j], lanes[j & 3]  # in turn: what was just written is not read at once
        product(Z, j, U, x)
        product(Z, j, V, y)
        for i in range(N):
            ratio = -y[i] / x[i]
            ratio = ratio if (inside[i] >> shift) & np.uint64(1) == 0 else 0.0
            most[i] = max(most[i], ratio)
    for i in range(N):
        worst[i] = max(worst[i], lanes[1, i], lanes[2, i], lanes[3, i])
    for l in range(len(U)):
        u, v = U[l], V[l]
        for i in range(N):
            size[i] += abs(u[i])
        for i in range(N):
            length[i] += abs(v[i])
    for i in range(N):
        worst[i] = 1.0 / max(2.0 * worst[i], length[i] / size[i]) if length[i] > 0.0 else 0.0
    for l in range(len(U)):
        u, v = U[l], V[l]
        for i in range(N):
            u[i] += worst[i] * v[i]


@propose_
def center(Z, U, V, a, b, lanes):  # type: ignore[no-untyped-def]
    """Move U to the middle of the chord of its cell along grad sum_j log |z_j.u|, orthogonal to u.

    Before and after it Z U = a + lanes[0] b.
    """
    N = U.shape[1]
    R, m = Z.shape
    up, down = lanes[0], lanes[1]
    for l in range(R):
        for i in range(N):
            V[l, i] = 0.0
    for j in range(m):
        x, y = a[j], b[j]
        for i in range(N):
            x[i] += up[i] * y[i]
        for i in range(N):
            down[i] = 1.0 / x[i]
        for l in range(R):
            z, v = Z[l, j], V[l]
            for i in range(N):
                v[i] += z * down[i]
    for i in range(N):
        up[i] = 0.0
        down[i] = 0.0
    for l in range(R):
        for i in range(N):
            up[i] += U[l, i] * V[l, i]
        for i in range(N):
            down[i] += U[l, i] * U[l, i]
    for l in range(R):
        for i in range(N):
            V[l, i] -= up[i] / down[i] * U[l, i]
    for i in range(N):
        up[i] = 0.0
        down[i] = 0.0
    for j in range(m):
        x, y = a[j], b[j]
        product(Z, j, V, y)
        for i in range(N):
            rate = y[i] / x[i]  # relative change of z_j.u
            up[i] = max(up[i], -rate)
            down[i] = max(down[i], rate)
    for i in range(N):
        rise, fall = up[i], down[i]
        both = 0.5 / rise - 0.5 / fall
        up[i] = both if rise > 0.0 and fall > 0.0 else 1.0 / fall if fall > 0.0 else 0.5 / rise if rise > 0.0 else 0.0
    for l in range(R):
        for i in range(N):
            U[l, i] += up[i] * V[l, i]


@propose_
def fineness(U, a, b, scale, lanes, top, enough):  # type: ignore[no-untyped-def]
    """U with largest entry 1, and how fine a grid must be so that rounding to it changes no sign of a + lanes[0] b."""
    N = U.shape[1]
    eps = lanes[0]
    for i in range(N):
        top[i] = 0.0
        for row in range(1, 5):
            lanes[row, i] = np.inf
    for l in range(len(U)):
        for i in range(N):
            top[i] = max(top[i], abs(U[l, i]))
    for j in range(len(a)):
        s, x, y, least = scale[j], a[j], b[j], lanes[1 + (j & 3)]
        for i in range(N):
            least[i] = min(least[i], abs(x[i] + eps[i] * y[i]) * s)
    for i in range(N):
        top[i] = 1.0 / top[i]
        enough[i] = 0.5 / (min(lanes[1, i], lanes[2, i], lanes[3, i], lanes[4, i]) * top[i])
    for l in range(len(U)):
        for i in range(N):
            U[l, i] *= top[i]


@compile_fused
def count_unproved(Z, scale, cell, W, slack, x, bad):  # type: ignore[no-untyped-def]
    """bad = how many signs of Z W are not proved to be those of the cell: on its side, further from 0 than rounding.

    |fl(z.w) - z.w| < (r + 3) 2^-52 |z|_1 |w|_inf; slack is somewhat more than that over |z|_1; scale_j = 1/|z_j|_1.
    Whatever is not a number is not proved.
    """
    N = W.shape[1]
    for i in range(N):
        bad[i] = 0.0
    for j in range(Z.shape[1]):
        product(Z, j, W, x)
        side, shift, s = cell[j >> 6], np.uint64(j & 63), scale[j]
        for i in range(N):
            value = x[i] * s
            value = value if (side[i] >> shift) & np.uint64(1) != 0 else -value
            bad[i] += 0.0 if value > slack[i] else 1.0


@compile_
def round_to(U, enough, level, grid, top, slack):  # type: ignore[no-untyped-def]
    """grid = U on a grid 2^level times as fine as is enough (1 at least), its largest entry, and the slack of that."""
    N = U.shape[1]
    for i in range(N):
        slack[i] = max(enough[i] * level[i], 1.0)
        top[i] = 0.0
    for l in range(len(U)):
        u, g = U[l], grid[l]
        for i in range(N):
            g[i] = np.rint(u[i] * slack[i])
        for i in range(N):
            top[i] = max(top[i], abs(g[i]))
    for i in range(N):
        slack[i] = top[i] * (len(U) + 6) * 2.0**-52


@compile_
def halve(low, middle, high, bad, top, found, reach):  # type: ignore[no-untyped-def]
    """Halve the range of grids: bad = 0 where the middle one does and is the best so far. How many lanes go on."""
    going = np.int64(0)
    for i in range(len(low)):
        open_ = low[i] <= high[i]
        done = open_ & (bad[i] == 0.0) & (top[i] < reach)
        bad[i] = 0.0 if done else 1.0
        found[i] = 1.0 if done else found[i]
        high[i] = middle[i] - 1 if done else high[i]
        low[i] = middle[i] + 1 if open_ & (not done) else low[i]
        going += low[i] <= high[i]
    return going


@compile_
def without_divisor(w):  # type: ignore[no-untyped-def]
    """Divide integers by their greatest common divisor."""
    divisor = np.int64(0)
    for l in range(len(w)):
        a, b = divisor, abs(w[l])
        while b >= SMALL or (a >= SMALL and b):
            a, b = b, a % b
        divisor = np.int64(DIVISOR[a, b]) if a < SMALL else a
        if divisor == 1:
            return
    for l in range(len(w)):
        w[l] //= divisor


@compile_
def load(cells, closures, points, count, start, word, U, V):  # type: ignore[no-untyped-def]
    """A block of cells into lanes; the last cell is repeated where there are too few."""
    N = U.shape[1]
    for l in range(points.shape[2], len(U)):
        for i in range(N):
            U[l, i] = 0.0
            V[l, i] = 0.0
    for i in range(N):
        n = min(start + i, count - 1)
        for w in range(cells.shape[1]):
            word[0, w, i] = cells[n, w]
            word[1, w, i] = closures[n, w]
        for l in range(points.shape[2]):
            U[l, i] = points[n, 0, l]
            V[l, i] = points[n, 1, l]


@compile_call
def finish(  # type: ignore[no-untyped-def]
    Z, scale, cells, closures, points, count, W, at, good, space, word, range_, rounds, coarsest, reach
):
    """W[at + n] = a small integer point of cell n < count, with good[n] = 1 if its signs are proved.

    scale_j = 1 / |z_j|_1. points[n] is a point of the closed cell, zero on the hyperplanes in closures[n] only, and a
    direction that leads into the cell. More rounds of centering make smaller numbers; so does a search for the coarsest
    grid, between 2^coarsest and 2 times as fine as is enough. space has 3 R + 2 m + 9 rows, word 2 x words and
    range_ 3, of LANES numbers each.
    """
    N = space.shape[1]
    R, m = Z.shape
    r = W.shape[1]
    U, best, grid = space[:R], space[R : 2 * R], space[2 * R : 3 * R]
    V = best  # the direction is not needed when points are rounded
    a, b, lanes = space[3 * R : 3 * R + m], space[3 * R + m : 3 * R + 2 * m], space[3 * R + 2 * m :]
    top, enough, level, bad, found = lanes[6], lanes[7], lanes[4], lanes[5], lanes[8]
    low, middle, high = range_[0], range_[1], range_[2]
    for start in range(0, count, N):
        load(cells, closures, points, count, start, word, U, V)
        step(Z, word[1], U, V, a, b, lanes)
        for _ in range(rounds):
            center(Z, U, V, a, b, lanes)
        fineness(U, a, b, scale, lanes, top, enough)
        here = min(N, count - start)
        for i in range(N):
            low[i] = coarsest
            high[i] = FINEST if 0.0 < enough[i] < reach else COARSEST - 1
            found[i] = 0.0
        going = np.int64(1)
        while going:
            for i in range(N):
                middle[i] = max(low[i] + high[i], 2 * COARSEST) >> 1
                level[i] = POWERS[middle[i] - COARSEST]
            round_to(U, enough, level, grid, top, lanes[0])
            count_unproved(Z, scale, word[0], grid, lanes[0], lanes[1], bad)
            going = halve(low, middle, high, bad, top, found, reach)
            for l in range(r):
                g, w = grid[l], best[l]
                for i in range(N):
                    w[i] = g[i] if bad[i] == 0.0 else w[i]
        for i in range(here):
            good[start + i] = 1 if found[i] > 0.0 else 0
            if found[i] > 0.0:
                for l in range(r):
                    W[at + start + i, l] = np.int64(best[l, i])
        if coarsest < 0:
            for n in range(start, start + here):
                if good[n]:
                    without_divisor(W[at + n])


ODD, PAIRS, HALVES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)


@compile_
def toggle_rows(half, toggles, start, nonzero, table, out):  # type: ignore[no-untyped-def]
    """out[i] = start with the toggles of the ones of half[i], and after all of these the same without `nonzero` rows.

    toggles[8 b + i] belongs to bit i of byte b of a row of half; all rows of bytes come in 64-bit words but half and
    out. table has room for 256 words.
    """
    size = len(half)
    words = toggles.shape[1]
    width = out.shape[1]
    for w in range(words):
        first, stop = 8 * w, min(8 * w + 8, width)
        for b in range(half.shape[1]):
            table[b, 0] = np.uint64(0)
            for i in range(8):
                toggle = toggles[8 * b + i, w] if 8 * b + i < len(toggles) else np.uint64(0)
                for x in range(1 << i):
                    table[b, (1 << i) + x] = table[b, x] ^ toggle
        for n in range(size):
            word = start[w]
            for b in range(half.shape[1]):
                word ^= table[b, half[n, b]]
            other = word ^ nonzero[w]
            for at in range(first, stop):
                out[n, at] = np.uint8(word & np.uint64(255))
                out[size + n, at] = np.uint8(other & np.uint64(255))
                word >>= np.uint64(8)
                other >>= np.uint64(8)


@compile_
def reverse_bytes(words, out):  # type: ignore[no-untyped-def]
    """out = words with the bits of each byte in reverse order."""
    for n in range(len(words)):
        x = words[n]
        x = ((x >> np.uint64(1)) & ODD) | ((x & ODD) << np.uint64(1))
        x = ((x >> np.uint64(2)) & PAIRS) | ((x & PAIRS) << np.uint64(2))
        out[n] = ((x >> np.uint64(4)) & HALVES) | ((x & HALVES) << np.uint64(4))


@compile_
def find(table, mask):  # type: ignore[no-untyped-def]
    """The place of a mask in a hash table (its size a power of two, 0 for empty), or where it would be put."""
    last = np.uint64(len(table) - 1)
    h = mask * np.uint64(0x9E3779B97F4A7C15)
    at = (h ^ (h >> np.uint64(32))) & last
    while table[at] != np.uint64(0) and table[at] != mask:
        at = (at + np.uint64(1)) & last
    return at


@compile_
def minimal_masks(masks, table, members, key, kept):  # type: ignore[no-untyped-def]
    """kept[n]: no part of masks[n] with the same lowest one is a mask too; members[n] its ones, then -1.

    key[n] puts masks, none of which begins another, in the order of their ones, ascending.
    """
    for n in range(len(masks)):
        table[find(table, masks[n])] = masks[n]
    for n in range(len(masks)):
        low = masks[n] & (~masks[n] + np.uint64(1))
        rest = masks[n] ^ low
        part = (rest - np.uint64(1)) & rest
        while part and table[find(table, part | low)] == np.uint64(0):
            part = (part - np.uint64(1)) & rest
        kept[n] = part == np.uint64(0)
        word = masks[n]
        key[n] = ~np.uint64(0)
        for i in range(members.shape[1]):
            members[n, i] = lowest(word) if word else -1
            key[n] ^= np.uint64(1) << np.uint64(63 - members[n, i]) if word else np.uint64(0)
            word &= word - np.uint64(1)
