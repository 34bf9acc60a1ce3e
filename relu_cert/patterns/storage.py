"""A pattern set in a file: numpy's .npz, plain arrays only (nothing is unpickled)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import DataError
from relu_cert.files import replacing
from relu_cert.patterns.pattern_set import Group, PatternSet
from relu_cert.patterns.witness import Integers

FORMAT = "relu_cert patterns 1"
WITH_LONG = "relu_cert patterns 2"  # the same, and some witnesses do not fit int64
LONG = 2**62


def save_npz(path: str | Path, patterns: PatternSet) -> None:
    """Write a pattern set. The file appears complete or not at all.

    Arrays: `shape` (n, d, rank), `columns`, `covers`, `sizes` (patterns in each group), `bits` (packed, one row each),
    `witnesses` (int64), `flats` and `circuits` as values with offsets. Where witnesses do not fit, `long` has the
    numbers of their patterns and `long_witnesses` their entries as hexadecimal text; in `witnesses` they are zero.
    """
    flats, flat_ends = _flatten(group.flat for group in patterns.groups)
    circuits, circuit_ends = _flatten(circuit for group in patterns.groups for circuit in group.circuits)
    witnesses, long, long_witnesses = _split(patterns)
    arrays = {
        "format": np.array(WITH_LONG if long else FORMAT),
        "shape": np.array([patterns.n, patterns.d, patterns.rank]),
        "columns": np.array(patterns.columns, dtype=np.int64),
        "covers": np.array(patterns.covers, dtype=np.int64),
        "sizes": np.array([len(group) for group in patterns.groups]),
        "bits": patterns.bits(),
        "witnesses": witnesses,
        "flats": flats,
        "flat_ends": flat_ends,
        "circuits": circuits,
        "circuit_ends": circuit_ends,
        "circuit_counts": np.array([len(group.circuits) for group in patterns.groups]),
    }
    if long:
        arrays |= {"long": np.array(long), "long_witnesses": np.array(long_witnesses, dtype=np.bytes_)}
    with replacing(Path(path)) as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]  # numpy's stub takes the names for a flag


def load_npz(path: str | Path) -> PatternSet:
    """Read what `save_npz` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        if str(data["format"]) not in (FORMAT, WITH_LONG):
            raise DataError(f"{path}: expected the format {FORMAT!r}, found {str(data['format'])!r}.")
        return _read(data)
    except DataError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, BadZipFile) as error:
        raise DataError(f"{path}: not a pattern file ({error}).") from error


def _read(data: dict[str, NDArray[Any]]) -> PatternSet:
    n, d, rank = data["shape"].tolist()
    flats = _unflatten(data["flats"], data["flat_ends"])
    circuits = _unflatten(data["circuits"], data["circuit_ends"])
    ends = np.cumsum(data["sizes"])
    bits = np.split(data["bits"], ends[:-1])
    witnesses = _join(data, ends)
    groups, first = [], 0
    for flat, own, W, count in zip(flats, bits, witnesses, data["circuit_counts"].tolist(), strict=True):
        groups.append(Group(flat, own, tuple(circuits[first : first + count]), W))
        first += count
    return PatternSet(n, d, rank, tuple(data["columns"].tolist()), tuple(groups), tuple(data["covers"].tolist()))


def _split(patterns: PatternSet) -> tuple[NDArray[np.int64], list[int], list[list[str]]]:
    """All witnesses as int64, zero where one does not fit; the numbers of these, and their entries."""
    plain, long, texts, start = [], [], [], 0
    for group in patterns.groups:
        W = group.witnesses
        if W.dtype == object:
            W = W.copy()
            for i, u in enumerate(W.tolist()):
                if any(abs(x) >= LONG for x in u):
                    long.append(start + i)
                    texts.append([hex(x) for x in u])
                    W[i] = 0
        plain.append(W.astype(np.int64, copy=False))
        start += len(group)
    return np.concatenate(plain), long, texts


def _join(data: dict[str, NDArray[Any]], ends: NDArray[np.int64]) -> list[Integers]:
    """The witnesses of each group: as Python integers where one of them does not fit int64."""
    groups: list[Integers] = np.split(data["witnesses"], ends[:-1])
    for number, text in (
        zip(data["long"].tolist(), data["long_witnesses"].tolist(), strict=True) if "long" in data else ()
    ):
        i = int(np.searchsorted(ends, number, side="right"))
        groups[i] = groups[i].astype(object, copy=False)
        groups[i][number - int(ends[i])] = [int(x, 16) for x in text]
    return groups


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
