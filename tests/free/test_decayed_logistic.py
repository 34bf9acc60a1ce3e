"""A decayed output bias beside the logistic loss: rows of zeros cost 1/2 f^2, the others log(1 + exp(-y f))."""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify
from relu_cert import certify, certify_network
from relu_cert.cover.train import TrainingTask
from relu_cert.leaders.bound import LeadersLoss
from relu_cert.problem.loss import LOGISTIC
from tests.cli.run import run
from tests.free.brute import best
from verify import proved
from verify.__main__ import main as check
from verify.certificate import read
from verify.problem.variants import LOGISTIC as LOGISTIC_TEXT
from verify.proved_terms import LOG_BITS

Z = [[1, 0], [0, 1], [1, 1], [-1, 1], [-1, -2], [2, 1], [-1, -1]]
LABELS = [1, -1, 1, -1, 1, 1, -1]
ABOUT = "with an output bias b that costs 5/2 b^2, for the logistic loss"


@pytest.mark.parametrize("lam", ["1/4", "3/7", "2"])
@pytest.mark.parametrize("options", [{}, {"bias": True}, {"slope": "1/10"}], ids=str)
def test_the_optimum_is_that_of_the_convex_program(lam, options):
    """Clarabel's value of the program over all patterns lies in the proved interval, up to its own digits; it is
    between the optimum without a bias and the one with a free bias."""
    found = certify(Z, LABELS, lam, loss="logistic", decayed_bias=True, claims=["optimal", "fit"], **options)
    assert {one.verdict for one in found.claims.values()} == {"PROVED"}
    plain, free = (
        certify(Z, LABELS, lam, loss="logistic", claims=["optimal"], **options, **more).value
        for more in ({}, {"free": "output-bias"})
    )
    assert free.upper <= found.value.lower and found.value.upper <= plain.lower
    if "slope" not in options:
        rows = [[*z, 1] for z in Z] if options else Z
        other = best(rows, LABELS, float(Fraction(lam)), ("output-bias",), logistic=True, decay=float(Fraction(lam)))
        assert float(found.value.upper) == pytest.approx(other, rel=1e-6)


def test_wide_data_have_the_bound_of_the_leaders(tmp_path):
    """lambda = 20 is a sum of two squares: two rows of zeros, of which one is as good as none for the neurons; a data
    point of zeros has a label, and is none of them."""
    draw = np.random.default_rng(3)
    rows = [*draw.integers(-9, 10, size=(20, 14)).tolist(), [0] * 14]
    labels = [1 if x > 0 else -1 for x in draw.normal(size=20)] + [1]
    found = certify(rows, labels, 20, loss="logistic", decayed_bias=True, claims=["optimal"], gap="1/10", seconds=20)
    content = json.loads(found.certificate)
    assert content["problem"]["decayed"] == {"rho": "20", "roots": ["4", "2"]} and "leaders" in content["facts"]
    assert 0 < found.value.lower < found.value.upper < 1.1 * float(found.value.lower)


def test_dense_labels_have_a_bias_alone_in_closed_form():
    """Four points, three of them positive, lambda so large that there is no neuron: the bias c solves 3 s(-c) - s(c) =
    lambda c, s the logistic function, and p* = 3 log(1 + exp(-c)) + log(1 + exp(c)) + lambda/2 c^2."""
    lam = 50
    found = certify([[1], [2], [-1], [3]], [1, 1, -1, 1], lam, loss="logistic", decayed_bias=True, claims=["optimal"])
    c = 0.0
    for _ in range(100):
        c = (3 / (1 + math.exp(c)) - 1 / (1 + math.exp(-c))) / lam
    value = 3 * math.log1p(math.exp(-c)) + math.log1p(math.exp(c)) + lam / 2 * c * c
    assert found.network.width == 0 and float(found.value.upper) == pytest.approx(value, rel=1e-9)


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """An accepted certificate, with two roots: 5 = 4 + 1."""
    found = certify(Z, LABELS, 5, loss="logistic", decayed_bias=True, claims=["optimal", "fit"])
    content: dict[str, Any] = json.loads(found.certificate)
    assert content["problem"]["decayed"] == {"rho": "5", "roots": ["2", "1"]}
    return content


