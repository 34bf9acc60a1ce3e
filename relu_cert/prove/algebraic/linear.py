"""Linear algebra over a field of algebraic numbers: elimination, and the shortest vector over a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq_mat

from relu_cert.exact import Matrix
from relu_cert.prove.algebraic.field import Field, Number, product
from relu_cert.rationals import to_fmpq, to_fraction

Rows = list[list[Number]]


@dataclass(frozen=True)
class Side:
    """low <= m <= high; None is no bound."""

    low: Number | None
    high: Number | None


def eliminate(rows: Rows, columns: int) -> list[int]:
    """Reduce the rows, in place, in their first columns (Gauss and Jordan); the pivot columns."""
    pivots: list[int] = []
    for j in range(columns):
        done = len(pivots)
        place = next((i for i in range(done, len(rows)) if rows[i][j]), None)
        if place is None:
            continue
        rows[done], rows[place] = rows[place], rows[done]
        inverse = rows[done][j].inverse()
        rows[done] = [x * inverse if x else x for x in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[j]:
                factor = row[j]
                rows[i] = [x - factor * y if y else x for x, y in zip(row, rows[done], strict=True)]
        pivots.append(j)
    return pivots


def solve(A: Rows, b: Sequence[Number]) -> list[Number] | None:
    """The only x with A x = b; None if there is none, or more than one."""
    k = len(A[0])
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    pivots = eliminate(rows, k + 1)
    return [rows[i][k] for i in range(k)] if pivots == list(range(k)) else None


def shortest(
    field: Field, Z: Matrix, box: Sequence[Side], start: Sequence[Number], free: Sequence[int]
) -> tuple[list[Number], list[Number]]:
    """m in the box with the shortest v = Z'm, and v, from a feasible start; `free` guesses the rows off their start.

    Active sets, as for rationals: the rows are rational, so that only values and bounds are numbers of the field.
    """
    A = fmpq_mat([[to_fmpq(x) for x in row] for row in Z])
    m = list(start)
    active: list[int] = []
    for k in free:
        if _some(A, [*active, k]).rank() > len(active):
            active.append(k)
    m, active = _descend(field, A, box, m, active)
    while True:
        v = _combined(field, A, m)
        entering = _violated(field, Z, box, m, v, active)
        if entering is None:
            return m, v
        m, active = _descend(field, A, box, m, [*active, entering])


def _violated(
    field: Field, Z: Matrix, box: Sequence[Side], m: list[Number], v: list[Number], active: list[int]
) -> int | None:
    """A row at a bound whose move into the box shortens v."""
    best, steepest = None, 0.0
    for k, z in enumerate(Z):
        if k in active:
            continue
        slope = product(z, v, field.rational(0))
        if not slope:
            continue
        bound = box[k].high if slope < 0 else box[k].low
        if (bound is None or m[k] != bound) and abs(float(slope)) >= steepest:
            best, steepest = k, abs(float(slope))
    return best


def _descend(
    field: Field, A: fmpq_mat, box: Sequence[Side], m: list[Number], active: list[int]
) -> tuple[list[Number], list[int]]:
    """Minimise over the active rows, dropping rows that meet a bound."""
    while active:
        goal = _face_minimum(field, A, m, active)
        step, blocking = field.rational(1), None
        for k, target in zip(active, goal, strict=True):
            if target == m[k]:
                continue
            rising = target > m[k]
            limit = box[k].high if rising else box[k].low
            if limit is not None and (target > limit if rising else target < limit):
                ratio = (limit - m[k]) / (target - m[k])
                if ratio < step:
                    step, blocking = ratio, k
        m = list(m)
        for k, target in zip(active, goal, strict=True):
            m[k] = target if blocking is None else m[k] + step * (target - m[k])
        if blocking is None:
            break
        active = [k for k in active if k != blocking]
    return m, active


def _face_minimum(field: Field, A: fmpq_mat, m: list[Number], active: list[int]) -> list[Number]:
    """The values of the active rows that make v orthogonal to them: -(F F')^-1 F c."""
    zero = field.rational(0)
    c = _combined(field, A, [zero if k in active else x for k, x in enumerate(m)])
    F = _some(A, active)
    W = (F * F.transpose()).solve(F)
    return [-product([to_fraction(x) for x in row], c, zero) for row in W.tolist()]


def _combined(field: Field, A: fmpq_mat, m: Sequence[Number]) -> list[Number]:
    zero = field.rational(0)
    return [product([to_fraction(x) for x in row], m, zero) for row in A.transpose().tolist()]


def _some(A: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    return fmpq_mat([[A[k, j] for j in range(A.ncols())] for k in chosen])
