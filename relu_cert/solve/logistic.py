"""The logistic loss in float64: Newton's method, each step a least-squares problem with weighted rows.

    minimise   sum_k log(1 + exp(-y_k f_k)) + lambda sum_b |w_b|,    f = Xw,   y_k = +-1    (app:general-losses)

At a fit f let a_k = 1/(1 + exp(y_k f_k)) and h_k = a_k (1 - a_k). The loss has slope -y_k a_k and curvature h_k: its
quadratic model is 1/2 sum_k h_k (f_k' - z_k)^2 with z_k = f_k + y_k a_k / h_k, the same blocks with row k scaled by
sqrt(h_k) > 0, which changes no pattern and no cone. Where its solution is no better, a part of the way is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relu_cert.clock import require_time
from relu_cert.solve.oracle import Oracle, oracle_of
from relu_cert.solve.prepare import BlockArrays, FloatProblem, Floats, Neuron
from relu_cert.solve.solver import norm, solve

_IDLE = 12  # rounds without half the gap
_ROUGH = 1e-2  # the gap at the lambdas on the way
_HOPELESS = 0.99  # a gap that lower lambdas do not close
_LEAST = 1e-9  # curvatures below this are taken for this


@dataclass(frozen=True)
class LogisticSolution:
    """A network, and a dual point theta with 0 <= y_k theta_k <= 1 that is feasible up to rounding."""

    neurons: tuple[Neuron, ...]
    theta: Floats
    primal: float
    dual: float

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal"""
        return (self.primal - self.dual) / self.primal


def solve_logistic(data: FloatProblem, lam: float, tol: float = 1e-13) -> LogisticSolution:
    """The optimal network of the logistic loss at lambda, to a relative gap of `tol` if floats allow it.

    lambda is lowered from lambda_max by tens, each solution the start of the next. Far below, where curvatures are
    beyond doubles, nothing more is learnt, and the last solution is returned; it is feasible, and so is theta, scaled.
    """
    oracle = oracle_of(data)
    largest = oracle.price(0.5 * data.y, 0.0)[0]
    point = _Point((), np.zeros(len(data.y)))
    for power in range(1, int(np.floor(np.log10(max(largest / lam, 1.0)))) + 1):
        point, found = _minimise(data, oracle, largest * 0.1**power, point, _ROUGH)
        if found.relative_gap > _HOPELESS:
            return found
    return _minimise(data, oracle, lam, point, tol)[1]


def _minimise(
    data: FloatProblem, oracle: Oracle, lam: float, point: _Point, tol: float
) -> tuple[_Point, LogisticSolution]:
    """Newton steps from a point, until the gap is small or has not been halved for some rounds."""
    y = data.y
    best: LogisticSolution | None = None
    idle = 0
    while True:
        require_time()
        a = 1.0 / (1.0 + np.exp(np.minimum(y * point.fit, 700.0)))
        h = np.maximum(a * (1.0 - a), _LEAST)
        step = solve(_weighted_squares(data, h, point.fit + y * a / h), lam)
        fit = oracle.outputs(step.neurons).sum(axis=1) if step.neurons else np.zeros(len(y))
        point = _towards(y, lam, point, _Point(step.neurons, fit))
        proposal = y * np.clip(y * np.sqrt(h) * step.theta, 0.0, 1.0)
        top = oracle.price(proposal, 0.0)[0]
        theta = (min(1.0, lam / top) if top > 0.0 else 1.0) * proposal
        found = LogisticSolution(point.neurons, theta, _value(y, lam, point), _entropy(y * theta))
        idle = 0 if best is None or found.relative_gap < 0.5 * best.relative_gap else idle + 1
        if best is None or found.relative_gap < best.relative_gap:
            best = found
        if best.relative_gap <= tol or idle >= _IDLE:
            return point, best


@dataclass(frozen=True)
class _Point:
    """A network and its fit."""

    neurons: tuple[Neuron, ...]
    fit: Floats


def _towards(y: Floats, lam: float, old: _Point, new: _Point) -> _Point:
    """The first of the points old + t (new - old), t = 1, 1/2, 1/4, ..., that is better than the old one, if any is."""
    before = _value(y, lam, old)
    t = 1.0
    while t > 1e-6:
        kept = () if t == 1.0 else tuple(Neuron(n.sign, n.block, (1.0 - t) * n.w) for n in old.neurons)
        added = tuple(Neuron(n.sign, n.block, t * n.w) for n in new.neurons)
        mixed = _Point((*kept, *added), (1.0 - t) * old.fit + t * new.fit)
        value = _value(y, lam, mixed)
        if value < before or (t == 1.0 and value <= before * (1.0 + 1e-15)):
            return mixed
        t /= 2.0
    return old


def _value(y: Floats, lam: float, point: _Point) -> float:
    """sum log(1 + exp(-y_k f_k)) + lambda sum |w_b|; parts of one neuron count one by one, an upper bound."""
    return float(np.logaddexp(0.0, -y * point.fit).sum()) + lam * sum(norm(n.w) for n in point.neurons)


def _weighted_squares(data: FloatProblem, h: Floats, z: Floats) -> FloatProblem:
    """min 1/2 sum_k h_k (f_k - z_k)^2 + lambda sum_b |w_b| as a least-squares problem."""
    root = np.sqrt(h)
    arrays = data.arrays
    if isinstance(arrays, BlockArrays):
        return FloatProblem(root * z, BlockArrays(tuple(root[:, None] * X for X in arrays.X), arrays.K))
    return FloatProblem(root * z, replace(arrays, Z=root[:, None] * arrays.Z))


def _entropy(a: Floats) -> float:
    """sum H(a_k), H(a) = -a log a - (1-a) log(1-a)"""
    inside = a[(a > 0.0) & (a < 1.0)]
    return float(-(inside * np.log(inside) + (1.0 - inside) * np.log1p(-inside)).sum())
