"""The pruning command: free first, then at a price that is printed."""

from __future__ import annotations

import json
import re
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import relu_cert.driver.variant
from relu_cert.cli import prune as command
from relu_cert.cli.arguments import parser
from relu_cert.cover import setting
from relu_cert.errors import UsageError
from relu_cert.network.formats import read_network


def run(*arguments: str) -> int:
    """The command with these arguments."""
    code: int = command.run(parser().parse_args(["prune", *arguments, "--quiet"]))
    return code


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """|x1 - x2| with one half split in two and a neuron that is never on."""
    monkeypatch.chdir(tmp_path)
    W1 = np.array([[1.0, -1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, -1]])
    np.savez("net.npz", W1=W1, w2=np.array([0.5, 0.25, 1.0, 3.0]))
    return "net.npz"


def test_free_pruning_of_a_given_network(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Four neurons do the work of two, exactly; the file holds those two, with the same predictions."""
    assert run("--example", "xor", "--network", net, "--out", "two.json", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["start"], found["free"]) == (4, 2)
    assert [step["width"] for step in found["steps"]] == [2, 1, 0]
    assert found["steps"][-1]["loss"] == 1.0
    points = [[F(a), F(b), F(1)] for a in (0, 1) for b in (0, 1)]
    assert read_network("two.json")(points) == read_network(net)(points)


def test_whose_lambda_it_is(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """weight_decay with the mean of squares is n times as much for the paper; an output bias can become a neuron; both
    are for given networks."""
    assert run("--example", "xor", "--network", net, "--lambda", "1/40", "--penalty", "scnn", "--json") == 0
    assert F(json.loads(capsys.readouterr().out)["lambda"]) == F(1, 10)
    net_with_bias = dict(np.load(net)) | {"b2": np.array(0.5)}
    np.savez("biased.npz", **net_with_bias)
    with pytest.raises(UsageError, match="output bias"):
        run("--example", "xor", "--network", "biased.npz")
    assert run("--example", "xor", "--network", "biased.npz", "--output-bias", "neuron", "--json") == 0
    assert json.loads(capsys.readouterr().out)["start"] == 5
    assert run("--example", "xor", "--network", "biased.npz", "--output-bias", "neuron") == 0
    assert "Of the 4 neurons and the output bias of this network, " in capsys.readouterr().out.replace("\n", " ")
    with pytest.raises(UsageError, match="--network"):
        run("--example", "xor", "--penalty", "scnn")


def test_the_optimal_network(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a network the optimal one is pruned; the objective of each width is printed and never falls."""
    assert run("--example", "xor", "--out", "one.npz", "--width", "1") == 0
    text = capsys.readouterr().out
    rows = [line.split() for line in text.partition("|^2\n")[2].splitlines()[:-1]]
    assert [int(row[0]) for row in rows] == [3, 2, 1, 0]
    assert [float(row[1]) for row in rows] == sorted(float(row[1]) for row in rows)
    assert read_network("one.npz").m == 1


@pytest.mark.parametrize("strategy", ["residual", "magnitude", "gradient", "random"])
def test_strategies(net: str, strategy: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every strategy runs, corrected and plain."""
    for drop in ((), ("--drop",)):
        assert run("--example", "xor", "--network", net, "--strategy", strategy, "--json", *drop) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["strategy"] == strategy
        assert found["corrected"] is (drop == ())
        assert found["steps"][-1]["width"] == 0


def test_refusals(net: str) -> None:
    """A missing lambda and a width that is not on the way are told."""
    Path("data.csv").write_text("a,y\n1,2\n2,1\n")
    with pytest.raises(UsageError, match="say with --lambda"):
        run("data.csv")
    with pytest.raises(UsageError, match="no pruned network of width 7; there are widths 2, 1, 0"):
        run("--example", "xor", "--network", net, "--out", "x.npz", "--width", "7")


def test_a_network_that_is_not_proved_best_is_not_called_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the proof leaves a gap, the pruning starts from the network found, and says how far it may be from the
    best."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    monkeypatch.setattr(setting, "MOST_COLUMNS", 0)  # no cover
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(-9, 10, (12, 3)), rng.integers(-9, 10, 12)])
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", fmt="%d", header="a,b,c,y", comments="")
    page = tmp_path / "p.html"
    assert run(str(tmp_path / "data.csv"), "--lambda", "5", "--seconds", "1", "--html", str(page)) == 0
    shown = page.read_text(encoding="utf-8")
    assert "the network found" in shown and "the optimum" not in shown and "the optimal network" not in shown
    said = capsys.readouterr().out.replace("\n", " ")
    assert (
        re.search(r"of the network found, at most [0-9.]+ % above the best, ", said) and "the best network" not in said
    )
