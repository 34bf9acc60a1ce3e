"""Cones of the tree with the lines that cross them: memory is that of one path.

A line that crosses a cone crosses those above it. One that is nowhere negative on a cone is linear there and goes into
`linear`, one that is nowhere positive goes away: F(u) = linear'u + sum_k W_k (p_k.u)_+ over the lines that cross.
Numbers are 64-bit where all that is done with them stays below 2^62, else those of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from relu_cert.evidence import Row
from relu_cert.outputs.bound import PAIRS
from relu_cert.outputs.exact import Form, Pull, integers, leaf_form
from relu_cert.outputs.rounded import Weights, rounded

Whole = NDArray[Any]  # integers of 64 bits, or of Python
LARGEST = 2**62
LONGEST_SHARES = 255  # whole, times which sums of W still have 64 bits


@dataclass(frozen=True)
class Cone:
    """Generators, the lines that cross, their heights (one row for each generator), and the linear part."""

    generators: tuple[Row, ...]
    lines: NDArray[np.int64]
    heights: Whole
    linear: Whole
    biased: bool = False

    @cached_property
    def gram(self) -> Form:
        """GG', without the last entries of generators where biases are free."""
        G = fmpz_mat([list(g[: len(g) - self.biased]) for g in self.generators])
        return integers(G * G.transpose())

    @cached_property
    def on(self) -> NDArray[np.bool_]:
        """Whether the crossing lines are positive at the sum of the generators, each times a power of two."""
        bits = [max(map(abs, g)).bit_length() for g in self.generators]
        H, total = self.heights, np.zeros(len(self.lines), dtype=self.heights.dtype)
        lift = [max(bits) - b for b in bits]
        if len(self.lines):
            longest = max(int(np.abs(row).max()).bit_length() + k for row, k in zip(H, lift, strict=True))
            if longest + len(bits) >= 62:
                H, total = H.astype(object), total.astype(object)
        for row, k in zip(H, lift, strict=True):
            total = total + row * (1 << k)
        return np.asarray(total > 0, dtype=bool)


@dataclass
class Descent:
    """The lines of a dual point, and its cones and leaves: 64-bit where |p|, and the sum of all |p||W|, are below
    2^62 / LONGEST_SHARES."""

    pull: Pull
    P: Whole = field(init=False)
    W: Whole = field(init=False)
    M0: Whole = field(init=False)
    widest: int = field(init=False)

    def __post_init__(self) -> None:
        rows, W, M0 = self.pull.lines.rows, self.pull.W, self.pull.M0
        sizes = [sum(map(abs, p)) for p in rows]
        total = sum(a * sum(map(abs, w)) for a, w in zip(sizes, W, strict=True))
        total += sum(abs(x) for row in M0 for x in row)
        self.widest = max(sizes, default=0)
        d, C = len(M0), self.pull.C if M0 else 0
        kind = np.int64 if LONGEST_SHARES * self.widest < LARGEST else object
        self.P = np.array(rows, dtype=kind).reshape(len(rows), d)
        whole = np.int64 if LONGEST_SHARES * max(self.widest, total) < LARGEST else object
        self.W, self.M0 = np.array(W, dtype=whole).reshape(len(rows), C), np.array(M0, dtype=whole)

    @cached_property
    def short(self) -> Weights:
        """The weights for the form in 64-bit integers."""
        return Weights.of(self.W, self.pull.lengths)

    def heights(self, lines: NDArray[np.int64], g: Row) -> Whole:
        """p_c.g of these lines."""
        if self.widest * max(map(abs, g)) < LARGEST:
            return np.asarray(self.P[lines] @ np.array(g, dtype=np.int64))
        return np.asarray(self.P[lines].astype(object) @ np.array(g, dtype=object))

    def root(self, generators: Sequence[Row]) -> Cone:
        """A cone of which nothing is known."""
        every = np.arange(len(self.P))
        H = np.stack([self.heights(every, g) for g in generators]) if generators else np.zeros((0, 0), dtype=np.int64)
        return self.narrowed(tuple(generators), every, H, self.M0) if generators else Cone((), every[:0], H, self.M0)

    def child(self, cone: Cone, place: int, g: Row, heights: Whole) -> Cone:
        """The cone with g, which has these heights, in one place."""
        generators = (*cone.generators[:place], g, *cone.generators[place + 1 :])
        H = np.stack([heights if k == place else row for k, row in enumerate(cone.heights)])
        return self.narrowed(generators, cone.lines, H, cone.linear)

    def narrowed(self, generators: tuple[Row, ...], lines: NDArray[np.int64], H: Whole, linear: Whole) -> Cone:
        """The cone with these generators, which only these lines may cross."""
        low, high = H.min(axis=0), H.max(axis=0)
        crossing = np.asarray((low < 0) & (high > 0), dtype=bool)
        on = lines[np.asarray((low >= 0) & (high > 0), dtype=bool)]
        if len(on):
            linear = linear + self.P[on].T.astype(self.W.dtype) @ self.W[on]
        return Cone(generators, lines[crossing], H[:, crossing], linear, self.pull.lines.biases)

    def form(self, cone: Cone, shares: Whole, whole: int) -> Form:
        """2 whole^2 (level GG' - B) of a leaf, from below: no entry is more."""
        W = self.W[cone.lines].tolist()
        lengths = [self.pull.lengths[c] for c in cone.lines.tolist()]
        linear = fmpz_mat([list(g) for g in cone.generators]) * fmpz_mat(cone.linear.tolist())
        return leaf_form(
            self.pull.level, cone.gram, linear, cone.heights.T.tolist(), (W, lengths), shares.tolist(), whole
        )

    def below(self, cone: Cone, shares: Whole, whole: int) -> Form | None:
        """The same with a little less, in 64-bit integers; None where numbers are too long, or lines few."""
        if whole > LONGEST_SHARES or len(cone.lines) <= PAIRS or cone.heights.dtype == object:
            return None
        M = whole * cone.linear + (self.P[cone.lines] * shares[:, None]).T.astype(self.W.dtype) @ self.W[cone.lines]
        L = integers(fmpz_mat([list(g) for g in cone.generators]) * fmpz_mat(M.tolist()))
        return rounded(self.pull.level, cone.gram, L, cone.heights, self.short, cone.lines, shares, whole)
