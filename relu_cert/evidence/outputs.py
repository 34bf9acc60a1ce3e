"""The evidence of a cover for several outputs: what `build` makes and the certificate carries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from relu_cert.evidence import Leaders, Packed, Row
from relu_cert.exact import Vector
from relu_cert.serialize import OPTIONAL, UNWRITTEN, Key

PLAIN, SHARES, FINE, TIE = 200, 201, 202, 203
WHOLE = {PLAIN: 1, SHARES: 255, FINE: 65535}
OFFSET = 2**15
Moves = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Tie:
    """The shares of the lines at which a neuron of the optimum is zero; its direction is for the engine alone."""

    lines: tuple[int, ...]
    shares: Vector
    u: Annotated[tuple[float, ...], UNWRITTEN]


@dataclass(frozen=True)
class Tree:
    """The bytes of the tree."""

    codes: Packed
    multipliers: Packed
    shares: Packed
    forms: Packed


@dataclass(frozen=True)
class Residual:
    """Theta = tau (floor(R 2^bits) / 2^bits + moves), R the residual, its entries numbered row by row."""

    tau: Fraction
    bits: int
    moves: Annotated[Moves, OPTIONAL] = ()


@dataclass(frozen=True)
class Outputs:
    """Evidence that |T'(Zu)_+| <= lambda |u| for all u, T = P'Theta. `source`: how Theta follows from the network."""

    basis: tuple[Row, ...]
    ties: tuple[Tie, ...]
    tree: Tree
    nodes: Annotated[int, UNWRITTEN]
    leaves: Annotated[int, UNWRITTEN]
    source: Annotated[Residual | None, UNWRITTEN] = None


@dataclass(frozen=True)
class Direction:
    """u, the margin of its leaves, and shares that keep optimal neurons on its face."""

    u: Row
    margin: Fraction
    basis: tuple[int, ...]
    fixed: Vector


@dataclass(frozen=True)
class Alone:
    """One direction at most near each class, and the weights there, within `error`."""

    classes: tuple[Direction, ...]
    masses: Vector
    error: Annotated[Fraction, UNWRITTEN]

    @property
    def active(self) -> bool:
        """Whether all weights are proved positive, with a bit to spare."""
        return all(mass > 2 * self.error + Fraction(1, 2**100) for mass in self.masses)


@dataclass(frozen=True)
class Axis:
    """theta_i, the part of Theta along an axis b_i, with |theta_i.P(Zu)_+| <= lambda_i |u|."""

    axis: Vector
    lam: Annotated[Fraction, Key("lambda")]
    proof: Leaders


@dataclass(frozen=True)
class ByAxes:
    """Evidence that |Theta'P(Zu)_+| <= lambda |u|, axis by axis: sum |b_i.b_j| lambda_i lambda_j <= lambda^2."""

    axes: tuple[Axis, ...]


@dataclass(frozen=True)
class Whole:
    """A neuron with its norm |w||v|."""

    w: Vector
    v: Vector
    norm: Fraction


@dataclass(frozen=True)
class Pair:
    """Two different optimal networks."""

    first: tuple[Whole, ...]
    second: tuple[Whole, ...]
