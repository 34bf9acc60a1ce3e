"""Claims with one line of their check code broken.

A mutant is a claim's module with one place of one function changed: a comparison turned round or made strict, a
connective, an operation, a condition that is always or never true, a number one larger, a part left out, an answer that
is always "holds". What draws instances or makes witnesses is left alone. Of a claim that an exact tool decides (TOOLS)
the tool is broken, too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import FunctionType, ModuleType

from properties.model import Claim
from properties.registry import load
from tests import changes
from tests.changes import broken, places
from tests.properties.controls import checks

CALLS = {
    **changes.CALLS,
    "add": "_sub",
    "sub": "_add",
    "abs": "_same",
    "fails": "_holds",
    "vacuous": "_holds",
    "expect": "_holds",
}
NAMES = """
from properties.exact.linalg import add as _add, sub as _sub
from properties.model import HOLDS as _HOLDS
def _holds(*_):
    return _HOLDS
def _same(x):
    return x
"""


TOOLS = {
    "prop_min_norm_program": ("properties.exact.polytope",),
    "prop_stationary_points": ("properties.exact.network",),
}


@dataclass(frozen=True)
class Mutant:
    """How which line is broken, the broken tree, the claim's module, and the tool if the line is in one."""

    name: str
    tree: ast.Module
    module: str
    tool: str = ""

    def load(self) -> Claim:
        """The broken claim. Its instances keep the classes of the whole module."""
        whole = import_module(f"properties.claims.{self.module}")
        if not self.tool:
            return claim_of(executed(whole, self.tree))
        tool = executed(import_module(self.tool), self.tree)
        changed = executed(whole, parsed(whole)[1])
        for key, value in vars(whole).items():
            if getattr(value, "__module__", None) == self.tool:
                setattr(changed, key, getattr(tool, key))
        return claim_of(changed)


def executed(whole: ModuleType, tree: ast.Module) -> ModuleType:
    """A module with another tree, and the classes of the whole one."""
    spec = spec_from_loader(whole.__name__, loader=None)
    if spec is None:
        raise ImportError(whole.__name__)
    changed = module_from_spec(spec)
    exec(NAMES, changed.__dict__)
    exec(compile(tree, f"<mutant of {whole.__name__}>", "exec"), changed.__dict__)
    for key, value in vars(whole).items():
        if isinstance(value, type) and value.__module__ == whole.__name__:
            setattr(changed, key, value)
    return changed


def claim_of(module: ModuleType) -> Claim:
    """The claim of a module."""
    claim = module.__dict__["CLAIM"]
    if not isinstance(claim, Claim):
        raise TypeError(f"{module.__name__} has no claim")
    return claim


def parsed(module: ModuleType) -> tuple[str, ast.Module]:
    """The text of a module, and its tree."""
    source = Path(str(module.__file__)).read_text()
    return source, ast.parse(source)


def mutants(name: str) -> Iterator[Mutant]:
    """One for every change of every place in the functions that decide, first in the claim's module, then in tools."""
    met: Counter[str] = Counter()
    whole = import_module(f"properties.claims.{name}")
    yield from _mutants(name, "", [check.__name__ for check in checks(load(name)).values()], met)
    for tool in TOOLS.get(name, ()):
        yield from _mutants(
            name, tool, [k for k, v in vars(whole).items() if v.__class__ is FunctionType and v.__module__ == tool], met
        )


def _mutants(name: str, tool: str, starts: list[str], met: Counter[str]) -> Iterator[Mutant]:
    source, tree = parsed(import_module(tool or f"properties.claims.{name}"))
    wanted, lines = check_code(starts, tree), source.splitlines()
    for at, function in enumerate(tree.body):
        if not isinstance(function, ast.FunctionDef) or function.name not in wanted:
            continue
        # strict=True guards against slips of ours, not against instances; annotations do nothing
        idle = {k.value for n in ast.walk(function) for k in getattr(n, "keywords", ()) if k.arg == "strict"}
        hints = [n.annotation for n in ast.walk(function) if isinstance(n, ast.AnnAssign)]
        idle |= {n for part in (function.args, function.returns, *hints) if part for n in ast.walk(part)}
        for place in places(function, lines, set(map(id, idle)), find, met):
            broken_ = ast.Module([*tree.body[:at], broken(function, place, find), *tree.body[at + 1 :]], [])
            yield Mutant(place.title, broken_, name, tool)


def find(node: ast.AST) -> list[changes.Change]:
    """What can be broken at a node."""
    return changes.changes(node, CALLS)


def check_code(starts: Iterable[str], tree: ast.Module) -> set[str]:
    """The names of these functions and of those that they call. Others draw instances or make witnesses."""
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef) and not f.decorator_list}
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name in functions and name not in found:
            found.add(name)
            waiting += [node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)]
    return found
