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

from relu_cert.solve.model import Bits, Floats

_VIOLATED = 1e-13  # a row is violated when g_k.v < -_VIOLATED |g_k| |c|: a little above rounding


@dataclass(frozen=True)
class Shortest:
    """v (p x d); which rows were flipped (p x a); the kinks (p x d, -1 where there is none) with their x (p x d);
    and whether v is the minimum, not only an upper bound."""

    v: Floats
    flipped: Bits
    kinks: NDArray[np.intp]
    x: Floats
    exact: Bits


def shortest(c: Floats, rows: Floats, sign: Floats, upper: Floats, enough: float = 0.0) -> Shortest:
    """Solve p problems: c (p x d); generators g_k = sign_k rows_k with rows (a x d), the same for all, or
    (p x a x d); sign (p x a) of +-1; upper (a,), the same for all."""
    p, d = c.shape
    length = np.sqrt(np.einsum("...i,...i->...", rows, rows))
    zero = length <= 0.0
    unit = rows / np.where(zero, 1.0, length)[..., None]
    scaled_upper = np.where(np.isinf(upper), np.inf, upper * np.where(zero, 1.0, length)) if rows.ndim == 2 else upper
    result = Shortest(
        c.copy(),
        np.zeros(sign.shape, dtype=bool),
        np.full((p, d), -1, dtype=np.intp),
        np.zeros((p, d)),
        np.zeros(p, dtype=bool),
    )
    todo = np.flatnonzero(np.einsum("ij,ij->i", c, c) > enough * enough)
    if not sign.shape[1]:
        result.exact[:] = True
    elif len(todo):
        _iterate(todo, c[todo], unit if unit.ndim == 2 else unit[todo], sign[todo], scaled_upper, enough, result)
        result.x[:] /= np.where(result.kinks >= 0, _take_length(length, result.kinks), 1.0)
    return result


def _take_length(length: Floats, kinks: NDArray[np.intp]) -> Floats:
    taken: Floats = length[kinks] if length.ndim == 1 else np.take_along_axis(length, np.maximum(kinks, 0), axis=1)
    return taken


def _iterate(
    todo: NDArray[np.intp], c: Floats, unit: Floats, sign: Floats, upper: Floats, enough: float, out: Shortest
) -> None:
    """The active-set loop. Problems leave the arrays as they finish; x is in units of |g_k| here."""
    d = c.shape[1]
    shared = unit.ndim == 2
    scale = np.sqrt(np.einsum("ij,ij->i", c, c))
    v, sign = c.copy(), sign.copy()
    kinks = np.full((len(c), d), -1, dtype=np.intp)
    x = np.zeros((len(c), d))
    flipped = np.zeros(sign.shape, dtype=bool)
    pending = np.zeros(len(c), dtype=bool)  # a row has just left: solve again before another enters
    for _ in range(12 * d + 40):
        entered = _enter(v, unit, sign, kinks, x, pending, scale)
        bound = np.sqrt(np.einsum("ij,ij->i", v, v))
        done = ~entered | (bound <= enough) | (bound <= 1e-15 * scale)
        if done.any():
            out.exact[todo[~entered]] = True
            _write(out, todo[done], v[done], flipped[done], kinks[done], x[done])
            keep = ~done
            if not keep.any():
                return
            todo, c, v, sign, kinks, x = todo[keep], c[keep], v[keep], sign[keep], kinks[keep], x[keep]
            flipped, pending, scale = flipped[keep], pending[keep], scale[keep]
            unit = unit if shared else unit[keep]
        _step(c, v, unit, sign, upper, kinks, x, flipped, pending)
    _write(out, todo, v, flipped, kinks, x)


