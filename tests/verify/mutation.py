"""The tests of the checker, measured: one place of one function of `verify/` is changed, and some test must notice.

    python -m tests.verify.mutation [FILE ...] [--sample N] [--seed S] [--tests PATH ...] [--jobs J]

Changed are comparisons, connectives, signs and operations, numbers and flags, and `raise` statements and calls whose
value is not used are left out, one at a time. All tests run once, unchanged, and it is noted which functions each of
them calls; then, for every mutant, a child process runs those that call its function, the fastest first, until one
fails or a minute of tests is over (--budget). What no test notices survives: it is listed, unless `equivalent.txt` says
why nothing can notice it. The exit code is 1 if the score, survivors with a reason left out, is below 95 %. Without
FILE all of `verify/` is measured, without --sample every mutant.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
TESTS = ("tests/verify", "tests/claims", "tests/network/test_claims.py", "tests/path")
ENOUGH = 0.95
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the function, the number of the change in it, and the code before and after."""

    file: str
    function: str
    number: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """One line."""
        return f"{self.file} {self.function}: {self.before} -> {self.after}"


# ------------------------------------------------------------------------------------------------ changes


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[], None], Callable[[], None]]]:
    """(what is shown, do, undo) for every change at this node; what is shown is the node, or the statement."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield node, *swap(ops, i, other())
        case ast.BoolOp(op=op):
            yield node, *put(node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.BinOp(op=op, left=left) if type(op) in OPERATIONS and not isinstance(left, ast.JoinedStr):
            yield node, *put(node, "op", OPERATIONS[type(op)]())
        case ast.AugAssign(op=op) if type(op) in OPERATIONS:
            yield node, *put(node, "op", OPERATIONS[type(op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield node, *put(node, "op", ast.UAdd() if isinstance(node.op, ast.USub) else None, operand)
        case ast.Constant(value=bool(value)):
            yield node, *put(node, "value", not value)
        case ast.Constant(value=int(value)):
            yield node, *put(node, "value", value + 1)


def swap(items: list[Any], i: int, new: Any) -> tuple[Callable[[], None], Callable[[], None]]:
    """Another entry in a list, and back."""
    old = items[i]
    return lambda: items.__setitem__(i, new), lambda: items.__setitem__(i, old)


def put(node: Any, field: str, new: Any, operand: Any = None) -> tuple[Callable[[], None], Callable[[], None]]:
    """Another value of a field, and back; None for `not`, which is written as `not not`."""
    old = getattr(node, field)
    if new is not None:
        return lambda: setattr(node, field, new), lambda: setattr(node, field, old)
    twice = ast.UnaryOp(ast.Not(), operand)
    return lambda: setattr(node, "operand", twice), lambda: setattr(node, "operand", operand)


def statements(body: list[ast.stmt]) -> Iterator[tuple[ast.AST, Callable[[], None], Callable[[], None]]]:
    """Statements left out: those that reject, and calls whose value is not used."""
    for i, statement in enumerate(body):
        if isinstance(statement, ast.Raise) or (
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        ):
            yield statement, *swap(body, i, ast.copy_location(ast.Pass(), statement))


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function of a module and of its classes, with its name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    yield f"{node.name}.{part.name}", part


def messages(function: ast.FunctionDef) -> set[int]:
    """The nodes that change no verdict: what is said when it is raised, f-strings, types, and `strict` of zips whose
    lengths were compared before."""
    silent: set[int] = set()
    for node in ast.walk(function):
        hidden: list[ast.AST | None] = [node] if isinstance(node, ast.JoinedStr | ast.Raise | ast.arguments) else []
        if isinstance(node, ast.FunctionDef):
            hidden += [node.returns, *node.decorator_list]
        if isinstance(node, ast.AnnAssign):
            hidden.append(node.annotation)
        if isinstance(node, ast.keyword) and node.arg == "strict":
            hidden.append(node)
        silent |= {id(part) for top in hidden if top is not None for part in ast.walk(top)}
    return silent


def mutations(file: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """Every mutant of a file, with the changed tree, which is changed back afterwards."""
    tree = ast.parse((ROOT / file).read_text())
    for name, function in functions(tree):
        silent, number = messages(function), 0
        for node in ast.walk(function):
            found = [] if id(node) in silent else list(changes(node))
            for field in ("body", "orelse", "finalbody"):
                found += statements(part) if isinstance(part := getattr(node, field, None), list) else []
            for shown, do, undo in found:
                before = ast.unparse(shown)
                do()
                after = "pass" if isinstance(shown, ast.stmt) and not isinstance(shown, ast.AugAssign) else ""
                yield Mutant(file, name, number, short(before), short(after or ast.unparse(shown))), tree
                undo()
                number += 1


def short(code: str) -> str:
    """Code in one line."""
    return " ".join(code.split())


def code_of(tree: ast.Module, function: str, path: str) -> CodeType:
    """The code of one function of a changed tree."""
    found = compile(ast.fix_missing_locations(tree), path, "exec")
    for name in function.split("."):
        found = next(part for part in found.co_consts if isinstance(part, CodeType) and part.co_name == name)
    return found


def function_of(module: ModuleType, name: str) -> FunctionType:
    """The function itself, out of properties and caches."""
    found: Any = module
    for part in name.split("."):
        found = vars(found)[part] if not isinstance(found, ModuleType) else getattr(found, part)
    for wrapper in ("fget", "func", "__func__", "__wrapped__"):
        found = getattr(found, wrapper, None) or found
    if not isinstance(found, FunctionType):
        raise TypeError(f"{name} is {type(found).__name__}")
    return found


# ------------------------------------------------------------------------------------------------ tests


@dataclass(frozen=True)
class Known:
    """A test, how long it takes, and which functions of the checker it calls."""

    item: pytest.Item
    seconds: float
    called: frozenset[tuple[str, str]]


class Plugin:
    """Runs the tests once, then every mutant in a child."""

    def __init__(self, wanted: Sequence[Mutant], jobs: int, budget: float) -> None:
        self.wanted = wanted
        self.jobs = jobs
        self.budget = budget
        self.survivors: list[Mutant] = []
        self.done = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of the usual loop."""
        called: set[tuple[str, str]] = set()
        watch({(mutant.file, mutant.function) for mutant in self.wanted}, called)
        tests = [known for item in session.items if (known := observed(item, called)) is not None]
        print(f"\n{len(tests)} of {len(session.items)} tests call what is changed", flush=True)
        running: dict[int, Mutant] = {}
        for mutant in [*self.wanted, *[None] * self.jobs]:
            while running and (mutant is None or len(running) >= self.jobs):
                child, status = os.wait()
                ended = running.pop(child)
                self.done += 1
                if self.done % 25 == 0:
                    print(f"{self.done}/{len(self.wanted)} done", flush=True)
                if os.waitstatus_to_exitcode(status) == 0:
                    self.survivors.append(ended)
                    print(f"survivor {self.done}/{len(self.wanted)}  {ended.name}", flush=True)
            if mutant is not None:
                chosen = [one for one in tests if (mutant.file, mutant.function) in one.called]
                child = os.fork()
                if not child:
                    attempt(mutant, within(chosen, self.budget))
                running[child] = mutant
        return True


