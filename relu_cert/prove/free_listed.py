"""The dual point of a network with free terms, over a list of patterns.

Free outputs ask for theta orthogonal to them, and nothing else. Free biases ask for multipliers with m.1 = 0, too:
then m.Zu = (X'm).w, whatever the bias is. They are found with the column of ones times a large number, and moved to the
sum 0 exactly: a row of P where the piece is on may have more than t_k, one where it is off less than 0. On the pieces
where all rows of P are on, or off, the sum leaves no choice: m = t, or m = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np

from relu_cert.exact import Matrix, Vector, norm_squared, scaled_rows
from relu_cert.free.terms import orthogonal, outputs
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import Dual, PieceMultiplier, PieceMultipliers
from relu_cert.prove.listed import THOROUGH, propose
from relu_cert.prove.multipliers import (
    Bounded,
    PieceProposal,
    binary_grid,
    from_grid,
    rounded_pieces,
    sharpened,
    to_grid,
)
from relu_cert.prove.value import NEARLY, feasible_dual, shrink
from relu_cert.solve import prepare

BITS = 60
IN_FLOATS, EXACTLY = 2**6, 2**40  # the column of ones times this


def listed_dual(problem: Problem, network: Network, theta: Sequence[float], lam: Fraction) -> Dual:
    """theta, made orthogonal to the free outputs and shrunk until the multipliers of all pieces prove it."""
    q = binary_grid(theta, BITS)
    near = tuple(from_grid(to_grid(x, q), q) for x in theta)
    point = orthogonal(outputs(problem), near, problem.loss.widest(problem.y, near))
    q = lcm(q, *(x.denominator for x in point))
    floats = np.array([float(x) for x in point])
    if "biases" not in problem.free:
        return feasible_dual(problem, point, q, lam, propose(prepare(problem), floats, THOROUGH * float(lam)))
    scaled = replace(problem, network=_scaled(network, IN_FLOATS))
    proposals = propose(prepare(scaled), floats, THOROUGH * float(lam))
    if proposals is None:
        raise ValueError("a ReLU problem has proposals for its pieces")
    X = tuple(z[:-1] for z in network.Z)
    sides, longest = [], Fraction(0)
    for xi in (1, -1):
        t = tuple(xi * x for x in point)
        pieces = _pieces(network, X, t, q, lam * lam, proposals[xi])
        sides.append(tuple(piece.multiplier for piece in pieces))
        longest = max(longest, *(piece.length_squared for piece in pieces))
    return shrink(Dual(point, PieceMultipliers(*sides)), longest, lam)


def _pieces(network: Network, X: Matrix, t: Vector, q: int, most: Fraction, proposal: PieceProposal) -> list[Bounded]:
    """The multiplier of every piece, with the sum 0, sharpened where it comes near to lambda."""
    far = _scaled(network, EXACTLY)
    found = []
    for piece in rounded_pieces(network, t, q, proposal):
        moved = _moved(X, t, piece)
        if moved.length_squared > NEARLY * most:
            long = replace(piece, length_squared=most * EXACTLY)  # whatever is found is shorter
            sharper = _moved(X, t, sharpened(far.Z, t, q, long, most))
            moved = min(moved, sharper, key=lambda one: one.length_squared)
        found.append(moved)
    return found


def _moved(X: Matrix, t: Vector, piece: Bounded) -> Bounded:
    """The multiplier with the sum 0, and |X'm|^2."""
    base, by = piece.base, piece.multiplier
    m = [t_k if on else Fraction(0) for t_k, on in zip(t, base, strict=True)]
    for k, x in zip(by.rows, by.values, strict=True):
        m[k] = x
    on = [k for k, t_k in enumerate(t) if t_k > 0 and base[k]]
    off = [k for k, t_k in enumerate(t) if t_k > 0 and not base[k]]
    if not off:
        m = list(t)
    elif not on:
        m = [Fraction(0)] * len(t)
    elif total := sum(m, Fraction(0)):
        k = min(off if total > 0 else on, key=lambda k: float(norm_squared(X[k])))
        m[k] -= total
    rows = tuple(k for k, m_k in enumerate(m) if m_k != (t[k] if base[k] else 0))
    (M,), q = scaled_rows([tuple(m)])
    N, p = scaled_rows(X)
    lengths = (sum(a * b for a, b in zip(M, column, strict=True)) for column in zip(*N, strict=True))
    length = Fraction(sum(x * x for x in lengths), (p * q) ** 2)
    return Bounded(PieceMultiplier(by.base, rows, tuple(m[k] for k in rows)), length)


def _scaled(network: Network, by: int) -> Network:
    """The same patterns, with the column of ones times a number."""
    return Network(tuple((*z[:-1], by * z[-1]) for z in network.Z), network.all)
