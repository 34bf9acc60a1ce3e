"""Pieces on which the network need not be unique: what makes them a proof that the set of optimal networks moves
continuously.

Let L be a subspace and s_L(eta) the solution of the dual with the further condition s orthogonal to L (its primal has
one more free term in L). A path s(tau) orthogonal to L with weights alpha(tau) encloses both s(eta) and s_L(eta) in its
tube. Superclasses are classes that tie on all s orthogonal to L, with outputs that differ by elements of L. Their
outputs are independent modulo L (W orthogonal to L, |W Q - I| <= beta < 1), so the masses A of a lifted solution are
the same in all of them, continuous, and within

    delta = max |W_i| D / (1 - beta),    D = |E| + R + g R sum alpha,

of those of alpha(tau). With F the map from weights to (masses; l.sum alpha_a q_a, l in the basis of L) and a right
inverse |F V - I| <= beta_F < 1, weights near alpha(tau) have exactly these masses and exactly the sum eta y - s_L. They
are positive if alpha(tau) is larger than their change; so s(eta) = s_L(eta), and the optimal set is the polytope
{alpha >= 0 : F alpha = (A, eta l.y)}, F of full rank, with a point strictly inside: a continuous set-valued map of eta.
Superclasses without weight in alpha(tau) (*light*) may enter and leave: the polytope keeps a point strictly inside with
respect to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from relu_cert.exact import dot, norm_squared, sqrt_upper
from relu_cert.path.groups import active_classes, silent, void_rows
from relu_cert.path.onset import require_onset
from relu_cert.path.pieces import Lifted, Piece
from relu_cert.path.polynomial import least, most, size
from relu_cert.path.tube import Refused, Tube, require_independence
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.prove.unsettled import Unsettled
from relu_cert.rationals import column, matrix_of, to_fmpq, to_fraction


@dataclass(frozen=True)
class Reach:
    """How far the truth can be from alpha(tau): `miss` = D, `delta` of masses, `light` of the weights elsewhere."""

    miss: Fraction
    delta: Fraction
    light: Fraction


def split_rows(
    problem: Problem, piece: Piece, lifted: Lifted, maps: Sequence[ClassMap], active: Sequence[int]
) -> list[list[list[fmpq]]]:
    """F as polynomials, a row for each superclass with weight and each row of the lift that is not void."""
    core, _ = active_classes(piece, lifted)
    S = piece.S
    zero = [fmpq(0)] * S.ncols()
    one = [fmpq(1), *zero[1:]]
    rows = [[one if a in lifted.groups[s] else zero for a in active] for s in core]
    void = void_rows(problem, lifted, maps)
    kept = [l for i, l in enumerate(lifted.lift) if i not in void]
    if kept:
        products = [(matrix_of(kept) * maps[a].output(S)).tolist() for a in active]
        rows += [[list(product[i]) for product in products] for i in range(len(kept))]
    return rows


def judge_lifted(problem: Problem, piece: Piece, maps: Sequence[ClassMap], tube: Tube) -> None:
    """Unsettled unless the lifted piece is a proof, but for its faces and what is out or aside."""
    lifted = piece.lifted
    if lifted is None:
        raise ValueError("a lifted piece")
    beside = () if lifted.onset is None else (*lifted.onset.rows, lifted.onset.normal)
    if any(dot(l, other) for l in lifted.lift for other in (*piece.s, *piece.inverse, *beside)):
        raise ValueError("s, W and the onset are orthogonal to the lift")
    core, _ = active_classes(piece, lifted)
    g = largest_squared(problem)
    total = sum((to_fraction(most([to_fmpq(x) for x in row])) for row in piece.weights), Fraction(0))
    D = tube.miss + tube.R + g * tube.R * total
    firsts = [group[0] for s, group in enumerate(lifted.groups) if lifted.onset is None or s in core]
    beta = require_independence(problem, piece, [maps[a] for a in firsts], tube.R)
    pulled = max((sqrt_upper(norm_squared(row), 64) for row in piece.inverse), default=Fraction(0)) * D
    if lifted.onset is None:
        delta = pulled / (1 - beta)
        reach = Reach(D, delta, (len(lifted.groups) - len(core)) * delta)
    else:
        delta, light = require_onset(problem, piece, maps, tube.R, D, beta)
        reach = Reach(D, delta, light)
    _require_forced(problem, piece, lifted, maps, tube.R)
    _require_inside(problem, piece, maps, tube.R, reach)


def _require_forced(problem: Problem, piece: Piece, lifted: Lifted, maps: Sequence[ClassMap], R: Fraction) -> None:
    """h.q > 0 over the tube for the forced classes; for the others h.q = 0 whatever the residual."""
    if not lifted.forced:
        return
    h = lifted.force
    free = [one for a, one in enumerate(maps) if a not in lifted.forced]
    if problem.network is not None or dot(h, problem.y) or not all(silent(one, h) for one in free):
        raise Unsettled("a tied neuron may have weight or not")
    if any(set(group) <= set(lifted.forced) for group in lifted.groups):
        raise Unsettled("a neuron that is active may have no weight")
    S = piece.S
    margin = to_fmpq(largest_squared(problem) * R * sqrt_upper(norm_squared(h), 64))
    for a in lifted.forced:
        height = (column(h).transpose() * maps[a].output(S)).tolist()[0]
        if least(height) <= margin:
            raise Refused("a tied neuron may have weight or not", [[height[0] - margin, *height[1:]]])


def _require_inside(problem: Problem, piece: Piece, maps: Sequence[ClassMap], R: Fraction, reach: Reach) -> None:
    """Exact weights near alpha(tau) are positive on the whole piece."""
    lifted = piece.lifted
    if lifted is None:
        raise ValueError("a lifted piece")
    core, active = active_classes(piece, lifted)
    F = split_rows(problem, piece, lifted, maps, active)
    void = void_rows(problem, lifted, maps)
    kept = [sqrt_upper(norm_squared(l), 64) for i, l in enumerate(lifted.lift) if i not in void]
    g = largest_squared(problem)
    V = [[to_fmpq(x) for x in row] for row in lifted.spread]
    spread = sum((abs(x) for row in lifted.spread for x in row), Fraction(0))
    beta = Fraction(0)
    for i, row in enumerate(F):
        moved = kept[i - len(core)] * g * R * spread if i >= len(core) else Fraction(0)
        total = to_fmpq(moved)
        for j in range(len(F)):
            entry = [sum((c[m] * V[a][j] for a, c in enumerate(row)), fmpq(0)) for m in range(len(piece.s))]
            if i == j:
                entry[0] -= 1
            total += size(entry)
        beta = max(beta, to_fraction(total))
    if beta >= 1:
        raise Unsettled("the map that splits the masses is not onto, or too near to it")
    missed = [reach.delta] + [l * (reach.miss + sqrt_upper(g, 64) * reach.light) for l in kept]
    z = max(missed) / (1 - beta)
    for a, V_a in zip(active, lifted.spread, strict=True):
        change = z * sum((abs(x) for x in V_a), Fraction(0))
        if least([to_fmpq(x) for x in piece.weights[a]]) <= to_fmpq(change):
            raise Unsettled("no split of the masses is proved to be strictly inside")
