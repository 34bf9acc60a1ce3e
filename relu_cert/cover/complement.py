"""The complement of what a network leaves free: where theta is moved so that a cover can hold.

theta is orthogonal to the columns of free terms. Where antipodal neurons tie beside them it is orthogonal to the whole
face; with free biases it is 0 on lines whose weight is nearly 0, and level along the bias of a neuron without kinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relu_cert.bags import EACH
from relu_cert.cover.build import THETA_BITS, Exhausted, rounded
from relu_cert.cover.lines import weights_of
from relu_cert.cover.refine import RefineData
from relu_cert.cover.setting import CoverData
from relu_cert.cover.stack import Floats
from relu_cert.cover.train import Trained
from relu_cert.exact import Vector, dot
from relu_cert.free import orthogonal
from relu_cert.prove.candidates import on_face

TWO_SIDED_BITS = 150  # as many digits of theta are 0 where it is orthogonal
IDLE_BITS, FLOAT_IDLE_BITS = 180, 40  # weights below this part of the largest are 0: theta has 220 digits, or 53
KINK = 1e-7  # a row nearer than this to a neuron's border is a kink of it
Neurons = tuple[tuple[int, Vector], ...]
Moves = tuple[tuple[int, Fraction], ...]


def exact_theta(given: CoverData, residual: Vector, neurons: Neurons) -> tuple[Vector, Moves]:
    """The digits of a network's residual, moved in a few rows to where they must be, and these moves."""
    digits = rounded(residual, THETA_BITS)
    if not given.columns:
        return digits, ()
    free = (*given.columns, *_two_sided(given, digits, neurons))
    if not given.biases:
        base = orthogonal(free, digits)
        return base, moves_between(digits, base)
    idle = _idle(given.data, digits)
    cleared = tuple(Fraction(0) if k in idle else x for k, x in enumerate(digits))
    rows = sorted(range(len(digits)), key=lambda k: k in idle)  # these stay 0
    base = orthogonal((*free, *_exactly_level(given, neurons, idle)), cleared, rows)
    return base, moves_between(digits, base)


def float_theta(given: CoverData, trained: Trained) -> Vector:
    """theta to the digits of floats, where it must be."""
    problem = given.problem
    theta = problem.loss.clip(problem.y, tuple(Fraction(float(x)) for x in trained.residual))
    idle = _idle(given.data, theta, FLOAT_IDLE_BITS) if given.biases else frozenset()
    cleared = tuple(Fraction(0) if k in idle else x for k, x in enumerate(theta))
    columns = (*given.columns, *_levels(given, trained.V @ given.frame))
    found = orthogonal(columns, cleared, sorted(problem.loss.widest(problem.y, theta), key=lambda k: k in idle))
    if not problem.loss.allows(problem.y, found):
        raise Exhausted("theta has no room between 0 and the labels")
    return found


def moves_between(before: Vector, after: Vector) -> Moves:
    """The rows at which they differ, with the differences."""
    return tuple((k, x - z) for k, (z, x) in enumerate(zip(before, after, strict=True)) if x != z)


def _idle(data: RefineData, theta: Vector, bits: int = IDLE_BITS) -> frozenset[int]:
    """The rows of lines that have no weight, up to the last digits of theta."""
    weights = weights_of(data.lines, theta, 1)
    nothing = Fraction(weights.unit * max(map(abs, data.lines.multiple), default=0), 1 << bits)
    size = max(map(abs, theta), default=Fraction(0)) / data.lines.scale
    idle = {c for c, w in enumerate(weights.w) if abs(w) <= nothing * size}
    rows: dict[int, list[int]] = {}
    for k, c in enumerate(data.lines.line):
        rows.setdefault(c, []).append(k)
    single = data.bags is EACH  # else a row has no theta of its own
    return frozenset(k for c in idle for k in rows[c] if len(rows[c]) == 1 and single)


def _two_sided(given: CoverData, theta: Vector, neurons: Neurons) -> list[Vector]:
    """Z u for all u of the face of a neuron, if theta is orthogonal to them up to its last digits."""
    data, floats = given.data, np.array([float(x) for x in theta])
    size = float(np.linalg.norm(floats) * np.linalg.norm(data.floats, axis=1).max())
    found: dict[tuple[int, ...], list[Vector]] = {}
    for _, w in neurons:
        heights = data.floats @ np.array([float(x) for x in w])
        kinks = tuple(np.flatnonzero(np.abs(heights) < KINK * np.abs(heights).max()).tolist())
        if kinks not in found:
            columns = [data.bags.pooled(one) for one in on_face(given.Z, kinks)]
            longest = max((abs(x) for one in columns for x in one), default=Fraction(0))  # no face: kinks of floats
            tiny = Fraction(size) * longest / (1 << TWO_SIDED_BITS)
            found[kinks] = columns if all(abs(dot(one, theta)) <= tiny for one in columns) else []
    return [one for columns in found.values() for one in columns]


def _exactly_level(given: CoverData, neurons: Neurons, idle: frozenset[int]) -> list[Vector]:
    """The rows at which a neuron is on, of every neuron that is zero at rows without weight only."""
    found = []
    for _, w in neurons:
        heights = [dot(z, w) for z in given.Z]
        if all(h or k in idle for k, h in enumerate(heights)):
            found.append(given.data.bags.pooled([Fraction(int(h > 0)) for h in heights]))
    return found


def _levels(given: CoverData, V: Floats) -> Sequence[Vector]:
    """The rows at which a neuron without kinks is on: where its bias is free, their theta adds up to 0. (One with kinks
    has shares for that.)"""
    if not given.biases:
        return ()
    rows = given.data.floats
    cosines = V @ rows.T / np.linalg.norm(rows, axis=1)
    smooth = np.abs(cosines).min(axis=1) > KINK * np.linalg.norm(V, axis=1)
    return [given.data.bags.pooled([Fraction(int(on)) for on in row]) for row in cosines[smooth] > 0.0]
