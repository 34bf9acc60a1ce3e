"""Triangle inequalities between the signs of the leaders, on top of a proof by the interior point method.

With the signs s_l of the leaders and s_0 = 1 the relaxation is one matrix for each cell,

    X = [[tau, u', a'], [u, U, M], [a, M', S]] >= 0,    S_ll = tau,

and all signs satisfy tau + x S_ij + y S_jk + x y S_ik >= 0, x, y = +-1. The matrix is larger than the blocks of the
interior point method and there are very many inequalities, of which some thousands count: alternating directions with
cutting planes. It need not end at an optimum: whatever its multipliers are, the bound is computed from them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from relu_cert.interrupt import interrupted
from relu_cert.leaders.bound import Ties, bound, form, leading, multipliers, smallest, trimmed
from relu_cert.leaders.cells import Cell, Floats, Indices
from relu_cert.leaders.cone import Slacks
from relu_cert.leaders.interior import Proof
from relu_cert.leaders.loss import Loss

STIFF=1.
STRETCH=1.
START=4.
STEPS = 250  # of a round
ROUNDS = 3
MORE = 40  # triangles a round for each leader, at most
VIOLATED = 0.02  # of tau
RELAXED = 1.6  # steps are longer than the projections say
FITTED = 60  # steps of conjugate gradients, at most
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
        return 1 + self.cell.Z.shape[1] + len(self.cell.L)


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
        [phi[:rows] - along[:rows], phi[:rows] + along[:rows], along[rows:] - phi[rows:], phi - squares]
        + [phi[near] - pulled]
    )
    fit = _spread(cell.Z, np.broadcast_to(at[0, 1 : d + 1], cell.Z.shape), count).tolil()
    own = sp.lil_matrix((len(cell.Z), count))
    own[cell.N] = sp.diags(long[:rows]) @ phi[:rows]
    own[cell.L] = _spread(cell.Z[cell.L], m, count)
    return Layout(cell, at, _whole(at, mass, _stretch(order, d)), inequalities.tocsr(), 0.5 * cell.xi * (fit + own).tocsr(), mass)


def _spread(values: Floats, columns: Indices, count: int) -> sp.csr_matrix:
    """Row by row, `values` at `columns`."""
    lines = np.repeat(np.arange(len(values)), values.shape[1])
    return sp.csr_matrix((values.ravel(), (lines, columns.ravel())), shape=(len(values), count))


def _stretch(order: int, d: int) -> Floats:
    """The coordinates of u are smaller than signs."""
    stretch = np.ones(order)
    stretch[1 : d + 1] = STRETCH*np.sqrt(d)
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


@dataclass
class Running:
    """The state of a cell: its triangles, and the multipliers (divided by the step) and copies of the three parts."""

    plan: Layout
    triangles: Indices  # i, j, k in 0 (the sign 1), 1, ..., leaders, and the signs x, y
    rows: sp.csr_matrix
    slack: Floats
    dual: Floats
    X: Floats
    Z: Floats

    def grown(self, new: Indices) -> None:
        """With more triangles."""
        lines = _triangles(self.plan, new)
        self.triangles = np.concatenate([self.triangles, new])
        self.rows = sp.vstack([self.rows, lines]).tocsr()
        self.slack = np.concatenate([self.slack, np.zeros(len(new))])
        self.dual = np.concatenate([self.dual, np.zeros(len(new))])


def _triangles(plan: Layout, new: Indices) -> sp.csr_matrix:
    """tau + x S_ij + y S_jk + x y S_ik, over 2."""
    order = np.concatenate([[0], np.arange(plan.order - len(plan.cell.L), plan.order)])
    i, j, k = (order[new[:, c]] for c in range(3))
    x, y = new[:, 3], new[:, 4]
    columns = np.stack([plan.at[i, j], plan.at[j, k], plan.at[i, k]], axis=1)
    own = _spread(0.5 * np.stack([x, y, x * y], axis=1).astype(np.float64), columns, len(plan.mass))
    return own + sp.csr_matrix(np.ones((len(new), 1))) @ sp.csr_matrix(0.5 * plan.mass[None])


def violated(S: Floats, most: int) -> Indices:
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


def tie(proof: Proof, loss: Loss, lam: float, free: Floats, until: float) -> Proof:
    """The best proof with triangles that is found in this time; the proof itself if none is better."""
    plans = [layout(cell) for cell in proof.cells]
    scale = lam * max(sum(float(p.mass @ _packed(p, proof, c)) for c, p in enumerate(plans)), 1e-300)
    x = np.concatenate([*(_packed(p, proof, c) for c, p in enumerate(plans)), np.zeros(free.shape[1])])
    sizes = np.cumsum([0, *(len(p.mass) for p in plans)])
    tau = np.concatenate([*(p.mass for p in plans), np.zeros(free.shape[1])])
    F = sp.hstack([*(p.fit for p in plans), sp.csr_matrix(free)]).tocsr()
    step = scale / max(float(x @ x), 1e-300) / 4*START
    stiff = STIFF/np.sqrt(step * loss.flatness(F @ x))
    F = sp.diags(stiff) @ F
    states = [_begun(plan, proof, c, step) for c, plan in enumerate(plans)]
    f, pull = F @ x, -proof.theta / stiff / step
    best = proof
    whole = sp.block_diag([*(p.whole for p in plans)]).tocsr()
    whole.resize(whole.shape[0], len(x))
    for number in range(ROUNDS):
        for c, state in enumerate(states):
            part = x[sizes[c] : sizes[c + 1]]
            order = np.concatenate([[0], np.arange(state.plan.order - len(state.plan.cell.L), state.plan.order)])
            X = _matrix(state.plan, part)
            S = X[np.ix_(order, order)] / max(X[0, 0], 1e-300)
            new = violated(S, MORE * len(state.plan.cell.L))
            known = set(map(tuple, _names(state.triangles).tolist()))
            fresh = [tuple(name) not in known for name in _names(new).tolist()]
            state.grown(new[fresh])
        G = sp.block_diag([state.rows for state in states]).tocsr()
        G.resize(G.shape[0], len(x))
        A = sp.vstack([whole, G, F]).tocsr()
        At = A.T.tocsr()
        diagonal = np.asarray(A.multiply(A).sum(axis=0)).ravel()
        cut, end = whole.shape[0], whole.shape[0] + G.shape[0]
        Y = np.concatenate([*(s.X for s in states), *(s.slack for s in states), f])
        V = np.concatenate([*(s.Z for s in states), *(s.dual for s in states), pull])
        for count in range(STEPS):
            x = _solve(A, At, diagonal, At @ (Y - V) - lam / step * tau, x)
            image = A @ x
            image_over = RELAXED * image + (1 - RELAXED) * Y
            old = Y
            Y = image_over + V
            start = 0
            for state in states:
                length = len(state.X)
                Y[start : start + length] = _projected(Y[start : start + length], state.plan.order)
                start += length
            Y[cut:end] = np.maximum(Y[cut:end], 0)
            Y[end:] = _nearest(loss, Y[end:], stiff, step)
            V = V + image_over - Y
            if count % BALANCE == BALANCE - 1:
                primal = float(np.linalg.norm(image - Y) / np.linalg.norm(Y))
                dual = float(np.linalg.norm(At @ (Y - old)) / np.linalg.norm(At[:, :cut] @ V[:cut]))
                factor = float(np.clip(np.sqrt(primal / max(dual, 1e-300)), 0.5, 2.0))
                if not 0.8 < factor < 1.25:
                    step, V = step * factor, V / factor
                late = interrupted() or time.monotonic() > until
                if late:
                    break
        f, pull = Y[end:], V[end:]
        start, line = 0, cut
        for state in states:
            state.X, state.Z = Y[start : start + len(state.X)], V[start : start + len(state.X)]
            start += len(state.X)
            state.slack, state.dual = Y[line : line + len(state.slack)], V[line : line + len(state.slack)]
            line += len(state.slack)
        theta = -step * pull * stiff
        found = _proved(states, theta, step, loss, lam, free, proof)
        TRACE(number, found.value, best.value, step, primal, dual, len(states[0].triangles), loss.value(f / stiff) + lam * tau @ x)
        if found.value > best.value:
            best = found
        if late:
            break
    return best


def TRACE(*a):
    print(*a, flush=True)


def _begun(plan: Layout, proof: Proof, c: int, step: float) -> Running:
    """The state at the point and the multipliers of the proof."""
    cell, by, x = plan.cell, proof.multipliers[c], _packed(plan, proof, c)
    long = np.linalg.norm(cell.F, axis=1)
    load = np.bincount(cell.near.ravel(), by.w.ravel(), minlength=len(cell.F)) + by.q
    p, rows = by.p * long[: len(cell.N)], len(cell.N)
    inside = (load[rows:] + by.rho) * long[rows:]
    dual = np.concatenate([np.maximum(p, 0), np.maximum(-p, 0), inside, by.q * long])
    dual = np.concatenate([dual, by.w[cell.used] * long[cell.near[cell.used]]]) / 2
    const, beta, Q = form(cell, proof.theta, by)
    sigma, nu = smallest(beta, Q)
    v = leading(cell, proof.theta, by)
    c_l = np.maximum(by.c, 1e-9 * max(float(by.c.max(initial=0.0)), 1e-300))
    Z = np.zeros((plan.order, plan.order))
    d = len(beta)
    Z[0, 0], Z[0, 1 : d + 1], Z[1 : d + 1, 0] = sigma, -beta / 2, -beta / 2
    Z[1 : d + 1, 1 : d + 1] = nu * np.diag(cell.norm) - Q + 0.25 * (v / c_l[:, None]).T @ v
    Z[d + 1 :, 1 : d + 1], Z[1 : d + 1, d + 1 :] = -v / 4, -v.T / 4
    Z[np.arange(d + 1, plan.order), np.arange(d + 1, plan.order)] = c_l / 4
    stretch = _stretch(plan.order, d)
    Z = Z / stretch[:, None] / stretch
    i, j = np.tril_indices(plan.order)
    entries = np.where(i == j, Z[i, j], np.sqrt(2.0) * Z[i, j])
    none = np.zeros((0, 5), dtype=np.intp)
    return Running(plan, none, plan.rows, np.maximum(plan.rows @ x, 0), -dual / step, plan.whole @ x, -entries / step)


def _packed(plan: Layout, proof: Proof, c: int) -> Floats:
    """The unknowns at the point of the proof; the signs' products are those of largest entropy."""
    cell, point = plan.cell, proof.points[c]
    x = np.zeros(len(plan.mass))
    d = len(point.u)
    i, j, _ = cell.triangle
    x[: len(i)] = point.U[i, j]
    x[plan.at[0, 1 : d + 1]] = point.u
    x[plan.at[d + 1 :, 1 : d + 1]] = point.m
    vectors = np.concatenate([point.u[None], point.m])
    S = vectors @ np.linalg.pinv(point.U, rcond=1e-9) @ vectors.T
    order = np.concatenate([[0], np.arange(d + 1, plan.order)])
    a, b = np.tril_indices(len(order), -1)
    x[plan.at[order[a], order[b]]] = S[a, b]
    long = np.linalg.norm(cell.F, axis=1)
    x[len(x) - len(cell.F) :] = point.phi / np.where(long > 0, long, 1.0)
    return x


