"""The softmax cross-entropy of several classes: other ways to the value, forged certificates, the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from relu_cert import UsageError, certify
from relu_cert.outputs.softmax import chances_of, dual_point
from relu_cert.problem.loss import SOFTMAX
from tests.cli.run import run
from verify import VerifyError, check
from verify.outputs.softmax import entropy_below, loss_between
from verify.rules.logistic.value import ONE

POINTS = [[2, 1], [1, 2], [3, 3], [4, 1], [-1, 2], [0, -2], [1, -1], [-2, -1]]
LABELS = ["a", "b", "c", "a", "b", "c", "a", "c"]


@pytest.fixture(scope="module")
def found() -> Any:
    """Eight points of three classes."""
    return certify(POINTS, LABELS, "1/5", loss="softmax")


def loss(W: Any, V: Any, lam: float) -> float:
    """The objective in floats."""
    f = np.maximum(np.array(POINTS, dtype=float) @ W.T, 0) @ V
    own = np.array(["abc".index(x) for x in LABELS])
    top = f.max(axis=1)
    total = (np.log(np.exp(f - top[:, None]).sum(axis=1)) + top - f[np.arange(len(f)), own]).sum()
    return float(total + lam / 2 * ((W * W).sum() + (V * V).sum()))


def test_a_small_problem_is_proved_and_no_start_is_better(found: Any) -> None:
    """To forty digits, accepted by the checker; twenty runs of L-BFGS end at or above the lower bound."""
    lines = {line.claim: line.verdict for line in check(found.certificate.encode())}
    assert lines["optimal"] == lines["fit"] == "PROVED" and found.value.relative_gap < Fraction(1, 10**30)
    best = np.inf
    for seed in range(20):
        x = np.random.default_rng(seed).standard_normal(8 * 5)
        end = minimize(lambda z: loss(z[:16].reshape(8, 2), z[16:].reshape(8, 3), 0.2), x, method="L-BFGS-B")
        best = min(best, float(end.fun))
    assert best >= float(found.value.lower) - 1e-9
    assert best <= float(found.value.upper) * 1.05


def test_two_classes_are_the_logistic_loss_with_a_weaker_penalty() -> None:
    """f = (g, -g) / 2 has the loss log(1 + exp(-g)) and |v| is 1/sqrt 2 of that of g: p* at 2 lambda is the logistic
    one at lambda sqrt 2, whose p* another engine proves."""
    labels = [1 if x == "a" else -1 for x in LABELS]
    lam = Fraction(3, 10)
    root = Fraction(14142135623730951, 10**16)
    scalar = certify(POINTS, labels, lam * root, loss="logistic")
    two = certify(POINTS, ["a" if y > 0 else "b" for y in labels], 2 * lam, loss="softmax")
    assert abs(float(two.value.upper) - float(scalar.value.upper)) < 1e-9


def test_chances_are_probabilities_and_bounds_hold() -> None:
    """Rows of P and of Y - Theta have the sum 1 exactly; entropies and losses of both programs enclose the floats."""
    fit = ((Fraction(0), Fraction(3), Fraction(-50)), (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)))
    P = chances_of(fit, 80)
    Y = ((Fraction(0), Fraction(1), Fraction(0)), (Fraction(1), Fraction(0), Fraction(0)))
    Theta = dual_point(Y, P, 1 - Fraction(1, 1000), 90)
    Q = [[y - t for y, t in zip(*rows, strict=True)] for rows in zip(Y, Theta, strict=True)]
    assert all(sum(row) == 1 and min(row) >= 0 for row in (*P, *Q))
    entropy = -sum(float(x) * log(float(x)) for row in Q for x in row if x)
    y, theta, f = (tuple(x for row in A for x in row) for A in (Y, Theta, fit))
    low, high = SOFTMAX.lower(y, theta, Fraction(1)), SOFTMAX.upper(y, f, Fraction(0), Fraction(1))
    assert abs(float(low) - entropy) < 1e-12
    assert low * ONE <= sum(map(entropy_below, Q)) <= entropy * (1 + 1e-12) * ONE
    total = sum(log(sum(exp(float(x)) for x in a)) - float(a[b.index(1)]) for a, b in zip(fit, Y, strict=True))
    assert abs(float(high) - total) < 1e-12
    above = sum(loss_between(a, b)[1] for a, b in zip(fit, Y, strict=True))
    assert total * (1 - 1e-12) * ONE <= above <= high * ONE


def less(text: str, k: int, x: Fraction) -> str:
    """A vector with another entry."""
    entries = text.split()
    entries[k] = str(Fraction(entries[k]) + x)
    return " ".join(entries)


def test_forged_certificates_are_rejected(found: Any) -> None:
    """Bounds that are too good, a dual point whose rows are no probabilities, labels that are none, squares instead."""
    good = json.loads(found.certificate)
    tiny = Fraction(1, 10**80)

    def forged(path: str, change: Any) -> None:
        bad = json.loads(json.dumps(good))
        *way, last = path.split(".")
        at = bad
        for key in way:
            at = at[key]
        at[last] = change(at[last])
        assert bad != good
        with pytest.raises(VerifyError):
            check(json.dumps(bad).encode())

    forged("facts.value.lower", lambda x: str(Fraction(x) + tiny))
    forged("facts.value.upper", lambda x: str(Fraction(x) - tiny))
    forged("facts.cover.theta", lambda x: less(x, 0, tiny))
    forged("facts.cover.theta", lambda x: less(less(x, 0, Fraction(2)), 1, Fraction(-2)))
    forged("facts.cover.theta", lambda x: " ".join(["0"] * len(x.split())))
    forged("facts.cover.theta", lambda x: {"tau": "1/2", "bits": 20})
    forged("problem.Y", lambda Y: ["2 0 -1", *Y[1:]])
    forged("problem.Y", lambda Y: ["1/2 1/2 0", *Y[1:]])
    forged("problem.objective", lambda x: "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|")
    forged("facts.fit.radius_squared", lambda x: str(Fraction(x) / 2))


def test_the_loss_is_for_labels() -> None:
    """Targets that are no classes are refused in plain words."""
    with pytest.raises(UsageError, match="softmax"):
        certify([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1, loss="softmax")


@pytest.mark.long
def test_iris_is_proved_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """check --example iris3 --loss softmax: a gap below 1e-30, a unique network, and the report says which loss."""
    monkeypatch.chdir(tmp_path)
    done = run("check", "--example", "iris3", "--loss", "softmax", "--lambda-ratio", "0.1")
    assert done.code == 0, done.err
    assert "softmax cross-entropy" in done.out and "e-49" in done.out
