"""A point of many digits on the branch of a piece: the kernel equations at one lambda, corrected as in `sharpen`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpz

from relu_cert.exact import Vector, column, to_fmpq
from relu_cert.path.bounds import Bounds
from relu_cert.path.branch import jacobian
from relu_cert.path.sharpen import ONE, exactly_fixed, sweep
from relu_cert.prove.multipliers import on_grid

KEPT = 128  # bits of the point
STEPS = 9
CLOSE = 2.0**-96  # a step so small, relative, is the last: the next one would be far smaller


def sharpened(known: Bounds, lam: Fraction) -> tuple[Vector, Vector] | None:
    """s and alpha at lambda, rounded so that |v_a| <= 1 for all classes; None where Newton fails."""
    found = followed(known, lam)
    if found is None or any(x <= 0 for x in found[1]):
        return None
    left = iter(found[1])
    return within(known, found[0]), tuple(next(left) if any(row) else Fraction(0) for row in known.piece.weights)


def followed(known: Bounds, lam: Fraction) -> tuple[Vector, Vector] | None:
    """s and the weights of the active classes on the branch of a piece, which may have ended before this lambda."""
    active = [a for a, row in enumerate(known.piece.weights) if any(row)]
    weights = known.weights(lam)
    s = exactly_fixed(column(known.point(lam)))
    alpha = [[int(weights[a] * ONE)] for a in active]
    halves, B = [known.fixed[a] for a in active], [known.floats[a] for a in active]
    right = exactly_fixed(column(known.problem.y) * to_fmpq(1 / lam))
    for _ in range(STEPS):
        now = np.array([int(x) / ONE for x in s.entries()])
        try:
            J = np.asarray(np.linalg.inv(jacobian(B, now, np.array([x / ONE for (x,) in alpha]))), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        s, moved = sweep(J, B, halves, right, s, alpha)
        if moved <= CLOSE * float(np.abs(now).max()):
            return _grid(s.entries()), _grid([x for (x,) in alpha])
    return None


def within(known: Bounds, s: Vector) -> Vector:
    """s, a little shorter if that is needed for |v_a| <= 1."""
    point = column(s)
    if any(one.length_squared(point) > 1 for one in known.maps):
        return tuple(x * (1 - Fraction(1, 1 << KEPT - 8)) for x in s)
    return s


def _grid(entries: Sequence[int | fmpz]) -> Vector:
    return on_grid([[Fraction(int(x), ONE) for x in entries]], KEPT)[0]
