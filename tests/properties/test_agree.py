"""The certifier and the independent exact tools agree."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from properties.agree import (
    BLOCKS,
    LAMBDA_MAX,
    PATTERNS,
    POLYTOPES,
    PROJECTIONS,
    STAIRCASES,
    STATIONARY,
    check_patterns,
    check_projections,
    check_stationary,
)
from properties.claims.connected import CLAIM as CONNECTED
from properties.exact.linalg import mat
from properties.model import Answer, Property
from properties.registry import load
from properties.run import search

pytestmark = pytest.mark.long

AGREE = {
    "patterns": (PATTERNS, 60),
    "blocks": (BLOCKS, 60),
    "polytopes": (POLYTOPES, 60),
    "staircases": (STAIRCASES, 20),
    "lambda_max": (LAMBDA_MAX, 60),
    "projections": (PROJECTIONS, 60),
    "stationary": (STATIONARY, 100),
}


@pytest.mark.parametrize(("prop", "examples"), AGREE.values(), ids=AGREE)
def test_certifier_and_exact_tools_agree(prop: Property, examples: int) -> None:
    """No instance of the strategy on which they differ."""
    found = search(prop, examples)
    assert not found.failed, found.why
    assert found.instances >= examples // 2


def test_disagreement_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the independent list loses a pattern, the comparison fails."""
    from properties import agree
    from properties.exact.patterns import PatternList, patterns

    def short(Z):  # type: ignore[no-untyped-def]
        found = patterns(Z)
        return PatternList(found.all[:-1], found.open, found.witness[:-1])

    monkeypatch.setattr(agree, "patterns", short)
    assert check_patterns(mat([[1, 0], [0, 1]])).answer is Answer.FAILS


def test_another_staircase_or_polytope_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a width has one component more, or the shortest weights are others, the comparison fails."""
    from properties import agree

    s = CONNECTED.slips[0].witness.instance
    assert agree.check_staircase(s).answer is Answer.HOLDS
    assert agree.check_staircase(replace(s, steps=((0, 1), *s.steps[1:]))).answer is Answer.FAILS
    assert agree.check_polytope(s.planted).answer is Answer.HOLDS
    monkeypatch.setattr(agree, "least_norm", lambda q, b: (Fraction(1),))
    assert agree.check_polytope(s.planted).answer is Answer.FAILS


def test_another_projection_or_stationary_point_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the independent projection is another one, or Clarke stationarity is turned round, the comparison fails."""
    from properties import agree
    from properties.exact.linalg import vec
    from properties.exact.problem import Block, problem
    from properties.strategies import PlantedCGL

    one = PlantedCGL(problem([[1]], [1], [2], 1, [[[-1]]]), vec([1]), (vec([1]),), vec([1]))
    t = load("prop_stationary_points").witnesses[1].instance
    assert check_projections(one).answer is Answer.HOLDS
    assert check_stationary(t).answer is Answer.HOLDS
    monkeypatch.setattr(Block, "dual_vector", lambda *_: vec([0]))
    monkeypatch.setattr(agree, "clarke_stationary", lambda *_: False)
    assert check_projections(one).answer is Answer.FAILS
    assert check_stationary(t).answer is Answer.FAILS
