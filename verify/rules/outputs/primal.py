"""A network with several outputs: its fit P sum_j (Zw_j)_+ v_j' + Bc, row by row, and upper bounds of |w_j||v_j|."""

from __future__ import annotations

from fractions import Fraction

from verify.facts import PRIMAL, Facts, proved
from verify.problem.problem import Problem, square, transposed
from verify.rule import Rule, everywhere
from verify.rules.primal import Primal
from verify.text import Node, show


def check_primal(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every neuron has norm >= |w||v|."""
    C = problem.targets
    top = node.record("neurons", *(("free",) if problem.outputs else ()))
    fit, penalty = [Fraction(0)] * len(problem.y), Fraction(0)
    if problem.outputs:
        free = top["free"].vector(C * len(problem.outputs))
        columns = [transposed(problem.outputs, free[c::C]) for c in range(C)]
        fit = [x for row in zip(*columns, strict=True) for x in row]
    neurons = top["neurons"].array()
    for neuron in neurons:
        fields = neuron.record("w", "v", "norm")
        w, v = fields["w"].vector(problem.d), fields["v"].vector(C)
        neuron.require(any(w) and any(v), "vectors other than zero")
        norm, squared = fields["norm"].number(), problem.length_squared(w) * square(v)
        fields["norm"].require(norm >= 0 and norm**2 >= squared, f"norm^2 >= |w|^2 |v|^2 = {show(squared)}", show(norm))
        for k, x in enumerate(problem.output(w)):
            if x:
                for c, v_c in enumerate(v):
                    fit[C * k + c] += x * v_c
        penalty += norm
    return proved(PRIMAL, Primal(tuple(fit), len(neurons), penalty, Fraction(0)))


RULE = Rule((PRIMAL,), check_primal, applies=everywhere)
