"""The network to many digits: Newton on its own equations, with the rows at which a neuron is zero held there.

w_i = N_i x_i, N_i a basis of the u of the row space with z_k.u = 0 for these rows; all else enters through the exact
matrices J_i'J_j and J_i'Y, J_i = P D_i Z N_i without its part in the free columns. What comes out is a proposal of many
digits; nothing rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz_mat
from scipy.optimize import lsq_linear

from relu_cert.cover.lines import Lines
from relu_cert.evidence import OutputTie, Row
from relu_cert.exact import Matrix, Vector, first_independent, norm_squared, scaled_rows
from relu_cert.outputs.train import Net
from relu_cert.problem.loss import SOFTMAX
from relu_cert.problem.problem import Problem

BITS = 560  # of the working precision
DIGITS = 320  # bits after the point that are kept
NEAR = 1e-9  # rows at which a neuron is zero, in floats
STEPS, REFINEMENTS = 14, 40
LEAST_BITS = 40  # that the last step must have settled


@dataclass(frozen=True)
class Sharp:
    """Neurons in rationals, how small the last step was (in bits), and with the softmax the free coefficients."""

    neurons: tuple[tuple[Vector, Vector], ...]
    bits: int
    free: Matrix = ()


@dataclass(frozen=True)
class NeuronFaces:
    """For each neuron the lines at which it is zero, those at which it is on, and a basis of the face (rows)."""

    zero: tuple[tuple[int, ...], ...]
    on: tuple[tuple[int, ...], ...]
    bases: tuple[fmpz_mat, ...]


def faces_of(lines: Lines, basis: Sequence[Row], net: Net, near: float = NEAR) -> NeuronFaces:
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
    return NeuronFaces(tuple(zero), tuple(on), tuple(bases))


def number(x: Fraction | int) -> arb:
    """In a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def middle(A: arb_mat) -> arb_mat:
    """Without the radii."""
    return arb_mat([[x.mid() for x in row] for row in A.tolist()])


def real(rows: Sequence[Sequence[float]]) -> arb_mat:
    """Floats as they are."""
    return arb_mat([[arb(float(x)) for x in row] for row in rows])


def sharpen(
    problem: Problem, lam: Fraction, lines: Lines, free: Sequence[Vector], basis: Sequence[Row], net: Net
) -> Sharp | None:
    """The stationary network on the faces of the given one; None where Newton does not end there."""
    faces = faces_of(lines, basis, net)
    if any(not any(x for x in face.entries()) for face in faces.bases):
        return None
    before = ctx.prec
    ctx.prec = BITS
    try:
        if problem.loss is SOFTMAX:
            return _refined(problem, lam, columns_on(problem, lines, faces), net, free)
        return newton(products_of(problem, lam, lines, free, faces), net)
    except ZeroDivisionError:
        return None
    finally:
        ctx.prec = before


@dataclass(frozen=True)
class Products:
    """What Newton needs of the data: the spans N_i of the faces, J'J and J'Y for all of them, and N_i'N_i."""

    spans: list[fmpz_mat]
    K: arb_mat
    b: arb_mat
    metric: list[arb_mat]
    lam: arb

    @property
    def sizes(self) -> list[int]:
        """The dimensions of the faces."""
        return [span.ncols() for span in self.spans]

    @property
    def ends(self) -> list[int]:
        """Where each face begins among the columns of J."""
        return [0, *accumulate(self.sizes)]

    def block(self, i: int, j: int) -> arb_mat:
        """J_i'J_j"""
        (a, b), (c, d) = (self.ends[k : k + 2] for k in (i, j))
        return arb_mat([[self.K[row, column] for column in range(c, d)] for row in range(a, b)])

    def targets(self, i: int) -> arb_mat:
        """J_i'Y"""
        return arb_mat([[self.b[a, c] for c in range(self.b.ncols())] for a in range(*self.ends[i : i + 2])])


