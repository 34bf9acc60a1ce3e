"""The set of all optimal networks: {alpha >= 0 : sum_a alpha_a q_a = yhat} over the classes (prop:sol-fn-cgl).

One proof serves the unique and the non-unique case. Let L be a rational subspace to which theta is orthogonal (L = {0}
in the plain case; the range of Z, or coordinates that are fitted exactly, otherwise), Pi the projector on its
complement. The *lifted* problem has one more free term l in L; its residual r_L is orthogonal to L and lies in the
same ball, because lower <= its optimal value <= p* <= upper.

1. Classes with equal Pi G Pi form a superclass s: on residuals orthogonal to L they tie, and their outputs agree
   modulo L.
   A class whose Pi G Pi is a mixture sum_s beta_s Pi G_s Pi, sum beta_s = 1, of those of the superclasses is *mixed*:
   its output is the same mixture of theirs, modulo L, and so is its |v|^2.
2. If the outputs Pi q_s are independent over the ball, the masses A_s = sum of alpha over s (and of
   beta_s alpha over the mixed classes) are unique, and enclosed.
3. If all A_s > 0, all classes are tied at lambda: sum A_s (lambda^2 - |v_s|^2) = sum alpha_a (lambda^2 - |v_a|^2) = 0.
   If the masses can be split, alpha > 0, and sum alpha_a q_a = y - r_L,
   the lifted solution with l = 0 solves the given problem: r* = r_L. A split strictly inside, where the linear map is
   onto, survives the ball.

Then the optimal set is exactly {alpha >= 0 : sum_{a in s} alpha_a = A_s, sum alpha_a P_L q_a = P_L y}, a polytope of
dimension #classes - #superclasses - dim L.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, Vector, column, dot, matrix_of, middle, recent, sqrt_upper, to_fmpq, to_vector
from relu_cert.problem.networks import widest_squared
from relu_cert.problem.problem import Patterned, Problem
from relu_cert.prove.candidates import (
    DEPENDENT,
    LINEAR,
    ORTHOGONAL,
    Candidates,
    Finder,
    find_candidates,
    level_classes,
    no_linear,
    rows_beside,
    rows_of_lift,
    with_level,
)
from relu_cert.prove.classes import Ball, ClassMap, class_map, has_biases, independent, projector, size_squared
from relu_cert.prove.facts import BallSet, Facts, NeuronClass
from relu_cert.prove.multipliers import on_grid
from relu_cert.prove.projection import floats, stretch, upper_length
from relu_cert.prove.split import SplitOutputs, columns, length, mixtures, with_split

MOST_BITS = 320  # of masses, beside those
SPARE_BITS = 64  # that they have beyond what the ball tells


def optimal_set(facts: Facts, lift: Matrix = (), find: Finder = find_candidates) -> BallSet:
    """The optimal set, or Unsettled with the reason. theta must be orthogonal to the lift; `find`: the classes that may
    be active, by what proves the dual point."""
    problem, theta = facts.problem, facts.dual.theta
    if any(dot(row, theta) for row in lift):
        raise ValueError("theta must be orthogonal to the lift")
    ball = Ball(theta, facts.fit.radius_squared)
    candidates = find(problem, facts.lam, facts.dual, ball, facts.primal.neurons)
    if not problem.free:
        return _over(facts, candidates, lift, 0, [])
    level = level_classes(problem, candidates.classes)
    free = (*lift, *rows_of_lift(problem, candidates.classes, level).values())
    if any(dot(row, theta) for row in free):
        raise Unsettled(ORTHOGONAL)
    if level and len(independent(free)) < len(free):
        raise Unsettled(DEPENDENT)
    rows = rows_beside(problem, candidates.classes, theta, free, level)
    if not level and rows:  # they are not needed where outputs are independent without them
        with suppress(Unsettled):
            return _over(facts, candidates, free, len(free), level)
    return _over(facts, candidates, (*free, *rows), len(free), level)


def _over(facts: Facts, candidates: Candidates, lift: Matrix, free: int, level: list[int]) -> BallSet:
    """The set by a lift whose first rows are free."""
    problem, ball = facts.problem, Ball(facts.dual.theta, facts.fit.radius_squared)
    maps = [class_map(problem, neuron) for neuron in candidates.classes]
    groups = superclasses(maps, lift)
    outputs = _outputs(problem, maps, ball)
    firsts = [group[0] for group in groups]
    mixed: tuple[tuple[int, Vector], ...] = ()
    try:
        sigma, masses, error = _masses(problem, ball, lift, columns(outputs.Q, firsts), outputs.error)
    except Unsettled:
        if problem.unlisted or problem.free:  # n x n matrices; and mixed classes have no free terms
            raise
        found = mixtures(
            maps,
            groups,
            projector(lift, problem.n),
            outputs.Q,
            [y - t for y, t in zip(problem.y, ball.center, strict=True)],
        )
        if found is None:
            raise
        groups, mixed = found
        firsts = [group[0] for group in groups]
        sigma, masses, error = _masses(problem, ball, lift, columns(outputs.Q, firsts), outputs.error)
    named = (candidates.classes, candidates.ties)
    plain = BallSet(lift, *named, groups, sigma, masses, error, (), out=candidates.out, mixed=mixed, free=free)
    if has_biases(problem) and not level and not no_linear(facts):
        raise Unsettled(LINEAR)
    if not plain.equations and len(groups) == len(maps) and not level:
        return plain
    if (plain.equations or len(groups) < len(maps)) and not all(mass > error for mass in masses):
        raise Unsettled("a tied class may have weight zero")
    if level:
        return with_level(facts, plain, maps, outputs, level)
    if problem.free and not plain.equations:  # classes of a superclass differ by free terms, and share its mass
        return plain
    proved = with_split(problem.y, plain, maps, outputs)
    return replace(proved, repeated=_count_repeated(problem, proved))


def _count_repeated(problem: Problem, found: BallSet) -> int:
    """How many active classes of a ReLU network over some patterns are neurons of earlier ones.

    The signs of Zv are the same over the whole ball: 0 on the kinks, +1 or -1 as D says elsewhere. Two blocks of one
    sign xi with the same signs project to the same v: both are the maximiser on their common face, where the two D Z u
    are the same.
    """
    if problem.kind != "relu" or problem.patterned is None:
        return 0
    neurons = {neuron_key(problem.patterned, found.classes[a]) for a in found.active}
    return len(found.active) - len(neurons)


def neuron_key(patterned: Patterned, neuron: NeuronClass) -> tuple[int, tuple[int, ...], str]:
    """xi, the kinks, and D off the kinks and the zero rows: equal for two blocks iff their neuron is the same."""
    block = neuron.block or 0
    signs = "".join(
        bit if k not in neuron.kinks and any(z) else "0"
        for k, (bit, z) in enumerate(zip(patterned.pattern(block), patterned.Z, strict=True))
    )
    return patterned.sign(block), neuron.kinks, signs


def project_away(lift: Matrix, A: fmpq_mat) -> fmpq_mat:
    """Pi A, Pi the projector on the complement of L, without a matrix of n x n numbers."""
    if not lift:
        return A
    transposed, dual = _bases(lift)
    return A - transposed * (dual * A)


@recent
def _bases(lift: Matrix) -> tuple[fmpq_mat, fmpq_mat]:
    """L' and (L L')^-1 L"""
    L = matrix_of(lift)
    return L.transpose(), (L * L.transpose()).solve(L)


def _same_kernel(B: fmpq_mat, C: fmpq_mat) -> bool:
    """B B' = C C': the squared Frobenius norm of the difference is |B'B|^2 - 2 |B'C|^2 + |C'C|^2."""
    pairs = ((1, B, B), (-2, B, C), (1, C, C))
    return not sum(f * sum(x * x for x in (S.transpose() * T).entries()) for f, S, T in pairs)


