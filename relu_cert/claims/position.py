"""Claims about the design alone: group general position, and general position of the columns.

Gated and direct problems. The blocks of a ReLU network come with their negatives, and always tie.
"""

from __future__ import annotations

from functools import partial

from relu_cert.claims.claim import Answer, claim, proved, refuted, undecided
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from relu_cert.prove.ggp.answers import Answer as Position
from relu_cert.prove.ggp.answers import ConeWin, Crossing, Proof, Unsettled, Zero

_SHOWN = 6


def _always_ties(problem: Problem) -> str:
    elsewhere = "it is about gated networks and group lassos; for ReLU networks ask for p-unique"
    return elsewhere if problem.kind == "relu" else ""


_claim = partial(claim, applies=lambda facts: facts.ggp is not None, refused=_always_ties)


@_claim("ggp", "The blocks are in group general position: the solution is unique for every lambda > 0.")
def ggp(facts: Facts) -> Answer:
    """No null vector of X on at most n + 1 blocks has norms that add up to zero with signs (prop:unique-sol)."""
    answer = None if facts.ggp is None else facts.ggp.groups
    return _position(answer, "block", "; the solution is unique for every lambda > 0")


@_claim("general-position", "The columns of X are in general position.")
def general_position(facts: Facts) -> Answer:
    """No null vector of X on at most n + 1 columns has entries that add up to zero with signs
    (prop:general-position-relation), for comparison with ggp.

    It says that the lasso, every column a block of its own, has one solution for every lambda > 0 (Tibshirani 2013). It
    neither implies nor follows from group general position.
    """
    return _position(None if facts.ggp is None else facts.ggp.columns, "column", "")


def _position(answer: Position | None, what: str, consequence: str) -> Answer:
    """The verdict on blocks or on columns."""
    match answer:
        case None:
            return undecided("general position was not looked at.")
        case Unsettled(reason):
            return undecided(f"{reason}.")
        case Zero(blocks, signs, u):
            return refuted("tie of norms", f"a null vector on {len(u)} {what}s has {_tie(blocks, signs)}.")
        case Crossing(blocks, signs):
            detail = f"{_difference(blocks, signs)} takes both signs on null vectors of {len(blocks)} {what}s."
            return refuted("change of sign", detail)
        case Proof(supports):
            wins = [win for support in supports for win in support.wins]
            cones = any(isinstance(win, ConeWin) for win in wins)
            evidence = ("forms and cones" if cones else "definite forms") if wins else "square classes"
            return proved(evidence, f"norms of null vectors never tie{consequence}.")


def _tie(blocks: tuple[int, ...], signs: tuple[int, ...]) -> str:
    """|u_0| + |u_1| = |u_2| + |u_3|"""
    return " = ".join(_side(blocks, signs, sign) for sign in (1, -1))


def _difference(blocks: tuple[int, ...], signs: tuple[int, ...]) -> str:
    """|u_0| - |u_1| - |u_2|"""
    plus, minus = _side(blocks, signs, 1), _side(blocks, signs, -1)
    return f"{plus} - ({minus})" if "+" in minus else f"{plus} - {minus}"


def _side(blocks: tuple[int, ...], signs: tuple[int, ...], sign: int) -> str:
    terms = [f"|u_{b}|" for b, s in zip(blocks, signs, strict=True) if s == sign]
    return " + ".join(terms[:_SHOWN]) + (" + ..." if len(terms) > _SHOWN else "")
