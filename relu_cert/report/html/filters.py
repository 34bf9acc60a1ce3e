"""The filters of a convolutional network as pictures: grids of squares, or little curves where they slide over signals;
and what they say of two images or signals of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import Dataset
from relu_cert.data.windows import Windows
from relu_cert.figures import decimal
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.neurons import heaviest_first, neuron_name
from relu_cert.report.html.page import Section, e, number
from relu_cert.report.html.svg import WIDTH, Point, path, picture, tint, tooltip

Floats = NDArray[np.float64]
MOST_FILTERS, MOST_MAPS = 24, 6
ROOM, SPACE, HEAD = 64.0, 14.0, 18.0  # of a filter, between two, and for its name
CURVED = 3  # entries of a filter of signals from which on it is a curve
MOST_SQUARES = 128 * 128  # of an image that is shown
LEVELS = 8  # of grey
NEURON = re.compile(r"\bneuron(?=s?\b)")


def filters_figure(facts: Facts, windows: Windows) -> Element | None:
    """All filters, the heaviest first: squares or a curve for each, channel beside channel."""
    shown = heaviest_first(facts)[:MOST_FILTERS]
    if not shown:
        return None
    curved = len(windows.kernel) == 1 and windows.kernel[0] >= CURVED
    rows, columns = (1, *windows.kernel)[-2:]
    across = columns * windows.channels + (windows.channels - 1)
    cell = min(ROOM / rows, (WIDTH - 16) / across, 20.0)
    wide = max(across * cell, 52.0) + SPACE
    each = max(1, int((WIDTH - 8) // wide))
    tall = ROOM / 2 if curved else rows * cell
    drawn = []
    for i, neuron in enumerate(shown):
        x, y = 8 + (i % each) * wide, 6 + (i // each) * (tall + HEAD + SPACE)
        drawn.append(_name(f"{neuron_name(facts, i, neuron)}  {decimal(neuron.norm, 3)}", x, y))
        drawn += (_curves if curved else _squares)(neuron, windows, x, y + HEAD, cell)
    caption = "The filters, the heaviest first, each with its sign, its number and its size |w|"
    caption += "; channels side by side" if windows.channels > 1 else ""
    caption += "; the line is 0." if curved else "; warm squares are positive, cold ones negative."
    if len(facts.primal.neurons) > len(shown):
        caption += f" The first {len(shown)} of {len(facts.primal.neurons)}."
    return picture(6 + ceil(len(shown) / each) * (tall + HEAD + SPACE), "The filters", caption, drawn)


def responses_figure(facts: Facts, windows: Windows, data: Dataset | None) -> Element | None:
    """What the heaviest filters say of two images or signals, window by window; None where there is none to show."""
    shown = heaviest_first(facts)[:MOST_MAPS]
    if data is None or not data.samples or not shown or len(data.samples[0][1]) > MOST_SQUARES:
        return None
    wide = (WIDTH - 8) / (len(shown) + 1)
    side, rows = wide - 6, []
    y = 6.0
    for line, raw in data.samples:
        image = np.array([float(x) for x in raw])
        sizes = windows.sizes(len(image))
        tall = side * sizes[0] / sizes[1] if len(sizes) == 2 else ROOM / 2
        target = ", ".join(decimal(x, 3) for x in data.y[data.targets * line : data.targets * (line + 1)][:3])
        rows.append(_name(f"{line + 1}: {target}", 8, y))
        rows += _map(image.reshape(windows.channels, *sizes).mean(axis=0), 8, y + HEAD, side, tall)
        for i, (neuron, said) in enumerate(zip(shown, responses(shown, windows, data, image), strict=True)):
            x = 8 + (i + 1) * wide
            rows.append(_name(neuron_name(facts, i, neuron), x, y))
            rows += _map(said, x, y + HEAD, side, tall)
        y += tall + HEAD + SPACE
    what = "images" if windows.size else "signals"
    mean = " (the mean of its channels)" if windows.channels > 1 else ""
    caption = f"Two {what} of the data, each with its number and its target{mean}, and what the filters say of it"
    caption += ", window by window: "
    caption += "the stronger the darker" if windows.size else "the line is 0"
    caption += ", each picture on a scale of its own"
    if len(facts.primal.neurons) > len(shown):
        caption += f". The first {len(shown)} of {len(facts.primal.neurons)} filters"
    return picture(y, f"What the filters say of two {what}", f"{caption}.", rows)


def responses(neurons: Sequence[ExactNeuron], windows: Windows, data: Dataset, image: Floats) -> list[Floats]:
    """max(t, s t) of every filter at every window of an image, in the shape of the places of the windows."""
    sizes = windows.sizes(len(image))
    places = [
        (size + 2 * windows.padding - kernel) // windows.stride + 1
        for size, kernel in zip(sizes, windows.kernel, strict=True)
    ]
    seen, found = windows.of(image[None], 0)[0], []
    for neuron in neurons:
        w = np.array([float(x) for x in neuron.w])
        heights = seen @ w[: windows.entries] + float(w[windows.entries :].sum())
        found.append(data.source.bent(heights).reshape(places))
    return found


def say_filters(sections: Sequence[Section | None]) -> Sequence[Section | None]:
    """Sections whose texts speak of filters where they speak of neurons."""
    parts = (part for section in sections if section is not None for part in section.shown)
    for element in chain.from_iterable(part.iter() for part in parts):
        element.text, element.tail = (text and NEURON.sub("filter", text) for text in (element.text, element.tail))
    return sections


def _name(text: str, x: float, y: float) -> Element:
    return e("text", text, x=x, y=y + 11, cls="tick")


def _map(values: Floats, x: float, y: float, wide: float, tall: float) -> Iterator[Element]:
    """An image as grey squares, a few levels of grey with one path each; a signal as a curve."""
    frame = {"x": x, "y": y, "width": wide, "height": tall}
    if values.ndim == 1:
        yield from _curve(values, x, y, wide, tall)
        return
    yield e("rect", cls="cell", fill="none", **frame)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    level = np.ceil(LEVELS * np.abs(values) / largest).astype(int) * np.where(values < 0.0, -1, 1)
    h, w = tall / values.shape[0], wide / values.shape[1]
    for one in sorted(set(level.ravel().tolist()) - {0}):
        squares = (
            f"M{number(x + b * w)} {number(y + a * h)}h{number(w)}v{number(h)}h{number(-w)}z"
            for a, b in np.argwhere(level == one).tolist()
        )
        colour = {"cls": "grey tile"} if one > 0 else {"cls": "cold tile"}
        yield e("path", d="".join(squares), fill_opacity=str(round(abs(one) / LEVELS, 3)), **colour)


def _curve(values: Floats, x: float, y: float, wide: float, tall: float) -> Iterator[Element]:
    """A curve, and the line of 0, each in its box."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    scale = tall / ((high - low) or 1.0)
    step = wide / max(len(values) - 1, 1)
    points: list[Point] = [(x + k * step, y + (high - float(v)) * scale) for k, v in enumerate(values)]
    zero = y + high * scale
    yield e("path", d=path([(x, zero), (x + wide, zero)]), cls="kink", fill="none")
    yield e("path", d=path(points), cls="curve", fill="none")


def _curves(neuron: ExactNeuron, windows: Windows, x: float, y: float, cell: float) -> Iterator[Element]:
    """The entries of one filter of signals, a curve for each channel."""
    entries = np.array([float(value) for value in neuron.w[: windows.entries]]).reshape(windows.channels, -1)
    for channel, values in enumerate(entries):
        columns = len(values)
        yield from _curve(values, x + channel * (columns + 1) * cell, y, (columns - 1) * cell, ROOM / 2)


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
        yield e("rect", tooltip(f"{name}: {value / largest:.4g}"), **colour, **square)