def within(tests: Sequence[Known], budget: float) -> list[Known]:
    """The fastest tests that take no longer than this together; at least one."""
    ordered = sorted(tests, key=lambda one: one.seconds)
    sums = accumulate(one.seconds for one in ordered)
    return [one for number, (one, total) in enumerate(zip(ordered, sums, strict=True)) if not number or total <= budget]


def observed(item: pytest.Item, called: set[tuple[str, str]]) -> Known | None:
    """The test, run once while its calls are noted; None if it calls nothing that is watched, or fails unchanged."""
    called.clear()
    start = time.monotonic()
    if any(report.failed for report in runtestprotocol(item, log=False, nextitem=None)):
        print(f"\nfails unchanged: {item.nodeid}", flush=True)
        return None
    return Known(item, time.monotonic() - start, frozenset(called)) if called else None


def watch(places: set[tuple[str, str]], called: set[tuple[str, str]]) -> None:
    """Let each of these functions note that it is called, as its first statement."""
    for file in {file for file, _ in places}:
        tree, module = ast.parse((ROOT / file).read_text()), module_of(file)
        vars(module)["_called_"] = called.add
        for name, function in functions(tree):
            if (file, name) in places:
                note = ast.parse(f"_called_(({file!r}, {name!r}))").body[0]
                function.body.insert(1 if ast.get_docstring(function) is not None else 0, note)
                function_of(module, name).__code__ = code_of(tree, name, str(ROOT / file))


