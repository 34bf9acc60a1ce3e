"""Primal-dual interior point method for the relaxation on several cells (Mehrotra's predictor and corrector).

    minimise loss(f) + lambda sum_c tau_c,    f = P sum_c xi_c (Z u_c + phi_c) / 2

The cells meet in f only; its multiplier is theta. Each cell is reduced by itself (newton.py) and sees t = P'theta;
theta is the solution of one system with as many unknowns as there are distinct rows, or bags; with several outputs
theta are all of their numbers, and cells are about some directions of the outputs (`LeadersLoss.seen_by`).

Centres of cells, the cells where one of them has the largest product with u, and finer ones from a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl

from relu_cert.bags import Each
from relu_cert.clock import NEVER, Until, stopped
from relu_cert.leaders.bound import LeadersLoss, Multipliers, bound, multipliers, trim_multipliers
from relu_cert.leaders.cells import (
    Cell,
    CellPoint,
    Floats,
    Scaling,
    Slacks,
    fit,
    inner,
    linear_step,
    make_cell,
    scaling,
    slacks,
    start,
    tau,
    with_neighbours,
)
from relu_cert.leaders.newton import eliminate, recover, right_side
from relu_cert.serialize import Integers

STEP = 0.98  # of the way to the boundary
BACK = 0.15  # new neighbours enter at a state that is so far, relative to the optimum, from it
FAR = 2.0  # times the network's objective: farther than that, new neighbours are a reason to begin again
HALF = 0.5  # of the relaxation's value: a round does not end before the bound is so near, however bad the network is
MOST_STEPS = 60
WORTH = 0.05  # of the network's objective: before that the time does not end the steps


@dataclass(frozen=True)
class CellState:
    """Where the method is: each cell with its point, slacks and multipliers; outputs B of free terms and their b; P of
    each cell."""

    cells: tuple[Cell, ...]
    points: tuple[CellPoint, ...]
    slack: tuple[Slacks, ...]
    dual: tuple[Slacks, ...]
    free: Floats
    b: Floats
    bags: tuple[Each, ...]

    @property
    def mu(self) -> float:
        """The mean product of slack and multiplier."""
        total = sum(inner(v, z) for v, z in zip(self.slack, self.dual, strict=True))
        return total / sum(cell.barrier for cell in self.cells)

    @property
    def fit(self) -> Floats:
        """f"""
        fits = (fit(c, p) for c, p in zip(self.cells, self.points, strict=True))
        total: Floats = np.sum([bags.pooled_floats(f) for bags, f in zip(self.bags, fits, strict=True)], axis=0)
        return total + self.free @ self.b

    def value(self, loss: LeadersLoss, lam: float) -> float:
        """loss(f) + lambda sum tau"""
        return loss.value(self.fit) + lam * sum(tau(c, p) for c, p in zip(self.cells, self.points, strict=True))


@dataclass(frozen=True)
class LeadersProof:
    """theta (of the classes of equal rows, or of bags), multipliers of each cell, the dual value, in floats a bound of
    p*; and the points of the relaxation at which they were found."""

    theta: Floats
    cells: tuple[Cell, ...]
    multipliers: tuple[Multipliers, ...]
    value: float
    points: tuple[CellPoint, ...] = ()


def begin(cells: Sequence[Cell], loss: LeadersLoss, lam: float, free: Floats) -> CellState:
    """A state on the central path's side: every product of slack and multiplier is mu."""
    size = loss.value(np.zeros(len(loss.count)))
    points = tuple(start(cell, 0.2 * size / lam / len(cells)) for cell in cells)
    slack = tuple(slacks(cell, point) for cell, point in zip(cells, points, strict=True))
    mu = 3 * size / sum(cell.barrier for cell in cells)
    dual = tuple(_center(cell, v, mu) for cell, v in zip(cells, slack, strict=True))
    bags = tuple(map(loss.seen_by, cells))
    return CellState(tuple(cells), points, slack, dual, free, np.zeros(free.shape[1]), bags)


def _center(cell: Cell, v: Slacks, mu: float) -> Slacks:
    linear = v.map(lambda x: mu / x)
    linear["cut"] = np.where(cell.used, linear["cut"], 0.0)
    return Slacks(np.asarray(mu * np.linalg.inv(v.blocks), dtype=np.float64), **linear)


