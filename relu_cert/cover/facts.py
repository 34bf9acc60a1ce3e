"""The facts about a ReLU network whose patterns are not listed: lambda_max, the optimum and the optimal set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt

import numpy as np

from relu_cert.bags import EACH
from relu_cert.clock import until
from relu_cert.cover.build import Exhausted, Missed, Stuck, dual_cover
from relu_cert.cover.exact_set import algebraic_facts, exact_facts
from relu_cert.cover.limits import Limits
from relu_cert.cover.lines import SignedLines, doubtful, lines_of, weights_of
from relu_cert.cover.prover import FACES, RADII, Covered, Prover, nearby
from relu_cert.cover.refine import RefineData
from relu_cert.cover.setting import CoverData
from relu_cert.cover.state import Serial
from relu_cert.cover.ties import (
    Untied,
    exact_shares,
    gradient_squared,
    longest_squared,
    near_direction,
    piece_squared,
    pieces_near,
    signs_at,
    ties_at,
    value_squared,
)
from relu_cert.cover.train import largest
from relu_cert.errors import Late, Unsettled
from relu_cert.evidence import Cover, Row, Tie
from relu_cert.exact import Matrix, Vector, scaled_rows, sqrt_upper
from relu_cert.free import DEPENDENT, outputs
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.candidates import Candidates, distinct, find_candidates, out_threshold_squared
from relu_cert.prove.classes import SEEMS_ZERO, Ball, has_biases, independent, is_stable, orthogonal_rows, size_squared
from relu_cert.prove.facts import Attained, Dual, ExactNeuron, Facts, LambdaMax, NeuronClass, UnknownSet
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.polytope.shortest import list_polytope, shortest_weights, with_vertices
from relu_cert.prove.projection import independent_rows, neuron_on_face
from relu_cert.prove.prove import facts_of, fit, primal, value
from relu_cert.solve.prepare import one_thread

SHORT = 10**6
NO_WEIGHT = "a neuron that ties is zero only at rows with zero residual"
ON_A_FACE = "with free biases a neuron on a face where pieces bend up is not settled"


def covered_candidates(
    problem: Problem, lam: Fraction, dual: Dual, ball: Ball, network: Sequence[ExactNeuron]
) -> Candidates:
    """All classes that may be active, where a cover proves the dual point; else as without one."""
    if not isinstance(dual.multipliers, Cover):
        return find_candidates(problem, lam, dual, ball, network)
    found = cover_classes(problem, lam, dual.multipliers, ball, network)
    return Candidates(distinct(found), ties=found)


def cover_classes(
    problem: Problem, lam: Fraction, cover: Cover, ball: Ball, network: Sequence[ExactNeuron]
) -> tuple[NeuronClass | None, ...]:
    """The classes, one for each tie, each stable over the ball, None where the piece is out; Unsettled otherwise."""
    Z = problem.relu.Z
    lines = lines_of(Z, has_biases(problem), problem.relu.bags)
    first: dict[int, int] = {}
    for k, c in enumerate(lines.line):
        first.setdefault(c, k)
    weights = {xi: weights_of(lines, ball.center, xi) for xi in (1, -1)}
    limit = out_threshold_squared(lam, size_squared(problem), ball.radius_squared)
    return tuple(
        None
        if _squared(weights[tie.xi], cover, tie) < limit
        else _class(problem, weights[tie.xi], first, tie, ball, network)
        for tie in cover.ties
    )


def _squared(weights: SignedLines, cover: Cover, tie: Tie) -> Fraction:
    if tie.shares is None:
        return gradient_squared(cover.basis, weights, tie)
    return piece_squared(weights, tie)


def _class(
    problem: Problem, weights: SignedLines, first: dict[int, int], tie: Tie, ball: Ball, network: Sequence[ExactNeuron]
) -> NeuronClass:
    Z, lines = problem.relu.Z, weights.lines
    through = [c for c, s in enumerate(signs_at(weights, tie.u)) if not s]
    side = [0 if c in set(through) else s for c, s in enumerate(tie.side)]
    on = [c >= 0 and a * side[c] > 0 for c, a in zip(lines.line, lines.multiple, strict=True)]
    kinks = sorted(first[c] for c in through)
    if tie.shares is None and has_biases(problem):
        raise Unsettled(ON_A_FACE)
    if tie.shares is None:
        basis = independent_rows(Z, kinks)
        fixed = (Fraction(0),) * (len(kinks) - len(basis))
        return NeuronClass(tie.xi, bit_string(on), None, tuple(kinks), basis, fixed=fixed, ray=True)
    weighty = [c for c in through if weights.w[c]]
    shares = {first[c]: Fraction(0) for c in through} | dict(zip([first[c] for c in weighty], tie.shares, strict=True))
    inside = [c for c in kinks if shares[c] not in (0, 1)]
    if has_biases(problem) and not inside:  # level: at an end of its interval of biases, or between
        if {c for c in through if weights.w[c]} & set(doubtful(weights, ball.radius_squared)):
            raise Unsettled(NO_WEIGHT)
        whole = {c for c in through if shares[first[c]] == 1}
        own = [o or c in whole for o, c in zip(on, lines.line, strict=True)]
        return NeuronClass(tie.xi, _level_pattern(own, weights, tie, network), None)
    short = {c: s.limit_denominator(SHORT) for c, s in shares.items()}
    sides = tuple((first[c], tie.side[c]) for c in weighty if weights.w[c] > 0)
    neuron = replace(neuron_on_face(Z, tie.xi, on, kinks, inside, short), sides=sides)
    if not is_stable(problem, neuron, ball):
        raise Unsettled("the face of a neuron is not settled")
    return neuron


def _level_pattern(on: Sequence[bool], weights: SignedLines, tie: Tie, network: Sequence[ExactNeuron]) -> str:
    """The pattern of a level neuron; at rows without weight, where the residual sees no side, that of the network,
    which may have neurons on both."""
    seen = [bool(weights.w[c]) for c in weights.lines.line]
    near = [
        one.pattern
        for one in network
        if one.pattern is not None
        and one.sign == tie.xi
        and all((bit == "1") == o for bit, o, s in zip(one.pattern, on, seen, strict=True) if s)
    ]
    own = bit_string(on)
    return near[0] if near and own not in near else own


LEVEL = "a neuron that is zero at no row can be split into several of other free biases"
MOST_BITS = 1_000_000  # of a pattern: longer ones make certificates that are too large to be read
FEW_NODES = 20_000  # so small a cover is built again at once where the optimum seems to be rational
LATE = "the limit of time was reached"
LONG_PATTERNS = "patterns of so many rows make a certificate that is too large"


def prove_lambda_max(given: CoverData, limits: Limits, *, proved: bool = True) -> LambdaMax:
    """lambda_max^2, or a square a tiny bit above it, by a cover for theta of the zero network; or, not `proved`, a
    square below it and what is always above."""
    theta = given.problem.loss.pull(given.y)
    with one_thread():
        _, xi, at = largest(given.task, np.random.default_rng(0))
        u = given.frame.T @ at
        for _ in range(8 if proved else 0):
            try:
                return _lambda_max_at(given, theta, limits, xi, u)
            except Missed as missed:
                xi, pull = missed.xi, given.task.loss(np.zeros(given.problem.n))[1]
                u = given.frame.T @ given.task.climb_near(xi * pull, (given.frame @ missed.u)[None])[0][0]
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
    N, q = network.integers
    (T,), p = scaled_rows([y])
    sizes = [isqrt(sum(x * x for x in z) << 128) + 1 for z in N]  # times 2^64 q
    total = sum(abs(t) * size for t, size in zip(network.bags.shares(np.array(T, dtype=object)), sizes, strict=True))
    return Fraction(int(total), p * q * network.bags.unit << 64) ** 2


def _lambda_max_at(given: CoverData, theta: Vector, limits: Limits, xi: int, u: np.ndarray) -> LambdaMax:
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


def _faces_near(data: RefineData, weights: SignedLines, u: np.ndarray) -> Iterator[Row]:
    """The maximisers on the faces of the lines that nearly pass through u."""
    for tolerance in FACES:
        try:
            yield near_direction(data, weights, u, tolerance)
        except Untied:
            continue


def _tops_of_pieces(data: RefineData, weights: SignedLines, xi: int, u: np.ndarray) -> Iterator[Row]:
    """The directions of the pieces around u, from close by to far away: floats may not have come to the top."""
    for radius in RADII:
        yield from (piece.u for piece in pieces_near(data, weights, xi, u, radius))


def covered_zero_facts(given: CoverData, lam: Fraction, top: LambdaMax, gap: Fraction) -> Facts:
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
    if len(facts.problem.relu.Z) > MOST_BITS:
        return replace(facts, optimal_set=UnknownSet(LONG_PATTERNS))
    if len(independent(columns)) < len(columns):
        return replace(facts, optimal_set=UnknownSet(DEPENDENT))
    try:
        found = optimal_set(facts, columns, covered_candidates)
    except Unsettled as why:
        return replace(facts, optimal_set=UnknownSet(str(why)))
    except Late:
        return replace(facts, optimal_set=UnknownSet(LATE))
    known = replace(facts, optimal_set=found)
    return replace(known, vertices=Unlisted(LEVEL, final=True) if found.level else list_polytope(known))


def add_optimal_set(prover: Prover, facts: Facts, found: Covered) -> Facts:
    """The facts with the optimal set, after an exact finish, if there is time for it."""
    try:
        return _with_optimal_set(prover, facts, found)
    except Late:
        return replace(facts, optimal_set=UnknownSet(LATE))


def _with_optimal_set(prover: Prover, facts: Facts, found: Covered) -> Facts:
    """The same; Late where there is none."""
    if not found.cover.ties:  # nothing ties: lambda is above lambda_max, which was not proved
        return replace(facts, optimal_set=UnknownSet("no neuron ties"))
    if len(facts.problem.relu.Z) > MOST_BITS:
        return replace(facts, optimal_set=UnknownSet(LONG_PATTERNS))
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
        return near or replace(facts, optimal_set=UnknownSet(reason))
    if found.cover.nodes > FEW_NODES:
        exact = exact_facts(prover, facts, found)
        if exact is not None and exact.known:
            return with_vertices(exact)[0]
    exact = algebraic_facts(prover, facts, found)
    if exact is not None:
        return replace(with_vertices(exact)[0], shortest=shortest_weights(exact))
    return near or replace(facts, optimal_set=UnknownSet(reason))


def _moved(facts: Facts, found: Covered) -> Facts:
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
