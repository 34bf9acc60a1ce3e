"""The paper's data sets, splits and sampled patterns, read from a folder that stays outside the project.

The folder has one CSV per set: a header, the features, and in the last column the class 0 or 1. The classes become
the targets -1 and 1, as in the code that the paper's authors published.

Splits and gates use the seeds of that code, so that repeat k here is repeat k there: the test rows are the first ones
of a shuffle with seed 650 + k, the validation rows those of a shuffle of the rest with seed k, and the gates g_i are
the columns of standard normal draws with seed 123 + k. A pattern is D_i = 1(Z g_i > 0).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from enum import StrEnum
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import DataError

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]

SMALL_TABLE = (
    "fertility",
    "heart-hungarian",
    "mammographic",
    "monks-1",
    "planning",
    "spectf",
    "horse-colic",
    "ilpd-indian-liver",
    "parkinsons",
    "pima",
)  # table:tuning-small
FULL_TABLE = (
    "blood",
    "breast-cancer",
    "fertility",
    "heart-hungarian",
    "hepatitis",
    "hill-valley",
    *SMALL_TABLE[2:],
    "tic-tac-toe",
    "statlog-heart",
    "ionosphere",
)  # table:tuning-full
UCI_PRUNING = FULL_TABLE[:10]  # fig:uci-pruning-full and fig:uci-pruning-appendix
MNIST_PRUNING = ("mnist-2v6", "mnist-1v7", "mnist-5v9")
CIFAR_PRUNING = ("cifar10-0v2", "cifar10-1v8", "cifar10-3v5")

_CHANNELS = {"mnist": ((0.1307, 0.3081),), "cifar10": ((0.4914, 0.2023), (0.4822, 0.1994), (0.4465, 0.2010))}


class Split(StrEnum):
    """Shares of training, validation and test rows: as printed, or those that the printed figures fit."""

    PRINTED = "60/20/20"
    FITTING = "15/5/80"

    @property
    def test_share(self) -> float:
        """The share of all rows that is taken for the test; a quarter of the others is for validation."""
        return 0.2 if self is Split.PRINTED else 0.8


@dataclass(frozen=True)
class Points:
    """Features Z (n x d) and targets y in {-1, 1}."""

    Z: Floats
    y: Floats

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, which: NDArray[np.intp]) -> Points:
        """Some of the rows."""
        return Points(self.Z[which], self.y[which])


@dataclass(frozen=True)
class Parts:
    """One random split."""

    train: Points
    validation: Points
    test: Points


def path_of(folder: Path, name: str) -> Path:
    """The set's file. Where a set comes in two parts, the training part: the published loader reads nothing else."""
    part = folder / f"{name}_train.csv"
    return part if part.exists() else folder / f"{name}.csv"


def read_points(folder: Path, name: str) -> Points:
    """The data set; images are scaled and normalised channel by channel as in the published scripts."""
    path = path_of(folder, name)
    try:
        with path.open(newline="") as stream:
            table = np.array(list(csv.reader(stream))[1:], dtype=np.float64)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as a table of numbers with one header line ({error}).") from error
    if table.ndim != 2 or table.shape[1] < 2 or not set(np.unique(table[:, -1])) <= {0.0, 1.0}:
        raise DataError(f"{path}: expected features and a last column of classes 0 and 1.")
    return Points(_normalised(name.split("-", maxsplit=1)[0], table[:, :-1]), 2.0 * table[:, -1] - 1.0)


def _normalised(family: str, Z: Floats) -> Floats:
    if family not in _CHANNELS:
        return Z
    channels = np.split(Z / 255.0, len(_CHANNELS[family]), axis=1)
    scaled = [(c - mean) / sd for c, (mean, sd) in zip(channels, _CHANNELS[family], strict=True)]
    return np.concatenate(scaled, axis=1)


def _cut(points: Points, share: float, seed: int) -> tuple[Points, Points]:
    """(the rest, a random share), by the published rule."""
    order = np.arange(len(points))
    np.random.default_rng(seed).shuffle(order)
    size = floor(len(points) * share)
    return points.rows(order[size:]), points.rows(order[:size])


def three_parts(points: Points, split: Split, repeat: int) -> Parts:
    """Training, validation and test rows of one repeat."""
    rest, test = _cut(points, split.test_share, 650 + repeat)
    train, validation = _cut(rest, 0.25, repeat)
    return Parts(train, validation, test)


def two_parts(points: Points, repeat: int) -> tuple[Points, Points]:
    """Training and test rows, half and half, of one repeat of the pruning experiments."""
    return _cut(points, 0.5, 650 + repeat)


def sample_gates(Z: Floats, count: int, repeat: int) -> tuple[Floats, Bits]:
    """Gates (k x d) and their patterns on the rows of Z (k x n): distinct and not zero, at most `count` of them."""
    gates = np.random.default_rng(123 + repeat).standard_normal((Z.shape[1], count)).T
    D = gates @ Z.T > 0.0
    _, first = np.unique(D, axis=0, return_index=True)
    first.sort()
    kept = first[D[first].any(axis=1)]
    return gates[kept], D[kept]
