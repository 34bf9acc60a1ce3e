"""The scikit-learn estimators: scikit-learn's own checks, and what is ours."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from relu_cert.errors import TooManyPatterns, UsageError
from relu_cert.sklearn import EXPECTED_FAILED_CHECKS, ReLUCertClassifier, ReLUCertRegressor
from verify import check as verify_check

pytestmark = pytest.mark.long

LIMIT = 12_000  # enough for every check whose data can be enumerated at all
KINDS = (ReLUCertRegressor, ReLUCertClassifier)
ESTIMATORS = [kind(bias=False, max_patterns=LIMIT, seconds=None, verify=False) for kind in KINDS]
LINE = np.array([[-2.0], [-1.0], [0.5], [1.0], [2.0]])


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILED_CHECKS)
def test_scikit_learn_conventions(estimator, check):
    """check_estimator, but for the checks that fit data with too many patterns."""
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_exceptions_are_about_size_only(estimator):
    """Each check on the list fails by TooManyPatterns, and for no other reason."""
    from sklearn.utils.estimator_checks import estimator_checks_generator

    met = set()
    for one, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if name in EXPECTED_FAILED_CHECKS and name != "check_classifier_not_supporting_multiclass":
            met.add(name)
            with pytest.raises((TooManyPatterns, AssertionError, UsageError)) as caught:
                check(one)
            why = (caught.value, caught.value.__cause__)
            many = any(isinstance(error, TooManyPatterns) for error in why)
            assert many or any(isinstance(error, UsageError) and "seconds" in str(error) for error in why)
    assert met


def test_a_fitted_regressor_carries_its_certificate():
    """The certificate is accepted by the checker, and the attributes describe the network that predicts."""
    model = ReLUCertRegressor("1/10").fit(LINE, [2, 1, 0, 1, 2])
    verify_check(model.certificate_.encode(), model.certified_.data_csv)
    assert str(model.claims_["optimal"].verdict) == "PROVED"
    W, b = model.coefs_[0], model.intercepts_[0]
    by_hand = np.maximum(LINE @ W + b, 0) @ model.coefs_[1][:, 0] + model.intercepts_[1]
    np.testing.assert_allclose(model.predict(LINE), by_hand, atol=1e-12)
    assert model.n_neurons_ == W.shape[1] and model.n_features_in_ == 1 and model.lam_ == 0.1


def test_labels_become_minus_one_and_one():
    """The first class in sorted order is -1; the sign of the decision chooses."""
    model = ReLUCertClassifier("1/10").fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"])
    assert [int(y) for y in model.certified_.facts.problem.y] == [-1, 1, 1, -1]
    decisions = model.decision_function([[0, 1], [1, 1]])
    assert decisions[0] > 0 > decisions[1]
    assert model.predict([[0, 1], [1, 1]]).tolist() == ["yes", "no"]


def test_large_data_are_refused_with_the_numbers():
    """Too many patterns to be listed: a clear error with both numbers, at once."""
    rng = np.random.default_rng(0)
    with pytest.raises(TooManyPatterns, match="activation patterns predicted, over the limit of 100,000"):
        ReLUCertRegressor(seconds=None).fit(rng.standard_normal((300, 8)), rng.standard_normal(300))


def test_large_data_are_fitted():
    """By default nothing is listed that cannot be: a network, and how far it is from the best one at most."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (80, 9)).astype(float)
    model = ReLUCertRegressor(lambda_ratio="1/2", gap="1/10").fit(X, np.abs(X[:, 0]) - X[:, 1])
    verify_check(model.certificate_.encode(), model.certified_.data_csv)
    assert str(model.claims_["optimal"].verdict) == "PROVED"
    assert model.certified_.value.relative_gap <= 0.1 and model.score(X, np.abs(X[:, 0]) - X[:, 1]) > 0.3


def test_searches_work_with_exact_parameters():
    """Parameters are kept as given, so that clones and grids see the same exact numbers."""
    assert clone(ReLUCertRegressor(lam="1/3")).lam == "1/3"
    search = GridSearchCV(ReLUCertRegressor(verify=False), {"lambda_ratio": ["1/2", "1/100"]}, cv=2)
    search.fit(np.tile(LINE, (2, 1)), np.tile(np.abs(LINE[:, 0]), 2))
    assert search.best_params_["lambda_ratio"] == "1/100"


