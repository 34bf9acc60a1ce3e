"""The second opinion on calls of the package: free and decayed biases, skip connections, slopes, bags, several outputs.

The problem is the one that the certificate states, compared with its raw file. One output is a group lasso with cones;
with free biases the norm leaves out the last entry of w_b, and the lengths of dual vectors are by sympy's definitions.
Several outputs, on the cones of the arrangement with generators g_i (columns of G) and outputs P(Zg_i)_+ (rows of H):

    max <Y, Theta> - 1/2 |Theta|^2   subject to   [[lambda^2 G'G - N, H Theta], [Theta'H', I]] >= 0,   N >= 0,

exact for up to four generators. Theta, rounded, orthogonal to the free columns and a little shorter, is proved feasible
by copositive forms: D(Theta) <= p*. Directions where |F| is largest, with the best weights, are a network: p* <= J.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np
from scipy.optimize import minimize
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.exact.enclose import Interval
from properties.exact.problem import CGL, Block
from properties.model import HOLDS, Outcome, fails
from properties.soundness.held import OPINION, notes
from properties.soundness.opinion import enclosure
from properties.soundness.symbolic import Call
from properties.symbolic.data import compare
from properties.symbolic.evidence import above, below
from properties.symbolic.numbers import beside, column, entries, norm2, root_above
from properties.symbolic.program import Program
from properties.symbolic.reader import read_certificate
from properties.symbolic.several import Several, dual_value, feasible, loss

cp: Any = cvxpy  # typed in parts only
GRID = 2**40
SHORTER = (Fraction(1, 10**9), Fraction(1, 10**7), Fraction(1, 10**5), Fraction(1, 10**3), Fraction(1, 10))
TURNS = 240


def enclosed(p: Program | Several) -> Interval:
    """lower <= p* <= upper"""
    return several(p) if isinstance(p, Several) else single(p)


def single(p: Program) -> Interval:
    """One output: as a group lasso with cones, free columns, and perhaps free biases."""
    blocks = tuple(Block(_rows(b.X), _rows(b.K.transpose()) if b.K.shape[1] else ()) for b in p.blocks)
    lam, B = _fraction(p.lam), () if p.B is None else _rows(p.B.transpose())
    convex = CGL(blocks, tuple(map(_fraction, entries(p.y))), lam**2)
    if not p.biases:
        return enclosure(convex, _fraction(p.delta), p.logistic, B)

    def length(theta: tuple[Fraction, ...]) -> Fraction:
        r = column([QQ(t.numerator, t.denominator) for t in theta])
        return _fraction(max((root_above(norm2(p.dual(b, r)[0])) for b in p.blocks), default=QQ(0)))

    return enclosure(convex, _fraction(p.delta), p.logistic, B, length)


def several(p: Several) -> Interval:
    """Several outputs."""
    theta = proposed(p)
    low = QQ(0)
    if theta is not None and feasible(p, theta):
        low = below(dual_value(p, theta))
    neurons, c = network(p, theta if theta is not None else p.y)
    fit = p.y - p.y
    for w, v in neurons:
        fit = fit + p.output(w, v)
    if p.columns is not None:
        fit = fit + p.columns * column(c)
    high = above(loss(p, fit)) + p.lam * sum((root_above(norm2(p.seen_part(w)) * norm2(v)) for w, v in neurons), QQ(0))
    return _fraction(low), _fraction(high)


def proposed(p: Several) -> DomainMatrix | None:
    """A feasible dual point near the best one; None where the solver has none, or it is not proved feasible."""
    n, C, Y = p.y.shape[0] // p.outputs, p.outputs, _floats(p.by_row(p.y))
    T, asked = cp.Variable((n, C)), []
    for cone in filter(None, p.simplices):
        G = _floats(beside(cone, p.Z.shape[1]))
        size: Any = np.linalg.norm(G, axis=0)
        H = np.array([[float(h) for h in p.hidden(g)] for g in cone]) / size[:, None]
        seen = G[: len(G) - p.biases] / size
        gram = float(p.lam) ** 2 * seen.T @ seen
        N = cp.Variable(gram.shape, symmetric=True)
        asked += [N >= 0, cp.bmat([[gram - N, H @ T], [T.T @ H.T, np.eye(C)]]) >> 0]
    if p.B is not None:
        asked.append(_floats(p.B).T @ T == 0)
    if p.softmax:
        asked.append(cp.sum(T, axis=1) == 0)
        goal = cp.sum(cp.entr(Y - T))
    else:
        goal = cp.sum(cp.multiply(Y, T)) - cp.sum_squares(T) / 2
    try:
        cp.Problem(cp.Maximize(goal), asked).solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return None
    if T.value is None:
        return None
    found = column([QQ(round(float(x) * GRID), GRID) for x in T.value.ravel()])
    if p.softmax:
        means = [sum(row) / C for row in p.by_row(found).to_list()]
        found = column([x - mean for row, mean in zip(p.by_row(found).to_list(), means, strict=True) for x in row])
    if (B := p.columns) is not None:
        found = found - B * ((B.transpose() * B).inv() * (B.transpose() * found))
    shorter = (found * QQ(s.denominator - s.numerator, s.denominator) for s in SHORTER)
    return next((theta for theta in shorter if feasible(p, theta)), None)


def network(p: Several, theta: DomainMatrix) -> tuple[list[tuple[DomainMatrix, DomainMatrix]], list[Any]]:
    """Neurons (w, v) along directions where |F(u)| is about the largest, and coefficients of the free columns."""
    U = directions(p, theta) if p.directions else [column([QQ(1)] * p.Z.shape[1])]
    H = np.array([[float(h) for h in p.hidden(u)] for u in U]).reshape(len(U), -1)
    n, C, Y = p.y.shape[0] // p.outputs, p.outputs, _floats(p.by_row(p.y))
    V, B = cp.Variable((len(U), C)), np.zeros((n, 1)) if p.B is None else _floats(p.B)
    c = cp.Variable((B.shape[1], C))
    fit = H.T @ V + B @ c
    sizes = [float(norm2(p.seen_part(u))) ** 0.5 for u in U]
    loss_ = cp.sum_squares(fit - Y) / 2
    if p.softmax:
        loss_ = cp.sum(cp.log_sum_exp(fit, axis=1)) - cp.sum(cp.multiply(Y, fit))
    penalty = float(p.lam) * sum(s * cp.norm(V[i]) for i, s in enumerate(sizes))
    try:
        cp.Problem(cp.Minimize(loss_ + penalty)).solve(solver=cp.CLARABEL)
    except cp.SolverError:
        V.value = None
    if V.value is None:
        return [], [QQ(0)] * (B.shape[1] * C)
    kept = [(u, column([_short(x) for x in v])) for u, v in zip(U, V.value, strict=True) if np.abs(v).max() > 1e-9]
    return kept, [_short(x) for x in c.value.ravel()]


def directions(p: Several, theta: DomainMatrix) -> list[DomainMatrix]:
    """The rays, and local maxima of |F(u)| / |u|."""
    T, Z = _floats(p.by_row(theta)), _floats(p.Z)
    P = np.eye(len(Z)) if p.P is None else _floats(p.P)

    def less(u: Any) -> float:
        length = float(np.linalg.norm(u[: len(u) - p.biases]))
        return -float(np.linalg.norm(T.T @ (P @ np.maximum(Z @ u, 0)))) / max(length, 1e-12)

    d, starts = Z.shape[1], list[Any]()
    if d > 1:
        turns = np.linspace(0, 2 * np.pi, TURNS, endpoint=False)
        circle = [np.r_[np.cos(t), np.sin(t), np.zeros(d - 2)] for t in turns]
        if d > 2:
            circle = list(np.random.default_rng(0).normal(size=(TURNS, d)))
        values = [less(u) for u in circle]
        least = [k for k in range(TURNS) if values[k] <= min(values[k - 1], values[(k + 1) % TURNS])]
        starts = [minimize(less, circle[k], method="Nelder-Mead", options={"xatol": 1e-12}).x for k in least]
    found = [column([_short(x) for x in u]) for u in starts]
    return [*p.directions.values(), *(u for u in found if any(entries(u)))]


def disagreement(found: Any) -> str:
    """Where the certified interval of a call and the enclosure do not meet; "" if nowhere."""
    certificate = read_certificate(found.certificate.encode())
    compare(certificate, found.raw)
    low, high = enclosed(certificate.several if "Y" in certificate.problem else certificate.program)
    value = found.value
    if value.lower > high or value.upper < low:
        ours, theirs = [float(low), float(high)], [float(value.lower), float(value.upper)]
        return f"p* is in {ours} by a second opinion, in {theirs} by the certifier"
    return ""


def check_call(call: Call) -> Outcome:
    """The certified interval of a call meets an enclosure of its own."""
    try:
        found = call.answer()
        wrong = disagreement(found)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    said = read_certificate(found.certificate.encode()).verdicts
    return fails(wrong) if wrong else replace(HOLDS, notes=notes(said, {"optimal": OPINION}, call.kind))


def _fraction(q: Any) -> Fraction:
    return Fraction(int(q.numerator), int(q.denominator))


def _rows(A: DomainMatrix) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(map(_fraction, row)) for row in A.to_dense().to_list())


def _floats(A: DomainMatrix) -> Any:
    return np.array([[float(x) for x in row] for row in A.to_dense().to_list()])


def _short(x: Any) -> Any:
    return QQ(round(float(x) * GRID), GRID)
