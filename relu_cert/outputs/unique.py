"""Whether all optimal networks are one: near each neuron found there is at most one direction, and none elsewhere.

The optimal dual point is at most R from the one that is proved feasible: |F* - F| <= rho |u| with rho >= zeta R. A leaf
that holds for lambda - rho has no optimal neuron; near a neuron, lambda^2 |x|^2 - |F(x)|^2 >= margin |x_|^2, x_ the
part of x orthogonal to it (verify/FORMAT.md, Several outputs, has the lemma and its proof).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from relu_cert.evidence import Alone, Direction, OutputTie, Row
from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    dot,
    first_independent,
    matrix_of,
    norm_squared,
    primitive,
    scaled_rows,
    sqrt_upper,
    to_fraction,
    to_vector,
)
from relu_cert.outputs.exact import Form, Pull, definite
from relu_cert.prove.projection import floats, stretch

U_BITS, MASS_BITS = 200, 256
EASIER, MOST_EASIER = 8, 7  # the margin of a class is made smaller by this factor, so many times
NEAREST = Fraction(1, 2)


class Open(Exception):
    """What is missing for uniqueness, in words."""


@dataclass
class Near:
    """A class while leaves are proved: u, |u|^2, and the margin, which becomes smaller where a leaf needs that."""

    u: Row
    size: int
    margin: Fraction
    shares: dict[int, Fraction]


@dataclass
class Around:
    """The ball of dual points, and what leaves have to be: out, or near a class. `left`: so many are neither."""

    pull: Pull
    lam: Fraction
    Theta: Matrix
    R: Fraction
    zeta: Fraction
    rho: Fraction
    Lambda: Fraction
    basis: tuple[Row, ...]
    free: tuple[Vector, ...]
    classes: list[Near] = field(default_factory=list)
    left: int = 0
    strict = False  # a leaf that is none of these is split again

    @property
    def slack(self) -> int:
        """What the level is above the largest integer below (lambda - rho)^2 unit^2."""
        return self.pull.level - (ceil(((self.lam - self.rho) * self.pull.unit) ** 2) - 1)

    def weaker(
        self, Q: Form, cone: Sequence[Row], whole: int, tie: int
    ) -> Iterator[tuple[Form, Near | None, Fraction]]:
        """The forms of which one is to be proved, the likeliest first, each with its class and margin."""
        gram = fmpz_mat([list(g) for g in cone])
        gram = gram * gram.transpose()
        base, part = fmpz_mat(Q), 2 * whole * whole
        heights = [
            fmpz_mat([[sum(x * y for x, y in zip(g, one.u, strict=True))] for g in cone]) for one in self.classes
        ]
        beside = [(one, h) for one, h in zip(self.classes, heights, strict=True) if all(x >= 0 for x in h.entries())]
        out = (whole_form(base - part * self.slack * gram), None, Fraction(0))
        if tie < 0:
            yield out
        for easier in range(MOST_EASIER):
            for one, h in beside:
                margin = one.margin / EASIER**easier
                times = ceil(margin * self.pull.unit**2 / one.size)
                yield whole_form(base - part * times * (one.size * gram - h * h.transpose())), one, margin
            if tie >= 0 and not easier:
                yield out


def whole_form(A: fmpz_mat) -> Form:
    """In integers of Python."""
    return [[int(x) for x in row] for row in A.tolist()]


def around(
    pull: Pull,
    lam: Fraction,
    Theta: Matrix,
    squared: Fraction,
    basis: tuple[Row, ...],
    free: tuple[Vector, ...],
    Z: Matrix,
) -> Around:
    """The ball of squared radius `squared`."""
    N, q = scaled_rows(Z)
    zeta = pull.lines.bags.size_squared([sum(x * x for x in z) for z in N]) / q**2
    size = sum(map(norm_squared, Theta), Fraction(0))
    rho, Lambda = sqrt_upper(squared * zeta), sqrt_upper(zeta * size)
    return Around(pull, lam, Theta, sqrt_upper(squared), sqrt_upper(zeta), rho, Lambda, basis, free)


def with_classes(ball: Around, neurons: Sequence[tuple[Vector, Vector]], ties: Sequence[OutputTie]) -> None:
    """A class for each neuron: u on its face, exactly, and a margin that it may have."""
    for (w, _), tie in zip(neurons, ties, strict=True):
        u = on_face(ball, w, tie.lines)
        size = sum(x * x for x in u)
        seconds, _ = second(ball, u)
        margin = (ball.lam**2 - seconds) / 4
        if margin > 0:
            shares = dict(zip(tie.lines, tie.shares, strict=True))
            ball.classes.append(Near(u, size, margin.limit_denominator(10**12), shares))


def on_face(ball: Around, w: Vector, tight: Sequence[int]) -> Row:
    """An integer vector of the row space near the direction of w, exactly orthogonal to these lines."""
    span = face_of(ball.basis, [ball.pull.lines.rows[c] for c in tight])
    B = fmpq_mat(span)
    x = (B * B.transpose()).solve(B * column(w)).entries()
    largest = max(map(abs, x))
    shift = U_BITS - (int(largest.p).bit_length() - int(largest.q).bit_length())
    whole = fmpz_mat([[int((y * fmpq(2) ** shift).floor()) for y in x]]) * span
    return primitive([int(y) for y in whole.entries()])


def face_of(basis: Sequence[Row], lines: Sequence[Row]) -> fmpz_mat:
    """Rows that span the vectors of the row space that are orthogonal to these."""
    E = fmpz_mat([list(b) for b in basis])
    if not lines:
        return E
    kernel, free = (fmpz_mat([list(p) for p in lines]) * E.transpose()).nullspace()
    k = int(free)
    return fmpz_mat(k, E.nrows(), [int(kernel[i, j]) for j in range(k) for i in range(E.nrows())]) * E


def tight_lines(ball: Around, u: Row) -> tuple[list[int], list[int]]:
    """The heights of all lines at u, and the lines through u."""
    heights = [sum(a * b for a, b in zip(p, u, strict=True)) for p in ball.pull.lines.rows]
    return heights, [c for c, h in enumerate(heights) if not h]


def linear(ball: Around, heights: Sequence[int]) -> fmpq_mat:
    """L (D x C): F(x) = L'x where the lines through u are off."""
    L, on = fmpz_mat([list(row) for row in ball.pull.M0]), [c for c, h in enumerate(heights) if h > 0]
    if on:
        P = fmpz_mat([list(ball.pull.lines.rows[c]) for c in on])
        L += P.transpose() * fmpz_mat([list(ball.pull.W[c]) for c in on])
    return fmpq_mat(L) / fmpq(ball.pull.unit)


