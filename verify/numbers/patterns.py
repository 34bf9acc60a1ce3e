"""Patterns and sets of rows as bit masks: bit k belongs to row k."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul

from verify.text import Node, describe, integer

INTEGERS = re.compile(r"(?:(?:-?[1-9][0-9]*|0)(?: (?:-?[1-9][0-9]*|0))*)?")


Row = tuple[int, list[int], int]  # a base, and integers p and q > 0: the vector m = p / q
BITS = bytes.maketrans(b"01", b"\0\1")


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


def bits_of(mask: int) -> list[int]:
    """The rows of a bit mask, ascending."""
    return [k for k, bit in enumerate(format(mask, "b")[::-1]) if bit == "1"]


def rows_text(mask: int) -> str:
    """A set of rows for a message."""
    return f"rows {describe_indices(tuple(bits_of(mask)))}" if mask else "no row"


def describe_indices(indices: tuple[int, ...]) -> str:
    """A few indices for a message."""
    return f"{list(indices[:12])}{'...' if len(indices) > 12 else ''}"


def on_bits(pattern: str, p: list[int]) -> list[int]:
    """p where the pattern is 1 and 0 elsewhere."""
    return list(map(mul, pattern.encode().translate(BITS), p))


def integer_vectors(node: Node, length: int) -> Iterator[list[int]]:
    """An array of vectors of `length` canonical integers (fast: there may be a million)."""
    for k in range(node.length()):
        text = node.value[k]
        if not isinstance(text, str) or INTEGERS.fullmatch(text) is None:
            raise node.item(k).reject("canonical integers with one space between them")
        entries = list(map(int if len(text) < 4000 else integer, text.split(" ") if text else ()))
        if len(entries) != length:
            raise node.item(k).reject(f"{length} integers", f"{len(entries)} in {describe(text)}")
        yield entries
