"""From a float solution to exact facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, dot, norm_squared
from relu_cert.problem.blocks import correlation, lengths_squared
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import (
    Attained,
    BlockMultipliers,
    Dual,
    ExactNeuron,
    Facts,
    LambdaMax,
    PieceMultiplier,
    PieceMultipliers,
)
from relu_cert.prove.lifts import orthogonal_part
from relu_cert.prove.multipliers import (
    Proposals,
    binary_grid,
    exact_multiplier,
    from_grid,
    project,
    rounded_pieces,
    scale_multipliers,
    to_grid,
)
from relu_cert.prove.value import block_neuron, facts_of, feasible_dual, primal, relu_neuron
from relu_cert.serialize import Sign

Propose = Callable[[NDArray[np.float64]], Proposals | None]


def zero_facts(problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction) -> Facts:
    """lambda >= lambda_max: zero is the solution, and its theta proves it (squares: theta = y, p* = 1/2 |y|^2)."""
    if lam * lam < largest.squared:
        raise ValueError("zero is a solution only for lambda >= lambda_max")
    dual = Dual(problem.loss.pull(problem.y), largest.multipliers, () if problem.delta else None)
    return facts_of(problem, lam, largest, primal(problem, ()), dual, gap)


def prove(
    problem: Problem,
    lam: Fraction,
    largest: LambdaMax,
    gap: Fraction,
    neurons: Sequence[ExactNeuron],
    theta: Sequence[float | Fraction],
    propose: Propose,
    precision: int,
    lift: Matrix = (),
) -> Facts:
    """The facts that a feasible point (neurons) and a proposed dual point prove.

    The dual point is rounded to `precision` bits and made orthogonal to the lift, exactly.
    """
    q = binary_grid(theta, precision)
    rounded = orthogonal_part(tuple(from_grid(to_grid(x, q), q) for x in theta), lift)
    q = lcm(q, *(x.denominator for x in rounded))
    proposals = propose(np.array([float(x) for x in rounded]))
    dual = feasible_dual(problem, rounded, q, lam, proposals)
    return facts_of(problem, lam, largest, primal(problem, neurons), dual, gap)


def exact_neuron(problem: Problem, sign: Sign, block: int | None, w: Vector, bits: int) -> ExactNeuron:
    """A proposed neuron as an exact feasible one; `bits` is the accuracy of its norm."""
    if block is None:
        return relu_neuron(problem.relu.Z, sign, w, bits + 16)
    return block_neuron(problem.blocks[block].K, block, w, bits + 16)


def lambda_max(problem: Problem, proposals: Proposals | None) -> LambdaMax:
    """lambda_max^2 of the problem, with its evidence."""
    if problem.network is None or proposals is None:
        return _direct(problem)
    return _relu(problem.network, problem.y, proposals)


def half(largest: LambdaMax) -> LambdaMax:
    """lambda_max of the logistic loss: its gradient at zero is -y/2 where that of the squares is -y."""
    multipliers = scale_multipliers(Fraction(1, 2), largest.multipliers)
    return LambdaMax(largest.squared / 4, multipliers, largest.attained)


def _direct(problem: Problem) -> LambdaMax:
    blocks, y = problem.blocks, problem.y
    best, attained = Fraction(0), _at(problem, 0, (Fraction(0),) * len(correlation(blocks, 0, y)))
    rhos: dict[int, Vector] = {}
    lengths = lengths_squared(blocks, y)
    for b in sorted(range(len(lengths)), key=lambda b: -lengths[b]):
        if lengths[b] <= best:
            break  # |Proj(c)| <= |c|: the blocks that are left cannot do better
        v, K = correlation(blocks, b, y), blocks[b].K
        if K is not None:
            rho, v = project(v, K)
            rhos |= {b: rho} if any(rho) else {}
        if norm_squared(v) > best:
            best, attained = norm_squared(v), _at(problem, b, v)
    return LambdaMax(best, BlockMultipliers.of(blocks, rhos), attained)


def _at(problem: Problem, b: int, u: Vector) -> Attained:
    return Attained(pattern=problem.pattern(b), block=b, u=u)


def _relu(network: Network, y: Vector, proposals: Proposals) -> LambdaMax:
    q = lcm(*(y_k.denominator for y_k in y)) * binary_grid(y)
    sides = {xi: tuple(xi * y_k for y_k in y) for xi in (1, -1)}
    rounded = {xi: rounded_pieces(network, t, q, proposals[xi]) for xi, t in sides.items()}
    best, attained = Fraction(0), Attained(u=(Fraction(0),) * len(network.Z[0]))
    solved: dict[tuple[int, int], PieceMultiplier] = {}
    order = sorted(
        ((xi, i) for xi in sides for i in range(len(rounded[xi]))), key=lambda at: -rounded[at[0]][at[1]].length_squared
    )
    for xi, i in order:  # longest first, so that few have to be solved
        piece = rounded[xi][i]
        if piece.length_squared <= best:
            break
        solved[xi, i], v = exact_multiplier(network.Z, sides[xi], piece.base, piece.multiplier.rows)
        best, attained = _improve(network.Z, sides[xi], xi, v, (best, attained))
    parts = [tuple(solved.get((xi, i), piece.multiplier) for i, piece in enumerate(rounded[xi])) for xi in sides]
    return LambdaMax(best, PieceMultipliers(*parts), attained)


def _improve(Z: Matrix, t: Vector, xi: int, v: Vector, so_far: tuple[Fraction, Attained]) -> tuple[Fraction, Attained]:
    """The direction v, if t.(Zv)_+ = |v|^2 is larger than the best so far."""
    square = norm_squared(v)
    reached = sum((t_k * max(dot(z, v), Fraction(0)) for t_k, z in zip(t, Z, strict=True)), Fraction(0))
    return (square, Attained(xi, u=v)) if reached == square > so_far[0] else so_far
