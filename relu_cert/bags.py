"""Bags: the rows of Z that a data point sums up. With P (n x N) the outputs of a neuron are P (Zu)_+, and
t = P'theta takes the place of theta wherever rows of Z are weighted.

A dense network has P = I: every row is a data point (`EACH`). Where windows of an image, or the members of a set, are
rows, equal ones are one row, and P counts them: P_ik = scale_i times_ik. A leaky ReLU max(t, s t) = (t)_+ - s (-t)_+ is
data of the same kind: each row z is there as z and, counted -s times, as -z (`with_slope`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, norm_squared, rational, scaled_rows, to_fmpq

Floats = NDArray[np.float64]
Whole = NDArray[Any]  # integers, of any length
_ZERO = Fraction(0)


@dataclass(frozen=True)
class Each:
    """P = I."""

    @property
    def unit(self) -> int:
        """unit P is a matrix of integers."""
        return 1

    @property
    def told(self) -> tuple[str, ...]:
        """All there is to tell of P, in texts."""
        return ()

    @property
    def written(self) -> dict[str, Any]:
        """P as certificates write it: not at all."""
        return {}

    def first(self, count: int) -> Each:
        """The first bags."""
        return self

    def and_empty(self, count: int) -> Each:
        """These bags, and empty ones."""
        return self

    @property
    def widest(self) -> float:
        """About the length of the longest column of P."""
        return 1.0

    def sums(self, A: Whole) -> Whole:
        """unit P A for integers A, a vector or columns."""
        return A

    def shares(self, r: Whole) -> Whole:
        """unit P'r for a vector r of integers."""
        return r

    def pooled(self, v: Sequence[Fraction]) -> Vector:
        """P v"""
        return tuple(v)

    def spread(self, theta: Sequence[Fraction]) -> Vector:
        """P'theta"""
        return tuple(theta)

    def pooled_matrix(self, A: fmpq_mat) -> fmpq_mat:
        """P A"""
        return A

    def spread_matrix(self, S: fmpq_mat) -> fmpq_mat:
        """P'S"""
        return S

    def pooled_floats(self, A: Floats) -> Floats:
        """P A in floats."""
        return A

    def spread_floats(self, r: Floats) -> Floats:
        """P'r in floats."""
        return r

    def pooled_sparse(self, A: Any) -> Any:
        """P A in floats, for a sparse matrix."""
        return A

    def between(self, diagonal: Floats) -> Floats:
        """P diag P' in floats."""
        return np.diag(diagonal)

    def moved_squared(self, a: Mapping[int, Fraction]) -> Fraction:
        """| |P| |a| |^2 for the vector with these entries: what sum_k a_k t_k changes by with theta, squared."""
        return sum((x * x for x in a.values()), _ZERO)

    def lengths_squared(self, column: Sequence[int], entries: Sequence[int], count: int) -> list[int]:
        """|unit |P| |A||^2 of every column of A, whose row k has the entry entries_k in column column_k (-1: none)."""
        total = [0] * count
        for c, a in zip(column, entries, strict=True):
            if c >= 0:
                total[c] += a * a
        return total

    def size_squared(self, squares: Sequence[int]) -> Fraction:
        """zeta^2 = sum_i (sum_k |P_ik|)(sum_k |P_ik| |z_k|^2) >= |P (Zu)_+|^2 / |u|^2, for these |z_k|^2."""
        return Fraction(sum(squares))


EACH = Each()


