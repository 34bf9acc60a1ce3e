"""The page of `prune --html`: the pruning curve."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.cli.run import run
from tests.report.pages import Page, assert_loads_nothing


@pytest.fixture(scope="module")
def pruned(tmp_path_factory):
    """A network with a split neuron on xor, pruned."""
    folder = tmp_path_factory.mktemp("prune")
    W1 = np.array([[1.0, -1.0], [2.0, -2.0], [-1.0, 1.0], [1.0, 1.0]])
    np.savez(folder / "<i>.npz", W1=W1, b1=np.array([0.0, 0.0, 0.0, 0.5]), w2=np.array([0.5, 0.25, 0.75, 0.125]))
    net, html = str(folder / "<i>.npz"), str(folder / "p.html")
    ran = run("prune", "--example", "xor", "--network", net, "--lambda", "1/10", "--json", "--html", html)
    assert ran.code == 0, ran.err
    return Page(Path(html).read_text(encoding="utf-8")), ran.json


def test_the_page_says_every_width(pruned):
    """Self-contained; the free part is no verdict, as no certificate holds it; each width a line; names are text."""
    page, said = pruned
    assert_loads_nothing(page)
    assert said["start"] == 4 and said["free"] == 3
    assert "PROVED" not in page.prose and "1 neuron gone; 3 neurons left, with the same fit" in page.prose
    for step in said["steps"]:
        assert f"{step['width']} {step['objective']:.10g} {step['loss']:.10g}" in page.prose
    assert "<i>.npz" in page.prose and "i" not in {tag for tag, _ in page.tags}


def test_the_curve_has_every_strategy_and_falls_where_it_should(pruned):
    """Four lines; the dots are the steps from left (no neuron) to right, at the height of their objective."""
    page, said = pruned
    (objective, loss, *_) = page.drawings()
    for svg in (objective, loss):
        lines = [p for p in svg.iter() if p.tag.endswith("path") and p.find("{*}title") is not None]
        assert {p.find("{*}title").text for p in lines} == {"residual", "magnitude", "gradient", "random"}
    dots = [
        (float(c.get("cx")), float(c.get("cy")))
        for c in objective.iter()
        if c.tag.endswith("circle") and c.get("class") == "vertex"
    ]
    heights = [step["objective"] for step in said["steps"]]
    assert len(dots) == len(heights)
    order = np.argsort([-y for _, y in dots])
    assert np.allclose(np.array(heights)[order], np.sort(heights), atol=1e-9)
    assert [x for x, _ in dots] == sorted((x for x, _ in dots), reverse=True)


def test_the_networks_on_the_way_are_drawn(pruned):
    """One picture for each width but none for zero."""
    page, said = pruned
    assert len(re.findall(r"neurons?: ½\|f − y\|² =", page.prose)) == said["free"]
