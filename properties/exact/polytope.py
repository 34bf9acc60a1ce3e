"""The polytope {alpha >= 0 : sum_a alpha_a q_a = b}: vertices, dimension, least-norm point.

For the constrained group lasso q_a = X_b v_b and b = yhat, and the polytope is the optimal set
(prop:sol-fn-cgl). It is bounded there, since r.q_a = lambda^2 for every a.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from properties.exact.linalg import (
    Vector,
    combine,
    least_squares,
    norm2,
    rank,
    rref,
    scale,
    solve_square,
    total,
    transpose,
    zeros,
)


def support(alpha: Vector) -> tuple[int, ...]:
    """The indices of the entries that are not zero."""
    return tuple(i for i, a in enumerate(alpha) if a)


def subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All subsets, small ones first, in the order of the items."""
    for size in range(len(items) + 1):
        yield from combinations(items, size)


def vertices(q: Sequence[Vector], b: Vector) -> tuple[Vector, ...]:
    """All vertices, sorted: the non-negative solutions on all bases of the columns, each once."""
    used = [i for i, column in enumerate(q) if any(column)]
    if not used:
        return () if any(b) else (zeros(len(q)),)
    rows, pivots = rref(transpose([*(q[i] for i in used), b]))
    if len(used) in pivots:
        return ()
    *columns, right = transpose(rows)
    found = set()
    for basis in combinations(range(len(used)), len(rows)):
        x = solve_square([columns[k] for k in basis], right)
        if x is not None and all(a >= 0 for a in x):
            found.add(_on([used[k] for k in basis], x, len(q)))
    return tuple(sorted(found))


def _on(chosen: Sequence[int], x: Vector, n: int) -> Vector:
    """The vector of length n with entries x at the chosen indices."""
    out = [Fraction(0)] * n
    for i, a in zip(chosen, x, strict=True):
        out[i] = a
    return tuple(out)


def barycentre(points: Sequence[Vector]) -> Vector:
    """The mean of the points: for the vertices of a polytope, a point of its relative interior."""
    return scale(Fraction(1, len(points)), total(points, len(points[0])))


def dimension(points: Sequence[Vector]) -> int:
    """The dimension of the affine hull of the points."""
    first = points[0]
    return rank([tuple(x - y for x, y in zip(p, first, strict=True)) for p in points[1:]])


def least_norm(q: Sequence[Vector], b: Vector) -> Vector | None:
    """The alpha >= 0 with sum alpha_a q_a = b that minimises |alpha|^2 (eq:min-norm-program), or None.

    The minimiser lies in the relative interior of the face given by its support, where it is the least-norm
    solution of the linear system; so it is the best of the least-norm solutions over all supports that are >= 0.
    """
    best: Vector | None = None
    for chosen in subsets(range(len(q))):
        columns = [q[i] for i in chosen]
        x = least_squares(columns, b)
        if any(a < 0 for a in x) or combine(x, columns, len(b)) != b:
            continue
        alpha = _on(chosen, x, len(q))
        if best is None or norm2(alpha) < norm2(best):
            best = alpha
    return best
