"""Find the evidence `leaders` for a network: the best lower bound of p* within a time.

Stages, each only if it is expected to end in time: few principal directions of the rows (all of them if they are not
many), one cell for each sign; then those directions that tell most in the last proof, more of them as long as the
others cost much; then triangles between the leaders' signs; then cells, those cut in two again and again in which the
relaxation's u is spread most, with triangles as long as these are worth their time. Neighbours that counted in one
stage are those with which the next begins.

Multipliers that were found with the first few directions of the rows, made to hold in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import thread_time

import numpy as np

from relu_cert.bags import EACH, Each
from relu_cert.clock import stopped, until
from relu_cert.evidence import MOST_IN_BAGS, MOST_ROWS, Leaders
from relu_cert.exact import Vector
from relu_cert.leaders.bound import LeadersLoss, Multipliers, bound, form, free_weight, merge, smallest
from relu_cert.leaders.cells import Cell, Floats, inherited, make_cell
from relu_cert.leaders.interior import Centres, LeadersProof, Rounds, cells_of, descend, finer, nothing
from relu_cert.leaders.rounding import IntegerData, evidence, exact_data
from relu_cert.leaders.signs import tie
from relu_cert.solve.prepare import one_thread

SHARES = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # tried for the mass of the other directions
POWER = 4  # of what is nearest to the bound, before it is summed over the cells


def lift(proof: LeadersProof, cells: Sequence[Cell], loss: LeadersLoss, lam: float) -> LeadersProof:
    """theta and the same multipliers on the `cells` with whole rows; c makes room for what the other directions add to
    v_l, as if u were spread evenly over them, and theta is scaled until (*) holds."""
    top = proof.cells[0].Z.shape[1]
    pairs = zip(cells, proof.cells, strict=True)
    grown = tuple(replace(one, near=c.near, side=c.side, used=c.used) for one, c in pairs)
    t = loss.bags.spread_floats(proof.theta)
    best = [_best(cell, t, by, top) for cell, by in zip(grown, proof.multipliers, strict=True)]
    s, value = loss.best_scale(proof.theta, lam / max(b for b, _ in best))
    return LeadersProof(s * proof.theta, grown, tuple(by.scaled(s) for _, by in best), value, proof.points)


def telling(proof: LeadersProof, loss: LeadersLoss) -> Floats:
    """Orthonormal columns, those first in which the proof has least room: where beta.u + u'Qu is largest. They hold the
    u that count, and those that a proof with few directions did not see. What the norm does not see stays, as it is."""
    seen = np.flatnonzero(proof.cells[0].norm)
    total, t = np.zeros((len(seen), len(seen))), loss.bags.spread_floats(proof.theta)
    for cell, by in zip(proof.cells, proof.multipliers, strict=True):
        _, beta, Q = form(cell, t, by)
        beta, Q = beta[seen], Q[np.ix_(seen, seen)]
        sigma, nu = smallest(beta, Q)
        values, V = np.linalg.eigh(Q + np.outer(beta, beta) / max(4 * sigma, 1e-300))
        total += (V * np.maximum(values / nu, 0) ** POWER) @ V.T
    basis = np.eye(len(proof.cells[0].norm))
    basis[np.ix_(seen, seen)] = np.linalg.eigh(total)[1][:, ::-1]
    return basis


def _best(cell: Cell, theta: Floats, by: Multipliers, top: int) -> tuple[float, Multipliers]:
    """The multipliers with the best share of the other directions, and their bound."""
    pulled = np.einsum("lk,lkd->ld", by.w * cell.side, cell.F[cell.near][:, :, top:])
    v = np.maximum(cell.xi * theta[cell.L], 0)[:, None] * cell.Z[cell.L][:, top:] - pulled
    spread = (v**2).mean(axis=1)
    tried = [replace(by, c=np.sqrt(by.c**2 + share * spread)) for share in SHARES]
    return min(((bound(cell, theta, one), one) for one in tried), key=lambda pair: pair[0])


NEIGHBOURS = 8
MOST_CELLS = 64
MOST_APART = 2**13  # with free biases the checker compares all rows: that many
MOST_INHERITED = 24  # neighbours of a leader that a stage takes from the one before
HARDER = 1.25  # steps with more cells are harder
MOST_DIRECTIONS = (20, 28, 36, 44, 54, 66, 80)  # tried if there are more; never more than the last
DEAR = 0.06  # of the gap: if the other directions cost more, there are too few
ROUNDS = 4.0  # what all rounds cost, as a multiple of the first
AT_ONCE = 1.5e9  # operations for a step: if all directions need no more, there is no stage with fewer
TIES = 0.5  # of the time that is left, for triangles
TELLING = 0.08  # of the gap: triangles that close less are not tried again
LATEST = 1.25  # of the time: nothing is waited for any longer
SURELY = 0.999  # of the gap that is wanted: the rest is for rounding
EXPONENT = 0.85  # time grows a little slower than the operations: large matrices are fast


@dataclass(frozen=True)
class FloatNeuron:
    """xi (Zw)_+ with w of any length."""

    sign: int
    w: Sequence[float | Fraction]


@dataclass(frozen=True)
class LeadersData:
    """The problem in floats (rows are the distinct ones) and exactly, with the network's neurons."""

    rows: Floats
    loss: LeadersLoss
    lam: float
    exact: IntegerData
    W: Floats
    signs: Floats
    free: Floats
    norm: Floats

    @property
    def fit(self) -> Floats:
        """The network's outputs at the distinct rows, or of the bags, less the free terms."""
        return self.loss.bags.pooled_floats(np.maximum(self.rows @ self.W.T, 0) @ self.signs)


