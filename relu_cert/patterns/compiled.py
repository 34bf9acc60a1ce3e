"""Driving the compiled kernel: what it needs in arrays, chunk by chunk, so that progress and Ctrl-C work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt, prod
from operator import mul
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray
from sympy import prevprime

from relu_cert.patterns.circuits import cover_bound
from relu_cert.patterns.walk import Node, bits_of

Floats = NDArray[np.float64]

ROOM = 1 << 12  # cells in a chunk
WORK = 1 << 14  # sets tried in a chunk
SMALL_ENTRIES = 8  # largest entry of normals that are small


class OutOfReach(ArithmeticError):
    """Minors outside the range of floats, or too many primes that divide one; the integer walk has no such limits."""


@dataclass(frozen=True)
class Chunk:
    """Some cells (+ on hyperplane 0): their signs, a float point and a direction for each, and their sets.

    `cells`   bit j of the little-endian words: the cell is + on hyperplane j (0 as it was oriented).
    `closures`, `points`   a point of the closed cell, zero on the hyperplanes of the closure, and a direction into it.
    `kept`    the members of the set, each as hyperplane, column and side (bits 16 up, 1 up, 0), then -1.
    `broken`  broken circuits that were met: bit mask to the smaller hyperplane spanned.
    """

    cells: NDArray[np.uint64]
    closures: NDArray[np.uint64]
    points: NDArray[np.float64]
    kept: NDArray[np.int32]
    broken: dict[int, int]

    def node(self, i: int, base: int) -> Node:
        """The no-broken-circuit set of cell i."""
        members: list[int] = []
        places: list[int] = []
        signs: list[int] = []
        for code in self.kept[i].tolist():
            if code < 0:
                break
            members.append(code >> 16)
            places.append(code >> 1 & (1 << 15) - 1)
            signs.append(1 if code & 1 else -1)
        free = tuple(l for l in range(self.points.shape[2]) if l != base and l not in places)
        return Node(tuple(members), tuple(signs), free)


def _room(size: int, words: int, r: int) -> tuple[NDArray[Any], ...]:
    """Room for the cells, closures, points and sets of a chunk."""
    return (
        np.empty((size, words), dtype=np.uint64),
        np.empty((size, words), dtype=np.uint64),
        np.empty((size, 2, r)),
        np.empty((size, r - 1), dtype=np.int32),
    )


def hadamard(rows: Sequence[Sequence[int]], r: int) -> int:
    """An upper bound on the absolute values of all minors of integer rows of length r."""
    norms = sorted([isqrt(sum(map(mul, row, row))) + 1 for row in rows], reverse=True)
    return prod(norms[:r])


def residue_arrays(rows: Sequence[Sequence[int]], bound: int) -> tuple[NDArray[np.int64], ...]:
    """The arrays of `residues.py` (R, P, V, B), with three primes to spare."""
    r = len(rows[0])
    need = primes_needed(bound)
    primes: list[int] = [int(prevprime(2**31))]
    while len(primes) < need + 3:
        primes.append(int(prevprime(primes[-1])))
    R = np.array([[[x % p for x in row] for row in rows] for p in primes], dtype=np.int64)
    P = np.array([primes, *([pow(p, -1, q) if p != q else 0 for q in primes] for p in primes)], dtype=np.int64)
    V = np.zeros((6 + len(primes), max(len(primes), r + 1)), dtype=np.int64)
    B = np.zeros((len(primes) + 1, r + 1, r + 1), dtype=np.int64)
    return R, P, V, B


def primes_needed(bound: int) -> int:
    """How many primes above 2^30 have a product, without one of them, above twice the bound."""
    return (2 * bound).bit_length() // 30 + 2


def compiled_walk(normals: Sequence[Sequence[int]], base: int) -> Iterator[Chunk]:
    """The walk of `walk.walk` for rank r >= 2, in chunks. `normals[0][base]` must be positive.

    The arrays of a chunk are overwritten by the next one.
    """
    from relu_cert.patterns import kernel

    m, r = len(normals), len(normals[0])
    levels, words, height = r + 1, (m + 63) // 64, padded(m)
    bound = hadamard(normals, r)
    # all minors and products of two of them must be in the range of floats: 2^-1022 to 2^1023
    rounding = bound.bit_length() < 480
    mode = kernel.INTEGERS if bound < 2**25 else kernel.ROUNDED if rounding else kernel.SCALED
    if bound.bit_length() + 2 * r > 940 or m >= 1 << 15:
        raise OutOfReach
    X, E, S, exponents = first_level(normals, base, rounding, bound)
    F = np.zeros((2, levels))
    F[:, 0] = X[0, base, 0], E[0, base, 0]
    I = np.zeros((5, levels, levels), dtype=np.int64)
    I[0, 2, 0] = m - 1
    I[3, :, :r] = 1
    I[3, :, base] = 0
    M = np.zeros((4, max(levels, 3), words), dtype=np.uint64)
    M[0, 0] = np.frombuffer(((1 << 64 * words) - (1 << m)).to_bytes(8 * words, "little"), dtype=np.uint64)
    J = np.zeros((2, m), dtype=np.int64)
    most = cover_bound(m, r) // 2
    room = max(min(ROOM, most), 2 * height) + 2 * height
    cells, closures, points, kept = _room(room, words, r)
    log = np.empty((room, words + 1), dtype=np.uint64)
    counts = np.array([0, 0, -1, m, 0])
    seen = np.zeros((min(1 << 14, 1 << most.bit_length()), words), dtype=np.uint64)
    exact = _Exact(normals, base, bound, exponents, rounding)
    state = kernel.START
    while state != kernel.DONE:
        state = kernel.advance(
            X, E, F, I, M, S, J, height, base, mode, cells, closures, points, kept, log, counts, seen, state, WORK
        )  # fmt: skip
        if state == kernel.RESOLVE:
            exact.resolve(X, E, I, int(counts[2]) + 1)
        elif state == kernel.ORDER:
            exact.order(X, E, F, I, S, J, counts)
        else:
            n, logged = counts[:2].tolist()
            broken = _circuits(log[:logged], normals)
            yield Chunk(cells[:n], closures[:n], points[:n], kept[:n], broken)
            counts[:2] = 0


def _circuits(log: NDArray[np.uint64], normals: Sequence[Sequence[int]]) -> dict[int, int]:
    """Logged broken circuits (bit masks) and the hyperplane that each spans."""
    masks: list[int] = log[:, 0].tolist()
    for w in range(1, log.shape[1] - 1):
        masks = [mask | word << 64 * w for mask, word in zip(masks, log[:, w].tolist(), strict=True)]
    last: list[int] = log[:, -1].tolist()
    found = dict(zip(masks, last, strict=True))
    if last and max(last) >> 32:
        for mask in [mask for mask, spanned in found.items() if spanned >> 32]:
            spanned = found.pop(mask) - (1 << 32)
            found[_needed(mask, spanned, normals)] = spanned
    return found


def _needed(mask: int, spanned: int, normals: Sequence[Sequence[int]]) -> int:
    """The members of an independent set that a hyperplane in its span depends on."""
    members = bits_of(mask)
    columns = flint.fmpq_mat(flint.fmpz_mat([list(normals[b]) for b in members]).transpose())
    # the members are independent, so the solution of the normal equations is the one combination
    gram = columns.transpose() * columns
    target = flint.fmpq_mat(flint.fmpz_mat([[x] for x in normals[spanned]]))
    solution = gram.solve(columns.transpose() * target)
    return sum(1 << b for i, b in enumerate(members) if solution[i, 0] != 0)


class _Exact:
    """What the kernel leaves to residues. Compiled and filled in when it is first needed, which may be never."""

    def __init__(
        self,
        normals: Sequence[Sequence[int]],
        base: int,
        bound: int,
        exponents: NDArray[np.int64],
        rounding: bool,
    ) -> None:
        self.normals, self.base, self.bound = normals, base, bound
        self.exponents, self.rounding = exponents, rounding
        self.arrays: tuple[NDArray[np.int64], ...] | None = None

    def _arguments(self) -> tuple[object, ...]:
        if self.arrays is None:
            self.arrays = residue_arrays(self.normals, self.bound)
        return (*self.arrays, primes_needed(self.bound))

    def resolve(self, X: Floats, E: Floats, I: NDArray[np.int64], level: int) -> None:
        """Decide the undecided entries of a level."""
        from relu_cert.patterns import residues

        m = len(self.normals)
        if not residues.resolve(X, E, I, level, m, self.base, self.exponents, self.rounding, *self._arguments()):
            raise OutOfReach

    def order(
        self,
        X: Floats,
        E: Floats,
        F: Floats,
        I: NDArray[np.int64],
        S: Floats,
        J: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> None:
        """Settle the order of the points of a line."""
        from relu_cert.patterns import residues

        level, count = int(counts[2]) + 1, -int(counts[4])
        if not residues.order_exactly(X, E, F, I, S, J, level, self.base, count, *self._arguments()):
            raise OutOfReach
        counts[4] = count


def padded(m: int) -> int:
    """The next multiple of 8: with zeros at the end every loop over hyperplanes is one over whole vectors."""
    return (m + 7) // 8 * 8


def first_level(
    normals: Sequence[Sequence[int]], base: int, rounding: bool, bound: int
) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Tableau and errors with level 0 filled in: z_0 in the place of the coordinate `base`, coordinates as extra rows.

    X_jl = z_jl p - z_j,base z_0l with p = z_0,base; column base stays. Unless integers are kept, row j is divided by
    2^exponents[j], about the square root of its size: then minors are neither too large nor too small. With these
    comes scratch for the kernel and the exponents. No minor is above `bound`.
    """
    m, r = len(normals), len(normals[0])
    shape, size = (r + 1, r, padded(m) + padded(r)), (r + 1) * r
    space = aligned((2 * size + 5, shape[2]))
    X, E, S = space[:size].reshape(shape), space[size : 2 * size].reshape(shape), space[2 * size :]
    first, p = normals[0], normals[0][base]
    if rounding and (bound < 2**25 or max(max(*z, -min(z)) for z in normals) < 2**25):  # the same, at once
        N = np.array(normals, dtype=np.int64)
        X[0, :, :m] = (N * p - N[:, base, None] * N[0]).T
        X[0, base, :m] = N[:, base]
        start, each = padded(m), np.arange(r)
        X[0, each, start + each] = p
        X[0, :, start + base] = -N[0]
        X[0, base, start + base] = 1
        return X, E, S, np.zeros(m + r, dtype=np.int64)
    rows = [*(list(z) for z in normals), *([int(i == l) for i in range(r)] for l in range(r))]
    exponents = [0 if rounding else max(map(abs, row)).bit_length() // 2 for row in rows]
    place = [*range(m), *range(padded(m), padded(m) + r)]
    for row, exponent, j in zip(rows, exponents, place, strict=True):
        for l in range(r):
            x = row[l] if l == base else row[l] * p - row[base] * first[l]
            X[0, l, j] = x / (1 << (exponent + (exponents[0] if l != base else 0)))
            E[0, l, j] = 0.0 if abs(x) < 2**53 else abs(X[0, l, j]) * 2.0**-52
    return X, E, S, np.array(exponents, dtype=np.int64)


class Finish:
    """Integer points for the cells of chunks, with proved signs; smaller ones if `thorough`. Z are the normals."""

    def __init__(self, Z: Floats, reach: float, thorough: bool) -> None:
        from relu_cert.patterns import finish

        m, self.r = Z.shape
        R, words, lanes = finish.padded_rank(self.r), (m + 63) // 64, finish.LANES
        columns = np.zeros((R, m))
        columns[: self.r] = Z.T
        self.kernel = finish.finish
        self.data = columns, 1 / np.abs(Z).sum(axis=1)
        self.space = aligned((3 * R + 2 * m + 9, lanes)), np.zeros((2, words, lanes), dtype=np.uint64)
        # where all numbers are small, points are near small integers as they come, and centering gains little
        effort = (0, 0) if not thorough else (1, -3) if np.abs(Z).max() > SMALL_ENTRIES else (0, -2)
        self.effort = np.zeros((3, lanes), dtype=np.int64), *effort, reach

    def __call__(self, chunk: Chunk, W: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Write the points into W; says where their signs are proved."""
        good = np.zeros(len(W), dtype=np.bool_)
        self.kernel(*self.data, chunk.cells, chunk.closures, chunk.points, W, good, *self.space, *self.effort)
        return good


def aligned(shape: tuple[int, ...]) -> Floats:
    """Zeros that start at a multiple of 64 bytes, so that no vector lies across two lines of the cache."""
    size = prod(shape)
    raw = np.zeros(size + 8)
    start = -raw.ctypes.data % 64 // 8
    return raw[start : start + size].reshape(shape)
