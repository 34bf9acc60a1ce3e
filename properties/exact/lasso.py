"""Exact solutions where every block has size one: the lasso, with or without a sign constraint per weight.

As a problem in non-negative weights on the columns +x and -x it is a quadratic program whose solution is piecewise
linear in lambda. The active-set method below lowers the objective strictly at every step, so it ends; `Piece` is one
linear piece of the path with the exact interval on which it is optimal, and gives exact one-sided limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from properties.exact.linalg import Vector, combine, dot, solve, solve_columns, sub
from properties.exact.problem import CGL, Weights


@dataclass(frozen=True)
class Signed:
    """The columns s x_b that a weight may use: block b with sign s."""

    columns: tuple[Vector, ...]
    labels: tuple[tuple[int, int], ...]


def signed_columns(p: CGL) -> Signed:
    """+x_b and -x_b for every block of size one, as far as its constraints allow."""
    columns, labels = [], []
    for b, block in enumerate(p.blocks):
        if block.size != 1:
            raise ValueError("exact lasso needs blocks of size one")
        x = tuple(row[0] for row in block.X)
        for sign in (1, -1):
            if all(k[0] * sign <= 0 for k in block.K):
                columns.append(tuple(sign * e for e in x))
                labels.append((b, sign))
    return Signed(tuple(columns), tuple(labels))


def nonnegative_lasso(x: Sequence[Vector], y: Vector, lam: Fraction) -> Vector:
    """One minimiser of 1/2 |sum_j a_j x_j - y|^2 + lam sum_j a_j over a >= 0; its columns are independent."""
    a = [Fraction(0)] * len(x)
    passive: list[int] = []
    while True:
        r = sub(y, combine(a, x, len(y)))
        gain = {j: dot(x[j], r) - lam for j in range(len(x)) if j not in passive}
        entering = max(gain, key=lambda j: (gain[j], -j), default=None)
        if entering is None or gain[entering] <= 0:
            return tuple(a)
        passive = _enter(x, a, passive, entering)
        while True:
            s = affine_weights(x, y, passive, lam)
            blocked = [j for j in passive if s[j] <= 0]
            if not blocked:
                break
            step = min(a[j] / (a[j] - s[j]) for j in blocked)
            for j in passive:
                a[j] += step * (s[j] - a[j])
            passive = [j for j in passive if a[j] > 0]
        for j in passive:
            a[j] = s[j]


def _enter(x: Sequence[Vector], a: list[Fraction], passive: list[int], j: int) -> list[int]:
    """Let column j in. If x_j = sum_i t_i x_i already, trade the x_i for it (sum t_i > 1) until one is used up."""
    t = solve_columns([x[i] for i in passive], x[j])
    if t is None:
        return [*passive, j]
    step = min(a[i] / ti for i, ti in zip(passive, t, strict=True) if ti > 0)
    for i, ti in zip(passive, t, strict=True):
        a[i] -= step * ti
    a[j] = step
    return [i for i in [*passive, j] if a[i] > 0]


def affine_weights(x: Sequence[Vector], y: Vector, passive: Sequence[int], lam: Fraction) -> dict[int, Fraction]:
    """The stationary weights on the passive columns: X_P'X_P a = X_P'y - lam."""
    if not passive:
        return {}
    gram = tuple(tuple(dot(x[i], x[j]) for j in passive) for i in passive)
    s = solve(gram, tuple(dot(x[i], y) - lam for i in passive))
    if s is None:
        raise ArithmeticError("passive columns are independent")
    return dict(zip(passive, s, strict=True))


def solve_lasso(p: CGL) -> Weights:
    """One exact solution of a problem with blocks of size one and rational lambda >= 0."""
    signed = signed_columns(p)
    return _weights(p, signed, nonnegative_lasso(signed.columns, p.y, p.lam))


def _weights(p: CGL, signed: Signed, a: Sequence[Fraction]) -> Weights:
    w = [Fraction(0)] * len(p.blocks)
    for (b, sign), t in zip(signed.labels, a, strict=True):
        w[b] += sign * t
    return tuple((x,) for x in w)


@dataclass(frozen=True)
class Piece:
    """w(lambda) = w0 + lambda w1 is optimal exactly for low <= lambda <= high (high None: unbounded)."""

    w0: Weights
    w1: Weights
    low: Fraction
    high: Fraction | None

    def at(self, lam: Fraction) -> Weights:
        """w(lambda)"""
        return tuple((a[0] + lam * b[0],) for a, b in zip(self.w0, self.w1, strict=True))


def piece(p: CGL, lam: Fraction) -> Piece:
    """The linear piece through the solution at lam, with the exact interval on which it stays optimal."""
    signed = signed_columns(p)
    x, y = signed.columns, p.y
    passive = [j for j, a in enumerate(nonnegative_lasso(x, y, lam)) if a > 0]
    at0, at1 = affine_weights(x, y, passive, Fraction(0)), affine_weights(x, y, passive, Fraction(1))
    a0 = [at0.get(j, Fraction(0)) for j in range(len(x))]
    a1 = [at1.get(j, Fraction(0)) - at0.get(j, Fraction(0)) for j in range(len(x))]
    low, high = Fraction(0), None
    r0, r1 = sub(y, combine(a0, x, len(y))), combine([-t for t in a1], x, len(y))
    # a_j(lam) >= 0 on the passive set, x_j.r(lam) <= lam elsewhere: constraints s + lam t >= 0
    constraints = [(a0[j], a1[j]) for j in passive]
    constraints += [(-dot(x[j], r0), 1 - dot(x[j], r1)) for j in range(len(x)) if j not in passive]
    for s, t in constraints:
        if t > 0:
            low = max(low, -s / t)
        elif t < 0:
            high = -s / t if high is None else min(high, -s / t)
    return Piece(_weights(p, signed, a0), _weights(p, signed, a1), low, high)


def right_limit(p: CGL, lam: Fraction) -> Weights:
    """lim w(mu) as mu decreases to lam, along the path that the solver takes."""
    mu = lam + 1
    while True:
        found = piece(p, mu)
        if found.low <= lam:
            return found.at(lam)
        mu = (lam + found.low) / 2


def left_limit(p: CGL, lam: Fraction) -> Weights:
    """lim w(mu) as mu increases to lam > 0."""
    mu = lam / 2
    while True:
        found = piece(p, mu)
        if found.high is None or found.high >= lam:
            return found.at(lam)
        mu = (lam + found.high) / 2