@np.errstate(divide="ignore", invalid="ignore")  # where steps have come to their end slacks are 0; rounding decides
def find_leaders(
    Z: Sequence[Vector],
    y: Vector,
    lam: Fraction,
    neurons: Sequence[FloatNeuron],
    seconds: float,
    *,
    logistic: bool = False,
    outputs: Sequence[Vector] = (),
    biases: bool = False,
    bags: Each = EACH,
    good: float = 1e-3,
    cells: int = MOST_CELLS,
    tell: Callable[[Leaders], None] | None = None,
) -> Leaders | None:
    """The best evidence found in about this time, or as soon as the gap to the network is below `good`.

    `outputs` are the outputs of free terms, one number for each row, or bag (an output bias: ones; a skip connection:
    the columns of Z); theta is orthogonal to them. With free `biases` (ones are among the outputs then) the last
    column of Z is ones, and |u| does not see its weight. At most so many `cells` for each sign. `tell` hears of every
    better one.
    """
    with one_thread():
        data = prepare(Z, y, lam, neurons, logistic, outputs, biases, bags)
        upper, theta = _network(data)
        best: Leaders | None = None
        if len(data.rows) > (MOST_ROWS if bags is EACH else MOST_IN_BAGS):
            return _at_once(data, theta)
        plan = Rounds(upper, until(seconds), until(LATEST * seconds), (1 - SURELY * good) * upper)
        for proof, centres in _stages(data, theta, plan, cells):
            found = evidence(data.exact, data.loss, proof, centres)
            if found is not None and (best is None or found.lower > best.lower):
                best = found
                if tell is not None:
                    tell(found)
            if best is not None and upper - float(best.lower) < good * upper:
                break
        return _at_once(data, theta) if best is None else best


def _at_once(data: LeadersData, theta: Floats) -> Leaders | None:
    """The evidence of the network's theta without any neighbours: memory and time are those of reading the rows."""
    if not data.norm.all() and len(data.rows) > MOST_APART:
        return None
    whole = Centres((), ())
    cells = [make_cell(data.rows, data.loss.bags.spread_floats(theta), xi, 0, data.norm) for xi in (1, -1)]
    return evidence(data.exact, data.loss, plain(cells, data, theta), whole)


