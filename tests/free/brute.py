"""The optimum of a network with free terms by another way: one convex program over all patterns, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns


def best(rows: Any, y: Sequence[Any], lam: float, free: Sequence[str]) -> float:
    """min 1/2 |sum xi D Z u + B c - y|^2 + lambda sum |u|, by Clarabel; `rows` have their column of ones."""
    exact = matrix(rows)
    Z, target = np.array(exact, dtype=float), np.array([float(x) for x in y])
    d = Z.shape[1]
    counted = d - 1 if "biases" in free else d
    fit, penalty, constraints = 0, 0, []
    for on in enumerate_patterns(exact).array().astype(float):
        for xi in (1, -1):
            u = cp.Variable(d)
            constraints.append(cp.multiply(2 * on - 1, Z @ u) >= 0)
            fit = fit + xi * cp.multiply(on, Z @ u)
            penalty = penalty + (cp.norm(u[:counted], 2) if counted else 0)
    if "output-bias" in free or "biases" in free:
        fit = fit + cp.Variable()
    if "skip" in free:
        fit = fit + Z @ cp.Variable(d)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(fit - target) + lam * penalty), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)
