"""Claims with one line of their check code broken.

A mutant is a claim's module with one place of one function changed: a comparison turned round or made strict, a
connective, an operation, a condition that is always or never true, a number one larger, a part left out, an answer that
is always "holds". What draws instances or makes witnesses is left alone. Of a claim that an exact tool decides (TOOLS)
the tool is broken, too.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_loader
from itertools import islice
from pathlib import Path
from types import FunctionType, ModuleType

from properties.model import Claim
from properties.registry import load
from tests.properties.controls import checks

Change = Callable[[ast.AST], None]

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLS = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
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
    met: Counter[str] = Counter()  # one line can be broken in one way at several places
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
        for index, node in enumerate(ast.walk(function)):
            if node in idle:
                continue
            for number, (what, _) in enumerate(changes(node)):
                changed = copy.deepcopy(function)
                place = next(islice(ast.walk(changed), index, None))
                changes(place)[number][1](place)
                broken = ast.Module([*tree.body[:at], ast.fix_missing_locations(changed), *tree.body[at + 1 :]], [])
                title = f"[{what}] {lines[_line(node) - 1].strip()}"
                met[title] += 1
                yield Mutant(title if met[title] == 1 else f"{title} ({met[title]})", broken, name, tool)


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


def _line(node: ast.AST) -> int:
    """The line of a node; a comprehension has that of its target."""
    return int(getattr(node.target if isinstance(node, ast.comprehension) else node, "lineno", 1))


def changes(node: ast.AST) -> list[tuple[str, Change]]:
    """What can be broken at a node: a name, and the change in place."""
    out: list[tuple[str, Change]] = []
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            out += [(f"compare: {new.__name__}", _set_item("ops", i, new())) for new in COMPARISONS[type(op)]]
    elif isinstance(node, ast.BoolOp):
        other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        out += [("and/or", _set("op", other))]
        out += [(f"without part {i}", _drop("values", i)) for i in range(len(node.values))]
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        out += [("operation", _set("op", OPERATIONS[type(node.op)]()))]
    elif isinstance(node, ast.If | ast.IfExp):
        out += [(f"if {value}", _set("test", ast.Constant(value))) for value in (True, False)]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        out += [("without minus", _set("op", ast.UAdd()))]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        out += [("without not", _set("operand", ast.UnaryOp(ast.Not(), node.operand)))]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        out += [("other flag", _set("value", not node.value))]
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        out += [("one more", _set("value", node.value + 1))]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        out += [(f"{CALLS[node.func.id]}()", _set("func", ast.Name(CALLS[node.func.id], ast.Load())))]
    elif isinstance(node, ast.comprehension):
        out += [(f"without filter {i}", _drop("ifs", i)) for i in range(len(node.ifs))]
    return out


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _set_item(field: str, i: int, value: object) -> Change:
    return lambda node: getattr(node, field).__setitem__(i, value)


def _drop(field: str, i: int) -> Change:
    return lambda node: getattr(node, field).pop(i)
