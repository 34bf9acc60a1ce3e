"""python -m relu_cert patterns"""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.run import run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def test_the_ternary_grid_in_the_plane():
    """{-1,0,1}^2: 8 open cells; with the patterns of lower faces the counts are printed as JSON."""
    rows = "\n".join(f"{a},{b},0" for a in (-1, 0, 1) for b in (-1, 0, 1))
    Path("grid.csv").write_text("a,b,y\n" + rows + "\n")
    found = run("patterns", "grid.csv", "--json").json
    assert (found["n"], found["d"], found["rank"], found["open"]) == (9, 2, 2, 8)
    assert found["total"] == found["open"] + found["lower"] == 8 + 8 + 1


def test_the_file_holds_the_patterns_with_witnesses():
    """--out writes packed patterns and witnesses that prove them."""
    ran = run("patterns", "--example", "moons", "--bias", "--out", "p.npz")
    assert ran.code == 0, ran.err
    assert "132 patterns" in ran.out
    with np.load("p.npz") as stored:
        assert stored["n"] == 12


def test_the_prediction_is_printed_before_the_count():
    """Three rows in the plane in general position: six open cells, as predicted."""
    Path("three.csv").write_text("1,0,0\n0,1,0\n1,1,0\n")
    ran = run("patterns", "three.csv")
    assert ran.out.index("predicted") < ran.out.index("found")
    assert "6 patterns" in ran.out
