"""The network to many digits: Newton on its own equations, with the rows at which a neuron is zero held there.

w_i = N_i x_i, N_i a basis of the u of the row space with z_k.u = 0 for these rows; all else enters through the exact
matrices J_i'J_j and J_i'Y, J_i = D_i Z N_i. What comes out is a proposal of many digits; nothing rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz_mat
from scipy.optimize import lsq_linear

from relu_cert.cover.evidence import Row
from relu_cert.cover.lines import Lines
from relu_cert.exact import Matrix, Vector, scaled_rows
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.evidence import Tie
from relu_cert.outputs.train import Net

BITS = 420  # of the working precision
DIGITS = 220  # bits after the point that are kept
NEAR = 1e-9  # rows at which a neuron is zero, in floats
STEPS = 14


@dataclass(frozen=True)
class Sharp:
    """Neurons in rationals, and how small the last step was (in bits)."""

    neurons: tuple[tuple[Vector, Vector], ...]
    bits: int


@dataclass(frozen=True)
class Faces:
    """For each neuron the lines at which it is zero, those at which it is on, and a basis of the face (rows)."""

    zero: tuple[tuple[int, ...], ...]
    on: tuple[tuple[int, ...], ...]
    bases: tuple[fmpz_mat, ...]


def faces_of(lines: Lines, basis: Sequence[Row], net: Net, near: float = NEAR) -> Faces:
    """The faces on which the neurons lie, as floats see them."""
    P = np.array([[float(x) for x in p] for p in lines.rows])
    P /= np.linalg.norm(P, axis=1)[:, None]
    B = fmpz_mat([list(b) for b in basis])
    zero, on, bases = [], [], []
    for w in net.W:
        heights = P @ w / np.linalg.norm(w)
        tight = tuple(np.flatnonzero(np.abs(heights) < near).tolist())
        face = B
        if tight:
            A = fmpz_mat([list(lines.rows[c]) for c in tight]) * B.transpose()
            null, rank = A.nullspace()
            face = fmpz_mat([[null[i, k] for i in range(null.nrows())] for k in range(rank)]) * B if rank else B * 0
        zero.append(tight)
        on.append(tuple(np.flatnonzero(heights >= near).tolist()))
        bases.append(face)
    return Faces(tuple(zero), tuple(on), tuple(bases))


def number(x: Fraction | int) -> arb:
    """In a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def middle(A: arb_mat) -> arb_mat:
    """Without the radii."""
    return arb_mat([[x.mid() for x in row] for row in A.tolist()])


def real(rows: Sequence[Sequence[float]]) -> arb_mat:
    """Floats as they are."""
    return arb_mat([[arb(float(x)) for x in row] for row in rows])


def sharpen(Z: Matrix, Y: Matrix, lam: Fraction, lines: Lines, basis: Sequence[Row], net: Net) -> Sharp | None:
    """The stationary network on the faces of the given one; None where Newton does not end there."""
    faces = faces_of(lines, basis, net)
    if any(not any(x for x in face.entries()) for face in faces.bases):
        return None
    before = ctx.prec
    ctx.prec = BITS
    try:
        return _newton(Z, Y, lam, lines, faces, net)
    except ZeroDivisionError:
        return None
    finally:
        ctx.prec = before


