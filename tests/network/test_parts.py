"""A network far from the best: loss and penalty apart, what would already be better, and what can be done."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli.run import run


@pytest.fixture
def text(tmp_path, monkeypatch):
    """The report of a bad network with a tiny penalty."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("a,b,y\n1,0,1\n0,1,-1\n1,1,1\n-1,1,-1\n")
    Path("n.json").write_text(json.dumps({"W1": [[1, 2], [8, -8], [2, 2]], "w2": [1, 1, -1]}))
    ran = run("network", "n.json", "d.csv", "--lambda", "1/10000")
    assert ran.code == 0, ran.err
    return " ".join(ran.out.split())


def test_loss_and_penalty_are_told_apart(text):
    """They add up to the objective; what balancing and its own patterns would save, and what to do, is said."""
    loss, penalty = map(float, re.search(r"loss (\S+) and penalty (\S+);", text).groups())
    J = float(Fraction(re.search(r"J (?:=|is about) ([0-9./]+?)[,;]", text)[1]))
    assert loss + penalty == pytest.approx(J, rel=1e-5)
    assert "would save the same neurons, balanced and pruned:" in text
    assert "its own patterns, trained to the end:" in text
    assert "to do train on, take the network found (--optimal FILE), or ask for a larger penalty" in text
