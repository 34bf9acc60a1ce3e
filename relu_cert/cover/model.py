"""The evidence of a cover: what `build` makes and the certificate carries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from relu_cert.clock import Until, until

MOST_DIRECTIONS = 12  # the rank of data for a cover: what the checker takes
ENOUGH = "the gap that was asked for is proved, and no more"
MANY_FEATURES = "with so many features only a gap can be proved"
Row = tuple[int, ...]
Tell = Callable[["Moment"], None]


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


@dataclass(frozen=True)
class Limits:
    """How long a proof may take: seconds (None: the default) and nodes; over how many processes, or which cluster; the
    file in which the work is kept."""

    seconds: float | None = None
    nodes: int = 50_000_000
    jobs: int = 1
    dask: str | None = None
    state: Path | None = None

    @property
    def until(self) -> Until:
        """When the seconds are over, if they begin now."""
        return until(self.seconds, shared=self.jobs > 1 or self.dask is not None)


@dataclass(frozen=True)
class Moment:
    """One line of the log."""

    stage: str
    neurons: int = 0
    objective: float | None = None
    bound: float | None = None
    nodes: int = 0
    open: int = 0
