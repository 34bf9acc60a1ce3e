"""The optimal set where the residual is known exactly, in a field of real algebraic numbers."""

from __future__ import annotations

from dataclasses import dataclass

from relu_cert.prove.algebraic.field import Field, Number
from relu_cert.prove.facts import Sign

Numbers = tuple[Number, ...]


@dataclass(frozen=True)
class AlgebraicTied:
    """A neuron with |v| = lambda exactly: v, its output q at r*, and whether two blocks carry it."""

    sign: Sign
    v: Numbers
    q: Numbers
    kinks: bool
    pattern: str | None = None
    block: int | None = None


@dataclass(frozen=True)
class FieldMultiplier:
    """As `PieceMultiplier`, with values in the field."""

    base: str
    rows: tuple[int, ...]
    values: Numbers


@dataclass(frozen=True)
class AlgebraicSet:
    """r* = `residual`, and every neuron that is tied at lambda.

    `plus`, `minus`  multipliers of the pieces that the dual point does not prove out (ReLU)
    `rho`            (block, multipliers) of the blocks with cones that it does not prove out (direct problems)
    `solutions`      weights alpha >= 0 of the tied neurons: one, or two different ones
    `farkas`         with one solution: h with h.q = 0 on its support and h.q > 0 for the other tied neurons
    """

    field: Field
    residual: Numbers
    plus: tuple[FieldMultiplier, ...]
    minus: tuple[FieldMultiplier, ...]
    rho: tuple[tuple[int, Numbers], ...]
    tied: tuple[AlgebraicTied, ...]
    solutions: tuple[Numbers, ...]
    farkas: Numbers
