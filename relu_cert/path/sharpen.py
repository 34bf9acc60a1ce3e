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
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, column, matrix_of, sqrt_upper, to_fmpq, to_fraction
from relu_cert.path.tube import FollowedBranch, jacobian, most
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import orthogonal_part, projector
from relu_cert.prove.multipliers import on_grid
from relu_cert.refine.newton import ExactFaces
from relu_cert.solve.prepare import Floats

SWEEPS = 3
BITS, LIFTED_BITS, WEIGHT_BITS = 84, 120, 60  # tubes of lifted pieces are compared with their lightest mass

SLACK = 14  # bits by which s is shortened more than needed, so that rounding does not make it longer
ONE = 1 << 400  # the grid on which the equations are judged

Halves = tuple[fmpq_mat, fmpq_mat]  # E and A with G = E A
Fixed = tuple[fmpz_mat, fmpz_mat]  # the same over ONE


@dataclass(frozen=True)
class Sharp:
    """s, scaled so that |v| <= 1 on the piece, alpha of each face, and by how much |v|^2 was more."""

    s: tuple[Vector, ...]
    alpha: tuple[Vector, ...]
    excess: float


def sharpened(problem: Problem, near: FollowedBranch, faces: ExactFaces) -> Sharp:
    """The branch in many digits."""
    Pi = projector(near.lift, problem.n if near.lift else 0)
    halves: list[Halves] = []
    for face in near.faces:
        exact = faces[face]
        if exact is None:
            raise Unsettled("a neuron that vanishes")
        halves.append((Pi * exact.E, exact.A * Pi) if near.lift else (exact.E, exact.A))
    S = fixed(near.series.s)
    alpha = [[_fixed(x) for x in row] for row in near.series.alpha.tolist()]
    if halves:
        y = Pi * column(problem.y) if near.lift else column(problem.y)
        S = _polish(near, halves, y, S, alpha)
    bits = _bits(near)
    s = tuple(orthogonal_part(row, near.lift) for row in _rounded(S.transpose().tolist(), bits))
    longest = fmpq(1)
    S_now = matrix_of(s).transpose()
    for E, A in halves:
        longest = max(longest, _length(E, A, S_now))
    excess = to_fraction(longest)
    if excess > 1:
        q = 1 << (bits + 24)
        by = Fraction(int(q / sqrt_upper(excess, bits + 24)), q)
        if not near.lift:
            by *= 1 - Fraction(1, 1 << bits - SLACK)
        s = tuple(tuple(by * x for x in row) for row in s)
        s = s if near.lift else on_grid(s, bits)  # a lifted one stays orthogonal to the lift
    return Sharp(s, _rounded(alpha, WEIGHT_BITS) if alpha else (), float(excess - 1))


def _bits(near: FollowedBranch) -> int:
    """How many bits s has."""
    return LIFTED_BITS if near.lift else BITS


def _polish(
    near: FollowedBranch, halves: Sequence[Halves], y: fmpq_mat, S: fmpz_mat, alpha: list[list[int]]
) -> fmpz_mat:
    """S corrected, and alpha in place, with the Jacobian of the branch."""
    B = [face.B for face in near.faces]
    J = np.asarray(np.linalg.inv(jacobian(B, near.series.s[:, 0], near.series.alpha[:, 0])), dtype=np.float64)
    eta = [to_fmpq(near.eta), to_fmpq(near.h), *[fmpq(0)] * S.ncols()]
    right = exactly_fixed(y * fmpq_mat([eta[: S.ncols()]]))
    known = [(exactly_fixed(E), exactly_fixed(A)) for E, A in halves]
    enough = 0.5 ** _bits(near) * float(np.abs(near.series.s[:, 0]).max(initial=0.0))  # beyond, nothing is gained
    for _ in range(SWEEPS):
        S, moved = sweep(J, B, known, right, S, alpha)
        if moved <= enough:
            break
    return S


