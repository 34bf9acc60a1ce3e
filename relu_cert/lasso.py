"""The lasso and the group lasso as their users write them, and the plain problem that is certified.

minimise  s |y - Xw - b 1|^2 + lambda sum_g omega_g |w_g|   over w, K_g'w_g <= 0, and b

with s = 1/2, or 1/(2n) if `average`; omega_g = 1 unless weights are given; b = 0 unless there is an intercept. The
plain problem has s = 1/2, omega = 1 and b = 0. It is the same problem, exactly:

* `average`: all is multiplied by n, so lambda becomes n lambda;
* an intercept: its optimum is mean(y - Xw), so the columns of X and y are centred;
* weights: the columns of a group are divided by omega_g, and its coefficients are multiplied by it.

Weights "sqrt" are the doubles nearest to sqrt(|g|), which is what solvers take.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.arrays import exact_matrix, exact_vector
from relu_cert.data.dataset import NumberError, Source, exact_number, parse_number
from relu_cert.data.raw import decode, digest, read_bytes
from relu_cert.errors import DataError, file_name
from relu_cert.exact import Matrix, Vector, dot
from relu_cert.problem import problem_from_json
from relu_cert.problem.direct import FloatBlocks, problem_text
from relu_cert.problem.problem import Problem

Columns = tuple[tuple[int, ...], ...]
Floats = NDArray[np.float64]
KEYS = ("X", "groups", "K", "y", "weights", "intercept", "average")


@dataclass(frozen=True)
class Lasso:
    """A problem as it was given, every number exact; `K` has None or a matrix for every group. An array of doubles
    stays one: Fractions are made of it only where they are wanted."""

    table: Matrix | Floats
    groups: Columns
    y: Vector
    K: tuple[Matrix | None, ...] | None = None
    weights: Vector | None = None
    intercept: bool = False
    average: bool = False

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.table[0])

    @cached_property
    def X(self) -> Matrix:
        """X, exactly."""
        return self.table if isinstance(self.table, tuple) else exact_matrix(self.table, "X")

    @cached_property
    def omega(self) -> Vector:
        """The weight of every group."""
        return (Fraction(1),) * len(self.groups) if self.weights is None else self.weights

    @property
    def _doubles(self) -> bool:
        """Whether the doubles of an array are those of the plain problem, too."""
        return isinstance(self.table, np.ndarray) and not self.intercept and self.weights is None

    @property
    def is_plain(self) -> bool:
        """Whether the problem is certified as it stands."""
        return not self.intercept and not self.average and self.weights is None

    def lam(self, lam: Fraction) -> Fraction:
        """The lambda of the plain problem."""
        return lam * self.n if self.average else lam

    def objective(self, value: Fraction) -> Fraction:
        """A value of the plain problem in the units of this one."""
        return value / self.n if self.average else value

    def plain_text(self) -> str:
        """The JSON text of the plain problem."""
        if self._doubles:
            return problem_text(self.table, [list(g) for g in self.groups], self.y, self.K)
        X, y = ([list(row) for row in self.X], list(self.y))
        if self.intercept:
            means = [sum((row[j] for row in self.X), Fraction(0)) / self.n for j in range(self.d)]
            X = [[x - m for x, m in zip(row, means, strict=True)] for row in X]
            y = [t - sum(self.y, Fraction(0)) / self.n for t in y]
        if self.weights is not None:
            omega = {j: o for o, group in zip(self.omega, self.groups, strict=True) for j in group}
            X = [[x / omega.get(j, 1) for j, x in enumerate(row)] for row in X]
        return problem_text(tuple(map(tuple, X)), [list(g) for g in self.groups], tuple(y), self.K)

    @cached_property
    def raw(self) -> bytes:
        """The bytes of the file of the plain problem."""
        return self.plain_text().encode()

    def source(self, path: str = "problem.json") -> Source:
        """The file of the plain problem, under its name."""
        return Source(path, digest(self.raw), "json")

    @cached_property
    def plain(self) -> Problem:
        """The plain problem."""
        whole = sorted(j for group in self.groups for j in group) == list(range(self.d)) and all(self.groups)
        if whole and self._doubles and self.K is None:
            with suppress(OverflowError):
                return Problem("cgl", self.y, FloatBlocks(np.asarray(self.table), self.groups), columns=self.groups)
        return problem_from_json(self.raw.decode())

    def to_plain(self, w: Vector) -> tuple[Vector, ...]:
        """Coefficients of this problem as blocks of the plain one."""
        return tuple(tuple(w[j] * o for j in group) for o, group in zip(self.omega, self.groups, strict=True))

    def from_plain(self, blocks: Iterable[tuple[int, Vector]]) -> Vector:
        """Active blocks of the plain problem as coefficients of this one."""
        w = [Fraction(0)] * self.d
        for b, entries in blocks:
            for j, x in zip(self.groups[b], entries, strict=True):
                w[j] = x / self.omega[b]
        return tuple(w)

    def best_intercept(self, w: Vector) -> Fraction:
        """mean(y - Xw), or 0 where there is no intercept."""
        if not self.intercept:
            return Fraction(0)
        return sum((t - dot(row, w) for row, t in zip(self.X, self.y, strict=True)), Fraction(0)) / self.n


def lasso(
    X: Any,
    groups: Any,
    y: Any,
    *,
    K: Sequence[Any] | None = None,
    weights: Any = None,
    intercept: bool = False,
    average: bool = False,
) -> Lasso:
    """The problem of arrays. `groups` is the size of all groups (1: the lasso), a label for each column, or lists of
    columns; `weights` is "sqrt", or a positive number for each group."""
    doubles = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2 and np.isfinite(X).all()
    rows, targets = X if doubles else exact_matrix(X, "X"), exact_vector(y, "y")
    if not len(rows) or not len(rows[0]):
        raise DataError("X has no numbers; give at least one row and one column.")
    if len(rows) != len(targets):
        raise DataError(f"y: expected {len(rows)} numbers, one for each row of X, found {len(targets)}.")
    columns = group_columns(groups, len(rows[0]))
    cones = (
        None if K is None else tuple(None if one is None else exact_matrix(one, f"K[{b}]") for b, one in enumerate(K))
    )
    return Lasso(rows, columns, targets, cones, group_weights(weights, columns), bool(intercept), bool(average))


def group_columns(groups: Any, d: int) -> Columns:
    """The columns of every group, from a size, from labels, or from lists."""
    if isinstance(groups, int | np.integer) and not isinstance(groups, bool):
        size = int(groups)
        if size < 1 or d % size:
            raise DataError(f"groups of {size} columns do not divide the {d} columns of X evenly.")
        return tuple(tuple(range(start, start + size)) for start in range(0, d, size))
    entries = list(groups) if not isinstance(groups, str) else groups.split(",")
    if entries and all(isinstance(one, Sequence | np.ndarray) and not isinstance(one, str) for one in entries):
        return tuple(tuple(int(j) for j in one) for one in entries)
    if len(entries) != d:
        raise DataError(
            f"groups has {len(entries)} labels; expected one for each of the {d} columns, a size, or lists."
        )
    labels: dict[Any, list[int]] = {}
    for j, label in enumerate(entries):
        labels.setdefault(label, []).append(j)
    return tuple(tuple(one) for one in labels.values())


def group_weights(weights: Any, columns: Columns) -> Vector | None:
    """omega_g for every group; None where all are 1."""
    if weights is None:
        return None
    if isinstance(weights, str) and weights.strip() == "sqrt":
        return tuple(Fraction(sqrt(len(group))) for group in columns)
    given = weights.split(",") if isinstance(weights, str) else weights
    found = exact_vector(list(given), "weights")
    if len(found) != len(columns):
        raise DataError(
            f"weights has {len(found)} entries; expected one for each of the {len(columns)} groups, or 'sqrt'."
        )
    if any(x <= 0 for x in found):
        raise DataError("weights must be positive; a group without a penalty is an intercept, or cannot be certified.")
    return found


def read_lasso(path: str | os.PathLike[str]) -> Lasso:
    """The problem of a JSON file: X, y, groups (a size, labels or lists), and perhaps K, weights, intercept, average.

    A number is an integer, a decimal (0.35 is 7/20, as in a CSV file), or a text such as "3/7".
    """
    name = file_name(os.fspath(path))
    try:
        top = json.loads(decode(read_bytes(path), os.fspath(path)), parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise DataError(f"{name}, line {error.lineno}, column {error.colno}: not JSON ({error.msg}).") from None
    except DataError:
        raise
    except (RecursionError, ValueError):
        raise DataError(f"{name}: nested too deeply, or a number of too many digits.") from None
    if not isinstance(top, dict):
        raise DataError(f"{name}: expected an object with the keys {', '.join(KEYS)}.")
    for key in top:
        if key not in KEYS:
            raise DataError(f"{name}: unknown key {key!r}; the keys are {', '.join(KEYS)}.")
    for key in ("X", "groups", "y"):
        if key not in top:
            raise DataError(f"{name}: the key {key!r} is missing; the keys are {', '.join(KEYS)}.")
    for key in ("intercept", "average"):
        if not isinstance(top.get(key, False), bool):
            raise DataError(f"{name}: {key} is true or false.")
    try:
        return lasso(
            top["X"],
            top["groups"],
            top["y"],
            K=top.get("K"),
            weights=top.get("weights"),
            intercept=top.get("intercept", False),
            average=top.get("average", False),
        )
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: not a group lasso ({error}).") from None


def read_coefficients(path: str | os.PathLike[str], d: int) -> Vector:
    """d coefficients: a .npy array, a JSON array, or a text of numbers separated by commas, spaces or lines."""
    name = file_name(os.fspath(path))
    if Path(path).suffix == ".npy":
        try:
            found = exact_vector(np.load(Path(path), allow_pickle=False).reshape(-1), "w")
        except (OSError, ValueError) as error:
            raise DataError(f"{name}: not a numpy array ({error}).") from None
    else:
        text = decode(read_bytes(path), os.fspath(path)).replace("[", " ").replace("]", " ")
        words = text.replace(",", " ").replace(";", " ").split()
        try:
            found = tuple(parse_number(word.strip('"')) for word in words)
        except NumberError as error:
            raise DataError(f"{name}: expected numbers ({error}).") from None
    if len(found) != d:
        raise DataError(f"{name}: {len(found)} coefficients; expected {d}, one for each column of X.")
    return found


def fitted_intercept(w: Any) -> float | Literal[False]:
    """The intercept of a fitted model that has one."""
    return float(np.asarray(w.intercept_).item()) if getattr(w, "fit_intercept", False) else False


def given_coefficients(w: Any, d: int) -> Vector:
    """The same from Python: an array-like, or a fitted model's `coef_`."""
    entries = np.asarray(getattr(w, "coef_", w)).reshape(-1)
    found = tuple(exact_number(x) for x in entries.tolist())
    if len(found) != d:
        raise DataError(f"w has {len(found)} coefficients; expected {d}, one for each column of X.")
    return found
