"""The ball that holds the fit of every solution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.facts import FIT, PATTERNS, PRIMAL, VALUE, Facts, proved
from verify.problem.problem import Problem
from verify.rule import Rule, everywhere
from verify.rules.value import equal
from verify.text import Node, show


@dataclass(frozen=True)
class Fit:
    """Every solution has the same fit, at most sqrt(radius_squared) from the center."""

    radius_squared: Fraction


def check_fit(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the center is the fit of `primal` (null where no patterns are listed), radius_squared is 2 (upper
    - lower), or a quarter of that with the logistic loss, and half of it with several classes, where it is the
    probabilities that are this near to each other."""
    fields = node.record("center", "radius_squared")
    primal, value = facts[PRIMAL], facts[VALUE]
    same = fields["center"].value is None and problem.model == "relu" and facts.get(PATTERNS) is None
    center = primal.fit if same else fields["center"].vector(len(primal.fit))
    for k, (stated, derived) in enumerate(zip(center, primal.fit, strict=True)):
        fields["center"].require(stated == derived, f"the fit {show(derived)} at row {k}", show(stated))
    factor = Fraction(2) if not problem.logistic else Fraction(1, 2) if problem.targets == 1 else Fraction(1)
    equal(fields["radius_squared"], f"{factor} (upper - lower)", factor * (value.upper - value.lower))
    radius_squared = factor * (value.upper - value.lower)
    return proved(FIT, Fit(radius_squared))


RULE = Rule((FIT,), check_fit, rests=(PRIMAL, VALUE), applies=everywhere, bags=True)
