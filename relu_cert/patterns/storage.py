"""A pattern set in a file: numpy's .npz, plain arrays only (nothing is unpickled)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import DataError
from relu_cert.patterns.model import Group, PatternSet
from relu_cert.patterns.witness import small

FORMAT = "relu_cert patterns 1"


def save_npz(path: str | Path, patterns: PatternSet) -> None:
    """Write a pattern set. The file appears complete or not at all.

    Arrays: `shape` (n, d, rank), `columns`, `covers`, `sizes` (patterns in each group), `bits` (packed, one row each),
    `witnesses` (int64, or decimal text where they are larger), `flats` and `circuits` as values with offsets.
    """
    target = Path(path)
    flats, flat_ends = _flatten(group.flat for group in patterns.groups)
    circuits, circuit_ends = _flatten(circuit for group in patterns.groups for circuit in group.circuits)
    witnesses = np.concatenate([group.witnesses.astype(object) for group in patterns.groups])
    with NamedTemporaryFile(dir=target.parent, prefix=target.name, delete=False) as file:
        try:
            np.savez_compressed(
                file,
                format=np.array(FORMAT),
                shape=np.array([patterns.n, patterns.d, patterns.rank]),
                columns=np.array(patterns.columns, dtype=np.int64),
                covers=np.array(patterns.covers, dtype=np.int64),
                sizes=np.array([len(group) for group in patterns.groups]),
                bits=patterns.bits(),
                witnesses=_plain(witnesses),
                flats=flats,
                flat_ends=flat_ends,
                circuits=circuits,
                circuit_ends=circuit_ends,
                circuit_counts=np.array([len(group.circuits) for group in patterns.groups]),
            )
        except BaseException:
            file.close()
            os.unlink(file.name)  # noqa: PTH108
            raise
    os.chmod(file.name, 0o644)  # noqa: PTH101
    os.replace(file.name, target)  # noqa: PTH105


def load_npz(path: str | Path) -> PatternSet:
    """Read what `save_npz` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        if str(data["format"]) != FORMAT:
            raise DataError(f"{path}: expected the format {FORMAT!r}, found {str(data['format'])!r}.")
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path}: not a pattern file ({error}).") from error
    n, d, rank = data["shape"].tolist()
    witnesses = data["witnesses"]
    if witnesses.dtype.kind == "U":
        exact = [[int(x) for x in row] for row in witnesses.tolist()]
        witnesses = np.array(exact, dtype=object).reshape(witnesses.shape)
    flats = _unflatten(data["flats"], data["flat_ends"])
    circuits = _unflatten(data["circuits"], data["circuit_ends"])
    groups, start, first = [], 0, 0
    for flat, size, count in zip(flats, data["sizes"].tolist(), data["circuit_counts"].tolist(), strict=True):
        part = slice(start, start + size)
        own = witnesses[part] if witnesses.dtype != object else small(witnesses[part])
        groups.append(Group(flat, data["bits"][part], own, tuple(circuits[first : first + count])))
        start, first = start + size, first + count
    return PatternSet(n, d, rank, tuple(data["columns"].tolist()), tuple(groups), tuple(data["covers"].tolist()))


def _plain(W: NDArray[np.object_]) -> NDArray[np.int64] | NDArray[np.str_]:
    fitting = small(W)
    if fitting.dtype != object:
        return fitting.astype(np.int64)
    return np.array([[str(x) for x in row] for row in W.tolist()])


def _flatten(lists: Iterable[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    values: list[int] = []
    ends: list[int] = []
    for entries in lists:
        values.extend(entries)
        ends.append(len(values))
    return np.array(values, dtype=np.int64), np.array(ends, dtype=np.int64)


def _unflatten(values: NDArray[np.int64], ends: NDArray[np.int64]) -> list[tuple[int, ...]]:
    starts = [0, *ends.tolist()[:-1]]
    return [tuple(values[a:b].tolist()) for a, b in zip(starts, ends.tolist(), strict=True)] if len(ends) else []
