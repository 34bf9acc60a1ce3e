"""The weights of the network: how heavy each neuron is, and which way it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from xml.etree.ElementTree import Element

from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.frame import WIDTH, drawing, short_name
from relu_cert.report.html.markup import e, number
from relu_cert.report.html.page import figure
from relu_cert.report.text import decimal

MOST_NEURONS = 40
MOST_FEATURES = 16
ROW = 22.0
STRIP_HEAD = 62.0
STRIP_MARGIN = 30.0  # at the right of the tiles, for the names that lean over it


@dataclass(frozen=True)
class _Bar:
    """One neuron as it is drawn: its size |w| and its direction w / max |w_j|."""

    label: str
    sign: str
    size: Fraction
    direction: tuple[float, ...]


def neurons_chart(facts: Facts, names: Sequence[str]) -> Element | None:
    """A bar for the size |w| of every neuron and a strip for its direction; the heaviest first."""
    neurons = heaviest_first(facts)
    if not neurons:
        return None
    bars = [_bar(facts, place, neuron) for place, neuron in enumerate(neurons[:MOST_NEURONS])]
    sizes = [float(bar.size / bars[0].size) for bar in bars]
    count = strip_length(facts, names)
    cell = min(26.0, 150.0 / count) if count else 0.0
    top = STRIP_HEAD if count else 8.0
    left, right = 40.0, (STRIP_MARGIN + count * cell + 10) if count else 12.0
    room = WIDTH - left - right - 62
    rows = []
    for i, (bar, size) in enumerate(zip(bars, sizes, strict=True)):
        y = top + i * ROW
        rows += [
            e("text", bar.label, x=left - 6, y=y + 15, cls="tick end"),
            e("rect", x=left, y=y + 3, width=max(1.0, room * size), height=ROW - 7, rx=2.0, cls=f"bar {bar.sign}"),
            e("text", decimal(bar.size, 4), x=left + max(1.0, room * size) + 5, y=y + 15, cls="tick"),
            *strip(bar.direction[:count], WIDTH - STRIP_MARGIN - count * cell, y, ROW, cell, names),
        ]
    svg = drawing(
        WIDTH,
        top + len(bars) * ROW + 6,
        "The size and direction of the neurons",
        strip_heads(names[:count], WIDTH - STRIP_MARGIN - count * cell, top, cell),
        e("g", rows),
    )
    rest = len(neurons) - len(bars)
    caption = "The size |w| of each neuron, which is its share of the penalty"
    caption += f" (the {MOST_NEURONS} heaviest of {len(neurons)})" if rest else ""
    caption += "; at the right its direction, feature by feature." if count else "."
    if facts.problem.kind == "cgl":
        caption = "The size |w_b| of each active group."
    return figure(svg, caption)


def heaviest_first(facts: Facts) -> list[ExactNeuron]:
    """The neurons in the order in which a page numbers them."""
    return sorted(facts.primal.neurons, key=lambda neuron: -neuron.norm)


def neuron_name(facts: Facts, place: int, neuron: ExactNeuron) -> str:
    """The name of a neuron on the page: its sign and number from 1, or its block."""
    if facts.problem.kind == "cgl":
        return f"b{neuron.block}"
    return str(place + 1) if facts.problem.kind == "gated" else f"{'+' if neuron.sign > 0 else '−'} {place + 1}"


def _bar(facts: Facts, place: int, neuron: ExactNeuron) -> _Bar:
    largest = max(abs(x) for x in neuron.w)
    direction = tuple(float(x / largest) for x in neuron.w)
    return _Bar(neuron_name(facts, place, neuron), "plus" if neuron.sign > 0 else "minus", neuron.norm, direction)


def strip_length(facts: Facts, names: Sequence[str]) -> int:
    """How many features a strip of directions shows: all, or none where they are too many or have no names."""
    return len(names) if facts.problem.kind != "cgl" and len(names) <= MOST_FEATURES else 0


def strip(
    direction: Sequence[float], x: float, y: float, row: float, cell: float, names: Sequence[str]
) -> list[Element]:
    """A direction as a row of tiles, warm where it is positive, strong where it is large."""
    largest = max((abs(value) for value in direction), default=0.0) or 1.0
    found = []
    for j, value in enumerate(direction):
        title = e("title", f"{names[j]}: {value / largest:.4g}")
        opacity = str(round(0.06 + 0.84 * abs(value) / largest, 3))
        kind = "warm" if value >= 0 else "cold"
        place = {"x": x + j * cell, "y": y + 1, "width": cell - 1, "height": row - 3}
        found.append(e("rect", title, cls=f"{kind} tile", fill_opacity=opacity, **place))
    return found


def strip_heads(names: Sequence[str], x: float, y: float, cell: float) -> Element:
    """The names of the features, aslant over the tiles."""
    return e(
        "g",
        [
            e(
                "text",
                short_name(name, 8),
                cls="tick",
                transform=f"translate({number(x + (j + 0.35) * cell)} {number(y - 4)}) rotate(-55)",
            )
            for j, name in enumerate(names)
        ],
    )
