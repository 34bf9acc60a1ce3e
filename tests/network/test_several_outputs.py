"""Given networks with several outputs: read from everywhere, judged against the optimum, and checked."""

from __future__ import annotations

import json
from fractions import Fraction as F
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from relu_cert import DataError, UsageError, certify, certify_network
from relu_cert.models import in_order_of
from relu_cert.network.formats import ENDINGS, read_network, write_network
from relu_cert.network.objective import balanced_outputs, norms_sum, objective, residual, stationarity
from relu_cert.network.penalty import Penalty, convert
from relu_cert.network.trained import TrainedNetwork
from relu_cert.problem.loss import SOFTMAX
from relu_cert.prove.facts import ExactNeuron
from tests.cli.run import run
from tests.outputs.data import drawn
from verify.certificate import check

ONE = TrainedNetwork(((F(3), F(4)), (F(1), F(-1))), (F(2), F(1), F(0), F(-5)), targets=2)
Z = ((F(1), F(0)), (F(0), F(1)), (F(2), F(1)))
Y = (F(6), F(0), F(8), F(4), F(0), F(0))
TABLE = [[1, 0], [0, 1], [2, 1]]
W1, W2 = [[3, 4], [1, -1]], [[2, 0], [1, -5]]  # the second layer as PyTorch has it, outputs x neurons


def test_by_hand() -> None:
    """f = (3 x + 4 y)_+ (2, 1) + (x - y)_+ (0, -5); J with both norms, P with sum |w_i||v_i|, 5 sqrt 5 + 5 sqrt 2."""
    assert [*ONE(Z)] == [6, -2, 8, 4, 20, 5]
    assert [*residual(ONE, Z, Y)] == [0, 2, 0, 0, -20, -5]
    assert objective(ONE, Z, Y, F(2)) == F(4 + 400 + 25, 2) + (25 + 2 + 5 + 25)
    P = norms_sum(ONE)
    assert P.lower <= P.upper and abs(float(P.upper) - 5 * 5**0.5 - 5 * 2**0.5) < 1e-12


def test_the_gradient_is_that_of_differences() -> None:
    """At a network without kinks the squared distance is the squared gradient of J, taken numerically."""
    data, targets = drawn(3, 6, 2, 3)
    rng = np.random.default_rng(1)
    W, V = np.round(rng.standard_normal((2, 2)), 3), np.round(rng.standard_normal((2, 3)), 3)

    def J(x: np.ndarray) -> float:
        rows, tops = x[:4].reshape(2, 2), x[4:].reshape(2, 3)
        f = np.maximum(np.array(data, dtype=float) @ rows.T, 0) @ tops
        return float(((f - np.array(targets, dtype=float)) ** 2).sum() / 2 + 0.35 * (x @ x))

    x = np.concatenate([W.ravel(), V.ravel()])
    gradient = [(J(x + h) - J(x - h)) / 2e-6 for h in 1e-6 * np.eye(len(x))]
    exact = TrainedNetwork(
        tuple(tuple(F(str(a)) for a in row) for row in W), tuple(F(str(a)) for a in V.ravel()), targets=3
    )
    found = stationarity(exact, data, tuple(a for row in targets for a in row), F(7, 10)).distance_squared
    assert found.lower == found.upper and abs(float(found.upper) - np.square(gradient).sum()) < 1e-5 * float(
        found.upper
    )


def test_the_optimum_of_check_is_optimal() -> None:
    """What `check` finds is judged optimal, and almost stationary; scaled neurons are not balanced."""
    best = certify(TABLE, [[6, 0], [8, 4], [1, 1]], 1)
    found = certify_network(best.network, TABLE, [[6, 0], [8, 4], [1, 1]], 1)
    assert str(found.claims["network-optimal"].verdict) == "PROVED"
    assert found.objective - best.value.lower < F(1, 10**9) and found.stationarity.upper < F(1, 10**9)
    given = best.network.exact()
    scaled = TrainedNetwork(tuple(tuple(2 * x for x in w) for w in given.W1), tuple(x / 2 for x in given.w2), targets=2)
    worse = certify_network(scaled, TABLE, [[6, 0], [8, 4], [1, 1]], 1)
    assert str(worse.claims["network-balanced"].verdict) == "REFUTED" and worse.objective > found.objective
    assert (
        certify_network(found.optimal, TABLE, [[6, 0], [8, 4], [1, 1]], 1).claims["network-optimal"].verdict == "PROVED"
    )


