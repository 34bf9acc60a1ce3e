"""The signs of Zu for many integer vectors u, by packed integers: one field of B bits for each row of Z."""

from __future__ import annotations

from dataclasses import dataclass

TOP_BIT = bytes([ord("0")] * 128 + [ord("1")] * 128)


@dataclass(frozen=True)
class Packed:
    """Z in fields of B bits: column j is sum_k z_kj 2^(B k), `ones` is sum_k 2^(B k).

    With offset = 2^(B-1) ones, offset + sum_j u_j column_j has the fields z_k.u + 2^(B-1): top bit 1 iff z_k.u >= 0.
    """

    columns: list[int]
    offset: int
    ones: int


class Signs:
    """Signs of z_k.u for the rows z_k of an integer matrix."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.rows = rows
        self.columns = len(rows[0])
        self.bound = max((sum(map(abs, row)) for row in rows), default=0)
        self.packed: dict[int, Packed] = {}

    def of(self, u: list[int]) -> tuple[int, int]:
        """The rows with z_k.u >= 0 and the rows with z_k.u = 0, as bit masks."""
        width = field_width(self.bound * max(map(abs, u), default=0))
        packed = self.packed.get(width) or self.pack(width)
        total = packed.offset
        for u_j, column in zip(u, packed.columns, strict=True):
            total += u_j * column
        at_least = self.top_bits(total, width)
        return at_least, at_least & ~self.top_bits(total - packed.ones, width)

    def top_bits(self, total: int, width: int) -> int:
        """The top bit of every field."""
        return int(total.to_bytes(width * len(self.rows), "big")[::width].translate(TOP_BIT), 2)

    def pack(self, width: int) -> Packed:
        """The matrix in fields of `width` bytes (made once for each width)."""
        shifts = [8 * width * k for k in range(len(self.rows))]
        columns = [sum(z << s for z, s in zip(column, shifts, strict=True)) for column in zip(*self.rows, strict=True)]
        ones = sum(1 << s for s in shifts)
        self.packed[width] = Packed(columns, ones << (8 * width - 1), ones)
        return self.packed[width]


def field_width(bound: int) -> int:
    """Bytes for integers of absolute value at most `bound` plus an offset, without overflow: |x| <= 2^(B-1) - 1.

    Wide fields come in powers of two only, so that few packings are ever made.
    """
    width = bound.bit_length() // 8 + 1
    return width if width <= 8 else 1 << (width - 1).bit_length()
