"""The path for the eye: what can be drawn of it, and the drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import atan2, ceil, floor, log, log10, pi
from typing import Literal
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.exact import Vector, sqrt_upper
from relu_cert.path.curve import DENSE, Breakpoint, CurveNeuron, Sample
from relu_cert.path.pieces import PathPieces
from relu_cert.prove.facts import LambdaMax
from relu_cert.report.html.page import e, number
from relu_cert.report.html.svg import Frame, Point, pad_range, path, thin_line, tone
from relu_cert.report.path import event, set_text

TURN = 0.35  # unit directions nearer than this are the same neuron
Kind = Literal["smooth", "still", "set", "gap", "zero"]


@dataclass(frozen=True)
class Stretch:
    """An interval of log10 lambda and what is known there; `text` says why nothing is, or what the set is."""

    lo: float
    hi: float
    kind: Kind
    text: str = ""


@dataclass(eq=False)
class Track:
    """One neuron along the path. A run is a line that may be drawn: points (log10 lambda, |w|, direction)."""

    sign: int
    block: int | None
    runs: list[list[Spot]] = field(default_factory=list)

    @property
    def first(self) -> Spot:
        """The point of least lambda."""
        return self.runs[0][0]

    @property
    def last(self) -> Spot:
        """The point of largest lambda."""
        return self.runs[-1][-1]


@dataclass(frozen=True)
class Spot:
    """A neuron at one lambda."""

    x: float
    weight: float
    direction: tuple[float, ...]


@dataclass(frozen=True)
class Level:
    """The objective at one lambda: p* = loss + penalty, and the width; `run` counts the stretches between gaps."""

    x: float
    value: float
    penalty: float
    width: int
    run: int


def stretches(cover: PathPieces, largest: LambdaMax) -> tuple[Stretch, ...]:
    """What is known where, from the least lambda to the largest."""
    found = [
        Stretch(log10(piece.lo), log10(piece.hi), "still" if len(piece.s) == 1 else "smooth")
        if piece.unique
        else Stretch(log10(piece.lo), log10(piece.hi), "set", set_text(piece.dimension))
        for piece in cover.pieces
    ]
    found += [Stretch(log10(gap.lo), log10(gap.hi), "gap", gap.reason) for gap in cover.gaps]
    root = sqrt_upper(largest.squared)
    if cover.hi > root:
        found.append(Stretch(log10(max(root, cover.lo)), log10(cover.hi), "zero"))
    return tuple(sorted(found, key=lambda one: (one.lo, one.hi)))


def tracks(samples: Sequence[Sample], cover: PathPieces) -> list[Track]:
    """Every neuron of the path, followed; the heaviest at the least lambda first."""
    found: list[Track] = []
    alive: list[Track] = []
    before: Sample | None = None
    for group in _by_piece(samples):
        joined = before is not None and not _gap_between(cover, before, group[0])
        places = _matched(alive, group[0].neurons)
        following: list[Track] = []
        for i, neuron in enumerate(group[0].neurons):
            track = places.get(i)
            if track is None:
                track = Track(neuron.sign, neuron.block)
                found.append(track)
            spots = [Spot(log10(s.lam), s.neurons[i].weight, s.neurons[i].direction) for s in group]
            if track.runs and joined:
                track.runs[-1] += spots
            else:
                track.runs.append(spots)
            following.append(track)
        lost = [one for one in alive if one not in following]
        alive = [*following, *(lost if not joined else [])]  # a gap hides neurons, it does not end them
        before = group[-1]
    return sorted(found, key=lambda one: (one.first.x, -one.first.weight))


def numbers(samples: Sequence[Sample], cover: PathPieces) -> list[list[int]]:
    """For every sample the numbers, from 1, of the tracks that its neurons belong to."""
    place = {
        (track.sign, track.block, spot): number
        for number, track in enumerate(tracks(samples, cover), 1)
        for run in track.runs
        for spot in run
    }
    return [[place[n.sign, n.block, Spot(log10(s.lam), n.weight, n.direction)] for n in s.neurons] for s in samples]


def levels(samples: Sequence[Sample], cover: PathPieces) -> list[Level]:
    """p* and its two parts along the path: the penalty is lambda sum |w_b|, the loss is the rest."""
    found: list[Level] = []
    run, before = 0, None
    for group in _by_piece(samples):
        run += before is not None and _gap_between(cover, before, group[0])
        for s in group:
            penalty = float(s.lam) * sum(n.weight for n in s.neurons)
            found.append(Level(log10(s.lam), float(s.upper), penalty, len(s.neurons), run))
        before = group[-1]
    return found


def values(cover: PathPieces, y: Vector) -> list[Level]:
    """p* and its parts over all pieces, sets too, which have one residual: s is dual feasible at lambda = 1,
    so that lambda^2 (y.s / lambda - |s|^2/2) is at most p*, and near it; lambda^2 |s|^2/2 is the loss."""
    found: list[Level] = []
    run, end, target = 0, None, np.array([float(x) for x in y])
    for piece in cover.pieces:
        run, end = run + (end is not None and piece.lo > end), piece.hi
        S = np.array([[float(x) for x in s] for s in piece.s])
        pull, square = S @ target, S @ S.T
        lo, hi = float(piece.lo), float(piece.hi)
        parts = 1 if len(S) == 1 else ceil(DENSE * log(hi / lo)) + 1
        for tau in np.linspace(1.0, -1.0, parts + 1):
            lam = 2 / ((1 / lo + 1 / hi) + (1 / lo - 1 / hi) * tau)
            powers = tau ** np.arange(len(S))
            dual, lost = lam * float(powers @ pull), lam * lam / 2 * float(powers @ square @ powers)
            found.append(Level(log10(lam), dual - lost, dual - 2 * lost, 0, run))
    return found


def _by_piece(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    """The samples of each piece, lambda ascending; those of one piece have the same neurons."""
    group: list[Sample] = []
    for sample in samples:
        if group and (sample.piece != group[0].piece or len(sample.neurons) != len(group[0].neurons)):
            yield group
            group = []
        group.append(sample)
    if group:
        yield group


def _gap_between(cover: PathPieces, before: Sample, after: Sample) -> bool:
    hidden = [(gap.lo, gap.hi) for gap in cover.gaps] + [(p.lo, p.hi) for p in cover.pieces if not p.unique]
    return any(lo < after.lam and hi > before.lam for lo, hi in hidden)


def _matched(alive: Sequence[Track], neurons: Sequence[CurveNeuron]) -> dict[int, Track]:
    """For each neuron the track that it goes on with, the nearest pairs first."""
    pairs: list[tuple[float, int, Track, int]] = []
    for track in alive:
        for i, neuron in enumerate(neurons):
            if track.sign != neuron.sign or track.block != neuron.block:
                continue
            far = 0.0 if neuron.block is not None else _far(track.last.direction, neuron.direction)
            if far < TURN:
                pairs.append((far, len(pairs), track, i))
    matched: dict[int, Track] = {}
    used: set[Track] = set()
    for _, _, track, i in sorted(pairs, key=lambda pair: pair[:2]):
        if i not in matched and track not in used:
            matched[i] = track
            used.add(track)
    return matched


def _far(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return float(np.linalg.norm(np.subtract(a, b)))


MOST_LABELS = 12
LABEL_ROOM = 13.0  # between two labels, upwards
NARROWEST = 1.6  # of a band, across


@dataclass(frozen=True)
class Axis:
    """The axis of log10 lambda that the pictures of one path share, with what is known along it."""

    lo: float
    hi: float
    stretches: tuple[Stretch, ...]
    breakpoints: tuple[Breakpoint, ...] = ()

    def frame(
        self, low: float, high: float, *, height: float, top: float = 12.0, bottom: float = 42.0, left: float = 0.0
    ) -> Frame:
        """A plotting area over it, with room at the left for the names of the neurons."""
        room = 0.05 * (self.hi - self.lo)
        return Frame(self.lo - room, self.hi + room / 3, low, high, height=height, top=top, bottom=bottom, left=left)

    def marks(self) -> list[tuple[float, str]]:
        """Powers of ten, and 2 and 5 times them where there is room: as (log10 lambda, text)."""
        digits = (1, 2, 5) if self.hi - self.lo < 2.2 else (1,)
        step = max(1, ceil((self.hi - self.lo) / 6))
        found = []
        for power in range(floor(self.lo) - 1, ceil(self.hi) + 1):
            for digit in digits:
                x = power + log10(digit)
                if self.lo <= x <= self.hi and (digit > 1 or power % step == 0):
                    found.append((x, f"{digit * 10.0**power:g}"))
        return found


def path_figure(axis: Axis, found: Sequence[Track], steps: Sequence[Level]) -> Element:
    """Three panels over one axis: the signed weight of every neuron, the width, and the proof."""
    heights = [track.sign * spot.weight for track in found for run in track.runs for spot in run]
    low, high = pad_range([0.0, *heights])
    upper = axis.frame(low, high, height=430.0, bottom=162.0)
    widest = max((level.width for level in steps), default=1) or 1
    lower = axis.frame(0.0, widest + 0.6, height=430.0, top=290.0, bottom=72.0, left=upper.left)
    caption = "The size |w| of every neuron, times its sign, and the width of the network as λ changes."
    if axis.breakpoints:
        caption += " Dashed: breakpoints."
    return upper.picture(
        "The weights of the neurons along the path",
        f"{caption} {_legend(axis)}",
        _bands(upper, axis, lower.floor),
        upper.axes("", "sign × size |w|", xticks=axis.marks()),
        lower.axes("", "width", xticks=axis.marks(), yticks=_whole_ticks(widest)),
        _events(upper, axis, lower.floor),
        [_line(upper, track, _weights(track)) for track in found],
        _names(upper, axis, found, lambda track: track.sign * track.first.weight),
        [lower.line(run, "curve") for run in _staircase(steps)],
        _strip(lower, axis, 364.0),
        [e("text", text, x=lower.x(x), y=396.0, cls="tick mid") for x, text in axis.marks()],
        e("text", "λ", x=(lower.left + lower.wall) / 2, y=420.0, cls="label mid"),
    )


def objective_figure(axis: Axis, steps: Sequence[Level]) -> Element | None:
    """p* as the sum of the loss and the penalty."""
    if not steps:
        return None
    frame = axis.frame(0.0, 1.08 * max(level.value for level in steps) or 1.0, height=250.0)
    runs, areas = _runs(steps), []
    for run in runs:
        top = [(level.x, level.value) for level in run]
        loss = [(level.x, max(0.0, level.value - level.penalty)) for level in run]
        zero = [(run[-1].x, 0.0), (run[0].x, 0.0)]
        areas.append(e("path", d=_thin(frame, [*loss, *zero], closed=True), cls="area cold"))
        areas.append(e("path", d=_thin(frame, [*top, *reversed(loss)], closed=True), cls="area warm"))
    curves = [e("path", d=_thin(frame, ((level.x, level.value) for level in run)), cls="curve") for run in runs]
    return frame.picture(
        "The optimal value along the path",
        "The optimal value p* (line) along the path: the loss ½|f − y|² (blue), and the penalty λ Σ|w| on top of it.",
        _bands(frame, axis, frame.floor),
        frame.axes("λ", "p*", xticks=axis.marks()),
        areas,
        curves,
    )


def angles_figure(axis: Axis, found: Sequence[Track], names: Sequence[str]) -> Element | None:
    """Where the neurons look, as angles; for two features (the bias counts) only."""
    shown = [track for track in found if track.block is None]
    if len(names) != 2 or not shown or any(len(track.first.direction) != 2 for track in shown):
        return None
    frame = axis.frame(-190.0, 190.0, height=280.0)
    degrees = [(float(d), f"{d}°") for d in range(-180, 181, 60)]
    turned = f"Where each neuron looks: the angle of its direction, from {names[0]} towards {names[1]}."
    return frame.picture(
        "The directions of the neurons along the path",
        f"{turned} A level line is a neuron held on the border of two patterns, or one that has settled.",
        _bands(frame, axis, frame.floor),
        frame.axes("λ", "direction", xticks=axis.marks(), yticks=degrees),
        _events(frame, axis, frame.floor),
        [_line(frame, track, _angles(track)) for track in shown],
        _names(frame, axis, shown, lambda track: _angle(track.first)),
    )


def _runs(steps: Sequence[Level]) -> list[list[Level]]:
    """The stretches between gaps."""
    return [list(group) for _, group in groupby(steps, key=lambda level: level.run)]


def _angle(spot: Spot) -> float:
    return atan2(spot.direction[1], spot.direction[0]) * 180 / pi


def _line(frame: Frame, track: Track, runs: Iterable[Sequence[Point]]) -> Element:
    """The runs of a neuron as one path."""
    d = "".join(_thin(frame, run) for run in runs)
    return e("path", d=d, cls=f"neuron {tone(track.sign)}")


def _weights(track: Track) -> list[list[Point]]:
    return [[(spot.x, track.sign * spot.weight) for spot in run] for run in track.runs]


def _angles(track: Track) -> list[list[Point]]:
    """The angles in degrees; a line that leaves at 180 comes back at -180 as another line."""
    pieces: list[list[Point]] = []
    for run in track.runs:
        points = [(spot.x, _angle(spot)) for spot in run]
        pieces.append(points[:1])
        for before, after in pairwise(points):
            if abs(after[1] - before[1]) > 180:
                pieces.append([])
            pieces[-1].append(after)
    return pieces


def _names(frame: Frame, axis: Axis, found: Sequence[Track], height: Callable[[Track], float]) -> list[Element]:
    """The numbers of the neurons whose lines begin where the axis does, or where a gap or a set ends: at their left
    ends, moved apart where they would meet."""
    begins = _apart([axis.lo, *(one.hi for one in axis.stretches if one.kind in ("gap", "set"))], axis)
    groups: dict[float, list[tuple[float, int]]] = {}
    for i, track in enumerate(found):
        begin = min(begins, key=lambda x: abs(x - track.first.x))
        if abs(begin - track.first.x) <= 0.01 * (axis.hi - axis.lo):
            groups.setdefault(begin, []).append((frame.y(height(track)), i))
    labels: list[Element] = []
    for begin, there in groups.items():
        there.sort()
        tops = spread([y for y, _ in there], LABEL_ROOM, frame.top + 6, frame.floor - 2)
        for y, (_, i) in zip(tops, there, strict=True) if len(there) <= MOST_LABELS else ():
            place = {"x": frame.x(begin) - 4, "y": y + 4}
            labels.append(e("text", track_name(found[i], i), cls=f"label end name {tone(found[i].sign)}", **place))
    return labels


def _apart(places: Sequence[float], axis: Axis) -> list[float]:
    """The places, ascending, without those that are too near to the one before to have labels of their own."""
    kept: list[float] = []
    for x in sorted(places):
        if axis.lo <= x < axis.hi and (not kept or x - kept[-1] > 0.06 * (axis.hi - axis.lo)):
            kept.append(x)
    return kept


def track_name(track: Track, place: int) -> str:
    """The name of a neuron of the path, from 1; or its group."""
    return f"b{track.block}" if track.block is not None else str(place + 1)


def spread(places: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Ascending places moved as little as a sweep down and a sweep up need to have `room` between them."""
    moved: list[float] = []
    for y in places:
        moved.append(max(y, low, moved[-1] + room if moved else low))
    ceiling = high
    for i in range(len(moved) - 1, -1, -1):
        moved[i] = min(moved[i], ceiling)
        ceiling = moved[i] - room
    return moved


