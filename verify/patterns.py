"""Patterns and sets of rows as bit masks: bit k belongs to row k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verify.text import describe_indices


@dataclass(frozen=True)
class Patterns:
    """D_Z, complete, as bit masks. The first `open_cells` are those of open cells; `zeros` has, for each pattern, the
    rows on which its witness vanishes."""

    masks: list[int]
    zeros: dict[int, int]
    open_cells: int

    def __contains__(self, mask: int) -> bool:
        """Whether a pattern is in D_Z."""
        return mask in self.zeros


def mask_of(rows: Iterable[int]) -> int:
    """A set of rows as a bit mask."""
    mask = 0
    for k in rows:
        mask |= 1 << k
    return mask


def bits_of(mask: int) -> list[int]:
    """The rows of a bit mask, ascending."""
    return [k for k, bit in enumerate(format(mask, "b")[::-1]) if bit == "1"]


def rows_text(mask: int) -> str:
    """A set of rows for a message."""
    return f"rows {describe_indices(tuple(bits_of(mask)))}" if mask else "no row"
