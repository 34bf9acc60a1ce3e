"""The derivatives as rationals with one proved radius: what the certificate carries.

dr and dalpha solve M dr + Q dalpha = dy, Q'dr = lambda dlambda (1, ..., 1), with M = I + sum alpha_a G_a >= I and Q the
outputs. If a pair misses the right sides by f and g, it is off by at most

    dr: |f| + sqrt(mu)/sigma |g|,    dalpha: sqrt(mu)/sigma |f| + mu/sigma^2 |g|,    mu >= |M|, |Q x| >= sigma |x|,

because with z = M^-1/2 Q the solution for f and g is dr = M^-1/2 ((I - z z^+) M^-1/2 f + z^+' g) and
dalpha = z^+ M^-1/2 f - (z'z)^-1 g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, norm_squared, sqrt_upper
from relu_cert.path.conditions import active_classes
from relu_cert.path.sensitivity import MOST_ROWS, Sensitivity
from relu_cert.prove.classes import class_map
from relu_cert.prove.definite import stretch
from relu_cert.prove.facts import Facts
from relu_cert.prove.grid import on_grid
from relu_cert.rationals import column, columns_of, middle, to_fmpq, to_vector
from relu_cert.serialize import UNWRITTEN, Key

SPARE_BITS = 12

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ByLambda:
    """dalpha/dlambda and dr/dlambda"""

    alpha: Vector
    r: Vector


@dataclass(frozen=True)
class ByTargets:
    """dalpha/dy and dr/dy"""

    alpha: Matrix
    r: Matrix

    @property
    def freedom(self) -> Fraction:
        """n - trace dr/dy"""
        return len(self.r) - sum((row[i] for i, row in enumerate(self.r)), Fraction(0))


@dataclass(frozen=True)
class Sure:
    """Stein's unbiased risk estimate for this noise, within `radius`."""

    noise: Fraction
    value: Fraction
    radius: Fraction


@dataclass(frozen=True, repr=False)
class Derivatives:
    """Every entry is within `radius` of the true derivative. `by_y` is None where n is large.

    `freedom` is n - trace dr/dy, within n radius; `digits` are freedom and SURE for a reader.
    """

    by_lam: Annotated[ByLambda, Key("lambda")]
    by_y: Annotated[ByTargets | None, Key("y")]
    radius: Fraction
    freedom: Fraction | None
    sure: Sure | None
    digits: Annotated[tuple[str, str], UNWRITTEN]

    @property
    def fit_by_lambda(self) -> Floats:
        """d fit / d lambda in floats: the fit is y - r."""
        return -np.array([float(x) for x in self.by_lam.r])

    @property
    def fit_by_y(self) -> Floats | None:
        """d fit / d y in floats, n x n; None where n is large."""
        if self.by_y is None:
            return None
        found: Floats = np.eye(len(self.by_y.r)) - np.array([[float(x) for x in row] for row in self.by_y.r])
        return found

    def __repr__(self) -> str:
        freedom = "" if self.freedom is None else f", {float(self.freedom):.6g} degrees of freedom"
        return f"<Derivatives of {len(self.by_lam.alpha)} weights and {len(self.by_lam.r)} residuals{freedom}>"


@dataclass(frozen=True)
class _Linear:
    """The system at theta, and how far the true one can be from it (as the checker bounds it)."""

    B: tuple[fmpq_mat, ...]
    alpha: Vector
    Q: fmpq_mat
    g: Vector
    R: Fraction
    error: Fraction
    mu: Fraction
    sigma: Fraction

    def times(self, x: fmpq_mat) -> fmpq_mat:
        """M x, M = I + sum_a alpha_a B_a B_a'."""
        product = x
        for b, weight in zip(self.B, self.alpha, strict=True):
            product += b * (b.transpose() * x) * to_fmpq(weight)
        return product

    def distance(self, dr: fmpq_mat, da: fmpq_mat, dy: fmpq_mat, dlam: Fraction) -> Fraction:
        size, total = sqrt_upper(norm_squared(self.g), 128), sum(self.g, Fraction(0))
        moved = sum((g_a * abs(x) for g_a, x in zip(self.g, to_vector(da), strict=True)), Fraction(0))
        first = _length(self.times(dr) + self.Q * da - dy) + self.error * total * _length(dr) + self.R * moved
        second = _length(self.Q.transpose() * dr - column([dlam] * len(self.g))) + self.R * size * _length(dr)
        ratio = sqrt_upper(self.mu, 128) / self.sigma
        return max(first + ratio * second, ratio * first + ratio**2 * second)


def _digits(x: arb) -> str:
    """The digits that a ball has; nothing where it has none."""
    return x.str(10, radius=False) if x.rel_accuracy_bits() > 3 else ""


