"""The way of the data: patterns, problem, solve, prove, claims. Each stage takes what the one before it gave."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from relu_cert.claims import NAMES, Result, decide
from relu_cert.data.model import Dataset
from relu_cert.errors import UsageError
from relu_cert.exact import sqrt_lower
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.problem.model import Model, Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.exact_optimum import exact_facts, guesses
from relu_cert.prove.facts import Facts, LambdaMax
from relu_cert.prove.ggp import position_facts
from relu_cert.prove.lambda_max import lambda_max
from relu_cert.prove.lifts import proposed_lifts
from relu_cert.prove.multipliers import Proposals
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.prove import exact_neuron, prove, zero_facts
from relu_cert.solve import FloatProblem, Solution, multipliers, prepare, solve

DEFAULT_GAP = Fraction(1, 10**9)
DEFAULT_MAX_PATTERNS = 10**6
DEFAULT_RATIO = Fraction(1, 10)
FLOAT_PRECISION = 52
FLOAT_DIGITS = 14
THOROUGH = 0.99  # pieces below this part of lambda need no sharper multiplier


class Stages(Protocol):
    """Where progress is told."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A stage begins; it ends with the context."""

    def advance(self, done: int, total: int) -> None:
        """So much of the present stage is done."""


@dataclass(frozen=True)
class LambdaChoice:
    """lambda itself, or its ratio to lambda_max."""

    value: Fraction | None = None
    ratio: Fraction | None = None

    def resolve(self, largest: LambdaMax) -> Fraction:
        """lambda, a rational. Where lambda_max is irrational, ratio * lambda_max is taken to twelve digits below."""
        if self.value is not None:
            return self.value
        ratio = DEFAULT_RATIO if self.ratio is None else self.ratio
        if largest.squared == 0:
            raise UsageError("lambda_max is 0 (the targets do nothing); give lambda itself with --lambda.")
        root = sqrt_lower(largest.squared, 80)
        if root * root == largest.squared:
            return ratio * root
        return _twelve_digits(ratio * root)


def network_problem(data: Dataset, model: Model, stages: Stages, max_patterns: int = DEFAULT_MAX_PATTERNS) -> Problem:
    """All patterns of the data, and the ReLU or gated ReLU problem over them."""
    with stages.stage("patterns"):
        patterns = enumerate_patterns(data.Z, max_patterns=max_patterns, progress=stages.advance)
    return (gated if model == "gated" else relu)(data.Z, data.y, patterns)


def find_facts(problem: Problem, choice: LambdaChoice, gap: Fraction, stages: Stages) -> Facts:
    """Solve the problem, prove what was found, and look at general position where that is a question."""
    facts = _optimum(problem, choice, gap, stages)
    if problem.model == "relu":
        return facts
    with stages.stage("general position"):
        return replace(facts, ggp=position_facts(problem))


def _optimum(problem: Problem, choice: LambdaChoice, gap: Fraction, stages: Stages) -> Facts:
    """The facts about the optimum at lambda."""
    with stages.stage("lambda_max"):
        floats = prepare(problem)
        largest = lambda_max(problem, _propose(floats, np.array([float(x) for x in problem.y]), 0.0))
        lam = choice.resolve(largest)
    if lam * lam >= largest.squared:
        return zero_facts(problem, lam, largest, gap)
    with stages.stage("solve"):
        solution = solve(floats, float(lam))
    with stages.stage("prove"):
        return _settle(problem, lam, largest, gap, floats, solution)


def _settle(
    problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction, floats: FloatProblem, solution: Solution
) -> Facts:
    """The facts, with the optimal set if one of the proposed lifts settles it; else those of the plain proof."""
    theta = [float(x) for x in solution.theta]
    for guess in guesses(theta, FLOAT_DIGITS):
        near = np.array([float(x) for x in guess])
        exact = exact_facts(problem, lam, largest, gap, guess, _propose(floats, near, float(lam)))
        if exact is not None:
            return exact
    neurons = [exact_neuron(problem, neuron, FLOAT_PRECISION) for neuron in solution.neurons]
    plain: Facts | None = None
    reasons: list[str] = []
    for lift in proposed_lifts(problem, solution.theta):
        facts = prove(
            problem,
            lam,
            largest,
            gap,
            neurons,
            theta,
            lambda t: _propose(floats, t, THOROUGH * float(lam)),
            FLOAT_PRECISION,
            lift,
        )
        plain = plain or facts
        try:
            return replace(facts, optimal_set=optimal_set(facts, lift))
        except Unsettled as reason:
            reasons.append(str(reason))
    if plain is None:
        raise ValueError("the plain proof is always tried")
    return replace(plain, unsettled=reasons[-1])


def verdicts(facts: Facts, claims: Sequence[str] = NAMES) -> tuple[Result, ...]:
    """What the facts say about the claims."""
    return decide(facts, claims)


def _propose(floats: FloatProblem, theta: NDArray[np.float64], lam: float) -> Proposals | None:
    """Float multipliers for the pieces of a ReLU problem; the others need none."""
    found = multipliers(floats, theta, lam)
    return {xi: found[xi] for xi in (1, -1)} if isinstance(found, dict) else None


def _twelve_digits(x: Fraction) -> Fraction:
    """x > 0 rounded down to twelve significant decimal digits."""
    exponent = len(str(x.numerator)) - len(str(x.denominator))
    unit = Fraction(10) ** (exponent - 12)
    return (x // unit) * unit
