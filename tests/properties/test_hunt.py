"""hunt: planted instances of the refuted conjecture, each proved by the certifier and accepted by the checker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from properties.cli import main
from properties.hunt import hunt
from relu_cert.cli import main as relu_cert


def test_prey_is_refuted_by_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The smallest instance of a short hunt, written as a problem, is REFUTED with a certificate that is accepted."""
    prey = list(hunt(30, seed=1))[-1]
    file = tmp_path / "prey.json"
    content = prey.to_json()
    file.write_text(json.dumps(content["problem"]))
    arguments = [
        "check",
        str(file),
        "--lambda",
        content["lambda"],
        "--claims",
        "min-norm-continuous",
        "--json",
        "--quiet",
    ]
    assert relu_cert([*arguments, "--certificate", str(tmp_path / "c.json")]) == 0
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert claim["verdict"] == "REFUTED"


def test_each_is_smaller(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints one object a line, in descending size, and the norm at the jump is below the limit."""
    sizes = [prey.size for prey in hunt(60, seed=2)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == len(set(sizes))
    assert main(["hunt", "min-norm-continuous", "--tries", "20", "--seed", "3"]) == 0
    assert capsys.readouterr().out.count('"lambda"') >= 1