def test_what_is_not_offered() -> None:
    """Claims about single neurons are left out; pruning, a bias neuron and biases of the first layer have a reason."""
    found = certify_network((W1, W2), TABLE, [[6, 0], [8, 4], [1, 1]], 1)
    assert [*found.claims] == ["network-objective", "network-optimal", "network-stationary", "network-balanced"]
    assert "told for one output only" in " ".join(str(found).split()) and found.report.html()
    with pytest.raises(UsageError, match="pruning is for networks with one output"):
        _ = found.pruned
    with pytest.raises(UsageError, match="the network has 2 outputs, and the data 3 targets"):
        certify_network((W1, W2), TABLE, [[6, 0, 1], [8, 4, 1], [1, 1, 1]], 1)
    with pytest.raises(UsageError, match="output biases"):
        certify_network((W1, [0, 0], W2, [1, 2]), TABLE, [[6, 0], [8, 4], [1, 1]], 1, bias=True)


@pytest.mark.parametrize("loss", ["squares", "softmax"])
def test_classes(loss: Literal["squares", "softmax"]) -> None:
    """Labels are outputs in order; the confusion matrix counts those of the given network."""
    found = certify_network((W1, W2), TABLE, ["a", "b", "a"], "1/2", loss=loss, classes=True)
    assert found.report.confusion == [[2, 0], [1, 0]]
    assert found.report.to_json()["confusion"] == [[2, 0], [1, 0]] and "classes: 2 of 3" in str(found)
    J = found.objective
    f, y = np.array([[6, -2], [8, 4], [20, 5]]), np.array([[1, 0], [0, 1], [1, 0]])
    own = ((f - y) ** 2).sum() / 2 if loss == "squares" else (np.log(np.exp(f).sum(1)) - (f * y).sum(1)).sum()
    assert abs(float(J) - own - (25 + 2 + 5 + 25) / 4) < 1e-9
    assert str(found.claims["network-optimal"].verdict) == "REFUTED"


def test_an_output_bias() -> None:
    """Free, or decayed as PyTorch does it: J has no penalty on it, or lambda/2 |b2|^2; both are checked."""
    targets = [[6, 0], [8, 4], [1, 1]]
    free = certify_network({"W1": W1, "w2": W2, "b2": [1, 2]}, TABLE, targets, 1, free="output-bias")
    f = np.array([[7, 0], [9, 6], [21, 7]])
    loss = F(int(((f - np.array(targets)) ** 2).sum()), 2)
    assert free.objective == loss + F(57, 2)
    decayed = certify_network({"W1": W1, "w2": W2, "b2": [1, 2]}, TABLE, targets, "1/3", penalty="pytorch")
    assert decayed.lam == 1 and decayed.objective == loss + F(57 + 5, 2)


