"""The page of `check` for several outputs: verdicts first, then the network, its classes, and how to verify."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relu_cert.exact import sqrt_lower
from relu_cert.report.html.check import verdict_section
from relu_cert.report.html.page import (
    Head,
    Section,
    e,
    of_certificate,
    of_source,
    page,
    re_derived,
    table,
    verify_section,
)
from relu_cert.report.text import at_most, count, decimal, downwards, entries, one_number, short

if TYPE_CHECKING:
    from relu_cert.outputs.report import OutputsReport

MINIMISED = "minimised: 1/2 |sum_j (Zw_j)_+ v_j' - Y|² + λ/2 sum_j (|w_j|² + |v_j|²)"


def outputs_page(report: OutputsReport) -> str:
    """The report as one HTML page."""
    facts, data = report.found, report.several
    value = facts.value
    text = f"A two-layer ReLU network for {count(len(data.Z), 'point')} with {count(len(data.names), 'feature')}"
    numbers = [
        ("optimal value p*", one_number(value.lower, value.upper, 10), "proved"),
        ("relative gap", at_most(value.relative_gap) if value.relative_gap else "0", "an upper bound"),
        ("width", str(len(facts.neurons)), "neurons of this network"),
        ("λ", short(facts.lam, 14), f"λmax ≥ {downwards(sqrt_lower(facts.top), 6)}"),
    ]
    lead = f"{text} and {count(len(data.outputs), 'output')}; what is known about it is proved."
    files = [of_source(report.source), of_certificate("certificate", report)]
    sections = [
        verdict_section(report.results),
        _network(report),
        _classes(report),
        verify_section(re_derived("every verdict"), [report.recheck], files),
    ]
    return page(report.name, Head(report.headline, lead, numbers, MINIMISED), sections)


def _network(report: OutputsReport) -> Section:
    from relu_cert.outputs.report import heaviest_first, parts

    rows = []
    for neuron in heaviest_first(report.found.neurons):
        weight, u, v = parts(neuron)
        rows.append([decimal(weight, 8), entries(u, 5), entries(v, 5)])
    names = f"Features: {', '.join(report.several.names)}. Outputs: {', '.join(report.several.outputs)}."
    head = ["|w||v|", "direction of w", "direction of v, the outputs"]
    return Section("network", "The network", [e("p", names), table(head, rows)])


def _classes(report: OutputsReport) -> Section | None:
    counts = report.confusion
    if counts is None:
        return None
    names = report.several.outputs
    rows = [[name, *map(str, row)] for name, row in zip(names, counts, strict=True)]
    said = e("p", "Rows are the true classes, columns those with the largest output of the network found.")
    return Section("classes", "Classes", [said, table(["", *names], rows)])