def _whole_ticks(widest: int) -> list[tuple[float, str]]:
    step = max(1, ceil(widest / 4))
    return [(float(k), str(k)) for k in range(0, widest + 1, step)]


def _bands(frame: Frame, axis: Axis, floor: float) -> list[Element]:
    """Where nothing is proved, and where the optimal networks are a set; neighbours that say the same are one."""
    found, top = [], frame.top
    for (kind, text), group in groupby(axis.stretches, key=lambda one: (one.kind, one.text)):
        run = list(group)
        if kind not in ("gap", "set"):
            continue
        x0, x1 = frame.x(max(run[0].lo, axis.lo)), frame.x(min(run[-1].hi, axis.hi))
        place = {"x": min(x0, x1 - NARROWEST), "y": top, "width": max(NARROWEST, x1 - x0), "height": floor - top}
        found.append(e("rect", e("title", text), cls=f"band of-{kind}", **place))
        if kind == "set" and x1 - x0 > 7.0 * len(text) / 2:
            for line, words in enumerate(_halves(text)):
                found.append(e("text", words, x=(x0 + x1) / 2, y=top + 14 + 13 * line, cls="tick mid"))
    return found


def _halves(text: str) -> tuple[str, str]:
    """A text in two lines of about the same length."""
    words = text.split(" ")
    cut = min(range(1, len(words) + 1), key=lambda i: abs(len(" ".join(words[:i])) - len(text) / 2))
    return " ".join(words[:cut]), " ".join(words[cut:])


