"""The optimum of a ReLU network with free terms: a network, and the best lower bound of p* that some engine proves.

The cover, where the data have few features; where it does not settle everything the list of patterns, if there is one,
and else the leaders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from relu_cert.clock import Until
from relu_cert.cover.build import Exhausted
from relu_cert.cover.limits import MANY_FEATURES, Limits, Moment, Tell
from relu_cert.cover.logistic import polished
from relu_cert.cover.optimum import Neurons, compiled, neurons_of
from relu_cert.cover.train import train
from relu_cert.cover.unlisted import DEFAULT_SECONDS, HARD, TRAINING, share_of_cover
from relu_cert.exact import Vector, dot, norm_squared
from relu_cert.free.cover import FreeProver, FreeSetting, free_setting, rounded_coefficients
from relu_cert.free.listed import listed_dual
from relu_cert.free.terms import DEPENDENT, coefficients, combined, outputs, weights_of
from relu_cert.free.train import Task, largest, orthonormal
from relu_cert.interrupt import INTERRUPTED, interrupted
from relu_cert.leaders.find import Neuron, find_leaders
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import Attained, Dual, ExactNeuron, Facts, LambdaMax, PieceMultipliers, Primal, Unknown
from relu_cert.prove.lifts import independent
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.polytope.listing import list_polytope
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.unsettled import Unsettled
from relu_cert.prove.value import facts_of, norm_upper
from relu_cert.solve.threads import one_thread

GOOD = 1e-5  # a relative gap of a cover that the leaders are not asked to better
DIGITS = 10**6
FEW = 7  # directions: where there are more, a list is faster by far than a cover
NORM_BITS = 300
VALUE_ALONE = "with free terms and the logistic loss only the optimal value and the fit are proved"
LEVEL = "a neuron that is zero at no row can be split into several of other free biases"
BIASES = "with free biases and so many features a list of patterns proves the optimal value and the fit only"
TO_FLOATS = "the network is known to the digits of floats only"
LIMIT = "the limit of time or nodes was reached"


class Unproved(Exception):
    """No engine proved a bound in the time that there is."""


def optimum_with_free_terms(
    problem: Problem, choice: Callable[[LambdaMax], Fraction], gap: Fraction, limits: Limits, tell: Tell
) -> Facts:
    """The facts about the optimum."""
    network = problem.network
    if network is None:
        raise ValueError("free terms are those of a network")
    columns = outputs(problem)
    B = np.array([[float(x) for x in column] for column in columns]).T
    Z = np.array([[float(x) for x in z] for z in network.Z])
    y = np.array([float(x) for x in problem.y])
    task = Task(Z, y, 1.0, problem.loss is LOGISTIC, Q=orthonormal(B), biases="biases" in problem.free)
    ways = _ways(problem, network, free_setting(problem, network, columns, task))
    if ways[0] is not None:
        compiled()
    until = replace(limits, seconds=DEFAULT_SECONDS if limits.seconds is None else limits.seconds).until
    with one_thread():
        top = _lambda_max(problem, network, columns, task)
        lam = choice(top)
        top = replace(top, squared=max(top.squared, 2 * lam * lam))  # no proof is made of lambda >= lambda_max
        task = replace(task, lam=float(lam))
    asked = Question(problem, network, columns, lam, top, task, gap, tell)
    found: list[Facts] = []
    reasons: list[str] = []
    for way in ways:
        if way is not None:
            compiled()
        tried = _facts(asked, way, replace(limits, seconds=until.left), until)
        reasons.append(tried if isinstance(tried, str) else tried.unsettled)
        if isinstance(tried, Facts):
            found.append(tried)
            value_alone = task.logistic or task.biases  # is what the list can prove
            if interrupted() or tried.known or (value_alone and tried.value.reached):
                break
    if not found:
        raise Unproved("no bound was found in the time that there is")
    best = max(found, key=lambda facts: (facts.known, facts.value.lower))
    return best if best.known else replace(best, optimal_set=Unknown(reasons[0]))  # why a cover does not know it


def _ways(problem: Problem, network: Network, given: FreeSetting | None) -> list[FreeSetting | None]:
    """What is tried: a cover, where there can be one, and without it (None) the list, or the leaders. The list goes
    first where it proves all that is proved of such a loss."""
    if network.all is None or given is None:
        return [given]
    if len(given.data.basis) > FEW:
        return [None]
    return [None, given] if problem.loss is LOGISTIC else [given, None]


def _facts(asked: Question, given: FreeSetting | None, limits: Limits, until: Until) -> Facts | str:
    """What is proved in one way, or why nothing is."""
    problem, lam, logistic = asked.problem, asked.lam, asked.task.logistic
    found = _found(asked, given, limits)
    point = _point(problem, asked.network, asked.columns, found.neurons, asked.task)
    dual = _dual(asked, found, point, until) if asked.network.all is None or given is None else found.covered
    if dual is None:
        return found.reason
    over_list = isinstance(dual.multipliers, PieceMultipliers)
    single = not (logistic or (over_list and asked.task.biases))
    reason = INTERRUPTED if interrupted() else found.reason if single else VALUE_ALONE if logistic else BIASES
    facts = facts_of(problem, lam, asked.top, point, dual, asked.gap, reason)
    exact = over_list or (dual is found.covered and found.exact)
    return _with_set(facts, asked.columns) if single and exact else facts


def _with_set(facts: Facts, columns: tuple[Vector, ...]) -> Facts:
    """The facts with the optimal network, where it is the only one: free columns are a lift of the plain problem, with
    all of R as coefficients."""
    if len(independent(columns)) < len(columns):
        return replace(facts, optimal_set=Unknown(DEPENDENT))
    try:
        found = optimal_set(facts, columns)
    except Unsettled as why:
        return replace(facts, optimal_set=Unknown(str(why)))
    known = replace(facts, optimal_set=found)
    if found.level:
        return replace(known, vertices=Unlisted(LEVEL, final=True))
    return replace(known, vertices=list_polytope(known))


@dataclass(frozen=True)
class Question:
    """The problem at lambda, its free columns and what trains it."""

    problem: Problem
    network: Network
    columns: tuple[Vector, ...]
    lam: Fraction
    top: LambdaMax
    task: Task
    gap: Fraction
    tell: Tell


@dataclass(frozen=True)
class Found:
    """Neurons with their objective in floats, and a dual point that a cover proves, if there is one. `reason`: why its
    finish is not exact (empty if it is)."""

    neurons: Neurons
    objective: float
    covered: Dual | None
    reason: str = MANY_FEATURES

    @property
    def exact(self) -> bool:
        """Whether all ties are known to many digits."""
        return not self.reason


def _found(asked: Question, given: FreeSetting | None, limits: Limits) -> Found:
    """A network; with what a cover proves in its share of the time, if there is one."""
    unlisted, until = asked.network.all is None, limits.until
    if given is None:
        late = until.within(TRAINING * until.left)
        with one_thread():
            trained = train(
                asked.task,
                told=lambda m, p: asked.tell(Moment("train", m, p)),
                stop=lambda: interrupted() or late.over,
                thorough=unlisted,
            )
            if not unlisted:  # few neurons
                trained = polished(asked.task, trained)
        return Found(neurons_of(trained, np.eye(asked.task.Z.shape[1])), trained.objective, None)
    rank = len(given.data.basis)
    limits = replace(limits, seconds=share_of_cover(rank) * until.left)
    prover = FreeProver(given, asked.lam, limits, asked.tell)
    if rank >= HARD:
        prover.prepare(until.within(TRAINING * until.left))
    try:
        proved = prover.run(enough=float(asked.gap) if unlisted else 0.0)
    except Exhausted as why:
        return Found(neurons_of(prover.network, given.frame), prover.network.objective, None, str(why) or LIMIT)
    reason = proved.reason or ("" if proved.cover.source is not None else TO_FLOATS)
    return Found(proved.neurons, prover.network.objective, Dual(proved.theta, proved.cover), reason)


def _dual(asked: Question, found: Found, point: Primal, until: Until) -> Dual | None:
    """The dual point with the best bound: over the list, or of the cover and the leaders."""
    problem, network, lam, covered = asked.problem, asked.network, asked.lam, found.covered
    if network.all is not None:
        listed = listed_dual(problem, network, [float(x) for x in problem.loss.theta(problem.y, point.fit)], lam)
        if problem.loss.allows(problem.y, listed.theta):
            return listed
        return listed_dual(problem, network, [0.0] * problem.n, lam)  # free terms alone divide the labels: p* = 0
    bound = -1.0 if covered is None else float(problem.loss.dual_value(problem.y, covered.theta))
    if covered is not None and found.objective - bound < GOOD * found.objective:
        return covered
    leaders = find_leaders(
        network.Z,
        problem.y,
        lam,
        [Neuron(neuron.sign, neuron.w) for neuron in point.neurons],
        max(until.left, 5.0),
        logistic=problem.loss is LOGISTIC,
        outputs=asked.columns,
        biases="biases" in problem.free,
        tell=lambda one: asked.tell(Moment("leaders", len(point.neurons), bound=float(one.lower))),
    )
    if leaders is not None and leaders.lower > bound:
        return Dual(leaders.theta, leaders)
    return covered


def _lambda_max(problem: Problem, network: Network, columns: tuple[Vector, ...], task: Task) -> LambdaMax:
    """A direction at which the free terms alone fail below some lambda, which is known exactly (or, with the logistic
    loss, as well as floats tell: nothing is claimed of it)."""
    _, xi, u = largest(task, np.random.default_rng(0))
    row = tuple(Fraction(round(float(x) / float(np.abs(u).max()) * DIGITS)) for x in u)
    theta = tuple(Fraction(float(x)) for x in task.loss(np.zeros(problem.n))[1])
    if not task.logistic:
        rest = combined(columns, coefficients(columns, problem.y), len(problem.y))
        theta = tuple(a - b for a, b in zip(problem.y, rest, strict=True))
    heights = [max(dot(z, row), Fraction(0)) for z in network.Z]
    size = norm_squared(weights_of(problem.free, row))
    least = max(xi * dot(theta, heights), Fraction(0)) ** 2 / size if size else Fraction(0)
    return LambdaMax(least, None, Attained(xi, u=row), least)


def _point(problem: Problem, network: Network, columns: tuple[Vector, ...], neurons: Neurons, task: Task) -> Primal:
    """The float network, exactly as it is, with coefficients of the free terms that are as good as floats can be."""
    found, total = [], [Fraction(0)] * problem.n
    for xi, w in neurons:
        heights = [dot(z, w) for z in network.Z]
        total = [a + xi * max(h, Fraction(0)) for a, h in zip(total, heights, strict=True)]
        norm = norm_upper(weights_of(problem.free, w), NORM_BITS)
        pattern = bit_string([h >= 0 for h in heights])
        found.append(ExactNeuron(sign=xi, pattern=pattern, w=w, norm=norm))
    if task.logistic:
        best = task.Q @ task.coefficients(np.array([float(x) for x in total]))
        rest = tuple(Fraction(float(x)) for x in best)
    else:
        rest = tuple(a - b for a, b in zip(problem.y, total, strict=True))
    c = rounded_coefficients(columns, rest)
    fitted = tuple(a + b for a, b in zip(total, combined(columns, c, problem.n), strict=True))
    return Primal(tuple(found), fitted, c)