def superclasses(maps: Sequence[ClassMap], lift: Matrix) -> tuple[tuple[int, ...], ...]:
    """Classes with equal Pi G Pi, exactly. The value of G at one integer vector tells most of them apart."""
    if not maps:
        return ()
    n = maps[0].X.nrows()
    probe = project_away(lift, fmpq_mat([[fmpq((k * k * 7919 + k * 104729 + 1) % 1009 - 504)] for k in range(n)]))
    found: dict[fmpq, list[tuple[fmpq_mat, list[int]]]] = {}
    twins: list[tuple[ClassMap, list[int]]] = []  # the same map, as that of a neuron of the other sign, is the same B
    for a, one in enumerate(maps):
        twin = next((group for other, group in twins if one.is_same(other)), None)
        if twin is not None:
            twin.append(a)
            continue
        B = project_away(lift, one.B())
        alike = found.setdefault(sum((x * x for x in (B.transpose() * probe).entries()), fmpq(0)), [])
        members = next((group for other, group in alike if _same_kernel(other, B)), None)
        if members is None:
            alike.append((B, members := [a]))
        else:
            members.append(a)
        twins.append((one, members))
    return tuple(sorted(tuple(group) for alike in found.values() for _, group in alike))


def _outputs(problem: Problem, maps: Sequence[ClassMap], ball: Ball) -> SplitOutputs:
    theta = column(ball.center)
    rows = [x for one in maps for x in one.output(theta).entries()]
    Q = fmpq_mat(len(maps), problem.n, rows).transpose()
    return SplitOutputs(Q, largest_squared(problem) * sqrt_upper(ball.radius_squared, 64))


