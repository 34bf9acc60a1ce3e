"""Several outputs where the biases of the first layer are free, as in scikit-learn."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import verify
from relu_cert import certify, certify_network
from relu_cert.outputs import biases
from relu_cert.outputs.faces import face_at
from tests.outputs.data import drawn

BOTH = ("output-bias", "biases")


def free(X: Any, Y: Any, lam: Any, **more: Any) -> Any:
    """Certified in scikit-learn's objective."""
    return certify(X, Y, lam, bias=True, free=BOTH, **more)


def agree(one: Any, other: Any) -> bool:
    """Whether both bounds may be bounds of one number."""
    return bool(max(one.value.lower, other.value.lower) <= min(one.value.upper, other.value.upper))


@pytest.fixture(scope="module")
def found() -> Any:
    """Twelve points of the plane with two outputs."""
    return free(*drawn(3, 12, 2, 2), "1/2")


def test_drawn_data_are_proved_and_no_other_network_is_better(found: Any) -> None:
    """The gap is far below 1e-9; networks of random weights and biases are not below the bound."""
    assert found.value.relative_gap < Fraction(1, 10**9)
    assert [str(found.claims[name].verdict) for name in ("optimal", "fit", "p-unique")] == [
        *("PROVED", "PROVED"),
        "UNDECIDED",
    ]
    X, Y = (np.array(M, dtype=float) for M in drawn(3, 12, 2, 2))
    rng, W1, b1 = np.random.default_rng(0), found.network.W1[:, :-1], found.network.W1[:, -1]
    for _ in range(300):
        V = found.network.W2 + rng.uniform(0, 0.1) * rng.standard_normal((len(W1), 2))
        W, b = W1 + rng.uniform(0, 0.1) * rng.standard_normal(W1.shape), b1 + 0.1 * rng.standard_normal(len(b1))
        A = np.maximum(X @ W.T + b, 0) @ V
        E = A - Y - (A - Y).mean(axis=0)
        value = 0.5 * (E * E).sum() + 0.5 * (np.linalg.norm(W, axis=1) * np.linalg.norm(V, axis=1)).sum()
        assert value >= float(found.value.lower) - 1e-9


def test_a_target_of_rank_one_is_the_problem_with_one_output() -> None:
    """Y = y (3/5, 4/5): the p* that the engine of one output proves."""
    X, Y = drawn(5, 12, 2, 1)
    two = [[y * Fraction(3, 5), y * Fraction(4, 5)] for (y,) in Y]
    assert agree(free(X, [y for (y,) in Y], "1/2"), free(X, two, "1/2"))


def test_moved_data_have_the_same_optimum(found: Any) -> None:
    """x + (3, -2): biases make up for it, and nothing else is penalised."""
    X, Y = drawn(3, 12, 2, 2)
    assert agree(found, free([(a + 3, b - 2) for a, b in X], Y, "1/2"))


def test_two_classes_are_the_logistic_loss_with_a_weaker_penalty() -> None:
    """f = (g, -g) / 2: |v| = |g's| / sqrt 2, with free constants in both."""
    X = [(0, 1), (1, 0), (2, 2), (3, 1), (1, 3), (2, 0), (0, 3)]
    labels = [1, 1, -1, -1, 1, 1, -1]
    root = Fraction(1414213562373095, 10**15)
    two = free(X, [["b", "a"][y > 0] for y in labels], Fraction(1, 2), loss="softmax")
    one = free(X, labels, Fraction(1, 2) / root, loss="logistic")
    assert abs(float(one.value.upper) - float(two.value.lower)) < 1e-8
    assert str(two.claims["fit"].verdict) == "PROVED"


def test_one_feature_is_decided_by_its_kinks() -> None:
    """|F(w, b)| is largest at w = 1 or -1 and a b = -x_k w: at 101 % of the largest value there nothing is left, at
    99 % a neuron is."""
    X, Y = drawn(8, 9, 1, 2)
    x, T = np.array(X, dtype=float)[:, 0], np.array(Y, dtype=float)
    T = T - T.mean(axis=0)
    top = max(np.linalg.norm(np.maximum(s * (x - k), 0) @ T) for s in (1, -1) for k in x)
    assert free(X, Y, Fraction(round(1.01 * top * 10**6), 10**6)).network.width == 0
    below = free(X, Y, Fraction(round(0.99 * top * 10**6), 10**6))
    assert below.network.width == 1


