"""Classes: every neuron that an optimal network can have, as an exact rational map of the residual.

The optimal residual r* is the same for all solutions and lies in the ball |r* - theta| <= R, R^2 = 2 (upper - lower).
A block b can be active only if |v_b| = lambda for v_b = Proj_{C_b}(X_b'r*) (prop:sol-fn-cgl, canonical dual vector).
Where the projection keeps its face for all residuals of the ball, v_b = P X_b'r* with a rational projector P; blocks
with the same X P carry the same neuron and form one *class*. Its output is q = X P X'r* = G r*.

For ReLU a class is a sign xi, the rows D where z_k.v > 0 and the kinks T, the hyperplanes with z_c.v = 0 (parallel rows
are one hyperplane, named by its smallest row). On one hyperplane the rows add up to a function of h = z_c.u with slope
p_c for h > 0 and l_c for h < 0, concave if p_c <= l_c. For all t = xi r of the ball:

    v(t) = P_T sum_{k in D} t_k z_k,    z_k.v > 0 on D,    z_k.v < 0 off D and T,
    v(t) = sum_{k in D} t_k z_k + sum_{c in T} mu_c z_c   with   p_c < mu_c < l_c,

which are the optimality conditions of the concave pieces around v, so v is their only maximiser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from flint import fmpq, fmpq_mat

from relu_cert.exact import Matrix, Scaled, Vector, dot, norm_squared, scaled_rows
from relu_cert.problem.hyperplanes import parallel_classes as parallel_classes
from relu_cert.problem.model import Problem
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.projection import combine
from relu_cert.rationals import rows_of as rows_of
from relu_cert.rationals import to_fmpq as to_fmpq
from relu_cert.rationals import to_fraction as to_fraction
from relu_cert.recent import recent

MOST_MAPS = 1024


@dataclass(frozen=True)
class Ball:
    """All residuals r with |r - center|^2 <= radius_squared; r* is one of them."""

    center: Vector
    radius_squared: Fraction


@dataclass(frozen=True)
class ClassMap:
    """The exact map of a class: X (n x p, rows off D are zero) and the projector P, as flint matrices."""

    X: fmpq_mat
    P: fmpq_mat
    free: bool = False  # P is the identity

    def B(self) -> fmpq_mat:
        """X P, so that G = B B'."""
        return self.X if self.free else self.X * self.P

    def output(self, r: fmpq_mat) -> fmpq_mat:
        """q = G r"""
        c = self.X.transpose() * r
        return self.X * (c if self.free else self.P * c)

    def length_squared(self, r: fmpq_mat) -> Fraction:
        """|v|^2 of v = P X'r for one column r."""
        v = self.P * (self.X.transpose() * r)
        return to_fraction((v.transpose() * v)[0, 0])


@recent
def _integers(Z: Matrix) -> tuple[list[list[int]], int]:
    """The rows of Z in integers, and their common denominator."""
    return scaled_rows(Z)


@recent
def _squares(Z: Matrix) -> list[int]:
    """The squared lengths of these rows."""
    return [sum(x * x for x in z) for z in _integers(Z)[0]]


_scaled = recent(Scaled.of)


def _sum_of_rows(Z: Matrix, t: Vector, chosen: Sequence[int], sign: int) -> Vector:
    """sign times the sum of t_k z_k over the chosen rows."""
    N, q = _integers(Z)
    r = _scaled(t)
    total = [sum(r.entries[k] * N[k][j] for k in chosen) for j in range(len(Z[0]))]
    return tuple(Fraction(sign * x, q * r.denominator) for x in total)


@recent
def frobenius_squared(X: Matrix) -> Fraction:
    """|X|_F^2"""
    return sum((norm_squared(row) for row in X), Fraction(0))


def column(a: Sequence[Fraction]) -> fmpq_mat:
    """The vector as an n x 1 flint matrix."""
    return fmpq_mat([[to_fmpq(x)] for x in a])


def to_vector(a: fmpq_mat) -> Vector:
    """All entries, row by row."""
    return tuple(to_fraction(x) for x in a.entries())


def projector(rows: Sequence[Vector], p: int) -> fmpq_mat:
    """The orthogonal projector on {v in R^p : z.v = 0 for the rows}; the rows must be independent."""
    identity = fmpq_mat([[fmpq(int(i == j)) for j in range(p)] for i in range(p)])
    if not rows:
        return identity
    A = fmpq_mat([[to_fmpq(x) for x in row] for row in rows])
    return identity - A.transpose() * (A * A.transpose()).solve(A)


