"""The function of a network: a curve for one feature, a map for two, target against fit for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.report.html.page import count, e, figure, number
from relu_cert.report.html.svg import (
    Frame,
    Point,
    Polygon,
    band,
    cells,
    chord,
    dot,
    drawing,
    labelled,
    padded,
    path,
    short_name,
    ticks,
    told,
)
from relu_cert.report.html.view import Floats, View

MOST_NEURONS = 60
MOST_POINTS = 1500


def curve_figure(view: View) -> Element | None:
    """The curve and the data; None where there is not exactly one feature."""
    if view.space != "line":
        return None
    x0, x1 = _range(view)
    pieces = _pieces(view, x0, x1)
    heights = [p[1] for piece in pieces for p in piece] + [float(v) for v in view.y]
    frame = Frame(x0, x1, *padded(heights))
    kinks = [x for x in _kinks(view) if x0 < x < x1]
    where = "its gates switch" if view.gated else "it bends"
    text = "The function of the network and the data; short lines are residuals."
    return frame.picture(
        "The function of the network and the data",
        text + (f" Dashed: {count(len(kinks), 'place')} where {where}." if kinks else ""),
        frame.axes(view.names[0], view.target),
        [frame.upwards(x, "kink") for x in kinks],
        _residuals(frame, view),
        [frame.line(piece, "curve") for piece in pieces],
        _points(frame, view),
    )


def curves_figure(views: Mapping[str, View]) -> Element | None:
    """Several networks of one feature in one plot, with the data; None where there is not exactly one feature."""
    first = next(iter(views.values()), None)
    if first is None or first.space != "line":
        return None
    x0, x1 = _range(first)
    drawn = {name: _pieces(view, x0, x1) for name, view in views.items()}
    heights = [p[1] for pieces in drawn.values() for piece in pieces for p in piece] + [float(v) for v in first.y]
    frame = Frame(x0, x1, *padded(heights))
    lines = []
    for i, (name, pieces) in enumerate(drawn.items()):
        d = "".join(frame.path(piece) for piece in pieces)
        lines.append(e("path", told(name), d=d, cls=f"way m{i}"))
        y = frame.top + 14 + 16 * i
        lines.append(e("path", d=f"M{frame.left + 10} {y - 4}h20", cls=f"way m{i}"))
        lines.append(e("text", name, x=frame.left + 36, y=y, cls="label"))
    return frame.picture(
        "The functions of several optimal networks",
        "Optimal networks: equal at the training data (circles: targets), different elsewhere.",
        frame.axes(first.names[0], first.target),
        lines,
        _points(frame, first),
    )


def neurons_figure(view: View) -> Element | None:
    """Every neuron as a function of the one feature; their sum is the curve."""
    if view.space != "line" or not 1 <= len(view.gates) <= MOST_NEURONS:
        return None
    x0, x1 = _range(view)
    drawn = [(_pieces(_only(view, i), x0, x1), _sign(view, i)) for i in range(len(view.gates))]
    frame = Frame(x0, x1, *padded([0.0, *(p[1] for pieces, _ in drawn for piece in pieces for p in piece)]))
    return frame.picture(
        "The neurons of the network",
        f"The outputs of {count(len(drawn), 'neuron')} one by one; their sum is the function.",
        frame.axes(view.names[0], "output"),
        [frame.line(p, f"neuron {sign}") for pieces, sign in drawn for p in pieces],
    )


def _range(view: View) -> tuple[float, float]:
    return padded([*map(float, view.inputs()[:, 0]), *([] if view.bias else [0.0])], 0.1)


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
    return "plus" if view.gated or float(view.slopes[i] @ view.gates[i]) > 0 else "minus"


def _residuals(frame: Frame, view: View) -> list[Element]:
    x = view.inputs()[:MOST_POINTS, 0]
    rows = zip(x, view.y, view.fit, strict=False)
    return [frame.line([(float(a), float(t)), (float(a), float(f))], "residual") for a, t, f in rows]


def _points(frame: Frame, view: View) -> list[Element]:
    found = []
    for k in range(min(len(view.y), MOST_POINTS)):
        x, target, fitted = float(view.Z[k, 0]), float(view.y[k]), float(view.fit[k])
        title = f"row {k + 1}: {x:.6g}, target {target:.6g}, fit {fitted:.6g}"
        found.append(frame.dot((x, target), 4.5, "target", title))
    return found


def scatter_figure(view: View) -> Element | None:
    """Target against fit, for data that no plane can show."""
    if view.space != "none":
        return None
    low, high = padded([*map(float, view.y), *map(float, view.fit)])
    frame = Frame(low, high, low, high, height=400.0)
    dots = []
    for k in range(min(len(view.y), MOST_POINTS)):
        title = f"row {k + 1}: target {view.y[k]:.6g}, fit {view.fit[k]:.6g}"
        dots.append(frame.dot((float(view.y[k]), float(view.fit[k])), 4.5, "target", title))
    return frame.picture(
        "Target against fit",
        "The fit of every optimal network against the target. On the dashed line they are equal.",
        frame.axes(f"target: {view.target}", "fit"),
        frame.line([(low, low), (high, high)], "kink"),
        dots,
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
        wide, high = f.width - f.left - f.right, f.height - f.top - f.bottom
        return [(f.left + wide * float(s), f.height - f.bottom - high * float(t)) for s, t in polygon]


def plane_figure(view: View) -> Element | None:
    """The picture of a network with two features; None where it has others or too many neurons."""
    if view.space != "plane" or len(view.gates) > MOST_MAPPED:
        return None
    box = _box(view)
    pieces = [(polygon, *_affine(box, polygon)) for polygon in cells(box.gates, box.gate_constants)]
    heights = [float(v) for polygon, a, c in pieces for v in polygon @ a + c]
    scale = _Scale.of(heights, [float(v) for v in view.y])
    svg = drawing(
        box.frame.width,
        box.frame.height,
        "The data, the regions of the network and its value",
        _bands(box, pieces, scale),
        box.frame.axes(view.names[0], view.names[1]),
        e("g", _borders(box, pieces), cls="regions"),
        _lines(box, view),
        _coloured_points(box.frame, view, scale),
    )
    lines = count(len(view.gates), "gate" if view.gated else "neuron")
    text = f"The function of the network: linear on each of the {count(len(pieces), 'region')} that its {lines} cut. "
    caption = (text if len(view.gates) else "The zero network. ") + (
        f"A point's fill is its target “{short_name(view.target, 40)}”, on the scale below; around it is what the "
        "network says there."
    )
    return figure(svg, caption, scale.bar(box.frame.left))


def _box(view: View) -> _Box:
    X = view.inputs()
    x0, x1 = padded([*map(float, X[:, 0]), *([] if view.bias else [0.0])], 0.18)
    y0, y1 = padded([*map(float, X[:, 1]), *([] if view.bias else [0.0])], 0.18)
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

    def tint(self, value: float) -> tuple[str, float]:
        """The colour class and opacity of a value."""
        share = min(1.0, abs(value) / self.reach) if self.reach else 0.0
        return ("warm" if value >= 0 else "cold"), round(0.04 + 0.81 * share, 3)

    def bands(self) -> list[tuple[float, float]]:
        """Neighbouring levels."""
        return list(zip(self.levels, self.levels[1:], strict=False))

    def bar(self, left: float) -> Element:
        """The scale as a strip of tints."""
        found = self.bands()
        width, right = 460.0, 24.0
        each = (width - left - right) / len(found)
        marks = []
        for i, (low, high) in enumerate(found):
            cls, opacity = self.tint((low + high) / 2)
            marks.append(
                e("rect", x=left + i * each, y=2.0, width=each, height=10.0, cls=cls, fill_opacity=str(opacity))
            )
        texts = labelled(self.levels)
        skip = 1 + len(texts) // 9
        zero = min(range(len(texts)), key=lambda i: abs(texts[i][0]))
        names = [
            e("text", text, x=left + i * each, y=25.0, cls="tick mid")
            for i, (_, text) in enumerate(texts)
            if (i - zero) % skip == 0
        ]
        return drawing(width, 30.0, "The scale of the tints", marks, names)


def _bands(box: _Box, pieces: list[tuple[Polygon, Floats, float]], scale: _Scale) -> list[Element]:
    found = []
    for low, high in scale.bands():
        parts = [part for polygon, a, c in pieces if (part := _part(polygon, a, c, low, high)) is not None]
        if parts:
            cls, opacity = scale.tint((low + high) / 2)
            d = "".join(path(box.corners(part), closed=True) for part in parts)
            found.append(e("path", d=d, cls=cls, fill_opacity=str(opacity)))
    return found


def _part(polygon: Polygon, a: Floats, c: float, low: float, high: float) -> Polygon | None:
    """The part of a cell between two levels. A cell on which the function is constant lies in one band, the upper."""
    heights = polygon @ a + c
    if np.ptp(heights) <= 1e-9 * (high - low):
        return polygon if low <= round(float(heights[0]) / (high - low), 9) * (high - low) < high else None
    return band(polygon, a, c, low, high)


def _borders(box: _Box, pieces: list[tuple[Polygon, Floats, float]]) -> list[Element]:
    return [e("path", d="".join(path(box.corners(polygon), closed=True) for polygon, _, _ in pieces))]


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
    f = box.frame
    wide, high = f.width - f.left - f.right, f.height - f.top - f.bottom
    # a step on the drawing is (dx / wide, -dy / high) on the unit square
    if normal[0] * across[0] / wide - normal[1] * across[1] / high < 0:
        across = (-across[0], -across[1])
    places = [length * (i + 0.5) / max(1, int(length // 22)) for i in range(max(1, int(length // 22)))]
    feet = [(a[0] + along[0] * s, a[1] + along[1] * s) for s in places]
    return "".join(path([(x, y), (x + across[0] * 5, y + across[1] * 5)]) for x, y in feet)


def _coloured_points(frame: Frame, view: View, scale: _Scale) -> list[Element]:
    found = []
    for k, (x, target, fitted) in enumerate(zip(view.inputs(), view.y, view.fit, strict=True)):
        if k >= MOST_POINTS:
            break
        at = frame.at((float(x[0]), float(x[1])))
        cls, opacity = scale.tint(float(target))
        title = f"row {k + 1}: ({x[0]:.6g}, {x[1]:.6g}), target {target:.6g}, fit {fitted:.6g}"
        ring = dot(at, 6.0, f"{cls} ring", title)
        ring.set("fill-opacity", str(opacity))
        found += [dot(at, 6.0, "dot"), ring]
    return found
