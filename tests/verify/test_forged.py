"""Certificates that are consistent and false, by hand: each was once accepted, and is rejected for its own reason."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from relu_cert.certificate import certificate, dumps
from relu_cert.data.read import read_csv_bytes
from relu_cert.path.conditions import conditions
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import over_patterns, relu, unlisted_relu
from tests.variants.stated import certified
from verify import Rejected, check
from verify.network.weights import mergeable, merged, read_weights
from verify.problem.problem import Problem
from verify.text import Node

pytestmark = pytest.mark.long

NETWORK = {"model": "relu", "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|"}
CSV = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "bias": False, "delimiter": ",", "header": False}


def proved(problem: dict[str, Any], facts: dict[str, Any], *claims: tuple[str, str]) -> list[str]:
    """What the checker says of the claims of a certificate."""
    direct = problem["model"] == "cgl"
    frame = {"format": "relu_cert certificate", "version": 2}
    source = {"sha256": "0" * 64, "kind": "json"} if direct else {**CSV, "target": len(problem["Z"][0].split())}
    stated = [{"claim": claim, "verdict": verdict} for claim, verdict in claims]
    content = {**frame, "input": source, "problem": problem, "facts": facts, "claims": stated, "end": frame["format"]}
    return [line.proved for line in check(json.dumps(content).encode())]


# z_0 = -z_1, and the neuron (1, 0) vanishes on both: the pattern 101 asks u_2 >= 0 twice, 111 asks u_2 >= 0 and <= 0.
ANTIPODAL = {**NETWORK, "lambda": "1", "Z": ["0 1", "0 -1", "1 0"], "y": "-1/2 0 2"}
VALUE = {"lower": "13/8", "upper": "13/8", "gap": "0"}
RHO = {"101": ["1/2 0 0", "0 0 1"], "111": ["1/2 0 0", "0 1/2 1"]}
CLASS = {"kinks": [0, 1], "basis": [0], "idle": [], "fixed": "0"}
ROOT_OF_TWO = {"polynomial": "-2 0 1", "lo": "1", "hi": "2"}
SETS: dict[str, dict[str, Any]] = {
    "exact_set": {"solutions": ["1"], "farkas": "0 0 0"},
    "algebraic_set": {
        "field": ROOT_OF_TWO,
        "residual": ["-1/2 0", "0 0", "1 0"],
        "multipliers": [[0, ["1/2 0", "0 0", "0 0"]], [2, ["1/2 0", "0 0", "0 0"]]],
        "solutions": [["1 0"]],
        "farkas": ["0 0", "0 0", "0 0"],
    },
    "optimal_set": {
        **{"lift": [], "classes": [{"block": 0, **CLASS}, {"block": 2, **CLASS}], "out": None},
        **{"masses": "1", "split": "1/2 1/2", "forced": ""},
    },
}


@pytest.mark.parametrize("order", [("101", "111"), ("111", "101")], ids="-".join)
@pytest.mark.parametrize("fact", SETS)
def test_licq_counts_opposite_rows_of_a_flat_block_once(fact: str, order: tuple[str, str]) -> None:
    """The verdict does not depend on the order of the patterns, nor on the kind of evidence: in the block 111 the
    constraints tight at the neuron are opposite, one equation, as over all patterns."""
    facts = {
        "primal": {"neurons": [{"block": 0, "w": "1 0", "norm": "1"}]},
        "dual": {"theta": "-1/2 0 1", "multipliers": [rho for name in order for rho in RHO[name]]},
        "value": VALUE,
        fact: SETS[fact],
    }
    problem = {**ANTIPODAL, "patterns": list(order)}
    (said, _) = proved(problem, facts, ("licq", "PROVED"), ("p-unique", "PROVED"))
    assert "each hyperplane counted once, are independent" in said
    with pytest.raises(Rejected, match="an active neuron at which the tight constraints are dependent"):
        proved(problem, facts, ("licq", "REFUTED"))


@pytest.mark.parametrize("order", [("101", "111"), ("111", "101")], ids="-".join)
def test_the_producer_reads_licq_off_all_blocks(order: tuple[str, str]) -> None:
    """The same problem, solved: the neuron counts as independent whichever pattern comes first."""
    data = read_csv_bytes(b"0,1,-1/2\n0,-1,0\n1,0,2\n", "data.csv")
    solved = certified(over_patterns(data.Z, data.y, order, "relu"), data.source, Fraction(1))
    found = conditions(solved.facts)
    assert found is not None
    assert [(one.active, one.independent) for one in found.neurons] == [(True, True)]


def test_the_merged_network_by_hand() -> None:
    """Neurons of one sign and one cell are summed, in the place of the first; what adds up to nothing is left out."""
    rows = ((Fraction(1), Fraction(0)),)
    problem = Problem("relu", Fraction(1), rows, (Fraction(1),))
    W1 = ["1 0", "0 1", "2 5", "0 -1", "3 1", "-1 0"]
    weights = read_weights(problem, {"W1": Node(W1), "w2": Node("1 1 1 1 -1 1"), "b2": Node("0")})
    found = merged(problem, weights)
    assert [(one.number, one.sign, one.w) for one in found] == [(0, 1, (3, 5)), (4, -1, (3, 1)), (5, 1, (-1, 0))]
    assert mergeable(weights) == (0, 1)


NOTHING = {"model": "cgl", "objective": NETWORK["objective"], "lambda": "2", "X": ["1"], "groups": [[0]], "K": [None]}
ZERO_POINT = {
    "primal": {"neurons": []},
    "dual": {"theta": "1", "multipliers": [None]},
    "value": {"lower": "1/2", "upper": "1/2", "gap": "0"},
}
NO_CLASS = {"lift": [], "classes": [], "out": None, "masses": "", "split": "", "forced": ""}


def nothing_ties(**facts: Any) -> list[str]:
    """lambda = 2 above lambda_max = 1: no neuron ties, and every list of neurons is empty."""
    return proved({**NOTHING, "y": "1"}, {**ZERO_POINT, **facts}, ("e-equals-a", "PROVED"))


def test_shortest_weights_within_a_negative_radius() -> None:
    """Nothing is within -1 of anything, also where there are no weights."""
    fact = {"bits": 0, "weights": "", "radius": "-1", "mu": ""}
    with pytest.raises(Rejected, match="number >= 0"):
        nothing_ties(optimal_set=NO_CLASS, min_norm=fact)
    assert nothing_ties(optimal_set=NO_CLASS, min_norm={**fact, "radius": "0"})


def test_facts_about_no_neuron_are_judged() -> None:
    """Derivatives and shortest weights of the zero network, where no neuron ties, are true and accepted: no error."""
    derivatives = {
        **{"lambda": {"alpha": "", "r": "0"}, "y": {"alpha": [], "r": ["1"]}, "radius": "0"},
        **{"freedom": "0", "sure": None},
    }
    assert nothing_ties(optimal_set=NO_CLASS, derivatives=derivatives)
    in_field = {"field": ROOT_OF_TWO, "residual": ["1 0"], "multipliers": [], "solutions": [[]], "farkas": ["0 0"]}
    shortest = {"bits": 0, "weights": "", "radius": "0", "mu": []}
    assert nothing_ties(algebraic_set=in_field, min_norm=shortest)
    with pytest.raises(Rejected, match="number >= 0"):
        nothing_ties(algebraic_set=in_field, min_norm={**shortest, "radius": "-1"})


@pytest.mark.parametrize("K", [None, [""], ["0"], ["-1"]], ids=["free", "no constraint", "zero", "slack"])
def test_a_neuron_without_kinks_leaves_no_face(K: list[str] | None) -> None:
    """A class without kinks, of a block with or without constraints, is named in `leaving`: rejected, not an error."""
    open_class = {"block": 0, "kinks": [], "basis": [], "idle": [], "fixed": ""}
    facts = {
        "primal": {"neurons": [{"block": 0, "w": "2", "norm": "2"}]},
        "dual": {"theta": "1", "multipliers": [None]},
        "value": {"lower": "5/2", "upper": "5/2", "gap": "0"},
        "optimal_set": {**NO_CLASS, "classes": [open_class], "masses": "2"},
    }
    problem = {**NOTHING, "lambda": "1", "y": "3", "K": [K]}
    assert proved(problem, facts, ("strict-complementarity", "PROVED"))
    for u in ("", "0", "-1"):
        leaving = [{"neuron": 0, "u": u, "h": ""}]
        with pytest.raises(Rejected, match="a neuron with kinks"):
            proved(problem, {**facts, "faces": {"stable": [], "leaving": leaving}})


# Four neurons, one in each quadrant's half-plane: their outputs 1100, 0011, 1010, 0101 are dependent, and the weights
# 5/2 - t, 5/2 - t, t, t are optimal for every t in between.
QUADRANTS = (b"1,1,3\n1,-1,3\n-1,1,3\n-1,-1,3\n", ("1100", "0011", "1010", "0101"))
EQUAL = {
    "lift": ["1 1 -1 -1", "1 -1 1 -1"],
    "classes": [
        {"sign": "+", "pattern": pattern, "kinks": [], "basis": [], "idle": [], "fixed": ""} for pattern in QUADRANTS[1]
    ],
    **{"masses": "5", "split": "5/4 5/4 5/4 5/4", "forced": ""},
}
ALONE = {"lift": [], "masses": "5/4 5/4 5/4 5/4", "split": "", "forced": ""}
FORGED: dict[str, tuple[dict[str, Any], str]] = {
    "each output by itself": (
        ALONE,
        r"masses: expected \|A x\| > 0 \|x\| for all x, what the ball can change, found 0",
    ),
    "each output by itself, other weights": (ALONE | {"masses": "5/2 5/2 0 0"}, r"masses: expected \|A x\| > 0"),
    "a lift that takes the last freedom": (
        {"lift": [*EQUAL["lift"], "1 -1 -1 1"]},
        r"split: expected \|F'x\| > 0 \|x\| for all x, what the ball can change, found 0",
    ),
    "half of the lift": (
        {"lift": EQUAL["lift"][:1], "masses": "5/2 5/4 5/4"},
        r"masses: expected \|A x\| > 0",
    ),
    "the same lift by other rows": ({"lift": ["1 0 0 -1", "0 1 -1 0"]}, "dimension 0, found dimension 1"),
    "a vertex in the place of the middle": (
        {"split": "5/2 5/2 0 0", "forced": "1 -1 -1 1"},
        "forced: expected a vector in the span of the 0 void rows",
    ),
    "a mass that is not there": ({"masses": "6"}, "split: expected every positive weight > about 1.41421356"),
}


@cache
def quadrants(evidence: str) -> str:
    """The certificate of these data by a list of patterns or by a cover, without what rests on its set."""
    data = read_csv_bytes(QUADRANTS[0], "data.csv")
    problem = relu(data.Z, data.y, enumerate_patterns(data.Z)) if evidence == "list" else unlisted_relu(data.Z, data.y)
    solved = certified(problem, data.source, Fraction(1), by_list=evidence == "list")
    tree = json.loads(dumps(certificate(data.source, solved.facts, solved.results)))
    keep = ("patterns", "primal", "dual", "cover", "value", "fit")
    tree["facts"] = {key: fact for key, fact in tree["facts"].items() if key in keep}
    return json.dumps(tree)


def about_uniqueness(evidence: str, verdict: str, **changes: Any) -> bytes:
    """The certificate with the set changed, and one claim."""
    tree, key = json.loads(quadrants(evidence)), "optimal_set" if evidence == "list" else "cover_set"
    tree["facts"][key] = {**EQUAL, **({"out": {"+": [], "-": []}} if evidence == "list" else {}), **changes}
    tree["claims"] = [{"claim": "p-unique", "verdict": verdict}]
    return json.dumps(tree).encode()


@pytest.mark.parametrize("evidence", ["list", "cover"])
def test_four_neurons_share_a_fit(evidence: str) -> None:
    """The truth, by hand: the set has one dimension, whatever proves the dual point."""
    (line,) = check(about_uniqueness(evidence, "REFUTED"), QUADRANTS[0])
    assert "a polytope of dimension 1 in the weights of 4 neurons" in line.proved


@pytest.mark.parametrize("reason", FORGED)
@pytest.mark.parametrize("evidence", ["list", "cover"])
def test_no_forged_set_makes_them_unique(evidence: str, reason: str) -> None:
    """Dependent outputs are found to be so, over a list and over a cover, and no lift hides what is free."""
    changes, message = FORGED[reason]
    with pytest.raises(Rejected, match=message):
        check(about_uniqueness(evidence, "PROVED", **changes), QUADRANTS[0])


@pytest.mark.parametrize("evidence", ["list", "cover"])
def test_no_neuron_of_the_four_is_left_out(evidence: str) -> None:
    """Three of them would be unique: the fourth is missed, where its piece is, or where its tie is called out."""
    classes = EQUAL["classes"][:3] if evidence == "list" else [*EQUAL["classes"][:3], None]
    message = "a class or an entry for every fine piece" if evidence == "list" else "a class: the piece is not out"
    with pytest.raises(Rejected, match=message):
        check(about_uniqueness(evidence, "PROVED", **{**ALONE, "classes": classes, "masses": "5/2 5/2 0"}))
