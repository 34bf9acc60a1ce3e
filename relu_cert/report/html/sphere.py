"""Weight space in three dimensions: the sphere of directions, cut by the data, and the dual point on it.

Two discs are the two halves of the sphere (Lambert's map, which keeps areas): the first holds the directions with a
positive last weight. The tint at u is theta.(Zu)_+ / lambda, which lies in [-1, 1] iff theta is dual feasible (ReLU).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt, tau
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.report.html.frame import WIDTH, Point, drawing, path, short_name
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import figure
from relu_cert.report.html.view import Floats, View
from relu_cert.report.optimal_set import TiedNeuron

MOST_ROWS = 80
RINGS, SLICES = 28, 84
STEPS = 10  # tints on each side of zero
RADIUS = 104.0
TOP = 26.0
MIDDLES = ((WIDTH / 4 + 2, TOP + RADIUS), (3 * WIDTH / 4 - 2, TOP + RADIUS))


def sphere_figure(view: View, tied: Sequence[TiedNeuron] = ()) -> Element | None:
    """Both halves of the sphere; ReLU in three dimensions only. `tied` are all directions where the tint is full."""
    if view.gated or not view.everywhere or view.Z.shape[1] != 3 or len(view.y) > MOST_ROWS:
        return None
    names = [short_name(name, 14) for name in view.names]
    parts: list[Element] = []
    for half, (cx, cy) in enumerate(MIDDLES):
        side = -1.0 if half else 1.0
        parts += [e("circle", cx=cx, cy=cy, r=RADIUS, cls="disc"), *_tints(view, side)]
        parts += [e("path", d=path(arc), cls="border") for z in view.Z if z.any() for arc in _great_circle(z, side)]
        parts += [e("circle", cx=cx, cy=cy, r=RADIUS, cls="rim")]
        parts += [*_touching(tied, side), *_neurons(view, side)]
        parts += [e("text", f"{names[2]} {'<' if half else '>'} 0", x=cx, y=14.0, cls="label mid")]
    caption = (
        "Why no network does better: every point of the two discs is a direction u of a neuron, and its tint is "
        "θ·(Zu)₊ / λ, from −1 (cold) to 1 (warm), never more. Neurons can only sit where the tint is full: "
        + ("all these directions have a ring, those of this network a dot in it. " if tied else "see the dots. ")
        + f"Lines: the borders between activation patterns. {names[0]} grows to the right, {names[1]} upwards."
    )
    return figure(drawing(WIDTH, TOP + 2 * RADIUS + 8, "The dual point on the sphere of directions", parts), caption)


def _direction(radius: float, angle: float, side: float) -> Floats:
    """The direction at a place of the disc: Lambert's map, radius sqrt(1 - |u_3|)."""
    height = 1 - radius * radius
    flat = sqrt(max(0.0, 1 - height * height))
    return np.array([flat * cos(angle), flat * sin(angle), side * height])


def _place(u: Floats, side: float) -> Point:
    """The place of a unit direction on the drawing."""
    cx, cy = MIDDLES[0 if side > 0 else 1]
    flat = float(np.hypot(u[0], u[1]))
    radius = sqrt(max(0.0, 1 - abs(float(u[2])))) * RADIUS
    if flat == 0:
        return cx, cy
    return cx + radius * float(u[0]) / flat, cy - radius * float(u[1]) / flat


def _tints(view: View, side: float) -> list[Element]:
    """The dual point as rings of tinted cells, one path for each tint."""
    angles = [tau * (j + 0.5) / SLICES for j in range(SLICES)]
    paths: dict[int, list[str]] = {}
    for i in range(RINGS):
        inner, outer = i / RINGS, (i + 1) / RINGS
        U = np.array([_direction((inner + outer) / 2, a, side) for a in angles])
        heights = np.maximum(U @ view.Z.T, 0.0) @ view.theta / view.lam
        levels = [int(np.clip(round(STEPS * float(h)), -STEPS, STEPS)) for h in heights]
        for level, start, stop in _runs(levels):
            if level:
                paths.setdefault(level, []).append(_cell(inner, outer, tau * start / SLICES, tau * stop / SLICES, side))
    return [
        e("path", d="".join(cells), cls="warm" if level > 0 else "cold", fill_opacity=str(round(_strength(level), 3)))
        for level, cells in sorted(paths.items())
    ]


def _strength(level: int) -> float:
    """Faint until near the limit, so that the places where neurons can sit stand out."""
    return 0.9 * (abs(level) / STEPS) ** 2


def _runs(levels: Sequence[int]) -> list[tuple[int, int, int]]:
    """Equal neighbours together: (level, start, stop)."""
    found: list[tuple[int, int, int]] = []
    for j, level in enumerate(levels):
        if found and found[-1][0] == level:
            found[-1] = (level, found[-1][1], j + 1)
        else:
            found.append((level, j, j + 1))
    return found


def _cell(inner: float, outer: float, a: float, b: float, side: float) -> str:
    """A piece of a ring as a closed path."""
    cx, cy = MIDDLES[0 if side > 0 else 1]
    steps = max(1, round((b - a) / (tau / 42)))
    turn = [a + (b - a) * k / steps for k in range(steps + 1)]
    rim = [(cx + RADIUS * outer * cos(t), cy - RADIUS * outer * sin(t)) for t in turn]
    if inner > 0:
        rim += [(cx + RADIUS * inner * cos(t), cy - RADIUS * inner * sin(t)) for t in reversed(turn)]
    else:
        rim.append((cx, cy))
    return path(rim, closed=True)


def _great_circle(z: Floats, side: float) -> list[list[Point]]:
    """The half of the great circle z.u = 0 that lies on one disc."""
    normal = z / np.linalg.norm(z)
    level = np.array([-normal[1], normal[0], 0.0])
    length = float(np.linalg.norm(level))
    if length < 1e-12:
        return []
    level = level / length
    up = np.cross(normal, level)
    if up[2] * side < 0:
        up = -up
    return [[_place(level * cos(pi * k / 40) + up * sin(pi * k / 40), side) for k in range(41)]]


def _touching(tied: Sequence[TiedNeuron], side: float) -> list[Element]:
    """A ring at every direction of E; one on the rim is seen on both discs."""
    found = []
    for neuron in tied:
        u = neuron.direction
        if u[2] * side < 0:
            continue
        x, y = _place(u, side)
        title = e("title", "a direction where the tint is full: a neuron that ties")
        found.append(e("circle", title, cx=x, cy=y, r=8.0, cls=f"ring {'plus' if neuron.sign > 0 else 'minus'}"))
    return found


def _neurons(view: View, side: float) -> list[Element]:
    found = []
    for gate, slope in zip(view.gates, view.slopes, strict=True):
        length = float(np.linalg.norm(gate))
        if length == 0 or gate[2] * side < 0:
            continue
        x, y = _place(gate / length, side)
        sign = "plus" if float(gate @ slope) > 0 else "minus"
        title = e("title", f"neuron of size {length:.6g}")
        found.append(e("circle", title, cx=x, cy=y, r=5.0, cls=f"mark {sign}"))
    return found
