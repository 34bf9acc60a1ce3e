"""A bound where there are many features, two outputs at a time: leaders along directions all around a plane.

Theta = theta_1 b_1' + theta_2 b_2' in the plane of two axes. With |(c_k theta_1 + s_k theta_2).P(Zu)_+| <= lambda_k |u|
for directions (c_k, s_k) all around, F(u) / |u| is in a polygon, whose vertices are as far as lambda: of 2 K sides
with K directions, so that 1 - cos(pi / 2K) of lambda is lost, where the axes by themselves lose 29 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import cos, lcm, pi, sin

import numpy as np
import scipy.sparse as sp

from relu_cert.bags import EACH, Each
from relu_cert.clock import Until
from relu_cert.evidence import Leaders
from relu_cert.exact import Vector
from relu_cert.leaders.bound import LeadersLoss
from relu_cert.leaders.cells import Cell, make_cell
from relu_cert.leaders.find import LATEST, NEIGHBOURS, SURELY, operations, prepare
from relu_cert.leaders.interior import Centres, LeadersProof, Rounds, descend
from relu_cert.leaders.rounding import SLACKS, _orthogonal, geometry, proved_sides
from relu_cert.outputs.ascent import Floats
from relu_cert.solve.prepare import one_thread

WEIGHT_BITS, THETA_BITS = 16, 44
HELD = 1 - 1e-4  # of the polygon: weights are rounded
DEAR = 2e11  # operations of a step with all directions


@dataclass(frozen=True)
class Along(Each):
    """P, and the part along a direction: fit and theta are those of all outputs, point by point."""

    matrix: sp.csr_matrix

    def pooled_floats(self, A: Floats) -> Floats:
        """P A in floats."""
        return np.asarray(self.matrix @ A)

    def spread_floats(self, r: Floats) -> Floats:
        """P'r in floats."""
        return np.asarray(self.matrix.T @ r)

    def between(self, diagonal: Floats) -> Floats:
        """P diag P' in floats."""
        return np.asarray((self.matrix.multiply(diagonal[None]) @ self.matrix.T).todense())


@dataclass(frozen=True)
class PlaneLoss(LeadersLoss):
    """The loss of two outputs, one number after the other; each cell is about one direction."""

    directions: tuple[Along, ...] = ()

    def seen_by(self, cell: Cell) -> Each:
        """P, for the rows of a cell."""
        return self.directions[cell.along]


Found = tuple[tuple[Fraction, Fraction], Fraction, Leaders]  # c and s of a direction, its lambda, the proof


def directions(count: int) -> list[tuple[Fraction, Fraction]]:
    """Those all around half of the plane, first the axes."""
    one = 1 << WEIGHT_BITS
    order = sorted(range(count), key=lambda k: (2 * k % count != 0, k))
    angles = [pi * k / count for k in order]
    return [(Fraction(round(cos(a) * one), one), Fraction(round(sin(a) * one), one)) for a in angles]


def too_dear(n: int, d: int, points: int) -> bool:
    """Whether a step with four directions would take too long."""
    return 4 * operations(n, d, 2 * points) > DEAR


def plane(
    Z: Sequence[Vector],
    targets: Sequence[Vector],
    lam: Fraction,
    Theta: Floats,
    upper: float,
    until: Until,
    count: int,
    outputs: Sequence[Vector] = (),
    bags: Each = EACH,
    biases: bool = False,
    good: float = 1e-3,
) -> list[Found] | None:
    """Proofs along directions all around, first along the axes; `targets` are those along the two axes, `Theta` (n x 2)
    is near the best, `upper` the objective there."""
    with one_thread():
        around = directions(count)
        own = (lam * Fraction(cos(pi / (2 * count)) * HELD)).limit_denominator(10**15)
        data = prepare(Z, targets[0], own, (), outputs=outputs, biases=biases, bags=bags)
        points = len(targets[0])
        base = sp.csr_matrix((np.ones(points), (np.arange(points), data.loss.rows)), shape=(points, len(data.rows)))
        base = base if bags is EACH else bags.matrix  # type: ignore[attr-defined]
        along = tuple(Along(sp.kron(base, np.array([[float(c)], [float(s)]]), format="csr")) for c, s in around)
        y = np.array([[float(t) for t in row] for row in zip(*targets, strict=True)]).ravel()
        loss = PlaneLoss(np.arange(2 * points), y, False, EACH, along)
        columns = np.array([[float(x) for x in column] for column in outputs]).reshape(-1, points).T
        free = np.kron(columns, np.eye(2))
        cells = [
            replace(make_cell(data.rows, one.spread_floats(Theta.ravel()), xi, NEIGHBOURS, data.norm), along=k)
            for k, one in enumerate(along)
            for xi in (1, -1)
        ]
        plan = Rounds(upper, until, until.within(LATEST * until.left), (1 - SURELY * good) * upper)
        proof = descend(cells, loss, float(own), plan, free)
        return None if proof is None else rounded(data, proof, around, own)


def rounded(data, proof: LeadersProof, around: list[tuple[Fraction, Fraction]], lam: Fraction) -> list[Found] | None:  # type: ignore[no-untyped-def]
    """In integers, each direction proved."""
    spaces, whole = {xi: geometry(data.exact, ()) for xi in (1, -1)}, Centres((), ())
    by_sign = {1: whole.plus, -1: whole.minus}
    one = 1 << WEIGHT_BITS
    for slack in SLACKS:
        Theta = (1 - slack) * proof.theta.reshape(-1, 2)
        largest = float(np.abs(Theta).max(initial=0.0)) or 1.0
        coarse = Fraction(2) ** (int(np.ceil(np.log2(largest))) - THETA_BITS)
        parts = [_orthogonal(data.exact, [round(Fraction(x) / coarse) for x in column]) for column in Theta.T.tolist()]
        fine = lcm(*(part[0] for part in parts))
        first, second = ([fine // own * x for x in moved] for own, moved in parts)
        found: list[Found] = []
        for k, (c, s) in enumerate(around):
            p, q = int(c * one), int(s * one)
            theta = [p * a + q * b for a, b in zip(first, second, strict=True)]
            pairs = [
                (cell, by.scaled(1 - slack))
                for cell, by in zip(proof.cells, proof.multipliers, strict=True)
                if cell.along == k
            ]
            sides = proved_sides(data.exact, data.loss, theta, (coarse, fine * one), spaces, by_sign, pairs)
            if sides is None:
                break
            found.append(((c, s), lam, Leaders(coarse / (fine * one), tuple(theta), *sides, Fraction(0))))
        else:
            return found
    return None
