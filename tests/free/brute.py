"""The optimum of a network with free terms by another way: one convex program over all patterns, in floats."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns

COARSE = 1e-6


def best(
    rows: Any,
    y: Sequence[Any],
    lam: float,
    free: Sequence[str],
    *,
    logistic: bool = False,
    appended: bool = False,
    decay: float = 0.0,
) -> float:
    """min 1/2 |sum xi D Z u + B c - y|^2 + lambda sum |u|, by Clarabel; `rows` have their column of ones, and a skip
    connection has none of those that were `appended`; an output bias costs decay/2 c^2."""
    value, _, constraints = _program(rows, y, lam, free, logistic, appended=appended, decay=decay)
    return _solved(cp.Minimize(value), constraints)


def spread(rows: Any, y: Sequence[Any], lam: float, free: Sequence[str], g: Sequence[float]) -> float:
    """How far g.(sum xi u) goes over the networks that are optimal up to 1e-7: it is the same for the parts of a split
    neuron, and for the patterns of one on a face; so 0, or nearly, if the optimal network is unique."""
    return spread_of_some(rows, y, lam, free, [], g)


def spread_of_some(rows: Any, y: Sequence[Any], lam: float, free: Sequence[str], more: Any, g: Any) -> float:
    """The same for g.(sum u) over the neurons that are on at all rows of `more`, which are not data: it also sees
    weights that antipodal neurons exchange, though all networks are the same function."""
    value, total, constraints = _program(rows, y, lam, free, more=more)
    least = _solved(cp.Minimize(value), constraints)
    near = [*constraints, value <= least + 1e-7 * (1 + abs(least))]
    along = np.array(g) @ total
    return _solved(cp.Maximize(along), near) - _solved(cp.Minimize(along), near)


def _solved(aim: Any, constraints: list[Any]) -> float:
    problem = cp.Problem(aim, constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a solution is right to fewer digits than Clarabel aims at
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.SolverError:  # it stands still before its default digits
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=COARSE, tol_gap_rel=COARSE, tol_feas=COARSE)
    return float(problem.value)


def _program(
    rows: Any,
    y: Sequence[Any],
    lam: float,
    free: Sequence[str],
    logistic: bool = False,
    more: Any = (),
    appended: bool = False,
    decay: float = 0.0,
) -> tuple[Any, Any, list[Any]]:
    """The objective, the cones, and between them sum xi u over the neurons that are on at `more`, too."""
    exact = matrix([*rows, *more])
    every, target = np.array(exact, dtype=float), np.array([float(x) for x in y])
    n, d = len(rows), every.shape[1]
    Z = every[:n]
    counted = d - 1 if "biases" in free else d
    fit, penalty, total, constraints = 0, 0, 0, []
    for on in enumerate_patterns(exact).array().astype(float):
        for xi in (1, -1):
            u = cp.Variable(d)
            constraints.append(cp.multiply(2 * on - 1, every @ u) >= 0)
            fit = fit + xi * cp.multiply(on[:n], Z @ u)
            total = total + (xi * u if on[n:].all() else 0 * u)
            penalty = penalty + (cp.norm(u[:counted], 2) if counted else 0)
    if "output-bias" in free or "biases" in free:
        c = cp.Variable()
        fit, penalty = fit + c, penalty + decay / (2 * lam) * c**2
    if "skip" in free:
        inputs = Z[:, : d - appended]
        fit = fit + inputs @ cp.Variable(inputs.shape[1])
    loss = cp.sum(cp.logistic(-cp.multiply(target, fit))) if logistic else 0.5 * cp.sum_squares(fit - target)
    return loss + lam * penalty, total, constraints


def unique_on_a_line(x: Sequence[int], r: Sequence[Fraction], y: Sequence[int], lam: Fraction) -> tuple[bool, int]:
    """Whether the optimal network with free biases on one feature is unique, and how many neurons with kinks can have
    weight, from its residual to many digits. The neurons (x - a)_+ and (a - x)_+ at data points that tie are tried in a
    linear program; it is not unique if a weight is not, if a linear one has weight, or two next to each other have:
    then one between them can take their place."""
    tied = []
    for xi, s in product((1, -1), repeat=2):
        kinks = sorted({-s * a for a in x})
        for i, b in enumerate(kinks):
            q = [xi * max(s * a + b, 0) for a in x]
            if sum((p * t for p, t in zip(q, r, strict=True)), Fraction(0)) > lam * (1 - Fraction(1, 10**20)):
                tied.append((xi, s, i, i == len(kinks) - 1, q))
    ones = np.ones((len(x), 1))
    A = np.hstack([np.array([q for *_, q in tied], dtype=float).reshape(-1, len(x)).T, ones, -ones])
    fit = np.array([float(a - t) for a, t in zip(y, r, strict=True)])
    ends = []
    for j in range(len(tied)):
        e = np.eye(len(A[0]))[j]
        ends.append([s * linprog(s * e, A_eq=A, b_eq=fit, method="highs").fun for s in (1, -1)])
    some = {one[:3] for one, (_, most) in zip(tied, ends, strict=True) if most > 1e-6}
    linear = any(last and one in some for *one_, last, _ in tied for one in [tuple(one_)])
    beside = any((xi, s, i + 1) in some for xi, s, i in some)
    return not (linear or beside or any(most - least > 1e-6 for least, most in ends)), len(some)
