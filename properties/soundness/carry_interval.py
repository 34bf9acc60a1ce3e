"""Metamorphic relations on an interval of lambdas."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.soundness.carry import CHANGES, OPPOSITES
from properties.soundness.case import Answer, Case, NetworkCase
from properties.soundness.draw import lambdas
from properties.soundness.held import RELATED, Held
from properties.soundness.paths import PATHS
from properties.strategies import rational_matrix, vector

WIDTH = Fraction(11, 10)


@dataclass(frozen=True)
class IntervalPair:
    """Two problems on [lo, hi] each. `part`: the second interval is a part of the first, so that only PROVED before
    and REFUTED after is a contradiction."""

    relation: str
    before: Case
    after: Case
    lo: Fraction
    hi: Fraction
    after_lo: Fraction
    after_hi: Fraction
    part: bool = False


@st.composite
def interval_pairs(draw: DrawFn) -> IntervalPair:
    """A small network on a short interval, and a changed one, or a part of the interval."""
    n, d = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    model = draw(st.sampled_from(["relu", "relu", "gated"]))
    case = NetworkCase(model, draw(rational_matrix(n, d)), draw(vector(n)), draw(lambdas()))
    lo, hi = case.lam, WIDTH * case.lam
    relation = draw(st.sampled_from([*sorted(CHANGES), "part"]))
    if relation == "part":
        return IntervalPair("part", case, case, lo, hi, lo, (lo + hi) / 2, part=True)
    pair = CHANGES[relation](draw, case)
    after = pair.after.lam
    return IntervalPair(relation, case, pair.after, lo, hi, after, WIDTH * after)


def interval_related(said: dict[str, str]) -> Held:
    """The claims that are compared."""
    return {claim: RELATED for claim in PATHS if claim in said}


def interval_clash(pair: IntervalPair, before: Answer, after: Answer) -> str:
    """Where two answers cannot both be right; "" if nowhere."""
    for claim in PATHS:
        both = (before.said[claim], after.said[claim])
        if both in OPPOSITES and (not pair.part or both[0] == "PROVED"):
            return f"{pair.relation}: {claim} is {both[0]} before and {both[1]} after"
    return ""
