"""The set of optimal networks for the eye: its listed polytope in floats, and its graph drawn flat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.figures import count
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.report.html.neurons import heaviest_first
from relu_cert.report.html.page import Floats, drawable, e, floats
from relu_cert.report.html.svg import WIDTH, Frame, Point, dot, tone
from relu_cert.report.optimal_set import TiedNeuron, optimal_set_view

PARALLEL = 1 - 1e-9  # the cosine of directions that are one


@dataclass(frozen=True)
class Shape:
    """The polytope of the facts in floats. Rows of `points` are its vertices, the minimal networks; a column has the
    size |w| of a neuron that some optimal network uses.

    `names` are the neurons' names, `signs` their signs, `directions` their dual vectors (none for a group lasso).
    """

    points: Floats
    widths: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    dimension: int
    min_norm: Floats | None
    names: tuple[str, ...]
    signs: tuple[str, ...]
    directions: tuple[tuple[float, ...], ...]

    @property
    def low(self) -> Floats:
        """The least size of every neuron."""
        return np.asarray(self.points.min(axis=0))

    @property
    def high(self) -> Floats:
        """The largest size of every neuron."""
        return np.asarray(self.points.max(axis=0))

    @property
    def reach(self) -> float:
        """The largest size of any neuron."""
        return float(self.points.max()) or 1.0

    def around(self) -> Floats:
        """The vertices of a polytope of dimension 1 or 2, in order around it."""
        centred = self.points - self.points.mean(axis=0)
        turned = centred @ np.linalg.svd(centred)[2][:2].T
        return np.asarray(self.points[np.argsort(np.arctan2(turned[:, -1], turned[:, 0]))])


def shape(facts: Facts) -> Shape | None:
    """The listed polytope; None where there is none, where it is one network, or where it cannot be drawn."""
    seen = optimal_set_view(facts)
    if seen is None or seen.dimension == 0:
        return None
    found, used = seen.polytope, seen.S
    neurons = [seen.neurons[a] for a in used]
    short = facts.min_norm
    known = short is not None and len(short.weights) == found.tied
    try:
        points = floats([[point[a] * facts.lam for a in used] for point in found.points])
        shortest = None if short is None or not known else floats([[short.weights[a] * facts.lam for a in used]])
        network = facts.problem.kind != "cgl"
        directions = tuple(tuple(drawable(x) for x in one.v) for one in neurons) if network else ()
    except OverflowError:
        return None
    signs = tuple(_sign(facts, one) for one in neurons)
    names = _names(facts, signs, directions) if network else tuple(f"b{one.block}" for one in neurons)
    return Shape(points, found.widths, found.edges, found.dimension, shortest, names, signs, directions)


def _names(facts: Facts, signs: Sequence[str], directions: Sequence[Sequence[float]]) -> tuple[str, ...]:
    """The numbers that the page gives the neurons of its network; those that it does not use are counted on."""
    listed = [(_sign(facts, one), _unit([drawable(x) for x in one.w])) for one in heaviest_first(facts)]
    names, following = [], len(listed)
    for own, direction in zip(signs, directions, strict=True):
        u = _unit(direction)
        same = [i for i, (sign, w) in enumerate(listed) if sign == own and float(w @ u) > PARALLEL]
        following += not same
        names.append(str(same[0] + 1 if same else following))
    return tuple(names)


def _unit(v: Sequence[float]) -> Floats:
    u = np.array(v, dtype=np.float64)
    return u / (float(np.linalg.norm(u)) or 1.0)


def _sign(facts: Facts, neuron: ExactNeuron | TiedNeuron) -> str:
    """Its colour; a block of a network over some patterns knows its sign."""
    patterned = facts.problem.patterned
    sign = neuron.sign if patterned is None or neuron.block is None else patterned.sign(neuron.block)
    return tone(sign)


MOST_VERTICES = 600
MOST_NUMBERED = 40
NUMBERED = 9.0  # the radius of a vertex with its width in it
MOST_EDGES = 4000
LEAN = 0.5  # how much the third axis adds to the first two; the fourth adds half of that, and so on
MARKS = ("◆", "▲", "■", "★")


@dataclass(frozen=True)
class Shadow:
    """A linear map of a polytope to the page."""

    shape: Shape
    middle: Floats
    axes: Floats

    def at(self, points: Floats) -> Floats:
        """The places of points, one row each."""
        placed: Floats = (points - self.middle) @ self.axes
        return placed


def shadow(seen: Shape | None) -> Shadow | None:
    """The shadow of a polytope of dimension 2 or more that can be drawn."""
    if seen is None or seen.dimension < 2 or len(seen.points) > MOST_VERTICES or len(seen.edges) > MOST_EDGES:
        return None
    middle = seen.points.mean(axis=0)
    _, sizes, directions = np.linalg.svd(seen.points - middle, full_matrices=False)
    if sizes[1] <= 1e-9 * sizes[0]:
        return None
    scaled = [direction / size**0.5 for direction, size in zip(directions, sizes, strict=True)]
    axes = np.array(scaled[:2]).T
    for j, direction in enumerate(scaled[2 : seen.dimension]):
        lean = LEAN / (1 + j // 2) * (-1) ** (j // 2)
        axes[:, j % 2] += lean * direction
        axes[:, 1 - j % 2] += lean / 3 * direction
    return Shadow(seen, middle, axes)


def shadow_figure(seen: Shadow, marked: Mapping[str, Floats] | None = None) -> Element:
    """The graph with the width of every vertex; `marked` are further networks, as sizes |w| of the used neurons."""
    shown, marks = seen.shape, dict(marked or {})
    if not marks and shown.min_norm is not None:
        marks["the shortest"] = shown.min_norm[0]
    places = seen.at(shown.points)
    extra = seen.at(np.array(list(marks.values()))) if marks else np.zeros((0, 2))
    frame = _frame(np.vstack([places, extra]))
    at = [frame.at((float(x), float(y))) for x, y in places]
    least = min(shown.widths) if len(set(shown.widths)) > 1 else 0
    numbered = least > 0 and len(at) <= MOST_NUMBERED and _nearest(at) >= 2 * NUMBERED
    radius = NUMBERED if numbered else 5.0 if len(at) <= MOST_NUMBERED else 3.2
    dots = []
    for (x, y), width in zip(at, shown.widths, strict=True):
        kind = "vertex least" if width == least else "vertex"
        dots.append(dot((x, y), radius, kind, f"a minimal network of width {width}"))
        if numbered:
            dots.append(e("text", str(width), x=x, y=y + 4, cls=f"inside mid{' least' * (width == least)}"))
    return frame.picture(
        "The vertex graph of the optimal set",
        _caption(shown, numbered, marks),
        [e("path", d=_segment(at[a], at[b]), cls="edge") for a, b in shown.edges],
        dots,
        stars(frame, marks, extra),
    )


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


def stars(frame: Frame, names: Iterable[str], places: Floats) -> list[Element]:
    """Networks that have a mark of their own."""
    found = []
    for i, (name, (px, py)) in enumerate(zip(names, places, strict=True)):
        x, y = frame.at((float(px), float(py)))
        kind = i % len(MARKS)
        found.append(e("text", e("title", name), MARKS[kind], x=x, y=y + 5, cls=f"star mid m{kind}"))
    return found


def starred(names: Iterable[str]) -> str:
    """The names of these networks, each after its mark."""
    return ", ".join(f"{MARKS[i % len(MARKS)]} {name}" for i, name in enumerate(names))


def _segment(a: Point, b: Point) -> str:
    return f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}"


def _caption(seen: Shape, numbered: bool, marks: Mapping[str, Floats]) -> str:
    vertices = f"{len(seen.widths):,} vertices (the minimal networks)"
    text = f"The optimal set, a polytope of dimension {seen.dimension}, seen as a shadow: {vertices} and "
    text += f"{count(len(seen.edges), 'edge')}."
    widths = sorted(set(seen.widths))
    if len(widths) == 1:
        text += f" All minimal networks have width {widths[0]}."
    else:
        text += " The number is the width;" if numbered else ""
        text += f" {'f' if numbered else 'F'}illed: the narrowest, of width {widths[0]}."
    return text + (f" {starred(marks)}." if marks else "")
