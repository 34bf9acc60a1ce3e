"""The elastic variant, proved: 1/2|Xw - y|^2 + lambda sum|w_b| + delta/2 sum|w_b|^2 (eq:l2-penalized-cgl).

Every theta is dual feasible. With v_b = Proj_{C_b}(X_b'theta) and rational s_b >= |v_b|

    D(theta) = y.theta - 1/2|theta|^2 - 1/(2 delta) sum_b (s_b - lambda)_+^2 <= p*,

because theta.X_b w <= s_b |w| on C_b. The feasible point w_b = (1 - lambda/|v_b|)_+ v_b / delta of theta has the gap
1/2 |theta - (y - Xw)|^2, the square of what is missing: Newton steps with a float inverse gain as many digits as one
wants. All arithmetic here is rational; floats propose steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

import numpy as np

from relu_cert.clock import require_time
from relu_cert.exact import Scaled, Vector, norm_squared, sqrt_lower
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.facts import BlockMultipliers, Dual, ExactNeuron, Facts, LambdaMax
from relu_cert.prove.multipliers import on_grid, project
from relu_cert.prove.prove import facts_of, norm_upper, primal
from relu_cert.solve.proximal import ElasticPoint, solve_elastic

FLOAT_BITS = 60
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
    bits = FLOAT_BITS
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
    bits = max(FLOAT_BITS, digits + FLOAT_BITS)
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
