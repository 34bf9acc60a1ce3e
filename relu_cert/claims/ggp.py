"""ggp: the blocks are in group general position (prop:unique-sol), so the solution is unique for every lambda > 0."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.prove.ggp.model import Answer, ConeWin, Crossing, Proof, Unsettled, Zero

NAME = "ggp"
STATEMENT = "The blocks are in group general position: the solution is unique for every lambda > 0."
_SHOWN = 6


def applies(facts: Facts) -> bool:
    """Gated and direct problems. The blocks of a ReLU network come with their negatives, and always tie."""
    return facts.ggp is not None


def decide(facts: Facts) -> Result:
    """No null vector of X on at most n + 1 blocks has norms that add up to zero with signs."""
    answer = None if facts.ggp is None else facts.ggp.groups
    return position_result(NAME, answer, "block", "; the solution is unique for every lambda > 0")


def position_result(name: str, answer: Answer | None, what: str, consequence: str) -> Result:
    """The verdict on blocks or on columns."""
    match answer:
        case None:
            return Result(name, Verdict.UNDECIDED, "", "general position was not looked at.")
        case Unsettled(reason):
            return Result(name, Verdict.UNDECIDED, "", f"{reason}.")
        case Zero(blocks, signs, u):
            detail = f"a null vector on {len(u)} {what}s has {_tie(blocks, signs)}."
            return Result(name, Verdict.REFUTED, "tie of norms", detail)
        case Crossing(blocks, signs):
            detail = f"{_difference(blocks, signs)} takes both signs on null vectors of {len(blocks)} {what}s."
            return Result(name, Verdict.REFUTED, "change of sign", detail)
        case Proof(supports):
            wins = [win for support in supports for win in support.wins]
            cones = any(isinstance(win, ConeWin) for win in wins)
            evidence = ("forms and cones" if cones else "definite forms") if wins else "square classes"
            return Result(name, Verdict.PROVED, evidence, f"norms of null vectors never tie{consequence}.")


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
