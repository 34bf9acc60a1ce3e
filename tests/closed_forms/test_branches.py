"""How far the neurons of a path are followed, and what ends their formulas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import ctx
from sympy import sqrt

from relu_cert import path
from relu_cert.closed_forms.branches import BITS, Branch, Start, start_at, start_in
from relu_cert.path.bounds import bounds_of

POINTS: dict[str, Any] = {"Z": [[-1], [3], [5]], "y": [0, 2, -3], "low": "1/20", "bias": True}


@pytest.fixture(scope="module")
def report() -> Any:
    """A path with two neurons that turn onto kinks, one that enters, and lambda_max."""
    return path(**POINTS).report


def started(report: Any, k: int) -> tuple[Branch, Start]:
    """The neurons below breakpoint k."""
    one, problem = report.breakpoints[k], report.facts.problem
    start = start_at(bounds_of(problem, report.cover, one.at_lo.piece), one.at_lo, one.lo)
    assert start is not None
    return Branch(problem, report.cover, start.neurons), start


def test_neurons_are_followed_to_the_next_breakpoint_and_not_past_it(report: Any) -> None:
    """From each breakpoint to the one below, where one condition alone may fail; asked for more, they end inside it."""
    kinds = []
    for k in range(3):
        branch, start = started(report, k)
        below = report.breakpoints[k + 1]
        reached = branch.reached(start, below.hi)
        assert reached is not None and reached[0] == below.hi
        (event,) = branch.broken(reached[1], below.lo, below.hi) or [("", None)]
        kinds.append(event[0])
        past = branch.reached(start, below.lo * Fraction(9, 10))
        assert past is not None and below.lo < past[0] <= below.hi * (1 + Fraction(1, 10**6))
    assert kinds == ["face", "tie", "face"]


def test_a_neuron_that_turns_ends_its_formula(report: Any) -> None:
    """At sqrt(10)/4 no weight vanishes and no other neuron ties: the direction of the only neuron reaches a kink."""
    found = report.formulas
    assert found.complete and found.breakpoints[:3] == (sqrt(82), sqrt(10) / 4, 2 * sqrt(26) / 13)
    assert [len(way.neurons) for way in found.stretches] == [1, 2]
    assert (found.ways[0].lo, found.ways[1].hi) == (sqrt(10) / 4, sqrt(10) / 4)


def test_a_start_that_is_not_the_solution_proves_nothing(report: Any) -> None:
    """Neurons without one of the active ones lead nowhere, and so does a point that is far from their zero."""
    branch, start = started(report, 2)
    fewer = Branch(branch.problem, branch.cover, branch.neurons[:1])
    n = len(branch.problem.y)
    left = replace(start, neurons=start.neurons[:1], x=start.x[: n + 1])
    reached = fewer.reached(left, start.lam * Fraction(99, 100))
    assert reached is None or reached[0] == start.lam
    x = tuple(2 * a for a in start.x)
    assert branch.reached(replace(start, x=x), start.lam * Fraction(99, 100)) is None


def test_a_box_holds_the_solutions_between(report: Any) -> None:
    """At a lambda between the ends of a box the sharp point of the piece is in it; a box across all of a region is
    none."""
    branch, start = started(report, 3)
    with ctx.workprec(BITS):
        lam, near = start.lam * Fraction(999, 1000), list(start.x)
        box = branch._box(lam, start.lam, [], near)
        middle = branch._box((lam + start.lam) / 2, (lam + start.lam) / 2, [], near)
        assert box is not None and middle is not None
        assert all(a.contains(b) for a, b in zip(box.X.entries(), middle.X.entries(), strict=True))
        assert branch._box(start.lam / 100, start.lam, [], near) is None


def test_smooth_pieces_start_and_are_leapt_over(report: Any) -> None:
    """A smooth piece on all of which one neuron is active is a start at each of its lambdas, with that neuron."""
    problem, cover = report.facts.problem, report.cover
    known = bounds_of(problem, cover, len(cover.pieces) - 2)
    start = start_in(known, len(cover.pieces) - 2, known.piece.lo)
    assert start is not None and len(start.neurons) == 1 and start.off < Fraction(1, 10**12)
    assert known.active() == (0,)
    none = replace(known, piece=replace(known.piece, weights=tuple(tuple(-x for x in w) for w in known.piece.weights)))
    assert start_in(none, len(cover.pieces) - 2, known.piece.lo) is None
