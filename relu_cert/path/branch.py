"""Smooth branches in floats: the kernel equations on fixed faces, and their Taylor series in eta.

    s + sum_a alpha_a G_a s = eta y,    s'G_a s = 1,    G_a = B_a B_a'

Floats propose a path; `tube` decides what it proves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.exact import Matrix
from relu_cert.solve import Solution
from relu_cert.solve.prepare import Floats, ResidualFace

NEWTON_STEPS = 6


@dataclass(frozen=True)
class Series:
    """Coefficients of s (n x (m + 1)) and alpha (k x (m + 1)) in tau = (eta - eta_c) / h."""

    s: Floats
    alpha: Floats


@dataclass(frozen=True)
class BranchPoint:
    """The float solution at one eta: the faces of its neurons, alpha > 0, and s = r/lambda."""

    eta: Fraction
    solution: Solution
    faces: tuple[ResidualFace, ...]
    alpha: Floats
    s: Floats


@dataclass(frozen=True)
class FollowedBranch:
    """A float solution followed around one eta: s(tau) and alpha(tau) of the faces of its neurons, for targets y.

    With a lift L: the faces are one for each superclass, projected on the complement of L like the targets.
    """

    eta: Fraction
    h: Fraction
    solution: Solution
    faces: tuple[ResidualFace, ...]
    series: Series
    y: Floats
    lift: Matrix = ()


def taylor(
    faces: Sequence[ResidualFace], y: Floats, s: Floats, alpha: Floats, eta: float, h: float, degree: int
) -> Series | None:
    """The series at eta from an approximate point (Newton first); None where the equations are singular."""
    if not faces:
        coefficients = np.zeros((len(y), degree + 1))
        coefficients[:, 0] = eta * y
        if degree:
            coefficients[:, 1] = h * y
        return Series(coefficients, np.zeros((0, degree + 1)))
    B = [face.B for face in faces]
    try:
        for _ in range(NEWTON_STEPS):
            V = [B_a.T @ s for B_a in B]
            first = s - eta * y + sum(a * (B_a @ v) for a, B_a, v in zip(alpha, B, V, strict=True))
            second = np.array([v @ v - 1.0 for v in V])
            step = np.linalg.solve(jacobian(B, s, alpha), -np.concatenate([first, second]))
            s, alpha = s + step[: len(y)], alpha + step[len(y) :]
            if np.linalg.norm(step) <= 1e-15 * (np.linalg.norm(s) + np.linalg.norm(alpha)):
                break
        return _series(B, y, s, alpha, h, degree)
    except np.linalg.LinAlgError:
        return None


def jacobian(B: Sequence[Floats], s: Floats, alpha: Floats) -> Floats:
    """[[M, Q], [2Q', 0]]"""
    n, k = len(s), len(alpha)
    J = np.zeros((n + k, n + k))
    J[:n, :n] = np.eye(n)
    for a, (B_a, alpha_a) in enumerate(zip(B, alpha, strict=True)):
        J[:n, :n] += (alpha_a * B_a) @ B_a.T
        J[:n, n + a] = B_a @ (B_a.T @ s)
    J[n:, :n] = 2.0 * J[:n, n:].T
    return J


def _series(B: Sequence[Floats], y: Floats, s: Floats, alpha: Floats, h: float, degree: int) -> Series | None:
    n, k = len(s), len(alpha)
    J = np.linalg.inv(jacobian(B, s, alpha))
    S, A = np.zeros((n, degree + 1)), np.zeros((k, degree + 1))
    S[:, 0], A[:, 0] = s, alpha
    GS = np.zeros((k, n, degree + 1))
    GS[:, :, 0] = [B_a @ (B_a.T @ s) for B_a in B]
    for m in range(1, degree + 1):
        first = (h * y if m == 1 else np.zeros(n)) - sum((A[:, i] @ GS[:, :, m - i] for i in range(1, m)), np.zeros(n))
        second = -sum((S[:, i] @ GS[:, :, m - i].T for i in range(1, m)), np.zeros(k))
        step = J @ np.concatenate([first, second])
        S[:, m], A[:, m] = step[:n], step[n:]
        GS[:, :, m] = [B_a @ (B_a.T @ S[:, m]) for B_a in B]
    return Series(S, A) if np.isfinite(S).all() and np.isfinite(A).all() else None


def roots_within(coefficients: Floats) -> list[float]:
    """The real zeros of a polynomial with |tau| <= 1."""
    found = np.roots(coefficients[::-1]) if np.any(coefficients[1:]) else np.zeros(0)
    return [float(x.real) for x in found if abs(x.imag) <= 1e-6 and abs(x.real) <= 1.0]