def test_maxima_are_those_of_all_kinks() -> None:
    """With one feature every start ends at one of the finitely many candidates, the best at the best."""
    rng = np.random.default_rng(2)
    Z, T = np.column_stack([rng.standard_normal(15), np.ones(15)]), rng.standard_normal((15, 3))
    T -= T.mean(axis=0)
    values = {
        (s, k): np.linalg.norm(np.maximum(s * (Z[:, 0] - Z[k, 0]), 0) @ T) for s, k in product((1, -1), range(15))
    }
    U, found = biases.maxima(Z, T, biases.begun(Z, T, rng, 12), 0.0)
    assert found[0] == pytest.approx(max(values.values()))
    assert np.abs(np.abs(U[:, 0]) - 1).max() < 1e-12


def test_a_face_is_orthonormal_in_what_is_penalised() -> None:
    """Coordinates of a vector on the face give it back, and have the length of its weights."""
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.standard_normal((8, 3)), np.ones(8)])
    w = np.append(u := rng.standard_normal(3), -Z[2, :3] @ u)
    face = face_at(Z, np.linalg.norm(Z, axis=1), w, biased=True)
    x = face.inverse @ w
    assert np.allclose(face.basis @ x, w) and np.linalg.norm(x) == pytest.approx(np.linalg.norm(u))
    assert face.zero.tolist() == [k == 2 for k in range(8)]


@pytest.mark.filterwarnings("ignore")
def test_classifiers_and_regressors_in_their_own_objective() -> None:
    """MLPClassifier of three classes and MLPRegressor of two targets, as scikit-learn trains them."""
    neural = pytest.importorskip("sklearn.neural_network")
    X, Y = (np.array(M, dtype=float) for M in drawn(11, 14, 2, 2))
    labels = np.array(["a", "b", "c"])[np.argmax(np.column_stack([Y, np.zeros(14)]), axis=1)]
    given: dict[str, Any] = {"hidden_layer_sizes": (4,), "alpha": 2.0, "solver": "lbfgs", "random_state": 0}
    for model, y in ((neural.MLPClassifier(**given), labels), (neural.MLPRegressor(**given), Y)):
        told = certify_network(model.fit(X, y), X, y)
        assert str(told.claims["network-objective"].verdict) == "PROVED"
        assert "free" in str(told) and told.value.lower <= told.objective


FORGED: list[tuple[str, Any]] = [
    ("problem.free", ["output-bias"]),
    ("problem.lambda", "49/100"),
    ("facts.cover.proof.basis", ["1 0 0", "0 1 1", "0 0 1"]),
    ("facts.cover.proof.basis", ["1 0 0", "0 1 0", "0 0 2"]),
    ("facts.cover.proof.basis", ["0 0 1", "1 0 0", "0 1 0"]),
    ("facts.cover.proof.basis", ["1 0 0", "0 1 0"]),
    ("facts.primal.neurons.0.norm", "1/100"),
]


@pytest.mark.parametrize(("place", "wrong"), FORGED)
def test_a_forged_certificate_is_not_accepted(found: Any, place: str, wrong: Any) -> None:
    """Lengths that see the bias or do not, prisms of another basis, a smaller lambda."""
    certificate = json.loads(found.certificate)
    node, *keys = certificate, *place.split(".")
    for key in keys[:-1]:
        node = node[int(key) if key.isdigit() else key]
    node[keys[-1]] = wrong
    with pytest.raises((verify.Rejected, verify.Declined)):
        verify.check(json.dumps(certificate).encode())


def test_theta_has_columns_of_sum_zero_or_nothing_is_proved(found: Any) -> None:
    """A dual point that is a little longer in one entry sees neurons without weights."""
    certificate = json.loads(found.certificate)
    certificate["facts"]["cover"]["theta"]["moves"] = []
    with pytest.raises(verify.Rejected, match="orthogonal"):
        verify.check(json.dumps(certificate).encode())


@pytest.mark.parametrize("x", [0, 3])
@pytest.mark.parametrize("more", [{}, {"loss": "softmax"}])
def test_features_that_are_the_same_everywhere_need_no_neuron(more: Any, x: int) -> None:
    """With the output bias alone everything is said."""
    found = free([[x], [x], [x]], ["a", "b", "a"] if more else [[1, 0], [0, 2], [1, 1]], "1/3", **more)
    assert found.network.width == 0 and found.value.relative_gap < Fraction(1, 10**9)
