"""The optimum of a ReLU network, by whatever proves most in the time that there is.

Three provers show that theta is dual feasible, xi theta.(Zu)_+ <= lambda |u| for all u:

    the cover      where the data have few directions: an exact finish, or a proved gap that falls with time
    the list       of patterns, on small data: where there are more directions than points, or no cover settles it
    the leaders    with many features, or where a cover leaves a gap

Each is given what was trained so far and answers with facts, or with the reason why there are none; the best bound
counts. Whoever interrupts the work gets what has been proved so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from relu_cert.clock import INTERRUPTED, Until, interrupted
from relu_cert.cover.build import Exhausted
from relu_cert.cover.facts import add_free_set, add_optimal_set, covered_zero_facts, prove_lambda_max, trivial_bound
from relu_cert.cover.free_task import FreeTask, task_of
from relu_cert.cover.limits import ENOUGH, MANY_FEATURES, Limits, ProgressEvent, Tell
from relu_cert.cover.prover import COARSE, SURELY, Prover, exact_fit, neurons_of, rounded_coefficients
from relu_cert.cover.setting import CoverData, Neurons, polished, setting_for_cover
from relu_cert.cover.stack import Floats
from relu_cert.cover.train import TrainingTask, largest, train
from relu_cert.errors import Late
from relu_cert.evidence import MOST_ROWS
from relu_cert.exact import Matrix, Vector, dot, norm_squared
from relu_cert.free import coefficients, combined, outputs, weights_of
from relu_cert.problem.loss import LOGISTIC, SQUARES
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import (
    AlgebraicSet,
    Attained,
    Dual,
    ExactNeuron,
    Facts,
    LambdaMax,
    PieceMultipliers,
    Primal,
    UnknownSet,
)
from relu_cert.prove.listed import listed_dual, listed_facts, listed_lambda_max
from relu_cert.prove.prove import facts_of, norm_upper, zero_facts
from relu_cert.solve.prepare import one_thread

DEFAULT_SECONDS = 60.0
LAMBDA_MAX, LAMBDA_MAX_SECONDS = 1 / 3, 20.0
SMALL_SECONDS = 10.0  # for a cover of small data, where a list can settle what it leaves
EASY, HARD, HARDEST = 6, 9, 10  # ranks up to which the cover may take most of the time; from which on less; and little
LISTED = 7  # directions: where there are more, a list is faster by far than a cover
NORM_BITS = 300
LEAST, MOST, LONG = Fraction(1, 10**30), Fraction(10**30), 1000  # numbers of small data for a cover; bits
MANY_ROWS = 2000  # from here on the optimal set is looked at only where a claim is about it: it takes longer than p*
MANY_DATA = 10_000  # points from which on lambda_max is not proved where a wide gap will do
LEADERS = 0.2  # of the time, at least, even where the cover took more than its share
FINEST = 1e-6  # a gap that the leaders may be asked for: where a finer one is wanted they end with COARSE
GOOD = Fraction(1, 10**3)  # a relative gap of a cover that the leaders are not asked to better
TRAINING = 0.35  # of the time, at most, for a network with many features
DIGITS = 10**6
BIASES = "with free biases and so many features a list of patterns proves the optimal value and the fit only"
NO_BOUND = "no bound was found in the time that there is"
LIMIT = "the limit of time or nodes was reached"
LambdaChooser = Callable[[LambdaMax], Fraction]
Prove = Callable[["Question", Neurons | None], "Attempt"]


@dataclass(frozen=True)
class Question:
    """The problem at lambda, in floats in the coordinates of the frame; the gap that is asked for, and until when."""

    problem: Problem
    lam: Fraction
    top: LambdaMax
    columns: tuple[Vector, ...]
    task: TrainingTask
    frame: Floats
    gap: Fraction
    limits: Limits
    seconds: float
    until: Until
    tell: Tell

    @property
    def listed(self) -> bool:
        """Whether the patterns are listed."""
        return self.problem.relu.all is not None

    @property
    def plain_list(self) -> bool:
        """Whether a list proves what is left of a problem without free terms."""
        return listed_plainly(self.problem)

    def facts(self, neurons: Neurons, dual: Dual, reason: str = "") -> Facts:
        """The facts of a network and a dual point."""
        point = exact_point(self.problem, self.columns, neurons, self.task)
        return facts_of(self.problem, self.lam, self.top, point, dual, self.gap, reason)


@dataclass(frozen=True)
class Attempt:
    """What a prover has proved, why no more, and the network, if one was trained."""

    facts: Facts | None
    reason: str
    neurons: Neurons | None = None


def listed_plainly(problem: Problem) -> bool:
    """Whether a list of patterns proves all that there is to prove."""
    return problem.listed is not None and not problem.free


def optimum_of_network(problem: Problem, choice: LambdaChooser, gap: Fraction, limits: Limits, tell: Tell) -> Facts:
    """The facts about the optimum."""
    if problem.targets > 1:
        from relu_cert.outputs.facts import optimum_with_outputs  # compiled, and slow to load

        return optimum_with_outputs(problem, choice, gap, limits, tell)
    plainly = listed_plainly(problem)
    given = None if plainly and (limits.by_list or not is_moderate(problem)) else setting_for_cover(problem)
    limits = replace(limits, seconds=DEFAULT_SECONDS if limits.seconds is None else limits.seconds)
    until = limits.until
    if given is None and plainly:
        top = listed_lambda_max(problem)
        return listed_facts(problem, choice(top), top, gap)
    frame, columns, task = _in_floats(problem, given)
    rough = gap > COARSE and problem.n > MANY_DATA
    top = _lambda_max(problem, given, columns, task, frame, limits, proved=not rough)
    lam = choice(top if top.least is None else replace(top, squared=top.least))
    if not top.exact:  # nothing is claimed of lambda >= lambda_max without a proof of it
        top = replace(top, squared=max(top.squared, 2 * lam * lam))
    elif lam * lam >= top.squared:
        if isinstance(top.multipliers, PieceMultipliers):
            return zero_facts(problem, lam, top, gap)
        if given is not None:
            return covered_zero_facts(given, lam, top, gap)
    task = replace(task, lam=float(lam))
    seconds = max(until.left, 0.0)
    return _best(Question(problem, lam, top, columns, task, frame, gap, limits, seconds, until, tell), given)


def is_moderate(problem: Problem) -> bool:
    """Whether a cover can be made of the numbers: products of several of them are far from the ends of the doubles."""
    numbers = [abs(x) for row in (*problem.relu.Z, problem.y) for x in row if x]
    return all(LEAST <= x <= MOST and x.denominator.bit_length() <= LONG for x in numbers)


def _in_floats(problem: Problem, given: CoverData | None) -> tuple[Floats, tuple[Vector, ...], TrainingTask]:
    """The frame in which the network is trained, the free columns and the task (lambda is set later)."""
    if given is not None:
        return given.frame, given.columns, given.task
    network, columns = problem.relu, outputs(problem)
    frame = np.eye(len(network.Z[0])) if "biases" in problem.free else _row_space(network.Z)
    N, q = network.integers
    Z = np.array([[x / q for x in z] for z in N]) @ frame.T
    return frame, columns, task_of(problem, columns, Z, 1.0)


def _best(question: Question, given: CoverData | None) -> Facts:
    """The best of what the provers show, one after the other, until it is enough."""
    found: list[Facts] = []
    reason, neurons = "", None
    for prove in _provers(question, given):
        try:
            attempt = prove(question, neurons)
        except Late:
            reason = reason or LIMIT
            break
        neurons = attempt.neurons if attempt.neurons is not None else neurons
        reason = reason or attempt.reason
        if attempt.facts is not None:
            found.append(attempt.facts)
            if interrupted() or _enough(question, attempt):
                break
    if not found:
        raise Exhausted(reason)
    best = max(found, key=lambda facts: (facts.known, not _in_field(facts), facts.value.lower))
    if best.known:
        return best
    if not best.covered and question.plain_list:
        return best
    return replace(best, optimal_set=UnknownSet(INTERRUPTED if interrupted() else reason or best.unsettled))


def _provers(question: Question, given: CoverData | None) -> Sequence[Prove]:
    """What is tried, in order. The list goes first where it proves all that is proved of such a loss, the leaders where
    they are faster because a wide gap will do."""
    if given is None:
        return (by_list,) if question.listed else (by_leaders,)
    by_cover, rank = partial(prove_by_cover, given), len(given.data.basis)
    if question.listed:
        if rank > LISTED:
            return (by_list,)
        free_logistic = question.problem.free and question.problem.loss is LOGISTIC
        return (by_list, by_cover) if free_logistic else (by_cover, by_list)
    return (leaders_first, by_cover) if rank > EASY and question.gap > FINEST else (by_cover, by_leaders)


def _enough(question: Question, attempt: Attempt) -> bool:
    """Whether no other prover is asked."""
    facts, problem = attempt.facts, question.problem
    if facts is None or facts.known:
        return facts is not None and not (question.plain_list and _in_field(facts))
    if question.listed:  # where the list can prove the value alone
        return (problem.loss is LOGISTIC or "biases" in problem.free) and facts.value.reached
    return not attempt.reason or facts.value.reached or facts.value.relative_gap < GOOD


def _in_field(facts: Facts) -> bool:
    """Whether the optimal set is known at a residual of algebraic numbers only: less is shown of its faces."""
    return isinstance(facts.optimal_set, AlgebraicSet)


def share_of_cover(rank: int, rows: int = 0) -> float:
    """How much of the time a cover may take; the leaders need the rest, but for so many rows that their bound takes no
    time."""
    if rows > MOST_ROWS and rank < HARD:
        return 0.9
    return 0.75 if rank <= EASY else 0.5 if rank < HARD else 0.3 if rank < HARDEST else 0.1


def prove_by_cover(given: CoverData, question: Question, neurons: Neurons | None) -> Attempt:
    """A cover, with the optimal set where its finish is exact."""
    rank, until = len(given.data.basis), question.until
    seconds = max(share_of_cover(rank, len(given.Z)) * until.left, 1.0)
    limits = replace(question.limits, seconds=min(seconds, SMALL_SECONDS) if question.plain_list else seconds)
    prover = Prover(given, question.lam, limits, question.tell)
    if rank >= HARD and limits.state is None:
        prover.prepare(until.within(TRAINING * until.left))
    try:
        found = prover.run(0.0 if question.listed else float(question.gap), loose=not question.plain_list)
    except Exhausted as why:
        trained = None if prover.trained is None else neurons_of(prover.trained, given.frame)
        return Attempt(None, str(why) or LIMIT, trained)
    facts = question.facts(found.neurons, Dual(found.theta, found.cover), found.reason)
    alone = question.limits.value_alone and question.problem.n > MANY_ROWS
    if question.problem.loss is SQUARES and not found.reason and not alone:
        facts = add_free_set(facts) if question.columns else add_optimal_set(prover, facts, found)
    return Attempt(facts, found.reason or facts.unsettled * bool(question.listed), found.neurons)


def by_list(question: Question, neurons: Neurons | None) -> Attempt:
    """The list of patterns: multipliers for all its pieces."""
    problem, until = question.problem, question.until
    if question.plain_list:
        facts = listed_facts(problem, question.lam, question.top, question.gap)
        return Attempt(facts, facts.unsettled)
    late = until.within(TRAINING * until.left)
    own = _float_network(question, late, thorough=False)
    theta = problem.loss.theta(problem.y, exact_point(problem, question.columns, own, question.task).fit)
    dual = listed_dual(problem, problem.relu, [float(x) for x in theta], question.lam)
    if not problem.loss.allows(problem.y, dual.theta):  # free terms alone divide the labels: p* = 0
        dual = listed_dual(problem, problem.relu, [0.0] * problem.n, question.lam)
    biases = "biases" in problem.free
    facts = question.facts(own, dual, BIASES if biases else "")
    if problem.loss is SQUARES and not biases:
        facts = add_free_set(facts)
    return Attempt(facts, facts.unsettled, own)


def by_leaders(question: Question, neurons: Neurons | None) -> Attempt:
    """The leaders' bound, for the network that was trained, in the time that is left."""
    from relu_cert.leaders.find import FloatNeuron, find_leaders

    problem, until = question.problem, question.until
    if neurons is None:
        late = until.within(TRAINING * until.left)
        neurons = _float_network(question, late, thorough=True)
    many = len(neurons)
    found = find_leaders(
        problem.relu.Z,
        problem.y,
        question.lam,
        [FloatNeuron(xi, w) for xi, w in neurons],
        max(until.left, LEADERS * question.seconds, 5.0),
        logistic=problem.loss is LOGISTIC,
        outputs=question.columns,
        biases="biases" in problem.free,
        bags=problem.relu.bags,
        good=SURELY * float(question.gap) if question.gap > FINEST else COARSE,
        tell=lambda one: question.tell(ProgressEvent("leaders", many, bound=float(one.lower))),
    )
    if found is None:
        return Attempt(None, NO_BOUND, neurons)
    return Attempt(question.facts(neurons, Dual(found.theta, found), MANY_FEATURES), MANY_FEATURES, neurons)


