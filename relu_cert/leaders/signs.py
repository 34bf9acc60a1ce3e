"""Triangle inequalities between the signs of the leaders, on top of a proof by the interior point method.

With the signs s_l of the leaders and s_0 = 1 the relaxation is one matrix for each cell,

    X = [[tau, u', a'], [u, U, M], [a, M', S]] >= 0,    S_ll = tau,

and all signs satisfy tau + x S_ij + y S_jk + x y S_ik >= 0, x, y = +-1. The matrix is larger than the blocks of the
interior point method and there are very many inequalities, of which some thousands count: alternating directions with
cutting planes. It need not end at an optimum: whatever its multipliers are, the bound is computed from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import thread_time

import numpy as np
import scipy.sparse as sp

from relu_cert.clock import Until, stopped
from relu_cert.leaders.bound import (
    LeadersLoss,
    Multipliers,
    TriangleTies,
    bound,
    form,
    leading,
    multipliers,
    smallest,
    trim_multipliers,
)
from relu_cert.leaders.cells import Cell, Floats, Indices, Slacks
from relu_cert.leaders.interior import LeadersProof

STEPS = 250  # of a round
ROUNDS = 3
MORE = 40  # triangles a round for each leader, at most
VIOLATED = 0.02  # of tau
RELAXED = 1.6  # steps are longer than the projections say
FITTED = 60  # steps of conjugate gradients, at most
MOST_SIGNS = 400  # of leaders
TRIED = 10  # steps that show what a round takes
SHARES = (0.0, 1e-4, 3e-4, 1e-3, 2e-3, 4e-3, 8e-3, 0.016, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0)  # of c, added to it
BALANCE = 25  # steps between two looks at the balance of residuals


@dataclass(frozen=True)
class Layout:
    """Where the unknowns of a cell are: x = (U, u, m, signs off the diagonal, phi); phi in units of the rows' length.

    `whole` takes x to the entries of X below and on its diagonal, times sqrt 2 off it; `rows` are the inequalities in
    the order of `cone.LINEAR`; `fit` takes x to the cell's part of f, `mass` is tau.
    """

    cell: Cell
    at: Indices
    whole: sp.csr_matrix
    rows: sp.csr_matrix
    fit: sp.csr_matrix
    mass: Floats

    @property
    def order(self) -> int:
        """The order of X."""
        return 1 + int(self.cell.Z.shape[1]) + len(self.cell.L)

    @property
    def signs(self) -> Indices:
        """The places of the signs in X: of 1 and of the leaders."""
        return np.concatenate([[0], np.arange(1 + self.cell.Z.shape[1], self.order)])

    @property
    def stretch(self) -> Floats:
        """The units of X: the coordinates of u are smaller than signs."""
        return _stretch(self.order, self.cell.Z.shape[1])


def layout(cell: Cell) -> Layout:
    """The unknowns of a cell and its inequalities."""
    d, leaders, F, rows = cell.Z.shape[1], len(cell.L), cell.F, len(cell.N)
    i, j, half = cell.triangle
    order = 1 + d + leaders
    at = np.full((order, order), -1, dtype=np.intp)
    at[i + 1, j + 1] = at[j + 1, i + 1] = np.arange(len(i))
    size = len(i)
    at[0, 1 : d + 1] = at[1 : d + 1, 0] = size + np.arange(d)
    size += d
    m = size + np.arange(leaders * d).reshape(leaders, d)
    at[d + 1 :, 1 : d + 1], at[1 : d + 1, d + 1 :] = m, m.T
    size += leaders * d
    signs = np.concatenate([[0], np.arange(d + 1, order)])
    a, b = np.tril_indices(len(signs), -1)
    at[signs[a], signs[b]] = at[signs[b], signs[a]] = size + np.arange(len(a))
    size += len(a)
    count = size + len(F)
    mass = np.zeros(count)
    mass[at[np.arange(1, d + 1), np.arange(1, d + 1)]] = cell.norm
    long = np.linalg.norm(F, axis=1)
    long[long == 0] = 1.0
    unit = F / long[:, None]
    phi = sp.csr_matrix((np.ones(len(F)), (np.arange(len(F)), size + np.arange(len(F)))), shape=(len(F), count))
    along = _spread(unit, np.broadcast_to(at[0, 1 : d + 1], unit.shape), count)
    squares = _spread(
        unit[:, i] * unit[:, j] * (2 * half) * np.where(np.isfinite(cell.lengths), long / cell.lengths, 0.0)[:, None],
        np.broadcast_to(np.arange(len(i)), (len(F), len(i))),
        count,
    )
    l, k = np.nonzero(cell.used)
    near = cell.near[l, k]
    pulled = _spread(cell.side[l, k][:, None] * unit[near], m[l], count)
    inequalities = sp.vstack(
        [
            *(phi[:rows] - along[:rows], phi[:rows] + along[:rows], along[rows:] - phi[rows:]),
            *(phi - squares, phi[near] - pulled),
        ]
    )
    fit = _spread(cell.Z, np.broadcast_to(at[0, 1 : d + 1], cell.Z.shape), count).tolil()
    own = sp.lil_matrix((len(cell.Z), count))
    own[cell.N] = sp.diags(long[:rows]) @ phi[:rows]
    own[cell.L] = _spread(cell.Z[cell.L], m, count)
    return Layout(
        cell, at, _whole(at, mass, _stretch(order, d)), inequalities.tocsr(), 0.5 * cell.xi * (fit + own).tocsr(), mass
    )


def _spread(values: Floats, columns: Indices, count: int) -> sp.csr_matrix:
    """Row by row, `values` at `columns`."""
    lines = np.repeat(np.arange(len(values)), values.shape[1])
    return sp.csr_matrix((values.ravel(), (lines, columns.ravel())), shape=(len(values), count))


def _stretch(order: int, d: int) -> Floats:
    """The coordinates of u are smaller than signs."""
    stretch = np.ones(order)
    stretch[1 : d + 1] = np.sqrt(d)
    return stretch


def _whole(at: Indices, mass: Floats, stretch: Floats) -> sp.csr_matrix:
    i, j = np.tril_indices(len(at))
    place = at[i, j]
    known = np.flatnonzero(place >= 0)
    weight = np.where(i == j, 1.0, np.sqrt(2.0)) * stretch[i] * stretch[j]
    own = sp.csr_matrix((weight[known], (known, place[known])), shape=(len(i), len(mass)))
    others = np.flatnonzero(place < 0)
    tau = np.flatnonzero(mass)
    lines = np.repeat(others, len(tau))
    return own + sp.csr_matrix(
        (np.tile(mass[tau], len(others)), (lines, np.tile(tau, len(others)))), shape=(len(i), len(mass))
    )


@dataclass(frozen=True)
class Program:
    """A x with rows for X of all cells (`ends[0]` of them), the inequalities (up to `ends[1]`), f (up to `ends[2]`)
    times `stiff`, and the triangles: of the cell, i, j, k in 0 (the sign 1), 1, ..., leaders, and the signs x, y."""

    plans: tuple[Layout, ...]
    loss: LeadersLoss
    lam: float
    free: Floats
    stiff: Floats
    A: sp.csr_matrix
    ends: tuple[int, int, int]
    triangles: Indices

    @cached_property
    def across(self) -> sp.csr_matrix:
        """A'"""
        return self.A.T.tocsr()

    @cached_property
    def diagonal(self) -> Floats:
        """Of A'A."""
        return np.asarray(self.A.multiply(self.A).sum(axis=0)).ravel()

    @cached_property
    def mass(self) -> Floats:
        """sum tau, as a function of x."""
        return np.concatenate([*(plan.mass for plan in self.plans), np.zeros(self.free.shape[1])])

    def parts(self, x: Floats) -> list[Floats]:
        """The unknowns of each cell."""
        return np.split(x, np.cumsum([len(plan.mass) for plan in self.plans]))[:-1]

    def blocks(self, rows: Floats) -> list[Floats]:
        """The entries of X of each cell."""
        return np.split(rows[: self.ends[0]], np.cumsum([plan.whole.shape[0] for plan in self.plans]))[:-1]

    def grown(self, new: Indices) -> Program:
        """With more triangles."""
        lines = [_triangles(plan, new[new[:, 0] == c, 1:]) for c, plan in enumerate(self.plans)]
        order = np.argsort(new[:, 0], kind="stable")
        A = sp.vstack([self.A, _beside(lines, self.A.shape[1])]).tocsr()
        return replace(self, A=A, triangles=np.concatenate([self.triangles, new[order]]))


