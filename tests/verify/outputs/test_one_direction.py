"""The lemma of unique networks with several outputs, by brute force: classes that are accepted, with balls so large
that other dual points can be drawn from them, and what they would have to be at all of these."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from verify.cover.lines import lines_of
from verify.errors import Rejected
from verify.numbers.bounds import root_above
from verify.outputs.check import Proof, values_of
from verify.outputs.classes import Around, OneDirection, read_class
from verify.problem.problem import Problem
from verify.text import Node

Floats = np.ndarray


def numbers(A: Floats) -> tuple[tuple[Fraction, ...], ...]:
    """Floats as they are."""
    return tuple(tuple(Fraction(x) for x in row) for row in A.tolist())


def accepted(seed: int) -> tuple[Floats, Floats, float, Around, OneDirection, float] | None:
    """Random data with two lines through u = e_1, concave at v^, and a class there, if the checker accepts it."""
    rng = np.random.default_rng(seed)
    d, C, n = 3, 2, 7
    Z = np.round(rng.standard_normal((n, d)) * 8) / 8
    Z[:, 0] = np.where(np.abs(Z[:, 0]) < 0.5, 1.0, Z[:, 0])
    Z[:2, 0] = 0.0
    kinks = int(rng.integers(0, 3))
    Z[kinks:2, 0] = 1.0
    Theta = np.round(rng.standard_normal((n, C)) * 64) / 64
    u = np.eye(d)[0]
    F = Theta.T @ np.maximum(Z @ u, 0)
    if np.linalg.norm(F) < 0.5:
        return None
    v = F / np.linalg.norm(F)
    Theta[:kinks] = -np.outer(rng.uniform(0.5, 3.0, kinks), v) + 0.1 * rng.standard_normal((kinks, C))
    lam = float(np.linalg.norm(F))
    R = 10.0 ** rng.uniform(-7, -4)
    problem = Problem("relu", Fraction(lam), numbers(Z), tuple(Fraction(x) for x in np.zeros(n * C)), targets=C)
    theta = tuple(Fraction(x) for x in Theta.ravel().tolist())
    values = values_of(lines_of(problem), theta, C)
    basis = [tuple(int(i == j) for j in range(d)) for i in range(d)]
    proof = Proof(values, basis, [], int(Fraction(lam) ** 2 * values.unit**2), Node(None))
    around = Around.of(problem, proof, theta, Fraction(R) ** 2)
    margin = Fraction(float(rng.uniform(0.2, 2.0)) * lam**2)
    tight = [c for c, h in enumerate(values.lines.heights((1, 0, 0))) if not h]
    chosen = tight[:2]
    fields = {"u": "1 0 0", "margin": str(margin), "basis": chosen, "fixed": " ".join("1/2" for _ in tight[2:])}
    try:
        found = read_class(around, Node(fields))
    except Rejected:
        return None
    rho = float(around.rho)
    delta = float(root_above((Fraction(lam) ** 2 - (Fraction(lam) - around.rho) ** 2) / margin))
    assert rho > 0
    return Z, Theta, lam, around, found, delta


def F_of(Z: Floats, Theta: Floats, X: Floats) -> Floats:
    """F at rows."""
    out: Floats = np.maximum(X @ Z.T, 0) @ Theta
    return out


@pytest.mark.parametrize("part", range(4))
def test_no_dual_point_of_the_ball_has_a_better_direction_off_the_face(part: int) -> None:
    """q.F*(x) <= q.F*(a), a the part of x on the face, for x near u and q = F*(x) / |F*(x)|, for all drawn points."""
    seen = with_kinks = checked = 0
    for seed in range(150 * part, 150 * (part + 1)):
        made = accepted(seed)
        if made is None:
            continue
        Z, Theta, lam, around, _, delta = made
        rng = np.random.default_rng(seed + 10**6)
        v = F_of(Z, Theta, np.eye(3)[:1])[0] / lam
        eps = float((around.rho + around.Lambda * Fraction(3, 2) * Fraction(delta)) / Fraction(lam))
        tight = np.flatnonzero(Z[:, 0] == 0)
        seen += 1
        with_kinks += bool(len(tight))
        P = np.eye(3)
        if len(tight):
            A = Z[tight]
            P = np.eye(3) - np.linalg.pinv(A) @ A
        for _ in range(60):
            E = rng.standard_normal(Theta.shape)
            far = Theta + E / np.linalg.norm(E) * float(around.R)
            X = rng.standard_normal((40, 3))
            X[:, 0] = 0.0
            X *= delta * rng.uniform(0, 1, (40, 1)) / np.linalg.norm(X, axis=1)[:, None]
            X[:, 0] = np.sqrt(1 - (X * X).sum(axis=1))
            F = F_of(Z, far, X)
            q = F / np.linalg.norm(F, axis=1)[:, None]
            on = F_of(Z, far, X @ P)
            near = np.linalg.norm(q - v, axis=1) <= eps
            checked += int(near.sum())
            gain = (q * (F - on)).sum(axis=1)[near]
            assert gain.max(initial=0.0) <= 1e-12 * lam
    assert seen > 10 and with_kinks > 2 and checked > 5_000


def test_the_form_is_strictly_convex_for_all_dual_points_of_the_ball() -> None:
    """lambda^2 |x|^2 - |F*(x)|^2 on the face, along lines orthogonal to u, has positive second differences."""
    seen = 0
    for seed in range(300):
        made = accepted(seed)
        if made is None:
            continue
        Z, Theta, lam, around, _, delta = made
        rng = np.random.default_rng(seed)
        tight = np.flatnonzero(Z[:, 0] == 0)
        A = np.vstack([np.eye(3)[:1], Z[tight]])
        X = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]
        if not len(X):
            continue
        seen += 1
        for _ in range(40):
            E = rng.standard_normal(Theta.shape)
            far = Theta + E / np.linalg.norm(E) * float(around.R)
            step = rng.standard_normal(len(X)) @ X
            step *= 0.5 * delta / np.linalg.norm(step)
            points = np.eye(3)[0] + np.outer([-1, 0, 1], step)
            value = lam**2 * (points * points).sum(axis=1) - (F_of(Z, far, points) ** 2).sum(axis=1)
            bend = value[0] - 2 * value[1] + value[2]
            assert bend > -1e-9 * lam**2 * delta  # rounding
            L = Z[Z[:, 0] > 0].T @ far[Z[:, 0] > 0]
            assert lam**2 * step @ step > np.linalg.norm(step @ L) ** 2
    assert seen > 20


def test_two_good_directions_are_no_class() -> None:
    """The identity: |F(u)| = lambda |u| for all u >= 0, and no margin makes one direction of them."""
    one, zero = Fraction(1), Fraction(0)
    problem = Problem("relu", one, ((one, zero), (zero, one)), (zero,) * 4, targets=2)
    theta = (one, zero, zero, one)
    proof = Proof(values_of(lines_of(problem), theta, 2), [(1, 0), (0, 1)], [], 1, Node(None))
    around = Around.of(problem, proof, theta, Fraction(0))
    for margin in ("1/1000000", "1"):
        with pytest.raises(Rejected):
            read_class(around, Node({"u": "1 1", "margin": margin, "basis": [], "fixed": ""}))
