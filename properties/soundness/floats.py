"""A second opinion in floats: networks trained by descent, and other optimal networks by linear programs.

Floats prove nothing. They show a wrong verdict where the difference is far above their rounding.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize, nnls

from properties.exact.patterns import patterns
from properties.soundness.case import Answer, NetworkCase
from relu_cert.prove.polytope.polytope import Polytope

Array = NDArray[np.float64]

TIE = 1e-10  # relative distance from lambda below which a neuron counts as tied
NEAR = 2e-5  # neurons of one sign this near (relative) are one: beside v at distance s only s^2/2 is lost, below TIE
APART = 1e-4  # weights that differ by this part of their largest possible sum are two networks
SAME = 1e-7  # weights that agree to this part are one network


def _floats(rows: object) -> Array:
    return np.array(rows, dtype=object).astype(float)


def descent(case: NetworkCase, seed: int, restarts: int = 2) -> float:
    """The least objective that L-BFGS finds for a ReLU network of width 2n + 2 from random starts: at least p*."""
    Z, y, lam = _floats(case.Z), _floats(case.y), float(case.lam)
    d, m = Z.shape[1], 2 * len(y) + 2
    rng = np.random.default_rng(seed)

    def objective(x: Array) -> tuple[float, Array]:
        W, w = x[: m * d].reshape(m, d), x[m * d :]
        H = Z @ W.T
        A = np.maximum(H, 0.0)
        r = A @ w - y
        gW = ((r[:, None] * w) * (H > 0)).T @ Z + lam * W
        return float(r @ r / 2 + lam / 2 * (x @ x)), np.r_[gW.ravel(), A.T @ r + lam * w]

    found = [minimize(objective, rng.normal(size=m * (d + 1)), jac=True, method="L-BFGS-B") for _ in range(restarts)]
    return min(float(one.fun) for one in found)


def ranges(case: NetworkCase, fit: Array) -> tuple[Array, Array] | None:
    """The least and the largest weight alpha of every neuron that ties at the float residual; None if no weights do.

    The candidates are found by projecting xi Z'D r on the cone of every pattern (non-negative least squares), with
    the patterns of the independent enumeration.
    """
    Z, y, lam = _floats(case.Z), _floats(case.y), float(case.lam)
    r = y - fit
    neurons: list[tuple[int, Array]] = []
    outputs: list[Array] = []
    for bits in patterns(case.Z).all:
        D = np.array(bits, dtype=float)
        for xi in (1, -1) if case.model == "relu" else (1,):
            v = xi * (Z.T @ (D * r))
            if case.model == "relu":
                K = Z.T * (1 - 2 * D)
                v = v - K @ nnls(K, v)[0]
            if abs(np.linalg.norm(v) - lam) > TIE * max(lam, float(np.linalg.norm(v))):
                continue
            if case.model == "relu" and any(s == xi and np.allclose(u, v, rtol=0, atol=NEAR * lam) for s, u in neurons):
                continue
            neurons.append((xi, v))
            outputs.append(xi * np.maximum(Z @ v, 0.0) if case.model == "relu" else D * (Z @ v))
    if not outputs:
        return None
    A, size = np.array(outputs).T, max(1.0, float(np.abs(fit).max()))
    slack = 1e-9 * size
    lows, highs = [], []
    for a in range(A.shape[1]):
        cost = np.zeros(A.shape[1])
        cost[a] = 1.0
        A_ub, b_ub = np.r_[A, -A], np.r_[fit + slack, slack - fit]
        low, high = (linprog(sign * cost, A_ub=A_ub, b_ub=b_ub, bounds=(0, None)).x for sign in (1, -1))
        if low is None or high is None:
            return None
        lows.append(low[a])
        highs.append(high[a])
    return np.array(lows), np.array(highs)


def spread(found: object) -> float:
    """By how much listed vertices differ in a weight, near a tie perhaps by less than floats see; infinite where none
    are listed."""
    if not isinstance(found, Polytope):
        return np.inf
    return max(float(max(weights) - min(weights)) for weights in zip(*found.points, strict=True))


def doubt(answer: Answer, seed: int) -> str:
    """What floats have against the answer; "" if nothing."""
    case, facts = answer.case, answer.facts
    if not isinstance(case, NetworkCase):
        raise TypeError("floats look at networks")
    lower = float(facts.value.lower)
    if case.model == "relu":
        found = descent(case, seed)
        if found < lower - 1e-9 * max(1.0, abs(lower)):
            return f"descent reaches {found}, below the proved lower bound {lower}"
    if facts.fit.radius_squared > Fraction(1, 10**16) or answer.said["p-unique"] == "UNDECIDED":
        return ""
    ends = ranges(case, np.array([float(x) for x in facts.fit.center]))
    if ends is None:
        return ""
    low, high = ends
    widest, size = float((high - low).max()), float(high.max())
    largest = float(sum(x * x for x in case.y) / case.lam**2)  # sum alpha = r.yhat / lambda^2 is less than that
    if answer.said["p-unique"] == "PROVED" and widest > APART * largest:
        return f"p-unique is PROVED, but floats find two networks whose weights differ by {widest}"
    unseen = 0.0 < spread(facts.vertices) < 10.0 * SAME * size
    if answer.said["p-unique"] == "REFUTED" and widest < SAME * size and not unseen:
        return "p-unique is REFUTED, but floats find one network only"
    return ""
