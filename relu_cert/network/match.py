"""The network next to an optimal one: which neuron became which, and how far they are apart.

Merged networks are compared as sets of neurons xi, w of the convex program. A matching pairs neurons of one sign, each
at most once; what has no partner is compared with zero. Its squared distance is sum |w_i - w*_j|^2 over pairs, plus
|w|^2 over the rest. Floats propose the matching (an assignment problem); its distance is then exact, so that the
smallest distance over all matchings is at most that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from relu_cert.exact import norm_squared
from relu_cert.network.objective import ConvexNeuron


@dataclass(frozen=True)
class Matching:
    """Pairs (i, j) of neurons, and the squared distance of the two networks in this matching."""

    pairs: tuple[tuple[int, int], ...]
    distance_squared: Fraction


def match(neurons: Sequence[ConvexNeuron], optimal: Sequence[ConvexNeuron]) -> Matching:
    """The networks side by side."""
    pairs = _propose(neurons, optimal)
    total = sum((norm_squared(n.w) for n in (*neurons, *optimal)), Fraction(0))
    for i, j in pairs:
        a, b = neurons[i], optimal[j]
        apart = norm_squared([x - y for x, y in zip(a.w, b.w, strict=True)])
        total += apart - norm_squared(a.w) - norm_squared(b.w)
    return Matching(pairs, total)


def _propose(neurons: Sequence[ConvexNeuron], optimal: Sequence[ConvexNeuron]) -> tuple[tuple[int, int], ...]:
    """Pairs of one sign with the most to gain: |w - w*|^2 - |w|^2 - |w*|^2 = -2 w.w*, where that is negative."""
    if not neurons or not optimal:
        return ()
    w = np.array([n.w for n in neurons], dtype=np.float64)
    v = np.array([n.w for n in optimal], dtype=np.float64)
    same = np.equal.outer([n.sign for n in neurons], [n.sign for n in optimal])
    return tuple(assigned(np.where(same, np.maximum(0.0, w @ v.T), 0.0)))


def assigned(gain: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs of a row and a column, each at most once, with the most to gain."""
    rows, columns = linear_sum_assignment(gain, maximize=True) if gain.size else ((), ())
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if gain[i, j] > 0.0]