@dataclass(frozen=True)
class Iterate:
    """x, what A x shall be, and the multipliers over the step."""

    x: Floats
    goal: Floats
    dual: Floats
    step: float


def _beside(blocks: Sequence[sp.csr_matrix], columns: int) -> sp.csr_matrix:
    """A block for each cell, one after the other."""
    whole = sp.block_diag(blocks).tocsr()
    whole.resize(whole.shape[0], columns)
    return whole


def _triangles(plan: Layout, new: Indices) -> sp.csr_matrix:
    """tau + x S_ij + y S_jk + x y S_ik, over 2."""
    i, j, k = (plan.signs[new[:, c]] for c in range(3))
    x, y = new[:, 3], new[:, 4]
    columns = np.stack([plan.at[i, j], plan.at[j, k], plan.at[i, k]], axis=1)
    own = _spread(0.5 * np.stack([x, y, x * y], axis=1).astype(np.float64), columns, len(plan.mass))
    return own + sp.csr_matrix(np.ones((len(new), 1))) @ sp.csr_matrix(0.5 * plan.mass[None])


def violated_triangles(S: Floats, most: int) -> Indices:
    """The triangles that are violated most, of signs whose products S are about 1 on the diagonal."""
    size, found = len(S), []
    upper = np.triu(np.ones((size, size), dtype=np.bool_), 1)
    for x in (1, -1):
        for y in (1, -1):
            for j in range(size):
                value = 1 + x * S[j][:, None] + y * S[j][None, :] + x * y * S
                i, k = np.nonzero((value < -VIOLATED) & upper)
                inner = (i != j) & (k != j)
                i, k = i[inner], k[inner]
                lines = np.stack([i, np.full(len(i), j), k, np.full(len(i), x), np.full(len(i), y)], axis=1)
                found.append(np.column_stack([value[i, k], lines]))
    table = np.concatenate(found)
    _, firsts = np.unique(_names(table[:, 1:].astype(np.intp)), axis=0, return_index=True)  # j may be any of the three
    table = table[firsts]
    chosen: Indices = table[np.argsort(table[:, 0], kind="stable")[:most], 1:].astype(np.intp)
    return chosen


