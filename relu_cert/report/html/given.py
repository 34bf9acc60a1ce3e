"""The pages of `network` and of `solution`: what somebody found, beside the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from relu_cert.exact import rational, sqrt_upper
from relu_cert.figures import at_least, at_most, count, decimal, entries, one_number, scientific, short, upwards
from relu_cert.free import free_parts, free_text
from relu_cert.network.claims import STATEMENTS
from relu_cert.network.directions import network_facts
from relu_cert.prove.facts import Facts
from relu_cert.report.filters import directions
from relu_cert.report.html.check import OF_GROUPS, classes_table, free_sentence, verdict_section
from relu_cert.report.html.functions import function_figure
from relu_cert.report.html.neurons import neurons_chart
from relu_cert.report.html.page import (
    Head,
    Section,
    e,
    figures,
    fold,
    of_certificate,
    of_source,
    page,
    table,
    verify_section,
    view,
)
from relu_cert.report.html.svg import Decades, picture
from relu_cert.report.network import NetworkReport

MOST_NEURONS = 60
DECADES = 12  # what is nearer to the optimum than so many powers of ten below the farthest has no bar
ROW = 26.0


def network_page(report: NetworkReport) -> str:
    """The report of one run of network, as one HTML page."""
    other = _best(report, "an optimal one", "the best one found")
    alone, told = report.data.targets == 1, report.confusion
    sections = [
        verdict_section(report.results, STATEMENTS),
        Section("objective", "How far from the optimum", _objective(report)),
        Section("networks", f"The trained network and {other}", _networks(report)) if alone else None,
        Section("classes", "Class by class", classes_table(report.data, told, "the given network")) if told else None,
        Section("neurons", "Neuron by neuron", (_neurons(report) if alone else _vectors(report),)),
        Section("numbers", "Exact numbers", (_numbers(report),)),
        _verify(report),
    ]
    name = Path(report.trained.origin.path).name or report.trained.origin.format
    return page(name, _head(report), sections)


def _head(report: NetworkReport) -> Head:
    data, found = report.data, report.comparison.examination
    best = report.facts.value
    bias = ", the last one the bias" if data.source.bias else ""
    free = f", {free_text(report.conversion.free)} free of penalty" if report.conversion.free else ""
    free = ", with a decayed output bias" if report.conversion.decayed else free
    text = (
        f"A trained network of {count(report.trained.m, 'neuron')} on {report.name} "
        f"({count(data.n, 'point')}, {count(data.d, 'feature')}{bias}){free}, compared with the global optimum."
    )
    shown = [
        (
            f"objective {report.stage}",
            short(found.J, 14),
            "; ".join(filter(None, ("known exactly", report.own_objective))),
        ),
        ("optimal value p*", one_number(best.lower, best.upper, 10), _over(report)),
        ("above the optimum", at_most(max(found.J - best.lower, Fraction(0))), "at most"),
        ("λ", short(found.lam, 14), str(report.conversion.convention)),
    ]
    made = (f"{what.capitalize()}: {said}." for what, said in report.made)
    return Head(report.headline, text, shown, " ".join((report.conversion.text, *made)))


def _best(report: NetworkReport, proved: str, found: str) -> str:
    """What the best network that is known may be called: optimal where that is proved."""
    return proved if report.facts.value.reached else found


def _over(report: NetworkReport) -> str:
    """What the optimum is over."""
    return "over networks of any width" if report.facts.problem.unlisted else "over all patterns"


def _objective(report: NetworkReport) -> tuple[Element | None, ...]:
    found, comparison = report.comparison.examination, report.comparison
    rows = [
        (report.stage, found.J),
        ("with balanced neurons", found.P.upper),
        (f"pruned to {count(len(found.pruned.neurons), 'neuron')}", found.pruned_P.upper),
    ][: 3 if report.data.targets == 1 else 2]
    if comparison.own is not None:
        rows.append(("best over its own patterns", comparison.own.value.upper))
    rows.append((f"{_best(report, 'best', 'best one found')} {_over(report)}", report.facts.value.upper))
    lower = report.facts.value.lower
    away = [(name, value - lower) for name, value in rows[:-1]]
    cells = [(name, upwards(value, 15), at_most(max(value - lower, Fraction(0)))) for name, value in rows]
    header = ("network", "objective, rounded up", "above the optimum by at most")
    return figures(ladder_figure(away)), table(header, cells)


def ladder_figure(rows: list[tuple[str, Fraction]]) -> Element | None:
    """Proved distances from the optimum as bars on a logarithmic scale; what is too small to show has its number."""
    exponents = [_exponent(away) for _, away in rows if away > 0]
    if not exponents:
        return None
    last = max(ceil(max(exponents)), floor(min(exponents)) + 1)
    first = max(floor(min(exponents)) - 1, last - DECADES)
    left, bottom = 178.0, 8 + ROW * len(rows)
    axis = Decades(first, last, left, 22.0)
    marks = axis.marks(8.0, bottom, 15.0, 5)
    for i, (name, away) in enumerate(rows):
        y = 8 + ROW * i
        marks.append(e("text", name, x=left - 8, y=y + 17, cls="label end"))
        if away > 0 and _exponent(away) > first:
            width = axis.x(_exponent(away)) - left
            marks.append(e("rect", x=left, y=y + 5, width=width, height=ROW - 10, rx=2.0, cls="bar minus"))
        else:
            marks.append(e("text", at_most(max(away, Fraction(0))), x=left + 4, y=y + 17, cls="tick"))
    return picture(
        bottom + 24,
        "Distances from the optimum",
        "How far above the optimum each network is at most, proved, on a logarithmic scale.",
        marks,
    )


def _exponent(x: Fraction) -> float:
    """log10 of x > 0, also outside the range of floats, to the eye's precision."""
    mantissa, _, exponent = scientific(x, 4).partition("e")
    return int(exponent or 0) + log10(float(mantissa))