def enclosed_derivatives(facts: Facts, found: Sensitivity, noise: Fraction | None) -> Derivatives | None:
    """The derivatives for the certificate, or None if the ball of the facts is too wide for them."""
    n = facts.problem.n
    system = _system(facts)
    if system is None:
        return None
    digits = (_digits(found.freedom), "" if found.sure is None else _digits(found.sure))
    bits = max(64, -_exponent(system.R + system.error) + SPARE_BITS) if system.R + system.error else 256
    if not system.R and not system.error and n <= MOST_ROWS:
        return _exact(facts, system, noise, digits)
    r_lam, alpha_lam = _rounded([found.dr_dlam], bits)[0], _rounded([found.dalpha_dlam], bits)[0]
    zero = column([Fraction(0)] * n)
    radius = system.distance(column(r_lam), column(alpha_lam), zero, facts.lam)
    by_y: ByTargets | None = None
    if n <= MOST_ROWS:
        r_y = _rounded([_row(found.dr_dy, i) for i in range(n)], bits)
        alpha_y = _rounded([_row(found.dalpha_dy, a) for a in range(found.dalpha_dy.nrows())], bits)
        for j in range(n):
            dr, da = column([row[j] for row in r_y]), column([row[j] for row in alpha_y])
            dy = column([Fraction(int(i == j)) for i in range(n)])
            radius = max(radius, system.distance(dr, da, dy, Fraction(0)))
        by_y = ByTargets(alpha_y, r_y)
    return _derivatives(facts, system, ByLambda(alpha_lam, r_lam), by_y, _above(radius), noise, digits)


def _exact(facts: Facts, system: _Linear, noise: Fraction | None, digits: tuple[str, str]) -> Derivatives:
    """Where r* and alpha are known exactly: [[M, Q], [Q', 0]] solved over the rationals, radius 0."""
    n, k = facts.problem.n, len(system.g)
    unit = fmpq_mat([[fmpq(int(i == j)) for j in range(n)] for i in range(n)])
    M, Q = system.times(unit).tolist(), system.Q.tolist()
    rows = [[*M[i], *Q[i]] for i in range(n)]
    rows += [[*(Q[i][a] for i in range(n)), *[fmpq(0)] * k] for a in range(k)]
    right = [[fmpq(int(i == j)) for j in range(n)] + [fmpq(0)] for i in range(n)]
    right += [[fmpq(0)] * n + [to_fmpq(facts.lam)] for _ in range(k)]
    solved = [to_vector(fmpq_mat([row])) for row in fmpq_mat(rows).solve(fmpq_mat(right)).tolist()]
    r_y, alpha_y = tuple(row[:n] for row in solved[:n]), tuple(row[:n] for row in solved[n:])
    r_lam, alpha_lam = tuple(row[n] for row in solved[:n]), tuple(row[n] for row in solved[n:])
    by_lam, by_y = ByLambda(alpha_lam, r_lam), ByTargets(alpha_y, r_y)
    return _derivatives(facts, system, by_lam, by_y, Fraction(0), noise, digits)


def _derivatives(
    facts: Facts,
    system: _Linear,
    by_lam: ByLambda,
    by_y: ByTargets | None,
    radius: Fraction,
    noise: Fraction | None,
    digits: tuple[str, str],
) -> Derivatives:
    """All of them, with SURE = |r|^2 - n noise^2 + 2 noise^2 freedom where the noise is known."""
    if by_y is None:
        return Derivatives(by_lam, None, radius, None, None, digits)
    sure = None
    if noise is not None:
        n, theta, variance, R = facts.problem.n, facts.dual.theta, noise * noise, system.R
        value = norm_squared(theta) - n * variance + 2 * variance * by_y.freedom
        off = 2 * sqrt_upper(norm_squared(theta), 128) * R + R * R + 2 * variance * n * radius
        sure = Sure(noise, value, _above(off))
    return Derivatives(by_lam, by_y, radius, by_y.freedom, sure, digits)


def _system(facts: Facts) -> _Linear | None:
    classes, alpha, error = active_classes(facts)
    problem = facts.problem
    B = [class_map(problem, neuron).B() for neuron in classes]
    g = tuple(norm_squared(to_vector(b)) for b in B)
    theta = column(facts.dual.theta)
    outputs = [to_vector(b * (b.transpose() * theta)) for b in B]
    Q = columns_of(outputs)
    R = sqrt_upper(facts.fit.radius_squared, 128)
    mu = 1 + sum((g_a * (abs(weight) + error) for g_a, weight in zip(g, alpha, strict=True)), Fraction(0))
    sigma, moved = stretch(Q), R * sqrt_upper(norm_squared(g), 128)
    if sigma <= moved:
        return None
    return _Linear(tuple(B), tuple(alpha), Q, g, R, error, mu, sigma - moved)


def _length(A: fmpq_mat) -> Fraction:
    return sqrt_upper(norm_squared(to_vector(A)), 128)


def _row(A: arb_mat, i: int) -> arb_mat:
    return arb_mat([A.tolist()[i]])


def _rounded(rows: Sequence[arb_mat], bits: int) -> Matrix:
    """The midpoints on a binary grid."""
    return on_grid([[middle(x) for x in row.entries()] for row in rows], bits)


def _exponent(x: Fraction) -> int:
    return x.numerator.bit_length() - x.denominator.bit_length()


def _above(x: Fraction) -> Fraction:
    """x, or a little more, in few digits."""
    if not x:
        return x
    unit = Fraction(2) ** (_exponent(x) - 10)
    return (x // unit + 2) * unit
