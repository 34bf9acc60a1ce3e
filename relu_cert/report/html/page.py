"""One self-contained page: a head, then sections. No script, no font, no image, nothing from the network.

A page is a tree of elements, not a string, so that no text of a user can become markup: text and attributes are escaped
when the tree is written; characters that do not print (control characters, marks that turn the direction of writing)
become the replacement character.

The short form of a report, for a notebook: the sentence, the verdicts or the text, and the pictures of the page.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import unescape
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import Any, Literal
from xml.etree.ElementTree import Element, fromstring, tostring

import numpy as np
from numpy.typing import NDArray

from relu_cert import __version__
from relu_cert.bags import EACH
from relu_cert.checker import recheck_command
from relu_cert.claims.claim import Result, Verdict
from relu_cert.closed_forms.numbers import enclosed
from relu_cert.data.dataset import Dataset, Source
from relu_cert.figures import count, one_number, short
from relu_cert.files import stem
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.check import CheckReport
from relu_cert.report.shown import Report, proved_to

_SMALL = re.compile(r"(\d+(?:\.\d+)?e-\d+|--[a-z-]+)")
Child = Element | str | None
Attribute = str | float | None


def e(tag: str, *children: Child | Iterable[Child], **attributes: Attribute) -> Element:
    """An element. `cls` is class; an underscore in a name is a hyphen; None leaves an attribute or a child out."""
    element = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            element.set("class" if name == "cls" else name.strip("_").replace("_", "-"), _attribute(value))
    for child in children:
        append(element, child)
    return element


def append(parent: Element, child: Child | Iterable[Child]) -> None:
    """Put a child, a text or several of them at the end of an element."""
    if child is None:
        return
    if isinstance(child, str):
        _append_text(parent, printable(child))
    elif isinstance(child, Element):
        parent.append(child)
    else:
        for one in child:
            append(parent, one)


def printable(text: str) -> str:
    """The text with U+FFFD for what does not print; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def number(x: float) -> str:
    """A coordinate, to a hundredth: "12.5", "3", "-0.25"."""
    text = f"{x:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def document(root: Element) -> str:
    """The page as text."""
    return "<!doctype html>\n" + fragment(root) + "\n"


def fragment(element: Element) -> str:
    """One element as HTML text."""
    return tostring(element, encoding="unicode", method="html")


def _attribute(value: str | float) -> str:
    return printable(value) if isinstance(value, str) else number(value)


def _append_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


ROUNDED = "Numbers are rounded for the eye; the exact ones are behind the folds and in the certificate."
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Section:
    """One part of a page: `ident` is its anchor, `body` its content under the title, without what is None."""

    ident: str
    title: str
    body: Sequence[Element | None]

    @property
    def shown(self) -> list[Element]:
        """What there is to show."""
        return [one for one in self.body if one is not None]


@dataclass(frozen=True)
class Head:
    """What stands under the title: what was found, what it is about, and the numbers that everybody asks for first,
    each as (name, number, note)."""

    headline: str
    lead: str
    numbers: Sequence[tuple[str, str, str]]
    note: str = ""

    def elements(self) -> list[Element | None]:
        """The head as it is drawn."""
        note = e("p", self.note, cls="note") if self.note else None
        return [e("p", self.headline, cls="headline"), e("p", self.lead, cls="lead"), cards(self.numbers), note]


def page(title: str, head: Head, sections: Iterable[Section | None]) -> str:
    """The whole page as text; sections without content are left out."""
    return document(
        e(
            "html",
            e(
                "head",
                e("meta", charset="utf-8"),
                e("meta", name="viewport", content="width=device-width, initial-scale=1"),
                e("meta", http_equiv="Content-Security-Policy", content=POLICY),
                e("meta", name="color-scheme", content="light dark"),
                e("meta", name="generator", content=f"relu_cert {__version__}"),
                e("title", f"{title} · relu_cert"),
                e("style", style()),
            ),
            e(
                "body",
                e("header", e("p", "relu_cert", cls="brand"), e("h1", title), *head.elements()),
                e("main", [_section(section) for section in sections if section is not None and section.shown]),
                e("footer", e("p", f"Made by relu_cert {__version__}. {ROUNDED}")),
            ),
            lang="en",
        )
    )