def second(ball: Around, u: Row) -> tuple[Fraction, bool]:
    """About the largest |L'x|^2 / |x|^2 over the x orthogonal to u on its face; is it below (lambda - rho)^2?"""
    heights, tight = tight_lines(ball, u)
    X = face_of(ball.basis, [u, *(ball.pull.lines.rows[c] for c in tight)])
    if not X.nrows():
        return Fraction(0), True
    M, K = fmpq_mat(X) * linear(ball, heights), fmpq_mat(X * X.transpose())
    level = (ball.lam - ball.rho) ** 2
    Q = K * fmpq(level.numerator, level.denominator) - M * M.transpose()
    entries, _ = Q.numer_denom()
    sure = definite(whole_form(entries))
    axes = np.linalg.inv(np.linalg.cholesky(floats(K / max(K.entries()))))
    about = axes @ floats(M * M.transpose() / max(K.entries())) @ axes.T
    return Fraction(float(np.linalg.eigvalsh(about)[-1])), sure


def alone(ball: Around, fitted: Matrix, far: Fraction) -> Alone:
    """The classes and their weights; the optimal fit is at most so far from `fitted`. Open: something is missing."""
    if ball.left:
        raise Open(f"{ball.left} leaves of the proof are neither without optimal neurons nor near one of those found")
    parts = [direction(ball, one) for one in ball.classes]
    lift = [list(b) for b in first_columns(ball.free)]
    A = [outer(across(lift, one.outputs), one.v) for one in parts]
    n, C, K = len(ball.Theta), len(ball.Theta[0]), len(parts)
    kappa = sqrt_upper(sum((one.moved**2 for one in parts), Fraction(0)))
    fit = [to_vector(across(lift, column(x))) for x in zip(*fitted, strict=True)]
    goal = column([fit[c][k] for k in range(n) for c in range(C)])
    if not K:
        return Alone((), (), Fraction(0))
    Q = fmpq_mat(n * C, K, [x for row in zip(*(a.entries() for a in A), strict=True) for x in row])
    sigma = stretch(Q)
    if sigma <= kappa:
        raise Open("the outputs of the neurons are not known to be independent")
    exact = (Q.transpose() * Q).solve(Q.transpose() * goal).entries()
    masses = tuple(Fraction(int((x * fmpq(2) ** MASS_BITS).floor()), 1 << MASS_BITS) for x in exact)
    missed = sqrt_upper(sum((to_fraction(x) ** 2 for x in (Q * column(masses) - goal).entries()), Fraction(0)))
    error = (missed + far + kappa * sqrt_upper(norm_squared(masses))) / (sigma - kappa)
    return Alone(tuple(one.said for one in parts), masses, error)


def first_columns(free: Sequence[Vector]) -> list[Vector]:
    """Independent columns that span the free ones."""
    return [free[j] for j in first_independent(free)] if free else []


