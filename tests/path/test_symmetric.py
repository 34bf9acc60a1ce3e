"""Paths on symmetric data, where many neurons tie on whole intervals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.path.cases import CLAIMS, certificate_text, facts_on, network, verdicts
from verify import check

F = Fraction
SQUARE = network([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]], [1, 1, -1, -1])
HALVES = [[F(1), F(0)], [F(1, 2), F(433, 500)], [F(-1, 2), F(433, 500)]]
HEXAGON = network([[str(x), str(y), 1] for x, y in (*HALVES, *([-a, -b] for a, b in HALVES))], [1, -1, 1, -1, 1, -1])
SIGNED_XOR = network([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1])
ALL_FIT = {"square": (SQUARE, F(1)), "hexagon": (HEXAGON, F(9, 20)), "xor with signs": (SIGNED_XOR, F(3))}


@pytest.mark.parametrize("name", ALL_FIT)
def test_unique_though_the_residual_is_orthogonal_to_the_rows(name: str) -> None:
    """The residual is orthogonal to all columns of Z, so that u and -u tie; the network is unique all the same, for
    every lambda up to lambda_max, and the checker accepts it."""
    problem, hi = ALL_FIT[name]
    facts = facts_on(problem, hi / 2, hi / 100, hi)
    assert {result.verdict.value for result in verdicts(facts).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(certificate_text(facts).encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}