def _names(triangles: Indices) -> Indices:
    """The same for the same inequality: the corners in order, with the signs of the edges."""
    i, j, k, x, y = triangles.T
    corners = np.stack([i, j, k], axis=1)
    opposite = np.stack([y, x * y, x], axis=1)  # the sign of the edge that a corner is not on
    order = np.argsort(corners, axis=1)
    names: Indices = np.concatenate(
        [np.take_along_axis(corners, order, 1), np.take_along_axis(opposite, order, 1)], axis=1
    )
    return names


def tie(proof: LeadersProof, loss: LeadersLoss, lam: float, free: Floats, until: Until) -> LeadersProof:
    """The best proof with triangles that is found in this time; the proof itself if none is better, or if there is no
    time for a round."""
    sizes = [len(cell.L) for cell in proof.cells]
    if min(sizes) < 1 or max(sizes) > MOST_SIGNS:
        return proof
    program, at = _begun(proof, loss, lam, free)
    best, began, seconds = proof, thread_time(), until.left
    for _ in range(ROUNDS):
        new = _missing(program, at.x)
        if not len(new):
            return best
        program = program.grown(new)
        none = np.zeros(len(new))
        at = replace(at, goal=np.append(at.goal, none), dual=np.append(at.dual, none))
        late = False
        for count in range(1, STEPS + 1):
            at = _advance(program, at, balance=count % BALANCE == 0)
            late = stopped() or until.over
            if late:
                break
            if best is proof and count == TRIED and (thread_time() - began) * STEPS > TRIED * seconds:
                return proof
        found = _proved_value(program, at, proof)
        if found.value > best.value:
            best = found
        if late:
            return best
    return best