def style() -> str:
    """The style sheet."""
    return resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")


def unbroken(text: str) -> list[Child]:
    """The text, in which no line ends inside a number such as 2.4e-23, or an option."""
    parts = _SMALL.split(text)
    return [e("span", part, cls="number") if i % 2 else part for i, part in enumerate(parts)]


def cards(rows: Sequence[tuple[str, str, str]]) -> Element:
    """Numbers, each as (name, number, note)."""
    return _terms("cards", [(name, shown, unbroken(note)) for name, shown, note in rows])


def files(rows: Sequence[tuple[str, str, str]]) -> Element:
    """The files that a page speaks of, each as (what, name, sha256)."""
    return _terms("files", [(what, name, [e("code", digest)]) for what, name, digest in rows])


def _terms(cls: str, rows: Iterable[tuple[str, str, list[Child]]]) -> Element:
    """A list of names, what they are, and a note."""
    return e("dl", [e("div", e("dt", a), e("dd", b), e("dd", note, cls="note")) for a, b, note in rows], cls=cls)


def fold(summary: str, *content: Element) -> Element:
    """Content that is shown when it is asked for."""
    return e("details", e("summary", summary), *content)


def recaptioned(picture: Element, caption: str) -> Element:
    """The picture with another sentence."""
    picture.remove(picture[-1])
    picture.append(e("figcaption", caption))
    return picture


def figures(*found: Element | None) -> Element | None:
    """Pictures beside one another where there is room."""
    present = [one for one in found if one is not None]
    return e("div", present, cls="figures") if present else None


def beside(*found: Element) -> Element | None:
    """Pictures that belong together, side by side, row by row."""
    return e("div", *found, cls="beside") if found else None


def table(header: Sequence[str], rows: Sequence[Sequence[Element | str]], cls: str | None = None) -> Element:
    """A table that scrolls in its own box where it is too wide."""
    head = e("thead", e("tr", [e("th", name, scope="col") for name in header])) if header else None
    body = e("tbody", [e("tr", [e("td", cell) for cell in row]) for row in rows])
    return e("div", e("table", head, body, cls=cls), cls="scroll")


def _section(section: Section) -> Element:
    return e("section", e("h2", section.title), *section.shown, id=section.ident)


def data_arguments(data: Dataset) -> str:
    """The file and the options with which it was read, for the shell."""
    source = data.source
    options = [quote(source.path)]
    options += ["--bias"] * source.bias
    options += ["--numbers binary64"] * (source.numbers == "binary64")
    options += [f"--delimiter {quote(source.delimiter)}"] * (source.delimiter != ",")
    options += [f"--target {source.target}"] * (source.target not in (-1, data.d - source.bias))
    return " ".join(options)


def reproduced(how: str, data: Dataset, options: str) -> Section:
    """The command that makes a certificate of what a page rests on, and the one that checks it."""
    source = data.source.path
    lines = [
        f"python -m relu_cert check {data_arguments(data)} {options}",
        recheck_command(f"{stem(Path(source))}.cert.json", source),
    ]
    return verify_section(how, lines, [of_source(data.source)])


def of_source(source: Source) -> tuple[str, str, str]:
    """The data among the files of a page."""
    return "data", source.path, source.sha256


def of_certificate(what: str, report: Report) -> tuple[str, str, str]:
    """A certificate among the files of a page."""
    return what, str(report.certificate_path), hashlib.sha256(report.certificate_text.encode()).hexdigest()


def re_derived(what: str) -> str:
    """What the checker does."""
    return f"An independent program reads data and certificate again and re-derives {what} in exact arithmetic:"


