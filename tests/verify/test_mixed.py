"""Kernel dependences in the fact `optimal_set`: a class whose kernel is a mixture of others, whatever the residual."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from properties.exact.linalg import rank
from properties.exact.problem import CGL, problem
from properties.strategies import Cube, planted_cube
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.prove.facts import BallSet, Facts
from tests.prove.test_polytope_planted import cube_output, direct, settled
from tests.verify.mutate import mutants
from verify import Rejected, VerifyError, check

CLAIMS = ("p-unique", "convex-unique", "optimal-set", "minimal", "min-norm")
HALF, THREE_HALVES = Fraction(1, 2), Fraction(3, 2)


def three_blocks() -> CGL:
    """G_1 = diag(4, 1), G_2 = diag(1, 4), G_3 = (G_1 + G_2) / 2: if the first two tie, so does the third. Then
    r* = (1, 1) / sqrt(5) whatever y is; the weights form a segment from {1, 2} to {2, 3}."""
    rows = [[2, 0, 1, 0, HALF, THREE_HALVES, 0, 0], [0, 1, 0, 2, 0, 0, HALF, THREE_HALVES]]
    return problem(rows, [2, 2, 4], [5, 6], 1)


@cache
def found() -> Facts:
    """The facts of the three blocks; their certificate was accepted."""
    return settled(direct(three_blocks()), Fraction(1))


def tree(facts: Facts) -> dict[str, Any]:
    """The certificate."""
    return certificate(Source("mixed", "0" * 64, "json"), facts, decide(facts, CLAIMS))


def with_mixed(value: Any) -> bytes:
    """The certificate of the three blocks with another list of mixed classes."""
    whole = tree(found())
    whole["facts"]["optimal_set"]["mixed"] = value
    return dumps(whole).encode()


def test_a_mixture_refutes_uniqueness() -> None:
    """The third block is half the first and half the second, and all three tie: a segment with two vertices."""
    facts = found()
    assert isinstance(facts.optimal_set, BallSet) and facts.optimal_set.mixed
    assert all(sum(beta) == 1 for _, beta in facts.optimal_set.mixed)
    said = {line.claim: line for line in check(dumps(tree(facts)).encode())}
    assert [said[claim].verdict for claim in CLAIMS] == ["REFUTED", "REFUTED", "PROVED", "PROVED", "PROVED"]
    assert "dimension 1" in said["p-unique"].proved
    assert "2 of width 2; m* = 2, M* = 2" in said["minimal"].proved


@pytest.mark.parametrize("seed", [0, 1])
def test_the_cube_is_not_unique_on_an_open_set_of_targets(seed: int) -> None:
    """prop:relu-unique fails robustly: with targets moved at random the eight patterns of the cube still tie, and the
    optimal networks are a segment between two of width seven."""
    cube = small_cube()
    rng = random.Random(seed)
    y = tuple(x + Fraction(rng.randint(-9, 9), 1000) for x in cube.problem.y)
    facts = settled(direct(replace(cube.problem, y=y)), Fraction(3))
    assert isinstance(facts.optimal_set, BallSet) and facts.optimal_set.mixed
    assert facts.polytope is not None
    assert (facts.polytope.dimension, sorted(facts.polytope.widths)) == (1, [7, 7])


@cache
def small_cube() -> Cube:
    """One cube in general position, always the same."""
    from hypothesis import HealthCheck, Phase, find, settings

    quiet = settings(
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    return find(planted_cube(), is_general, settings=quiet)


def is_general(cube: Cube) -> bool:
    """All weights positive, seven of the eight outputs independent."""
    return all(x > 0 for x in cube.alpha) and rank([cube_output(cube, i) for i in range(8)]) == 7


WRONG: dict[str, tuple[Any, str]] = {
    "no class": ([], "at least one mixed class"),
    "another mixture": ([[2, "1/3 2/3"]], "the mixture"),
    "shares that do not add up": ([[2, "1/2 1"]], "add up to 1"),
    "too few shares": ([[2, "1"]], "add up to 1"),
    "twice": ([[2, "1/2 1/2"], [2, "1/2 1/2"]], "ascending"),
    "two of three": ([[1, "1"], [2, "1"]], "the mixture"),
    "no such class": ([[3, "1/2 1/2"]], "expected"),
    "negative shares": ([[2, "-1 2"]], "the mixture"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_mixtures_are_rejected(name: str) -> None:
    """Each with its reason."""
    value, reason = WRONG[name]
    with pytest.raises(Rejected, match=reason):
        check(with_mixed(value))


def test_any_class_may_be_the_mixed_one_if_the_masses_are_positive() -> None:
    """G_1 = 2 G_3 - G_2 is true too, but the mass of block 2 would be negative: rejected."""
    facts = found()
    assert isinstance(facts.optimal_set, BallSet)
    (mixed,) = facts.optimal_set.mixed
    for a, beta in ((0, "-1 2"), (1, "-1 2"), (2, "1/2 1/2")):
        if a != mixed[0]:
            with pytest.raises(Rejected):
                check(with_mixed([[a, beta]]))


def test_without_the_mixture_nothing_is_proved() -> None:
    """The three outputs are dependent: nothing makes them independent."""
    whole = tree(found())
    del whole["facts"]["optimal_set"]["mixed"]
    with pytest.raises(Rejected):
        check(dumps(whole).encode())


@pytest.mark.long
def test_no_mutant_says_anything_else() -> None:
    """Whatever is changed in the fact, what is accepted says the same of the set."""
    whole = tree(found())
    said = [(line.claim, line.verdict) for line in check(dumps(whole).encode())]
    total = survivors = 0
    for mutant in mutants(whole["facts"]["optimal_set"], spread=3):
        total += 1
        try:
            changed = {**whole, "facts": {**whole["facts"], "optimal_set": json.loads(mutant.text)}}
            lines = check(dumps({**changed, "end": changed.pop("end")}).encode())
        except (VerifyError, ValueError, TypeError):
            continue
        survivors += 1
        assert [(line.claim, line.verdict) for line in lines] == said, mutant.name
        assert "dimension 1" in lines[0].proved, mutant.name
    assert total > 100
    assert survivors < total / 3  # changes too small to matter
