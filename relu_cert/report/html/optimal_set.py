"""The set of all optimal networks: a polytope of the convex program, and a curved set of network weights.

With the classes a = 1..k and their outputs q_a, the optimal set is {alpha >= 0 : F alpha = (masses, lift y)}; the
convex solution has |w_a| = lambda alpha_a, and the trained network first-layer weights of length sqrt(|w_a|).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from xml.etree.ElementTree import Element

import numpy as np
from flint import fmpq_mat
from scipy.optimize import linprog

from relu_cert.exact import dot
from relu_cert.prove.classes import class_map, column, to_fraction
from relu_cert.prove.facts import Facts, OptimalSet
from relu_cert.prove.optimal_set import split_map
from relu_cert.report.html.frame import WIDTH, Frame, Point, drawing, labelled, path, ticks
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import figure
from relu_cert.report.html.polygons import area
from relu_cert.report.html.view import Floats, drawable

MOST_CLASSES = 60


@dataclass(frozen=True)
class Polytope:
    """{x >= 0 : F x = g}, x_a = |w_a| the size of neuron a, in floats, with the range of every coordinate."""

    F: Floats
    g: Floats
    low: Floats
    high: Floats
    dimension: int
    signs: tuple[str, ...]

    def vertices(self) -> Floats:
        """All vertices of a polytope of dimension 1 or 2, one row each, in order around it."""
        k = self.F.shape[1]
        reach = float(self.high.max()) or 1.0
        found: list[Floats] = []
        for zeros in combinations(range(k), self.dimension):
            rows = np.vstack([self.F, np.eye(k)[list(zeros)]])
            x, _, rank, _ = np.linalg.lstsq(rows, np.r_[self.g, np.zeros(len(zeros))], rcond=1e-9)
            if rank < k or (x < -1e-7 * reach).any() or not np.allclose(self.F @ x, self.g, atol=1e-6 * (1 + abs(self.g).max())):
                continue
            if not any(np.abs(x - other).max() < 1e-6 * reach for other in found):
                found.append(np.maximum(x, 0.0))
        corners = np.array(found)
        if self.dimension < 2 or len(corners) < 3:
            return corners
        centred = corners - corners.mean(axis=0)
        axes = np.linalg.svd(centred)[2][:2]
        turned = centred @ axes.T
        order: Floats = corners[np.argsort(np.arctan2(turned[:, 1], turned[:, 0]))]
        return order


def polytope(facts: Facts) -> Polytope | None:
    """The optimal set as floats; None where it was not settled, is one point, or cannot be drawn."""
    found = facts.optimal_set
    if found is None or found.dimension < 1 or len(found.classes) > MOST_CLASSES:
        return None
    try:
        F, g = _equations(facts, found)
    except OverflowError:
        return None
    scale = np.maximum(np.abs(F).max(axis=1), 1e-300)
    F, g = F / scale[:, None], g / scale
    low, high = [], []
    for a in range(F.shape[1]):
        c = np.zeros(F.shape[1])
        c[a] = 1.0
        ends = [linprog(sign * c, A_eq=F, b_eq=g, bounds=(0, None)) for sign in (1.0, -1.0)]
        if any(end.status != 0 for end in ends):
            return None
        low.append(float(ends[0].fun))
        high.append(float(-ends[1].fun))
    signs = tuple("plus" if one.sign > 0 else "minus" for one in found.classes)
    return Polytope(F, g, np.array(low), np.array(high), found.dimension, signs)


def _equations(facts: Facts, found: OptimalSet) -> tuple[Floats, Floats]:
    """F and g of {alpha : F alpha = g}, in the sizes lambda alpha."""
    theta = column(facts.dual.theta)
    outputs = [class_map(facts.problem, one).output(theta).entries() for one in found.classes]
    Q = fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    Phi = split_map(found.lift, found.groups, Q)
    goal = [*found.masses, *(dot(row, facts.problem.y) for row in found.lift)]
    F = np.array([[drawable(to_fraction(x)) for x in row] for row in Phi.tolist()])
    return F, np.array([drawable(x * facts.lam) for x in goal])


def ranges_figure(shape: Polytope) -> Element:
    """How much every neuron can weigh over all optimal networks."""
    row, top, left = 20.0, 8.0, 40.0
    count = len(shape.low)
    reach = float(shape.high.max()) * 1.04 or 1.0
    bottom = top + count * row
    frame = Frame(0.0, reach, 0.0, 1.0, height=bottom + 38, left=left)
    marks = []
    for a in range(count):
        y = top + a * row
        x0, x1 = frame.x(float(shape.low[a])), frame.x(float(shape.high[a]))
        title = e("title", f"{shape.low[a]:.6g} to {shape.high[a]:.6g}")
        marks += [
            e("text", f"{'+' if shape.signs[a] == 'plus' else '−'} {a + 1}", x=left - 6, y=y + 14, cls="tick end"),
            e("rect", title, x=x0, y=y + 4, width=max(3.0, x1 - x0), height=row - 8, rx=3.0, cls=f"bar {shape.signs[a]}"),
        ]
    lines = [
        e("g", e("path", d=path([(frame.x(v), top), (frame.x(v), bottom)]), cls="grid"),
          e("text", text, x=frame.x(v), y=bottom + 14, cls="tick mid"))
        for v, text in labelled(ticks(0.0, reach, 6))
    ]  # fmt: skip
    svg = drawing(
        WIDTH,
        frame.height,
        "The range of every neuron's size over the optimal set",
        e("g", lines),
        e("g", marks),
        e("text", "size |w| of the neuron", x=(left + WIDTH - 12) / 2, y=frame.height - 6, cls="label mid"),
    )
    free = int((shape.low <= 1e-9 * reach).sum())
    return figure(
        svg,
        f"How heavy each of the {count} possible neurons is, over all optimal networks; {free} of them can be left out, one at a time.",
    )


def set_figures(shape: Polytope) -> tuple[Element, ...]:
    """The polytope beside the curved set of network weights (fig:solution-set), for dimension 1 and 2."""
    if shape.dimension not in (1, 2):
        return ()
    corners = shape.vertices()
    if len(corners) < shape.dimension + 1:
        return ()
    axes = _axes(shape, corners)
    if axes is None:
        return ()
    if shape.dimension == 1:
        return _segments(corners[:, axes], axes)
    return _surfaces(corners[:, axes], axes)


def _axes(shape: Polytope, corners: Floats) -> list[int] | None:
    """The neurons that show most of the set: two for a segment, three for a polygon."""
    moving = [a for a in range(corners.shape[1]) if np.ptp(corners[:, a]) > 1e-6 * float(shape.high.max())]
    moving = sorted(moving, key=lambda a: -np.ptp(corners[:, a]))[:12]
    if shape.dimension == 1:
        # two neurons that trade places show the set best
        pairs = [(a, b) for a, b in combinations(moving, 2)]
        if not pairs:
            return None
        return sorted(max(pairs, key=lambda p: (_trade(corners[:, p]), float(np.ptp(corners[:, p], axis=0).sum()))))
    triples = list(combinations(moving, 3))
    if not triples:
        return None
    return sorted(max(triples, key=lambda t: area([_oblique(p) for p in corners[:, t]])))


def _trade(ends: Floats) -> bool:
    """Whether one neuron grows while the other shrinks."""
    step = ends[1] - ends[0]
    return bool(step[0] * step[1] < 0)


def _segments(ends: Floats, axes: list[int]) -> tuple[Element, ...]:
    """A segment and its image under the square root."""
    line = np.linspace(ends[0], ends[-1], 61)
    kinds = (
        (line, "Optimal weights of the convex program: a segment. Its ends are the minimal networks.", "size |w|"),
        (np.sqrt(line), "The same set as weights of the network: a curve.", "first-layer weight √|w|"),
    )
    return tuple(_plot(points, axes, caption, name) for points, caption, name in kinds)


def _plot(points: Floats, axes: list[int], caption: str, name: str) -> Element:
    reach = float(points.max()) * 1.1 or 1.0
    frame = Frame(0.0, reach, 0.0, reach, height=WIDTH - 58 + 54, right=22.0)
    ends = [e("circle", cx=frame.x(float(p[0])), cy=frame.y(float(p[1])), r=5.0, cls="vertex") for p in points[[0, -1]]]
    svg = drawing(
        frame.width,
        frame.height,
        caption,
        frame.axes(f"neuron {axes[0] + 1}: {name}", f"neuron {axes[1] + 1}"),
        e("path", d=frame.path((float(p[0]), float(p[1])) for p in points), cls="set"),
        e("g", ends),
    )
    return figure(svg, caption)


def _oblique(p: Floats) -> Point:
    """A view of three axes from above the corner: x to the lower left, y to the right, z up."""
    return float(p[1] - 0.55 * p[0]), float(p[2] - 0.38 * p[0])


def _surfaces(corners: Floats, axes: list[int]) -> tuple[Element, ...]:
    """A polygon in three coordinates and its image under the square root."""
    middle = corners.mean(axis=0)
    rings = [middle + s * (corners - middle) for s in (0.25, 0.5, 0.75, 1.0)]
    flat = "Optimal weights of the convex program: a polygon. Its corners are the minimal networks."
    curved = "The same set as weights of the network: a curved surface."
    return (
        _surface(rings, corners, axes, flat, "size |w|", root=False),
        _surface(rings, corners, axes, curved, "first-layer weight √|w|", root=True),
    )


def _surface(rings: list[Floats], corners: Floats, axes: list[int], caption: str, name: str, *, root: bool) -> Element:
    def shape(points: Floats) -> Floats:
        clipped = np.maximum(points, 0.0)
        found: Floats = np.sqrt(clipped) if root else clipped
        return found

    reach = float(shape(corners).max()) * 1.12 or 1.0
    outer = shape(_closed(corners))
    size = WIDTH
    unit = (size - 60) / (1.55 * reach)

    def at(p: Floats) -> Point:
        x, y = _oblique(p)
        return 30 + (x + 0.55 * reach) * unit, 16 + (reach - y) * unit

    height = 16 + 1.38 * reach * unit + 24
    basis = np.eye(3) * reach
    arrows = [e("path", d=path([at(np.zeros(3)), at(tip)]), cls="axis") for tip in basis]
    places = ((-4.0, 16.0, "mid"), (4.0, -6.0, "end"), (6.0, 8.0, ""))
    names = [
        e("text", f"neuron {axes[i] + 1}", x=at(tip)[0] + dx, y=at(tip)[1] + dy, cls=f"label {cls}".strip())
        for i, (tip, (dx, dy, cls)) in enumerate(zip(basis, places, strict=True))
    ]
    middle = corners.mean(axis=0)
    spokes = [shape(np.linspace(middle, corner, 24)) for corner in corners]
    svg = drawing(
        size,
        height,
        caption,
        e("g", arrows),
        e("path", d=path((at(p) for p in outer), closed=True), cls="face"),
        e("g", [e("path", d=path((at(p) for p in shape(_closed(r))), closed=True), cls="mesh") for r in rings[:-1]]),
        e("g", [e("path", d=path(at(p) for p in spoke), cls="mesh") for spoke in spokes]),
        e("path", d=path((at(p) for p in outer), closed=True), cls="set"),
        e("g", [e("circle", cx=at(p)[0], cy=at(p)[1], r=4.5, cls="vertex") for p in shape(corners)]),
        e("g", names),
    )
    return figure(svg, f"{caption} Axes: {name} of three neurons.")


def _closed(corners: Floats) -> Floats:
    """Points along the border of a polygon."""
    sides = [np.linspace(corners[i], corners[(i + 1) % len(corners)], 24, endpoint=False) for i in range(len(corners))]
    return np.concatenate(sides)
