"""The fact `solution`: coefficients that were given for a direct problem, and their objective, enclosed."""

from __future__ import annotations

from verify.facts import SOLUTION, VALUE
from verify.network.solution import check_solution
from verify.rule import Rule, plain

RULE = Rule(
    (SOLUTION,), check_solution, rests=(VALUE,), applies=lambda problem: problem.model == "cgl" and plain(problem)
)
