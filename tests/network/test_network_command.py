"""The command that proves what a trained network is worth, from file to report."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

from relu_cert import examples
from relu_cert.cli import network as command
from relu_cert.cli.arguments import parser
from relu_cert.errors import DataError, ReluCertError, UsageError
from relu_cert.network.claims import STATEMENTS
from relu_cert.network.formats import read_network
from verify import Rejected
from verify import check as recheck


def run(*arguments: str) -> int:
    """The command with these arguments."""
    code: int = command.run(parser().parse_args(["network", *arguments]))
    return code


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two neurons that make |x1 - x2|, too long and not balanced, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", W1=np.array([[1.0, -1.0], [-1.0, 1.0]]), b1=np.zeros(2), w2=np.array([0.75, 1.0]))
    return "net.npz"


def test_text(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The penalty's sentence, both objectives, one line a claim, and an accepted certificate about this network."""
    assert run(net, "--example", "xor", "--lambda", "1/20", "--penalty", "pytorch", "--quiet") == 0
    text = capsys.readouterr().out
    assert "net.npz: 2 neurons, 2 inputs" in text
    assert "n * weight_decay / 2 = 4 * 1/20 / 2 = 1/10." in " ".join(text.split())
    for claim in STATEMENTS:
        assert f" {claim} " in text
    assert "python -m verify net.network.cert.json --data" in text
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith("re-check"))


