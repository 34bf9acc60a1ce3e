"""The evidence of a cover: what `build` makes and the certificate carries."""

from __future__ import annotations

import base64
import lzma
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from relu_cert.written import OPTIONAL, UNWRITTEN, Integers, Key, Sign, Via

Row = Integers


def packed(raw: bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(raw, preset=6)).decode()


Packed = Annotated[bytes, Via(packed)]


@dataclass(frozen=True)
class Tie:
    """A direction u of one sign, and the shares of its concave kinks; a ray has none. `side`: the sign of p_c.u."""

    xi: Annotated[Sign, Key("sign")]
    u: Row
    side: Annotated[tuple[int, ...], UNWRITTEN]
    shares: Annotated[tuple[Fraction, ...] | None, OPTIONAL] = None


@dataclass(frozen=True)
class Streams:
    """The bytes of one sign's tree."""

    codes: Packed
    multipliers: Packed
    data: Packed
    rows: Packed
    nodes: Annotated[int, UNWRITTEN]
    leaves: Annotated[int, UNWRITTEN]


@dataclass(frozen=True)
class Rounded:
    """theta_k = tau (floor(r_k 2^bits) / 2^bits + m_k), r the residual of the network and m_k that of `moves`, or 0."""

    tau: Fraction
    bits: int
    moves: Annotated[tuple[tuple[int, Fraction], ...], OPTIONAL] = ()


@dataclass(frozen=True)
class Cover:
    """Evidence that theta is dual feasible: xi theta.(Zu)_+ <= lambda |u| for all u and both signs.

    `source`: how theta follows from the network, where it does.
    """

    basis: tuple[Row, ...]
    ties: tuple[Tie, ...]
    margin: int
    plus: Annotated[Streams, Key("+")]
    minus: Annotated[Streams, Key("-")]
    source: Annotated[Rounded | None, UNWRITTEN] = None

    @property
    def nodes(self) -> int:
        """Nodes of both trees."""
        return self.plus.nodes + self.minus.nodes

    @property
    def leaves(self) -> int:
        """Leaves of both trees."""
        return self.plus.leaves + self.minus.leaves
