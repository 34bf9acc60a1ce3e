"""The facts about a ReLU network whose patterns are not listed: lambda_max, the optimum and the optimal set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from relu_cert.bags import EACH
from relu_cert.clock import until
from relu_cert.cover.build import Exhausted, Missed, Stuck, dual_cover
from relu_cert.cover.classes import covered_candidates
from relu_cert.cover.exact_set import algebraic_facts, exact_facts
from relu_cert.cover.limits import Limits
from relu_cert.cover.lines import Weights, weights_of
from relu_cert.cover.pool import Serial
from relu_cert.cover.prover import FACES, RADII, Found, Prover, nearby
from relu_cert.cover.refine import Data
from relu_cert.cover.setting import Setting
from relu_cert.cover.ties import (
    Untied,
    exact_shares,
    longest_squared,
    near_direction,
    pieces_near,
    ties_at,
    value_squared,
)
from relu_cert.cover.train import largest
from relu_cert.evidence import Cover, Row
from relu_cert.exact import Matrix, Vector, sqrt_upper
from relu_cert.free.terms import DEPENDENT, outputs
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import Attained, Dual, Facts, LambdaMax, Unknown
from relu_cert.prove.lifts import SEEMS_ZERO, independent, orthogonal_rows
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.polytope.listing import list_polytope, shortest_weights, with_vertices
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.unsettled import Unsettled
from relu_cert.prove.value import facts_of, fit, primal, value
from relu_cert.solve.threads import one_thread

LEVEL = "a neuron that is zero at no row can be split into several of other free biases"
MOST_BITS = 20_000  # of a pattern: the checker reads no longer ones
FEW_NODES = 20_000  # so small a cover is built again at once where the optimum seems to be rational
LONG_PATTERNS = "patterns of so many rows are longer than what the checker reads"


def prove_lambda_max(given: Setting, limits: Limits) -> LambdaMax:
    """lambda_max^2, or a square a tiny bit above it, by a cover for theta of the zero network."""
    theta = given.problem.loss.pull(given.y)
    with one_thread():
        _, xi, at = largest(given.task, np.random.default_rng(0))
        u = given.frame.T @ at
        for _ in range(8):
            try:
                return _lambda_max_at(given, theta, limits, xi, u)
            except Missed as missed:
                xi, u = missed.xi, missed.u
            except (Exhausted, Untied):
                break
    longest = float(np.abs(u).max()) or 1.0
    row = tuple(round(float(x) / longest * 10**6) for x in u)
    if not any(row):  # no direction is above 0
        row = (1,) * len(row)
    least = value_squared(weights_of(given.data.lines, theta, xi), row)
    return LambdaMax(trivial_bound(given.problem.relu, theta), None, Attained(xi, u=tuple(map(Fraction, row))), least)


def trivial_bound(network: Network, y: Vector) -> Fraction:
    """(sum_k |t_k| |z_k|)^2 or more, t = P'y: |xi t.(Zu)_+| <= sum |t_k| |z_k| |u|."""
    norms = (sqrt_upper(sum((x * x for x in z), Fraction(0)), 64) for z in network.Z)
    return sum((abs(t) * size for t, size in zip(network.bags.spread(y), norms, strict=True)), Fraction(0)) ** 2


def _lambda_max_at(given: Setting, theta: Vector, limits: Limits, xi: int, u: np.ndarray) -> LambdaMax:
    """The proof that nothing is above the maximum near u."""
    sides = {sign: weights_of(given.data.lines, theta, sign) for sign in (1, -1)}
    near = [*_faces_near(given.data, sides[xi], u), *_tops_of_pieces(given.data, sides[xi], xi, u)]
    least, at = max(((value_squared(sides[xi], at), at) for at in near), default=(Fraction(0), ()))
    if not least:
        raise Untied("no direction is near")
    data = replace(given.data, lam=sqrt_upper(least, 256))
    ties = [exact_shares(data, sides[xi], tie) for tie in ties_at(data, sides[xi], xi, at)]
    pool = Serial(limits, until(limits.seconds))
    while True:
        squared = max(least, *(longest_squared(data, sides[t.xi], t) for t in ties))
        try:
            cover = dual_cover(data, given.frame, theta, squared, ties, Fraction(0), pool, 1.0 + 1e-9)
            exact = None if squared == least else least
            return LambdaMax(squared, cover, Attained(xi, u=tuple(map(Fraction, at))), exact)
        except Stuck as stuck:
            if len(ties) > 60:
                raise Untied("there are too many ties") from None
            more = nearby(data, sides[stuck.xi], ties, stuck)
            if more is None:
                raise Untied("a tie that is not known") from None
            ties += [exact_shares(data, sides[stuck.xi], tie) for tie in more]


