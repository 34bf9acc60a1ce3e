"""The classes of an optimal set: faces on which the maximiser v(r) = P X'r of its piece is the same linear map for
every residual r of the ball |r - theta| <= R. FORMAT.md has the inequalities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from verify.bounds import column, dual_basis, identity, matrix, root_above, vector
from verify.patterns import Patterns, mask_of
from verify.primal import FIRST, SIGNS
from verify.problem import Problem, square, transposed
from verify.text import Matrix, Node, Vector, show


@dataclass(frozen=True)
class Ball:
    """|r - theta| <= R. Each perturbation below is at most a length |X| times R; `zeta_squared` is |Z|_F^2."""

    problem: Problem
    theta: Vector
    R_squared: Fraction

    @cached_property
    def Z(self) -> fmpq_mat:
        """Z as a matrix."""
        return matrix(self.problem.Z, self.problem.d)

    @cached_property
    def zeta_squared(self) -> Fraction:
        """Zeta^2 = |Z|_F^2 >= |D Z|_F^2 for every D."""
        return frobenius(self.problem.Z)

    @cached_property
    def out_below(self) -> Fraction:
        """`threshold` for the pieces and patterns of networks."""
        return self.threshold(self.zeta_squared)

    def threshold(self, X_squared: Fraction) -> Fraction:
        """(lambda - |X| R)^2, or less: a block is out, for all r, if its bound is shorter than the root of this."""
        return max(self.problem.lam - root_above(X_squared * self.R_squared), Fraction(0)) ** 2


@dataclass(frozen=True)
class Class:
    """A neuron that can be active: v(r) = B'r (times the sign), output q(r) = B B'r with B = X P, |B|^2 <= bound.

    `key` is (the sign, the pattern's bits), (0, the pattern's bits) or (0, the block); `kinks` the rows or constraints
    on which v vanishes.
    """

    key: tuple[int, int]
    kinks: tuple[int, ...]
    B: fmpq_mat
    bound: Fraction


@dataclass(frozen=True)
class Face:
    """P, the projector on the complement of the kinks' vectors; W with its row for each vector of the basis."""

    kinks: tuple[int, ...]
    basis: tuple[int, ...]
    fixed: dict[int, Fraction]
    P: fmpq_mat
    W: Matrix


def read_class(ball: Ball, patterns: Patterns | None, node: Node) -> Class:
    """Reject unless the face is stable over the ball."""
    problem = ball.problem
    if problem.model == "gated":
        pattern = node.record("pattern")["pattern"]
        mask = pattern.pattern(problem.n)
        if patterns is None or mask not in patterns:
            raise pattern.reject("a pattern in D_Z, by the fact patterns")
        return Class((0, mask), (), on_rows(ball.Z, mask), ball.zeta_squared)
    first = FIRST[problem.model]
    fields = node.record(first, *(("pattern",) if first == "sign" else ()), "kinks", "basis", "fixed")
    return read_relu(ball, fields) if first == "sign" else read_direct(ball, fields)


def read_relu(ball: Ball, fields: dict[str, Node]) -> Class:
    """v = P sum_D t_k z_k with v.z_k > 0 on D, < 0 off D and the kinks, and t_k <= m_k <= 0 on the kinks."""
    Z, n = ball.problem.Z, ball.problem.n
    xi = SIGNS[fields["sign"].text("+", "-")]
    t = tuple(xi * x for x in ball.theta)
    nonzero = mask_of(k for k in range(n) if any(Z[k]))
    D = fields["pattern"].pattern(n) & nonzero
    face = read_face(Z, ball.problem.d, fields)
    T = mask_of(face.kinks)
    if T & D:
        raise fields["kinks"].reject("rows where the pattern is 0")
    c_D = ball.Z.transpose() * column(t_k if D >> k & 1 else Fraction(0) for k, t_k in enumerate(t))
    for k, s in enumerate(vector(ball.Z * (face.P * c_D))):
        if (nonzero & ~T) >> k & 1:
            positive(s if D >> k & 1 else -s, square(Z[k]) * ball.zeta_squared * ball.R_squared, fields["pattern"], k)
    c = vector(c_D)
    for k, a_k in face.fixed.items():
        positive(-t[k], ball.R_squared, fields["kinks"], k)
        if not 0 <= a_k <= 1:
            raise fields["fixed"].reject(f"a part between 0 and 1 of t_k for row {k}", show(a_k))
        c = tuple(c_j + a_k * t[k] * z_kj for c_j, z_kj in zip(c, Z[k], strict=True))
    for k, W_k in zip(face.basis, face.W, strict=True):
        m_k = -sum((w * x for w, x in zip(W_k, c, strict=True)), Fraction(0))
        moved = square(W_k) * ball.zeta_squared
        positive(-m_k, moved * ball.R_squared, fields["basis"], k)
        positive(m_k - t[k], 2 * (moved + 1) * ball.R_squared, fields["basis"], k)
    return Class((xi, D), face.kinks, on_rows(ball.Z, D) * face.P, ball.zeta_squared)