def _matrix(plan: Layout, x: Floats) -> Floats:
    stretch = _stretch(plan.order, plan.cell.Z.shape[1])
    return _unpacked(plan.whole @ x, plan.order) / stretch[:, None] / stretch


def _unpacked(entries: Floats, order: int) -> Floats:
    i, j = np.tril_indices(order)
    X = np.zeros((order, order))
    X[i, j] = X[j, i] = np.where(i == j, entries, entries / np.sqrt(2.0))
    return X


def _projected(entries: Floats, order: int) -> Floats:
    """The nearest semidefinite matrix."""
    values, vectors = np.linalg.eigh(_unpacked(entries, order))
    up = values > 0
    if up.sum() * 2 <= order:
        half = vectors[:, up] * np.sqrt(values[up])
        X = half @ half.T
    else:
        half = vectors[:, ~up] * np.sqrt(-values[~up])
        X = _unpacked(entries, order) + half @ half.T
    i, j = np.tril_indices(order)
    result: Floats = np.where(i == j, X[i, j], np.sqrt(2.0) * X[i, j])
    return result


def _nearest(loss: Loss, target: Floats, stiff: Floats, step: float) -> Floats:
    """min loss(g / stiff) + step/2 |g - target|^2, by Newton's method."""
    g = target
    for _ in range(20 if loss.logistic else 1):
        slope = -loss.theta(g / stiff) / stiff + step * (g - target)
        g = g - slope / (1 / (loss.flatness(g / stiff) * stiff**2) + step)
    return g


