"""Pages in a real browser, where there is one: nothing sticks out, no label lies on another."""

from __future__ import annotations

from fractions import Fraction

import pytest

from relu_cert import certify
from relu_cert.report.html.check import check_page
from tests.cli.run import run
from tests.report.browser import CHROMIUM, faults
from tests.report.pages import example_outcome
from tests.report.test_html_set import Y, Z

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")]
LONG = ["temperature of the water", "σ", "the pressure, in units that nobody uses"]


def path_page(folder) -> str:
    """The page of a path with a gap."""
    places = ("--html", str(folder / "p.html"), "--certificate", str(folder / "p.path.json"))
    run("path", "--example", "conjecture", "--from", "1/10", *places)
    return (folder / "p.html").read_text(encoding="utf-8")


def prune_page(folder) -> str:
    """The page of a pruning."""
    run("prune", "--example", "line", "--html", str(folder / "p.html"))
    return (folder / "p.html").read_text(encoding="utf-8")


PAGES = {
    "line": lambda folder: check_page(example_outcome("line")),
    "twins": lambda folder: check_page(example_outcome("twins")),
    "set": lambda folder: certify(Z, Y, lambda_ratio="1/50", verify=False).html(),
    "large": lambda folder: certify([[3 * 10**9, 10**9], [-(10**9), 0]], [10**8, 1], lambda_ratio="1/9").html(),
    "small": lambda folder: certify([[Fraction(x, 10**12)] for x in (1, -2, 4)], [1, 2, 3], lambda_ratio="1/9").html(),
    "names": lambda folder: certify([[1, 2, 3], [3, 1, 2], [0, 1, 5]], [1, 2, 4], names=LONG, bias=True).html(),
    "path": path_page,
    "prune": prune_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_a_phone_and_a_desk(name, tmp_path):
    """At 390 and 1100 pixels no page scrolls sideways, and the texts of every drawing can be read."""
    assert faults(PAGES[name](tmp_path), 390, 1100) == [[], []]


def test_the_measure_bites():
    """A label on another one, one outside, and a page too wide are all found."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" width="100" height="50"><title>T</title>'
        '<text x="10" y="20">one</text><text x="12" y="20">two</text><text x="95" y="40">three</text></svg>'
    )
    (found,) = faults(f'<!doctype html><html><body>{svg}<div style="width:900px">x</div></body></html>', 390)
    assert len(found) == 3 and found[0] == "the page is wider than the window"
    assert "T: two on one" in found and "T: outside: three" in found
