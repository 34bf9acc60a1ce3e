"""Classes: every neuron that an optimal network can have, as an exact rational map of the residual.

The optimal residual r* is the same for all solutions and lies in the ball |r* - theta| <= R, R^2 = 2 (upper - lower).
A block b can be active only if |v_b| = lambda for v_b = Proj_{C_b}(X_b'r*) (prop:sol-fn-cgl, canonical dual vector).
Where the projection keeps its face for all residuals of the ball, v_b = P X_b'r* with a rational projector P; blocks
with the same X P carry the same neuron and form one *class*. Its output is q = X P X'r* = G r*.

For ReLU X = P D Z (P = I without bags), and a class is a sign xi, the rows D where z_k.v > 0 and the kinks T, the
hyperplanes with z_c.v = 0 (parallel rows are one hyperplane, named by its smallest row). On one hyperplane the rows add
up to a function of h = z_c.u with slope p_c for h > 0 and l_c for h < 0, concave if p_c <= l_c. For all t = xi P'r, r
in the ball:

    v(t) = P_T sum_{k in D} t_k z_k,    z_k.v > 0 on D,    z_k.v < 0 off D and T,
    v(t) = sum_{k in D} t_k z_k + sum_{c in T} mu_c z_c   with   p_c < mu_c < l_c,

which are the optimality conditions of the concave pieces around v, so v is their only maximiser.

Subspaces L to which the residual seems to be orthogonal: proposals for the lifted proof.

Two things happen robustly, on open sets of data: Z'r* = 0 (then optimal neurons come in antipodal pairs), and
sum |a_k| r*_k = 0 over rows z_k = a_k z_c of one hyperplane that are switched together (a point that is fitted exactly,
or repeated points whose mean is: all patterns that differ only there tie). On symmetric data r*_j = r*_k or -r*_k for
points that a symmetry joins, and the neurons of one orbit tie: then e_j - e_k or e_j + e_k is in L. Floats propose;
whether r* is orthogonal to L is decided by the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray
from scipy.linalg import qr

from relu_cert.bags import EACH
from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    first_independent,
    matrix_of,
    norm_squared,
    recent,
    rows_of,
    to_fmpq,
    to_fraction,
    to_vector,
)
from relu_cert.problem.networks import parallel_classes as parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import NeuronClass

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
    biases: bool = False  # the norm does not see the last column, and P is the map of the face for that norm

    def is_same(self, other: ClassMap) -> bool:
        """Whether X and P are the same."""
        return self.X == other.X and self.P == other.P and self.biases == other.biases

    def B(self) -> fmpq_mat:
        """X P, so that G = B B'; with free biases without its last column."""
        B = self.X if self.free else self.X * self.P
        if self.biases:
            for k in range(B.nrows()):
                B[k, B.ncols() - 1] = 0
        return B

    def v(self, r: fmpq_mat) -> fmpq_mat:
        """v = P X'r"""
        c = self.X.transpose() * r
        return c if self.free else self.P * c

    def output(self, r: fmpq_mat) -> fmpq_mat:
        """q = G r"""
        return self.X * self.v(r)

    def length_squared(self, r: fmpq_mat) -> Fraction:
        """|v|^2 of v = B'r for one column r."""
        v = self.B().transpose() * r
        return to_fraction((v.transpose() * v)[0, 0])


@recent
def frobenius_squared(X: Matrix) -> Fraction:
    """|X|_F^2"""
    return sum((norm_squared(row) for row in X), Fraction(0))


def projector(rows: Sequence[Vector], p: int) -> fmpq_mat:
    """The orthogonal projector on {v in R^p : z.v = 0 for the rows}; the rows must be independent."""
    identity = fmpq_mat([[fmpq(int(i == j)) for j in range(p)] for i in range(p)])
    if not rows:
        return identity
    A = matrix_of(rows)
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
    own = neuron.block is None
    X = problem.relu.block(neuron.pattern or "") if own else problem.blocks[neuron.block or 0].matrix
    rows = constraints(problem, neuron)
    P = projector([rows[k] for k in neuron.basis], X.ncols())
    if has_biases(problem):
        G = P + last_column(P) * bias_row(P) if neuron.basis else P
        return ClassMap(X, G, biases=True)
    return ClassMap(X, P, not neuron.basis)


def has_biases(problem: Problem) -> bool:
    """Whether the norm leaves out the last entry of the weights."""
    return "biases" in problem.free


def last_column(A: fmpq_mat) -> fmpq_mat:
    """The column of the bias."""
    return fmpq_mat([[A[i, A.ncols() - 1]] for i in range(A.nrows())])


