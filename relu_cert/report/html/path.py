"""The page of `path`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log10
from xml.etree.ElementTree import Element, tostring

from relu_cert.exact import Vector, rational, sqrt_upper
from relu_cert.figures import at_most, count, decimal, holds_on, lies_in
from relu_cert.path.curve import Breakpoint, Sample, samples
from relu_cert.path.pieces import PathPieces
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import LambdaMax
from relu_cert.report.headline import proved_share
from relu_cert.report.html.check import verdict_section
from relu_cert.report.html.page import (
    Head,
    Section,
    drawable,
    e,
    figures,
    fold,
    formula_section,
    of_source,
    page,
    re_derived,
    style,
    table,
    verify_section,
)
from relu_cert.report.html.path_figures import (
    Axis,
    angles_figure,
    levels,
    objective_figure,
    path_figure,
    stretches,
    tracks,
    values,
)
from relu_cert.report.path import PathReport, event

MOST_LISTED = 200


def path_page(report: PathReport) -> str:
    """The report of one run of path, as one HTML page."""
    sections = [
        verdict_section(report.results),
        Section("path", "The path", _pictures(report)),
        Section("breakpoints", "Breakpoints", _listed(BREAKPOINTS, _events(report))),
        *([formula_section(report.formulas.equations())] if report.exact else []),
        Section("gaps", "Gaps in the proof", _listed(GAPS, _gaps(report.cover))),
        Section("numbers", "Exact numbers", _numbers(report)),
        verify_section(re_derived("all of it"), [report.recheck], [of_source(report.source)] if report.data else []),
    ]
    return page(f"{report.name}: the path", _head(report), sections)


def path_section(problem: Problem, cover: PathPieces, largest: LambdaMax, names: Sequence[str]) -> Section | None:
    """The path as a part of another page."""
    points = tuple(samples(problem, cover))
    if not cover.pieces or not (pictures := path_pictures(cover, largest, points, problem.y, names)):
        return None
    drawn = figures(*pictures)
    text = f"On {_interval(cover.lo, cover.hi)}, {_covered(cover)}."
    return Section("path", "The path", (e("p", text), drawn))


def _head(report: PathReport) -> Head:
    cover, problem = report.cover, report.facts.problem
    kind = {"relu": "ReLU network", "gated": "gated ReLU network"}.get(problem.kind, "constrained group lasso")
    text = f"The optimal {kind} for {count(problem.n, 'point')} as λ changes; what is drawn is proved, piece by piece."
    widths = [len(sample.neurons) for sample in report.samples]
    root = sqrt_upper(report.largest.squared)
    shown = [
        ("from λ", decimal(cover.lo, 8), f"{decimal(cover.lo / root, 3)} λmax" if root else ""),
        ("to λ", decimal(cover.hi, 8), f"λmax ≈ {decimal(root, 6)}"),
        ("proved", _share(cover), f"of log λ, in {count(len(cover.pieces), 'piece')}"),
        ("breakpoints", str(len(report.breakpoints)), "each to a relative 1e-12"),
        ("width", f"{min(widths)} to {max(widths)}" if widths else "–", "where the network is unique"),
    ]
    return Head(report.headline, text, shown)


def _covered(cover: PathPieces) -> str:
    unique = sum(piece.unique for piece in cover.pieces)
    proved = f"the network is proved unique on {count(unique, 'piece')}" if cover.pieces else "nothing is proved"
    if unique < len(cover.pieces):
        largest = max(piece.dimension for piece in cover.pieces)
        least = f" of dimension up to {largest} or more" if largest else " or one network"
        proved += f", a set{least} on {count(len(cover.pieces) - unique, 'piece')}"
    return proved + (f"; {count(len(cover.gaps), 'gap')} left" if cover.gaps else ", without a gap")


def _share(cover: PathPieces) -> str:
    """How much of the interval is proved, by log lambda."""
    return f"{proved_share(cover)} %" if cover.gaps else "all"


def _pictures(report: PathReport) -> tuple[Element | None, ...]:
    drawn = _drawn(report, report.names)
    if report.cover.pieces and drawn:
        return (figures(*drawn), *_radius(report))
    return (e("p", "Nothing is proved on the interval, or its numbers cannot be drawn.", cls="note"),)


def _radius(report: PathReport) -> list[Element]:
    """How far the lines can be from the truth."""
    known = [sample.radius for sample in report.samples if sample.radius is not None]
    if not known:
        return []
    which = "Every point" if len(known) == len(report.samples) else f"{len(known):,} of {len(report.samples):,} points"
    text = f"{which} of the lines, in size and direction, is proved to be within {at_most(max(known))} of the truth."
    return [e("p", text, cls="note")]


def path_svg(report: PathReport) -> str | None:
    """The first picture of the page as a file of its own; None where nothing can be drawn."""
    first = next((one for one in _drawn(report, ()) if one is not None), None)
    if first is None:
        return None
    svg = first[0]
    svg.insert(0, e("metadata", "relu_cert"))
    svg.insert(1, e("style", style()))
    return tostring(svg, encoding="unicode") + "\n"


def _drawn(report: PathReport, names: Sequence[str]) -> list[Element | None]:
    y = report.facts.problem.y
    return path_pictures(report.cover, report.largest, report.samples, y, names, report.breakpoints)


def path_pictures(
    cover: PathPieces,
    largest: LambdaMax,
    points: Sequence[Sample],
    y: Vector,
    names: Sequence[str],
    breakpoints: tuple[Breakpoint, ...] = (),
) -> list[Element | None]:
    """The pictures; none where there is nothing to draw, or numbers are far outside the range of floats."""
    root = sqrt_upper(largest.squared)
    try:
        ends = [drawable(cover.lo), drawable(cover.hi), drawable(root)]
        found, steps, every = tracks(points, cover), levels(points, cover), values(cover, y)
    except (OverflowError, ValueError):
        return []
    if min(ends) <= 0.0 or not (steps or cover.gaps or cover.pieces):
        return []
    top = max(min(ends[1], 1.3 * ends[2]), 1.001 * ends[0])
    axis = Axis(log10(ends[0]), log10(top), stretches(cover, largest), breakpoints)
    neurons = path_figure(axis, found, steps) if points or cover.gaps else None
    return [neurons, objective_figure(axis, every), angles_figure(axis, found, names)]


BREAKPOINTS, GAPS = ("at λ", "event, as λ falls", "width"), ("λ", "relative width", "why")


def _events(report: PathReport) -> list[tuple[str, ...]]:
    return [(decimal(b.hi, 14), event(b), f"{b.above}→{b.below}") for b in report.breakpoints]


def _gaps(cover: PathPieces) -> list[tuple[str, ...]]:
    gaps = [(g, " to ".join(lies_in(g.lo, g.hi, 10))) for g in cover.gaps]
    return [(where, at_most((g.hi - g.lo) / g.hi), g.reason) for g, where in gaps]


def _listed(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> tuple[Element | None, ...]:
    """The first rows of a table, and how many there are; nothing where there are none."""
    if not rows:
        return ()
    cut = f"The first {MOST_LISTED} of {len(rows)}; all of them with --json."
    more = e("p", cut, cls="note") if len(rows) > MOST_LISTED else None
    return table(heads, rows[:MOST_LISTED], "compact"), more


def _numbers(report: PathReport) -> tuple[Element, ...]:
    cover = report.cover
    values = [("from", rational(cover.lo)), ("to", rational(cover.hi)), ("λmax²", rational(report.largest.squared))]
    folds = [fold("Interval", table((), values, "exact"))]
    if report.breakpoints:
        rows = [(rational(one.lo), rational(one.hi), one.kind) for one in report.breakpoints[:MOST_LISTED]]
        folds.append(fold("Breakpoints", table(("above", "at most", "event"), rows, "exact")))
    if cover.gaps:
        gaps = [(rational(gap.lo), rational(gap.hi)) for gap in cover.gaps[:MOST_LISTED]]
        folds.append(fold("Gaps", table(("from", "to"), gaps, "exact")))
    return tuple(folds)


def _interval(lo: Fraction, hi: Fraction) -> str:
    return " ≤ λ ≤ ".join(holds_on(lo, hi, 8))
