"""The point of a polytope that is nearest to zero, exactly (Wolfe 1976)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from relu_cert.exact import Vector, dot, norm_squared
from relu_cert.rationals import solve

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class HullPoint:
    """The shortest x in the convex hull of some points, as a mean of them: (number of a point, its weight > 0)."""

    x: Vector
    mean: tuple[tuple[int, Fraction], ...]


def shortest(points: Sequence[Vector]) -> HullPoint:
    """The shortest x in the convex hull: x.p >= |x|^2 for all points p, which proves it.

    Wolfe's algorithm keeps affinely independent points with x in the inside of their hull; each round lowers |x|, so
    that in exact arithmetic it ends after finitely many.
    """
    corral = [min(points, key=norm_squared)]
    weights = [_ONE]
    x = corral[0]
    while True:
        candidate = min(points, key=lambda p: dot(x, p))
        if dot(x, candidate) >= norm_squared(x):
            return HullPoint(x, tuple((points.index(p), t) for p, t in zip(corral, weights, strict=True)))
        corral.append(candidate)
        weights.append(_ZERO)
        while True:
            best = _affine(corral)
            if all(b > 0 for b in best):
                weights = best
                break
            # Walk from the weights towards the affine minimiser until a weight is zero, and drop that point.
            t = min(a / (a - b) for a, b in zip(weights, best, strict=True) if b <= 0)
            moved = [a + t * (b - a) for a, b in zip(weights, best, strict=True)]
            kept = [i for i, weight in enumerate(moved) if weight > 0]
            corral, weights = [corral[i] for i in kept], [moved[i] for i in kept]
        x = tuple(dot(weights, entries) for entries in zip(*corral, strict=True))


def _affine(points: Sequence[Vector]) -> list[Fraction]:
    """The weights (of sum 1, of any sign) of the shortest point in the affine hull of independent points."""
    k = len(points)
    rows = [[dot(p, q) for q in points] + [_ONE] for p in points]
    rows.append([_ONE] * k + [_ZERO])
    return list(solve(rows, [_ZERO] * k + [_ONE])[:k])