def _faces_near(data: Data, weights: Weights, u: np.ndarray) -> Iterator[Row]:
    """The maximisers on the faces of the lines that nearly pass through u."""
    for tolerance in FACES:
        try:
            yield near_direction(data, weights, u, tolerance)
        except Untied:
            continue


def _tops_of_pieces(data: Data, weights: Weights, xi: int, u: np.ndarray) -> Iterator[Row]:
    """The directions of the pieces around u, from close by to far away: floats may not have come to the top."""
    for radius in RADII:
        yield from (piece.u for piece in pieces_near(data, weights, xi, u, radius))


def covered_zero_facts(given: Setting, lam: Fraction, top: LambdaMax, gap: Fraction) -> Facts:
    """lambda >= lambda_max: zero is the solution, and its theta proves it."""
    theta = given.problem.loss.pull(given.y)
    ties = top.multipliers.ties if isinstance(top.multipliers, Cover) else ()
    with one_thread():
        cover = dual_cover(given.data, given.frame, theta, lam * lam, ties, Fraction(0), Serial(Limits()))
    return facts_of(given.problem, lam, top, primal(given.problem, ()), Dual(theta, cover), gap)


def add_free_set(facts: Facts) -> Facts:
    """The facts with the optimal set of a network with free terms: their columns are a lift of the plain problem, with
    all of R as coefficients."""
    columns = outputs(facts.problem)
    if facts.problem.n > MOST_BITS:
        return replace(facts, optimal_set=Unknown(LONG_PATTERNS))
    if len(independent(columns)) < len(columns):
        return replace(facts, optimal_set=Unknown(DEPENDENT))
    try:
        found = optimal_set(facts, columns, covered_candidates)
    except Unsettled as why:
        return replace(facts, optimal_set=Unknown(str(why)))
    known = replace(facts, optimal_set=found)
    return replace(known, vertices=Unlisted(LEVEL, final=True) if found.level else list_polytope(known))


def add_optimal_set(prover: Prover, facts: Facts, found: Found) -> Facts:
    """The facts with the optimal set, after an exact finish."""
    if not found.cover.ties:  # nothing ties: lambda is above lambda_max, which was not proved
        return replace(facts, optimal_set=Unknown("no neuron ties"))
    if facts.problem.n > MOST_BITS:
        return replace(facts, optimal_set=Unknown(LONG_PATTERNS))
    reason, near, exact = "", None, None
    plain = facts.problem.relu.bags is EACH
    if plain and found.cover.nodes <= FEW_NODES:
        exact = exact_facts(prover, facts, found)
        if exact is not None and exact.known:
            return with_vertices(exact)[0]
    for rows in _lifts(facts.problem, found.theta):
        try:
            tried = facts if not rows else _moved(facts, prover.moved(found, rows))
            near, final = with_vertices(replace(tried, optimal_set=optimal_set(tried, rows, covered_candidates)))
            if final:
                return near
            break
        except (Unsettled, Untied, Exhausted, Stuck, Missed) as why:
            reason = reason or str(why)
    if not plain:
        return near or replace(facts, optimal_set=Unknown(reason))
    if found.cover.nodes > FEW_NODES:
        exact = exact_facts(prover, facts, found)
        if exact is not None and exact.known:
            return with_vertices(exact)[0]
    exact = algebraic_facts(prover, facts, found)
    if exact is not None:
        return replace(with_vertices(exact)[0], shortest=shortest_weights(exact))
    return near or replace(facts, optimal_set=Unknown(reason))


def _moved(facts: Facts, found: Found) -> Facts:
    """The same network with another dual point."""
    dual = Dual(found.theta, found.cover)
    bounds = value(facts.problem, facts.lam, facts.primal, dual, facts.value.gap)
    return replace(facts, dual=dual, value=bounds, fit=fit(facts.problem, facts.primal, bounds))


def _lifts(problem: Problem, theta: Vector) -> Iterator[Matrix]:
    """The plain proof first; then the subspaces to which theta seems to be orthogonal."""
    yield ()
    fitted, ranges = orthogonal_rows(problem, np.array([float(x) for x in theta]), SEEMS_ZERO)
    for proposal in (fitted, ranges, (*fitted, *ranges)):
        if basis := independent(proposal):
            yield basis
