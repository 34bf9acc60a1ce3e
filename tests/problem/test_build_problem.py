"""Network models as CGL problems: blocks, cones and their numbering."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import Matrix, Vector, dot, matrix, vector
from relu_cert.patterns.pattern_set import Group, PatternSet
from relu_cert.problem import Problem, gated, over_patterns, relu, written_out

fast = settings(derandomize=True, deadline=None, max_examples=100)


def pattern_set(Z: Matrix, *groups: list[tuple[int, ...]]) -> PatternSet:
    """The patterns 1(Zu >= 0) of the given witnesses u, in groups as given."""
    n, d = len(Z), len(Z[0])
    made = []
    for witnesses in groups:
        bits = [[dot(row, vector(u)) >= 0 for row in Z] for u in witnesses]
        packed = np.packbits(np.array(bits, dtype=np.uint8).reshape(-1, n), axis=1)
        made.append(Group((), packed, (), np.array(witnesses, dtype=np.int64).reshape(-1, d)))
    return PatternSet(n, d, d, tuple(range(d)), tuple(made), ())


def times(X: Matrix, w: Vector) -> Vector:
    """Xw"""
    return tuple(dot(row, w) for row in X)


def transposed_times(K: Matrix, w: Vector) -> Vector:
    """K'w"""
    return tuple(dot(column, w) for column in zip(*K, strict=True))


LINE = matrix([[1], [-2]])
ALL = pattern_set(LINE, [(1,), (-1,)], [(0,)])  # 10, 01, and 11 of the origin alone


def test_relu_blocks_by_hand() -> None:
    """Z = (1,-2)': blocks 2p and 2p + 1 have X_b = +-D Z and the same cone, as the paper prints them."""
    problem = relu(LINE, vector([3, 4]), ALL)
    assert (problem.model, problem.n, len(problem.blocks), problem.columns) == ("relu", 2, 0, None)
    assert (problem.relu.Z, problem.relu.patterns) == (LINE, ALL)
    seen = [(block.X, block.K) for block in written_out(problem).blocks]
    assert seen == [
        (matrix([[1], [0]]), matrix([[-1, -2]])),
        (matrix([[-1], [0]]), matrix([[-1, -2]])),
        (matrix([[0], [-2]]), matrix([[1, 2]])),
        (matrix([[0], [2]]), matrix([[1, 2]])),
        (matrix([[1], [-2]]), matrix([[-1, 2]])),
        (matrix([[-1], [2]]), matrix([[-1, 2]])),
    ]


def test_gated_blocks_by_hand() -> None:
    """The gated model has one block for each pattern, X_b = D Z, and no cone."""
    problem = gated(LINE, vector([3, 4]), ALL)
    assert (problem.model, len(problem.blocks)) == ("gated", 3)
    assert [block.X for block in problem.blocks] == [
        matrix([[1], [0]]),
        matrix([[0], [-2]]),
        matrix([[1], [-2]]),
    ]
    assert all(block.K is None for block in problem.blocks)


small = st.integers(-4, 4)
instances = st.tuples(st.integers(1, 9), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        st.lists(
            st.lists(st.builds(Fraction, small, st.integers(1, 3)), min_size=shape[1], max_size=shape[1]).map(tuple),
            min_size=shape[0],
            max_size=shape[0],
        ).map(tuple),
        st.lists(st.lists(small, min_size=shape[1], max_size=shape[1]).map(tuple), min_size=1, max_size=4),
    )
)


@fast
@given(instances)
def test_a_witness_is_a_neuron_of_its_blocks(instance: tuple[Matrix, list[tuple[int, ...]]]) -> None:
    """A witness u lies in the cone of its pattern's two blocks, and there X_b u = xi (Zu)_+."""
    Z, witnesses = instance
    patterns = pattern_set(Z, witnesses)
    texts = tuple(dict.fromkeys(patterns.texts()))
    problem = over_patterns(Z, (Fraction(0),) * len(Z), texts, "relu")
    for text, u in zip(patterns.texts(), witnesses, strict=True):
        output = tuple(max(z, Fraction(0)) for z in times(Z, vector(u)))
        for xi in (1, -1):
            block = problem.blocks[2 * texts.index(text) + (xi < 0)]
            assert block.K is not None
            assert all(k <= 0 for k in transposed_times(block.K, vector(u)))
            assert times(block.X, vector(u)) == tuple(xi * f for f in output)


@fast
@given(instances)
def test_cones_hold_exactly_the_neurons_of_the_pattern(instance: tuple[Matrix, list[tuple[int, ...]]]) -> None:
    """Any u is in the cone of pattern D iff (2D - I) Z u >= 0, so iff D Z u = (Zu)_+ and no sign disagrees."""
    Z, witnesses = instance
    texts = tuple(dict.fromkeys(pattern_set(Z, witnesses).texts()))
    problem = over_patterns(Z, (Fraction(0),) * len(Z), texts, "relu")
    for number, text in enumerate(texts):
        K = problem.blocks[2 * number].K
        assert K is not None
        for u in witnesses:
            sides = zip(text, times(Z, vector(u)), strict=True)
            agrees = all(z >= 0 if on == "1" else z <= 0 for on, z in sides)
            assert all(k <= 0 for k in transposed_times(K, vector(u))) is agrees


def test_blocks_are_a_lazy_sequence() -> None:
    """Blocks are made on demand, and indices and slices behave as those of a list."""
    blocks = gated(LINE, vector([3, 4]), ALL).blocks
    as_list = list(blocks)
    assert blocks[-1] == as_list[-1]
    assert list(blocks[0:3:2]) == as_list[0:3:2]
    for outside in (3, -4):
        with pytest.raises(IndexError):
            blocks[outside]


def test_shapes_must_agree() -> None:
    """Data and patterns of different shapes make no problem."""
    for Z, y in ((LINE, vector([1])), (matrix([[1]]), vector([1])), (matrix([[1, 2], [3, 4]]), vector([1, 2]))):
        with pytest.raises(ValueError, match="patterns"):
            relu(Z, y, ALL)


@pytest.mark.parametrize("problem", [relu(LINE, vector([3, 4]), ALL), gated(LINE, vector(["1/3", 4]), ALL)])
def test_a_network_written_out_knows_where_it_comes_from(problem: Problem) -> None:
    """Written out block by block a network is a direct problem with the same target, patterns, and kind."""
    direct = written_out(problem)
    assert (direct.model, direct.kind, direct.y) == ("cgl", problem.model, problem.y)
    assert (direct.listed, direct.some) == (ALL, ())
    assert [direct.patterned.pattern(b) for b in range(len(direct.blocks))] == [
        text for text in ALL.texts() for _ in range(len(direct.blocks) // 3)
    ]
