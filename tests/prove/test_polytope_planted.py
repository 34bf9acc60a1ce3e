"""The listed polytope against planted instances whose optimal set is known exactly (by brute force over all supports).

CI draws 200 instances; `pytest --hypothesis-profile=long` ten times as many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from itertools import pairwise
from math import isqrt

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis.strategies import SearchStrategy

from properties.exact import polytope as truth
from properties.exact.linalg import Vector, norm2, rank
from properties.exact.problem import CGL
from properties.strategies import (
    Cube,
    PlantedCGL,
    PlantedReLU,
    planted_antipodal,
    planted_box,
    planted_cgl,
    planted_cube,
    planted_kink,
    planted_relu,
)
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import relu
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove import listed
from relu_cert.prove.facts import Facts
from verify import check

pytestmark = pytest.mark.long

GAP = Fraction(1, 10**9)
LONG = 10 if settings().max_examples > 100 else 1
NEW = ("optimal-set", "minimal", "connected")


class Silent:
    """Progress that nobody watches."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Nothing is told."""
        return nullcontext()

    def tell(self, moment: object) -> None:
        """Nothing."""

    def advance(self, done: int, total: int) -> None:
        """Nothing is told."""


def root(x: Fraction) -> Fraction | None:
    """The square root of x, if it is rational."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if p * p == x.numerator and q * q == x.denominator else None


def direct(problem: CGL) -> Problem:
    """The planted problem as the certifier takes it."""
    blocks = tuple(Block(b.X, tuple(zip(*b.K, strict=True)) if b.K else None) for b in problem.blocks)
    ends = [sum(b.size for b in problem.blocks[:i]) for i in range(len(blocks) + 1)]
    columns = tuple(tuple(range(a, b)) for a, b in pairwise(ends))
    return Problem("cgl", problem.y, blocks, columns=columns)


def settled(problem: Problem, lam: Fraction) -> Facts:
    """The facts, after the checker has accepted their certificate with the verdicts on the polytope."""
    facts = find_facts(problem, LambdaChoice(value=lam), GAP, Silent())
    kind = "csv" if problem.source else "json"
    results = decide(facts, ("p-unique", *NEW))
    check(dumps(certificate(Source("planted", "0" * 64, kind, target=0), facts, results)).encode())
    return facts


def compare(facts: Facts, vertices: tuple[Vector, ...], outputs: tuple[Vector, ...]) -> str:
    """Dimension, vertices, edges, widths, nondegeneracy and the shortest point are the planted ones, if listed."""
    if vertices == (tuple(Fraction(0) for _ in outputs),):
        assert facts.lam**2 >= facts.lambda_max.squared
        return "zero"
    found = facts.polytope
    if found is None:
        assert facts.unlisted or facts.unsettled
        return "undecided"
    supports = [truth.support(alpha) for alpha in vertices]
    used = sorted({a for support in supports for a in support})
    span = rank([outputs[a] for a in used])
    assert sorted(found.widths) == sorted(map(len, supports))
    assert found.dimension == truth.dimension(vertices) == len(used) - span
    assert (found.m_star, found.M_star) == (min(map(len, supports)), max(map(len, supports)))
    assert found.nondegenerate == all(len(support) == span for support in supports)
    assert len(found.used) == len(used)
    faces = [
        (i, j)
        for j, v in enumerate(supports)
        for i, u in enumerate(supports[:j])
        if len({*u, *v}) - rank([outputs[a] for a in {*u, *v}]) == 1
    ]
    assert len(found.edges) == len(faces)
    if found.bits == 0:
        assert sorted(tuple(sorted(x for x in p if x)) for p in found.points) == sorted(
            tuple(sorted(x for x in p if x)) for p in vertices
        )
        chosen = [outputs[a] for a in used]
        shortest = truth.least_norm(chosen, total(chosen, [vertices[0][a] for a in used]))
        assert found.min_norm is not None and shortest is not None
        assert norm2(found.min_norm.weights) == norm2(shortest)
    return "listed"


def total(columns: list[Vector], weights: list[Fraction]) -> Vector:
    """sum_a weights_a columns_a"""
    return tuple(
        sum((w * x for w, x in zip(weights, row, strict=True)), Fraction(0)) for row in zip(*columns, strict=True)
    )


def cgl_case(planted: PlantedCGL) -> str:
    """A direct problem; only the blocks of E can be active."""
    lam = root(planted.problem.lam2)
    assert lam is not None
    facts = settled(direct(planted.problem), lam)
    vertices = tuple(tuple(alpha[b] for b in planted.E) for alpha in planted.vertices)
    return compare(facts, vertices, tuple(planted.q[b] for b in planted.E))


def relu_case(planted: PlantedReLU) -> str:
    """A ReLU network over all patterns, where lambda is rational."""
    lam = root(planted.lam2)
    assume(lam is not None and len(planted.neurons) <= 10)
    assert lam is not None
    facts = settled(relu(planted.Z, planted.y, enumerate_patterns(planted.Z)), lam)
    return compare(facts, planted.vertices, planted.q)


def cube_case(cube: Cube) -> str:
    """The eight patterns of the cube with both signs, as a direct problem: the kernels of all eight are dependent."""
    planted = PlantedCGL(cube.problem, cube.r, (), ())
    facts = settled(direct(cube.problem), Fraction(3))
    found = facts.polytope
    if found is None:
        return "undecided"
    positive = [i for i, b in enumerate(planted.problem.blocks) if i % 2 == 0]
    assert len(positive) == 8
    q = tuple(cube_output(cube, i) for i in range(8))
    fit = total(list(q), list(cube.alpha))
    return compare(facts, truth.vertices(q, fit), q) if found.tied == 8 else "more neurons tie"


def cube_output(cube: Cube, i: int) -> Vector:
    """D_T Z v_T"""
    v, on = cube.directions[i], cube.patterns[i]
    heights = [sum((a * b for a, b in zip(z, v, strict=True)), Fraction(0)) for z in cube.Z]
    return tuple(h if o else Fraction(0) for h, o in zip(heights, on, strict=True))


GENERATORS: dict[str, tuple[SearchStrategy[object], Callable[[object], str], int]] = {
    "direct": (planted_cgl(), cgl_case, 60),  # type: ignore[dict-item]
    "direct, crowded": (planted_cgl(max_n=3, min_active=3, min_weight=1, max_active=6), cgl_case, 40),  # type: ignore[dict-item]
    "relu": (planted_relu(), relu_case, 40),  # type: ignore[dict-item]
    "antipodal": (planted_antipodal(max_n=4), relu_case, 20),  # type: ignore[dict-item]
    "box": (planted_box(), relu_case, 20),  # type: ignore[dict-item]
    "kink": (planted_kink(), relu_case, 15),  # type: ignore[dict-item]
    "cube": (planted_cube(), cube_case, 5),  # type: ignore[dict-item]
}


HEALTH = [HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("name", ["direct, crowded", "relu", "antipodal", "box"])
def test_over_balls_nothing_else_is_listed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without the exact optimum, all proved over a ball: what is listed is the planted polytope, and
    what is degenerate by accident stays undecided."""
    strategy, case, _ = GENERATORS[name]
    monkeypatch.setattr(listed, "_exact_facts", lambda question, point: None)
    seen: Counter[str] = Counter()

    @settings(max_examples=12 * LONG, derandomize=True, deadline=None, database=None, suppress_health_check=HEALTH)
    @given(strategy)
    def run(planted: object) -> None:
        seen[case(planted)] += 1

    run()
    assert seen["listed"] > 0


@pytest.mark.parametrize("name", GENERATORS)
def test_the_listed_polytope_is_the_planted_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Dimension, vertices, edges, m*, M*, nondegeneracy and shortest weights equal the planted truth every time; the
    checker accepts each certificate; at most one in twenty is left undecided."""
    strategy, case, count = GENERATORS[name]
    seen: Counter[str] = Counter()

    @settings(
        max_examples=count * LONG,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=HEALTH,
    )
    @given(strategy)
    def run(planted: object) -> None:
        seen[case(planted)] += 1

    run()
    with capsys.disabled():
        print(f"\n  {name}: {dict(seen)}")
    assert seen["listed"] > 0
    assert seen["undecided"] * 20 <= sum(seen.values())
