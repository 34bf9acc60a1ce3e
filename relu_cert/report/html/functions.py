"""The function of a network: a curve for one feature, a map for two, target against fit for more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.figures import count
from relu_cert.report.html.page import Floats, View, e, number
from relu_cert.report.html.svg import (
    WIDTH,
    Frame,
    Point,
    Polygon,
    band,
    cells,
    chord,
    dot,
    drawing,
    pad_range,
    path,
    short_name,
    tick_labels,
    ticks,
    tint,
    tone,
    tooltip,
)

MOST_NEURONS = 60
MOST_POINTS = 1500


def curve_figure(view: View) -> Element | None:
    """The curve and the data; None where there is not exactly one feature."""
    if view.space != "line":
        return None
    x0, x1 = _range(view)
    pieces = _pieces(view, x0, x1)
    frame = _frame(x0, x1, pieces, *map(float, view.y))
    kinks = [x for x in _kinks(view) if x0 < x < x1]
    where = "its gates switch" if view.gated else "it bends"
    text = "The function of the network and the data; short lines are residuals."
    return frame.picture(
        "The function of the network and the data",
        text + (f" Dashed: {count(len(kinks), 'place')} where {where}." if kinks else ""),
        frame.axes(view.names[0], view.target),
        [frame.upwards(x, "kink") for x in kinks],
        [frame.line([(float(x[0]), target), (float(x[0]), fit)], "residual") for _, x, target, fit in _rows(view)],
        [frame.line(piece, "curve") for piece in pieces],
        _points(frame, view),
    )


def curves_figure(views: Mapping[str, View]) -> Element | None:
    """Several networks of one feature in one plot, with the data; None where there is not exactly one feature."""
    first = next(iter(views.values()), None)
    if first is None or first.space != "line":
        return None
    x0, x1 = _range(first)
    drawn = [_pieces(view, x0, x1) for view in views.values()]
    frame = _frame(x0, x1, (piece for pieces in drawn for piece in pieces), *map(float, first.y))
    classes = [f"way m{i}" for i in range(len(drawn))]
    paths = ["".join(frame.path(piece) for piece in pieces) for pieces in drawn]
    lines = [e("path", tooltip(name), d=d, cls=cls) for name, d, cls in zip(views, paths, classes, strict=True)]
    return frame.picture(
        "The functions of several optimal networks",
        "Optimal networks: equal at the training data (circles: targets), different elsewhere.",
        frame.axes(first.names[0], first.target),
        lines,
        frame.legend(frame.left + 10, views, classes),
        _points(frame, first),
    )


def neurons_figure(view: View) -> Element | None:
    """Every neuron as a function of the one feature; their sum is the curve."""
    if view.space != "line" or not 1 <= len(view.gates) <= MOST_NEURONS:
        return None
    x0, x1 = _range(view)
    drawn = [(_pieces(_only(view, i), x0, x1), _sign(view, i)) for i in range(len(view.gates))]
    frame = _frame(x0, x1, (piece for pieces, _ in drawn for piece in pieces), 0.0)
    return frame.picture(
        "The neurons of the network",
        f"The outputs of {count(len(drawn), 'neuron')} one by one; their sum is the function.",
        frame.axes(view.names[0], "output"),
        [frame.line(p, f"neuron {sign}") for pieces, sign in drawn for p in pieces],
    )


def function_figure(view: View) -> Element | None:
    """The curve for one feature, the map for two."""
    return curve_figure(view) if view.space == "line" else plane_figure(view)


def _range(view: View, column: int = 0, share: float = 0.1) -> tuple[float, float]:
    """What is shown of a feature: the data, and without a bias zero, where all neurons bend."""
    return pad_range([*map(float, view.inputs()[:, column]), *([] if view.bias else [0.0])], share)


def _frame(x0: float, x1: float, pieces: Iterable[Sequence[Point]], *more: float) -> Frame:
    """A frame that holds graphs and further heights."""
    return Frame(x0, x1, *pad_range([*more, *(p[1] for piece in pieces for p in piece)]))


def _rows(view: View) -> Iterator[tuple[int, Floats, float, float]]:
    """The first rows of the data, numbered from 1: inputs, target and fit."""
    for k, x in enumerate(view.inputs()[:MOST_POINTS]):
        yield k + 1, x, float(view.y[k]), float(view.fit[k])


def _kinks(view: View) -> list[float]:
    slope, constant = view.affine(view.gates)
    found = {float(-c / a[0]) for a, c in zip(slope, constant, strict=True) if a[0] != 0}
    return sorted(found)


def _pieces(view: View, x0: float, x1: float) -> list[list[Point]]:
    """The graph from x0 to x1: one polyline where the function is continuous, else one for each piece."""
    ends = [x0, *(x for x in _kinks(view) if x0 < x < x1), x1]
    gate, gate_constant = view.affine(view.gates)
    slope, slope_constant = view.affine(view.slopes)
    lines: list[list[Point]] = []
    for a, b in pairwise(ends):
        on = gate[:, 0] * (a + b) / 2 + gate_constant > 0
        m, c = float(slope[on, 0].sum()), float(slope_constant[on].sum())
        lines.append([(a, m * a + c), (b, m * b + c)])
    if view.gated or not lines:
        return lines
    return [[lines[0][0], *(line[1] for line in lines)]]


def _only(view: View, i: int) -> View:
    """The network with one neuron."""
    return replace(view, gates=view.gates[i : i + 1], slopes=view.slopes[i : i + 1])


def _sign(view: View, i: int) -> str:
    return tone(1.0 if view.gated else float(view.slopes[i] @ view.gates[i]))


def _points(frame: Frame, view: View) -> list[Element]:
    return [
        frame.dot((float(x[0]), target), 4.5, "target", f"row {k}: {x[0]:.6g}, target {target:.6g}, fit {fit:.6g}")
        for k, x, target, fit in _rows(view)
    ]


def scatter_figure(view: View) -> Element | None:
    """Target against fit, for data that no plane can show."""
    if view.space != "none":
        return None
    low, high = pad_range([*map(float, view.y), *map(float, view.fit)])
    frame = Frame(low, high, low, high, height=400.0)
    return frame.picture(
        "Target against fit",
        "The fit of the network found against the target. On the dashed line they are equal.",
        frame.axes(f"target: {view.target}", "fit"),
        frame.line([(low, low), (high, high)], "kink"),
        [
            frame.dot((target, fit), 4.5, "target", f"row {k}: target {target:.6g}, fit {fit:.6g}")
            for k, _, target, fit in _rows(view)
        ],
    )


MOST_MAPPED = 40  # neurons on a map
LEVELS = 10
FEW_NEURONS = 10


@dataclass(frozen=True)
class _Box:
    """The drawn part of the plane, with neurons and function on the unit square: p = low + size * (s, t)."""

    frame: Frame
    gates: Floats
    gate_constants: Floats
    slopes: Floats
    slope_constants: Floats

    def corners(self, polygon: Polygon) -> list[Point]:
        """The places of a polygon of the unit square on the drawing."""
        f = self.frame
        return [(f.left + self.wide * float(s), f.floor - self.high * float(t)) for s, t in polygon]

    def outline(self, polygons: Iterable[Polygon]) -> str:
        """The d of a path around polygons of the unit square."""
        return "".join(path(self.corners(polygon), closed=True) for polygon in polygons)

    @property
    def wide(self) -> float:
        """The width of the unit square on the drawing."""
        return self.frame.wall - self.frame.left

    @property
    def high(self) -> float:
        """Its height."""
        return self.frame.floor - self.frame.top


def plane_figure(view: View) -> Element | None:
    """The picture of a network with two features; None where it has others or too many neurons."""
    if view.space != "plane" or len(view.gates) > MOST_MAPPED:
        return None
    box = _box(view)
    pieces = [(polygon, *_affine(box, polygon)) for polygon in cells(box.gates, box.gate_constants)]
    heights = [float(v) for polygon, a, c in pieces for v in polygon @ a + c]
    scale = _Scale.of(heights, [float(v) for v in view.y])
    lines = count(len(view.gates), "gate" if view.gated else "neuron")
    text = f"The function of the network: linear on each of the {count(len(pieces), 'region')} that its {lines} cut. "
    caption = (text if len(view.gates) else "The zero network. ") + (
        f"A point's fill is its target “{short_name(view.target, 40)}”, on the scale below; around it is what the "
        "network says there."
    )
    return box.frame.picture(
        "The data, the regions of the network and its value",
        caption,
        _bands(box, pieces, scale),
        box.frame.axes(view.names[0], view.names[1]),
        e("g", e("path", d=box.outline(polygon for polygon, _, _ in pieces)), cls="regions"),
        _lines(box, view),
        _coloured_points(box.frame, view, scale),
        below=[scale.bar(box.frame.left)],
    )


def _box(view: View) -> _Box:
    (x0, x1), (y0, y1) = (_range(view, column, 0.18) for column in (0, 1))
    frame = Frame(x0, x1, y0, y1, height=400.0)
    low, size = np.array([x0, y0]), np.array([x1 - x0, y1 - y0])
    lengths = np.linalg.norm(view.gates, axis=1, keepdims=True)
    gates, gate_constants = view.affine(view.gates / np.where(lengths > 0, lengths, 1.0))
    slopes, slope_constants = view.affine(view.slopes)
    return _Box(frame, gates * size, gate_constants + gates @ low, slopes * size, slope_constants + slopes @ low)


def _affine(box: _Box, polygon: Polygon) -> tuple[Floats, float]:
    """The affine function of the network on a cell."""
    middle = polygon.mean(axis=0)
    on = box.gates @ middle + box.gate_constants > 0
    return box.slopes[on].sum(axis=0), float(box.slope_constants[on].sum())


@dataclass(frozen=True)
class _Scale:
    """Levels of the function and how strongly each band is tinted: warm above zero, cold below."""

    levels: tuple[float, ...]
    reach: float

    @classmethod
    def of(cls, heights: list[float], targets: list[float]) -> _Scale:
        """A scale for the function's values. Targets of one sign only are tinted from zero up."""
        low, high = min(heights + targets), max(heights + targets)
        if low == high:
            low, high = low - 0.5, high + 0.5
        inner = ticks(low, high, LEVELS)
        step = inner[1] - inner[0] if len(inner) > 1 else high - low
        levels = [*([inner[0] - step] * (low < inner[0])), *inner, *([inner[-1] + step] * (high > inner[-1]))]
        return cls(tuple(levels), max(abs(low), abs(high)))

    def tint(self, value: float, also: str = "") -> dict[str, str]:
        """The attributes of what is filled by a value."""
        return tint(value, 0.04 + 0.81 * (min(1.0, abs(value) / self.reach) if self.reach else 0.0), also)

    def bands(self) -> list[tuple[float, float]]:
        """Neighbouring levels."""
        return list(zip(self.levels, self.levels[1:], strict=False))

    def bar(self, left: float) -> Element:
        """The scale as a strip of tints."""
        found = self.bands()
        each = (WIDTH - left - 24.0) / len(found)
        marks = [
            e("rect", x=left + i * each, y=2.0, width=each, height=10.0, **self.tint((low + high) / 2))
            for i, (low, high) in enumerate(found)
        ]
        texts = tick_labels(self.levels)
        skip = 1 + len(texts) // 9
        zero = min(range(len(texts)), key=lambda i: abs(texts[i][0]))
        names = [
            e("text", text, x=left + i * each, y=25.0, cls="tick mid")
            for i, (_, text) in enumerate(texts)
            if (i - zero) % skip == 0
        ]
        return drawing(30.0, "The scale of the tints", marks, names)


