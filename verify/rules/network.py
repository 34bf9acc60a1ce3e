"""The fact `network`, about a given network."""

from __future__ import annotations

from verify.facts import DUAL, LAMBDA_MAX, NETWORK, NEURONS, PATTERNS, POLYTOPE, VALUE, Facts, proved
from verify.network.check import check_network
from verify.problem import Problem
from verify.rules import Rule
from verify.rules.leaders import applies
from verify.text import Node


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """What is proved about the network."""
    return proved(NETWORK, check_network(problem, facts, node))


RULE = Rule(
    (NETWORK,),
    check,
    may=(PATTERNS, LAMBDA_MAX, DUAL, VALUE, NEURONS, POLYTOPE),
    applies=lambda problem: applies(problem) and not problem.logistic,
)
