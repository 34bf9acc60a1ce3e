"""relu_cert.leaders.signs: triangles between the leaders' signs."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, product, repeat

import numpy as np
import pytest

from relu_cert import clock
from relu_cert.clock import until
from relu_cert.exact import matrix, vector
from relu_cert.leaders import find, signs
from relu_cert.leaders.bound import TriangleTies, bound, tied_quadratic
from relu_cert.leaders.interior import Centres, LeadersProof, Rounds, descend
from tests.leaders.planted import LONG, checked, neurons_of, solved


def problem(seed: int, n: int, d: int) -> tuple[list[list[int]], list[int]]:
    """Random integers."""
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, (n, d)).tolist(), rng.integers(-3, 4, n).tolist()


def begun(rows: list[list[int]], y: list[int], lam: str) -> tuple[LeadersProof, find.LeadersData, float]:
    """A proof by the interior point method, with one cell for each sign."""
    data = find.prepare(matrix(rows), vector(y), Fraction(lam), neurons_of(solved(rows, y, lam)))
    upper, theta = find._network(data)
    cells = find._cells(data, data.rows, theta, Centres((), ()))
    proof = descend(cells, data.loss, data.lam, Rounds(upper, until(LONG)), data.free)
    assert proof is not None
    return proof, data, upper


@pytest.mark.long
def test_triangles_close_part_of_the_gap() -> None:
    """On random data the bound with triangles is better by far than without, and the best evidence has them."""
    rows, y = problem(3, 20, 3)
    proof, data, upper = begun(rows, y, "4")
    found = signs.tie(proof, data.loss, data.lam, data.free, until(LONG))
    assert upper - found.value < 0.8 * (upper - proof.value)
    leaders = find.find_leaders(matrix(rows), vector(y), Fraction(4), neurons_of(solved(rows, y, "4")), LONG, cells=1)
    assert leaders is not None and any(cell.triangles for side in (leaders.plus, leaders.minus) for cell in side.cells)
    assert float(leaders.lower) > proof.value
    assert checked(rows, y, "4", leaders)[1] == leaders.lower


def test_triangles_that_are_not_tried_again_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where triangles close too little to be worth their time with more cells, the bound that they gave is one all the
    same: it had been thrown away (planning at 0.05 with free biases: 13.15 for 14.12)."""
    rows, y = problem(3, 20, 3)
    monkeypatch.setattr(find, "TELLING", 1.0)
    leaders = find.find_leaders(matrix(rows), vector(y), Fraction(4), neurons_of(solved(rows, y, "4")), LONG, cells=1)
    assert leaders is not None and any(cell.triangles for side in (leaders.plus, leaders.minus) for cell in side.cells)


def test_a_busy_machine_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty seconds on the wall without work, of ten that are asked for: the triangles are found all the same."""
    rows, y = problem(3, 20, 3)
    neurons = neurons_of(solved(rows, y, "4"))
    times = chain([0.0], repeat(20.0))
    monkeypatch.setattr(clock, "monotonic", lambda: next(times))
    leaders = find.find_leaders(matrix(rows), vector(y), Fraction(4), neurons, 10.0, cells=1)
    assert leaders is not None and any(cell.triangles for side in (leaders.plus, leaders.minus) for cell in side.cells)


def test_bounds_with_ties_hold() -> None:
    """Whatever the ties are: at random u the height is at most the bound."""
    rows, y = problem(5, 12, 3)
    proof, data, _ = begun(rows, y, "4")
    found = signs.tie(proof, data.loss, data.lam, data.free, until(LONG))
    rng = np.random.default_rng(0)
    for cell, by in zip(found.cells, found.multipliers, strict=True):
        U = rng.standard_normal((2000, 3))
        U /= np.linalg.norm(U, axis=1, keepdims=True)
        heights = cell.xi * np.maximum(U @ data.rows.T, 0) @ found.theta
        assert by.ties is not None
        assert heights.max() <= bound(cell, found.theta, by) <= data.lam * (1 + 1e-9)


def test_tied_signs_are_bounded_together() -> None:
    """1/2 sum s_l v_l.u <= const - b.u + u'Qu for all signs, with triangles of the sign 1 too."""
    rng = np.random.default_rng(1)
    v, c = rng.standard_normal((3, 2)), np.array([4.0, 5.0, 6.0])
    ties = TriangleTies(np.array([[0, 1, 2, 1, -1], [1, 2, 3, -1, -1], [0, 3, 1, -1, 1]]), np.array([0.3, 0.5, 0.2]))
    const, b, Q = tied_quadratic(v, c, ties)
    for s in product((1, -1), repeat=3):
        for u in rng.standard_normal((50, 2)):
            assert 0.5 * np.array(s) @ v @ u <= const - b @ u + u @ Q @ u + 1e-12
    assert tied_quadratic(v, 0 * c, ties)[0] == np.inf


def test_the_violated_triangles_are_found() -> None:
    """All of them, each once, the worst first."""
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((7, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    S = vectors @ vectors.T
    values = {}
    for i, j, k in combinations(range(7), 3):
        for x, y in product((1, -1), repeat=2):
            value = 1 + x * S[i, j] + y * S[j, k] + x * y * S[i, k]
            if value < -signs.VIOLATED:
                values[i, j, k, y, x * y, x] = value
    found = signs.violated_triangles(S, 10**6)
    assert {tuple(name) for name in signs._names(found).tolist()} == set(values) and len(found) == len(values) > 3
    given = [1 + x * S[i, j] + y * S[j, k] + x * y * S[i, k] for i, j, k, x, y in found]
    assert given == sorted(given)
    assert signs.violated_triangles(S, 2).tolist() == found[:2].tolist()


def test_too_little_time_leaves_the_proof_as_it_is() -> None:
    """Without time for a round, and with more leaders than the checker takes, nothing is tried."""
    rows, y = problem(3, 20, 3)
    proof, data, _ = begun(rows, y, "4")
    assert signs.tie(proof, data.loss, data.lam, data.free, until(1e-3)) is proof
