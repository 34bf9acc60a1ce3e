"""Filters as pictures: grids of squares, warm where an entry is positive, cold where it is negative."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from xml.etree.ElementTree import Element

from relu_cert.data.windows import Windows
from relu_cert.figures import decimal
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.neurons import heaviest_first, neuron_name
from relu_cert.report.html.page import e
from relu_cert.report.html.svg import WIDTH, picture, tint, told

MOST_FILTERS = 24
ROOM, SPACE, HEAD = 64.0, 14.0, 18.0  # of a filter, between two, and for its name


def filters_figure(facts: Facts, windows: Windows) -> Element | None:
    """All filters, the heaviest first: a grid of squares for each, channel beside channel."""
    shown = heaviest_first(facts)[:MOST_FILTERS]
    if not shown:
        return None
    rows, columns = (1, *windows.kernel)[-2:]
    across = columns * windows.channels + (windows.channels - 1)
    cell = min(ROOM / rows, (WIDTH - 16) / across, 20.0)
    wide = max(across * cell, 52.0) + SPACE
    each = max(1, int((WIDTH - 8) // wide))
    high = rows * cell + HEAD + SPACE
    drawn = []
    for i, neuron in enumerate(shown):
        x, y = 8 + (i % each) * wide, 6 + (i // each) * high
        name = f"{neuron_name(facts, i, neuron)}  {decimal(neuron.norm, 3)}"
        drawn.append(e("text", name, x=x, y=y + 11, cls="tick"))
        drawn += _squares(neuron, windows, x, y + HEAD, cell)
    title = "The filters"
    caption = "The filters, the heaviest first, each with its sign, its number and its size |w|"
    caption += "; channels side by side" if windows.channels > 1 else ""
    caption += "; warm squares are positive, cold ones negative."
    if len(facts.primal.neurons) > len(shown):
        caption += f" The first {len(shown)} of {len(facts.primal.neurons)}."
    return picture(6 + ceil(len(shown) / each) * high, title, caption, drawn)


def _squares(neuron: ExactNeuron, windows: Windows, x: float, y: float, cell: float) -> Iterator[Element]:
    """The entries of one filter; its bias, if there is one, has no square."""
    entries = [float(value) for value in neuron.w[: windows.entries]]
    largest = max(map(abs, entries), default=0.0) or 1.0
    rows, columns = (1, *windows.kernel)[-2:]
    for at, (value, name) in enumerate(zip(entries, windows.names, strict=True)):
        channel, place = divmod(at, rows * columns)
        row, column = divmod(place, columns)
        left = x + (channel * (columns + 1) + column) * cell
        square = {"x": left, "y": y + row * cell, "width": cell - 1, "height": cell - 1}
        colour = tint(value, 0.06 + 0.84 * abs(value) / largest, "tile")
        yield e("rect", told(f"{name}: {value / largest:.4g}"), **colour, **square)
