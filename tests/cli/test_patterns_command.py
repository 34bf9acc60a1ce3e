"""python -m relu_cert patterns"""

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relu_cert
import verify
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


def grid(name: str = "grid.csv") -> str:
    """{-1,0,1}^3, targets 0."""
    rows = [f"{a},{b},{c},0" for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)]
    Path(name).write_text("\n".join(rows) + "\n")
    return name


def gaussian(n: int, d: int, name: str = "large.csv") -> str:
    """Integers in general position, most likely."""
    rng = random.Random(n)
    Path(name).write_text(
        "\n".join(",".join(str(rng.randint(-999, 999)) for _ in range(d + 1)) for _ in range(n)) + "\n"
    )
    return name


@pytest.mark.parametrize(
    ("rows", "total", "lower"),
    [
        ("1,2,3", 2, 0),
        ("5,1", 2, 0),
        ("1,0\n-2,1\n3,1\n0,1", 3, 1),
        ("0,0,1\n0,0,2", 1, 0),
        ("1,2,0\n2,4,0\n-1,-2,0\n0,0,0", 3, 1),
        ("1e200,1,0\n-1e200,2,1\n3e150,1e151,1\n1e-200,5,1", 8, 0),
        ("1e4000,1,0\n-1e4000,2,1\n3,1,1", 6, 0),
    ],
    ids=["one row", "one row, one column", "one column", "zero matrix", "all rows parallel", "1e200", "1e4000"],
)
def test_small_and_extreme_data(rows, total, lower):
    """Counts of the smallest, the most degenerate and the largest numbers; one is written in the singular."""
    Path("data.csv").write_text(rows + "\n")
    found = run("patterns", "data.csv", "--json", "--out", "p.npz").json
    assert (found["total"], found["lower"]) == (total, lower)
    assert len(load_npz("p.npz")) == total
    text = run("patterns", "data.csv").out
    assert not re.search(r"\b1 (rows|patterns|hyperplanes|features|covers|circuits)\b", text)


@pytest.mark.parametrize(
    "data", [grid, lambda: gaussian(9, 5), lambda: gaussian(60, 2)], ids=["grid", "9 x 5", "60 x 2"]
)
def test_text_fits_into_eighty_columns(data):
    """Every line, and numbers are grouped alike in prediction and count."""
    ran = run("patterns", data())
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    lines = [line for line in ran.out.splitlines() if line and not line.startswith(" ")]
    assert lines[0].endswith("there are no others; proved.") and lines[1].startswith("n = ")
    assert [line.split()[0] for line in lines][2:] == [
        "predicted:",
        "found:",
        "proof:",
    ]


def test_json_has_what_the_text_has():
    """Counts, the prediction in all its parts, and the size of the proof."""
    found = run("patterns", grid(), "--json").json
    assert (found["total"], found["open"], found["rank"]) == (291, 96, 3)
    assert found["open"] <= found["predicted"]["open"]
    assert found["total"] <= found["predicted"]["bound"]
    assert found["covers"] == 39
    assert found["flats"] == 39


def test_refusal_has_the_number_and_the_way_out():
    """A hundred rows in eight dimensions: refused with the predicted number before anything is enumerated."""
    ran = run("patterns", gaussian(100, 8), "--out", "p.npz")
    assert ran.code == 66
    assert "32,166,020,241" in ran.out
    assert "up to 32,166,020,241 activation patterns predicted, over the limit of 1,000,000" in ran.err
    assert "--max-patterns" in ran.err
    assert not Path("p.npz").exists()


