"""The optimum of a problem over a list or over blocks: solve in floats, refine, prove.

A refined point proposes a dual point and neurons. A rational optimum near it is guessed and proved exactly; else the
optimal set is proved over the ball that the duality gap leaves, plainly or with one of the proposed lifts. More digits
make the ball smaller; they never change what is true. Where ties are exact no ball settles them: then an optimum in a
field of algebraic numbers is guessed, from many digits, and proved exactly.

The dual point of a network with free terms, over a list of patterns.

Free outputs ask for theta orthogonal to them, and nothing else. Free biases ask for multipliers with m.1 = 0, too:
then m.Zu = (X'm).w, whatever the bias is. They are found with the column of ones times a large number, and moved to the
sum 0 exactly: a row of P where the piece is on may have more than t_k, one where it is off less than 0. On the pieces
where all rows of P are on, or off, the sum leaves no choice: m = t, or m = 0.

The elastic variant, proved: 1/2|Xw - y|^2 + lambda sum|w_b| + delta/2 sum|w_b|^2 (eq:l2-penalized-cgl).

Every theta is dual feasible. With v_b = Proj_{C_b}(X_b'theta) and rational s_b >= |v_b|

    D(theta) = y.theta - 1/2|theta|^2 - 1/(2 delta) sum_b (s_b - lambda)_+^2 <= p*,

because theta.X_b w <= s_b |w| on C_b. The feasible point w_b = (1 - lambda/|v_b|)_+ v_b / delta of theta has the gap
1/2 |theta - (y - Xw)|^2, the square of what is missing: Newton steps with a float inverse gain as many digits as one
wants. All arithmetic here is rational; floats propose steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, lcm, log2

import numpy as np
from numpy.typing import NDArray

from relu_cert.clock import require_time
from relu_cert.errors import DataError, Unsettled
from relu_cert.exact import Matrix, Scaled, Vector, norm_squared, scaled_rows, sqrt_lower, sqrt_upper
from relu_cert.free import orthogonal, outputs
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.networks import widest_squared
from relu_cert.problem.problem import Block, Network, Problem
from relu_cert.prove.classes import proposed_lifts
from relu_cert.prove.exact_optimum import algebraic_set, exact_facts, guesses
from relu_cert.prove.facts import (
    BlockMultipliers,
    Dual,
    ExactNeuron,
    Facts,
    LambdaMax,
    PieceMultiplier,
    PieceMultipliers,
    UnknownSet,
)
from relu_cert.prove.field import guessed_residual
from relu_cert.prove.multipliers import (
    Bounded,
    PieceProposal,
    Proposals,
    binary_grid,
    from_grid,
    on_grid,
    project,
    rounded_pieces,
    sharpen,
    to_grid,
)
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.polytope.shortest import shortest_weights, with_vertices
from relu_cert.prove.prove import (
    NEARLY,
    exact_neuron,
    facts_of,
    feasible_dual,
    half,
    lambda_max,
    logistic_facts,
    norm_upper,
    primal,
    prove,
    shrink,
    zero_facts,
)
from relu_cert.refine import refine
from relu_cert.solve import FloatProblem, Solution, multipliers, prepare, solve
from relu_cert.solve.proximal import ElasticPoint, solve_elastic

ELASTIC_BITS = 60
MOST_STEPS = 40


@dataclass(frozen=True)
class _Trial:
    """What one theta proves, and what is missing: theta - (y - Xw)."""

    facts: Facts
    missing: Vector


def elastic_facts(problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction) -> Facts:
    """The facts about the elastic problem at lambda < lambda_max; blocks must be written out."""
    point = solve_elastic(problem, float(lam))
    theta: Vector = tuple(Fraction(float(x)) for x in point.r)
    best: Facts | None = None
    bits = ELASTIC_BITS
    for _ in range(MOST_STEPS):
        require_time()
        trial = _try(problem, lam, largest, gap, theta, point, bits)
        worse = best is not None and trial.facts.value.relative_gap >= best.value.relative_gap
        if best is None or not worse:
            best = trial.facts
        if best.value.reached or worse:
            return best
        theta, bits = _step(theta, trial.missing, point)
    return best if best is not None else trial.facts


def _step(theta: Vector, missing: Vector, point: ElasticPoint) -> tuple[Vector, int]:
    """A Newton step with the float Hessian, and the bits that its point deserves: twice the digits of the step."""
    size = max(abs(x) for x in missing)
    scaled = np.array([float(x / size) for x in missing])
    step = [size * Fraction(float(x)) for x in point.newton(scaled)]
    moved = tuple(t - x for t, x in zip(theta, step, strict=True))
    largest = max((abs(x) for x in moved), default=Fraction(1)) or Fraction(1)
    ratio = largest / size
    digits = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    bits = max(ELASTIC_BITS, digits + ELASTIC_BITS)
    return on_grid([moved], bits)[0], bits


def _try(
    problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction, theta: Vector, point: ElasticPoint, bits: int
) -> _Trial:
    """The facts of theta and of the feasible point that belongs to it."""
    precision = 2 * bits + 32 + max(0, ceil(log2(float(1 + lam / problem.delta))))
    rhos: list[Vector | None] = []
    excess: list[tuple[int, Fraction]] = []
    neurons: list[ExactNeuron] = []
    scaled = Scaled.of(theta)
    for b, (block, kinks) in enumerate(zip(problem.blocks, point.kinks, strict=True)):
        rho, v = project_if_long(block, scaled, lam * lam, kinks)
        rhos.append(rho)
        square = norm_squared(v)
        if square > lam * lam:
            excess.append((b, norm_upper(v, precision)))
            weight = _round_bits((1 - lam / sqrt_lower(square, precision)) / problem.delta, precision)
            if weight > 0:
                w = tuple(weight * x for x in v)
                neurons.append(ExactNeuron(block=b, w=w, norm=norm_upper(w, precision)))
    point_found = primal(problem, neurons)
    dual = Dual(theta, BlockMultipliers(tuple(rhos)), tuple(excess))
    facts = facts_of(problem, lam, largest, point_found, dual, gap)
    missing = [t - y + f for t, y, f in zip(theta, problem.y, point_found.fit, strict=True)]
    return _Trial(facts, tuple(missing))


def project_if_long(
    block: Block, theta: Scaled, enough: Fraction, kinks: Sequence[int] = ()
) -> tuple[Vector | None, Vector]:
    """rho (None: 0) and v = X'theta - K rho: the projection where |X'theta|^2 > enough, else X'theta itself."""
    c = block.correlation(theta)
    if block.K is None or norm_squared(c) <= enough:
        return None, c
    rho, v = project(c, block.K, kinks)
    return (rho if any(rho) else None), v