def sweep(
    J: Floats, B: Sequence[Floats], halves: Sequence[Fixed], right: fmpz_mat, S: fmpz_mat, alpha: list[list[int]]
) -> tuple[fmpz_mat, float]:
    """One correction of all columns of S, and of the rows of alpha in place, with its largest change of S.

    All numbers are integers over ONE; what the equations miss is exact for them. The step solves the linear equations
    in floats, order by order, with the inverse J.
    """
    n, size = S.nrows(), S.ncols()
    outputs = [E * (A * S) for E, A in halves]  # over ONE^3
    first = (right - S) * ONE**3
    missed = np.zeros((n + len(alpha), size))
    for a, (row, q) in enumerate(zip(alpha, outputs, strict=True)):
        first -= q * fmpz_mat([[row[j - i] if j >= i else 0 for j in range(size)] for i in range(size)])
        gram = S.transpose() * q
        rest = [sum(int(gram[i, j - i]) for i in range(j + 1)) for j in range(size)]
        missed[n + a] = [((ONE**4 if j == 0 else 0) - x) / ONE**4 for j, x in enumerate(rest)]
    missed[:n] = _in_floats(first, ONE**4)
    step = J @ missed if size == 1 else _series_step(J, B, missed, [_in_floats(q, ONE**3) for q in outputs], alpha)
    for row, change in zip(alpha, step[n:].tolist(), strict=True):
        row[:] = [x + _fixed(dx) for x, dx in zip(row, change, strict=True)]
    return S + fixed(step[:n]), float(np.abs(step[:n]).max(initial=0.0))


def _series_step(
    J: Floats, B: Sequence[Floats], missed: Floats, Q: Sequence[Floats], alpha: Sequence[Sequence[int]]
) -> Floats:
    """The step of every order: lower ones change what is missed."""
    n, size = len(missed) - len(Q), missed.shape[1]
    weights = np.array([[x / ONE for x in row] for row in alpha])
    step, turned = np.zeros_like(missed), np.zeros((len(Q), n, size))
    outputs = np.array(Q)
    for j in range(size):
        for i in range(1, j + 1):
            missed[:n, j] -= weights[:, i] @ turned[:, :, j - i] + step[n:, j - i] @ outputs[:, :, i]
            missed[n:, j] -= 2.0 * (outputs[:, :, i] @ step[:n, j - i])
        step[:, j] = J @ missed[:, j]
        turned[:, :, j] = [B_a @ (B_a.T @ step[:n, j]) for B_a in B]
    return step


def _fixed(x: float) -> int:
    """x over ONE."""
    a, b = x.as_integer_ratio()
    return a * ONE // b


def fixed(A: Floats) -> fmpz_mat:
    """The matrix over ONE."""
    return fmpz_mat([[_fixed(x) for x in row] for row in A.tolist()])


def exactly_fixed(A: fmpq_mat) -> fmpz_mat:
    """The same for a rational matrix."""
    N, q = A.numer_denom()
    return fmpz_mat(N.nrows(), N.ncols(), [x * ONE // q for x in N.entries()])


def _in_floats(A: fmpz_mat, one: int) -> Floats:
    return np.array([int(x) / one for x in A.entries()]).reshape(A.nrows(), A.ncols())


def _length(E: fmpq_mat, A: fmpq_mat, S: fmpq_mat) -> fmpq:
    """An upper bound of |v|^2 = s'E A s on the piece."""
    gram = ((E.transpose() * S).transpose() * (A * S)).tolist()
    c = [fmpq(0)] * (2 * len(gram) - 1)
    for i, row in enumerate(gram):
        for j, x in enumerate(row):
            c[i + j] += x
    return most(c)


def _rounded(rows: Sequence[Sequence[int | fmpz]], bits: int) -> tuple[Vector, ...]:
    """The rows over ONE, rounded to one binary grid."""
    return on_grid([[Fraction(int(x), ONE) for x in row] for row in rows], bits)
