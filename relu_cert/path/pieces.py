"""The vocabulary of paths: pieces of an interval of lambdas on which the optimal networks are proved to move
continuously: the network is unique, or the set of all of them is known (`Lifted`).

With s = r*/lambda and eta = 1/lambda, s(eta) is the projection of eta y on the fixed convex set
B = {s : |Proj_{C_b}(X_b's)| <= 1 for all b}. The neurons are v_a = P_a X_a's with |v_a| = 1, and
eta y - s = sum_a alpha_a G_a s with the weights alpha of the network. So everything is said about s, with lambda = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from flint import fmpq_mat

from relu_cert.exact import Matrix, Vector, columns_of
from relu_cert.prove.facts import Multipliers, NeuronClass, PieceMultipliers
from relu_cert.serialize import OPTIONAL, UNWRITTEN, Key, Sign


@dataclass(frozen=True)
class Onset:
    """Where s becomes orthogonal to more: M, spanned by `rows` (orthogonal to the lift and to s_0).

    `normal`  H with H.q about 0 for the classes with weight, and H.q > 0 for the others
    `apart`   for each superclass without weight, in order, U with U N about I, N the products of the rows with the
              differences of outputs that vanish on M where it ties
    """

    rows: Matrix
    normal: Vector
    apart: tuple[Matrix, ...]


@dataclass(frozen=True)
class Lifted:
    """What a piece has more if the residual is proved orthogonal to a subspace L on all of it.

    `lift`       a basis of L; all coefficients of s are orthogonal to it
    `groups`     the superclasses, by their classes
    `forced`     classes that have weight 0 in every solution, and `force` h in L, which shows it
    `spread`     V with F V about I, F: weights of the active classes -> (masses of their superclasses, products with L)
    `dimension`  of the set of optimal networks, at least this on the whole piece
    `unique`     whether the network is unique on the whole piece
    """

    lift: Matrix
    groups: Annotated[tuple[tuple[int, ...], ...], UNWRITTEN]
    forced: tuple[int, ...]
    force: Vector
    spread: Matrix
    dimension: Annotated[int, UNWRITTEN]
    unique: Annotated[bool, UNWRITTEN]
    onset: Annotated[Onset | None, OPTIONAL] = None


@dataclass(frozen=True)
class Even:
    """What a piece has where outputs are dependent on all of it: the weights need not be unique, their set moves.

    `lift`       a basis of L: all s of the path, y, and the sum of outputs of each superclass are orthogonal to it
    `rays`       places of pinned classes with one direction for all s orthogonal to L; W is orthogonal to their outputs
    `unique`     whether the network is unique on the whole piece
    `shares`     of the classes of each superclass in that sum; () if they are equal
    """

    lift: Matrix
    rays: tuple[int, ...]
    unique: Annotated[bool, UNWRITTEN]
    shares: Annotated[Vector, OPTIONAL] = ()


@dataclass(frozen=True)
class Piece:
    """lo <= lambda <= hi, with eta = 1/lambda = eta_c + h tau, -1 <= tau <= 1.

    `s`            coefficients of a dual feasible path s(tau) = sum s_j tau^j near s(eta); one alone: a still point
    `classes`      every neuron that can be active on the piece
    `weights`      for each class the coefficients of alpha_a(tau) >= 0, as many as there are in `s`
    `multipliers`  at s(-1) and s(1), or at a still point, for lambda = 1; `out` proves the other fine pieces out (ReLU)
    `inverse`      W with W Q about I, Q the outputs of the classes (lifted: of the first class of each superclass; at
                   an onset: of those with weight)
    `pinned`       places of the classes that are proved by their flanks (`faces`)
    `even`     where outputs are dependent on all of the piece; then W has rows for the moving classes only
    `radius`       rho: all that is said of neurons is said for all s within rho of the chord from s(-1) to s(1)
    """

    lo: Fraction
    hi: Fraction
    s: tuple[Vector, ...]
    classes: tuple[NeuronClass, ...]
    weights: tuple[Vector, ...]
    multipliers: tuple[Multipliers, ...]
    out: tuple[PieceMultipliers | None, ...]
    inverse: Matrix
    radius: Fraction
    lifted: Annotated[Lifted | None, OPTIONAL] = None
    pinned: Annotated[tuple[int, ...], OPTIONAL] = ()
    even: Annotated[Even | None, OPTIONAL] = None

    @property
    def unique(self) -> bool:
        """Whether the network is proved unique for every lambda of the piece."""
        if self.even is not None:
            return self.even.unique
        return self.lifted is None or self.lifted.unique

    @property
    def plain(self) -> bool:
        """Whether breakpoints and samples of the curve can rest on it."""
        return self.lifted is None and self.even is None and not self.pinned

    @property
    def dimension(self) -> int:
        """The set of optimal networks has at least this dimension for every lambda of the piece."""
        return 0 if self.lifted is None else self.lifted.dimension

    def __getstate__(self) -> dict[str, Any]:
        """Without S, which cannot be pickled and is found again."""
        return {name: value for name, value in self.__dict__.items() if name != "S"}

    @cached_property
    def S(self) -> fmpq_mat:
        """The coefficients of s as columns."""
        return columns_of(self.s)

    @cached_property
    def ends(self) -> tuple[Vector, ...]:
        """s(-1) and s(1), or a still point: what is out at these is out all along."""
        return path_ends(self.s)

    @property
    def center(self) -> Fraction:
        """eta_c"""
        return (1 / self.lo + 1 / self.hi) / 2

    @property
    def half_width(self) -> Fraction:
        """h"""
        return (1 / self.lo - 1 / self.hi) / 2


def pinned_of(classes: Sequence[NeuronClass]) -> tuple[int, ...]:
    """The places of the pinned classes."""
    return tuple(a for a, one in enumerate(classes) if one.ray)


def path_ends(s: Sequence[Vector]) -> tuple[Vector, ...]:
    """s(-1) and s(1), or a still point."""
    if len(s) == 1:
        return tuple(s)
    even, odd = ([sum(x, Fraction(0)) for x in zip(*part, strict=True)] for part in (s[::2], s[1::2]))
    return tuple(tuple(a + sign * b for a, b in zip(even, odd, strict=True)) for sign in (-1, 1))


@dataclass(frozen=True)
class Gap:
    """lo <= lambda <= hi could not be settled; `reason` says why."""

    lo: Fraction
    hi: Fraction
    reason: str


@dataclass(frozen=True)
class PathPieces:
    """[lo, hi] in pieces and gaps, lambda ascending; above lambda_max the solution is zero, and nothing is needed."""

    lo: Fraction
    hi: Fraction
    pieces: tuple[Piece, ...]
    gaps: Annotated[tuple[Gap, ...], UNWRITTEN]

    @property
    def complete(self) -> bool:
        """Whether the optimal networks are proved to move continuously on the whole interval."""
        return not self.gaps

    @property
    def unique(self) -> bool:
        """Whether the network is proved unique on the whole interval."""
        return self.complete and all(piece.unique for piece in self.pieces)

    @property
    def several(self) -> Piece | None:
        """A piece on which the network is proved not unique: one of the largest dimension, if there is any."""
        return max((p for p in self.pieces if p.dimension), key=lambda piece: piece.dimension, default=None)


@dataclass(frozen=True)
class Jump:
    """A lambda at which the minimum-norm path jumps, exactly.

    theta = r*(lambda), and the multipliers prove it dual feasible; `limit` and `shorter` are weights of the tied
    neurons, both optimal at lambda, |shorter| < |limit|; on one side of lambda (`side` +1: larger eta, smaller lambda)
    the only optimal networks are those of the neurons `active` and tend to `limit`. `farkas` is empty, or a vector h
    with h.y = 0 and G_a h = 0 for the active ones, which shows that tied neurons that stay tied have weight 0.
    """

    lam: Annotated[Fraction, Key("lambda")]
    theta: Vector
    multipliers: Multipliers
    limit: Vector
    shorter: Vector
    active: tuple[int, ...]
    side: Sign
    farkas: Vector = ()