def prepare(
    Z: Sequence[Vector],
    y: Vector,
    lam: Fraction,
    neurons: Sequence[FloatNeuron],
    logistic: bool = False,
    outputs: Sequence[Vector] = (),
    biases: bool = False,
    bags: Each = EACH,
) -> LeadersData:
    """The data in floats; rows that are equal are one (with bags they all differ, and the loss is that of the bags),
    if they have the same entries in the free columns, and labels both or neither."""
    own = Z if bags is not EACH else [*zip(Z, [logistic and not t for t in y], *outputs, strict=True)]
    classes, firsts = merge(own)
    points = firsts if bags is EACH else np.arange(len(y))
    d = len(Z[0])
    rows = np.array([[float(x) for x in Z[k]] for k in firsts])
    W = np.array([[float(x) for x in neuron.w] for neuron in neurons]).reshape(len(neurons), d)
    free = np.array([[float(column[k]) for column in outputs] for k in points]).reshape(len(points), len(outputs))
    norm = (*(1,) * (d - 1), 0 if biases else 1)
    return LeadersData(
        rows=rows,
        loss=LeadersLoss(classes if bags is EACH else points, np.array([float(t) for t in y]), logistic, bags),
        lam=float(lam),
        exact=exact_data(Z, y, lam, firsts, norm, tuple(tuple(column) for column in outputs)),
        W=W,
        signs=np.array([float(neuron.sign) for neuron in neurons]),
        free=free,
        norm=np.array(norm, dtype=np.float64),
    )


def _network(data: LeadersData) -> tuple[float, Floats]:
    """The network's objective with the best free terms, and its theta."""
    fit = data.fit
    for _ in range(30 if data.free.shape[1] else 0):  # Newton's method for the free terms
        theta = data.loss.theta(fit)
        weight = 1 / data.loss.flatness(fit)
        step = np.linalg.lstsq((data.free * weight[:, None]).T @ data.free, data.free.T @ theta, rcond=None)[0]
        fit = fit + data.free @ step
    sizes = np.linalg.norm(data.W * data.norm, axis=1)
    return data.loss.value(fit) + data.lam * float(sizes.sum()), data.loss.theta(fit)


def plain(cells: Sequence[Cell], data: LeadersData, theta: Floats) -> LeadersProof:
    """The network's theta, scaled until the bound without any neighbours holds: little, and at once."""
    without, t = zip(cells, nothing(cells, data.loss).multipliers, strict=True), data.loss.bags.spread_floats(theta)
    by = [replace(one, c=free_weight(_own(cell, t))) for cell, one in without]
    most = max(bound(cell, t, one) for cell, one in zip(cells, by, strict=True))
    s, value = data.loss.best_scale(theta, data.lam / most if most > 0 else 1.0)
    return LeadersProof(s * theta, tuple(cells), tuple(one.scaled(s) for one in by), value)


def _own(cell: Cell, theta: Floats) -> Floats:
    own: Floats = np.maximum(cell.xi * theta[cell.L], 0)[:, None] * cell.Z[cell.L]
    return own


Stage = tuple[LeadersProof, Centres]


