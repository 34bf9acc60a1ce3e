"""From a problem, lambda, a gap and limits to facts: the one driver.

The optimum is found and proved by whatever prover settles it; then derivatives, the path and general position where
they are asked for. Each stage takes what the one before it gave.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from relu_cert.clock import interruptible, planned
from relu_cert.cover.limits import Limits, ProgressEvent
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import sqrt_lower
from relu_cert.path.conditions import faces
from relu_cert.path.sensitivity import differentiable, enclosed_derivatives, sensitivity
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts, LambdaMax, PathFacts, SensitivityFacts
from relu_cert.prove.ggp.decide import position_facts
from relu_cert.prove.listed import (
    TOO_LARGE,
    Goal,
    listed_facts,
    listed_lambda_max,
    refine_and_prove,
    require_data_in_range,
    require_in_range,
)
from relu_cert.solve import FloatProblem, prepare, solve

if TYPE_CHECKING:
    from relu_cert.path.unlisted import Training

DEFAULT_GAP = Fraction(1, 10**9)
DEFAULT_RATIO = Fraction(1, 10)
NO_LIMITS = Limits()
PROOF = 0.9  # of the time that is left, at most: the rest is for what comes after it, and for the certificate
FINE = Fraction(1, 10**40)  # the relative gap of points at which derivatives are taken


class Stages(Protocol):
    """Where progress is told."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A stage begins; it ends with the context."""

    def advance(self, done: int, total: int) -> None:
        """So much of the present stage is done."""

    def tell(self, moment: ProgressEvent) -> None:
        """A line of the log of a long proof."""


@dataclass(frozen=True)
class LambdaChoice:
    """lambda itself, or its ratio to lambda_max."""

    value: Fraction | None = None
    ratio: Fraction | None = None

    def resolve(self, largest: LambdaMax) -> Fraction:
        """lambda, a rational. Where lambda_max is irrational, ratio * lambda_max is taken to twelve digits,
        rounded down below lambda_max and up at and above it."""
        if self.value is not None:
            return self.value
        ratio = DEFAULT_RATIO if self.ratio is None else self.ratio
        if largest.squared == 0:
            raise UsageError(
                "lambda_max is 0: no neuron lowers the loss of these targets, and the zero network is the best for "
                "every lambda; name one with --lambda to have it proved."
            )
        root = sqrt_lower(largest.squared, 80)
        if root * root == largest.squared:
            return ratio * root
        return _twelve_digits(ratio * root, up=ratio >= 1)


@dataclass(frozen=True)
class IntervalChoice:
    """lo <= lambda <= hi; by default from lambda / 2 to 2 lambda."""

    lo: Fraction | LambdaChoice | None = None
    hi: Fraction | LambdaChoice | None = None

    def resolve(self, lam: Fraction, largest: LambdaMax) -> tuple[Fraction, Fraction]:
        """The interval."""
        known = (x.resolve(largest) if isinstance(x, LambdaChoice) else x for x in (self.lo, self.hi))
        lo, hi = (near if x is None else x for x, near in zip(known, (lam / 2, 2 * lam), strict=True))
        if lo >= hi:
            raise UsageError(f"an interval needs lo < hi, not {float(lo):.6g} and {float(hi):.6g}.")
        return lo, hi


@dataclass(frozen=True)
class WantedDerivatives:
    """That derivatives are wanted, and the noise level for SURE."""

    sigma: Fraction | None = None


def find_facts(
    problem: Problem,
    choice: LambdaChoice,
    gap: Fraction,
    stages: Stages,
    interval: IntervalChoice | None = None,
    derivatives: WantedDerivatives | None = None,
    limits: Limits = NO_LIMITS,
    *,
    position: bool = True,
) -> Facts:
    """Solve the problem, prove what was found, differentiate and follow the path where that was asked for, and look at
    general position where that is a question (for a group lasso: unless `position` is False)."""
    if gap >= 1:
        raise UsageError(f"the gap must be less than 1, not {gap}: every network is optimal up to a relative gap of 1.")
    if interval is not None and problem.targets > 1:
        raise UsageError("the path (--interval, continuous) is for networks with one output.")
    if interval is not None and not problem.plain:
        raise UsageError("the path (--interval, continuous) is for least squares without --l2.")
    facts = optimum(problem, choice, gap, stages, limits)
    if not problem.plain:
        return facts
    if derivatives is not None:
        with stages.stage("derivatives"):
            facts = _with_derivatives(facts, derivatives)
    if interval is not None:
        with stages.stage("path"):
            facts = _with_path(facts, *interval.resolve(facts.lam, facts.lambda_max), stages)
    if problem.kind == "relu" or (problem.kind == "cgl" and not position):
        return facts
    with stages.stage("general position"):
        return replace(facts, ggp=position_facts(problem))


