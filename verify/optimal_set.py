"""The set of all optimal networks: its classes, the masses of its superclasses, a point strictly inside, its dimension.

FORMAT.md has the argument. Everything is said of every residual in the ball |r - theta| <= R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from verify.bounds import column, dual_basis, identity, matrix, root_above, stretches, vector
from verify.classes import Ball, Class, frobenius, read_class
from verify.outs import check_outs
from verify.patterns import Patterns
from verify.problem import Problem, dot, square
from verify.text import Node, Vector, show
from verify.value import Value


@dataclass(frozen=True)
class OptimalSet:
    """The polytope {alpha >= 0 : sum_a alpha_a q_a = fit}, `dimension` its own, with a weight for each of `classes`.

    `kinked` of the classes vanish on some row (relu) or constraint (direct problems), and of these `bends` are proved
    to have positive weight in a solution. If `exact`, the fact is `exact_set`: the dimension is 0 or at least 1, and
    only neurons with positive weight count as kinked.
    """

    classes: int
    dimension: int
    kinked: int
    bends: int
    exact: bool = False


@dataclass(frozen=True)
class Lift:
    """L by its basis, and Pi, the projector on its complement."""

    basis: fmpq_mat
    Pi: fmpq_mat
    length_squared: Fraction

    @property
    def dimension(self) -> int:
        """dim L"""
        return int(self.basis.nrows())


def check_optimal_set(
    problem: Problem, patterns: Patterns | None, theta: Vector, multipliers: Node, value: Value, node: Node
) -> OptimalSet:
    """Reject unless the fact holds. `multipliers` are those of `dual`, which have been checked."""
    fields = node.record("lift", "classes", "out", "sigma", "masses", "split", "tau")
    ball = Ball(problem, theta, 2 * (value.upper - value.lower))
    lift = read_lift(ball, fields["lift"])
    classes = [read_class(ball, patterns, entry) for entry in fields["classes"].array()]
    check_outs(ball, patterns, classes, multipliers, fields["out"])
    members = superclasses(lift, classes)
    outputs = [a.B * (a.B.transpose() * column(theta)) for a in classes]
    masses, delta = check_masses(ball, lift, classes, members, outputs, fields)
    dimension = len(classes) - len(members) - lift.dimension
    if lift.dimension == 0 and len(members) == len(classes):
        if fields["split"].vector(0) or fields["tau"].number():
            raise fields["tau"].reject('"0", because no mass is split')
        sure = [mass > delta for mass in masses]
    else:
        check_split(ball, lift, classes, members, outputs, (masses, delta), fields)
        sure = [True] * len(classes)
    bends = [bool(a.kinks) and positive for a, positive in zip(classes, sure, strict=True)]
    return OptimalSet(len(classes), dimension, sum(bool(a.kinks) for a in classes), sum(bends))


def read_lift(ball: Ball, node: Node) -> Lift:
    """Independent rows, each orthogonal to theta."""
    n = ball.problem.n
    rows = tuple(row.vector(n) for row in node.array())
    basis = matrix(rows, n)
    W = dual_basis(basis)
    if W is None:
        raise node.reject("independent rows")
    for k, row in enumerate(rows):
        if off := dot(row, ball.theta):
            raise node.item(k).reject("a row orthogonal to theta", f"row.theta = {show(off)}")
    return Lift(basis, identity(n) - basis.transpose() * W, frobenius(rows))


def superclasses(lift: Lift, classes: Sequence[Class]) -> list[list[int]]:
    """The classes with the same rational matrix Pi G Pi = (Pi B)(Pi B)', in the order of their first."""
    kernels: list[fmpq_mat] = []
    members: list[list[int]] = []
    for a, class_ in enumerate(classes):
        seen = lift.Pi * class_.B if lift.dimension else class_.B
        kernel = seen * seen.transpose()
        for known, group in zip(kernels, members, strict=True):
            if known == kernel:
                group.append(a)
                break
        else:
            kernels.append(kernel)
            members.append([a])
    return members


def check_masses(
    ball: Ball,
    lift: Lift,
    classes: Sequence[Class],
    members: Sequence[Sequence[int]],
    outputs: Sequence[fmpq_mat],
    fields: dict[str, Node],
) -> tuple[Vector, Fraction]:
    """The masses, and delta: the true ones, the same in all lifted solutions, are within delta of them."""
    R = root_above(ball.R_squared)
    A = side_by_side([lift.Pi * outputs[group[0]] for group in members], ball.problem.n)
    eps = root_above(Fraction(len(members))) * largest(classes) * R
    sigma = fields["sigma"].number()
    if sigma <= eps:
        raise fields["sigma"].reject(f"sigma > {show(eps)}, what the ball can change", show(sigma))
    if not stretches(A, sigma):
        raise fields["sigma"].reject("|A x| >= sigma |x| for all x", show(sigma))
    masses = fields["masses"].vector(len(members))
    fit = column(y_k - t_k for y_k, t_k in zip(ball.problem.y, ball.theta, strict=True))
    missed = length(A * column(masses) - lift.Pi * fit)
    return masses, (missed + R + eps * root_above(square(masses))) / (sigma - eps)


def check_split(
    ball: Ball,
    lift: Lift,
    classes: Sequence[Class],
    members: Sequence[Sequence[int]],
    outputs: Sequence[fmpq_mat],
    enclosed: tuple[Vector, Fraction],
    fields: dict[str, Node],
) -> None:
    """Reject unless some alpha > 0 near `split` has exactly the true masses and exactly the output y - r_L."""
    masses, delta = enclosed
    for s, mass in enumerate(masses):
        if mass <= delta:
            raise fields["masses"].reject(f"every mass > delta = {show(delta)}", f"{show(mass)} at {s}")
    R, n, k = root_above(ball.R_squared), ball.problem.n, len(classes)
    sums = [[Fraction(a in group) for a in range(k)] for group in members]
    in_L = lift.basis * side_by_side(outputs, n)
    F = fmpq_mat(len(members) + lift.dimension, k, [*matrix(sums, k).entries(), *in_L.entries()])
    e = root_above(k * lift.length_squared) * largest(classes) * R
    tau = fields["tau"].number()
    if tau <= e:
        raise fields["tau"].reject(f"tau > {show(e)}, what the ball can change", show(tau))
    if F.nrows() > k or not stretches(F.transpose(), tau):
        raise fields["tau"].reject("|F'x| >= tau |x| for all x", show(tau))
    split = fields["split"].vector(k)
    target = column((*masses, *vector(lift.basis * column(ball.problem.y))))
    off = (length(F * column(split) - target) + delta + e * root_above(square(split))) / (tau - e)
    for a, alpha in enumerate(split):
        if alpha <= off:
            raise fields["split"].reject(f"every weight > {show(off)}, its possible error", f"{show(alpha)} at {a}")


def largest(classes: Sequence[Class]) -> Fraction:
    """g, at least |G_a| for every class a."""
    return max((a.bound for a in classes), default=Fraction(0))


def side_by_side(columns: Sequence[fmpq_mat], n: int) -> fmpq_mat:
    """The n x len(columns) matrix with these columns."""
    entries = [column.entries() for column in columns]
    return fmpq_mat(n, len(entries), [entry[i] for i in range(n) for entry in entries])


def length(A: fmpq_mat) -> Fraction:
    """A rational >= the length of a vector."""
    return root_above(square(vector(A)))
