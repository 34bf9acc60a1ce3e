"""Lower faces: many flats at once do what one flat alone does, whatever the size of the numbers and of the sets."""

from __future__ import annotations

import random

import flint
import numpy as np
import pytest

from relu_cert.exact import Matrix, matrix, primitive
from relu_cert.patterns import PatternSet, enumerate, enumerate_patterns
from relu_cert.patterns.arrangement import as_bytes, distinct, pack, symmetric_sums, union_by
from relu_cert.patterns.enumerate import Groups
from relu_cert.patterns.flats import (
    covering,
    directions,
    half_planes,
    parallel_classes,
    plane_cells,
    products,
    restrict,
    seeds,
    shorten,
)
from tests.patterns import instances
from tests.patterns.test_patterns_brute_force import check
from tests.patterns.test_patterns_counts import prove


def faces(found: PatternSet) -> set[tuple[tuple[int, ...], bytes]]:
    """Every pattern with the rows on which its witness vanishes."""
    return {(group.flat, row.tobytes()) for group in found.groups for row in group.bits}


def two_sided(rows: list[list[int]]) -> Matrix:
    """Each row and its opposite: every face has a pattern of its own."""
    return matrix([*rows, *([-x for x in row] for row in rows)])


@pytest.mark.parametrize(("m", "twice"), [(5, 5), (65, 9)])
def test_faces_of_planes_in_space(m, twice):
    """m planes in general position, some of them two-sided: m(m-1) + 2 cells, 2(m-1) sectors on each two-sided plane,
    two rays on each line that two of these have in common, and the origin. 65 hyperplanes need a second word.
    """
    rows = [[1, k, k * k] for k in range(m)]
    Z = matrix([*rows, *([-x for x in row] for row in rows[-twice:])])
    found = enumerate_patterns(Z, engine="python")
    assert found.open_cells == m * (m - 1) + 2
    assert len(found) - found.open_cells == twice * 2 * (m - 1) + twice * (twice - 1) + 1
    assert len(found.groups) == 1 + twice + twice * (twice - 1) // 2 + 1
    prove(Z, found)


def unimodular(rng: random.Random, r: int, size: int) -> list[list[int]]:
    """An integer matrix of determinant 1 with entries of about size^(2 r)."""
    U = [[int(i == j) for j in range(r)] for i in range(r)]
    for _ in range(2):
        for i in range(r):
            for j in range(r):
                if i != j:
                    f = rng.randint(-size, size)
                    U[i] = [x + f * y for x, y in zip(U[i], U[j], strict=True)]
    return U


@pytest.mark.parametrize("size", [1, 10**4, 10**9, 10**40])
@pytest.mark.parametrize("rows", [instances.ternary(3), instances.braid(5), [*instances.cube(3), [-1, -1, 0, -1]]])
def test_coordinates_do_not_matter(rows, size):
    """Z and Z U have the same patterns on the same flats for every unimodular U, also where minors are long."""
    rng = random.Random(size)
    U = unimodular(rng, len(rows[0]), size)
    turned = [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*U, strict=True)] for row in rows]
    plain, other = (enumerate_patterns(matrix(Z), engine="python") for Z in (rows, turned))
    assert faces(plain) == faces(other)
    prove(matrix(turned), other)


def test_rays_that_floats_do_not_separate():
    """On a plane where two directions have the same quotient in floats nothing is decided by floats."""
    a = 2**30
    normals = [(a + 1, a), (a, a - 1), (a + 2, a + 1), (3, -1), (0, 1)]
    bases = np.array([[[1, 0], [0, 1]]])
    assert half_planes(np.array(normals), bases) is None
    Z = two_sided([[0, 0, 1], *([*z, 0] for z in normals), *([*z, 1] for z in normals)])
    found = enumerate_patterns(Z, engine="python")
    prove(Z, found)
    plane = next(group for group in found.groups if group.flat == (0, 11))
    assert len(plane) == 2 * len(normals)


def test_planes_at_once_and_alone():
    """The same sectors with the same points in the same order, parallel and vanishing normals left out or not."""
    rng = random.Random(5)
    for _ in range(50):
        V = [primitive((rng.randint(-3, 3), rng.randint(-3, 3))) for _ in range(rng.randint(3, 9))]
        normals, seen = [], set()
        for z in V:
            key = tuple(directions(np.array([z]))[0].tolist())
            if any(z) and key not in seen:
                seen.add(key)
                normals.append(z)
        if len(normals) < 2:
            continue
        masks, points = plane_cells(normals)
        count, positive, W = half_planes(np.array(V), np.array([np.eye(2, dtype=np.int64)] * 2))
        assert count.tolist() == [len(masks)] * 2
        assert W.tolist() == [list(p) for p in points] * 2
        at = [V.index(z) for z in normals]
        sides = [[bool(mask >> j & 1) for j in range(len(normals))] for mask in masks]
        assert positive[:, at].tolist() == sides * 2


def test_short_bases_span_the_same_lattice():
    """Lagrange's reduction changes a basis by an integer matrix of determinant 1 or -1, and vectors become short."""
    rng = np.random.default_rng(1)
    bases = rng.integers(-(2**20), 2**20, size=(200, 2, 4))
    short = shorten(bases)
    for B, S in zip(bases.tolist(), short.tolist(), strict=True):
        minors = [[M[0][i] * M[1][j] - M[0][j] * M[1][i] for i in range(4) for j in range(i)] for M in (B, S)]
        assert minors[0] in (minors[1], [-x for x in minors[1]])
        assert 2 * abs(sum(x * y for x, y in zip(*S, strict=True))) <= min(sum(x * x for x in v) for v in S)


