"""The fact `network`, about a given network."""

from __future__ import annotations

from verify.facts import DUAL, LAMBDA_MAX, NETWORK, NEURONS, PATTERNS, POLYTOPE, VALUE, Facts, proved
from verify.network.check import Ground, check_network
from verify.problem import Problem
from verify.rules import Rule
from verify.rules.leaders import applies
from verify.text import Node


def ground_of(problem: Problem, facts: Facts) -> Ground:
    """What the other facts say."""
    squared, dual = facts.get(LAMBDA_MAX), facts.get(DUAL)
    zero, theta = squared is not None and problem.lam**2 >= squared, None if dual is None else dual.theta
    return Ground(facts.get(PATTERNS), zero, theta, facts.get(VALUE), facts.get(NEURONS), facts.get(POLYTOPE))


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """What is proved about the network."""
    return proved(NETWORK, check_network(problem, ground_of(problem, facts), node))


RULE = Rule(
    (NETWORK,),
    check,
    may=(PATTERNS, LAMBDA_MAX, DUAL, VALUE, NEURONS, POLYTOPE),
    applies=lambda problem: applies(problem) and not problem.logistic,
)
