"""hunt: planted instances of the refuted conjecture, each proved by the certifier and accepted by the checker."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from properties.cli import main
from properties.hunt import hunt
from properties.hunt_networks import MODELS, build_gated, smaller
from relu_cert.cli import main as relu_cert
from verify.__main__ import main as verify

pytestmark = pytest.mark.long


@pytest.mark.parametrize("model", sorted(MODELS))
def test_prey_is_refuted_by_check(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The smallest instance of a short hunt, written as a problem or as data, is REFUTED by `check`, and the checker
    accepts its certificate together with the file."""
    content = list(hunt(30 if model == "relu" else 10, seed=1, plant=MODELS[model]))[-1].to_json()
    assert content["model"] == model
    file = tmp_path / ("prey.json" if model == "cgl" else "prey.csv")
    file.write_text(json.dumps(content["problem"]) if model == "cgl" else content["csv"])
    choice = ["--lambda", content["lambda"], "--claims", "min-norm-continuous", "--json", "--quiet"]
    choice += [] if model == "cgl" else ["--model", model]
    assert relu_cert(["check", str(file), *choice, "--certificate", str(tmp_path / "c.json")]) == 0
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert claim["verdict"] == "REFUTED"
    assert verify(["--quiet", str(tmp_path / "c.json"), "--data", str(file)]) == 0
    assert Fraction(content["norm_squared_at_the_jump"]) < Fraction(content["norm_squared_beside_it"])


def test_each_is_smaller(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints one object a line, in descending size, and the norm at the jump is below the limit."""
    sizes = [prey.size for prey in hunt(60, seed=2)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == len(set(sizes))
    assert main(["hunt", "min-norm-continuous", "--model", "cgl", "--tries", "20", "--seed", "3"]) == 0
    assert capsys.readouterr().out.count('"lambda"') >= 1


def test_a_smaller_network_still_jumps() -> None:
    """Making an instance small never makes it larger, and what is left is proved to jump."""
    genome = (0, 5, 7, 3, 7, 11)
    prey = build_gated(genome)
    assert prey is not None
    found = smaller(genome, prey, build_gated)
    assert found.size < prey.size
    assert build_gated((0, 3, 9, 0, 2, 4)) is None  # without the last row nothing can be shared
