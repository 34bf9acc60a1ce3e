"""relu_cert.leaders: the bound never exceeds the optimum, and is near it where that is known."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.clock import until
from relu_cert.exact import matrix, vector
from relu_cert.leaders import find
from relu_cert.leaders.find import find_leaders
from tests.leaders.planted import LONG, Y_SMALL, Z_SMALL, checked, found, neurons_of, solved

ENTRY = st.integers(-4, 4)


@pytest.mark.long
@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.data())
def test_the_bound_is_below_the_optimum(data: st.DataObject) -> None:
    """Random small data, squares and logistic: lower <= p*, known exactly from the list of patterns; the checker finds
    the same bound."""
    d = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(2, 7))
    rows = [[data.draw(ENTRY) for _ in range(d)] for _ in range(n)]
    loss = data.draw(st.sampled_from(("squares", "logistic")))
    labels = st.sampled_from((-1, 1)) if loss == "logistic" else ENTRY
    y = [data.draw(labels) for _ in range(n)]
    if not any(any(row) for row in rows):
        return
    lam = data.draw(st.sampled_from(("1/5", "1/2", "1", "3")))
    leaders, result = found(rows, y, lam, loss, cells=1)
    theta, lower = checked(rows, y, lam, leaders, loss == "logistic")
    assert theta == leaders.theta
    assert lower == leaders.lower or (loss == "logistic" and 0 <= lower - leaders.lower < Fraction(1, 10**20))
    assert leaders.lower <= result.value.upper


@pytest.mark.parametrize(("lam", "most"), [("10", 0.001), ("5", 0.03), ("1", 0.08)])
def test_the_bound_is_near_the_optimum(lam: str, most: float) -> None:
    """Ten rows in the plane: within a few per cent of p*."""
    leaders, result = found(Z_SMALL, Y_SMALL, lam, cells=16)
    assert float(result.value.upper - leaders.lower) <= most * float(result.value.upper)


def test_the_bound_is_near_the_optimum_of_the_logistic_loss() -> None:
    """The same with labels and the logistic loss."""
    y = [1 if t > 0 else -1 for t in Y_SMALL]
    leaders, result = found(Z_SMALL, y, "1", "logistic", cells=16)
    assert float(result.value.upper - leaders.lower) <= 0.05 * float(result.value.upper)


@pytest.mark.long
def test_cells_help() -> None:
    """With time for cells the bound is better than with one cell for each sign."""
    rng = np.random.default_rng(3)
    rows = rng.integers(-9, 10, (20, 3)).tolist()
    y = rng.integers(-3, 4, 20).tolist()
    result = solved(rows, y, "4")
    heard: list[Fraction] = []
    best = find_leaders(
        matrix(rows),
        vector(y),
        Fraction(4),
        neurons_of(result),
        LONG,
        good=1e-9,
        cells=8,
        tell=lambda leaders: heard.append(leaders.lower),
    )
    assert best is not None and heard == sorted(heard) and heard[-1] == best.lower
    gaps = [float(result.value.upper - lower) for lower in heard]
    assert gaps[-1] < 0.9 * gaps[0]
    assert len(best.plus.cells) > 1 or len(best.minus.cells) > 1


def test_a_network_that_is_far_from_optimal_still_gives_a_bound() -> None:
    """No neurons at all: theta = y scaled; the bound holds."""
    result = solved(Z_SMALL, Y_SMALL, "5")
    leaders = find_leaders(matrix(Z_SMALL), vector(Y_SMALL), Fraction(5), [], LONG, cells=1)
    assert leaders is not None
    assert 0 < leaders.lower <= result.value.upper
    assert checked(Z_SMALL, Y_SMALL, "5", leaders)[1] == leaders.lower


def test_free_outputs() -> None:
    """An output bias and a skip connection: theta is exactly orthogonal to their outputs; the bound is below the value
    of the penalised problem and below the objective of a network with free terms."""
    Z, y = matrix(Z_SMALL), vector(Y_SMALL)
    outputs = ((Fraction(1),) * len(y), *zip(*Z, strict=True))
    result = solved(Z_SMALL, Y_SMALL, "5")
    leaders = find_leaders(Z, y, Fraction(5), neurons_of(result), LONG, cells=2, outputs=outputs)
    assert leaders is not None
    theta, lower = checked(Z_SMALL, Y_SMALL, "5", leaders, free=("output-bias", "skip"))
    assert all(sum(b * t for b, t in zip(column, theta, strict=True)) == 0 for column in outputs)
    assert 0 < lower == leaders.lower <= result.value.upper
    B = np.array([[float(x) for x in column] for column in outputs]).T
    target = np.array([float(x) for x in y])
    rest = target - B @ np.linalg.lstsq(B, target, rcond=None)[0]
    assert float(lower) <= 0.5 * float(rest @ rest)  # the network without neurons
    large = find_leaders(Z, y, Fraction(1000), [], LONG, cells=1, outputs=outputs)
    assert large is not None  # no neuron is worth its price: the free terms alone are optimal
    assert 0.999 * 0.5 * float(rest @ rest) <= float(large.lower) <= (1 + 1e-9) * 0.5 * float(rest @ rest)


def test_wide_data_are_bounded_with_few_directions() -> None:
    """40 rows and 90 columns: more than the directions that are tried first."""
    rng = np.random.default_rng(1)
    rows = (rng.integers(-9, 10, (40, 3)) @ rng.integers(-3, 4, (3, 90)) + rng.integers(-1, 2, (40, 90))).tolist()
    y = rng.choice([-1, 1], 40).tolist()
    leaders = find_leaders(matrix(rows), vector(y), Fraction(200), [], 1.0)
    assert leaders is not None
    assert checked(rows, y, "200", leaders)[1] == leaders.lower > 0


@pytest.mark.long
@pytest.mark.parametrize("grow", [True, False])
def test_few_directions(grow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """30 rows and 8 columns, of which large ones say nothing of the targets, with three directions, or six: the
    checker proves every stage. With more of the directions that tell most the bound is better; cells with few
    directions hold with all of them."""
    monkeypatch.setattr(find, "AT_ONCE", 0.0)
    monkeypatch.setattr(find, "MOST_DIRECTIONS", (3, 4, 5, 6) if grow else (6,))
    if not grow:
        monkeypatch.setattr(find, "_more", lambda rank, top: None)
    rng = np.random.default_rng(5)
    Z = rng.integers(-9, 10, (30, 8)) * np.array([1, 1, 1, 1, 3, 3, 3, 3])
    y = [int(2 * max(a + b, 0) - max(c - d, 0)) for a, b, c, d in Z[:, :4].tolist()]
    neurons = [find.FloatNeuron(1, (1.5, 1.5, 0, 0, 0, 0, 0, 0)), find.FloatNeuron(-1, (0, 0, 0.8, -0.8, 0, 0, 0, 0))]
    neurons += [find.FloatNeuron(1, (0, 0.1, 0, 0, 0.1, 0, 0, 0))]
    data = find.prepare(matrix(Z.tolist()), vector(y), Fraction(60), neurons)
    upper, theta = find._network(data)
    lower, cells = [], 1
    for proof, centres in find._stages(data, theta, find.Rounds(upper, until(LONG)), 2):
        leaders = find.evidence(data.exact, data.loss, proof, centres)
        assert leaders is not None and checked(Z.tolist(), y, "60", leaders)[1] == leaders.lower
        lower.append(float(leaders.lower))
        cells = len(leaders.plus.cells)
    assert cells == 2
    assert len(lower) >= (5 if grow else 3)
    assert not grow or max(lower) > 1.1 * lower[0]


EDGES = {
    "targets zero": ([[1, 2], [3, 1]], [0, 0], "1", 0.0),
    "zero rows": ([[0, 0], [0, 0]], [1, 2], "1", 2.5),
    "one row": ([[1, 2]], [1], "1/10", 0.04),
    "equal rows, opposite targets": ([[1, 2], [1, 2]], [1, -1], "1/3", 1.0),
    "antipodal rows": ([[1, 2], [-1, -2]], [1, 1], "1/3", 0.25),
    "no follower": ([[1, 0], [0, 1], [1, 1]], [1, 1, 1], "1/10", 0.1),
    "one column": ([[1], [2], [-1]], [1, -1, 2], "1/10", 1.0),
    "lambda above lambda_max": ([[1, 2], [3, -1]], [1, -1], "1000", 0.999),
    "large numbers": ([[10**9, 2 * 10**9], [3 * 10**9, -(10**9)]], [10**6, -(10**6)], "1000000", 90.0),
    "small numbers": ([["1/1000000000", "0"], ["0", "1/1000000000"]], [1, -1], "1/10000000000", 0.15),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
    """Data at the edge of what there is still have a bound above a known number, and the checker agrees."""
    rows, y, lam, least = EDGES[name]
    leaders = find_leaders(matrix(rows), vector(y), Fraction(lam), [], LONG, cells=2)  # type: ignore[arg-type]
    assert leaders is not None
    assert leaders.lower >= Fraction(least)
    assert checked(rows, y, lam, leaders)[1] == leaders.lower


def test_many_rows_need_no_matrices_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows are too many for the relaxation there is a bound without neighbours, in memory that is linear in them:
    far below a matrix of rows x rows."""
    rng = np.random.default_rng(0)
    n = 2000
    Z = matrix([[int(x) for x in row] for row in rng.integers(-50, 51, (n, 3))])
    y = vector(int(x) for x in rng.integers(-9, 10, n))
    monkeypatch.setattr(find, "MOST_ROWS", 1000)
    tracemalloc.start()
    found = find_leaders(Z, y, Fraction(10**5), [], 5.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is not None and found.lower > 0
    assert all(not leader.near for side in (found.plus, found.minus) for cell in side.cells for leader in cell.leaders)
    assert peak < 8 * n * n
