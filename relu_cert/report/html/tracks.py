"""A path as floats, for pictures: each neuron followed from piece to piece, and how far the proof reaches.

Samples of neighbouring pieces are joined where a proved piece lies between them; over a gap in the proof no line is
drawn. A neuron is taken for the same one on both sides of an event if it has the same sign and looks the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log10
from typing import Literal

import numpy as np

from relu_cert.exact import sqrt_upper
from relu_cert.path.curve import CurveNeuron, Sample
from relu_cert.path.model import Cover
from relu_cert.prove.facts import LambdaMax

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


def stretches(cover: Cover, largest: LambdaMax) -> tuple[Stretch, ...]:
    """What is known where, from the least lambda to the largest."""
    found = [
        Stretch(log10(piece.lo), log10(piece.hi), "still" if len(piece.s) == 1 else "smooth")
        if piece.unique
        else Stretch(log10(piece.lo), log10(piece.hi), "set", f"a set of dimension {piece.dimension}")
        for piece in cover.pieces
    ]
    found += [Stretch(log10(gap.lo), log10(gap.hi), "gap", gap.reason) for gap in cover.gaps]
    root = sqrt_upper(largest.squared)
    if cover.hi > root:
        found.append(Stretch(log10(max(root, cover.lo)), log10(cover.hi), "zero"))
    return tuple(sorted(found, key=lambda one: (one.lo, one.hi)))


def tracks(samples: Sequence[Sample], cover: Cover) -> list[Track]:
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


def numbers(samples: Sequence[Sample], cover: Cover) -> list[list[int]]:
    """For every sample the numbers, from 1, of the tracks that its neurons belong to."""
    place = {
        (track.sign, track.block, spot): number
        for number, track in enumerate(tracks(samples, cover), 1)
        for run in track.runs
        for spot in run
    }
    return [[place[n.sign, n.block, Spot(log10(s.lam), n.weight, n.direction)] for n in s.neurons] for s in samples]


def levels(samples: Sequence[Sample], cover: Cover) -> list[Level]:
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


def _gap_between(cover: Cover, before: Sample, after: Sample) -> bool:
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
