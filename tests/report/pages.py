"""Pages for tests, and a strict reader of them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from relu_cert import examples
from relu_cert.claims import decide
from relu_cert.data import read_csv_bytes
from relu_cert.driver.optimum import DEFAULT_GAP, IntervalChoice, LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.problem import read_problem_json
from relu_cert.report.check import CheckReport
from relu_cert.report.progress import Progress

NUMBER = re.compile(r'<span class="number">([^<]*)</span>')
VOID = {"meta", "br", "hr", "img", "link", "input"}
LOADING = {
    "script",
    "link",
    "iframe",
    "object",
    "embed",
    "img",
    "image",
    "video",
    "audio",
    "source",
    "use",
    "base",
    "form",
}


@cache
def example_outcome(name: str, lam: str | None = None, interval: tuple[str, str] | None = None) -> CheckReport:
    """The outcome of check on a bundled example, for a problem in JSON also with a path."""
    example = examples.describe(name)
    path = examples.path(name)
    choice = LambdaChoice(value=Fraction(lam) if lam else example.lam)
    if path.suffix == ".json":
        problem, source = read_problem_json(path)
        with Progress(quiet=True) as stages:
            along = IntervalChoice(*map(Fraction, interval)) if interval else None
            facts = find_facts(problem, choice, DEFAULT_GAP, stages, along)
        return CheckReport(source, None, decide(facts), Path("out.cert.json"), facts)
    return text_outcome(path.read_text(encoding="utf-8"), path.name, choice, example.model, bias=example.bias)


def text_outcome(
    text: str, name: str = "data.csv", choice: LambdaChoice | None = None, model: str = "relu", *, bias: bool = False
) -> CheckReport:
    """The outcome of check on the text of a CSV file."""
    data = read_csv_bytes(text.encode(), name, bias=bias)
    with Progress(quiet=True) as stages:
        problem = network_problem(data, "gated" if model == "gated" else "relu", stages, listed=False)
        facts = find_facts(problem, choice or LambdaChoice(), DEFAULT_GAP, stages)
    return CheckReport(data.source, data, decide(facts), Path("out.cert.json"), facts)


@dataclass
class Page(HTMLParser):
    """A page as it was read: every tag must be closed where it should be."""

    text: str
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    open_tags: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(NUMBER.sub(r"\1", self.text))  # it is a word of its sentence
        self.close()
        assert self.open_tags == [], f"left open: {self.open_tags}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(value is not None for _, value in attrs), (tag, attrs)
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> means an open tag in HTML")

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags and self.open_tags[-1] == tag, f"</{tag}> closes {self.open_tags[-3:]}"
        self.open_tags.pop()

    def handle_data(self, data: str) -> None:
        (self.styles if "style" in self.open_tags else self.words).append(data)

    @property
    def prose(self) -> str:
        """All text of the page, without the style sheet."""
        return " ".join(" ".join(self.words).split())

    def drawings(self) -> list[ET.Element]:
        """Every SVG of the page, read as XML."""
        found, rest = [], self.text
        while (start := rest.find("<svg")) >= 0:
            stop = rest.index("</svg>", start) + len("</svg>")
            found.append(ET.fromstring(rest[start:stop]))
            rest = rest[stop:]
        return found


def assert_loads_nothing(page: Page) -> None:
    """No tag that loads or runs, no handler, no address anywhere but the name of the SVG language."""
    assert not LOADING & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not [a for a in attributes if a.startswith("on") or a in ("src", "href", "style", "srcset")], tag
        for a, value in attributes.items():
            assert "://" not in value or (tag, a) == ("svg", "xmlns")
    assert not re.search(r"url\(|@import|expression|</", "".join(page.styles))
    policy = [a for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert policy and policy[0]["content"].startswith("default-src 'none'")