def _enter(
    v: Floats, unit: Floats, sign: Floats, kinks: NDArray[np.intp], x: Floats, pending: Bits, scale: Floats
) -> Bits:
    """Let the most violated row of each problem into a free slot; say which problems are not finished."""
    ready = np.flatnonzero(~pending)
    going = pending.copy()
    if not len(ready):
        return going
    slack = (v[ready] @ unit.T if unit.ndim == 2 else np.einsum("pad,pd->pa", unit[ready], v[ready])) * sign[ready]
    old = kinks[ready]
    for slot in range(old.shape[1]):
        has = np.flatnonzero(old[:, slot] >= 0)
        slack[has, old[has, slot]] = 0.0
    worst = slack.argmin(axis=1)
    free = (old < 0).argmax(axis=1)
    line = np.arange(len(ready))
    enters = (slack[line, worst] < -_VIOLATED * scale[ready]) & (old[line, free] < 0)
    kinks[ready[enters], free[enters]] = worst[enters]
    x[ready[enters], free[enters]] = 0.0
    going[ready[enters]] = True
    return going


def _step(
    c: Floats,
    v: Floats,
    unit: Floats,
    sign: Floats,
    upper: Floats,
    kinks: NDArray[np.intp],
    x: Floats,
    flipped: Bits,
    pending: Bits,
) -> None:
    """Move x towards the minimum over the span of the kinks, as far as the bounds allow (in place)."""
    line = np.arange(len(c))
    used = kinks >= 0
    index = np.maximum(kinks, 0)
    sigma = np.take_along_axis(sign, index, axis=1)
    z = unit[index] if unit.ndim == 2 else unit[line[:, None], index]
    G = np.where(used, sigma, 0.0)[:, :, None] * z
    H = G @ G.transpose(0, 2, 1)
    H[:, np.arange(G.shape[1]), np.arange(G.shape[1])] += np.where(used, 1e-300, 1.0)
    target = _solve(H, -np.einsum("psd,pd->ps", G, c))
    limit = np.where(used, upper[index], np.inf)
    room = np.full(x.shape, np.inf)
    low, high = used & (target <= 0.0), used & (target > limit)
    room[low] = x[low] / (x[low] - target[low] + 1e-300)
    room[high] = (limit[high] - x[high]) / (target[high] - x[high])
    blocking = room.argmin(axis=1)
    length = np.minimum(room[line, blocking], 1.0)
    stopped = np.isfinite(room[line, blocking])
    x += np.where(used, length[:, None] * (target - x), 0.0)
    out, slot = np.flatnonzero(stopped), blocking[stopped]
    flips = high[out, slot]
    row = kinks[out, slot]
    leaving, at = out[flips], row[flips]
    step = (upper[at] * sign[leaving, at])[:, None] * (unit[at] if unit.ndim == 2 else unit[leaving, at])
    c[leaving] += step
    sign[leaving, at] *= -1.0
    flipped[leaving, at] ^= True
    kinks[out, slot] = -1
    x[out, slot] = 0.0
    G[out, slot] = 0.0
    v[:] = c + np.einsum("psd,ps->pd", G, x)
    pending[:] = stopped & (kinks >= 0).any(axis=1)
    full = ~stopped
    if full.any():  # one step of refinement makes g_k.v vanish on the kinks to the last bit
        correction = _solve(H[full], -np.einsum("psd,pd->ps", G[full], v[full]))
        v[full] += np.einsum("psd,ps->pd", G[full], correction)
        x[full] = np.where(used[full], np.maximum(x[full] + correction, 0.0), 0.0)


def _solve(H: Floats, b: Floats) -> Floats:
    try:
        solved = np.linalg.solve(H, b[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        solved = np.einsum("pij,pj->pi", np.linalg.pinv(H, hermitian=True), b)
    return np.nan_to_num(solved).astype(np.float64)


def _write(
    out: Shortest, where: NDArray[np.intp], v: Floats, flipped: Bits, kinks: NDArray[np.intp], x: Floats
) -> None:
    out.v[where] = v
    out.flipped[where] = flipped
    out.kinks[where] = kinks
    out.x[where] = x
