"""Where the dual constraint is attained: neurons in concave pieces, with shares on their kinks, and rays fixed by data.

A neuron's v = c0 + sum over lines on at u of w_c p_c + sum over its kinks of share_c w_c p_c is lambda u/|u| up to the
digits at hand; |v| <= lambda then holds after theta is shrunk a little. A direction on a convex line has no concave
piece: it is a ray if its lines fix it (they have rank d - 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import gcd, isqrt

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from relu_cert.cover.lines import Lines, SignedLines, Signs
from relu_cert.cover.refine import RefineData, closed, face_basis, float_lines, kernel_of
from relu_cert.cover.stack import Floats, SharpCones, SignedProblem
from relu_cert.evidence import Row, Tie
from relu_cert.exact import Vector, norm_squared, to_fmpq, to_fraction

SAME = 1e-9
SHARE_BITS = 240
SHORT_BITS = 48
ROUNDING = 1e-13  # of floats, relative to lambda
FEW_SIDES = 2  # convex lines through a ray with which its pieces are told apart
MOST_SIDES = 4
MOST_STEPS = 300
STEEP = 1 << 80
INSIDE = 0.999  # of the part of a plane on which the pattern stays the same


class Untied(Exception):
    """A tie that is neither inside a concave piece nor a ray fixed by the data."""


def unit(u: Row) -> Floats:
    """u / |u| in floats."""
    size = isqrt(sum(x * x for x in u) << 600)
    return np.array([(x << 300) / size for x in u])


def signs_at(weights: SignedLines, u: Row) -> tuple[int, ...]:
    """The signs of p_c.u for every line."""
    return tuple(weights.lines.signs(u).tolist())


def top(weights: SignedLines, u: Row) -> Fraction:
    """xi theta.(Zu)_+"""
    v = dual_vector(weights, weights.lines.signs(u))
    return Fraction(sum(a * b for a, b in zip(v, u, strict=True)), weights.unit)


def length_squared(lines: Lines, u: Row) -> int:
    """|u|^2"""
    return sum(x * x for x in lines.seen(u))


def value(weights: SignedLines, u: Row) -> float:
    """xi theta.(Zu)_+ / |u| in floats, from exact integers."""
    return float(top(weights, u) / Fraction(isqrt(length_squared(weights.lines, u) << 200), 1 << 100))


def value_squared(weights: SignedLines, u: Row) -> Fraction:
    """(xi theta.(Zu)_+ / |u|)^2, 0 where that is negative."""
    return max(top(weights, u), Fraction(0)) ** 2 / length_squared(weights.lines, u)


def dual_vector(weights: SignedLines, side: Sequence[int] | Signs) -> list[int]:
    """c0 + sum of w_c p_c over the lines that are on, times unit."""
    on = np.asarray(side) > 0
    total = np.array(weights.w, dtype=object)[on] @ weights.lines.matrix[on].astype(object)
    return [a + int(x) for a, x in zip(weights.c0, np.broadcast_to(total, len(weights.c0)).tolist(), strict=True)]


def ties_at(data: RefineData, weights: SignedLines, xi: int, u: Row) -> list[Tie]:
    """The ties in the direction of an exact vector u: one, or one for each side of the convex lines through it."""
    side = signs_at(weights, u)
    kinks = [c for c, s in enumerate(side) if s == 0]
    convex = [c for c in kinks if weights.w[c] > 0]
    basis = face_basis(data, kinks)
    if len(basis) == 1 and len(convex) > FEW_SIDES:
        ray = basis[0] if sum(a * b for a, b in zip(basis[0], u, strict=True)) > 0 else tuple(-x for x in basis[0])
        return [Tie(xi, ray, side, None)]
    short = shortened(data, weights, u, side, kinks)
    if len(basis) == 2 and len(convex) > MOST_SIDES:
        return [Tie(xi, short, side, None)]
    if len(convex) > MOST_SIDES:
        raise Untied("a tie lies on many convex lines, and its lines fix neither a ray nor a plane")
    found = []
    for signs in product((1, -1), repeat=len(convex)):
        chosen = dict(zip(convex, signs, strict=True))
        shares = shares_of(data, weights, u, side, chosen)
        if shares is not None:
            found.append(Tie(xi, short, tuple(chosen.get(c, s) for c, s in enumerate(side)), shares))
    if not found:
        raise Untied("a tie has no multipliers")
    return found


def shortened(data: RefineData, weights: SignedLines, u: Row, side: tuple[int, ...], kinks: list[int]) -> Row:
    """A vector of fewer digits with the same sides."""
    basis = face_basis(data, kinks)
    B = np.array([[float(x) for x in b] for b in basis]).T
    at = np.linalg.lstsq(B, unit(u), rcond=None)[0]
    at = at / np.abs(at).max()
    for bits in (12, 20, 30, SHORT_BITS):
        weights_of_basis = [round(float(x) * 2**bits) for x in at]
        v = [sum(w * b[l] for w, b in zip(weights_of_basis, basis, strict=True)) for l in range(len(u))]
        g = gcd(*v)
        if not g:
            continue
        short = tuple(x // g for x in v)
        if signs_at(weights, short) == side:
            return short
    return u


def shares_of(
    data: RefineData, weights: SignedLines, u: Row, side: Sequence[int], chosen: Mapping[int, int]
) -> tuple[Fraction, ...] | None:
    """Shares of the lines through u with c0 + sum_on + sum share w p = lambda u/|u|, to many digits: in [0, 1] for
    concave lines, at least 1 or at most 0 for convex ones on their chosen sides. None where there are none."""
    tight = [c for c, w in enumerate(weights.w) if w and side[c] == 0]
    if not tight:
        return ()
    lam = data.lam
    one = weights.unit * lam.denominator
    seen = weights.lines.seen(u)
    size = isqrt(sum(x * x for x in seen) << 600)
    v = dual_vector(weights, side)
    goal = [
        (weights.unit * lam.numerator * x << 300) // size - a * lam.denominator for x, a in zip(seen, v, strict=True)
    ]  # sum of share w p, times one
    scale = float(lam)
    columns = np.array(
        [[float(Fraction(weights.w[c] * p, weights.unit)) for p in weights.lines.rows[c]] for c in tight]
    )
    A = columns.T / scale
    b = np.array([float(Fraction(x, one)) for x in goal]) / scale
    lowest = np.array([{0: 0.0, 1: 1.0, -1: -np.inf}[chosen.get(c, 0)] for c in tight])
    highest = np.array([{0: 1.0, 1: np.inf, -1: 0.0}[chosen.get(c, 0)] for c in tight])
    share = np.linalg.lstsq(A, b, rcond=1e-12)[0]
    units = columns / np.linalg.norm(columns, axis=1, keepdims=True)
    dependent = np.linalg.matrix_rank(units, tol=1e-9) < len(tight)
    inside = np.clip(share, lowest, highest)  # a share on its bound is beside it in floats
    if not dependent and float(np.abs(A @ inside - b).max()) < ROUNDING:
        share = inside
    elif dependent or (share != inside).any():
        share = lsq_linear(A, b, (lowest, highest), tol=1e-15).x
        if float(np.abs(A @ share - b).max()) > 1e-8:
            return None
    free = (share > lowest + 1e-12) & (share < highest - 1e-12)
    grid = 1 << SHARE_BITS
    found = [int(Fraction(float(s)) * grid) if f else round(s) * grid for s, f in zip(share, free, strict=True)]
    for _ in range(40):
        left = [
            goal[l] * grid
            - lam.denominator
            * sum(s * weights.w[c] * weights.lines.rows[c][l] for s, c in zip(found, tight, strict=True))
            for l in range(len(u))
        ]
        rest = np.array([float(Fraction(x, one)) for x in left]) / scale
        if float(np.abs(rest).max()) < 2.0**30 or not free.any():
            break
        step = np.linalg.lstsq(A[:, free], rest, rcond=1e-12)[0]
        for i, x in zip(np.flatnonzero(free), step, strict=True):
            found[i] += int(x)
    bounds = [{0: (0, 1), 1: (1, None), -1: (None, 0)}[chosen.get(c, 0)] for c in tight]
    shares = tuple(_clip(Fraction(s, grid), *both) for s, both in zip(found, bounds, strict=True))
    if not weights.lines.biases:
        return shares
    levelled = _levelled(weights, v, tight, shares, free)
    inside = levelled and all(_clip(s, *both) == s for s, both in zip(levelled, bounds, strict=True))
    return levelled if inside else None


def _levelled(
    weights: SignedLines, v: Sequence[int], tight: Sequence[int], shares: Sequence[Fraction], free: NDArray[np.bool_]
) -> tuple[Fraction, ...] | None:
    """The shares with one of them moved so that v + sum share w p has no bias, exactly; None where none is free."""
    bias = [weights.w[c] * weights.lines.rows[c][-1] for c in tight]
    i = max(np.flatnonzero(free).tolist(), key=lambda i: abs(bias[i]), default=None)
    if i is None:
        return None
    left = v[-1] + sum((s * b for s, b in zip(shares, bias, strict=True)), Fraction(0))
    return (*shares[:i], shares[i] - left / bias[i], *shares[i + 1 :])


def _clip(s: Fraction, low: int | None, high: int | None) -> Fraction:
    s = s if low is None else max(s, Fraction(low))
    return s if high is None else min(s, Fraction(high))


def tight_lines(weights: SignedLines, tie: Tie) -> list[int]:
    """The lines with weight that pass through u."""
    return [c for c in np.flatnonzero(weights.lines.signs(tie.u) == 0).tolist() if weights.w[c]]


def at_weights(tie: Tie, before: SignedLines, after: SignedLines) -> Tie:
    """The tie at other weights: lines through u that have lost theirs have no share any more."""
    if tie.shares is None:
        return tie
    share = dict(zip(tight_lines(before, tie), tie.shares, strict=True))
    tight = tight_lines(after, tie)
    if any(c not in share or before.w[c] * after.w[c] < 0 for c in tight):
        raise Untied("a line through a tie bends the other way")
    return replace(tie, shares=tuple(share[c] for c in tight))


def exact_shares(data: RefineData, weights: SignedLines, tie: Tie) -> Tie:
    """The tie with shares for which v is exactly the projection of the gradient on its face, if they are in [0, 1]."""
    tight = tight_lines(weights, tie)
    if tie.shares is None or not tight or any(weights.w[c] > 0 for c in tight):
        return tie
    v = dual_vector(weights, tie.side)
    B = fmpq_mat(fmpz_mat([list(b) for b in face_basis(data, [c for c, s in enumerate(tie.side) if s == 0])]))
    column = fmpq_mat(fmpz_mat([[x] for x in v]))
    goal = B.transpose() * (B * B.transpose()).solve(B * column) - column  # sum of share w p, times unit
    rows = [fmpq_mat(fmpz_mat([[weights.w[c] * p for p in weights.lines.rows[c]]])) for c in tight]
    chosen: list[int] = []
    shares = [to_fmpq(s) for s in (x.limit_denominator(10**6) for x in tie.shares)]
    for i in sorted(range(len(tight)), key=lambda i: abs(float(tie.shares[i]) - 0.5) if tie.shares else 0.0):
        stacked = fmpq_mat([rows[j].entries() for j in [*chosen, i]])
        if stacked.rank() == len(chosen) + 1:
            chosen.append(i)
    for i in range(len(tight)):
        if i not in chosen:
            goal -= shares[i] * rows[i].transpose()
    A = fmpq_mat([rows[j].entries() for j in chosen])
    for i, s in zip(chosen, (A * A.transpose()).solve(A * goal).entries(), strict=True):
        shares[i] = s
    exact = tuple(Fraction(int(s.p), int(s.q)) for s in shares)
    return replace(tie, shares=exact) if all(0 <= s <= 1 for s in exact) else tie


def longest_squared(data: RefineData, weights: SignedLines, tie: Tie) -> Fraction:
    """|v|^2 of a neuron; of a ray or plane that of the gradient on it."""
    if tie.shares is None:
        return gradient_squared(data.basis, weights, tie)
    return piece_squared(weights, tie)


def tie_vector(data: RefineData, weights: SignedLines, tie: Tie) -> Vector:
    """v of a neuron; of a ray or plane the gradient on it."""
    if tie.shares is not None:
        return piece_vector(weights, tie)
    B = fmpq_mat(fmpz_mat([list(b) for b in kernel_of(data.basis, _kinks(weights, tie))]))
    v = fmpq_mat(fmpz_mat([[x] for x in dual_vector(weights, tie.side)]))
    found = B.transpose() * (B * B.transpose()).solve(B * v)
    return tuple(to_fraction(x) / weights.unit for x in found.entries())


def piece_squared(weights: SignedLines, tie: Tie) -> Fraction:
    """|v|^2 of a tie with shares."""
    return norm_squared(piece_vector(weights, tie))


def piece_vector(weights: SignedLines, tie: Tie) -> Vector:
    """v of a tie with shares."""
    tight = tight_lines(weights, tie)
    side = [0 if c in tight else s for c, s in enumerate(tie.side)]
    v = [Fraction(x, weights.unit) for x in dual_vector(weights, side)]
    for c, s in zip(tight, tie.shares or (), strict=True):
        v = [x + s * Fraction(weights.w[c] * p, weights.unit) for x, p in zip(v, weights.lines.rows[c], strict=True)]
    return tuple(v)


def _kinks(weights: SignedLines, tie: Tie) -> list[Row]:
    return [weights.lines.rows[c] for c, s in enumerate(tie.side) if s == 0]


def gradient_squared(basis: Sequence[Row], weights: SignedLines, tie: Tie) -> Fraction:
    """The square of the gradient on the face of the lines through u: of its projection on that face."""
    rows = kernel_of(basis, _kinks(weights, tie))
    B, S = fmpz_mat([list(b) for b in rows]), fmpz_mat([list(weights.lines.seen(b)) for b in rows])
    right = fmpq_mat(B * fmpz_mat([[x] for x in dual_vector(weights, tie.side)]))
    square = (right.transpose() * fmpq_mat(S * S.transpose()).solve(right)).entries()[0]
    return Fraction(int(square.p), int(square.q)) / weights.unit**2


def near_direction(data: RefineData, weights: SignedLines, u: Floats, tolerance: float) -> Row:
    """The exact maximiser at theta on the face whose lines nearly pass through u: the projection of the gradient."""
    units = float_lines(data.lines)
    at = units @ u / np.linalg.norm(u)
    kinks = frozenset(np.flatnonzero(np.abs(at) < tolerance).tolist())
    basis = face_basis(data, sorted(kinks))
    if not basis:
        raise Untied("the lines near a tie meet in 0 only")
    kinks = closed(data, kinks, basis)
    side = [0 if c in kinks else (1 if h > 0 else -1) for c, h in enumerate(at)]
    v, level = dual_vector(weights, side), data.lines.biases and not kinks  # level: every bias near u will do
    if level and v[-1]:
        raise Untied("another bias is better")
    found = projection(data.lines, basis[:-1] if level else basis, v)
    if not any(found):
        raise Untied("the gradient vanishes on a face")
    return _with_bias(found, u) if level else found


def _with_bias(weights: Row, u: Floats) -> Row:
    """The weights with about the bias of u."""
    size = isqrt(sum(x * x for x in weights))
    times = max(1, (1 << SHORT_BITS) // size)
    bias = Fraction(float(u[-1] / np.linalg.norm(u[:-1]))) * size * times
    return (*(times * x for x in weights[:-1]), round(bias))


def pieces_near(data: RefineData, weights: SignedLines, xi: int, u: Floats, radius: float) -> list[Tie]:
    """The pieces around u, one for each side of the convex lines near it if they are few."""
    at = float_lines(data.lines) @ u / np.linalg.norm(u)
    convex = [c for c in np.flatnonzero(np.abs(at) < radius).tolist() if weights.w[c] > 0]
    if len(convex) > MOST_SIDES:
        convex = []  # only the sides on which u lies
    found = []
    for signs in product((1.0, -1.0), repeat=len(convex)):
        here = at.copy()
        here[convex] = np.array(signs) * np.abs(at[convex])
        try:
            found.append(_piece_near(weights, xi, u, here, radius))
        except Untied:
            continue
    return found


def faces_near(data: RefineData, weights: SignedLines, xi: int, pieces: Sequence[Tie]) -> list[Tie]:
    """The rays and planes of the directions of pieces on many convex lines."""
    found = []
    for piece in pieces:
        side = signs_at(weights, piece.u)
        kinks = [c for c, s in enumerate(side) if s == 0]
        if sum(weights.w[c] > 0 for c in kinks) > FEW_SIDES and len(face_basis(data, kinks)) <= 2:
            found.append(Tie(xi, shortened(data, weights, piece.u, side, kinks), side, None))
    return found


def _piece_near(weights: SignedLines, xi: int, about: Floats, at: Floats, radius: float) -> Tie:
    """The piece on the sides of the heights: v is the shortest vector that the shares of the lines near u allow, so
    that the bound is the best on this side; |v| may be less than lambda. With free biases it has no bias."""
    near = [c for c in np.flatnonzero(np.abs(at) < radius).tolist() if weights.w[c]]
    side = [1 if h > 0 else -1 for h in at]
    u, shares = shortest(weights, side, near)
    if weights.lines.biases:
        u, shares = _without_bias(weights, side, about, u, shares)
    signs = list(signs_at(weights, u))
    if any(t and s != t for c, (s, t) in enumerate(zip(side, signs, strict=True)) if weights.w[c] and c not in shares):
        raise Untied("the best direction of a piece lies outside of it")
    tight = [c for c, t in enumerate(signs) if t == 0 and weights.w[c]]
    if not any(u) or any(c not in shares for c in tight):
        raise Untied("a piece reaches a line that is not near")
    if any(signs[c] and share != (signs[c] > 0) for c, share in shares.items()):
        raise Untied("a line near the best direction of a piece lies on its other side")
    for c in tight:
        if weights.w[c] > 0:
            signs[c] = 1 if shares[c] >= 1 else -1
    return Tie(xi, u, tuple(signs), tuple(Fraction(int(shares[c].p), int(shares[c].q)) for c in tight))


def _without_bias(
    weights: SignedLines, side: Sequence[int], about: Floats, u: Row, shares: dict[int, fmpq]
) -> tuple[Row, dict[int, fmpq]]:
    """The shares with one of them moved, by a tiny bit, so that v has no bias; u keeps its lines. Where no share is
    free, v has none by itself, and every bias near u will do."""
    v = dual_vector(weights, [0 if c in shares else s for c, s in enumerate(side)])
    if not any(u[:-1]):
        raise Untied("a piece reaches 0")
    bias = {c: weights.w[c] * weights.lines.rows[c][-1] for c in shares}
    left = fmpq(v[-1]) + sum((s * bias[c] for c, s in shares.items()), fmpq(0))
    inside = [c for c, s in shares.items() if bias[c] and s not in (0, 1)]
    if not left:
        return (u if inside else _with_bias(u, about)), shares
    if not inside:
        raise Untied("another bias is better")
    c = max(inside, key=lambda c: abs(bias[c]))
    return u, shares | {c: shares[c] - left / bias[c]}


def shortest(weights: SignedLines, side: Sequence[int], near: Sequence[int]) -> tuple[Row, dict[int, fmpq]]:
    """min |c0 + sum over lines on of w p + sum over the lines near of share w p|, shares in [0, 1] of concave lines and
    on their side of [0, 1] of convex ones, by an exact active set: a multiple of the vector, and the shares. With free
    biases the bias counts STEEP times: so it nearly vanishes, and the last entry of the first vector is STEEP^2 times
    it, the bias of the direction to which all lines with shares inside their bounds are orthogonal."""
    steep = STEEP if weights.lines.biases else 1
    rows, w = [(*p[:-1], steep * p[-1]) for p in weights.lines.rows], weights.w
    share = {c: fmpq(1 if side[c] > 0 else 0) for c in near}
    low = {c: None if w[c] > 0 and side[c] < 0 else (1 if w[c] > 0 else 0) for c in near}
    high = {c: None if w[c] > 0 and side[c] > 0 else (0 if w[c] > 0 else 1) for c in near}
    base = dual_vector(weights, [0 if c in share else s for c, s in enumerate(side)])
    base[-1] *= steep
    row = {c: [w[c] * x for x in rows[c]] for c in near}
    length = {c: sum(x * x for x in rows[c]) for c in near}
    free: list[int] = []
    for _ in range(MOST_STEPS):
        fixed = list(base)
        for c in near:
            if c not in free and share[c]:
                fixed = [x + int(share[c]) * y for x, y in zip(fixed, row[c], strict=True)]
        goal = dict[int, fmpq]()
        if free:
            A = fmpz_mat([row[c] for c in free])
            right = fmpq_mat(A * fmpz_mat([[-x] for x in fixed]))
            goal = dict(zip(free, fmpq_mat(A * A.transpose()).solve(right).entries(), strict=True))
        step, stop = fmpq(1), -1
        for c, to in goal.items():
            for bound in (low[c], high[c]):
                if bound is not None and (to < bound if bound == low[c] else to > bound):
                    part = (bound - share[c]) / (to - share[c])
                    if part < step:
                        step, stop, end = part, c, bound
        for c, to in goal.items():
            share[c] += step * (to - share[c])
        if stop >= 0:
            share[stop] = fmpq(end)
            free.remove(stop)
            continue
        q = 1
        for c in free:
            q = q * int(share[c].q) // gcd(q, int(share[c].q))
        v = [q * x for x in fixed]
        for c in free:
            v = [x + int(share[c] * q) * y for x, y in zip(v, row[c], strict=True)]
        g = gcd(*v) or 1
        v = [x // g for x in v]
        worst, new = 0, -1
        for c in near:
            h = sum(a * b for a, b in zip(rows[c], v, strict=True))
            if c not in free and (h < 0 if share[c] == 1 else h > 0) and h * h > worst * length[c]:
                worst, new = h * h // length[c], c
        if new < 0:
            return (*v[:-1], steep * v[-1]), share
        free.append(new)
    raise Untied("the shortest vector of a piece was not found")


def projection(lines: Lines, basis: Sequence[Row], v: Sequence[int]) -> Row:
    """The projection of v on the span of the basis, as integers: the direction u with the largest v.u / |u|."""
    B, S = fmpz_mat([list(b) for b in basis]), fmpz_mat([list(lines.seen(b)) for b in basis])
    right = fmpq_mat(B * fmpz_mat([[x] for x in v]))
    weights = fmpq_mat(S * S.transpose()).solve(right)
    entries = (fmpq_mat(B.transpose()) * weights).entries()
    q = 1
    for x in entries:
        q = q * int(x.q) // gcd(q, int(x.q))
    numerators = [int(x.p) * (q // int(x.q)) for x in entries]
    g = gcd(*numerators) or 1
    return tuple(x // g for x in numerators)


def _plane(
    data: RefineData, weights: SignedLines, side: SignedProblem, tie: Tie
) -> tuple[Floats, tuple[float, float], Floats]:
    """The unit vector of a tie's plane that is orthogonal to u (0 for a ray), how far the pattern of u goes along it,
    and the gradient on the ray or plane over lambda."""
    frame = side.frame
    u = frame @ unit(tie.u)
    kinks = [c for c, s in enumerate(tie.side) if s == 0]
    basis = [frame @ unit(b) for b in face_basis(data, kinks)]
    v = side.c0 + side.P[[tie.side[c] > 0 for c in weights.convex]].sum(axis=0)
    v = v - side.N[[tie.side[c] > 0 for c in weights.concave]].sum(axis=0)
    if len(basis) != 2:
        return np.zeros(len(u)), (0.0, 0.0), _gradient(data.lines, v, u[None])
    parts = [b - (b @ u) * u for b in basis]
    across = max(parts, key=lambda x: float(x @ x))
    across = across / np.linalg.norm(across)
    rows = float_lines(data.lines) @ frame.T
    others = [c for c, s in enumerate(tie.side) if s and weights.w[c]]
    at, slope = rows[others] @ u, rows[others] @ across
    ends = -at[slope != 0.0] / slope[slope != 0.0]
    low, high = max(ends[ends < 0], default=-2.0), min(ends[ends > 0], default=2.0)
    return across, (INSIDE * float(low), INSIDE * float(high)), _gradient(data.lines, v, np.array([u, across]))


def _gradient(lines: Lines, v: Floats, B: Floats) -> Floats:
    """The shortest vector with the products of v with the orthonormal rows of B; with free biases one without a bias,
    which is the last coordinate then."""
    if not lines.biases:
        return B.T @ (B @ v)
    S = B * np.append(np.ones(B.shape[1] - 1), 0.0)
    gradient: Floats = S.T @ np.linalg.solve(S @ S.T, B @ v)
    return gradient


def engine_ties(
    data: RefineData, ties: Sequence[Tie], weights: SignedLines, side: SignedProblem, xi: int, doubts: Sequence[int]
) -> SharpCones:
    """The ties of one sign for the engine."""
    d = len(side.frame)
    here = [(i, t) for i, t in enumerate(ties) if t.xi == xi]
    pieces = [(i, t) for i, t in here if t.shares is not None]
    rays = [(i, t) for i, t in here if t.shares is None]
    convex, concave = list(weights.convex), list(weights.concave)
    fixed = [*convex, *doubts]
    sides = np.array([[t.side[c] for c in fixed] for _, t in pieces], dtype=np.int8).reshape(len(pieces), len(fixed))
    on = sides[:, : len(convex)] > 0
    a = np.array([side.c0 + side.P[np.flatnonzero(s)].sum(axis=0) for s in on]).reshape(-1, d)

    planes = [_plane(data, weights, side, tie) for _, tie in rays]

    def through(lines: list[int]) -> np.ndarray:
        found = [[t.side[c] == 0 for c in lines] for _, t in rays]
        return np.array(found, dtype=np.uint8).reshape(len(rays), len(lines))

    return SharpCones(
        a=np.ascontiguousarray(a),
        side=sides,
        names=np.array([i for i, _ in pieces], dtype=np.int64),
        ray=np.ascontiguousarray(np.array([side.frame @ unit(t.u) for _, t in rays]).reshape(-1, d)),
        across=np.ascontiguousarray(np.array([across for across, _, _ in planes]).reshape(-1, d)),
        span=np.array([span for _, span, _ in planes]).reshape(-1, 2),
        c=np.ascontiguousarray(np.array([c for _, _, c in planes]).reshape(-1, d)),
        ray_P=through(convex),
        ray_N=through(concave),
        ray_names=np.array([i for i, _ in rays], dtype=np.int64),
    )
