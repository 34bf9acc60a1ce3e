"""The short form of a report, for a notebook: verdicts and value in a box that styles nothing but itself."""

from __future__ import annotations

from relu_cert.claims.model import Verdict
from relu_cert.report.html.markup import e, fragment
from relu_cert.report.html.page import count
from relu_cert.report.outcome import Outcome
from relu_cert.report.text import at_most, decimal, short

COLOURS = {Verdict.PROVED: "#1a9850", Verdict.REFUTED: "#d73027", Verdict.UNDECIDED: "#b8860b"}


def notebook_table(outcome: Outcome) -> str:
    """A fragment of HTML with its styles on its own elements; it takes the notebook's colours for text and paper."""
    facts = outcome.facts
    value = facts.value
    gap = "exactly" if value.lower == value.upper else f"proved to a relative {at_most(value.relative_gap)}"
    found = count(len(facts.primal.neurons), "active group" if facts.problem.kind == "cgl" else "neuron")
    head = f"p* = {decimal(value.upper, 12)}, {gap}; λ = {short(facts.lam)}; {found}"
    rows = [
        e(
            "tr",
            e("td", str(r.verdict), style=f"text-align:left;font-weight:600;color:{COLOURS[r.verdict]}"),
            e("td", r.claim, style="text-align:left"),
            e("td", r.detail, style="text-align:left;white-space:normal"),
        )
        for r in outcome.results
    ]
    table = e("table", e("tbody", rows), style="border-collapse:collapse;margin:0")
    return fragment(
        e(
            "div",
            e("p", e("strong", outcome.headline), style="margin:0 0 .4em"),
            e("p", head, style="margin:0 0 .4em"),
            table,
            style="max-width:60em",
        )
    )
