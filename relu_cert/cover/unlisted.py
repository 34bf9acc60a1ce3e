"""The optimum of a ReLU network whose patterns are not listed, by whatever proves most in the time that there is.

The cover where the rank of the data is small: an exact finish, or a proved gap that falls with time. The leaders where
it is not, or where the cover leaves a gap; the better bound counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from time import monotonic

import numpy as np

from relu_cert.cover.build import Exhausted
from relu_cert.cover.engine import Floats
from relu_cert.cover.facts import add_optimal_set, prove_lambda_max, trivial_bound, zero_facts
from relu_cert.cover.model import Limits, Moment, Tell
from relu_cert.cover.optimum import Found, Prover, setting
from relu_cert.cover.train import Task, Trained, largest, train
from relu_cert.exact import Matrix, Vector, scaled_rows
from relu_cert.leaders.find import Neuron, find_leaders
from relu_cert.leaders.model import Leaders
from relu_cert.problem.model import Network, Problem
from relu_cert.prove.facts import Attained, Dual, ExactNeuron, Facts, LambdaMax, Primal
from relu_cert.prove.pieces import bit_string
from relu_cert.prove.value import fit, norm_upper, value
from relu_cert.solve.threads import one_thread

DEFAULT_SECONDS = 60.0
MOST_DIRECTIONS, MOST_COLUMNS, MOST_ROWS = 12, 16, 2**14  # of data for a cover: what the checker takes
EASY, HARD = 6, 9  # ranks up to which the cover may take most of the time, and from which on it is tried for a little
NORM_BITS = 300
LambdaChooser = Callable[[LambdaMax], Fraction]


def optimum_without_list(
    problem: Problem,
    choice: LambdaChooser,
    gap: Fraction,
    limits: Limits,
    tell: Tell,
) -> Facts:
    """The facts about the optimum."""
    network = problem.network
    if network is None:
        raise ValueError("covers and leaders are about networks")
    begin = monotonic()
    seconds = DEFAULT_SECONDS if limits.seconds is None else limits.seconds
    frame = _row_space(network.Z)
    if len(frame) > MOST_DIRECTIONS or len(network.Z[0]) > MOST_COLUMNS or len(network.Z) > MOST_ROWS:
        return _many_features(problem, network, frame, choice, gap, seconds, tell)
    given = setting(network.Z, problem.y)
    if len(given.data.basis) > MOST_DIRECTIONS:  # more than floats see
        return _many_features(problem, network, frame, choice, gap, seconds, tell)
    top = prove_lambda_max(given, replace(limits, seconds=min(seconds, 20.0)))
    lam = choice(top if top.least is None else replace(top, squared=top.least))
    if not top.exact:  # nothing is claimed of lambda >= lambda_max without a proof of it
        top = replace(top, squared=max(top.squared, 2 * lam * lam))
    if lam * lam >= top.squared:
        return zero_facts(problem, given, lam, top, gap)
    share = 0.75 if len(frame) <= EASY else 0.5 if len(frame) < HARD else 0.3
    left = seconds - (monotonic() - begin)
    prover = Prover(given, lam, replace(limits, seconds=max(share * left, 1.0)), tell)
    try:
        found = prover.run(enough=float(gap))
    except Exhausted as why:
        found = None
        reason = str(why) or "the limit of time or nodes was reached"
    if found is not None:
        facts = add_optimal_set(prover, covered_facts(problem, lam, top, gap, found), found)
        if not found.reason or facts.value.reached:
            return facts
        reason = found.reason
    neurons = _neurons(prover.trained, given.frame)
    bound = _leaders(problem, network, lam, neurons, seconds - (monotonic() - begin), tell)
    if bound is not None and (found is None or bound.lower > facts.value.lower):
        return replace(_leaders_facts(problem, network, lam, top, gap, neurons, bound), unsettled=reason)
    if found is None:
        raise Exhausted(reason)
    return facts


def _many_features(
    problem: Problem, network: Network, frame: Floats, choice: LambdaChooser, gap: Fraction, seconds: float, tell: Tell
) -> Facts:
    """Too many features for a cover: a network, and the leaders' bound."""
    begin = monotonic()
    N, q = network.integers
    Z = np.array([[x / q for x in z] for z in N]) @ frame.T
    y = np.array([float(x) for x in problem.y])
    with one_thread():
        rng = np.random.default_rng(0)
        xi, (_, u) = max(((s, largest(Z, s * y, rng)) for s in (1, -1)), key=lambda one: one[1][0])
        at = frame.T @ u
        row = tuple(round(float(x) / float(np.abs(at).max()) * 10**6) for x in at)
        attained = Attained(xi, tuple(map(Fraction, row)))
        least = _reached(network, problem.y, xi, row)
        top = LambdaMax(trivial_bound(network.Z, problem.y), None, attained, least)
        lam = choice(replace(top, squared=least))
        top = replace(top, squared=max(top.squared, 2 * lam * lam))  # no proof is made of lambda >= lambda_max
        trained = train(Task(Z, y, float(lam)), rounds=12, told=lambda m, p: tell(Moment("train", m, p)))
    neurons = _neurons(trained, frame)
    bound = _leaders(problem, network, lam, neurons, seconds - (monotonic() - begin), tell)
    if bound is None:
        raise Exhausted("no bound was found in the time that there is")
    reason = "with so many features only a gap can be proved"
    return replace(_leaders_facts(problem, network, lam, top, gap, neurons, bound), unsettled=reason)


