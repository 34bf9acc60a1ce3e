"""The neurons of a network: how heavy each is, which way it looks, and the dual constraint where they touch it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import atan2, cos, pi, sin, tau
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.page import e, number
from relu_cert.report.html.svg import WIDTH, Frame, Point, padded, path, picture, short_name
from relu_cert.report.html.view import View
from relu_cert.report.optimal_set import TiedNeuron
from relu_cert.report.text import decimal

MOST_NEURONS = 40
MOST_FEATURES = 16
ROW = 22.0
STRIP_HEAD = 62.0
STRIP_MARGIN = 30.0  # at the right of the tiles, for the names that lean over it


@dataclass(frozen=True)
class _Bar:
    """One neuron as it is drawn: its size |w| and its direction w / max |w_j|."""

    label: str
    sign: str
    size: Fraction
    direction: tuple[float, ...]


def neurons_chart(facts: Facts, names: Sequence[str]) -> Element | None:
    """A bar for the size |w| of every neuron and a strip for its direction; the heaviest first."""
    neurons = heaviest_first(facts)
    if not neurons:
        return None
    bars = [_bar(facts, place, neuron) for place, neuron in enumerate(neurons[:MOST_NEURONS])]
    sizes = [float(bar.size / bars[0].size) for bar in bars]
    count = strip_length(facts, names)
    cell = min(26.0, 150.0 / count) if count else 0.0
    top = STRIP_HEAD if count else 8.0
    left, right = 40.0, (STRIP_MARGIN + count * cell + 10) if count else 12.0
    room = WIDTH - left - right - 62
    rows = []
    for i, (bar, size) in enumerate(zip(bars, sizes, strict=True)):
        y = top + i * ROW
        rows += [
            e("text", bar.label, x=left - 6, y=y + 15, cls="tick end"),
            e("rect", x=left, y=y + 3, width=max(1.0, room * size), height=ROW - 7, rx=2.0, cls=f"bar {bar.sign}"),
            e("text", decimal(bar.size, 4), x=left + max(1.0, room * size) + 5, y=y + 15, cls="tick"),
            *strip(bar.direction[:count], WIDTH - STRIP_MARGIN - count * cell, y, ROW, cell, names),
        ]
    rest = len(neurons) - len(bars)
    caption = "The size |w| of each neuron, which is its share of the penalty"
    caption += f" (the {MOST_NEURONS} heaviest of {len(neurons)})" if rest else ""
    caption += "; at the right its direction, feature by feature." if count else "."
    if facts.problem.kind == "cgl":
        caption = "The size |w_b| of each active group."
    return picture(
        top + len(bars) * ROW + 6,
        "The size and direction of the neurons",
        caption,
        strip_heads(names[:count], WIDTH - STRIP_MARGIN - count * cell, top, cell),
        rows,
    )


def heaviest_first(facts: Facts) -> list[ExactNeuron]:
    """The neurons in the order in which a page numbers them."""
    return sorted(facts.primal.neurons, key=lambda neuron: -neuron.norm)


def neuron_name(facts: Facts, place: int, neuron: ExactNeuron) -> str:
    """The name of a neuron on the page: its sign and number from 1, or its block."""
    if facts.problem.kind == "cgl":
        return f"b{neuron.block}"
    return str(place + 1) if facts.problem.kind == "gated" else f"{'+' if neuron.sign > 0 else '−'} {place + 1}"


def _bar(facts: Facts, place: int, neuron: ExactNeuron) -> _Bar:
    largest = max(abs(x) for x in neuron.w)
    direction = tuple(float(x / largest) for x in neuron.w)
    return _Bar(neuron_name(facts, place, neuron), "plus" if neuron.sign > 0 else "minus", neuron.norm, direction)


def strip_length(facts: Facts, names: Sequence[str]) -> int:
    """How many features a strip of directions shows: all, or none where they are too many or have no names."""
    return len(names) if facts.problem.kind != "cgl" and len(names) <= MOST_FEATURES else 0


def strip(
    direction: Sequence[float], x: float, y: float, row: float, cell: float, names: Sequence[str]
) -> list[Element]:
    """A direction as a row of tiles, warm where it is positive, strong where it is large."""
    largest = max((abs(value) for value in direction), default=0.0) or 1.0
    found = []
    for j, value in enumerate(direction):
        title = e("title", f"{names[j]}: {value / largest:.4g}")
        opacity = str(round(0.06 + 0.84 * abs(value) / largest, 3))
        kind = "warm" if value >= 0 else "cold"
        place = {"x": x + j * cell, "y": y + 1, "width": cell - 1, "height": row - 3}
        found.append(e("rect", title, cls=f"{kind} tile", fill_opacity=opacity, **place))
    return found


def strip_heads(names: Sequence[str], x: float, y: float, cell: float) -> Element:
    """The names of the features, aslant over the tiles."""
    places = [f"translate({number(x + (j + 0.35) * cell)} {number(y - 4)})" for j in range(len(names))]
    heads = zip(names, places, strict=True)
    return e("g", [e("text", short_name(n, 8), cls="tick", transform=f"{at} rotate(-55)") for n, at in heads])


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
        place, cls = (a * 180 / pi, _height(view, a)), f"ring {'plus' if one.sign > 0 else 'minus'}"
        dots.append(frame.dot(place, 8.0, cls, f"{place[0]:.4g}°: a neuron that ties"))
    for gate, slope in zip(view.gates, view.slopes, strict=True):
        a = atan2(float(gate[1]), float(gate[0]))
        place, cls = (a * 180 / pi, _height(view, a)), f"mark {'plus' if float(gate @ slope) > 0 else 'minus'}"
        dots.append(frame.dot(place, 5.0, cls, f"neuron at {place[0]:.4g}°"))
    limits = [(view.lam, "λ", -6.0), (-view.lam, "−λ", 15.0)]
    caption = (
        "Why no network does better: the dual point θ, over all directions u of a neuron, stays between −λ and λ. "
        "The neurons of an optimal network can only sit where the curve touches a limit"
        + (": a ring at every such place, a dot in it for the neurons of this network. " if tied else " (dots). ")
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
        [e("text", t, x=frame.width - 16, y=frame.y(v) + up, cls="label end") for v, t, up in limits],
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
        sign = "plus" if view.gated or float(gate @ slope) > 0 else "minus"
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
