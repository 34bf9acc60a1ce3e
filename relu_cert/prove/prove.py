"""From a float solution to exact facts.

The logistic loss over a list or blocks: lower <= p* <= upper (app:general-losses, labels in {-1, 1}).

    minimise   sum_k log(1 + exp(-y_k f_k)) + lambda sum_b |w_b|,   f = Xw

The paper's 1/2 L(f, y) is the sum here, so that its correlation vector c = -(1/2) X' grad L is X'theta* with
theta*_k = y_k / (1 + exp(y_k f_k)). Dual feasibility is that of the squares, with the same multipliers; bounds of both
values are those of problem.loss.

The optimal value enclosed: lower <= p* <= upper, from one feasible point and one dual feasible point.

    lower = y.theta - 1/2 |theta|^2        upper = 1/2 |Xw - y|^2 + lambda sum_b norm_b,   norm_b >= |w_b|

P is strongly convex in the fit, so every solution's fit is within sqrt(2 (upper - lower)) of Xw (lemma:unique-fit-cgl).
With delta > 0 the upper bound has delta/2 sum |w_b|^2 more, the lower one sum (s_b - lambda)^2 / (2 delta) less, over
the blocks with |Proj(X_b'theta)| <= s_b, s_b > lambda. Another loss has its own values and dual values (problem.loss).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, lcm, log2

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, column, dot, norm_squared, sqrt_upper, to_fraction
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.direct import FloatBlocks
from relu_cert.problem.networks import correlation, lengths_squared
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.classes import orthogonal_part
from relu_cert.prove.facts import (
    Attained,
    BlockMultipliers,
    Dual,
    ExactNeuron,
    Facts,
    Fit,
    LambdaMax,
    Multipliers,
    PieceMultiplier,
    PieceMultipliers,
    Primal,
    UnknownSet,
    Value,
)
from relu_cert.prove.multipliers import (
    PieceProposal,
    Proposals,
    binary_grid,
    block_multipliers,
    exact_multiplier,
    from_grid,
    project,
    rounded_pieces,
    scale,
    scale_multipliers,
    sharpen,
    to_grid,
)
from relu_cert.refine.refinement import Refined, RefinedNeuron, refine_logistic
from relu_cert.serialize import Sign
from relu_cert.solve.prepare import FloatProblem
from relu_cert.solve.solver import solve_logistic

HALF = Fraction(1, 2)


def norm_upper(w: Vector, bits: int) -> Fraction:
    """A short rational >= |w|, above it by about a relative 2^-bits; |w| itself where that is rational."""
    square = norm_squared(w)
    root = sqrt_upper(square, bits + 2)
    if root * root == square:
        return root
    exponent = root.numerator.bit_length() - root.denominator.bit_length()
    grid = Fraction(2) ** (bits + 1 - exponent)
    return (floor(root * grid) + 1) / grid


def relu_neuron(Z: Matrix, sign: Sign, w: Vector, bits: int) -> ExactNeuron:
    """The neuron xi (Zw)_+ with its pattern 1(Zw >= 0)."""
    return ExactNeuron(sign=sign, pattern=bit_string([dot(z, w) >= 0 for z in Z]), w=w, norm=norm_upper(w, bits))


def block_neuron(K: Matrix | None, block: int, w: Vector, bits: int) -> ExactNeuron:
    """The block w_b of a direct problem, moved into its cone exactly where rounding left it outside."""
    if K is not None and any(dot(column, w) > 0 for column in zip(*K, strict=True)):
        w = project(w, K)[1]
    return ExactNeuron(block=block, w=w, norm=norm_upper(w, bits))


def output(problem: Problem, neuron: ExactNeuron) -> fmpq_mat:
    """X_b w_b"""
    w = column(neuron.w)
    if neuron.block is not None:
        return problem.blocks[neuron.block].matrix * w
    heights = (problem.relu.matrix * w).entries()
    zero, pattern = fmpq(0), neuron.pattern or ""
    rows = fmpq_mat([[neuron.sign * x if on == "1" else zero] for x, on in zip(heights, pattern, strict=True)])
    return problem.relu.bags.pooled_matrix(rows)


def primal(problem: Problem, neurons: Sequence[ExactNeuron]) -> Primal:
    """The feasible point of these neurons (zero ones are left out), with its fit."""
    used = tuple(_with_sign_and_pattern(problem, neuron) for neuron in neurons if any(neuron.w))
    if used and isinstance(problem.blocks, FloatBlocks):
        return Primal(used, problem.blocks.fit((neuron.block or 0, neuron.w) for neuron in used))
    fit = fmpq_mat(problem.n, 1)
    for neuron in used:
        fit += output(problem, neuron)
    return Primal(used, tuple(to_fraction(x) for x in fit.entries()))


def _with_sign_and_pattern(problem: Problem, neuron: ExactNeuron) -> ExactNeuron:
    """A block of a network knows its sign and its pattern."""
    if problem.patterned is None or neuron.block is None:
        return neuron
    sign, pattern = problem.patterned.sign(neuron.block), problem.patterned.pattern(neuron.block)
    return replace(neuron, sign=sign, pattern=pattern)


def value(problem: Problem, lam: Fraction, point: Primal, dual: Dual, gap: Fraction) -> Value:
    """The interval that holds p*."""
    penalty, cost = lam * sum((neuron.norm for neuron in point.neurons), Fraction(0)), Fraction(0)
    if problem.delta:
        penalty += HALF * problem.delta * sum((norm_squared(neuron.w) for neuron in point.neurons), Fraction(0))
        cost = sum(((s - lam) ** 2 for _, s in dual.excess or ()), Fraction(0)) / (2 * problem.delta)
    upper = problem.loss.upper(problem.y, point.fit, penalty, gap)
    return Value(problem.loss.lower(problem.y, dual.theta, gap) - cost, upper, gap)


def fit(problem: Problem, point: Primal, bounds: Value) -> Fit:
    """The ball that holds the fit of every solution."""
    return Fit(point.fit, problem.loss.radius_squared(bounds.upper - bounds.lower))


def facts_of(
    problem: Problem, lam: Fraction, largest: LambdaMax, point: Primal, dual: Dual, gap: Fraction, reason: str = ""
) -> Facts:
    """The facts of a feasible point and a dual feasible one; `reason`: why the optimal set is not known."""
    bounds = value(problem, lam, point, dual, gap)
    unknown = UnknownSet(reason or problem.loss.unsettled)
    return Facts(problem, lam, largest, point, dual, bounds, fit(problem, point, bounds), optimal_set=unknown)


NEARLY = Fraction(999, 1000)  # pieces this near to lambda are solved exactly: a choice of effort, not of truth


def feasible_dual(problem: Problem, theta: Vector, q: int, lam: Fraction, proposals: Proposals | None) -> Dual:
    """theta (on the grid 1/q), shrunk until it is dual feasible for lambda, with its multipliers."""
    multipliers, longest_squared = dual_multipliers(problem, theta, q, lam, proposals)
    return shrink(Dual(theta, multipliers), longest_squared, lam)


def shrink(dual: Dual, longest_squared: Fraction, lam: Fraction) -> Dual:
    """The dual point times a short s, 0 < s <= 1, with s^2 longest^2 <= lambda^2, the largest one of its grid."""
    if longest_squared <= lam * lam:
        return dual
    precision = 16 + max(64, *((2 * abs(x.numerator)).bit_length() for x in dual.theta))
    ratio = lam / sqrt_upper(longest_squared, precision + 8)
    precision += max(0, ratio.denominator.bit_length() - ratio.numerator.bit_length())  # s = 0 would have other pieces
    s = Fraction(floor(ratio * (1 << precision)), 1 << precision)
    return Dual(scale(s, dual.theta), scale_multipliers(s, dual.multipliers))


def dual_multipliers(
    problem: Problem, theta: Vector, q: int, lam: Fraction, proposals: Proposals | None
) -> tuple[Multipliers, Fraction]:
    """Multipliers for theta, and the largest squared length max_b |X_b'theta - K_b rho_b|^2 that they prove."""
    network = problem.network
    if network is None or proposals is None:
        return block_multipliers(problem, theta, lam * lam)
    plus, longest_plus = _one_sign(network, theta, q, lam, proposals[1])
    minus, longest_minus = _one_sign(network, tuple(-x for x in theta), q, lam, proposals[-1])
    return PieceMultipliers(plus, minus), max(longest_plus, longest_minus)


