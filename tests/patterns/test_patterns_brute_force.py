"""The pattern set against an independent exact brute force, and its evidence against the certificate page."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import Matrix, matrix
from relu_cert.patterns import PatternSet, enumerate_patterns
from tests.patterns import oracle

Generator = random.Random


def general(rng: Generator, n: int, d: int) -> list[list[Fraction]]:
    return [[Fraction(rng.randint(-999, 999), rng.randint(1, 99)) for _ in range(d)] for _ in range(n)]


def degenerate(rng: Generator, n: int, d: int) -> list[list[Fraction]]:
    """Many rows in common subspaces: sums and differences of a few."""
    few = [[rng.randint(-2, 2) for _ in range(d)] for _ in range(max(1, d - 1))]
    rows = []
    for _ in range(n):
        a, b = rng.choice(few), rng.choice(few)
        s, t = rng.randint(-1, 1), rng.randint(-1, 1)
        rows.append([Fraction(s * x + t * y) for x, y in zip(a, b, strict=True)])
    return rows


def duplicate(rng: Generator, n: int, d: int) -> list[list[Fraction]]:
    """Repeated, antipodal, scaled and zero rows."""
    base = general(rng, max(1, n // 2), d)
    rows = [[Fraction(rng.choice((-2, -1, 0, 1, 1, 3))) * x for x in rng.choice(base)] for _ in range(n)]
    rng.shuffle(rows)
    return rows


def grid(rng: Generator, n: int, d: int) -> list[list[Fraction]]:
    return [[Fraction(rng.randint(-1, 1)) for _ in range(d)] for _ in range(n)]


def one_hot(rng: Generator, n: int, d: int) -> list[list[Fraction]]:
    """One-hot rows with signs, and a real column in half of the cases."""
    rows = []
    real = rng.random() < 0.5
    for _ in range(n):
        row = [Fraction(0)] * d
        row[rng.randrange(d)] = Fraction(rng.choice((1, 1, -1)))
        if real:
            row[-1] += Fraction(rng.randint(-50, 50), 7)
        rows.append(row)
    return rows


def low_rank(rng: Generator, n: int, d: int) -> list[list[Fraction]]:
    rank = rng.randint(1, max(1, d - 1))
    left, right = grid(rng, n, rank), general(rng, rank, d)
    return [[sum((a * right[i][c] for i, a in enumerate(row)), Fraction(0)) for c in range(d)] for row in left]


FAMILIES = [general, degenerate, duplicate, grid, one_hot, low_rank]


def check(Z: Matrix, found: PatternSet) -> None:
    """The set equals the brute force, and everything that the certificate needs holds."""
    everything, cells = oracle.patterns(Z)
    listed = [tuple(row) for row in found.array().tolist()]
    assert len(listed) == len(set(listed)) == len(found)
    assert set(listed) == everything
    assert set(listed[: found.open_cells]) == cells
    assert found.rank == oracle.rank(Z) == len(found.columns)
    groups, number = [], 0
    for group in found.groups:
        witnesses = [found.witness(number + i) for i in range(len(group))]
        patterns = oracle.check_group(Z, group.flat, group.circuits, witnesses)
        assert patterns == listed[number : number + len(group)]
        groups.append((group.flat, patterns))
        number += len(group)
    assert found.groups[0].flat == tuple(k for k, row in enumerate(Z) if not any(row))
    oracle.check_covers(Z, groups, found.covers)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_equals_brute_force(family, seed):
    """On 360 random rational instances of six kinds the set, the kinds and the evidence are right."""
    rng = random.Random(f"{family.__name__} {seed}")
    for _ in range(12):
        Z = matrix(family(rng, rng.randint(1, 8), rng.randint(1, 4)))
        check(Z, enumerate_patterns(Z, engine="python"))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(1, 3).flatmap(lambda d: st.lists(st.tuples(*[st.integers(-2, 2)] * d), min_size=1, max_size=6)))
def test_small_integers(rows):
    """Small integer rows, shrunk to the simplest failure if there is one."""
    Z = matrix(rows)
    check(Z, enumerate_patterns(Z, engine="python"))