def _newton(Z: Matrix, Y: Matrix, lam: Fraction, lines: Lines, faces: Faces, net: Net) -> Sharp | None:
    N, q = scaled_rows(Z)
    rows = fmpz_mat(N)
    m, C, l = len(net.W), len(Y[0]), number(lam)
    spans = [face.transpose() for face in faces.bases]
    parts = []
    for span, on in zip(spans, faces.on, strict=True):
        chosen, zero = {*on}, {*faces.zero[len(parts)]}
        mask = [
            c >= 0 and c not in zero and (c in chosen) == (a > 0)
            for c, a in zip(lines.line, lines.multiple, strict=True)
        ]
        product = (rows * span).tolist()
        parts.append(fmpz_mat([row if keep else [0] * span.ncols() for row, keep in zip(product, mask, strict=True)]))
    sizes = [span.ncols() for span in spans]
    ends = np.cumsum([0, *sizes]).tolist()
    J = fmpz_mat([[x for row in group for x in row] for group in zip(*(part.tolist() for part in parts), strict=True)])
    T, p = scaled_rows(Y)
    scale = number(Fraction(1, q * q))
    K = arb_mat(J.transpose() * J) * scale
    b = arb_mat(J.transpose() * fmpz_mat(T)) * number(Fraction(1, q * p))
    metric = [arb_mat(span.transpose() * span) for span in spans]
    x = []
    for span, w in zip(spans, net.W, strict=True):
        A = np.array([[float(int(e)) for e in row] for row in span.tolist()])
        x.append(real(np.linalg.lstsq(A, w, rcond=None)[0][:, None].tolist()))
    V = [real([[c] for c in v]) for v in net.V]
    last = 0
    for _ in range(STEPS):
        blocks = [[_block(K, ends, i, j) for j in range(m)] for i in range(m)]
        h = [[blocks[i][j] * x[j] for j in range(m)] for i in range(m)]
        X = []
        for i in range(m):
            total = -_rows(b, ends[i], ends[i + 1])
            for j in range(m):
                total += h[i][j] * V[j].transpose()
            X.append(total)
        n = ends[-1] + m * C
        H = [[arb(0)] * n for _ in range(n)]
        g = [arb(0)] * n
        starts = [ends[i] + i * C for i in range(m)]
        for i in range(m):
            k, at = sizes[i], starts[i]
            _put(H, at, at + k, X[i])
            _put(H, at + k, at, X[i].transpose())
            _put(H, at, at, l * metric[i])
            for c in range(C):
                H[at + k + c][at + k + c] += l
            for r, y in enumerate((X[i] * V[i] + l * metric[i] * x[i]).entries()):
                g[at + r] = y
            for r, y in enumerate((X[i].transpose() * x[i] + l * V[i]).entries()):
                g[at + k + r] = y
            for j in range(m):
                to = starts[j]
                _put(H, at, to, (V[i].transpose() * V[j])[0, 0] * blocks[i][j])
                _put(H, at, to + sizes[j], h[i][j] * V[i].transpose())
                _put(H, to + sizes[j], at, V[i] * h[i][j].transpose())
                inner = (x[i].transpose() * h[i][j])[0, 0]
                for c in range(C):
                    H[at + k + c][to + sizes[j] + c] += inner
        step = middle(arb_mat(H)).solve(middle(arb_mat([[y] for y in g])), algorithm="approx")
        moves = step.entries()
        for i in range(m):
            k, at = sizes[i], starts[i]
            x[i] = middle(x[i] - arb_mat([[y] for y in moves[at : at + k]]))
            V[i] = middle(V[i] - arb_mat([[y] for y in moves[at + k : at + k + C]]))
        size = max(abs(float(y.mid())) for v in V for y in v.entries())
        largest = max(abs(y.mid()) for y in moves)
        if not float(largest) < 0.5 * size:
            return None
        last = BITS if largest == 0 else int(-float((largest / size).log().mid()) / np.log(2))
        if last > DIGITS + 60:
            break
    if last < 40:
        return None
    neurons = tuple((_rounded(arb_mat(span) * a), _rounded(v)) for span, a, v in zip(spans, x, V, strict=True))
    return Sharp(neurons, last)


def _block(K: arb_mat, ends: list[int], i: int, j: int) -> arb_mat:
    return arb_mat([[K[a, b] for b in range(ends[j], ends[j + 1])] for a in range(ends[i], ends[i + 1])])


def _rows(A: arb_mat, low: int, high: int) -> arb_mat:
    return arb_mat([[A[a, c] for c in range(A.ncols())] for a in range(low, high)])


def _put(H: list[list[arb]], i: int, j: int, A: arb_mat) -> None:
    for a, row in enumerate(A.tolist()):
        for b, y in enumerate(row):
            H[i + a][j + b] += y


