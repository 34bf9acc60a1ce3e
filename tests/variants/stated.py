"""The problem that a certificate states, built from its text alone, and its optimal value by a whole-program solver."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import cvxpy as cp
import numpy as np

from relu_cert.claims import decide
from relu_cert.cover.limits import Limits
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, find_facts
from relu_cert.problem.problem import Problem
from relu_cert.report.check import CheckReport
from relu_cert.report.progress import Progress

Case = tuple[dict[str, Any], bytes]


def numbers(text: str) -> list[float]:
    """A vector of the certificate in floats."""
    return [float(Fraction(x)) for x in text.split()]


def all_patterns(Z: np.ndarray) -> list[str]:
    """D_Z of small data with different directions in the plane, by walking round the circle; and the zero gate."""
    angles = sorted({float(np.arctan2(*z[::-1])) + s for z in Z if z.any() for s in (np.pi / 2, -np.pi / 2)})
    middles = [(a + b) / 2 for a, b in pairwise(angles)]
    middles.append((angles[-1] + angles[0] + 2 * np.pi) / 2)
    gates = [np.array([np.cos(t), np.sin(t)]) for t in (*middles, *angles)] + [np.zeros(Z.shape[1])]
    return list({"".join("01"[bool(h > -1e-9)] for h in Z @ u): None for u in gates})


def optimal_value(problem: dict[str, Any], patterns: list[str] | None = None) -> float:
    """p* of a stated ReLU or gated problem over its patterns (or over the given ones), by cvxpy and Clarabel."""
    chosen = tuple(problem.get("patterns") or patterns or all_patterns(np.array([numbers(z) for z in problem["Z"]])))
    return _solved(
        problem["model"],
        problem["objective"].split(" ")[0] == "sum",
        float(Fraction(problem["lambda"])),
        float(Fraction(problem.get("delta", "0"))),
        tuple(problem["Z"]),
        problem["y"],
        chosen,
    )


@cache
def _solved(
    model: str, logistic: bool, lam: float, delta: float, rows: tuple[str, ...], y_text: str, patterns: tuple[str, ...]
) -> float:
    Z, y = np.array([numbers(row) for row in rows]), np.array(numbers(y_text))
    fit: Any = 0
    weights, constraints = [], []
    for pattern in patterns:
        on = np.array([bit == "1" for bit in pattern])
        for xi in (1, -1) if model == "relu" else (1,):
            w = cp.Variable(Z.shape[1])
            fit = fit + (xi * on[:, None] * Z) @ w
            weights.append(w)
            if model == "relu":
                constraints.append(np.where(on, 1, -1)[:, None] * Z @ w >= 0)
    loss = cp.sum(cp.logistic(-cp.multiply(y, fit))) if logistic else cp.sum_squares(fit - y) / 2
    penalty = lam * sum(cp.norm(w) for w in weights) + delta / 2 * sum(cp.sum_squares(w) for w in weights)
    return float(cp.Problem(cp.Minimize(loss + penalty), constraints).solve(solver=cp.CLARABEL))


def certified(
    problem: Problem, source: Any, lam: Fraction, gap: Fraction = DEFAULT_GAP, *, by_list: bool = False
) -> CheckReport:
    """The problem solved and proved."""
    with Progress(quiet=True) as stages:
        facts = find_facts(problem, LambdaChoice(value=lam), gap, stages, limits=Limits(by_list=by_list))
    return CheckReport(source, None, decide(facts), None, facts)  # type: ignore[arg-type]


def random_data(seed: int, n: int, d: int, labels: bool = False) -> tuple[Any, bytes]:
    """Integer data with different directions, as a data set and as the bytes of its file."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(-9, 10, (n, d))
    y = np.where(rng.random(n) < 0.5, 1, -1) if labels else rng.integers(-9, 10, n)
    raw = "".join(",".join(map(str, [*z, t])) + "\n" for z, t in zip(Z.tolist(), y.tolist(), strict=True)).encode()
    return read_csv_bytes(raw, "data.csv"), raw
