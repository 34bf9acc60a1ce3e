"""The set of all optimal networks: {alpha >= 0 : sum_a alpha_a q_a = yhat} over the classes (prop:sol-fn-cgl).

One proof serves the unique and the non-unique case. Let L be a rational subspace to which theta is orthogonal (L = {0}
in the plain case; the range of Z, or coordinates that are fitted exactly, otherwise), Pi the projector on its
complement. The *lifted* problem has one more free term l in L; its residual r_L is orthogonal to L and lies in the
same ball, because lower <= its optimal value <= p* <= upper.

1. Classes with equal Pi G Pi form a superclass s: on residuals orthogonal to L they tie, and their outputs agree
   modulo L.
2. If the outputs Pi q_s are independent over the ball, the masses A_s = sum of alpha over s are unique, and enclosed.
3. If all A_s > 0, all classes are tied at lambda. If the masses can be split, alpha > 0, and sum alpha_a q_a = y - r_L,
   the lifted solution with l = 0 solves the given problem: r* = r_L. A split strictly inside, where the linear map is
   onto, survives the ball.

Then the optimal set is exactly {alpha >= 0 : sum_{a in s} alpha_a = A_s, sum alpha_a P_L q_a = P_L y}, a polytope of
dimension #classes - #superclasses - dim L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray
from scipy.optimize import linprog

from relu_cert.exact import Matrix, Vector, dot, norm_squared, sqrt_upper
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Candidates, Unsettled, find_candidates, frobenius_squared
from relu_cert.prove.classes import Ball, ClassMap, class_map, column, projector, to_fmpq, to_vector
from relu_cert.prove.definite import smallest_singular_above
from relu_cert.prove.facts import Facts, OptimalSet
from relu_cert.prove.grid import binary_grid, from_grid, to_grid


@dataclass(frozen=True)
class _Outputs:
    """Outputs at theta and how far they can be from those at r*: |q_a* - q_a| <= error for each class."""

    Q: fmpq_mat  # n x classes
    error: Fraction


def optimal_set(facts: Facts, lift: Matrix = ()) -> OptimalSet:
    """The optimal set, or Unsettled with the reason. theta must be orthogonal to the lift."""
    problem, lam = facts.problem, facts.lam
    if any(dot(row, facts.dual.theta) for row in lift):
        raise ValueError("theta must be orthogonal to the lift")
    ball = Ball(facts.dual.theta, facts.fit.radius_squared)
    candidates = find_candidates(problem, lam, facts.dual, ball)
    maps = [class_map(problem, neuron) for neuron in candidates.classes]
    Pi = projector(lift, problem.n)
    groups = superclasses(maps, Pi)
    outputs = _outputs(problem, maps, ball)
    firsts = [group[0] for group in groups]
    sigma, masses, error = _masses(problem, ball, Pi, _columns(outputs.Q, firsts), outputs.error)
    plain = OptimalSet(lift, candidates.classes, candidates.out, groups, sigma, masses, error, (), Fraction(0))
    if not lift and len(groups) == len(maps):
        return plain
    if not all(mass > error for mass in masses):
        raise Unsettled("a tied class may have weight zero")
    return _with_split(problem, plain, outputs, candidates)


def superclasses(maps: Sequence[ClassMap], Pi: fmpq_mat) -> tuple[tuple[int, ...], ...]:
    """Classes with equal Pi G Pi, exactly."""
    found: dict[tuple[fmpq, ...], list[int]] = {}
    for a, one in enumerate(maps):
        B = Pi * one.B()
        key = tuple((B * B.transpose()).entries())
        found.setdefault(key, []).append(a)
    return tuple(tuple(group) for group in found.values())


def split_map(lift: Matrix, groups: Sequence[Sequence[int]], Q: fmpq_mat) -> fmpq_mat:
    """alpha -> (sum of alpha over each superclass, B_L' Q alpha)."""
    k = Q.ncols()
    rows = [[fmpq(int(a in set(group))) for a in range(k)] for group in groups]
    if lift:
        rows += (fmpq_mat([[to_fmpq(x) for x in row] for row in lift]) * Q).tolist()
    return fmpq_mat(rows)


def _outputs(problem: Problem, maps: Sequence[ClassMap], ball: Ball) -> _Outputs:
    theta = column(ball.center)
    columns = [one.output(theta).entries() for one in maps]
    Q = fmpq_mat([list(row) for row in zip(*columns, strict=True)])
    return _Outputs(Q, largest_squared(problem) * sqrt_upper(ball.radius_squared, 64))


def largest_squared(problem: Problem) -> Fraction:
    """A bound on |G_a| for every class: |Z|_F^2, or the largest |X_b|_F^2."""
    if problem.network is not None:
        return frobenius_squared(problem.network.Z)
    return max(frobenius_squared(block.X) for block in problem.blocks)


def _columns(Q: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    return fmpq_mat([[row[a] for a in chosen] for row in Q.tolist()])


def _masses(
    problem: Problem, ball: Ball, Pi: fmpq_mat, Q: fmpq_mat, error: Fraction
) -> tuple[Fraction, Vector, Fraction]:
    """sigma, the masses and their error: Pi Q* A = Pi (y - r*) with |Q* - Q| <= sqrt(k) error, |r* - theta| <= R."""
    A = Pi * Q
    fitted = Pi * column([y_k - t_k for y_k, t_k in zip(problem.y, ball.center, strict=True)])
    epsilon = error * sqrt_upper(Fraction(Q.ncols()), 64)
    sigma = _singular(A)
    if sigma <= epsilon or not smallest_singular_above(A, sigma):
        raise Unsettled("the outputs of the tied neurons are dependent, or too near to it")
    masses = _least_squares(A, fitted)
    miss = A * column(masses) - fitted
    R = sqrt_upper(ball.radius_squared, 64)
    numerator = _length(to_vector(miss)) + R + epsilon * _length(masses)
    return sigma, masses, numerator / (sigma - epsilon)


def _with_split(problem: Problem, plain: OptimalSet, outputs: _Outputs, candidates: Candidates) -> OptimalSet:
    """The same with a proved split."""
    Phi = split_map(plain.lift, plain.groups, outputs.Q)
    goal = column([*plain.masses, *(dot(row, problem.y) for row in plain.lift)])
    split = _interior(Phi, goal)
    tau = _singular(Phi.transpose())
    if tau <= 0 or not smallest_singular_above(Phi.transpose(), tau):
        raise Unsettled("the map that splits the masses is not onto, or too near to it")
    epsilon = outputs.error * sqrt_upper(Fraction(len(candidates.classes)) * frobenius_squared(plain.lift), 64)
    miss = Phi * column(split) - goal
    numerator = _length(to_vector(miss)) + plain.mass_error + epsilon * _length(split)
    if tau <= epsilon or not all(alpha > numerator / (tau - epsilon) for alpha in split):
        raise Unsettled("no split of the masses is proved to be strictly inside")
    return OptimalSet(
        plain.lift, plain.classes, plain.out, plain.groups, plain.sigma, plain.masses, plain.mass_error, split, tau
    )


def _length(a: Vector) -> Fraction:
    """An upper bound on |a|."""
    return sqrt_upper(norm_squared(a), 64)


def _floats(A: fmpq_mat) -> NDArray[np.float64]:
    return np.array([[float(int(x.p) / int(x.q)) for x in row] for row in A.tolist()], dtype=np.float64)


def _singular(A: fmpq_mat) -> Fraction:
    """A guess at nine tenths of the smallest singular value (proved elsewhere)."""
    values = np.linalg.svd(_floats(A), compute_uv=False)
    if A.ncols() > A.nrows() or len(values) == 0:
        return Fraction(0)
    guess = Fraction(float(values[-1]) * 0.9)
    return from_grid(to_grid(guess, binary_grid([guess], 24)), binary_grid([guess], 24)) if guess > 0 else Fraction(0)


def _least_squares(A: fmpq_mat, b: fmpq_mat) -> Vector:
    """The least-squares solution, rounded to a grid fine enough for the ball that it serves."""
    solution = to_vector((A.transpose() * A).solve(A.transpose() * b))
    q = binary_grid(solution, 256)
    return tuple(from_grid(to_grid(x, q), q) for x in solution)


def _interior(Phi: fmpq_mat, goal: fmpq_mat) -> Vector:
    """alpha with Phi alpha near the goal and its smallest entry large: a linear program in floats, then made exact."""
    F, g = _floats(Phi), _floats(goal)[:, 0]
    k = F.shape[1]
    row_scale = np.maximum(np.abs(F).max(axis=1), 1e-300)
    result = linprog(
        np.r_[np.zeros(k), -1.0],
        A_eq=np.c_[F, np.zeros(len(F))] / row_scale[:, None],
        b_eq=g / row_scale,
        A_ub=np.c_[-np.eye(k), np.ones(k)],
        b_ub=np.zeros(k),
        bounds=[(0, None)] * k + [(None, None)],
    )
    if result.x is None or result.status != 0 or result.x[-1] <= 0:
        raise Unsettled("no split of the masses is strictly inside")
    start = column([Fraction(float(x)) for x in result.x[:k]])
    # the nearest exact solution of Phi alpha = goal: alpha + Phi'(Phi Phi')^-1 (goal - Phi alpha)
    try:
        exact = start + Phi.transpose() * (Phi * Phi.transpose()).solve(goal - Phi * start)
    except ZeroDivisionError:
        raise Unsettled("the map that splits the masses is not onto") from None
    entries = to_vector(exact)
    q = binary_grid(entries, 256)
    return tuple(from_grid(to_grid(x, q), q) for x in entries)