def _with_path(facts: Facts, lo: Fraction, hi: Fraction, stages: Stages) -> Facts:
    """The path over the interval, and where it jumps."""
    from relu_cert.path.follow import follow_path
    from relu_cert.path.jumps import find_jump

    problem = facts.problem
    floats = solver_of_path(problem)
    found = follow_path(problem, floats, facts.lambda_max, lo, hi, stages.advance)
    jump = None
    if not found.complete and isinstance(floats, FloatProblem):
        jump = find_jump(problem, floats, facts.lambda_max, facts, found)
    return replace(facts, path=PathFacts(found, jump=jump))


def solver_of_path(problem: Problem) -> FloatProblem | Training:
    """The float solver of a path, or what stands for it where patterns are not listed."""
    if not problem.unlisted:
        return prepare(problem)
    from relu_cert.path.unlisted import training  # compiled, and slow to load

    return training(problem)


def optimum(problem: Problem, choice: LambdaChoice, gap: Fraction, stages: Stages, limits: Limits = NO_LIMITS) -> Facts:
    """The facts about the optimum at lambda: of a network over all patterns by whatever prover settles it."""
    small = problem.network is None or problem.listed is not None
    if small:  # of large data the doubles say it themselves
        require_data_in_range(problem)

    def chosen(largest: LambdaMax) -> Fraction:
        lam = choice.resolve(largest)
        if small and lam * lam < largest.squared:
            require_in_range(lam)
        return lam

    try:
        if problem.network is not None:
            return _optimum_of_network(problem, chosen, gap, stages, limits)
        with stages.stage("lambda_max"):
            largest = listed_lambda_max(problem)
            lam = chosen(largest)
        with stages.stage("prove"):
            return listed_facts(problem, lam, largest, gap)
    except OverflowError:
        raise DataError(TOO_LARGE) from None


def _optimum_of_network(
    problem: Problem, chosen: Callable[[LambdaMax], Fraction], gap: Fraction, stages: Stages, limits: Limits
) -> Facts:
    """The same for a network over all patterns."""
    from relu_cert.cover.build import Exhausted  # slow to load
    from relu_cert.driver.network import optimum_of_network

    with stages.stage("prove"), interruptible(), planned(PROOF):
        try:
            return optimum_of_network(problem, chosen, gap, limits, stages.tell)
        except Exhausted as why:
            raise UsageError(f"nothing could be proved: {why}; give more time with --seconds.") from None


def _with_derivatives(facts: Facts, wanted: WantedDerivatives) -> Facts:
    """How the neurons sit on their faces and, where the network is differentiable, its derivatives."""
    shown = faces(facts)
    facts = replace(facts, nearby=SensitivityFacts(shown))
    if differentiable(facts) or facts.zero:
        return facts
    fine = finer(facts)
    if differentiable(fine):
        return facts
    try:
        found = sensitivity(fine, wanted.sigma)
    except ZeroDivisionError:  # they exist, but the ball is too wide to enclose them
        return facts
    return replace(facts, nearby=SensitivityFacts(shown, enclosed_derivatives(facts, found, wanted.sigma)))


def finer(facts: Facts) -> Facts:
    """Facts in a ball of at most FINE times lower, relatively: the same, or those of a point of many digits."""
    if facts.fit.radius_squared <= FINE * facts.value.lower:
        return facts
    floats = prepare(facts.problem)
    goal = Goal(facts.problem, floats, facts.lam, facts.lambda_max, FINE)
    fine = refine_and_prove(goal, solve(floats, float(facts.lam)))
    return replace(fine, nearby=SensitivityFacts(faces(fine)))


def _twelve_digits(x: Fraction, *, up: bool) -> Fraction:
    """x > 0 rounded down, or up, to twelve significant decimal digits."""
    exponent = len(str(x.numerator)) - len(str(x.denominator))
    unit = Fraction(10) ** (exponent - 12)
    return (x // unit + up) * unit