def _solve(A: sp.csr_matrix, At: sp.csr_matrix, diagonal: Floats, right: Floats, x: Floats) -> Floats:
    """A few steps of conjugate gradients for A'A x = right."""
    r = right - At @ (A @ x)
    z = r / diagonal
    p, rz = z, float(r @ z)
    goal = 1e-10 * float(right @ (right / diagonal))
    for _ in range(FITTED):
        if rz <= goal:
            break
        q = At @ (A @ p)
        alpha = rz / float(p @ q)
        x = x + alpha * p
        r = r - alpha * q
        z = r / diagonal
        rz, before = float(r @ z), rz
        p = z + rz / before * p
    return x


def _proved(
    states: Sequence[Running], theta: Floats, step: float, loss: Loss, lam: float, free: Floats, proof: Proof
) -> Proof:
    """What the multipliers prove."""
    if free.shape[1]:
        theta = theta - free @ np.linalg.lstsq(free, theta, rcond=None)[0]
    by = []
    for state in states:
        cell, dual = state.plan.cell, -step * state.dual
        rows, count, used = len(cell.N), len(cell.F), int(cell.used.sum())
        long = np.linalg.norm(cell.F, axis=1)
        long = 1 / np.where(long > 0, long, 1.0)
        parts = np.split(np.maximum(dual, 0), np.cumsum([rows, rows, count - rows, count, used]))
        l, k = np.nonzero(cell.used)
        cut = np.zeros(cell.used.shape)
        cut[l, k] = parts[4] * long[cell.near[l, k]]
        Z = _unpacked(-step * state.Z, state.plan.order)
        d = cell.Z.shape[1]
        blocks = np.zeros((len(cell.L) + 1, d + 1, d + 1))
        blocks[:-1, 0, 0] = np.diag(Z)[d + 1 :]
        slacks = Slacks(
            blocks, parts[0] * long[:rows], parts[1] * long[:rows], parts[2] * long[rows:], parts[3] * long, cut
        )
        one = multipliers(cell, slacks)
        kept = parts[5] > 0
        ties = Ties(state.triangles[kept], parts[5][kept])  # r = y / 2 = 2 mu, mu = parts / 2
        by.append(trimmed(cell, theta, replace(one, ties=ties)))
    cells = [state.plan.cell for state in states]
    lifted = [_least(cell, theta, one) for cell, one in zip(cells, by, strict=True)]
    most = max(value for value, _ in lifted)
    if not 0 < most < np.inf:
        return replace(proof, value=-np.inf)
    s, value = loss.best_scale(theta, lam / most)
    return Proof(s * theta, proof.cells, tuple(one.scaled(s) for _, one in lifted), value, proof.points)


def _least(cell: Cell, theta: Floats, by):
    """The bound with as little added to c as is best."""
    size = float(by.c.mean())
    tried = []
    for share in (0.0, 1e-4, 3e-4, 1e-3, 2e-3, 4e-3, 8e-3, 0.016, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0):
        one = replace(by, c=by.c + share * size)
        tried.append((bound(cell, theta, one), one))
    return min(tried, key=lambda pair: pair[0])
