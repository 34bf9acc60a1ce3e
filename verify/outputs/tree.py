"""The streams of the tree of cones over u: every point of the row space lies in a leaf (descent.py walks it).

Roots are the 2^d sign cones of a basis; a bisection replaces g_i, then g_j, by the primitive multiple of m_i g_i + m_j
g_j. A leaf says which shares its crossing lines have, and what N is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO

from verify.cover.tree import stream
from verify.text import Node

STREAMS = ("codes", "multipliers", "shares", "forms")
PLAIN, SHARES, FINE, TIE = 200, 201, 202, 203
WHOLE = {PLAIN: 1, SHARES: 255, FINE: 65535}
MOST_ENTRY_BYTES, OFFSET = 32, 2**15


@dataclass(frozen=True)
class Leaf:
    """Its code, and the number of its tie; its shares and N are read later, leaf by leaf."""

    code: int
    tie: int = 0


@dataclass
class Streams:
    """The four streams, read from their beginnings; they must be used up."""

    node: Node
    parts: dict[str, BytesIO] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = {name: BytesIO(stream(part)) for name, part in self.node.record(*STREAMS).items()}

    def take(self, name: str, count: int = 1) -> bytes:
        """The next bytes of a stream."""
        found = self.parts[name].read(count)
        if len(found) < count:
            raise self.node.reject("an entry for every node", "too few")
        return found

    def byte(self, name: str) -> int:
        """The next byte of a stream."""
        return self.take(name)[0]

    def multiplier(self) -> tuple[int, int]:
        """(m, 1) or (1, m), m = 2^s or 3 2^s."""
        k = self.byte("multipliers")
        m = (2 + (k & 1) << (k >> 1 & 63)) >> 1
        return (1, m) if k >> 7 else (m, 1)

    def shares(self, code: int, count: int) -> list[int]:
        """How far the shares of the crossing lines are from 0 or 1, in parts of WHOLE: one byte each, or two."""
        width = {PLAIN: 0, SHARES: 1, FINE: 2}[code]
        raw = self.take("shares", width * count)
        if width == 1:
            return [*raw]
        return [int.from_bytes(raw[width * k : width * (k + 1)], "little") for k in range(count)]

    def entries(self, count: int) -> tuple[list[int], int] | None:
        """The entries of N above the diagonal, row by row, and their common power of two; None: no N."""
        width = self.byte("forms")
        self.node.require(width <= MOST_ENTRY_BYTES, f"at most {MOST_ENTRY_BYTES} bytes an entry", str(width))
        if not width:
            return None
        power = int.from_bytes(self.take("forms", 2), "little") - OFFSET
        raw = self.take("forms", width * count)
        return [int.from_bytes(raw[width * k : width * (k + 1)], "little") for k in range(count)], power

    def end(self) -> None:
        """Reject what was not read."""
        left = [name for name, source in self.parts.items() if source.read(1)]
        self.node.require(not left, "streams that are used up", f"more in {', '.join(left)}")
