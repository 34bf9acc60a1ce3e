"""The neurons that tie at lambda, or may tie: which of them are active, and how each sits on its face."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from verify.numbers.bounds import matrix
from verify.optimal.ball import Face
from verify.text import Vector


@dataclass(frozen=True)
class Neuron:
    """One neuron.

    `active`       whether some solution uses it; None: not known
    `independent`  whether the constraints that are tight at it are independent (each hyperplane once)
    `strict`       whether it costs, at first order, to leave its face; None: not known
    `B`            v(r) = B'r, up to its sign, for all residuals near r*: its face is stable. None: not known
    `weight`       about alpha, where the solution is unique
    `key`, `face`  of its class (`optimal_set`); `v`, `q`: the exact dual vector and output (`exact_set`; of
                   `algebraic_set` v alone, in its field)
    `breaks`       v has no derivative at r* along the residuals on which all tied neurons stay tied
    `blocks`       how many blocks of a network over some patterns carry it
    `tight`        whether any constraint is tight at it
    """

    key: tuple[int, int]
    active: bool | None
    independent: bool
    strict: bool | None = None
    B: fmpq_mat | None = None
    weight: Fraction = Fraction(0)
    face: Face | None = None
    v: Vector = ()
    q: Vector = ()
    breaks: bool = False
    blocks: int = 1
    tight: bool = False


def are_independent(vectors: Iterable[Vector]) -> bool:
    """Whether these constraints are independent; all multiples are one hyperplane, zero is none."""
    directions = {tuple(x / next(filter(None, a)) for x in a) for a in vectors if any(a)}
    if not directions:
        return True
    return bool(matrix(directions, len(next(iter(directions)))).rank() == len(directions))
