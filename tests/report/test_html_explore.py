"""The page of `explore --html`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import run
from tests.report.pages import Page, assert_loads_nothing

TRAIN = "a,<b>,y\n3,0,10\n-3,0,10\n0,4,17\n0,-4,17\n"
OTHER = {"validation": "a,<b>,y\n1,1,4\n", "test": "a,<b>,y\n1,1,7\n1,-1,1\n"}
ONE = "x,y\n-1,1\n2,2\n"  # one feature: antipodal neurons, and nothing else


def explored(folder: Path, train: str, other: dict[str, str], *more: str) -> tuple[Page, dict]:
    """The page and what the command said."""
    for name, text in {"train": train, **other}.items():
        (folder / f"{name}.csv").write_text(text)
    files = [str(folder / f"{name}.csv") for name in ("train", "validation", "test")]
    arguments = (files[0], "--validation", files[1], "--test", files[2], "--json", *more)
    ran = run("explore", *arguments, "--html", str(folder / "e.html"))
    assert ran.code == 0, ran.err
    return Page((folder / "e.html").read_text(encoding="utf-8")), ran.json


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """The rectangle, whose optimal networks are a segment and differ at (1, 1)."""
    return explored(tmp_path_factory.mktemp("box"), TRAIN, OTHER, "--lambda", "5")


def test_the_page_says_what_is_proved_and_what_was_found(box):
    """Verdicts first; each of the four networks with its errors; names are text, never markup."""
    page, said = box
    assert_loads_nothing(page)
    assert page.prose.index("REFUTED p-unique") < page.prose.index("Min L2")
    for row in said["networks"]:
        assert row["name"] in page.prose and f"{row['test_mse']:.6g}" in page.prose
    assert "<b>" in page.prose and "b" not in {tag for tag, _ in page.tags}
    assert "PROVED optimal-set" in page.prose


def test_networks_that_differ_are_drawn_beside_each_other(box):
    """Four planes, and the errors of both vertices."""
    page, _ = box
    assert page.prose.count("Points: the training data.") == 4
    assert "The errors of 2 minimal networks (dots)" in page.prose


def test_networks_that_agree_are_drawn_once(tmp_path):
    """One feature and one optimal function: one picture, and a sentence."""
    page, said = explored(tmp_path, ONE, {"validation": "x,y\n1,1\n", "test": "x,y\n3,2\n"}, "--lambda", "1/10")
    assert said["max_difference"] == pytest.approx(0, abs=1e-9)
    assert "All four networks say the same of every validation and test point, up to rounding." in page.prose
    assert len(page.drawings()) == 1
