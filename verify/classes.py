"""The classes of an optimal set: faces on which the maximiser v(r) = P X'r of its piece is the same linear map for
every residual r of the ball |r - theta| <= R. FORMAT.md has the inequalities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import mul
from typing import Any

from flint import fmpq, fmpq_mat

from verify.bounds import column, dual_basis, identity, matrix, rational, root_above, rows
from verify.patterns import Patterns, mask_of
from verify.problem import SIGNS, Problem, square
from verify.text import Matrix, Node, Vector, show

NO_SIDES: Mapping[int, int] = {}


@dataclass(frozen=True)
class Ball:
    """|r - theta| <= R. Each perturbation below is at most a length |X| times R; `zeta_squared` is |Z|_F^2. More balls
    of this radius are around `beside`: what is said of all of them is said of their convex hull."""

    problem: Problem
    theta: Vector
    R_squared: Fraction
    beside: tuple[Vector, ...] = ()

    @cached_property
    def fine(self) -> dict[int, int]:
        """For each sign P', the rows whose t_k is not surely negative over the balls."""
        rows = list(enumerate(zip(self.theta, *self.beside, strict=True)))
        sure = {xi: [k for k, x in rows if all(xi * t < 0 and t * t > self.R_squared for t in x)] for xi in (1, -1)}
        return {xi: mask_of(k for k, _ in rows) & ~mask_of(sure[xi]) for xi in sure}

    @cached_property
    def residuals(self) -> fmpq_mat:
        """The coefficients of a polynomial, one column each: theta alone."""
        return column(self.theta)

    @cached_property
    def R(self) -> Fraction:
        """The radius, or a little more."""
        return root_above(self.R_squared)

    def holds(self, x: Sequence[Any], moved_squared: Any, node: Node, k: int) -> None:
        """Reject unless the number is positive, also after it has moved: x > 0 and x^2 > moved_squared."""
        if x[0] <= 0 or x[0] * x[0] <= moved_squared:
            expected = f"strictness that the ball cannot end at {k}: x > 0 and x^2 > {show(moved_squared)}"
            raise node.reject(expected, f"{show(x[0])}, its square {show(x[0] * x[0])}")

    @cached_property
    def Z(self) -> fmpq_mat:
        """Z as a matrix."""
        return matrix_of(self.problem.Z)

    @cached_property
    def zeta_squared(self) -> Fraction:
        """Zeta^2 = |Z|_F^2 >= |D Z|_F^2 for every D."""
        return frobenius(self.problem.Z)

    @cached_property
    def planes(self) -> dict[int, Plane]:
        """The hyperplanes z_k.u = 0 of the non-zero rows, by their names."""
        return planes_of(self.problem.Z)

    @cached_property
    def nonzero(self) -> int:
        """The rows that are not zero."""
        return mask_of(k for plane in self.planes.values() for k in plane.a)

    @cached_property
    def out_below(self) -> Fraction:
        """`threshold` for the pieces and patterns of networks."""
        return self.threshold(self.zeta_squared)

    def threshold(self, X_squared: Fraction) -> Fraction:
        """(lambda - |X| R)^2, or less: a block is out, for all r, if its bound is shorter than the root of this."""
        return max(self.problem.lam - root_above(X_squared * self.R_squared), Fraction(0)) ** 2


@dataclass(frozen=True)
class Plane:
    """Rows z_k = a_k z_c: with h = z_c.u, the sum of their t_k (z_k.u)_+ is p_c h for h > 0 and l_c h for h < 0."""

    a: dict[int, Fraction]

    def slopes(self, t: Vector) -> tuple[Fraction, Fraction]:
        """p_c = sum of a_k t_k over a_k > 0, and l_c, over a_k < 0."""
        p = sum((a_k * t[k] for k, a_k in self.a.items() if a_k > 0), Fraction(0))
        return p, sum((a_k * t[k] for k, a_k in self.a.items() if a_k < 0), Fraction(0))

    def squares(self) -> Vector:
        """The sums of a_k^2 over a_k > 0 and over a_k < 0."""
        return tuple(sum((a_k**2 for a_k in self.a.values() if xi * a_k > 0), Fraction(0)) for xi in (1, -1))


