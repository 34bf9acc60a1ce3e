"""A rule: what it proves, what it rests on, where it applies, and its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verify.facts import Fact, Facts
from verify.problem.problem import Problem
from verify.text import Node

Applies = Callable[[Problem], bool]


def plain(problem: Problem) -> bool:
    """The squared loss, delta = 0, no free term and one output."""
    return not (problem.delta or problem.logistic or problem.free) and problem.targets == 1


def unlisted(problem: Problem) -> bool:
    """ReLU networks over all patterns, with delta = 0: no list of patterns is needed."""
    return networks(problem) and problem.targets == 1


def networks(problem: Problem) -> bool:
    """The same with any number of outputs."""
    return problem.model == "relu" and problem.patterns is None and not problem.delta


def everywhere(problem: Problem) -> bool:
    """All problems."""
    return True


@dataclass(frozen=True)
class Rule:
    """What `check` returns are some of the facts that it `proves`, perhaps with others that it `sharpens`.

    It `rests` on facts that must be there (`listed`: and on the patterns, for a network). `bags`: its argument knows
    outputs that are sums over bags of rows; without this it does not apply to them.
    """

    proves: tuple[Fact[Any], ...]
    check: Callable[[Problem, Facts, Node], Facts]
    rests: tuple[Fact[Any], ...] = ()
    listed: bool = False
    sharpens: tuple[Fact[Any], ...] = ()
    applies: Applies = plain
    bags: bool = False
