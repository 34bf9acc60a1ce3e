"""The loss on the distinct rows of the data: rows that are equal have the same output, so their losses add up.

With bags the loss is that of the bags, and P takes the outputs of the rows to theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relu_cert.bags import EACH, Each
from relu_cert.leaders.cells import Floats, Indices
from relu_cert.problem import loss as losses


@dataclass(frozen=True)
class Loss:
    """`rows[k]` is the class of row k; of each class the number of rows, sum y and (logistic) the number with y > 0.

    theta here is the sum of theta_k over a class: (*) does not see more, and the best theta_k follow from it. With
    `bags` classes are single bags, and (*) sees t = P'theta.
    """

    rows: Indices
    y: Floats
    logistic: bool = False
    bags: Each = EACH

    @property
    def exact(self) -> losses.Loss:
        """The loss of single rows."""
        return losses.LOGISTIC if self.logistic else losses.SQUARES

    @cached_property
    def count(self) -> Floats:
        """The number of rows in each class."""
        return np.bincount(self.rows).astype(np.float64)

    @cached_property
    def sums(self) -> Floats:
        """sum y of each class."""
        sums: Floats = np.bincount(self.rows, self.y).astype(np.float64)
        return sums

    @cached_property
    def positive(self) -> Floats:
        """The number of rows with y > 0 in each class."""
        positive: Floats = np.bincount(self.rows, self.y > 0).astype(np.float64)
        return positive

    def value(self, fit: Floats) -> float:
        """The loss of the outputs."""
        if self.logistic:
            up = self.positive
            return float(up @ np.logaddexp(0, -fit) + (self.count - up) @ np.logaddexp(0, fit))
        return float(0.5 * self.count @ fit**2 - self.sums @ fit + 0.5 * self.y @ self.y)

    def theta(self, fit: Floats) -> Floats:
        """Minus the gradient of the loss."""
        if self.logistic:
            down: Floats = self.positive - self.count / (1 + np.exp(-np.clip(fit, -700, 700)))
            return down
        residual: Floats = self.sums - self.count * fit
        return residual

    def flatness(self, fit: Floats) -> Floats:
        """1 / the second derivative of the loss."""
        if self.logistic:
            chance = 1 / (1 + np.exp(-np.clip(fit, -30, 30)))
            return 1 / (self.count * chance * (1 - chance))
        return 1 / self.count

    def dual(self, theta: Floats) -> float:
        """The dual value of theta, if its rows are chosen best; -inf if there is none."""
        if self.logistic:
            a = (theta + self.count - self.positive) / self.count
            if a.min() < 0 or a.max() > 1:
                return -np.inf
            inner = np.clip(a, 1e-300, None), np.clip(1 - a, 1e-300, None)
            return float(-self.count @ (a * np.log(inner[0]) + (1 - a) * np.log(inner[1])))
        return float(0.5 * self.y @ self.y - 0.5 * ((self.sums - theta) ** 2 / self.count).sum())

    def best_scale(self, theta: Floats, most: float) -> tuple[float, float]:
        """s in [0, most] with the largest dual value of s theta, and that value (it is concave in s)."""
        low, high = 0.0, most
        for _ in range(60):
            one, two = low + 0.382 * (high - low), low + 0.618 * (high - low)
            if self.dual(one * theta) >= self.dual(two * theta):
                high = two
            else:
                low = one
        s = max((most, high, low), key=lambda s: self.dual(s * theta))
        return s, self.dual(s * theta)


def merge(rows: Sequence[Sequence[object]]) -> tuple[Indices, Indices]:
    """The class of each row, numbered by first appearance, and the first row of each class; rows that are equal are in
    one class."""
    names: dict[tuple[object, ...], int] = {}
    classes = np.array([names.setdefault(tuple(row), len(names)) for row in rows], dtype=np.intp)
    firsts = np.full(len(names), -1, dtype=np.intp)
    for k in range(len(classes) - 1, -1, -1):
        firsts[classes[k]] = k
    return classes, firsts
