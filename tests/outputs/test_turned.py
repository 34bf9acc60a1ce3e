"""A continuum of optimal networks whose numbers are no rationals: neurons of one pattern that may be turned."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpz_mat

import verify
from relu_cert import certify


def positive(seed: int, n: int = 12, d: int = 2, C: int = 2) -> tuple[Any, Any]:
    """Positive rows, and targets that a linear map nearly explains."""
    rng = np.random.default_rng(seed)
    Z = np.round(rng.uniform(1, 4, (n, d)), 2)
    Y = np.round(Z @ (np.eye(d, C) + rng.uniform(0, 0.3, (d, C))) + 0.2 * rng.standard_normal((n, C)), 2)
    return ([[Fraction(str(x)) for x in row] for row in A.tolist()] for A in (Z, Y))


@pytest.fixture(scope="module")
def found() -> Any:
    """Two neurons see all rows, and lambda is a singular value twice."""
    return certify(*positive(0), 1)


def test_a_continuum_of_drawn_data_is_refuted_and_accepted(found: Any) -> None:
    """No number of it is simple: what is proved is that there is such a network, for every dual point of the ball."""
    assert str(found.claims["p-unique"].verdict) == "REFUTED"
    assert "continuum" in str(found.claims["p-unique"])
    lines = {line.claim: line for line in verify.check(found.certificate.encode())}
    assert "turned" in json.loads(found.certificate)["facts"] and lines["p-unique"].verdict == "REFUTED"


def test_turned_neurons_are_as_good(found: Any) -> None:
    """Neurons W R with v = M'w / lambda have the objective of the bound, and other outputs elsewhere."""
    Z, Y = (np.array(A, dtype=float) for A in positive(0))
    W = np.array(
        [[float(Fraction(x)) for x in w.split()] for w in json.loads(found.certificate)["facts"]["turned"]["neurons"]]
    )
    Theta = Y - found.network.outputs(Z)
    values, elsewhere = [], []
    for angle in (0.0, 0.02, -0.02):
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turned = R @ W
        V = turned @ (Z.T @ Theta)
        assert (Z @ turned.T > 0).all()
        E = np.maximum(Z @ turned.T, 0) @ V - Y
        values.append(0.5 * (E * E).sum() + (np.linalg.norm(turned, axis=1) * np.linalg.norm(V, axis=1)).sum())
        elsewhere.append(np.maximum(np.array([[1.0, -0.6], [-0.5, 1.0]]) @ turned.T, 0) @ V)
    assert np.allclose(values, float(found.value.upper), rtol=1e-7)
    assert np.abs(elsewhere[1] - elsewhere[2]).max() > 1e-4


def forged(certificate: str, change: Any) -> bytes:
    """The certificate with another fact."""
    other = json.loads(certificate)
    change(other["facts"]["turned"])
    return json.dumps(other).encode()


def scaled(fact: Any, factor: str) -> None:
    """Neurons of another length."""
    fact["neurons"] = [" ".join(str(Fraction(x) * Fraction(factor)) for x in w.split()) for w in fact["neurons"]]


FORGED: dict[str, tuple[Any, str]] = {
    "one neuron": (lambda fact: fact["neurons"].pop(), "independent"),
    "the same twice": (lambda fact: fact.update(neurons=fact["neurons"][:1] * 2), "independent"),
    "too long": (lambda fact: scaled(fact, "21/20"), "certificate"),
    "far too long": (lambda fact: scaled(fact, "3"), "|zeta R"),
    "of the other side": (lambda fact: scaled(fact, "-1"), "certificate"),
    "no injective data": (lambda fact: fact.update(least="10000"), "least"),
    "nothing of the data": (lambda fact: fact.update(least="0"), "least"),
    "data of tiny values": (lambda fact: fact.update(least="1/10" + "0" * 30), "well enough"),
    "another pattern": (lambda fact: fact.update(neurons=["1 -1", "1 1"]), "certificate"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_continuum_is_rejected(found: Any, name: str) -> None:
    """Neurons that are not those of the optimum, or numbers that do not hold."""
    change, said = FORGED[name]
    with pytest.raises(verify.Rejected, match=said):
        verify.check(forged(found.certificate, change))


def test_a_leaf_where_a_line_might_lengthen_is_noticed(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without leaves that are inside nothing is proved: those at the neurons are not out."""
    from verify.rules import turned

    monkeypatch.setattr(turned, "inside", lambda leaf, beside: False)
    with pytest.raises(verify.Rejected, match="leaf"):
        verify.check(found.certificate.encode())


@pytest.mark.parametrize("seed", range(6))
def test_inside_is_what_it_says(seed: int) -> None:
    """Where a cone is inside, |F(u)| <= |M'u| at drawn points, for dual points anywhere in the ball; and cones that
    have a line that lengthens F are not."""
    from verify.outputs.check import Form
    from verify.outputs.forms import integers, length_above
    from verify.rules.turned import Beside, inside

    rng, said = np.random.default_rng(seed), 0
    for _ in range(400):
        P, W = rng.integers(-9, 10, (5, 3)), rng.integers(-60, 61, (5, 2))
        sides, M0, off = rng.integers(0, 2, 5).astype(bool), rng.integers(-200, 201, (3, 2)), int(rng.integers(0, 3))
        G = rng.integers(-3, 4, 3) + rng.integers(-2, 3, (3, 3))
        M = M0 + (P * sides[:, None]).T @ W
        exact = fmpz_mat(W.tolist())
        positive_parts = fmpz_mat([[max(x, 0) for x in row] for row in integers(exact * exact.transpose())])
        lengths = [length_above(w) for w in W.tolist()]
        bound = int(np.ceil(np.linalg.norm(M, 2))) + off
        beside = Beside(
            *(fmpz_mat(P.tolist()), exact, positive_parts, fmpz_mat(M.tolist()), sides.tolist(), lengths),
            *(off, off, bound),
        )
        cone = [tuple(map(int, g)) for g in G]
        if not inside(Form(cone, [], 1, None, None, list), beside):
            continue
        said += bool(((P @ G.T > 0) != sides[:, None]).any())
        for c in rng.uniform(0, 1, (20, 3)):
            u = c @ G
            moved = rng.standard_normal((5, 2))
            moved *= off * rng.uniform(0, 1, (5, 1)) / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
            bent = rng.standard_normal((3, 2))
            slope = M + bent * off * rng.uniform() / max(np.linalg.norm(bent, 2), 1e-9)
            delta = np.where(sides, np.maximum(-(P @ u), 0), np.maximum(P @ u, 0))
            F = u @ slope + delta @ (W + moved)
            assert np.linalg.norm(F) <= np.linalg.norm(u @ slope) + 1e-6
    assert said >= 3
