"""Elimination over the rationals (flint's) or a field of algebraic numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Rows = list[list[Any]]


def eliminate(rows: Rows, columns: int) -> list[int]:
    """Reduce the rows, in place, in their first columns (Gauss and Jordan); the pivot columns."""
    pivots: list[int] = []
    for j in range(columns):
        done = len(pivots)
        place = next((i for i in range(done, len(rows)) if rows[i][j]), None)
        if place is None:
            continue
        rows[done], rows[place] = rows[place], rows[done]
        inverse = 1 / rows[done][j]
        rows[done] = [x * inverse if x else x for x in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[j]:
                factor = row[j]
                rows[i] = [x - factor * y if y else x for x, y in zip(row, rows[done], strict=True)]
        pivots.append(j)
    return pivots


def solve(A: Rows, b: Sequence[Any]) -> list[Any] | None:
    """The only x with A x = b; None if there is none, or more than one."""
    k = len(A[0])
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    pivots = eliminate(rows, k + 1)
    return [rows[i][k] for i in range(k)] if pivots == list(range(k)) else None


def product(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a.b, of numbers of one kind, or rationals of a field's numbers."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), b[0] * 0)
