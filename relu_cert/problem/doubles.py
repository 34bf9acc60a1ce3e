"""Exact products of an array of doubles, at the speed of floats.

Every double is an integer over one power of two. The integers are cut into limbs of w bits, 2^(2w) n < 2^53: then all
products and sums of limbs are integers below 2^53, which doubles add and multiply without rounding, in any order. The
limbs of the result are put together as Python's integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import overload

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Scaled, Vector
from relu_cert.problem.problem import Block

Floats = NDArray[np.float64]
_MANTISSA = 53
_MOST_LIMBS = 24  # of numbers of very different sizes; beyond, Python's integers are as fast


class Doubles:
    """A (p x n), finite doubles: A = 2^-shift sum_a limbs[a] 2^(width a)."""

    def __init__(self, A: Floats) -> None:
        self.width = (_MANTISSA - max(A.shape).bit_length()) // 2
        exponent = np.frexp(A)[1][A != 0]
        self.shift = _MANTISSA - int(exponent.min(initial=_MANTISSA))
        count = max(1, -(-(int(exponent.max(initial=0)) + self.shift) // self.width))
        if count > _MOST_LIMBS:
            raise OverflowError
        limbs, rest = [], np.ldexp(A, self.shift - self.width * (count - 1))
        for _ in range(count):
            limbs.append(np.trunc(rest))
            rest = np.ldexp(rest - limbs[-1], self.width)
        self.limbs = limbs[::-1]

    def times(self, r: Sequence[int]) -> list[int]:
        """2^shift A r"""
        return self._product(self.limbs, r)

    def transposed_times(self, w: Sequence[int]) -> list[int]:
        """2^shift A'w"""
        return self._product([limb.T for limb in self.limbs], w)

    def _product(self, limbs: Sequence[Floats], r: Sequence[int]) -> list[int]:
        size = max(x.bit_length() for x in r)
        parts = np.array([self._cut(x, size) for x in r], dtype=np.float64).reshape(len(r), -1)
        found = [(limb @ parts).astype(np.int64) for limb in limbs]
        return self._joined([(a + b, one[:, b]) for a, one in enumerate(found) for b in range(parts.shape[1])])

    def squares(self) -> list[int]:
        """4^shift |A_i|^2 for every row i."""
        pairs = [(a, b) for a in range(len(self.limbs)) for b in range(a + 1)]
        dots = [(a, b, np.einsum("ij,ij->i", self.limbs[a], self.limbs[b]).astype(np.int64)) for a, b in pairs]
        return self._joined([(a + b, one if a == b else 2 * one) for a, b, one in dots])

    def _cut(self, x: int, size: int) -> list[int]:
        """The limbs of x, with its sign."""
        sign, x, mask = (-1 if x < 0 else 1), abs(x), (1 << self.width) - 1
        return [sign * ((x >> at) & mask) for at in range(0, max(size, 1), self.width)]

    def _joined(self, parts: list[tuple[int, NDArray[np.int64]]]) -> list[int]:
        """sum 2^(width a) part over the pairs (a, part)."""
        total = [0] * len(parts[0][1])
        for place, same in groupby(sorted(parts, key=lambda part: part[0]), key=lambda part: part[0]):
            columns = [one.tolist() for _, one in same]
            total = [t + (sum(xs) << (place * self.width)) for t, *xs in zip(total, *columns, strict=True)]
        return total


def odd_parts(A: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """p and k with A = p 2^k, every p odd (or 0, with k = 0)."""
    mantissa, exponent = np.frexp(A)
    m = np.ldexp(mantissa, _MANTISSA).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1] - 1  # at the end of m; -1 for m = 0
    zeros[m == 0] = 0
    return m >> zeros, np.where(m == 0, 0, exponent - _MANTISSA + zeros)


