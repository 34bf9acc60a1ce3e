"""The parts of the pattern proof against definitions: signs by packing, counts by trees, flats by closure."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import verify
from tests.verify.build import plain
from tests.verify.corpus.accepted_cases import patterns_only
from tests.verify.oracle import brute
from verify.numbers.count import count_sets
from verify.numbers.patterns import bits_of
from verify.numbers.restricted import Subspaces, rank
from verify.numbers.signs import Signs, field_width
from verify.rules.patterns import dependent_flats
from verify.text import mask_of

INTEGERS = st.one_of(st.integers(-3, 3), st.integers(-300, 300), st.integers(-(2**200), 2**200))


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data())
def test_packed_signs_are_the_signs(data: st.DataObject) -> None:
    """The packed sum gives the sign of every z_k.u, also where entries are at the edge of a field."""
    d = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(INTEGERS, min_size=d, max_size=d), min_size=1, max_size=6))
    signs = Signs(rows)
    for _ in range(3):
        u = data.draw(st.lists(INTEGERS, min_size=d, max_size=d))
        products = [sum(a * b for a, b in zip(row, u, strict=True)) for row in rows]
        expected = (
            mask_of(k for k, x in enumerate(products) if x >= 0),
            mask_of(k for k, x in enumerate(products) if x == 0),
        )
        assert signs.of(u) == expected


@pytest.mark.parametrize("bits", range(0, 70))
def test_fields_are_wide_enough(bits: int) -> None:
    """The largest products, of both signs, keep to their own field."""
    bound = (1 << bits) - 1
    assert bound <= 2 ** (8 * field_width(bound) - 1) - 1
    rows = [[1], [-1], [0], [1]]
    assert Signs(rows).of([bound]) == ((0b1101, 0b0100) if bound else (0b1111, 0b1111))
    assert Signs(rows).of([-bound]) == ((0b0110, 0b0100) if bound else (0b1111, 0b1111))


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data())
def test_counts_are_counts(data: st.DataObject) -> None:
    """The tree counts exactly the sets that contain no listed set, up to the limit, and never below the truth."""
    elements = data.draw(st.integers(0, 8))
    size = data.draw(st.integers(0, 6))
    subsets = st.sets(st.integers(0, max(elements - 1, 0)), min_size=1, max_size=4)
    listed = data.draw(st.lists(subsets, max_size=8)) if elements else []
    everything = [set(S) for k in range(size + 1) for S in combinations(range(elements), k)]
    truth = sum(1 for S in everything if not any(B <= S for B in listed))
    tuples = [tuple(sorted(B)) for B in listed]
    assert count_sets(elements, size, tuples, 10**9) == truth
    limit = data.draw(st.integers(0, 60))
    counted = count_sets(elements, size, tuples, limit)
    assert counted == truth if truth <= limit else counted > limit


def test_counts_without_circuits_are_binomial_sums() -> None:
    """General position is counted at once, however large."""
    assert count_sets(49, 4, [], 10**9) == sum(comb(49, k) for k in range(5)) == 231_526
    assert count_sets(2000, 1999, [], 10) > 10


MATRICES = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.lists(st.integers(-1, 1), min_size=d, max_size=d), min_size=1, max_size=6)
)


FOUR = st.lists(st.lists(st.integers(-1, 1), min_size=4, max_size=4), min_size=5, max_size=7)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(MATRICES | FOUR)
@example([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 1, 0]])
@example([[1, 0, 0, 0, 0], [-2, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])
def test_dependent_flats_are_all_found(rows: list[list[int]]) -> None:
    """From the circuits that make the count exact, closure finds every dependent flat and nothing but flats."""
    Z = brute.mat(rows)
    circuits = [tuple(c) for c in brute.broken_circuits(brute.restricted(Z, []))]
    found = {frozenset(bits_of(mask)) for mask in dependent_flats(Subspaces(rows), circuits)}
    everything = frozenset(range(len(rows)))
    assert found == {*brute.dependent_flats(Z), everything}


@settings(derandomize=True, max_examples=150, deadline=None)
@given(MATRICES)
def test_every_small_arrangement(rows: list[list[int]]) -> None:
    """All patterns of any small data are accepted; with any one pattern less, or one group less, they are not."""
    case = patterns_only("any", brute.mat(rows))
    verify.check(case.text, case.raw)
    groups = case.certificate["facts"]["patterns"]["groups"]
    for g, group in enumerate(groups):
        for k in range(len(group["witnesses"])):
            fewer = {**group, "witnesses": group["witnesses"][:k] + group["witnesses"][k + 1 :]}
            reject(case, [*groups[:g], fewer, *groups[g + 1 :]])
        if g:
            reject(case, groups[:g] + groups[g + 1 :])


def reject(case: plain.Case, groups: list[dict[str, Any]]) -> None:
    """Fewer groups or patterns are rejected with any covers at all (those that still exist, then all)."""
    total = sum(len(group["witnesses"]) for group in groups)
    listed = case.certificate["facts"]["patterns"]
    for covers in ([k for k in listed["covers"] if k < total], list(range(total))):
        fact = {**listed, "groups": groups, "covers": covers}
        tree = {**case.certificate, "facts": {"patterns": fact}}
        with pytest.raises(verify.Rejected):
            verify.check(plain.Case("fewer", tree, case.raw).text, case.raw)


def test_a_face_that_is_no_totally_cyclic_flat_adds_nothing() -> None:
    """A group for a flat that is not totally cyclic repeats patterns of open cells, and is rejected for that."""
    case = patterns_only("quadrants", brute.mat([[1, 0], [0, 1]]))
    fact = case.certificate["facts"]["patterns"]
    more = {"flat": [0], "circuits": [], "witnesses": ["0 1", "0 -1"]}
    tree = {**case.certificate, "facts": {"patterns": {**fact, "groups": [*fact["groups"], more]}}}
    with pytest.raises(verify.Rejected, match="a witness of a new pattern"):
        verify.check(plain.Case("more", tree, case.raw).text, case.raw)


def test_known_counts() -> None:
    """Ternary grids and cubes have the known numbers of cells and patterns."""
    counts = {}
    for name, values, d in (("grid", (-1, 0, 1), 2), ("grid", (-1, 0, 1), 3), ("cube", (0, 1), 4)):
        listing = plain.list_patterns(brute.mat(list(product(values, repeat=d))))
        counts[name, d] = (listing.open_cells, len(listing.patterns))
    assert counts == {("grid", 2): (8, 17), ("grid", 3): (96, 291), ("cube", 4): (370, 370)}


def test_restriction_keeps_span_and_rank() -> None:
    """On L the rows of the flat vanish, and ranks are those of the quotient."""
    rows = [[1, 0, 0], [0, 2, 0], [1, 1, 0], [0, 0, 3], [1, 1, 1], [0, 0, -1]]
    spaces = Subspaces(rows)
    assert spaces.antipodal == [3]
    space = spaces.on(mask_of([0]))
    assert (space.flat, space.rank, list(space.classes)) == (1, 2, [1, 3, 4])
    assert (space.classes[1], space.classes[3]) == (mask_of([1, 2]), mask_of([3, 5]))


@settings(derandomize=True, max_examples=150, deadline=None)
@given(FOUR, st.integers(0, 127), st.sampled_from([1, 10**20]))
def test_subspaces_equal_brute_force(rows: list[list[int]], chosen: int, size: int) -> None:
    """Step by step, with minors, the rows on a common kernel are parallel, zero and dependent as in plain Fractions.

    Columns are mixed with factors of any size; that changes no dependence.
    """
    rows = [[a + size * b, b, c + size * size * (a + d), d] for a, b, c, d in rows]
    flat = [k for k in range(len(rows)) if chosen >> k & 1]
    space = Subspaces(rows).on(mask_of(flat))
    truth = brute.restricted(brute.mat(rows), flat)
    nonzero = [k for k in range(len(rows)) if any(truth[k])]
    assert space.flat == mask_of(k for k in range(len(rows)) if k not in nonzero)
    assert space.rank == brute.rank([truth[k] for k in nonzero])
    for name, members in space.classes.items():
        parallel = [k for k in nonzero if brute.rank([truth[name], truth[k]]) == 1]
        assert members == mask_of(parallel)
        assert name == min(parallel)
    assert list(space.classes) == sorted(space.classes)
    for names in combinations(space.classes, 3):
        assert rank([space.lines[k] for k in names]) == brute.rank([truth[k] for k in names])
