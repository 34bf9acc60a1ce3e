"""Biases are folded without changing the function, or refused with the way out."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from relu_cert.errors import UsageError
from relu_cert.network.objective import convex_form
from relu_cert.network.trained import TrainedNetwork, fold, square_root

Z = ((F(1), F(2)), (F(-1), F(1, 2)), (F(3), F(-1)))
ONES = tuple((*z, F(1)) for z in Z)
W1, W2, B1 = ((F(1), F(-1, 2)), (F(2), F(1, 3))), (F(3), F(-1, 4)), (F(1, 2), F(-1))


@pytest.mark.parametrize("b2", [F(0), F(2), F(-4, 9), F(1, 3)])
def test_the_function_is_kept(b2: F) -> None:
    """On the column of ones, the folded network is the same function, output bias and all."""
    network = TrainedNetwork(W1, W2, B1, b2)
    folded = fold(network, 3, ones=True, output_bias="neuron")
    assert folded.b1 is None
    assert folded.b2 == b2
    assert folded(ONES) == network(Z)
    assert folded.m == network.m


def test_the_output_bias_costs_its_size() -> None:
    """Its neuron is |b2| times the last unit vector in the convex program."""
    folded = fold(TrainedNetwork(W1, W2, None, F(-5, 7)), 3, ones=True, output_bias="neuron")
    neuron = convex_form(folded)[-1]
    assert (neuron.sign, neuron.w) == (-1, (F(0), F(0), F(5, 7)))


def test_without_biases_nothing_happens() -> None:
    """A network for data that already has its column of ones is taken as it is, and zero biases are no biases."""
    assert fold(TrainedNetwork(W1, W2), 2, ones=True).W1 == W1
    assert fold(TrainedNetwork(W1, W2, (F(0), F(0))), 2, ones=False).b1 is None


@pytest.mark.parametrize(
    ("network", "d", "ones", "message"),
    [
        (
            TrainedNetwork(W1, W2, None, F(1, 2)),
            3,
            True,
            "output bias 0.5; say --free output-bias .* say --output-bias neuron",
        ),
        (TrainedNetwork(W1, W2, None, F(1, 2)), 2, False, "say --bias and --output-bias neuron"),
        (TrainedNetwork(W1, W2, B1), 2, False, "first layer has biases; read the data with --bias"),
        (TrainedNetwork(W1, W2, B1), 2, True, "has 2 inputs, the data has 1 features and a column of ones"),
        (TrainedNetwork(W1, W2), 5, False, "has 2 inputs, the data has 5 features; they must be the same"),
    ],
)
def test_refusals(network: TrainedNetwork, d: int, ones: bool, message: str) -> None:
    """What cannot be folded is told with what to do."""
    with pytest.raises(UsageError, match=message):
        fold(network, d, ones=ones)


def test_an_output_bias_needs_the_column_of_ones() -> None:
    """Without a column of ones there is no neuron that is constant."""
    with pytest.raises(UsageError, match="becomes a neuron on the column of ones; read the data with --bias"):
        fold(TrainedNetwork(W1, W2, None, F(1)), 2, ones=False, output_bias="neuron")


def test_square_roots() -> None:
    """Exact for squares of rationals, else right to 53 bits."""
    assert square_root(F(49, 4)) == F(7, 2)
    for x in (F(2), F(1, 3), F(10**40 + 1, 7), F(3, 10**60)):
        assert abs(square_root(x) ** 2 / x - 1) < F(1, 2**51)
