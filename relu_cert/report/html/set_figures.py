"""Pictures of the set of all optimal networks: ranges, and the polytope beside the curved set of weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from relu_cert.figures import count
from relu_cert.report.html.neurons import Strips
from relu_cert.report.html.optimal_set import Shape
from relu_cert.report.html.page import Floats, e
from relu_cert.report.html.svg import (
    WIDTH,
    Frame,
    Layer,
    Point,
    dot,
    path,
    picture,
    thin_line,
    tick_labels,
    ticks,
    tooltip,
)

ROW = 20.0
MOST_NEURONS = 60
ZERO = 1e-7  # below this share of the largest size a neuron is drawn as absent
MOST_WIRES = 400
LEAN = (0.55, 0.38)  # where the axis that leaves the page points
UNIT = (WIDTH - 70) / (1.1 + LEAN[0])  # the length of an axis on the drawing
TOWARDS = np.array([1.0, *LEAN])  # the direction that is seen as a point
LIGHT = np.array([0.45, 0.2, 0.87])  # from above, a little from the front


def ranges_figure(shape: Shape, tiles: Strips) -> Element | None:
    """How heavy every neuron can be over all optimal networks, and its direction."""
    if len(shape.names) > MOST_NEURONS:
        return None
    tiles = tiles if shape.directions else Strips(())
    top, left, right = tiles.top, 40.0, WIDTH - tiles.x + 12 if tiles.names else 14.0
    bottom = top + len(shape.names) * ROW
    frame = Frame(0.0, shape.reach * 1.04, 0.0, 1.0, height=bottom + 38, left=left, right=right)
    marks = []
    for a, name in enumerate(shape.names):
        y, low, high = top + a * ROW, float(shape.low[a]), float(shape.high[a])
        x0, x1 = frame.x(low), frame.x(high)
        title, place = tooltip(f"{low:.6g} to {high:.6g}"), {"x": x0, "y": y + 4, "width": max(3.0, x1 - x0)}
        text = name if name.startswith("b") else f"{'+' if shape.signs[a] == 'plus' else '−'} {name}"
        marks.append(e("text", text, x=left - 6, y=y + 14, cls="tick end"))
        marks.append(e("rect", title, height=ROW - 8, rx=3.0, cls=f"bar {shape.signs[a]}", **place))
        marks += tiles.row(shape.directions[a], y, ROW) if tiles.names else []
    lines = []
    for value, text in tick_labels(ticks(0.0, frame.x1, 5)):
        lines.append(e("path", d=path([(frame.x(value), top), (frame.x(value), bottom)]), cls="grid"))
        lines.append(e("text", text, x=frame.x(value), y=bottom + 14, cls="tick mid"))
    free = int((shape.low <= ZERO * shape.reach).sum())
    text = f"How heavy each of {count(len(shape.names), 'neuron')} can be, over all optimal networks; "
    text += f"{free} of them can be left out, one at a time." if free else "none of them can be left out."
    return frame.picture(
        "The range of every neuron's size over the optimal set",
        text,
        tiles.heads(),
        lines,
        marks,
        e("text", "size |w|", x=(frame.x(0.0) + frame.x(frame.x1)) / 2, y=frame.height - 6, cls="label mid"),
    )


def set_figures(shape: Shape) -> tuple[Element, ...]:
    """The polytope beside the curved set of network weights (fig:solution-set), for dimension 1 and 2."""
    if shape.dimension not in (1, 2):
        return ()
    corners = shape.around()
    axes = _traded(corners) if shape.dimension == 1 else _widest(corners)
    if axes is None:
        return ()
    return (_segments if shape.dimension == 1 else _surfaces)(corners[:, axes], [shape.names[a] for a in axes])


def _moving(corners: Floats, most: int) -> list[int]:
    """The neurons whose size changes, those that change most first."""
    moving = [a for a in range(corners.shape[1]) if np.ptp(corners[:, a]) > 1e-6 * float(corners.max())]
    return sorted(moving, key=lambda a: -float(np.ptp(corners[:, a])))[:most]


def _traded(ends: Floats) -> list[int] | None:
    """Two neurons that show most of a segment: best those that trade places."""
    step = ends[1] - ends[0]
    pairs = combinations(_moving(ends, 12), 2)
    best = max(pairs, key=lambda p: (step[p[0]] * step[p[1]] < 0, float(np.abs(step[list(p)]).sum())), default=None)
    return None if best is None else sorted(best)


def _segments(ends: Floats, axes: list[str]) -> tuple[Element, ...]:
    """A segment and its image under the square root."""
    share = np.sin(np.linspace(0.0, np.pi / 2, 61))[:, None] ** 2  # closer together where the square root is steep
    line = ends[0] + share * (ends[-1] - ends[0])
    kinds = (
        (line, "Optimal weights of the convex program: a segment. Its ends are the minimal networks.", "size |w|"),
        (np.sqrt(line), "The same set as weights of the network: a curve.", "first-layer weight √|w|"),
    )
    return tuple(_plot([(float(x), float(y)) for x, y in points], axes, *words) for points, *words in kinds)


def _plot(points: list[Point], axes: list[str], caption: str, name: str) -> Element:
    reach = max(max(p) for p in points) * 1.1 or 1.0
    frame = Frame(0.0, reach, 0.0, reach, height=WIDTH - 58 + 54, right=22.0)
    return frame.picture(
        caption,
        caption,
        frame.axes(f"neuron {axes[0]}: {name}", f"neuron {axes[1]}"),
        frame.line(points, "set"),
        [frame.dot(place, 5.0, "vertex") for place in (points[0], points[-1])],
    )


def _oblique(p: Floats) -> Point:
    """A view of three axes from above the corner: x to the lower left, y to the right, z up."""
    return float(p[1] - LEAN[0] * p[0]), float(p[2] - LEAN[1] * p[0])


@dataclass(frozen=True)
class _Space:
    """Three neurons as axes of a drawing in perspective, each up to the largest value of the corners; `bend` is the map
    from the sizes |w| to what is drawn."""

    corners: Floats
    axes: list[str]
    caption: str
    name: str
    bend: Callable[[Floats], Floats]

    @property
    def reach(self) -> Floats:
        """The largest values."""
        found: Floats = np.maximum(self.bend(self.corners).max(axis=0), 1e-300)
        return found

    def placed(self, points: Floats) -> Floats:
        """Points of the unit cube."""
        return self.bend(np.maximum(points, 0.0)) / self.reach

    def places(self, points: Floats) -> list[Point]:
        """Points of the drawing."""
        return [_at(p) for p in self.placed(points)]

    def picture(self, radius: float, more: str, *content: Layer) -> Element:
        """What is in the corner between the axes, with the corners of the polytope as dots."""
        return picture(
            20 + (1.08 + LEAN[1]) * UNIT + 26,
            self.caption,
            f"{self.caption} Axes: {self.name} of three neurons, up to the largest.{more}",
            _corner(),
            *content,
            [dot(place, radius, "vertex") for place in self.places(self.corners)],
            _corner_names(self.axes, self.reach),
        )


def _both(corners: Floats, axes: list[str], flat: str, curved: str) -> tuple[_Space, _Space]:
    """The polytope of sizes, and the curved set of weights that it stands for."""
    return (
        _Space(corners, axes, f"Optimal weights of the convex program: {flat}", "sizes |w|", lambda points: points),
        _Space(corners, axes, f"The same set as weights of the network: {curved}", "first-layer weights √|w|", np.sqrt),
    )


def _surfaces(corners: Floats, axes: list[str]) -> tuple[Element, ...]:
    """A polygon in three coordinates and its image under the square root."""
    flat, curved = "a polygon. Its corners are the minimal networks.", "a curved surface."
    return tuple(_surface(space) for space in _both(corners, axes, flat, curved))


def wire_figures(shape: Shape) -> tuple[Element, ...]:
    """The same pair for a polytope of dimension 3 or more: its vertices and edges in the three neurons that show most
    of it."""
    chosen = _widest(shape.points) if len(shape.edges) <= MOST_WIRES else None
    if chosen is None:
        return ()
    axes = [shape.names[a] for a in chosen]
    both = _both(shape.points[:, chosen], axes, "a polytope with straight edges.", "curved.")
    return tuple(_wires(space, shape.edges) for space in both)


def _widest(corners: Floats) -> list[int] | None:
    """The three neurons in whose coordinates the polytope covers the largest part of the drawing."""

    def covered(triple: tuple[int, ...]) -> float:
        shown = corners[:, list(triple)]
        places = np.array([_oblique(p) for p in shown / shown.max(axis=0)])
        try:
            return float(ConvexHull(places).volume)
        except QhullError:
            return 0.0

    best = max(combinations(_moving(corners, 9), 3), key=covered, default=None)
    return None if best is None or covered(best) == 0.0 else sorted(best)


def _wires(space: _Space, edges: Sequence[tuple[int, int]]) -> Element:
    corners, hull = space.corners, _faces(space.corners)
    share = np.sin(np.linspace(0.0, np.pi / 2, 25))[:, None] ** 2
    back, front = [], []
    for a, b in edges:
        line = path(thin_line(space.places(corners[a] + share * (corners[b] - corners[a]))))
        if not hull or any(face.towards and {a, b} <= set(face.corners) for face in hull):
            front.append(e("path", d=line, cls="edge"))
        else:
            back.append(e("path", d=line, cls="edge hidden"))
    near = sorted((face for face in hull if face.towards), key=lambda face: face.depth)
    faces = [_shaded(space.places(_closed(corners[list(face.corners)])), face.light) for face in near]
    more = " Faces towards the reader are shaded, edges behind them are dotted." if near else ""
    return space.picture(3.5, more, back, faces, front)


@dataclass(frozen=True)
class _Face:
    """A face of a polytope in three coordinates: its corners in order, whether it looks towards the reader, how near it
    is and how much light it gets."""

    corners: tuple[int, ...]
    towards: bool
    depth: float
    light: float


def _faces(corners: Floats) -> list[_Face]:
    """The faces of the hull of the corners; none where it is flat."""
    scaled = corners / np.maximum(corners.max(axis=0), 1e-300)
    try:
        hull = ConvexHull(scaled)
    except QhullError:
        return []
    found = []
    for normal in np.unique(np.round(hull.equations, 9), axis=0):
        on = np.flatnonzero(np.abs(scaled @ normal[:3] + normal[3]) < 1e-7)
        first, second = np.linalg.svd(normal[None, :3])[2][1:]
        around = scaled[on] - scaled[on].mean(axis=0)
        flat = np.stack([around @ first, around @ second], axis=1)
        try:
            ring = on[ConvexHull(flat).vertices]
        except QhullError:
            continue
        towards = float(normal[:3] @ TOWARDS) / float(np.linalg.norm(TOWARDS))
        light = float(np.clip(normal[:3] @ LIGHT, 0.0, 1.0))
        found.append(_Face(tuple(ring.tolist()), towards > 1e-9, float((scaled[on] @ TOWARDS).mean()), light))
    return found


def _shaded(border: Sequence[Point], light: float) -> Element:
    """A face, the darker the less light it gets."""
    return e("path", d=path(border, closed=True), cls="face", fill_opacity=f"{0.42 - 0.3 * light:.2f}")


def _at(p: Floats) -> Point:
    """Where a point of the unit cube is drawn."""
    x, y = _oblique(p)
    return 20 + (x + LEAN[0]) * UNIT, 20 + (1.08 - y) * UNIT


def _surface(space: _Space) -> Element:
    """The polygon under a map of the coordinates, with a net of lines that are straight before the map."""
    corners = space.corners
    middle = corners.mean(axis=0)
    rings = [space.places(_closed(middle + share * (corners - middle))) for share in (0.25, 0.5, 0.75)]
    spokes = [space.places(np.linspace(middle, corner, 24)) for corner in corners]
    return space.picture(
        4.5,
        "",
        [_shaded(space.places(cell), light) for cell, light in _cells(space, middle)],
        [e("path", d=path(ring, closed=True), cls="mesh") for ring in rings],
        [e("path", d=path(spoke), cls="mesh") for spoke in spokes],
        e("path", d=path(space.places(_closed(corners)), closed=True), cls="set"),
    )


def _cells(space: _Space, middle: Floats) -> list[tuple[Floats, float]]:
    """The cells of the net, from back to front, each with the light that it gets where it lies after the map."""
    found = []
    for i, corner in enumerate(space.corners):
        other = space.corners[(i + 1) % len(space.corners)]
        for inner, outer in zip((0.0, 0.25, 0.5, 0.75), (0.25, 0.5, 0.75, 1.0), strict=True):
            low, high = ((middle + share * (p - middle) for p in (corner, other)) for share in (inner, outer))
            a, b = low
            c, d = high
            cell = np.concatenate([np.linspace(c, d, 8), np.linspace(b, a, 8)])
            placed = space.placed(np.array([c, d, a if inner else middle]))
            normal = np.cross(placed[1] - placed[0], placed[2] - placed[0])
            length = float(np.linalg.norm(normal)) or 1.0
            light = abs(float(normal @ LIGHT)) / length
            found.append((float((placed @ TOWARDS).mean()), cell, light))
    return [(cell, light) for _, cell, light in sorted(found, key=lambda one: one[0])]


def _corner() -> list[Element]:
    """Three axes with a tick at the largest value."""
    found = []
    for unit in np.eye(3):
        found.append(e("path", d=path([_at(np.zeros(3)), _at(1.06 * unit)]), cls="axis"))
        found.append(dot(_at(unit), 2.0, "rim"))
    return found


def _corner_names(axes: list[str], reach: Floats) -> list[Element]:
    """What the axes are, and their largest values."""
    shifts = ((6.0, 14.0, ""), (0.0, 18.0, "end"), (8.0, 4.0, ""))
    found = []
    for unit, axis, largest, (dx, dy, cls) in zip(np.eye(3), axes, reach, shifts, strict=True):
        x, y = _at(unit)
        text = f"neuron {axis}: {largest:.3g}"
        found.append(e("text", text, x=x + dx, y=y + dy, cls=f"label {cls}".strip()))
    return found


def _closed(corners: Floats) -> Floats:
    """Points along the border of a polygon."""
    sides = [np.linspace(corners[i], corners[(i + 1) % len(corners)], 24, endpoint=False) for i in range(len(corners))]
    return np.concatenate(sides)