def bias_row(P: fmpq_mat) -> fmpq_mat:
    """p' / (1 - p.p), p the last column of the projector P on a face: the bias that a neuron of the face has."""
    return last_column(P).transpose() * (1 / (1 - P[P.nrows() - 1, P.nrows() - 1]))


def size_squared(problem: Problem) -> Fraction:
    """zeta^2; with free biases times the largest |z_k|^4, which bounds what a bias adds."""
    network = problem.relu
    return network.size_squared * (max(map(norm_squared, network.Z)) ** 2 if has_biases(problem) else 1)


def is_stable(problem: Problem, neuron: NeuronClass, ball: Ball) -> bool:
    """Whether v = P X'r is the projection's face for every residual of the ball (the conditions above)."""
    rows = constraints(problem, neuron)
    if not (rows or neuron.kinks):  # a free block has one face
        return True
    if not _kinks_are_kinks(problem, rows, neuron):
        return False
    R2 = to_fmpq(ball.radius_squared)
    found = face_conditions(problem, neuron, column(ball.center))
    return all(x > 0 and x * x > moved * R2 for (x,), moved in found)


def spans(basis: Sequence[Vector], others: Sequence[Vector]) -> bool:
    """Whether the basis is independent and every other vector lies in its span."""
    if not basis:
        return not any(any(row) for row in others)
    A = matrix_of(basis)
    if A.rank() < len(basis):
        return False
    return bool(matrix_of((*basis, *others)).rank() == len(basis))


def loose_kinks(neuron: NeuronClass) -> list[int]:
    """The kinks that `fixed` speaks of, in order."""
    return [k for k in neuron.kinks if k not in neuron.basis and k not in neuron.idle]


def _kinks_are_kinks(problem: Problem, rows: Matrix, neuron: NeuronClass) -> bool:
    """Whether z_k.v = 0 on every kink for every residual, spanned by the basis or idle, and fixed parts are in their
    bounds; ReLU: whether the pattern is 1 on no kink and on no row that is zero."""
    loose = loose_kinks(neuron)
    if not set(neuron.basis) | set(neuron.idle) <= set(neuron.kinks) or set(neuron.basis) & set(neuron.idle):
        return False
    if not spans([rows[k] for k in neuron.basis], [rows[k] for k in loose]) or not idle_is_idle(problem, neuron):
        return False
    if problem.network is None:
        return all(rho >= 0 for rho in neuron.fixed)
    planes, sides = parallel_classes(rows), dict(neuron.sides)
    if any(c not in planes for c in neuron.kinks):
        return False
    lit = {k for c, plane in planes.items() if c not in neuron.kinks for k in plane}
    inside = {0: lambda f: 0 <= f <= 1, 1: lambda f: f >= 1, -1: lambda f: f <= 0}
    return all(k in lit for k, bit in enumerate(neuron.pattern or "") if bit == "1") and all(
        inside[sides.get(c, 0)](f) for c, f in zip(loose, neuron.fixed, strict=True)
    )


def idle_is_idle(problem: Problem, neuron: NeuronClass) -> bool:
    """Whether v vanishes on the idle kinks whatever the residual: B z_c = 0."""
    rows, B = constraints(problem, neuron), class_map(problem, neuron).B()
    return not any(any((B * column(rows[c])).entries()) for c in neuron.idle)


def slopes(rows: dict[int, Fraction], t: Vector) -> tuple[Fraction, Fraction]:
    """The slopes of sum_k t_k (z_k.u)_+ over one class, as a function of h = z_c.u: p for h > 0, l for h < 0."""
    right = sum((a * t[k] for k, a in rows.items() if a > 0), Fraction(0))
    left = sum((a * t[k] for k, a in rows.items() if a < 0), Fraction(0))
    return right, left


