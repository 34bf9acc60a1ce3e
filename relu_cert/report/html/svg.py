"""SVG: plotting areas with scales, ticks and axes, and polygons cut by lines; colours are left to the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.report.html.page import Floats, e, number

WIDTH = 460.0
LETTER = 6.9  # the width of a digit on an axis
Point = tuple[float, float]
Ticks = Sequence[tuple[float, str]]
Layer = Element | Iterable[Element] | None


@dataclass(frozen=True)
class Frame:
    """The box [x0, x1] x [y0, y1] of data coordinates on a drawing of that height.

    A `left` margin of 0 becomes as wide as the numbers of the upward axis and its name need.
    """

    x0: float
    x1: float
    y0: float
    y1: float
    height: float = 320.0
    left: float = 0.0
    right: float = 18.0
    top: float = 12.0
    bottom: float = 42.0

    def __post_init__(self) -> None:
        if not self.left:
            longest = max((len(text) for _, text in tick_labels(ticks(self.y0, self.y1, 6))), default=1)
            object.__setattr__(self, "left", max(46.0, 28.0 + LETTER * longest))

    @property
    def wall(self) -> float:
        """Where the plotting area ends at the right."""
        return WIDTH - self.right

    @property
    def floor(self) -> float:
        """Where it ends below."""
        return self.height - self.bottom

    def x(self, value: float) -> float:
        """The place of a value across."""
        return self.left + (value - self.x0) / (self.x1 - self.x0) * (self.wall - self.left)

    def y(self, value: float) -> float:
        """The place of a value upwards."""
        return self.floor - (value - self.y0) / (self.y1 - self.y0) * (self.floor - self.top)

    def at(self, point: Point) -> Point:
        """The place of a point."""
        return self.x(point[0]), self.y(point[1])

    def path(self, points: Iterable[Point], *, closed: bool = False) -> str:
        """The d of a path through points in data coordinates."""
        return path((self.at(p) for p in points), closed=closed)

    def line(self, points: Iterable[Point], cls: str, title: str | None = None) -> Element:
        """A line through points in data coordinates."""
        return e("path", tooltip(title), d=self.path(points), cls=cls)

    def upwards(self, value: float, cls: str) -> Element:
        """The line at a value across, from the floor to the ceiling."""
        return self.line([(value, self.y0), (value, self.y1)], cls)

    def dot(self, point: Point, radius: float, cls: str, title: str | None = None) -> Element:
        """A dot at a point in data coordinates."""
        return dot(self.at(point), radius, cls, title)

    def picture(self, title: str, caption: str, *content: Layer, below: Sequence[Element] = ()) -> Element:
        """A drawing of this size with its sentence."""
        return picture(self.height, title, caption, *content, below=below)

    def legend(self, x: float, names: Iterable[str], classes: Iterable[str]) -> list[Element]:
        """What the lines are called, from the ceiling down; each with a piece of its line."""
        found = []
        for i, (name, cls) in enumerate(zip(names, classes, strict=True)):
            y = self.top + 14 + 16 * i
            found.append(e("path", d=f"M{number(x)} {number(y - 4)}h20", cls=cls))
            found.append(e("text", name, x=x + 26, y=y, cls="label"))
        return found

    def axes(self, xlabel: str, ylabel: str, *, xticks: Ticks | None = None, yticks: Ticks | None = None) -> Element:
        """Grid lines, tick labels and the names of the axes; without a name an axis has no labels of its own."""
        across = xticks if xticks is not None else tick_labels(ticks(self.x0, self.x1, 6))
        upwards = yticks if yticks is not None else tick_labels(ticks(self.y0, self.y1, 6))
        named = across if xlabel else ()
        top, floor, left, wall = map(number, (self.top, self.floor, self.left, self.wall))
        middle = (self.left + self.wall) / 2
        return e(
            "g",
            [e("path", d=f"M{number(self.x(v))} {top}V{floor}", cls="grid") for v, _ in across],
            [e("path", d=f"M{left} {number(self.y(v))}H{wall}", cls="grid") for v, _ in upwards],
            [e("text", text, x=self.x(v), y=self.floor + 15, cls="tick mid") for v, text in named],
            [e("text", text, x=self.left - 6, y=self.y(v) + 4, cls="tick end") for v, text in upwards],
            e("text", short_name(xlabel, 48), x=middle, y=self.height - 8, cls="label mid") if xlabel else None,
            upright(short_name(ylabel, 30), 12, (self.top + self.floor) / 2),
        )


@dataclass(frozen=True)
class Decades:
    """A logarithmic axis from 10^first to 10^last, between two margins of a drawing."""

    first: int
    last: int
    left: float
    right: float

    def x(self, exponent: float) -> float:
        """The place of a power of ten."""
        return self.left + (exponent - self.first) / (self.last - self.first) * (WIDTH - self.left - self.right)

    def marks(self, top: float, bottom: float, room: float, wanted: int) -> list[Element]:
        """Grid lines from top to bottom, and the powers of ten `room` below them."""
        found = []
        for k in range(self.first, self.last + 1, max(1, -(-(self.last - self.first) // wanted))):
            found.append(e("path", d=path([(self.x(k), top), (self.x(k), bottom)]), cls="grid"))
            found.append(e("text", f"1e{k}" if k else "1", x=self.x(k), y=bottom + room, cls="tick mid"))
        return found


def picture(height: float, title: str, caption: str, *content: Layer, below: Sequence[Element] = ()) -> Element:
    """A drawing with its sentence; between them what belongs below it."""
    return e("figure", drawing(height, title, *content), *below, e("figcaption", caption))


def drawing(height: float, title: str, *content: Layer) -> Element:
    """An SVG of that height; the title is what a screen reader says. Several elements are a group."""
    body = [one if isinstance(one, Element) else e("g", one) for one in content if one is not None]
    return e(
        "svg",
        e("title", title),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(WIDTH)} {number(height)}",
        role="img",
    )


def path(points: Iterable[Point], *, closed: bool = False) -> str:
    """The d of a path through points of the drawing."""
    body = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f"M{body}Z" if closed else f"M{body}"


def thin_line(points: Sequence[Point], room: float = 0.12) -> list[Point]:
    """A line of fewer points that stays within `room` of all of them (Ramer, Douglas, Peucker)."""
    if len(points) < 3:
        return list(points)
    P = np.asarray(points, dtype=np.float64)
    keep = np.zeros(len(P), dtype=bool)
    keep[[0, -1]] = True
    work = [(0, len(P) - 1)]
    while work:
        a, b = work.pop()
        if b - a < 2:
            continue
        chord, off = P[b] - P[a], P[a + 1 : b] - P[a]
        share = np.clip(off @ chord / max(float(chord @ chord), 1e-300), 0.0, 1.0)
        far = np.linalg.norm(off - share[:, None] * chord, axis=1)
        i = int(np.argmax(far))
        if far[i] > room:
            middle = a + 1 + i
            keep[middle] = True
            work += [(a, middle), (middle, b)]
    return [point for point, kept in zip(points, keep, strict=True) if kept]


def dot(place: Point, radius: float, cls: str, title: str | None = None, **more: str) -> Element:
    """A dot of the drawing; the title is told where the mouse is over it."""
    return e("circle", tooltip(title), cx=place[0], cy=place[1], r=radius, cls=cls, **more)


def tone(sign: float) -> str:
    """The class of what has a sign, such as a neuron."""
    return "plus" if sign > 0 else "minus"


def tint(value: float, strength: float, also: str = "") -> dict[str, str]:
    """The attributes of what is filled by a value: warm from zero up, cold below, as strong as is said from 0 to 1."""
    cls = f"{'warm' if value >= 0 else 'cold'} {also}".rstrip()
    return {"cls": cls, "fill_opacity": str(round(strength, 3))}


def tooltip(title: str | None) -> Element | None:
    """What is told where the mouse is."""
    return None if title is None else e("title", title)


def upright(text: str, x: float, y: float) -> Element:
    """A text that reads upwards."""
    return e("text", text, cls="label mid", transform=f"translate({number(x)} {number(y)}) rotate(-90)")


def ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) from low to high, about as many as wanted."""
    span = high - low
    if not span > 0:
        return [low]
    raw = span / max(1, wanted)
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= raw * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def tick_labels(values: Sequence[float]) -> list[tuple[float, str]]:
    """Tick values with their text, all to the same digits."""
    step = abs(values[1] - values[0]) if len(values) > 1 else max(abs(values[0]), 1.0) if values else 1.0
    largest = max((abs(v) for v in values), default=1.0)
    if largest >= 1e7 or step >= 1e5 or step < 1e-4:
        return _told_apart([v if abs(v) > step / 2 else 0.0 for v in values])
    places = max(0, -floor(log10(step) + 1e-9))
    return [(v, f"{v:.{places}f}" if abs(v) > step / 2 else "0") for v in values]


