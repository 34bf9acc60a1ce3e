"""The compiled engine finds the same cells and the same circuits as the integer walk, whatever the data."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest

from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns
from relu_cert.patterns.arrangement import IntVector, arrangement, hyperplanes
from relu_cert.patterns.cells import Cells, cells, minimal
from relu_cert.patterns.walk import LimitReached
from tests.patterns import instances
from tests.patterns.test_patterns_brute_force import FAMILIES, check
from tests.patterns.test_patterns_counts import prove


def integers(rng: random.Random, n: int, d: int, size: int) -> list[list[int]]:
    return [[rng.randint(-size, size) for _ in range(d)] for _ in range(n)]


def mixed(rng: random.Random, n: int, kinds: int, reals: int, digits: int) -> list[list[Fraction]]:
    """One-hot columns beside real ones: many minors vanish, and those that do not are long."""
    return [
        [Fraction(int(i % kinds == l)) for l in range(kinds)]
        + [Fraction(round(rng.gauss(0, 1) * 10**digits), 10**digits) for _ in range(reals)]
        for i in range(n)
    ]


def planted(rng: random.Random, n: int, d: int) -> list[list[Fraction]]:
    """Long decimals with exact dependencies between them: zero minors that floats cannot see."""
    rows = [[Fraction(rng.randint(-(10**9), 10**9), 10**6) for _ in range(d)] for _ in range(n)]
    for i in range(n // 2, n):
        a, b = rng.sample(range(n // 2), 2)
        rows[i] = [x * rng.randint(1, 9) + y for x, y in zip(rows[a], rows[b], strict=True)]
    return rows


def doubles(rng: random.Random, n: int, d: int, size: int) -> list[list[Fraction]]:
    """Doubles of very different size, read exactly: the normals have hundreds of digits."""
    return [[Fraction(rng.gauss(0, 1) * 2.0 ** rng.randint(-size, size)) for _ in range(d)] for _ in range(n)]


CASES = {
    "small integers": lambda rng: integers(rng, 14, 5, 2),
    "large integers": lambda rng: integers(rng, 16, 4, 10**6),
    "high rank": lambda rng: integers(rng, 12, 9, 1),
    "three columns": lambda rng: integers(rng, 40, 3, 9),
    "more than 64 hyperplanes": lambda rng: integers(rng, 70, 3, 99),
    "threshold functions": lambda _: instances.cube(4),
    "ternary grid": lambda _: instances.ternary(3),
    "braid": lambda _: instances.braid(6),
    "mixed": lambda rng: mixed(rng, 12, 3, 2, 6),
    "mixed doubles": lambda rng: [[*row, Fraction(rng.gauss(0, 1))] for row in mixed(rng, 12, 3, 1, 5)],
    "planted": lambda rng: planted(rng, 12, 4),
    "doubles": lambda rng: doubles(rng, 10, 4, 0),
    "scaled doubles": lambda rng: doubles(rng, 10, 6, 30),
    "scaled doubles with ties": lambda rng: [
        *(rows := doubles(rng, 6, 5, 30)),
        *([2 * x - y for x, y in zip(a, b, strict=True)] for a, b in pairwise(rows)),
    ],
    "doubles out of reach": lambda rng: doubles(rng, 9, 6, 99),
}


def normals_of(rows: list[list[Fraction]]) -> tuple[IntVector, ...]:
    return hyperplanes(arrangement(matrix(rows)).rows).normals


def as_set(found: Cells) -> set[bytes]:
    return {row.tobytes() for row in found.bits}


@pytest.mark.parametrize("case", CASES)
def test_engines_agree(case):
    """Equal cells and equal minimal circuits, each cell once; and every point lies in its cell."""
    normals = normals_of(CASES[case](random.Random(case)))
    plain, fast = cells(normals, compiled=False), cells(normals, compiled=True)
    assert len(fast) == len(plain) == len(as_set(fast))
    assert as_set(fast) == as_set(plain)
    assert [b for _, b in minimal(fast.broken)] == [b for _, b in minimal(plain.broken)]
    for bits, point in zip(fast.bits, fast.points.tolist(), strict=True):
        for j, z in enumerate(normals):
            value = sum(x * w for x, w in zip(z, point, strict=True))
            assert value != 0
            assert (value > 0) == bool(bits[j >> 3] >> (j & 7) & 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_compiled_equals_brute_force(family):
    """The whole set and its evidence, with the compiled engine wherever it can be used."""
    rng = random.Random(f"compiled {family.__name__}")
    for _ in range(8):
        Z = matrix(family(rng, rng.randint(5, 8), rng.randint(3, 4)))
        check(Z, enumerate_patterns(Z, engine="compiled"))


def test_large_general_position():
    """Several chunks: 30,000 cells and more, Cover's number, every witness proved."""
    Z = matrix(integers(random.Random(7), 45, 4, 500))
    seen: list[int] = []
    found = enumerate_patterns(Z, engine="compiled", progress=lambda done, _: seen.append(done))
    assert found.open_cells == instances.cover(45, 4)
    prove(Z, found)


def test_limit_and_interrupt():
    """The compiled walk stops at the limit, and at an exception from the progress call (as Ctrl-C raises one)."""
    normals = normals_of(integers(random.Random(8), 30, 5, 99))
    with pytest.raises(LimitReached):
        cells(normals, compiled=True, limit=1000)
    calls: list[int] = []

    def interrupt(number: int) -> None:
        calls.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cells(normals, compiled=True, tick=interrupt)
    assert len(calls) == 1