def _bands(box: _Box, pieces: list[tuple[Polygon, Floats, float]], scale: _Scale) -> list[Element]:
    found = []
    for low, high in scale.bands():
        parts = [part for polygon, a, c in pieces if (part := _part(polygon, a, c, low, high)) is not None]
        if parts:
            found.append(e("path", d=box.outline(parts), **scale.tint((low + high) / 2)))
    return found


def _part(polygon: Polygon, a: Floats, c: float, low: float, high: float) -> Polygon | None:
    """The part of a cell between two levels. A cell on which the function is constant lies in one band, the upper."""
    heights = polygon @ a + c
    if np.ptp(heights) <= 1e-9 * (high - low):
        return polygon if low <= round(float(heights[0]) / (high - low), 9) * (high - low) < high else None
    return band(polygon, a, c, low, high)


def _lines(box: _Box, view: View) -> list[Element]:
    """The line of every neuron; a few have teeth on the side where they are on, of many the light ones are faint."""
    found = []
    few = len(view.gates) <= FEW_NEURONS
    weights = np.linalg.norm(view.slopes, axis=1)
    largest = float(weights.max()) if len(weights) else 1.0
    for i, (normal, constant, weight) in enumerate(zip(box.gates, box.gate_constants, weights, strict=True)):
        ends = chord(normal, float(constant))
        if ends is None:
            continue
        a, b = box.corners(np.array(ends))
        sign, share = _sign(view, i), float(weight) / largest
        thick, strong = number(1.2 + 1.8 * share), number(1.0 if few else 0.3 + 0.7 * share)
        found.append(e("path", d=path([a, b]), cls=f"line {sign}", stroke_width=thick, stroke_opacity=strong))
        if few:
            found.append(e("path", d=_teeth(box, normal, float(constant), a, b), cls=f"teeth {sign}"))
    return found