def _one_sign(
    network: Network, t: Vector, q: int, lam: Fraction, proposal: PieceProposal
) -> tuple[tuple[PieceMultiplier, ...], Fraction]:
    pieces = [
        piece if piece.length_squared <= NEARLY * lam * lam else sharpen(network.Z, t, q, piece, lam * lam)
        for piece in rounded_pieces(network, t, q, proposal)
    ]
    return tuple(p.multiplier for p in pieces), max(p.length_squared for p in pieces)


Propose = Callable[[NDArray[np.float64]], Proposals | None]


def zero_facts(problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction) -> Facts:
    """lambda >= lambda_max: zero is the solution, and its theta proves it (squares: theta = y, p* = 1/2 |y|^2)."""
    if lam * lam < largest.squared:
        raise ValueError("zero is a solution only for lambda >= lambda_max")
    dual = Dual(problem.loss.pull(problem.y), largest.multipliers, () if problem.delta else None)
    return facts_of(problem, lam, largest, primal(problem, ()), dual, gap)


def prove(
    problem: Problem,
    lam: Fraction,
    largest: LambdaMax,
    gap: Fraction,
    neurons: Sequence[ExactNeuron],
    theta: Sequence[float | Fraction],
    propose: Propose,
    precision: int,
    lift: Matrix = (),
) -> Facts:
    """The facts that a feasible point (neurons) and a proposed dual point prove.

    The dual point is rounded to `precision` bits and made orthogonal to the lift, exactly.
    """
    q = binary_grid(theta, precision)
    rounded = orthogonal_part(tuple(from_grid(to_grid(x, q), q) for x in theta), lift)
    q = lcm(q, *(x.denominator for x in rounded))
    proposals = propose(np.array([float(x) for x in rounded]))
    dual = feasible_dual(problem, rounded, q, lam, proposals)
    return facts_of(problem, lam, largest, primal(problem, neurons), dual, gap)


