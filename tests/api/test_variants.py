"""The variants from Python: the same problems, verdicts and certificates as on the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from relu_cert import DataError, UsageError, Verdict, certify, certify_group_lasso
from relu_cert.claims import NAMES
from tests.cli.run import run
from tests.report.pages import Page, assert_loads_nothing
from verify.__main__ import main as verify_main

Z = [[1, 2], [-2, 1], [3, -1], [0, -2]]
Y = [1, -1, 1, -1]
TEXT = "x0,x1,y\n1,2,1\n-2,1,-1\n3,-1,1\n0,-2,-1\n"
VARIANTS = {
    "gated": (("--model", "gated"), {"model": "gated"}),
    "patterns": (("--patterns", "3", "--seed", "1"), {"patterns": 3, "seed": 1}),
    "gated-patterns": (("--patterns", "2", "--model", "gated"), {"patterns": 2, "model": "gated"}),
    "gates": (("--gates", "g.csv"), {"gates": [[1, 0], [0, "-1/2"]]}),
    "bits": (("--gates", "b.csv"), {"gates": ["1010", "0101"]}),
    "l2": (("--l2", "1/3"), {"l2": "1/3"}),
    "l2-patterns": (("--l2", "1/3", "--patterns", "3"), {"l2": "1/3", "patterns": 3}),
    "logistic": (("--loss", "logistic"), {"loss": "logistic"}),
    "logistic-gated": (("--loss", "logistic", "--model", "gated"), {"loss": "logistic", "model": "gated"}),
    "interval": (("--interval", "1/4,1/2"), {"interval": ("1/4", "1/2")}),
    "sensitivity": (("--claims", "sensitivity"), {"claims": ["sensitivity"]}),
    "noise": (("--noise", "1/2"), {"noise": "1/2"}),
    "continuous": (("--claims", "continuous"), {"claims": "continuous"}),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(TEXT)
    Path("g.csv").write_text("1,0\n0,-1/2\n")
    Path("b.csv").write_text("1010\n0101\n")


@pytest.mark.parametrize("name", VARIANTS)
def test_python_and_the_command_line_agree(name):
    """The same verdicts, values and details, word for word; files that the checker accepts; a page."""
    options, arguments = VARIANTS[name]
    ran = run("check", "d.csv", "--lambda", "1/3", "--json", *options)
    assert ran.code == 0, ran.err
    found = certify(Z, Y, "1/3", **arguments)
    said = [(one["claim"], one["verdict"], one["detail"]) for one in ran.json["claims"]]
    assert [(r.claim, str(r.verdict), r.detail) for r in found.claims.values()] == said
    value = ran.json["value"]
    assert (str(found.value.lower), str(found.value.upper)) == (value["lower"], value["upper"])
    found.save("x.cert.json", data="x.csv")
    assert Path("x.csv").read_text() == TEXT
    assert verify_main(["x.cert.json", "--data", "x.csv"]) == 0
    page = Page(found.html())
    assert_loads_nothing(page)
    assert all(f"{r.verdict} {r.claim}" in page.prose for r in found.claims.values())


@pytest.mark.parametrize("name", ["patterns", "gates", "l2-patterns"])
def test_the_distance_from_the_global_optimum(name):
    """lower <= difference of the two values <= upper, and the whole problem has a certificate of its own."""
    arguments = VARIANTS[name][1]
    found = certify(Z, Y, "1/3", **arguments)
    assert found.global_optimum is not None and found.distance is not None
    both = certify(Z, Y, "1/3", **{k: v for k, v in arguments.items() if k not in ("patterns", "seed", "gates")})
    assert found.global_optimum.value == both.value and found.global_optimum.certificate == both.certificate
    assert found.distance.lower <= found.value.upper - both.value.lower
    assert 0 <= found.distance.lower <= found.distance.upper
    assert found.global_optimum.global_optimum is None and both.distance is None


def test_without_all_patterns_there_is_no_distance():
    """Data with too many patterns are fitted over some of them, and nothing is said of the others."""
    found = certify(Z, Y, "1/3", patterns=2, max_patterns=3)
    assert found.global_optimum is None and found.distance is None
    assert "over the limit of 3" in found.report.over_all


@pytest.mark.parametrize("name", ["patterns", "gated-patterns", "gates", "l2", "logistic", "logistic-gated"])
def test_networks_of_variants_predict_their_fit(name):
    """Exactly on the data, also where the network was trained over some patterns or with another loss."""
    found = certify(Z, Y, "1/10", **VARIANTS[name][1])
    assert found.network.predict_exactly(Z) == found.facts.primal.fit
    np.testing.assert_allclose(found.network.predict(Z), [float(x) for x in found.facts.primal.fit], atol=1e-9)


def test_patterns_without_gates_do_not_predict():
    """A gated network on patterns that were given as bits has no gates; a ReLU network needs none."""
    with pytest.raises(UsageError, match="was given without a gate"):
        _ = certify(Z, Y, "1/10", model="gated", gates=["1010"]).network
    assert certify(Z, Y, "1/10", gates=["1010"]).network.width == 1


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"patterns": 0}, UsageError, "patterns must be at least 1, not 0"),
        ({"patterns": 2, "gates": [[1, 0]]}, UsageError, "patterns or gates, not both"),
        ({"seed": 1}, UsageError, "seed is for patterns"),
        ({"gates": [[1, 0]], "seed": 1}, UsageError, "seed is for patterns"),
        ({"gates": [[1]]}, DataError, "rows of 2 numbers"),
        ({"gates": ["10"]}, DataError, "expected a pattern of 4 characters 0 and 1, found '10'"),
        ({"gates": "no.csv"}, DataError, "no.csv"),
        ({"l2": 0}, UsageError, "l2 must be positive"),
        ({"l2": 1, "loss": "logistic"}, UsageError, "do not go together"),
        ({"loss": "hinge"}, UsageError, "loss is 'squares', 'logistic' or 'softmax', not 'hinge'"),
        ({"interval": (1, 1)}, UsageError, "needs lo < hi"),
        ({"interval": "1,2"}, UsageError, "two numbers"),
        ({"interval": (1, 2), "l2": 1}, UsageError, "least squares"),
        ({"noise": -1}, UsageError, "noise must be positive"),
    ],
    ids=lambda x: "".join(c for c in json.dumps(x) if c.isalnum()) if isinstance(x, dict) else None,
)
def test_what_does_not_go_together_is_refused(arguments, error, words):
    """One sentence that names the argument."""
    with pytest.raises(error) as caught:
        certify(Z, Y, 1, **arguments)
    assert words in str(caught.value)


def test_labels_for_the_logistic_loss():
    """Targets other than 1 and -1 are refused."""
    with pytest.raises(UsageError, match="labels 1 and -1"):
        certify(Z, [1, 2, 1, -1], 1, loss="logistic")


def test_a_group_lasso_is_that_of_the_json_file():
    """certify_group_lasso and `check problem.json` give the same verdicts, and the saved files are accepted."""
    X, groups, y = [[0, 1, 1], [1, 1, 1]], [[0, 1], [2]], [2, 1]
    Path("p.json").write_text(json.dumps({"X": X, "groups": groups, "y": y}))
    ran = run("check", "p.json", "--lambda", "1", "--interval", "1/2,2", "--json")
    found = certify_group_lasso(X, groups, y, 1, interval=("1/2", 2))
    said = [(one["claim"], one["verdict"], one["detail"]) for one in ran.json["claims"]]
    assert [(r.claim, str(r.verdict), r.detail) for r in found.claims.values()] == said
    assert found.claims["min-norm-continuous"].verdict is Verdict.REFUTED
    found.save("q.cert.json", data="q.json")
    assert verify_main(["q.cert.json", "--data", "q.json"]) == 0
    page = Page(found.html())
    assert "python -m verify problem.cert.json --data problem.json" in page.prose
    with pytest.raises(UsageError, match="has no network"):
        _ = found.network


def test_cones_of_a_group_lasso():
    """K_b' w_b <= 0 holds for the weights, and arrays of floats are taken as they are."""
    X = np.array([[1.0, 0.5], [0.25, -1.0]])
    found = certify_group_lasso(X, [[0], [1]], [3.0, -2.0], "1/10", K=[None, [[1]]])
    assert all(w[0] <= 0 for b, w in found.weights.items() if b == 1)
    assert set(found.claims) <= set(NAMES) and found.claims["optimal"].verdict is Verdict.PROVED
    assert ((Fraction(1),), (Fraction(1, 4),)) == found.facts.problem.blocks[0].X


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1, 2]], [[0]], [1], 1), "column 1 of X is in no group"),
        (([[1, 2]], [[0, 1]], [1, 2], 1), "expected 1 numbers"),
        (([[1, 2]], [[0], [1, 1]], [1], 1), "already in"),
        (([[1, 2]], [[0], [2]], [1], 1), "expected a column index from 0 to 1"),
    ],
)
def test_bad_groups_are_refused_with_their_place(arguments, words):
    """The message of the reader of JSON problems."""
    with pytest.raises(DataError, match=words):
        certify_group_lasso(*arguments)


def test_the_blocks_of_a_gated_network_have_weights() -> None:
    """The weights of a gated network are those of its neurons, by the number of their pattern."""
    found = certify([[1], [2], [-1]], [1, 3, 2], "1/2", model="gated", verify=False)
    listed = found.facts.problem.listed
    assert listed is not None
    named = {listed.texts()[b]: w for b, w in found.weights.items()}
    assert named == {neuron.pattern: neuron.w for neuron in found.facts.primal.neurons} != {}