def test_every_verdict_is_in_the_certificate(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed is what the checker accepts, word for word of the verdicts, with the data and the file."""
    assert run(net, "--example", "xor", "--lambda", "1/20", "--penalty", "pytorch", "--quiet", "--json") == 0
    printed = {c["claim"]: c["verdict"] for c in json.loads(capsys.readouterr().out)["claims"]}
    assert set(printed) == set(STATEMENTS)
    text, raw = Path("net.network.cert.json").read_bytes(), examples.path("xor").read_bytes()
    accepted = {line.claim: line.verdict for line in recheck(text, raw, network=Path(net).read_bytes())}
    assert {claim: accepted[claim] for claim in printed} == printed
    assert accepted["optimal"] == "PROVED"  # the optimum that the network is compared with


def test_json(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exact rationals as strings: J is recomputed by hand, and the bounds hold each other."""
    assert run(net, "--example", "xor", "--json", "--quiet", "--gap", "1/2", "--no-own") == 0
    found = json.loads(capsys.readouterr().out)
    # f = (0, 1, 3/4, 0) up to order: loss 1/2 (1/4)^2; weights 2 + 2 + 9/16 + 1; lambda = 1/10
    assert F(found["objective"]) == F(1, 32) + F(1, 20) * (5 + F(9, 16))
    away = found["global"]["distance"]
    assert 0 < F(away["lower"]) <= F(away["upper"])
    assert F(found["global"]["optimum"]["lower"]) == F(found["objective"]) - F(away["upper"])
    assert found["own_patterns"] is None
    assert found["outputs"] == {"rank": 2, "neurons": 2}
    assert found["alive"] == [0, 1]
    assert found["directions"] == [{"lower": "0", "upper": "0"}] * 2
    nearest = found["nearest_optimal"]
    assert len(nearest["pairs"]) == 2
    assert 0 < F(nearest["distance"]["lower"]) <= F(nearest["distance"]["upper"]) < F(1, 2)
    assert F(nearest["distance"]["upper"]) ** 2 <= F(found["nearest"]["distance_squared"]) * F(1001, 1000)
    assert {c["claim"]: c["verdict"] for c in found["claims"]}["network-optimal"] == "PROVED"


def test_files(net: str) -> None:
    """The optimal network is written and is then proved optimal; the pruned one predicts the same on the data."""
    assert (
        run(net, "--example", "xor", "--optimal", "best.json", "--pruned", "pruned.npz", "--quiet", "--no-verify") == 0
    )
    points = [[F(a), F(b), F(1)] for a in (0, 1) for b in (0, 1)]
    pruned = read_network("pruned.npz")(points)
    trained = read_network(net)([point[:2] for point in points])
    assert all(abs(a - b) < F(1, 10**12) for a, b in zip(pruned, trained, strict=True))
    assert run("best.json", "--example", "xor", "--json", "--quiet", "--gap", "1e-9") == 0


def test_the_own_recheck_reads_the_file(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are not those of the file, or a file that changes meanwhile, end without a certificate."""
    asked = (net, "--example", "xor", "--lambda", "1/20", "--penalty", "pytorch", "--quiet", "--no-own")
    right = read_network(net)
    monkeypatch.setattr(command, "read_network", lambda *_, **__: replace(right, w2=(F(1), F(1))))
    with pytest.raises(ReluCertError, match="does not accept our own certificate"):
        run(*asked)
    monkeypatch.setattr(
        command, "read_network", lambda *_, **__: replace(right, origin=replace(right.origin, sha256="0" * 64))
    )
    with pytest.raises(DataError, match="changed while relu_cert was running"):
        run(*asked)
    assert not Path("net.network.cert.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--example", "moons", "--penalty", "sklearn"), "say with --lambda what the network was trained with"),
        (("--example", "xor", "--penalty", "keras"), "there is no penalty 'keras'"),
        (("--example", "xor", "--penalty", "adamw", "--lambda", "1"), "AdamW's decoupled decay"),
        (("--example", "xor", "--lambda", "0"), "lambda must be positive"),
        (("--example", "xor", "--gap", "x"), "--gap must be a number"),
        (("--example", "xor", "--batch-size", "2"), "for sklearn only"),
        ((), "give either a FILE or --example"),
    ],
)
def test_refusals(net: str, arguments: tuple[str, ...], message: str) -> None:
    """Usage errors are told before anything is solved."""
    with pytest.raises(UsageError, match=message):
        run(net, *arguments, "--quiet")


def test_an_output_bias_is_refused_or_folded(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The way out that the refusal names works, and what it means is said."""
    np.savez("bias.npz", W1=np.array([[1.0, -1.0], [-1.0, 1.0]]), w2=np.ones(2), b2=np.array(0.25))
    with pytest.raises(UsageError, match="say --output-bias neuron"):
        run("bias.npz", "--example", "xor", "--quiet")
    arguments = ("--penalty", "pytorch", "--lambda", "1/10", "--output-bias", "neuron", "--quiet", "--no-own")
    assert run("bias.npz", "--example", "xor", *arguments) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "pytorch penalises both biases by their squares" in text
    assert "2|b2| - b2^2 <= 0.4375, which is this network's." in text


def test_terms_without_penalty(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """scikit-learn's convention, or the same by name, leaves both kinds of biases free and says so; the objective is
    the network's own, and the checker reads the weights, with a skip connection, from the file."""
    W1, w2 = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones(2)
    np.savez("free.npz", W1=W1, b1=np.array([0.5, 0.25]), w2=w2, b2=np.array(0.25))
    for penalty in (("--penalty", "sklearn"), ("--free", "output-bias,biases")):
        assert run("free.npz", "--example", "xor", "--lambda", "1/10", *penalty, "--quiet", "--json") == 0
        found = json.loads(capsys.readouterr().out)
        heights = np.maximum(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) @ W1.T + [0.5, 0.25], 0) @ w2 + 0.25
        loss = 0.5 * ((heights - _targets()) ** 2).sum()
        assert float(F(found["objective"])) == pytest.approx(loss + 0.05 * (4 + 2))
        assert found["penalty"]["free"] == ["output-bias", "biases"]
        said = {claim["claim"]: claim["verdict"] for claim in found["claims"]}
        assert said["network-objective"] == "PROVED" and said["network-optimal"] == "REFUTED"
        raw, given = examples.path("xor").read_bytes(), Path("free.npz").read_bytes()
        assert recheck(Path("free.network.cert.json").read_bytes(), raw, network=given)
    np.savez("skip.npz", W1=W1, w2=w2, skip=np.array([0.5, -0.5]))
    with pytest.raises(UsageError, match="say --free skip"):
        run("skip.npz", "--example", "xor", "--quiet")
    assert run("skip.npz", "--example", "xor", "--free", "skip,output-bias", "--quiet") == 0
    assert "an output bias, a skip connection: without penalty" in " ".join(capsys.readouterr().out.split())
    text = Path("skip.network.cert.json").read_bytes()
    assert recheck(text, raw, network=Path("skip.npz").read_bytes())
    with pytest.raises(UsageError, match="free or a neuron"):
        run("free.npz", "--example", "xor", "--penalty", "sklearn", "--lambda", "1", "--output-bias", "neuron")
    with pytest.raises(UsageError, match="no free term 'bias'"):
        run("free.npz", "--example", "xor", "--free", "bias")


def _targets() -> np.ndarray:
    return np.loadtxt(examples.path("xor"), delimiter=",", skiprows=1)[:, -1]


def test_a_file_that_the_checker_does_not_read(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The network of a file of another kind is written in JSON, too; that copy is what the checker is given."""
    layers = {"0.weight": np.array([[1.0, -1.0], [-1.0, 1.0]]), "2.weight": np.ones((1, 2)), "2.bias": np.array([0.25])}
    np.savez("layers.npz", **layers)
    assert run("layers.npz", "--example", "xor", "--output-bias", "neuron", "--quiet", "--no-own") == 0
    assert "--network layers.network.json" in capsys.readouterr().out
    text, copy = Path("layers.network.cert.json").read_bytes(), Path("layers.network.json").read_bytes()
    assert recheck(text, examples.path("xor").read_bytes(), network=copy)
    with pytest.raises(Rejected, match="the hash of the network given"):
        recheck(text, network=Path("layers.npz").read_bytes())
