"""The claims that this checker knows: one file each, one function that says in words what is proved, or rejects."""

from __future__ import annotations

from collections.abc import Callable

from verify.claims.fit import fit
from verify.claims.optimal import optimal
from verify.claims.patterns_complete import patterns_complete
from verify.facts import Facts
from verify.problem import Problem
from verify.text import Node

CLAIMS: dict[str, Callable[[Problem, Facts, Node], str]] = {
    "patterns-complete": patterns_complete,
    "optimal": optimal,
    "fit": fit,
}
