"""The fact `polytope`: what is true is accepted, and no change makes the checker say anything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest

from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.prove.facts import BallSet, Facts
from tests.prove.test_polytope_planted import settled
from tests.verify.mutate import mutants
from verify import Rejected, VerifyError, check
from verify.claims.polytope import staircase
from verify.numbers.bounds import matrix
from verify.rules.polytope import Polytope, check_polytope
from verify.sets.solutions import System
from verify.sets.ties import exact_system
from verify.text import Limits, Node, load


@dataclass(frozen=True)
class Listed:
    """A true fact with the equations that it is about."""

    system: System
    fact: dict[str, Any]


def vec(*entries: int | str) -> tuple[Fraction, ...]:
    """A vector."""
    return tuple(map(Fraction, entries))


def records(facts: Facts) -> dict[str, Any]:
    """The fact as the certificate writes it."""
    found = facts.polytope
    assert found is not None and found.min_norm is not None
    return {
        "bits": found.bits,
        "tilt": " ".join(map(str, found.tilt)),
        "bases": [list(b) for b in found.bases],
        "vertices": [list(v) for v in found.vertices],
        "edges": [list(e) for e in found.edges],
        "min_norm": {
            "weights": " ".join(map(str, found.min_norm.weights)),
            "radius": str(found.min_norm.radius),
        },
    }


def enclosed(F: list[list[str]], g: list[str], silent: dict[int, frozenset[int]], error: Fraction) -> System:
    """Equations with errors in all but silent zeros."""
    rows = [[Fraction(x) for x in row] for row in F]
    k = len(rows[0])
    errors = (error,) * len(rows)
    return System(matrix(rows, k), vec(*g), errors, errors, tuple(range(k)), k, silent, exact=False)


CORNERS = [tuple(Fraction(x) for x in (1, *c)) for c in product((0, 1), repeat=2)]


def square() -> Listed:
    """Four outputs at the corners of a square, the fit in its centre: two diagonals, both degenerate."""
    system = exact_system(matrix(zip(*CORNERS, vec(2, 1, 1), strict=True), 5), 4)
    fact = {
        "bits": 0,
        "tilt": "1 2 4",
        "bases": [[0, 1, 3], [1, 2, 3]],
        "vertices": [[0, 3], [1, 2]],
        "edges": [[0, 1]],
        "min_norm": {"weights": "1/2 1/2 1/2 1/2", "radius": "0"},
    }
    return Listed(system, fact)


def interval() -> Listed:
    """alpha_0 + alpha_1 + alpha_2 = 3, alpha_0 - alpha_1 = 1 with errors: vertices {0, 1} and {0, 2}."""
    system = enclosed([["1", "1", "1"], ["1", "-1", "0"]], ["3", "1"], {}, Fraction(1, 10**6))
    fact = {
        "bits": 64,
        "tilt": "1 1",
        "bases": [[0, 1], [0, 2]],
        "vertices": [[0, 1], [0, 2]],
        "edges": [[0, 1]],
        "min_norm": {"weights": "3/2 1/2 1", "radius": "1/1000"},
    }
    return Listed(system, fact)


def silent_row() -> Listed:
    """alpha_0 + ... + alpha_3 = 3, alpha_0 = alpha_1, the others silent: {2} and {3} are degenerate vertices."""
    rows = [["1", "1", "1", "1"], ["1", "-1", "0", "0"]]
    system = enclosed(rows, ["3", "0"], {1: frozenset({2, 3})}, Fraction(1, 10**6))
    fact = {
        "bits": 64,
        "tilt": "3 1",
        "bases": [[0, 2], [0, 1], [0, 3]],
        "vertices": [[2], [0, 1], [3]],
        "edges": [[0, 1], [0, 2], [1, 2]],
        "min_norm": {"weights": "3/4 3/4 3/4 3/4", "radius": "1/1000"},
    }
    return Listed(system, fact)


CASES: dict[str, Callable[[], Listed]] = {"square": square, "interval": interval, "silent row": silent_row}


def judged(system: System, text: str) -> Polytope:
    """What the checker makes of a fact's text."""
    return check_polytope(system, load(text.encode(), Limits()))


