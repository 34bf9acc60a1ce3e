"""The compiled engine in one call: level 0, the walk, integer points with proved signs, and bits in their place.

Everything that the kernels need lies in three blocks of memory, of floats, integers and words; `floats_of`,
`integers_of` and `words_of` say where (they are compiled and called from Python, too). The sizes that they take:
m hyperplanes of rank r, room for some cells, lanes of `finish.py`, slots of a hash table.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.finish import finish
from relu_cert.patterns.kernel import DONE, GO_ON, INTEGERS, ROUNDED, START, UNDECIDED, advance
from relu_cert.patterns.tableau import compile_, compile_call

__all__ = ["DONE", "GO_ON", "INTEGERS", "ROUNDED", "START", "UNDECIDED", "run"]

LARGE = 4
"""What `run` returns, besides the codes of the kernel: entries or minors are too large for the level 0 made here."""

COUNTS = 8
"""Numbers at the start of the integers: those of the kernel (0 ... 2), then cells in all, cells that failed, the mode,
rounds of centering and the coarsest grid."""

CELLS, CIRCUITS, LEVEL, TOTAL, FAILED, MODE, ROUNDS, COARSEST = range(COUNTS)

SMALL_ENTRIES = 8  # largest entry of normals that are small


@compile_
def pad(m):  # type: ignore[no-untyped-def]
    """The next multiple of 8: with zeros at the end every loop over hyperplanes is one over whole vectors."""
    return (m + 7) // 8 * 8


@compile_
def padded_rank(r):  # type: ignore[no-untyped-def]
    """The least R >= r with 3 ((-R) mod 4) <= R: sums of R products, by threes and then by fours."""
    R = r
    while 3 * (-R % 4) > R:
        R += 1
    return R


@compile_
def floats_of(block, m, r, room, lanes):  # type: ignore[no-untyped-def]
    """X, E, S and F of the kernel, points, and for `finish.py` normals Z, their scale, and space."""
    levels, R = r + 1, padded_rank(r)
    height = pad(m)
    wide = height + pad(r)
    size = levels * r * wide
    at = 0
    X = block[at : at + size].reshape((levels, r, wide))
    at += size
    E = block[at : at + size].reshape((levels, r, wide))
    at += size
    S = block[at : at + 5 * wide].reshape((5, wide))
    at += 5 * wide
    rows = 3 * R + 2 * m + 9
    space = block[at : at + rows * lanes].reshape((rows, lanes))
    at += rows * lanes
    Z = block[at : at + R * m].reshape((R, m))
    at += R * m
    scale = block[at : at + m]
    at += m
    F = block[at : at + 2 * levels].reshape((2, levels))
    at += 2 * levels
    points = block[at : at + 2 * room * r].reshape((room, 2, r))
    return X, E, S, F, points, Z, scale, space


@compile_
def integers_of(block, m, r, room, lanes):  # type: ignore[no-untyped-def]
    """counts, I and J of the kernel, the sets of cells, which points are proved, and ranges for `finish.py`."""
    levels, height = r + 1, pad(m)
    at = COUNTS
    I = block[at : at + 5 * levels * levels].reshape((5, levels, levels))
    at += 5 * levels * levels
    J = block[at : at + 2 * height].reshape((2, height))
    at += 2 * height
    kept = block[at : at + room * (r - 1)].reshape((room, r - 1))
    at += room * (r - 1)
    good = block[at : at + room]
    at += room
    ranges = block[at : at + 3 * lanes].reshape((3, lanes))
    return block[:COUNTS], I, J, kept, good, ranges


@compile_
def words_of(block, m, r, room, lanes, slots):  # type: ignore[no-untyped-def]
    """M of the kernel, bits of cells and of closures, the hash table of circuits, and bits in lanes."""
    levels, words = max(r + 1, 3), (m + 63) // 64
    at = 0
    M = block[at : at + 4 * levels * words].reshape((4, levels, words))
    at += 4 * levels * words
    seen = block[at : at + slots * words].reshape((slots, words))
    at += slots * words
    cells = block[at : at + room * words].reshape((room, words))
    at += room * words
    closures = block[at : at + room * words].reshape((room, words))
    at += room * words
    word = block[at : at + 2 * words * lanes].reshape((2, words, lanes))
    return M, cells, closures, seen, word


def block_sizes(m: int, r: int, room: int, lanes: int, slots: int) -> tuple[int, int, int]:
    """How many floats, integers and words the three blocks have."""
    levels, words, height = r + 1, (m + 63) // 64, (m + 7) // 8 * 8
    wide, R = height + (r + 7) // 8 * 8, padded_rank.py_func(r)
    floats = (2 * levels * r + 5) * wide + (3 * R + 2 * m + 9) * lanes + (R + 1) * m + 2 * levels + 2 * room * r
    integers = COUNTS + 5 * levels * levels + 2 * height + room * r + 3 * lanes
    return floats, integers, (4 * max(levels, 3) + slots + 2 * room + 2 * lanes) * words


@compile_
def clear(X, E, F, I, M, seen, counts, m, r, base):  # type: ignore[no-untyped-def]
    """The state of the kernel before it starts, but for level 0 of the tableau."""
    X[:] = 0.0
    E[:] = 0.0
    F[:] = 0.0
    I[:] = 0
    M[:] = np.uint64(0)
    seen[:] = np.uint64(0)
    counts[:] = 0
    counts[LEVEL] = -1
    I[0, 2, 0] = m - 1
    for k in range(r + 1):
        for l in range(r):
            I[3, k, l] = 1 if l != base else 0
    for j in range(m, 64 * M.shape[2]):  # rows of zeros are members of every closure
        M[0, 0, j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@compile_
def minors(N, largest):  # type: ignore[no-untyped-def]
    """A bound on all minors of integer rows below 2^25 (Hadamard's); `largest` is room for r numbers."""
    m, r = N.shape
    for t in range(r):
        largest[t] = 1.0
    for j in range(m):
        total = np.int64(0)
        for l in range(r):
            total += N[j, l] * N[j, l]
        norm = np.sqrt(np.float64(total)) + 1.0
        for t in range(r):  # the r largest, descending
            if norm > largest[t]:
                norm, largest[t] = largest[t], norm
    bound = 1.0
    for t in range(r):
        bound *= largest[t]
    return bound * (1.0 + 1e-9)


@compile_
def level_zero(N, base, X, F, Z, scale, largest):  # type: ignore[no-untyped-def]
    """Level 0 of the tableau, and normals and scale for the proof of signs. Returns the mode, -1 if numbers are large.

    z_0 takes the place of the coordinate `base`: X_jl = z_jl p - z_j,base z_0l with p = z_0,base; column base stays.
    After the hyperplanes come the coordinates themselves.
    """
    m, r = N.shape
    top = 0.0
    for j in range(m):
        for l in range(r):
            top = max(top, abs(np.float64(N[j, l])))
    if top >= 2.0**25:
        return -1, top
    bound = minors(N, largest)
    if bound >= 2.0**470:
        return -1, top
    p, start = N[0, base], pad(m)
    for l in range(len(Z)):
        for j in range(m):
            Z[l, j] = np.float64(N[j, l]) if l < r else 0.0
    for l in range(r):
        for j in range(m):
            X[0, l, j] = np.float64(N[j, l] if l == base else N[j, l] * p - N[j, base] * N[0, l])
        X[0, l, start + l] = np.float64(p)
    for l in range(r):
        X[0, l, start + base] = np.float64(-N[0, l]) if l != base else 1.0
    for j in range(m):
        total = np.int64(0)
        for l in range(r):
            total += abs(N[j, l])
        scale[j] = 1.0 / np.float64(total)
    F[0, 0] = np.float64(p)
    return INTEGERS if bound < 2.0**25 else ROUNDED, top


@compile_
def deliver(cells, count, flip, bits, at):  # type: ignore[no-untyped-def]
    """bits[at + n] = the bytes of cell n, little-endian; `flip` turns hyperplane 0 back."""
    for n in range(count):
        row = bits[at + n]
        for b in range(len(row)):
            row[b] = np.uint8((cells[n, b >> 3] >> np.uint64(8 * (b & 7))) & np.uint64(255))
        row[0] ^= np.uint8(flip)


@compile_call
def run(  # type: ignore[no-untyped-def]
    N, m, r, base, flip, thorough, reach, room, lanes, slots, most, floats, integers, words,
    bits, W, failed, log, state, work, chunks,
):  # fmt: skip
    """Walk on from `state`, and write bits and integer points of the cells found after those that are known.

    Returns what the kernel does, or LARGE at the start; GO_ON if there is no more room in bits and W (unless they have
    room for `most` cells) or in `log`, and after some chunks of work. Cells whose points are not proved are then in
    `failed`, each by its number and its set.
    """
    X, E, S, F, points, Z, scale, space = floats_of(floats, m, r, room, lanes)
    counts, I, J, kept, good, ranges = integers_of(integers, m, r, room, lanes)
    M, cells, closures, seen, word = words_of(words, m, r, room, lanes, slots)
    if state == START and len(N):
        clear(X, E, F, I, M, seen, counts, m, r, base)
        mode, top = level_zero(N, base, X, F, Z, scale, S[0])
        if mode < 0:
            return LARGE
        counts[MODE] = mode
        # where all numbers are small, points are near small integers as they come, and centering gains little
        counts[ROUNDS] = 1 if thorough and top > SMALL_ENTRIES else 0
        counts[COARSEST] = 0 if not thorough else -3 if top > SMALL_ENTRIES else -2
    height = pad(m)
    while True:
        state = advance(
            X, E, F, I, M, S, J, height, base, counts[MODE],
            cells, closures, points, kept, log, counts, seen, state, work,
        )  # fmt: skip
        if state not in (DONE, GO_ON):
            return state
        count, total = counts[CELLS], counts[TOTAL]
        finish(
            Z, scale, cells, closures, points, count, W, total, good, space, word, ranges,
            counts[ROUNDS], counts[COARSEST], reach,
        )  # fmt: skip
        deliver(cells, count, flip, bits, total)
        for n in range(count):
            if not good[n]:
                failed[counts[FAILED], 0] = total + n
                for t in range(r - 1):
                    failed[counts[FAILED], 1 + t] = kept[n, t]
                counts[FAILED] += 1
        counts[CELLS] = 0
        counts[TOTAL] += count
        chunks -= 1
        if (
            state == DONE
            or chunks == 0
            or (len(bits) < most and counts[TOTAL] + room > len(bits))
            or counts[FAILED] > 0
            or counts[CIRCUITS] + 2 * height + 2 > len(log)
        ):
            return state