def leaders_first(question: Question, neurons: Neurons | None) -> Attempt:
    """The leaders in half of the time; where they reach the gap that is asked for, nothing else is looked at."""
    until = question.until.within(question.until.left - question.seconds / 2)
    attempt = by_leaders(replace(question, until=until), neurons)
    if attempt.facts is None or not attempt.facts.value.reached:
        return replace(attempt, reason="", neurons=None)
    return replace(attempt, reason=ENOUGH)


def _float_network(question: Question, late: Until, *, thorough: bool) -> Neurons:
    """A float network, exactly as it is; polished where training is not thorough, because neurons are few there."""
    if not len(question.frame):  # zeros only
        return ()

    def tell(neurons: int, objective: float) -> None:
        question.tell(ProgressEvent("train", neurons, objective))

    with one_thread():
        found = train(question.task, told=tell, stop=lambda: interrupted() or late.over, thorough=thorough)
        return neurons_of(found if thorough else polished(question.task, found), question.frame)


def exact_point(
    problem: Problem, columns: tuple[Vector, ...], neurons: Neurons, task: TrainingTask | None = None
) -> Primal:
    """The neurons with bounds of their norms and their fit, in integers as long as it goes; with the best coefficients
    of the free columns, to many digits (as good as floats can be for the logistic loss)."""
    fit, patterns = exact_fit(problem.relu, neurons)
    norms = (norm_upper(weights_of(problem.free, w), NORM_BITS) for _, w in neurons)
    found = tuple(
        ExactNeuron(sign=xi, pattern=pattern, w=w, norm=norm)
        for (xi, w), pattern, norm in zip(neurons, patterns, norms, strict=True)
    )
    if not columns:
        return Primal(found, fit)
    rest = tuple(a - b for a, b in zip(problem.y, fit, strict=True))
    if isinstance(task, FreeTask) and problem.loss is LOGISTIC:
        best = task.Q @ task.coefficients(np.array([float(x) for x in fit]))
        rest = tuple(Fraction(float(x)) for x in best)
    c = rounded_coefficients(columns, rest)
    fit = tuple(a + b for a, b in zip(fit, combined(columns, c, problem.n), strict=True))
    return Primal(found, fit, c)


