"""The page of `network --html`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from relu_cert.network.claims import STATEMENTS
from relu_cert.report.html.given import _exponent, ladder_figure
from tests.cli.run import run
from tests.report.pages import LOADING, Page


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The page of a small network for xor, and what the command said."""
    monkeypatch.chdir(tmp_path)
    np.savez("net <b>.npz", W1=np.array([[1.0, -1.0], [-1.0, 1.0]]), b1=np.zeros(2), w2=np.array([0.75, 1.0]))
    ran = run("network", "net <b>.npz", "--example", "xor", "--lambda", "1/10", "--html", "net.html", "--json")
    assert ran.code == 0, ran.err
    return Page(Path("net.html").read_text(encoding="utf-8")), ran.json


def test_the_page_says_every_verdict_and_loads_nothing(written):
    """Balanced, self-contained, every claim with its statement, the objective exactly, drawings as XML."""
    page, said = written
    for claim in said["claims"]:
        assert f"{claim['verdict']} {claim['claim']} {STATEMENTS[claim['claim']]}" in page.prose
        assert " ".join(claim["detail"].split()) in page.prose
    assert said["objective"] in page.prose and said["network"]["sha256"] in page.prose
    assert "net <b>.npz" in page.prose and not LOADING & {tag for tag, _ in page.tags}
    assert len(page.drawings()) >= 4
    assert page.prose.count("The function of the network: linear on each of") == 2


def test_distances_are_bars_on_a_log_scale():
    """A distance ten times as large has a bar longer by one decade; zero and the invisibly small show their number."""
    svg = ladder_figure(
        [("a", Fraction(1, 10)), ("b", Fraction(1, 100)), ("c", Fraction(0)), ("d", Fraction(1, 10**40))]
    )
    bars = [float(rect.get("width")) for rect in svg.iter("rect")]
    texts = [text.text for text in svg.iter("text")]
    assert len(bars) == 2 and bars[0] - bars[1] == pytest.approx((460 - 178 - 22) / 12, abs=0.05)
    assert "0" in texts and "1.0e-40" in texts
    assert ladder_figure([("a", Fraction(0))]) is None


def test_logarithms_reach_beyond_floats():
    """log10 of numbers that no float holds."""
    assert _exponent(Fraction(1, 10**400)) == pytest.approx(-400)
    assert _exponent(Fraction(2) * 10**350) == pytest.approx(350.30103, abs=1e-4)
