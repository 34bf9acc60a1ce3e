"""How a neuron sits on its faces, from one block of the convex program: LICQ, strict complementarity, derivatives.

At v = Proj_C(X'r) the constraints k with k.v = 0 are tight, and X'r - v = sum rho_k k with rho >= 0 on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from properties.exact.cone import feasible
from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dot,
    eye,
    inverse,
    matvec,
    project_out,
    rank,
    scale,
    sub,
    transpose,
    zeros,
)
from properties.exact.problem import Block


def tight(block: Block, v: Vector) -> list[Vector]:
    """The constraints that hold with equality at v, zero ones left out."""
    return [k for k in block.K if any(k) and not dot(k, v)]


def independent(constraints: Sequence[Vector]) -> bool:
    """Each hyperplane once, they are linearly independent."""
    leads = [next(x for x in k if x) for k in constraints]
    different = {scale(1 / lead, k) for lead, k in zip(leads, constraints, strict=True)}
    return rank(list(different)) == len(different)


def strict(block: Block, r: Vector, v: Vector) -> bool:
    """X'r - v = sum rho_k k with rho_k > 0 for every tight k: v loses at first order wherever it leaves its face.

    With d = X'r - v, some rho >= 0 has rho_k > 0 iff -k is in the cone of the tight constraints and -d; and the mean of
    such rho, one for every k, is positive everywhere.
    """
    at, d = tight(block, v), sub(block.correlation(r), v)
    return all(feasible([*at, scale(-1, d)], scale(-1, k)) is not None for k in at)


@dataclass(frozen=True)
class Slopes:
    """dr/dlambda, and the degrees of freedom n - trace dr/dy."""

    r_lam: Vector
    freedom: Fraction


def slopes(neurons: Sequence[tuple[Block, Vector]], alpha: Vector, r: Vector, lam: Fraction) -> Slopes:
    """The derivatives where all neurons (block, v) keep their faces: with B_a = X_a P_a, G_a = B_a B_a', q_a = G_a r,

    (I + sum alpha_a G_a) dr + sum dalpha_a q_a = dy,    q_a.dr = lambda dlambda.
    """
    n, k = len(r), len(neurons)
    M: Matrix = eye(n)
    q = []
    for (block, v), a in zip(neurons, alpha, strict=True):
        basis = _basis(tight(block, v))
        B = tuple(project_out(row, basis) for row in block.X)
        M = tuple(add(M_i, scale(a, tuple(dot(B_i, B_j) for B_j in B))) for M_i, B_i in zip(M, B, strict=True))
        q.append(matvec(B, combine(r, B, len(v))))
    rows = [(*M_i, *(q_a[i] for q_a in q)) for i, M_i in enumerate(M)] + [(*q_a, *zeros(k)) for q_a in q]
    found = inverse(tuple(rows))
    if found is None:
        raise ArithmeticError("the outputs of a unique network are independent")
    r_lam = scale(lam, combine([Fraction(1)] * k, transpose(found)[n:], n + k)[:n])
    return Slopes(r_lam, n - sum((found[i][i] for i in range(n)), Fraction(0)))


def _basis(vectors: Sequence[Vector]) -> list[Vector]:
    """Some of the vectors, independent, with the same span."""
    basis: list[Vector] = []
    for u in vectors:
        if rank([*basis, u]) > len(basis):
            basis.append(u)
    return basis
