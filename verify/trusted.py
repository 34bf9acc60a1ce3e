"""What a verdict rests on: the rules that prove its facts, and the files and libraries that these load."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from verify.claims import PROVED, REFUTED, TABLES, rows
from verify.facts import PATTERNS, Fact
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.rules import NAMES, load

ROOT = Path(__file__).parent
KINDS = {"relu": "a ReLU network", "gated": "a gated network", "cgl": "a direct problem"}
Ground = frozenset[str]  # the names of some rules


def told(claim: str) -> Iterator[str]:
    """For a reader: each way to a verdict, with its files, for the first kind of problem that has one."""
    model, found = next((model, found) for model in KINDS if (found := ways(claim, model)))
    for ground, verdicts in found.items():
        yield f"{claim} {' or '.join(verdicts)} for {KINDS[model]} by {', '.join(sorted(ground)) or 'no fact'}"
        files, libraries = closure(claim, ground)
        yield from (f"{lines:7}  {path}" for path, lines in files.items())
        sharper = sorted(set().union(*verdicts.values()) - ground)
        also = f"; perhaps sharpened by {', '.join(sharper)}" if sharper else ""
        yield f"{sum(files.values()):7}  lines in {len(files)} files; libraries: {', '.join(libraries)}{also}"
        yield f"         {', '.join(later(files))}: only where a certificate, or the command, has what they are for"


def table() -> Iterator[str]:
    """Every claim: in how many ways it can be settled, and on how many lines at least and at most, in hundreds."""
    yield from ("| claim | ways | lines, the fewest | and their facts | lines, the most |", "|---|---|---|---|---|")
    for claim in (claim for claims in TABLES.values() for claim in claims):
        found = next(found for model in KINDS if (found := ways(claim, model)))
        sizes = sorted((-(-sum(closure(claim, ground)[0].values()) // 100) * 100, sorted(ground)) for ground in found)
        yield f"| {claim} | {len(found)} | {sizes[0][0]:,} | {', '.join(sizes[0][1]) or 'none'} | {sizes[-1][0]:,} |"


def ways(claim: str, model: str) -> dict[Ground, dict[str, set[str]]]:
    """The sets of rules that prove all facts of a row of the claim; for its verdict, what may sharpen these facts."""
    problem = Problem(model, Fraction(1), ((Fraction(1),),), (Fraction(1),))
    rules = {name: rule for name in NAMES if (rule := load(name, problem)).applies(problem)}
    found: dict[Ground, dict[str, set[str]]] = {}
    for row in (row for verdict in (PROVED, REFUTED) for row in rows(claim, verdict)):
        sharper = {name for name, rule in rules.items() if set(row.rests) & set(rule.sharpens)}
        for ground in grounds(row.rests, rules, model):
            found.setdefault(ground, {}).setdefault(row.verdict, set()).update(sharper)
    return found


def grounds(facts: Iterable[Fact[Any]], rules: dict[str, Rule], model: str) -> set[Ground]:
    """The sets of rules that prove these facts, each rule with all that it rests on; none with more than it needs."""
    each: list[set[Ground]] = []
    for fact in facts:
        provers = [(name, rule) for name, rule in rules.items() if fact in rule.proves]
        each.append({ground | {name} for name, rule in provers for ground in grounds(needs(rule, model), rules, model)})
    found = {frozenset[str]().union(*parts) for parts in product(*each)}
    return {ground for ground in found if not any(other < ground for other in found)}


def needs(rule: Rule, model: str) -> tuple[Fact[Any], ...]:
    """What a rule rests on, with the patterns of a network."""
    return (*rule.rests, PATTERNS) if rule.listed and model != "cgl" else rule.rests


def closure(claim: str, ground: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """The checker's files that are loaded where these rules and this claim are, with their lines; the libraries."""
    table = next(table for table, claims in TABLES.items() if claim in claims)
    pending = ["verify", f"verify.claims.{table}", *(f"verify.rules.{name}" for name in ground)]
    files: dict[str, int] = {}
    libraries: set[str] = set()
    while pending:
        module = pending.pop()
        path = file_of(module)
        if path is None:
            libraries |= {module.partition(".")[0]} - sys.stdlib_module_names
        elif (name := path.relative_to(ROOT.parent).as_posix()) not in files:
            text = path.read_text()
            files[name] = text.count("\n")
            pending += [module.rpartition(".")[0] or module, *loaded_by(ast.parse(text).body)]
    return dict(sorted(files.items())), sorted(libraries)


def later(files: Iterable[str]) -> list[str]:
    """The files that these load in a function, if at all, and those that these load."""
    known = {*files}
    pending = [*known]
    while pending:
        tree = ast.parse((ROOT.parent / pending.pop()).read_text())
        inner = (node for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) for node in ast.walk(one))
        names = [*loaded_by([*tree.body, *inner])]
        paths = map(file_of, [*names, *(name.rpartition(".")[0] for name in names)])
        new = {path.relative_to(ROOT.parent).as_posix() for path in paths if path} - known
        known |= new
        pending += new
    return sorted(known.difference(files))


def loaded_by(statements: Iterable[ast.AST]) -> Iterator[str]:
    """The modules that these statements load: of a file's own nothing under `if TYPE_CHECKING`, or in a function."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            within = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (module for module in within if file_of(module) is not None)


def file_of(module: str) -> Path | None:
    """The source file of a module of the checker; None for others, and for what is no module."""
    first, *parts = module.split(".")
    path = ROOT.joinpath(*parts)
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if first == "verify" and p.exists()), None)
