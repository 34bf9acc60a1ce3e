"""The optimum over the network's own patterns: what a network can reach without a new pattern."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.facts import PRIMAL, Facts
from verify.network.weights import Weights
from verify.problem.blocks import check_direct, written_out
from verify.problem.problem import Problem, dot, square
from verify.rules.primal import check_primal
from verify.text import Node


@dataclass(frozen=True)
class Own:
    """lower <= the optimal value over the own patterns <= upper."""

    patterns: int
    lower: Fraction
    upper: Fraction


def check_own(problem: Problem, weights: Weights, node: Node) -> Own:
    """Reject unless `primal` and `dual` are a feasible point and a dual feasible point of the program over the patterns
    1(Zw_i >= 0), with both signs for each."""
    fields = node.record("primal", "dual")
    everything = (1 << problem.n) - 1
    masks = tuple(dict.fromkeys(everything & ~neuron.below for neuron in weights.neurons))
    node.require(masks, "null, because the network has no pattern")
    program = written_out(problem, masks)
    point = check_primal(program, Facts(), fields["primal"])[PRIMAL]
    dual = fields["dual"].record("theta", "multipliers")
    theta = dual["theta"].vector(problem.n)
    check_direct(program, theta, problem.lam**2, dual["multipliers"])
    missed = tuple(a - b for a, b in zip(point.fit, problem.y, strict=True))
    upper = square(missed) / 2 + problem.lam * point.penalty
    return Own(len(masks), dot(problem.y, theta) - square(theta) / 2, upper)
