"""The rules, one file for each fact of a certificate: what it proves, what it rests on, where it applies, its check.

It is loaded only where its fact is there. `elastic` (delta > 0) and `logistic` have the rules that are others there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pkgutil import iter_modules, resolve_name
from typing import Any

from verify.facts import PATTERNS, Fact, Facts, needed
from verify.problem import Problem
from verify.text import Node

FILES = {folder: {m.name for m in iter_modules([f"{__path__[0]}/{folder}"])} for folder in ("", "elastic", "logistic")}
NAMES = tuple(sorted(FILES[""] - FILES.keys()))


def plain(problem: Problem) -> bool:
    """The squared loss, delta = 0 and no free term."""
    return not (problem.delta or problem.logistic or problem.free)


def everywhere(problem: Problem) -> bool:
    """All problems."""
    return True


@dataclass(frozen=True)
class Rule:
    """What `check` returns are some of the facts that it `proves`, perhaps with others that it `sharpens`.

    It `rests` on facts that must be there (`listed`: and on the patterns, for a network), and `may` use others. Where
    several rules prove the same, the last one counts: `after` names those that tell less.
    """

    proves: tuple[Fact[Any], ...]
    check: Callable[[Problem, Facts, Node], Facts]
    rests: tuple[Fact[Any], ...] = ()
    listed: bool = False
    may: tuple[Fact[Any], ...] = ()
    sharpens: tuple[Fact[Any], ...] = ()
    after: tuple[str, ...] = ()
    applies: Callable[[Problem], bool] = plain

    @property
    def uses(self) -> set[Fact[Any]]:
        """All that it may ask for."""
        return {*self.rests, *((PATTERNS,) if self.listed else ()), *self.may, *self.sharpens}

    def follows(self, name: str, other: Rule) -> bool:
        """Whether it comes after the other rule, of this name."""
        sharpened = self.uses.difference(self.sharpens) & set(other.sharpens)
        return name in self.after or bool(self.uses & set(other.proves) or sharpened)


def load(name: str, problem: Problem) -> Rule:
    """The rule of this name for such a problem."""
    folder = "elastic" if problem.delta else "logistic" if problem.logistic else ""
    place = f"{folder}." if name in FILES[folder] and folder else ""
    rule: Rule = resolve_name(f"verify.rules.{place}{name}:RULE")
    return rule


def check_facts(problem: Problem, node: Node) -> Facts:
    """Check every fact that is there, whether or not a claim needs it, each on the ground of those before it."""
    given = node.record(optional=NAMES)
    rules = {name: load(name, problem) for name in given}
    for name, rule in rules.items():
        if not rule.applies(problem):
            raise node.reject("only keys of facts that such a problem can have", f"the unknown key {name!a}")
    facts = Facts()
    if "patterns" in rules:
        facts = extended(facts, rules.pop("patterns"), problem, given["patterns"])
    if problem.patterns is not None or (problem.delta and problem.model != "cgl"):
        from verify.blocks import written_out

        problem = written_out(problem, problem.patterns or needed(facts.get(PATTERNS), "patterns", node).masks)
    for name in ordered(rules):
        facts = extended(facts, rules[name], problem, given[name])
    return facts


def ordered(rules: dict[str, Rule]) -> Iterable[str]:
    """The names, each after those that it follows."""
    before = {
        name: [other for other in rules if other != name and rule.follows(other, rules[other])]
        for name, rule in rules.items()
    }
    return TopologicalSorter(before).static_order()


def extended(facts: Facts, rule: Rule, problem: Problem, node: Node) -> Facts:
    """The facts, and what the rule proves on their ground."""
    for fact in rule.rests:
        needed(facts.get(fact), fact.name, node)
    found = rule.check(problem, facts.only(rule.uses), node)
    if not found.proved.keys() <= {*rule.proves, *rule.sharpens}:
        raise LookupError(f"{node.place} proves what it does not declare")
    return Facts({**facts.proved, **found.proved})
