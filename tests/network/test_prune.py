"""Optimal pruning is exact: the same fit, independent outputs, a penalty that never rises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import Matrix
from relu_cert.network import prune as module
from relu_cert.network.objective import ConvexNeuron, fit
from relu_cert.network.prune import Pruned, Strategy, output_rank, prune, prune_best, pruning_path, root_sum_sign

Z = ((F(1), F(0)), (F(0), F(1)), (F(1), F(-1)), (F(-1), F(-2)))
Y = (F(3), F(-1), F(2), F(1))

weights = st.tuples(st.integers(-4, 4).map(F), st.integers(-4, 4).map(F))
neurons = st.builds(ConvexNeuron, st.sampled_from((1, -1)), weights.filter(any))


@pytest.mark.parametrize("parts", [(F(2), F(1)), (F(1), F(2))])
def test_two_copies_become_one(parts: tuple[F, F]) -> None:
    """X = [1 1], w = (2,1) or (1,2): the printed step 1/|beta| loops, or lands at (2,1); the signed one ends at 3."""
    found = prune([ConvexNeuron(1, (w,)) for w in parts], ((F(1),),))
    assert [neuron.w for neuron in found.neurons] == [(F(3),)]
    assert not found.better


def test_every_neuron_of_the_dependence_takes_part() -> None:
    """Outputs (1,0), (1,0), (0,1): the third is in no dependence and must stay as it is."""
    points = ((F(1), F(0)), (F(0), F(1)))
    parts = [ConvexNeuron(1, (F(1), F(0))), ConvexNeuron(1, (F(1), F(0))), ConvexNeuron(1, (F(0), F(1)))]
    found = prune(parts, points)
    assert fit(found.neurons, points) == (F(2), F(1))
    assert found.neurons[-1] == parts[2]
    assert len(found.neurons) == 2


def test_neurons_without_output_go_first() -> None:
    """A neuron that is zero on all points only costs; it is pruned, and the objective falls."""
    found = prune([ConvexNeuron(1, (F(-1),)), ConvexNeuron(1, (F(2),))], ((F(1),),))
    assert found.kept == (1,)
    assert found.better


def test_the_cheaper_of_two_ways_is_taken() -> None:
    """(4,3) costs 5 and does what (4,0) does for 4 on the only point: the dependence is walked the way that gains."""
    parts = [ConvexNeuron(1, (F(4), F(3))), ConvexNeuron(1, (F(4), F(0)))]
    for order in (parts, parts[::-1]):
        found = prune(order, ((F(1), F(0)),))
        assert [neuron.w for neuron in found.neurons] == [(F(8), F(0))]
        assert found.better


@pytest.mark.long
@pytest.mark.parametrize("way", [prune, prune_best])
@settings(derandomize=True, max_examples=150, deadline=None)
@given(parts=st.lists(neurons, max_size=8))
def test_laws(way: Callable[[Sequence[ConvexNeuron], Matrix], Pruned], parts: list[ConvexNeuron]) -> None:
    """Same fit, independent outputs, weights that only scale, a penalty that falls iff it is said to."""
    found = way(parts, Z)
    assert fit(found.neurons, Z) == fit(parts, Z)
    assert output_rank(found.neurons, Z) == len(found.neurons) <= output_rank(parts, Z)
    assert all(a > 0 for a in found.factors)
    for i, a, neuron in zip(found.kept, found.factors, found.neurons, strict=True):
        assert neuron == ConvexNeuron(parts[i].sign, tuple(a * x for x in parts[i].w))
    change = [(F(1), p.norm_squared) for p in parts] + [(F(-1), n.norm_squared) for n in found.neurons]
    assert root_sum_sign(change) == int(found.better)
    assert way(found.neurons, Z).neurons == found.neurons


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(neurons, max_size=8))
def test_the_best_vertex_is_no_worse_than_the_walk_s(parts: list[ConvexNeuron]) -> None:
    """The linear program's vertex costs no more than where the walk ends."""
    walked, best = prune(parts, Z).neurons, prune_best(parts, Z).neurons
    change = [(F(1), n.norm_squared) for n in walked] + [(F(-1), n.norm_squared) for n in best]
    assert root_sum_sign(change) >= 0


