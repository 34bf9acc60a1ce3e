"""The evidence of a cover for several outputs: what `build` makes and the certificate carries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from relu_cert.cover.evidence import Packed, Row
from relu_cert.exact import Vector
from relu_cert.written import OPTIONAL, UNWRITTEN

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
    """Evidence that |Theta'(Zu)_+| <= lambda |u| for all u."""

    basis: tuple[Row, ...]
    ties: tuple[Tie, ...]
    tree: Tree
    nodes: Annotated[int, UNWRITTEN]
    leaves: Annotated[int, UNWRITTEN]