def test_feature_names_of_a_frame_reach_the_report():
    """The columns of a data frame are the names in the report."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [0.0, 1.0, 2.0]})
    model = ReLUCertRegressor(1).fit(frame, [1.0, 2.0, 4.0])
    assert model.certified_.report.data.names == ("height", "bias")
    assert list(model.feature_names_in_) == ["height"]


def test_the_logistic_classifier_has_probabilities():
    """With the logistic loss the outputs are log odds; with squares there is no predict_proba."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    model = ReLUCertClassifier("1/10", loss="logistic").fit(X, y)
    assert model.certified_.facts.problem.loss.name == "logistic"
    assert str(model.claims_["optimal"].verdict) == "PROVED"
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(shares[:, 1] / shares[:, 0]), model.decision_function(X), atol=1e-9)
    assert not hasattr(ReLUCertClassifier(), "predict_proba")


def test_the_logistic_classifier_fits_large_data():
    """With time for a proof, data of far too many patterns have probabilities and a proved gap."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (60, 5)).astype(float)
    y = np.where(X[:, 0] * X[:, 1] + 20 * rng.standard_normal(60) > 0, "b", "a")
    model = ReLUCertClassifier(lambda_ratio="1/2", loss="logistic", bias=False, seconds=20).fit(X, y)
    assert str(model.claims_["fit"].verdict) == "PROVED"
    shares = model.predict_proba(1e6 * X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert ((shares[:, 1] > 0.5) == (model.predict(1e6 * X) == "b")).all()


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_some_patterns_fit_data_of_any_size(model):
    """Data with far too many patterns, over a few of them: fitted, proved for these, and able to predict."""
    rng = np.random.default_rng(1)
    X = rng.integers(-5, 6, (30, 6)).astype(float)
    estimator = ReLUCertRegressor(lambda_ratio="1/2", model=model, patterns=4, seed=3, gap="1/1000", claims=["optimal"])
    estimator.fit(X, X[:, 0])
    assert (
        str(estimator.claims_["optimal"].verdict) == "PROVED"
        and "these 4 patterns" in estimator.claims_["optimal"].detail
    )
    assert estimator.predict(X).shape == (30,) and np.isfinite(estimator.predict(X)).all()


def test_the_elastic_penalty_is_a_parameter():
    """l2 reaches the problem."""
    assert ReLUCertRegressor(1, l2="1/2").fit(LINE, [2, 1, 0, 1, 2]).certified_.facts.problem.delta * 2 == 1


def test_three_classes_are_three_outputs():
    """The class with the largest output is predicted; weights are shaped as scikit-learn has them."""
    X = np.array([[2.0, 1.0], [1.0, 2.0], [3.0, 3.0], [4.0, 2.0], [1.0, 3.0]])
    y = np.array(["b", "a", "c", "b", "a"])
    model = ReLUCertClassifier(lam="1/10", center=True, free="output-bias").fit(X, y)
    verify_check(model.certificate_.encode(), model.certified_.data_csv)
    assert model.score(X, y) == 1.0 and model.classes_.tolist() == ["a", "b", "c"]
    hidden = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    assert np.allclose(hidden @ model.coefs_[1] + model.intercepts_[1], model.decision_function(X))
    assert model.predict(X).tolist() == y.tolist()


def test_several_targets_are_several_outputs():
    """y with two columns: predictions have two, and each is that of the proved network."""
    Y = np.column_stack([[2.0, 1.0, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, -1.0, 3.0]])
    model = ReLUCertRegressor("1/10").fit(LINE, Y)
    assert str(model.claims_["optimal"].verdict) == "PROVED" and model.predict(LINE).shape == (5, 2)
    single = ReLUCertRegressor("1/10").fit(LINE, Y[:, 0])
    assert float(model.certified_.value.upper) >= float(single.certified_.value.lower)


def test_the_softmax_has_chances_of_three_classes():
    """They add up to one, and the largest is predicted."""
    X = np.array([[2.0, 1.0], [1.0, 2.0], [3.0, 3.0], [4.0, 2.0], [1.0, 3.0]])
    y = ["b", "a", "c", "b", "a"]
    model = ReLUCertClassifier(lam="1/4", loss="softmax", gap=1e-6).fit(X, y)
    verify_check(model.certificate_.encode(), model.certified_.data_csv)
    chances = model.predict_proba(X)
    assert chances.shape == (5, 3) and np.allclose(chances.sum(axis=1), 1)
    assert model.classes_[chances.argmax(axis=1)].tolist() == model.predict(X).tolist()
