"""The logistic loss in float64: Newton's method, each step a least-squares problem with weighted rows.

    minimise   sum_k log(1 + exp(-y_k f_k)) + lambda sum_b |w_b|,    f = Xw,   y_k = +-1    (app:general-losses)

At a fit f let a_k = 1/(1 + exp(y_k f_k)) and h_k = a_k (1 - a_k). The loss has slope -y_k a_k and curvature h_k: its
quadratic model is 1/2 sum_k h_k (f_k' - z_k)^2 with z_k = f_k + y_k a_k / h_k, the same blocks with row k scaled by
sqrt(h_k) > 0, which changes no pattern and no cone. Where a Newton step does not improve, h = 1/4, an upper bound of
all curvatures, gives a step that does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relu_cert.solve.model import Floats, Neuron, Solution
from relu_cert.solve.oracle import oracle_of
from relu_cert.solve.prepare import BlockArrays, FloatProblem
from relu_cert.solve.solver import norm, solve

_ROUNDS = 60
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
    """The optimal network of the logistic loss at lambda, to a relative gap of `tol` if floats allow it."""
    oracle = oracle_of(data)
    y = data.y
    f = np.zeros(len(y))
    value = len(y) * float(np.log(2.0))
    warm: Solution | None = None
    best: LogisticSolution | None = None
    idle = 0
    for _ in range(_ROUNDS):
        a = 1.0 / (1.0 + np.exp(np.minimum(y * f, 700.0)))
        for h in (np.maximum(a * (1.0 - a), _LEAST), np.full(len(y), 0.25)):
            step = solve(_weighted(data, h, f + y * a / h), lam, warm=warm)
            fit = oracle.outputs(step.neurons).sum(axis=1) if step.neurons else np.zeros(len(y))
            tried = _value(y * fit, lam, step.neurons)
            if tried <= value * (1.0 + 1e-15):
                break
        theta = _feasible(oracle.price(np.sqrt(h) * step.theta, 0.0)[0], lam, np.sqrt(h) * step.theta, y)
        found = LogisticSolution(step.neurons, theta, tried, _entropy(y * theta))
        if best is None or found.relative_gap < 0.5 * best.relative_gap:
            idle = 0
        else:
            idle += 1
        if best is None or found.relative_gap < best.relative_gap:
            best = found
        if best.relative_gap <= tol or idle >= 4:
            break
        f, value, warm = fit, min(tried, value), step
    if best is None:
        raise ValueError("at least one round is made")
    return best


def _weighted(data: FloatProblem, h: Floats, z: Floats) -> FloatProblem:
    """min 1/2 sum_k h_k (f_k - z_k)^2 + lambda sum_b |w_b| as a least-squares problem."""
    root = np.sqrt(h)
    arrays = data.arrays
    if isinstance(arrays, BlockArrays):
        return FloatProblem(root * z, BlockArrays(tuple(root[:, None] * X for X in arrays.X), arrays.K))
    return FloatProblem(root * z, replace(arrays, Z=root[:, None] * arrays.Z))


def _value(scores: Floats, lam: float, neurons: tuple[Neuron, ...]) -> float:
    """sum log(1 + exp(-s_k)) + lambda sum |w_b|"""
    return float(np.logaddexp(0.0, -scores).sum()) + lam * sum(norm(n.w) for n in neurons)


def _entropy(a: Floats) -> float:
    """sum H(a_k), H(a) = -a log a - (1-a) log(1-a)"""
    inside = a[(a > 0.0) & (a < 1.0)]
    return float(-(inside * np.log(inside) + (1.0 - inside) * np.log1p(-inside)).sum())


def _feasible(top: float, lam: float, theta: Floats, y: Floats) -> Floats:
    """theta shrunk to |Proj(X_b'theta)| <= lambda, inside 0 <= y_k theta_k <= 1."""
    shrunk: Floats = (min(1.0, lam / top) if top > 0.0 else 1.0) * theta
    return np.asarray(y * np.clip(y * shrunk, 0.0, 1.0), dtype=np.float64)
