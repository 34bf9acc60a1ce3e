"""The constrained group lasso (eq:constrained-gl), exactly.

    minimise   P(w) = 1/2 |sum_b X_b w_b - y|^2 + lambda sum_b |w_b|   subject to   K_b' w_b <= 0

lambda enters through lambda^2, which is rational for every instance here; lambda itself need not be.
A point is optimal iff it is feasible and, with c_b = X_b'(y - Xw) and v_b = Proj_{C_b}(c_b),

    w_b = 0 and |v_b| <= lambda,   or   w_b = alpha_b v_b with alpha_b > 0 and |v_b| = lambda

which is eq:kkt-cgl with the multipliers eliminated by Moreau's decomposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from properties.exact.cone import in_cone, project
from properties.exact.linalg import Matrix, Vector, dot, is_zero, matvec, norm2, scale, sub, total, transpose
from properties.exact.roots import RootSum, rational_sqrt
from properties.hook import register

Weights = tuple[Vector, ...]


@dataclass(frozen=True)
class Block:
    """X_b, row by row (n x |b|), and the columns of K_b (none where w_b is free)."""

    X: Matrix
    K: tuple[Vector, ...] = ()

    @property
    def size(self) -> int:
        """|b|"""
        return len(self.X[0])

    def correlation(self, r: Vector) -> Vector:
        """c_b = X_b' r"""
        return tuple(dot(column, r) for column in transpose(self.X))

    def dual_vector(self, r: Vector) -> Vector:
        """The canonical v_b = Proj_{C_b}(X_b' r)."""
        return project(self.K, self.correlation(r))


@dataclass(frozen=True)
class CGL:
    """Blocks, targets y, and lambda squared."""

    blocks: tuple[Block, ...]
    y: Vector
    lam2: Fraction

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def lam(self) -> Fraction:
        """lambda, where it is rational."""
        root = rational_sqrt(self.lam2)
        if root is None:
            raise ValueError("lambda is irrational here: use lam2")
        return root

    @property
    def columns(self) -> tuple[Vector, ...]:
        """All columns of X, block after block."""
        return tuple(column for b in self.blocks for column in transpose(b.X))

    def at(self, lam: Fraction) -> CGL:
        """The same data with another lambda."""
        return CGL(self.blocks, self.y, lam * lam)

    def restrict(self, chosen: Sequence[int]) -> CGL:
        """The problem with some of the blocks only (eq:constraint-reduced)."""
        return CGL(tuple(self.blocks[b] for b in chosen), self.y, self.lam2)


def problem(
    X: Sequence[Sequence[int]],
    sizes: Sequence[int],
    y: Sequence[int],
    lam2: int | Fraction,
    K: Sequence[Sequence[Sequence[int]]] | None = None,
) -> CGL:
    """A problem from one integer matrix X, split into blocks of the given sizes; K holds each block's columns.

    >>> problem([[1, 1]], [1, 1], [4], 1).n
    1
    """
    blocks, start = [], 0
    for i, size in enumerate(sizes):
        rows = tuple(tuple(Fraction(x) for x in row[start : start + size]) for row in X)
        cone = tuple(tuple(Fraction(x) for x in k) for k in K[i]) if K else ()
        blocks.append(Block(rows, cone))
        start += size
    return CGL(tuple(blocks), tuple(Fraction(x) for x in y), Fraction(lam2))


def fit(p: CGL, w: Weights) -> Vector:
    """Xw"""
    return total((matvec(b.X, wb) for b, wb in zip(p.blocks, w, strict=True)), p.n)


def residual(p: CGL, w: Weights) -> Vector:
    """y - Xw"""
    return sub(p.y, fit(p, w))


def group_norm(w: Weights) -> RootSum:
    """sum_b |w_b|"""
    out = RootSum()
    for wb in w:
        out = out + RootSum.sqrt(norm2(wb))
    return out


def objective(p: CGL, w: Weights) -> RootSum:
    """P(w); lambda |w_b| = sqrt(lambda^2 |w_b|^2)."""
    penalty = group_norm(tuple(w)) if p.lam2 == 1 else RootSum()
    if p.lam2 != 1:
        for wb in w:
            penalty = penalty + RootSum.sqrt(p.lam2 * norm2(wb))
    return penalty + norm2(residual(p, w)) / 2


def is_feasible(p: CGL, w: Weights) -> bool:
    """K_b' w_b <= 0 for all b."""
    return all(in_cone(b.K, wb) for b, wb in zip(p.blocks, w, strict=True))


def dual_vectors(p: CGL, r: Vector) -> Weights:
    """The canonical v_b of every block for the residual r."""
    return tuple(b.dual_vector(r) for b in p.blocks)


def is_optimal(p: CGL, w: Weights) -> bool:
    """w solves the problem (lambda > 0), by the optimality conditions above."""
    if not is_feasible(p, w):
        return False
    r = residual(p, w)
    for b, wb in zip(p.blocks, w, strict=True):
        v = b.dual_vector(r)
        if is_zero(wb):
            if norm2(v) > p.lam2:
                return False
        elif norm2(v) != p.lam2 or positive_ratio(wb, v) is None:
            return False
    return True


def dual_feasible(p: CGL, theta: Vector) -> bool:
    """|Proj_{C_b}(X_b' theta)| <= lambda for all b: then D(theta) = y.theta - |theta|^2/2 is a lower bound."""
    return all(norm2(b.dual_vector(theta)) <= p.lam2 for b in p.blocks)


def dual_value(p: CGL, theta: Vector) -> Fraction:
    """D(theta) = y.theta - |theta|^2 / 2"""
    return dot(p.y, theta) - norm2(theta) / 2


def positive_ratio(a: Vector, b: Vector) -> Fraction | None:
    """t > 0 with a = t b, or None (b is not zero)."""
    k = next((i for i, x in enumerate(b) if x), None)
    if k is None:
        return None
    t = a[k] / b[k]
    return t if t > 0 and a == scale(t, b) else None


def active(w: Weights) -> tuple[int, ...]:
    """A(w): the blocks that are not zero."""
    return tuple(b for b, wb in enumerate(w) if any(wb))


register()
