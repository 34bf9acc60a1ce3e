"""One scale for lambda: a plain number is lambda, 0.1max a part of lambda_max, 2abs lambda where parts are the rule."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from relu_cert import certify, path
from tests.cli.run import run

Z, Y = [[1], [2], [-1]], [1, 3, 2]  # lambda_max = 7


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1,1\n2,3\n-1,2\n")


@pytest.mark.parametrize(
    ("options", "lam"),
    [
        ("--lambda 1/10", Fraction(1, 10)),
        ("--lambda 0.1max", Fraction(7, 10)),
        ("--lambda max", Fraction(7)),
        ("--lambda 3abs", Fraction(3)),
        ("--lambda-ratio 1/10", Fraction(7, 10)),
    ],
)
def test_lambda_has_one_scale(options, lam):
    """The same spellings on the command line and in Python."""
    assert Fraction(run("check", "d.csv", *options.split(), "--json", "--claims", "optimal").json["lambda"]) == lam
    if options.startswith("--lambda "):
        assert certify(Z, Y, options.split()[1], claims=["optimal"], verify=False).lam == lam


@pytest.mark.parametrize(
    ("low", "high", "noted"), [("1/7max", "2/7max", False), ("1/7", "2/7", True), ("1abs", "2/7max", False)]
)
def test_the_ends_of_a_path_have_the_same_scale(low, high, noted):
    """Parts of lambda_max and lambda itself can be mixed; a plain number is a part, and a note says so."""
    ran = run("path", "d.csv", "--from", low, "--to", high, "--json")
    assert ran.json["interval"] == ["1", "2"] and ("plain numbers are parts" in ran.err) is noted
    assert path(Z, Y, low=low, high=high, verify=False).to_json()["interval"] == ["1", "2"]


def test_an_interval_takes_parts():
    """1/7max,2 is from 1 to 2; ends in the wrong order are refused on one scale and on two."""
    found = run("check", "d.csv", "--lambda", "3/2", "--interval", "1/7max,2", "--claims", "continuous", "--json").json
    assert "[1, 2]" in found["claims"][0]["detail"]
    for wrong in ("2,1", "2/7max,1/7max", "3,2/7max"):
        ran = run("check", "d.csv", "--interval", wrong)
        assert ran.code == 64 and "lo < hi" in ran.err
