"""The way of the data: patterns, problem, solve, prove, claims. Each stage takes what the one before it gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from relu_cert.bags import EACH
from relu_cert.claims import NAMES, PATH_CLAIMS, POSITION, SENSITIVITY, Result, asked_for, decide, require_applicable
from relu_cert.clock import interruptible
from relu_cert.cover.limits import Limits, Moment
from relu_cert.data.dataset import Dataset
from relu_cert.driver.listed import TOO_LARGE, listed_facts, listed_lambda_max, require_data_in_range, require_in_range
from relu_cert.driver.refined import Question, refine_and_prove
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import sqrt_lower
from relu_cert.path.sensitivity import differentiable, enclosed_derivatives, sensitivity
from relu_cert.path.tied_faces import faces
from relu_cert.patterns import enumerate_patterns
from relu_cert.patterns.predict import predict
from relu_cert.problem import gated, relu, unlisted_relu
from relu_cert.problem.problem import Model, Problem
from relu_cert.prove.facts import Along, Facts, LambdaMax, Nearby
from relu_cert.prove.ggp.decide import position_facts
from relu_cert.solve import FloatProblem, prepare, solve

if TYPE_CHECKING:
    from relu_cert.path.unlisted import Training

DEFAULT_GAP = Fraction(1, 10**9)
DEFAULT_MAX_PATTERNS = 10**6
MANY_PATTERNS = 20_000  # beyond, a cover is faster than the list
DEFAULT_RATIO = Fraction(1, 10)
NO_LIMITS = Limits()
FINE = Fraction(1, 10**40)  # the relative gap of points at which derivatives are taken


class Stages(Protocol):
    """Where progress is told."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A stage begins; it ends with the context."""

    def advance(self, done: int, total: int) -> None:
        """So much of the present stage is done."""

    def tell(self, moment: Moment) -> None:
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
class Derivatives:
    """That derivatives are wanted, and the noise level for SURE."""

    sigma: Fraction | None = None


@dataclass(frozen=True)
class Request:
    """What is asked about a problem: `named` are the claims that were asked for by name."""

    choice: LambdaChoice
    gap: Fraction
    claims: tuple[str, ...]
    named: tuple[str, ...]
    interval: IntervalChoice | None
    derivatives: Derivatives | None

    @classmethod
    def of(
        cls,
        choice: LambdaChoice,
        gap: Fraction,
        claims: str | Sequence[str] | None = None,
        required: str | Sequence[str] = (),
        interval: IntervalChoice | None = None,
        noise: Fraction | None = None,
    ) -> Request:
        """A claim about the path or about derivatives asks for these; without `claims` all are wanted."""
        named = (*asked_for(claims or ()), *asked_for(required))
        wanted = named if claims is not None else (*NAMES, *named)
        if interval is None and any(name in PATH_CLAIMS for name in named):
            interval = IntervalChoice()
        differentiated = noise is not None or any(name in SENSITIVITY for name in wanted)
        return cls(choice, gap, wanted, named, interval, Derivatives(noise) if differentiated else None)


def answered(
    request: Request, problem: Problem, stages: Stages, limits: Limits = NO_LIMITS
) -> tuple[Facts, tuple[Result, ...]]:
    """The facts about the problem, and the verdicts that were asked for."""
    require_applicable(request.named, problem)
    position = any(name in POSITION for name in request.named)
    facts = find_facts(
        problem,
        request.choice,
        request.gap,
        stages,
        request.interval,
        request.derivatives,
        limits,
        position=position,
    )
    return facts, verdicts(facts, request.claims)


def network_problem(
    data: Dataset, model: Model, stages: Stages, max_patterns: int = DEFAULT_MAX_PATTERNS, *, listed: bool = True
) -> Problem:
    """The ReLU or gated ReLU problem over all patterns of the data; a ReLU problem with many of them need not list
    them, unless the list itself is wanted."""
    if data.bags is not EACH or data.targets > 1:
        if model == "gated":
            which = "a slope" if data.source.slope else "--conv or --bags"
            which = "several outputs" if data.targets > 1 else which
            raise UsageError(f"gated networks with {which} are not offered: their gates would have to be listed.")
        return unlisted_relu(data.Z, data.y, data.bags, data.targets)
    if model == "relu" and not listed and predict(data.Z).bound > MANY_PATTERNS:
        return unlisted_relu(data.Z, data.y)
    with stages.stage("patterns"):
        patterns = enumerate_patterns(data.Z, max_patterns=max_patterns, progress=stages.advance)
    return (gated if model == "gated" else relu)(data.Z, data.y, patterns)


def find_facts(
    problem: Problem,
    choice: LambdaChoice,
    gap: Fraction,
    stages: Stages,
    interval: IntervalChoice | None = None,
    derivatives: Derivatives | None = None,
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
    floats = prepared(problem)
    found = follow_path(problem, floats, facts.lambda_max, lo, hi, stages.advance)
    jump = None
    if not found.complete and isinstance(floats, FloatProblem):
        jump = find_jump(problem, floats, facts.lambda_max, facts, found)
    return replace(facts, path=Along(found, jump=jump))


def prepared(problem: Problem) -> FloatProblem | Training:
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

    with stages.stage("prove"), interruptible():
        try:
            return optimum_of_network(problem, chosen, gap, limits, stages.tell)
        except Exhausted as why:
            raise UsageError(f"nothing could be proved: {why}; give more time with --seconds.") from None


def _with_derivatives(facts: Facts, wanted: Derivatives) -> Facts:
    """How the neurons sit on their faces and, where the network is differentiable, its derivatives."""
    shown = faces(facts)
    facts = replace(facts, nearby=Nearby(shown))
    if differentiable(facts) or facts.zero:
        return facts
    fine = finer(facts)
    if differentiable(fine):
        return facts
    try:
        found = sensitivity(fine, wanted.sigma)
    except ZeroDivisionError:  # they exist, but the ball is too wide to enclose them
        return facts
    return replace(facts, nearby=Nearby(shown, enclosed_derivatives(facts, found, wanted.sigma)))


def finer(facts: Facts) -> Facts:
    """Facts in a ball of at most FINE times lower, relatively: the same, or those of a point of many digits."""
    if facts.fit.radius_squared <= FINE * facts.value.lower:
        return facts
    floats = prepare(facts.problem)
    question = Question(facts.problem, floats, facts.lam, facts.lambda_max, FINE)
    fine = refine_and_prove(question, solve(floats, float(facts.lam)))
    return replace(fine, nearby=Nearby(faces(fine)))


def verdicts(facts: Facts, claims: Sequence[str] = NAMES) -> tuple[Result, ...]:
    """What the facts say about the claims."""
    return decide(facts, claims)


def _twelve_digits(x: Fraction, *, up: bool) -> Fraction:
    """x > 0 rounded down, or up, to twelve significant decimal digits."""
    exponent = len(str(x.numerator)) - len(str(x.denominator))
    unit = Fraction(10) ** (exponent - 12)
    return (x // unit + up) * unit
