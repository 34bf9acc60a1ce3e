"""A cover for a network with free terms: theta is orthogonal to free outputs, and otherwise it is a cover as any other;
where biases are free, of the directions in which some row is zero.

The network is trained in floats with the free outputs projected away. With squares, and where no bias is free, it is
then refined to many digits as any other, for an exact finish. Otherwise, and where that fails, it is moved to the
optimum of its faces in floats. Its theta is moved to the complement of the free outputs exactly and shrunk until the
cover holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from relu_cert.cover.build import THETA_BITS, Exhausted, Stuck, rounded
from relu_cert.cover.engine import Floats
from relu_cert.cover.limits import MOST_DIRECTIONS, Limits, Tell
from relu_cert.cover.lines import weights_of
from relu_cert.cover.logistic import LogisticProver
from relu_cert.cover.optimum import Found, Moves, Neurons, Prover, Setting, moves_between, residual_of, setting
from relu_cert.cover.refine import Unrefined
from relu_cert.cover.ties import Untied
from relu_cert.cover.train import Trained
from relu_cert.cover.unlisted import MOST_COLUMNS, MOST_ROWS
from relu_cert.exact import Vector, dot, norm_squared, scaled_rows
from relu_cert.free.terms import coefficients, combined, orthogonal
from relu_cert.free.terms import weights_of as seen_part
from relu_cert.free.train import Task
from relu_cert.problem.loss import SQUARES
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.beside import on_face
from relu_cert.rationals import first_independent

COEFFICIENT_BITS = 400
TWO_SIDED_BITS = 150  # as many digits of theta are 0 where it is orthogonal
IDLE_BITS, FLOAT_IDLE_BITS = 180, 40  # weights below this part of the largest are 0: theta has 220 digits, or 53
LONGEST = 2**40  # an entry of the basis, of generators that may have 52 bits
KINK = 1e-7  # a row nearer than this to a neuron's border is a kink of it


@dataclass(frozen=True)
class FreeSetting(Setting):
    """The data with the problem, its free columns and the task in the columns of Z."""

    problem: Problem
    columns: tuple[Vector, ...]
    whole: Task

    @property
    def task(self) -> Task:
        """The problem in floats, in coordinates of the row space."""
        return replace(self.whole, Z=self.data.floats @ self.frame.T, lam=float(self.data.lam))


class FreeProver(LogisticProver):
    """One run with free outputs, for either loss."""

    given: FreeSetting

    def __init__(self, given: FreeSetting, lam: Fraction, limits: Limits, tell: Tell) -> None:
        Prover.__init__(self, given, lam, replace(limits, state=None), tell)

    def _exact(self, trained: Trained) -> Found:
        """The exact finish where there may be one, else a proof to the digits of floats."""
        if self.data.outputs:
            try:
                return Prover._exact(self, trained)
            except (Unrefined, Untied, Stuck):
                pass
        return super()._exact(trained)

    def _residual(self, neurons: Sequence[tuple[int, Vector]]) -> Vector:
        """y - sum xi (Zw)_+ - Bc with the best c."""
        left = residual_of(self.given.network, self.given.y, neurons)
        c = rounded_coefficients(self.given.columns, left)
        return tuple(a - b for a, b in zip(left, combined(self.given.columns, c, len(left)), strict=True))

    def _near(self, residual: Vector, neurons: Neurons) -> tuple[Vector, Moves]:
        """The digits of the residual, moved in a few rows, so that they are orthogonal to the free columns, and to the
        faces of neurons whose antipodes tie; with free biases 0 on lines whose weight is nearly 0, and level along the
        bias of a neuron without other kinks."""
        digits = rounded(residual, THETA_BITS)
        free = (*self.given.columns, *self._two_sided(digits, neurons))
        if not self.data.lines.biases:
            base = orthogonal(free, digits)
            return base, moves_between(digits, base)
        idle = self._idle(digits)
        cleared = tuple(Fraction(0) if k in idle else x for k, x in enumerate(digits))
        rows = sorted(range(len(digits)), key=lambda k: k in idle)  # these stay 0
        base = orthogonal((*free, *self._exactly_level(neurons, idle)), cleared, rows)
        return base, moves_between(digits, base)

    def _idle(self, theta: Vector, bits: int = IDLE_BITS) -> frozenset[int]:
        """The rows of lines that have no weight, up to the last digits of theta."""
        weights = weights_of(self.data.lines, theta, 1)
        nothing = Fraction(weights.unit * max(map(abs, self.data.lines.multiple), default=0), 1 << bits)
        size = max(map(abs, theta), default=Fraction(0)) / self.data.lines.scale
        idle = {c for c, w in enumerate(weights.w) if abs(w) <= nothing * size}
        rows: dict[int, list[int]] = {}
        for k, c in enumerate(self.data.lines.line):
            rows.setdefault(c, []).append(k)
        return frozenset(k for c in idle for k in rows[c] if len(rows[c]) == 1)

    def _two_sided(self, theta: Vector, neurons: Neurons) -> list[Vector]:
        """Z u for all u of the face of a neuron, if theta is orthogonal to them up to its last digits."""
        Z, floats = self.given.network.Z, np.array([float(x) for x in theta])
        size = float(np.linalg.norm(floats) * np.linalg.norm(self.data.floats, axis=1).max())
        found: dict[tuple[int, ...], list[Vector]] = {}
        for _, w in neurons:
            heights = self.data.floats @ np.array([float(x) for x in w])
            kinks = tuple(np.flatnonzero(np.abs(heights) < KINK * np.abs(heights).max()).tolist())
            if kinks not in found:
                columns = on_face(Z, kinks)
                longest = max((abs(x) for one in columns for x in one), default=Fraction(0))  # no face: kinks of floats
                tiny = Fraction(size) * longest / (1 << TWO_SIDED_BITS)
                found[kinks] = columns if all(abs(dot(one, theta)) <= tiny for one in columns) else []
        return [one for columns in found.values() for one in columns]

    def _exactly_level(self, neurons: Neurons, idle: frozenset[int]) -> list[Vector]:
        """The rows at which a neuron is on, of every neuron that is zero at rows without weight only."""
        found = []
        for _, w in neurons:
            heights = [dot(z, w) for z in self.given.network.Z]
            if all(h or k in idle for k, h in enumerate(heights)):
                found.append(tuple(Fraction(int(h > 0)) for h in heights))
        return found

    def _radius_squared(self, neurons: Neurons, residual: Vector, theta: Vector) -> Fraction:
        """With free biases times the largest |z_k|^4, by which a bias lengthens what is said of other residuals."""
        longer = max(map(norm_squared, self.given.network.Z)) ** 2 if self.data.lines.biases else 1
        return longer * super()._radius_squared(neurons, residual, theta)

    def _base(self, trained: Trained) -> Vector:
        """theta to the digits of floats, orthogonal to the free columns; with free biases 0 on lines whose weight is
        nearly 0, and level along the bias of a neuron."""
        problem = self.given.problem
        theta = tuple(Fraction(float(x)) for x in trained.residual)
        idle = self._idle(theta, FLOAT_IDLE_BITS) if self.data.lines.biases else frozenset()
        cleared = tuple(Fraction(0) if k in idle else x for k, x in enumerate(theta))
        columns = (*self.given.columns, *self._levels(trained.V @ self.frame))
        found = orthogonal(columns, cleared, sorted(problem.loss.widest(problem.y, theta), key=lambda k: k in idle))
        if not problem.loss.allows(problem.y, found):
            raise Exhausted("theta has no room between 0 and the labels")
        return found

    def _levels(self, V: Floats) -> list[Vector]:
        """The rows at which a neuron without kinks is on: where its bias is free, their theta adds up to 0. (One with
        kinks has shares for that.)"""
        if not self.data.lines.biases:
            return []
        cosines = V @ self.data.floats.T / np.linalg.norm(self.data.floats, axis=1)
        smooth = np.abs(cosines).min(axis=1) > KINK * np.linalg.norm(V, axis=1)
        return [tuple(Fraction(int(on)) for on in row) for row in cosines[smooth] > 0.0]

    def _value(self, theta: Vector) -> float:
        """The dual value."""
        return float(self.given.problem.loss.dual_value(self.given.y, theta))


def rounded_coefficients(columns: Sequence[Vector], residual: Sequence[Fraction]) -> Vector:
    """The coefficients of least squares, to many digits."""
    return rounded(coefficients(columns, residual), COEFFICIENT_BITS)


def free_setting(problem: Problem, network: Network, columns: tuple[Vector, ...], task: Task) -> FreeSetting | None:
    """The data, prepared; None where there is no cover: with too many features, too long a basis, or zeros only."""
    if len(network.Z[0]) > MOST_COLUMNS or len(network.Z) > MOST_ROWS:
        return None
    if not any(any(seen_part(problem.free, z)) for z in network.Z):  # no direction has a price
        return None
    given = setting(network, problem.y, biases="biases" in problem.free)
    if len(given.data.basis) > MOST_DIRECTIONS or any(abs(x) >= LONGEST for v in given.data.basis for x in v):
        return None
    data = given.data
    if problem.loss is SQUARES:
        outputs = (scaled_rows([columns[j]])[0][0] for j in first_independent(columns))
        data = replace(data, outputs=tuple(map(tuple, outputs)))
    return FreeSetting(network, given.y, data, given.frame, problem, columns, task)
