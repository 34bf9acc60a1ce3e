"""Coalitions P that win on all null vectors of a support, sum_P |u_b| > sum_M |u_b|: found, tested, proved.

`Space` holds the null space in floats to propose, and exactly to decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from relu_cert.clock import require_time
from relu_cert.exact import primitive
from relu_cert.prove.ggp.answers import BlockVector, Crossing, FormWin, TooManyTerms, Zero, root_sum_sign
from relu_cert.prove.ggp.design import norms_squared
from relu_cert.prove.ggp.refute import ALL_SIGNS, Probe, Signs, crossing_of, refute_line, without_zeros

Floats = NDArray[np.float64]

ITERATIONS, STARTS = 80, 12
TOUCHING = 1e-6  # a float ratio this close to 1 makes exact zeros worth a search
DENOMINATORS = (*range(1, 65), 100, 360, 1000, 10**4, 10**6, 10**9)
WEIGHT_SCALES = (1, 12, 64, 2**12, 2**24, 2**40)


@dataclass(frozen=True)
class Space:
    """The null space of a support: `basis` as floats, block by block (rows of B_b, u_b = B_b c, scaled together)."""

    found: Probe
    B: tuple[Floats, ...]

    @staticmethod
    def of(found: Probe) -> Space:
        """The float copy of the basis; every basis vector is scaled to length about 1."""
        scales = [max(abs(x) for part in u for x in part) for u in found.basis]
        stacks = [
            np.array([[float(Fraction(x, s)) for x in u[i]] for u, s in zip(found.basis, scales, strict=True)]).T
            for i in range(len(found.blocks))
        ]
        return Space(found, tuple(stacks))

    @property
    def scales(self) -> list[int]:
        """What each basis vector was divided by."""
        return [max(abs(x) for part in u for x in part) for u in self.found.basis]

    def coordinates(self, u: BlockVector) -> Floats:
        """c with u_b = B_b c for every block, up to a positive factor."""
        flat = [x for part in u for x in part]
        largest = max(map(abs, flat))
        target = np.array([float(Fraction(x, largest)) for x in flat])
        return np.asarray(np.linalg.lstsq(np.concatenate(self.B), target, rcond=None)[0], dtype=float)

    def vector(self, c: Floats, denominator: int) -> BlockVector | None:
        """The exact null vector whose coordinates are c / max|c|, rounded to fractions of bounded denominator."""
        largest = float(np.abs(c).max())
        parts = [
            Fraction(float(x / largest)).limit_denominator(denominator) / s for x, s in zip(c, self.scales, strict=True)
        ]
        q = lcm(*(x.denominator for x in parts))
        whole = primitive([int(x * q) for x in parts])
        if not any(whole):
            return None
        return tuple(
            tuple(sum(a * u[i][j] for a, u in zip(whole, self.found.basis, strict=True)) for j in range(len(B)))
            for i, B in enumerate(self.B)
        )


def winning_coalitions(found: Probe) -> list[tuple[int, ...]] | None:
    """The minimal P (places in the support) that win on all samples; None if the signs are too many to list.

    A single block that wins alone settles every choice of signs, however many there are.
    """
    count = len(found.blocks)
    shares = found.weights.min(axis=0)
    for place in range(count):
        if shares[place] > 0.5:
            return [(place,)]
    if count > ALL_SIGNS:
        return None
    inside = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    wins = np.all(found.weights @ inside.T > 0.5, axis=0)
    minimal = [
        P for P in np.flatnonzero(wins).tolist() if not any(P >> b & 1 and wins[P & ~(1 << b)] for b in range(count))
    ]
    if not (wins | wins[::-1]).all():
        return None
    return [tuple(b for b in range(count) if P >> b & 1) for P in minimal]


def least_ratio(space: Space, P: Sequence[int]) -> tuple[float, Floats]:
    """A local minimum of sum_P |u_b| / sum_M |u_b| over the null space, and where.

    The concave part is linearised and the convex part majorised by squares, so that a step is one linear solve;
    the ratio falls at every step, also towards points where blocks of P vanish.
    """
    M = [b for b in range(len(space.B)) if b not in P]
    best, where = np.inf, np.zeros(space.B[0].shape[1])
    shares = space.found.weights[:, list(P)].sum(axis=1)
    for start in np.argsort(shares)[:STARTS]:
        c = space.coordinates(space.found.samples[int(start)])
        for _ in range(ITERATIONS):
            require_time()
            value = _ratio(space, P, M, c)
            if value < best:
                best, where = value, c
            c = _step(space, P, M, c)
            if not np.isfinite(c).all() or not c.any():
                break
    return best, where


def _ratio(space: Space, P: Sequence[int], M: Sequence[int], c: Floats) -> float:
    below = sum(float(np.linalg.norm(space.B[b] @ c)) for b in M)
    above = sum(float(np.linalg.norm(space.B[b] @ c)) for b in P)
    return above / below if below > 0 else np.inf


def _step(space: Space, P: Sequence[int], M: Sequence[int], c: Floats) -> Floats:
    norms = [float(np.linalg.norm(B @ c)) for B in space.B]
    floor = 1e-9 * max(norms)
    H = sum(space.B[b].T @ space.B[b] / max(norms[b], floor) for b in P)
    gradient = sum(space.B[b].T @ (space.B[b] @ c) / max(norms[b], floor) for b in M)
    try:
        c = np.linalg.solve(np.asarray(H) + 1e-13 * np.trace(H) * np.eye(len(c)), np.asarray(gradient))
    except np.linalg.LinAlgError:
        return np.zeros_like(c)
    largest = np.abs(c).max()
    return c / largest if largest > 0 else c


def refute_coalition(space: Space, P: Sequence[int], ratio: float, c: Floats) -> Zero | Crossing | None:
    """An exact null vector near c on which P does not win, where the ratio leaves room for one."""
    if ratio > 1 + TOUCHING:
        return None
    found = space.found
    signs: Signs = tuple(1 if b in P else -1 for b in range(len(found.blocks)))
    positive = max(range(len(found.samples)), key=lambda i: float(found.weights[i] @ np.array(signs)))
    for denominator in DENOMINATORS:
        v = space.vector(c, denominator)
        if v is None:
            continue
        sign = root_sum_sign(signs, norms_squared(v))
        if sign == 0:
            return without_zeros(Zero(found.blocks, signs, v))
        crossing = crossing_of(found.blocks, signs, found.samples[positive], v) if sign < 0 else None
        if crossing is not None:
            return crossing
        try:
            zero = refute_line(found.blocks, v)
        except TooManyTerms:
            zero = None
        if zero is not None:
            return zero
    return None


def form_win(space: Space, P: Sequence[int], c: Floats) -> FormWin | None:
    """Weights t for which sum_P |u_b|^2 - sum_M |u_b|^2 / t_b is positive definite, tested exactly."""
    blocks = space.found.blocks
    M = [b for b in range(len(blocks)) if b not in P]
    for t in _proposed_weights(space, P, M, c):
        for scale in WEIGHT_SCALES:
            weights = [max(1, round(scale * x / max(t))) for x in t]
            if form_is_definite(space.found.basis, P, M, weights):
                shares = tuple(Fraction(w, sum(weights)) for w in weights)
                return FormWin(tuple(blocks[b] for b in P), shares)
    return None


def _proposed_weights(space: Space, P: Sequence[int], M: Sequence[int], c: Floats) -> Iterator[list[float]]:
    """Norms of the blocks against the form of P; norms where the ratio is least; the optimum of the convex problem."""
    A = sum(space.B[b].T @ space.B[b] for b in P)
    try:
        root = np.linalg.inv(np.linalg.cholesky(np.asarray(A)))
    except np.linalg.LinAlgError:
        return
    mapped = [space.B[b] @ root.T for b in M]
    norms = [float(np.linalg.norm(B, 2)) for B in mapped]
    local = [float(np.linalg.norm(space.B[b] @ c)) for b in M]
    yield _positive(norms)
    yield _positive(local)
    yield _least_largest_eigenvalue(mapped, _positive(norms))


def _positive(t: Sequence[float]) -> list[float]:
    largest = max(t) or 1.0
    return [max(x, 1e-6 * largest) for x in t]


def _least_largest_eigenvalue(mapped: Sequence[Floats], t: Sequence[float]) -> list[float]:
    """t in the simplex that nearly minimises the largest eigenvalue of sum_b B_b'B_b / t_b (convex in t).

    Mirror descent on the exponent: the gradient at t is -(|B_b x| / t_b)^2 for the top eigenvector x.
    """
    current = np.array(t) / sum(t)
    best, kept = np.inf, current
    for step in range(400):
        total = sum(B.T @ B / x for B, x in zip(mapped, current, strict=True))
        values, vectors = np.linalg.eigh(np.asarray(total))
        if values[-1] < best:
            best, kept = float(values[-1]), current
        pull = np.array([float(np.linalg.norm(B @ vectors[:, -1])) for B in mapped]) ** 2 / current**2
        current = current * np.exp(pull / pull.max() / (2 + step**0.7))
        current = np.maximum(current / current.sum(), 1e-9)
    return [float(x) for x in kept]


def form_is_definite(basis: Sequence[BlockVector], P: Sequence[int], M: Sequence[int], weights: Sequence[int]) -> bool:
    """Whether sum_P |u_b|^2 - sum_M |u_b|^2 total / weight_b is positive definite on the span of the basis, exactly."""
    total, common = sum(weights), lcm(*weights)
    factors = dict.fromkeys(P, common) | {b: -total * (common // w) for b, w in zip(M, weights, strict=True)}
    form = [
        [
            sum(factor * sum(x * y for x, y in zip(u[b], v[b], strict=True)) for b, factor in factors.items())
            for v in basis
        ]
        for u in basis
    ]
    return is_definite(form)


def is_definite(form: Sequence[Sequence[int]]) -> bool:
    """Whether a symmetric integer matrix is positive definite: all leading minors are positive (Bareiss)."""
    rows = [list(row) for row in form]
    previous = 1
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        if pivot <= 0:
            return False
        for row in rows[k + 1 :]:
            head = row[k]
            for j in range(k + 1, len(row)):
                row[j] = (pivot * row[j] - head * pivot_row[j]) // previous
        previous = pivot
    return True
