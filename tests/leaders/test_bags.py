"""relu_cert.leaders with bags: t = P'theta takes the place of theta, here and in the checker."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import relu_cert
from relu_cert.bags import Bags
from relu_cert.driver import network as driver
from relu_cert.leaders.find import find_leaders
from relu_cert.problem.loss import LOGISTIC
from relu_cert.results.certified import Certified
from tests.leaders.planted import LONG, neurons_of, node_of
from verify.errors import Rejected
from verify.optimal.leaders import check_leaders
from verify.problem.problem import Bag, Problem

CONV = {"conv": "1d:2:stride=2"}


def drawn(seed: int, d: int, loss: str) -> Certified:
    """Sets of one to four rows, and their optimum by a cover."""
    rng = np.random.default_rng(seed)
    sets = [rng.integers(-4, 5, (int(rng.integers(1, 5)), d)) for _ in range(9)]
    y = [int(x) for x in (rng.integers(-3, 4, 9) if loss == "squares" else rng.choice((-1, 1), 9))]
    return relu_cert.certify(sets, y, "0.3max", loss=loss)  # type: ignore[arg-type]


def problem_of(result: Certified) -> Problem:
    """The problem as the checker has it."""
    facts = result.facts
    own = facts.problem.relu.bags
    assert isinstance(own, Bags)
    bags = tuple(Bag(*bag) for bag in zip(own.scale, own.rows, own.times, strict=True))
    logistic = facts.problem.loss is LOGISTIC
    return Problem("relu", facts.lam, facts.problem.relu.Z, facts.problem.y, logistic=logistic, bags=bags)


@pytest.mark.parametrize("loss", ["squares", "logistic"])
@pytest.mark.parametrize(("seed", "d"), [(0, 2), (1, 3)])
def test_the_bound_is_below_the_optimum_and_near_it(seed: int, d: int, loss: str) -> None:
    """Sets of rows: the checker accepts theta, the bound is at most p* and within five per cent of it, and none of this
    holds for another P."""
    result = drawn(seed, d, loss)
    network = result.facts.problem.relu
    found = find_leaders(
        network.Z,
        result.facts.problem.y,
        result.facts.lam,
        neurons_of(result),
        LONG,
        logistic=loss == "logistic",
        good=1e-3,
        cells=2,
        bags=network.bags,
    )
    assert found is not None
    problem = problem_of(result)
    assert check_leaders(problem, node_of(found)) == found.theta
    assert found.lower <= result.value.upper
    assert float(found.lower) > 0.95 * float(result.value.upper)
    twice = tuple(replace(bag, scale=2 * bag.scale) for bag in problem.bags)
    with pytest.raises(Rejected):
        check_leaders(replace(problem, bags=twice), node_of(found))


@pytest.mark.parametrize("free", [(), ("output-bias",), ("biases",)])
def test_a_bound_is_proved_where_no_cover_ends(monkeypatch: pytest.MonkeyPatch, free: tuple[str, ...]) -> None:
    """No cover: the leaders' bound, accepted with the data; free terms are columns of the bags."""
    rng = np.random.default_rng(3)
    signals = [[int(x) for x in row] for row in rng.integers(-4, 5, (8, 6))]
    y = [int(x) for x in rng.integers(-3, 4, 8)]
    monkeypatch.setattr(driver, "_provers", lambda *_: (driver.by_leaders,))
    found = relu_cert.certify(signals, y, "1", seconds=5, free=free, **CONV)  # type: ignore[arg-type]
    assert not found.facts.known and 0 < found.value.lower <= found.value.upper
    assert float(found.value.lower) > 0.8 * float(found.value.upper)
    found.recheck()


def test_rows_beyond_the_relaxation_have_a_bound_at_once() -> None:
    """More rows than the relaxation takes: a bound without neighbours, which the checker accepts."""
    result = drawn(5, 2, "squares")
    network = result.facts.problem.relu
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("relu_cert.leaders.find.MOST_IN_BAGS", 1)
        found = find_leaders(
            network.Z, result.facts.problem.y, result.facts.lam, neurons_of(result), LONG, bags=network.bags
        )
    assert found is not None
    assert Fraction(0) < found.lower <= result.value.upper
    assert check_leaders(problem_of(result), node_of(found)) == found.theta
