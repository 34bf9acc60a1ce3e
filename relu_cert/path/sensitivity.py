"""Derivatives of the optimal network with respect to lambda and y, enclosed in balls (prop:local-sol-fn, corrected).

Where every neuron that ties is active (E = A) and keeps its face nearby (strict complementarity), the network solves

    r + sum_a alpha_a G_a r = y,    r'G_a r = lambda^2,    G_a = B_a B_a',

smooth equations with an invertible Jacobian, because the outputs q_a = G_a r are independent. On the faces w = N u,
with D = N'(X'X + lambda M(w)) N and M(w) = blockdiag((I - ww'/|w|^2)/|w|) (the paper prints M(w) for lambda M(w)),

    du/dy = D^-1 N'X',   du/dlambda = -D^-1 N'(w_a/|w_a|),   r = y - XN u,   alpha_a = |w_a| / lambda.

A matrix as large as the faces is inverted, whatever the number of rows is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, column, columns_of, middle, norm_squared, sqrt_upper, to_fmpq, to_vector
from relu_cert.path.conditions import active_classes, conditions
from relu_cert.prove.classes import ClassMap, class_map, constraints
from relu_cert.prove.facts import Facts
from relu_cert.prove.multipliers import exponent_of, on_grid
from relu_cert.prove.projection import stretch
from relu_cert.refine.newton import orthogonal_basis
from relu_cert.serialize import UNWRITTEN, Key

MOST_ROWS = 40  # the derivatives by y are n x n numbers
BITS = 400


@dataclass(frozen=True)
class Sensitivity:
    """Balls: the derivatives of the residual (the fit is y - r) and of the weights alpha at lambda, those by y with no
    column where n is large; the degrees of freedom trace(dfit/dy), and SURE where sigma is given."""

    dr_dlam: arb_mat
    dr_dy: arb_mat
    dalpha_dlam: arb_mat
    dalpha_dy: arb_mat
    freedom: arb
    sure: arb | None = None


def differentiable(facts: Facts) -> str:
    """ "" if all conditions are proved, else which one is not."""
    if facts.lam**2 >= facts.lambda_max.squared:
        if facts.lam**2 == facts.lambda_max.squared:
            return "lambda = lambda_max: a neuron ties that is not active"
        return ""
    known = conditions(facts)
    if known is None:
        return facts.unsettled or "the optimal set is not settled"
    if not known.unique:
        return "the optimal network is not unique, and some leave tied neurons out"
    idle = sum(1 for one in known.neurons if one.active is False)
    if idle:
        return f"E is not A: {idle} of {len(known.neurons)} tied neurons have weight zero"
    if not known.all_active:
        return "E may not be A: a neuron that may tie has no weight that is proved positive"
    if any(one.breaks for one in known.neurons):
        return "an active neuron can leave its face at no cost, and so it has no derivative"
    if not all(one.stable for one in known.neurons):
        return "an active neuron can leave its face at no cost, and whether it has a derivative is not settled"
    return ""


def not_differentiable(facts: Facts) -> bool:
    """Whether a condition that is needed is refuted."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return facts.lam**2 == facts.lambda_max.squared
    known = conditions(facts)
    if known is None:
        return False
    return known.some_idle or (known.all_active and any(one.breaks for one in known.neurons))


def sensitivity(facts: Facts, sigma: Fraction | None = None) -> Sensitivity:
    """Enclosures from the ball of the facts; ZeroDivisionError where it is too wide for them."""
    problem = facts.problem
    if differentiable(facts) or facts.lam**2 >= facts.lambda_max.squared:
        raise ValueError("the network is not proved to be differentiable here, or is zero")
    classes, masses, error = active_classes(facts)
    with ctx.workprec(BITS):
        maps = [class_map(problem, neuron) for neuron in classes]
        signs = [neuron.sign for neuron in classes]
        R = sqrt_upper(facts.fit.radius_squared, 64)
        r = arb_mat([[_ball(x, R)] for x in facts.dual.theta])
        alpha = [_ball(x, error) for x in masses]
        lam = arb(to_fmpq(facts.lam))
        bases = [
            _even(fmpq_mat(orthogonal_basis([constraints(problem, n)[k] for k in n.basis], one.X.ncols())))
            for n, one in zip(classes, maps, strict=True)
        ]
        found = _derivatives(maps, signs, bases, r, alpha, lam, by_y=problem.n <= MOST_ROWS)
        if sigma is None:
            return found
        noise = arb(to_fmpq(sigma * sigma))
        squared = sum((x * x for x in r.entries()), arb(0))
        return replace(found, sure=squared - problem.n * noise + 2 * noise * found.freedom)