@dataclass(frozen=True, eq=False)
class Bags(Each):
    """P with P_ik = scale_i times_ik for the `rows` of bag i, ascending; `N` is the number of rows of Z."""

    N: int
    scale: Vector
    rows: tuple[tuple[int, ...], ...]
    times: tuple[tuple[int, ...], ...]

    def __getstate__(self) -> dict[str, object]:
        return {key: self.__dict__[key] for key in ("N", "scale", "rows", "times")}

    @property
    def told(self) -> tuple[str, ...]:
        """All there is to tell of P, in texts."""
        return repr([str(s) for s in self.scale]), repr(self.rows), repr(self.times)

    @property
    def written(self) -> dict[str, Any]:
        """P as certificates write it."""
        bags = zip(self.scale, self.rows, self.times, strict=True)
        return {"bags": [{"scale": rational(s), "rows": list(rows), "times": _times(times)} for s, rows, times in bags]}

    def first(self, count: int) -> Bags:
        """The first bags."""
        return Bags(self.N, self.scale[:count], self.rows[:count], self.times[:count])

    def and_empty(self, count: int) -> Bags:
        """These bags, and empty ones."""
        none: tuple[tuple[int, ...], ...] = ((),) * count
        return Bags(self.N, (*self.scale, *(Fraction(1),) * count), (*self.rows, *none), (*self.times, *none))

    @cached_property
    def widest(self) -> float:
        """About the length of the longest column of P."""
        squares = np.asarray(self.matrix.multiply(self.matrix).sum(axis=0))
        return float(np.sqrt(squares.max(initial=0.0)))

    @cached_property
    def unit(self) -> int:
        """unit P is a matrix of integers."""
        return lcm(*(s.denominator for s in self.scale))

    @cached_property
    def _entries(self) -> tuple[Whole, Whole, Whole, Whole]:
        """Bag, row and value of the entries of unit P, by bags; and where the bags that are not empty begin."""
        sizes = [len(rows) for rows in self.rows]
        bag = np.repeat(np.arange(len(self.rows)), sizes)
        row = np.array([k for rows in self.rows for k in rows], dtype=np.int64)
        by = [int(s * self.unit) for s in self.scale]
        value = np.array([s * m for s, times in zip(by, self.times, strict=True) for m in times], dtype=object)
        return bag, row, value, np.flatnonzero(np.diff(bag, prepend=-1))

    @cached_property
    def _by_rows(self) -> tuple[Whole, Whole, Whole]:
        """The order of the entries by rows, and where the rows that are in some bag begin, and these rows."""
        _, row, _, _ = self._entries
        order = np.argsort(row, kind="stable")
        starts = np.flatnonzero(np.diff(row[order], prepend=-1))
        return order, starts, row[order][starts]

    def sums(self, A: Whole) -> Whole:
        """unit P A for integers A, a vector or columns."""
        bag, row, value, starts = self._entries
        total = np.zeros((len(self.rows), *A.shape[1:]), dtype=object)
        if len(starts):
            weight = value if A.ndim == 1 else value[:, None]
            total[bag[starts]] = np.add.reduceat(A[row].astype(object) * weight, starts, axis=0)
        return total

    def shares(self, r: Whole) -> Whole:
        """unit P'r for a vector r of integers."""
        bag, _, value, _ = self._entries
        order, starts, rows = self._by_rows
        total = np.zeros(self.N, dtype=object)
        if len(starts):
            total[rows] = np.add.reduceat((r[bag].astype(object) * value)[order], starts)
        return total

    def pooled(self, v: Sequence[Fraction]) -> Vector:
        """P v"""
        (V,), q = scaled_rows([v])
        return tuple(Fraction(int(x), q * self.unit) for x in self.sums(np.array(V, dtype=object)))

    def spread(self, theta: Sequence[Fraction]) -> Vector:
        """P'theta"""
        (T,), q = scaled_rows([theta])
        return tuple(Fraction(int(x), q * self.unit) for x in self.shares(np.array(T, dtype=object)))

    def pooled_matrix(self, A: fmpq_mat) -> fmpq_mat:
        """P A"""
        N, q = A.numer_denom()
        rows = np.array([int(x) for x in N.entries()], dtype=object).reshape(A.nrows(), A.ncols())
        total = fmpz_mat(len(self.rows), A.ncols(), self.sums(rows).ravel().tolist())
        return fmpq_mat(total) * fmpq(1, int(q) * self.unit)

    def spread_matrix(self, S: fmpq_mat) -> fmpq_mat:
        """P'S"""
        columns = [
            self.spread([Fraction(int(S[i, j].p), int(S[i, j].q)) for i in range(S.nrows())]) for j in range(S.ncols())
        ]
        return fmpq_mat([[to_fmpq(x) for x in row] for row in zip(*columns, strict=True)])

    @cached_property
    def matrix(self) -> Any:
        """P in floats, sparse."""
        bag, row, value, _ = self._entries
        entries = np.array([float(Fraction(int(x), self.unit)) for x in value])
        return sp.csr_matrix((entries, (bag, row)), shape=(len(self.rows), self.N))

    @cached_property
    def transposed(self) -> Any:
        """P' in floats, sparse."""
        return self.matrix.T.tocsr()

    def pooled_floats(self, A: Floats) -> Floats:
        """P A in floats."""
        return np.asarray(self.matrix @ A)

    def spread_floats(self, r: Floats) -> Floats:
        """P'r in floats."""
        return np.asarray(self.transposed @ r)

    def pooled_sparse(self, A: Any) -> Any:
        """P A in floats, for a sparse matrix."""
        return (self.matrix @ A).tocsr()

    def between(self, diagonal: Floats) -> Floats:
        """P diag P' in floats."""
        return np.asarray((self.matrix.multiply(diagonal[None]) @ self.transposed).todense())

    @cached_property
    def _columns(self) -> dict[int, list[tuple[int, Fraction]]]:
        """The entries of P, by rows."""
        found: dict[int, list[tuple[int, Fraction]]] = {}
        for i, (s, rows, times) in enumerate(zip(self.scale, self.rows, self.times, strict=True)):
            for k, m in zip(rows, times, strict=True):
                found.setdefault(k, []).append((i, s * m))
        return found

    def moved_squared(self, a: Mapping[int, Fraction]) -> Fraction:
        """| |P| |a| |^2 for the vector with these entries: what sum_k a_k t_k changes by with theta, squared."""
        total: dict[int, Fraction] = {}
        for k, x in a.items():
            for i, p in self._columns.get(k, ()):
                total[i] = total.get(i, _ZERO) + abs(p * x)
        return norm_squared(tuple(total.values()))

    def lengths_squared(self, column: Sequence[int], entries: Sequence[int], count: int) -> list[int]:
        """|unit |P| |A||^2 of every column of A, whose row k has the entry entries_k in column column_k (-1: none)."""
        bag, row, value, _ = self._entries
        total: dict[tuple[int, int], int] = {}
        for i, k, p in zip(bag.tolist(), row.tolist(), value.tolist(), strict=True):
            if (c := column[k]) >= 0:
                total[i, c] = total.get((i, c), 0) + abs(p * entries[k])
        found = [0] * count
        for (_, c), x in total.items():
            found[c] += x * x
        return found

    def size_squared(self, squares: Sequence[int]) -> Fraction:
        """zeta^2 = sum_i (sum_k |P_ik|)(sum_k |P_ik| |z_k|^2) >= |P (Zu)_+|^2 / |u|^2, for these |z_k|^2."""
        _, row, value, starts = self._entries
        if not len(starts):
            return _ZERO
        size = np.abs(value)
        sums = (np.add.reduceat(x, starts) for x in (size, size * np.array(squares, dtype=object)[row]))
        return Fraction(int(np.multiply(*sums).sum()), self.unit**2)