def largest_squared(problem: Problem) -> Fraction:
    """A bound on |G_a| for every class: |Z|_F^2, or the largest |X_b|_F^2."""
    if problem.network is not None:
        return size_squared(problem)
    return widest_squared(problem.blocks)


def _masses(
    problem: Problem, ball: Ball, lift: Matrix, Q: fmpq_mat, error: Fraction
) -> tuple[Fraction, Vector, Fraction]:
    """sigma, the masses and their error: Pi Q* A = Pi (y - r*) with |Q* - Q| <= sqrt(k) error, |r* - theta| <= R."""
    if not Q.ncols():
        return Fraction(1), (), Fraction(0)
    A = project_away(lift, Q)
    fitted = project_away(lift, column([y_k - t_k for y_k, t_k in zip(problem.y, ball.center, strict=True)]))
    epsilon = error * sqrt_upper(Fraction(Q.ncols()), 64)
    sigma = stretch(A)
    if sigma <= epsilon:
        raise Unsettled("the outputs of the tied neurons are dependent, or too near to it")
    R = sqrt_upper(ball.radius_squared, 64)
    masses = _least_squares(A, fitted, R)
    with ctx.workprec(2 * MOST_BITS):
        miss = arb_mat(A) * arb_mat(column(masses)) - arb_mat(fitted)
    numerator = upper_length(miss) + R + epsilon * length(masses)
    return sigma, masses, numerator / (sigma - epsilon)


def _least_squares(A: fmpq_mat, b: fmpq_mat, R: Fraction) -> Vector:
    """The least-squares solution, rounded to a grid fine enough for the ball that it serves, whose radius is R."""
    largest = max((abs(x) for x in b.entries()), default=fmpq(0))
    bits = MOST_BITS
    if R and largest:
        wanted = (largest / to_fmpq(R)).ceil().bit_length() + SPARE_BITS
        bits = min(MOST_BITS, max(2 * SPARE_BITS, wanted))
    solution = _refine_projection(A, b, bits) or to_vector((A.transpose() * A).solve(A.transpose() * b))
    return on_grid([solution], bits - SPARE_BITS // 2)[0]


def _refine_projection(A: fmpq_mat, b: fmpq_mat, bits: int) -> Vector | None:
    """The same to so many bits, by steps of the normal equations in floats with residuals in high precision; None where
    they do not converge."""
    k, near = A.ncols(), floats(A)
    try:
        inverse = np.linalg.inv(near.T @ near)
    except np.linalg.LinAlgError:
        return None
    with ctx.workprec(2 * bits):
        F, right = arb_mat(A), arb_mat(b)
        transposed = F.transpose()
        x, last = arb_mat(k, 1), None
        for _ in range(bits):
            slope = (transposed * (right - F * x)).mid()
            size = max(abs(entry) for entry in slope.entries())
            if not size > 0:
                break
            step = inverse @ np.array([float(entry / size) for entry in slope.entries()])
            if not np.isfinite(step).all():
                return None
            moved = size * float(np.abs(step).max())
            x = (x + size * arb_mat(k, 1, [arb(entry) for entry in step.tolist()])).mid()
            if moved * 2**bits < max(abs(entry) for entry in x.entries()):
                break
            if last is not None and not 2 * moved < last:
                return None
            last = moved
        return tuple(middle(entry) for entry in x.entries())
