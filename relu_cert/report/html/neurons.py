"""The neurons of a network: how heavy each is, which way it looks, and the dual constraint where they touch it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, pi, sin, tau
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.figures import decimal
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.page import View, e, number
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
