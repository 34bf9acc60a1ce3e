"""The weights of the network: how heavy each neuron is, and which way it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from xml.etree.ElementTree import Element

from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.frame import WIDTH, drawing, short_name
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import figure
from relu_cert.report.html.view import drawable
from relu_cert.report.text import decimal

MOST_NEURONS = 40
MOST_FEATURES = 16
ROW = 22.0


@dataclass(frozen=True)
class _Bar:
    """One neuron as it is drawn: its size |w| and its direction w / max |w_j|."""

    label: str
    sign: str
    size: Fraction
    direction: tuple[float, ...]


def neurons_chart(facts: Facts, names: Sequence[str]) -> Element | None:
    """A bar for the size |w| of every neuron and a strip for its direction; the heaviest first."""
    neurons = sorted(enumerate(facts.primal.neurons), key=lambda pair: -pair[1].norm)
    if not neurons:
        return None
    try:
        bars = [_bar(facts, number, neuron) for number, neuron in neurons[:MOST_NEURONS]]
        largest = drawable(neurons[0][1].norm)
        sizes = [drawable(bar.size) / largest for bar in bars]
    except OverflowError:
        return None
    strip = max(len(bar.direction) for bar in bars)
    strip = strip if strip <= MOST_FEATURES and facts.problem.network is not None else 0
    cell = min(26.0, 150.0 / strip) if strip else 0.0
    top = 52.0 if strip else 8.0
    left, right = 34.0, 12.0 + strip * cell + (10 if strip else 0)
    room = WIDTH - left - right - 62
    rows = []
    for i, (bar, size) in enumerate(zip(bars, sizes, strict=True)):
        y = top + i * ROW
        rows += [
            e("text", bar.label, x=left - 6, y=y + 15, cls="tick end"),
            e("rect", x=left, y=y + 3, width=max(1.0, room * size), height=ROW - 7, rx=2.0, cls=f"bar {bar.sign}"),
            e("text", decimal(bar.size, 4), x=left + max(1.0, room * size) + 5, y=y + 15, cls="tick"),
            *_strip(bar, WIDTH - 12 - strip * cell, y, cell, strip, names),
        ]
    heads = [
        e(
            "text",
            short_name(name, 9),
            cls="tick",
            transform=f"translate({WIDTH - 12 - (strip - j - 0.35) * cell:.1f} {top - 4:.1f}) rotate(-40)",
        )
        for j, name in enumerate(names[:strip])
    ]
    svg = drawing(WIDTH, top + len(bars) * ROW + 6, "The size and direction of the neurons", e("g", heads), e("g", rows))
    rest = len(neurons) - len(bars)
    caption = "The size |w| of each neuron, which is its share of the penalty"
    caption += f" (the {MOST_NEURONS} heaviest of {len(neurons)})" if rest else ""
    caption += "; at the right its direction, feature by feature." if strip else "."
    if facts.problem.network is None:
        caption = "The size |w_b| of each active group."
    return figure(svg, caption)


def _bar(facts: Facts, number: int, neuron: ExactNeuron) -> _Bar:
    largest = max(abs(x) for x in neuron.w)
    label = f"b{neuron.block}" if neuron.block is not None else f"{'+' if neuron.sign > 0 else '−'} {number + 1}"
    if facts.problem.model == "gated":
        label = str(number + 1)
    direction = tuple(float(x / largest) for x in neuron.w)
    return _Bar(label, "plus" if neuron.sign > 0 else "minus", neuron.norm, direction)


def _strip(bar: _Bar, x: float, y: float, cell: float, count: int, names: Sequence[str]) -> list[Element]:
    found = []
    for j, value in enumerate(bar.direction[:count]):
        title = e("title", f"{names[j]}: {value:.4g}")
        opacity = str(round(0.06 + 0.84 * abs(value), 3))
        kind = "warm" if value >= 0 else "cold"
        found.append(
            e("rect", title, x=x + j * cell, y=y + 1, width=cell - 1, height=ROW - 3, cls=f"{kind} tile", fill_opacity=opacity)
        )
    return found
