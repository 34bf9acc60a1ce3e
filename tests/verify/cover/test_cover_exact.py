"""Exact and algebraic optimal sets over a cover: the verdicts are those over the list, and forged ones are rejected."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import verify
from properties.soundness.case import SILENT, NetworkCase
from relu_cert import examples
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.read import read_csv
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, WantedDerivatives, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.problem import unlisted_relu

SETS = {"twins": "exact_set", "conjecture-relu": "exact_set", "cube": "exact_set", "checkerboard": "algebraic_set"}
Tree = dict[str, Any]


@cache
def covered(name: str) -> tuple[str, bytes, dict[str, str]]:
    """The certificate of an example over a cover, its data, and the verdicts over the list."""
    example = examples.describe(name)
    data = read_csv(examples.path(name), bias=example.bias)
    case = NetworkCase("relu", data.Z, data.y, example.lam or Fraction(1))
    choice = LambdaChoice(value=case.lam)
    facts = find_facts(unlisted_relu(data.Z, data.y), choice, DEFAULT_GAP, SILENT, derivatives=WantedDerivatives())
    listed = network_problem(data, "relu", SILENT)
    over_list = find_facts(listed, choice, DEFAULT_GAP, SILENT, derivatives=WantedDerivatives())
    said = {one.claim: str(one.verdict) for one in decide(over_list) if one.claim != "patterns-complete"}
    return dumps(certificate(case.source, facts, decide(facts))), case.raw, said


def accepted(tree: Tree | str, raw: bytes) -> bool:
    """Whether the checker accepts it."""
    try:
        verify.check((tree if isinstance(tree, str) else dumps(tree)).encode(), raw)
    except verify.VerifyError:
        return False
    return True


@pytest.mark.parametrize("name", SETS)
def test_verdicts_are_those_of_the_list(name: str) -> None:
    """Every verdict that the list of patterns gives, a cover gives, too, and the checker accepts it."""
    text, raw, listed = covered(name)
    tree = json.loads(text)
    assert SETS[name] in tree["facts"] and "cover" in tree["facts"] and "dual" not in tree["facts"]
    found = {line.claim: line.verdict for line in verify.check(text.encode(), raw)}
    assert found == listed and found["p-unique"] == "REFUTED"


def exact(tree: Tree) -> Tree:
    """The fact of the set."""
    facts: Tree = tree["facts"]
    return facts["exact_set"] if "exact_set" in facts else facts["algebraic_set"]  # type: ignore[no-any-return]


def fewer_ties(tree: Tree) -> None:
    """A tie less: its leaves name none, or the neurons are fewer."""
    tree["facts"]["cover"]["proof"]["ties"].pop()


def another_order(tree: Tree) -> None:
    """The ties in another order: leaves name others."""
    tree["facts"]["cover"]["proof"]["ties"].reverse()


def other_weights(tree: Tree) -> None:
    """A solution with one weight more."""
    first = exact(tree)["solutions"][0]
    if isinstance(first, str):
        numbers = first.split()
        exact(tree)["solutions"][0] = " ".join(["7", *numbers[1:]])
    else:
        first[0] = " ".join(["7", *first[0].split()[1:]])


def once_the_same(tree: Tree) -> None:
    """The first solution twice."""
    exact(tree)["solutions"][1] = exact(tree)["solutions"][0]


def other_theta(tree: Tree) -> None:
    """theta a little off, or another residual."""
    if "exact_set" in tree["facts"]:
        first, *rest = tree["facts"]["cover"]["theta"].split()
        tree["facts"]["cover"]["theta"] = " ".join([str(Fraction(first) * (1 - Fraction(1, 10**9))), *rest])
    else:
        residual = exact(tree)["residual"]
        residual[0] = residual[1]


FORGED: dict[str, Callable[[Tree], None]] = {
    one.__name__: one for one in (fewer_ties, another_order, other_weights, once_the_same, other_theta)
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("name", SETS)
def test_forged_sets_are_rejected(name: str, forged: str) -> None:
    """A set over a cover with one thing changed is rejected."""
    text, raw, _ = covered(name)
    tree = json.loads(text)
    assert accepted(tree, raw)
    FORGED[forged](tree)
    assert not accepted(tree, raw)


def shares(tree: Tree) -> list[Any]:
    """The shares at r of every tie, in the field."""
    found: list[Any] = exact(tree)["multipliers"]["shares"]
    return found


def test_shares_in_the_field_are_needed() -> None:
    """A tie that is not out needs its shares, as many as there are lines through it, inside their bounds."""
    text, raw, _ = covered("checkerboard")
    tree = json.loads(text)
    places = [i for i, entry in enumerate(shares(tree)) if entry]
    assert places
    wrong: list[Any] = [None, [], shares(tree)[places[0]][1:], [*shares(tree)[places[0]], shares(tree)[places[0]][0]]]
    for far in ("2", "-1"):
        entry = copy.deepcopy(shares(tree)[places[0]])
        entry[0] = " ".join([far, *entry[0].split()[1:]])
        wrong.append(entry)
    for entry in wrong:
        changed = copy.deepcopy(tree)
        shares(changed)[places[0]] = entry
        assert not accepted(changed, raw), entry
    less = copy.deepcopy(tree)
    shares(less).pop()
    assert not accepted(less, raw)


def test_a_cover_without_room_is_rejected() -> None:
    """A residual of a field lies beside theta: a cover that holds at theta alone does not speak of it."""
    text, raw, _ = covered("checkerboard")
    tree = json.loads(text)
    assert tree["facts"]["cover"]["proof"]["margin"] > 0
    tree["facts"]["cover"]["proof"]["margin"] = 0
    assert not accepted(tree, raw)


def test_the_rule_needs_a_proof_of_the_dual_point() -> None:
    """Without multipliers and without a cover there are no tied neurons."""
    text, raw, _ = covered("twins")
    tree = json.loads(text)
    del tree["facts"]["cover"]
    assert not accepted(tree, raw)
