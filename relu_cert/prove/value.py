"""The optimal value enclosed: lower <= p* <= upper, from one feasible point and one dual feasible point.

    lower = y.theta - 1/2 |theta|^2        upper = 1/2 |Xw - y|^2 + lambda sum_b norm_b,   norm_b >= |w_b|

P is strongly convex in the fit, so every solution's fit is within sqrt(2 (upper - lower)) of Xw (lemma:unique-fit-cgl).
With delta > 0 the upper bound has delta/2 sum |w_b|^2 more, the lower one sum (s_b - lambda)^2 / (2 delta) less, over
the blocks with |Proj(X_b'theta)| <= s_b, s_b > lambda. Another loss has its own values and dual values (problem.loss).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor

from flint import fmpq, fmpq_mat

from relu_cert.exact import Matrix, Vector, column, dot, norm_squared, sqrt_upper, to_fraction
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.direct import FloatBlocks
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import (
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
    block_multipliers,
    project,
    rounded_pieces,
    scale,
    scale_multipliers,
    sharpened,
)
from relu_cert.serialize import Sign

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
    used = tuple(_named(problem, neuron) for neuron in neurons if any(neuron.w))
    if used and isinstance(problem.blocks, FloatBlocks):
        return Primal(used, problem.blocks.fit((neuron.block or 0, neuron.w) for neuron in used))
    fit = fmpq_mat(problem.n, 1)
    for neuron in used:
        fit += output(problem, neuron)
    return Primal(used, tuple(to_fraction(x) for x in fit.entries()))


def _named(problem: Problem, neuron: ExactNeuron) -> ExactNeuron:
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
        piece if piece.length_squared <= NEARLY * lam * lam else sharpened(network.Z, t, q, piece, lam * lam)
        for piece in rounded_pieces(network, t, q, proposal)
    ]
    return tuple(p.multiplier for p in pieces), max(p.length_squared for p in pieces)