def advance(state: CellState, loss: LeadersLoss, lam: float) -> tuple[CellState, float]:
    """One step, and its length."""
    cells, free, bags = state.cells, state.free, state.bags
    f = state.fit
    scales = [scaling(v.blocks, z.blocks) for v, z in zip(state.slack, state.dual, strict=True)]
    lefts = [eliminate(*part) for part in zip(cells, scales, state.slack, state.dual, bags, strict=True)]
    flat = loss.flatness(f)
    M = np.diag(flat)
    for one in {id(one): one for one in bags}.values():
        M += one.between(np.sum([left.own for left in lefts if left.bags is one], axis=0))
    for left in lefts:
        M += left.solved.T @ left.solved
    factor = sl.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    theta_now = loss.theta(f)

    def direction(targets: Sequence[Slacks]) -> tuple[list[CellPoint], Floats]:
        rights = [right_side(c, left, t, lam) for c, left, t in zip(cells, lefts, targets, strict=True)]
        r = flat * theta_now - np.sum([right.fit for right in rights], axis=0)
        theta = sl.cho_solve(factor, r, check_finite=False)
        db = np.zeros(free.shape[1])
        if free.shape[1]:
            B = sl.cho_solve(factor, free, check_finite=False)
            db = np.linalg.lstsq(free.T @ B, free.T @ theta, rcond=None)[0]
            theta -= B @ db
        return [recover(c, left, right, theta) for c, left, right in zip(cells, lefts, rights, strict=True)], db

    zero = [_scaled_target(v, z, s, 0.0, None) for v, z, s in zip(state.slack, state.dual, scales, strict=True)]
    tried, _ = direction([t.target for t in zero])
    changes = _changes(state, scales, tried, zero)
    reach = min(1.0, *(change.longest for change in changes))
    mu = max((1 - reach) ** 3, 1e-4) * state.mu
    goal = [
        _scaled_target(v, z, s, mu, change)
        for v, z, s, change in zip(state.slack, state.dual, scales, changes, strict=True)
    ]
    steps, db = direction([t.target for t in goal])
    changes = _changes(state, scales, steps, goal)
    length = min(1.0, STEP * min(change.longest for change in changes))
    points = tuple(point.moved(length, x) for point, x in zip(state.points, steps, strict=True))
    slack = tuple(slacks(c, point) for c, point in zip(cells, points, strict=True))
    dual = tuple(_move(z, s, change, length) for z, s, change in zip(state.dual, scales, changes, strict=True))
    return CellState(cells, points, slack, dual, free, state.b + length * db, bags), length


def _changes(
    state: CellState, scales: Sequence[Scaling], steps: Sequence[CellPoint], targets: Sequence[Target]
) -> list[Change]:
    """The changes along a direction, cell by cell."""
    parts = zip(state.cells, state.slack, state.dual, scales, steps, targets, strict=True)
    return [_change(*part) for part in parts]


@dataclass(frozen=True)
class Target:
    """What slack times multiplier shall become, divided by the slack: `target`; its blocks in scaled coordinates."""

    target: Slacks
    scaled: Floats


@dataclass(frozen=True)
class Change:
    """The change of slacks and multipliers along a direction (blocks in scaled coordinates) and its longest step."""

    blocks: tuple[Floats, Floats]
    slack: dict[str, Floats]
    dual: dict[str, Floats]
    longest: float


def _scaled_target(v: Slacks, z: Slacks, s: Scaling, mu: float, tried: Change | None) -> Target:
    """mu / slack, less the product of the changes that were tried (Mehrotra)."""
    scaled = mu / s.sigma[:, :, None] * np.eye(s.sigma.shape[1])
    linear = v.map(lambda x: mu / x)
    if tried is not None:
        X, S = tried.blocks
        scaled = scaled - s.divided((X @ S + S @ X) / 2)
        linear = {k: linear[k] - tried.slack[k] * tried.dual[k] / getattr(v, k) for k in linear}
    linear["cut"] = np.where(z.cut > 0, linear["cut"], 0.0)
    return Target(Slacks(s.outwards(scaled), **linear), scaled)


def _change(cell: Cell, v: Slacks, z: Slacks, s: Scaling, x: CellPoint, target: Target) -> Change:
    dv = slacks(cell, x)
    dv = replace(dv, cut=np.where(cell.used, dv.cut, 0.0))
    X = s.inwards(dv.blocks)
    X = (X + X.transpose(0, 2, 1)) / 2
    S = target.scaled - X
    S[:, np.arange(S.shape[1]), np.arange(S.shape[1])] -= s.sigma
    dz = {k: getattr(target.target, k) - getattr(z, k) * (1 + getattr(dv, k) / getattr(v, k)) for k in v.map(np.abs)}
    linear = min(
        *(linear_step(getattr(v, k), getattr(dv, k)) for k in dz),
        *(linear_step(getattr(z, k), dz[k]) for k in dz),
    )
    return Change((X, S), dv.map(lambda x: x), dz, min(linear, s.step(X), s.step(S)))


def _move(z: Slacks, s: Scaling, change: Change, length: float) -> Slacks:
    S = length * change.blocks[1]
    S[:, np.arange(S.shape[1]), np.arange(S.shape[1])] += s.sigma
    S = s.outwards(S)
    return Slacks((S + S.transpose(0, 2, 1)) / 2, **{k: getattr(z, k) + length * change.dual[k] for k in change.dual})


