"""The set of optimal networks for the eye: its polytope in floats, and its graph drawn flat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from xml.etree.ElementTree import Element

import numpy as np
from flint import fmpq_mat
from scipy.optimize import linprog

from relu_cert.exact import dot
from relu_cert.prove.classes import class_map, column
from relu_cert.prove.facts import ExactNeuron, ExactSet, Facts, NeuronClass, OptimalSet, Tied
from relu_cert.prove.split import split_map
from relu_cert.rationals import to_fraction
from relu_cert.report.html.neurons import heaviest_first
from relu_cert.report.html.page import count, e
from relu_cert.report.html.svg import WIDTH, Frame, Point, picture
from relu_cert.report.html.view import Floats, drawable, floats

MOST_NEURONS = 60
ZERO = 1e-7  # below this share of the largest size a neuron is drawn as absent
PARALLEL = 1 - 1e-9  # the cosine of directions that are one


@dataclass(frozen=True)
class Polytope:
    """{x >= 0 : F x = g}, x_a = |w_a| the size of neuron a, with the range of every coordinate.

    `names` are the neurons' names, `signs` their signs, `directions` their dual vectors (rows; empty for blocks of
    different sizes).
    """

    F: Floats
    g: Floats
    low: Floats
    high: Floats
    dimension: int
    names: tuple[str, ...]
    signs: tuple[str, ...]
    directions: tuple[tuple[float, ...], ...]

    @property
    def reach(self) -> float:
        """The largest size of any neuron."""
        return float(self.high.max()) or 1.0

    def vertices(self) -> Floats:
        """All vertices of a polytope of dimension 1 or 2, one row each, in order around it."""
        k = self.F.shape[1]
        found: list[Floats] = []
        for zeros in combinations(range(k), self.dimension):
            rows = np.vstack([self.F, np.eye(k)[list(zeros)]])
            x, _, rank, _ = np.linalg.lstsq(rows, np.r_[self.g, np.zeros(len(zeros))], rcond=1e-9)
            solves = np.allclose(self.F @ x, self.g, atol=1e-6 * (1 + abs(self.g).max()))
            if rank < k or (x < -ZERO * self.reach).any() or not solves:
                continue
            if not any(np.abs(x - other).max() < 1e-6 * self.reach for other in found):
                found.append(np.maximum(x, 0.0))
        corners = np.array(found).reshape(-1, k)
        if self.dimension < 2 or len(corners) < 3:
            return corners
        centred = corners - corners.mean(axis=0)
        axes = np.linalg.svd(centred)[2][:2]
        turned = centred @ axes.T
        order: Floats = corners[np.argsort(np.arctan2(turned[:, 1], turned[:, 0]))]
        return order


@dataclass(frozen=True)
class _Equations:
    """The rows F and g before they are scaled, with what is known of the neurons."""

    F: Floats
    g: Floats
    signs: tuple[str, ...]
    blocks: tuple[int | None, ...]
    directions: tuple[tuple[float, ...], ...]


def polytope(facts: Facts) -> Polytope | None:
    """The optimal set of all neurons that can be active; None where it is not known, or cannot be drawn."""
    try:
        found = _equations(facts)
    except OverflowError:
        return None
    if found is None or not 1 <= len(found.signs) <= MOST_NEURONS:
        return None
    scale = np.maximum(np.abs(found.F).max(axis=1), np.abs(found.g)) if len(found.F) else np.ones(0)
    some = scale > 0
    F, g = found.F[some] / scale[some, None], found.g[some] / scale[some]
    ranges = [_range(F, g, a) for a in range(F.shape[1])]
    if any(one is None for one in ranges):
        return None
    low, high = np.array(ranges, dtype=np.float64).T
    here = np.flatnonzero(high > ZERO * (high.max() or 1.0))
    if not len(here):
        return None
    dimension = len(here) - int(np.linalg.matrix_rank(F[:, here], tol=1e-8))
    names = _names(facts, found, here.tolist())
    return Polytope(
        F[:, here],
        g,
        np.maximum(low[here], 0.0),
        high[here],
        dimension,
        names,
        tuple(found.signs[a] for a in here),
        tuple(found.directions[a] for a in here) if found.directions else (),
    )


def _names(facts: Facts, found: _Equations, here: Sequence[int]) -> tuple[str, ...]:
    """The numbers that the page gives the neurons of its network; those that it does not use are counted on."""
    if not found.directions:
        return tuple(str(n + 1) if found.blocks[a] is None else f"b{found.blocks[a]}" for n, a in enumerate(here))
    listed = [(_sign(facts, one), _unit([drawable(x) for x in one.w])) for one in heaviest_first(facts)]
    names, following = [], len(listed)
    for a in here:
        u = _unit(found.directions[a])
        same = [i for i, (sign, w) in enumerate(listed) if sign == found.signs[a] and float(w @ u) > PARALLEL]
        if same:
            names.append(str(same[0] + 1))
        else:
            following += 1
            names.append(str(following))
    return tuple(names)


def _unit(v: Sequence[float]) -> Floats:
    u = np.array(v, dtype=np.float64)
    return u / (float(np.linalg.norm(u)) or 1.0)


def _range(F: Floats, g: Floats, a: int) -> tuple[float, float] | None:
    """The least and the largest x_a."""
    c = np.zeros(F.shape[1])
    c[a] = 1.0
    least, largest = (linprog(sign * c, A_eq=F, b_eq=g, bounds=(0, None)) for sign in (1.0, -1.0))
    if least.status != 0 or largest.status != 0 or least.x is None or largest.x is None:
        return None
    return float(least.x[a]), float(largest.x[a])


def _equations(facts: Facts) -> _Equations | None:
    if facts.exact_set is not None:
        return _exact_equations(facts, facts.exact_set)
    return None if facts.optimal_set is None else _enclosed_equations(facts, facts.optimal_set)


def _exact_equations(facts: Facts, exact: ExactSet) -> _Equations:
    """sum alpha_a q_a = y - r*, in the sizes lambda alpha."""
    tied = exact.tied
    F = np.array([[drawable(x) for x in one.q] for one in tied]).T
    g = np.array([drawable((y - r) * facts.lam) for y, r in zip(facts.problem.y, exact.residual, strict=True)])
    network = facts.problem.kind != "cgl"
    return _Equations(
        F.reshape(facts.problem.n, len(tied)),
        g,
        tuple(_sign(facts, one) for one in tied),
        tuple(_block(facts, one) for one in tied),
        tuple(tuple(drawable(x) for x in one.v) for one in tied) if network else (),
    )


def _enclosed_equations(facts: Facts, found: OptimalSet) -> _Equations:
    """The masses of the superclasses and the part in the lift, at the centre of the ball, for the active classes."""
    theta = column(facts.dual.theta)
    classes = [found.classes[a] for a in found.active]
    groups = [[found.active.index(a) for a in group if a in found.active] for group in found.groups]
    mixed = [(found.active.index(a), beta) for a, beta in found.mixed if a in found.active]
    lift = found.lift[: len(found.lift) - found.void]
    maps = [class_map(facts.problem, one) for one in classes]
    outputs = [one.output(theta).entries() for one in maps]
    Q = fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    F = [[drawable(to_fraction(x)) for x in row] for row in split_map(lift, groups, Q, mixed).tolist()]
    goal = [*found.masses, *(dot(row, facts.problem.y) for row in lift)]
    duals = [(one.P * (one.X.transpose() * theta)).entries() for one in maps]
    directions = [tuple(one.sign * drawable(to_fraction(x)) for x in v) for one, v in zip(classes, duals, strict=True)]
    return _Equations(
        np.array(F),
        np.array([drawable(x * facts.lam) for x in goal]),
        tuple(_sign(facts, one) for one in classes),
        tuple(_block(facts, one) for one in classes),
        tuple(directions) if facts.problem.kind != "cgl" else (),
    )


def _sign(facts: Facts, neuron: NeuronClass | ExactNeuron | Tied) -> str:
    """Its colour; a block of a network over some patterns knows its sign."""
    sampled = facts.problem.sampled
    sign = neuron.sign if sampled is None or neuron.block is None else sampled.sign(neuron.block)
    return "plus" if sign > 0 else "minus"


def _block(facts: Facts, neuron: NeuronClass | ExactNeuron | Tied) -> int | None:
    """The block that a neuron is named by, for problems that were given directly."""
    return neuron.block if facts.problem.kind == "cgl" else None


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
    return picture(
        frame.height,
        "The vertex graph of the optimal set",
        _caption(seen, numbered, marks),
        e("g", [e("path", d=_segment(at[a], at[b]), cls="edge") for a, b in seen.edges]),
        e("g", dots),
        e("g", _marks(frame, marks, extra)),
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
