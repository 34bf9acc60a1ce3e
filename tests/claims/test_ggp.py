"""The claims ggp and general-position, from the problem to a certificate that is accepted."""

import contextlib
import json
from fractions import Fraction

import pytest

from relu_cert.certificate import certificate
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.data.raw import digest
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.exact import matrix, vector
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, problem_from_json, relu
from verify.certificate import check
from verify.errors import Rejected

NAMES = ("ggp", "general-position")
GAP = Fraction(1, 10**6)


class Silent:
    """Progress that is told to nobody."""

    def stage(self, name):
        """Nothing."""
        return contextlib.nullcontext()

    def tell(self, moment):
        """Nothing."""

    def advance(self, done, total):
        """Nothing."""


def direct(X, groups, y):
    """A direct problem, and where it came from."""
    text = json.dumps({"X": X, "groups": groups, "y": y})
    return problem_from_json(text), Source("problem.json", digest(text.encode()), "json"), text.encode()


def facts_of(problem, lam):
    """All facts at one lambda."""
    return find_facts(problem, LambdaChoice(value=Fraction(lam)), GAP, Silent())


def written(source, facts):
    """The certificate with the two claims."""
    return certificate(source, facts, decide(facts, NAMES))


KNOWN = [
    ([[1, 0, 5, 0], [0, 1, 0, 7]], [[0, 1], [2], [3]], "PROVED", "PROVED"),
    ([[1, 0, 1, 0], [0, 1, 0, 1]], [[0, 1], [2, 3]], "REFUTED", "REFUTED"),
    ([["3/5", 1, 0], ["4/5", 0, 1]], [[0], [1, 2]], "REFUTED", "PROVED"),
    ([[2, 1, 0], [-1, 0, 1]], [[0], [1, 2]], "PROVED", "REFUTED"),
    ([[1, 0, 4, 0, 16, 0], [0, 1, 0, 4, 0, 16]], [[0, 1], [2, 3], [4, 5]], "REFUTED", "REFUTED"),
]


@pytest.mark.parametrize(("X", "groups", "blocks", "columns"), KNOWN)
def test_direct_problems(X, groups, blocks, columns):
    """Verdicts of prop:unique-sol and prop:general-position-relation, in a certificate that the checker accepts."""
    problem, source, raw = direct(X, groups, [6, 8])
    content = written(source, facts_of(problem, 1000))
    assert content["claims"] == [
        {"claim": "ggp", "verdict": blocks},
        {"claim": "general-position", "verdict": columns},
    ]
    assert [line.verdict for line in check(json.dumps(content).encode(), raw)] == [blocks, columns]


@pytest.mark.parametrize(("X", "groups", "blocks", "columns"), KNOWN)
def test_the_opposite_verdict_is_rejected(X, groups, blocks, columns):
    """Evidence for one verdict does not prove the other, and without the fact neither is accepted."""
    problem, source, _ = direct(X, groups, [6, 8])
    content = written(source, facts_of(problem, 1000))
    for claim in content["claims"]:
        true = claim["verdict"]
        claim["verdict"] = "REFUTED" if true == "PROVED" else "PROVED"
        with pytest.raises(Rejected, match=f"expected the verdict {true}"):
            check(json.dumps(content).encode())
        claim["verdict"] = true
    del content["facts"]["ggp"]
    with pytest.raises(Rejected, match="the fact ggp"):
        check(json.dumps(content).encode())


def test_gated_network():
    """A gated network over all patterns has D_1 + D_2 = D_3 + D_4: refuted, in words and in the certificate."""
    Z = matrix([[1, 2], [-1, 1], [3, -1], [2, 2], [0, 1]])
    problem = gated(Z, vector([1, 2, 0, 1, -1]), enumerate_patterns(Z))
    facts = facts_of(problem, 1)
    results = decide(facts, NAMES)
    assert [str(r.verdict) for r in results] == ["REFUTED", "REFUTED"]
    assert results[0].detail == "a null vector on 4 blocks has |u_1| + |u_6| = |u_0| + |u_5|."
    source = Source("problem.json", "0" * 64, "json")
    content = written(source, facts)
    content["input"] = {
        "sha256": "0" * 64,
        "kind": "csv",
        "numbers": "decimal",
        "bias": False,
        "target": 2,
        "delimiter": ",",
        "header": True,
    }
    assert [line.verdict for line in check(json.dumps(content).encode())] == ["REFUTED", "REFUTED"]


def test_relu_networks_have_no_such_claims():
    """The blocks of a ReLU network come with their negatives: the claims do not apply."""
    Z = matrix([[1], [2]])
    problem = relu(Z, vector([1, 1]), enumerate_patterns(Z))
    facts = facts_of(problem, 100)
    assert facts.ggp is None
    assert decide(facts, NAMES) == ()


def test_undecided_says_what_is_missing():
    """Too many sets of columns to list: both claims are UNDECIDED, with the number, and the certificate says null."""
    X = [[k**i % p for k in range(3, 40)] for i, p in ((1, 97), (3, 89), (5, 83), (7, 79), (9, 73))]
    problem, source, raw = direct(X, [[j] for j in range(37)], [1] * 5)
    facts = facts_of(problem, 10**6)
    results = decide(facts, NAMES)
    assert [str(r.verdict) for r in results] == ["UNDECIDED", "UNDECIDED"]
    assert results[0].detail == "2324784 supports of 6 blocks are too many to prove; no refutation was found."
    content = written(source, facts)
    assert content["facts"]["ggp"] == {"groups": None, "columns": None}
    assert [line.verdict for line in check(json.dumps(content).encode(), raw)] == ["UNDECIDED", "UNDECIDED"]