def columns_on(problem: Problem, lines: Lines, faces: NeuronFaces) -> tuple[list[fmpz_mat], fmpz_mat, Fraction]:
    """The spans N_i of the faces, and the integers J / unit, J = P D_i Z N_i side by side."""
    N, q = scaled_rows(problem.relu.Z)
    rows, bags = fmpz_mat(N), problem.relu.bags
    spans = [face.transpose() for face in faces.bases]
    parts: list[fmpz_mat] = []
    for span, on, zero in zip(spans, faces.on, faces.zero, strict=True):
        chosen, held = {*on}, {*zero}
        active = [
            c >= 0 and c not in held and (c in chosen) == (a > 0)
            for c, a in zip(lines.line, lines.multiple, strict=True)
        ]
        product = (rows * span).tolist()
        parts.append(fmpz_mat([row if keep else [0] * span.ncols() for row, keep in zip(product, active, strict=True)]))
    seen = [[int(x) for row in group for x in row] for group in zip(*(part.tolist() for part in parts), strict=True)]
    return spans, fmpz_mat(bags.sums(np.array(seen, dtype=object)).tolist()), Fraction(1, q * bags.unit)


def products_of(problem: Problem, lam: Fraction, lines: Lines, free: Sequence[Vector], faces: NeuronFaces) -> Products:
    """The products of the data on these faces."""
    spans, J, step = columns_on(problem, lines, faces)
    T, p = scaled_rows(problem.Y)
    unit, targets = number(step), fmpz_mat(T)
    K = arb_mat(J.transpose() * J) * unit * unit
    b = arb_mat(J.transpose() * targets) * unit * number(Fraction(1, p))
    if independent := first_independent(free):  # (I - B (B'B)^-1 B') in the place of I
        B = fmpz_mat(scaled_rows([free[j] for j in independent])[0])
        G, H = arb_mat(B * J) * unit, arb_mat(B * targets) * number(Fraction(1, p))
        weights = arb_mat(B * B.transpose())
        K, b = K - G.transpose() * weights.solve(G), b - G.transpose() * weights.solve(H)
    return Products(spans, K, b, [metric_of(span, problem) for span in spans], number(lam))


def newton(given: Products, net: Net, digits: int = DIGITS) -> Sharp | None:
    """Newton steps from the given network; so many bits after the point are kept."""
    x = coordinates(given.spans, net)
    V = [real([[c] for c in v]) for v in net.V]
    last = 0
    for _ in range(STEPS):
        g, H = equations(given, x, V)
        moves = middle(arb_mat(H)).solve(middle(arb_mat([[y] for y in g])), algorithm="approx").entries()
        if not (last := stepped(given.sizes, x, V, moves)):
            return None
        if last > digits + 60:
            break
    if last < LEAST_BITS:
        return None
    found = zip(given.spans, x, V, strict=True)
    return Sharp(tuple((_rounded(arb_mat(span) * a, digits), _rounded(v, digits)) for span, a, v in found), last)


