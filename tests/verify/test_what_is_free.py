"""Free terms: what is free is counted once, is an input of the network's file, and leaves a solution to speak of."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

import verify
from relu_cert import certify, certify_network
from tests.verify.score import CORPUS

ZERO = {"W1": [[0.0]], "b1": [0.0], "w2": [0.0], "b2": 0.0, "skip": [0.0]}


def read(name: str) -> tuple[dict[str, Any], bytes]:
    """A certificate of the corpus, and its data."""
    path = CORPUS / f"{name}.json"
    return json.loads(path.read_text()), path.with_suffix(".data").read_bytes()


def judged(tree: dict[str, Any], data: bytes) -> dict[str, str]:
    """The verdicts that are accepted."""
    return {line.claim: line.verdict for line in verify.check(json.dumps(tree).encode(), data)}


def test_a_constant_that_is_free_twice_is_no_problem_of_the_format() -> None:
    """Where ones were appended for the biases the skip connection does not have them, and c is unique with the fit; a
    coefficient for them, which could be 1000 more against 1000 less of the output bias, is rejected."""
    tree, data = read("accepted/free-constant-once")
    assert tree["input"]["bias"] and tree["problem"]["free"] == ["output-bias", "skip"]
    assert judged(tree, data)["convex-unique"] == "PROVED"
    bias, weight = map(Fraction, tree["facts"]["primal"]["free"].split())
    for c in (f"{bias} {weight} 0", f"{bias + 1000} {weight} -1000"):
        tree["facts"]["primal"]["free"] = c
        with pytest.raises(verify.Rejected, match=r"primal\.free: expected 2 numbers"):
            judged(tree, data)


def test_nothing_is_unique_beside_free_columns_that_depend_on_each_other() -> None:
    """Data with a column of ones of their own and a free output bias: c is not unique, and no lift says that it is."""
    X = [[x, 1] for x in range(6)]
    found = certify(X, [1, 3, 2, 7, -2, 4], 1, free="output-bias,skip")
    assert {name: str(one.verdict) for name, one in found.claims.items() if "unique" in name} == {
        "p-unique": "UNDECIDED",
        "convex-unique": "UNDECIDED",
    }
    tree = json.loads(found.certificate)
    ones, x = "1 1 1 1 1 1", "0 1 2 3 4 5"
    for lift, message in (([ones, x], "the free columns"), ([x, ones], "the free columns"), ([ones, x, ones], "indep")):
        empty = {"lift": lift, "classes": [], "masses": "", "split": "", "forced": ""}
        tree["facts"]["cover_set" if "cover" in tree["facts"] else "optimal_set"] = empty
        with pytest.raises(verify.Rejected, match=message):
            judged(tree, found.raw)


@pytest.mark.parametrize(("y", "norm"), [((1, 2), 1), ((0, 2), 0), ((-3, 5), 3)])
def test_stationarity_is_that_of_the_parameters_of_the_file(y: tuple[int, int], norm: int) -> None:
    """x = 1, 0, free skip: the zero network has the gradient -x.y in s, and none for the ones, which are no input."""
    found = certify_network(ZERO, [[1], [0]], list(y), 10, free="skip", bias=True)
    lines = {line.claim: line for line in verify.check(found.certificate.encode(), found.raw)}
    assert lines["network-stationary"].verdict == ("REFUTED" if norm else "PROVED")
    assert (f"norm from {norm} to {norm}" in lines["network-stationary"].proved) is bool(norm)


def test_a_skip_connection_without_a_weight_for_the_ones() -> None:
    """One that is not 0 is rejected in a certificate, and refused where a file has the ones among its inputs."""
    tree, data = read("accepted/free-skip-of-inputs")
    assert tree["facts"]["network"]["skip"] == "1/2 0"
    tree["facts"]["network"]["skip"] = "1/2 1"
    with pytest.raises(verify.Rejected, match="0 for the column of ones, which is no input"):
        judged(tree, data)
    wide = {"W1": [[1.0, 0.5]], "w2": [1.0], "skip": [0.5, 0.25]}
    with pytest.raises(Exception, match="weight for the column of ones; give it as the output bias"):
        certify_network(wide, [[1], [0]], [1, 2], 10, free="skip", bias=True)
    wide["skip"] = [0.5, 0.0]
    assert certify_network(wide, [[1], [0]], [1, 2], 10, free="skip", bias=True).claims


def test_free_terms_may_make_up_for_a_neuron() -> None:
    """(t)_+ + (-t)_+ = 2 (t)_+ - t: beside a skip connection that two neurons cannot be merged is not proved, and not
    said; that they can be is."""
    apart = {"W1": [[1.0], [-1.0]], "b1": [-2.5, 2.5], "w2": [1.0, 1.0], "b2": 0.0, "skip": [0.0]}
    X, y = [[x] for x in range(6)], [1, 3, 2, 7, -2, 4]
    found = certify_network(apart, X, y, 1, free="output-bias,skip", bias=True)
    assert str(found.claims["network-merged"].verdict) == "UNDECIDED"
    said = " ".join(one.detail for one in found.claims.values())
    assert "nothing to prune" not in said and "none can be pruned" not in said
    tree = json.loads(found.certificate)
    claims = {claim["claim"]: claim for claim in tree["claims"]}
    claims["network-merged"]["verdict"] = "PROVED"
    with pytest.raises(verify.Rejected, match="no free terms, which could make up for a neuron"):
        judged(tree, found.raw)
    same = certify_network(apart | {"W1": [[1.0], [2.0]], "b1": [0.5, 0.5]}, X, y, 1, free="skip", bias=True)
    assert str(same.claims["network-merged"].verdict) == "REFUTED"


def test_a_fit_that_nothing_attains_is_not_unique() -> None:
    """Logistic loss, free output bias and skip: where they divide the labels p* = 0 is not attained, and `fit` is not
    PROVED; elsewhere theta is 0 nowhere, and it is."""
    X = [[0], [1], [2], [3]]
    for y, verdict in (([-1, -1, 1, 1], "UNDECIDED"), ([-1, 1, -1, 1], "PROVED")):
        found = certify(X, y, "1/2", free="output-bias,skip", bias=True, loss="logistic")
        assert str(found.claims["fit"].verdict) == verdict
    tree, data = read("rejected/free-logistic-not-attained")
    with pytest.raises(verify.Rejected, match="theta_k != 0 at every row, which shows that p\\* is attained"):
        judged(tree, data)


def test_that_neurons_are_not_merged_says_no_more_than_that() -> None:
    """(1, -5) and (-5, 1) on the rows of I have opposite signs, and are not merged by their sum; but (1, 1) does what
    both do, at a lower cost: no line says that nothing can."""
    found = certify_network({"W1": [[1.0, -5.0], [-5.0, 1.0]], "w2": [1.0, 1.0]}, [[1, 0], [0, 1]], [1, 1], 1)
    assert str(found.claims["network-merged"].verdict) == "PROVED"
    lines = {line.claim: line.proved for line in verify.check(found.certificate.encode(), found.raw)}
    assert lines["network-merged"].endswith("where their sum could take their place (neurons: 2)")
    said = found.claims["network-merged"].detail
    assert "can be merged" not in said + lines["network-merged"] and "lie in one cone" in said
