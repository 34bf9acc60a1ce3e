"""Centres of cells, the cells where one of them has the largest product with u, and finer ones from a proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relu_cert.leaders.cells import Cell, Floats, make_cell
from relu_cert.leaders.cone import CellPoint
from relu_cert.leaders.interior import LeadersProof
from relu_cert.serialize import Integers

DIGITS = 10**4
APART = 0.05  # centres are farther from each other than this
WORTH = 0.3  # of the widest cell: cells as wide as that are cut, too


class Centres(NamedTuple):
    """The centres of the cells for the signs 1 and -1; none: one cell, all of R^d."""

    plus: tuple[Integers, ...]
    minus: tuple[Integers, ...]

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return max(1, len(self.plus)) + max(1, len(self.minus))


class Finer(NamedTuple):
    """Centres, and for each of their cells the one it was part of."""

    centres: Centres
    parents: tuple[int, ...]


def finer(proof: LeadersProof, centres: Centres, turn: Floats | None, norm: Floats, q: int, most: int) -> Finer | None:
    """The widest cells are cut in two where u, as the proof's relaxation sees it, is spread most: on both sides of its
    mean. At most so many cells for each sign; None if none can be cut."""
    pieces = [_halves(cell, point, turn, norm) for cell, point in zip(proof.cells, proof.points, strict=True)]
    least = WORTH * max((size for size, _ in pieces), default=0.0)
    lines, parents = [], []
    for xi, own in zip((1, -1), centres, strict=True):
        at = [i for i, cell in enumerate(proof.cells) if cell.xi == xi]
        kept = {i: _unit(c) for i, c in zip(at, own, strict=False)}
        room = most - len(at)
        chosen: list[tuple[int, Floats]] = []
        for i in sorted(at, key=lambda i: -pieces[i][0]):
            size, halves = pieces[i]
            others = [c for j, c in kept.items() if j != i] + [c for _, c in chosen]
            if room > 0 and size > 0 and size >= least and _apart(halves, others):
                kept.pop(i, None)
                chosen += [(i, half) for half in halves]
                room -= 1
        line = sorted([*kept.items(), *chosen], key=lambda pair: pair[0])
        lines.append(_integers([c for _, c in line], q))
        parents += [i for i, _ in line] or at
    found = Centres(*lines)
    return Finer(found, tuple(parents)) if found.cells > centres.cells else None


def _halves(cell: Cell, point: CellPoint, turn: Floats | None, norm: Floats) -> tuple[float, list[Floats]]:
    """How much mass is spread how far in the direction of largest variance, and the centres of the two halves."""
    seen = np.flatnonzero(cell.norm[: len(point.u)])
    U = point.U[np.ix_(seen, seen)]
    mass = float(np.trace(U))
    mean = point.u[seen] / mass
    values, vectors = np.linalg.eigh(U / mass - np.outer(mean, mean))
    width = max(float(values[-1]), 0.0)
    halves = []
    for centre in (mean + np.sqrt(width) * vectors[:, -1], mean - np.sqrt(width) * vectors[:, -1]):
        whole = np.zeros(len(point.u))
        whole[seen] = centre
        whole = norm * (whole if turn is None else turn[:, : len(whole)] @ whole)
        halves.append(whole / max(float(np.linalg.norm(whole)), 1e-300))
    return mass * width, halves


def _unit(centre: Integers) -> Floats:
    c = np.array(centre, dtype=np.float64)
    unit: Floats = c / np.linalg.norm(c)
    return unit


def _apart(halves: Sequence[Floats], others: Sequence[Floats]) -> bool:
    one, two = halves
    pairs = [(one, two), *((half, other) for half in halves for other in others)]
    return all(float(np.linalg.norm(a - b)) > APART for a, b in pairs)


def _integers(centres: Sequence[Floats], q: int) -> tuple[Integers, ...]:
    """The centres as integers over q."""
    scale = max(1, q // DIGITS)
    return tuple(tuple(scale * int(x) for x in np.rint(c * DIGITS)) for c in centres)


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
