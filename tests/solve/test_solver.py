"""The float solver against exact optima, on random and degenerate problems, at all sizes of lambda."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relu_cert.exact import matrix
from relu_cert.problem.problem import Problem
from relu_cert.prove.multipliers import block_multipliers
from relu_cert.solve import Solution, lambda_max, multipliers, prepare, solve
from relu_cert.solve.oracle import BlockOracle
from relu_cert.solve.prepare import BlockArrays
from tests.solve.instances import direct, network, random_direct, random_network

RATIOS = (0.99, 0.5, 0.1, 1e-2, 1e-3, 1e-4)


def fit_of(problem: Problem, solution: Solution) -> np.ndarray:
    """The fit of the neurons, by definition of the model."""
    arrays = prepare(problem).arrays
    total = np.zeros(problem.n)
    for neuron in solution.neurons:
        if isinstance(arrays, BlockArrays):
            assert neuron.block is not None
            assert (arrays.K[neuron.block] @ neuron.w <= 1e-12 * np.linalg.norm(neuron.w)).all()
            total += arrays.X[neuron.block] @ neuron.w
        elif arrays.gated:
            assert problem.listed is not None
            assert neuron.block is not None
            total += np.array(problem.listed.pattern(neuron.block)) * (arrays.Z @ neuron.w)
        else:
            total += neuron.sign * np.maximum(arrays.Z @ neuron.w, 0.0)
    return total


def check(problem: Problem, solution: Solution) -> None:
    """Every number of the solution, from first principles: the residual, the primal value, dual feasibility of
    theta by its multipliers, and the gap."""
    y = prepare(problem).y
    fit = fit_of(problem, solution)
    scale = 1.0 + float(y @ y)
    primal = 0.5 * float((y - fit) @ (y - fit)) + solution.lam * sum(np.linalg.norm(n.w) for n in solution.neurons)
    theta = solution.theta
    assert solution.residual == pytest.approx(y - fit, abs=1e-11 * scale)
    assert solution.primal == pytest.approx(primal, rel=1e-10)
    assert solution.dual == pytest.approx(float(y @ theta - 0.5 * theta @ theta), abs=1e-11 * scale)
    assert largest_price(problem, theta) <= solution.lam * (1 + 1e-11)


def largest_price(problem: Problem, theta: np.ndarray) -> float:
    """max_b |Proj_{C_b}(X_b'theta)|: by the multipliers of pieces, or by exact projections of blocks."""
    found = multipliers(problem, theta, 0.0)
    if found is not None:
        return max(float(part.norm.max()) for part in found.values())
    return float(block_multipliers(problem, tuple(map(Fraction, theta.tolist())), Fraction(0))[1]) ** 0.5


@pytest.mark.parametrize("model", ["relu", "gated"])
@pytest.mark.parametrize("seed", range(24))
def test_random_networks_reach_a_tiny_true_gap(seed: int, model: str) -> None:
    """Degenerate data and every size of lambda: the gap is at most 1e-11, and what is said about it is true."""
    problem = random_network(seed, model)
    largest = lambda_max(problem)
    for ratio in RATIOS:
        solution = solve(problem, ratio * largest)
        check(problem, solution)
        assert solution.relative_gap <= 1e-11, (ratio, solution.stats)


@pytest.mark.parametrize("seed", [*range(40), 59, 137, 220, 271, 334, 393, 399])
def test_random_direct_problems_reach_a_tiny_true_gap(seed: int) -> None:
    """Free blocks, cones with repeated constraints, cones that are only {0} (whose projections are rounding and must
    not become directions: 59, 220), and faces on which Newton's method runs in circles (393, 399)."""
    problem = random_direct(seed)
    largest = lambda_max(problem)
    for ratio in RATIOS if largest > 0 else (1.0,):
        solution = solve(problem, ratio * largest or 1.0)
        check(problem, solution)
        assert solution.relative_gap <= 1e-11, (ratio, solution.stats)


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_zero_is_the_answer_from_lambda_max_on(model: str) -> None:
    """At and above lambda_max there are no neurons, and the gap is 0."""
    problem = random_network(7, model)
    largest = lambda_max(problem)
    for lam in (largest, 2 * largest):
        solution = solve(problem, lam)
        assert solution.neurons == ()
        assert solution.gap <= 1e-14 * solution.primal
    assert solve(problem, 0.999 * largest).neurons != ()


@pytest.mark.parametrize("model", ["relu", "gated"])
@pytest.mark.parametrize("seed", range(6))
def test_a_warm_start_ends_where_a_cold_one_does(seed: int, model: str) -> None:
    """Along lambda, up and down: same value, same fit."""
    problem = random_network(seed, model)
    largest = lambda_max(problem)
    warm = solve(problem, 0.5 * largest)
    for ratio in (0.3, 0.1, 0.05, 0.2, 0.7):
        warm = solve(problem, ratio * largest, warm=warm)
        cold = solve(problem, ratio * largest)
        assert warm.primal == pytest.approx(cold.primal, rel=1e-10)
        assert warm.theta == pytest.approx(cold.theta, abs=1e-4 * float(np.linalg.norm(cold.theta)))


def planted_relu(seed: int) -> tuple[Problem, float, float]:
    """Integer Z and r first: lambda is the largest price of r, y = r + sum alpha xi (Zv)_+ over its maximisers v
    with |v| = lambda. Then r is the optimal residual and p* = 1/2|r|^2 + lambda^2 sum alpha."""
    g = np.random.default_rng(seed)
    n, d = int(g.integers(4, 9)), int(g.integers(2, 4))
    Z, r = g.integers(-5, 6, (n, d)), g.integers(-6, 7, n)
    probe = network(Z.tolist(), r.tolist())
    found = multipliers(probe, r.astype(float), 0.0)
    assert isinstance(found, dict)
    lam = max(float(part.norm.max()) for part in found.values())
    y, mass = r.astype(float), 0.0
    for sign, part in found.items():
        for v in {tuple(v.round(9)): v for v in part.v[part.norm > lam * (1 - 1e-10)]}.values():
            alpha = float(g.integers(1, 5)) / lam
            y = y + alpha * sign * np.maximum(Z @ v, 0.0)
            mass += alpha
    return network(Z.tolist(), [Fraction(x) for x in y]), lam, 0.5 * float(r @ r) + lam * lam * mass


@pytest.mark.parametrize("seed", range(30))
def test_planted_networks_have_the_planted_value(seed: int) -> None:
    """The optimum is known before the solver is asked."""
    problem, lam, value = planted_relu(seed)
    solution = solve(problem, lam)
    assert solution.primal == pytest.approx(value, rel=1e-11)
    assert solution.dual == pytest.approx(value, rel=1e-11)


def test_known_exact_optima() -> None:
    """Values worked out by hand: a box of ties, two equal blocks, a pattern of a lower face, a cone."""
    box = network([[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17])
    assert solve(box, 5.0).primal == pytest.approx(52.0, rel=1e-12)  # r = 1: neurons (3,4), (-3,-4), 4/2 + 2 * 25
    eye = matrix([[1, 0], [0, 1]])
    twins = direct([eye, eye], [None, None], [6, 8])
    assert solve(twins, 5.0).primal == pytest.approx(37.5, rel=1e-12)  # |y| = 10: 25/2 + 5 * 5
    lower = network([[1], [-1]], [2, -2], "gated")
    assert solve(lower, 1.0).primal == pytest.approx(7 / 4, rel=1e-12)
    shut = direct([matrix([[1, 1]])], [matrix([[-1, 0], [0, -1]])], [-1])
    assert solve(shut, 0.5).neurons == ()
    half = direct([matrix([[1]])], [matrix([[1]])], [-2])
    assert solve(half, 0.5).primal == pytest.approx(7 / 8, rel=1e-12)  # w <= 0: 1/2 * 1/4 + 1/2 * 3/2


def test_progress_and_limits_never_raise() -> None:
    """One round only: the answer is the best point there is, with its honest gap."""
    problem = random_network(3, "relu")
    seen: list[float] = []
    solution = solve(problem, 0.01 * lambda_max(problem), rounds=1, progress=lambda _, gap: seen.append(gap))
    assert solution.stats.reason == "rounds"
    assert seen == [solution.relative_gap]
    check(problem, solution)


@pytest.mark.parametrize("seed", range(12))
def test_blocks_that_are_not_projected_are_bounded(seed: int) -> None:
    """An oracle that was asked before may answer with its last rho, but only where that shows a price <= enough: the
    faces above it, and the largest price, are those of a new oracle."""
    data = prepare(random_direct(seed))
    assert isinstance(data.arrays, BlockArrays)
    asked, rng = BlockOracle(data.arrays), np.random.default_rng(seed)
    for r in (data.y, *(data.y + 0.2 * rng.standard_normal((3, len(data.y))))):
        new = [BlockOracle(data.arrays)._project(b, X.T @ r, 0.0) for b, X in enumerate(data.arrays.X)]
        norms = np.array([one.norm for one in new])
        enough = float(np.median(norms))
        top, faces = asked.price(r, enough)
        hot = [b for b, norm in enumerate(norms) if norm > enough + 1e-9]
        assert {face.block for face in faces} >= set(hot)
        assert all(np.linalg.norm(face.v - new[face.block or 0].v) <= 1e-9 * (1.0 + enough) for face in faces)
        assert top == pytest.approx(max(float(norms.max()), enough) if hot else top)
        for b, (norm, X, K) in enumerate(zip(norms, data.arrays.X, data.arrays.K, strict=True)):
            bound = asked._project(b, X.T @ r, enough)
            assert bound.norm >= norm - 1e-9
            assert (bound.rho >= 0.0).all()
            assert X.T @ r - K.T @ bound.rho == pytest.approx(bound.v, abs=1e-9)