def restated(text: str, k: int, by: Fraction) -> str:
    """The vector of this text, one entry moved."""
    numbers = text.split()
    numbers[k] = str(Fraction(numbers[k]) + by)
    return " ".join(numbers)


def forged(made: dict[str, Any], which: str) -> dict[str, Any]:
    """The certificate, changed in one way."""
    content = copy.deepcopy(made)
    problem, facts = content["problem"], content["facts"]
    dual = facts["cover"] if "cover" in facts else facts["dual"]
    n, tiny = len(LABELS), Fraction(1, 10**9)
    match which:
        case "a smaller cost, and the same proof":
            problem["decayed"] = {"rho": "13/4", "roots": ["3/2", "1"]}
        case "no cost at all":
            del problem["decayed"]
            problem["free"] = ["output-bias"]
        case "theta at a row of zeros":
            dual["theta"] = restated(dual["theta"], n, tiny)
        case "theta that trades one row of zeros for the other":  # orthogonal still, but it costs
            dual["theta"] = restated(restated(dual["theta"], n, Fraction(1)), n + 1, Fraction(-2))
        case "a bias that costs nothing":
            facts["primal"]["free"] = restated(facts["primal"]["free"], 0, Fraction(1, 2))
        case "another lower bound":
            facts["value"]["lower"] = facts["value"]["upper"]
        case "labels of the rows of zeros":
            problem["y"] += " 1 1"
        case "squares":
            problem["objective"] = "1/2|Xw-y|^2 + lambda*sum|w_b|"
        case "gates":
            problem["model"] = "gated"
        case "the softmax":
            problem |= {"objective": "sum (log sum_c exp(f_kc) - Y_k.f_k) + lambda*sum|w_j||v_j|"}
            problem["Y"] = ["1 0" if x == "1" else "0 1" for x in problem.pop("y").split()]
    return content


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("a smaller cost, and the same proof", "theta"),
        ("no cost at all", "patterns"),  # which have the rows of zeros
        ("theta at a row of zeros", "theta orthogonal"),
        ("theta that trades one row of zeros for the other", "lower"),
        ("a bias that costs nothing", "upper"),
        ("another lower bound", "lower"),
        ("labels of the rows of zeros", r"problem\.y"),
        ("squares", "value"),
        ("gates", "decayed"),
        ("the softmax", "no decayed bias with the softmax"),
    ],
)
def test_what_is_forged_is_rejected(made, which, said):
    """Each at the place where it is wrong."""
    assert verify.check(json.dumps(made).encode(), None)
    with pytest.raises(verify.Rejected, match=said):
        verify.check(json.dumps(forged(made, which)).encode(), None)


def test_the_proved_checker_is_told_of_rows_of_zeros(made):
    """U >= 1/2 f^2 and L1 >= 1/2 theta^2 there, in the place of logarithms; both bounds are the certificate's."""
    text = proved.read(json.dumps(made).encode(), None, verify.Limits())
    count, unit = len(text.problem.roots), Fraction(1, 1 << LOG_BITS)
    theta = [Fraction(t, text.point[1]) for t in text.point[0]]
    for (E, U), (L1, L2), f, t in [*zip(text.losses, text.entropies, text.fit, theta, strict=True)][-count:]:
        assert E == L2 == 0 < f * f and 0 < U * unit - f * f / 2 <= unit and 0 < L1 * unit - t * t / 2 <= unit
    low, high = (Fraction(made["facts"]["value"][key]) for key in ("lower", "upper"))
    assert abs(text.lower - low) < Fraction(1, 10**20) and abs(text.upper - high) < Fraction(1, 10**20)


