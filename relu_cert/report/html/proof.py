"""Pictures of what the proof rests on: the dual constraint on the sphere, independence, and derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil, cos, floor, log10, pi, sin, sqrt, tau
from xml.etree.ElementTree import Element

import numpy as np
from flint import fmpq_mat

from relu_cert.claims.sensitivity import freedom_and_sure
from relu_cert.exact import column, sqrt_upper, to_fraction
from relu_cert.figures import at_most, decimal
from relu_cert.prove.classes import class_map, projector
from relu_cert.prove.facts import BallSet, Facts
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.report.html.page import Floats, Section, View, cards, drawable, e, figures, floats
from relu_cert.report.html.svg import WIDTH, Decades, Point, dot, path, picture, short_name, tint, tone
from relu_cert.report.optimal_set import TiedNeuron

MOST_ROWS = 80
RINGS, SLICES = 28, 84
STEPS = 10  # tints on each side of zero
RADIUS = 104.0
TOP = 26.0
MIDDLES = ((WIDTH / 4 + 2, TOP + RADIUS), (3 * WIDTH / 4 - 2, TOP + RADIUS))

FULL = (
    "Neurons of an optimal network can only sit where the tint is full: all these directions have a ring, those of "
    "this network a dot in it. "
)


def sphere_figure(view: View, tied: Sequence[TiedNeuron] = ()) -> Element | None:
    """Both halves of the sphere; ReLU in three dimensions only. `tied` are all directions where the tint is full."""
    if view.gated or not view.everywhere or view.Z.shape[1] != 3 or len(view.y) > MOST_ROWS:
        return None
    names = [short_name(name, 14) for name in view.names]
    parts: list[Element] = []
    for half, (cx, cy) in enumerate(MIDDLES):
        side = -1.0 if half else 1.0
        parts += [dot((cx, cy), RADIUS, "disc"), *_tints(view, side)]
        parts += [e("path", d=path(arc), cls="border") for z in view.Z if z.any() for arc in _great_circle(z, side)]
        parts += [dot((cx, cy), RADIUS, "rim"), *_touching(view, tied, side)]
        parts += [e("text", f"{names[2]} {'<' if half else '>'} 0", x=cx, y=14.0, cls="label mid")]
    caption = (
        "What proves the lower bound: every point of the two discs is a direction u of a neuron, and its tint is "
        "θ·(Zu)₊ / λ, from −1 (cold) to 1 (warm), never more. "
        + (FULL if tied else "Dots: the neurons of this network. ")
        + f"Lines: the borders between activation patterns. {names[0]} grows to the right, {names[1]} upwards."
    )
    return picture(TOP + 2 * RADIUS + 8, "The dual point on the sphere of directions", caption, *parts)


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
        for level, run in groupby(range(SLICES), key=levels.__getitem__):
            start, *_ = slices = list(run)
            if level:
                ends = tau * start / SLICES, tau * (start + len(slices)) / SLICES
                paths.setdefault(level, []).append(_cell(inner, outer, *ends, side))
    # faint until near the limit, so that the places where neurons can sit stand out
    return [
        e("path", d="".join(cells), **tint(level, 0.9 * (abs(level) / STEPS) ** 2))
        for level, cells in sorted(paths.items())
    ]


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


def _touching(view: View, tied: Sequence[TiedNeuron], side: float) -> list[Element]:
    """A ring at every direction of E, a dot at those of this network; one on the rim is seen on both discs."""
    title = "a direction where the tint is full: a neuron that ties"
    marks = [(one.direction, float(one.sign), 8.0, "ring", title) for one in tied]
    for gate, slope in zip(view.gates, view.slopes, strict=True):
        length = float(np.linalg.norm(gate))
        if length:
            marks.append((gate / length, float(gate @ slope), 5.0, "mark", f"neuron of size {length:.6g}"))
    shown = [mark for mark in marks if mark[0][2] * side >= 0]
    return [dot(_place(u, side), radius, f"{kind} {tone(sign)}", title) for u, sign, radius, kind, title in shown]


MOST_GROUPS = 200


def independence_figure(facts: Facts) -> Element | None:
    """The gap between the smallest singular value and what the ball around the residual can change, on a log scale."""
    found = facts.optimal_set
    if not isinstance(found, BallSet) or not 0 < len(found.groups) <= MOST_GROUPS:
        return None
    try:
        values = _singular_values(facts, found)
        sigma = drawable(found.sigma)
        radius = sqrt_upper(facts.fit.radius_squared * len(found.groups), 64)
        epsilon = drawable(largest_squared(facts.problem) * radius)
    except OverflowError:
        return None
    if not len(values) or sigma <= 0:
        return None
    low = log10(max(min(epsilon or sigma, sigma, float(values[-1])), 1e-90))
    first, last = floor(low) - (epsilon == 0), ceil(log10(float(values[0])) + 1e-9)
    axis, line = Decades(first, max(last, first + 1), 30.0, 24.0), 52.0
    hidden, danger = "The residual is known exactly.", []
    if epsilon > 0:
        hidden = "The shaded part, up to ε, is what the uncertainty of the residual could hide."
        end = axis.x(log10(epsilon))
        danger = [
            e("rect", x=axis.left, y=line - 26, width=max(2.0, end - axis.left), height=36.0, cls="danger"),
            e("text", "ε", x=end, y=line - 32, cls="label mid"),
        ]
    caption = "Independence of the neuron outputs: their singular values (dots) and the proved lower bound σ on all. "
    limit = axis.x(log10(sigma))
    return picture(
        line + 36,
        "Singular values of the neuron outputs",
        caption + hidden,
        axis.marks(line - 26, line + 10, 16.0, 6),
        danger,
        e("path", d=path([(limit, line - 26), (limit, line + 10)]), cls="limit"),
        e("text", "σ", x=limit, y=line - 32, cls="label mid"),
        [dot((axis.x(log10(v)), line - 8), 4.5, "target") for v in values if v > 0],
    )


def _singular_values(facts: Facts, found: BallSet) -> list[float]:
    theta = column(facts.dual.theta)
    maps = [class_map(facts.problem, found.classes[group[0]]) for group in found.groups]
    outputs = [one.output(theta).entries() for one in maps]
    A = projector(found.lift, facts.problem.n) * fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    values = np.linalg.svd(np.array([[drawable(to_fraction(x)) for x in row] for row in A.tolist()]), compute_uv=False)
    return [float(v) for v in values]


MOST_TILES = 60


def sensitivity_section(facts: Facts) -> Section | None:
    """The derivatives, where they were asked for and are proved."""
    found = facts.derivatives
    if found is None:
        return None
    n = facts.problem.n
    within = f"each within {at_most(found.radius)}" if found.radius else "exact"
    freedom, sure = freedom_and_sure(n, found)
    shown = [("degrees of freedom", freedom or "–", f"of {n}: the trace of dfit/dy")]
    if sure:
        shown.append(("SURE", sure, "" if found.sure is None else f"for noise {decimal(found.sure.noise, 6)}"))
    by_y = found.by_y
    entries = (len(found.by_lam.r) + len(found.by_lam.alpha)) * (1 if by_y is None else n + 1)
    shown.append(("derivatives", f"{entries:,}", within))
    text = (
        "The optimal network is differentiable in λ and y here; its derivatives are enclosed, and in the certificate."
    )
    try:
        hat = None if by_y is None else np.eye(n) - floats(by_y.r)
        slopes = floats([found.by_lam.alpha])[0]
        drawn = figures(None if hat is None else hat_figure(hat), fall_figure(slopes))
    except OverflowError:
        drawn = None
    return Section("sensitivity", "Derivatives", (e("p", text), cards(shown), drawn))


def hat_figure(hat: Floats) -> Element | None:
    """dfit/dy as tiles: row i, column j is how the fit at point i moves with the target of point j."""
    n = len(hat)
    largest = float(np.abs(hat).max(initial=0.0))
    if n > MOST_TILES or largest == 0.0:
        return None
    side = min(340.0, 40.0 * n)
    left, top, cell = (WIDTH - side) / 2, 22.0, side / n
    tiles = []
    for i in range(n):
        for j in range(n):
            value = float(hat[i, j])
            strength = abs(value) / largest
            if strength < 0.004:
                continue
            place = {"x": left + j * cell, "y": top + i * cell, "width": cell * 0.96, "height": cell * 0.96}
            title = e("title", f"fit {i + 1} by target {j + 1}: {value:.5g}")
            tiles.append(e("rect", title, **tint(value, 0.05 + 0.9 * strength, "tile"), **place))
    caption = "dfit/dy: how the fit at each point answers to the target of each; warm with it, cold against it."
    return picture(
        top + side + 26,
        "The derivative of the fit by the targets",
        caption,
        e("rect", x=left, y=top, width=side, height=side, cls="rim"),
        tiles,
        e("text", "target", x=WIDTH / 2, y=15.0, cls="label mid"),
        e("text", "fit", x=left - 8, y=top + side / 2, cls="label end"),
        e("text", f"strongest: {largest:.3g}", x=WIDTH / 2, y=top + side + 18, cls="tick mid"),
    )


def fall_figure(slopes: Floats) -> Element | None:
    """The derivatives of the weights alpha by lambda, as bars to both sides of zero."""
    largest = float(np.abs(slopes).max(initial=0.0))
    if len(slopes) > MOST_TILES or largest == 0.0:
        return None
    row, top, zero, room = 20.0, 8.0, WIDTH / 2, WIDTH / 2 - 84
    bars = []
    for a, slope in enumerate(float(x) for x in slopes):
        y, length = top + a * row, max(1.0, room * abs(slope) / largest)
        kind, x = ("plus", zero) if slope > 0 else ("minus", zero - length)
        bars.append(e("rect", x=x, y=y + 3, width=length, height=row - 7, rx=2.0, cls=f"bar {kind}"))
        end, cls = (zero + length + 5, "tick") if slope > 0 else (zero - length - 5, "tick end")
        bars.append(e("text", f"{slope:.4g}", x=end, y=y + 14, cls=cls))
    bottom = top + row * len(slopes)
    return picture(
        bottom + 8,
        "The derivatives of the weights by lambda",
        "dα/dλ: how the weight α of each tied neuron answers to λ (w = α v, |v| = λ).",
        e("path", d=f"M{zero:.1f} {top:.1f}V{bottom:.1f}", cls="axis"),
        bars,
    )
