"""The deepest point of a polyhedron, in floats: a proposal that exact arithmetic judges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def deepest(
    A: Floats,
    b: Floats,
    bounds: Sequence[tuple[float | None, float | None]],
    most: float | None = None,
    equal: Floats | None = None,
    goal: Floats | None = None,
) -> tuple[Floats, float] | None:
    """x within the bounds and the largest depth t, at most `most`, with Ax + t <= b and `equal` x = goal; None if there
    is none."""
    from scipy.optimize import linprog

    cost = np.r_[np.zeros(A.shape[1]), -1.0]
    A_eq = None if equal is None else np.c_[equal, np.zeros(len(equal))]
    found = linprog(
        cost, np.c_[A, np.ones(len(A))], b, A_eq, None if equal is None else goal, [*bounds, (None, most)]
    ).x
    return None if found is None else (found[:-1], float(found[-1]))
