"""Two networks side by side."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import norm_squared
from relu_cert.network.closest import match
from relu_cert.network.objective import ConvexNeuron

weights = st.tuples(st.integers(-4, 4).map(F), st.integers(-4, 4).map(F)).filter(any)
neurons = st.lists(st.builds(ConvexNeuron, st.sampled_from((1, -1)), weights), max_size=4)


def test_by_hand() -> None:
    """Signs must agree, and what has no partner counts with its length."""
    given_ = [ConvexNeuron(1, (F(1), F(0))), ConvexNeuron(-1, (F(0), F(2)))]
    optimal = [ConvexNeuron(-1, (F(0), F(3))), ConvexNeuron(-1, (F(1), F(0)))]
    found = match(given_, optimal)
    assert found.pairs == ((1, 0),)
    assert found.distance_squared == 1 + 1 + 1
    assert match([], optimal).distance_squared == 10


@settings(derandomize=True, max_examples=100, deadline=None)
@given(neurons, st.randoms(use_true_random=False))
def test_order_does_not_matter(parts: list[ConvexNeuron], random: object) -> None:
    """A network is at distance zero from itself in any order."""
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert match(parts, shuffled).distance_squared == 0


@settings(derandomize=True, max_examples=60, deadline=None)
@given(neurons, neurons)
def test_no_matching_is_shorter(first: list[ConvexNeuron], second: list[ConvexNeuron]) -> None:
    """All matchings of up to four neurons, tried one by one."""
    size = max(len(first), len(second))
    padded = [*second, *[None] * (size - len(second))]
    lengths = norm_squared([x for n in (*first, *second) for x in n.w])
    best = lengths
    for order in permutations(padded):
        gain = sum(
            2 * max(F(0), sum(x * y for x, y in zip(a.w, b.w, strict=True)))
            for a, b in zip(first, order, strict=False)
            if b is not None and a.sign == b.sign
        )
        best = min(best, lengths - gain)
    assert match(first, second).distance_squared == best