def verify_section(how: str, lines: Sequence[str], rows: Sequence[tuple[str, str, str]]) -> Section:
    """How everything is checked again: a sentence, the commands, and the files, each as (what, name, sha256)."""
    body = e("p", how), e("pre", e("code", "\n".join(lines))), files(rows) if rows else None
    return Section("verify", "Verify it", body)


NAMES = {
    "p^{*}": "p*",
    "df": "degrees of freedom",
    "lambda_break": "breakpoint λ",
    "lambda_from": "from λ",
    "lambda_to": "to λ",
    "lambda**2": "λ²",
}


def math(expression: Any) -> Element:
    """An expression as an element of MathML."""
    from sympy import mathml

    text = mathml(expression, printer="presentation").replace("complexrootof", "root")
    known = re.sub(
        "&(?!lt;|gt;|amp;)[A-Za-z]+;", lambda found: unescape(found[0]), text
    )  # names that XML does not have
    return fromstring(f"<math>{known}</math>")


def formula_section(equations: Iterable[tuple[Any, Any]]) -> Section:
    """Names and what they are, a line for each."""
    rows = [
        e("tr", e("td", NAMES.get(str(left), str(left).replace("xi_", "ξ_"))), e("td", math(right), enclosed(right)))
        for left, right in equations
    ]
    text = "Derived exactly from what is proved; what does not follow is not here. ξ = -1: outputs are subtracted."
    return Section("closed-form", "In closed form", (e("p", text), e("table", e("tbody", rows))))


Floats = NDArray[np.float64]
SMALLEST, LARGEST = 1e-100, 1e100
Space = Literal["line", "plane", "none"]


@dataclass(frozen=True)
class View:
    """A network model as floats: f(x) = sum over neurons with gate.x > 0 of slope.x.

    For ReLU gate = w and slope = xi w. For gated ReLU the slope is w and the gate is the listed witness of the
    neuron's pattern. `features` are the d - 1 or d columns that are not the bias. `everywhere`: theta is feasible for
    every direction of a neuron, as it is over all patterns and without delta.
    """

    Z: Floats
    y: Floats
    fit: Floats
    theta: Floats
    lam: float
    gates: Floats
    slopes: Floats
    names: tuple[str, ...]
    target: str
    bias: bool
    gated: bool = False
    everywhere: bool = True

    @property
    def features(self) -> int:
        """How many columns are not the bias."""
        return int(self.Z.shape[1]) - self.bias

    @property
    def space(self) -> Space:
        """Where the inputs live, as far as that can be drawn."""
        return {1: "line", 2: "plane"}.get(self.features, "none")  # type: ignore[return-value]

    def inputs(self) -> Floats:
        """The data points without the bias."""
        return self.Z[:, : self.features]

    def affine(self, rows: Floats) -> tuple[Floats, Floats]:
        """Rows of weights as (linear part, constant part) on the features."""
        constant = rows[:, -1] if self.bias else np.zeros(len(rows))
        return rows[:, : self.features], constant


def view(facts: Facts, data: Dataset | None) -> View | None:
    """The floats of a network; None for direct problems, for numbers too large or small to draw, for gated networks on
    patterns that no gate has, for networks with free terms, which are more than their neurons, and for bags of rows,
    whose data points are no places."""
    problem = facts.problem
    known = problem.source
    if known is None or data is None or problem.free or data.bags is not EACH or data.targets > 1:
        return None
    try:
        neurons = facts.primal.neurons
        d, gated = len(known.Z[0]), problem.kind == "gated"
        gates = [_gate(problem, neuron) for neuron in neurons] if gated else [neuron.w for neuron in neurons]
        if any(gate is None for gate in gates):
            return None
        network = view_of(
            data,
            floats([facts.fit.center])[0],
            floats([gate for gate in gates if gate is not None]).reshape(-1, d),
            floats([[neuron.sign * x for x in neuron.w] for neuron in neurons]).reshape(-1, d),
            gated=gated,
        )
        y, theta = floats([problem.y, facts.dual.theta])
        return replace(network, y=y, theta=theta, lam=drawable(facts.lam), everywhere=problem.model != "cgl")
    except OverflowError:
        return None