def _begun(proof: LeadersProof, loss: LeadersLoss, lam: float, free: Floats) -> tuple[Program, Iterate]:
    """The program without triangles, at the point and the multipliers of the proof."""
    plans = tuple(layout(cell) for cell in proof.cells)
    x = np.concatenate([*(_pack(plan, proof, c) for c, plan in enumerate(plans)), np.zeros(free.shape[1])])
    pooled = [loss.bags.pooled_sparse(plan.fit) for plan in plans]
    fit = sp.hstack([*pooled, sp.csr_matrix(free)]).tocsr()
    mass = np.concatenate([*(plan.mass for plan in plans), np.zeros(free.shape[1])])
    step = lam * max(float(mass @ x), 1e-300) / max(float(x @ x), 1e-300)
    stiff = 1 / np.sqrt(step * loss.flatness(fit @ x))
    whole, rows = (_beside(parts, len(x)) for parts in ([p.whole for p in plans], [p.rows for p in plans]))
    A = sp.vstack([whole, rows, sp.diags(stiff) @ fit]).tocsr()
    ends = (whole.shape[0], whole.shape[0] + rows.shape[0], A.shape[0])
    program = Program(plans, loss, lam, free, stiff, A, ends, np.zeros((0, 6), dtype=np.intp))
    t = loss.bags.spread_floats(proof.theta)
    started = [_multipliers(plan, t, proof.multipliers[c]) for c, plan in enumerate(plans)]
    dual = np.concatenate([*(one for one, _ in started), *(two for _, two in started), proof.theta / stiff])
    goal = A @ x
    goal[ends[0] : ends[1]] = np.maximum(goal[ends[0] : ends[1]], 0)
    return program, Iterate(x, goal, -dual / step, step)


def _multipliers(plan: Layout, t: Floats, by: Multipliers) -> tuple[Floats, Floats]:
    """The multipliers of X and of the inequalities that belong to those of the proof."""
    cell, d, rows = plan.cell, plan.cell.Z.shape[1], len(plan.cell.N)
    long = np.linalg.norm(cell.F, axis=1)
    load = np.bincount(cell.near.ravel(), by.w.ravel(), minlength=len(cell.F)) + by.q
    p, inside = by.p * long[:rows], (load[rows:] + by.rho) * long[rows:]
    pulls = by.w[cell.used] * long[cell.near[cell.used]]
    linear = np.concatenate([np.maximum(p, 0), np.maximum(-p, 0), inside, by.q * long, pulls]) / 2
    _, beta, Q = form(cell, t, by)
    sigma, nu = smallest(beta, Q)
    v = leading(cell, t, by)
    weight = np.maximum(by.c, 1e-9 * max(float(by.c.max(initial=0.0)), 1e-300))
    Z = np.zeros((plan.order, plan.order))
    Z[0, 0], Z[0, 1 : d + 1], Z[1 : d + 1, 0] = sigma, -beta / 2, -beta / 2
    Z[1 : d + 1, 1 : d + 1] = nu * np.diag(cell.norm) - Q + 0.25 * (v / weight[:, None]).T @ v
    Z[d + 1 :, 1 : d + 1], Z[1 : d + 1, d + 1 :] = -v / 4, -v.T / 4
    Z[np.arange(d + 1, plan.order), np.arange(d + 1, plan.order)] = weight / 4
    return _entries(Z / plan.stretch[:, None] / plan.stretch), linear