@cache
def case(name: str) -> Listed:
    """One of CASES."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_true_facts_are_accepted(name: str) -> None:
    """Hand-made polytopes: exact and degenerate, enclosed, enclosed with weights that are exactly zero."""
    listed = case(name)
    found = judged(listed.system, json.dumps(listed.fact))
    assert [list(v) for v in found.vertices] == listed.fact["vertices"]
    assert [list(e) for e in found.edges] == listed.fact["edges"]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_every_mutant_is_rejected_or_says_the_same(name: str) -> None:
    """Whatever is changed, an accepted fact has the same vertices and edges (perhaps in another order), and its
    shortest weights are within its radius of the true ones."""
    listed = case(name)
    truth = judged(listed.system, json.dumps(listed.fact))
    shortest = [Fraction(x) for x in listed.fact["min_norm"]["weights"].split()]
    total = survivors = 0
    for mutant in mutants(listed.fact):
        total += 1
        try:
            found = judged(listed.system, mutant.text)
        except VerifyError:
            continue
        survivors += 1
        assert set(found.vertices) == set(truth.vertices), mutant.name
        named = [{frozenset((p.vertices[i], p.vertices[j])) for i, j in p.edges} for p in (found, truth)]
        assert named[0] == named[1], mutant.name
        assert staircase(found) == staircase(truth), mutant.name
        if (stated := json.loads(mutant.text)["min_norm"]) is not None:
            radius = Fraction(stated["radius"])
            off = [abs(Fraction(x) - y) for x, y in zip(stated["weights"].split(), shortest, strict=True)]
            assert max(off) <= radius + Fraction(1, 10**4) * bool(radius), mutant.name
    assert total > 300
    assert 0 < survivors < total / 5


@pytest.mark.parametrize("name", CASES)
def test_a_vertex_cannot_be_hidden(name: str) -> None:
    """A list without one vertex, consistent in all its parts, is rejected: a pivot leads to what is missing."""
    listed = case(name)
    for gone in range(len(listed.fact["vertices"])):
        support = set(listed.fact["vertices"][gone])
        bases = [b for b in listed.fact["bases"] if not support <= set(b)]
        kept = [v for v in listed.fact["vertices"] if set(v) != support and any(set(v) <= set(b) for b in bases)]
        edges = [[i, j] for j in range(len(kept)) for i in range(j)]
        fact = {**listed.fact, "bases": bases, "vertices": kept, "edges": edges, "min_norm": None}
        with pytest.raises(Rejected):
            judged(listed.system, json.dumps(fact))


def test_wide_errors_are_rejected() -> None:
    """Where the errors could make a weight zero, a pivot ambiguous or a basis singular, nothing is accepted."""
    fact = {**interval().fact, "min_norm": None}
    rows, g = [["1", "1", "1"], ["1", "-1", "0"]], ["3", "1"]
    judged(enclosed(rows, g, {}, Fraction(1, 100)), json.dumps(fact))
    for error in (Fraction(1, 4), Fraction(1), Fraction(10)):
        with pytest.raises(Rejected):
            judged(enclosed(rows, g, {}, error), json.dumps(fact))


def test_a_zero_needs_its_silent_row() -> None:
    """Without the silent row the degenerate vertices are not accepted, however small the errors."""
    rows = [["1", "1", "1", "1"], ["1", "-1", "0", "0"]]
    system = enclosed(rows, ["3", "0"], {1: frozenset()}, Fraction(1, 10**100))
    with pytest.raises(Rejected, match="silent rows"):
        judged(system, json.dumps(silent_row().fact | {"bits": 400}))


def found_by_the_certifier(model: str) -> dict[str, Any]:
    """The fact for a small network with a polytope of positive dimension."""
    Z = tuple(vec(*z) for z in ([1, 2], [-1, 1], [2, -1], [-2, -2], [0, 3], [1, -3]))
    y = vec(3, 0, 2, 0, 5, 0)
    build = relu if model == "relu" else gated
    return records(settled(build(Z, y, enumerate_patterns(Z)), Fraction(1, 10)))


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_the_certifiers_own_facts(model: str) -> None:
    """The certifier's certificate was accepted (`settled` checks it), and its fact has the documented keys."""
    assert list(found_by_the_certifier(model)) == ["bits", "tilt", "bases", "vertices", "edges", "min_norm"]


