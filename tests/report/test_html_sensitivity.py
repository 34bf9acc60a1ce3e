"""The derivatives on the page of check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relu_cert import certify
from relu_cert.figures import decimal
from relu_cert.report.html.proof import fall_figure, hat_figure, sensitivity_section
from tests.report.pages import Page, assert_loads_nothing

LINE = [[-2], [-1], [0], [1], [2]], [2, 1, 0, 1, 2]


@pytest.fixture(scope="module")
def found():
    return certify(*LINE, "1/10", bias=True, noise="1/5")


def test_the_derivatives_are_shown_where_there_are_any(found):
    """Degrees of freedom and SURE as the facts have them; the zero network has no such section."""
    page = Page(found.html())
    assert_loads_nothing(page)
    derivatives = found.facts.derivatives
    assert derivatives is not None and derivatives.sure is not None
    assert f"degrees of freedom {decimal(derivatives.freedom, 10)}" in page.prose
    assert f"SURE {decimal(derivatives.sure.value, 10)} for noise 0.2" in page.prose
    assert 'id="sensitivity"' in page.text
    assert 'id="sensitivity"' not in certify(*LINE, lambda_ratio=2).html()


def test_degrees_of_freedom_are_on_the_page_of_many_rows(found):
    """Where dfit/dy is too large to be written, the tile has the digits that the verdict has, not a dash."""
    few = replace(found.facts.derivatives, by_y=None, freedom=None, sure=None)
    facts = replace(found.facts, nearby=replace(found.facts.nearby, derivatives=few))
    section = sensitivity_section(facts)
    shown = [dd.text for dd in section.shown[1].iter("dd")]
    assert few.digits[0] and few.digits[1] and shown[0] == few.digits[0] and few.digits[1] in shown


def test_tiles_are_warm_where_the_fit_follows():
    """One tile for each entry that is not zero, warm if positive, the strongest full."""
    picture = hat_figure(np.array([[1.0, -0.5], [0.0, 0.25]]))
    tiles = [r for r in picture.iter("rect") if "tile" in r.get("class")]
    assert [r.get("class").split()[0] for r in tiles] == ["warm", "cold", "warm"]
    strengths = [float(r.get("fill-opacity")) for r in tiles]
    assert strengths == sorted(strengths, reverse=True) and strengths[0] == 0.95
    assert hat_figure(np.zeros((2, 2))) is None and hat_figure(np.eye(61)) is None


def test_bars_go_to_both_sides():
    """A weight that grows with lambda to the right, one that falls to the left, in proportion."""
    picture = fall_figure(np.array([2.0, -1.0]))
    right, left = list(picture.iter("rect"))
    assert float(right.get("x")) == 230.0 and float(left.get("x")) + float(left.get("width")) == pytest.approx(230.0)
    assert float(right.get("width")) == pytest.approx(2 * float(left.get("width")), abs=0.02)
    assert fall_figure(np.zeros(2)) is None