def test_conventions() -> None:
    """MSELoss is a mean over all entries, CrossEntropyLoss one over points; scnn has one output."""
    at = F(1, 10)
    assert convert(Penalty.PYTORCH, at, 6, targets=4).lam == F(6 * 4, 20)
    assert convert(Penalty.PYTORCH_SUM, at, 6, targets=4).lam == F(1, 20)
    assert convert(Penalty.SKLEARN, at, 6, targets=4).lam == at
    assert convert(Penalty.PYTORCH, at, 6, targets=4, loss=SOFTMAX).lam == F(6, 10)
    assert convert(Penalty.PYTORCH_SUM, at, 6, targets=4, loss=SOFTMAX).lam == at
    with pytest.raises(UsageError, match="scnn"):
        convert(Penalty.SCNN, at, 6, targets=4)


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_hold_all_outputs(tmp_path: Path, ending: str) -> None:
    """What is written is read again, whatever the format; what other programs write, too."""
    for library in {".safetensors": "safetensors", ".onnx": "onnx", ".pt": "torch", ".pth": "torch"}.get(
        ending, ""
    ).split():
        pytest.importorskip(library)
    network = TrainedNetwork(ONE.W1, ONE.w2, (F(1), F(2)), targets=2, constants=(F(5), F(-7)))
    write_network(network, tmp_path / f"net{ending}")
    found = read_network(tmp_path / f"net{ending}")
    assert (found.W1, found.w2, found.b1, found.targets) == (network.W1, network.w2, network.b1, 2)
    assert [*found.offsets] == [5, -7] and found(Z) == network(Z)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets or classes are named; the file is compared by the checker, and another one is rejected."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.json").write_text(json.dumps({"W1": W1, "w2": W2}))
    (tmp_path / "other.json").write_text(json.dumps({"W1": W1, "w2": [[2, 1], [1, -5]]}))
    (tmp_path / "data.csv").write_text("x,y,p,q\n1,0,6,0\n0,1,8,4\n2,1,1,1\n")
    told = run("network", "net.json", "data.csv", "--target", "p,q", "--lambda", "1", "--html", "n.html")
    assert told.code == 0 and "2 targets: p, q" in told.out
    raw, data = (tmp_path / "net.network.cert.json").read_bytes(), (tmp_path / "data.csv").read_bytes()
    lines = check(raw, data, network=(tmp_path / "net.json").read_bytes())
    assert [line.verdict for line in lines if line.claim == "network-optimal"] == ["REFUTED"]
    with pytest.raises(Exception, match="the hash of the network given"):
        check(raw, data, network=(tmp_path / "other.json").read_bytes())


def test_a_balanced_network_is_the_same_function() -> None:
    """W1 = w s and w2 = v / s with a rational s: not a bit of the outputs changes."""
    neurons = [ExactNeuron(w=(F(1), F(2)), v=(F(3), F(1, 7)), norm=F(1))]
    network = balanced_outputs(neurons, 2, (F(1), F(0)), 2)
    assert [*network(Z)] == [*(x for z in Z for x in (1 + 3 * (z[0] + 2 * z[1]), F(1, 7) * (z[0] + 2 * z[1])))]
    assert [*balanced_outputs((), 2, (), 2)(Z)] == [0] * 6


def test_outputs_in_the_order_of_the_labels() -> None:
    """A classifier sorts labels as texts or numbers as they are: "10" before "9", and the data the other way round."""

    class Model:
        """Has what a fitted classifier has."""

        out_activation_, classes_ = "softmax", np.array(["10", "9"])

    found = in_order_of(Model(), ONE, ("9", "10"))
    assert tuple(v[::-1] for v in ONE.V) == found.V
    with pytest.raises(DataError, match="was fitted to 10, 9"):
        in_order_of(Model(), ONE, ("a", "b"))


def test_the_last_layers_of_a_deeper_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made of the data is written with its classes, or all targets, and judged with them."""
    monkeypatch.chdir(tmp_path)
    layers = {"0.weight": np.eye(2), "2.weight": np.array(W1, dtype=float), "4.weight": np.array(W2, dtype=float)}
    np.savez("net.npz", allow_pickle=False, **layers)
    asked = ("--from-layer", "2", "--lambda", "1", "--json", "--force")
    Path("numbers.csv").write_text("x,y,p,q\n1,0,6,0\n0,1,8,4\n2,1,1,1\n")
    for more in ([], ["--center"]):
        told = run("network", "net.npz", "numbers.csv", "--target", "p,q", *more, *asked)
        assert told.code == 0, told.err
        assert Path("net.features.csv").read_text().split()[:2] == ["h0,h1,p,q", "1.0,0.0,6,0"]
        assert told.json["targets"] == ["p", "q"]
    Path("data.csv").write_text('x,y,kind\n1,0,"a, b"\n0,1,c\n2,1,c\n')
    told = run("network", "net.npz", "data.csv", "--classes", "kind", *asked)
    assert told.code == 0, told.err
    assert told.json["targets"] == ["a, b", "c"] and told.json["confusion"] == [[1, 0], [2, 0]]