def _missing(program: Program, x: Floats) -> Indices:
    """The triangles that are violated, and not there yet, with the number of their cell in front."""
    found = []
    for c, (plan, part) in enumerate(zip(program.plans, program.parts(x), strict=True)):
        X = _unpack(plan.whole @ part, plan.order)
        X = X / plan.stretch[:, None] / plan.stretch
        new = violated_triangles(X[np.ix_(plan.signs, plan.signs)] / max(X[0, 0], 1e-300), MORE * len(plan.cell.L))
        known = set(map(tuple, _names(program.triangles[program.triangles[:, 0] == c, 1:]).tolist()))
        fresh = np.array([tuple(name) not in known for name in _names(new).tolist()], dtype=np.bool_)
        found.append(np.column_stack([np.full(int(fresh.sum()), c), new[fresh]]))
    return np.concatenate(found)


def _advance(program: Program, at: Iterate, balance: bool) -> Iterate:
    """One step: x, then what A x shall be, then the multipliers."""
    x = _solve(program, program.across @ (at.goal - at.dual) - program.lam / at.step * program.mass, at.x)
    image = program.A @ x
    over = RELAXED * image + (1 - RELAXED) * at.goal
    sought = over + at.dual
    one, two, three = program.ends
    blocks = zip(program.blocks(sought), program.plans, strict=True)
    goal = np.concatenate(
        [
            *(_project_semidefinite(block, plan.order) for block, plan in blocks),
            np.maximum(sought[one:two], 0),
            _nearest(program.loss, sought[two:three], program.stiff, at.step),
            np.maximum(sought[three:], 0),
        ]
    )
    dual, step = sought - goal, at.step
    if balance:  # of the two residuals, each relative to what it is the residual of
        primal = float(np.linalg.norm(image - goal)) / max(float(np.linalg.norm(goal)), 1e-300)
        size = float(np.linalg.norm(program.across[:, :one] @ dual[:one]))
        change = float(np.linalg.norm(program.across @ (goal - at.goal))) / max(size, 1e-300)
        factor = float(np.clip(np.sqrt(primal / max(change, 1e-300)), 0.5, 2.0))
        if not 0.8 < factor < 1.25:
            step, dual = step * factor, dual / factor
    return Iterate(x, goal, dual, step)


def _pack(plan: Layout, proof: LeadersProof, c: int) -> Floats:
    """The unknowns at the point of the proof; the signs' products are those of largest entropy."""
    cell, point = plan.cell, proof.points[c]
    x = np.zeros(len(plan.mass))
    d, seen = cell.Z.shape[1], len(point.u)  # the point may have the first directions only
    i, j = np.triu_indices(seen)
    x[plan.at[i + 1, j + 1]] = point.U[i, j]
    x[plan.at[0, 1 : seen + 1]] = point.u
    x[plan.at[d + 1 :, 1 : seen + 1]] = point.m
    vectors = np.concatenate([point.u[None], point.m])
    S = vectors @ np.linalg.pinv(point.U, rcond=1e-9) @ vectors.T
    a, b = np.tril_indices(len(S), -1)
    x[plan.at[plan.signs[a], plan.signs[b]]] = S[a, b]
    long = np.linalg.norm(cell.F, axis=1)
    x[len(x) - len(cell.F) :] = point.phi / np.where(long > 0, long, 1.0)
    return x


def _unpack(entries: Floats, order: int) -> Floats:
    i, j = np.tril_indices(order)
    X = np.zeros((order, order))
    X[i, j] = X[j, i] = np.where(i == j, entries, entries / np.sqrt(2.0))
    return X


def _entries(X: Floats) -> Floats:
    """The entries on and below the diagonal, times sqrt 2 below it."""
    i, j = np.tril_indices(len(X))
    entries: Floats = np.where(i == j, X[i, j], np.sqrt(2.0) * X[i, j])
    return entries


def _project_semidefinite(entries: Floats, order: int) -> Floats:
    """The nearest semidefinite matrix."""
    X = _unpack(entries, order)
    values, vectors = np.linalg.eigh(X)
    up = values > 0
    few = up if 2 * up.sum() <= order else ~up
    half = vectors[:, few] * np.sqrt(np.abs(values[few]))
    return _entries(half @ half.T if few is up else X + half @ half.T)