def test_the_loss_of_rows_of_zeros():
    """1/2 f^2, its theta -f, its dual value -1/2 theta^2; in floats and exactly, in the program of all losses, in
    training and with the leaders."""
    y, fit = (Fraction(1), Fraction(0), Fraction(-1)), (Fraction(1, 2), Fraction(3), Fraction(2))
    value = math.log1p(math.exp(-0.5)) + 4.5 + math.log1p(math.exp(2))
    theta = LOGISTIC.theta(y, fit)
    assert theta[1] == -3 and LOGISTIC.allows(y, theta) and LOGISTIC.clip(y, theta) == theta
    assert LOGISTIC.widest(y, theta)[0] == 1 and LOGISTIC.pull(y)[1] == 0
    floats = [np.array([float(x) for x in v]) for v in (y, fit, theta)]
    task = TrainingTask(np.ones((3, 1)), floats[0], 1.0, True)
    leaders = LeadersLoss(np.arange(3), floats[0], True)
    for one in (
        float(LOGISTIC.upper(y, fit, Fraction(0), Fraction(1, 10**9))),
        task.loss(floats[1])[0],
        leaders.value(floats[1]),
    ):
        assert one == pytest.approx(value, rel=1e-12)
    assert np.allclose(task.loss(floats[1])[1], floats[2]) and np.allclose(leaders.theta(floats[1]), floats[2])
    assert task.bend(floats[2])[1] == 1 == leaders.flatness(floats[1])[1]
    dual = value - sum(float(-t * f) for t, f in zip(theta, fit, strict=True))  # where theta is minus the gradient
    for one in (
        float(LOGISTIC.dual_value(y, theta)),
        float(LOGISTIC.lower(y, theta, Fraction(1, 10**9))),
        leaders.dual(floats[2]),
    ):
        assert one == pytest.approx(dual, rel=1e-12)


def test_the_checker_states_the_bias_and_the_loss(made):
    """Both are in what the claims need."""
    lines = {line.claim: line for line in read(json.dumps(made).encode()).lines}
    assert {line.under for line in lines.values()} == {
        "with an output bias b that costs 5/2 b^2, for the logistic loss"
    }
    assert made["problem"]["objective"] == LOGISTIC_TEXT and "probabilities" in lines["fit"].proved


def test_a_network_that_pytorch_trained_with_weight_decay_on_everything(tmp_path, monkeypatch):
    """BCEWithLogitsLoss, labels yes and no: the command that was refused; J is what PyTorch counts."""
    monkeypatch.chdir(tmp_path)
    state = {"0.weight": [[1.0, 0.5], [-0.5, 1.0]], "0.bias": [0.25, -0.5], "2.weight": [[0.75, -1.0]], "2.bias": [0.5]}
    np.savez("model.npz", **{name: np.array(x, dtype=np.float32) for name, x in state.items()})
    told = ["yes" if label > 0 else "no" for label in LABELS]
    Path("d.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for (a, b), y in zip(Z, told, strict=True)))
    asked = ("model.npz", "d.csv", "--lambda", "0.05", "--penalty", "pytorch", "--loss", "logistic")
    ran = run("network", *asked, "--html", "p.html")
    assert ran.code == 0, ran.err
    assert "the output bias costs lambda/2 b2^2, as weight_decay does" in " ".join(ran.out.split())
    assert check(["model.network.cert.json", "--data", "d.csv", "--network", "model.network.json"]) == 0
    found = certify_network("model.npz", Z, LABELS, "0.05", penalty="pytorch", loss="logistic")
    W, b, v, c = (np.array(x, dtype=float) for x in state.values())
    f = np.maximum(np.array(Z) @ W.T + b, 0) @ v[0] + c
    counted = np.logaddexp(0, -np.array(LABELS) * f).mean() + 0.025 * sum((x**2).sum() for x in (W, b, v, c))
    assert float(found.objective) / len(Z) == pytest.approx(counted, rel=1e-12)
    assert found.claims["network-objective"].verdict == "PROVED" and float(found.value.upper) / len(Z) < counted