def texts(A: Floats) -> list[str]:
    """The rows, every entry as p or p/q in lowest terms, with one space between them."""
    p, power = odd_parts(A)
    low = int(power.min(initial=0))
    forms = np.array([f"%d/{1 << -k}" for k in range(low, 0)] + ["%d"], dtype=object)
    p = np.where(power > 0, p.astype(object) << np.maximum(power, 0), p) if power.max(initial=0) > 0 else p
    rows = zip(forms[np.minimum(power, 0) - low].tolist(), p.tolist(), strict=True)
    return [" ".join(form) % tuple(row) for form, row in rows]


class FloatBlock(Block):
    """A free group whose X_b is an array of doubles; Fractions are made of them only where they are wanted."""

    def __init__(self, array: Floats, size_squared: Fraction | None = None) -> None:
        object.__setattr__(self, "K", None)
        self.__dict__["floats"] = np.ascontiguousarray(array)
        if size_squared is not None:
            self.__dict__["size_squared"] = size_squared

    @cached_property
    def X(self) -> Matrix:
        """X_b, exactly."""
        return tuple(tuple(Fraction(*x.as_integer_ratio()) for x in row) for row in self.floats.tolist())

    @cached_property
    def matrix(self) -> fmpq_mat:
        """X_b for flint."""
        n, size = self.floats.shape
        p, power = (part.ravel().tolist() for part in odd_parts(self.floats))
        units = {k: fmpq(1 << k) if k >= 0 else fmpq(1, 1 << -k) for k in set(power)}
        return fmpq_mat(n, size, [x * units[k] for x, k in zip(p, power, strict=True)])

    @cached_property
    def columns(self) -> tuple[list[list[int]], int]:
        """X_b' as integers over one power of two: x = m 2^(e - 53) with |m| < 2^53."""
        mantissa, exponent = np.frexp(self.floats.T)
        low = int(exponent.min(initial=_MANTISSA))
        m, shift = np.ldexp(mantissa, _MANTISSA).astype(np.int64), exponent - low
        rows = zip(m.tolist(), shift.tolist(), strict=True)
        return [[a << s for a, s in zip(*row, strict=True)] for row in rows], 1 << (_MANTISSA - low)

    @cached_property
    def largest(self) -> Fraction:
        """max |x| over the entries x of X_b."""
        return Fraction(float(np.abs(self.floats).max(initial=0.0)))


class FloatBlocks(Sequence[Block]):
    """The free groups of an array X of doubles (n x d)."""

    def __init__(self, X: Floats, groups: Sequence[Sequence[int]]) -> None:
        order = [j for group in groups for j in group]
        self._ends = np.cumsum([0, *map(len, groups)]).tolist()
        self._doubles = Doubles(np.ascontiguousarray(X[:, order].T))
        unit = 4**self._doubles.shift
        squares = [Fraction(sum(part), unit) for part in self._parts(self._doubles.squares())]
        self._last: tuple[Vector, list[Vector]] | None = None
        self._blocks = tuple(FloatBlock(X[:, list(g)], size) for g, size in zip(groups, squares, strict=True))

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, b: int) -> Block: ...
    @overload
    def __getitem__(self, b: slice) -> Sequence[Block]: ...
    def __getitem__(self, b: int | slice) -> Block | Sequence[Block]:
        return self._blocks[b]

    def correlations(self, r: Vector) -> list[Vector]:
        """X_b'r of every group."""
        if self._last is None or self._last[0] is not r:
            scaled = Scaled.of(r)
            unit, products = scaled.denominator << self._doubles.shift, self._doubles.times(scaled.entries)
            self._last = r, [tuple(Fraction(x, unit) for x in part) for part in self._parts(products)]
        return self._last[1]

    def fit(self, weights: Iterable[tuple[int, Vector]]) -> Vector:
        """sum X_b w_b over the pairs (b, w_b)."""
        w = [Fraction(0)] * self._ends[-1]
        for b, part in weights:
            for j, x in enumerate(part, self._ends[b]):
                w[j] += x
        scaled = Scaled.of(w)
        unit = scaled.denominator << self._doubles.shift
        return tuple(Fraction(x, unit) for x in self._doubles.transposed_times(scaled.entries))

    def _parts(self, entries: list[int]) -> list[list[int]]:
        return [entries[i:j] for i, j in zip(self._ends, self._ends[1:], strict=False)]