def _nearest(loss: LeadersLoss, target: Floats, stiff: Floats, step: float) -> Floats:
    """min loss(g / stiff) + step/2 |g - target|^2, by Newton's method."""
    g = target
    for _ in range(20 if loss.logistic else 1):
        slope = -loss.theta(g / stiff) / stiff + step * (g - target)
        g = g - slope / (1 / (loss.flatness(g / stiff) * stiff**2) + step)
    return g


def _solve(program: Program, right: Floats, x: Floats) -> Floats:
    """A few steps of conjugate gradients for A'A x = right."""
    A, across, diagonal = program.A, program.across, program.diagonal
    r = right - across @ (A @ x)
    z = r / diagonal
    p, rz = z, float(r @ z)
    enough = 1e-10 * float(right @ (right / diagonal))
    for _ in range(FITTED):
        if rz <= enough:
            break
        q = across @ (A @ p)
        alpha = rz / float(p @ q)
        x, r = x + alpha * p, r - alpha * q
        z = r / diagonal
        rz, before = float(r @ z), rz
        p = z + rz / before * p
    return x


def _proved_value(program: Program, at: Iterate, proof: LeadersProof) -> LeadersProof:
    """What the multipliers prove."""
    dual = -at.step * at.dual
    one, two, three = program.ends
    theta = dual[two:three] * program.stiff
    if program.free.shape[1]:
        theta = theta - program.free @ np.linalg.lstsq(program.free, theta, rcond=None)[0]
    linear = np.split(np.maximum(dual[one:two], 0), np.cumsum([plan.rows.shape[0] for plan in program.plans]))
    weights, values, lifted = np.maximum(dual[three:], 0), [], []
    t = program.loss.bags.spread_floats(theta)
    for c, (plan, block) in enumerate(zip(program.plans, program.blocks(dual), strict=True)):
        Z = _unpack(block, plan.order) * plan.stretch[:, None] * plan.stretch
        own = (program.triangles[:, 0] == c) & (weights > 0)
        by = multipliers(plan.cell, _slacks(plan.cell, np.diag(Z)[plan.signs[1:]], linear[c]))
        ties = TriangleTies(program.triangles[own, 1:], weights[own])  # 2 mu, where the rows are halves
        value, by = _least(plan.cell, t, trim_multipliers(plan.cell, t, replace(by, ties=ties)))
        values.append(value)
        lifted.append(by)
    most = max(values)
    if not 0 < most < np.inf:
        return replace(proof, value=-np.inf)
    s, value = program.loss.best_scale(theta, program.lam / most)
    return LeadersProof(s * theta, proof.cells, tuple(by.scaled(s) for by in lifted), value, proof.points)


def _slacks(cell: Cell, diagonal: Floats, linear: Floats) -> Slacks:
    """The multipliers as the interior point method has them; of the blocks, what c needs."""
    rows, count, d = len(cell.N), len(cell.F), cell.Z.shape[1]
    long = np.linalg.norm(cell.F, axis=1)
    short = 1 / np.where(long > 0, long, 1.0)
    plus, minus, inside, square, pulls = np.split(linear, np.cumsum([rows, rows, count - rows, count]))
    cut = np.zeros(cell.used.shape)
    cut[cell.used] = pulls * short[cell.near[cell.used]]
    blocks = np.zeros((len(cell.L) + 1, d + 1, d + 1))
    blocks[:-1, 0, 0] = diagonal
    return Slacks(blocks, plus * short[:rows], minus * short[:rows], inside * short[rows:], square * short, cut)


def _least(cell: Cell, theta: Floats, by: Multipliers) -> tuple[float, Multipliers]:
    """The bound with as much added to c as is best: the multipliers do not quite fit together."""
    mean = float(by.c.mean()) if len(by.c) else 0.0
    tried = [replace(by, c=by.c + share * mean) for share in SHARES]
    return min(((bound(cell, theta, one), one) for one in tried), key=lambda pair: pair[0])