def _events(frame: Frame, axis: Axis, floor: float) -> list[Element]:
    found = []
    for one in axis.breakpoints:
        x = frame.x(log10(one.hi))
        title = e("title", f"{event(one)} at λ ≈ {float(one.hi):.10g}")
        found.append(e("path", title, d=f"M{number(x)} {number(frame.top)}V{number(floor)}", cls="event"))
    return found


def _staircase(steps: Sequence[Level]) -> list[list[Point]]:
    runs = []
    for group in _runs(steps):
        run: list[Point] = []
        for level in group:
            if run and run[-1][1] != level.width:
                run.append((level.x, run[-1][1]))
            if len(run) > 1 and run[-1][1] == run[-2][1] == level.width:
                run.pop()
            run.append((level.x, float(level.width)))
        runs.append(run)
    return runs


def _strip(frame: Frame, axis: Axis, y: float) -> list[Element]:
    """The pieces of the proof side by side."""
    found = []
    for kind, group in groupby(axis.stretches, key=lambda one: one.kind):
        run = list(group)
        x0, x1 = frame.x(max(run[0].lo, axis.lo)), frame.x(min(run[-1].hi, axis.hi))
        if x1 > x0 - 1 and kind != "still":
            found.append(e("rect", x=x0, y=y, width=max(0.8, x1 - x0), height=10.0, cls=f"piece of-{kind}"))
    seams = sorted({round(frame.x(one.hi), 1) for one in axis.stretches if one.kind in ("smooth", "still")})
    d = "".join(f"M{number(x)} {number(y)}v10" for x in seams)
    return [*found, *([e("path", d=d, cls="seam")] if d else [])]


def _legend(axis: Axis) -> str:
    kinds = {one.kind for one in axis.stretches}
    text = "The strip below is the proof, piece by piece"
    text += ": green, the optimal network is unique" if kinds & {"smooth", "still"} else ""
    text += "; violet, the set of optimal networks moves continuously" if "set" in kinds else ""
    text += "; grey bands, not proved, so no line is drawn" if "gap" in kinds else ""
    return text + "."


def _thin(frame: Frame, points: Iterable[Point], *, closed: bool = False) -> str:
    """The d of a path through points in data coordinates, without those that nobody would miss."""
    return path(thin_line([frame.at(p) for p in points]), closed=closed)
