"""A network's problem in the forms that the stages of a cover need, and a float network moved to the optimum of its
faces.

The complement of what a network leaves free: where theta is moved so that a cover can hold.

theta is orthogonal to the columns of free terms. Where antipodal neurons tie beside them it is orthogonal to the whole
face; with free biases it is 0 on lines whose weight is nearly 0, and level along the bias of a neuron without kinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from relu_cert.bags import EACH
from relu_cert.cover.build import THETA_BITS, Exhausted, rounded
from relu_cert.cover.free_task import task_of
from relu_cert.cover.limits import MOST_DIRECTIONS
from relu_cert.cover.lines import frame_of, lines_of, row_space
from relu_cert.cover.lines import weights_of as weights_of_lines
from relu_cert.cover.refine import RefineData, data_of
from relu_cert.cover.stack import Floats
from relu_cert.cover.train import Trained, TrainingTask, objective
from relu_cert.exact import Matrix, Vector, dot, first_independent, scaled_rows
from relu_cert.free import orthogonal, outputs, weights_of
from relu_cert.problem.loss import SQUARES
from relu_cert.problem.problem import Problem
from relu_cert.prove.candidates import on_face

MOST_COLUMNS, MOST_ROWS = 16, 2**21  # of data for a cover: what the checker takes
LONGEST = 2**40  # an entry of the basis, of generators that may have 52 bits


@dataclass(frozen=True)
class CoverData:
    """The problem, the columns of its free terms, its data in integers, and the frame in which it is trained."""

    problem: Problem
    columns: tuple[Vector, ...]
    data: RefineData
    frame: Floats

    @property
    def Z(self) -> Matrix:
        """The rows."""
        return self.problem.relu.Z

    @property
    def y(self) -> Vector:
        """The targets."""
        return self.problem.y

    @property
    def biases(self) -> bool:
        """Whether the norm leaves out the last entry of the weights."""
        return self.data.lines.biases

    @cached_property
    def task(self) -> TrainingTask:
        """The problem in floats, in the coordinates of the frame."""
        return task_of(self.problem, self.columns, self.data.floats @ self.frame.T, float(self.data.lam))

    def at(self, lam: Fraction) -> CoverData:
        """The same at lambda."""
        return replace(self, data=replace(self.data, lam=lam))


def setting(problem: Problem) -> CoverData:
    """The problem, prepared (lambda is 1 until it is set). With free biases it is trained in the columns of Z."""
    Z, biases = problem.relu.Z, "biases" in problem.free
    lines = lines_of(Z, biases, problem.relu.bags)
    basis = row_space(lines)
    frame = np.eye(len(Z[0])) if biases else frame_of(basis)
    columns = outputs(problem)
    data = data_of(Z, problem.y, Fraction(1), lines, basis)
    if problem.loss is SQUARES and columns:
        own = (scaled_rows([columns[j]])[0][0] for j in first_independent(columns))
        data = replace(data, outputs=tuple(map(tuple, own)))
    return CoverData(problem, columns, data, frame)


def setting_for_cover(problem: Problem) -> CoverData | None:
    """The same; None where there is no cover: with too many rows or features, too long a basis, or zeros only."""
    Z = problem.relu.Z
    if len(Z[0]) > MOST_COLUMNS or len(Z) > MOST_ROWS or not any(any(weights_of(problem.free, z)) for z in Z):
        return None
    found = setting(problem)
    long = any(abs(x) >= LONGEST for v in found.data.basis for x in v)
    return None if long or not 0 < len(found.data.basis) <= MOST_DIRECTIONS else found


KINKS = (1e-6, 1e-7, 1e-5, 1e-8)  # lines as near as this to a neuron are its kinks
STEPS = 30


def polished(task: TrainingTask, trained: Trained) -> Trained:
    """The network at the optimum of its faces: Newton's method with kinks and patterns held, to the digits of floats.
    The given network where that is no better."""
    sizes = task.sizes(trained.V)
    lengths = np.maximum(np.linalg.norm(task.Z, axis=1), 1e-300)
    best, least = trained, _slope(task, trained)
    for tolerance in KINKS if len(sizes) else ():
        cosines = np.abs(task.Z @ trained.V.T) / lengths[:, None] / sizes
        moved = _on_faces(task, trained, cosines < tolerance)
        if moved is not None and (slope := _slope(task, moved)) < least:
            best, least = moved, slope
    return best


def _on_faces(task: TrainingTask, trained: Trained, kinks: np.ndarray) -> Trained | None:
    """Newton's method on the faces of these kinks; None where it leaves the patterns."""
    V, xi = trained.V, trained.xi
    bases = [_null_space(task.Z[kinks[:, i]], V.shape[1]) for i in range(len(V))]
    if any(not basis.shape[1] for basis in bases):
        return None
    on = (task.Z @ V.T > 0.0) & ~kinks
    J = np.hstack([xi[i] * task.pooled(task.Z * on[:, i : i + 1]) @ basis for i, basis in enumerate(bases)])
    norms = [basis.T @ (task.seen[:, None] * basis) for basis in bases]  # |v|^2 on each face
    ends = np.cumsum([0, *(basis.shape[1] for basis in bases)])
    x = np.concatenate([basis.T @ v for basis, v in zip(bases, V, strict=True)])
    for _ in range(STEPS):
        _, theta = task.loss(J @ x)
        gradient = -(J.T @ theta)
        W = task.weighted(J, task.bend(theta))
        H = W.T @ W
        for (a, b), norm in zip(pairwise(ends), norms, strict=True):
            size = float(np.sqrt(x[a:b] @ norm @ x[a:b]))
            u = norm @ x[a:b] / size
            gradient[a:b] += task.lam * u
            H[a:b, a:b] += task.lam / size * (norm - np.outer(u, u))
        step = np.linalg.lstsq(H, -gradient, rcond=1e-14)[0]
        x = x + step
        if any(not x[a:b] @ norm @ x[a:b] > 0.0 for (a, b), norm in zip(pairwise(ends), norms, strict=True)):
            return None
        if float(np.abs(step).max()) <= 1e-16 * float(np.abs(x).max()):
            break
    moved = np.array([basis @ x[a:b] for basis, (a, b) in zip(bases, pairwise(ends), strict=True)])
    if not np.isfinite(moved).all() or (((task.Z @ moved.T > 0.0) & ~kinks) != on).any():
        return None
    _, theta = task.loss(J @ x)
    return Trained(moved, xi, theta, objective(task, moved, xi)[0])


def _null_space(rows: Floats, d: int) -> Floats:
    """Orthonormal columns that the rows are orthogonal to."""
    lengths = np.linalg.norm(rows, axis=1)
    rows, lengths = rows[lengths > 0.0], lengths[lengths > 0.0]
    if not len(rows):
        return np.eye(d)
    _, sizes, axes = np.linalg.svd(rows / lengths[:, None])
    rank = int((sizes > 1e-5).sum())
    null: Floats = axes[rank:].T
    return null


def _slope(task: TrainingTask, trained: Trained) -> float:
    """The largest distance of xi theta.(Zu)_+ from lambda at the neurons, relatively."""
    if not len(trained.V):
        return 0.0
    heights = task.outputs(trained.V).T @ trained.residual * trained.xi
    return float(np.abs(heights / task.sizes(trained.V) / task.lam - 1.0).max())


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
    weights = weights_of_lines(data.lines, theta, 1)
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