def across(lift: Sequence[Sequence[Fraction]], a: fmpq_mat) -> fmpq_mat:
    """A column less its part in the free columns."""
    if not lift:
        return a
    B = matrix_of(lift)
    return a - B.transpose() * (B * B.transpose()).solve(B * a)


def outer(outputs: fmpq_mat, v: Vector) -> fmpq_mat:
    """vec(outputs v'), row by row."""
    product = outputs * matrix_of([v])
    return fmpq_mat(len(product.entries()), 1, product.entries())


@dataclass(frozen=True)
class Part:
    """A class as it is written, P(Zũ)_+, v^, and how far its column may be off."""

    said: Direction
    outputs: fmpq_mat
    v: Vector
    moved: Fraction


def direction(ball: Around, one: Near) -> Part:
    """The class, if it has at most one direction."""
    lines, lam, rho = ball.pull.lines, ball.lam, ball.rho
    if one.margin <= 0:
        raise Open("around a neuron |F| does not fall as the square of the angle")
    squared = (lam**2 - (lam - rho) ** 2) / one.margin
    delta = sqrt_upper(squared)
    if delta >= NEAREST:
        raise Open("the bounds are too far apart to tell neurons from each other")
    heights, tight = tight_lines(ball, one.u)
    for h, p in zip(heights, lines.rows, strict=True):
        if h and h * h * (1 - squared) <= squared * sum(x * x for x in p) * one.size:
            raise Open("a neuron is nearly zero at a row, and the bounds are too far apart to tell")
    if not second(ball, one.u)[1]:
        raise Open(
            "a neuron has a multiple top singular value, or nearly: then directions near it may be as good, and the "
            "networks that share its weight in other ways"
        )
    root = sqrt_upper(Fraction(one.size))
    off = 1 - Fraction(one.size) / root**2
    short = tuple(x / root for x in one.u)
    L = linear(ball, heights)
    v = tuple(x / lam for x in to_vector(L.transpose() * column(short)))
    near = Fraction(3, 2) * delta + off
    eps = (rho + ball.Lambda * near) / lam
    basis, fixed = kinks(ball, L, v, eps, tight, one.shares) if tight else ((), ())
    heights_k = [Fraction(a * heights[c], lines.scale) / root if c >= 0 else Fraction(0) for c, a in rows_of(ball)]
    outputs = column(lines.bags.pooled([max(x, Fraction(0)) for x in heights_k]))
    seen = across([list(b) for b in first_columns(ball.free)], outputs)
    moved = ball.zeta * near + sqrt_upper(norm_squared(to_vector(seen))) * eps
    return Part(Direction(one.u, one.margin, basis, fixed), outputs, v, moved)


def rows_of(ball: Around) -> list[tuple[int, int]]:
    """The line and the multiple of every row."""
    return list(zip(ball.pull.lines.line, ball.pull.lines.multiple, strict=True))


def kinks(
    ball: Around, L: fmpq_mat, v: Vector, eps: Fraction, tight: Sequence[int], known: Mapping[int, Fraction]
) -> tuple[tuple[int, ...], Vector]:
    """A basis of the lines through u, and shares of the others, with which the gradient is on the face for all q."""
    lines, unit = ball.pull.lines, ball.pull.unit
    P = {c: tuple(map(Fraction, lines.rows[c])) for c in tight}
    W = {c: tuple(Fraction(x, unit) for x in ball.pull.W[c]) for c in tight}
    w = {c: dot(W[c], v) for c in tight}
    squares = lines.moved_squared
    widths = {c: sqrt_upper(Fraction(squares[c], (lines.scale * lines.bags.unit) ** 2)) for c in tight}
    e = {c: widths[c] * ball.R + sqrt_upper(norm_squared(W[c])) * eps for c in tight}
    half = Fraction(1, 2)
    order = sorted(tight, key=lambda c: abs(known.get(c, half) - half))
    chosen = sorted(order[i] for i in first_independent([P[c] for c in order]))
    D = matrix_of([P[c] for c in chosen])
    D = (D * D.transpose()).inv() * D
    rest = [c for c in tight if c not in chosen]
    shares = {b: known.get(b, half) for b in rest}
    g, moved = list(to_vector(L * column(v))), ball.rho + ball.Lambda * eps
    for b, s in shares.items():
        g = [x + s * w[b] * p for x, p in zip(g, P[b], strict=True)]
        moved += s * e[b] * sqrt_upper(norm_squared(P[b]))
    good = all(w[b] + e[b] <= 0 for b in rest)
    for c, D_c in zip(chosen, D.tolist(), strict=True):
        row = tuple(map(to_fraction, D_c))
        m, f = -dot(row, g), sqrt_upper(norm_squared(row)) * moved
        good = good and w[c] + e[c] + f <= m <= -f
    if not good:
        raise Open("a neuron is zero at a row, and the bounds are too far apart to tell that it stays there")
    return tuple(chosen), tuple(shares[b] for b in rest)
