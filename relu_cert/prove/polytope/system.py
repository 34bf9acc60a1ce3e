"""The equations of the optimal weights: F alpha = g, exactly, or with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from relu_cert.exact import Vector
from relu_cert.prove.split import columns
from relu_cert.rationals import to_fmpq, to_fraction

Scalar = Any  # fmpq, or a Number of a field: exact numbers that mix with rationals


@dataclass(frozen=True)
class Tableau:
    """F_B^-1 F by its rows, x = F_B^-1 g, and the rows of F_B^-1 (none where nothing has an error)."""

    rows: list[list[Scalar]]
    x: list[Scalar]
    inverse: list[list[Scalar]]


@dataclass(frozen=True)
class System:
    """{alpha >= 0 : F alpha = g}; column a belongs to the neuron names[a] of `total`.

    Entries of row l of F are within F_error[l], g[l] within g_error[l] of the truth. `silent` are rows in which g is
    exactly 0, with the columns where F is: a target 0 that is fitted exactly, and the gates that are closed there.
    """

    F: fmpq_mat
    g: Vector
    F_error: Vector
    g_error: Vector
    names: tuple[int, ...]
    total: int
    bits: int
    silent: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The rank of F."""
        return len(self.g)

    @property
    def exact(self) -> bool:
        """Whether nothing is rounded."""
        return self.bits == 0

    def equations(self) -> tuple[list[list[Scalar]], list[Scalar]]:
        """F by its rows and g, in the numbers in which an exact system is exact."""
        return self.F.tolist(), [to_fmpq(x) for x in self.g]

    def on(self, chosen: Sequence[int]) -> fmpq_mat:
        """The given columns of F."""
        return columns(self.F, chosen) if chosen and self.rows else fmpq_mat(self.rows, len(chosen))

    def tableau(self, basis: Sequence[int]) -> Tableau:
        """The tableau of a basis; ZeroDivisionError if its columns are dependent."""
        if not basis:
            return Tableau([], [], [])
        inverse = self.on(basis).inv()
        x = (inverse * fmpq_mat(len(basis), 1, [to_fmpq(g) for g in self.g])).entries()
        return Tableau((inverse * self.F).tolist(), x, inverse.tolist())

    def restricted(self, chosen: tuple[int, ...]) -> System:
        """An exact system in the weights of some neurons, where all others are known to be 0."""
        outputs = [tuple(to_fraction(x) for x in column) for column in zip(*self.F.tolist(), strict=True)]
        return replace(exact_system([outputs[a] for a in chosen], self.g), names=chosen, total=self.total)

    def rank(self, chosen: Sequence[int]) -> int:
        """The rank of the given columns of F."""
        return int(self.on(chosen).rank())


def exact_system(outputs: Sequence[Vector], fit: Vector) -> System:
    """The reduced echelon form of [Q | fit]."""
    k = len(outputs)
    rows = [[to_fmpq(x) for x in row] for row in zip(*outputs, fit, strict=True)]
    reduced, rank = fmpq_mat(rows).rref()
    kept = reduced.tolist()[:rank]
    F = fmpq_mat(rank, k, [x for row in kept for x in row[:k]])
    zero = (Fraction(0),) * rank
    return System(F, tuple(to_fraction(row[k]) for row in kept), zero, zero, tuple(range(k)), k, 0)
