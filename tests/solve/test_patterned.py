"""ReLU programs over some patterns: projections onto many cones at once, the proximal-point start, true gaps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from relu_cert.exact import matrix, vector
from relu_cert.problem import over_patterns
from relu_cert.prove.multipliers import block_multipliers
from relu_cert.solve import FloatProblem, Neuron, lambda_max, multipliers, prepare, solve
from relu_cert.solve import cones as cones_module
from relu_cert.solve.cones import Cones
from relu_cert.solve.oracle import BlockOracle, PatternedOracle
from relu_cert.solve.prepare import BlockArrays, Floats, PatternedArrays
from relu_cert.solve.proximal import DirectBlocks, PatternedBlocks, Step, hessian, newton, proximal_point

RATIOS = (0.99, 0.5, 0.1, 1e-2, 1e-3, 1e-4)


@pytest.fixture(params=["numpy", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to project, whatever the size."""
    monkeypatch.setattr(cones_module, "_LARGE", 0 if request.param == "compiled" else 10**12)
    return str(request.param)


def patterned(seed: int) -> FloatProblem:
    """General position, a bias column, signs only, repeated and opposite rows, a zero row, rounded rows that are
    nearly dependent; one to forty patterns."""
    g = np.random.default_rng(seed)
    n, d, k = int(g.integers(2, 30)), int(g.integers(1, 8)), int(g.integers(1, 40))
    Z = g.integers(-9, 10, (n, d)).astype(np.float64)
    kind = seed % 6
    if kind == 1:
        Z[:, -1] = 1.0
    elif kind == 2:
        Z = np.sign(Z)
    elif kind == 3:
        Z[1], Z[-1] = Z[0], -2.0 * Z[0]
    elif kind == 4:
        Z[n // 2] = 0.0
    elif kind == 5:
        Z = np.round(np.sign(Z) / 3.0, 6)
    y = g.integers(-9, 10, n).astype(np.float64)
    y[0] = y[0] or 1.0
    return FloatProblem(y, PatternedArrays(Z, np.unique(g.standard_normal((k, d)) @ Z.T > 0.0, axis=0)))


def arrays_of(data: FloatProblem) -> PatternedArrays:
    """The blocks."""
    assert isinstance(data.arrays, PatternedArrays)
    return data.arrays


@pytest.mark.parametrize("seed", range(18))
def test_projections_satisfy_their_conditions(seed: int, way: str) -> None:
    """v in the cone, c - v in its polar, v orthogonal to c - v, and v = c + sum x_k g_k with x >= 0: from nothing, and
    again from the last answer for another c."""
    data = patterned(seed)
    arrays = arrays_of(data)
    cones, blocks = Cones(arrays), np.arange(len(arrays))
    g = np.random.default_rng(seed)
    side = np.where(arrays.on[arrays.pattern(blocks)], 1.0, -1.0)
    for theta in (data.y, data.y + 0.3 * g.standard_normal(len(data.y)), g.standard_normal(len(data.y))):
        c = cones.correlations(theta)
        found = cones.project(blocks, c, 0.0)
        size = np.linalg.norm(c, axis=1, keepdims=True) + 1e-300
        assert (side * (found.v @ arrays.Z.T) >= -1e-10 * size).all(), way
        assert (np.abs(np.einsum("ij,ij->i", found.v, c - found.v)) <= 1e-11 * size[:, 0] ** 2).all()
        assert (found.x >= 0.0).all()
        rho = np.zeros((len(blocks), len(data.y)))
        block, slot = np.nonzero(found.kinks >= 0)
        rho[block, found.kinks[block, slot]] = found.x[block, slot]
        assert np.abs(c + (rho * side) @ arrays.Z - found.v).max() <= 1e-8 * size.max()
        assert found.norm == pytest.approx(np.linalg.norm(found.v, axis=1))


@pytest.mark.parametrize("seed", range(6))
def test_a_projection_that_may_stop_is_an_upper_bound(seed: int, way: str) -> None:
    """Above `enough` every price is exact; below it is a bound that is at most `enough`, also after other questions."""
    data = patterned(seed)
    cones, blocks = Cones(arrays_of(data)), np.arange(len(arrays_of(data)))
    prices = Cones(arrays_of(data)).project(blocks, cones.correlations(data.y), 0.0).norm
    cones.project(blocks, cones.correlations(data.y[::-1].copy()), 0.0)
    enough = float(np.median(prices))
    found = cones.project(blocks, cones.correlations(data.y), enough).norm
    above, size = prices > enough * (1.0 + 1e-12), 1e-10 * (1.0 + prices.max())
    assert found[above] == pytest.approx(prices[above], abs=size), way
    assert (found[~above] <= enough + size).all()
    assert (found >= prices - size).all()


@pytest.mark.parametrize("seed", range(6))
def test_bases_are_orthonormal_and_split_at_the_kinks(seed: int, way: str) -> None:
    """The first rows are orthonormal and span the kinks; where they are half of all or more, the others are a basis of
    the complement. P is the projection onto it."""
    data = patterned(seed)
    arrays = arrays_of(data)
    cones = Cones(arrays)
    found = cones.project(np.arange(len(arrays)), cones.correlations(data.y), 0.0)
    basis, span = cones.bases(found)
    P = cones.tangent(found)
    eye = np.eye(arrays.Z.shape[1])
    for i, kinks in enumerate(found.kinks):
        G = arrays.Z[kinks[kinks >= 0]]
        Q, N = basis[i][: span[i]], basis[i][span[i] :]
        assert span[i] == len(G), way
        assert pytest.approx(np.eye(len(Q)), abs=1e-12) == Q @ Q.T
        assert G @ P[i] == pytest.approx(0.0, abs=1e-9)
        assert P[i] == pytest.approx(eye - Q.T @ Q, abs=1e-12)
        if 2 * span[i] >= len(eye):
            assert pytest.approx(np.eye(len(N)), abs=1e-12) == N @ N.T
            assert pytest.approx(0.0, abs=1e-12) == Q @ N.T


def solved(H: Floats, g: Floats) -> Floats:
    """H^-1 g of the lower triangle."""
    low = np.tril(H)
    return np.asarray(np.linalg.solve(low + low.T - np.diag(np.diag(low)), g))


def written_out(arrays: PatternedArrays) -> BlockArrays:
    """The same blocks, one by one."""
    blocks = np.arange(len(arrays))
    on, xi = arrays.on[arrays.pattern(blocks)], arrays.xi(blocks)
    X = tuple((s * row)[:, None] * arrays.Z for s, row in zip(xi, on, strict=True))
    return BlockArrays(X, tuple(np.where(row, -1.0, 1.0)[:, None] * arrays.Z for row in on))


@pytest.mark.parametrize("seed", range(12))
def test_the_oracle_says_what_the_blocks_one_by_one_say(seed: int, way: str) -> None:
    """Prices, faces, outputs and feasible neurons are those of the same blocks written out."""
    data = patterned(seed)
    arrays = arrays_of(data)
    ours, theirs = PatternedOracle(Cones(arrays)), BlockOracle(written_out(arrays))
    (top, faces), (their_top, their_faces) = ours.price(data.y, 0.0), theirs.price(data.y, 0.0)
    assert top == pytest.approx(their_top, rel=1e-10), way
    small = 1e-9 * (1.0 + top)
    one = {face.block: face for face in faces if np.linalg.norm(face.v) > small}
    other = {face.block: face for face in their_faces if np.linalg.norm(face.v) > small}
    assert one.keys() == other.keys()
    for block, face in one.items():
        assert face.v == pytest.approx(other[block].v, abs=small)
        assert face.B.T @ data.y == pytest.approx(face.v, abs=small)
    neurons = ours.inside([Neuron(1, block, face.v) for block, face in one.items()])
    assert len(neurons) == len(one)
    assert ours.outputs(neurons) == pytest.approx(theirs.outputs(neurons), abs=small * 100)
    spread = ours.feasible([*neurons, *neurons])
    assert [n.block for n in spread] == [n.block for n in neurons]


@pytest.mark.parametrize("seed", range(6))
def test_smooth_functions_of_blocks_all_at_once_and_one_by_one(seed: int, way: str) -> None:
    """Minima, values and Hessians are the same whether all cones are projected on at once or one by one."""
    data = patterned(seed)
    arrays = arrays_of(data)
    ours, theirs = PatternedBlocks(Cones(arrays)), DirectBlocks(written_out(arrays))
    lam = 0.3 * float(ours.active(data.y, 0.0, 0.0).norm.max())
    size = float(np.linalg.norm(data.y))
    one, other = (
        newton(Step(blocks, data.y, lam, 0.5), data.y, lambda _: 1e-13 * size, 60, solved)[0]
        for blocks in (ours, theirs)
    )
    assert one.r == pytest.approx(other.r, abs=1e-9 * size), way
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert np.linalg.norm(one.gradient) <= 1e-9 * size
    low = [np.tril(hessian(Step(blocks, data.y, lam, 0.5), at)) for blocks, at in ((ours, one), (theirs, other))]
    assert low[0] == pytest.approx(low[1], rel=1e-6, abs=1e-6 * float(np.abs(low[1]).max()))
    assert ours.size() == pytest.approx(theirs.size())


@pytest.mark.parametrize("seed", range(18))
def test_sampled_programs_reach_a_tiny_true_gap(seed: int, way: str) -> None:
    """At every size of lambda: the gap is at most 1e-11, and primal, residual and dual feasibility are as said when
    they are computed anew, with projections block by block."""
    data = patterned(seed)
    arrays = written_out(arrays_of(data))
    largest = lambda_max(data)
    for ratio in RATIOS if way == "compiled" else RATIOS[1::2]:
        lam = ratio * largest
        solution = solve(data, lam) if largest > 0.0 else solve(data, 1.0)
        assert solution.relative_gap <= 1e-11, (ratio, solution.stats)
        fit = np.zeros(len(data.y))
        for neuron in solution.neurons:
            b = neuron.block or 0
            assert (
                arrays.K[b] @ neuron.w <= 1e-11 * np.linalg.norm(neuron.w) * (1.0 + np.abs(arrays.K[b]).max())
            ).all()
            fit += arrays.X[b] @ neuron.w
        penalty = solution.lam * sum(float(np.linalg.norm(n.w)) for n in solution.neurons)
        assert solution.primal == pytest.approx(0.5 * float((data.y - fit) @ (data.y - fit)) + penalty, rel=1e-10)
        assert solution.residual == pytest.approx(data.y - fit, abs=1e-10 * np.linalg.norm(data.y))
        top = BlockOracle(arrays).price(solution.theta, 0.0)[0]
        assert top <= solution.lam * (1.0 + 1e-10)


def larger(n: int = 40, d: int = 5, k: int = 60, seed: int = 4) -> FloatProblem:
    """Two classes, standardised features, sampled patterns, as in the paper's experiments."""
    g = np.random.default_rng(seed)
    Z = g.standard_normal((n, d))
    y = np.where(np.abs(Z[:, 0]) + 0.5 * g.standard_normal(n) > 0.7, 1.0, -1.0)
    return FloatProblem(y, PatternedArrays(Z, np.unique(g.standard_normal((k, d)) @ Z.T > 0.0, axis=0)))


def test_the_proximal_point_is_near_the_optimum(way: str) -> None:
    """Feasible weights whose objective is within 1e-6 of the optimum, also where lambda is a thousandth of its
    maximum, without any help by Newton's method in kernel form."""
    data = larger()
    arrays = arrays_of(data)
    for ratio in (0.3, 1e-3):
        lam = ratio * lambda_max(data)
        oracle = PatternedOracle(Cones(arrays))
        neurons = proximal_point(oracle.cones, data.y, lam)
        assert len(neurons) == len({n.block for n in neurons}) > 0
        kept = oracle.inside(neurons)
        assert np.array([n.w for n in kept]) == pytest.approx(np.array([n.w for n in neurons]), abs=1e-10), way
        r = data.y - oracle.outputs(neurons).sum(axis=1)
        value = 0.5 * float(r @ r) + lam * sum(float(np.linalg.norm(n.w)) for n in neurons)
        best = solve(data, lam)
        assert best.primal * (1.0 - 1e-9) <= value <= best.primal * (1.0 + 1e-6)


def test_many_cones_are_solved_in_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the compiled way is taken the proximal-point start leads to the right faces: one round is enough."""
    monkeypatch.setattr(cones_module, "_LARGE", 0)
    data = larger(60, 6, 100)
    solution = solve(data, 1e-3 * lambda_max(data))
    assert solution.relative_gap <= 1e-12
    assert solution.stats.rounds == 1
    assert len(solution.neurons) > 20


def test_nothing_to_fit_and_nothing_to_fit_with(way: str) -> None:
    """y = 0, Z = 0, and lambda above lambda_max: the zero network, without a gap."""
    data = larger(12, 3, 10)
    arrays = arrays_of(data)
    for problem, lam in (
        (FloatProblem(np.zeros(12), arrays), 1.0),
        (FloatProblem(data.y, replace(arrays, Z=np.zeros_like(arrays.Z))), 1.0),
        (data, 1.5 * lambda_max(data)),
    ):
        solution = solve(problem, lam)
        assert solution.neurons == (), way
        assert solution.relative_gap == 0.0


def test_a_warm_start_ends_where_a_cold_one_does(way: str) -> None:
    """Along lambda, up and down: the same value."""
    data = larger(25, 4, 30)
    largest = lambda_max(data)
    warm = solve(data, 0.5 * largest)
    for ratio in (0.1, 0.01, 0.05):
        warm = solve(data, ratio * largest, warm=warm)
        assert warm.primal == pytest.approx(solve(data, ratio * largest).primal, rel=1e-11), way


def test_exact_problems_over_patterns_are_prepared_as_such() -> None:
    """A problem over patterns becomes Z and its patterns; its largest price is that of its exact blocks, and
    weighted rows (as for the logistic loss) change no cone."""
    Z = matrix([[1, 2], [-3, 1], [2, -2], [1, 1]])
    problem = over_patterns(Z, vector(map(Fraction, (1, -2, 3, -1))), ("1011", "0110", "1001"), model="relu")
    data = prepare(problem)
    arrays = arrays_of(data)
    written = written_out(arrays)
    assert len(arrays) == len(problem.blocks) == 6
    for block, X, K in zip(problem.blocks, written.X, written.K, strict=True):
        assert np.array_equal(np.array(block.X, dtype=float), X)
        assert np.array_equal(np.array(block.K, dtype=float).T, K)
    theta = np.array([0.5, -1.0, 2.0, 0.25])
    exact = block_multipliers(problem, tuple(map(Fraction, theta.tolist())), Fraction(0))[1]
    assert PatternedOracle(Cones(arrays)).price(theta, 0.0)[0] ** 2 == pytest.approx(float(exact))
    assert multipliers(problem, theta, 0.0) is None
    halves = PatternedOracle(Cones(replace(arrays, Z=0.5 * arrays.Z)))
    assert halves.price(data.y, 0.0)[0] == pytest.approx(0.5 * lambda_max(problem))


@pytest.mark.parametrize("seed", [40, 47, 69])
def test_badly_scaled_features_are_no_obstacle(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns whose sizes differ by factors of up to ten thousand, small lambda: line searches that gave up early, or
    accepted a smaller gradient at a larger value, stalled here (at 1e-6 and more). On seed 69 the digits of floats are
    used up, and how many there are depends on the machine: 5e-13 and 2e-10 were seen."""
    monkeypatch.setattr(cones_module, "_LARGE", 0)
    g = np.random.default_rng(seed)
    d, n, k = int(g.integers(2, 20)), int(g.integers(5, 90)), int(g.integers(30, 250))
    Z = g.standard_normal((n, d))
    Z = Z / np.arange(1, d + 1) ** 3 if seed == 69 else np.cumsum(Z, axis=1) * 10.0 ** g.integers(-2, 3, d)
    y = np.where(g.standard_normal(n) > 0.0, 1.0, -1.0) if seed % 2 else g.standard_normal(n)
    data = FloatProblem(y, PatternedArrays(Z, np.unique(g.standard_normal((k, d)) @ Z.T > 0.0, axis=0)))
    assert solve(data, 1e-4 * lambda_max(data)).relative_gap <= (1e-9 if seed == 69 else 1e-11)
