"""Maxima of |F(u)| where the biases of the first layer are free: over weights of length 1, with the best bias.

The columns of Theta have the sum 0, so that F(w, b) is piecewise linear in b and constant at both ends: |F| is largest
where a row is zero. With row k held at zero what is left is F(w) = T'((X - x_k)w)_+, without a bias.
"""

from __future__ import annotations

import numpy as np

from relu_cert.cover.stack import Integers
from relu_cert.outputs.ascent import SMOOTH, Floats, each_once, sizes, smooth_climb, starts, unit

STEPS, SORTED, TURNS = 60, 5, 4
AT_ONCE = 4_000_000  # numbers


def zeros(heights: Floats, T: Floats) -> Integers:
    """For every row of heights h the k with the largest |sum_i T_i (h_i - h_k)_+|."""
    many = max(1, AT_ONCE // max(T.size, 1))
    if len(heights) > many:
        return np.concatenate([zeros(heights[i : i + many], T) for i in range(0, len(heights), many)])
    order = np.argsort(-heights, axis=1)
    h, sorted_T = np.take_along_axis(heights, order, 1), T[order]
    values = np.cumsum(sorted_T * h[:, :, None], axis=1) - h[:, :, None] * np.cumsum(sorted_T, axis=1)
    found: Integers = order[np.arange(len(h)), (values * values).sum(axis=2).argmax(axis=1)]
    return found


def climb(Z: Floats, T: Floats, U: Floats) -> tuple[Floats, Floats]:
    """Steps along the gradient from every row of U, with the best bias for its weights; and the values."""
    X, W = Z[:, :-1], unit(U[:, :-1])
    best, at, pull = np.full(len(W), -np.inf), np.zeros((len(W), Z.shape[1])), W.copy()
    step, each, k = np.ones(len(W)), np.arange(len(W)), np.zeros(len(W), dtype=np.int64)
    for i in range(STEPS):
        heights = W @ X.T
        if i % SORTED == 0:
            k = zeros(heights, T)
        zero = heights[each, k]
        on = heights > zero[:, None]
        F = np.maximum(heights - zero[:, None], 0) @ T
        value = np.linalg.norm(F, axis=1)
        along = on * (F @ T.T)
        gradient = along @ X - along.sum(axis=1)[:, None] * X[k]
        better = value > best
        at[better], best[better] = np.column_stack([W, -zero])[better], value[better]
        pull[better] = gradient[better] / np.maximum(np.linalg.norm(gradient[better], axis=1, keepdims=True), 1e-300)
        step *= np.where(better, 1.1, 0.6)
        W = unit(at[:, :-1] + step[:, None] * pull)
    return at, best


def settled(Z: Floats, T: Floats, u: Floats, k: int, widths: Floats) -> Floats:
    """The maximum near u with row k at zero."""
    w = np.ascontiguousarray(u[None, :-1])
    smooth_climb(np.ascontiguousarray(Z[:, :-1] - Z[k, :-1]), T, w, widths, 12)
    return np.append(w[0], -(Z[k, :-1] @ w[0]))


def scaled(Z: Floats, widths: tuple[float, ...]) -> Floats:
    """Widths of smoothing, for these data."""
    return np.array(widths) * float(np.linalg.norm(Z, axis=1).mean())


def maxima(Z: Floats, T: Floats, U: Floats, above: float) -> tuple[Floats, Floats]:
    """Local maxima from the given starts; only those above a value are followed into their kinks."""
    U, values = climb(Z, T, U)
    order = np.argsort(-values)
    U = each_once(U[order][values[order] >= min(above, 0.999 * values.max(initial=0.0))])
    found = []
    for begin in U:
        best, value = begin, 0.0
        for _ in range(TURNS):
            moved = settled(Z, T, best, int(zeros((Z[:, :-1] @ best[:-1])[None], T)[0]), scaled(Z, SMOOTH))
            now = float(sizes(Z, T, moved[None])[0])
            if now <= value * (1 + 1e-12):
                break
            best, value = moved, now
        found.append(best)
    U = np.array(found).reshape(-1, Z.shape[1])
    values = sizes(Z, T, U)
    order = np.argsort(-values)
    return U[order], values[order]


def near(Z: Floats, T: Floats, U: Floats) -> Floats:
    """Local maxima near the given directions, as far as smoothing goes, with the row at zero that is nearest to it."""
    lengths, widths = np.linalg.norm(Z, axis=1), scaled(Z, SMOOTH[2:])
    found = [settled(Z, T, u, int((np.abs(Z @ u) / lengths).argmin()), widths) for u in unit(U, biased=True)]
    return np.array(found).reshape(-1, Z.shape[1])


def begun(Z: Floats, T: Floats, rng: np.random.Generator, count: int) -> Floats:
    """Weights to start from, without a bias."""
    W = starts(np.ascontiguousarray(Z[:, :-1]), T, rng, count)
    return np.column_stack([W, np.zeros(len(W))])
