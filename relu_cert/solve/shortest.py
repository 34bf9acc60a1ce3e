"""Many small projections at once: min |c + sum_k x_k g_k| subject to 0 <= x_k <= u_k.

This is the price of a block. For a concave piece of a ReLU problem c = Z'Dt, g_k = (2D - I)_kk z_k, and u_k is
infinite on P and |t_k| elsewhere; for a direct block c = X_b'r, g_k = -K_k and u is infinite. At the minimum,
v = c + sum_k x_k g_k is the projection of c, and at most d rows have x_k > 0: those are its kinks.

The method is the active-set method of Lawson and Hanson with upper bounds, run on all problems in step. A row that
reaches its upper bound is flipped: it starts again from there. Every iterate is feasible, so |v| is an upper bound of
the price at all times, and a problem stops as soon as that bound is at most `enough`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relu_cert.solve.prepare import Bits, Floats

Slots = NDArray[np.intp]

_VIOLATED = 1e-13  # a row is violated when g_k.v < -_VIOLATED |g_k| |c|: a little above rounding


@dataclass(frozen=True)
class ShortestVectors:
    """v (p x d); which rows were flipped (p x a); the kinks (p x d, -1 where there is none) with their x (p x d);
    and whether v is the minimum, not only an upper bound."""

    v: Floats
    flipped: Bits
    kinks: Slots
    x: Floats
    exact: Bits


@dataclass(frozen=True)
class _Task:
    """All problems, in units where every row has length 1. A last row of zeros stands behind the empty slots
    (kinks = -1)."""

    unit: Floats  # (a + 1) x d
    sign: Floats  # p x (a + 1), changed where rows are flipped
    upper: Floats  # p x (a + 1)


@dataclass
class _Work:
    """The problems that are not finished."""

    where: Slots
    c: Floats
    v: Floats
    sign: Floats
    kinks: Slots
    x: Floats
    pending: Bits  # slots have just changed: solve before another row enters
    least: Floats  # violations below this are rounding

    def keep(self, which: Slots) -> _Work:
        """Some of them."""
        return _Work(*(getattr(self, name)[which] for name in _Work.__dataclass_fields__))


def shortest(
    c: Floats,
    rows: Floats,
    sign: Floats,
    upper: Floats,
    enough: float = 0.0,
    kinks: Slots | None = None,
) -> ShortestVectors:
    """Solve p problems: c (p x d), generators g_k = sign_k rows_k with rows (a x d), sign of +-1 and upper (p x a).

    `kinks` (p x d, -1: none) is a guess of the rows with x_k > 0."""
    p, d = c.shape
    a = len(rows)
    length = np.append(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 0.0)
    scale = np.where(length > 0.0, length, 1.0)
    unit = np.zeros((a + 1, d))
    unit[:a] = rows / scale[:a, None]
    task = _Task(unit, np.ones((p, a + 1)), np.full((p, a + 1), np.inf))
    task.sign[:, :a] = sign
    np.multiply(upper, scale[:a], out=task.upper[:, :a])
    size = np.sqrt(np.einsum("ij,ij->i", c, c))
    out = ShortestVectors(
        c.copy(), np.zeros((p, a), dtype=bool), np.full((p, d), -1), np.zeros((p, d)), np.zeros(p, bool)
    )
    where = np.flatnonzero(size > enough)
    out.exact[size <= 0.0] = True
    guess = np.full((len(where), d), -1) if kinks is None else kinks[where]
    work = _Work(
        where,
        c[where],
        c[where],
        task.sign[where],
        guess,
        np.zeros((len(where), d)),
        np.asarray((guess >= 0).any(axis=1), dtype=np.bool_),
        _VIOLATED * size[where],
    )
    _iterate(work, task, enough, out)
    np.not_equal(task.sign[:, :a], sign, out=out.flipped)
    return _refine(out, task, scale)


def _iterate(work: _Work, task: _Task, enough: float, out: ShortestVectors) -> None:
    """The active-set loop. Problems are written to `out` and leave as they finish."""
    d = task.unit.shape[1]
    if not work.pending.any():
        _first(work, task)
    for _ in range(12 * d + 40):
        if not len(work.where):
            return
        going = _enter(work, task.unit)
        bound = np.einsum("ij,ij->i", work.v, work.v)
        done = ~going | ((bound <= enough * enough) & ~work.pending) | (bound <= 1e-4 * work.least**2)
        if done.any():
            out.exact[work.where[~going]] = True
            _write(out, task, work, np.flatnonzero(done))
            work = work.keep(np.flatnonzero(~done))
        if len(work.where):
            _step(work, task)
    _write(out, task, work, np.arange(len(work.where)))


def _first(work: _Work, task: _Task) -> None:
    """The first step of all problems, without a solve: along the most violated row to the minimum or to its bound."""
    slack = work.v @ task.unit.T
    slack *= work.sign
    line = np.arange(len(slack))
    row = slack.argmin(axis=1)
    x = np.maximum(-slack[line, row], 0.0)
    x[x <= work.least] = 0.0
    limit = task.upper[work.where, row]
    flips = x > limit
    step = np.where(flips, limit, x)
    work.v += (step * work.sign[line, row])[:, None] * task.unit[row]
    rests = (x > 0.0) & ~flips
    work.kinks[rests, 0] = row[rests]
    work.x[rests, 0] = x[rests]
    work.c[flips] = work.v[flips]
    work.sign[line[flips], row[flips]] *= -1.0


def _enter(work: _Work, unit: Floats) -> Bits:
    """Let the most violated row of each problem into a free slot; say which problems are not finished."""
    slack = work.v @ unit.T
    slack *= work.sign
    line = np.arange(len(slack))
    slack[line[:, None], work.kinks] = 0.0
    worst = slack.argmin(axis=1)
    free = work.kinks.argmin(axis=1)  # an empty slot is -1
    enters = ~work.pending & (slack[line, worst] < -work.least) & (work.kinks[line, free] < 0)
    work.kinks[line[enters], free[enters]] = worst[enters]
    going: Bits = work.pending | enters
    return going


def _step(work: _Work, task: _Task) -> None:
    """Move x towards the minimum over the span of the kinks, as far as the bounds allow (in place)."""
    kinks, x = work.kinks, work.x
    line = np.arange(len(kinks))
    G, H = _gram(task.unit, work.sign, kinks)
    target = _solve(H, -np.einsum("psd,pd->ps", G, work.c))
    limit = task.upper[work.where[:, None], kinks]
    low, high = (kinks >= 0) & (target <= 0.0), target > limit
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(low, x / (x - target), np.where(high, (limit - x) / (target - x), np.inf))
    room[np.isnan(room)] = 0.0
    blocking = room.argmin(axis=1)
    nearest = room[line, blocking]
    stopped = nearest < np.inf
    x += np.minimum(nearest, 1.0)[:, None] * (target - x)
    if stopped.any():
        out, slot = np.flatnonzero(stopped), blocking[stopped]
        at_limit = high[out, slot]
        flips, at = out[at_limit], kinks[out, slot][at_limit]
        work.c[flips] += (limit[out, slot][at_limit] * work.sign[flips, at])[:, None] * task.unit[at]
        work.sign[flips, at] *= -1.0
        kinks[out, slot] = -1
        x[out, slot] = 0.0
        G[out, slot] = 0.0
    work.v[:] = work.c + np.einsum("psd,ps->pd", G, x)
    work.pending[:] = stopped & (kinks >= 0).any(axis=1)


def _gram(unit: Floats, sign: Floats, kinks: Slots) -> tuple[Floats, Floats]:
    """G (the kinks' generators, zero in empty slots) and H = G G' (1 on the diagonal of empty slots)."""
    G = sign[np.arange(len(kinks))[:, None], kinks][:, :, None] * unit[kinks]
    H = G @ G.transpose(0, 2, 1)
    diagonal = np.arange(kinks.shape[1])
    H[:, diagonal, diagonal] += np.where(kinks < 0, 1.0, 1e-15)
    return G, H


def _solve(H: Floats, b: Floats) -> Floats:
    """H^{-1} b for each problem, 0 where H is singular to the last bit."""
    try:
        solved: Floats = np.asarray(np.linalg.solve(H, b[:, :, None]), dtype=np.float64)[:, :, 0]
    except np.linalg.LinAlgError:
        solved = np.einsum("pij,pj->pi", np.asarray(np.linalg.pinv(H), dtype=np.float64), b)
    return solved


def _write(out: ShortestVectors, task: _Task, work: _Work, done: Slots) -> None:
    where = work.where[done]
    out.v[where] = work.v[done]
    out.kinks[where] = work.kinks[done]
    out.x[where] = work.x[done]
    task.sign[where] = work.sign[done]


def _refine(out: ShortestVectors, task: _Task, scale: Floats) -> ShortestVectors:
    """x in the units of the rows; where v is the minimum, one step of refinement makes g_k.v vanish on the kinks to
    the last bit."""
    out.x[:] /= scale[out.kinks]
    kinked = np.flatnonzero(out.exact & (out.kinks >= 0).any(axis=1))
    if len(kinked):
        kinks = out.kinks[kinked]
        G, H = _gram(task.unit, task.sign[kinked], kinks)
        correction = _solve(H, -np.einsum("psd,pd->ps", G, out.v[kinked]))
        out.v[kinked] += np.einsum("psd,ps->pd", G, correction)
        out.x[kinked] = np.maximum(out.x[kinked] + correction / scale[kinks], 0.0)
    return out
