"""Training on faces, and proofs with short numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relu_cert import certify
from relu_cert.outputs import optimum
from relu_cert.outputs.build import Unproved
from relu_cert.outputs.faces import face_at, peaks, stopped
from relu_cert.outputs.optimum import OutputsProver, setting
from relu_cert.outputs.train import Net, error, objective, on_faces, one_each, train
from tests.outputs.data import drawn, problem_of, ratio
from verify import check


def never() -> bool:
    """No limit."""
    return False


def patches(n: int) -> np.ndarray:
    """The first digits, as images of 8 x 8."""
    datasets = pytest.importorskip("sklearn.datasets")
    return datasets.load_digits().images[:n].astype(int)[:, None]


@pytest.mark.parametrize("seed", range(4))
def test_training_ends_at_ties(seed: int) -> None:
    """|F(u)| = lambda at every neuron and nowhere more, to eleven digits, and no other network is better."""
    given = setting(problem_of(*drawn(seed, 60, 3, 4)))
    lam = ratio(given, 0.2)
    task, prover = given.task(lam), OutputsProver(given, lam, never)
    net = train(task, prover.oracle)
    assert error(task, net) < 1e-10 and not len(prover.oracle(net))
    rng = np.random.default_rng(seed)
    for size in (1e-1, 1e-3):
        moved = Net(
            net.W + size * rng.standard_normal(net.W.shape) * np.abs(net.W).max(),
            net.V + size * rng.standard_normal(net.V.shape) * np.abs(net.V).max(),
        )
        assert objective(task, moved) > objective(task, net)


def test_a_peak_is_a_vertex_exactly() -> None:
    """Where rows hold a maximum in all directions, what is near it becomes the vertex, once."""
    Z = np.array([[1.0, 0.2, 0.1], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
    T = np.array([[3.0, 1.0], [-1.0, 0.0], [-1.0, -0.5], [-1.0, 0.0], [-1.0, -0.5]])
    near = np.array([[1.0, 1e-6, -2e-7], [1.0, -3e-7, 1e-6], [1.0, 1e-5, 1e-5]])
    found, values = peaks(Z, T, near)
    assert len(found) == 1 and abs(found[0] - [1, 0, 0]).max() < 1e-14
    assert abs(values[0] - np.sqrt(10)) < 1e-12


def test_a_neuron_stops_at_a_row_that_holds_it_back() -> None:
    """On its way it stays at the first such row, which is then on its face; other rows it crosses."""
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])
    lengths = np.linalg.norm(Z, axis=1)
    w, to = np.array([1.0, 0.5]), np.array([1.0, -0.5])
    face = face_at(Z, lengths, w)
    there, stays = stopped(Z, lengths, face, w, to, np.array([True, True, True]))
    assert there.tolist() == [1.0, 0.0] and stays.zero.tolist() == [False, True, False] and stays.basis.shape == (2, 1)
    there, crosses = stopped(Z, lengths, face, w, to, np.array([True, False, True]))
    assert there.tolist() == to.tolist() and crosses.on.tolist() == [True, False, False]


def test_newton_and_merging_never_make_a_network_worse() -> None:
    """From random networks, which are far from any optimum."""
    given = setting(problem_of(*drawn(5, 40, 3, 3)))
    task = given.task(ratio(given, 0.1))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        net = Net(rng.standard_normal((6, 3)), rng.standard_normal((6, 3)))
        better = on_faces(task, net, never)
        assert objective(task, better) <= objective(task, net)
        twice = Net(np.vstack([better.W, better.W[:1]]) / np.sqrt(2), np.vstack([better.V, better.V[:1]]) / np.sqrt(2))
        assert len(one_each(task, twice).W) <= len(better.W)


@pytest.mark.parametrize("free", [None, "output-bias"])
def test_short_numbers_prove_what_long_ones_do(monkeypatch: pytest.MonkeyPatch, free: str | None) -> None:
    """Where leaves have many lines, Theta is short: the checker accepts, and the bounds hold the sharp ones."""
    Z, Y = drawn(8, 120, 3, 3)
    sharp = certify(Z, Y, lambda_ratio=Fraction(1, 5), free=free, verify=False).facts.value
    monkeypatch.setattr(optimum, "LARGE", 0)
    found = certify(Z, Y, lambda_ratio=Fraction(1, 5), free=free, gap=Fraction(1, 10**4), verify=False)
    value = found.facts.value
    assert 0 < value.relative_gap < Fraction(1, 10**5)
    assert value.lower <= sharp.upper and sharp.lower <= value.upper
    said = {one.claim: one.verdict for one in check(found.certificate.encode())}
    assert said["optimal"] == "PROVED" and said["p-unique"] == "UNDECIDED"


def test_a_network_that_is_not_optimal_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """With short numbers, too: a neuron less, and the dual constraint is violated."""
    monkeypatch.setattr(optimum, "LARGE", -1)
    given = setting(problem_of(*drawn(8, 80, 3, 3)))
    lam = ratio(given, 0.2)
    prover = OutputsProver(given, lam, never)
    net = train(given.task(lam), prover.oracle)
    with pytest.raises(Unproved):
        prover.proved(Net(net.W[1:], net.V[1:]), (1e-6,))


@pytest.mark.long
def test_ten_classes_under_filters_at_a_fifth() -> None:
    """A convolutional network on 60 digits, which smoothing did not finish, is proved; the checker accepts."""
    from sklearn.datasets import load_digits

    labels = [f"class {t}" for t in load_digits().target[:60]]
    rule = "2d:8x8:2x2:stride=2"
    found = certify(patches(60), labels, lambda_ratio=Fraction(1, 5), center=True, conv=rule, verify=False, seconds=300)
    assert found.facts.value.relative_gap < Fraction(1, 10**6)
    assert {one.claim: one.verdict for one in check(found.certificate.encode())}["fit"] == "PROVED"


def test_a_bound_is_proved_whatever_the_time_is() -> None:
    """Without any time for training or the tree there is a dual point, and the checker accepts it."""
    Z, Y = drawn(8, 60, 3, 3)
    given = setting(problem_of(Z, Y))
    found = OutputsProver(given, ratio(given, 0.1), lambda: True).run()
    assert 0 < found.lower < found.upper