def _refined(
    problem: Problem,
    lam: Fraction,
    columns: tuple[list[fmpz_mat], fmpz_mat, Fraction],
    net: Net,
    free: Sequence[Vector] = (),
) -> Sharp | None:
    """The same for softmax: gradients of many digits, and their derivative in floats."""
    from relu_cert.outputs.softmax import Chances

    spans, J, unit = columns
    x, V, l = coordinates(spans, net), [real([[c] for c in v]) for v in net.V], number(lam)
    ends = [0, *accumulate(span.ncols() for span in spans)]
    tall, C = arb_mat(J) * number(unit), len(net.V[0])
    parts = [arb_mat([row[a:b] for row in tall.tolist()]) for a, b in pairwise(ends)]
    metric = [metric_of(span, problem) for span in spans]
    Y = np.array([[float(y) for y in row] for row in problem.Y])
    B = np.array([[float(b) for b in column] for column in free]).T if free else None
    task = Chances(np.zeros((0, 0)), Y, float(lam), Q=B, columns=np.eye(C), labels=Y)
    moved = [np.array([[float(y) for y in row] for row in part.tolist()]) for part in parts]
    xs = [np.array([float(y) for y in o.entries()]) for o in x]
    outputs = np.stack([A @ o for A, o in zip(moved, xs, strict=True)], axis=1) @ net.V
    first = task.coefficients(outputs)
    H = task.equations(moved, xs, net.V, None if B is None else B @ first)[1]
    columns_ = real([list(row) for row in zip(*free, strict=True)]) if free else arb_mat(len(Y), 0)
    c = real(first.tolist())
    at = 0
    for M in metric:
        k = M.nrows()
        H[at : at + k, at : at + k] += float(lam) * np.array([[float(y) for y in row] for row in M.tolist()])
        H[range(at + k, at + k + C), range(at + k, at + k + C)] += float(lam)
        at += k + C
    scale = 1 / np.sqrt(np.abs(np.diag(H)))
    inverse = real((scale[:, None] * np.linalg.pinv(H * np.outer(scale, scale), rcond=1e-14) * scale).tolist())
    labels, last = arb_mat([[number(y) for y in row] for row in problem.Y]), 0
    for _ in range(REFINEMENTS):
        S = [part * o for part, o in zip(parts, x, strict=True)]
        f = sum((s * v.transpose() for s, v in zip(S, V, strict=True)), columns_ * c if free else arb_mat(len(Y), C))
        P = []
        for row in f.tolist():
            powers = [y.mid().exp() for y in row]
            total = sum(powers, arb(0))
            P.append([y / total for y in powers])
        E = middle(arb_mat(P) - labels)
        g: list[arb] = []
        for part, s, o, v, M in zip(parts, S, x, V, metric, strict=True):
            g += (part.transpose() * (E * v) + l * M * o).entries()
            g += (E.transpose() * s + l * v).entries()
        g += (columns_.transpose() * E).entries() if free else []
        moves = middle(inverse * middle(arb_mat([[y] for y in g]))).entries()
        if not (last := stepped([span.ncols() for span in spans], x, V, moves)):
            return None
        if free:
            c = middle(c - arb_mat(len(free), C, moves[-C * len(free) :]))
        if last > DIGITS:
            break
    if last < LEAST_BITS:
        return None
    found = tuple((_rounded(arb_mat(s) * a), _rounded(v)) for s, a, v in zip(spans, x, V, strict=True))
    return Sharp(found, last, tuple(tuple(map(rational, row)) for row in c.tolist()) if free else ())


def metric_of(span: fmpz_mat, problem: Problem) -> arb_mat:
    """|N x|^2 in coordinates, N the span; without the biases where they are free."""
    seen = fmpz_mat(span.tolist()[: span.nrows() - ("biases" in problem.free)])
    return arb_mat(seen.transpose() * seen)


def stepped(sizes: Sequence[int], x: list[arb_mat], V: list[arb_mat], moves: list[arb]) -> int:
    """Take the moves from all x and V, in place; how small the largest was, in bits. 0: it was too long."""
    at, C = 0, V[0].nrows()
    for i, k in enumerate(sizes):
        x[i] = middle(x[i] - arb_mat([[y] for y in moves[at : at + k]]))
        V[i] = middle(V[i] - arb_mat([[y] for y in moves[at + k : at + k + C]]))
        at += k + C
    size = max(abs(float(y.mid())) for v in V for y in v.entries())
    largest = max(abs(y.mid()) for y in moves)
    if not float(largest) < 0.5 * size:
        return 0
    return ctx.prec if largest == 0 else max(int(-float((largest / size).log().mid()) / np.log(2)), 1)


def coordinates(spans: Sequence[fmpz_mat], net: Net) -> list[arb_mat]:
    """The neurons in the coordinates of their faces."""
    x = []
    for span, w in zip(spans, net.W, strict=True):
        A = np.array([[float(int(e)) for e in row] for row in span.tolist()])
        x.append(real(np.linalg.lstsq(A, w, rcond=None)[0][:, None].tolist()))
    return x


def equations(given: Products, x: list[arb_mat], V: list[arb_mat]) -> tuple[list[arb], list[list[arb]]]:
    """The gradient of the objective in all (x_i, v_i), and its derivative."""
    m, C, l, sizes = len(x), V[0].nrows(), given.lam, given.sizes
    starts = [end + i * C for i, end in enumerate(given.ends)]
    H = [[arb(0)] * starts[-1] for _ in range(starts[-1])]
    g: list[arb] = []
    for i in range(m):
        k, at = sizes[i], starts[i]
        X = -given.targets(i)
        for j in range(m):
            to, end = starts[j], starts[j] + sizes[j]
            block = given.block(i, j)
            h = block * x[j]
            X += h * V[j].transpose()
            _put(H, at, to, (V[i].transpose() * V[j])[0, 0] * block)
            _put(H, at, end, h * V[i].transpose())
            _put(H, end, at, V[i] * h.transpose())
            inner = (x[i].transpose() * h)[0, 0]
            for c in range(C):
                H[at + k + c][end + c] += inner
        _put(H, at, at + k, X)
        _put(H, at + k, at, X.transpose())
        _put(H, at, at, l * given.metric[i])
        for c in range(C):
            H[at + k + c][at + k + c] += l
        g += (X * V[i] + l * given.metric[i] * x[i]).entries()
        g += (X.transpose() * x[i] + l * V[i]).entries()
    return g, H


