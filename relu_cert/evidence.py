"""The evidence of a cover and of leaders (verify/FORMAT.md): what provers make and certificates carry.

The evidence of a cover for several outputs: what `build` makes and the certificate carries.
"""

from __future__ import annotations

import base64
import lzma
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from relu_cert.exact import Matrix, Vector
from relu_cert.serialize import OPTIONAL, UNWRITTEN, Integer, Integers, Key, Sign, Via

Row = Integers


def pack(raw: bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(raw, preset=6)).decode()


Packed = Annotated[bytes, Via(pack)]


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


# Leaders: multipliers that prove theta dual feasible without any pattern.

MOST_ROWS = 3000  # different ones: the relaxation has matrices of rows x rows, and where there are more, no neighbours
MOST_IN_BAGS = 6000  # the same with bags: what is solved for is as many as bags
Rows = tuple[int, ...]


@dataclass(frozen=True)
class Leader:
    """The leader `row`: c > 0 and signed weights of the rows `near` and of the normals against other centres."""

    row: int
    c: Integer
    near: Rows
    weights: Integers
    normals: Rows
    normal_weights: Integers


@dataclass(frozen=True)
class Triangles:
    """1 + x s_i s_j + y s_j s_k + x y s_i s_k >= 0 for signs: i, j, k (0 is the sign 1, then the leaders from 1), x and
    y for each, one after the other, and weights."""

    corners: Integers
    signs: Integers
    weights: Integers


@dataclass(frozen=True)
class CellProof:
    """A cell: nu, multipliers p and q of `rows`, `excess` and `squares` of the normals, and the leaders; kappa where
    biases are free, triangles if there are any."""

    nu: Integer
    rows: Rows
    p: Integers
    q: Integers
    normals: Rows
    excess: Integers
    squares: Integers
    leaders: tuple[Leader, ...]
    kappa: Annotated[Integer | None, OPTIONAL] = None
    triangles: Annotated[Triangles | None, OPTIONAL] = None


@dataclass(frozen=True)
class Side:
    """One sign: cell i is where centre i has the largest product with u; no centres: one cell, all of R^d."""

    centres: tuple[Integers, ...]
    cells: tuple[CellProof, ...]


@dataclass(frozen=True)
class Leaders:
    """theta = unit x integers is dual feasible, so `lower` <= p*. Numbers of a side are in units of unit / q, q the
    common denominator of Z; the weights of neighbours, p, q, excess and squares in units of unit."""

    unit: Fraction
    integers: Annotated[Integers, Key("theta")]
    plus: Annotated[Side, Key("+")]
    minus: Annotated[Side, Key("-")]
    lower: Annotated[Fraction, UNWRITTEN]

    @property
    def theta(self) -> Vector:
        """theta itself."""
        return tuple(self.unit * t for t in self.integers)


PLAIN, SHARES, FINE, TIE = 200, 201, 202, 203
WHOLE = {PLAIN: 1, SHARES: 255, FINE: 65535}
OFFSET = 2**15
Moves = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class OutputTie:
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
    ties: tuple[OutputTie, ...]
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
class Across:
    """c theta_i + s theta_j for the axes i and j = i + 1, `first` and the next, with its lambda."""

    first: int
    weights: Vector
    lam: Annotated[Fraction, Key("lambda")]
    proof: Leaders


@dataclass(frozen=True)
class ByAxes:
    """Evidence that |Theta'P(Zu)_+| <= lambda |u|, by single axes, and planes of two with directions across."""

    axes: tuple[Axis, ...]
    across: Annotated[tuple[Across, ...], OPTIONAL] = ()


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


@dataclass(frozen=True)
class Turned:
    """Neurons strictly within one pattern that may be turned into each other; A'A - least is positive definite."""

    neurons: Matrix
    least: Fraction
