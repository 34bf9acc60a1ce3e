"""The set D_Z = {1(Zu >= 0) : u}: every activation pattern, each with a witness, and what proves that none is missing.

D_Z is the disjoint union, over the totally cyclic flats F of the rows of Z, of the open cells of the arrangement
restricted to L_F = {u : z_k.u = 0 for k in F}, with the bits of F set to 1. The flat of the zero rows gives the
patterns of the open cells of the whole space; every other totally cyclic flat gives patterns that only lower
faces have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import DataError
from relu_cert.files import replacing
from relu_cert.patterns.cells import Integers
from relu_cert.serialize import UNWRITTEN, Via, matrix

Bits = NDArray[np.bool_]
Witnesses = Annotated[NDArray[np.int64] | NDArray[np.object_], Via(lambda rows: matrix(rows.tolist()))]


def bit_string(bits: Sequence[bool] | Bits) -> str:
    """A pattern as text: character k belongs to row k."""
    if isinstance(bits, np.ndarray):
        return (bits.astype(np.uint8) + ord("0")).tobytes().decode()
    return "".join("1" if b else "0" for b in bits)


@dataclass(frozen=True)
class Group:
    """The patterns whose witness vanishes exactly on the rows of one totally cyclic flat F.

    `flat`        the rows of F, ascending: exactly the rows that vanish on L_F (the first group's flat is the
                  zero rows of Z).
    `bits`        packed patterns, one row each: numpy.packbits along the rows of Z (row 0 is the highest bit of
                  byte 0; the unused bits of the last byte are zero).
    `witnesses`   integer witnesses on the columns named by `PatternSet.columns`, one row each (int64, or Python
                  integers in an object array where they do not fit): z_k.u = 0 exactly for k in F.
    `circuits`    broken circuits that prove the count: each is a tuple (c, b_1 < b_2 < ...) of row numbers with
                  c < b_1 and z_c in the span of the z_b on L_F. Rows stand for their parallel class by its
                  smallest member.
    """

    flat: tuple[int, ...]
    bits: Annotated[NDArray[np.uint8], UNWRITTEN]
    circuits: tuple[tuple[int, ...], ...]
    witnesses: Witnesses

    def __len__(self) -> int:
        return len(self.bits)


@dataclass(frozen=True)
class PatternSet:
    """D_Z, exactly. Patterns are numbered through the groups in order; the open cells come first.

    `columns`   r independent columns of Z; a witness u is zero in the others.
    `covers`    numbers of patterns; every dependent flat X has one of them that is 1 on all of X and whose witness
                vanishes only on rows in X. That proves that every totally cyclic flat is among the groups.
    """

    n: Annotated[int, UNWRITTEN]
    d: Annotated[int, UNWRITTEN]
    rank: Annotated[int, UNWRITTEN]
    columns: tuple[int, ...]
    groups: tuple[Group, ...]
    covers: tuple[int, ...]

    def __len__(self) -> int:
        return sum(len(g) for g in self.groups)

    @property
    def open_cells(self) -> int:
        """How many patterns belong to open cells (they are numbers 0 to open_cells - 1)."""
        return len(self.groups[0])

    def bits(self) -> NDArray[np.uint8]:
        """All packed patterns, one row each."""
        return np.concatenate([g.bits for g in self.groups])

    def array(self) -> NDArray[np.bool_]:
        """All patterns unpacked: a (patterns x n) boolean array."""
        return np.unpackbits(self.bits(), axis=1, count=self.n).astype(np.bool_)

    def texts(self) -> tuple[str, ...]:
        """All patterns as texts."""
        return tuple(map(bit_string, self.array()))

    def pattern(self, number: int) -> tuple[bool, ...]:
        """One pattern, unpacked."""
        for g in self.groups:
            if number < len(g):
                return tuple(np.unpackbits(g.bits[number], count=self.n).astype(bool).tolist())
            number -= len(g)
        raise IndexError(number)

    def witness(self, number: int) -> tuple[int, ...]:
        """The witness u in Z^d of one pattern: its bits are 1(Zu >= 0)."""
        for g in self.groups:
            if number < len(g):
                u = [0] * self.d
                for column, entry in zip(self.columns, g.witnesses[number], strict=True):
                    u[column] = int(entry)
                return tuple(u)
            number -= len(g)
        raise IndexError(number)


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