def _round_bits(x: Fraction, precision: int) -> Fraction:
    """x to so many bits."""
    if x <= 0:
        return Fraction(0)
    return on_grid([[x]], precision)[0][0]


FLOAT_BITS, FLOAT_DIGITS = 52, 14
REFINED_DIGITS = 40
MOST_DIGITS = 150
FIELD_DIGITS = (250, 800, 2400)  # a field of large degree, or with long coefficients, needs many
SPARE_MOVES = 1 << 6  # units of the grid, for what Newton's method leaves
HALF = Fraction(1, 2)
THOROUGH = 0.99  # pieces below this part of lambda need no sharper multiplier


@dataclass(frozen=True)
class Proposal:
    """A dual point and neurons, right to about so many digits."""

    theta: Vector
    neurons: tuple[ExactNeuron, ...]
    digits: int
    bits: int


@dataclass(frozen=True)
class Goal:
    """The problem at lambda, its float solver, and the gap that is asked for."""

    problem: Problem
    floats: FloatProblem
    lam: Fraction
    largest: LambdaMax
    gap: Fraction


def refine_and_prove(goal: Goal, solution: Solution) -> Facts:
    """The facts of the first point that settles everything, or the best there are, with the reason."""
    best: Facts | None = None
    for point in _points(goal, solution):
        exact = _exact_facts(goal, point)
        facts, final = with_vertices(exact) if exact is not None else _ball_facts(goal, point)
        if facts.value.reached and not facts.unsettled and final:
            return facts
        if best is None:  # ties that are exact stay so, whatever the number of digits
            algebraic = _algebraic_facts(goal, solution, facts)
            if algebraic is not None and algebraic.value.reached and algebraic.polytope is not None:
                return algebraic
            best = algebraic if algebraic is not None and _rank(algebraic) > _rank(facts) else facts
        elif _rank(facts) > _rank(best):
            best = facts
    if best is None:
        raise ValueError("the float point is always tried")
    return best


def propose(floats: FloatProblem, theta: NDArray[np.float64], lam: float) -> Proposals | None:
    """Float multipliers for the pieces of a ReLU problem; the others need none."""
    found = multipliers(floats, theta, lam)
    return None if found is None else {xi: found[xi] for xi in (1, -1)}


def _points(goal: Goal, solution: Solution) -> Iterator[Proposal]:
    """Refined points of more and more digits; the float point where refining fails."""
    wanted = _digits_for(goal.gap)
    for digits in sorted({max(REFINED_DIGITS, min(wanted, MOST_DIGITS)), MOST_DIGITS}):
        refined = refine(goal.problem, solution, goal.lam, digits, goal.floats)
        correct = digits if not refined.reason else FLOAT_DIGITS
        neurons = [(n.sign, n.block, n.w) for n in refined.neurons]
        yield _point(goal.problem, refined.theta, neurons, correct)
        if refined.reason:
            return


