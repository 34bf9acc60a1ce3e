"""The logistic loss over a list or blocks: lower <= p* <= upper (app:general-losses, labels in {-1, 1}).

    minimise   sum_k log(1 + exp(-y_k f_k)) + lambda sum_b |w_b|,   f = Xw

The paper's 1/2 L(f, y) is the sum here, so that its correlation vector c = -(1/2) X' grad L is X'theta* with
theta*_k = y_k / (1 + exp(y_k f_k)). Dual feasibility is that of the squares, with the same multipliers; bounds of both
values are those of problem.loss.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

import numpy as np

from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts, LambdaMax
from relu_cert.prove.multipliers import binary_grid, from_grid, to_grid
from relu_cert.prove.prove import Propose, exact_neuron
from relu_cert.prove.value import facts_of, feasible_dual, primal
from relu_cert.refine.refinement import Refined, RefinedNeuron, refine_logistic
from relu_cert.solve.logistic import solve_logistic
from relu_cert.solve.prepare import FloatProblem

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
