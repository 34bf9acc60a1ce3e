"""min-norm: the shortest weights, with and without a list of vertices."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from properties.exact import polytope as truth
from properties.exact.linalg import norm2
from properties.strategies import PlantedCGL, planted_cgl
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.prove import listed
from relu_cert.prove.facts import Exactly, Facts
from relu_cert.prove.polytope import shortest
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.polytope.shortest import shortest_weights
from tests.prove.test_polytope_planted import direct, root, settled
from tests.verify.mutate import mutants
from verify import Rejected, VerifyError, check

Z = tuple(tuple(map(Fraction, z)) for z in ([1, 2], [-1, 1], [2, -1], [-2, -2], [0, 3], [1, -3]))
Y = tuple(map(Fraction, (3, 0, 2, 0, 5, 0)))
BOX = tuple(tuple(map(Fraction, z)) for z in ([3, 0], [-3, 0], [0, 4], [0, -4]))


def network(model: str) -> Facts:
    """A small network with a polytope of positive dimension."""
    build = relu if model == "relu" else gated
    return settled(build(Z, Y, enumerate_patterns(Z)), Fraction(1, 10))


def box() -> Facts:
    """Four neurons (+-3, +-4) tie, exactly; a segment of networks."""
    return settled(relu(BOX, tuple(map(Fraction, (10, 10, 17, 17))), enumerate_patterns(BOX)), Fraction(5))


def alone(facts: Facts) -> Facts:
    """The same facts as if the polytope had been too large."""
    return replace(facts, vertices=Unlisted("too many"), shortest=shortest_weights(facts))


def written(facts: Facts) -> dict[str, object]:
    """The certificate with the one claim."""
    kind = "csv" if facts.problem.source else "json"
    return certificate(Source("a", "0" * 64, kind, target=0), facts, decide(facts, ("min-norm",)))


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_the_shortest_weights_need_no_list(model: str) -> None:
    """With and without the vertices the same weights come out, and the checker accepts both."""
    listed = network(model)
    bare = alone(listed)
    for facts in (listed, bare):
        (line,) = check(dumps(written(facts)).encode())
        assert (line.claim, line.verdict) == ("min-norm", "PROVED")
    one, other = listed.min_norm, bare.min_norm
    assert one is not None and other is not None
    assert all(abs(a - b) <= one.radius + other.radius for a, b in zip(one.weights, other.weights, strict=True))


def test_without_the_fact_nothing_is_proved() -> None:
    """The claim needs its fact, and nothing can refute it."""
    tree = written(alone(box()))
    facts = tree["facts"]
    assert isinstance(facts, dict) and "polytope" not in facts
    bare = {**tree, "facts": {k: v for k, v in facts.items() if k != "min_norm"}}
    unfounded = {**tree, "facts": {k: v for k, v in facts.items() if k != "exact_set"}}
    refuted = {**tree, "claims": [{"claim": "min-norm", "verdict": "REFUTED"}]}
    for wrong in (bare, unfounded, refuted):
        with pytest.raises(Rejected):
            check(dumps({**wrong, "end": wrong.pop("end")}).encode())


def test_a_longer_solution_is_rejected() -> None:
    """Weights of a vertex are optimal and longer: no mu makes them the shortest."""
    tree = written(alone(box()))
    facts = tree["facts"]
    assert isinstance(facts, dict)
    stated = facts["min_norm"]
    assert stated["weights"] == "1/2 1/2 1/2 1/2"
    for weights in ("1 0 0 1", "0 1 1 0", "1/4 3/4 3/4 1/4"):
        wrong = {**tree, "facts": {**facts, "min_norm": {**stated, "weights": weights}}}
        with pytest.raises(Rejected):
            check(dumps({**wrong, "end": wrong.pop("end")}).encode())


@pytest.mark.long
@pytest.mark.parametrize("case", ["box", "relu", "gated"])
def test_no_mutant_of_the_fact_says_anything_else(case: str) -> None:
    """Whatever is changed in the fact, what is accepted holds the shortest weights within its radius."""
    facts = alone(box() if case == "box" else network(case))
    tree = written(facts)
    inner = tree["facts"]
    found = facts.min_norm
    assert isinstance(inner, dict) and found is not None
    total = survivors = 0
    for mutant in mutants(inner["min_norm"], spread=2):
        total += 1
        try:
            stated = json.loads(mutant.text)
            whole = {**tree, "facts": {**inner, "min_norm": stated}}
            check(dumps({**whole, "end": whole.pop("end")}).encode())
        except (VerifyError, ValueError, TypeError):
            continue
        survivors += 1
        radius = Fraction(stated["radius"]) + found.radius
        off = [abs(Fraction(x) - y) for x, y in zip(stated["weights"].split(), found.weights, strict=True)]
        assert max(off) <= radius, mutant.name
    assert total > 40
    assert survivors < total / 3  # within the radius, or with a larger one


@settings(max_examples=40, derandomize=True, deadline=None, database=None)
@given(planted_cgl(max_n=3, min_active=3, min_weight=1, max_active=6))
def test_planted_polytopes_that_are_not_listed(planted: PlantedCGL) -> None:
    """The shortest weights without a list are those that brute force finds, exactly, and are accepted."""
    lam = root(planted.problem.lam2)
    assert lam is not None
    facts = settled(direct(planted.problem), lam)
    assume(isinstance(facts.optimal_set, Exactly))
    bare = alone(facts)
    found = bare.min_norm
    assert found is not None
    check(dumps(written(bare)).encode())
    outputs = [planted.q[b] for b in planted.E]
    best = truth.least_norm(
        outputs,
        tuple(
            sum((planted.vertices[0][b] * q for b, q in zip(planted.E, row, strict=True)), Fraction(0))
            for row in zip(*outputs, strict=True)
        ),
    )
    assert best is not None and norm2(found.weights) == norm2(best)


def test_a_polytope_too_large_to_list_still_has_its_shortest_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` itself proves min-norm where optimal-set stays UNDECIDED."""
    monkeypatch.setattr(shortest, "MOST_WORK", 1)
    monkeypatch.setattr(listed, "_exact_facts", lambda question, point: None)
    facts = network("gated")
    verdict = {r.claim: str(r.verdict) for r in decide(facts, ("optimal-set", "min-norm"))}
    assert verdict == {"optimal-set": "UNDECIDED", "min-norm": "PROVED"}
