"""Paths on symmetric data, where many neurons tie on whole intervals."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from tests.path.cases import CLAIMS, certificate_text, facts_on, network, verdicts
from verify import Rejected, check
from verify.optimal.ball import Ball, Class, Face
from verify.path.moving import check_pinned
from verify.problem.problem import Problem as VerifyProblem
from verify.text import Node

F = Fraction
SQUARE = network([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]], [1, 1, -1, -1])
HALVES = [[F(1), F(0)], [F(1, 2), F(433, 500)], [F(-1, 2), F(433, 500)]]
HEXAGON = network([[str(x), str(y), 1] for x, y in (*HALVES, *([-a, -b] for a, b in HALVES))], [1, -1, 1, -1, 1, -1])
SIGNED_XOR = network([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1])
ALL_FIT = {"square": (SQUARE, F(1)), "hexagon": (HEXAGON, F(9, 20)), "xor with signs": (SIGNED_XOR, F(3))}


@pytest.mark.parametrize("name", ALL_FIT)
def test_unique_though_the_residual_is_orthogonal_to_the_rows(name: str) -> None:
    """The residual is orthogonal to all columns of Z, so that u and -u tie; the network is unique all the same, for
    every lambda up to lambda_max, and the checker accepts it."""
    problem, hi = ALL_FIT[name]
    facts = facts_on(problem, hi / 2, hi / 100, hi)
    assert {result.verdict.value for result in verdicts(facts).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(certificate_text(facts).encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}


def crossed() -> Problem:
    """Antipodal points of which four lie on a line through the origin, with a bias: the neuron that is orthogonal to
    that line has kinks that are concave, and others that are convex."""
    half = [[-3, 2, 1], [0, -2, 1], [-3, -3, 1], [-1, 1, 1], [-3, 3, 1]]
    Z = [row for a, b, c in half for row in ([a, b, c], [-a, -b, c])]
    return network(Z, [0, 0, -3, -3, 0, 0, 3, 3, -2, -2])


@cache
def pinned_facts() -> Facts:
    """Its path."""
    return facts_on(crossed(), F(1), F(1, 5), F(2))


@cache
def pinned_text() -> str:
    """Its certificate."""
    return certificate_text(pinned_facts())


def test_a_neuron_on_convex_kinks() -> None:
    """A neuron on convex kinks is pinned by the concave ones: the pieces on which it ties are proved and accepted."""
    path = pinned_facts().path
    assert path is not None
    assert not path.cover.gaps
    assert any(piece.pinned for piece in path.cover.pieces)
    assert {result.verdict.value for result in verdicts(pinned_facts()).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(pinned_text().encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}


def without_pinned(piece: dict[str, Any]) -> None:
    """Nothing is pinned."""
    del piece["pinned"]


def without_a_kink(piece: dict[str, Any]) -> None:
    """A pinned neuron that has a kink less."""
    one = piece["classes"][piece["pinned"][0]]
    left = next(k for k in one["kinks"] if k not in one["basis"])
    place = [k for k in one["kinks"] if k not in one["basis"]].index(left)
    fixed = one["fixed"].split()
    one["kinks"].remove(left)
    one["fixed"] = " ".join(fixed[:place] + fixed[place + 1 :])


def other_sign(piece: dict[str, Any]) -> None:
    """A pinned neuron of the other sign."""
    one = piece["classes"][piece["pinned"][0]]
    one["sign"] = {"+": "-", "-": "+"}[one["sign"]]


@pytest.mark.parametrize("forge", [without_pinned, without_a_kink, other_sign])
def test_forged_pins_are_rejected(forge: Callable[[dict[str, Any]], None]) -> None:
    """What is pinned must be said, with all of its kinks and its sign: else the checker rejects."""
    whole = json.loads(pinned_text())
    pieces = whole["facts"]["path"]["pieces"]
    forge(next(piece for piece in pieces if "pinned" in piece))
    with pytest.raises(Rejected):
        check(json.dumps(whole).encode())


@pytest.mark.parametrize(("weight", "holds"), [(F(-2), True), (F(-1), False), (F(-1, 2), False), (F(1), False)])
def test_every_flank_must_lose(weight: F, holds: bool) -> None:
    """z = (1, 1) is on with weight 1, z = (0, 1) is a kink: the neuron along (1, 0) is pinned if and only if the kink
    takes more than the other row gives along (0, 1)."""
    problem = VerifyProblem("relu", F(1), ((F(1), F(1)), (F(0), F(1))), (F(1), weight))
    P = fmpq_mat([[1, 0], [0, 0]])
    face = Face((1,), (1,), (), {}, P, fmpq_mat([[0, 1]]))
    class_ = Class((1, 1), (1,), 2, fmpq_mat([[1, 0], [0, 0]]), F(3), face)
    S = fmpq_mat([[1], [fmpq(weight.numerator, weight.denominator)]])
    ball = Ball(problem, (F(1), weight), F(0))
    if holds:
        check_pinned(ball, S, class_, F(1, 100), Node(None))
    else:
        with pytest.raises(Rejected):
            check_pinned(ball, S, class_, F(1, 100), Node(None))


def test_a_multiplier_on_its_bound_all_along() -> None:
    """xor without a bias: two neurons lie on a kink whose multiplier is on its bound for all small lambda. Their kinks
    are in the basis, and the path is proved to the end."""
    facts = facts_on(network([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]), F(1, 2), F(1, 70), F(3, 2))
    assert {result.verdict.value for result in verdicts(facts).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(certificate_text(facts).encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}
