"""The page of `path --one-neuron --html`."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest

from relu_cert.path.one_neuron import one_neuron_path
from relu_cert.report.html.path import weight_figure
from tests.cli.run import run
from tests.report.pages import Page, assert_loads_nothing


def test_the_page_has_every_branch_and_jump(tmp_path, monkeypatch):
    """The exact formulas, the verdict, both pictures, and the command that verifies."""
    monkeypatch.chdir(tmp_path)
    ran = run("path", "--example", "one-neuron", "--one-neuron", "--html", "p.html", "--json")
    assert ran.code == 0, ran.err
    page = Page(Path("p.html").read_text(encoding="utf-8"))
    assert_loads_nothing(page)
    assert "PROVED one-neuron" in page.prose and len(page.drawings()) == 2
    assert "100/11 < λ < 100 v = (λ - 100)/10000 γ = +1" in page.prose
    assert "0 < λ < 100/11 v = 10 - λ γ = +1" in page.prose
    assert f"python -m verify {ran.json['certificate']} --data" in page.prose


def test_a_jump_has_two_ends_at_one_lambda():
    """Two circles above one another, at the two optimal weights; no jump, no circle."""
    picture = weight_figure(one_neuron_path([F(-100), F(1)], [F(1), F(10)]))
    ends = [(c.get("cx"), float(c.get("cy"))) for c in picture.iter("circle")]
    assert len(ends) == 2 and ends[0][0] == ends[1][0] and ends[0][1] > ends[1][1]
    assert not list(weight_figure(one_neuron_path([F(1)], [F(2)])).iter("circle"))


@pytest.mark.parametrize("text", ["x,y\n1,0\n-1,0\n", "x,y\n0,3\n"], ids=["no-target", "no-feature"])
def test_a_network_that_is_always_zero_has_a_page(text, tmp_path, monkeypatch):
    """Nothing to draw, and a table that says v = 0."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(text)
    ran = run("path", "d.csv", "--one-neuron", "--html", "p.html")
    assert ran.code == 0, ran.err
    assert "v = 0" in Page(Path("p.html").read_text(encoding="utf-8")).prose
