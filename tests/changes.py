"""Programs with one place broken: what can be broken at a node of a syntax tree, and the function in which it is.

A comparison is turned round or made strict; a connective, an operation or a sign is another one; a part of a condition
is left out, or the condition is always or never true; a number is one larger, a flag the other one; `any` is `all`.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

Change = tuple[str, ast.AST, Callable[[ast.AST], None]]  # what, where it is seen, and the change of the node in place

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
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLS = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Place:
    """A change: the number of its node in the walk over the function, its own number there, a title, its line and that
    of its statement."""

    node: int
    number: int
    title: str
    line: int
    statement: int


def places(
    function: ast.FunctionDef,
    lines: Sequence[str],
    idle: Set[int],
    find: Callable[[ast.AST], list[Change]],
    met: Counter[str],
) -> Iterator[Place]:
    """All changes of a function but those at idle nodes (by id); `lines` are those of its file. One line can be broken
    in one way at several places: `met` counts the titles."""
    owner = dict(owned(function, function.lineno))
    for index, node in enumerate(ast.walk(function)):
        for number, (what, seen, _) in enumerate(find(node)):
            if id(node) in idle and seen is node:
                continue
            line = line_of(seen)
            title = f"[{what}] {lines[line - 1].strip()}"
            met[title] += 1
            full = f"{title} ({met[title]})" if met[title] > 1 else title
            yield Place(index, number, full, line, owner[id(seen)])


def owned(node: ast.AST, line: int) -> Iterator[tuple[int, int]]:
    """Every node below this one, with the line of its statement."""
    for child in ast.iter_child_nodes(node):
        here = child.lineno if isinstance(child, ast.stmt) else line
        yield id(child), here
        yield from owned(child, here)


def line_of(node: ast.AST) -> int:
    """The line of a node; a comprehension has that of its target."""
    return int(getattr(node.target if isinstance(node, ast.comprehension) else node, "lineno", 1))


def broken(function: ast.FunctionDef, place: Place, find: Callable[[ast.AST], list[Change]]) -> ast.FunctionDef:
    """A copy of the function with this change."""
    changed = copy.deepcopy(function)
    node = next(islice(ast.walk(changed), place.node, None))
    find(node)[place.number][2](node)
    return ast.fix_missing_locations(changed)


def changes(node: ast.AST, calls: Mapping[str, str] = CALLS) -> list[Change]:
    """What can be broken at a node; `calls` are functions and what is called in their place."""
    out: list[tuple[str, Callable[[ast.AST], None]]] = []
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            out += [(f"compare: {new.__name__}", put_item("ops", i, new())) for new in COMPARISONS[type(op)]]
    elif isinstance(node, ast.BoolOp):
        other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        out += [("and/or", put("op", other))]
        neutral = ast.Constant(isinstance(node.op, ast.And))
        out += [(f"without part {i}", put_item("values", i, neutral)) for i in range(len(node.values))]
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        out += [("operation", put("op", OPERATIONS[type(node.op)]()))]
    elif isinstance(node, ast.If | ast.IfExp):
        out += [(f"if {value}", put("test", ast.Constant(value))) for value in (True, False)]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        out += [("without minus", put("op", ast.UAdd()))]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        out += [("without not", put("operand", ast.UnaryOp(ast.Not(), node.operand)))]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        out += [("other flag", put("value", not node.value))]
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        out += [("one more", put("value", node.value + 1))]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in calls:
        out += [(f"{calls[node.func.id]}()", put("func", ast.Name(calls[node.func.id], ast.Load())))]
    elif isinstance(node, ast.comprehension):
        out += [(f"without filter {i}", drop("ifs", i)) for i in range(len(node.ifs))]
    return [(what, node, change) for what, change in out]


def statements(node: ast.AST) -> list[Change]:
    """Statements that can be broken: sums are differences; what rejects, or is called for no value, is left out."""
    out: list[Change] = []
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATIONS:
        out += [("operation", node, put("op", OPERATIONS[type(node.op)]()))]
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, None)
        for i, one in enumerate(body if isinstance(body, list) else ()):
            if isinstance(one, ast.Raise) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)):
                out += [("left out", one, put_item(field, i, ast.copy_location(ast.Pass(), one)))]
    return out


def put(field: str, value: object) -> Callable[[ast.AST], None]:
    """Another value of a field."""
    return lambda node: setattr(node, field, value)


def put_item(field: str, i: int, value: object) -> Callable[[ast.AST], None]:
    """Another entry of a field."""
    return lambda node: getattr(node, field).__setitem__(i, value)


def drop(field: str, i: int) -> Callable[[ast.AST], None]:
    """A field without one entry."""
    return lambda node: getattr(node, field).pop(i)
