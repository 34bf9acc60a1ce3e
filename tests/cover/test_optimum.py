"""The exact finish of a cover, by the states it goes through."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction as F

import numpy as np
import pytest

from relu_cert import certify, examples
from relu_cert.cover import prover
from relu_cert.cover.build import Missed
from relu_cert.cover.limits import Limits
from relu_cert.cover.prover import Prover
from relu_cert.cover.setting import setting
from relu_cert.cover.train import Trained, TrainingTask, newton, objective, polished, train
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver import network
from relu_cert.driver.network import optimum_of_network
from relu_cert.driver.optimum import LambdaChoice
from relu_cert.evidence import Cover
from relu_cert.problem import unlisted_relu
from relu_cert.prove.facts import Facts, PieceMultipliers


def test_what_was_kept_aside_belongs_to_the_network_after_a_refinement() -> None:
    """A neuron is missing beside the refined network: beside the trained one mammographic.csv came to no end."""
    data = read_csv_bytes(examples.path("iris").read_bytes(), "iris.csv")
    own = Prover(setting(unlisted_relu(data.Z, data.y)), F(1), Limits(), lambda moment: None)
    whole = train(own.given.task)
    least = int(np.argmin(np.linalg.norm(whole.V, axis=1)))
    V, xi = polished(own.given.task, np.delete(whole.V, least, 0), np.delete(whole.xi, least))
    value, residual = objective(own.given.task, V, xi)
    rest = Trained(V, xi, residual, value)
    own.extra = [(int(whole.xi[least]), whole.V[least] @ own.frame)]
    with suppress(Missed):
        own._exact(rest)
    assert own.extra == []
    assert own.network.objective < rest.objective


def covered(Z: list[list[int]], y: list[int], ratio: str) -> Facts:
    """What a cover alone proves."""
    rows = tuple(tuple(map(F, z)) for z in Z)
    problem = unlisted_relu(rows, tuple(map(F, y)))
    choice = LambdaChoice(ratio=F(ratio))
    return optimum_of_network(problem, choice.resolve, F(1, 10**9), Limits(seconds=20), lambda moment: None)


def test_lambda_max_is_that_of_the_highest_piece() -> None:
    """Floats stop beside a kink: the face that they seem to be on has a lower top, 21.6 for 25.03, and was taken."""
    Z = [[-3, 0, 2], [3, 0, -2], [2, 2, 4], [-2, -2, -4], [3, 3, -5], [-3, -3, 5], [-1, -1, 4], [1, 1, -4]]
    facts = covered([[*z, 1] for z in Z], [-5, -5, 5, 5, 4, 4, -5, -5], "1/10")
    assert facts.lambda_max.exact
    assert 25.025 < float(facts.lambda_max.squared) ** 0.5 < 25.026


def test_a_share_on_its_bound_is_found() -> None:
    """The share of an idle kink is 0, and -1e-18 in floats: "a tie has no multipliers" left a gap of 4e-7."""
    facts = covered([[-1, 1], [-2, -2]], [-1, 2], "1/20")
    assert facts.known
    assert facts.value.relative_gap < F(1, 10**40)


def test_small_data_rest_on_a_cover() -> None:
    """D_Z is listed, and the proof of optimality does not use it; of data of many directions the list proves all."""
    xor = certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], "1/10", bias=True)
    assert isinstance(xor.facts.dual.multipliers, Cover)
    assert isinstance(xor.facts.lambda_max.multipliers, Cover)
    assert xor.facts.problem.listed is not None
    wide = certify([[int(i == j) for j in range(9)] for i in range(9)], range(9), "1/2")
    assert isinstance(wide.facts.dual.multipliers, PieceMultipliers)
    assert wide.facts.known


@pytest.mark.parametrize("seed", range(4))
def test_neurons_that_are_hardly_missing_are_kept_aside(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many rows training is not begun again for them: the exact finish gets them beside the trained ones."""
    rng = np.random.default_rng(seed)
    Z, y = rng.standard_normal((30, 3)).round(2), rng.standard_normal(30).round(2)
    first = prover.train

    def poorly(task: TrainingTask, V: object = None, *given: object, **named: object) -> object:
        assert V is None, "training began again"
        found = first(task, **named)  # type: ignore[arg-type]
        keep = np.linalg.norm(found.V, axis=1) > np.linalg.norm(found.V, axis=1).min()
        V, xi = newton(task, found.V[keep], found.xi[keep], [1e-9], 40)
        value, residual = objective(task, V, xi)
        return Trained(V, xi, residual, value)

    monkeypatch.setattr(prover, "train", poorly)
    monkeypatch.setattr(prover, "MANY_ROWS", 0)
    monkeypatch.setattr(prover, "SLIGHT", 10.0)
    found = certify(Z, y, lambda_ratio="1/10")
    assert found.value.relative_gap < F(1, 10**30)


def test_claims_about_the_value_leave_the_set_of_many_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum is the same; a claim about the set, or no list of claims, has it looked at."""
    monkeypatch.setattr(network, "MANY_ROWS", 20)
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((30, 5)).round(2), rng.standard_normal(30).round(2)
    alone, whole = (certify(Z, y, lambda_ratio="1/2", claims=claims) for claims in (["optimal", "fit"], ["p-unique"]))
    assert alone.value.upper == whole.value.upper and alone.value.reached
    assert not alone.report.facts.known and whole.report.facts.known