def _put(H: list[list[arb]], i: int, j: int, A: arb_mat) -> None:
    for a, row in enumerate(A.tolist()):
        for b, y in enumerate(row):
            H[i + a][j + b] += y


def _rounded(A: arb_mat, digits: int = DIGITS) -> Vector:
    return tuple(rational(y, digits) for y in A.entries())


def rational(y: arb, digits: int = DIGITS) -> Fraction:
    """To so many bits after the point."""
    return Fraction(int((y.mid() * arb(2) ** digits + arb(0.5)).floor().mid().fmpq().p), 1 << digits)


def ties_of(
    lines: Lines, basis: Sequence[Row], neurons: Sequence[tuple[Vector, Vector]], T: Matrix, lam: Fraction, net: Net
) -> tuple[OutputTie, ...]:
    """For each neuron the shares with which L(s) v = lambda u on its face; T = P'Theta are the weights of the rows."""
    faces = faces_of(lines, basis, net)
    before = ctx.prec
    ctx.prec = BITS
    try:
        return tuple(
            _tie(lines, zero, on, w, v, T, lam) for zero, on, (w, v) in zip(faces.zero, faces.on, neurons, strict=True)
        )
    finally:
        ctx.prec = before


def _tie(
    lines: Lines, zero: Sequence[int], on: Sequence[int], w: Vector, v: Vector, T: Matrix, lam: Fraction
) -> OutputTie:
    """A p_c (W_c.v) s_c = lambda |v| u - (the rest of L) v."""
    direction = np.array([float(x) for x in w])
    u = tuple((direction / np.linalg.norm(direction)).tolist())
    if not zero:
        return OutputTie((), (), u)
    place = {c: k for k, c in enumerate(zero)}
    chosen = {*on}
    slopes = [Fraction(0)] * len(zero)
    rest = [Fraction(0)] * lines.D
    for c, a, t in zip(lines.line, lines.multiple, T, strict=True):
        if c < 0:
            continue
        pulled = Fraction(a, lines.scale) * sum((x * y for x, y in zip(t, v, strict=True)), Fraction(0))
        if c in place:
            slopes[place[c]] += pulled if a > 0 else -pulled
        if a < 0 if c in place else (a > 0) == (c in chosen):
            rest = [r + pulled * p for r, p in zip(rest, lines.rows[c], strict=True)]
    seen = (*w[:-1], Fraction(0)) if lines.biases else w
    length = number(norm_squared(seen)).sqrt()
    height = number(sum((x * x for x in v), Fraction(0))).sqrt()
    goal = [number(lam) * height * number(x) / length - number(r) for x, r in zip(seen, rest, strict=True)]
    A = [[number(slope * lines.rows[c][l]) for c, slope in zip(zero, slopes, strict=True)] for l in range(lines.D)]
    shares = solved(A, goal)
    return OutputTie(tuple(zero), tuple(min(max(s, Fraction(0)), Fraction(1)) for s in shares), u)


def solved(A: list[list[arb]], goal: list[arb]) -> list[Fraction]:
    """Numbers from 0 to 1 with A s = goal: from floats where there are several, some kept and the others made exact."""
    F = np.array([[float(x.mid()) for x in row] for row in A])
    aim = np.array([float(x.mid()) for x in goal])
    if not F.any():  # no line of the tie has a slope along v
        return [Fraction(0)] * F.shape[1]
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
    found_shares = middle(M.transpose() * M).solve(
        middle(M.transpose() * arb_mat([[y] for y in left])), algorithm="approx"
    )
    exact = dict(zip(independent, map(rational, found_shares.entries()), strict=True))
    return [fixed[k] if k in fixed else exact[k] for k in range(len(found))]
