"""The vertex graph of the optimal set: its vertices are the minimal networks, drawn as a shadow of the polytope.

A shadow is a linear image: straight edges stay straight, and a mix of two networks lies between their points. The
first two principal axes are shown; the others lean in a little, so that vertices do not hide one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.prove.facts import Facts
from relu_cert.report.html.frame import WIDTH, Frame, Point, drawing
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import count, figure
from relu_cert.report.html.view import Floats, floats

MOST_VERTICES = 600
MOST_NUMBERED = 40
NUMBERED = 9.0  # the radius of a vertex with its width in it
MOST_EDGES = 4000
LEAN = 0.5  # how much the third axis adds to the first two; the fourth adds half of that, and so on
MARKS = ("◆", "▲", "■", "★")


@dataclass(frozen=True)
class Shadow:
    """The polytope of the facts as floats, and a linear map of it to the page. Rows of `points` are vertices."""

    points: Floats
    widths: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    dimension: int
    middle: Floats
    axes: Floats
    min_norm: Floats | None

    def at(self, points: Floats) -> Floats:
        """The places of points, one row each."""
        placed: Floats = (points - self.middle) @ self.axes
        return placed


def shadow(facts: Facts) -> Shadow | None:
    """The shadow of a listed polytope of dimension 2 or more that can be drawn."""
    found = facts.polytope
    if found is None or found.dimension < 2 or len(found.vertices) > MOST_VERTICES or len(found.edges) > MOST_EDGES:
        return None
    used = list(found.used)
    try:
        points = floats([[point[a] * facts.lam for a in used] for point in found.points])
        short = facts.min_norm
        known = short is not None and len(short.weights) == found.tied
        shortest = None if short is None or not known else floats([[short.weights[a] * facts.lam for a in used]])
    except OverflowError:
        return None
    middle = points.mean(axis=0)
    _, sizes, directions = np.linalg.svd(points - middle, full_matrices=False)
    if sizes[1] <= 1e-9 * sizes[0]:
        return None
    scaled = [direction / size**0.5 for direction, size in zip(directions, sizes, strict=True)]
    axes = np.array(scaled[:2]).T
    for j, direction in enumerate(scaled[2 : found.dimension]):
        lean = LEAN / (1 + j // 2) * (-1) ** (j // 2)
        axes[:, j % 2] += lean * direction
        axes[:, 1 - j % 2] += lean / 3 * direction
    return Shadow(points, found.widths, found.edges, found.dimension, middle, axes, shortest)


def shadow_figure(seen: Shadow, marked: Mapping[str, Floats] | None = None) -> Element:
    """The graph with the width of every vertex; `marked` are further networks, as sizes |w| of the used neurons."""
    marks = dict(marked or {})
    if not marks and seen.min_norm is not None:
        marks["the shortest"] = seen.min_norm[0]
    places = seen.at(seen.points)
    extra = seen.at(np.array(list(marks.values()))) if marks else np.zeros((0, 2))
    frame = _frame(np.vstack([places, extra]))
    at = [frame.at((float(x), float(y))) for x, y in places]
    least = min(seen.widths) if len(set(seen.widths)) > 1 else 0
    numbered = least > 0 and len(at) <= MOST_NUMBERED and _nearest(at) >= 2 * NUMBERED
    radius = NUMBERED if numbered else 5.0 if len(at) <= MOST_NUMBERED else 3.2
    dots = []
    for (x, y), width in zip(at, seen.widths, strict=True):
        kind = "vertex least" if width == least else "vertex"
        dots.append(e("circle", e("title", f"a minimal network of width {width}"), cx=x, cy=y, r=radius, cls=kind))
        if numbered:
            dots.append(e("text", str(width), x=x, y=y + 4, cls=f"inside mid{' least' * (width == least)}"))
    svg = drawing(
        WIDTH,
        frame.height,
        "The vertex graph of the optimal set",
        e("g", [e("path", d=_segment(at[a], at[b]), cls="edge") for a, b in seen.edges]),
        e("g", dots),
        e("g", _marks(frame, marks, extra)),
    )
    return figure(svg, _caption(seen, numbered, marks))


def _frame(places: Floats) -> Frame:
    """A frame with the same scale both ways, that holds all places."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-3 * float((high - low).max()) or 1.0)
    room = 18.0
    across = WIDTH - 2 * room
    height = float(np.clip(across * span[1] / span[0], 130.0, 360.0))
    scale = max(span[0] / across, span[1] / height)
    centre, half = (low + high) / 2, np.array([across, height]) * scale / 2
    (x0, y0), (x1, y1) = centre - half, centre + half
    margins = {"left": room, "right": room, "top": room, "bottom": room}
    return Frame(float(x0), float(x1), float(y0), float(y1), height=height + 2 * room, **margins)


def _nearest(places: Sequence[Point]) -> float:
    """The least distance between two places."""
    P = np.array(places)
    far = np.linalg.norm(P[:, None] - P[None], axis=2) + np.where(np.eye(len(P)) > 0, np.inf, 0.0)
    return float(far.min())


def _marks(frame: Frame, marks: Mapping[str, Floats], places: Floats) -> list[Element]:
    found = []
    for i, (name, (px, py)) in enumerate(zip(marks, places, strict=True)):
        x, y = frame.at((float(px), float(py)))
        kind = i % len(MARKS)
        found.append(e("text", e("title", name), MARKS[kind], x=x, y=y + 5, cls=f"star mid m{kind}"))
    return found


def _segment(a: Point, b: Point) -> str:
    return f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}"


def _caption(seen: Shadow, numbered: bool, marks: Mapping[str, Floats]) -> str:
    vertices = f"{len(seen.widths):,} vertices (the minimal networks)"
    text = f"The optimal set, a polytope of dimension {seen.dimension}, seen as a shadow: {vertices} and "
    text += f"{count(len(seen.edges), 'edge')}."
    widths = sorted(set(seen.widths))
    if len(widths) == 1:
        text += f" All minimal networks have width {widths[0]}."
    else:
        text += " The number is the width;" if numbered else ""
        text += f" {'f' if numbered else 'F'}illed: the narrowest, of width {widths[0]}."
    named = ", ".join(f"{MARKS[i % len(MARKS)]} {name}" for i, name in enumerate(marks))
    return text + (f" {named}." if named else "")
