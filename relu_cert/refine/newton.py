"""The optimality conditions on fixed faces, solved to any number of digits.

    F1(r, alpha) = r + sum_a alpha_a q_a - y = 0,      F2_a(r, alpha) = r'q_a - lambda^2 = 0,      q_a = E_a A_a r.

The Jacobian [[M, Q], [2Q', 0]], M = I + sum alpha_a E_a A_a, is factored once in floats; residuals are taken in
high precision. Each step then costs a few matrix-vector products and gains the digits that floats are good for. Where
the Jacobian is too ill-conditioned for that, whole Newton steps in high precision take over; they square the error.

Faces in exact arithmetic.

A face is a block b with active rows F. Let the columns of N be an integer basis of {w : w orthogonal to F}. Then
P_F = N (N'N)^{-1} N', and with E = X_b N and A = (N'N)^{-1} E' the neuron at the residual r has w = alpha N A r, its
output is alpha q with q = E A r, and |v|^2 = r'q.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz_mat

from relu_cert.exact import Vector, primitive, rows_of, scaled_rows, to_fmpq
from relu_cert.problem.direct import FloatBlock
from relu_cert.problem.problem import Problem
from relu_cert.solve.prepare import Floats, Key, ResidualFace


@dataclass(frozen=True)
class ExactFace:
    """N (|b| x s, integers), E = X_b N (n x s) and A = (N'N)^{-1} E' (s x n). `doubles` is E' where that is A, and its
    entries are doubles."""

    sign: int
    block: int | None
    N: fmpz_mat
    E: fmpq_mat
    A: fmpq_mat
    doubles: Floats | None = None

    @property
    def size(self) -> int:
        """s, the dimension of the face."""
        return int(self.N.ncols())


class ExactFaces:
    """Turns faces of the float solver into exact ones; each is made once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        network = problem.network
        self.rows = [] if network is None else rows_of(network.Z).tolist()
        self.made: dict[Key, ExactFace | None] = {}

    def __getitem__(self, face: ResidualFace) -> ExactFace | None:
        """The face of a float solver, exactly; None where nothing but 0 lies on it."""
        if face.key not in self.made:
            self.made[face.key] = self._make(face)
        return self.made[face.key]

    def _make(self, face: ResidualFace) -> ExactFace | None:
        X, normals = self._block(face)
        if not normals:
            block = None if self.problem.network is not None else self.problem.blocks[face.block or 0]
            doubles = block.floats.T if isinstance(block, FloatBlock) else None
            return ExactFace(face.sign, face.block, orthogonal_basis((), X.ncols()), X, X.transpose(), doubles)
        N = orthogonal_basis(normals, X.ncols())
        if N.ncols() == 0:
            return None
        E = X * fmpq_mat(N)
        A = fmpq_mat(N.transpose() * N).solve(E.transpose())
        return ExactFace(face.sign, face.block, N, E, A)

    def _block(self, face: ResidualFace) -> tuple[fmpq_mat, list[Vector]]:
        """X_b (the rows of the kinks set to zero, for they vanish on the face) and the normals of the face."""
        problem = self.problem
        if problem.network is None:
            block = problem.blocks[face.block or 0]
            columns = list(zip(*block.K, strict=True)) if block.K is not None else []
            return block.matrix, [columns[k] for k in face.kinks]
        on = np.unpackbits(np.frombuffer(face.on, dtype=np.uint8), count=len(self.rows)).astype(bool).tolist()
        zero = [fmpq(0)] * len(self.rows[0])
        X = fmpq_mat([row if on_k else zero for on_k, row in zip(on, self.rows, strict=True)])
        X = problem.network.bags.pooled_matrix(X)
        return face.sign * X, [problem.network.Z[k] for k in face.kinks]


def orthogonal_basis(normals: Sequence[Vector], d: int) -> fmpz_mat:
    """Integer columns that span {w in R^d : w orthogonal to the normals}."""
    if not normals:
        return fmpz_mat([[int(i == j) for j in range(d)] for i in range(d)])
    rows, _ = scaled_rows(normals)
    kernel, nullity = fmpz_mat(rows).nullspace()
    columns = [primitive([int(x) for x in column]) for column in kernel.transpose().tolist()[: int(nullity)]]
    if not columns:
        return fmpz_mat(d, 0)
    return fmpz_mat([list(row) for row in zip(*columns, strict=True)])


Correction = tuple[list[arb], list[arb]]


@dataclass(frozen=True)
class KernelPoint:
    """r (n x 1), alpha, A r, F1 and F2 there, and how well they solve the system: max(|F1|/|r|, |F2|/lambda^2)."""

    r: arb_mat
    alpha: list[arb]
    places: list[arb]
    missed: Correction
    error: float


class Singular(Exception):
    """The outputs of the faces are dependent, or the numbers do not converge."""


class System:
    """The equations of some faces, as balls of `bits` bits. Use it inside `ctx.workprec(bits)`."""

    def __init__(self, faces: Sequence[ExactFace], y: Vector, lam: Fraction) -> None:
        self.n = len(y)
        self.sizes = [face.size for face in faces]
        self.owner = [a for a, face in enumerate(faces) for _ in range(face.size)]
        doubles = [face.doubles for face in faces if face.doubles is not None]
        if doubles and len(doubles) == len(faces):  # doubles are balls already
            rows = np.ascontiguousarray(np.concatenate(doubles))
            self.doubles = rows, rows.T
            self.A = self.Et = arb_mat(len(self.owner), self.n, rows.ravel().tolist())
        else:
            self.A = arb_mat(len(self.owner), self.n, [x for face in faces for x in arb_mat(face.A).entries()])
            transposed = (arb_mat(face.E.transpose()) for face in faces)
            self.Et = arb_mat(len(self.owner), self.n, [x for part in transposed for x in part.entries()])
            self.doubles = floats(self.A), floats(self.Et).T
        self.y = arb_mat(self.n, 1, [arb(to_fmpq(x)) for x in y])
        self.lam_squared = arb(to_fmpq(lam * lam))

    @cached_property
    def E(self) -> arb_mat:
        """All E_a side by side."""
        return self.Et.transpose()

    def residuals(self, r: arb_mat, alpha: Sequence[arb]) -> tuple[list[arb], Correction]:
        """A r, and F1 and F2."""
        c = (self.A * r).entries()
        e = c if self.A is self.Et else (self.Et * r).entries()
        weighted = [alpha[a] * x for a, x in zip(self.owner, c, strict=True)]
        first = r + (arb_mat(1, len(weighted), weighted) * self.Et).transpose() - self.y
        second = [-self.lam_squared for _ in self.sizes]
        for a, x, z in zip(self.owner, c, e, strict=True):
            second[a] += x * z
        return c, ([x.mid() for x in first.entries()], [x.mid() for x in second])

    def outputs(self, r: arb_mat) -> arb_mat:
        """Q: the columns q_a = E_a A_a r."""
        c = (self.A * r).entries()
        spread = [arb(0)] * (len(c) * len(self.sizes))
        for i, a in enumerate(self.owner):
            spread[i * len(self.sizes) + a] = c[i]
        return self.E * arb_mat(len(c), len(self.sizes), spread)

    def kernel(self, alpha: Sequence[arb]) -> arb_mat:
        """M = I + sum_a alpha_a E_a A_a"""
        weighted = [alpha[a] * x for a, row in zip(self.owner, self.A.tolist(), strict=True) for x in row]
        identity = arb_mat(self.n, self.n, [int(i == j) for i in range(self.n) for j in range(self.n)])
        return identity + self.E * arb_mat(len(self.owner), self.n, weighted)


def solve_system(system: System, r: Floats, alpha: Floats, accuracy: float, squarings: int = 0) -> KernelPoint:
    """Newton's method from a float point until the error is at most `accuracy`, or as small as it gets.

    Errors below the range of floats are not measured: so many more whole steps follow, each of which squares them.
    """
    point = _measure(system, arb_mat(system.n, 1, [arb(float(x)) for x in r]), [arb(float(a)) for a in alpha])
    point = _chords(system, point, accuracy)
    if point.error > accuracy:
        point = _newton(system, point, accuracy)
    if not point.error < 1e-6:
        raise Singular("Newton's method does not converge on these faces")
    for _ in range(squarings if point.error <= accuracy else 0):
        try:
            point = _move(system, point, *_ball_step(system, point))
        except ZeroDivisionError:
            raise Singular("Newton's method does not converge on these faces") from None
    return point


def _chords(system: System, point: KernelPoint, accuracy: float) -> KernelPoint:
    """Steps with the Jacobian in floats, while each one makes the error ten times smaller."""
    while point.error > accuracy:
        start = point
        try:
            correct = _float_steps(system, point)
            while point.error > accuracy:
                moved = _move(system, point, *correct(*point.missed))
                if not moved.error <= 0.1 * point.error:
                    break
                point = moved
        except np.linalg.LinAlgError:
            return point
        if point is start:
            return point
    return point


def _newton(system: System, point: KernelPoint, accuracy: float, steps: int = 14) -> KernelPoint:
    """Whole Newton steps in high precision; the error may rise before it falls. The best point is returned."""
    best = point
    for _ in range(steps):
        try:
            point = _move(system, point, *_ball_step(system, point))
        except ZeroDivisionError:
            return best
        if point.error < best.error:
            best = point
        if best.error <= accuracy:
            return best
    return best


def _move(system: System, point: KernelPoint, dr: list[arb], dalpha: list[arb]) -> KernelPoint:
    r = arb_mat(system.n, 1, [(x + d).mid() for x, d in zip(point.r.entries(), dr, strict=True)])
    return _measure(system, r, [(a + d).mid() for a, d in zip(point.alpha, dalpha, strict=True)])


def _measure(system: System, r: arb_mat, alpha: list[arb]) -> KernelPoint:
    places, missed = system.residuals(r, alpha)
    first, second = missed
    size = max(abs(float(x)) for x in r.entries())
    scale = float(system.lam_squared)
    if not size > 0.0:
        return KernelPoint(r, alpha, places, missed, float("inf"))
    error = max(max(abs(float(x)) for x in first) / size, max(abs(float(x)) for x in second) / scale)
    return KernelPoint(r, alpha, places, missed, error if np.isfinite(error) else float("inf"))


def _float_steps(system: System, point: KernelPoint) -> Callable[[list[arb], list[arb]], Correction]:
    """Solve with the Jacobian in floats: S dalpha = F2/2 - Q'M^{-1}F1 and M dr = -F1 - Q dalpha."""
    (A, E), r = system.doubles, floats(point.r)[:, 0]
    alpha = np.array([float(a) for a in point.alpha])
    M = np.eye(system.n) + (E * alpha[system.owner]) @ A
    Q = np.add.reduceat(E * (A @ r), np.cumsum([0, *system.sizes[:-1]]), axis=1)
    X = np.linalg.solve(M, Q)
    S = Q.T @ X

    def correct(first: list[arb], second: list[arb]) -> Correction:
        f1, f2 = np.array([float(x) for x in first]), np.array([float(x) for x in second])
        z = np.linalg.solve(M, f1)
        dalpha = np.linalg.solve(S, 0.5 * f2 - Q.T @ z)
        dr = -z - X @ dalpha
        if not (np.isfinite(dr).all() and np.isfinite(dalpha).all()):
            raise np.linalg.LinAlgError
        return [arb(x) for x in dr.tolist()], [arb(x) for x in dalpha.tolist()]

    return correct


def _ball_step(system: System, point: KernelPoint) -> Correction:
    """Solve with the Jacobian in high precision (ZeroDivisionError where it is singular)."""
    return kernel_step(system.kernel(point.alpha), system.outputs(point.r), point.missed)


def kernel_step(M: arb_mat, Q: arb_mat, missed: Correction) -> Correction:
    """[[M, Q], [2Q', 0]]^-1 of what is missed, to be added."""
    n, k = Q.nrows(), Q.ncols()
    first, second = missed
    rows = [row + q for row, q in zip(M.tolist(), Q.tolist(), strict=True)]
    rows += [[2 * x for x in q] + [arb(0)] * k for q in Q.transpose().tolist()]
    solved = arb_mat(rows).mid().solve(arb_mat(n + k, 1, [-x for x in [*first, *second]])).entries()
    return solved[:n], solved[n:]


def floats(A: arb_mat) -> Floats:
    """Midpoints in float64."""
    return np.array([float(x) for x in A.entries()]).reshape(A.nrows(), A.ncols())
