"""The page of `path --html`, and the pictures of a path: a gap in the proof is a gap in the lines."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert import certify, examples
from relu_cert import path as certified_path
from relu_cert.data import read_csv
from relu_cert.path.curve import CurveNeuron, Sample
from relu_cert.path.pieces import Gap, PathPieces, Piece
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import relu
from relu_cert.prove.facts import LambdaMax
from relu_cert.prove.prove import zero_facts
from relu_cert.report.html.check import check_page
from relu_cert.report.html.path_figures import Axis, Stretch, levels, path_figure, spread, stretches, tracks, values
from relu_cert.report.html.svg import thin_line
from relu_cert.report.path import PathReport
from tests.cli.run import run
from tests.report.pages import Page, assert_loads_nothing, example_outcome

CUBE = (list(product((-1, 1), repeat=3)), [a * b * c for a, b, c in product((-1, 1), repeat=3)])
fast = settings(derandomize=True, deadline=None, max_examples=60)


def neuron(weight: float, direction: tuple[float, ...] = (1.0, 0.0), sign: int = 1) -> CurveNeuron:
    return CurveNeuron(sign, None, None, weight, direction)


def sample(lam: str, piece: int, *neurons: CurveNeuron) -> Sample:
    return Sample(piece, Fraction(lam), (), (), None, Fraction(1), Fraction(1), None, tuple(neurons))


def piece(lo: str, hi: str, still: bool = False) -> Piece:
    """A piece of the right shape; pictures read its ends and how many coefficients its path has."""
    zero = Fraction(0)
    s = ((zero,),) if still else ((zero,), (zero,))
    return Piece(Fraction(lo), Fraction(hi), s, (), (), (), (), (), zero)  # type: ignore[arg-type]


def cover(*gaps: tuple[str, str]) -> PathPieces:
    found = tuple(Gap(Fraction(a), Fraction(b), "too near") for a, b in gaps)
    return PathPieces(Fraction(1), Fraction(8), (piece("1", "2"), piece("2", "4"), piece("4", "8")), found)


LARGEST = LambdaMax(Fraction(100), None, None)  # type: ignore[arg-type]
WALK = (
    sample("1", 0, neuron(2.0), neuron(0.5, (0.0, 1.0))),
    sample("2", 0, neuron(1.0), neuron(0.1, (0.0, 1.0))),
    sample("2", 1, neuron(1.0)),
    sample("4", 1, neuron(0.5)),
    sample("5", 2, neuron(0.4)),
    sample("8", 2, neuron(0.1)),
)


def test_a_neuron_is_followed_from_piece_to_piece():
    """The same sign and direction: one track, one line; a neuron that leaves ends its own."""
    found = tracks(WALK, cover())
    assert [[spot.weight for run in one.runs for spot in run] for one in found] == [
        [2, 1, 1, 0.5, 0.4, 0.1],
        [0.5, 0.1],
    ]
    assert [len(one.runs) for one in found] == [1, 1]


def test_no_line_crosses_a_gap():
    """The track stays the same one on the other side, in a run of its own; so does the objective."""
    (first, _), steps = tracks(WALK, cover(("4", "5"))), levels(WALK, cover(("4", "5")))
    assert [len(run) for run in first.runs] == [4, 2]
    assert [level.run for level in steps] == [0, 0, 0, 0, 1, 1]
    svg = path_figure(Axis(0.0, 0.9, stretches(cover(("4", "5")), LARGEST)), [first], steps)
    lines = [one.get("d") for one in svg.iter("path") if (one.get("class") or "").startswith("neuron")]
    assert len(lines) == 1 and lines[0].count("M") == 2
    bands = [one for one in svg.iter("rect") if one.get("class") == "band of-gap"]
    assert len(bands) == 1 and bands[0].find("title").text == "too near"


@pytest.mark.parametrize("other", [neuron(1.0, (0.0, 1.0)), neuron(1.0, sign=-1)], ids=["turned", "negative"])
def test_another_neuron_is_another_track(other):
    """A neuron that looks elsewhere, or has the other sign, does not continue the line."""
    found = tracks((sample("1", 0, neuron(2.0)), sample("2", 0, neuron(1.0)), sample("3", 1, other)), cover())
    assert len(found) == 2


def test_sets_are_bands_with_their_dimension():
    """Neighbouring pieces with sets of one dimension are one band, which says so."""
    known = [Stretch(0.0, 0.3, "set", "a set of dimension 2"), Stretch(0.3, 0.6, "set", "a set of dimension 2")]
    svg = path_figure(Axis(0.0, 0.9, (*known, Stretch(0.6, 0.9, "smooth"))), [], [])
    (band,) = [one for one in svg.iter("rect") if one.get("class") == "band of-set"]
    assert band.find("title").text == "a set of dimension 2"
    assert [t.text for t in svg.iter("text")][:2] == ["a set of", "dimension 2"]


def test_stretches_say_where_nothing_is_proved():
    """Pieces, gaps and what lies above lambda_max, in order."""
    kinds = [one.kind for one in stretches(cover(("3", "4")), LambdaMax(Fraction(25), None, None))]  # type: ignore[arg-type]
    assert kinds == ["smooth", "smooth", "gap", "smooth", "zero"]


@fast
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=2, max_size=40))
def test_thinned_lines_stay_near(points):
    """Every point that was left out is within the tolerance of the line that is drawn."""
    line = [(float(x), float(y)) for x, y in points]
    kept = thin_line(line, 2.0)
    assert kept[0] == line[0] and kept[-1] == line[-1] and len(kept) <= len(line)
    for p in line:
        assert min(_far(p, a, b) for a, b in pairwise(kept)) <= 2.0 + 1e-9


def _far(p, a, b):
    """The distance of a point from a segment."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    t = max(0.0, min(1.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy or 1.0)))
    return ((p[0] - a[0] - t * dx) ** 2 + (p[1] - a[1] - t * dy) ** 2) ** 0.5


