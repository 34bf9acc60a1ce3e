"""Fitted models of other libraries: what they were fitted to is compared with what is asked."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from relu_cert import certify_network, certify_solution
from relu_cert.errors import DataError, UsageError

pytest.importorskip("sklearn")
X = np.array([[0.0, 1.0], [1.0, 0.5], [-1.0, 2.0], [0.5, -1.0], [2.0, 1.0], [-2.0, 0.25]])
Y = np.array([1.0, 2.0, 0.0, -1.0, 3.0, 1.0])


def mlp(**options):
    """A small network, hardly trained."""
    from sklearn.neural_network import MLPRegressor

    settings = {"hidden_layer_sizes": (2,), "alpha": 0.125, "max_iter": 30, "random_state": 0, "solver": "lbfgs"}
    with quiet():
        return MLPRegressor(**settings | options).fit(X, Y)


@contextmanager
def quiet():
    """A training that has not converged is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_the_batch_size_of_a_model_counts_with_lam_too():
    """batch_size=3 of 6 rows doubles lambda, whether alpha is given or the model's own."""
    model = mlp(solver="adam", batch_size=3)
    assert certify_network(model, X, Y, verify=False).lam == certify_network(
        model, X, Y, 0.125, penalty="sklearn", verify=False
    ).lam == 0.25  # fmt: skip


@pytest.mark.parametrize(
    ("options", "asked", "said"),
    [
        ({}, {"lam": 50}, "alpha = 0.125 on batches of 6, lambda = 0.125, free biases; what is asked is lambda = 50"),
        ({}, {"lam": 0.5, "penalty": "sklearn"}, "another objective"),
        ({"solver": "adam", "batch_size": 4}, {"lam": 0.125, "penalty": "sklearn"}, "batches of 4 do not divide 6"),
        ({"solver": "adam", "early_stopping": True, "validation_fraction": 0.5}, {}, "early_stopping held rows back"),
    ],
)
def test_a_model_is_not_judged_by_another_objective(options, asked, said):
    """Another alpha, batches that minimise none, rows held back: refused, and the way out is named."""
    model = mlp(**options)
    with pytest.raises(UsageError, match=said.replace("(", ".").replace("=", ".")):
        certify_network(model, X, Y, **asked, verify=False)


def test_anyway_is_anyway():
    """Whoever says so gets the answer about the other objective."""
    assert certify_network(mlp(), X, Y, 50, bias=True, output_bias="neuron", anyway=True, verify=False).lam == 50


def test_a_pipeline_transforms_the_data():
    """The last step is judged on what the others make of X; targets that were transformed are refused."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    with quiet():
        model = make_pipeline(StandardScaler(), mlp()).fit(X, Y)
    inner = certify_network(model[-1], model[:-1].transform(X), Y, verify=False)
    assert certify_network(model, X, Y, verify=False).objective == inner.objective
    with quiet():
        other = TransformedTargetRegressor(mlp()).fit(X, Y)
    with pytest.raises(DataError, match="targets were transformed"):
        certify_network(other, X, Y)


@pytest.mark.parametrize(
    ("name", "options", "lam", "said"),
    [
        ("Lasso", {"alpha": 0.1}, 0.5, "fitted with alpha = 0.1, and lam = 0.5"),
        ("ElasticNet", {"alpha": 0.1}, 0.1, "ElasticNet minimises another objective"),
        ("Ridge", {"alpha": 0.1}, 0.1, "Ridge minimises another objective"),
        ("Lasso", {"alpha": 0.1, "positive": True}, 0.1, "positive=True"),
    ],
)
def test_a_linear_model_is_not_judged_as_another(name, options, lam, said):
    """An elastic net is no lasso, and alpha is part of the problem."""
    import sklearn.linear_model

    model = getattr(sklearn.linear_model, name)(**options).fit(X, Y)
    with pytest.raises(UsageError, match=said):
        certify_solution(X, 1, Y, lam, model, verify=False)
    certify_solution(X, 1, Y, lam, model, anyway=True, verify=False)


def test_a_fitted_lasso_knows_its_lambda():
    """lam=None is the model's own alpha."""
    from sklearn.linear_model import Lasso

    found = certify_solution(X, 1, Y, None, Lasso(alpha=0.1, tol=1e-12).fit(X, Y))
    assert found.headline.startswith("These coefficients are optimal")


def test_a_deeper_model_is_certified_from_a_layer_on():
    """Two hidden layers are refused with what can be done, and that works: the features of the first are the data."""
    model = mlp(hidden_layer_sizes=(3, 2))
    with pytest.raises(DataError, match="from_layer = 2"):
        certify_network(model, X, Y)
    found = certify_network(model, X, Y, from_layer=2)
    hidden = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    assert found.report.data.d == 4 and np.allclose(np.array(found.report.data.Z, float)[:, :3], hidden)
    assert "its first layer is fixed" in found.to_text()
