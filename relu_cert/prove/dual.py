"""A dual feasible point, proved: |Proj_{C_b}(X_b'theta)| <= lambda for all blocks b.

The point is proposed; it is then shrunk by the exact factor that makes the proof go through. Multipliers shrink with
it, because everything in sight is positively homogeneous. So every proposal becomes feasible; a bad one only costs gap.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from relu_cert.exact import Vector, sqrt_upper
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import Dual, Multipliers, PieceMultiplier, PieceMultipliers
from relu_cert.prove.multipliers import (
    PieceProposal,
    Proposals,
    block_multipliers,
    rounded_pieces,
    scale,
    scale_multipliers,
    sharpened,
)

NEARLY = Fraction(999, 1000)  # pieces this near to lambda are solved exactly: a choice of effort, not of truth


def feasible_dual(problem: Problem, theta: Vector, q: int, lam: Fraction, proposals: Proposals | None) -> Dual:
    """theta (on the grid 1/q), shrunk until it is dual feasible for lambda, with its multipliers."""
    multipliers, longest_squared = dual_multipliers(problem, theta, q, lam, proposals)
    return shrink(Dual(theta, multipliers), longest_squared, lam)


def shrink(dual: Dual, longest_squared: Fraction, lam: Fraction) -> Dual:
    """The dual point times a short s, 0 < s <= 1, with s^2 longest^2 <= lambda^2, the largest one of its grid."""
    if longest_squared <= lam * lam:
        return dual
    precision = 16 + max(64, *((2 * abs(x.numerator)).bit_length() for x in dual.theta))
    ratio = lam / sqrt_upper(longest_squared, precision + 8)
    precision += max(0, ratio.denominator.bit_length() - ratio.numerator.bit_length())  # s = 0 would have other pieces
    s = Fraction(floor(ratio * (1 << precision)), 1 << precision)
    return Dual(scale(s, dual.theta), scale_multipliers(s, dual.multipliers))


def dual_multipliers(
    problem: Problem, theta: Vector, q: int, lam: Fraction, proposals: Proposals | None
) -> tuple[Multipliers, Fraction]:
    """Multipliers for theta, and the largest squared length max_b |X_b'theta - K_b rho_b|^2 that they prove."""
    network = problem.network
    if network is None or proposals is None:
        return block_multipliers(problem, theta, lam * lam)
    plus, longest_plus = _one_sign(network, theta, q, lam, proposals[1])
    minus, longest_minus = _one_sign(network, tuple(-x for x in theta), q, lam, proposals[-1])
    return PieceMultipliers(plus, minus), max(longest_plus, longest_minus)


def _one_sign(
    network: Network, t: Vector, q: int, lam: Fraction, proposal: PieceProposal
) -> tuple[tuple[PieceMultiplier, ...], Fraction]:
    pieces = [
        piece if piece.length_squared <= NEARLY * lam * lam else sharpened(network.Z, t, q, piece, lam * lam)
        for piece in rounded_pieces(network, t, q, proposal)
    ]
    return tuple(p.multiplier for p in pieces), max(p.length_squared for p in pieces)