def constraints(problem: Problem, neuron: NeuronClass) -> Matrix:
    """The vectors that the kinks index: the rows of Z (ReLU), or the columns of K_b."""
    if neuron.block is None:
        return problem.relu.Z
    K = problem.blocks[neuron.block].K
    return () if K is None else tuple(zip(*K, strict=True))


@recent
def _maps(problem: Problem) -> dict[NeuronClass, ClassMap]:
    """The maps that were made."""
    return {}


def class_map(problem: Problem, neuron: NeuronClass) -> ClassMap:
    """X and P of a class."""
    made = _maps(problem)
    if neuron not in made:
        if len(made) >= MOST_MAPS:
            made.clear()
        made[neuron] = _class_map(problem, neuron)
    return made[neuron]


def _class_map(problem: Problem, neuron: NeuronClass) -> ClassMap:
    if neuron.block is None:
        Z = rows_of(problem.relu.Z)
        zero = [fmpq(0)] * Z.ncols()
        X = fmpq_mat([row if on == "1" else zero for row, on in zip(Z.tolist(), neuron.pattern or "", strict=True)])
    else:
        X = problem.blocks[neuron.block].matrix
    rows = constraints(problem, neuron)
    return ClassMap(X, projector([rows[k] for k in neuron.basis], X.ncols()), not neuron.basis)


def is_stable(problem: Problem, neuron: NeuronClass, ball: Ball) -> bool:
    """Whether v = P X'r is the projection's face for every residual of the ball (the conditions above)."""
    rows = constraints(problem, neuron)
    if not (rows or neuron.kinks):  # a free block has one face
        return True
    if not _kinks_are_kinks(rows, neuron, class_map(problem, neuron)):
        return False
    if problem.network is not None:
        return _stable_relu(problem.network.Z, neuron, ball)
    return _stable_direct(problem, neuron, ball)


def spans(basis: Sequence[Vector], others: Sequence[Vector]) -> bool:
    """Whether the basis is independent and every other vector lies in its span."""
    if not basis:
        return not any(any(row) for row in others)
    A = fmpq_mat([[to_fmpq(x) for x in row] for row in basis])
    if A.rank() < len(basis):
        return False
    return bool(fmpq_mat([[to_fmpq(x) for x in row] for row in (*basis, *others)]).rank() == len(basis))


def loose_kinks(neuron: NeuronClass) -> list[int]:
    """The kinks that `fixed` speaks of, in order."""
    return [k for k in neuron.kinks if k not in neuron.basis and k not in neuron.idle]


def _kinks_are_kinks(rows: Matrix, neuron: NeuronClass, one: ClassMap) -> bool:
    """Whether z_k.v = 0 on every kink for every residual: spanned by the basis, or orthogonal to P X' (idle)."""
    if not set(neuron.basis) | set(neuron.idle) <= set(neuron.kinks) or set(neuron.basis) & set(neuron.idle):
        return False
    if not spans([rows[k] for k in neuron.basis], [rows[k] for k in loose_kinks(neuron)]):
        return False
    return not any(any((one.B() * column(rows[k])).entries()) for k in neuron.idle)


def _never_positive(slope: Fraction, rows: dict[int, Fraction], side: int, R2: Fraction) -> bool:
    """Whether the slope is <= 0 over the ball: no rows on this side, or negative by more than R moves it."""
    size2 = sum((a * a for a in rows.values() if a * side > 0), Fraction(0))
    return slope < 0 and slope**2 > size2 * R2 if size2 else slope == 0


def slopes(rows: dict[int, Fraction], t: Vector) -> tuple[Fraction, Fraction]:
    """The slopes of sum_k t_k (z_k.u)_+ over one class, as a function of h = z_c.u: p for h > 0, l for h < 0."""
    right = sum((a * t[k] for k, a in rows.items() if a > 0), Fraction(0))
    left = sum((a * t[k] for k, a in rows.items() if a < 0), Fraction(0))
    return right, left