def read_direct(ball: Ball, fields: dict[str, Node]) -> Class:
    """v = Proj_C(X_b'r) = P X_b'r: multipliers >= 0 on the kinks, the other constraints slack."""
    problem = ball.problem
    b = fields["block"].index(len(problem.groups))
    X, size = problem.block(b), len(problem.groups[b])
    K = tuple(zip(*(problem.K[b] or ()), strict=True))
    face = read_face(K, size, fields)
    bound = frobenius(X)
    c_b = transposed(X, ball.theta)
    v = vector(face.P * column(c_b))
    for k, K_k in enumerate(K):
        if k not in face.kinks and any(K_k):
            slack = -sum((x * v_j for x, v_j in zip(K_k, v, strict=True)), Fraction(0))
            positive(slack, square(K_k) * bound * ball.R_squared, fields["kinks"], k)
    c = c_b
    for k, rho_k in face.fixed.items():
        if rho_k < 0:
            raise fields["fixed"].reject(f"a multiplier >= 0 for constraint {k}", show(rho_k))
        c = tuple(c_j - rho_k * x for c_j, x in zip(c, K[k], strict=True))
    for k, W_k in zip(face.basis, face.W, strict=True):
        rho_k = sum((w * x for w, x in zip(W_k, c, strict=True)), Fraction(0))
        positive(rho_k, square(W_k) * bound * ball.R_squared, fields["basis"], k)
    return Class((0, b), face.kinks, matrix(X, size) * face.P, bound)


def read_face(vectors: Sequence[Vector], dimension: int, fields: dict[str, Node]) -> Face:
    """Kinks whose vectors are not zero, and a basis of these vectors among them."""
    kinks = fields["kinks"].ascending(len(vectors))
    basis = fields["basis"].ascending(len(vectors))
    if not set(basis) <= set(kinks):
        raise fields["basis"].reject("some of the kinks")
    if not all(any(vectors[k]) for k in kinks):
        raise fields["kinks"].reject("kinks whose vectors are not zero")
    rest = [k for k in kinks if k not in basis]
    fixed = dict(zip(rest, fields["fixed"].vector(len(rest)), strict=True))
    A = matrix((vectors[k] for k in basis), dimension)
    W = dual_basis(A)
    if W is None:
        raise fields["basis"].reject("independent vectors")
    P = identity(dimension) - A.transpose() * W
    if any((matrix((vectors[k] for k in rest), dimension) * P).entries()):
        raise fields["basis"].reject("a basis of the vectors of all kinks")
    entries = vector(W)
    return Face(kinks, basis, fixed, P, tuple(entries[i * dimension : (i + 1) * dimension] for i in range(len(basis))))


def positive(x: Fraction, moved_squared: Fraction, node: Node, k: int) -> None:
    """Reject unless x > 0 also after it has moved: x > 0 and x^2 > moved_squared."""
    if x <= 0 or x * x <= moved_squared:
        found = f"{show(x)}, its square {show(x * x)}"
        raise node.reject(f"strictness that the ball cannot end at {k}: x > 0 and x^2 > {show(moved_squared)}", found)


def on_rows(Z: fmpq_mat, D: int) -> fmpq_mat:
    """D Z"""
    columns = Z.ncols()
    return fmpq_mat(Z.nrows(), columns, [z if D >> i // columns & 1 else 0 for i, z in enumerate(Z.entries())])


def frobenius(A: Matrix) -> Fraction:
    """|A|_F^2"""
    return sum((square(row) for row in A), Fraction(0))