def test_the_limit_can_be_raised():
    """The number of patterns itself is enough."""
    assert run("patterns", grid(), "--max-patterns", "290").code == 66
    assert run("patterns", grid(), "--max-patterns", "291").code == 0


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("folder", "Is a directory"),
        ("missing/p.npz", "No such file or directory"),
        ("", "--out needs the name of a file"),
        ("grid.csv", "overwrite grid.csv, which is the data"),
    ],
    ids=["a folder", "no such folder", "no name", "the data"],
)
def test_a_bad_target_is_refused_before_the_work(monkeypatch, target, reason):
    """Nothing is enumerated, nothing is written, nothing is lost."""
    Path("folder").mkdir()
    data = Path(grid()).read_text()
    monkeypatch.setattr("relu_cert.cli.patterns.enumerate_patterns", lambda *_, **__: pytest.fail("enumerated"))
    ran = run("patterns", "grid.csv", "--out", target)
    assert ran.code == 64
    assert reason in ran.err
    assert sorted(p.name for p in Path().iterdir()) == ["folder", "grid.csv"]
    assert Path("grid.csv").read_text() == data


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (OSError(28, "No space left on device"), 74, "cannot write p.npz: No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
    ],
    ids=["disk full", "ctrl-c"],
)
def test_a_failure_while_writing_leaves_no_file(monkeypatch, failure, code, said):
    """A full disk, and Ctrl-C while the file is written: no part of it stays, and an older file is as it was."""
    grid()
    Path("p.npz").write_bytes(b"older")

    def fail(stream, **_):
        stream.write(b"PK half of a file")
        raise failure

    monkeypatch.setattr(np, "savez_compressed", fail)
    ran = run("patterns", "grid.csv", "--out", "p.npz", "--force")
    assert ran.code == code
    assert said in ran.err
    assert sorted(p.name for p in Path().iterdir()) == ["grid.csv", "p.npz"]
    assert Path("p.npz").read_bytes() == b"older"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_from_outside_ends_it():
    """SIGINT, while it loads or while it works: exit code 130, one line, no traceback, no file."""
    gaussian(60, 8)
    command = [
        sys.executable,
        "-m",
        "relu_cert",
        "patterns",
        "large.csv",
        "--max-patterns",
        str(10**12),
        "--out",
        "p.npz",
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("n = 60 rows")
        assert process.stdout.readline().startswith("predicted:")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=100)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said.strip() == "interrupted; nothing was written"
    assert [p.name for p in Path().iterdir()] == ["large.csv"]


def test_windows_and_sets_have_the_patterns_of_their_rows():
    """The windows (1, 0), (0, 1) and (1, 1) of three signals; a slope changes none of them."""
    Path("signals.csv").write_text("1,0,1,2\n0,1,1,3\n1,1,0,0\n")
    Path("sets.csv").write_text("s,a,b,y\nu,1,0,2\nu,0,1,2\nv,1,1,3\n")
    Path("rows.csv").write_text("1,0,2\n0,1,2\n1,1,3\n")
    totals = [run("patterns", *given, "--json").json["total"] for given in (
        ("signals.csv", "--conv", "1d:2"), ("sets.csv", "--bags", "s"), ("rows.csv",)
    )]  # fmt: skip
    assert totals[0] == totals[1] == totals[2] == len(relu_cert.patterns([[1, 0, 1], [0, 1, 1]], conv="1d:2"))
    for command in (("patterns",), ("check", "--claims", "patterns-complete")):
        refused = run(*command, "signals.csv", "--conv", "1d:2", "--slope", "1/10")
        assert refused.code == 64
        assert "whatever the slope" in refused.err


@pytest.mark.parametrize("more", [(), ("--decayed-bias",), ("--free", "output-bias"), ("--loss", "logistic")])
def test_a_certificate_lists_the_patterns_of_windows(more):
    """The checker counts them over the rows; one that is missing, or a pattern over the images, is rejected."""
    Path("signals.csv").write_text("1,0,1,1\n0,1,1,-1\n1,1,0,1\n")
    arguments = (
        "--conv",
        "1d:2",
        "--lambda",
        "1/9",
        "--claims",
        "patterns-complete,optimal",
        "--certificate",
        "c.json",
    )
    found = run("check", "signals.csv", *arguments, *more, "--json").json
    total = run("patterns", "signals.csv", "--conv", "1d:2", "--json").json["total"]
    assert found["patterns"]["total"] == total
    assert {one["claim"]: one["verdict"] for one in found["claims"]} == dict.fromkeys(arguments[5].split(","), "PROVED")
    certificate, raw = json.loads(Path("c.json").read_bytes()), Path("signals.csv").read_bytes()
    assert "all of D_Z" in str(verify.check(json.dumps(certificate).encode(), raw))
    witnesses = certificate["facts"]["patterns"]["groups"][0]["witnesses"]
    assert len(witnesses) <= total
    certificate["facts"]["patterns"]["groups"][0]["witnesses"] = witnesses[:-1]
    with pytest.raises(verify.Rejected, match="witnesses"):
        verify.check(json.dumps(certificate).encode(), raw)
