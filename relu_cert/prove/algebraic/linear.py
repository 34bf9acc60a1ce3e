"""Matrices of exact numbers, over the rationals (flint's) or over a field of algebraic numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat

Exact = tuple[Any, ...]  # Fractions, or numbers of a field
Rows = Sequence[Sequence[Any]]


class FieldMatrix:
    """As much as is needed of what flint's matrices are over the rationals."""

    def __init__(self, rows: Rows) -> None:
        self.rows = [list(row) for row in rows]

    def nrows(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def ncols(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    def tolist(self) -> list[list[Any]]:
        """Row by row."""
        return self.rows

    def entries(self) -> list[Any]:
        """The same, one row after the other."""
        return [x for row in self.rows for x in row]

    def rref(self) -> tuple[FieldMatrix, int]:
        """The reduced echelon form, by Gauss and Jordan, and the rank."""
        rows, rank = [*self.rows], 0
        for j in range(self.ncols()):
            place = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
            if place is None:
                continue
            rows[rank], rows[place] = rows[place], rows[rank]
            inverse = 1 / rows[rank][j]
            rows[rank] = [x * inverse if x else x for x in rows[rank]]
            for i, row in enumerate(rows):
                if i != rank and row[j]:
                    factor = row[j]
                    rows[i] = [x - factor * y if y else x for x, y in zip(row, rows[rank], strict=True)]
            rank += 1
        return FieldMatrix(rows), rank


def matrix(rows: Rows, columns: int) -> Any:
    """The matrix of these rows: flint's if its numbers are rational, or if there are none."""
    entries = [x for row in rows for x in row]
    if entries and not isinstance(entries[0], fmpq):
        return FieldMatrix(rows)
    return fmpq_mat(len(rows), columns, entries)


def reduced(rows: Rows) -> tuple[list[list[Any]], list[int]]:
    """The rows of the reduced echelon form that are not zero, and their pivot columns."""
    if not rows or not rows[0]:
        return [], []
    form, rank = matrix(rows, len(rows[0])).rref()
    kept = form.tolist()[:rank]
    return kept, [next(j for j, x in enumerate(row) if x) for row in kept]


def solve(A: Rows, b: Sequence[Any]) -> list[Any] | None:
    """The only x with A x = b; None if there is none, or more than one."""
    k = len(A[0])
    rows, pivots = reduced([[*row, right] for row, right in zip(A, b, strict=True)])
    return [row[k] for row in rows] if pivots == list(range(k)) else None


def product(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a.b, of numbers of one kind, or rationals of a field's numbers."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), b[0] * 0)
