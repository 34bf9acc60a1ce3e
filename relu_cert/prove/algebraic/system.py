"""The equations of the optimal weights over a field of algebraic numbers: sum_a alpha_a q_a = y - r*, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq_mat

from relu_cert.prove.algebraic.field import Number, Numbers
from relu_cert.prove.algebraic.linear import eliminate
from relu_cert.prove.polytope.system import System, Tableau
from relu_cert.rationals import to_fmpq


@dataclass(frozen=True)
class FieldSystem(System):
    """`left` and `right` are F and g in the field; F and g of the base are near to them, for floats."""

    left: tuple[Numbers, ...] = ()
    right: Numbers = ()

    def equations(self) -> tuple[list[list[Number]], list[Number]]:
        """F and g in the field."""
        return [list(row) for row in self.left], list(self.right)

    def tableau(self, basis: Sequence[int]) -> Tableau:
        """F_B^-1 [F | g]; there are no errors, so that F_B^-1 itself is not needed."""
        k = len(basis)
        rows = [[*(row[a] for a in basis), g, *row] for row, g in zip(self.left, self.right, strict=True)]
        if len(eliminate(rows, k)) < k:
            raise ZeroDivisionError
        return Tableau([row[k + 1 :] for row in rows], [row[k] for row in rows], [])

    def restricted(self, chosen: tuple[int, ...]) -> FieldSystem:
        """The system in the weights of some neurons, where all others are known to be 0."""
        outputs = list(zip(*self.left, strict=True))
        return replace(field_system([outputs[a] for a in chosen], self.right), names=chosen, total=self.total)

    def rank(self, columns: Sequence[int]) -> int:
        """The rank of some columns of F."""
        return len(eliminate([[row[a] for a in columns] for row in self.left], len(columns)))


def field_system(outputs: Sequence[Numbers], fit: Sequence[Number]) -> FieldSystem:
    """The reduced echelon form of [Q | fit]."""
    k = len(outputs)
    rows = [list(row) for row in zip(*outputs, fit, strict=True)]
    rank = len(eliminate(rows, k + 1))
    left = tuple(tuple(row[:k]) for row in rows[:rank])
    right = tuple(row[k] for row in rows[:rank])
    F = fmpq_mat(rank, k, [to_fmpq(x.near()) for row in left for x in row])
    zero = (Fraction(0),) * rank
    return FieldSystem(
        F, tuple(x.near() for x in right), zero, zero, tuple(range(k)), k, bits=0, left=left, right=right
    )