@fast
@given(st.lists(st.integers(0, 100), min_size=1, max_size=8))
def test_labels_are_moved_apart(places):
    """Labels keep their order, have room between them and stay inside, where there is room for all."""
    moved = spread(sorted(map(float, places)), 12.0, 0.0, 100.0)
    assert all(b - a >= 12.0 - 1e-9 for a, b in pairwise(moved))
    assert max(moved) <= 100.0


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The pages of a path with a gap and of one without, and what the command said."""
    folder = tmp_path_factory.mktemp("paths")
    pages = {}
    for name, low in (("conjecture", "1/5"), ("xor", "1/4")):
        files = ("--html", str(folder / "p.html"), "--certificate", str(folder / "p.json"))
        ran = run("path", "--example", name, "--from", low, *files, "--json")
        assert ran.code == 0, ran.err
        pages[name] = Page((folder / "p.html").read_text(encoding="utf-8")), ran.json
    return pages


@pytest.mark.parametrize("name", ["conjecture", "xor"])
def test_the_page_says_what_the_path_says(written, name):
    """Balanced, self-contained, well-formed drawings; every breakpoint and gap is there."""
    page, said = written[name]
    assert_loads_nothing(page)
    assert len(page.drawings()) >= 2
    for one in (*said["breakpoints"], *said["gaps"]):
        assert one["lo"] in page.prose and one["hi"] in page.prose
    for one in said["breakpoints"]:
        assert f"{one['above']}→{one['below']}" in page.prose
    assert "\ufffd" not in page.prose
    for gap in said["gaps"]:
        assert gap["reason"] in page.prose
    for claim in said["claims"]:
        assert f"{claim['verdict']} {claim['claim']}" in page.prose
        assert " ".join(claim["detail"].split()) in page.prose
    assert bool(said["gaps"]) == ("not proved, so no line is drawn" in page.prose)
    assert not any(re.search(r"nan|inf", v) for svg in page.drawings() for x in svg.iter() for v in x.attrib.values())


def test_the_page_says_how_to_verify(written):
    """It names the certificate that the command wrote and the data; the radius of the lines is told."""
    page, said = written["xor"]
    assert f"python -m verify {said['certificate']} --data" in page.prose and "xor.csv" in page.prose
    assert ("of the truth." in page.prose) == any(one["radius"] is not None for one in said["curve"])


def test_the_page_needs_a_place(tmp_path, monkeypatch):
    """A place that cannot be written is refused by name."""
    monkeypatch.chdir(tmp_path)
    files = ("--html", str(tmp_path / "no" / "p.html"), "--certificate", str(tmp_path / "p.json"))
    ran = run("path", "--example", "xor", "--from", "9/10", *files)
    assert ran.code == 64 and "--html" in ran.err


def test_a_path_with_nothing_proved_has_a_page():
    """All of it a gap: the page says so, and draws nothing."""
    nothing = PathPieces(Fraction(1), Fraction(8), (), (Gap(Fraction(1), Fraction(8), "too many neurons"),))
    data = read_csv(examples.path("xor"), bias=True)
    problem = relu(data.Z, data.y, enumerate_patterns(data.Z))
    facts = zero_facts(problem, Fraction(10), LARGEST, Fraction(1))
    report = PathReport(data.source, data, (), Path("xor.path.json"), facts, LARGEST, nothing, (), 0, ())
    page = Page(report.html())
    assert "too many neurons" in page.prose
    assert "Nothing is proved on the interval" in page.prose and page.drawings() == []


def test_check_shows_the_path_it_proved():
    """With an interval, the page of check has the path too; without, it has none."""
    plain = check_page(example_outcome("conjecture"))
    with_path = check_page(example_outcome("conjecture", interval=("24", "40")))
    assert 'id="path"' not in plain
    assert 'id="path"' in with_path and "The size |w| of every neuron, times its sign" in Page(with_path).prose


def test_the_optimal_value_is_drawn_over_sets_of_networks(tmp_path, monkeypatch):
    """The cube has no unique network anywhere: p*, the loss and the penalty are drawn all the same, and the page does
    not say that nothing is proved; the values are those of `check`."""
    monkeypatch.chdir(tmp_path)
    assert run("path", "--example", "cube", "--from", "1/2", "--quiet", "--html", "p.html").code == 0
    text = Path("p.html").read_text(encoding="utf-8")
    assert "Nothing is proved" not in text and "The optimal value along the path" in text
    assert "The weights of the neurons along the path" not in text
    found = certified_path(*CUBE, low="1/2", high=1, bias=True)
    drawn = values(found.report.cover, CUBE[1])
    assert drawn[0].x < drawn[-1].x == 0 and len(drawn) > 20 and {one.run for one in drawn} == {0}
    for one in (drawn[0], drawn[len(drawn) // 2], drawn[-1]):
        exact = certify(*CUBE, Fraction(10**one.x), claims=["optimal"], bias=True)
        assert one.value == pytest.approx(float(exact.value.upper), rel=1e-9)
        penalty = 10**one.x * sum(float(n.norm) for n in exact.report.facts.primal.neurons)
        assert one.penalty == pytest.approx(penalty, abs=1e-6)