def _teeth(box: _Box, normal: Floats, constant: float, a: Point, b: Point) -> str:
    """Short strokes along a line, at right angles to it, towards where the neuron is on."""
    length = float(np.hypot(b[0] - a[0], b[1] - a[1]))
    if length < 1:
        return "M0 0"
    along = ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
    across = (-along[1], along[0])
    # a step on the drawing is (dx / wide, -dy / high) on the unit square
    if normal[0] * across[0] / box.wide - normal[1] * across[1] / box.high < 0:
        across = (-across[0], -across[1])
    places = [length * (i + 0.5) / max(1, int(length // 22)) for i in range(max(1, int(length // 22)))]
    feet = [(a[0] + along[0] * s, a[1] + along[1] * s) for s in places]
    return "".join(path([(x, y), (x + across[0] * 5, y + across[1] * 5)]) for x, y in feet)


def _coloured_points(frame: Frame, view: View, scale: _Scale) -> list[Element]:
    found = []
    for k, x, target, fit in _rows(view):
        at = frame.at((float(x[0]), float(x[1])))
        title = f"row {k}: ({x[0]:.6g}, {x[1]:.6g}), target {target:.6g}, fit {fit:.6g}"
        found += [dot(at, 6.0, "dot"), dot(at, 6.0, title=title, **scale.tint(target, "ring"))]
    return found
