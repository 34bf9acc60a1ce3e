"""The logistic loss over a cover: the dual constraint is that of the squares, with 0 <= y_k theta_k <= 1.

The network is trained in floats, moved to the optimum of its faces by Newton's method, and its theta, which has the
digits of floats, is shrunk until the cover holds: by some 2^-40 where all ties are known, else by what time allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from relu_cert.cover.build import Stuck, dual_cover, part_of
from relu_cert.cover.engine import Floats
from relu_cert.cover.evidence import Cover, Tie
from relu_cert.cover.limits import Limits, Tell
from relu_cert.cover.lines import Weights, weights_of
from relu_cert.cover.optimum import FACES, MOST_TIES, Found, Prover, Setting, nearby, neurons_of
from relu_cert.cover.ties import SAME, Untied, longest_squared, near_direction, ties_at, unit, value
from relu_cert.cover.train import Task, Trained, objective
from relu_cert.exact import Vector
from relu_cert.problem.loss import LOGISTIC

SHRINKS = 60  # theta times 1 - 2^-k: the most digits for which that is tried
KINKS = (1e-6, 1e-7, 1e-5, 1e-8)  # lines as near as this to a neuron are its kinks
STEPS = 30


class LogisticSetting(Setting):
    """The data with labels +-1 and the logistic loss."""

    @property
    def task(self) -> Task:
        """The problem in floats, in coordinates of the row space."""
        return replace(super().task, logistic=True)


class LogisticProver(Prover):
    """One run for the logistic loss."""

    def __init__(self, given: Setting, lam: Fraction, limits: Limits, tell: Tell) -> None:
        own = LogisticSetting(given.network, given.y, given.data, given.frame)
        super().__init__(own, lam, limits, tell)

    def _exact(self, trained: Trained) -> Found:
        """A proof in which all ties are known."""
        trained = polished(self.given.task, trained)
        base = self._base(trained)
        weights = {xi: weights_of(self.data.lines, base, xi) for xi in (1, -1)}
        ties = self._ties(weights, trained)
        while True:
            longest = max((longest_squared(self.data, weights[t.xi], t) for t in ties), default=Fraction(0))
            tau = part_of(longest, self.data.lam, SHRINKS)
            theta = tuple(tau * x for x in base)
            try:
                cover = dual_cover(
                    self.data,
                    self.frame,
                    theta,
                    self.data.lam**2,
                    ties,
                    Fraction(0),
                    self._pool("prove"),
                    1.0 + 1e-7,
                )
                return Found(neurons_of(trained, self.frame), theta, cover)
            except Stuck as stuck:
                more = nearby(self.data, weights[stuck.xi], ties, stuck)
                if more is None or len(ties) >= MOST_TIES:
                    raise Untied("a tie is neither inside a concave piece nor on a ray that the data fix") from None
                ties += more

    def _ties(self, weights: dict[int, Weights], trained: Trained) -> list[Tie]:
        """The ties at the neurons; one that is truly above lambda is a neuron that is missing."""
        found: list[Tie] = []
        lam = float(self.data.lam)
        for xi, u in zip(trained.xi, trained.V @ self.frame, strict=True):
            sign = int(xi)
            for tolerance in FACES:
                try:
                    at = near_direction(self.data, weights[sign], u, tolerance)
                    height = value(weights[sign], at) / lam
                    if abs(height - 1.0) > SAME or float(unit(at) @ u) < (1.0 - 1e-6) * float(np.linalg.norm(u)):
                        continue
                    own = ties_at(self.data, weights[sign], sign, at)
                except Untied:
                    continue
                found += [t for t in own if not any(o.xi == t.xi and o.side == t.side for o in found)]
                break
            else:
                raise Untied("a neuron is not at the optimum of its face")
        return found

    def _theta(self, neurons: Sequence[tuple[int, Vector]]) -> Vector:
        """The dual point of the trained network."""
        return self._base(self.network)

    def _base(self, trained: Trained) -> Vector:
        """The residual's floats exactly, with 0 <= y_k theta_k <= 1."""
        return LOGISTIC.clip(self.given.y, tuple(Fraction(float(t)) for t in trained.residual))

    def _value(self, theta: Vector) -> float:
        """About the dual value."""
        return float(LOGISTIC.dual_value(self.given.y, theta))

    def _told(self, cover: Cover, tau: Fraction) -> Cover:
        """theta is written as it is."""
        return cover


def polished(task: Task, trained: Trained) -> Trained:
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


def _on_faces(task: Task, trained: Trained, kinks: np.ndarray) -> Trained | None:
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


def _slope(task: Task, trained: Trained) -> float:
    """The largest distance of xi theta.(Zu)_+ from lambda at the neurons, relatively."""
    if not len(trained.V):
        return 0.0
    heights = task.outputs(trained.V).T @ trained.residual * trained.xi
    return float(np.abs(heights / task.sizes(trained.V) / task.lam - 1.0).max())
