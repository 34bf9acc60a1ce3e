"""From a float network to many digits: Newton's method on the faces of its neurons, gradients in exact integers.

A neuron lies on the face of the lines that it vanishes on (its kinks). On given faces with given patterns the objective
is smooth; its Hessian is taken in floats, its gradient exactly, so that each step gains the digits of a float. A line
that a neuron meets on its way becomes a kink, kinks that hold it back from the way down are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import floor, gcd, inf, isqrt

import numpy as np
from flint import fmpq_mat, fmpz_mat
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from relu_cert.bags import Each
from relu_cert.cover.lines import Lines
from relu_cert.cover.stack import Floats
from relu_cert.evidence import Row
from relu_cert.exact import Matrix, Vector, scaled_rows

BITS = 300
TOLERANCES = (1e-8, 1e-7, 1e-6, 1e-9, 1e-5)
ROUNDS = 1000
LONGEST = 0.9  # of a neuron, in one step
NOTHING = 10**14
DIGITS = 1e-40
MOVED = 1e-5  # a neuron is moved no farther, relatively, on the face that is proposed for it
STATIONARY = 1e-11  # relative to lambda
LEVEL = 1e-6  # a kink is left along a way that rises so much from it
LONG = 64  # bits of the basis of a face: longer ones are shortened
STALLED = 30  # steps on the same faces without a gain: the numbers of these are too long for the bits
TIMES = (1, 2, 4)  # as many bits, where that is so
ZERO_BITS = 200  # heights below 2^-200 are 0: digits go on to 2^-300


class Unrefined(Exception):
    """No face was found on which the float network becomes optimal; the text says why."""


class Stalled(Unrefined):
    """Newton's method gains nothing."""


@dataclass(frozen=True)
class LineFace:
    """A sign, the kinks (lines), for every line the side on which the neuron lies, and about where it is."""

    xi: int
    kinks: frozenset[int]
    side: tuple[int, ...]
    v: Floats


@dataclass(frozen=True)
class RoundedNeuron:
    """A neuron xi (Zv)_+ with v = numerators / 2^bits, exactly zero on its kinks."""

    xi: int
    numerators: Row
    bits: int
    kinks: frozenset[int]

    @property
    def v(self) -> Vector:
        """The weights."""
        return tuple(Fraction(x, 1 << self.bits) for x in self.numerators)


@dataclass(frozen=True)
class RefineData:
    """What refinement needs of a problem: rows and targets as integers, lines, a basis of the row space."""

    N: tuple[Row, ...]
    scale: int
    y: Row
    y_scale: int
    lam: Fraction
    lines: Lines
    basis: tuple[Row, ...]
    outputs: tuple[Row, ...] = ()  # independent columns with free coefficients

    @cached_property
    def floats(self) -> Floats:
        """The rows in floats."""
        return np.array([[x / self.scale for x in z] for z in self.N])

    @cached_property
    def rows(self) -> NDArray[np.object_]:
        """The rows as Python's integers."""
        return np.array(self.N, dtype=object)

    @property
    def bags(self) -> Each:
        """The rows of the data points."""
        return self.lines.bags

    @cached_property
    def size_squared(self) -> Fraction:
        """zeta^2 >= |P (Zu)_+|^2 / |u|^2"""
        return self.bags.size_squared([sum(x * x for x in z) for z in self.N]) / self.scale**2

    @cached_property
    def unit(self) -> int:
        """Residuals, times this and a power of 2, are integers."""
        return self.scale * self.bags.unit * self.y_scale * self._gram[0]

    @cached_property
    def _gram(self) -> tuple[int, fmpz_mat]:
        """det G and det(G) G^-1 for the Gram matrix G of the free columns."""
        if not self.outputs:
            return 1, fmpz_mat(0, 0)
        B = fmpz_mat([list(column) for column in self.outputs])
        G = B * B.transpose()
        det = G.det()
        p = len(self.outputs)
        inverse = [[int((x * det).p) for x in row] for row in G.inv().tolist()]
        return int(det), fmpz_mat(p, p, [x for row in inverse for x in row])

    def left(self, r: np.ndarray) -> np.ndarray:
        """det(G) times what the free columns, with their best coefficients, leave of integers r."""
        if not self.outputs:
            return r
        det, adjugate = self._gram
        B = np.array(self.outputs, dtype=object)
        c = adjugate * fmpz_mat([[int(x)] for x in B @ r])
        left: np.ndarray = det * r - np.array([int(x) for x in c.entries()], dtype=object) @ B
        return left

    def left_of(self, A: Floats) -> Floats:
        """What they leave of columns, in floats."""
        if not self.outputs:
            return A
        Q = np.linalg.qr(np.array([[x / max(map(abs, b)) for x in b] for b in self.outputs]).T)[0]
        return np.asarray(A - Q @ (Q.T @ A))


