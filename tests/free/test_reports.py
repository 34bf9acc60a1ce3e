"""Free terms in estimators, on pages and in words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relu_cert import certify, certify_network
from relu_cert.words import looked_up

X, Y = [[-2, 1], [0, 3], [1, -1], [3, 0], [2, 2]], [1, -1, 2, 1, 0]


def test_the_estimator_minimises_what_scikit_learn_does() -> None:
    """The regressor with free biases is at least as good as MLPRegressor in MLPRegressor's own objective, proved; its
    weights, in the shapes of scikit-learn's, have that objective and its predictions."""
    pytest.importorskip("sklearn")
    from sklearn.neural_network import MLPRegressor

    from relu_cert.sklearn import ReLUCertClassifier, ReLUCertRegressor

    rows, y = np.array(X, dtype=float), np.array(Y, dtype=float)
    found = ReLUCertRegressor(0.25, free="output-bias,biases").fit(rows, y)
    (W1, w2), (b1, b2) = found.coefs_, found.intercepts_
    outputs = np.maximum(rows @ W1 + b1, 0) @ w2[:, 0] + b2
    np.testing.assert_allclose(outputs, found.predict(rows), atol=1e-9)
    J = 0.5 * ((outputs - y) ** 2).sum() + 0.125 * ((W1**2).sum() + (w2**2).sum())
    assert pytest.approx(found.value_, rel=1e-8) == J
    for seed in range(3):
        other = MLPRegressor(hidden_layer_sizes=(8,), alpha=0.25, solver="lbfgs", max_iter=2000, random_state=seed)
        assert len(y) * other.fit(rows, y).loss_ >= float(found.certified_.value.lower)
    assert str(found.claims_["optimal"].verdict) == "PROVED"
    labels = ReLUCertClassifier(0.25, free=("output-bias", "skip")).fit(rows, ["a", "b", "b", "a", "b"])
    assert labels.predict(rows).tolist() == np.where(labels.decision_function(rows) > 0, "b", "a").tolist()


def test_pages_say_what_is_free() -> None:
    """The pages of `check` and `network` name the free terms; no picture is drawn of a part of the network."""
    page = certify(X, Y, 1, free="output-bias,skip").html()
    assert "an output bias, a skip connection free of penalty" in page
    assert "output bias" in page and "skip connection (" in page and "λmax²" not in page
    network = ([[1.0, 0.5], [0.0, -1.0]], [0.5, 0.5], [1.0, 1.0], 0.25)
    found = certify_network(network, X, Y, "1", penalty="sklearn")
    assert "network-optimal" in found.html()
    assert found.to_json()["penalty"]["free"] == ["output-bias", "biases"]
    assert "without penalty" in found.to_text()


def test_a_neuron_of_a_free_bias_alone() -> None:
    """It is a constant: in no norm, not dead, and what is said of the network is accepted by the checker."""
    network = ([[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]], [0.5, 1.0, 2.0], [1.0, 1.0, -0.5], 0.25)
    found = certify_network(network, X, Y, "1", penalty="sklearn")
    assert "dead" not in found.claims["network-balanced"].detail
    assert [s.first for s in found.report.comparison.examination.scales] == [Fraction(5, 4), 0, 0]


def test_the_word() -> None:
    """`explain free` says what it is."""
    assert "not penalised" in looked_up("free").meaning


def test_estimators_and_given_networks_know_whether_the_optimum_is_unique() -> None:
    """On small data with scikit-learn's objective: it is decided, for the estimator and beside a given network, and
    what rests on the list of patterns is decided as well."""
    pytest.importorskip("sklearn")
    from relu_cert.sklearn import ReLUCertRegressor

    found = ReLUCertRegressor(0.25, free="output-bias,biases").fit(np.array(X, dtype=float), np.array(Y, dtype=float))
    assert str(found.claims_["p-unique"].verdict) in ("PROVED", "REFUTED")
    assert str(found.claims_["patterns-complete"].verdict) == "PROVED"
    kinked = ([[1.0, 0.0], [0.0, -1.0]], [2.0, 0.5], [1.0, 1.0], 0.25)  # zero at the first row
    beside = certify_network(kinked, X, Y, "1", penalty="sklearn")
    facts = beside.report.comparison.facts
    assert facts.known and facts.value.relative_gap < Fraction(1, 10**40)
    assert str(beside.claims["network-stationary"].verdict) == "REFUTED"
    assert all(len(result.detail) > 1 for result in beside.claims.values())
