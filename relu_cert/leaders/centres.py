"""Cells around the neurons of a network: centres, and the cells where one of them has the largest product with u."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relu_cert.leaders.cells import Cell, Floats, make_cell
from relu_cert.leaders.model import Integers

DIGITS = 10**4
APART = 0.05  # centres nearer than this are one


class Centres(NamedTuple):
    """The centres of the cells for the signs 1 and -1; none: one cell, all of R^d."""

    plus: tuple[Integers, ...]
    minus: tuple[Integers, ...]


def centres_of(W: Floats, count: int, q: int) -> tuple[Integers, ...]:
    """At most `count` centres of the neurons w_a, weighted by their lengths (spherical k-means), as integers over q;
    none if one cell is enough."""
    lengths = np.linalg.norm(W, axis=1)
    W, lengths = W[lengths > 0], lengths[lengths > 0]
    count = min(count, len(W))
    if count < 2 or W.shape[1] < 2:
        return ()
    U = W / lengths[:, None]
    best, score = U[:count], -np.inf
    rng = np.random.default_rng(0)
    for _ in range(5):
        C = _spread(U, lengths, count, rng)
        for _ in range(30):
            near = np.argmax(U @ C.T, axis=1)
            C = np.array([_mean(U[near == j], lengths[near == j], centre) for j, centre in enumerate(C)])
        found = float(lengths @ np.max(U @ C.T, axis=1))
        if found > score:
            best, score = C, found
    kept: list[Floats] = []
    for centre in best:
        if all(np.linalg.norm(centre - other) > APART for other in kept):
            kept.append(centre)
    scale = max(1, q // DIGITS)
    whole = tuple(tuple(scale * int(x) for x in np.rint(c * DIGITS)) for c in kept)
    return whole if len(whole) > 1 else ()


def _spread(U: Floats, lengths: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Starting centres, far from each other (k-means++)."""
    chosen = [int(rng.choice(len(U), p=lengths / lengths.sum()))]
    while len(chosen) < count:
        far = np.maximum(1 - np.max(U @ U[chosen].T, axis=1), 0) * lengths
        if not far.sum() > 0:
            break
        chosen.append(int(rng.choice(len(U), p=far / far.sum())))
    return np.array(U[chosen])


def _mean(U: Floats, lengths: Floats, old: Floats) -> Floats:
    total = lengths @ U if len(U) else old
    length = np.linalg.norm(total)
    mean: Floats = total / length if length > 1e-9 else old
    return mean


def cells_of(
    Z: Floats,
    theta: Floats,
    xi: int,
    neighbours: int,
    centres: tuple[Integers, ...],
    q: int,
    turn: Floats | None,
    norm: Floats,
) -> list[Cell]:
    """The cells of one sign. `turn` takes the centres to the coordinates of Z."""
    if not centres:
        return [make_cell(Z, theta, xi, neighbours, norm)]
    C = np.array(centres, dtype=np.float64) / q
    C = C if turn is None else C @ turn
    cells = []
    for i, centre in enumerate(C):
        A = centre - np.delete(C, i, axis=0)
        cells.append(make_cell(Z, theta, xi, neighbours, norm, A, centre / np.linalg.norm(centre)))
    return cells
