"""The set D_Z = {1(Zu >= 0) : u}: every activation pattern, each with a witness, and what proves that none is missing.

D_Z is the disjoint union, over the totally cyclic flats F of the rows of Z, of the open cells of the arrangement
restricted to L_F = {u : z_k.u = 0 for k in F}, with the bits of F set to 1. The flat of the zero rows gives the
patterns of the open cells of the whole space; every other totally cyclic flat gives patterns that only lower
faces have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

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
