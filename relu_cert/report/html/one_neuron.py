"""The page of `path --one-neuron`: the exact path of a network that is too narrow, with its jumps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from shlex import quote
from xml.etree.ElementTree import Element

from relu_cert.claims.model import Result
from relu_cert.data.model import Dataset
from relu_cert.path.one_neuron import NeuronBranch, NeuronPath
from relu_cert.report.headline import of_one_neuron
from relu_cert.report.html.check import verdict_table
from relu_cert.report.html.commands import verify_section
from relu_cert.report.html.frame import WIDTH, Frame, Point, drawing, padded
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import Section, cards, count, figure, figures, page, table
from relu_cert.report.html.view import drawable
from relu_cert.report.one_neuron import OneNeuronReport, branch_formula
from relu_cert.report.text import decimal, rational, short

SAMPLES = 60


def one_neuron_page(report: OneNeuronReport, data: Dataset, results: Sequence[Result]) -> str:
    """The report of one run of path --one-neuron, as one HTML page."""
    found = report.path
    try:
        drawn = figures(weight_figure(found), value_figure(found, data)) if found.branches else None
    except OverflowError:
        drawn = None
    how = "An independent program reads data and certificate again and re-derives the whole path in exact arithmetic:"
    command = f"python -m verify {quote(str(report.certificate))} --data {quote(data.source.path)}"
    sections = [
        Section("verdicts", "Verdicts", (verdict_table(results),)),
        Section("path", "The path", () if drawn is None else (drawn,)),
        Section("branches", "Branches and jumps, exactly", (_table(found),)),
        Section("verify", "Verify it", verify_section(how, [command], data)),
    ]
    title = f"{report.name}: one neuron"
    return page(title, _head(found, data), [section for section in sections if section.body])


def _head(found: NeuronPath, data: Dataset) -> list[Element]:
    jumps = len(found.jumps)
    text = f"One neuron on one feature, {count(data.n, 'point')}: its optimal weight v for every λ > 0. "
    text += "Where two branches are equally good v jumps; with enough neurons the fit always moves continuously."
    shown = [
        ("zero for λ from", short(found.top, 14), "upwards"),
        ("branches", str(len(found.branches)), "each linear in λ"),
        ("jumps", str(jumps), "the path is not continuous" if jumps else "the path is continuous"),
    ]
    return [e("p", of_one_neuron(found), cls="headline"), e("p", text, cls="lead"), cards(shown)]


def weight_figure(found: NeuronPath) -> Element:
    """v against lambda: a line for each branch, a dashed one across each jump."""
    lines = [[(drawable(lam), drawable(branch.v(lam))) for lam in (lo, hi)] for branch, lo, hi in _spans(found)]
    top = drawable(found.top)
    frame = Frame(0.0, 1.12 * top, *padded([0.0, *(p[1] for line in lines for p in line)]), height=300.0)
    jumps, ends = [], []
    for jump in found.jumps:
        lam = (jump.lo + jump.hi) / 2
        pair = [(drawable(lam), drawable(branch.v(lam))) for branch in (jump.above, jump.below)]
        jumps.append(e("path", d=frame.path(pair), cls="kink"))
        ends += [e("circle", cx=frame.x(x), cy=frame.y(y), r=4.0, cls="vertex") for x, y in pair]
    svg = drawing(
        WIDTH,
        frame.height,
        "The weight of the neuron against lambda",
        frame.axes("λ", "v"),
        e("path", d=frame.path([(top, 0.0), (1.12 * top, 0.0)]), cls="curve"),
        e("g", jumps),
        e("g", [e("path", d=frame.path(line), cls="curve") for line in lines]),
        e("g", ends),
    )
    text = "The optimal weight v, exactly: linear on each branch."
    return figure(svg, text + (" At a jump (circles) both values are optimal." if found.jumps else ""))


def value_figure(found: NeuronPath, data: Dataset) -> Element:
    """The value of every branch against lambda; the lowest is the optimum."""
    zero = drawable(sum((y * y for y in data.y), Fraction(0)) / 2)
    top = drawable(found.top)
    curves = [(_values(branch, zero, top), branch in found.branches) for branch in found.every]
    low = min(p[1] for curve, _ in curves for p in curve)
    frame = Frame(0.0, 1.12 * top, *padded([low, zero]), height=300.0)
    best = [
        e("path", d=frame.path(_values(b, zero, drawable(hi), drawable(lo))), cls="set") for b, lo, hi in _spans(found)
    ]
    svg = drawing(
        WIDTH,
        frame.height,
        "The value of every branch against lambda",
        frame.axes("λ", "objective"),
        e("path", d=frame.path([(top, zero), (1.12 * top, zero)]), cls="set"),
        e("g", [e("path", d=frame.path(curve), cls="way" if used else "way w2") for curve, used in curves]),
        e("g", best),
    )
    caption = "The least objective of each branch (sign of v, sign of the output); the lowest is the optimum (violet)."
    return figure(svg, caption)


def _spans(found: NeuronPath) -> list[tuple[NeuronBranch, Fraction, Fraction]]:
    """Each branch that is best somewhere, with the interval of lambdas on which it is."""
    ends = [found.top, *((jump.lo + jump.hi) / 2 for jump in found.jumps), Fraction(0)]
    return [(branch, ends[i + 1], ends[i]) for i, branch in enumerate(found.branches)]


def _values(branch: NeuronBranch, zero: float, hi: float, lo: float = 0.0) -> list[Point]:
    """1/2 |y|^2 - (b - lambda)_+^2 / (2 a) from lo to hi."""
    a, b = drawable(branch.a), drawable(branch.b)
    steps = [lo + (hi - lo) * i / SAMPLES for i in range(SAMPLES + 1)]
    return [(lam, zero - max(0.0, b - lam) ** 2 / (2 * a)) for lam in steps]


def _table(found: NeuronPath) -> Element:
    rows: list[tuple[str, str, str]] = [(f"λ ≥ {rational(found.top)}", "v = 0", "")]
    ends = [rational(found.top), *(_place(jump.lo, jump.hi) for jump in found.jumps), "0"]
    for i, branch in enumerate(found.branches):
        formula = branch_formula(branch).replace("lambda", "λ")
        rows.append((f"{ends[i + 1]} < λ < {ends[i]}", f"v = {formula}", f"γ = {branch.gamma:+d}"))
    return table(("where", "weight", "output sign"), rows, "compact")


def _place(lo: Fraction, hi: Fraction) -> str:
    return rational(lo) if lo == hi else f"about {decimal((lo + hi) / 2, 14)}"