def _lambda_max(
    problem: Problem,
    given: CoverData | None,
    columns: tuple[Vector, ...],
    task: TrainingTask,
    frame: Floats,
    limits: Limits,
    *,
    proved: bool,
) -> LambdaMax:
    """lambda_max by a cover, where there can be one; else a direction at which zero, or the free terms alone, fail
    below some lambda, which is known exactly (or, with free terms and the logistic loss, as well as floats tell:
    nothing is claimed of it)."""
    listed = listed_plainly(problem)
    if given is not None and not problem.free and not (listed and len(given.data.basis) > LISTED):
        share = LAMBDA_MAX * (limits.seconds or DEFAULT_SECONDS)  # the optimum needs the rest
        seconds = min(share, SMALL_SECONDS if listed else LAMBDA_MAX_SECONDS)
        found = prove_lambda_max(given, replace(limits, seconds=seconds), proved=proved)
        if found.exact or not listed:
            return found
    if listed:
        return listed_lambda_max(problem)
    theta = _pull(problem, columns, task)
    bound = Fraction(0) if problem.free else trivial_bound(problem.relu, theta)
    if not len(frame):
        return LambdaMax(bound, None, Attained(), Fraction(0))
    with one_thread():
        _, xi, at = largest(task, np.random.default_rng(0))
    u = frame.T @ at
    row = tuple(Fraction(round(float(x) / float(np.abs(u).max()) * DIGITS)) for x in u)
    least = _value_along(problem, theta, xi, row)
    return LambdaMax(max(bound, least), None, Attained(xi, u=row), least)


def _pull(problem: Problem, columns: tuple[Vector, ...], task: TrainingTask) -> Vector:
    """theta of the network without neurons."""
    if not columns:
        return problem.loss.pull(problem.y)
    if problem.loss is SQUARES:
        rest = combined(columns, coefficients(columns, problem.y), problem.n)
        return tuple(a - b for a, b in zip(problem.y, rest, strict=True))
    return tuple(Fraction(float(x)) for x in task.loss(np.zeros(problem.n))[1])


def _value_along(problem: Problem, theta: Vector, xi: int, u: Vector) -> Fraction:
    """(xi t.(Zu)_+)^2 / |u|^2, t = P'theta"""
    heights = [max(dot(z, u), Fraction(0)) for z in problem.relu.Z]
    size, t = norm_squared(weights_of(problem.free, u)), problem.relu.bags.spread(theta)
    return max(xi * dot(t, heights), Fraction(0)) ** 2 / size if size else Fraction(0)


def _row_space(Z: Matrix) -> Floats:
    """Orthonormal rows that span the rows of Z, in floats."""
    A = np.array([[float(x) for x in z] for z in Z])
    _, s, axes = np.linalg.svd(A, full_matrices=False)
    return np.ascontiguousarray(axes[s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)])
