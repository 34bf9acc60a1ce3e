"""The eliminated Newton equations against the same equations written out densely."""

from __future__ import annotations

import numpy as np
import pytest

from relu_cert.clock import NEVER
from relu_cert.leaders.bound import LeadersLoss, bound, multipliers, smallest
from relu_cert.leaders.cells import LINEAR, Cell, CellPoint, Floats, Slacks, fit, make_cell, scaling, slacks, start
from relu_cert.leaders.interior import Rounds, begin, descend, proof
from relu_cert.leaders.newton import eliminate, recover, right_side


def example(seed: int, normals: bool) -> tuple[Cell, Floats]:
    """A cell with leaders, followers and perhaps two normals."""
    rng = np.random.default_rng(seed)
    Z, theta = rng.standard_normal((9, 3)), rng.standard_normal(9)
    A = centre = None
    if normals:
        centre = np.array([1.0, 0.0, 0.0])
        A = np.array([[1.0, 1.0, 0.0], [1.0, -0.5, 0.7]])
    return make_cell(Z, theta, 1, 2, np.ones(3), A, centre), theta


def vectors(cell: Cell) -> list[CellPoint]:
    """A basis of the unknowns: U by its upper triangle, u, phi, m."""
    d, F, L = cell.Z.shape[1], len(cell.F), len(cell.L)
    points = []
    for i, j in zip(*np.triu_indices(d), strict=True):
        U = np.zeros((d, d))
        U[i, j] = U[j, i] = 1
        points.append(CellPoint(U, np.zeros(d), np.zeros(F), np.zeros((L, d))))
    points += [CellPoint(np.zeros((d, d)), e, np.zeros(F), np.zeros((L, d))) for e in np.eye(d)]
    points += [CellPoint(np.zeros((d, d)), np.zeros(d), e, np.zeros((L, d))) for e in np.eye(F)]
    for l in range(L):
        for e in np.eye(d):
            m = np.zeros((L, d))
            m[l] = e
            points.append(CellPoint(np.zeros((d, d)), np.zeros(d), np.zeros(F), m))
    return points


def coordinates(point: CellPoint) -> Floats:
    """The coordinates in that basis."""
    i, j = np.triu_indices(len(point.u))
    return np.concatenate([point.U[i, j], point.u, point.phi, point.m.ravel()])


def linear(cell: Cell, point: CellPoint) -> Slacks:
    """The slacks as a linear map."""
    found = slacks(cell, point)
    cut = np.where(cell.used, found.cut, 0.0)
    return Slacks(found.blocks, *(cut if k == "cut" else getattr(found, k) for k in LINEAR))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("normals", [False, True])
def test_elimination_solves_the_dense_equations(seed: int, normals: bool) -> None:
    """Hess v - J'theta = A*(target) - lambda grad tau, with Hess = A*(G . G) A from the scaling and theta given."""
    cell, _ = example(seed, normals)
    rng = np.random.default_rng(seed)
    point = start(cell, 1.0)
    slack = slacks(cell, point)
    noise = rng.standard_normal(slack.blocks.shape)
    dual = Slacks(
        np.linalg.inv(slack.blocks) + noise @ noise.transpose(0, 2, 1),
        **{k: rng.uniform(0.5, 2.0, getattr(slack, k).shape) for k in LINEAR},
    )
    target = Slacks(
        noise + noise.transpose(0, 2, 1), **{k: rng.standard_normal(getattr(slack, k).shape) for k in LINEAR}
    )
    theta, lam = rng.standard_normal(len(cell.Z)), 0.7
    s = scaling(slack.blocks, dual.blocks)
    left = eliminate(cell, s, slack, dual)
    right = right_side(cell, left, target, lam)
    step = coordinates(recover(cell, left, right, theta))
    basis = vectors(cell)
    images = [linear(cell, v) for v in basis]
    G = s.root.transpose(0, 2, 1) @ s.root
    np.testing.assert_allclose(G @ slack.blocks @ G, dual.blocks, rtol=1e-8, atol=1e-8)

    def form(one: Slacks, two: Slacks) -> float:
        total = float(np.einsum("bij,bji->", one.blocks @ G, two.blocks @ G))
        weights = {k: getattr(dual, k) / getattr(slack, k) for k in LINEAR}
        return total + sum(float((getattr(one, k) * weights[k] * getattr(two, k)).sum()) for k in LINEAR)

    H = np.array([[form(one, two) for two in images] for one in images])
    r = []
    for v, image in zip(basis, images, strict=True):
        along = float((image.blocks * target.blocks).sum())
        along += sum(float((getattr(image, k) * getattr(target, k)).sum()) for k in LINEAR)
        r.append(along - lam * np.trace(v.U) + float(fit(cell, v) @ theta))
    np.testing.assert_allclose(H @ step, r, rtol=1e-6, atol=1e-6)
    J = np.array([fit(cell, v) for v in basis]).T
    np.testing.assert_allclose(
        left.solved.T @ left.solved + np.diag(left.own), J @ np.linalg.solve(H, J.T), rtol=1e-6, atol=1e-8
    )


def test_the_smallest_sum_is_the_largest_value_on_the_sphere() -> None:
    """sigma + nu = max of beta.u + u'Qu over unit vectors, found on a fine grid of the circle."""
    rng = np.random.default_rng(0)
    angles = np.linspace(0, 2 * np.pi, 20001)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    for _ in range(20):
        beta, A = rng.standard_normal(2), rng.standard_normal((2, 2))
        Q = A + A.T
        best = (beta @ circle + np.einsum("ik,ij,jk->k", circle, Q, circle)).max()
        assert abs(sum(smallest(beta, Q)) - best) < 1e-6


def test_a_state_proves_a_true_bound() -> None:
    """The multipliers of a state in the middle bound xi sum theta_k (z_k.u)_+ at random unit vectors of the cell."""
    for normals in (False, True):
        cell, _ = example(5, normals)
        loss = LeadersLoss(np.arange(9), np.random.default_rng(2).standard_normal(9))
        state = begin([cell], loss, 1.0, np.zeros((9, 0)))
        theta = loss.theta(state.fit)
        most = bound(cell, theta, multipliers(cell, state.dual[0]))
        u = np.random.default_rng(3).standard_normal((20000, 3))
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        inside = (u @ cell.A.T >= 0).all(axis=1)
        assert (np.maximum(u[inside] @ cell.Z.T, 0) @ theta).max() <= most + 1e-9


def test_rounds_close_the_distance() -> None:
    """At the end the relaxation's value and the proved bound agree, and more neighbours do not make it worse."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    loss, free = LeadersLoss(np.arange(30), y), np.zeros((30, 0))
    cells = [make_cell(Z, y, xi, 2, np.ones(4)) for xi in (1, -1)]
    one = descend(cells, loss, 2.0, Rounds(loss.value(np.zeros(30)), NEVER, rounds=1, last=1e-4), free)
    more = descend(cells, loss, 2.0, Rounds(loss.value(np.zeros(30)), NEVER, rounds=4, last=1e-4), free)
    assert one is not None and more is not None
    assert more.value >= one.value - 1e-3
    assert proof(begin(cells, loss, 2.0, free), loss, 2.0).value <= one.value