def _networks(report: NetworkReport) -> tuple[Element, ...]:
    found, best = report.comparison.examination, report.facts
    given = network_facts(best, found.neurons, best.value.gap)
    parts = [figures(*_pictures(given, report)), figures(*_pictures(best, report))]
    names = ("As trained (balanced)", _best(report, "The optimal network that was found", "The best network found"))
    free = best.problem.free
    given_free = (found.network.b2, found.network.skip or ())
    beside = [
        free_sentence(*terms) if free else None for terms in (given_free, free_parts(best.problem, best.primal.free))
    ]
    shown = [
        (e("h3", name), terms, body)
        for name, terms, body in zip(names, beside, parts, strict=True)
        if body is not None or terms is not None
    ]
    elements = tuple(one for one in chain.from_iterable(shown) if one is not None)
    return elements or (e("p", "Both networks are zero."),)


def _pictures(facts: Facts, report: NetworkReport) -> list[Element | None]:
    seen = view(facts, report.data)
    chart = neurons_chart(facts, report.data.names)
    return [chart] if seen is None else [function_figure(seen), chart]


def _neurons(report: NetworkReport) -> Element:
    found = report.comparison.examination
    rows = []
    heaviest = sorted(zip(found.neurons, report.comparison.excluded, strict=True), key=lambda one: -one[0].norm_squared)
    for i, (neuron, out) in enumerate(heaviest[:MOST_NEURONS]):
        excluded = "in no optimal network" if out else "not excluded"
        largest = max(map(abs, neuron.w))
        size = decimal(sqrt_upper(neuron.norm_squared, 64), 8)
        rows.append(
            (str(i + 1), "+" if neuron.sign > 0 else "−", size, entries([x / largest for x in neuron.w], 5), excluded)
        )
    body = table(("neuron", "sign", "size |w|", "direction", "its direction is"), rows)
    if len(found.neurons) > MOST_NEURONS:
        return e("div", body, e("p", f"The first {MOST_NEURONS} of {len(found.neurons)}.", cls="note"))
    return body if rows else e("p", "No neuron has a weight.")


def _vectors(report: NetworkReport) -> Element:
    """The neurons of several outputs, each with its vector of these."""
    found = sorted(report.neurons, key=lambda one: one.norm, reverse=True)
    rows = [
        (str(i + 1), decimal(one.norm, 8), *(entries(x, 5) for x in directions(one)))
        for i, one in enumerate(found[:MOST_NEURONS])
    ]
    return table(("neuron", "size |w||v|", "direction", "outputs"), rows) if rows else e("p", "No neuron has a weight.")


def _numbers(report: NetworkReport) -> Element:
    found, best = report.comparison.examination, report.facts.value
    rows = [
        ("λ", rational(found.lam)),
        (f"objective {report.stage}", rational(found.J)),
        ("balanced, lower bound", rational(found.P.lower)),
        ("balanced, upper bound", rational(found.P.upper)),
        ("lower bound on p*", rational(best.lower)),
        ("upper bound on p*", rational(best.upper)),
    ]
    return fold("Values", table((), rows, "exact"))


def _verify(report: NetworkReport) -> Section:
    origin = report.trained.origin
    network = ("network", origin.path or origin.format, origin.sha256)
    how = "An independent program re-derives the optimum and the network's distance from it in exact arithmetic:"
    files = [of_source(report.source), of_certificate("certificate", report), network]
    return verify_section(how, [report.recheck], files)


if TYPE_CHECKING:
    from relu_cert.results.solution import CertifiedSolution

MOST_ROWS = 200
GIVEN = "The given coefficients are optimal up to the relative gap asked for."


def solution_page(found: CertifiedSolution, commands: Sequence[str] = ()) -> str:
    """The report as one HTML page, with the commands that check its certificates again where these were written."""
    lasso, rows, best = found.lasso, found.rows(), found.optimum.objective
    lead = f"{count(lasso.n, 'row')}, {count(lasso.d, 'column')} in {count(len(lasso.groups), 'group')}; "
    shown = [
        ("objective", one_number(found.objective.lower, found.objective.upper, 10), "of the given coefficients"),
        ("optimal objective", one_number(best.lower, best.upper, 10), "proved"),
        ("above the optimum", at_most(found.distance.upper), f"at most; at least {at_least(found.distance.lower)}"),
        ("λ", short(found.facts.lam, 14), "of the plain problem"),
    ]
    cells = [(str(b), given, best, away) for b, given, best, away in rows[:MOST_ROWS]]
    more = f" The first {MOST_ROWS} of {len(rows)}." if len(rows) > MOST_ROWS else ""
    text = f"Groups with a coefficient that is not 0, in the given or in the optimal solution.{more}"
    compared = table(("group", "given", "optimal", "largest difference"), cells, "compact")
    how = "An independent program re-derives the objectives of these and of the best coefficients in exact arithmetic:"
    sections = [
        verdict_section(list(found.claims.values()), {"solution-optimal": GIVEN} | OF_GROUPS),
        Section("coefficients", "Coefficients", (e("p", text), compared)),
        verify_section(how, commands, ()) if commands else None,
    ]
    lead += "the coefficients that a solver found, compared with the optimum."
    return page("The given coefficients", Head(found.headline, lead, shown), sections)
