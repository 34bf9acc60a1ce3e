"""Two different optimal networks with several outputs, exactly: both have the proved lower bound as their objective."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from verify.facts import PAIR, VALUE, Facts, proved
from verify.numbers.integers import cleared
from verify.problem.problem import Problem, square
from verify.rule import Rule
from verify.text import Node, Vector, show

Told = dict[tuple[tuple[int, ...], tuple[int, ...]], Fraction]  # |w||v| of all neurons along w and v together


def squares(problem: Problem) -> bool:
    """Squares, several outputs, and nothing free."""
    return problem.targets > 1 and not (problem.logistic or problem.free or problem.roots)


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless both are optimal, and not the same up to splitting and permutation."""
    fields = node.record("first", "second")
    found = [network(problem, facts[VALUE].lower, fields[name]) for name in ("first", "second")]
    node.require(found[0] != found[1], "networks that differ by more than splitting and permutation", "the same twice")
    return proved(PAIR, (len(found[0]), len(found[1])))


def network(problem: Problem, lower: Fraction, node: Node) -> Told:
    """Its neurons, merged; rejected unless its objective is at most the lower bound."""
    C, told = problem.targets, Told()
    fit = [Fraction(0)] * len(problem.y)
    penalty = Fraction(0)
    for entry in node.array():
        fields = entry.record("w", "v", "norm")
        w, v, norm = fields["w"].vector(problem.d), fields["v"].vector(C), fields["norm"].number()
        entry.require(any(w) and any(v), "vectors other than zero")
        exact = norm > 0 and norm**2 == square(w) * square(v)
        fields["norm"].require(exact, "|w||v|, exactly", show(norm))
        for k, x in enumerate(problem.output(w)):
            for c, v_c in enumerate(v):
                fit[C * k + c] += x * v_c
        penalty += norm
        key = along(w), along(v)
        told[key] = told.get(key, Fraction(0)) + norm
    total = square(tuple(y - f for y, f in zip(problem.y, fit, strict=True))) / 2 + problem.lam * penalty
    node.require(total <= lower, f"an objective of {show(lower)}", show(total))
    return told


def along(v: Vector) -> tuple[int, ...]:
    """The primitive integer vector with this direction."""
    whole, _ = cleared(v)
    divisor = gcd(*whole)
    return tuple(x // divisor for x in whole)


RULE = Rule((PAIR,), check, rests=(VALUE,), applies=squares, bags=True)
