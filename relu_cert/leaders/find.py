"""Find the evidence `leaders` for a network: one cell for each sign first, then more cells while there is time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.exact import Vector
from relu_cert.leaders.cells import Cell, Floats, make_cell
from relu_cert.leaders.centres import centres_of, cells_of
from relu_cert.leaders.interior import Proof, Rounds, descend
from relu_cert.leaders.loss import Loss, merge
from relu_cert.leaders.model import Integers, Leaders
from relu_cert.leaders.rounding import evidence, exact_data
from relu_cert.solve.threads import one_thread

NEIGHBOURS = 8
MOST_CELLS = 32
GROWTH = 2.5  # what twice as many cells cost, with their harder steps


@dataclass(frozen=True)
class Neuron:
    """xi (Zw)_+ with w of any length."""

    sign: int
    w: Sequence[float | Fraction]


def find_leaders(
    Z: Sequence[Vector],
    y: Vector,
    lam: Fraction,
    neurons: Sequence[Neuron],
    seconds: float,
    logistic: bool = False,
    good: float = 1e-3,
) -> Leaders | None:
    """The best evidence found in about this time, or as soon as the gap to the network is below `good`."""
    with one_thread():
        return _find(Z, y, lam, neurons, time.monotonic() + seconds, logistic, good)


def _find(
    Z: Sequence[Vector], y: Vector, lam: Fraction, neurons: Sequence[Neuron], until: float, logistic: bool, good: float
) -> Leaders | None:
    classes, firsts = merge(Z)
    rows = np.array([[float(x) for x in Z[k]] for k in firsts])
    loss = Loss(classes, np.array([float(t) for t in y]), logistic)
    norm = np.ones(rows.shape[1])
    exact = exact_data(Z, y, lam, firsts, (1,) * rows.shape[1])
    W = np.array([[float(x) for x in neuron.w] for neuron in neurons]).reshape(len(neurons), rows.shape[1])
    signs = np.array([neuron.sign for neuron in neurons])
    fit = np.maximum(rows @ W.T, 0) @ signs
    theta = loss.theta(fit)
    upper = loss.value(fit) + float(lam) * float(np.linalg.norm(W, axis=1).sum())
    free = np.zeros((len(rows), 0))
    best: Leaders | None = None
    count, spent = 1, 0.0
    while count <= MOST_CELLS and (best is None or time.monotonic() + GROWTH * spent < until):
        began = time.monotonic()
        centres = {xi: centres_of(W[signs == xi], count, exact.q) for xi in (1, -1)}
        cells = [
            cell for xi in (1, -1) for cell in cells_of(rows, theta, xi, NEIGHBOURS, norm, centres[xi], exact.q)
        ]
        if count > 1 and max(map(len, centres.values())) <= count // 2:
            break
        proof = descend(cells, loss, float(lam), Rounds(upper, until), free)
        found = None if proof is None else evidence(exact, loss, proof, centres)
        if found is not None and (best is None or found.lower > best.lower):
            best = found
        spent = time.monotonic() - began
        if best is not None and upper - float(best.lower) < good * upper:
            break
        count *= 2
    return best