def _stages(data: LeadersData, theta: Floats, plan: Rounds, cells: int) -> Iterator[Stage]:
    """Proofs of one stage after the other, with the centres of their cells."""
    n, d = data.rows.shape
    upper, centres = plan.upper, Centres((), ())
    if not data.rows.any() or not data.loss.theta(np.zeros(len(theta))).any():  # nothing to learn: zero is optimal
        yield nothing(_cells(data, data.rows, theta, centres), data.loss), centres
        return
    few = min(n, d) > MOST_DIRECTIONS[0] and operations(n, d, len(theta)) > AT_ONCE
    turn = _directions(data.rows, data.norm) if few else None
    rank = d if turn is None else turn.shape[1]
    top = min(MOST_DIRECTIONS[0], rank) if few else d
    short = top < rank  # at first one round, which shows the directions that tell most
    rounds, ties = 1 if short else plan.rounds, True
    before: LeadersProof | None = None
    parents: tuple[int, ...] = ()
    while not stopped():
        began, rows = thread_time(), data.rows if turn is None else data.rows @ turn
        enough = plan.enough if turn is None or top == rank else np.inf  # what the other directions cost comes later
        own = replace(plan, rounds=rounds, last=plan.share if short else plan.last, enough=enough)
        parts = _cells(data, rows, theta, centres, turn, top)
        if before is not None:
            parts = [_begun(part, before, i) for part, i in zip(parts, parents, strict=True)]
        proof = descend(parts, data.loss, data.lam, own, data.free)
        if proof is None:
            return
        dear, seen_by = short, turn
        if turn is not None and top < rank:
            seen = proof.value
            proof = lift(proof, _cells(data, rows, theta, centres, turn), data.loss, data.lam)
            turn = turn @ telling(proof, data.loss)
            dear = seen - proof.value > DEAR * (upper - seen)
        yield proof, centres
        before, parents, rounds = proof, tuple(range(centres.cells)), 2 if short else 1
        expected = (thread_time() - began) * (ROUNDS if short else 1.0)
        more = _more(rank, top) if dear else None
        if more is not None:
            expected *= (operations(n, more, len(theta)) / operations(n, top, len(theta))) ** EXPONENT
        if short:
            short, top = False, more if more is not None and expected < plan.until.left else top
            continue
        if more is None:
            if ties:
                tied = tie(proof, data.loss, data.lam, data.free, plan.until.within(TIES * plan.until.left))
                if tied.value > proof.value:
                    yield tied, centres
                ties = tied.value - proof.value > TELLING * (upper - proof.value)
            expected = thread_time() - began if ties else expected
            found = finer(proof, centres, seen_by, data.norm, data.exact.q, cells)
            if found is None:
                return
            expected *= HARDER * found.centres.cells / centres.cells
            centres, parents = found
        if expected > plan.until.left:
            return
        top = top if more is None else more


def _begun(cell: Cell, before: LeadersProof, i: int) -> Cell:
    """The cell with the neighbours that counted, or were missed, in the cell i of a proof."""
    point = before.points[i]
    return inherited(cell, before.cells[i], before.multipliers[i].w, point.m, point.phi, 2 * NEIGHBOURS, MOST_INHERITED)


def _directions(rows: Floats, norm: Floats) -> Floats:
    """The principal directions of the rows, as columns; a column that the norm does not see stays, as the first."""
    _, sizes, directions = np.linalg.svd(rows * norm, full_matrices=False)
    chosen: Floats = directions[sizes > 1e-12 * sizes[0]].T
    return np.concatenate([np.diag(1 - norm)[:, norm == 0], chosen], axis=1)


def _more(rank: int, top: int) -> int | None:
    """The next number of directions."""
    return min((t for t in (*MOST_DIRECTIONS, rank) if top < t <= min(rank, MOST_DIRECTIONS[-1])), default=None)


def _cells(
    data: LeadersData, rows: Floats, theta: Floats, centres: Centres, turn: Floats | None = None, top: int | None = None
) -> list[Cell]:
    """The cells of both signs, in the first directions."""
    rows, t = rows[:, :top], data.loss.bags.spread_floats(theta)
    free = len(data.norm) - int(data.norm.sum())
    norm = data.norm if turn is None else np.append(np.zeros(free), np.ones(rows.shape[1] - free))
    turn = None if turn is None else turn[:, :top]
    sides = (
        cells_of(rows, t, xi, NEIGHBOURS, own, data.exact.q, turn, norm)
        for xi, own in zip((1, -1), centres, strict=True)
    )
    return [cell for side in sides for cell in side]


def operations(n: int, d: int, points: int) -> float:
    """About how many operations a step takes with one cell for each sign."""
    size = d * (d + 1) // 2 + d + n // 2
    systems = size**3 / 3 + size**2 * points + points**2 * size
    return 2 * (systems + n * d**4 + 20 * n * (d + 1) ** 3)
