"""The short form of a report, for a notebook: the sentence, the verdicts or the text, and the pictures of the page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from html import unescape
from xml.etree.ElementTree import Element

from relu_cert.claims.claim import Result, Verdict
from relu_cert.figures import count, one_number, short
from relu_cert.report.check import CheckReport
from relu_cert.report.html.page import e, fragment, style
from relu_cert.report.shown import proved_to

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
