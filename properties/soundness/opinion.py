"""A second opinion on p*: an enclosure of its own, for every variant.

A solver of whole programs (cvxpy with Clarabel) proposes weights w in floats. Rounded to rationals and projected onto
the cones, exactly, they are feasible: P(w) >= p*. The dual point of w, made feasible by scaling, gives the lower bound;
roots and logarithms are enclosed by rationals. Nothing is shared with the certifier, so the two enclosures must meet.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np

from properties.exact import enclose
from properties.exact.cone import project
from properties.exact.enclose import Interval
from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dot,
    matvec,
    norm2,
    project_out,
    rref,
    scale,
    sub,
    total,
    transpose,
)
from properties.exact.problem import CGL, Weights
from properties.soundness.case import Answer, Case, NetworkCase

cp: Any = cvxpy  # typed in parts only
GRID = 2**40


Length = Callable[[Vector], Fraction]


def proposed(p: CGL, delta: Fraction, logistic: bool, B: Matrix = (), biases: bool = False) -> tuple[Weights, Vector]:
    """Feasible weights near the optimum, and coefficients of the free columns; zero where the solver has none."""
    y, lam = np.array([float(t) for t in p.y]), float(p.lam)
    weights = [cp.Variable(b.size) for b in p.blocks]
    pairs = list(zip(p.blocks, weights, strict=True))
    c = cp.Variable(max(len(B), 1))
    fit: Any = sum(np.array([[float(x) for x in row] for row in b.X]) @ w for b, w in pairs)
    if B:
        fit = fit + np.array([[float(x) for x in row] for row in B]).T @ c
    cones = [np.array([[float(x) for x in k] for k in b.K]) @ w <= 0 for b, w in pairs if b.K]
    loss = cp.sum(cp.logistic(-cp.multiply(y, fit))) if logistic else cp.sum_squares(fit - y) / 2
    penalty = sum(lam * cp.norm(w[:-1] if biases else w) + float(delta) / 2 * cp.sum_squares(w) for w in weights)
    try:
        cp.Problem(cp.Minimize(loss + penalty), cones).solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return tuple((Fraction(0),) * b.size for b in p.blocks), (Fraction(0),) * len(B)
    found = tuple(project(b.K, _rounded(w.value, b.size)) for b, w in pairs)
    return found, _rounded(c.value if B else None, len(B))


def _rounded(values: Any, size: int) -> Vector:
    if values is None:
        return (Fraction(0),) * size
    return tuple(Fraction(round(float(x) * GRID), GRID) if abs(x) > 1e-7 else Fraction(0) for x in values)


def enclosure(p: CGL, delta: Fraction, logistic: bool, B: Matrix = (), longest: Length | None = None) -> Interval:
    """lower <= p* <= upper; with free columns B, least squares: theta is made orthogonal to them. With free biases
    |w_b| leaves out its last entry, and `longest` says how long the longest dual vector is at most."""
    biases = longest is not None
    w, c = proposed(p, delta, logistic, B, biases)
    fit = total((matvec(b.X, wb) for b, wb in zip(p.blocks, w, strict=True)), p.n)
    fit = add(fit, combine(c, B, p.n))
    penalty = sum(
        (p.lam * enclose.root(norm2(wb[:-1] if biases else wb))[1] + delta / 2 * norm2(wb) for wb in w), Fraction(0)
    )
    if logistic:
        scores = [t * f for t, f in zip(p.y, fit, strict=True)]
        upper = enclose.total(enclose.softplus(-s) for s in scores)[1] + penalty
        theta = tuple(t * _grid(enclose.sigmoid(-s)[0]) for t, s in zip(p.y, scores, strict=True))
    else:
        upper = norm2(sub(p.y, fit)) / 2 + penalty
        theta = project_out(sub(p.y, fit), [B[j] for j in rref(transpose(B))[1]] if B else ())
    return _lower(p, delta, logistic, theta, longest), upper


def _grid(x: Fraction) -> Fraction:
    return Fraction(round(x * GRID), GRID)


def _lower(p: CGL, delta: Fraction, logistic: bool, theta: Vector, longest: Length | None) -> Fraction:
    """The dual value of theta, scaled to be feasible where delta = 0."""
    if longest is not None:
        lengths = [longest(theta)]
    else:
        lengths = [enclose.root(norm2(b.dual_vector(theta)))[1] for b in p.blocks]
    if delta:
        cost = sum(((s - p.lam) ** 2 / (2 * delta) for s in lengths if s > p.lam), Fraction(0))
        return dot(p.y, theta) - norm2(theta) / 2 - cost
    if (most := max(lengths)) > p.lam:
        theta = scale(p.lam / most, theta)
    if logistic:
        return enclose.total(enclose.entropy(min(t * y, Fraction(1))) for t, y in zip(theta, p.y, strict=True))[0]
    return dot(p.y, theta) - norm2(theta) / 2


def disagreement(answer: Answer) -> str:
    """Where the two enclosures of p* do not meet, or the fits are too far apart; "" if nowhere."""
    case: Case = answer.case
    B = case.columns if isinstance(case, NetworkCase) else ()
    low, high = enclosure(case.convex, case.delta, case.logistic, B)
    value = answer.facts.value
    if value.lower > high or value.upper < low:
        ours, theirs = [float(low), float(high)], [float(value.lower), float(value.upper)]
        return f"p* is in {ours} by a second opinion, in {theirs} by the certifier"
    return ""
