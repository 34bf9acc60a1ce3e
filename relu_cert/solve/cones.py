"""Projections onto the cones of all blocks of a ReLU program over patterns, each from where it stood the last time.

v_b = Proj_{C_b}(c_b) = c_b + sum_k x_k g_k with x >= 0, g_k = (2D - I)_kk z_k. For any x >= 0 the length of that sum
bounds the price from above, so last time's x often shows at once that a block is not violated.

Correlations of all patterns, and concave pieces of ReLU problems with their prices.

Let t = xi r and P = {k : t_k > 0}. On the directions u whose sign of z_k.u is fixed for k in P, the function t.(Zu)_+
is concave. Such a *piece* is the restriction to P of an open cell's pattern, and its price is

    sup {t.(Zu)_+ : u in the piece, |u| <= 1} = min {|Z'm| : m in the box},
    box:  m_k >= t_k (k in P, on),   m_k <= 0 (k in P, off),   t_k <= m_k <= 0 (k not in P).

Many small projections at once: min |c + sum_k x_k g_k| subject to 0 <= x_k <= u_k.

This is the price of a block. For a concave piece of a ReLU problem c = Z'Dt, g_k = (2D - I)_kk z_k, and u_k is
infinite on P and |t_k| elsewhere; for a direct block c = X_b'r, g_k = -K_k and u is infinite. At the minimum,
v = c + sum_k x_k g_k is the projection of c, and at most d rows have x_k > 0: those are its kinks.

The method is the active-set method of Lawson and Hanson with upper bounds, run on all problems in step. A row that
reaches its upper bound is flipped: it starts again from there. Every iterate is feasible, so |v| is an upper bound of
the price at all times, and a problem stops as soon as that bound is at most `enough`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.solve.prepare import Bits, FloatMultipliers, Floats, NetworkArrays, Numbers, PatternedArrays

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


_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)  # 256 x 8
_CHUNK = 4096  # pieces that are priced together: small enough for the cache


@dataclass(frozen=True)
class Pieces:
    """Priced pieces of one sign: `base` (p x n), v = Z'm (p x d), the kinks (p x d, -1: none) with their m."""

    base: Bits
    v: Floats
    norm: Floats
    kinks: NDArray[np.intp]
    m_kinks: Floats


def correlations(arrays: NetworkArrays, t: Floats) -> Floats:
    """Z'Dt for every pattern D: one table look-up per byte of packed pattern."""
    n, d = arrays.Z.shape
    width = arrays.bits.shape[1]
    weighted = np.zeros((8 * width, d))
    weighted[:n] = arrays.Z * t[:, None]
    table = _BYTE @ weighted.reshape(width, 8, d)
    total = table[0][arrays.bits[:, 0]] if width else np.zeros((len(arrays.bits), d))
    for byte in range(1, width):
        total += table[byte][arrays.bits[:, byte]]
    return total


