"""A network's problem in the forms that the stages of a cover need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from relu_cert.cover.free_task import task_of
from relu_cert.cover.limits import MOST_DIRECTIONS
from relu_cert.cover.lines import frame_of, lines_of, row_space
from relu_cert.cover.refine import Data, data_of
from relu_cert.cover.stack import Floats
from relu_cert.cover.train import Task
from relu_cert.exact import Matrix, Vector, scaled_rows
from relu_cert.free.terms import outputs, weights_of
from relu_cert.problem.loss import SQUARES
from relu_cert.problem.problem import Problem
from relu_cert.rationals import first_independent

MOST_COLUMNS, MOST_ROWS = 16, 2**21  # of data for a cover: what the checker takes
LONGEST = 2**40  # an entry of the basis, of generators that may have 52 bits


@dataclass(frozen=True)
class Setting:
    """The problem, the columns of its free terms, its data in integers, and the frame in which it is trained."""

    problem: Problem
    columns: tuple[Vector, ...]
    data: Data
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
    def task(self) -> Task:
        """The problem in floats, in the coordinates of the frame."""
        return task_of(self.problem, self.columns, self.data.floats @ self.frame.T, float(self.data.lam))

    def at(self, lam: Fraction) -> Setting:
        """The same at lambda."""
        return replace(self, data=replace(self.data, lam=lam))


def setting(problem: Problem) -> Setting:
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
    return Setting(problem, columns, data, frame)


def setting_for_cover(problem: Problem) -> Setting | None:
    """The same; None where there is no cover: with too many rows or features, too long a basis, or zeros only."""
    Z = problem.relu.Z
    if len(Z[0]) > MOST_COLUMNS or len(Z) > MOST_ROWS or not any(any(weights_of(problem.free, z)) for z in Z):
        return None
    found = setting(problem)
    long = any(abs(x) >= LONGEST for v in found.data.basis for x in v)
    return None if long or not 0 < len(found.data.basis) <= MOST_DIRECTIONS else found
