"""Pages of the variants: what is drawn is what was proved, and nothing more."""

from __future__ import annotations

import re

import pytest

import relu_cert.driver.variant
from relu_cert import certify, certify_group_lasso
from relu_cert.cover import setting
from tests.report.pages import Page, assert_loads_nothing

Z = [[1, 2], [-2, 1], [3, -1], [0, -2]]
Y = [1, -1, 1, -1]
MADE = {
    "some": lambda: certify(Z, Y, "1/3", patterns=3, seed=1),
    "some-gated": lambda: certify(Z, Y, "1/3", patterns=3, seed=1, model="gated"),
    "bits": lambda: certify(Z, Y, "1/3", gates=["1010"], model="gated"),
    "elastic": lambda: certify(Z, Y, "1/3", l2="1/2"),
    "logistic": lambda: certify(Z, Y, "1/3", loss="logistic"),
    "zero": lambda: certify(Z, Y, lambda_ratio=2),
    "direct": lambda: certify_group_lasso([[1, 0, 2], [0, 1, 1]], [[0, 1], [2]], [3, 1], "1/2"),
    "cone": lambda: certify_group_lasso([[1, 2], [0, 1]], [[0], [1]], [3, 1], "1/2", K=[[[-1]], None]),
}


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in MADE.items()}


@pytest.mark.parametrize("name", MADE)
def test_every_variant_has_a_page(made, name):
    """Balanced, self-contained, drawings without NaN, every verdict with its reason."""
    found = made[name]
    page = Page(found.html())
    assert_loads_nothing(page)
    for r in found.claims.values():
        assert f"{r.verdict} {r.claim}" in page.prose and " ".join(r.detail.split()) in page.prose
    for svg in page.drawings():
        assert not any(re.search(r"nan|inf", v) for x in svg.iter() for v in x.attrib.values())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("some", "global optimum over 3 activation patterns only"),
        ("some", "above the global optimum"),
        ("some", "data.all-patterns.cert.json"),
        ("some-gated", "that its 2 gates cut"),
        ("elastic", "with an elastic penalty, δ = 1/2"),
        ("elastic", "with δ > 0 the objective is strongly convex"),
        ("logistic", "with the logistic loss"),
        ("zero", "The zero network"),
        ("direct", "A constrained group lasso with 2 rows and 2 groups"),
        ("cone", "The solution"),
    ],
)
def test_the_page_says_which_problem_it_is(made, name, words):
    """In the first sentence, the cards or the captions."""
    if words.startswith("that its"):
        words = f"that its {made[name].network.width} gates cut"
    assert words in Page(made[name].html()).prose


@pytest.mark.parametrize("name", ["some", "elastic"])
def test_the_dual_picture_needs_every_direction(made, name):
    """Over some patterns, or with delta, theta may be longer than lambda in other directions: no such picture."""
    assert "What proves the lower bound" not in Page(made[name].html()).prose


def test_the_dual_picture_is_there_for_the_logistic_loss(made):
    """Over all patterns theta is feasible everywhere, whatever the loss."""
    assert "What proves the lower bound" in Page(made["logistic"].html()).prose


def test_patterns_without_a_gate_are_not_drawn(made):
    """A gated network on bits has no function off the data; the page says why there is no picture of it."""
    assert "nor are patterns without a gate" in Page(made["bits"].html()).prose


OBJECTIVES = {
    "some": "networks f with these patterns: ½ Σ (f(z) − y)² over the rows + λ/2 times",
    "some-gated": "with these patterns: ½ Σ (f(z) − y)² over the rows + λ Σ |w|; no division by n.",
    "elastic": "of the squared weights of both layers + δ/2 Σ |w|²; no division by n.",
    "logistic": "networks f of any width: Σ log(1 + exp(−y f(z))) over the rows + λ/2 times the sum",
}


@pytest.mark.parametrize("name", MADE)
def test_a_page_says_what_is_minimised(made, name):
    """The objective in a line, for readers without the paper; a group lasso has its own."""
    page = Page(made[name].html())
    assert OBJECTIVES.get(name, "Minimised over") in page.prose or name in ("direct", "cone")
    assert ("Minimised over" in page.prose) == (name not in ("direct", "cone"))


@pytest.mark.parametrize(("columns", "how"), [(12, r"a tree of \d[\d,]* cones that cover"), (0, "it leaves a gap")])
def test_a_page_says_what_proves_the_bound(monkeypatch, columns, how):
    """By a cover or by the leaders; a list of patterns needs no such sentence."""
    assert "No network of any width has" not in Page(certify(Z, Y, "1/3", model="gated").html()).prose
    assert "No network of any width has" in Page(certify(Z, Y, "1/3").html()).prose
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    monkeypatch.setattr(setting, "MOST_COLUMNS", columns)
    found = certify([*Z, [5, 3]], [*Y, 2], "1/3", seconds=2)
    assert re.search(
        rf"No network of any width has an objective below the lower bound, .* {how}", Page(found.html()).prose
    )
