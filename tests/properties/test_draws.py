"""What the strategies draw: every shape the theory cares about, often enough, and failing instances that are small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from properties.exact.linalg import dot, norm2, rank, transpose
from properties.exact.roots import rational_sqrt
from properties.strategies import (
    PlantedCGL,
    PlantedReLU,
    planted_antipodal,
    planted_box,
    planted_cgl,
    planted_elastic,
    planted_kink,
    planted_lasso,
    planted_logistic,
    planted_relu,
    planted_sampled,
    planted_smooth,
    rational_matrix,
)
from properties.strategies.numbers import points, several

Test = Callable[[Any], bool]


def run(strategy: SearchStrategy[Any], body: Callable[[Any], None], examples: int) -> None:
    """Draw, and shrink what `body` refuses."""
    settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )(given(strategy)(body))()


class _Found(Exception):
    pass


def smallest(strategy: SearchStrategy[Any], false: Test, examples: int = 400) -> Any:
    """What is left of an instance that refutes the false statement "no instance is like that"."""
    found = []

    def body(instance: Any) -> None:
        if false(instance):
            found.append(instance)
            raise _Found

    with pytest.raises(_Found):
        run(strategy, body, examples)
    return found[-1]


def numbers(value: Any) -> list[Fraction]:
    """Every rational of an instance."""
    if isinstance(value, Fraction):
        return [value]
    if is_dataclass(value):
        value = tuple(getattr(value, f.name) for f in fields(value))
    return [x for part in value for x in numbers(part)] if isinstance(value, tuple) else []


def largest(value: Any) -> int:
    """The largest numerator or denominator."""
    return max(max(abs(x.numerator), x.denominator) for x in numbers(value))


def needs_multiplier(p: PlantedCGL) -> bool:
    """c_b is outside the cone of some block."""
    return any(b.correlation(p.r) != v for b, v in zip(p.problem.blocks, p.v, strict=True))


DIRECT: dict[str, tuple[SearchStrategy[PlantedCGL], Test, int, int, int]] = {
    "unique": (planted_cgl(), lambda p: not p.unique, 1, 2, 2),
    "at most two vertices": (planted_cgl(), lambda p: len(p.vertices) > 2, 1, 3, 2),
    "no plane of solutions": (planted_cgl(), lambda p: p.dimension >= 2, 1, 3, 2),
    "minimal solutions are of one size": (planted_cgl(), lambda p: p.m_star < p.M_star, 3, 4, 4),
    "no multipliers": (planted_cgl(), needs_multiplier, 1, 2, 2),  # draws depend on the modules that are loaded
    "lambda is at most one": (planted_cgl(), lambda p: p.problem.lam2 > 1, 1, 1, 16),
    "a lasso in two rows is unique": (planted_lasso(), lambda p: p.problem.n > 1 and not p.unique, 2, 2, 2),
    "one smooth block": (planted_smooth(), lambda p: len(p.problem.blocks) > 1, 2, 2, 4),
    "no smooth block has a cone": (planted_smooth(), needs_multiplier, 2, 1, 4),
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(DIRECT))
def test_a_false_statement_about_problems_is_refuted_by_a_small_one(name: str) -> None:
    """Rows, blocks and constraints that are not needed are gone, and integers are small."""
    strategy, false, rows, blocks, most = DIRECT[name]
    p = smallest(strategy, false)
    assert p.problem.n <= rows
    assert len(p.problem.blocks) <= blocks
    assert sum(len(b.K) for b in p.problem.blocks) <= int(false is needs_multiplier)
    assert largest(p) <= most


NETWORKS: dict[str, tuple[SearchStrategy[PlantedReLU], Test, int, int]] = {
    "one neuron": (planted_relu(), lambda p: len(p.neurons) > 1, 2, 4),
    "lambda is rational": (planted_relu(), lambda p: rational_sqrt(p.lam2) is None, 4, 5),
    "no neuron is carried twice": (planted_relu(), lambda p: any(len(c) > 1 for c in p.carriers), 3, 4),
    "p-unique": (planted_antipodal(), lambda p: not p.p_unique, 4, 9),
    "boxes are p-unique": (planted_box(), lambda p: not p.p_unique, 4, 41),
    "a kink has one neuron": (planted_kink(), lambda p: len(p.neurons) > 1, 4, 8),
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_false_statement_about_networks_is_refuted_by_a_small_one(name: str) -> None:
    """Few rows, small integers."""
    strategy, false, rows, most = NETWORKS[name]
    p = smallest(strategy, false)
    assert len(p.Z) <= rows
    assert largest((p.Z, p.y, p.r, p.alpha)) <= most
    assert all(x.denominator == 1 for x in numbers((p.Z, p.y)))


def test_elastic_problems_shrink_to_one_number() -> None:
    """The smallest elastic problem with a weight has one row and one block of size one; lambda = delta = 1."""
    p = smallest(planted_elastic(), lambda p: any(map(any, p.w)))
    assert (p.problem.n, len(p.problem.blocks), p.problem.lam, p.delta) == (1, 1, 1, 1)
    assert p.problem.blocks[0].size == 1


def test_any_element_can_be_dropped() -> None:
    """However many choices an element is made of; the one that matters is kept alone."""
    elements = several(points(4, 3).flatmap(lambda x: several(points(3, 2), 7, 7).map(lambda y: (x, *y))), 1, 5)
    found = smallest(elements, lambda listed: any(sum(e[0]) > 2 for e in listed))
    assert len(found) == 1
    assert all(not any(x) for x in found[0][1:])


def frequencies(strategy: SearchStrategy[Any], tests: dict[str, tuple[float, Test]], examples: int) -> dict[str, float]:
    """How often each test is true, over distinct draws."""
    seen: set[str] = set()
    count: Counter[str] = Counter()

    def body(instance: Any) -> None:
        if repr(instance) not in seen:
            seen.add(repr(instance))
            count.update(name for name, (_, true) in tests.items() if true(instance))

    run(strategy, body, examples)
    return {name: count[name] / len(seen) for name in tests}


def antipodal(Z: tuple[tuple[Fraction, ...], ...]) -> bool:
    """Some row and its negative, not zero."""
    return any(any(z) and tuple(-x for x in z) in Z for z in Z)


PROBLEMS: dict[str, tuple[float, Test]] = {
    "one row": (0.1, lambda p: p.problem.n == 1),
    "three rows or more": (0.25, lambda p: p.problem.n > 2),
    "not unique": (0.4, lambda p: not p.unique),
    "more than two vertices": (0.2, lambda p: len(p.vertices) > 2),
    "minimal solutions of different sizes": (0.01, lambda p: p.m_star < p.M_star),
    "a tied block that no solution uses": (0.08, lambda p: set(p.E) != set(p.S)),
    "the planted solution is no vertex": (0.25, lambda p: p.alpha not in p.vertices),
    "a cone": (0.5, lambda p: any(b.K for b in p.problem.blocks)),
    "a multiplier": (0.2, needs_multiplier),
    "an inactive block": (0.25, lambda p: any(norm2(v) < p.problem.lam2 for v in p.v)),
    "a block with v = 0": (0.05, lambda p: not all(map(any, p.v))),
    "no weight at all": (0.02, lambda p: not p.S),
}
DATA: dict[str, tuple[float, Test]] = {
    "low rank": (0.08, lambda p: rank(p.Z) < len(p.Z[0])),
    "a zero row": (0.03, lambda p: not all(map(any, p.Z))),
    "a row twice": (0.15, lambda p: len(set(p.Z)) < len(p.Z)),
    "antipodal rows": (0.1, lambda p: antipodal(p.Z)),
    "neurons that tie": (0.1, lambda p: len(p.neurons) > 1),
    "not p-unique": (0.03, lambda p: not p.p_unique),
    "irrational lambda": (0.1, lambda p: rational_sqrt(p.lam2) is None),
    "a neuron in two blocks": (0.01, lambda p: any(len(c) > 1 for c in p.carriers)),
}
TIES: dict[str, tuple[float, Test]] = {
    "Z'r = 0": (1, lambda p: not any(dot(c, p.r) for c in transpose(p.Z))),
    "not p-unique": (0.08, lambda p: not p.p_unique),
    "p-unique": (0.3, lambda p: p.p_unique),
}
BOXES: dict[str, tuple[float, Test]] = {
    "not p-unique": (0.5, lambda p: not p.p_unique),
    "more than two minimal networks": (0.2, lambda p: len(p.vertices) > 2),
}
SAMPLED: dict[str, tuple[float, Test]] = {
    "gated": (0.25, lambda p: p.gates.model == "gated"),
    "not unique": (0.04, lambda p: len(p.vertices) > 1),
}
LOGISTIC: dict[str, tuple[float, Test]] = {
    "not unique": (0.2, lambda p: not p.unique),
    "both labels": (0.2, lambda p: len(set(p.problem.y)) == 2),
    "a = 1/2": (0.05, lambda p: Fraction(1, 2) in p.a),
}
MATRICES: dict[str, tuple[float, Test]] = {
    "low rank": (0.2, lambda Z: rank(Z) < 3),
    "a zero row": (0.03, lambda Z: not all(map(any, Z))),
    "a row twice": (0.2, lambda Z: len(set(Z)) < len(Z)),
    "antipodal rows": (0.02, antipodal),
    "a column of ones": (0.04, lambda Z: any(all(x == 1 for x in column) for column in transpose(Z))),
}
FAMILIES: dict[str, tuple[SearchStrategy[Any], dict[str, tuple[float, Test]], int]] = {
    "planted_cgl": (planted_cgl(), PROBLEMS, 200),
    "planted_relu": (planted_relu(), DATA, 200),
    "planted_antipodal": (planted_antipodal(), TIES, 80),
    "planted_box": (planted_box(), BOXES, 25),
    "planted_sampled": (planted_sampled(), SAMPLED, 80),
    "planted_logistic": (planted_logistic(), LOGISTIC, 80),
    "rational_matrix": (rational_matrix(4, 3), MATRICES, 200),
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_shape_occurs_often_enough(name: str) -> None:
    """A statement that fails on one of these shapes only would be found within a short campaign. (Half of the usual
    share will do: draws depend on the constants of whatever modules the process has loaded.)"""
    strategy, tests, examples = FAMILIES[name]
    seen = frequencies(strategy, tests, examples)
    rare = {shape: share for shape, share in seen.items() if share < tests[shape][0] / 2}
    assert not rare, rare
