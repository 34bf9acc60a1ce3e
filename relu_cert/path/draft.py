"""A draft of the path: floats alone, at a few lambdas, before anything is proved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.path.unlisted import Training, trained
from relu_cert.solve import FloatProblem, Solution, solve

POINTS = 13
ACTIVE = 1e-7  # of the largest weight: what counts as a neuron


@dataclass(frozen=True)
class Drafted:
    """What floats say at one lambda: nothing of it is proved."""

    lam: float
    objective: float
    width: int


def draft(floats: FloatProblem | Training, lo: Fraction, hi: Fraction) -> Iterator[Drafted]:
    """From hi down to lo, in equal ratios."""
    warm: Solution | None = None
    for lam in np.geomspace(float(hi), float(lo), POINTS).tolist():
        if isinstance(floats, Training):
            warm = trained(floats, lam, warm)[0]
        else:
            warm = solve(floats, lam, warm=warm, tol=1e-9)
        sizes = [float(np.linalg.norm(neuron.w)) for neuron in warm.neurons]
        yield Drafted(lam, warm.primal, sum(size > ACTIVE * max(sizes) for size in sizes))
