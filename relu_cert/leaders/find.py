"""Find the evidence `leaders` for a network: the best lower bound of p* within a time.

Stages, each only if it is expected to end in time: few principal directions of the rows (all of them if they are not
many), one cell for each sign; then more directions; then twice as many cells around the neurons, again and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.exact import Vector
from relu_cert.leaders.cells import Cell, Floats
from relu_cert.leaders.centres import cells_of, centres_of
from relu_cert.leaders.interior import Proof, Rounds, descend
from relu_cert.leaders.lift import lift
from relu_cert.leaders.loss import Loss, merge
from relu_cert.leaders.model import Integers, Leaders
from relu_cert.leaders.rounding import Exact, evidence, exact_data
from relu_cert.solve.threads import one_thread

NEIGHBOURS = 8
MOST_CELLS = 32
GROWTH = 2.5  # what twice as many cells cost, with their harder steps
DIRECTIONS = (16, 24, 36, 54, 80)  # tried before all, if there are more
MOST = 2e11  # operations for a step with all directions: more is not tried


@dataclass(frozen=True)
class Neuron:
    """xi (Zw)_+ with w of any length."""

    sign: int
    w: Sequence[float | Fraction]


@dataclass(frozen=True)
class Data:
    """The problem in floats (rows are the distinct ones) and exactly, with the network's neurons."""

    rows: Floats
    loss: Loss
    lam: float
    exact: Exact
    W: Floats
    signs: Floats
    free: Floats

    @property
    def fit(self) -> Floats:
        """The network's outputs at the distinct rows, less the free terms."""
        outputs: Floats = np.maximum(self.rows @ self.W.T, 0) @ self.signs
        return outputs


def find_leaders(
    Z: Sequence[Vector],
    y: Vector,
    lam: Fraction,
    neurons: Sequence[Neuron],
    seconds: float,
    *,
    logistic: bool = False,
    outputs: Sequence[Vector] = (),
    good: float = 1e-3,
    tell: Callable[[Leaders], None] | None = None,
) -> Leaders | None:
    """The best evidence found in about this time, or as soon as the gap to the network is below `good`.

    `outputs` are the outputs of free terms, one number for each row (an output bias: ones; a skip connection: the
    columns of Z); theta is orthogonal to them. `tell` hears of every better one.
    """
    with one_thread():
        data = prepare(Z, y, lam, neurons, logistic, outputs)
        upper, theta = _network(data)
        until = time.monotonic() + seconds
        best: Leaders | None = None
        for proof, centres in _stages(data, theta, upper, until):
            found = evidence(data.exact, data.loss, proof, centres)
            if found is not None and (best is None or found.lower > best.lower):
                best = found
                if tell is not None:
                    tell(found)
            if best is not None and upper - float(best.lower) < good * upper:
                break
        return best


def prepare(
    Z: Sequence[Vector],
    y: Vector,
    lam: Fraction,
    neurons: Sequence[Neuron],
    logistic: bool = False,
    outputs: Sequence[Vector] = (),
) -> Data:
    """The data in floats; rows that are equal are one."""
    classes, firsts = merge(Z)
    d = len(Z[0])
    rows = np.array([[float(x) for x in Z[k]] for k in firsts])
    W = np.array([[float(x) for x in neuron.w] for neuron in neurons]).reshape(len(neurons), d)
    free = np.array([[float(column[k]) for column in outputs] for k in firsts]).reshape(len(firsts), len(outputs))
    return Data(
        rows=rows,
        loss=Loss(classes, np.array([float(t) for t in y]), logistic),
        lam=float(lam),
        exact=exact_data(Z, y, lam, firsts, tuple(tuple(column) for column in outputs)),
        W=W,
        signs=np.array([float(neuron.sign) for neuron in neurons]),
        free=free,
    )


def _network(data: Data) -> tuple[float, Floats]:
    """The network's objective with the best free terms, and its theta."""
    fit = data.fit
    for _ in range(30 if data.free.shape[1] else 0):  # Newton's method for the free terms
        theta = data.loss.theta(fit)
        weight = 1 / data.loss.flatness(fit)
        step = np.linalg.lstsq((data.free * weight[:, None]).T @ data.free, data.free.T @ theta, rcond=None)[0]
        fit = fit + data.free @ step
    return data.loss.value(fit) + data.lam * float(np.linalg.norm(data.W, axis=1).sum()), data.loss.theta(fit)


Centres = dict[int, tuple[Integers, ...]]
Stage = tuple[Proof, Centres]


def _stages(data: Data, theta: Floats, upper: float, until: float) -> Iterator[Stage]:
    """Proofs of one stage after the other, with the centres of their cells."""
    rows = data.rows
    plan = Rounds(upper, until)
    turn: Floats | None = None
    whole: Centres = {1: (), -1: ()}
    if min(rows.shape) > DIRECTIONS[0] * 3 // 2:
        _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
        rank = int((sizes > 1e-12 * sizes[0]).sum())
        turn = directions[:rank].T
        rows = rows @ turn
        pace = 0.0  # seconds for an operation, once it is known
        for top in (t for t in DIRECTIONS if 2 * t < rank):
            began = time.monotonic()
            if began + pace * operations(len(rows), top) > until:
                break
            cells = _cells(data, rows[:, :top], theta, whole)
            proof = descend(cells, data.loss, data.lam, plan, data.free)
            if proof is not None:
                yield lift(proof, rows, top, data.loss, data.lam), whole
            pace = (time.monotonic() - began) / operations(len(rows), top)
        if time.monotonic() + pace * operations(len(rows), rank) > until or operations(len(rows), rank) > MOST:
            return
    began = time.monotonic()
    proof = descend(_cells(data, rows, theta, whole), data.loss, data.lam, plan, data.free)
    if proof is not None:
        yield proof, whole
    count, most = 2, 1
    while count <= MOST_CELLS and time.monotonic() + GROWTH * (time.monotonic() - began) < until:
        began = time.monotonic()
        centres = {xi: centres_of(data.W[data.signs == xi], count, data.exact.q) for xi in (1, -1)}
        if max(map(len, centres.values())) <= most:
            return
        most = max(map(len, centres.values()))
        proof = descend(_cells(data, rows, theta, centres, turn), data.loss, data.lam, plan, data.free)
        if proof is not None:
            yield proof, centres
        count *= 2


def _cells(data: Data, rows: Floats, theta: Floats, centres: Centres, turn: Floats | None = None) -> list[Cell]:
    """The cells of both signs."""
    sides = (cells_of(rows, theta, xi, NEIGHBOURS, centres[xi], data.exact.q, turn) for xi in (1, -1))
    return [cell for side in sides for cell in side]


def operations(n: int, d: int) -> float:
    """About how many operations a step takes with one cell for each sign."""
    size = d * (d + 1) // 2 + d + n // 2
    systems = size**3 / 3 + size**2 * n + n**2 * size
    return 2 * (systems + n * d**4 + 20 * n * (d + 1) ** 3)