def test_a_wrong_proposal_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supports that miss the fit, are dependent, or cost more are all turned down, and the walk is taken instead."""
    parts = [ConvexNeuron(1, (F(4), F(3))), ConvexNeuron(1, (F(4), F(0)))]
    point = ((F(1), F(0)),)
    for support in ([], [0], [0, 1]):
        monkeypatch.setattr(module, "_cheapest_support", lambda *_, support=support: support)
        assert prune_best(parts, point) == prune(parts, point)
    # 21 (1,1) - 9 (1,2) has the fit (12,3) at a low cost, but no neuron can have a negative weight.
    parts = [ConvexNeuron(1, (F(a), F(b))) for a, b in ((1, 1), (1, 2), (10, 0))]
    square = ((F(1), F(0)), (F(0), F(1)))
    monkeypatch.setattr(module, "_cheapest_support", lambda *_: [0, 1])
    assert prune_best(parts, square) == prune(parts, square)


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("correct", [True, False])
def test_the_path_goes_down_to_nothing(strategy: Strategy, correct: bool) -> None:
    """One neuron fewer at a time until none is left; the first network is the given one, the last costs 1/2|y|^2."""
    parts = [ConvexNeuron(1, (F(1), F(0))), ConvexNeuron(-1, (F(1), F(5))), ConvexNeuron(1, (F(-2), F(-1, 4)))]
    assert output_rank(parts, Z) == len(parts)
    steps = list(pruning_path(parts, Z, Y, F(1, 10), strategy, correct=correct))
    assert [step.width for step in steps] == list(range(len(parts), -1, -1))
    assert steps[0].neurons() == tuple(parts)
    assert steps[-1].objective == pytest.approx(float(sum(y * y for y in Y)) / 2)
    assert set(steps[-2].numbers) <= set(steps[0].numbers)


def test_strategies_choose_what_they_say() -> None:
    """Magnitude drops the shortest weight and leaves the rest; residual the neuron that the others replace best."""
    points = ((F(1), F(0), F(0)), (F(0), F(1), F(0)), (F(0), F(0), F(1)))
    parts = [
        ConvexNeuron(1, (F(1), F(0), F(0))),
        ConvexNeuron(1, (F(0), F(3), F(0))),
        ConvexNeuron(1, (F(0), F(30), F(1, 8))),
    ]
    y = (F(1), F(33), F(0))
    magnitude = list(pruning_path(parts, points, y, F(1), Strategy.MAGNITUDE, correct=False))
    assert magnitude[1].numbers == (1, 2)
    assert magnitude[1].neurons() == tuple(parts[1:])
    residual = list(pruning_path(parts, points, y, F(1), Strategy.RESIDUAL))
    assert residual[1].numbers == (0, 2)
    assert residual[1].loss < 1e-2 < magnitude[1].loss


def test_a_corrected_step_moves_the_fit_no_further_than_least_squares() -> None:
    """|fit' - fit| <= min_beta |sum beta_i q_i - q_j| for the neuron j that was chosen, at every step."""
    rng = np.random.default_rng(2)
    points = tuple(tuple(F(int(x)) for x in row) for row in rng.integers(-5, 6, (8, 3)))
    y = tuple(F(int(x)) for x in rng.integers(-9, 9, 8))
    parts = [
        ConvexNeuron(int(s), tuple(F(int(x)) for x in w))
        for s, w in zip((1, -1, 1, 1, -1), rng.integers(-5, 6, (5, 3)), strict=True)
    ]
    parts = list(prune(parts, points).neurons)
    steps = list(pruning_path(parts, points, y, F(1)))
    data = np.array(points, dtype=float)
    for before, after in pairwise(steps):
        Q = np.maximum(data @ before.w.T, 0) * before.signs
        left = (np.maximum(data @ after.w.T, 0) * after.signs).sum(axis=1)
        best = min(
            np.linalg.norm(np.delete(Q, j, 1) @ np.linalg.lstsq(np.delete(Q, j, 1), Q[:, j], rcond=None)[0] - Q[:, j])
            for j in range(Q.shape[1])
        )
        assert np.linalg.norm(left - Q.sum(axis=1)) <= best * (1 + 1e-9) + 1e-12
        assert (after.w.size == 0) or np.all(np.isfinite(after.w))


def test_random_is_reproducible() -> None:
    """The same seed prunes in the same order."""
    parts = [ConvexNeuron(1, (F(i), F(1))) for i in range(1, 5)]
    first, second = (
        [step.numbers for step in pruning_path(parts, Z, Y, F(1), Strategy.RANDOM, correct=False, seed=3)]
        for _ in range(2)
    )
    assert first == second
