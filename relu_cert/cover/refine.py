"""From a float network to many digits: Newton's method on the faces of its neurons, gradients in exact integers.

A neuron lies on the face of the lines that it vanishes on (its kinks). On given faces with given patterns the objective
is smooth; its Hessian is taken in floats, its gradient exactly, so that each step gains the digits of a float. A kink
whose multiplier leaves its bounds is released, a line that a neuron would cross becomes a kink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt

import numpy as np
from flint import fmpz_mat
from scipy.optimize import lsq_linear

from relu_cert.cover.engine import Floats
from relu_cert.cover.lines import Lines
from relu_cert.cover.model import Row
from relu_cert.exact import Matrix, Vector, scaled_rows

BITS = 300
TOLERANCES = (1e-8, 1e-7, 1e-6, 1e-9, 1e-5)
ROUNDS = 16


class Unrefined(Exception):
    """No face was found on which the float network becomes optimal; the text says why."""


@dataclass(frozen=True)
class Face:
    """A sign, the kinks (lines), for every line the side on which the neuron lies, and about where it is."""

    xi: int
    kinks: frozenset[int]
    side: tuple[int, ...]
    v: Floats


@dataclass(frozen=True)
class Exact:
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
class Data:
    """What refinement needs of a problem: rows and targets as integers, lines, a basis of the row space."""

    N: tuple[Row, ...]
    scale: int
    y: Row
    y_scale: int
    lam: Fraction
    lines: Lines
    basis: tuple[Row, ...]

    @cached_property
    def floats(self) -> Floats:
        """The rows in floats."""
        return np.array([[x / self.scale for x in z] for z in self.N])

    @cached_property
    def Z_squared(self) -> Fraction:
        """|Z|_F^2"""
        return Fraction(sum(x * x for z in self.N for x in z), self.scale**2)


def data_of(Z: Matrix, y: Vector, lam: Fraction, lines: Lines, basis: tuple[Row, ...]) -> Data:
    """The problem in integers."""
    N, scale = scaled_rows(Z)
    (targets,), y_scale = scaled_rows([y])
    return Data(tuple(map(tuple, N)), scale, tuple(targets), y_scale, lam, lines, basis)


def face_basis(data: Data, kinks: Sequence[int]) -> list[Row]:
    """Integer vectors that span {v in the row space : p_c.v = 0 on the kinks}."""
    E = data.basis
    if not kinks:
        return list(E)
    M = fmpz_mat([[sum(a * b for a, b in zip(data.lines.rows[c], e, strict=True)) for e in E] for c in kinks])
    kernel, nullity = M.nullspace()
    found = []
    for j in range(int(nullity)):
        w = [int(kernel[i, j]) for i in range(len(E))]
        v = [sum(a * e[l] for a, e in zip(w, E, strict=True)) for l in range(len(E[0]))]
        g = gcd(*v)
        found.append(tuple(x // g for x in v))
    return found


def closed(data: Data, kinks: frozenset[int], basis: Sequence[Row]) -> frozenset[int]:
    """All lines that vanish on the face."""
    if not kinks:
        return kinks
    rows = data.lines.matrix.astype(object)
    heights = rows @ np.array(basis, dtype=object).T if basis else np.zeros((len(rows), 0), dtype=object)
    return kinks | frozenset(np.flatnonzero(~np.any(heights != 0, axis=1)).tolist())


def float_lines(lines: Lines) -> Floats:
    """The lines as unit vectors."""
    P = np.array(lines.rows, dtype=np.float64)
    return np.asarray(P / np.linalg.norm(P, axis=1, keepdims=True))


def proposed_face(data: Data, units: Floats, xi: int, v: Floats, tolerance: float) -> Face:
    """The face whose kinks are the lines that v nearly lies on: the nearest first, as long as a direction is left."""
    heights = units @ v / np.linalg.norm(v)
    near = np.flatnonzero(np.abs(heights) < tolerance)
    kinks = frozenset(near.tolist())
    basis = face_basis(data, sorted(kinks))
    if not basis:
        chosen: list[int] = []
        for c in near[np.argsort(np.abs(heights[near]))].tolist():
            if face_basis(data, [*chosen, c]):
                chosen.append(c)
        kinks = frozenset(chosen)
        basis = face_basis(data, chosen)
    kinks = closed(data, kinks, basis)
    side = tuple(0 if c in kinks else (1 if h > 0 else -1) for c, h in enumerate(heights))
    return Face(xi, kinks, side, v)


class _Newton:
    """The smooth problem on fixed faces."""

    def __init__(self, data: Data, faces: Sequence[Face], bits: int) -> None:
        self.data, self.faces, self.bits = data, faces, bits
        self.Z = data.floats
        self.rows = np.array(data.N, dtype=object)
        line, multiple = np.array(data.lines.line), np.sign(np.array(data.lines.multiple, dtype=object)).astype(int)
        self.on = [
            np.array([c >= 0 and face.side[c] * m > 0 for c, m in zip(line, multiple, strict=True)]) for face in faces
        ]
        self.bases = [face_basis(data, sorted(face.kinks)) for face in faces]
        if not all(self.bases):
            raise Unrefined("a neuron lies on lines that meet in 0 only")
        self.sizes = [[max(map(abs, b)) for b in basis] for basis in self.bases]
        self.frames = []
        self.weights = []
        for face, basis, sizes in zip(faces, self.bases, self.sizes, strict=True):
            B = np.array([[x / s for x in b] for b, s in zip(basis, sizes, strict=True)]).T
            q, r = np.linalg.qr(B)
            self.frames.append((B, q, r))
            w = np.linalg.lstsq(B, face.v, rcond=None)[0]
            self.weights.append([int(Fraction(float(x)) * (1 << bits)) // s for x, s in zip(w, sizes, strict=True)])

    def vectors(self) -> list[Row]:
        """The neurons, times 2^bits."""
        return [
            tuple(sum(w * b[l] for w, b in zip(ws, basis, strict=True)) for l in range(len(basis[0])))
            for ws, basis in zip(self.weights, self.bases, strict=True)
        ]

    def residual(self, vectors: Sequence[Row]) -> np.ndarray:
        """(y - fit) times scale y_scale 2^bits."""
        data = self.data
        r = np.array([t * data.scale << self.bits for t in data.y], dtype=object)
        for face, on, v in zip(self.faces, self.on, vectors, strict=True):
            r = r - face.xi * data.y_scale * np.where(on, self.rows @ np.array(v, dtype=object), 0)
        return r

    def run(self, most: int = 60) -> float:
        """Newton steps until the digits are used up; the last gradient, relatively to lambda."""
        lam = float(self.data.lam)
        J = np.hstack(
            [
                f.xi * (on[:, None] * (self.Z @ q))
                for f, on, (_, q, _) in zip(self.faces, self.on, self.frames, strict=True)
            ]
        )
        at = np.cumsum([0, *(q.shape[1] for _, q, _ in self.frames)])
        square = J.T @ J
        last = np.inf
        error = np.inf
        for step in range(most):
            vectors = self.vectors()
            if not all(any(v) for v in vectors):
                raise Unrefined("a neuron vanishes")
            r = self.residual(vectors)
            H, g = square.copy(), np.zeros(at[-1])
            for i, (face, on, v) in enumerate(zip(self.faces, self.on, vectors, strict=True)):
                part = slice(at[i], at[i + 1])
                g[part] = self.gradient(i, face, on, v, r)
                u = self.frames[i][1].T @ np.array([float(Fraction(x, 1 << self.bits)) for x in v])
                size = float(np.linalg.norm(u))
                H[part, part] += lam / size * (np.eye(len(u)) - np.outer(u, u) / size**2)
            error = float(np.abs(g).max()) / lam
            if error < 2.0 ** -(self.bits - 70) or (step > 4 and error > 0.5 * last):
                break
            last = error
            p = -np.linalg.lstsq(H, g, rcond=1e-13)[0]
            if not np.isfinite(p).all():
                break
            for i, (B, q, _) in enumerate(self.frames):
                dw = np.linalg.lstsq(B, q @ p[at[i] : at[i + 1]], rcond=None)[0]
                for j, x in enumerate(dw):
                    self.weights[i][j] += int(Fraction(float(x)) * (1 << self.bits)) // self.sizes[i][j]
        return error

    def gradient(self, i: int, face: Face, on: np.ndarray, v: Row, r: np.ndarray) -> Floats:
        """The gradient of neuron i in the orthonormal coordinates of its face."""
        data = self.data
        product = self.rows.T @ np.where(on, r, 0)  # times scale^2 y_scale 2^bits
        unit = data.scale**2 * data.y_scale << self.bits
        size = isqrt(sum(x * x for x in v) << 2 * self.bits)  # times 2^(2 bits)
        force = [
            -face.xi * int(a) * data.lam.denominator + data.lam.numerator * unit * (x << self.bits) // size
            for a, x in zip(product, v, strict=True)
        ]
        scaled = [
            float(Fraction(sum(a * b for a, b in zip(basis, force, strict=True)), unit * data.lam.denominator * s))
            for basis, s in zip(self.bases[i], self.sizes[i], strict=True)
        ]
        return np.asarray(np.linalg.solve(self.frames[i][2].T, np.array(scaled)))


def slopes(data: Data, xi: int, residual: Floats) -> tuple[Floats, Floats]:
    """s_c+ and s_c- of every line, in floats."""
    right, left = np.zeros(len(data.lines.rows)), np.zeros(len(data.lines.rows))
    line, a = np.array(data.lines.line), np.array(data.lines.multiple, dtype=np.float64) / data.scale
    for slope, chosen in ((right, (line >= 0) & (a > 0)), (left, (line >= 0) & (a < 0))):
        np.add.at(slope, line[chosen], xi * residual[chosen] * a[chosen])
    return right, left


def released(data: Data, face: Face, v: Floats, residual: Floats) -> list[tuple[float, int, int]]:
    """Kinks whose multipliers leave [0, 1]: by how much, the line, the side to which it is released."""
    if not face.kinks:
        return []
    right, left = slopes(data, face.xi, residual)
    P = np.array(data.lines.rows, dtype=np.float64)
    sizes = np.linalg.norm(P, axis=1)
    kinks = sorted(face.kinks)
    lam = float(data.lam)
    slope = np.where(np.array(face.side) > 0, right, np.where(np.array(face.side) < 0, left, 0.0))
    goal = lam * v / np.linalg.norm(v) - slope @ P - left[kinks] @ P[kinks]  # sum over kinks of s_c (right - left) p_c
    columns = ((right - left)[kinks, None] * P[kinks]).T / lam
    if np.linalg.matrix_rank(P[kinks] / sizes[kinks, None], tol=1e-8) == len(kinks):
        share = np.linalg.lstsq(columns, goal / lam, rcond=1e-12)[0]
        return [
            (float(max(s - 1.0, -s)), c, 1 if s > 1.0 else -1)
            for s, c in zip(share, kinks, strict=True)
            if s > 1.0 + 1e-12 or s < -1e-12
        ]
    found = lsq_linear(columns, goal / lam, (0.0, 1.0), tol=1e-15)
    if float(np.abs(columns @ found.x - goal / lam).max()) <= 1e-9 or any(right[c] >= left[c] for c in kinks):
        return []
    return [(1.0, c, 1 if s > 0.5 else -1) for s, c in zip(found.x, kinks, strict=True) if min(s, 1.0 - s) < 1e-6]


def refine(data: Data, xi: Sequence[float], V: Floats, bits: int = BITS) -> tuple[list[Exact], Row, float]:
    """Neurons of many digits, the residual times scale y_scale 2^bits, and the error of the gradient."""
    reason = Unrefined("there are no neurons")
    units = float_lines(data.lines)
    for tolerance in TOLERANCES:
        faces = [proposed_face(data, units, int(x), v, tolerance) for x, v in zip(xi, V, strict=True)]
        try:
            return _settled(data, faces, bits)
        except Unrefined as why:
            reason = why
    raise reason


def _settled(data: Data, faces: list[Face], bits: int) -> tuple[list[Exact], Row, float]:
    """Newton's method, releasing and adding kinks until everything fits."""
    seen: set[tuple[tuple[int, frozenset[int], tuple[int, ...]], ...]] = set()
    for _ in range(ROUNDS):
        key = tuple((f.xi, f.kinks, f.side) for f in faces)
        if key in seen:
            raise Unrefined("the faces of the neurons go round in a circle")
        seen.add(key)
        newton = _Newton(data, faces, bits)
        error = newton.run()
        vectors = newton.vectors()
        kept = [
            f for f, v in zip(faces, vectors, strict=True) if sum(float(a) * b for a, b in zip(v, f.v, strict=True)) > 0
        ]
        if len(kept) < len(faces):  # what turns round wants weight 0
            if not kept:
                raise Unrefined("no neuron keeps its direction")
            faces = kept
            continue
        r = newton.residual(vectors)
        unit = data.scale * data.y_scale << bits
        residual = np.array([float(Fraction(int(x), unit)) for x in r])
        changed, again = [], False
        for face, v in zip(faces, vectors, strict=True):
            new = _mended(data, face, v, residual, bits)
            again |= new is not face
            changed.append(new)
        if not again:
            if error > 1e-30:
                raise Unrefined(f"Newton's method stops at {error:.0e}")
            found = [Exact(f.xi, v, bits, f.kinks) for f, v in zip(faces, vectors, strict=True)]
            return found, tuple(int(x) for x in r), error
        faces = changed
    raise Unrefined("the faces of the neurons do not settle")


