"""The optimum of a network with free terms by another way: one convex program over all patterns, in floats."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns


def best(rows: Any, y: Sequence[Any], lam: float, free: Sequence[str], *, logistic: bool = False) -> float:
    """min 1/2 |sum xi D Z u + B c - y|^2 + lambda sum |u|, by Clarabel; `rows` have their column of ones."""
    value, _, constraints = _program(rows, y, lam, free, logistic)
    return _solved(cp.Minimize(value), constraints)


def spread(rows: Any, y: Sequence[Any], lam: float, free: Sequence[str], g: Sequence[float]) -> float:
    """How far g.(sum xi u) goes over the networks that are optimal up to 1e-7: it is the same for the parts of a split
    neuron, and for the patterns of one on a face; so 0, or nearly, if the optimal network is unique."""
    value, total, constraints = _program(rows, y, lam, free)
    least = _solved(cp.Minimize(value), constraints)
    near = [*constraints, value <= least + 1e-7 * (1 + abs(least))]
    along = np.array(g) @ total
    return _solved(cp.Maximize(along), near) - _solved(cp.Minimize(along), near)


def _solved(aim: Any, constraints: list[Any]) -> float:
    problem = cp.Problem(aim, constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a solution is right to fewer digits than Clarabel aims at
        problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def _program(
    rows: Any, y: Sequence[Any], lam: float, free: Sequence[str], logistic: bool = False
) -> tuple[Any, Any, list[Any]]:
    """The objective, sum xi u, and the cones."""
    exact = matrix(rows)
    Z, target = np.array(exact, dtype=float), np.array([float(x) for x in y])
    d = Z.shape[1]
    counted = d - 1 if "biases" in free else d
    fit, penalty, total, constraints = 0, 0, 0, []
    for on in enumerate_patterns(exact).array().astype(float):
        for xi in (1, -1):
            u = cp.Variable(d)
            constraints.append(cp.multiply(2 * on - 1, Z @ u) >= 0)
            fit = fit + xi * cp.multiply(on, Z @ u)
            total = total + xi * u
            penalty = penalty + (cp.norm(u[:counted], 2) if counted else 0)
    if "output-bias" in free or "biases" in free:
        fit = fit + cp.Variable()
    if "skip" in free:
        fit = fit + Z @ cp.Variable(d)
    loss = cp.sum(cp.logistic(-cp.multiply(target, fit))) if logistic else 0.5 * cp.sum_squares(fit - target)
    return loss + lam * penalty, total, constraints
