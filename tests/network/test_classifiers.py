"""scikit-learn MLPClassifier of two classes: its own objective, with the logistic loss, against the proved optimum."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction as F
from math import exp, log1p

import numpy as np
import pytest

import verify
from relu_cert import certify_network
from relu_cert.errors import DataError, UsageError
from verify.errors import Rejected

sklearn = pytest.importorskip("sklearn.neural_network")

rng = np.random.default_rng(3)
X = rng.integers(-4, 5, (24, 2)) / 2
LABELS = np.where(X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=24) / 2 > 1, "yes", "no")


def fitted(**more):
    """A classifier that was fitted to the labels."""
    options = {"alpha": 2.0, "solver": "lbfgs", "random_state": 0, "max_iter": 2000} | more
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sklearn.MLPClassifier((4,), **options).fit(X, LABELS)


@pytest.fixture(scope="module")
def judged():
    """A fitted classifier, and what is said of it without a lambda."""
    model = fitted()
    return model, certify_network(model, X, LABELS)


def objective(model) -> float:
    """sum log(1 + exp(-y f)) + alpha/2 (|W1|^2 + |w2|^2), y = 1 for classes_[1]."""
    hidden = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    f = (hidden @ model.coefs_[1] + model.intercepts_[1]).ravel()
    y = np.where(model.classes_[1] == LABELS, 1, -1)
    size = sum(float((W**2).sum()) for W in model.coefs_)
    return sum(log1p(exp(-s)) if s > 0 else -s + log1p(exp(s)) for s in y * f) + model.alpha / 2 * size


def test_its_own_objective_is_enclosed(judged):
    """J is scikit-learn's, with both biases free: its loss_ times n; the optimum is below, and proved."""
    model, found = judged
    assert abs(float(found.objective) - objective(model)) < 1e-10
    assert abs(float(found.objective) - len(X) * model.loss_) < 1e-8
    assert found.value.lower <= found.objective
    assert found.claims["network-objective"].verdict == "PROVED"
    assert found.claims["network-optimal"].verdict in ("PROVED", "REFUTED")
    text = " ".join(str(found).split())
    assert "1/B sum log(1 + exp(-y f)) + alpha/(2B)" in text and "biases of the first layer" in text
    assert found.report.to_json()["stationarity"] is None
    with pytest.raises(UsageError, match="logistic"):
        _ = found.stationarity


def test_a_bad_classifier_is_refuted():
    """One that was hardly trained is above the optimum by more than the gap, which the checker accepts."""
    model = fitted(max_iter=1)
    found = certify_network(model, X, LABELS)
    assert found.claims["network-optimal"].verdict == "REFUTED"


def test_forged_objectives_are_rejected(judged):
    """An objective below the enclosed one, other weights, claims that do not follow, and parts about gradients."""
    good = json.loads(judged[1].certificate)
    network = good["facts"]["network"]
    J = F(network["objective"])
    forgeries = [
        {"objective": str(J - F(1, 10**20))},
        {"b2": str(F(network["b2"]) + 1)},
        {"stationary": [[] for _ in network["w2"].split()]},
        {"penalty": network["penalty"] | {"convention": "pytorch"}},
    ]
    for change in forgeries:
        tree = json.loads(json.dumps(good))
        tree["facts"]["network"] |= change
        with pytest.raises(Rejected):
            verify.check(json.dumps(tree).encode(), judged[1].raw)
    for one in good["claims"]:
        if one["claim"] == "network-optimal":
            one["verdict"] = {"PROVED": "REFUTED", "REFUTED": "PROVED"}[one["verdict"]]
    with pytest.raises(Rejected):
        verify.check(json.dumps(good).encode(), judged[1].raw)


def test_the_bounds_decide_the_claims(judged):
    """An upper bound of J that is stated too large makes it no more than that: what follows is still true."""
    tree = json.loads(judged[1].certificate)
    tree["facts"]["network"]["objective"] = str(F(tree["facts"]["network"]["objective"]) + F(1, 10**60))
    verify.check(json.dumps(tree).encode(), judged[1].raw)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: fitted(solver="adam", batch_size=5), "batches of 5 do not divide 24"),
        (lambda: fitted(solver="adam", early_stopping=True), "early_stopping held rows back"),
        (lambda: fitted(alpha=0.0), "without a penalty"),
    ],
)
def test_other_objectives_are_refused(model, said):
    """Batches that do not divide, rows held back and no penalty are named, as for MLPRegressor."""
    with pytest.raises(UsageError, match=said):
        certify_network(model(), X, LABELS)
    with pytest.raises(UsageError, match="another objective"):
        certify_network(fitted(), X, LABELS, 1, penalty="sklearn")


def test_other_classifiers_get_a_sentence():
    """Several labels at once, and labels that the model does not know."""
    three = np.array(["a", "b", "c"])[np.arange(24) % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = sklearn.MLPClassifier((3,), max_iter=5, solver="lbfgs").fit(X, np.stack([X[:, 0] > 0, X[:, 1] > 0], 1))
    with pytest.raises(DataError, match="2 labels at once"):
        certify_network(both, X, LABELS)
    with pytest.raises(DataError, match="labels other than those"):
        certify_network(fitted(), X, three)


def test_a_search_stands_for_its_best_model():
    """GridSearchCV holds the model that was fitted to all rows; its alpha is told as it was written, and its double."""
    search = pytest.importorskip("sklearn.model_selection").GridSearchCV
    options = {"hidden_layer_sizes": (3,), "solver": "lbfgs", "random_state": 0, "max_iter": 300}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = search(sklearn.MLPRegressor(**options), {"alpha": [0.1]}, cv=2).fit(X, X[:, 0])
    found = certify_network(model, X, X[:, 0])
    assert found.lam == F(0.1)
    told = " ".join(found.report.to_text().split())
    assert "lambda = alpha n / B = 0.1 * 24 / 24 = 0.1 (0.1 is the double 3602879701896397/2^55)." in told
