"""One feature: the function of the network as a curve, with the data, and its neurons one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.report.html.frame import Frame, Point, drawing, padded
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import count, figure
from relu_cert.report.html.view import View

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
    svg = drawing(
        frame.width,
        frame.height,
        "The function of the network and the data",
        frame.axes(view.names[0], view.target),
        e("g", [e("path", d=frame.path([(x, frame.y0), (x, frame.y1)]), cls="kink") for x in kinks]),
        e("g", _residuals(frame, view)),
        e("g", [e("path", d=frame.path(piece), cls="curve") for piece in pieces]),
        e("g", _points(frame, view)),
    )
    where = "its gates switch" if view.gated else "it bends"
    text = "The function of the network and the data; short lines are residuals."
    return figure(svg, text + (f" Dashed: {count(len(kinks), 'place')} where {where}." if kinks else ""))


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
        lines.append(e("path", e("title", name), d=d, cls=f"way m{i}"))
        y = frame.top + 14 + 16 * i
        lines.append(e("path", d=f"M{frame.left + 10} {y - 4}h20", cls=f"way m{i}"))
        lines.append(e("text", name, x=frame.left + 36, y=y, cls="label"))
    svg = drawing(
        frame.width,
        frame.height,
        "The functions of several optimal networks",
        frame.axes(first.names[0], first.target),
        e("g", lines),
        e("g", _points(frame, first)),
    )
    return figure(svg, "Optimal networks: equal at the training data (circles: targets), different elsewhere.")


def neurons_figure(view: View) -> Element | None:
    """Every neuron as a function of the one feature; their sum is the curve."""
    if view.space != "line" or not 1 <= len(view.gates) <= MOST_NEURONS:
        return None
    x0, x1 = _range(view)
    drawn = [(_pieces(_only(view, i), x0, x1), _sign(view, i)) for i in range(len(view.gates))]
    frame = Frame(x0, x1, *padded([0.0, *(p[1] for pieces, _ in drawn for piece in pieces for p in piece)]))
    svg = drawing(
        frame.width,
        frame.height,
        "The neurons of the network",
        frame.axes(view.names[0], "output"),
        e("g", [e("path", d=frame.path(p), cls=f"neuron {sign}") for pieces, sign in drawn for p in pieces]),
    )
    return figure(svg, f"The outputs of {count(len(drawn), 'neuron')} one by one; their sum is the function.")


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
    return [
        e("path", d=frame.path([(float(a), float(t)), (float(a), float(f))]), cls="residual")
        for a, t, f in zip(x, view.y, view.fit, strict=False)
    ]


def _points(frame: Frame, view: View) -> list[Element]:
    found = []
    for k in range(min(len(view.y), MOST_POINTS)):
        x, target, fitted = float(view.Z[k, 0]), float(view.y[k]), float(view.fit[k])
        cx, cy = frame.at((x, target))
        title = e("title", f"row {k + 1}: {x:.6g}, target {target:.6g}, fit {fitted:.6g}")
        found.append(e("circle", title, cx=cx, cy=cy, r=4.5, cls="target"))
    return found


def scatter_figure(view: View) -> Element | None:
    """Target against fit, for data that no plane can show."""
    if view.space != "none":
        return None
    low, high = padded([*map(float, view.y), *map(float, view.fit)])
    frame = Frame(low, high, low, high, height=400.0)
    order = np.arange(min(len(view.y), MOST_POINTS))
    dots = []
    for k in order:
        cx, cy = frame.at((float(view.y[k]), float(view.fit[k])))
        title = e("title", f"row {k + 1}: target {view.y[k]:.6g}, fit {view.fit[k]:.6g}")
        dots.append(e("circle", title, cx=cx, cy=cy, r=4.5, cls="target"))
    svg = drawing(
        frame.width,
        frame.height,
        "Target against fit",
        frame.axes(f"target: {view.target}", "fit"),
        e("path", d=frame.path([(low, low), (high, high)]), cls="kink"),
        e("g", dots),
    )
    return figure(svg, "The fit of every optimal network against the target. On the dashed line they are equal.")
