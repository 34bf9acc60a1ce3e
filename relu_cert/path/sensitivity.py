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

from flint import arb, arb_mat, ctx, fmpq_mat

from relu_cert.exact import sqrt_upper
from relu_cert.path.conditions import active_classes, conditions
from relu_cert.prove.classes import ClassMap, class_map, constraints
from relu_cert.prove.facts import Facts
from relu_cert.rationals import columns_of, to_fmpq
from relu_cert.refine.exact_faces import orthogonal_basis

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
