"""The optimum of a ReLU network with free terms: a network, and the best lower bound of p* that some engine proves.

The list of patterns where there is one; else the cover, where all weights are in the norm and the data have few
features, and the leaders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic

import numpy as np
from scipy.special import expit

from relu_cert.cover.build import THETA_BITS, Exhausted, Missed, Stuck, dual_cover, rounded
from relu_cert.cover.model import MOST_DIRECTIONS, Limits, Moment, Tell
from relu_cert.cover.optimum import LOOSE, setting
from relu_cert.cover.pool import Processes, Serial
from relu_cert.cover.ties import Untied
from relu_cert.cover.train import Trained, train
from relu_cert.cover.unlisted import DEFAULT_SECONDS, MOST_COLUMNS, MOST_ROWS
from relu_cert.exact import Vector, dot, norm_squared
from relu_cert.free.listed import listed_dual
from relu_cert.free.terms import coefficients, combined, orthogonal, outputs, weights_of, widest
from relu_cert.free.train import Task, largest, orthonormal
from relu_cert.interrupt import INTERRUPTED, interrupted
from relu_cert.leaders.find import Neuron, find_leaders
from relu_cert.leaders.rounding import dual_value
from relu_cert.problem.model import Network, Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.facts import Attained, Dual, ExactNeuron, Facts, LambdaMax, Primal
from relu_cert.prove.lifts import independent
from relu_cert.prove.logistic import enclosed_facts
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.pieces import bit_string
from relu_cert.prove.polytope.listing import list_polytope
from relu_cert.prove.polytope.model import Polytope
from relu_cert.prove.value import fit, norm_upper, value
from relu_cert.solve.threads import one_thread

GOOD = 1e-5  # a relative gap of a cover that the leaders are not asked to better
DIGITS = 10**6
NORM_BITS = 80
UNSETTLED = (
    "with free biases, with the logistic loss, or without a list of the patterns, "
    "only the optimal value and the fit are proved"
)


class Unproved(Exception):
    """No engine proved a bound in the time that there is."""


def optimum_with_free_terms(
    problem: Problem, choice: Callable[[LambdaMax], Fraction], gap: Fraction, limits: Limits, tell: Tell
) -> Facts:
    """The facts about the optimum."""
    network = problem.network
    if network is None:
        raise ValueError("free terms are those of a network")
    columns = outputs(problem.free, network.Z)
    B = np.array([[float(x) for x in column] for column in columns]).T
    Z = np.array([[float(x) for x in z] for z in network.Z])
    y = np.array([float(x) for x in problem.y])
    task = Task(Z, y, 1.0, problem.loss == "logistic", Q=orthonormal(B), biases="biases" in problem.free)
    with one_thread():
        top = _lambda_max(problem, network, columns, task)
        lam = choice(top)
        top = replace(top, squared=max(top.squared, 2 * lam * lam))  # no proof is made of lambda >= lambda_max
        trained = train(replace(task, lam=float(lam)), told=lambda m, p: tell(Moment("train", m, p)))
    point = _point(problem, network, columns, trained, task)
    dual = _dual(Found(problem, network, columns, lam, point, trained.objective, tell), limits)
    reason = INTERRUPTED if interrupted() else UNSETTLED
    if task.logistic:
        return replace(enclosed_facts(problem, lam, top, point, dual, gap), unsettled=reason)
    bounds = value(problem, lam, point, dual, gap)
    facts = Facts(problem, lam, top, point, dual, bounds, fit(point, bounds), unsettled=reason)
    return _with_set(facts, columns) if network.all is not None and "biases" not in problem.free else facts


def _with_set(facts: Facts, columns: tuple[Vector, ...]) -> Facts:
    """The facts with the optimal network, where it is the only one: free columns are a lift of the plain problem, with
    all of R as coefficients."""
    if len(independent(columns)) < len(columns):
        return replace(facts, unsettled="the free columns depend on each other, and so do their coefficients")
    try:
        known = replace(facts, optimal_set=optimal_set(facts, columns), unsettled="")
    except Unsettled as why:
        return replace(facts, unsettled=str(why))
    found = list_polytope(known)
    return replace(known, polytope=found) if isinstance(found, Polytope) else replace(known, unlisted=found.reason)


@dataclass(frozen=True)
class Found:
    """The problem at lambda, the free columns and the network that was found, with its objective in floats."""

    problem: Problem
    network: Network
    columns: tuple[Vector, ...]
    lam: Fraction
    point: Primal
    objective: float
    tell: Tell


def _dual(found: Found, limits: Limits) -> Dual:
    """The dual point with the best bound."""
    problem, network, lam, point = found.problem, found.network, found.lam, found.point
    if network.all is not None:
        listed = listed_dual(problem, network, [float(x) for x in _residual(problem, point)], lam)
        if _possible(problem, listed.theta):
            return listed
        return listed_dual(problem, network, [0.0] * problem.n, lam)  # free terms alone divide the labels: p* = 0
    until = monotonic() + (DEFAULT_SECONDS if limits.seconds is None else limits.seconds)
    covered = None
    if "biases" not in problem.free:
        covered = _covered(found, replace(limits, seconds=until - monotonic()))
    bound = -1.0 if covered is None else _lower(problem, covered.theta)
    if covered is not None and found.objective - bound < GOOD * found.objective:
        return covered
    leaders = find_leaders(
        network.Z,
        problem.y,
        lam,
        [Neuron(neuron.sign, neuron.w) for neuron in point.neurons],
        max(until - monotonic(), 5.0),
        logistic=problem.loss == "logistic",
        outputs=found.columns,
        biases="biases" in problem.free,
        tell=lambda one: found.tell(Moment("leaders", len(point.neurons), bound=float(one.lower))),
    )
    if leaders is not None and leaders.lower > bound:
        return Dual(leaders.theta, leaders)
    if covered is None:
        raise Unproved("no bound was found in the time that there is")
    return covered


def _covered(found: Found, limits: Limits) -> Dual | None:
    """The residual, made orthogonal to the free outputs and scaled down as little as a cover of half the time allows;
    None where there is none. What a cover proves of theta does not depend on where theta is from."""
    problem, network, lam = found.problem, found.network, found.lam
    if len(network.Z[0]) > MOST_COLUMNS or len(network.Z) > MOST_ROWS:
        return None
    given = setting(network.Z, problem.y)
    if len(given.data.basis) > MOST_DIRECTIONS:
        return None
    data = replace(given.data, lam=lam)
    near = rounded(_residual(problem, found.point), THETA_BITS)
    base = orthogonal(found.columns, near, widest(problem, near))
    if not _possible(problem, base):
        return None
    neurons = len(found.point.neurons)
    end = monotonic() + (limits.seconds or DEFAULT_SECONDS) / 2

    def told(nodes: int, open_cones: int) -> None:
        found.tell(Moment("bound", neurons, found.objective, None, nodes, open_cones))

    best: Dual | None = None
    pool = (Processes if limits.jobs > 1 else Serial)(limits, end, told)
    for k in LOOSE:
        theta = tuple((1 - Fraction(1, 1 << k)) * x for x in base)
        try:
            with one_thread():
                cover = dual_cover(data, given.frame, theta, lam * lam, (), Fraction(0), pool)
        except (Exhausted, Missed, Stuck, Untied):
            if best is not None:
                break
            continue
        best = Dual(theta, cover)
        bound = _lower(problem, theta)
        found.tell(Moment("bound", neurons, found.objective, bound, cover.nodes))
    return best


def _possible(problem: Problem, theta: Vector) -> bool:
    """Whether theta has a dual value: 0 <= y_k theta_k <= 1 with the logistic loss."""
    return problem.loss != "logistic" or all(0 <= y_k * t <= 1 for y_k, t in zip(problem.y, theta, strict=True))


def _lower(problem: Problem, theta: Vector) -> float:
    """The dual value."""
    return float(dual_value(problem.y, theta, problem.loss == "logistic"))


def _residual(problem: Problem, point: Primal) -> Vector:
    """y - fit; with the logistic loss minus its gradient, in floats."""
    if problem.loss == "logistic":
        y, fitted = (np.array([float(x) for x in v]) for v in (problem.y, point.fit))
        return tuple(Fraction(float(x)) for x in y * expit(-y * fitted))
    return tuple(a - b for a, b in zip(problem.y, point.fit, strict=True))


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
    return LambdaMax(least, None, Attained(xi, row), least)


def _point(problem: Problem, network: Network, columns: tuple[Vector, ...], trained: Trained, task: Task) -> Primal:
    """The float network, exactly as it is, with coefficients of the free terms that are as good as floats can be."""
    found, total = [], [Fraction(0)] * problem.n
    for xi, v in zip(trained.xi, trained.V, strict=True):
        w = tuple(Fraction(float(x)) for x in v)
        heights = [dot(z, w) for z in network.Z]
        total = [a + int(xi) * max(h, Fraction(0)) for a, h in zip(total, heights, strict=True)]
        norm = norm_upper(weights_of(problem.free, w), NORM_BITS)
        found.append(ExactNeuron(int(xi), w, norm, pattern=bit_string([h >= 0 for h in heights])))
    if task.logistic:
        best = task.Q @ task.coefficients(np.array([float(x) for x in total]))
        rest = tuple(Fraction(float(x)) for x in best)
    else:
        rest = tuple(a - b for a, b in zip(problem.y, total, strict=True))
    c = tuple(Fraction(float(x)) for x in coefficients(columns, rest))
    fitted = tuple(a + b for a, b in zip(total, combined(columns, c, problem.n), strict=True))
    return Primal(tuple(found), fitted, c)