@pytest.mark.parametrize("dtype", [np.int64, object])
def test_parallel_classes(dtype):
    """Equal vectors are one class, zero vectors none, in the order of the smallest; long integers are no exception."""
    far = 1 if dtype is np.int64 else 2**61 - 1  # residues modulo one fixed prime would call v and v + p w equal
    V = np.array([[[1, 2], [1, 2 + far], [0, 0], [1, 2], [3, 1]], [[0, 0]] * 5, [[2, 1]] * 5], dtype=dtype)
    of, first, members = parallel_classes(V)
    assert of.tolist() == [0, 0, 0, 2]
    assert first.tolist() == [0, 1, 4, 0]
    assert members[:, 0].tolist() == [0b01001, 0b00010, 0b10000, 0b11111]


def test_restriction_keeps_what_it_should():
    """Vectors of the restricted basis are orthogonal to z, lie in the span, and are as many as the dimension says."""
    rng = random.Random(8)
    for size in (3, 10**6, 10**30):
        numbers = [rng.randint(-size, size) for _ in range(20 * 16)]
        blocks = np.array(numbers, dtype=object).reshape(20, 4, 4)
        blocks[:, range(4), range(4)] += 4 * size  # independent
        bases, z = blocks[:, :3], blocks[:, 3]
        out = restrict(bases, z).astype(object)
        assert not (out * z[:, None]).sum(axis=2).any()
        for B, C in zip(bases.tolist(), out.tolist(), strict=True):
            assert flint.fmpz_mat(C).rank() == 2
            assert flint.fmpz_mat([*B, *C]).rank() == 3


def test_dependent_flats_of_a_grid():
    """Four lines through 0 in the plane: two of them are seeds, each once, and above each is only the whole plane."""
    normals = np.array([[1, 0], [0, 1], [1, 1], [1, -1]])
    lowest = seeds(normals, [(0,), (2,), (0,)])
    assert [len(flats) for flats in lowest] == [0, 2]
    assert lowest[1].members[:, 0].tolist() == [1, 4]
    covered, new, members = covering(normals, lowest[1])
    assert covered.tolist() == [0, 1]
    assert (members[:, 0] == 0b1111).all()
    assert new.tolist() == [1, 0]
    assert products(normals, lowest[1].bases)[0, 0, 0] == 0


def test_sets_as_words():
    """Packing, unions, and rows that are equal, beyond one word."""
    rng = np.random.default_rng(2)
    flags = rng.integers(0, 2, size=(40, 70)).astype(bool)
    flags[7], flags[30] = flags[3], flags[3]
    words = pack(flags)

    def unpacked(rows):
        return np.unpackbits(as_bytes(rows), axis=1, count=70, bitorder="little")

    assert (unpacked(words) == flags).all()
    number, first = distinct(words)
    assert number[3] == number[7] == number[30] == 3
    assert (words[first][number] == words).all()
    assert first.tolist() == sorted(first.tolist())
    merged = union_by(np.array([1, 0, 1]), words[:3], 2)
    assert (unpacked(merged) == [flags[1], flags[0] | flags[2]]).all()
    parts = np.packbits(np.eye(70, dtype=np.uint8), axis=1)
    raw = np.packbits(flags, axis=1, bitorder="little")
    assert (np.unpackbits(symmetric_sums(raw, parts), axis=1, count=70).astype(bool) == flags).all()


def test_covers_in_small_blocks(monkeypatch):
    """Flats that are settled a few at a time share covers: none is listed twice, and all are covered."""
    rng = random.Random(4)
    base = [[rng.randint(-2, 2) for _ in range(4)] for _ in range(8)]
    Z = matrix([[rng.choice((-1, 1, 1)) * x for x in rng.choice(base)] for _ in range(10)])
    whole = enumerate_patterns(Z, engine="python")
    for block, many in ((1, 1), (40, 4096), (100, 8)):
        monkeypatch.setattr(enumerate, "BLOCK", block)
        monkeypatch.setattr(enumerate, "MANY", many)
        found = enumerate_patterns(Z, engine="python")
        assert len(set(found.covers)) == len(found.covers)
        assert faces(found) == faces(whole)
        check(Z, found)


def test_limit_counts_lower_faces():
    """The limit is on all patterns; progress never goes back and ends at their number."""
    Z = matrix(instances.ternary(3))
    calls: list[int] = []
    found = enumerate_patterns(Z, engine="python", progress=lambda done, _: calls.append(done))
    assert calls == sorted(calls)
    assert calls[-1] == len(found) == 291
    assert len(enumerate_patterns(Z, max_patterns=291)) == 291


def test_long_integers_on_planes(monkeypatch):
    """The set is the same if no plane is treated together with others."""
    Z = two_sided([[1, 2, 0], [3, 1, 1], [0, 1, -1], [2, 2, 5], [1, 0, 0]])
    together = enumerate_patterns(Z, engine="python")
    monkeypatch.setattr(Groups, "_planar", lambda *_: [])
    alone = enumerate_patterns(Z, engine="python")
    assert faces(together) == faces(alone)
    check(matrix(instances.ternary(2)), enumerate_patterns(matrix(instances.ternary(2))))
