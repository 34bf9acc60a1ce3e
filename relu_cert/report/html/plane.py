"""Two features: the data, the lines where neurons switch, the regions between them, and the height of the function."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.report.html.frame import Frame, Point, drawing, labelled, padded, path, short_name, ticks
from relu_cert.report.html.markup import e, number
from relu_cert.report.html.page import count, figure
from relu_cert.report.html.polygons import Polygon, band, cells, chord
from relu_cert.report.html.view import Floats, View

MOST_NEURONS = 40
MOST_POINTS = 1500
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
    if view.space != "plane" or len(view.gates) > MOST_NEURONS:
        return None
    box = _box(view)
    pieces = [(polygon, *_affine(box, polygon)) for polygon in cells(box.gates, box.gate_constants)]
    heights = [float(v) for polygon, a, c in pieces for v in polygon @ a + c]
    scale = _Scale.of(heights, [float(v) for v in view.y])
    svg = drawing(
        box.frame.width,
        box.frame.height,
        "The data, the regions of the network and its value",
        e("g", _bands(box, pieces, scale)),
        box.frame.axes(view.names[0], view.names[1]),
        e("g", _borders(box, pieces), cls="regions"),
        e("g", _lines(box, view)),
        e("g", _points(box.frame, view, scale)),
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
        return drawing(width, 30.0, "The scale of the tints", e("g", marks), e("g", names))


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
    for normal, constant, slope, gate, weight in zip(
        box.gates, box.gate_constants, view.slopes, view.gates, weights, strict=True
    ):
        ends = chord(normal, float(constant))
        if ends is None:
            continue
        (ax, ay), (bx, by) = box.corners(np.array(ends))
        sign = "plus" if view.gated or float(slope @ gate) > 0 else "minus"
        thick = 1.2 + 1.8 * float(weight) / largest
        strong = 1.0 if few else 0.3 + 0.7 * float(weight) / largest
        found.append(
            e(
                "path",
                d=path([(ax, ay), (bx, by)]),
                cls=f"line {sign}",
                stroke_width=number(thick),
                stroke_opacity=number(strong),
            )
        )
        if few:
            found.append(e("path", d=_teeth(box, normal, float(constant), (ax, ay), (bx, by)), cls=f"teeth {sign}"))
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
    strokes = [
        path(
            [
                (a[0] + along[0] * s, a[1] + along[1] * s),
                (a[0] + along[0] * s + across[0] * 5, a[1] + along[1] * s + across[1] * 5),
            ]
        )
        for s in places
    ]
    return "".join(strokes)


def _points(frame: Frame, view: View, scale: _Scale) -> list[Element]:
    found = []
    for k, (x, target, fitted) in enumerate(zip(view.inputs(), view.y, view.fit, strict=True)):
        if k >= MOST_POINTS:
            break
        cx, cy = frame.at((float(x[0]), float(x[1])))
        cls, opacity = scale.tint(float(target))
        title = e("title", f"row {k + 1}: ({x[0]:.6g}, {x[1]:.6g}), target {target:.6g}, fit {fitted:.6g}")
        found.append(e("circle", cx=cx, cy=cy, r=6.0, cls="dot"))
        found.append(e("circle", title, cx=cx, cy=cy, r=6.0, cls=f"{cls} ring", fill_opacity=str(opacity)))
    return found