def _times(times: tuple[int, ...]) -> list[int] | str:
    """Counts as an array, or as a vector where a slope gave them signs or made them long."""
    return list(times) if all(0 < m < 10**15 for m in times) else " ".join(map(str, times))


def with_slope(Z: Matrix, bags: Each, slope: Fraction) -> tuple[Matrix, Bags]:
    """Rows and bags with which a ReLU is max(t, s t), s = p/q < 1: each row z other than zero counts q times and -z,
    which appears after it, -p times, and bags weigh 1/q. What counts nowhere is left out."""
    p, q = slope.numerator, slope.denominator
    names: dict[Vector, int] = {}
    both = [
        (names.setdefault(z, len(names)), names.setdefault(tuple(-x for x in z), len(names))) if any(z) else ()
        for z in Z
    ]
    single = tuple((k,) for k in range(len(Z))), ((1,),) * len(Z)
    rows, times = (bags.rows, bags.times) if isinstance(bags, Bags) else single
    scale = bags.scale if isinstance(bags, Bags) else (Fraction(1),) * len(Z)
    counted: list[dict[int, int]] = []
    for members, counts in zip(rows, times, strict=True):
        found: dict[int, int] = {}
        for k, m in zip(members, counts, strict=True):
            for row, part in zip(both[k], (q, -p), strict=False):
                found[row] = found.get(row, 0) + part * m
        counted.append({row: m for row, m in sorted(found.items()) if m})
    there = {row: i for i, row in enumerate(sorted({row for found in counted for row in found}))}
    each = tuple(names)
    new = (
        tuple(tuple(there[row] for row in found) for found in counted),
        tuple(tuple(found.values()) for found in counted),
    )
    return tuple(each[row] for row in there), Bags(len(there), tuple(s / q for s in scale), *new)