def nothing(cells: Sequence[Cell], loss: LeadersLoss) -> LeadersProof:
    """theta = 0, which needs no multipliers."""
    by = (
        Multipliers(0 * c.side, np.zeros(len(c.N)), np.zeros(len(c.F)), np.zeros(len(c.A)), np.zeros(len(c.L)))
        for c in cells
    )
    return LeadersProof(np.zeros(len(loss.count)), tuple(cells), tuple(by), 0.0)


def proof(state: CellState, loss: LeadersLoss, lam: float) -> LeadersProof:
    """What the state's multipliers prove: theta is scaled until (*) holds."""
    theta = loss.theta(state.fit)
    if state.free.shape[1]:
        theta = theta - state.free @ np.linalg.lstsq(state.free, theta, rcond=None)[0]
    ts = [bags.spread_floats(theta) for bags in state.bags]
    by = tuple(trim_multipliers(c, t, multipliers(c, z)) for c, z, t in zip(state.cells, state.dual, ts, strict=True))
    most = max(bound(cell, t, b) for cell, t, b in zip(state.cells, ts, by, strict=True))
    if not 0 < most < np.inf:
        return LeadersProof(0 * theta, state.cells, by, -np.inf, state.points)
    s, value = loss.best_scale(theta, lam / most)
    return LeadersProof(s * theta, state.cells, tuple(b.scaled(s) for b in by), value, state.points)


def with_cuts(state: CellState, later: CellState, most: int) -> tuple[CellState, int]:
    """The state with the neighbours that are violated at a `later` state, |z_k.m_l| > phi_k, and their number. The m of
    leaders with new neighbours are shortened until all slacks are positive."""
    cells, points = [], []
    for cell, point, end in zip(state.cells, state.points, later.points, strict=True):
        grown = with_neighbours(cell, end.m, end.phi, most)
        over = np.abs(np.einsum("lkd,ld->lk", grown.F[grown.near], point.m)) / point.phi[grown.near] * grown.used
        worst = over[:, cell.near.shape[1] :].max(axis=1, initial=0.0)
        cells.append(grown)
        points.append(replace(point, m=point.m * np.minimum(1, 0.9 / np.maximum(worst, 1e-300))[:, None]))
    slack = tuple(slacks(c, p) for c, p in zip(cells, points, strict=True))
    mu = state.mu
    dual = []
    for cell, v, z in zip(cells, slack, state.dual, strict=True):
        new = np.where(cell.used, mu / v.cut, 0.0)
        new[:, : z.cut.shape[1]] = z.cut
        dual.append(replace(z, cut=new))
    added = sum(int(c.used.sum()) for c in cells) - sum(int(c.used.sum()) for c in state.cells)
    return replace(state, cells=tuple(cells), points=tuple(points), slack=slack, dual=tuple(dual)), added


@dataclass(frozen=True)
class Rounds:
    """How long to go on: a round ends when value - bound is below a share of (upper - bound); the last has its own. All
    of them end with a bound that is `enough`."""

    upper: float
    until: Until
    at_last: Until = NEVER
    enough: float = np.inf
    neighbours: int = 8
    rounds: int = 3
    share: float = 0.25
    last: float = 0.02


def descend(cells: Sequence[Cell], loss: LeadersLoss, lam: float, plan: Rounds, free: Floats) -> LeadersProof | None:
    """The best proof found: rounds of steps, each with more neighbours than the one before. A proof that is worth
    something is waited for, until it is too late."""
    best: LeadersProof | None = None
    try:
        state = begin(cells, loss, lam, free)
    except np.linalg.LinAlgError:
        return None
    last, number = plan.rounds == 1, 1
    while True:
        saved, here, over = state, -np.inf, False
        share = plan.last if last else plan.share
        for _ in range(MOST_STEPS):
            try:
                state, length = advance(state, loss, lam)
            except np.linalg.LinAlgError:
                return best
            found = proof(state, loss, lam)
            here = max(here, found.value)
            if best is None or found.value > best.value:
                best = found
            value = state.value(loss, lam)
            distance = value - here
            if distance > BACK * plan.upper:
                saved = state
            late = stopped() or plan.at_last.over or (plan.until.over and best.value > WORTH * plan.upper)
            over = late or length < 1e-5 or best.value >= plan.enough
            if over or distance < min(share * (plan.upper - here) + 1e-6 * plan.upper, HALF * value):
                break
        if over or last:
            return best
        grown, added = with_cuts(saved, state, plan.neighbours)
        number += 1
        last = not added or number == plan.rounds
        if added and grown.value(loss, lam) > FAR * plan.upper:
            grown = begin(grown.cells, loss, lam, free)
        state = grown if added else state


DIGITS = 10**4
APART = 0.05  # centres are farther from each other than this
WORTH_CUTTING = 0.3  # of the widest cell: cells as wide as that are cut, too


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
    least = WORTH_CUTTING * max((size for size, _ in pieces), default=0.0)
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
