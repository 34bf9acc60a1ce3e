"""The neurons of a network: how heavy each is, which way it looks, and the dual constraint where they touch it.

The filters of a convolutional network as pictures: grids of squares, or little curves where they slide over signals;
and what they say of two images or signals of the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import atan2, ceil, cos, pi, sin, tau
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import Dataset
from relu_cert.data.windows import Windows
from relu_cert.figures import decimal
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.page import Section, View, e, number
from relu_cert.report.html.svg import WIDTH, Frame, Point, pad_range, path, picture, short_name, tint, tone, tooltip
from relu_cert.report.optimal_set import TiedNeuron

MOST_NEURONS = 40
MOST_FEATURES = 16
ROW = 22.0
STRIP_HEAD = 62.0
STRIP_MARGIN = 30.0  # at the right of the tiles, for the names that lean over it


@dataclass(frozen=True)
class Strips:
    """Directions as rows of tiles at the right of a drawing, below the names of the features; none without names."""

    names: Sequence[str]

    @property
    def cell(self) -> float:
        """How wide a tile is."""
        return min(26.0, 150.0 / len(self.names)) if self.names else 0.0

    @property
    def x(self) -> float:
        """Where they begin."""
        return WIDTH - STRIP_MARGIN - len(self.names) * self.cell

    @property
    def top(self) -> float:
        """Where the first row begins."""
        return STRIP_HEAD if self.names else 8.0

    def heads(self) -> Element:
        """The names of the features, aslant over the tiles."""
        found = []
        for j, name in enumerate(self.names):
            place = f"translate({number(self.x + (j + 0.35) * self.cell)} {number(self.top - 4)}) rotate(-55)"
            found.append(e("text", short_name(name, 8), cls="tick", transform=place))
        return e("g", found)

    def row(self, direction: Sequence[float], y: float, height: float) -> list[Element]:
        """A direction, warm where it is positive, strong where it is large."""
        shown = direction[: len(self.names)]
        largest = max((abs(value) for value in shown), default=0.0) or 1.0
        found = []
        for j, value in enumerate(shown):
            place = {"x": self.x + j * self.cell, "y": y + 1, "width": self.cell - 1, "height": height - 3}
            title = tooltip(f"{self.names[j]}: {value / largest:.4g}")
            found.append(e("rect", title, **tint(value, 0.06 + 0.84 * abs(value) / largest, "tile"), **place))
        return found


def strips(facts: Facts, names: Sequence[str]) -> Strips:
    """The features of a network: all, or none where they are too many or have no names."""
    return Strips(names if facts.problem.kind != "cgl" and len(names) <= MOST_FEATURES else ())


def neurons_chart(facts: Facts, names: Sequence[str]) -> Element | None:
    """A bar for the size |w| of every neuron and a strip for its direction; the heaviest first."""
    neurons = heaviest_first(facts)
    if not neurons:
        return None
    tiles, left = strips(facts, names), 40.0
    room = (tiles.x - 10 if tiles.names else WIDTH - 12) - left - 62
    rows = []
    for i, neuron in enumerate(neurons[:MOST_NEURONS]):
        y, length = tiles.top + i * ROW, max(1.0, room * float(neuron.norm / neurons[0].norm))
        largest = max(abs(x) for x in neuron.w)
        rows += [
            e("text", neuron_name(facts, i, neuron), x=left - 6, y=y + 15, cls="tick end"),
            e("rect", x=left, y=y + 3, width=length, height=ROW - 7, rx=2.0, cls=f"bar {tone(neuron.sign)}"),
            e("text", decimal(neuron.norm, 4), x=left + length + 5, y=y + 15, cls="tick"),
            *tiles.row([float(x / largest) for x in neuron.w], y, ROW),
        ]
    shown = min(len(neurons), MOST_NEURONS)
    caption = "The size |w| of each neuron, which is its share of the penalty"
    caption += f" (the {MOST_NEURONS} heaviest of {len(neurons)})" if len(neurons) > shown else ""
    caption += "; at the right its direction, feature by feature." if tiles.names else "."
    if facts.problem.kind == "cgl":
        caption = "The size |w_b| of each active group."
    title = "The size and direction of the neurons"
    return picture(tiles.top + shown * ROW + 6, title, caption, tiles.heads(), rows)


def heaviest_first(facts: Facts) -> list[ExactNeuron]:
    """The neurons in the order in which a page numbers them."""
    return sorted(facts.primal.neurons, key=lambda neuron: -neuron.norm)


def neuron_name(facts: Facts, place: int, neuron: ExactNeuron) -> str:
    """The name of a neuron on the page: its sign and number from 1, or its block."""
    if facts.problem.kind == "cgl":
        return f"b{neuron.block}"
    return (
        str(place + 1)
        if facts.problem.kind == "gated" or neuron.v
        else f"{'+' if neuron.sign > 0 else '−'} {place + 1}"
    )


TOUCHING = (
    "The neurons of an optimal network can only sit where the curve touches a limit: a ring at every such place, a dot "
    "in it for the neurons of this network. "
)
MOST_ROWS = 120
SAMPLES = 360


def dual_figure(view: View, tied: Sequence[TiedNeuron] = ()) -> Element | None:
    """theta.(Zu)_+ against the angle of u, between -lambda and lambda; ReLU in two dimensions only. `tied` are all
    directions where the curve touches a limit."""
    if view.gated or not view.everywhere or view.Z.shape[1] != 2 or len(view.y) > MOST_ROWS:
        return None
    borders = _borders(view)
    angles = sorted({*(-pi + tau * i / SAMPLES for i in range(SAMPLES + 1)), *borders})
    heights = [_height(view, a) for a in angles]
    frame = Frame(-180.0, 180.0, *pad_range([-view.lam, view.lam, *heights], 0.12))
    marks = [(one.direction, float(one.sign), 8.0, "ring", "{}: a neuron that ties") for one in tied]
    pairs = zip(view.gates, view.slopes, strict=True)
    marks += [(gate, float(gate @ slope), 5.0, "mark", "neuron at {}") for gate, slope in pairs]
    dots = []
    for direction, sign, radius, kind, title in marks:
        a = atan2(float(direction[1]), float(direction[0]))
        place = (a * 180 / pi, _height(view, a))
        dots.append(frame.dot(place, radius, f"{kind} {tone(sign)}", title.format(f"{place[0]:.4g}°")))
    limits = [(view.lam, "λ", -6.0), (-view.lam, "−λ", 15.0)]
    caption = (
        "What proves the lower bound: the dual point θ, over all directions u of a neuron, stays between −λ and λ. "
        + (TOUCHING if tied else "Dots: the neurons of this network. ")
        + "Grey lines: the "
        f"{len(borders)} borders between activation patterns."
    )
    return frame.picture(
        "The dual point over all directions",
        caption,
        frame.axes(
            f"direction u: angle from {view.names[0]} towards {view.names[1]}",
            "θ·(Zu)₊",
            xticks=[(float(d), f"{d}°") for d in range(-180, 181, 60)],
        ),
        [frame.upwards(b * 180 / pi, "cell") for b in borders],
        [frame.line([(-180.0, v), (180.0, v)], "limit") for v, _, _ in limits],
        [e("text", t, x=WIDTH - 16, y=frame.y(v) + up, cls="label end") for v, t, up in limits],
        frame.line(((a * 180 / pi, h) for a, h in zip(angles, heights, strict=True)), "curve"),
        dots,
    )


def fan_figure(view: View) -> Element | None:
    """The circle of directions, cut into activation patterns, with the neurons as arrows."""
    if view.Z.shape[1] != 2 or len(view.y) > MOST_ROWS or not len(view.gates):
        return None
    borders = _borders(view)
    size = 340.0
    middle, radius = (WIDTH / 2, size / 2), size / 2 - 22

    def at(angle: float, share: float) -> Point:
        return middle[0] + radius * share * cos(angle), middle[1] - radius * share * sin(angle)

    sectors = []
    for i, a in enumerate(borders):
        b = borders[(i + 1) % len(borders)] + (tau if i + 1 == len(borders) else 0.0)
        arc = [at(a + (b - a) * j / 24, 1.0) for j in range(25)]
        sectors.append(e("path", d=path([middle, *arc], closed=True), cls="sector odd" if i % 2 else "sector"))
    lengths = np.linalg.norm(view.slopes, axis=1)
    largest = float(lengths.max())
    arrows = []
    for gate, slope, length in sorted(zip(view.gates, view.slopes, lengths, strict=True), key=lambda t: -t[2]):
        a = atan2(float(gate[1]), float(gate[0]))
        sign = tone(1.0 if view.gated else float(gate @ slope))
        (x, y), (dx, dy) = at(a, 0.15 + 0.85 * float(length) / largest), (cos(a), -sin(a))
        neck = (x - 9 * dx, y - 9 * dy)
        head = [(x, y), (neck[0] - 4.5 * dy, neck[1] + 4.5 * dx), (neck[0] + 4.5 * dy, neck[1] - 4.5 * dx)]
        arrows.append(e("path", d=path([middle, neck]), cls=f"arrow {sign}"))
        title = e("title", f"angle {a * 180 / pi:.4g}°, |w| = {float(length):.6g}")
        arrows.append(e("path", title, d=path(head, closed=True), cls=f"head {sign}"))
    kinds = "Gates" if view.gated else "Neurons"
    caption = (
        f"{kinds} as arrows in weight space; the longest is the heaviest. Each of the {len(borders)} sectors is one "
        "activation pattern of the data; an arrow on a border is a neuron that is zero at a data point."
    )
    return picture(
        size,
        "The directions of the neurons among the activation patterns",
        caption,
        sectors,
        arrows,
        e("text", short_name(view.names[0], 9), x=middle[0] + radius + 6, y=middle[1] + 4, cls="label"),
        e("text", short_name(view.names[1], 30), x=middle[0], y=middle[1] - radius - 7, cls="label mid"),
    )


def _height(view: View, angle: float) -> float:
    """theta.(Zu)_+ for u at that angle."""
    return float(view.theta @ np.maximum(view.Z @ np.array([cos(angle), sin(angle)]), 0.0))


def _borders(view: View) -> list[float]:
    """The angles of the rays z_k.u = 0, two for each row that is not zero; equal ones once."""
    found: list[float] = []
    for z in view.Z:
        if z.any():
            a = atan2(float(z[0]), -float(z[1]))
            found += [a, a - pi if a > 0 else a + pi]
    distinct: list[float] = []
    for a in sorted(found):
        if not distinct or a - distinct[-1] > 1e-9:
            distinct.append(a)
    if len(distinct) > 1 and distinct[0] + tau - distinct[-1] < 1e-9:
        distinct.pop()
    return distinct


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
