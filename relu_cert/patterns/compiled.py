"""Driving the compiled engine: memory for it, and returns so that Ctrl-C works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt, prod
from operator import mul
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from relu_cert.patterns.cells import cover_bound
from relu_cert.patterns.walk import Node, bits_of

Floats = NDArray[np.float64]

ROOM = 1 << 12  # cells in a chunk
WORK = 1 << 14  # sets tried in a chunk
CHUNKS = 16  # chunks between two returns from the compiled engine
FIRST_ROOM = 1 << 20  # cells
LANES = 96  # cells whose points are made at once; never a constant in the compiled code, where loops would be unrolled


class OutOfReach(ArithmeticError):
    """Numbers too long for floats, or signs that these do not decide; the integer walk has no such limits."""


class Search:
    """The cells (+ on hyperplane 0) of pairwise non-parallel normals of full rank r >= 2; normals[0][base] > 0.

    `bits`    one row each: bit j (little-endian in the bytes) says that the cell is on the positive side of normal j.
              With `flip` the bits of hyperplane 0 are the other way round.
    `points`  an integer point in each, no coordinate above `reach`; smaller ones if `thorough`.
    `failed`  the sets of the cells whose point floats did not find or did not prove, by number.
    `broken`  broken circuits (bit masks) and the smaller hyperplane that each spans.

    Iterating goes on with the search; each item is the number of cells so far. Only that many rows are valid.
    """

    def __init__(
        self, normals: Sequence[Sequence[int]], base: int, *, flip: bool, thorough: bool, reach: float
    ) -> None:
        from relu_cert.patterns import run

        m, r = len(normals), len(normals[0])
        if m >= 1 << 15:
            raise OutOfReach
        self.run, self.normals, self.base, self.options = run, normals, base, (flip, thorough, reach)
        self.most = cover_bound(m, r) // 2
        height = pad(m)
        room = max(min(ROOM, self.most), 2 * height) + 2 * height
        self.sizes = m, r, room, LANES
        self.slots = min(1 << 14, 1 << self.most.bit_length())
        floats, integers, words = run.block_sizes(*self.sizes, self.slots)
        self.floats = aligned_floats(floats)
        self.integers = np.empty(integers, dtype=np.int64)
        self.words = np.empty(words, dtype=np.uint64)
        self.log = np.empty((room, (m + 63) // 64 + 1), dtype=np.uint64)
        self.lost = np.empty((room, r), dtype=np.int64)
        capacity = min(self.most, FIRST_ROOM)
        self.bits = np.empty((capacity, (m + 7) // 8), dtype=np.uint8)
        self.points = np.empty((capacity, r), dtype=np.int64)
        self.failed: dict[int, Node] = {}
        self.broken: dict[int, int] = {}

    def __iter__(self) -> Iterator[int]:
        run = self.run
        m, r, room, lanes = self.sizes
        try:
            N = np.array(self.normals, dtype=np.int64)
        except OverflowError:
            N = np.empty((0, r), dtype=np.int64)
            self._large()
        state = run.START
        while state != run.DONE:
            state = run.run(
                N, m, r, self.base, *self.options, room, lanes, self.slots, min(self.most, 2**62),
                self.floats, self.integers, self.words, self.bits, self.points, self.lost, self.log,
                state, WORK, CHUNKS,
            )  # fmt: skip
            if state == run.LARGE:
                N = N[:0]
                self._large()
                state = run.START
            elif state == run.UNDECIDED:
                raise OutOfReach
            else:
                _, logged, _, total, lost, *_ = self.integers[: run.COUNTS].tolist()
                if lost:
                    self.failed.update((row[0], self._node(row[1:])) for row in self.lost[:lost].tolist())
                if logged:
                    self.broken.update(_circuits(self.log[:logged], self.normals))
                self.integers[run.CIRCUITS] = self.integers[run.FAILED] = 0
                if total + room > len(self.bits) < self.most:
                    self.bits, self.points = _twice(self.bits), _twice(self.points)
                yield total

    def _node(self, codes: Sequence[int]) -> Node:
        """The no-broken-circuit set of a cell: members, each as hyperplane, column and side, then -1."""
        members: list[int] = []
        places: list[int] = []
        signs: list[int] = []
        for code in codes:
            if code < 0:
                break
            members.append(code >> 16)
            places.append(code >> 1 & (1 << 15) - 1)
            signs.append(1 if code & 1 else -1)
        free = tuple(l for l in range(self.sizes[1]) if l != self.base and l not in places)
        return Node(tuple(members), tuple(signs), free)

    def _large(self) -> None:
        """Make the first level here: numbers are large."""
        run, (m, r, *_) = self.run, self.sizes
        # all minors and products of two of them must be in the range of floats: 2^-1022 to 2^1023
        if hadamard(self.normals, r).bit_length() >= 480:
            raise OutOfReach
        X, E, _, F, _, Z, scale, _ = run.floats_of.py_func(self.floats, *self.sizes)
        counts, I, *_ = run.integers_of.py_func(self.integers, *self.sizes)
        M, _, _, seen, _ = run.words_of.py_func(self.words, *self.sizes, self.slots)
        run.clear.py_func(X, E, F, I, M, seen, counts, m, r, self.base)
        first_level(self.normals, self.base, X, E, Z, scale)
        F[:, 0] = X[0, self.base, 0], E[0, self.base, 0]
        _, thorough, _ = self.options
        counts[run.MODE] = run.ROUNDED
        counts[run.ROUNDS], counts[run.COARSEST] = (1, -3) if thorough else (0, 0)


def _twice(array: NDArray[Any]) -> NDArray[Any]:
    """The same rows with room for as many more."""
    larger = np.empty((2 * len(array), array.shape[1]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def hadamard(rows: Sequence[Sequence[int]], r: int) -> int:
    """An upper bound on the absolute values of all minors of integer rows of length r."""
    norms = sorted([isqrt(sum(map(mul, row, row))) + 1 for row in rows], reverse=True)
    return prod(norms[:r])


def _circuits(log: NDArray[np.uint64], normals: Sequence[Sequence[int]]) -> dict[int, int]:
    """Logged broken circuits (bit masks) and the hyperplane that each spans."""
    masks: list[int] = log[:, 0].tolist()
    for w in range(1, log.shape[1] - 1):
        masks = [mask | word << 64 * w for mask, word in zip(masks, log[:, w].tolist(), strict=True)]
    last: list[int] = log[:, -1].tolist()
    found = dict(zip(masks, last, strict=True))
    if max(last) >> 32:
        for mask in [mask for mask, spanned in found.items() if spanned >> 32]:
            spanned = found.pop(mask) - (1 << 32)
            found[_needed_members(mask, spanned, normals)] = spanned
    return found


def _needed_members(mask: int, spanned: int, normals: Sequence[Sequence[int]]) -> int:
    """The members of an independent set that a hyperplane in its span depends on."""
    members = bits_of(mask)
    columns = flint.fmpq_mat(flint.fmpz_mat([list(normals[b]) for b in members]).transpose())
    # the members are independent, so the solution of the normal equations is the one combination
    gram = columns.transpose() * columns
    target = flint.fmpq_mat(flint.fmpz_mat([[x] for x in normals[spanned]]))
    solution = gram.solve(columns.transpose() * target)
    return sum(1 << b for i, b in enumerate(members) if solution[i, 0] != 0)


def pad(m: int) -> int:
    """The next multiple of 8: with zeros at the end every loop over hyperplanes is one over whole vectors."""
    return (m + 7) // 8 * 8


def first_level(normals: Sequence[Sequence[int]], base: int, X: Floats, E: Floats, Z: Floats, scale: Floats) -> None:
    """Fill in level 0 of the tableau and its errors, the normals Z and 1/|z_j|_1, as `run.level_zero` does."""
    m, r = len(normals), len(normals[0])
    first, p = normals[0], normals[0][base]
    rows = [*(list(z) for z in normals), *([int(i == l) for i in range(r)] for l in range(r))]
    place = [*range(m), *range(pad(m), pad(m) + r)]
    Z[:] = 0.0
    for row, j in zip(rows, place, strict=True):
        for l in range(r):
            x = row[l] if l == base else row[l] * p - row[base] * first[l]
            X[0, l, j] = float(x)
            E[0, l, j] = 0.0 if abs(x) < 2**53 else abs(X[0, l, j]) * 2.0**-52
        if j < m:
            Z[:r, j] = [float(x) for x in row]
            scale[j] = 1.0 / sum(map(abs, row))


def aligned_floats(size: int) -> Floats:
    """Room for floats that starts at a multiple of 64 bytes, so that no vector lies across two lines of the cache."""
    raw = np.empty(size + 8)
    start = -raw.ctypes.data % 64 // 8
    return raw[start : start + size]