@lru_cache(maxsize=4)
def planes_of(Z: Matrix) -> dict[int, Plane]:
    """The hyperplanes z_k.u = 0 of the non-zero rows, by their names."""
    named: dict[Vector, dict[int, Fraction]] = {}
    for k, row in enumerate(Z):
        if lead := next((x for x in row if x), None):
            named.setdefault(tuple(x / lead for x in row), {})[k] = lead
    groups = ({k: lead / leads[min(leads)] for k, lead in leads.items()} for leads in named.values())
    return {min(a): Plane(a) for a in groups}


@lru_cache(maxsize=4)
def matrix_of(Z: Matrix) -> fmpq_mat:
    """Z as a matrix, which nobody changes."""
    return matrix(Z, len(Z[0]))


@dataclass(frozen=True)
class Class:
    """A neuron that can be active: v(r) = B'r (times the sign), output q(r) = B B'r with B = X P, |B|^2 <= bound.

    `key` is (the sign, D), (0, the pattern) or (0, the block), D and patterns as bit masks; `kinks` are the hyperplanes
    or constraints on which v vanishes, `zeros` the rows of these hyperplanes, `face` what was read of them.
    """

    key: tuple[int, int]
    kinks: tuple[int, ...]
    zeros: int
    B: fmpq_mat
    bound: Fraction
    face: Face | None = None


@dataclass(frozen=True)
class Face:
    """P, the projector on the complement of the basis; W with its row for each vector of the basis; `loose` kinks are
    in the span of the basis, each with its fixed part; `idle` ones need no multiplier."""

    kinks: tuple[int, ...]
    basis: tuple[int, ...]
    idle: tuple[int, ...]
    loose: dict[int, Fraction]
    P: fmpq_mat
    W: fmpq_mat


def read_class(
    ball: Ball,
    patterns: Patterns | None,
    node: Node,
    sides: Mapping[int, int] = NO_SIDES,
    known: Class | None = None,
) -> Class:
    """Reject unless the face, read before or not, is stable over the ball, or along a path."""
    if ball.problem.model != "relu":
        from verify.direct import read_block

        return read_block(ball, patterns, node)
    return read_relu(ball, node.record("sign", "pattern", "kinks", "basis", "idle", "fixed"), sides, known)


def read_relu(
    ball: Ball, fields: dict[str, Node], sides: Mapping[int, int] = NO_SIDES, known: Class | None = None
) -> Class:
    """v = P sum_D t_k z_k with v.z_k > 0 on D, < 0 off D and the kinks, and p_c <= mu_c <= l_c on the kinks; where only
    one side of a kink is looked at, p_c <= mu_c (side 1) or mu_c <= l_c (side -1) is enough."""
    Z, R_squared = ball.problem.Z, ball.R_squared
    class_, face = (known, known.face) if known and known.face else relu_class(ball, fields)
    xi, D = class_.key
    t, room = ball.residuals * xi, rational(ball.zeta_squared * R_squared)
    c_0 = on_rows(ball.Z, D).transpose() * t
    for k, (height, (z, q)) in enumerate(zip((ball.Z * (face.P * c_0)).tolist(), ball.problem.rows, strict=True)):
        if (ball.nonzero & ~class_.zeros) >> k & 1:
            moved = fmpq(sum(map(mul, z, z)), q * q) * room
            ball.holds(height if D >> k & 1 else [-x for x in height], moved, fields["pattern"], k)
    powers = rows(t.transpose())
    p, l = ({c: bent(ball.planes[c], powers, side) for c in face.kinks} for side in (0, 1))
    for c in face.idle:
        for slope, squared in zip((-p[c], l[c]), ball.planes[c].squares(), strict=True):
            if squared:
                ball.holds(slope.entries(), rational(squared * R_squared), fields["idle"], c)
    stretch = Fraction(1)
    for c, part in face.loose.items():
        bend, side = l[c] - p[c], sides.get(c, 0)
        moved = rational(sum(ball.planes[c].squares()) * R_squared)
        ball.holds((-bend if side else bend).entries(), moved, fields["kinks"], c)
        if not {0: 0 <= part <= 1, 1: part >= 1, -1: part <= 0}[side]:
            raise fields["fixed"].reject(f"a part between 0 and 1 for row {c}, or beyond its side", show(part))
        c_0 += column(Z[c]) * (l[c] - rational(part) * bend)
        stretch = max(stretch, part, 1 - part)  # c_0 has part t_k z_k and (1 - part) t_k z_k
    for c, W_c, push in zip(face.basis, rows(face.W), (face.W * c_0).tolist(), strict=True):
        mu, size = fmpq_mat(1, len(push), [-x for x in push]), square(tuple(W_c)) * ball.zeta_squared * stretch**2
        moved = rational(2 * (size + sum(ball.planes[c].squares())) * R_squared)
        if sides.get(c, 0) >= 0:
            ball.holds((mu - p[c]).entries(), moved, fields["basis"], c)
        if sides.get(c, 0) <= 0:
            ball.holds((l[c] - mu).entries(), moved, fields["basis"], c)
    return class_