def group(bits: NDArray[np.uint8], positive: Bits) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sort the patterns by their restriction to P: (order, starts); the patterns of piece i are
    order[starts[i] : starts[i+1]]."""
    masked = bits & np.packbits(positive)
    count, width = masked.shape
    words = np.zeros((count, max(1, -(-width // 8))), dtype=np.uint64)
    words.view(np.uint8)[:, :width] = masked
    mixed = words @ _MIX[: words.shape[1]] if words.shape[1] <= len(_MIX) else np.zeros(count, dtype=np.uint64)
    order = np.argsort(mixed)
    new = _changes(words[order])
    if int(new.sum()) != 1 + int(np.count_nonzero(np.diff(mixed[order]))):  # two pieces with one hash
        order = np.lexsort(words.T)
        new = _changes(words[order])
    return order, np.flatnonzero(new)


_MIX = np.array(
    [1, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F],
    dtype=np.uint64,
)  # odd numbers: the sum of words times these, modulo 2^64, is a hash


def _changes(rows: NDArray[np.uint64]) -> Bits:
    """Where a row differs from the one before it (the first always does)."""
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def representatives(arrays: NetworkArrays, t: Floats, length: Floats) -> tuple[NDArray[np.intp], Floats]:
    """For every piece the number of its pattern with the shortest Z'Dt, and that length; `length` is |Z'Dt| of all
    patterns."""
    order, starts = group(arrays.bits, t > 0)
    ordered = length[order]
    least = np.minimum.reduceat(ordered, starts)
    owner = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    hits = np.flatnonzero(ordered <= least[owner])
    chosen = np.empty(len(starts), dtype=np.intp)
    chosen[owner[hits]] = order[hits]
    return chosen, least


def lengths(c: Floats) -> Floats:
    """|c| of every row."""
    result: Floats = np.sqrt(np.einsum("ij,ij->i", c, c))
    return result


def unpack(bits: NDArray[np.uint8], n: int) -> Bits:
    """Packed patterns as booleans."""
    return np.unpackbits(bits, axis=1, count=n).view(np.bool_)


def price_pieces(
    Z: Floats, t: Floats, base: Bits, enough: float = 0.0, kinks: NDArray[np.intp] | None = None
) -> Pieces:
    """Price the pieces of the patterns `base` (p x n) at t (p x n, or the same t (n,) for all).

    A piece may stop as soon as its price is known to be <= enough. `kinks` (p x d, -1: none) is a guess."""
    t = np.broadcast_to(t, base.shape)
    chunks = [slice(i, i + _CHUNK) for i in range(0, max(1, len(base)), _CHUNK)]
    parts = [_price(Z, t[i], base[i], enough, None if kinks is None else kinks[i]) for i in chunks]
    if len(parts) == 1:
        return parts[0]
    return Pieces(*(np.concatenate([getattr(p, name) for p in parts]) for name in Pieces.__dataclass_fields__))


def _price(Z: Floats, t: Floats, base: Bits, enough: float, kinks: NDArray[np.intp] | None) -> Pieces:
    c = np.where(base, t, 0.0) @ Z
    sign = np.where(base, 1.0, -1.0)
    upper = np.where(t > 0.0, np.inf, -t)
    found: ShortestVectors = shortest(c, Z, sign, upper, enough, kinks)
    base = base ^ found.flipped
    line = np.arange(len(base))[:, None]
    m = np.where(base[line, found.kinks], t[line, found.kinks] + found.x, -found.x)
    return Pieces(base, found.v, lengths(found.v), found.kinks, m)


def piece_multipliers(arrays: NetworkArrays, t: Floats, enough: float) -> FloatMultipliers:
    """A multiplier for every piece; a piece whose price is above `enough` gets its best one."""
    chosen, _ = representatives(arrays, t, lengths(correlations(arrays, t)))
    priced = price_pieces(arrays.Z, t, unpack(arrays.bits[chosen], arrays.n), enough)
    m = np.where(priced.base, t, 0.0)
    piece, slot = np.nonzero(priced.kinks >= 0)
    row = priced.kinks[piece, slot]
    low = np.where(t[row] > 0.0, np.where(priced.base[piece, row], t[row], -np.inf), t[row])
    high = np.where((t[row] > 0.0) & priced.base[piece, row], np.inf, 0.0)
    m[piece, row] = np.clip(priced.m_kinks[piece, slot], low, high)
    v = m @ arrays.Z
    return FloatMultipliers(priced.base, m, v, lengths(v))


_LARGE = 200_000  # patterns x n x d from which on compiled code pays


@dataclass(frozen=True)
class Projected:
    """For some blocks: v (p x d), |v|, the kinks (p x d, -1: none) and their x."""

    blocks: Numbers
    v: Floats
    norm: Floats
    kinks: Numbers
    x: Floats

    def some(self, which: Numbers) -> Projected:
        """Some of them."""
        return Projected(*(getattr(self, name)[which] for name in Projected.__dataclass_fields__))


class Cones:
    """The cones of all blocks, with the multipliers of the last projection."""

    def __init__(self, arrays: PatternedArrays) -> None:
        self.arrays = arrays
        size = lengths(arrays.Z)
        self._scale = np.append(np.where(size > 0.0, size, 1.0), 1.0)  # the last one is for kinks that are none
        self._sign = np.where(arrays.on, 1.0, -1.0)
        self._pattern = arrays.pattern(np.arange(len(arrays)))
        self.large = arrays.on.size * arrays.Z.shape[1] >= _LARGE
        if self.large:
            self._unit = np.ascontiguousarray((arrays.Z / self._scale[:-1, None]).T)
            self._kinks = np.full((len(arrays), arrays.Z.shape[1]), -1)
            self._x = np.zeros((len(arrays), arrays.Z.shape[1]))

    def correlations(self, r: Floats, blocks: Numbers | None = None) -> Floats:
        """X_b'r of some blocks, or of all."""
        if blocks is None:
            half = (self.arrays.on * r) @ self.arrays.Z
            return np.stack([half, -half], axis=1).reshape(-1, half.shape[1])
        on, xi = self.arrays.on[self.arrays.pattern(blocks)], self.arrays.xi(blocks)
        return np.asarray(((xi[:, None] * on) * r) @ self.arrays.Z, dtype=np.float64)

    def project(self, blocks: Numbers, c: Floats, enough: float, *, remember: bool = True) -> Projected:
        """Proj_{C_b}(c_b), or any c_b + sum x_k g_k of length at most `enough`. Starts from the last answer, which is
        replaced (unless c is no correlation, and not worth to remember)."""
        if not self.large:
            sign = self._sign[self._pattern[blocks]]
            found = shortest(c, self.arrays.Z, sign, np.full(sign.shape, np.inf), enough)
            return Projected(blocks, found.v, lengths(found.v), found.kinks, found.x)
        v, exact = np.empty_like(c), np.zeros(len(c), dtype=bool)
        kinks, x = (self._kinks[blocks], self._x[blocks]) if remember else (np.full(c.shape, -1), np.zeros(c.shape))
        pattern = self._pattern[blocks]
        _compiled_loops().project(c, pattern, self._unit, self._sign, enough, _VIOLATED, v, kinks, x, exact)
        if remember:
            self._kinks[blocks], self._x[blocks] = kinks, x
        return Projected(blocks, v, lengths(v), kinks, x / self._scale[kinks])

    def bases(self, found: Projected) -> tuple[Floats, Numbers]:
        """For each of them the dimension of the span of its kinks (p), and an orthonormal basis (p x d x d): its first
        rows span the kinks; where they are at least half of all rows, the others span the complement."""
        if self.large:
            basis, span = _compiled_loops().bases(self._unit, found.kinks)
            return basis, span
        unit = self.arrays.Z / self._scale[:-1, None]
        G = np.where((found.kinks >= 0)[:, :, None], unit[found.kinks], 0.0)
        _, s, basis = np.linalg.svd(G)
        return basis, (s > 1e-11).sum(axis=1)

    def tangent(self, found: Projected) -> Floats:
        """P_b (p x d x d): the projection onto the space on which the kinks vanish."""
        basis, span = self.bases(found)
        d = basis.shape[1]
        few, first = 2 * span < d, np.arange(d) < span[:, None]
        chosen = np.where((first == few[:, None])[:, :, None], basis, 0.0)
        P = chosen.transpose(0, 2, 1) @ chosen
        return np.asarray(np.where(few[:, None, None], np.eye(d) - P, P), dtype=np.float64)


def _compiled_loops() -> Any:
    """The compiled loops; compiling takes some seconds the first time (the result is kept in __pycache__)."""
    return import_module("relu_cert.solve.compiled_cones")
