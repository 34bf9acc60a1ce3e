"""The fact `polytope` against brute force: the equations are drawn, then disturbed within the errors that the checker
is told. Whatever list it accepts must be that of the true equations, vertex by vertex and edge by edge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import pytest
from flint import fmpq_mat

from properties.exact.linalg import rank
from properties.exact.polytope import least_norm, support, vertices
from verify import VerifyError
from verify.numbers.bounds import matrix, rational
from verify.rules.min_norm import check_min_norm
from verify.rules.polytope import check_polytope, read_corner, walk
from verify.sets.solutions import System
from verify.sets.system import on_grid
from verify.text import Node

Vector = tuple[Fraction, ...]
Basis = tuple[int, ...]
ERRORS = [Fraction(1, q) for q in (10**6, 1000, 100, 20, 8)]
ENTRIES = [Fraction(x) for x in ("0", "0", "0", "1", "-1", "2", "-2", "1/2")]


@dataclass(frozen=True)
class Drawn:
    """The columns of the true F, the true g, and what the checker is told of them."""

    columns: tuple[Vector, ...]
    g: Vector
    system: System


def drawn(rng: Random) -> Drawn | None:
    """Sums of weights over groups (known up to an error on the right), and sparse rows whose entries have errors; where
    the right side of such a row is 0 its zeros may be silent. None if no alpha >= 0 solves them."""
    k, groups = rng.randint(3, 6), rng.randint(1, 2)
    member = [rng.randrange(groups) for _ in range(k)]
    extra = [[rng.choice(ENTRIES) for _ in range(k)] for _ in range(rng.randint(0, 2))]
    rows = [[Fraction(m == s) for m in member] for s in range(groups)] + extra
    g = [Fraction(rng.randint(1, 3)) for _ in range(groups)] + [Fraction(rng.choice([0, 0, 0, 1])) for _ in extra]
    columns = tuple(zip(*rows, strict=True))
    if rank(tuple(map(tuple, rows))) < len(rows) or not vertices(columns, tuple(g)):
        return None
    lifted = range(groups, len(rows))
    silent = {l: frozenset(a for a in range(k) if not rows[l][a]) for l in lifted if not g[l] and rng.random() < 0.8}
    if rng.random() < 0.3:
        return Drawn(columns, tuple(g), told(rows, g, [Fraction(0)] * len(rows), [Fraction(0)] * len(rows), {}))
    error = rng.choice(ERRORS)
    F_error = [error if l in lifted else Fraction(0) for l in range(len(rows))]
    g_error = [Fraction(0) if l in lifted else error for l in range(len(rows))]
    off = [
        [x if a in silent.get(l, ()) else x + F_error[l] * part(rng) for a, x in enumerate(row)]
        for l, row in enumerate(rows)
    ]
    right = [x + e * part(rng) for x, e in zip(g, g_error, strict=True)]
    return Drawn(columns, tuple(g), told(off, right, F_error, g_error, silent))


def part(rng: Random) -> Fraction:
    """From -1 to 1, often an end."""
    return Fraction(rng.choice([-4, -4, -1, 0, 2, 4, 4]), 4)


def told(
    F: list[list[Fraction]],
    g: list[Fraction],
    F_error: list[Fraction],
    g_error: list[Fraction],
    silent: dict[int, frozenset[int]],
) -> System:
    """The equations for the checker, exact if there are no errors."""
    k = len(F[0])
    matrix = fmpq_mat(len(F), k, [rational(x) for row in F for x in row])
    exact = not any(F_error) and not any(g_error)
    return System(matrix, tuple(g), tuple(F_error), tuple(g_error), tuple(range(k)), k, silent, exact=exact)


def listed(rng: Random, system: System) -> dict[str, Any]:
    """The list of all bases that the checker takes, for some first basis and tilt, with the supports and edges that it
    sees; sometimes bases are left out."""
    bits = 0 if system.exact else rng.choice([8, 40, 200])
    short = system if system.exact else on_grid(system, bits)
    first = rng.choice(list(combinations(range(system.total), system.rows)))
    tilt = tuple(Fraction(rng.randint(1, 9)) for _ in first)
    bases = {first: Node(None)}
    for basis in combinations(range(system.total), system.rows):
        try:
            read_corner(short, basis, dict(zip(first, tilt, strict=True)), Node(None))
        except VerifyError:
            continue
        bases[basis] = Node(None)
    if rng.random() < 0.1:
        bases = {basis: node for basis, node in bases.items() if basis == first or rng.random() < 0.8}
    supports, _, edges = walk(short, tilt, bases, Node(None))
    return {
        "bits": bits,
        "tilt": " ".join(map(str, tilt)),
        "bases": [list(basis) for basis in bases],
        "vertices": [list(support) for support in supports],
        "edges": [list(pair) for pair in edges],
        "min_norm": None,
    }


def true_edges(columns: tuple[Vector, ...], supports: set[Basis]) -> set[frozenset[Basis]]:
    """Pairs of vertices whose common face, that of the weights of both, has dimension 1."""
    return {
        frozenset(pair)
        for pair in combinations(supports, 2)
        if len(both := sorted({*pair[0], *pair[1]})) - rank([columns[a] for a in both]) == 1
    }


@pytest.mark.parametrize("seed", range(3))
def test_what_is_accepted_is_the_truth(seed: int) -> None:
    """Supports, edges, weights within their errors, and the shortest weights are those of the true equations; and
    lists are accepted often enough to say so: exact ones, disturbed ones, and those with degenerate vertices."""
    rng, seen = Random(seed), Counter[str]()
    for _ in range(240):
        one = drawn(rng)
        if one is None:
            continue
        truth = {support(alpha): alpha for alpha in vertices(one.columns, one.g)}
        try:
            found = check_polytope(one.system, Node(listed(rng, one.system)))
        except VerifyError:
            seen["rejected"] += 1
            continue
        seen["exact" if one.system.exact else "enclosed"] += 1
        seen["degenerate"] += not one.system.exact and any(len(s) < len(one.g) for s in truth)
        assert set(found.vertices) == set(truth)
        assert {frozenset(found.vertices[i] for i in e) for e in found.edges} == true_edges(one.columns, set(truth))
        for name, weights, error in zip(found.vertices, found.points, found.errors, strict=True):
            assert all(abs(weights[a] - truth[name][a]) <= error for a in name)
        seen["shortest"] += shortest_is_true(rng, one)
    assert min(seen[kind] for kind in ("rejected", "exact", "enclosed", "degenerate", "shortest")) >= 3, seen


def shortest_is_true(rng: Random, one: Drawn) -> bool:
    """Whether some weights near the shortest ones, or others, are accepted as such; then the shortest weights are
    within the radius of them, and 0 where they are 0. (Exact ones need a `mu`.)"""
    if one.system.exact:
        return False
    truth = least_norm(one.columns, one.g)
    assert truth is not None
    radius = rng.choice([Fraction(1, 2), Fraction(1, 50)])
    weights = tuple(max(x + radius * part(rng) / 2, Fraction(0)) if x else x for x in truth)
    if rng.random() < 0.3:
        weights = tuple(Fraction(rng.choice([0, 1, 1])) for _ in truth)
    try:
        check_min_norm(
            one.system, Node({"bits": 200, "weights": " ".join(map(str, weights)), "radius": str(radius), "mu": ""})
        )
    except VerifyError:
        return False
    assert all(abs(x - t) <= radius and bool(x) == bool(t) for x, t in zip(weights, truth, strict=True))
    return True


def test_a_tilt_outside_of_the_basis() -> None:
    """F = (1, t), each within e = 1/10, g = 0, tilted along the second column: z = t is off by e (1 + t) / (1 - e),
    which is less for t = 1/5, and as much for t = 1/8."""

    def corner(t: Fraction) -> frozenset[int]:
        none, error = (Fraction(0),), (Fraction(1, 10),)
        system = System(matrix([[Fraction(1), t]], 2), none, error, none, (0, 1), 2, {0: frozenset()}, exact=False)
        return read_corner(system, (0,), {1: Fraction(1)}, Node(None)).zeros

    assert corner(Fraction(1, 5)) == {0}
    with pytest.raises(VerifyError, match="a tilt that makes the weights positive"):
        corner(Fraction(1, 8))
