"""The page of `network --html`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

from relu_cert.claims.claim import Result, Verdict
from relu_cert.figures import decimal
from relu_cert.network.claims import STATEMENTS, network_verdicts
from relu_cert.prove.facts import Value
from relu_cert.report.headline import of_network
from relu_cert.report.html.given import _exponent, ladder_figure, network_page
from relu_cert.report.network import NetworkReport
from tests.cli.run import run
from tests.report.pages import LOADING, Page
from tests.report.test_printed_bounds import networks


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


def test_the_page_checks_the_network_again_as_the_terminal_does(written):
    """The command of the page names the network, too, as the one of the terminal."""
    page, _ = written
    assert "python -m verify 'net <b>.network.cert.json' --data " in page.prose
    assert "--network 'net <b>.npz'" in page.prose


@pytest.fixture(scope="module")
def unproved() -> NetworkReport:
    """A network beside an optimum of which only bounds are proved."""
    found = networks("unlisted")
    value = found.comparison.facts.value
    facts = replace(found.comparison.facts, value=replace(value, lower=value.lower / 2))
    comparison = replace(found.comparison, facts=facts, closest=None)
    return replace(found, comparison=comparison, results=network_verdicts(comparison, found.gap))


def test_only_what_is_proved_is_called_optimal(unproved):
    """Where the optimum is only bounded, page and terminal compare with the best network found, not with an optimal
    one, and the headline says what is refuted."""
    page, text = Page(network_page(unproved)).prose, " ".join(unproved.to_text().split())
    for wrong in ("and an optimal one", "The optimal network that was found", " best over networks of any width "):
        assert wrong not in page
    assert "The trained network and the best one found" in page and "best one found over networks of any width" in page
    assert "pair with those of the best network found" in text and "optimal ones" not in text.partition("PROVED")[0]


def test_a_network_that_is_refuted_is_not_the_best_in_the_headline():
    """However wide the bounds of the optimum are: 2 % to 15 % above is not "at most 15 % above"."""
    value = Value(F(5686, 100), F(6366, 100), F(1, 10**9))
    results = [Result("network-objective", Verdict.PROVED, "", ""), Result("network-optimal", Verdict.REFUTED, "", "")]
    said = of_network(value, F(6486, 100), F(1, 1000), results)
    assert (
        said
        == "This network is not the best: its objective is from 1.88 to 14.1 % above the best possible one; proved."
    )


def test_neurons_have_one_number_on_a_page(tmp_path, monkeypatch):
    """The table numbers them as the pictures do, the heaviest first."""
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", W1=np.array([[1.0, -1.0], [-1.0, 4.0]]), b1=np.zeros(2), w2=np.array([0.5, -1.0]))
    assert run("network", "net.npz", "--example", "xor", "--lambda", "1/10", "--html", "net.html", "--json").code == 0
    page = Page(Path("net.html").read_text(encoding="utf-8"))
    assert "its direction is 1 − 4.1231056 (-0.25, 1, 0)" in page.prose
    assert "2 + 0.70710678 (1, -1, 0)" in page.prose


def test_the_objective_is_told_as_the_library_counts_it():
    """Whoever knows the loss that the library printed finds it in the report and on the page; where an output bias is
    a neuron here, the two objectives are not multiples of one another, and nothing is said."""
    found = networks("scikit-learn")
    assert found.conversion.times == found.data.n
    own = decimal(found.comparison.examination.J / found.data.n, 8)
    assert f"balanced; as sklearn counts it, {own} as trained" in " ".join(found.to_text().split())
    page = Page(network_page(found)).prose
    assert f"known exactly; as sklearn counts it, {own}" in page
    assert page.count("Beside its neurons the network has the output bias ") == 2
    assert networks("pytorch").conversion.times == F(networks("pytorch").data.n, 2)
    assert "counts it" not in networks("pytorch").to_text() + networks("listed").to_text()