def data_of(Z: Matrix, y: Vector, lam: Fraction, lines: Lines, basis: tuple[Row, ...]) -> RefineData:
    """The problem in integers."""
    N, scale = scaled_rows(Z)
    (targets,), y_scale = scaled_rows([y])
    return RefineData(tuple(map(tuple, N)), scale, tuple(targets), y_scale, lam, lines, basis)


def face_basis(data: RefineData, kinks: Sequence[int]) -> list[Row]:
    """Integer vectors that span {v in the row space : p_c.v = 0 on the kinks}."""
    return kernel_of(data.basis, [data.lines.rows[c] for c in kinks])


def kernel_of(E: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Integer vectors that span the part of the span of E that is orthogonal to the rows."""
    if not rows:
        return list(E)
    M = fmpz_mat([[sum(a * b for a, b in zip(p, e, strict=True)) for e in E] for p in rows])
    kernel, nullity = M.nullspace()
    found = [_combined([int(kernel[i, j]) for i in range(len(E))], E) for j in range(int(nullity))]
    if any(abs(x).bit_length() > LONG for v in found for x in v):  # kinks of long numbers, such as binary64
        return [_combined(w, E) for w in _short_kernel(M)]
    return found


def _combined(w: Sequence[int], E: Sequence[Row]) -> Row:
    """The primitive vector along sum w_i e_i."""
    v = [sum(a * e[l] for a, e in zip(w, E, strict=True)) for l in range(len(E[0]))]
    g = gcd(*v)
    return tuple(x // g for x in v)


def _short_kernel(M: fmpz_mat) -> list[Row]:
    """A reduced basis (Lenstra, Lenstra and Lovasz) of the integers w with M w = 0: of (c M w, w) for a large c."""
    k, r = M.nrows(), M.ncols()
    c = 1 << r * (max(int(abs(x)).bit_length() for x in M.entries()) + r)
    rows = [[*(c * int(M[j, i]) for j in range(k)), *(int(i == l) for l in range(r))] for i in range(r)]
    reduced = [[int(x) for x in row] for row in fmpz_mat(rows).lll().tolist()]
    return [tuple(row[k:]) for row in reduced if not any(row[:k])]


def closed(data: RefineData, kinks: frozenset[int], basis: Sequence[Row]) -> frozenset[int]:
    """All lines that vanish on the face."""
    if not kinks:
        return kinks
    vanish = np.ones(len(data.lines.rows), dtype=bool)
    for b in basis:
        vanish &= data.lines.signs(b) == 0
    return kinks | frozenset(np.flatnonzero(vanish).tolist())


def float_lines(lines: Lines) -> Floats:
    """The lines as unit vectors."""
    return lines.units


def beside(basis: Sequence[Row], v: Floats) -> float:
    """How far v is from a face, relatively."""
    if not basis:
        return 1.0
    B = np.array([[float(x) for x in b] for b in basis]).T
    B /= np.linalg.norm(B, axis=0)
    return float(np.linalg.norm(v - B @ np.linalg.lstsq(B, v, rcond=None)[0]) / np.linalg.norm(v))


def proposed_face(data: RefineData, units: Floats, xi: int, v: Floats, tolerance: float) -> LineFace:
    """The face whose kinks are the lines that v nearly lies on; where these meet nowhere near v (rows that are nearly
    dependent), as many as do, the nearest first."""
    heights = units @ v / np.linalg.norm(v)
    near = np.flatnonzero(np.abs(heights) < tolerance)
    kinks = frozenset(near.tolist())
    basis = face_basis(data, sorted(kinks))
    if beside(basis, v) > MOVED:
        chosen: list[int] = []
        for c in near[np.argsort(np.abs(heights[near]))].tolist():
            if beside(face_basis(data, [*chosen, c]), v) <= MOVED:
                chosen.append(c)
        kinks = frozenset(chosen)
        basis = face_basis(data, chosen)
    kinks = closed(data, kinks, basis)
    side = tuple(0 if c in kinks else (1 if h > 0 else -1) for c, h in enumerate(heights))
    return LineFace(xi, kinks, side, v)


class _Newton:
    """The smooth problem on fixed faces."""

    def __init__(self, data: RefineData, faces: Sequence[LineFace], bits: int, at: Sequence[Row] | None = None) -> None:
        self.data, self.faces, self.bits = data, faces, bits
        self.Z = data.floats
        self.rows = data.rows
        self.seen = np.array(data.lines.seen((1,) * data.lines.D), dtype=np.float64)
        line, own = data.lines.on_rows
        self.on = [np.array(face.side, dtype=np.int8)[line] * own > 0 for face in faces]
        self.bases = [face_basis(data, sorted(face.kinks)) for face in faces]
        if not all(self.bases):
            raise Unrefined("a neuron lies on lines that meet in 0 only")
        self.sizes = [[max(map(abs, b)) for b in basis] for basis in self.bases]
        self.frames = []
        self.weights = []
        for i, (face, basis, sizes) in enumerate(zip(faces, self.bases, self.sizes, strict=True)):
            B = np.array([[x / s for x in b] for b, s in zip(basis, sizes, strict=True)]).T
            q, r = np.linalg.qr(B)
            self.frames.append((B, q, r))
            v = [int(Fraction(float(x)) * (1 << bits)) for x in face.v] if at is None else at[i]
            exact = fmpz_mat([list(b) for b in basis])
            w = fmpq_mat(exact * exact.transpose()).solve(fmpq_mat(exact * fmpz_mat([[x] for x in v])))
            self.weights.append([int(x.p) // int(x.q) for x in w.entries()])

    def vectors(self, weights: Sequence[Sequence[int]] | None = None) -> list[Row]:
        """The neurons, times 2^bits."""
        return [
            tuple(sum(w * b[l] for w, b in zip(ws, basis, strict=True)) for l in range(len(basis[0])))
            for ws, basis in zip(self.weights if weights is None else weights, self.bases, strict=True)
        ]

    def residual(self, vectors: Sequence[Row]) -> np.ndarray:
        """(y - fit) times data.unit 2^bits, the best free terms in the fit."""
        data = self.data
        fit = np.zeros(len(data.N), dtype=object)
        for face, on, v in zip(self.faces, self.on, vectors, strict=True):
            fit = fit + face.xi * np.where(on, self.rows @ np.array(v, dtype=object), 0)
        y = np.array([t * data.scale * data.bags.unit << self.bits for t in data.y], dtype=object)
        return data.left(y - data.y_scale * data.bags.sums(fit))

    @cached_property
    def square(self) -> tuple[Floats, list[slice]]:
        """The Hessian of the squared loss, and the places of the neurons in it."""
        J = np.hstack(
            [
                f.xi * self.data.bags.pooled_floats(on[:, None] * (self.Z @ q))
                for f, on, (_, q, _) in zip(self.faces, self.on, self.frames, strict=True)
            ]
        )
        ends = np.cumsum([0, *(q.shape[1] for _, q, _ in self.frames)])
        J = self.data.left_of(J)
        return J.T @ J, [slice(a, b) for a, b in pairwise(ends)]

    def step(self) -> tuple[float, list[list[int]]]:
        """The gradient, relatively to lambda, and Newton's step, no longer than is safe."""
        lam, one = float(self.data.lam), 1 << self.bits
        vectors = self.vectors()
        r = self.residual(vectors)
        square, places = self.square
        H, g = square.copy(), np.zeros(len(square))
        sizes = []
        for i, (face, on, v, part) in enumerate(zip(self.faces, self.on, vectors, places, strict=True)):
            g[part] = self.gradient(i, face, on, v, r)
            q = self.frames[i][1]
            size, u = self.lengths(q, np.array([float(Fraction(x, one)) for x in v]))
            sizes.append(size)
            H[part, part] += lam / size * (q.T @ (self.seen[:, None] * q) - np.outer(u, u) / size**2)
        p = -np.linalg.lstsq(H, g, rcond=1e-13)[0]
        if not np.isfinite(p).all():
            raise Unrefined("Newton's method fails")
        moved = (q @ p[part] for part, (_, q, _) in zip(places, self.frames, strict=True))
        longest = max(float(np.linalg.norm(self.seen * dv)) / size for dv, size in zip(moved, sizes, strict=True))
        p *= min(1.0, LONGEST / max(longest, 1e-300))
        steps = []
        for (B, q, _), part, lengths in zip(self.frames, places, self.sizes, strict=True):
            dw = np.linalg.lstsq(B, q @ p[part], rcond=None)[0]
            steps.append([int(Fraction(float(x)) * one) // s for x, s in zip(dw, lengths, strict=True)])
        return float(np.abs(g).max()) / lam, steps

    def lengths(self, q: Floats, v: Floats) -> tuple[float, Floats]:
        """|v| as the norm sees it, and the gradient of |v|^2 / 2 in the coordinates of a face."""
        return float(np.linalg.norm(self.seen * v)), q.T @ (self.seen * v)

    def gradient(self, i: int, face: LineFace, on: np.ndarray, v: Row, r: np.ndarray) -> Floats:
        """The gradient of neuron i in the orthonormal coordinates of its face."""
        data = self.data
        product = self.rows.T @ np.where(on, data.bags.shares(r), 0)  # times this
        unit = data.scale * data.bags.unit * data.unit << self.bits
        seen = data.lines.seen(v)
        size = isqrt(sum(x * x for x in seen) << 2 * self.bits)  # times 2^(2 bits)
        force = [
            -face.xi * int(a) * data.lam.denominator + data.lam.numerator * unit * (x << self.bits) // size
            for a, x in zip(product, seen, strict=True)
        ]
        scaled = [
            float(Fraction(sum(a * b for a, b in zip(basis, force, strict=True)), unit * data.lam.denominator * s))
            for basis, s in zip(self.bases[i], self.sizes[i], strict=True)
        ]
        return np.asarray(np.linalg.solve(self.frames[i][2].T, np.array(scaled)))


def slopes(data: RefineData, xi: int, residual: Floats) -> tuple[Floats, Floats]:
    """s_c+ and s_c- of every line, in floats."""
    t = data.bags.spread_floats(residual)
    right, left = np.zeros(len(data.lines.rows)), np.zeros(len(data.lines.rows))
    line, a = np.array(data.lines.line), np.array(data.lines.multiple, dtype=np.float64) / data.scale
    for slope, chosen in ((right, (line >= 0) & (a > 0)), (left, (line >= 0) & (a < 0))):
        np.add.at(slope, line[chosen], xi * t[chosen] * a[chosen])
    return right, left


def departure(data: RefineData, face: LineFace, v: Row, residual: Floats) -> LineFace:
    """The face into which the objective falls most steeply from v, optimal on its own: the same one if there is none.

    The subgradients at v are m = lambda v/|v| - sum over lines on of w p - sum over kinks of share w p, with shares in
    [0, 1] of concave kinks, at least 1 or at most 0 of convex ones; -m of the shortest is the way down. It leaves the
    kinks from which it rises, and of those from which it hardly rises (rows are nearly dependent) as few as give room.
    """
    if not face.kinks:
        return face
    right, left = slopes(data, face.xi, residual)
    P = np.array(data.lines.rows, dtype=np.float64)
    lam = float(data.lam)
    kinks = np.array([c for c in sorted(face.kinks) if right[c] != left[c]], dtype=np.int64)
    slope = np.where(np.array(face.side) > 0, right, np.where(np.array(face.side) < 0, left, 0.0))
    seen = data.lines.seen(v)
    size = isqrt(sum(x * x for x in seen))
    u = np.array([float(Fraction(x, size)) for x in seen])
    idle = sorted(face.kinks)
    goal = u - (slope @ P + left[idle] @ P[idle]) / lam  # sum over kinks of share w p / lambda
    columns = ((right - left)[kinks, None] * P[kinks]).T / lam
    lengths = np.linalg.norm(columns, axis=0)
    convex = right[kinks] > left[kinks]
    for side in (1, -1) if convex.any() else (1,):
        lowest = np.where(convex, 1.0 if side > 0 else -np.inf, 0.0) * lengths
        highest = np.where(convex, np.inf if side > 0 else 0.0, 1.0) * lengths
        found = lsq_linear(columns / lengths, goal, (lowest, highest), "bvls", tol=1e-15, max_iter=1000)
        m = goal - columns / lengths @ found.x
        if float(np.linalg.norm(m)) > STATIONARY:
            rise = -(P[idle] @ m) / np.linalg.norm(P[idle], axis=1) / np.linalg.norm(m)
            level = [idle[i] for i in np.argsort(np.abs(rise)) if abs(rise[i]) < LEVEL]
            kept = closed(data, *_wider(data, level, face)) & face.kinks
            if kept != face.kinks:
                way = dict(zip(idle, np.where(rise > 0, 1, -1).tolist(), strict=True))
                return LineFace(
                    face.xi, kept, tuple(s or (0 if c in kept else way[c]) for c, s in enumerate(face.side)), face.v
                )
    return face


def _wider(data: RefineData, lines: Sequence[int], face: LineFace) -> tuple[frozenset[int], list[Row]]:
    """As many of the lines, the first ones first, as leave a face of more dimensions, and the basis of that face."""
    least = len(face_basis(data, sorted(face.kinks)))
    kept: list[int] = []
    for c in lines:
        if len(face_basis(data, [*kept, c])) > least:
            kept.append(c)
    return frozenset(kept), face_basis(data, kept)


def first_hit(
    data: RefineData, faces: Sequence[LineFace], here: Sequence[Row], there: Sequence[Row], bits: int
) -> tuple[Fraction, list[frozenset[int]]]:
    """How far the neurons can go on the way from here to there before a line is met, and the lines met by each."""
    small = 1 << bits - ZERO_BITS
    part, hits = Fraction(1), [frozenset[int]()] * len(faces)
    for i, (face, a, b) in enumerate(zip(faces, here, there, strict=True)):
        side = np.array(face.side)
        about, doubts = data.lines.heights(b)
        for c in np.flatnonzero((side != 0) & ((side * about < 0.0) | doubts)).tolist():
            row = data.lines.rows[c]
            before, after = (int(side[c]) * sum(x * y for x, y in zip(row, v, strict=True)) for v in (a, b))
            if after >= 0 or after > -small * max(map(abs, row)):
                continue
            at = Fraction(max(before, 0), max(before, 0) - after)
            if at < part - Fraction(1, 1 << ZERO_BITS):
                part, hits = at, [frozenset[int]()] * len(faces)
            if at < part + Fraction(1, 1 << ZERO_BITS):
                hits[i] |= {c}
    return part, hits


def refine(
    data: RefineData, xi: Sequence[float], V: Floats, bits: int = BITS, in_time: Callable[[], None] = lambda: None
) -> list[RoundedNeuron]:
    """Neurons of many digits; `in_time` raises what ends the work."""
    reason = Unrefined("there are no neurons")
    units = float_lines(data.lines)
    for tolerance in TOLERANCES:
        faces = [proposed_face(data, units, int(x), v, tolerance) for x, v in zip(xi, V, strict=True)]
        for times in TIMES:
            try:
                return _settled(data, faces, times * bits, in_time)
            except Unrefined as why:
                reason = why
                if not isinstance(why, Stalled):
                    break
    raise reason


def _settled(data: RefineData, faces: list[LineFace], bits: int, in_time: Callable[[], None]) -> list[RoundedNeuron]:
    """An active set method: Newton's steps on the faces, each as far as the next line; there the line becomes a kink.
    At the optimum on the faces, kinks are left along the steepest way down."""
    seen: set[tuple[tuple[int, frozenset[int], tuple[int, ...]], ...]] = set()
    newton = _Newton(data, faces, bits)
    newton = _Newton(data, [with_sides(data, *both) for both in zip(faces, newton.vectors(), strict=True)], bits)
    last, stalled = inf, 0
    for _ in range(ROUNDS):
        in_time()
        here = newton.vectors()
        kept = _lasting([data.lines.seen(v) for v in here])
        if len(kept) < len(here):
            newton = _Newton(data, [newton.faces[i] for i in kept], bits, [here[i] for i in kept])
            last, stalled = inf, 0
            continue
        error, steps = newton.step()
        stalled = stalled + 1 if error > 0.5 * last else 0
        last = error
        if stalled > STALLED:
            raise Stalled("Newton's method on the faces of the neurons stalls")
        if error >= 2.0 ** -(bits - 70) and not (error < DIGITS and stalled > 2):
            there = newton.vectors(
                [[w + x for w, x in zip(*both, strict=True)] for both in zip(newton.weights, steps, strict=True)]
            )
            part, hits = first_hit(data, newton.faces, here, there, bits)
            newton.weights = [
                [w + floor(part * x) for w, x in zip(*both, strict=True)]
                for both in zip(newton.weights, steps, strict=True)
            ]
            if any(hits):
                faces = [_with_kinks(data, *both) for both in zip(newton.faces, hits, strict=True)]
                newton = _Newton(data, faces, bits, newton.vectors())
                last, stalled = inf, 0
            continue
        key = tuple((f.xi, f.kinks, f.side) for f in newton.faces)
        if key in seen:
            raise Unrefined("the faces of the neurons go round in a circle")
        seen.add(key)
        r = newton.residual(here)
        residual = np.array([float(Fraction(int(x), data.unit << bits)) for x in r])
        left = [departure(data, face, v, residual) for face, v in zip(newton.faces, here, strict=True)]
        if all(new is old for new, old in zip(left, newton.faces, strict=True)):
            return [RoundedNeuron(f.xi, v, bits, f.kinks) for f, v in zip(newton.faces, here, strict=True)]
        newton = _Newton(data, left, bits, here)
        last, stalled = inf, 0
    raise Unrefined("the faces of the neurons do not settle")


def _lasting(vectors: Sequence[Row]) -> list[int]:
    """The neurons that have not shrunk to nothing."""
    sizes = [max(map(abs, v)) for v in vectors]
    return [i for i, size in enumerate(sizes) if size * NOTHING > max(sizes)]


def with_sides(data: RefineData, face: LineFace, v: Row) -> LineFace:
    """The face with the sides on which v lies exactly."""
    side = np.where(data.lines.signs(v) > 0, 1, -1)
    side[sorted(face.kinks)] = 0
    return replace(face, side=tuple(side.tolist()))


def _with_kinks(data: RefineData, face: LineFace, lines: frozenset[int]) -> LineFace:
    """The face inside the lines that were met."""
    if not lines:
        return face
    kinks = face.kinks | lines
    kinks = closed(data, kinks, face_basis(data, sorted(kinks)))
    return replace(face, kinks=kinks, side=tuple(0 if c in kinks else s for c, s in enumerate(face.side)))
