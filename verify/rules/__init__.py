"""The rules, one file for each fact of a certificate: what it proves, what it rests on, where it applies, its check.

It is loaded only where its fact is there. `elastic` (delta > 0), `logistic` and `outputs` (several) have the rules that
are others there.
"""

from __future__ import annotations

from pkgutil import iter_modules, resolve_name

from verify.facts import PATTERNS, Facts, needed
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.text import Node

FOLDERS = ("elastic", "logistic", "outputs")
FILES = {folder: {m.name for m in iter_modules([f"{__path__[0]}/{folder}"])} for folder in FOLDERS}
# the facts of a network with several outputs
SEVERAL = ("primal", "cover", "leaders", "value", "fit", "cover_set", "polytope", "pair", "turned", "network")
NAMES = (  # in the order in which they are checked: each after all that it uses, and after those that tell less
    *("patterns", "lambda_max", "cover_lambda_max", "ggp", "path", "curve", "jump"),
    *("primal", "dual", "cover", "leaders", "value", "fit", "optimal_set", "exact_set", "algebraic_set", "cover_set"),
    *("polytope", "min_norm", "pair", "turned", "faces", "derivatives", "network", "solution"),
)


def load(name: str, problem: Problem) -> Rule:
    """The rule of this name for such a problem."""
    folder = (
        "outputs" if problem.targets > 1 else "elastic" if problem.delta else "logistic" if problem.logistic else ""
    )
    place = f"{folder}." if folder and name in FILES[folder] else ""
    rule: Rule = resolve_name(f"verify.rules.{place}{name}:RULE")
    return rule


def check_facts(problem: Problem, node: Node) -> Facts:
    """Check every fact that is there, whether or not a claim needs it, each on the ground of those before it."""
    given = node.record(optional=tuple(sorted(NAMES)))
    rules = {name: load(name, problem) for name in NAMES if name in given}
    others = [name for name, rule in rules.items() if not rule.applies(problem) or (problem.bags and not rule.bags)]
    if problem.targets > 1:
        some = ("cover_set", "leaders", "pair", "turned")
        others = [name for name in rules if name not in SEVERAL or (name in some and not rules[name].applies(problem))]
    node.require(not others, "only keys of facts that such a problem can have", f"the unknown key {str(others)[1:-1]}")
    facts = Facts()
    if "patterns" in rules:
        facts = extended(facts, rules.pop("patterns"), problem, given["patterns"])
    if problem.patterns is not None or (problem.delta and problem.model != "cgl"):
        from verify.problem.blocks import written_out

        problem = written_out(problem, problem.patterns or needed(facts.get(PATTERNS), "patterns", node).masks)
    for name, rule in rules.items():
        facts = extended(facts, rule, problem, given[name])
    return facts


def extended(facts: Facts, rule: Rule, problem: Problem, node: Node) -> Facts:
    """The facts, and what the rule proves on their ground."""
    for fact in rule.rests:
        needed(facts.get(fact), fact.name, node)
    return Facts({**facts.proved, **rule.check(problem, facts, node).proved})
