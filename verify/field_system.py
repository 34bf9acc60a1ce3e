"""The equations of the weights over a field of algebraic numbers: exact, like those over the rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from verify.field import Field, Number
from verify.solutions import System
from verify.text import Node

Rows = list[list[Number]]


@dataclass(frozen=True)
class FieldSystem(System):
    """F (one row for each entry of `right`) and `right` in a field; F and g of the base are not used."""

    left: tuple[tuple[Number, ...], ...] = ()
    right: tuple[Number, ...] = ()

    @property
    def in_field(self) -> Field:
        """The field; there is a row, because a network that is not zero has an output."""
        return self.right[0].field

    @property
    def rows(self) -> int:
        """The rank of F."""
        return len(self.right)


def field_system(outputs: Sequence[Sequence[Number]], fit: Sequence[Number]) -> FieldSystem:
    """sum_a alpha_a q_a = fit as independent rows: the reduced echelon form of [Q | fit]."""
    k = len(outputs)
    rows = [list(row) for row in zip(*outputs, fit, strict=True)]
    rank = len(reduce(rows, k + 1))
    zero = (Fraction(0),) * rank
    left, right = tuple(tuple(row[:k]) for row in rows[:rank]), tuple(row[k] for row in rows[:rank])
    return FieldSystem(fmpq_mat(0, k), (), zero, zero, tuple(range(k)), k, {}, exact=True, left=left, right=right)


def reduce(rows: Rows, columns: int) -> list[int]:
    """Gauss and Jordan, in place: afterwards the rows are reduced in the first `columns` columns; the pivot columns."""
    pivots: list[int] = []
    for j in range(columns):
        done = len(pivots)
        found = next((i for i in range(done, len(rows)) if rows[i][j]), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        pivot = rows[done][j]
        rows[done] = [x / pivot if x.p else x for x in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[j].p:
                factor = row[j]
                rows[i] = [x - factor * y if y.p else x for x, y in zip(row, rows[done], strict=True)]
        pivots.append(j)
    return pivots


def not_in_field(system: System, node: Node) -> None:
    """Reject what is said of the residual theta, if the residual is another one, in a field."""
    node.require(not isinstance(system, FieldSystem), "a set whose residual is theta, or near to it", "algebraic_set")
