"""The walk over bases where F and g are known up to errors: what it lists is the truth behind the errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from flint import fmpq_mat

from properties.exact import polytope as truth
from properties.exact.linalg import Vector, rank
from relu_cert.errors import Unsettled
from relu_cert.exact import to_fmpq
from relu_cert.prove.polytope.shortest import shortest
from relu_cert.prove.polytope.walk import (
    System,
    TooManyBases,
    enclosed_start,
    exact_start,
    exact_system,
    seems_larger,
    walk,
)
from verify.rules.polytope import check_polytope
from verify.sets.solutions import System as Checked
from verify.text import Node

ZERO = Fraction(0)
BITS = 80


@dataclass(frozen=True)
class Hidden:
    """The true columns and right side, and the system that is known of them."""

    columns: tuple[Vector, ...]
    g: Vector
    system: System


def hidden(seed: int) -> Hidden:
    """Masses of superclasses, and rows of a lift that are known with an error; small numbers, so that vertices are
    often degenerate. Rows with right side 0 are silent where the truth is 0."""
    rng = Random(seed)
    groups, lift = rng.randint(1, 2), rng.randint(0, 2)
    rows, k = groups + lift, rng.randint(groups + lift, groups + lift + 4)
    columns = []
    for _ in range(k):
        group = rng.randrange(groups)
        values = [Fraction(rng.choice((0, rng.randint(-3, 3))), rng.randint(1, 3)) for _ in range(lift)]
        columns.append((*(Fraction(l == group) for l in range(groups)), *values))
    alpha = [Fraction(rng.randint(0, 3)) for _ in range(k)]
    g = tuple(sum((x * c[l] for x, c in zip(alpha, columns, strict=True)), ZERO) for l in range(rows))
    error = Fraction(1, 10 ** rng.choice((3, 6, 12)))

    def blurred(x: Fraction, known: bool) -> Fraction:
        return x if known else x + error * Fraction(rng.randint(-100, 100), 100)

    F = [[blurred(c[l], l < groups) for c in columns] for l in range(rows)]
    unit = Fraction(1, 1 << BITS)
    system = System(
        fmpq_mat([[to_fmpq(_floor(x)) for x in row] for row in F]),
        tuple(_floor(blurred(x, l >= groups)) for l, x in enumerate(g)),
        tuple(unit if l < groups else error + unit for l in range(rows)),
        tuple(error + unit if l < groups else unit for l in range(rows)),
        tuple(range(k)),
        k,
        BITS,
        {l: frozenset(a for a in range(k) if not columns[a][l]) for l in range(groups, rows) if not g[l]},
    )
    return Hidden(tuple(columns), g, system)


def _floor(x: Fraction) -> Fraction:
    return Fraction((x.numerator << BITS) // x.denominator, 1 << BITS)


def edges(columns: tuple[Vector, ...], supports: list[tuple[int, ...]]) -> int:
    """The number of pairs of vertices whose common face has dimension 1."""
    return sum(len({*u, *v}) - rank([columns[a] for a in sorted({*u, *v})]) == 1 for u, v in combinations(supports, 2))


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_what_is_listed_is_the_truth(start: int) -> None:
    """On systems that are known up to errors, the walk lists exactly the vertices and edges of the true one or gives
    up; the shortest weights are within their radius; the checker, which rounds for itself, accepts it all."""
    listed = enclosed = 0
    for seed in range(start, start + 50):
        case = hidden(seed)
        if not any(case.g):
            continue
        try:
            found = walk(case.system, enclosed_start(case.system), 5000)
        except Unsettled:
            continue
        listed += 1
        supports = sorted(truth.support(v) for v in truth.vertices(case.columns, case.g))
        assert sorted(found.points) == supports
        assert len(found.edges) == edges(case.columns, supports)
        s = case.system
        known = Checked(s.F, s.g, s.F_error, s.g_error, s.names, s.total, s.silent, exact=False)
        nearest = shortest(s, list(found.points.values()))
        if nearest is not None:
            least = truth.least_norm(case.columns, case.g)
            assert least is not None
            pairs = list(zip(nearest.weights, least, strict=True))
            assert all(abs(x - y) <= nearest.radius and (x or not y) for x, y in pairs)
            enclosed += 1
        fact = {
            "bits": BITS,
            "tilt": " ".join(map(str, found.tilt)),
            "bases": [list(basis) for basis in found.bases],
            "vertices": [list(support) for support in found.points],
            "edges": [list(edge) for edge in found.edges],
            "min_norm": None
            if nearest is None
            else {"weights": " ".join(map(str, nearest.weights)), "radius": str(nearest.radius)},
        }
        assert len(check_polytope(known, Node(fact)).vertices) == len(supports)
    assert listed >= 15
    assert enclosed >= listed / 2


def test_degenerate_vertices_need_silent_rows() -> None:
    """Some of these systems have vertices with weights that are exactly zero, and are listed; without the silent rows
    none of those is."""
    degenerate = 0
    for seed in range(400):
        case = hidden(seed)
        supports = [truth.support(v) for v in truth.vertices(case.columns, case.g)]
        if not any(case.g) or all(len(support) == case.system.rows for support in supports):
            continue
        try:
            walk(case.system, enclosed_start(case.system), 5000)
        except Unsettled:
            continue
        degenerate += 1
        blind = replace(case.system, silent={})
        with pytest.raises(Unsettled):
            walk(blind, enclosed_start(blind), 5000)
    assert degenerate >= 5


def test_a_limit_on_the_number_of_bases() -> None:
    """Ten equal outputs have ten vertices: with room for nine the walk says that there are more."""
    system = exact_system([(Fraction(1),)] * 10, (Fraction(2),))
    start = exact_start(system, (0,))
    assert len(walk(system, start, 10).bases) == 10
    with pytest.raises(TooManyBases, match="more than 9"):
        walk(system, start, 9)


def test_floats_count_no_more_bases_than_there_are() -> None:
    """Pivots in floats see at most the bases that the walk proves, and nearly always that there are as many."""
    seen = listed = 0
    for seed in range(200):
        system = hidden(seed).system
        if max(system.F_error) > Fraction(1, 10**11):
            continue
        try:
            start = enclosed_start(system)
            bases = len(walk(system, start, 5000).bases)
        except Unsettled:
            continue
        blurred = bases > 1 and seems_larger(system, start, bases - 1)
        system = replace(system, F_error=(ZERO,) * system.rows, g_error=(ZERO,) * system.rows)
        assert not blurred
        assert not seems_larger(system, start, bases)
        nondegenerate = not any(system.silent.values())
        listed += nondegenerate and bases > 1
        seen += nondegenerate and bases > 1 and seems_larger(system, start, bases - 1)
    assert listed > 20
    assert seen > listed / 2
