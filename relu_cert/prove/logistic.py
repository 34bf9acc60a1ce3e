"""The logistic loss, proved: lower <= p* <= upper in ball arithmetic (app:general-losses, labels in {-1, 1}).

    minimise   sum_k log(1 + exp(-y_k f_k)) + lambda sum_b |w_b|,   f = Xw

The paper's 1/2 L(f, y) is the sum here, so that its correlation vector c = -(1/2) X' grad L is X'theta* with
theta*_k = y_k / (1 + exp(y_k f_k)). If a_k = y_k theta_k is in [0, 1] and |Proj_{C_b}(X_b'theta)| <= lambda, then

    sum_k H(a_k) <= p*,    H(a) = -a log a - (1-a) log(1-a) = min over s of log(1 + exp(-s)) + a s.

Dual feasibility is that of the squares, with the same multipliers. Both sums are enclosed by Arb and rounded outwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, log2

import numpy as np
from flint import arb, ctx

from relu_cert.exact import Vector
from relu_cert.problem.problem import Problem
from relu_cert.prove.dual import feasible_dual
from relu_cert.prove.facts import Dual, Facts, Fit, LambdaMax, Primal, Unknown, Value
from relu_cert.prove.grid import binary_grid, from_grid, to_grid
from relu_cert.prove.prove import Propose, exact_neuron
from relu_cert.prove.value import primal
from relu_cert.rationals import to_fmpq
from relu_cert.refine.logistic import refine_logistic
from relu_cert.refine.refinement import Refined, RefinedNeuron
from relu_cert.solve.logistic import solve_logistic
from relu_cert.solve.prepare import FloatProblem

FLOAT_BITS = 56
MOST_BITS = 340  # the independent checker encloses logarithms to about 2^-380
WORKING_BITS = 480
UNSETTLED = "uniqueness is not examined for the logistic loss"


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
    theta = tuple(
        y * min(max(y * from_grid(to_grid(t, q), q), Fraction(0)), Fraction(1))
        for y, t in zip(problem.y, point.theta, strict=True)
    )
    dual = feasible_dual(problem, theta, q, lam, propose(np.array([float(x) for x in theta])))
    neurons = [exact_neuron(problem, n.sign, n.block, n.w, bits) for n in point.neurons]
    return enclosed_facts(problem, lam, largest, primal(problem, neurons), dual, gap)


def logistic_zero(problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction) -> Facts:
    """lambda >= lambda_max: zero is the solution, theta = y/2 proves it, and p* = n log 2."""
    if lam * lam < largest.squared:
        raise ValueError("zero is a solution only for lambda >= lambda_max")
    theta = tuple(y / 2 for y in problem.y)
    return enclosed_facts(problem, lam, largest, primal(problem, ()), Dual(theta, largest.multipliers), gap)


def enclose(problem: Problem, lam: Fraction, point: Primal, theta: Vector, gap: Fraction) -> Value:
    """lower <= p* <= upper, short rationals."""
    bits = min(MOST_BITS, 80 + (gap.denominator // gap.numerator).bit_length())
    with ctx.workprec(WORKING_BITS):
        scores = [_ball(y * f) for y, f in zip(problem.y, point.fit, strict=True)]
        loss = _total([_softplus(-s) for s in scores])
        penalty = _ball(lam * sum((neuron.norm for neuron in point.neurons), Fraction(0)))
        entropy = _total([_entropy(y * t) for y, t in zip(problem.y, theta, strict=True)])
        upper = -_below(-(loss + penalty), bits)
        lower = _below(entropy, bits)
    return Value(lower, upper, gap)


def enclosed_facts(
    problem: Problem, lam: Fraction, largest: LambdaMax, point: Primal, dual: Dual, gap: Fraction
) -> Facts:
    """The facts of a feasible point and a dual feasible one."""
    bounds = enclose(problem, lam, point, dual.theta, gap)
    ball = Fit(point.fit, (bounds.upper - bounds.lower) / 2)
    return Facts(problem, lam, largest, point, dual, bounds, ball, optimal_set=Unknown(UNSETTLED))


def _ball(x: Fraction) -> arb:
    return arb(to_fmpq(x))


def _total(balls: Sequence[arb]) -> arb:
    total = arb(0)
    for ball in balls:
        total += ball
    return total


def _softplus(s: arb) -> arb:
    """log(1 + exp(s)) without overflow"""
    if s > 0:
        return s + (-s).exp().log1p()
    return s.exp().log1p()


def _entropy(a: Fraction) -> arb:
    """H(a) for 0 <= a <= 1"""
    parts = [_ball(x) for x in (a, 1 - a) if x]
    return _total([-x * x.log() for x in parts])


def _below(x: arb, bits: int) -> Fraction:
    """A multiple of 2^-bits at or below the ball, less one unit for the checker's own rounding."""
    mantissa, exponent = (x * arb(2) ** bits).lower().mid().man_exp()  # `lower` is one number, man 2^exp
    whole = int(mantissa) << int(exponent) if exponent >= 0 else int(mantissa) >> -int(exponent)
    return Fraction(whole - 1, 1 << bits)
