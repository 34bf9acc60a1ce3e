"""python -m relu_cert patterns"""

from pathlib import Path

import pytest

from relu_cert import examples
from relu_cert.data import read_csv
from relu_cert.patterns import load_npz
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
    stored = load_npz("p.npz")
    assert (stored.n, len(stored)) == (12, 132)
    Z = read_csv(examples.path("moons"), bias=True).Z
    heights = [sum(z_j * u_j for z_j, u_j in zip(z, stored.witness(131), strict=True)) for z in Z]
    assert tuple(h >= 0 for h in heights) == stored.pattern(131)


def test_the_prediction_is_printed_before_the_count():
    """Three rows in the plane in general position: six open cells, as predicted."""
    Path("three.csv").write_text("1,0,0\n0,1,0\n1,1,0\n")
    ran = run("patterns", "three.csv")
    assert ran.out.index("predicted") < ran.out.index("found")
    assert "6 patterns" in ran.out
