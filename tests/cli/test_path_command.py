"""python -m relu_cert path: text, JSON, CSV and plot agree; breakpoints are enclosed; mistakes are told."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from relu_cert.cli import main
from relu_cert.report.progress import Progress
from verify import check

F = Fraction
POINTS = "x1,x2,y\n2,1,3\n-1,3,-1\n2,-3,2\n-4,-1,1\n1,1,-2\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """One run that writes everything."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "points.csv").write_text(POINTS)
    arguments = ["path", str(folder / "points.csv"), "--from", "1/10", "--to", "1", "--json", "--quiet"]
    with (folder / "out.json").open("w") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        files = ["--csv", "curve.csv", "--plot", "curve.svg", "--certificate", "points.path.json"]
        patch.chdir(folder)
        code = main([*arguments, *files])
    return folder, code


def test_json_covers_the_interval(run: tuple[Path, int]) -> None:
    """Pieces and gaps join from lo to hi; objective bounds are ordered, and the objective grows with lambda."""
    folder, code = run
    assert code == 0
    found = json.loads((folder / "out.json").read_text())
    parts = sorted((F(p["lo"]), F(p["hi"])) for p in [*found["pieces"], *found["gaps"]])
    reached = F(found["interval"][0])
    for lo, hi in parts:
        assert lo <= reached
        reached = max(reached, hi)
    assert reached >= F(found["interval"][1])
    curve = [(F(s["lambda"]), F(s["objective"]["lower"]), F(s["objective"]["upper"])) for s in found["curve"]]
    assert all(lower <= upper for _, lower, upper in curve)
    assert all(a[0] <= b[0] and a[1] <= b[2] for a, b in pairwise(curve))


def test_breakpoints_are_narrow_and_change_the_width(run: tuple[Path, int]) -> None:
    """Each has a relative width of at most 1e-12, and the curve has the stated widths on both sides of it."""
    found = json.loads((run[0] / "out.json").read_text())
    assert found["breakpoints"]
    for one in found["breakpoints"]:
        lo, hi = F(one["lo"]), F(one["hi"])
        assert 0 < hi - lo <= hi / 10**12 * F(11, 10)
        above = min((s for s in found["curve"] if F(s["lambda"]) > hi), key=lambda s: F(s["lambda"]), default=None)
        below = max((s for s in found["curve"] if F(s["lambda"]) < lo), key=lambda s: F(s["lambda"]))
        assert above is None or len(above["neurons"]) == one["above"]
        assert len(below["neurons"]) == one["below"]


def test_the_certificate_has_the_curve(run: tuple[Path, int]) -> None:
    """It is accepted with the raw data, and it has all breakpoints and all samples of the report."""
    folder = run[0]
    found = json.loads((folder / "out.json").read_text())
    assert found["certificate"] == "points.path.json"
    lines = {line.claim: line for line in check((folder / "points.path.json").read_bytes(), POINTS.encode())}
    said = {one["claim"]: one["verdict"] for one in found["claims"]}
    assert {claim: line.verdict for claim, line in lines.items()} == said
    assert said["breakpoints"] == said["curve"] == said["continuous"] == "PROVED"
    assert all(one["certified"] for one in found["breakpoints"])
    assert f"(intervals: {len(found['breakpoints'])};" in lines["breakpoints"].proved
    assert f"at each listed lambda ({len(found['curve'])})," in lines["curve"].proved
    assert all(F(one["radius"]) < F(1, 10**9) for one in found["curve"])


def test_table_and_plot(run: tuple[Path, int]) -> None:
    """The table has a line for each neuron of each sample, the drawing a curve for each neuron and a mark for each
    breakpoint, and it brings its colours with it."""
    folder = run[0]
    found = json.loads((folder / "out.json").read_text())
    with (folder / "curve.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == sum(max(len(s["neurons"]), 1) for s in found["curve"])
    numbers = {line["neuron"]: line["sign"] for line in lines if line["neuron"]}
    assert all(numbers[line["neuron"]] == line["sign"] for line in lines if line["neuron"])
    assert len(numbers) >= max(len(s["neurons"]) for s in found["curve"])
    assert all(
        len({x["neuron"] for x in lines if x["lambda"] == line["lambda"]}) <= int(line["width"]) + 1 for line in lines
    )
    root = ElementTree.parse(folder / "curve.svg").getroot()
    kinds = [element.get("class", "") for element in root.iter()]
    assert kinds.count("event") == len(found["breakpoints"])
    assert sum(kind.startswith("neuron ") for kind in kinds) >= max(len(s["neurons"]) for s in found["curve"])
    assert "--ink" in root.find("{*}style").text


@pytest.mark.parametrize(
    ("extra", "said"),
    [(["--from", "1", "--to", "1/2"], "below"), (["--from", "0"], "positive"), (["--plot", "curve.png"], ".svg")],
)
def test_mistakes_are_told(extra: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Usage errors exit with 64 and one sentence."""
    assert main(["path", "--example", "line", *extra]) == 64
    assert said in capsys.readouterr().err


@pytest.mark.long
def test_a_path_of_sets_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the network is not unique no weight is drawn, but what is proved of the set, as the text says."""
    monkeypatch.chdir(tmp_path)
    plot = tmp_path / "twins.svg"
    arguments = ["path", "--example", "twins", "--from", "1/5", "--to", "9/10", "--no-breakpoints", "--quiet"]
    assert main([*arguments, "--plot", str(plot)]) == 0
    assert "one network, or a set of them: not settled" in capsys.readouterr().out
    classes = {element.get("class", "") for element in ElementTree.parse(plot).getroot().iter()}
    assert "band of-set" in classes and not any("of-gap" in one for one in classes)


def test_a_draft_comes_before_the_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Floats draw the curve at once, marked as not proved, from large lambda to small; the proof ends where it does."""
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("x,y\n1,2\n-1,1\n2,3\n")
    assert main(["path", "one.csv", "--from", "1/4", "--json"]) == 0
    told = capsys.readouterr()
    _, head, _, *rows, last = told.err.splitlines()
    assert head == "draft (floats, not proved)" and last == "the proof follows"
    drawn = [(float(lam), float(objective), int(width)) for lam, objective, width in map(str.split, rows)]
    lambdas, objectives, widths = zip(*drawn, strict=True)
    assert list(lambdas) == sorted(lambdas, reverse=True) and list(objectives) == sorted(objectives, reverse=True)
    proved = json.loads(told.out)
    assert [float(F(x)) for x in proved["interval"]] == pytest.approx([lambdas[-1], lambdas[0]], rel=1e-5)
    assert widths[-1] == len(proved["curve"][0]["neurons"])


def test_a_bar_and_an_estimate_are_shown() -> None:
    """The line on a terminal has the stage, its time, a bar and what is left; nothing is estimated from nothing."""
    shown = Progress(quiet=True)
    with shown.stage("path"):
        begun = shown._begin
        assert shown.line(begun + 3).split() == ["path", "3", "s"]
        shown.advance(25, 100)
        assert shown.line(begun + 10).split(None, 3)[3] == f"[{'#' * 6:<24}] 25 of about 100, 30 s left"
        shown.advance(1, 100)
        assert "left" not in shown.line(begun + 10)