def module_of(file: str) -> ModuleType:
    """The module of a file."""
    return import_module(file.removesuffix(".py").replace("/", "."))


def attempt(mutant: Mutant, tests: Sequence[Known]) -> None:
    """The child: change the function, run the tests; exits with 1 if one fails, or takes much longer."""
    code = 1
    try:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
        signal.alarm(60 + int(5 * sum(one.seconds for one in tests)))
        change(mutant)
        forget()
        failed = any(report.failed for one in tests for report in runtestprotocol(one.item, log=False, nextitem=None))
        code = int(failed)
    finally:
        os._exit(code)


def change(mutant: Mutant) -> None:
    """Put the changed code into the function, wherever it is known by its name."""
    for found, tree in mutations(mutant.file):
        if found == mutant:
            code = code_of(tree, mutant.function, str(ROOT / mutant.file))
            function_of(module_of(mutant.file), mutant.function).__code__ = code
            return
    raise LookupError(mutant.name)


def forget() -> None:
    """Empty the caches of tests that hold what the checker has said."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tests."):
            for value in vars(module).values():
                inner = getattr(value, "__wrapped__", None)
                if hasattr(value, "cache_clear") and inner is not None:
                    names = {*inner.__code__.co_names}
                    if any(word.startswith(("check", "judge", "read_", "still_valid", "reason")) for word in names):
                        value.cache_clear()


# ------------------------------------------------------------------------------------------------ the command


def reasons() -> dict[str, str]:
    """Mutants that nothing can notice, with the reason: lines `mutant  # reason`."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return dict(line.split("  # ", 1) for line in lines if "  # " in line)


def all_files() -> list[str]:
    """The modules of the checker."""
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "verify").rglob("*.py"))
    return [file for file in found if not file.endswith(("__init__.py", "__main__.py", "child.py"))]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.mutation", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="modules of verify/ (default: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--tests", nargs="+", default=list(TESTS), metavar="PATH", help="the tests that may notice")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="child processes at a time")
    parser.add_argument("--budget", type=float, default=60, metavar="SEC", help="of tests for each mutant (default 60)")
    options = parser.parse_args(argv)
    os.chdir(ROOT)
    known = reasons()
    every = [mutant for file in options.files or all_files() for mutant, _ in mutations(file)]
    wanted = [mutant for mutant in every if mutant.name not in known]
    if options.sample is not None and options.sample < len(wanted):
        wanted = random.Random(options.seed).sample(wanted, options.sample)
    plugin = Plugin(wanted, options.jobs, options.budget)
    start = time.monotonic()
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", *options.tests], plugins=[plugin])
    noticed = len(wanted) - len(plugin.survivors)
    left_out = len(every) - len({mutant for mutant in every if mutant.name not in known})
    print(f"{len(every)} mutants, {left_out} with a reason; of {len(wanted)} tried {noticed} were noticed, ", end="")
    score = noticed / max(len(wanted), 1)
    print(f"{100 * score:.1f} %, in {time.monotonic() - start:.0f} s")
    for mutant in plugin.survivors:
        print(f"survived: {mutant.name}")
    return int(score < ENOUGH)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main())
