"""Scale and merge symmetries, exactly."""

from __future__ import annotations

from fractions import Fraction as F
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.network.directions import merge_cells, merge_collinear, merge_on_data, scales
from relu_cert.network.objective import ConvexNeuron, convex_form, convex_objective, fit, objective
from relu_cert.network.prune import root_sum_sign
from relu_cert.network.trained import TrainedNetwork

Z = ((F(1), F(0)), (F(0), F(1)), (F(1), F(-1)), (F(2), F(1)))
Y = (F(2), F(-1), F(1), F(0))

weights = st.tuples(st.integers(-3, 3).map(F), st.integers(-3, 3).map(F))
neurons = st.builds(ConvexNeuron, st.sampled_from((1, -1)), weights.filter(any))


def test_scale_by_hand() -> None:
    """|W1| = 5, |w2| = 2 costs lambda/2 (5 - 2)^2; a balanced neuron costs nothing; a dead one costs its weight."""
    network = TrainedNetwork(((F(3), F(4)), (F(0), F(7)), (F(1), F(1))), (F(2), F(-7), F(0)))
    found = scales(network, F(1, 3))
    assert [s.balanced for s in found] == [False, True, False]
    assert [s.dead for s in found] == [False, False, True]
    assert (found[0].excess.lower, found[0].excess.upper) == (F(3, 2), F(3, 2))
    assert (found[1].excess.lower, found[1].excess.upper) == (F(0), F(0))
    assert (found[2].excess.lower, found[2].excess.upper) == (F(1, 3), F(1, 3))


def test_a_scale_wrong_in_the_last_bit_is_seen() -> None:
    """One unit in the last place of a double is not balanced, and its cost is enclosed without cancellation."""
    network = TrainedNetwork(((F(1), F(0)),), (1 + F(1, 2**52),))
    (found,) = scales(network, F(2))
    assert not found.balanced
    assert found.excess.lower <= F(1, 2**104) <= found.excess.upper
    assert found.excess.upper - found.excess.lower < F(1, 2**200)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(weights.filter(any), st.integers(1, 9).map(F))
def test_the_cost_of_a_scale_is_enclosed(w: tuple[F, F], v: F) -> None:
    """lower <= 1/2 (|W1| - |w2|)^2 <= upper, decided by exact signs of root sums."""
    (found,) = scales(TrainedNetwork((w,), (v,)), F(1))
    a, b = found.first, found.second
    for bound, sign in ((found.excess.lower, -1), (found.excess.upper, 1)):
        assert root_sum_sign([(2 * bound - a - b, F(1)), (F(2), a * b)]) in (0, sign)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.tuples(weights, st.integers(-4, 4).map(F)), min_size=1, max_size=4))
def test_excesses_sum_to_what_balancing_gains(rows: list[tuple[tuple[F, F], F]]) -> None:
    """J - P is the sum of the neurons' excesses."""
    network = TrainedNetwork(tuple(w for w, _ in rows), tuple(v for _, v in rows))
    gain = convex_objective(convex_form(network), Z, Y, F(1, 2)).scale(F(-1)).shift(objective(network, Z, Y, F(1, 2)))
    lower, upper = (sum(getattr(s.excess, end) for s in scales(network, F(1, 2))) for end in ("lower", "upper"))
    assert lower <= gain.upper
    assert gain.lower <= upper


def test_collinear_by_hand() -> None:
    """Same sign and direction are one neuron; the opposite direction or sign is another."""
    parts = [
        ConvexNeuron(1, (F(1), F(-2))),
        ConvexNeuron(1, (F(-1), F(2))),
        ConvexNeuron(-1, (F(1), F(-2))),
        ConvexNeuron(1, (F(1, 3), F(-2, 3))),
    ]
    found = merge_collinear(parts)
    assert found.groups == ((0, 3), (1,), (2,))
    assert found.merges == ((0, 3),)
    assert found.neurons[0] == ConvexNeuron(1, (F(4, 3), F(-8, 3)))


def test_one_cone_by_hand() -> None:
    """(1,1) and (2,1) are on one side of every row: they merge on the data, and the penalty falls strictly."""
    parts = [ConvexNeuron(1, (F(1), F(1))), ConvexNeuron(1, (F(-1), F(0))), ConvexNeuron(1, (F(2), F(1)))]
    found = merge_on_data(parts, Z)
    assert found.groups == ((0, 2), (1,))
    assert found.neurons[0].w == (F(3), F(2))
    assert fit(found.neurons, Z) == fit(parts, Z)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.lists(neurons, max_size=7))
def test_merging_keeps_the_fit_and_never_raises_the_penalty(parts: list[ConvexNeuron]) -> None:
    """Collinear: the same function everywhere at the same penalty. On the data: the same fit, no higher penalty."""
    everywhere = merge_collinear(parts)
    elsewhere = ((F(5), F(-3)), (F(-7), F(1)), (F(1, 9), F(4)))
    assert fit(everywhere.neurons, elsewhere) == fit(parts, elsewhere)
    before = [(F(1), p.norm_squared) for p in parts]
    assert root_sum_sign([*before, *((F(-1), m.norm_squared) for m in everywhere.neurons)]) == 0
    on_data = merge_on_data(parts, Z)
    assert fit(on_data.neurons, Z) == fit(parts, Z)
    assert root_sum_sign([*before, *((F(-1), m.norm_squared) for m in on_data.neurons)]) >= 0
    assert len(on_data.neurons) <= len(everywhere.neurons)
    assert merge_on_data(on_data.neurons, Z).merges == ()


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(neurons, max_size=7), st.randoms(use_true_random=False))
def test_merged_cells_do_not_depend_on_the_order(parts: list[ConvexNeuron], random: Random) -> None:
    """The same fit, no higher penalty, and the same neurons however the network is written."""
    found = merge_cells(parts, Z)
    assert fit(found.neurons, Z) == fit(parts, Z)
    sides = [(F(1), p.norm_squared) for p in parts] + [(F(-1), m.norm_squared) for m in found.neurons]
    assert root_sum_sign(sides) >= 0
    other = random.sample(parts, len(parts))
    assert sorted((n.sign, n.w) for n in merge_cells(other, Z).neurons) == sorted((n.sign, n.w) for n in found.neurons)
