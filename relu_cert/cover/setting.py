"""A network's problem in the forms that the stages of a cover need, and a float network moved to the optimum of its
faces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from relu_cert.cover.free_task import task_of
from relu_cert.cover.limits import MOST_DIRECTIONS
from relu_cert.cover.lines import frame_of, lines_of, row_space
from relu_cert.cover.refine import RefineData, data_of
from relu_cert.cover.stack import Floats
from relu_cert.cover.train import Trained, TrainingTask, objective
from relu_cert.exact import Matrix, Vector, first_independent, scaled_rows
from relu_cert.free import outputs, weights_of
from relu_cert.problem.loss import SQUARES
from relu_cert.problem.problem import Problem

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
