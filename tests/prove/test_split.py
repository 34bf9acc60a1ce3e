"""Splitting the masses of superclasses."""

from __future__ import annotations

from fractions import Fraction

import pytest

from properties.soundness.case import NetworkCase, ask, objection


def vec(*entries: int) -> tuple[Fraction, ...]:
    """A vector."""
    return tuple(map(Fraction, entries))


CASES = {
    "two points": ((vec(1, 1), vec(2, -2)), vec(2, -1), Fraction(2786, 985)),
    "three points": ((vec(0, 1), vec(1, 1), vec(2, -1)), vec(6, -4, 2), Fraction(4179, 985)),
}


@pytest.mark.parametrize("name", CASES)
def test_tiny_masses_are_split_near_lambda_max(name: str) -> None:
    """A relative 1e-6 below lambda_max, in a program written out block by block, one neuron lies in several blocks:
    its tiny mass is shared, so the solution is not unique. (This once ended in a ValueError: the linear program took
    the masses for zero.)"""
    Z, y, lam = CASES[name]
    answer = ask(NetworkCase("relu", Z, y, lam).written_out)
    assert answer.facts.lam**2 < answer.facts.lambda_max.squared
    assert answer.said["convex-unique"] == "REFUTED"
    assert objection(answer) == ""