def exact_neuron(problem: Problem, sign: Sign, block: int | None, w: Vector, bits: int) -> ExactNeuron:
    """A proposed neuron as an exact feasible one; `bits` is the accuracy of its norm."""
    if block is None:
        return relu_neuron(problem.relu.Z, sign, w, bits + 16)
    return block_neuron(problem.blocks[block].K, block, w, bits + 16)


def lambda_max(problem: Problem, proposals: Proposals | None) -> LambdaMax:
    """lambda_max^2 of the problem, with its evidence."""
    if problem.network is None or proposals is None:
        return _direct(problem)
    return _relu(problem.network, problem.y, proposals)


def half(largest: LambdaMax) -> LambdaMax:
    """lambda_max of the logistic loss: its gradient at zero is -y/2 where that of the squares is -y."""
    multipliers = scale_multipliers(Fraction(1, 2), largest.multipliers)
    return LambdaMax(largest.squared / 4, multipliers, largest.attained)


def _direct(problem: Problem) -> LambdaMax:
    blocks, y = problem.blocks, problem.y
    best, attained = Fraction(0), _at(problem, 0, (Fraction(0),) * len(correlation(blocks, 0, y)))
    rhos: dict[int, Vector] = {}
    lengths = lengths_squared(blocks, y)
    for b in sorted(range(len(lengths)), key=lambda b: -lengths[b]):
        if lengths[b] <= best:
            break  # |Proj(c)| <= |c|: the blocks that are left cannot do better
        v, K = correlation(blocks, b, y), blocks[b].K
        if K is not None:
            rho, v = project(v, K)
            rhos |= {b: rho} if any(rho) else {}
        if norm_squared(v) > best:
            best, attained = norm_squared(v), _at(problem, b, v)
    return LambdaMax(best, BlockMultipliers.of(blocks, rhos), attained)