def _even(basis: fmpq_mat) -> fmpq_mat:
    """The columns divided by their largest entries: another basis of the same space, with numbers of one size."""
    columns = [[basis[i, j] for i in range(basis.nrows())] for j in range(basis.ncols())]
    largest = [max((abs(x) for x in column), default=1) or 1 for column in columns]
    entries = [[column[i] / most for column, most in zip(columns, largest, strict=True)] for i in range(basis.nrows())]
    return fmpq_mat(entries) if columns else basis


def _ball(x: Fraction, radius: Fraction) -> arb:
    """A ball that holds all numbers within `radius` of x."""
    middle, reach = arb(to_fmpq(x)), arb(to_fmpq(radius))
    return middle + arb(0, 1) * reach


def _derivatives(
    maps: Sequence[ClassMap],
    signs: Sequence[int],
    bases: Sequence[fmpq_mat],
    r: arb_mat,
    alpha: Sequence[arb],
    lam: arb,
    *,
    by_y: bool,
) -> Sensitivity:
    """From the weights w_a = alpha_a B_a'r; the degrees of freedom are n - trace dr/dy."""
    N = [arb_mat(basis) for basis in bases]
    X = [arb_mat(one.X) * sign for one, sign in zip(maps, signs, strict=True)]
    w = [arb_mat(one.B()).transpose() * sign * r * a for one, sign, a in zip(maps, signs, alpha, strict=True)]
    sizes = [basis.ncols() for basis in N]
    reduced = _beside([X_a * N_a for X_a, N_a in zip(X, N, strict=True)], r.nrows())
    gram = reduced.transpose() * reduced
    D = arb_mat(gram)
    units, lengths, at = [], [], 0
    for N_a, w_a, size in zip(N, w, sizes, strict=True):
        length = sum((x * x for x in w_a.entries()), arb(0)).sqrt()
        unit = w_a * (1 / length)
        curved = N_a.transpose() * (_identity(w_a.nrows()) - unit * unit.transpose()) * N_a * (lam / length)
        for i in range(size):
            for j in range(size):
                D[at + i, at + j] += curved[i, j]
        units.append(N_a.transpose() * unit)
        lengths.append(length)
        at += size
    inverse = D.solve(_identity(D.nrows()), algorithm="precond")  # by elimination balls grow with every row
    spread = inverse * gram
    freedom = sum((spread[i, i] for i in range(spread.nrows())), arb(0))
    du_dlam = -(inverse * _below(units))
    du_dy = inverse * reduced.transpose() if by_y else arb_mat(inverse.nrows(), 0)
    dr_dlam, dr_dy = -(reduced * du_dlam), _identity(r.nrows()) - reduced * du_dy if by_y else arb_mat(0, 0)
    dalpha_dlam, dalpha_dy, at = [], [], 0
    for unit, length, size in zip(units, lengths, sizes, strict=True):
        along_lam, along_y = _rows(du_dlam, at, size), _rows(du_dy, at, size)
        dalpha_dlam.append(unit.transpose() * along_lam * (1 / lam) - arb_mat([[length / lam**2]]))
        dalpha_dy.append(unit.transpose() * along_y * (1 / lam))
        at += size
    return Sensitivity(dr_dlam, dr_dy, _below(dalpha_dlam), _below(dalpha_dy), freedom)


def _identity(n: int) -> arb_mat:
    return arb_mat(columns_of([[Fraction(int(i == j)) for j in range(n)] for i in range(n)]))


def _beside(columns: Sequence[arb_mat], n: int) -> arb_mat:
    rows = zip(*(A.tolist() for A in columns), strict=True)
    return arb_mat([[x for part in row for x in part] for row in rows]) if columns else arb_mat(n, 0)


def _below(parts: Sequence[arb_mat]) -> arb_mat:
    if not parts or not parts[0].ncols():
        return arb_mat(sum(A.nrows() for A in parts), 0)
    return arb_mat([row for A in parts for row in A.tolist()])


def _rows(A: arb_mat, at: int, size: int) -> arb_mat:
    return arb_mat(A.tolist()[at : at + size]) if A.ncols() else arb_mat(size, 0)


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
    bits = max(64, -exponent_of(system.R + system.error) + SPARE_BITS) if system.R + system.error else 256
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
    return _derivatives_derivatives(facts, system, ByLambda(alpha_lam, r_lam), by_y, _above(radius), noise, digits)


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
    return _derivatives_derivatives(facts, system, by_lam, by_y, Fraction(0), noise, digits)


def _derivatives_derivatives(
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


def _above(x: Fraction) -> Fraction:
    """x, or a little more, in few digits."""
    if not x:
        return x
    unit = Fraction(2) ** (exponent_of(x) - 10)
    return (x // unit + 2) * unit
