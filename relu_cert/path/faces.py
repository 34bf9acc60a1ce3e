"""What is asked of the classes of a piece: their faces along the path, concave kinks, or that they are pinned.

Pinned classes are neurons on faces beside which nothing is as good, though some kinks may be convex.

Let F be the face, w orthogonal to it, D the rows that are on. In the region of the class

    xi s.P(Z(f + w))_+ <= v(s).f + xi s.o(w),    o(w) = P ((z_k.w)_+ on kinks, z_k.w on D, 0 elsewhere),

and xi s.o(w) is linear on the cones into which the kinks cut their span. So it is negative everywhere if it is so on
their extreme rays, the *flanks*; then v(s) = P_F X's is the only maximiser (verify/FORMAT.md: `path`, *pinned*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

from flint import fmpq_mat

from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    dot,
    matrix_of,
    norm_squared,
    rows_of,
    sqrt_upper,
    to_fmpq,
    to_fraction,
)
from relu_cert.path.pieces import Piece
from relu_cert.path.polynomial import least, negative
from relu_cert.path.tube import Refused
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.classes import class_map, face_conditions, idle_is_idle, independent, moving_slopes, size_squared
from relu_cert.prove.facts import NeuronClass

MOST_FLANKS = 4096
HALF = Fraction(1, 2)


def pinned_where_needed(problem: Problem, neuron: NeuronClass, s_0: Vector) -> NeuronClass:
    """The class, or the pinned one on its face where a kink is not concave at s_0, or not held by multipliers."""
    if not neuron.kinks or "biases" in problem.free:
        return neuron
    planes = parallel_classes(problem.relu.Z)
    at = problem.relu.bags.spread_matrix(column(s_0))
    for c in neuron.kinks:
        right, left = moving_slopes(planes[c], at)
        if (left - right)[0, 0] * neuron.sign <= 0:
            return pinned(problem, neuron)
    if not idle_is_idle(problem, neuron):  # a multiplier on its bound
        whole = pinned(problem, neuron)
        return replace(whole, ray=False, fixed=(HALF,) * len(whole.fixed))
    return neuron


def pinned(problem: Problem, neuron: NeuronClass) -> NeuronClass:
    """The pinned class with the pattern and the kinks of a class."""
    Z = problem.relu.Z
    basis: list[int] = []
    for c in neuron.kinks:
        if len(independent(tuple(Z[k] for k in (*basis, c)))) > len(basis):
            basis.append(c)
    fixed = (Fraction(0),) * (len(neuron.kinks) - len(basis))
    return NeuronClass(neuron.sign, neuron.pattern, None, neuron.kinks, tuple(basis), (), fixed, ray=True)


def require_faces(problem: Problem, piece: Piece, R: Fraction) -> None:
    """Refused unless every class has its face along the whole path, and its region is concave over the tube."""
    S, lift = piece.S, () if piece.even is None else piece.even.lift
    for neuron in piece.classes:
        if not idle_is_idle(problem, neuron):
            raise Refused("a neuron is zero at a data point by chance")
        if neuron.ray:
            require_pinned(problem, neuron, S, R, lift)
            continue
        signs = [row for row, _ in face_conditions(problem, neuron, S) if negative(row)]
        if signs:
            raise Refused("the face of a neuron changes on the piece", signs)
        if problem.network is not None:
            _require_concave(problem.network, neuron, S, R)


def _require_concave(network: Network, neuron: NeuronClass, S: fmpq_mat, R: Fraction) -> None:
    """l_c - p_c = -xi sum |a_k| s_k > 0 within R of the path for every kink."""
    planes, bags = parallel_classes(network.Z), network.bags
    t = bags.spread_matrix(S)
    for c in neuron.kinks:
        right, left = moving_slopes(planes[c], t)
        moved = to_fmpq(R * sqrt_upper(bags.moved_squared({k: abs(a) for k, a in planes[c].items()}), 64))
        if least(((left - right) * neuron.sign).entries()) <= moved:
            raise Refused("a kink is not concave on the piece")


def require_pinned(problem: Problem, neuron: NeuronClass, S: fmpq_mat, R: Fraction, lift: Matrix) -> None:
    """Refused unless v = P X's has its pattern within R of the path, and every flank loses, or is in the lift."""
    Z, bags = problem.relu.Z, problem.relu.bags
    planes = parallel_classes(Z)
    zeros = {k for c in neuron.kinks for k in planes[c]}
    on = neuron.pattern or ""
    v = class_map(problem, neuron).v(S if neuron.sign > 0 else -S)
    moved = sqrt_upper(size_squared(problem), 64) * R
    for k, (z, height) in enumerate(zip(Z, (rows_of(Z) * v).tolist(), strict=True)):
        if any(z) and k not in zeros:
            row = height if on[k] == "1" else [-x for x in height]
            far = to_fmpq(sqrt_upper(norm_squared(z), 64) * moved)
            if least(row) <= far:
                raise Refused("the face of a neuron changes on the piece", [[row[0] - far, *row[1:]]])
    for w in flanks([Z[c] for c in neuron.kinks], [Z[c] for c in neuron.basis]):
        heights = [dot(z, w) for z in Z]
        rows = [max(h, Fraction(0)) if k in zeros else h * int(on[k]) for k, h in enumerate(heights)]
        o = bags.pooled(rows)
        far = to_fmpq(sqrt_upper(norm_squared(o), 64) * R)
        loss = (matrix_of([[-neuron.sign * x for x in o]]) * S).tolist()[0]
        if least(loss) <= far and len(independent((*lift, o))) > len(lift):
            raise Refused("a kink is not concave on the piece", [[loss[0] - far, *loss[1:]]])


def flanks(kinks: Sequence[Vector], basis: Sequence[Vector]) -> list[Vector]:
    """The vectors of the span of `basis`, up to length, that are orthogonal to all but one of so many independent
    kinks; Refused where there are too many."""
    m = len(basis)
    if not m:
        return []
    if comb(len(kinks), m - 1) > MOST_FLANKS:
        raise Refused("a neuron on too many kinks")
    A = matrix_of(basis)
    found: list[Vector] = []
    for chosen in combinations(kinks, m - 1):
        if m == 1:
            x = [Fraction(1)]
        else:
            reduced, rank = (matrix_of(chosen) * A.transpose()).rref()
            if rank < m - 1:
                continue
            heads = [next(j for j in range(m) if reduced[i, j]) for i in range(rank)]
            (free,) = set(range(m)) - set(heads)
            x = [to_fraction(-reduced[heads.index(j), free]) if j in heads else Fraction(1) for j in range(m)]
        w = tuple(sum((x_i * b[i] for x_i, b in zip(x, basis, strict=True)), Fraction(0)) for i in range(len(basis[0])))
        found += [w, tuple(-entry for entry in w)]
    return found