def _rounded(A: arb_mat) -> Vector:
    return tuple(rational(y) for y in A.entries())


def rational(y: arb) -> Fraction:
    """To DIGITS bits after the point."""
    return Fraction(int((y.mid() * arb(2) ** DIGITS + arb(0.5)).floor().mid().fmpq().p), 1 << DIGITS)


def ties_of(
    lines: Lines, basis: Sequence[Row], neurons: Sequence[tuple[Vector, Vector]], Theta: Matrix, lam: Fraction, net: Net
) -> tuple[Tie, ...]:
    """For each neuron the shares with which L(s) v = lambda u on its face."""
    faces = faces_of(lines, basis, net)
    before = ctx.prec
    ctx.prec = BITS
    try:
        return tuple(
            _tie(lines, zero, on, w, v, Theta, lam)
            for zero, on, (w, v) in zip(faces.zero, faces.on, neurons, strict=True)
        )
    finally:
        ctx.prec = before


def _tie(
    lines: Lines, zero: Sequence[int], on: Sequence[int], w: Vector, v: Vector, Theta: Matrix, lam: Fraction
) -> Tie:
    """A p_c (W_c.v) s_c = lambda |v| u - (the rest of L) v."""
    direction = np.array([float(x) for x in w])
    u = tuple((direction / np.linalg.norm(direction)).tolist())
    if not zero:
        return Tie((), (), u)
    place = {c: k for k, c in enumerate(zero)}
    chosen = {*on}
    slopes = [Fraction(0)] * len(zero)
    rest = [Fraction(0)] * lines.D
    for c, a, t in zip(lines.line, lines.multiple, Theta, strict=True):
        if c < 0:
            continue
        pulled = Fraction(a, lines.scale) * sum((x * y for x, y in zip(t, v, strict=True)), Fraction(0))
        if c in place:
            slopes[place[c]] += pulled if a > 0 else -pulled
        if a < 0 if c in place else (a > 0) == (c in chosen):
            rest = [r + pulled * p for r, p in zip(rest, lines.rows[c], strict=True)]
    length = number(sum((x * x for x in w), Fraction(0))).sqrt()
    height = number(sum((x * x for x in v), Fraction(0))).sqrt()
    goal = [number(lam) * height * number(x) / length - number(r) for x, r in zip(w, rest, strict=True)]
    A = [[number(slope * lines.rows[c][l]) for c, slope in zip(zero, slopes, strict=True)] for l in range(lines.D)]
    shares = solved(A, goal)
    return Tie(tuple(zero), tuple(min(max(s, Fraction(0)), Fraction(1)) for s in shares), u)


def solved(A: list[list[arb]], goal: list[arb]) -> list[Fraction]:
    """Numbers from 0 to 1 with A s = goal: from floats where there are several, some kept and the others made exact."""
    F = np.array([[float(x.mid()) for x in row] for row in A])
    aim = np.array([float(x.mid()) for x in goal])
    scale = np.maximum(np.abs(F).max(axis=0), 1e-300)
    found = lsq_linear(F / np.abs(F).max(), aim / np.abs(F).max(), bounds=(0, 1), tol=1e-14).x
    independent: list[int] = []
    for k in np.argsort(np.abs(found - 0.5)).tolist():
        trial = [*independent, k]
        if np.linalg.matrix_rank(F[:, trial] / scale[trial], tol=1e-9) == len(trial):
            independent.append(k)
    fixed = {k: Fraction(float(found[k])) for k in range(len(found)) if k not in independent}
    left = list(goal)
    for k, s in fixed.items():
        left = [y - row[k] * number(s) for y, row in zip(left, A, strict=True)]
    M = arb_mat([[row[k] for k in independent] for row in A])
    s = middle(M.transpose() * M).solve(middle(M.transpose() * arb_mat([[y] for y in left])), algorithm="approx")
    exact = dict(zip(independent, map(rational, s.entries()), strict=True))
    return [fixed[k] if k in fixed else exact[k] for k in range(len(found))]
