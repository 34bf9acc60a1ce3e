"""Exact multipliers from float proposals.

Multipliers prove |Proj_{C_b}(X_b'theta)| <= lambda: for ReLU one m for each concave piece, for direct problems one rho
for each block. A proposal is rounded to the grid of theta, moved into its box, and its length is
computed in integers. Where it comes near to lambda it is replaced by the exact minimiser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from relu_cert.evidence import ByAxes, Cover, Leaders, Outputs
from relu_cert.exact import Matrix, Vector, dot, norm_squared, scaled_rows
from relu_cert.patterns.pattern_set import Bits, PatternSet, bit_string
from relu_cert.problem.networks import correlation
from relu_cert.problem.networks import lengths_squared as block_lengths_squared
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import BlockMultipliers, Multipliers, PieceMultiplier, PieceMultipliers
from relu_cert.prove.field import Exact
from relu_cert.prove.projection import Bounds, ShortestVector, shortest
from relu_cert.serialize import Sign

Parts = tuple[str, tuple[int, ...], Exact]  # of a multiplier: base, rows and values


def restrict(cells: NDArray[np.uint8], positive: Bits) -> NDArray[np.uint8]:
    """The pieces: distinct restrictions to P of the packed patterns of the open cells, packed."""
    masked = cells & np.packbits(positive)
    return unique_rows(masked)


def unique_rows(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Distinct rows of a packed array."""
    width = packed.shape[1]
    padded = np.zeros((len(packed), -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = packed
    words = padded.view(np.uint64)
    if words.shape[1] == 1:
        return np.unique(words[:, 0]).view(np.uint8).reshape(-1, 8)[:, :width].copy()
    return np.ascontiguousarray(np.unique(words, axis=0)).view(np.uint8).reshape(-1, padded.shape[1])[:, :width].copy()


def solve_piece(
    Z: Matrix, t: Exact, base: Sequence[bool] | Bits, fixed: Sequence[bool] | Bits, free: Sequence[int] = ()
) -> ShortestVector:
    """The shortest Z'm, exactly, over the box of the piece on which the rows `fixed` have the sides of the base: of P,
    or, for a fine piece, of more rows. Numbers are Fractions, or those of a field."""
    zero = t[0] * 0
    box = [
        (Bounds(t_k, None) if on else Bounds(None, zero)) if fixed_k else Bounds(t_k, zero)
        for t_k, on, fixed_k in zip(t, base, fixed, strict=True)
    ]
    return shortest(Z, box, _start(t, base), free)


def parts_of(t: Exact, base: Sequence[bool] | Bits, best: ShortestVector) -> Parts:
    """The minimiser as a multiplier has it."""
    rows = tuple(k for k, (a, b) in enumerate(zip(best.m, _start(t, base), strict=True)) if a != b)
    return bit_string(base), rows, tuple(best.m[k] for k in rows)


def _start(t: Exact, base: Sequence[bool] | Bits) -> Exact:
    return tuple(t_k if on else t_k * 0 for t_k, on in zip(t, base, strict=True))


def exact_multiplier(
    Z: Matrix, t: Vector, base: Sequence[bool] | Bits, free: Sequence[int]
) -> tuple[PieceMultiplier, Vector]:
    """The best multiplier of one piece, and v = Z'm (the canonical dual vector of the piece at t)."""
    best = solve_piece(Z, t, base, [x > 0 for x in t], free)
    return PieceMultiplier(*parts_of(t, base, best)), best.v


def clip(value: int, t_k: int, on: bool) -> int:
    """The nearest grid value inside the box of one row (everything in units of the grid)."""
    if t_k > 0:
        return max(value, t_k) if on else min(value, 0)
    return min(max(value, t_k), 0)


def lengths_squared(
    N: Sequence[Sequence[int]],
    t: Sequence[int],
    base: Bits,
    rows: Sequence[Sequence[int]],
    values: Sequence[Sequence[int]],
) -> list[int]:
    """|N'm|^2 for every piece, in integers: N the scaled rows of Z, t and values in units of one grid."""
    weighted = fmpz_mat([[t_k * x for x in row] for t_k, row in zip(t, N, strict=True)])
    sums = (fmpz_mat(len(base), len(t), base.astype(np.int8).ravel().tolist()) * weighted).tolist()
    result = []
    for start, on, ks, ms in zip(sums, base, rows, values, strict=True):
        v = start
        for k, m_k in zip(ks, ms, strict=True):
            change = m_k - t[k] if on[k] else m_k
            if change:
                v = [a + change * x for a, x in zip(v, N[k], strict=True)]
        result.append(int(sum(a * a for a in v)))
    return result


def to_grid(x: float | Fraction, q: int) -> int:
    """The integer nearest to q x, exactly."""
    a, b = x.as_integer_ratio()
    return (2 * a * q + b) // (2 * b)


def from_grid(k: int, q: int) -> Fraction:
    """k / q"""
    return Fraction(k, q)


def binary_grid(values: Sequence[float | Fraction], precision: int = 52) -> int:
    """A power of two q on which the largest of the values has at least `precision` bits."""
    exact = [Fraction(x) for x in values if x]
    if not exact:
        return 1
    most = max(exponent_of(x) for x in exact)
    exponent = exponent_of(max(abs(x) for x in exact if exponent_of(x) >= most - 1))
    return 1 << max(0, precision + 1 - exponent)


def on_grid(rows: Sequence[Sequence[float | Fraction]], bits: int) -> Matrix:
    """The rows on one binary grid on which their largest entry has so many bits."""
    q = binary_grid([x for row in rows for x in row], bits)
    return tuple(tuple(from_grid(to_grid(x, q), q) for x in row) for row in rows)


def exponent_of(x: Fraction) -> int:
    """2^(this - 1) < |x| < 2^(this + 1)"""
    return x.numerator.bit_length() - x.denominator.bit_length()


class PieceProposal(Protocol):
    """What a float solver proposes for all pieces of one sign: base bits and multipliers, pieces x n."""

    @property
    def base(self) -> Bits: ...
    @property
    def m(self) -> NDArray[np.float64]: ...


Proposals = dict[Sign, PieceProposal]
NEAR = Fraction(9, 10)  # of lambda^2: a choice of effort, not of truth


@dataclass(frozen=True)
class Bounded:
    """A multiplier of one piece and the square of the length |Z'm| that it proves."""

    multiplier: PieceMultiplier
    length_squared: Fraction

    @property
    def base(self) -> list[bool]:
        """The base as booleans."""
        return [c == "1" for c in self.multiplier.base]


def rounded_pieces(network: Network, t: Vector, q: int, proposal: PieceProposal) -> list[Bounded]:
    """One multiplier for every piece of t = xi theta, rounded from the proposal to the grid 1/q on which t lies."""
    _require_every_piece(network.patterns, t, proposal.base)
    pieces = round_to_grid(t, q, proposal)
    return [Bounded(*one) for one in zip(pieces, piece_lengths(network.Z, t, pieces), strict=True)]


def piece_lengths(Z: Matrix, t: Vector, pieces: Sequence[PieceMultiplier]) -> list[Fraction]:
    """|Z'm|^2 of the multipliers."""
    N, q_Z = scaled_rows(Z)
    (grid_t, *values), q = scaled_rows([t, *(p.values for p in pieces)])
    base = np.array([[c == "1" for c in p.base] for p in pieces], dtype=np.bool_).reshape(len(pieces), len(t))
    lengths = lengths_squared(N, grid_t, base, [p.rows for p in pieces], values) if pieces else []
    return [Fraction(length, (q * q_Z) ** 2) for length in lengths]


def sharpen(Z: Matrix, t: Vector, q: int, piece: Bounded, lam_squared: Fraction) -> Bounded:
    """The exact minimiser of the piece rounded to the grid again, if that is shorter than what there is; not rounded
    where only that keeps it within lambda (a piece that ties)."""
    base = piece.base
    best, shortest = exact_multiplier(Z, t, base, piece.multiplier.rows)
    values = tuple(
        from_grid(clip(to_grid(x, q), to_grid(t[k], q), base[k]), q)
        for k, x in zip(best.rows, best.values, strict=True)
    )
    m = [t_k if on else Fraction(0) for t_k, on in zip(t, base, strict=True)]
    for k, x in zip(best.rows, values, strict=True):
        m[k] = x
    length = norm_squared([dot(m, column) for column in zip(*Z, strict=True)])
    if norm_squared(shortest) <= lam_squared < min(length, piece.length_squared):
        return Bounded(best, norm_squared(shortest))
    return Bounded(PieceMultiplier(best.base, best.rows, values), length) if length < piece.length_squared else piece


def block_multipliers(problem: Problem, theta: Vector, lam_squared: Fraction) -> tuple[BlockMultipliers, Fraction]:
    """rho_b for the blocks, exact projections where |X_b'theta| is near lambda (a block that is to be proved out needs
    room) or above it; the largest length^2."""
    lengths = block_lengths_squared(problem.blocks, theta)
    known: dict[int, Vector] = {}
    for b, length in enumerate(lengths):
        if length > NEAR * lam_squared and (K := problem.blocks[b].K) is not None:
            known[b], v = project(correlation(problem.blocks, b, theta), K)
            lengths[b] = norm_squared(v)
    return BlockMultipliers.of(problem.blocks, known), max(lengths)


def project(c: Exact, K: Matrix, kinks: Sequence[int] = ()) -> tuple[Exact, Exact]:
    """rho >= 0 and v = c - K rho = Proj_C(c) for C = {w : K'w <= 0}, exactly (Moreau); `kinks` guesses rho > 0."""
    columns = tuple(tuple(-x for x in column) for column in zip(*K, strict=True))
    if not columns:
        return (), c
    zero = c[0] * 0
    best = shortest(columns, [Bounds(zero, None)] * len(columns), (zero,) * len(columns), kinks, c)
    return best.m, best.v


def scale(s: Fraction, a: Vector) -> Vector:
    """s a"""
    return tuple(s * x for x in a)


def scale_multipliers(s: Fraction, multipliers: Multipliers) -> Multipliers:
    """The multipliers of s theta, s > 0."""
    match multipliers:
        case PieceMultipliers(plus, minus):
            return PieceMultipliers(_scale_pieces(s, plus), _scale_pieces(s, minus))
        case BlockMultipliers(rho):
            return BlockMultipliers(tuple(None if r is None else scale(s, r) for r in rho))
        case Cover() | Leaders() | Outputs() | ByAxes():
            raise ValueError("covers and leaders are for one dual point")
        case None:
            return None


def _scale_pieces(s: Fraction, pieces: tuple[PieceMultiplier, ...]) -> tuple[PieceMultiplier, ...]:
    return tuple(PieceMultiplier(p.base, p.rows, scale(s, p.values)) for p in pieces)


def _require_every_piece(patterns: PatternSet, t: Vector, base: Bits) -> None:
    """A proposal has exactly one base for every piece, or it is none."""
    positive = np.array([t_k > 0 for t_k in t])
    wanted = {p.tobytes() for p in restrict(patterns.groups[0].bits, positive)}
    proposed = {p.tobytes() for p in np.packbits(base & positive, axis=1)}
    if len(base) != len(wanted) or proposed != wanted:
        raise ValueError("the proposal must have exactly one base for every piece")


def round_to_grid(t: Vector, q: int, proposal: PieceProposal) -> tuple[PieceMultiplier, ...]:
    """The proposed multipliers on the grid 1/q on which t lies, inside their boxes."""
    grid_t = [to_grid(t_k, q) for t_k in t]
    if any(from_grid(k, q) != t_k for k, t_k in zip(grid_t, t, strict=True)):
        raise ValueError("theta must lie on its grid")
    base = proposal.base
    start = np.where(base, np.array([float(from_grid(k, q)) for k in grid_t]), 0.0)
    rows: list[list[int]] = [[] for _ in base]
    values: list[list[Fraction]] = [[] for _ in base]
    for i, k in np.argwhere(proposal.m != start).tolist():
        value = clip(to_grid(float(proposal.m[i, k]), q), grid_t[k], bool(base[i, k]))
        if value != (grid_t[k] if base[i, k] else 0):
            rows[i].append(k)
            values[i].append(from_grid(value, q))
    return tuple(
        PieceMultiplier(bit_string(on), tuple(ks), tuple(ms)) for on, ks, ms in zip(base, rows, values, strict=True)
    )
