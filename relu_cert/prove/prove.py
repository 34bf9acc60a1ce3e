"""From a float solution to exact facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector
from relu_cert.problem.problem import Problem
from relu_cert.prove.dual import feasible_dual
from relu_cert.prove.facts import Dual, ExactNeuron, Facts, LambdaMax
from relu_cert.prove.grid import binary_grid, from_grid, to_grid
from relu_cert.prove.lifts import orthogonal_part
from relu_cert.prove.multipliers import Proposals
from relu_cert.prove.value import block_neuron, facts_of, primal, relu_neuron
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
