"""The neurons that tie at lambda, or may tie: which of them are active, and how each sits on its face."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from verify.bounds import matrix
from verify.classes import Class, Face, planes_of
from verify.problem import Problem
from verify.text import Vector


@dataclass(frozen=True)
class Neuron:
    """One neuron.

    `active`       whether some solution uses it; None: not known
    `independent`  whether the constraints that are tight at it are independent (each half-space, or hyperplane, once),
                   in every block that carries it
    `strict`       whether it costs, at first order, to leave its face; None: not known
    `B`            v(r) = B'r, up to its sign, for all residuals near r*: its face is stable. None: not known
    `weight`       about alpha, where the solution is unique
    `key`, `face`  of its class (`optimal_set`); `v`, `q`: the exact dual vector and output (`exact_set`)
    `breaks`       v has no derivative at r* along the residuals on which all tied neurons stay tied
    `blocks`       how many blocks of a network over some patterns carry it
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


def are_independent(vectors: Iterable[Vector]) -> bool:
    """Whether these constraints are independent; positive multiples are one half-space, zero is none."""
    directions = {tuple(x / abs(next(filter(None, a))) for x in a) for a in vectors if any(a)}
    if not directions:
        return True
    return bool(matrix(directions, len(next(iter(directions)))).rank() == len(directions))


def of_class(problem: Problem, a: Class, active: bool | None, weight: Fraction) -> Neuron:
    """A neuron whose face is stable over the ball; an idle kink with a multiplier on its bound leaves `strict` open."""
    if a.face is None:
        return Neuron(a.key, active, independent=True, strict=True, B=a.B, weight=weight)
    vectors = problem.Z if problem.model == "relu" else problem.constraints(a.key[1])
    tight = are_independent(vectors[c] for c in a.kinks)
    strict = True if not one_sided(problem, a.face) else None
    return Neuron(a.key, active, tight, strict, a.B, weight, a.face)


def one_sided(problem: Problem, face: Face) -> tuple[int, ...]:
    """The idle kinks whose multiplier, 0, is on its bound: all of direct problems; relu: no row looks the other way."""
    if problem.model != "relu" or not face.idle:
        return face.idle
    planes = planes_of(problem.Z)
    return tuple(c for c in face.idle if not planes[c].squares()[1])
