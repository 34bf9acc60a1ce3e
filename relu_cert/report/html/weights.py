"""Weight space in two dimensions: every direction u is an angle, and the proof of optimality is a curve.

theta is dual feasible iff |theta.(Zu)_+| <= lambda for all unit u (ReLU); the neurons of an optimal network lie where
it is lambda, with the sign of the neuron. The rays z_k.u = 0 cut the circle into the activation patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, pi, sin, tau
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.report.html.frame import WIDTH, Frame, Point, drawing, padded, path, short_name
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import figure
from relu_cert.report.html.view import View
from relu_cert.report.optimal_set import TiedNeuron

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
    frame = Frame(-180.0, 180.0, *padded([-view.lam, view.lam, *heights], 0.12))
    dots = []
    for one in tied:
        a = atan2(float(one.direction[1]), float(one.direction[0]))
        cx, cy = frame.at((a * 180 / pi, _height(view, a)))
        title = e("title", f"{a * 180 / pi:.4g}°: a neuron that ties")
        dots.append(e("circle", title, cx=cx, cy=cy, r=8.0, cls=f"ring {'plus' if one.sign > 0 else 'minus'}"))
    for gate, slope in zip(view.gates, view.slopes, strict=True):
        a = atan2(float(gate[1]), float(gate[0]))
        cx, cy = frame.at((a * 180 / pi, _height(view, a)))
        sign = "plus" if float(gate @ slope) > 0 else "minus"
        dots.append(e("circle", e("title", f"neuron at {a * 180 / pi:.4g}°"), cx=cx, cy=cy, r=5.0, cls=f"mark {sign}"))
    limits = [
        (view.lam, "λ", -6.0),
        (-view.lam, "−λ", 15.0),
    ]
    svg = drawing(
        frame.width,
        frame.height,
        "The dual point over all directions",
        frame.axes(
            f"direction u: angle from {view.names[0]} towards {view.names[1]}",
            "θ·(Zu)₊",
            xticks=[(float(d), f"{d}°") for d in range(-180, 181, 60)],
        ),
        e(
            "g",
            [
                e("path", d=frame.path([(b * 180 / pi, frame.y0), (b * 180 / pi, frame.y1)]), cls="cell")
                for b in borders
            ],
        ),
        e("g", [e("path", d=frame.path([(-180.0, v), (180.0, v)]), cls="limit") for v, _, _ in limits]),
        e("g", [e("text", t, x=frame.width - 16, y=frame.y(v) + up, cls="label end") for v, t, up in limits]),
        e("path", d=frame.path((a * 180 / pi, h) for a, h in zip(angles, heights, strict=True)), cls="curve"),
        e("g", dots),
    )
    caption = (
        "Why no network does better: the dual point θ, over all directions u of a neuron, stays between −λ and λ. "
        "The neurons of an optimal network can only sit where the curve touches a limit"
        + (": a ring at every such place, a dot in it for the neurons of this network. " if tied else " (dots). ")
        + "Grey lines: the "
        f"{len(borders)} borders between activation patterns."
    )
    return figure(svg, caption)


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
        sign = "plus" if view.gated or float(gate @ slope) > 0 else "minus"
        (x, y), (dx, dy) = at(a, 0.15 + 0.85 * float(length) / largest), (cos(a), -sin(a))
        neck = (x - 9 * dx, y - 9 * dy)
        head = [(x, y), (neck[0] - 4.5 * dy, neck[1] + 4.5 * dx), (neck[0] + 4.5 * dy, neck[1] - 4.5 * dx)]
        arrows.append(e("path", d=path([middle, neck]), cls=f"arrow {sign}"))
        title = e("title", f"angle {a * 180 / pi:.4g}°, |w| = {float(length):.6g}")
        arrows.append(e("path", title, d=path(head, closed=True), cls=f"head {sign}"))
    svg = drawing(
        WIDTH,
        size,
        "The directions of the neurons among the activation patterns",
        e("g", sectors),
        e("g", arrows),
        e("text", short_name(view.names[0], 9), x=middle[0] + radius + 6, y=middle[1] + 4, cls="label"),
        e("text", short_name(view.names[1], 30), x=middle[0], y=middle[1] - radius - 7, cls="label mid"),
    )
    kinds = "Gates" if view.gated else "Neurons"
    caption = (
        f"{kinds} as arrows in weight space; the longest is the heaviest. Each of the {len(borders)} sectors is one "
        "activation pattern of the data; an arrow on a border is a neuron that is zero at a data point."
    )
    return figure(svg, caption)


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