def _point(problem: Problem, theta: Vector, neurons: list[tuple[int, int | None, Vector]], digits: int) -> Proposal:
    bits = FLOAT_BITS if digits == FLOAT_DIGITS else ceil(digits * log2(10)) + 16
    return Proposal(theta, tuple(exact_neuron(problem, *neuron, bits) for neuron in neurons), digits, bits)


def _digits_for(gap: Fraction) -> int:
    """Digits of a point whose gap will be below the one asked for (a few to spare)."""
    return len(str(gap.denominator // gap.numerator)) + 4


def _exact_facts(goal: Goal, point: Proposal) -> Facts | None:
    """The facts of a rational optimum near the point, if there is one."""
    q = goal
    for guess in guesses(point.theta, point.digits):
        proposals = propose(q.floats, np.array([float(x) for x in guess]), float(q.lam))
        facts = exact_facts(q.problem, q.lam, q.largest, q.gap, guess, proposals)
        if facts is not None:
            return facts
    return None


def _algebraic_facts(goal: Goal, solution: Solution, facts: Facts) -> Facts | None:
    """The facts of an optimum in a field of algebraic numbers, near the dual point of the facts, if there is one."""
    q = goal
    for digits in FIELD_DIGITS:
        refined = refine(q.problem, solution, q.lam, digits, q.floats)
        if refined.reason:
            return None
        residual = guessed_residual(q.problem.y, q.lam, refined.theta, digits)
        if residual is None:
            continue
        try:
            found = algebraic_set(facts, residual)
        except Unsettled:
            continue
        if found is not None:
            exact = replace(facts, optimal_set=found)
            return replace(with_vertices(exact)[0], shortest=shortest_weights(exact))
    return None


def _ball_facts(goal: Goal, point: Proposal) -> tuple[Facts, bool]:
    """The facts of the point, with the optimal set if a lift settles it; else those of the plain proof."""
    q = goal
    plain: Facts | None = None
    unlisted: Facts | None = None
    reason = ""
    theta = _inside(q, point)
    for lift in proposed_lifts(q.problem, np.array([float(x) for x in point.theta])):
        facts = prove(
            q.problem,
            q.lam,
            q.largest,
            q.gap,
            point.neurons,
            theta,
            lambda theta: propose(q.floats, theta, THOROUGH * float(q.lam)),
            point.bits,
            lift,
        )
        plain = plain or facts
        try:
            found, final = with_vertices(replace(facts, optimal_set=optimal_set(facts, lift)))
        except Unsettled as why:
            reason = str(why)
            continue
        if final:
            return found, True
        unlisted = unlisted or found  # another lift may list its vertices
    if unlisted is not None:
        return unlisted, False
    if plain is None:
        raise ValueError("the plain proof is always tried")
    return replace(plain, optimal_set=UnknownSet(reason)), False


def _inside(goal: Goal, point: Proposal) -> Vector:
    """The point's theta. For blocks that are given directly it is drawn in by what rounding to its grid may move
    |X_b'theta|: then the rounded point is feasible as it stands, and need not be shrunk, which doubles its digits."""
    problem, size = goal.problem, max(map(abs, point.theta), default=Fraction(0))
    if problem.network is not None or point.digits == FLOAT_DIGITS or not problem.blocks or not size:
        return point.theta
    moved = sqrt_upper(widest_squared(problem.blocks) * problem.n, 8) * size / goal.lam
    margin = (moved + SPARE_MOVES) / (1 << point.bits)
    return tuple((1 - margin) * x for x in point.theta) if margin < HALF else point.theta


def _rank(facts: Facts) -> tuple[bool, bool, bool, Fraction]:
    """More settled, then a smaller gap."""
    return not facts.unsettled, facts.value.reached, facts.polytope is not None, -facts.value.relative_gap


LARGEST = Fraction(10**300)
TOO_LARGE = "the data, lambda or delta are beyond the range of doubles (squares of about 1e300); scale them down."
TOO_SMALL = "the data, lambda or delta are too small for doubles (squares of about 1e-300); scale them up."


def listed_lambda_max(problem: Problem) -> LambdaMax:
    """lambda_max, exactly."""
    floats = prepare(problem)
    largest = lambda_max(problem, propose(floats, np.array([float(x) for x in problem.y]), 0.0))
    return half(largest) if problem.loss is LOGISTIC else largest


def listed_facts(problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction) -> Facts:
    """The facts at lambda."""
    if lam * lam >= largest.squared:
        return zero_facts(problem, lam, largest, gap)
    if problem.delta:
        require_in_range(problem.delta, lam / problem.delta)
        return elastic_facts(problem, lam, largest, gap)
    floats = prepare(problem)
    if problem.loss is LOGISTIC:
        proposed = partial(propose, floats, lam=THOROUGH * float(lam))
        return logistic_facts(problem, floats, lam, largest, gap, proposed)
    solution = solve(floats, float(lam))
    if not solution.neurons:  # just below lambda_max zero has a tiny gap, but is not optimal
        solution = solve(floats, float(lam), tol=0.0)
    return refine_and_prove(Goal(problem, floats, lam, largest, gap), solution)


def require_data_in_range(problem: Problem) -> None:
    """Refuse data beyond the doubles: nothing could be proposed."""
    zero = Fraction(0)
    if (source := problem.source) is not None:
        largest = max((abs(x) for row in source.Z for x in row), default=zero)
    else:
        largest = max((block.largest for block in problem.blocks), default=zero)
    require_in_range(largest, largest * max(map(abs, problem.y), default=zero))


def require_in_range(*sizes: Fraction) -> None:
    """Refuse sizes whose squares, which the solver needs, are beyond the doubles."""
    for size in sizes:
        if size * size >= LARGEST:
            raise DataError(TOO_LARGE)
        if 0 < size * size * LARGEST <= 1:
            raise DataError(TOO_SMALL)


BITS = 60
IN_FLOATS, EXACTLY = 2**6, 2**40  # the column of ones times this


def listed_dual(problem: Problem, network: Network, theta: Sequence[float], lam: Fraction) -> Dual:
    """theta, made orthogonal to the free outputs and shrunk until the multipliers of all pieces prove it."""
    q = binary_grid(theta, BITS)
    near = tuple(from_grid(to_grid(x, q), q) for x in theta)
    point = orthogonal(outputs(problem), near, problem.loss.widest(problem.y, near))
    q = lcm(q, *(x.denominator for x in point))
    floats = np.array([float(x) for x in point])
    if "biases" not in problem.free:
        return feasible_dual(problem, point, q, lam, propose(prepare(problem), floats, THOROUGH * float(lam)))
    scaled = replace(problem, network=_scale_ones(network, IN_FLOATS))
    proposals = propose(prepare(scaled), floats, THOROUGH * float(lam))
    if proposals is None:
        raise ValueError("a ReLU problem has proposals for its pieces")
    X = tuple(z[:-1] for z in network.Z)
    sides, longest = [], Fraction(0)
    for xi in (1, -1):
        t = tuple(xi * x for x in point)
        pieces = _pieces(network, X, t, q, lam * lam, proposals[xi])
        sides.append(tuple(piece.multiplier for piece in pieces))
        longest = max(longest, *(piece.length_squared for piece in pieces))
    return shrink(Dual(point, PieceMultipliers(*sides)), longest, lam)


def _pieces(network: Network, X: Matrix, t: Vector, q: int, most: Fraction, proposal: PieceProposal) -> list[Bounded]:
    """The multiplier of every piece, with the sum 0, sharpened where it comes near to lambda."""
    far = _scale_ones(network, EXACTLY)
    found = []
    for piece in rounded_pieces(network, t, q, proposal):
        moved = _move_to_zero_sum(X, t, piece)
        if moved.length_squared > NEARLY * most:
            long = replace(piece, length_squared=most * EXACTLY)  # whatever is found is shorter
            sharper = _move_to_zero_sum(X, t, sharpen(far.Z, t, q, long, most))
            moved = min(moved, sharper, key=lambda one: one.length_squared)
        found.append(moved)
    return found


def _move_to_zero_sum(X: Matrix, t: Vector, piece: Bounded) -> Bounded:
    """The multiplier with the sum 0, and |X'm|^2."""
    base, by = piece.base, piece.multiplier
    m = [t_k if on else Fraction(0) for t_k, on in zip(t, base, strict=True)]
    for k, x in zip(by.rows, by.values, strict=True):
        m[k] = x
    on = [k for k, t_k in enumerate(t) if t_k > 0 and base[k]]
    off = [k for k, t_k in enumerate(t) if t_k > 0 and not base[k]]
    if not off:
        m = list(t)
    elif not on:
        m = [Fraction(0)] * len(t)
    elif total := sum(m, Fraction(0)):
        k = min(off if total > 0 else on, key=lambda k: float(norm_squared(X[k])))
        m[k] -= total
    rows = tuple(k for k, m_k in enumerate(m) if m_k != (t[k] if base[k] else 0))
    (M,), q = scaled_rows([tuple(m)])
    N, p = scaled_rows(X)
    lengths = (sum(a * b for a, b in zip(M, column, strict=True)) for column in zip(*N, strict=True))
    length = Fraction(sum(x * x for x in lengths), (p * q) ** 2)
    return Bounded(PieceMultiplier(by.base, rows, tuple(m[k] for k in rows)), length)


def _scale_ones(network: Network, by: int) -> Network:
    """The same patterns, with the column of ones times a number."""
    return Network(tuple((*z[:-1], by * z[-1]) for z in network.Z), network.all)
