"""Where the dual constraint is attained: neurons in concave pieces, with shares on their kinks, and rays fixed by data.

A neuron's v = c0 + sum over lines on at u of w_c p_c + sum over its kinks of share_c w_c p_c is lambda u/|u| up to the
digits at hand; |v| <= lambda then holds after theta is shrunk a little. A direction on a convex line has no concave
piece: it is a ray if its lines fix it (they have rank d - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, isqrt

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from scipy.optimize import lsq_linear

from relu_cert.cover.engine import Floats, Side
from relu_cert.cover.engine import Ties as EngineTies
from relu_cert.cover.lines import Weights
from relu_cert.cover.model import Row, Tie
from relu_cert.cover.refine import Data, closed, face_basis, float_lines

NEAR = 1e-9  # a direction whose value is this near (relative) to lambda is treated as a tie: a proposal
SAME = 1e-9
SHARE_BITS = 240
SHORT_BITS = 48


class Untied(Exception):
    """A tie that is neither inside a concave piece nor a ray fixed by the data."""


def unit(u: Row) -> Floats:
    """u / |u| in floats."""
    size = isqrt(sum(x * x for x in u) << 600)
    return np.array([(x << 300) / size for x in u])


def heights(weights: Weights, u: Row) -> list[int]:
    """p_c.u for every line."""
    return [int(h) for h in weights.lines.matrix.astype(object) @ np.array(u, dtype=object)]


def top(weights: Weights, u: Row) -> Fraction:
    """xi theta.(Zu)_+"""
    total = sum(a * b for a, b in zip(weights.c0, u, strict=True))
    total += sum(w * h for w, h in zip(weights.w, heights(weights, u), strict=True) if h > 0)
    return Fraction(total, weights.unit)


def value(weights: Weights, u: Row) -> float:
    """xi theta.(Zu)_+ / |u| in floats, from exact integers."""
    return float(top(weights, u) / Fraction(isqrt(sum(x * x for x in u) << 200), 1 << 100))


def value_squared(weights: Weights, u: Row) -> Fraction:
    """(xi theta.(Zu)_+ / |u|)^2, 0 where that is negative."""
    return max(top(weights, u), Fraction(0)) ** 2 / sum(x * x for x in u)


def dual_vector(weights: Weights, side: Sequence[int]) -> list[int]:
    """c0 + sum of w_c p_c over the lines that are on, times unit."""
    v = list(weights.c0)
    for c, s in enumerate(side):
        if s > 0 and weights.w[c]:
            v = [x + weights.w[c] * p for x, p in zip(v, weights.lines.rows[c], strict=True)]
    return v


def tie_at(data: Data, weights: Weights, xi: int, u: Row) -> Tie:
    """The tie in the direction of an exact vector u."""
    h = heights(weights, u)
    side = tuple((x > 0) - (x < 0) for x in h)
    kinks = [c for c, s in enumerate(side) if s == 0]
    if any(weights.w[c] > 0 for c in kinks):
        basis = face_basis(data, kinks)
        if len(basis) != 1:
            raise Untied("a tie lies on a convex line, and its lines do not fix it")
        ray = basis[0] if sum(a * b for a, b in zip(basis[0], u, strict=True)) > 0 else tuple(-x for x in basis[0])
        return Tie(xi, ray, side, None)
    return Tie(xi, shortened(data, weights, u, side, kinks), side, shares_of(data, weights, u, side))


def shortened(data: Data, weights: Weights, u: Row, side: tuple[int, ...], kinks: list[int]) -> Row:
    """A vector of fewer digits with the same sides."""
    basis = face_basis(data, kinks)
    B = np.array([[float(x) for x in b] for b in basis]).T
    at = np.linalg.lstsq(B, unit(u), rcond=None)[0]
    at = at / np.abs(at).max()
    for bits in (12, 20, 30, SHORT_BITS):
        weights_of_basis = [round(float(x) * 2**bits) for x in at]
        v = [sum(w * b[l] for w, b in zip(weights_of_basis, basis, strict=True)) for l in range(len(u))]
        g = gcd(*v)
        if not g:
            continue
        short = tuple(x // g for x in v)
        if tuple((h > 0) - (h < 0) for h in heights(weights, short)) == side:
            return short
    return u


def shares_of(data: Data, weights: Weights, u: Row, side: Sequence[int]) -> tuple[Fraction, ...]:
    """Shares in [0, 1] of the concave kinks with c0 + sum_on + sum share w p = lambda u/|u|, to many digits."""
    tight = [c for c in weights.concave if side[c] == 0]
    if not tight:
        return ()
    lam = data.lam
    one = weights.unit * lam.denominator
    size = isqrt(sum(x * x for x in u) << 600)
    v = dual_vector(weights, side)
    goal = [
        (weights.unit * lam.numerator * x << 300) // size - a * lam.denominator for x, a in zip(u, v, strict=True)
    ]  # sum of share w p, times one
    scale = float(lam)
    columns = np.array([[float(Fraction(weights.w[c] * p, weights.unit)) for p in weights.lines.rows[c]] for c in tight])
    A = columns.T / scale
    b = np.array([float(Fraction(x, one)) for x in goal]) / scale
    share = np.linalg.lstsq(A, b, rcond=1e-12)[0]
    units = columns / np.linalg.norm(columns, axis=1, keepdims=True)
    if np.linalg.matrix_rank(units, tol=1e-9) < len(tight) or share.min() < 0.0 or share.max() > 1.0:
        share = lsq_linear(A, b, (0.0, 1.0), tol=1e-15).x
    free = (share > 1e-12) & (share < 1.0 - 1e-12)
    grid = 1 << SHARE_BITS
    found = [int(Fraction(float(s)) * grid) if f else round(s) * grid for s, f in zip(share, free, strict=True)]
    for _ in range(40):
        left = [
            goal[l] * grid - lam.denominator * sum(s * weights.w[c] * weights.lines.rows[c][l] for s, c in zip(found, tight, strict=True))
            for l in range(len(u))
        ]
        rest = np.array([float(Fraction(x, one)) for x in left]) / scale
        if float(np.abs(rest).max()) < 2.0**30 or not free.any():
            break
        step = np.linalg.lstsq(A[:, free], rest, rcond=1e-12)[0]
        for i, x in zip(np.flatnonzero(free), step, strict=True):
            found[i] += int(x)
    return tuple(Fraction(min(max(s, 0), grid), grid) for s in found)


def exact_shares(data: Data, weights: Weights, tie: Tie) -> Tie:
    """The tie with shares for which v is exactly the projection of the gradient on its face, if they are in [0, 1]."""
    tight = [c for c in weights.concave if tie.side[c] == 0]
    if tie.shares is None or not tight:
        return tie
    v = dual_vector(weights, tie.side)
    B = fmpq_mat(fmpz_mat([list(b) for b in face_basis(data, [c for c, s in enumerate(tie.side) if s == 0])]))
    column = fmpq_mat(fmpz_mat([[x] for x in v]))
    goal = B.transpose() * (B * B.transpose()).solve(B * column) - column  # sum of share w p, times unit
    rows = [fmpq_mat(fmpz_mat([[weights.w[c] * p for p in weights.lines.rows[c]]])) for c in tight]
    chosen: list[int] = []
    shares = [fmpq(s.numerator, s.denominator) for s in (x.limit_denominator(10**6) for x in tie.shares)]
    for i in sorted(range(len(tight)), key=lambda i: abs(float(tie.shares[i]) - 0.5) if tie.shares else 0.0):
        stacked = fmpq_mat([rows[j].entries() for j in [*chosen, i]])
        if stacked.rank() == len(chosen) + 1:
            chosen.append(i)
    for i in range(len(tight)):
        if i not in chosen:
            goal -= shares[i] * rows[i].transpose()
    A = fmpq_mat([rows[j].entries() for j in chosen])
    for i, s in zip(chosen, (A * A.transpose()).solve(A * goal).entries(), strict=True):
        shares[i] = s
    exact = tuple(Fraction(int(s.p), int(s.q)) for s in shares)
    return replace(tie, shares=exact) if all(0 <= s <= 1 for s in exact) else tie


def longest_squared(data: Data, weights: Weights, tie: Tie) -> Fraction:
    """|v|^2 of a neuron, kappa^2 of a ray."""
    if tie.shares is None:
        return value_squared(weights, tie.u)
    v = [Fraction(x, weights.unit) for x in dual_vector(weights, tie.side)]
    tight = [c for c in weights.concave if tie.side[c] == 0]
    for c, s in zip(tight, tie.shares, strict=True):
        v = [x + s * Fraction(weights.w[c] * p, weights.unit) for x, p in zip(v, weights.lines.rows[c], strict=True)]
    return sum((x * x for x in v), Fraction(0))


def near_direction(data: Data, weights: Weights, u: Floats, tolerance: float) -> Row:
    """The exact maximiser at theta on the face whose lines nearly pass through u: the projection of the gradient."""
    units = float_lines(data.lines)
    at = units @ u / np.linalg.norm(u)
    kinks = frozenset(np.flatnonzero(np.abs(at) < tolerance).tolist())
    basis = face_basis(data, sorted(kinks))
    if not basis:
        raise Untied("the lines near a tie meet in 0 only")
    kinks = closed(data, kinks, basis)
    side = [0 if c in kinks else (1 if h > 0 else -1) for c, h in enumerate(at)]
    v = dual_vector(weights, side)
    return projection(basis, v)


def projection(basis: Sequence[Row], v: Sequence[int]) -> Row:
    """The projection of v on the span of the basis, as integers."""
    B = fmpz_mat([list(b) for b in basis])
    right = fmpq_mat(B * fmpz_mat([[x] for x in v]))
    weights = fmpq_mat(B * B.transpose()).solve(right)
    entries = (fmpq_mat(B.transpose()) * weights).entries()
    q = 1
    for x in entries:
        q = q * int(x.q) // gcd(q, int(x.q))
    numerators = [int(x.p) * (q // int(x.q)) for x in entries]
    g = gcd(*numerators) or 1
    return tuple(x // g for x in numerators)


def engine_ties(ties: Sequence[Tie], weights: Weights, side: Side, xi: int) -> EngineTies:
    """The ties of one sign for the engine."""
    d = len(side.frame)
    here = [(i, t) for i, t in enumerate(ties) if t.xi == xi]
    pieces = [(i, t) for i, t in here if t.shares is not None]
    rays = [(i, t) for i, t in here if t.shares is None]
    convex, concave = list(weights.convex), list(weights.concave)
    sides = np.array([[t.side[c] for c in convex] for _, t in pieces], dtype=np.int8).reshape(len(pieces), len(convex))
    a = np.array([side.c0 + side.P[np.flatnonzero(s > 0)].sum(axis=0) for s in sides]).reshape(-1, d)

    def through(lines: list[int]) -> np.ndarray:
        found = [[t.side[c] == 0 for c in lines] for _, t in rays]
        return np.array(found, dtype=np.uint8).reshape(len(rays), len(lines))

    return EngineTies(
        a=np.ascontiguousarray(a),
        side=sides,
        names=np.array([i for i, _ in pieces], dtype=np.int64),
        ray=np.ascontiguousarray(np.array([side.frame @ unit(t.u) for _, t in rays]).reshape(-1, d)),
        ray_P=through(convex),
        ray_N=through(concave),
        ray_names=np.array([i for i, _ in rays], dtype=np.int64),
    )