def _mended(data: Data, face: Face, v: Row, residual: Floats, bits: int) -> Face:
    """The face without the worst kink that is to be released, or with the lines that were crossed as kinks."""
    heights = data.lines.matrix.astype(object) @ np.array(v, dtype=object)
    signs = [(h > 0) - (h < 0) for h in heights]
    at = np.array([float(Fraction(x, 1 << bits)) for x in v])
    crossed = [c for c, (s, side) in enumerate(zip(signs, face.side, strict=True)) if side and s != side]
    if crossed:
        kinks = face.kinks | frozenset(crossed)
        basis = face_basis(data, sorted(kinks))
        if basis:
            kinks = closed(data, kinks, basis)
            side = tuple(0 if c in kinks else s for c, s in enumerate(face.side))
            return Face(face.xi, kinks, side, at)
        side = tuple(s if c in crossed else old for c, (s, old) in enumerate(zip(signs, face.side, strict=True)))
        return replace(face, side=side, v=at)
    bad = released(data, face, at, residual)
    if not bad:
        return face
    chosen = bad if bad[0][0] == 1.0 else [max(bad)]
    sides = {c: side for _, c, side in chosen}
    kinks = face.kinks - frozenset(sides)
    side = tuple(sides.get(c, old) for c, old in enumerate(face.side))
    return Face(face.xi, kinks, side, at)