def _stable_relu(Z: Matrix, neuron: NeuronClass, ball: Ball) -> bool:
    t = ball.center if neuron.sign > 0 else tuple(-x for x in ball.center)
    R2, zeta2 = ball.radius_squared, frobenius_squared(Z)
    classes = parallel_classes(Z)
    if any(c not in classes for c in neuron.kinks):
        return False
    kinks = {k for c in neuron.kinks for k in classes[c]}
    on = {k for k, bit in enumerate(neuron.pattern or "") if bit == "1"}
    kink_slopes = {c: slopes(classes[c], t) for c in neuron.kinks}
    size2 = {c: norm_squared(tuple(classes[c].values())) for c in neuron.kinks}
    for c in neuron.idle:
        right, left = kink_slopes[c]
        if not (_never_positive(right, classes[c], 1, R2) and _never_positive(-left, classes[c], -1, R2)):
            return False
    loose = loose_kinks(neuron)
    weights: dict[int, Fraction] = {}
    sides = dict(neuron.sides)
    for c, f in zip(loose, neuron.fixed, strict=True):
        right, left = kink_slopes[c]
        within = {0: 0 <= f <= 1 and right < left, 1: f >= 1 and left < right, -1: f <= 0 and left < right}
        if not (within[sides.get(c, 0)] and (left - right) ** 2 > size2[c] * R2):
            return False
        weights[c] = left + f * (right - left)
    lit = _sum_of_rows(Z, ball.center, sorted(on), neuron.sign)
    start = combine([lit, *(Z[c] for c in weights)], [Fraction(1), *weights.values()])
    m, W = _multipliers([Z[c] for c in neuron.basis], start)
    v = combine([start, *(Z[c] for c in neuron.basis)], [Fraction(1), *m])
    (u,), p = scaled_rows([v])
    room = zeta2 * R2 * p * p  # height^2 > |z|^2 Zeta^2 R^2, in units in which Z and v are integers
    top, bottom = room.numerator, room.denominator
    for k, (z, squared) in enumerate(zip(_integers(Z)[0], _squares(Z), strict=True)):
        if k in kinks or not squared:
            if k in on:
                return False
            continue
        height = sum(map(mul, z, u)) * (1 if k in on else -1)
        if not (height > 0 and height**2 * bottom > squared * top):
            return False
    for mu, w, c in zip(m, W, neuron.basis, strict=True):
        right, left = kink_slopes[c]
        move2 = 2 * (norm_squared(w) * zeta2 + size2[c]) * R2
        above = mu > right and (mu - right) ** 2 > move2
        below = mu < left and (left - mu) ** 2 > move2
        if not {0: above and below, 1: above, -1: below}[sides.get(c, 0)]:
            return False
    return True


def _stable_direct(problem: Problem, neuron: NeuronClass, ball: Ball) -> bool:
    block = problem.blocks[neuron.block or 0]
    rows = constraints(problem, neuron)
    R2 = ball.radius_squared
    xi2 = block.size_squared
    c = list(block.correlation(Scaled.of(ball.center)))
    loose = loose_kinks(neuron)
    for k, rho in zip(loose, neuron.fixed, strict=True):
        c = [x - rho * y for x, y in zip(c, rows[k], strict=True)]
    m, W = _multipliers([rows[k] for k in neuron.basis], c)
    v = [
        x + sum((m_k * rows[k][j] for m_k, k in zip(m, neuron.basis, strict=True)), Fraction(0))
        for j, x in enumerate(c)
    ]
    kinks = set(neuron.kinks)
    for k, row in enumerate(rows):
        if k in kinks or not any(row):
            continue
        depth = -dot(row, v)
        if not (depth > 0 and depth**2 > norm_squared(row) * xi2 * R2):
            return False
    if not all(m_k < 0 and m_k**2 > norm_squared(w) * xi2 * R2 for m_k, w in zip(m, W, strict=True)):
        return False
    return all(rho >= 0 for rho in neuron.fixed)


def _multipliers(basis: Sequence[Vector], c: Sequence[Fraction]) -> tuple[Vector, Matrix]:
    """m with c + sum m_i a_i orthogonal to the basis, and the rows W_i with m = -W c."""
    if not basis:
        return (), ()
    A = fmpq_mat([[to_fmpq(x) for x in row] for row in basis])
    W = (A * A.transpose()).solve(A)
    rows = tuple(tuple(to_fraction(x) for x in row) for row in W.tolist())
    return tuple(-dot(row, c) for row in rows), rows
