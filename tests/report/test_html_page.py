"""The page of `check --html`: whole, self-contained, harmless, and saying what the report says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relu_cert import certify, examples
from relu_cert.claims.optimal_set import staircase
from relu_cert.driver.optimum import LambdaChoice
from relu_cert.exact import rational
from relu_cert.report.html.check import MOST_DIGITS, check_page
from relu_cert.report.html.page import e, fragment, unbroken
from tests.cli.run import run
from tests.marks import long_where
from tests.report.pages import Page, assert_loads_nothing, example_outcome, text_outcome

NAMES = [name for name in examples.names() if not examples.describe(name).classes]  # these have a page of their own
HOSTILE = """<script>alert(1)</script>,"a""><img src=x onerror=alert(2)>",&lt;svg onload=alert(3)&gt;,y</title>\u202e
1,0,0,1
0,1,0,2
0,0,1,3
1,1,1,-1
"""


@pytest.mark.parametrize("name", long_where(NAMES, "iris"))
def test_pages_are_balanced_and_say_every_verdict(name):
    """Every tag is closed in its place; every claim stands there with its verdict and its reason."""
    outcome = example_outcome(name)
    page = Page(check_page(outcome))
    for r in outcome.results:
        assert f"{r.verdict} {r.claim}" in page.prose
        assert " ".join(r.detail.split()) in page.prose
    first = [tag for tag, _ in page.tags].index("table")
    assert page.tags[first][1]["class"] == "verdicts"


@pytest.mark.parametrize("name", long_where(NAMES, "iris"))
def test_pages_load_nothing(name):
    """No tag that loads or runs, no handler, no address anywhere but the name of the SVG language."""
    assert_loads_nothing(Page(check_page(example_outcome(name))))


@pytest.mark.parametrize("name", long_where(NAMES, "iris"))
def test_drawings_are_xml_with_a_title_and_finite_numbers(name):
    """Every drawing is well-formed XML of its own, says what it shows, and has no NaN or infinity in it."""
    drawings = Page(check_page(example_outcome(name))).drawings()
    assert drawings
    for svg in drawings:
        assert svg[0].tag.endswith("title") and svg[0].text
        for element in svg.iter():
            for attribute, value in element.attrib.items():
                assert not re.search(r"nan|inf", value), (element.tag, attribute, value)


def test_names_of_columns_are_text_never_markup():
    """Hostile names appear as they were written, escaped; marks that turn the writing around do not survive."""
    outcome = text_outcome(HOSTILE, "<b>&.csv")
    text = check_page(outcome)
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.tags} and "img" not in {tag for tag, _ in page.tags}
    assert "<script>alert(1)</script>" in page.prose
    assert "<b>&.csv" in page.prose
    assert "\u202e" not in text
    page.drawings()


def test_the_page_names_the_files_that_verify_it():
    """The command to verify and both hashes are there; a path with blanks or quotes is quoted for the shell."""
    outcome = text_outcome("1,2\n3,-4\n", "my data's.csv")
    page = Page(check_page(outcome))
    assert outcome.source.sha256 in page.prose
    assert "python -m verify out.cert.json --data 'my data'\"'\"'s.csv'" in page.prose


def test_the_exact_numbers_are_behind_a_fold():
    """The exact values stand in full in a closed fold."""
    outcome = example_outcome("xor")
    text = check_page(outcome)
    folded = re.findall(r"<details>.*?</details>", text, flags=re.S)
    assert any(rational(outcome.facts.value.lower) in part for part in folded)
    for neuron in outcome.facts.primal.neurons:
        assert any(all(rational(x) in part for x in neuron.w) for part in folded)


def test_numbers_of_any_size_make_a_page():
    """Numbers far outside the range of floats are not drawn, and very long ones are cut, with a word about it."""
    outcome = text_outcome("1e101,1\n-2e101,3\n", choice=LambdaChoice())
    page = Page(check_page(outcome))
    assert "not drawn" in page.prose
    long = text_outcome(f"1.{'0' * (2 * MOST_DIGITS)}1,1\n-2,3\n")
    assert "characters; in full in the certificate" in Page(check_page(long)).prose


def test_the_head_says_value_gap_width_and_lambda():
    """Under the title stand the numbers that everybody asks for first."""
    prose = Page(check_page(example_outcome("cube"))).prose
    width = len(example_outcome("cube").facts.primal.neurons)
    said = (
        f"optimal value p* 3 exactly relative gap 0 an upper bound width {width} neurons of this network λ 1/2 λmax = 1"
    )
    assert said in prose and "activation patterns 104 104 open cells" in prose


def test_the_zero_network_has_a_page():
    """For lambda >= lambda_max the page says so."""
    assert "The zero network" in Page(check_page(example_outcome("xor", "3"))).prose


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("line", ("The function of the network and the data", "one by one", "touches a limit", "in weight space")),
        ("xor", ("linear on each of", "two discs")),
        ("twins", ("a segment", "a curve", "touches a limit")),
        ("cube", ("against the target",)),
        ("gated-conjecture", ("Gates as arrows",)),
        ("conjecture", ("All solutions", "active group")),
    ],
)
def test_pictures_are_there_where_they_can_be(name, words):
    """One feature: a curve; two: a plane; two or three weights: the dual point; a set of dimension one: both views."""
    prose = Page(check_page(example_outcome(name))).prose
    for word in words:
        assert word in prose


def test_the_vertices_and_the_staircase_are_told():
    """A set of more than one network: its minimal networks in a sentence, its connected parts in a fold."""
    facts = example_outcome("checkerboard").facts
    page = Page(check_page(example_outcome("checkerboard")))
    polytope = facts.polytope
    widths = f"of widths {polytope.m_star} to {polytope.M_star}, are the vertices of a polytope of dimension"
    assert f"The {len(polytope.vertices)} minimal networks, {widths} {polytope.dimension}." in page.prose
    steps = staircase(polytope)
    for step in steps[:-1]:
        assert f"{step.width} {step.isolated:,} {step.others}" in page.prose
    assert f"{steps[-1].width} and more 0 1: all are connected" in page.prose
    assert "can be joined" not in Page(check_page(example_outcome("xor"))).prose


def test_check_writes_the_page(tmp_path, monkeypatch):
    """`check --html FILE` writes it; a place that cannot be written is refused by name."""
    monkeypatch.chdir(tmp_path)
    assert run("check", "--example", "xor", "--html", "r.html").code == 0
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    refused = run("check", "--example", "xor", "--html", "no/such/r.html")
    assert refused.code == 64 and "no/such/r.html" in refused.err and "--html" in refused.err


def test_small_numbers_are_not_broken() -> None:
    """No line ends inside 2.4e-23; the text stays as it is."""
    shown = fragment(e("p", unbroken("within 2.4e-23 of 1e-5, x-ray")))
    assert 'within <span class="number">2.4e-23</span> of <span class="number">1e-5</span>, x-ray' in shown
    assert ".number { white-space: nowrap; }" in certify([[1], [2]], [1, 3], lam=1).html()


def test_text_and_attributes_are_escaped():
    """The builder escapes what HTML would read as markup and replaces what does not print."""
    built = fragment(e("p", "<&>\x00", e("b", "x"), "\u202e", cls='"<&'))
    assert built == '<p class="&quot;<&amp;">&lt;&amp;&gt;�<b>x</b>�</p>'
