"""A feasible point: neurons or blocks, coefficients of free terms, their fit, and upper bounds of their norms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.facts import PATTERNS, PRIMAL, Facts, proved
from verify.problem.problem import FIRST, SIGNS, Problem, square, transposed
from verify.rule import Rule, everywhere
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Primal:
    """The fit Xw of a feasible point, its number of neurons, sum_b norm_b >= sum_b |w_b|, and sum_b |w_b|^2."""

    fit: Vector
    neurons: int
    penalty: Fraction
    squares: Fraction


def check_primal(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every neuron lies in its cone and has norm >= |w|."""
    first = FIRST[problem.model]
    top = node.record("neurons", *(("free",) if problem.outputs else ()))
    fit = (Fraction(0),) * problem.n
    if problem.outputs:
        fit = transposed(problem.outputs, top["free"].vector(len(problem.outputs)))
    penalty = squares = Fraction(0)
    neurons = top["neurons"].array()
    for neuron in neurons:
        fields = neuron.record(first, "w", "norm")
        output, w = neuron_output(problem, facts, fields[first], fields["w"])
        fields["w"].require(any(w), "a vector other than zero")
        norm = fields["norm"].number()
        length = problem.length_squared(w)
        fields["norm"].require(norm >= 0 and norm**2 >= length, f"norm >= |w|, |w|^2 = {show(length)}", show(norm))
        fit = tuple(a + b for a, b in zip(fit, output, strict=True))
        penalty += norm
        squares += square(w)
    if problem.model == "cgl" and len({neuron.value["block"] for neuron in neurons}) < len(neurons):
        raise top["neurons"].reject("each block at most once")
    return proved(PRIMAL, Primal(fit, len(neurons), penalty, squares))


def neuron_output(problem: Problem, facts: Facts, first: Node, vector: Node) -> tuple[Vector, Vector]:
    """X_b w and w for w in C_b: relu xi P (Zw)_+, gated D Z w with D in D_Z, direct X_b w with K_b'w <= 0."""
    if problem.model == "relu":
        xi = SIGNS[first.text("+", "-")]
        w = vector.vector(problem.d)
        return tuple(xi * x for x in problem.output(w)), w
    from verify.problem.blocks import block_output

    return block_output(problem, facts.get(PATTERNS), first, vector)


RULE = Rule((PRIMAL,), check_primal, applies=everywhere, bags=True)