def view_of(data: Dataset, fit: Floats, gates: Floats, slopes: Floats, *, gated: bool = False) -> View:
    """A network on its data, without a dual point; OverflowError if a number of these is too large, or not zero and too
    small."""
    Z, y = floats(data.Z).reshape(-1, data.d), floats([data.y])[0]
    named = (data.names, data.target, data.source.bias, gated)
    return View(Z, y, fit, np.zeros(data.n), 0.0, gates, slopes, *named)


def floats(rows: Iterable[Iterable[Fraction | int]]) -> Floats:
    """The rows as floats. OverflowError if a number is too large, or not zero and too small."""
    return np.array([[drawable(x) for x in row] for row in rows], dtype=np.float64)


def drawable(x: Fraction | int) -> float:
    """The nearest float; OverflowError outside 1e-100 to 1e100. (Below 1e-100 times that is zero: rounding dust.)"""
    value = float(x)
    if abs(value) > LARGEST:
        raise OverflowError("too large to draw")
    return value if abs(value) >= SMALLEST else 0.0


def _gate(problem: Problem, neuron: ExactNeuron) -> tuple[Fraction | int, ...] | None:
    """A vector that has the neuron's pattern: its witness, the gate that was given, or none."""
    return None if problem.patterned is None else problem.patterned.gate(neuron.pattern or "")


COLOURS = {Verdict.PROVED: "#1a9850", Verdict.REFUTED: "#d73027", Verdict.UNDECIDED: "#b8860b"}
CLOSE = "margin:0 0 .4em"
MOST_PICTURES = 6


def notebook(headline: str, text: str, page: str) -> str:
    """The sentence, the report as the terminal has it, and the pictures of a page."""
    return _box(headline, [e("pre", text.partition("\n\n")[2], style="white-space:pre-wrap"), *pictures(page)])


def notebook_check(report: CheckReport, page: str) -> str:
    """The same with the verdicts as a table."""
    facts, value = report.facts, report.facts.value
    found = count(len(facts.primal.neurons), "active group" if facts.problem.kind == "cgl" else "neuron")
    head = f"p* = {one_number(value.lower, value.upper, 12)}, {proved_to(value)}; λ = {short(facts.lam)}; {found}"
    return _box(report.headline, [e("p", head, style=CLOSE), verdict_table(report.results), *pictures(page)])


def verdict_table(results: Sequence[Result]) -> Element:
    """A table with its styles on its own elements; it takes the notebook's colours for text and paper."""
    rows = [
        e(
            "tr",
            e("td", str(r.verdict), style=f"text-align:left;font-weight:600;color:{COLOURS[r.verdict]}"),
            e("td", r.claim, style="text-align:left"),
            e("td", r.detail, style="text-align:left;white-space:normal"),
        )
        for r in results
    ]
    return e("table", e("tbody", rows), style="border-collapse:collapse;margin:0")


def pictures(page: str) -> list[Element]:
    """The pictures of a page, each an image that brings its own style, so that nothing leaks into the notebook."""
    found = re.findall(r"<figure[^>]*>(<svg .*?</svg>).*?<figcaption>(.*?)</figcaption></figure>", page, re.DOTALL)
    shown = []
    for svg, caption in found[:MOST_PICTURES]:
        head, _, body = svg.partition(">")
        text = f"{head}><style>{style()}</style>{body}"
        source = f"data:image/svg+xml;base64,{b64encode(text.encode()).decode()}"
        words = unescape(re.sub("<[^>]*>", "", caption))
        image = e("img", src=source, alt=words, style="max-width:100%;width:36em;background:#fdfdfb")
        shown.append(e("figure", image, e("figcaption", words, style="font-size:90%"), style="margin:.8em 0"))
    return shown


def _box(headline: str, body: Sequence[Element]) -> str:
    return fragment(e("div", e("p", e("strong", headline), style=CLOSE), list(body), style="max-width:60em"))