def moving_slopes(plane: dict[int, Fraction], t: fmpq_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """The same for every column of t, as rows."""
    right, left = (fmpq_mat([[to_fmpq(a) if a * side > 0 else fmpq(0) for a in plane.values()]]) for side in (1, -1))
    here = fmpq_mat([[t[k, j] for j in range(t.ncols())] for k in plane])
    return right * here, left * here


Condition = tuple[list[fmpq], fmpq]


def face_conditions(problem: Problem, neuron: NeuronClass, S: fmpq_mat) -> Iterator[Condition]:
    """What is positive where the class has its face at s: heights of v = P X's, and multipliers inside their bounds.
    The columns of S are the coefficients of a path s(tau), or one point. Each condition comes with the square of what
    it changes with s at most."""
    return _direct_conditions(problem, neuron, S) if problem.network is None else _relu_conditions(problem, neuron, S)


@recent
def _squares(Z: Matrix) -> list[fmpq]:
    """The squared lengths of the rows."""
    return [to_fmpq(norm_squared(z)) for z in Z]


def _relu_conditions(problem: Problem, neuron: NeuronClass, S: fmpq_mat) -> Iterator[Condition]:
    Z, planes, one = problem.relu.Z, parallel_classes(problem.relu.Z), class_map(problem, neuron)
    bags, sides, zeta = problem.relu.bags, dict(neuron.sides), to_fmpq(size_squared(problem))
    s = S if neuron.sign > 0 else -S
    t = bags.spread_matrix(s)
    bent = {c: moving_slopes(planes[c], t) for c in neuron.kinks}
    squares = {
        c: [to_fmpq(bags.moved_squared({k: a for k, a in planes[c].items() if a * side > 0})) for side in (1, -1)]
        for c in neuron.kinks
    }
    both = {c: to_fmpq(bags.moved_squared({k: abs(a) for k, a in planes[c].items()})) for c in neuron.kinks}
    for c in neuron.idle:
        for slope, squared in zip((-bent[c][0], bent[c][1]), squares[c], strict=True):
            if squared:
                yield slope.entries(), squared
    start, stretch = one.X.transpose() * s, Fraction(1)
    projected = one.P * start
    for c, f in zip(loose_kinks(neuron), neuron.fixed, strict=True):
        right, left = bent[c]
        yield (right - left if sides.get(c) else left - right).entries(), both[c]
        start += column(Z[c]) * (left + (right - left) * to_fmpq(f))
        stretch = max(stretch, f, 1 - f)
    zeros = {k for c in neuron.kinks for k in planes[c]}
    on = neuron.pattern or ""
    for k, (height, squared) in enumerate(zip((rows_of(Z) * projected).tolist(), _squares(Z), strict=True)):
        if squared and k not in zeros:
            yield height if on[k] == "1" else [-x for x in height], squared * zeta
    W = _dual_basis([Z[c] for c in neuron.basis])
    if one.biases:
        W += last_column(W) * bias_row(projector([Z[c] for c in neuron.basis], len(Z[0])))
    for c, w, push in zip(neuron.basis, W.tolist(), (W * start).tolist(), strict=True) if neuron.basis else ():
        below, above = (side.entries() for side in bent[c])
        size = sum((x * x for x in w), fmpq(0)) * zeta * to_fmpq(stretch) ** 2
        moved = 2 * (size + both[c])
        if sides.get(c, 0) >= 0:
            yield [-m - a for m, a in zip(push, below, strict=True)], moved
        if sides.get(c, 0) <= 0:
            yield [b + m for m, b in zip(push, above, strict=True)], moved


def _direct_conditions(problem: Problem, neuron: NeuronClass, S: fmpq_mat) -> Iterator[Condition]:
    K, one = constraints(problem, neuron), class_map(problem, neuron)
    size = to_fmpq(problem.blocks[neuron.block or 0].size_squared)
    start = one.X.transpose() * S
    v = one.P * start
    for k, K_k in enumerate(K):
        if any(K_k) and k not in neuron.kinks:
            yield (-(column(K_k).transpose() * v)).entries(), to_fmpq(norm_squared(K_k)) * size
    for k, rho in zip(loose_kinks(neuron), neuron.fixed, strict=True):
        for j, x in enumerate(K[k]):
            start[j, 0] -= to_fmpq(rho * x)
    W = _dual_basis([K[k] for k in neuron.basis])
    for w, row in zip(W.tolist(), (W * start).tolist(), strict=True) if neuron.basis else ():
        yield row, sum((x * x for x in w), fmpq(0)) * size


def _dual_basis(basis: Sequence[Vector]) -> fmpq_mat:
    """(A A')^-1 A, the rows of A the basis."""
    A = matrix_of(basis)
    return (A * A.transpose()).solve(A) if basis else A


SEEMS_ZERO = 1e-6  # relative; a wrong proposal costs time, never a verdict
MOST_ROWS = 2**12  # of data in which symmetries, which join pairs of them, are looked for
SEEMS_EQUAL = 1e-12  # likewise
MOST_RELATED, LARGEST_ENTRY = 24, 16  # rows among which integer relations are looked for, and what is in these


def proposed_lifts(problem: Problem, theta: NDArray[np.float64]) -> list[Matrix]:
    """Bases of subspaces worth trying, the plain one (no rows) first."""
    lifts: list[Matrix] = [()]
    fitted, ranges = orthogonal_rows(problem, theta, SEEMS_ZERO)
    equal = integer_relations([theta]) or equal_entries(theta)
    for proposal in (fitted, ranges, (*fitted, *ranges), equal, (*equal, *fitted), (*equal, *fitted, *ranges)):
        basis = independent(proposal)
        if basis and basis not in lifts:
            lifts.append(basis)
    return lifts


def orthogonal_rows(problem: Problem, theta: NDArray[np.float64], seems: float) -> tuple[Matrix, Matrix]:
    """Vectors to which theta seems to be orthogonal: of rows that are switched together, and the columns of Z."""
    size = float(np.linalg.norm(theta))
    fitted: list[Vector] = []
    ranges: Matrix = ()
    rows_of_Z, bags = data_of(problem), EACH if problem.network is None else problem.network.bags
    if rows_of_Z:
        t, little = bags.spread_floats(theta), seems * size * bags.widest
        for rows in parallel_classes(rows_of_Z).values():
            for together in ([k for k, a in rows.items() if a > 0], [k for k, a in rows.items() if a < 0], [*rows]):
                if together and abs(sum(abs(float(rows[k])) * t[k] for k in together)) <= little:
                    fitted.append(bags.pooled(_entries({k: abs(rows[k]) for k in together}, len(rows_of_Z))))
        Z = np.array([[float(x) for x in z] for z in rows_of_Z])
        if np.linalg.norm(Z.T @ t) <= seems * size * np.linalg.norm(bags.pooled_floats(Z)):
            ranges = tuple(bags.pooled(column) for column in zip(*rows_of_Z, strict=True))
    return tuple(dict.fromkeys(fitted)), ranges


def _entries(entries: Mapping[int, Fraction], n: int) -> Vector:
    """The vector with these entries, and 0 elsewhere."""
    return tuple(entries.get(k, Fraction(0)) for k in range(n))


def equal_entries(theta: NDArray[np.float64], seems: float = SEEMS_EQUAL) -> Matrix:
    """e_j - e_k or e_j + e_k for entries that seem to be equal or opposite: those that a symmetry of the data joins."""
    size = float(np.abs(theta).max(initial=0.0))
    if len(theta) > MOST_ROWS or (np.diff(np.sort(np.abs(theta))) > seems * size).all():
        return ()  # most data have no symmetry
    rows: list[Vector] = []
    for k, x in enumerate(theta):
        for j, z in enumerate(theta[:k]):
            sign = next((s for s in (1, -1) if abs(x - s * z) <= seems * size), 0)
            if sign and abs(x) > SEEMS_ZERO * size:
                rows.append(tuple(Fraction(-sign * (i == j) + (i == k)) for i in range(len(theta))))
                break
    return tuple(rows)


def integer_relations(thetas: Sequence[NDArray[np.float64]], seems: float = SEEMS_EQUAL) -> Matrix:
    """Integer vectors to which all of these seem to be orthogonal, if there are few rows, by lattice reduction: shorter
    ones than those that any numbers have."""
    n = len(thetas[0])
    if n > MOST_RELATED:
        return ()
    scaled = [theta / (seems * float(np.abs(theta).max(initial=0.0)) or 1.0) for theta in thetas]
    rows = [[*(int(i == k) for k in range(n)), *(round(float(theta[i])) for theta in scaled)] for i in range(n)]
    reduced = [[int(x) for x in row] for row in fmpz_mat(rows).lll().tolist()] if n else []
    most = min(LARGEST_ENTRY, seems ** (-1.0 / (n + 1)) / 4.0)
    short = (row for row in reduced if max(map(abs, row)) <= most)
    return tuple(tuple(map(Fraction, row[:n])) for row in short)


def data_of(problem: Problem) -> Matrix:
    """Z of a network, over all patterns or over some; no rows for a direct problem."""
    source = problem.source
    return () if source is None else source.Z


def independent(rows: Matrix) -> Matrix:
    """A basis of the span, taken from the rows."""
    return tuple(rows[j] for j in first_independent(rows))


def orthogonal_part(theta: Vector, lift: Matrix) -> Vector:
    """theta, moved in as few entries as L has dimensions, so that it is orthogonal to L, exactly.

    A projection would move it less, but make every entry as long as the determinant of the basis: the entries that are
    moved are those where the basis is largest (pivots of its elimination).
    """
    if not lift:
        return theta
    _, _, pivots = qr(np.array([[float(x) for x in row] for row in lift]), mode="economic", pivoting=True)
    places = sorted(int(k) for k in pivots[: len(lift)])
    L = matrix_of(lift)
    inside = matrix_of([[row[k] for k in places] for row in lift])
    moved = dict(zip(places, to_vector(inside.solve(L * column(theta))), strict=True))
    return tuple(x - moved.get(k, 0) for k, x in enumerate(theta))
