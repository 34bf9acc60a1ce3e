"""More digits for a branch: the kernel equations in exact arithmetic, corrected with the float Jacobian.

    s + sum_a alpha_a G_a s = eta y,    s'G_a s = 1    (order by order in tau; G and y projected if there is a lift)

A sweep squares the error, up to what the condition of the Jacobian takes. The tube of a piece is then as narrow as its
series allows, and pieces can end very near to an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from relu_cert.exact import Vector, sqrt_upper
from relu_cert.path.branch import Branch, jacobian
from relu_cert.path.polynomial import most
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.classes import column, projector, to_fmpq, to_fraction
from relu_cert.prove.grid import binary_grid, from_grid, to_grid
from relu_cert.prove.lifts import orthogonal_part
from relu_cert.refine.faces import ExactFaces
from relu_cert.solve.model import Floats

SWEEPS = 3
BITS, LIFTED_BITS, WEIGHT_BITS = 84, 120, 60  # tubes of lifted pieces are compared with their lightest mass

Halves = tuple[fmpq_mat, fmpq_mat]  # E and A with G = E A


@dataclass(frozen=True)
class Sharp:
    """s, scaled so that |v| <= 1 on the piece, alpha of each face, and by how much |v|^2 was more."""

    s: tuple[Vector, ...]
    alpha: tuple[Vector, ...]
    excess: float


def sharpened(problem: Problem, near: Branch, faces: ExactFaces) -> Sharp:
    """The branch in many digits."""
    Pi = projector(near.lift, problem.n if near.lift else 0)
    halves: list[Halves] = []
    for face in near.faces:
        exact = faces[face]
        if exact is None:
            raise Unsettled("a neuron that vanishes")
        halves.append((Pi * exact.E, exact.A * Pi) if near.lift else (exact.E, exact.A))
    exact_S = fmpq_mat([[_dyadic(x) for x in row] for row in near.series.s])
    exact_alpha = [[_dyadic(x) for x in row] for row in near.series.alpha]
    if halves:
        y = Pi * column(problem.y) if near.lift else column(problem.y)
        _polish(near, halves, y, exact_S, exact_alpha)
    rows = exact_S.transpose().tolist()
    bits = _bits(near)
    s = tuple(orthogonal_part(row, near.lift) for row in _rounded(rows, bits))
    longest = fmpq(1)
    S_now = fmpq_mat([[to_fmpq(x) for x in row] for row in s]).transpose()
    for E, A in halves:
        longest = max(longest, _length(E, A, S_now))
    excess = to_fraction(longest)
    if excess > 1:
        q = 1 << (bits + 24)
        by = Fraction(int(q / sqrt_upper(excess, bits + 24)), q)
        s = tuple(tuple(by * x for x in row) for row in s)
    weights = _rounded(exact_alpha, WEIGHT_BITS) if exact_alpha else ()
    return Sharp(s, weights, float(excess - 1))


def _bits(near: Branch) -> int:
    """How many bits s has."""
    return LIFTED_BITS if near.lift else BITS


def _polish(near: Branch, halves: Sequence[Halves], y: fmpq_mat, S: fmpq_mat, alpha: list[list[fmpq]]) -> None:
    """Correct S and alpha in place, with the Jacobian of the branch."""
    n, size = S.nrows(), S.ncols()
    J = np.asarray(
        np.linalg.inv(jacobian([face.B for face in near.faces], near.series.s[:, 0], near.series.alpha[:, 0])),
        dtype=np.float64,
    )
    eta = (to_fmpq(near.eta), to_fmpq(near.h))
    right = [y * eta[j] if j < 2 else fmpq_mat(n, 1) for j in range(size)]
    columns = [fmpq_mat(n, 1, [S[i, j] for i in range(n)]) for j in range(size)]
    enough = 0.5 ** _bits(near)  # a correction, relative, after which nothing is gained
    for _ in range(SWEEPS):
        if sweep(J, halves, right, columns, alpha) <= enough * float(np.abs(near.series.s[:, 0]).max(initial=0.0)):
            break
    for j, c in enumerate(columns):
        for i in range(n):
            S[i, j] = c[i, 0]


def sweep(
    J: Floats, halves: Sequence[Halves], right: Sequence[fmpq_mat], columns: list[fmpq_mat], alpha: list[list[fmpq]]
) -> float:
    """One correction, order by order, of the columns of s and the rows of alpha, in place: what the equations miss is
    exact, the step is J times it. The largest change of s."""
    n, moved = columns[0].nrows(), 0.0
    outputs = [[E * (A * c) for c in columns] for E, A in halves]
    for j in range(len(columns)):
        first = right[j] - columns[j]
        for weights, q in zip(alpha, outputs, strict=True):
            for i in range(j + 1):
                first -= q[j - i] * weights[i]
        second = [
            fmpq(int(j == 0)) - sum(((columns[i].transpose() * q[j - i])[0, 0] for i in range(j + 1)), fmpq(0))
            for q in outputs
        ]
        step = J @ np.array([float_of(x) for x in (*first.entries(), *second)])
        moved = max(moved, float(np.abs(step[:n]).max(initial=0.0)))
        columns[j] += fmpq_mat(n, 1, [_dyadic(x) for x in step[:n].tolist()])
        for weights, x in zip(alpha, step[n:].tolist(), strict=True):
            weights[j] += _dyadic(x)
        for q, (E, A) in zip(outputs, halves, strict=True):
            q[j] = E * (A * columns[j])
    return moved


def _length(E: fmpq_mat, A: fmpq_mat, S: fmpq_mat) -> fmpq:
    """An upper bound of |v|^2 = s'E A s on the piece."""
    gram = ((E.transpose() * S).transpose() * (A * S)).tolist()
    c = [fmpq(0)] * (2 * len(gram) - 1)
    for i, row in enumerate(gram):
        for j, x in enumerate(row):
            c[i + j] += x
    return most(c)


def _rounded(rows: Sequence[Sequence[fmpq]], bits: int) -> tuple[Vector, ...]:
    """The rows on one binary grid."""
    exact = [[to_fraction(x) for x in row] for row in rows]
    q = binary_grid([x for row in exact for x in row], bits)
    return tuple(tuple(from_grid(to_grid(x, q), q) for x in row) for row in exact)


def _dyadic(x: float) -> fmpq:
    p, q = float(x).as_integer_ratio()
    return fmpq(p, q)


def float_of(x: fmpq) -> float:
    """The nearest float."""
    return int(x.p) / int(x.q)
