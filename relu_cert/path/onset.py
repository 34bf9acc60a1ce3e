"""Where the lift sets in: a still piece across the lambda at which s becomes orthogonal to more, M beside L.

On one side of it only the superclasses C with weight tie (their outputs independent modulo L); on the other s is
orthogonal to M, and the others, N, tie as well. For every lambda of the piece:

1. H orthogonal to L has H.q about 0 on C and H.q >= c > 0 on N. So in every solution the weights of N add up to at most
   `light`, and those of C are within `delta` of alpha(tau): positive.
2. If one of N ties then s is orthogonal to M. Let m be the part of s in M, and a, b two tied classes of one superclass
   with respect to L + M. Then |v_a| = |v_b| says m.d = 0 for some d near q_a - q_b. There are dim M - 1 such
   differences in C, and one more for the class of N; if their products with the rows of M are a regular matrix,
   m = 0.
3. Then all of N ties, and the outputs of C and N have rank |C| + 1, because there are |C| + 1 - dim M superclasses with
   respect to L + M. H* = H - (H Q_C)(W Q_C)^-1 W vanishes on C and is positive on N. If H*.(eta y - s) = 0, N has no
   weight, and C the only one; else a solution with all weights positive exists.

So at each lambda the weights are unique, or a point lies strictly inside a polytope that is defined by equations of
full rank for all lambdas nearby. Both make the set-valued map continuous there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, column, dot, matrix_of, norm_squared, sqrt_upper, to_fraction
from relu_cert.path.candidates import active_classes, path_groups
from relu_cert.path.pieces import Lifted, Piece
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap
from relu_cert.prove.optimal_set import largest_squared


def require_onset(
    problem: Problem, piece: Piece, maps: Sequence[ClassMap], R: Fraction, D: Fraction, beta: Fraction
) -> tuple[Fraction, Fraction]:
    """`delta` and `light`, or Unsettled if the piece is no proof. D bounds what alpha(tau) misses."""
    lifted = piece.lifted
    if lifted is None or lifted.onset is None or len(piece.s) != 1:
        raise ValueError("a still piece with an onset")
    onset = lifted.onset
    if any(dot(row, piece.s[0]) for row in onset.rows):
        raise ValueError("s_0 is orthogonal to the rows of the onset")
    core, _ = active_classes(piece, lifted)
    late = [s for s in range(len(lifted.groups)) if s not in core]
    s_0 = piece.S
    outputs = [maps[group[0]].output(s_0) for group in lifted.groups]
    moved = largest_squared(problem) * R
    _require_apart(problem, piece, lifted, outputs, core, late, moved)
    H = column(onset.normal).transpose()
    heights = [to_fraction((H * q)[0, 0]) for q in outputs]
    tilt = sqrt_upper(norm_squared(onset.normal), 64)
    flat = max((abs(heights[s]) for s in core), default=Fraction(0)) + tilt * moved
    steep = min(heights[s] for s in late) - tilt * moved
    lengths = [sqrt_upper(norm_squared(row), 64) for row in piece.inverse]
    W = matrix_of(piece.inverse) if core else fmpq_mat(0, problem.n)
    pushed = [(x, length) for s in late for x, length in zip((W * outputs[s]).entries(), lengths, strict=True)]
    omega = max((abs(to_fraction(x)) + length * moved for x, length in pushed), default=Fraction(0))
    pulled = max(lengths, default=Fraction(0)) * D
    share = len(core) * flat / (1 - beta)
    if steep <= share * omega:
        raise Unsettled("the neurons that are to tie have outputs on both sides")
    light = (tilt * D + share * pulled) / (steep - share * omega)
    return (pulled + omega * light) / (1 - beta), light


def joined_by(
    problem: Problem,
    piece: Piece,
    lift: Matrix,
    rows: Matrix,
    groups: Sequence[tuple[int, ...]],
    core: Sequence[int],
) -> dict[int, int]:
    """For each superclass the first one with weight, of the core, that is one with it with respect to L + M, M spanned
    by the rows; Unsettled if there is none, or if the core has not dim M - 1 others."""
    inner_of = {a: s for s, group in enumerate(groups) for a in group}
    first_of: dict[int, int] = {}
    for group in path_groups(problem, piece.s, piece.radius, piece.classes, (*lift, *rows)):
        family = sorted({inner_of[a] for a in group})
        first = next((s for s in family if s in core), None)
        if first is None:
            raise Unsettled("a neuron without weight is to tie alone")
        first_of |= dict.fromkeys(family, first)
    if sum(s != first_of[s] for s in core) + 1 != len(rows):
        raise Unsettled("more than one thing happens at an onset")
    return first_of


def _require_apart(
    problem: Problem,
    piece: Piece,
    lifted: Lifted,
    outputs: Sequence[fmpq_mat],
    core: Sequence[int],
    late: Sequence[int],
    moved: Fraction,
) -> None:
    """Unsettled unless s is orthogonal to M wherever one of the late superclasses ties."""
    onset = lifted.onset
    if onset is None or not late:
        raise Unsettled("no neuron is to tie")
    first_of = joined_by(problem, piece, lifted.lift, onset.rows, lifted.groups, core)
    differences = [outputs[s] - outputs[first_of[s]] for s in core if s != first_of[s]]
    M = matrix_of(onset.rows)
    size = len(onset.rows)
    lengths = sum((sqrt_upper(norm_squared(row), 64) for row in onset.rows), Fraction(0))
    for s, U in zip(late, onset.apart, strict=True):
        columns = [M * d for d in (*differences, outputs[s] - outputs[first_of[s]])]
        N = fmpq_mat([list(column.entries()) for column in columns])
        product = matrix_of(U) * N
        for i, row in enumerate(U):
            error = 2 * moved * lengths * sum((abs(x) for x in row), Fraction(0))
            total = sum((abs(product[i, j] - (1 if i == j else 0)) for j in range(size)), fmpq(0))
            if to_fraction(total) + error >= 1:
                raise Unsettled("neurons may tie though the residual is not orthogonal to more")
