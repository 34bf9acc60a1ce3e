"""E = A, LICQ, strict complementarity and differentiability, each decided for itself, on instances that part them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pytest

from relu_cert.certificate import certificate, dumps
from relu_cert.claims import SENSITIVITY, decide
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, WantedDerivatives, find_facts
from relu_cert.exact import Vector, matrix, vector
from relu_cert.path.sensitivity import differentiable
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.facts import Facts
from relu_cert.prove.listed import Goal, propose, refine_and_prove
from relu_cert.prove.prove import lambda_max
from relu_cert.report.progress import Progress
from relu_cert.solve import prepare, solve
from tests.path.cases import example, network
from verify import VerifyError, check

F = Fraction
YES, NO = "PROVED", "REFUTED"


def block(y: list[int], K: list[list[int]] | None, X: list[list[int]] | None = None) -> Problem:
    """One block with a cone; X = I unless given."""
    rows = matrix(X or [[1, 0], [0, 1]])
    return Problem("cgl", vector(y), (Block(rows, None if K is None else matrix(K)),), columns=((0, 1),))


@dataclass(frozen=True)
class Planted:
    """An instance with what theory says of E = A, LICQ, strict complementarity, differentiability."""

    problem: Problem
    lam: Fraction
    said: tuple[str, str, str, str]


CASES = {
    # w_1 <= 0 is tight at w = (0, 1) with multiplier 0: y_1 < 0 moves w_1, y_1 > 0 does not
    "a multiplier 0": Planted(block([0, 6], [[1], [0]]), F(5), (YES, YES, NO, NO)),
    "a multiplier 3": Planted(block([3, 6], [[1], [0]]), F(5), (YES, YES, YES, YES)),
    # w_1 has no effect on the fit: its multiplier is always 0, and w_1 is always 0
    "an idle constraint": Planted(block([3, 3], [[1], [0]], [[0, 1], [0, 1]]), F(1), (YES, YES, NO, YES)),
    # each hyperplane counts once, whatever stands for it
    "w_1 <= 0 and w_1 >= 0": Planted(block([3, 6], [[1, -1], [0, 0]]), F(5), (YES, YES, YES, YES)),
    "w_1 <= 0 and 2 w_1 <= 0": Planted(block([3, 6], [[1, 2], [0, 0]]), F(5), (YES, YES, YES, YES)),
    "no cone": Planted(block([6, 8], None), F(5), (YES, YES, YES, YES)),
    "lambda = lambda_max": Planted(block([6, 8], None), F(10), (NO, YES, YES, NO)),
    "lambda > lambda_max": Planted(block([6, 8], None), F(11), (YES, YES, YES, YES)),
    # a tied block without weight: LICQ and strict complementarity hold (no cones), and yet it is a kink
    "a tie without weight": Planted(
        Problem(
            "cgl",
            vector([2, 1]),
            (Block(matrix([[1], [0]]), None), Block(matrix([[0], [1]]), None)),
            columns=((0,), (1,)),
        ),
        F(1),
        (NO, YES, YES, NO),
    ),
    # r = (1, 1, -1/4), v = (2, 0): the third point is a kink whose multiplier lies on its bound by chance
    "a ReLU kink at its bound": Planted(network([[1, 1], [1, -1], [0, 1]], [3, 3, "-1/4"]), F(2), (YES, YES, NO, NO)),
    # r = (1, 1, 0): the kink bends to neither side; whether there is a derivative is left open
    "a flat ReLU kink": Planted(network([[1, 1], [1, -1], [0, 1]], [3, 3, 0]), F(2), (YES, YES, NO, "UNDECIDED")),
    # r = (9/8, 7/8, -1): the multiplier -1/4 is between -1 and 0
    "a ReLU kink inside": Planted(network([[1, 1], [1, -1], [0, 1]], ["25/8", "23/8", -1]), F(2), (YES, YES, YES, YES)),
    # the second feature does not meet the first: the kink is there whatever the targets are
    "an idle ReLU kink": Planted(network([[1, 0], [0, 1]], [3, "-1/2"]), F(1), (YES, YES, NO, YES)),
    # three hyperplanes meet in one line; multipliers -1/8, -1/8, 1/8 are strictly inside
    "dependent ReLU kinks": Planted(
        network([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, -1, -1]], [3, "-1/4", "-1/4", "-1/4", "-1/4"]),
        F(1),
        (YES, NO, YES, YES),
    ),
    "gated": Planted(network([[2, 1], [-1, 3], [2, -3]], [3, -1, 2], "gated"), F(1), (YES, YES, YES, YES)),
    "not unique": Planted(example("twins"), F(1), (NO, YES, YES, NO)),
}


@cache
def facts_of(name: str) -> Facts:
    """All facts with the conditions."""
    with Progress(quiet=True) as stages:
        choice = LambdaChoice(value=CASES[name].lam)
        return find_facts(CASES[name].problem, choice, DEFAULT_GAP, stages, derivatives=WantedDerivatives())


def text_of(facts: Facts) -> str:
    """The certificate of the four claims."""
    net = facts.problem.source
    source = Source("", "0" * 64, "csv", target=len(net.Z[0])) if net else Source("", "0" * 64, "json")
    return dumps(certificate(source, facts, decide(facts, SENSITIVITY)))


@pytest.mark.parametrize("name", CASES)
def test_each_condition_has_its_own_verdict(name: str) -> None:
    """As theory says; and the network is differentiable without LICQ and, where kinks are idle, without strictness."""
    said = {result.claim: str(result.verdict) for result in decide(facts_of(name), SENSITIVITY)}
    assert tuple(said[claim] for claim in SENSITIVITY) == CASES[name].said


@pytest.mark.parametrize("name", CASES)
def test_the_checker_agrees_and_accepts_no_opposite(name: str) -> None:
    """Every verdict is accepted, and none of the four turned round."""
    content = json.loads(text_of(facts_of(name)))
    assert [line.verdict for line in check(json.dumps(content).encode())] == list(CASES[name].said)
    for claim in content["claims"]:
        right = claim["verdict"]
        claim["verdict"] = NO if right == YES else YES
        with pytest.raises(VerifyError):
            check(json.dumps(content).encode())
        claim["verdict"] = right


def neurons(problem: Problem, lam: Fraction) -> list[tuple[int, int | None, Vector]]:
    """The optimal neurons to thirty digits."""
    floats = prepare(problem)
    largest = lambda_max(problem, propose(floats, floats.y, 0.0))
    facts = refine_and_prove(Goal(problem, floats, lam, largest, F(1, 10**60)), solve(floats, float(lam)))
    return [(one.sign, one.block, one.w) for one in facts.primal.neurons]


@pytest.mark.parametrize(
    ("name", "step", "bends"),
    [
        ("a multiplier 0", (1, 0), True),
        ("a multiplier 3", (1, 0), False),
        ("a ReLU kink at its bound", (1, -1, 0), True),
        ("a ReLU kink inside", (1, -1, 0), False),
        ("an idle ReLU kink", (1, 1), False),
    ],
)
def test_differences_see_the_kink(name: str, step: tuple[int, ...], bends: bool) -> None:
    """w(y + t d) + w(y - t d) - 2 w(y) is of order t exactly where sensitivity is refuted."""
    planted, t = CASES[name], F(1, 10**12)
    weights = []
    for sign in (0, 1, -1):
        y = tuple(a + sign * t * b for a, b in zip(planted.problem.y, step, strict=True))
        ((_, _, w),) = neurons(replace(planted.problem, y=y), planted.lam)
        weights.append(w)
    second = max(abs(a + b - 2 * c) for c, a, b in zip(*weights, strict=True))
    assert (second > t / 100) == bends
    assert bends or second < t / 10**6


def test_the_reason_is_told() -> None:
    """Where the network has no derivative the line says which condition fails."""
    assert "E is not A" in differentiable(facts_of("a tie without weight"))
    assert "leave its face" in differentiable(facts_of("a multiplier 0"))
    assert "lambda_max" in differentiable(facts_of("lambda = lambda_max"))
    assert "not unique" in differentiable(facts_of("not unique"))


def test_a_lift_of_dimension_zero_is_differentiable() -> None:
    """One antipodal pair (Z'r = 0 on an open set of targets) is unique, both neurons have weight, and faces are
    stable: the derivatives exist, though the optimum was settled by a lift."""
    problem = network([[1], [-1], [2]], ["31/10", "21/10", "1/100"])
    found: set[str] = set()
    for lam in (F(1, 10), F(1, 3), F(1, 2)):
        with Progress(quiet=True) as stages:
            facts = find_facts(problem, LambdaChoice(value=lam), DEFAULT_GAP, stages, derivatives=WantedDerivatives())
        found |= {str(r.verdict) for r in decide(facts, ("sensitivity",))}
        check(text_of(facts).encode())
    assert "UNDECIDED" not in found
