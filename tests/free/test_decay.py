"""A decayed output bias: what PyTorch's weight_decay minimises, as a free column on rows of zeros."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from relu_cert import certify, certify_network
from relu_cert.errors import UsageError
from relu_cert.free import four_squares, roots
from tests.cli.run import run
from verify.__main__ import main as verify

X = np.array([[0.0, 1.0], [1.0, 0.5], [-1.0, 2.0], [0.5, -1.0], [2.0, 1.0]])
Y = np.array([2.0, 3.0, 1.0, -1.0, 4.0])
W1 = np.array([[1.0, 0.5], [-0.5, 1.0], [0.25, -1.0]], dtype=np.float32)
B1, W2, B2 = (np.array(a, dtype=np.float32) for a in ([0.1, -0.2, 0.3], [[0.7, 0.4, -0.6]], [0.9]))
STATE = {"0.weight": W1, "0.bias": B1, "2.weight": W2, "2.bias": B2}


def torch_objective(flat, m, decay):
    """MSELoss (mean) and weight_decay/2 times all parameters squared, as SGD and Adam have it."""
    W, b, v, c = np.split(np.asarray(flat, dtype=float), [2 * m, 3 * m, 4 * m])
    f = np.maximum(X @ W.reshape(m, 2).T + b, 0) @ v + c
    return np.mean((f - Y) ** 2) + decay / 2 * np.sum(np.asarray(flat, dtype=float) ** 2)


@pytest.mark.parametrize(
    "rho", [Fraction(1), Fraction(7), Fraction(1, 40), Fraction(0.001) * 961 / 2, Fraction(10**40, 7)]
)
def test_every_number_is_a_sum_of_four_squares(rho):
    """Small ones, sevens, and those of floats with more digits than could be tried one by one."""
    found = roots(rho)
    assert 1 <= len(found) <= 4 and min(found) > 0 and sum(x * x for x in found) == rho


def test_all_small_numbers_are_sums_of_four_squares():
    """Also 7 mod 8, which needs all four."""
    assert all(sum(x * x for x in four_squares(n)) == n for n in range(1, 500))


@pytest.mark.parametrize("decay", [0.05, 0.4])
def test_the_objective_is_pytorch_s(decay):
    """J over n/2 is the loss that PyTorch prints with its penalty; the optimum is never beaten by a local search, and
    the optimal network has it in the same formula."""
    found = certify_network(STATE, X, Y, decay, penalty="pytorch")
    flat = np.concatenate([W1.ravel(), B1, W2.ravel(), B2])
    assert float(found.objective) / (len(Y) / 2) == pytest.approx(torch_objective(flat, 3, decay), rel=1e-6)
    best = found.optimal
    rows = np.array([[float(x) for x in row] for row in best.W1])
    best_flat = np.concatenate([rows[:, :2].ravel(), rows[:, 2], [float(x) for x in best.w2], [float(best.b2)]])
    value = float(found.value.upper) / (len(Y) / 2)
    assert torch_objective(best_flat, len(rows), decay) == pytest.approx(value, rel=1e-6)
    draw = np.random.default_rng(0)
    starts = [best_flat, *(draw.normal(size=4 * len(rows) + 1) for _ in range(4))]
    for start in starts:
        reached = minimize(torch_objective, start, args=(len(rows), decay), method="L-BFGS-B").fun
        assert reached >= value * (1 - 1e-6)


def test_it_lies_between_no_bias_and_a_free_one():
    """And all three certificates are accepted."""
    plain, decayed, free = (
        certify(X, Y, "1/2", bias=True, **more).value for more in ({}, {"decayed_bias": True}, {"free": "output-bias"})
    )
    assert free.upper < decayed.lower and decayed.upper < plain.lower


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda one: one.update(rho="2"), "rho"),
        (lambda one: one.update(roots=["1", "1", "1", "1", "1"]), "roots"),
        (lambda one: one.update(roots=[]), "roots"),
        (lambda one: one.update(roots=["-1"], rho="1"), "roots"),
    ],
)
def test_a_forged_decay_is_rejected(tmp_path, capsys, change, place):
    """rho is the sum of squares of one to four positive roots, or there is no proof."""
    found = certify(X, Y, 1, bias=True, decayed_bias=True, claims=["optimal"])
    content = json.loads(found.certificate)
    assert content["problem"]["decayed"] == {"rho": "1", "roots": ["1"]}
    change(content["problem"]["decayed"])
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content))
    assert verify([str(path)]) == 1 and f"decayed.{place}" in capsys.readouterr().out


def test_another_rho_is_another_problem(tmp_path, capsys):
    """A smaller rho with the same proof is rejected: theta is not orthogonal to its column any more."""
    content = json.loads(certify(X, Y, 1, bias=True, decayed_bias=True, claims=["optimal"]).certificate)
    content["problem"]["decayed"] = {"rho": "1/4", "roots": ["1/2"]}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content))
    assert verify([str(path)]) == 1


def test_the_command_of_the_tutorial_works(tmp_path, monkeypatch):
    """An ordinary Linear, ReLU, Linear with weight_decay: no option is missing, and the report says what costs what."""
    monkeypatch.chdir(tmp_path)
    np.savez("model.npz", **STATE)
    Path("d.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for (a, b), y in zip(X, Y, strict=True)))
    ran = run("network", "model.npz", "d.csv", "--lambda", "0.05", "--penalty", "pytorch", "--html", "p.html")
    assert ran.code == 0, ran.err
    assert "the output bias costs lambda/2 b2^2, as weight_decay does" in ran.out and "n = 5 points" in ran.out
    assert verify(["model.network.cert.json", "--data", "d.csv", "--network", "model.network.json"]) == 0
    assert "with a decayed output bias" in Path("p.html").read_text()
    free = run("network", "model.npz", "d.csv", "--lambda", "0.05", "--penalty", "pytorch", "--no-decay", "bias")
    assert free.code == 0 and "an output bias, biases of the first layer: without penalty" in " ".join(free.out.split())
    trained = run("check", "d.csv", "--bias", "--lambda", "1/8", "--decayed-bias", "--html", "c.html", "--force")
    assert trained.code == 0 and "decayed      an output bias b: lambda/2 b^2" in trained.out
    assert "n = 5 points" in trained.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--decayed-bias", "give lambda itself"),
        ("--lambda 1 --decayed-bias --free skip", "a decayed bias is for ReLU networks"),
        ("--lambda 1 --decayed-bias --groups 1", "for networks"),
        ("--lambda 1 --decayed-bias --patterns 2", "over all patterns"),
        ("--lambda 1 --decayed-bias --l2 1", "without --free, --l2"),
    ],
)
def test_what_does_not_go_with_it_is_said(tmp_path, monkeypatch, options, said):
    """No option is ignored."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("a,b,y\n1,2,1\n3,1,-1\n2,2,1\n")
    ran = run("check", "d.csv", *options.split())
    assert ran.code == 64 and said in ran.err


def test_weights_without_decay_have_no_optimum():
    """no_decay knows biases; AdamW is told what it is not."""
    with pytest.raises(UsageError, match="no_decay knows bias, b1, b2"):
        certify_network(STATE, X, Y, 0.1, penalty="pytorch", no_decay=["0.weight"])
    with pytest.raises(UsageError, match="AdamW's decoupled decay"):
        certify_network(STATE, X, Y, 0.1, penalty="adamw")