def _at(problem: Problem, b: int, u: Vector) -> Attained:
    return Attained(pattern=problem.pattern(b), block=b, u=u)


def _relu(network: Network, y: Vector, proposals: Proposals) -> LambdaMax:
    q = lcm(*(y_k.denominator for y_k in y)) * binary_grid(y)
    sides = {xi: tuple(xi * y_k for y_k in y) for xi in (1, -1)}
    rounded = {xi: rounded_pieces(network, t, q, proposals[xi]) for xi, t in sides.items()}
    best, attained = Fraction(0), Attained(u=(Fraction(0),) * len(network.Z[0]))
    solved: dict[tuple[int, int], PieceMultiplier] = {}
    order = sorted(
        ((xi, i) for xi in sides for i in range(len(rounded[xi]))), key=lambda at: -rounded[at[0]][at[1]].length_squared
    )
    for xi, i in order:  # longest first, so that few have to be solved
        piece = rounded[xi][i]
        if piece.length_squared <= best:
            break
        solved[xi, i], v = exact_multiplier(network.Z, sides[xi], piece.base, piece.multiplier.rows)
        best, attained = _improve(network.Z, sides[xi], xi, v, (best, attained))
    parts = [tuple(solved.get((xi, i), piece.multiplier) for i, piece in enumerate(rounded[xi])) for xi in sides]
    return LambdaMax(best, PieceMultipliers(*parts), attained)


def _improve(Z: Matrix, t: Vector, xi: int, v: Vector, so_far: tuple[Fraction, Attained]) -> tuple[Fraction, Attained]:
    """The direction v, if t.(Zv)_+ = |v|^2 is larger than the best so far."""
    square = norm_squared(v)
    reached = sum((t_k * max(dot(z, v), Fraction(0)) for t_k, z in zip(t, Z, strict=True)), Fraction(0))
    return (square, Attained(xi, u=v)) if reached == square > so_far[0] else so_far


FLOAT_BITS = 56


def logistic_facts(
    problem: Problem, data: FloatProblem, lam: Fraction, largest: LambdaMax, gap: Fraction, propose: Propose
) -> Facts:
    """The facts at lambda < lambda_max: of a float solution, or of a refined one where the gap asks for it."""
    solution = solve_logistic(data, float(lam))
    neurons = tuple(RefinedNeuron(n.sign, n.block, tuple(Fraction(float(x)) for x in n.w)) for n in solution.neurons)
    point = Refined(tuple(Fraction(float(x)) for x in solution.theta), neurons, 0)
    best = _point_facts(problem, point, lam, largest, gap, propose, FLOAT_BITS)
    if best.value.reached:
        return best
    digits = len(str(gap.denominator // gap.numerator)) + 6
    refined = refine_logistic(problem, data, solution, lam, digits)
    if refined is None:
        return best
    bits = ceil(digits * log2(10)) + 16
    found = _point_facts(problem, refined, lam, largest, gap, propose, bits)
    return found if found.value.relative_gap < best.value.relative_gap else best


def _point_facts(
    problem: Problem, point: Refined, lam: Fraction, largest: LambdaMax, gap: Fraction, propose: Propose, bits: int
) -> Facts:
    """The facts that a proposed point proves; theta is rounded to so many bits, and 0 <= y_k theta_k <= 1."""
    q = binary_grid(point.theta, bits)
    theta = problem.loss.clip(problem.y, tuple(from_grid(to_grid(t, q), q) for t in point.theta))
    dual = feasible_dual(problem, theta, q, lam, propose(np.array([float(x) for x in theta])))
    neurons = [exact_neuron(problem, n.sign, n.block, n.w, bits) for n in point.neurons]
    return facts_of(problem, lam, largest, primal(problem, neurons), dual, gap)