def covered_facts(problem: Problem, lam: Fraction, top: LambdaMax, gap: Fraction, found: Found) -> Facts:
    """The facts of a cover."""
    if problem.network is None:
        raise ValueError("a cover is about a network")
    point = exact_network(problem.network, found.neurons)
    dual = Dual(found.theta, found.cover)
    bounds = value(problem, lam, point, dual, gap)
    return Facts(problem, lam, top, point, dual, bounds, fit(point, bounds), unsettled=found.reason)


def _leaders_facts(
    problem: Problem,
    network: Network,
    lam: Fraction,
    top: LambdaMax,
    gap: Fraction,
    neurons: Sequence[tuple[int, Vector]],
    bound: Leaders,
) -> Facts:
    point = exact_network(network, neurons)
    dual = Dual(bound.theta, bound)
    bounds = value(problem, lam, point, dual, gap)
    return Facts(problem, lam, top, point, dual, bounds, fit(point, bounds))


def _leaders(
    problem: Problem,
    network: Network,
    lam: Fraction,
    neurons: Sequence[tuple[int, Vector]],
    seconds: float,
    tell: Tell,
) -> Leaders | None:
    """The leaders' bound."""

    def told(found: Leaders) -> None:
        tell(Moment("leaders", len(neurons), bound=float(found.lower)))

    given = [Neuron(xi, w) for xi, w in neurons]
    return find_leaders(network.Z, problem.y, lam, given, max(seconds, 5.0), tell=told)


def exact_network(network: Network, neurons: Sequence[tuple[int, Vector]]) -> Primal:
    """The neurons with bounds of their norms and their fit, in integers as long as it goes."""
    N, q = network.integers
    total = [Fraction(0)] * len(N)
    found = []
    for xi, w in neurons:
        (u,), p = scaled_rows([w])
        heights = [sum(a * b for a, b in zip(z, u, strict=True)) for z in N]
        for k, h in enumerate(heights):
            if h > 0:
                total[k] += Fraction(xi * h, p * q)
        found.append(ExactNeuron(xi, w, norm_upper(w, NORM_BITS), pattern=bit_string([h >= 0 for h in heights])))
    return Primal(tuple(found), tuple(total))


def _neurons(trained: Trained | None, frame: Floats) -> tuple[tuple[int, Vector], ...]:
    """The float network, exactly as it is."""
    if trained is None:
        return ()
    return tuple(
        (int(xi), tuple(Fraction(float(x)) for x in v)) for xi, v in zip(trained.xi, trained.V @ frame, strict=True)
    )


def _row_space(Z: Matrix) -> Floats:
    """Orthonormal rows that span the rows of Z, in floats."""
    A = np.array([[float(x) for x in z] for z in Z])
    _, s, axes = np.linalg.svd(A, full_matrices=False)
    return np.ascontiguousarray(axes[s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)])


def _reached(network: Network, y: Vector, xi: int, u: tuple[int, ...]) -> Fraction:
    """(xi y.(Zu)_+)^2 / |u|^2"""
    N, q = network.integers
    heights = (max(sum(a * b for a, b in zip(z, u, strict=True)), 0) for z in N)
    total = xi * sum((t * h for t, h in zip(y, heights, strict=True)), Fraction(0)) / q
    return max(total, Fraction(0)) ** 2 / max(sum(x * x for x in u), 1)