def _told_apart(values: Sequence[float]) -> list[tuple[float, str]]:
    """Each value with as few digits as make all texts different."""
    for digits in range(3, 16):
        texts = [f"{v:.{digits}g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e") for v in values]
        if len(set(texts)) == len(set(values)):
            break
    return list(zip(values, texts, strict=True))


def pad_range(values: Sequence[float], share: float = 0.08) -> tuple[float, float]:
    """A range with room around the values, never empty."""
    low, high = min(values), max(values)
    room = (high - low) * share if low < high else abs(low) / 2 or 1.0
    return low - room, high + room


def short_name(text: str, length: int) -> str:
    """A name that fits, cut in the middle of nowhere with an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


Polygon = Floats  # corners in order, one row each
SQUARE: Polygon = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def keep(polygon: Polygon, normal: Floats, constant: float) -> Polygon | None:
    """The part where normal.p + constant >= 0, or None where nothing of any area is left."""
    height = polygon @ normal + constant
    scale = float(np.abs(normal).sum() + abs(constant)) or 1.0
    height = np.where(np.abs(height) <= 1e-12 * scale, 0.0, height)
    if (height >= 0).all():
        return polygon
    if (height <= 0).all():
        return None
    corners: list[Floats] = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if height[i] >= 0:
            corners.append(polygon[i])
        if height[i] * height[j] < 0:
            share = height[i] / (height[i] - height[j])
            corners.append(polygon[i] + share * (polygon[j] - polygon[i]))
    return np.array(corners) if len(corners) >= 3 else None


def cells(normals: Floats, constants: Floats) -> list[Polygon]:
    """The cells into which the lines normal.p + constant = 0 cut the unit square."""
    found: list[Polygon] = [SQUARE]
    for normal, constant in zip(normals, constants, strict=True):
        if not normal.any():
            continue
        pieces = []
        for polygon in found:
            for side in (1.0, -1.0):
                piece = keep(polygon, side * normal, side * constant)
                if piece is not None:
                    pieces.append(piece)
        found = pieces
    return found


def band(polygon: Polygon, normal: Floats, constant: float, low: float, high: float) -> Polygon | None:
    """The part of a cell where the affine function normal.p + constant lies between two levels."""
    part = keep(polygon, normal, constant - low)
    return None if part is None else keep(part, -normal, high - constant)


def chord(normal: Floats, constant: float) -> tuple[Floats, Floats] | None:
    """The two points where the line normal.p + constant = 0 enters and leaves the unit square."""
    ends: list[Floats] = []
    for i in range(4):
        a, b = SQUARE[i], SQUARE[(i + 1) % 4]
        at_a, at_b = float(a @ normal + constant), float(b @ normal + constant)
        if at_a == at_b or at_a * at_b > 0:
            continue
        p = a + at_a / (at_a - at_b) * (b - a)
        if not any(np.allclose(p, q, atol=1e-9) for q in ends):
            ends.append(p)
    return (ends[0], ends[1]) if len(ends) >= 2 else None