def bent(plane: Plane, powers: Sequence[Sequence[Fraction]], side: int) -> fmpq_mat:
    """p_c (side 0) or l_c of a plane, by the coefficients of t."""
    return matrix([[plane.slopes(tuple(t))[side] for t in powers]], len(powers))


def relu_class(ball: Ball, fields: dict[str, Node]) -> tuple[Class, Face]:
    """A class as it is written: its sign, D and face; on idle kinks v vanishes whatever the residual."""
    D = fields["pattern"].pattern(ball.problem.n) & ball.nonzero
    face = read_face(ball.problem.Z, ball.problem.d, ball.planes, fields)
    zeros = mask_of(k for c in face.kinks for k in ball.planes[c].a)
    fields["kinks"].require(not zeros & D, "hyperplanes of rows where the pattern is 0")
    B = on_rows(ball.Z, D) * face.P
    check_idle(ball.problem.Z, face, B, fields["idle"])
    key = SIGNS[fields["sign"].text("+", "-")], D
    return Class(key, face.kinks, zeros, B, ball.zeta_squared, face), face


def check_idle(vectors: Sequence[Vector], face: Face, B: fmpq_mat, node: Node) -> None:
    """Reject unless v vanishes on the idle kinks whatever the residual."""
    for c in face.idle:
        if any((B * column(vectors[c])).entries()):
            raise node.reject(f"a kink on which v vanishes whatever the residual, at {c}")


def read_face(vectors: Sequence[Vector], dimension: int, names: Collection[int], fields: dict[str, Node]) -> Face:
    """Kinks among `names`; a basis among them that spans the loose ones, and idle ones."""
    kinks, basis, idle = (fields[key].ascending(len(vectors)) for key in ("kinks", "basis", "idle"))
    if any(k not in names for k in kinks):
        raise fields["kinks"].reject("names of hyperplanes (their smallest row), or constraints other than zero")
    fields["basis"].require(set(basis) <= set(kinks), "some of the kinks")
    fields["idle"].require(set(idle) <= set(kinks) - set(basis), "some of the kinks that are not in the basis")
    rest = [k for k in kinks if k not in basis and k not in idle]
    loose = dict(zip(rest, fields["fixed"].vector(len(rest)), strict=True))
    A = matrix((vectors[k] for k in basis), dimension)
    W = dual_basis(A)
    if W is None:
        raise fields["basis"].reject("independent vectors")
    P = identity(dimension) - A.transpose() * W
    if any((matrix((vectors[k] for k in rest), dimension) * P).entries()):
        raise fields["basis"].reject("a basis that spans the kinks that are not idle")
    return Face(kinks, basis, idle, loose, P, W)


def on_rows(Z: fmpq_mat, D: int) -> fmpq_mat:
    """D Z"""
    columns = Z.ncols()
    return fmpq_mat(Z.nrows(), columns, [z if D >> i // columns & 1 else 0 for i, z in enumerate(Z.entries())])


@lru_cache(maxsize=8)
def frobenius(A: Matrix) -> Fraction:
    """|A|_F^2"""
    return sum((square(row) for row in A), Fraction(0))