def degenerate_gates() -> dict[str, Any]:
    """A certificate of a gated network with targets 0 that are fitted exactly, its optimum irrational: one vertex, with
    all gates closed there, has three neurons, the other four vertices have five."""
    Z = tuple(vec(*z) for z in ([-2, -1], [2, -3], [3, 0], [1, -1], [3, 2]))
    facts = settled(gated(Z, vec(1, 0, 1, 0, 0), enumerate_patterns(Z)), Fraction(3, 50))
    assert isinstance(facts.optimal_set, BallSet)
    return certificate(Source("gates", "0" * 64, "csv", target=0), facts, decide(facts, ("minimal",)))


def test_zeros_by_rows_of_the_lift() -> None:
    """A polytope over a ball with a degenerate vertex is accepted, and its widths are those of the vertices."""
    (line,) = check(dumps(degenerate_gates()).encode())
    assert "1 of width 3, 4 of width 5; m* = 3, M* = 5" in line.proved


@pytest.mark.long
def test_mutants_of_a_degenerate_certificate_over_a_ball() -> None:
    """Whatever is changed in the fact of the whole certificate, the checker never says anything else of the widths."""
    tree = degenerate_gates()
    said = check(dumps(tree).encode())
    head, tail = dumps({**tree, "facts": {k: v for k, v in tree["facts"].items() if k != "polytope"}}), 0
    for mutant in mutants({"polytope": tree["facts"]["polytope"]}, spread=2):
        if mutant.place.startswith("polytope"):
            tail += 1
            start = head.index('"facts":{') + len('"facts":{')
            text = head[:start] + mutant.text.strip()[1:-1] + "," + head[start:]
            try:
                found = check(text.encode())
            except VerifyError:
                continue
            assert found == said, mutant.name
    assert tail > 100


@pytest.mark.parametrize("claim", ["optimal-set", "minimal", "connected"])
def test_the_claims_need_the_fact(claim: str) -> None:
    """Without the fact nothing is proved, and nothing can refute these claims."""
    Z = tuple(vec(*z) for z in ([3, 0], [-3, 0], [0, 4], [0, -4]))
    facts = settled(relu(Z, vec(10, 10, 17, 17), enumerate_patterns(Z)), Fraction(5))
    tree = certificate(Source("box", "0" * 64, "csv", target=0), facts, decide(facts, (claim,)))
    assert [line.verdict for line in check(dumps(tree).encode())] == ["PROVED"]
    without = {**tree, "facts": {k: v for k, v in tree["facts"].items() if k != "polytope"}}
    refuted = {**tree, "claims": [{"claim": claim, "verdict": "REFUTED"}]}
    unfounded = {**tree, "facts": {k: v for k, v in tree["facts"].items() if k != "exact_set"}}
    for wrong in (without, refuted, unfounded):
        with pytest.raises(Rejected):
            check(dumps({**wrong, "end": wrong.pop("end")}).encode())


def test_connected_is_about_relu_networks() -> None:
    """Nothing is said about gated networks or direct problems."""
    from verify.claims import way
    from verify.facts import LAMBDA_MAX, proved
    from verify.problem.problem import Problem

    problem = Problem("gated", Fraction(1), (vec(1),), vec(1))
    with pytest.raises(Rejected, match="ReLU"):
        way(problem, proved(LAMBDA_MAX, Fraction(0)), "connected", "PROVED", Node({}))
