"""General position: of the blocks (so that the solution is unique for every lambda > 0), and of the columns."""

from __future__ import annotations

from verify.claims import PROVED, REFUTED, Row, Says, require
from verify.facts import COLUMNS, GROUPS, Fact, Facts
from verify.problem import Problem
from verify.text import Node


def answer(fact: Fact[tuple[bool, str]], expected: bool, then: str) -> Says:
    """The answer and its reason: null vectors on at most n + 1 blocks whose signed norms have the sum 0, or none."""

    def says(problem: Problem, facts: Facts, node: Node) -> str:
        holds, reason = facts[fact]
        require(holds == expected, f"the verdict {PROVED if holds else REFUTED}", reason, node)
        return f"{reason}: {then}"

    return says


UNIQUE = "group general position, the solution is unique for every lambda > 0"
TABLE = (
    Row("ggp", PROVED, (GROUPS,), answer(GROUPS, True, UNIQUE)),
    Row("ggp", REFUTED, (GROUPS,), answer(GROUPS, False, "no group general position")),
    Row("general-position", PROVED, (COLUMNS,), answer(COLUMNS, True, "the columns are in general position")),
    Row("general-position", REFUTED, (COLUMNS,), answer(COLUMNS, False, "the columns are not in general position")),
)
