"""Data at the edge: zero, repeated and antipodal rows, one row, one column, low rank, many columns, large numbers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns, predict
from tests.patterns import instances
from tests.patterns.test_patterns_brute_force import check


@pytest.mark.parametrize(
    ("rows", "patterns", "open_cells"),
    [
        ([[0]], ["1"], 1),
        ([[0, 0], [0, 0]], ["11"], 1),
        ([[5]], ["1", "0"], 2),
        ([[0, -3]], ["1", "0"], 2),
        ([[1], [-2]], ["10", "01", "11"], 2),
        ([[1], [2], [0]], ["111", "001"], 2),
        ([[1, 2], [1, 2], [-2, -4]], ["110", "001", "111"], 2),
        ([[1, 0], [0, 1]], ["11", "10", "01", "00"], 4),
    ],
)
def test_tiny(rows, patterns, open_cells):
    """Sets small enough to be written down by hand."""
    Z = matrix(rows)
    found = enumerate_patterns(Z)
    listed = ["".join("01"[bit] for bit in row) for row in found.array().tolist()]
    assert sorted(listed) == sorted(patterns)
    assert found.open_cells == open_cells
    check(Z, found)


def test_three_vectors_at_equal_angles():
    """A totally cyclic plane whose lines are all acyclic: on top of its cells only the axis adds patterns."""
    Z = matrix([[1, 0, 0], [0, 1, 0], [-1, -1, 0], [0, 0, 1]])
    found = enumerate_patterns(Z)
    assert [group.flat for group in found.groups] == [(), (0, 1, 2)]
    assert [len(group) for group in found.groups] == [12, 2]
    check(Z, found)


def test_more_columns_than_rows():
    """n < d: all 2^n patterns are cells; thousands of columns are no trouble."""
    rng = random.Random(1)
    Z = matrix([[rng.randint(-9, 9) for _ in range(3000)] for _ in range(7)])
    found = enumerate_patterns(Z)
    assert (found.rank, len(found), found.open_cells) == (7, 128, 128)
    for number in range(len(found)):
        u = found.witness(number)
        assert len(u) == 3000
        values = [sum(int(x) * w for x, w in zip(row, u, strict=True)) for row in Z]
        assert tuple(v >= 0 for v in values) == found.pattern(number)


@pytest.mark.parametrize("spread", [1, 10**12])
def test_binary64_values(spread):
    """Doubles read exactly, also with columns of very different size."""
    rng = random.Random(2)
    Z = matrix([[Fraction(rng.gauss(0, 1)), Fraction(rng.gauss(0, 1) * spread), Fraction(1)] for _ in range(7)])
    check(Z, enumerate_patterns(Z))


def test_nearly_dependent_rows():
    """Rows that differ in the 30th digit are different hyperplanes, and the thin cells between them are found."""
    tiny = Fraction(1, 10**30)
    Z = matrix([[1, 1, 1], [1 + tiny, 1, 1], [1, 1 + tiny, 1], [1, 1, 1 + 2 * tiny], [1, -2, 0]])
    found = enumerate_patterns(Z)
    assert found.open_cells == instances.cover(5, 3)
    assert found.groups[0].witnesses.dtype == object
    check(Z, found)


def test_limit_is_exact():
    """A limit equal to the number of patterns is no reason to refuse, one less is."""
    Z = matrix(instances.ternary(2))
    assert len(enumerate_patterns(Z, max_patterns=17)) == 17
    with pytest.raises(TooManyPatterns, match="16"):
        enumerate_patterns(Z, max_patterns=16)


def test_bound_is_no_reason_to_refuse():
    """Degenerate data whose Cover bound is far above the limit and whose number of cells is below it is enumerated."""
    Z = matrix(instances.braid(6))
    assert predict(Z).cells > 1000 > len(enumerate_patterns(Z, max_patterns=800)) - 1 >= 720 - 1


def test_refuses_large_data_at_once():
    """A billion patterns are refused without walking to the limit."""
    rng = random.Random(3)
    Z = matrix([[rng.randint(-99, 99) for _ in range(8)] for _ in range(100)])
    calls: list[int] = []
    with pytest.raises(TooManyPatterns) as caught:
        enumerate_patterns(Z, progress=lambda done, _: calls.append(done))
    assert not calls
    assert caught.value.predicted == predict(Z).general > 10**9
    assert "`check` needs no list" in str(caught.value)


@pytest.mark.parametrize("more", [0, 3])
def test_refuses_wide_data_at_once(more: int):
    """Rows that are (nearly) independent have at least 2^rank patterns, and no walk begins: wide data were walked until
    memory was full, because there are few sets of rank - 1 of their rows."""
    rng = random.Random(5)
    Z = matrix([[rng.randint(-99, 99) for _ in range(60)] for _ in range(60 + more)])
    calls: list[int] = []
    with pytest.raises(TooManyPatterns, match=r"some 10\^18 activation patterns"):
        enumerate_patterns(Z, progress=lambda done, _: calls.append(done))
    assert not calls


def test_progress_and_interrupt():
    """Progress grows to the number of cells, and an exception raised there (as Ctrl-C does) ends the run."""
    rng = random.Random(4)
    Z = matrix([[rng.randint(-99, 99) for _ in range(4)] for _ in range(12)])
    calls: list[tuple[int, int]] = []
    found = enumerate_patterns(Z, progress=lambda done, bound: calls.append((done, bound)))
    assert calls == sorted(calls)
    assert found.open_cells // 2 < calls[-1][0] <= len(found) <= calls[-1][1]

    def interrupt(done: int, bound: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        enumerate_patterns(Z, progress=interrupt)


def test_witnesses_are_small():
    """They go into certificates: integers of a few digits on integer data of a few digits."""
    rng = random.Random(6)
    Z = matrix([[rng.randint(-9, 9) for _ in range(4)] for _ in range(15)])
    W = enumerate_patterns(Z).groups[0].witnesses
    assert W.dtype == np.int64
    assert np.median(np.abs(W).max(axis=1)) < 40


def test_entries_that_underflow():
    """Columns whose sizes differ by more than the range of floats: no float may decide anything there."""
    huge = 10**400
    Z = matrix([[huge, 1, 0], [huge, 2, 1], [huge + 1, -1, 3], [-huge, 5, 1], [huge, 1, 1]])
    check(Z, enumerate_patterns(Z))
    check(Z, enumerate_patterns(Z, engine="compiled"))
