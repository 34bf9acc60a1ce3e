"""The evidence of a cover: what `build` makes and the certificate carries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Row = tuple[int, ...]


@dataclass(frozen=True)
class Tie:
    """A direction u of one sign, and the shares of its concave kinks; a ray has none. `side`: the sign of p_c.u."""

    xi: int
    u: Row
    side: tuple[int, ...]
    shares: tuple[Fraction, ...] | None


@dataclass(frozen=True)
class Streams:
    """The bytes of one sign's tree."""

    codes: bytes
    multipliers: bytes
    data: bytes
    rows: bytes
    nodes: int
    leaves: int


@dataclass(frozen=True)
class Cover:
    """Evidence that theta is dual feasible: xi theta.(Zu)_+ <= lambda |u| for all u and both signs.

    `tau`, `bits` and `moves`, if not None: theta_k = tau (floor(r_k 2^bits) / 2^bits + m_k), r the residual of the
    network and m_k that of `moves`, or 0.
    """

    basis: tuple[Row, ...]
    ties: tuple[Tie, ...]
    margin: int
    plus: Streams
    minus: Streams
    tau: Fraction | None = None
    bits: int = 0
    moves: tuple[tuple[int, Fraction], ...] = ()

    @property
    def nodes(self) -> int:
        """Nodes of both trees."""
        return self.plus.nodes + self.minus.nodes

    @property
    def leaves(self) -> int:
        """Leaves of both trees."""
        return self.plus.leaves + self.minus.leaves
