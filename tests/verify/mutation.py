"""The tests of the checker, measured: one place of one function of `verify/` is broken, and some test must notice.

    python -m tests.verify.mutation [FILE ...] [--sample N] [--seed S] [--only FILE] [--tests PATH ...] [--jobs J]
        [--budget SEC] [--map FILE] [--results FILE [--table]] [options of pytest]

Broken is what tests/changes.py says, one place at a time. All tests, with the corpus of files among them, run once,
unchanged, and it is noted which statements each of them comes to (--map keeps this in a file, for tests whose file is
the same and which come to no function that was changed); then a child process breaks the place and runs the tests that
come to it, until one fails: first those that noticed the last mutants of the statement or of the function, then the
fastest, those that come to few statements and those that are stopped in the function, for as many seconds of tests as
--budget says. What no test notices survives: it is listed, unless `equivalent.txt` says why nothing can notice it. The
exit code is 1 if the score, survivors with a reason left out, is below 95 %. Without FILE all of `verify/` is measured,
in any order; --sample draws from every file in proportion to its mutants. With --results a run can be ended and gone on
with: every mutant is written down as `noticed` or `survived`, and not tried again; --table prints them by file, as in
`mutation.tsv`.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import pickle
import random
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from itertools import accumulate
from math import sqrt
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.changes import Change, Place, broken, changes, places, statements

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
TESTS = ("tests/verify", "tests/claims", "tests/network/test_claims.py", "tests/path")
ALONE = "tests/verify/test_mutation.py"  # the tests of this run itself
FORKED = ("verify/child.py", "verify/__main__.py")
LEAVING = (*FORKED, "verify/proved.py")  # their mutants may leave processes
ENOUGH = 0.95
MEMORY = 6 << 30
NORMAL = 1.96  # for 95 %


Statement = tuple[str, str, str]  # of a file and a function, by its first line


@dataclass(frozen=True)
class Mutant:
    """A function of a file with one place broken."""

    file: str
    function: str
    place: Place

    @property
    def name(self) -> str:
        """One line."""
        return f"{self.file} {self.function}: {self.place.title}"

    @property
    def statement(self) -> Statement:
        """Where a test must come to notice it."""
        return self.file, self.function, line_text(self.file, self.place.statement)


# ------------------------------------------------------------------------------------------------ mutants


def find(node: ast.AST) -> list[Change]:
    """What is broken at a node."""
    return changes(node) + statements(node)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, list[ast.stmt]]]:
    """Every function of a module and of its classes, with its name and the list that it stands in."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node, tree.body
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    yield f"{node.name}.{part.name}", part, node.body


@cache
def ends_of(file: str, function: str) -> tuple[frozenset[Statement], Statement]:
    """The statements of a function that raise, and its last one, before which a test was stopped if it misses it."""
    node = next(one for name, one, _ in functions(tree_of(file)) if name == function)
    raises = (one.lineno for one in ast.walk(node) if isinstance(one, ast.Raise))
    return frozenset((file, function, line_text(file, k)) for k in raises), (
        *(file, function),
        line_text(file, node.body[-1].lineno),
    )


@cache
def lines_of(file: str) -> list[str]:
    """The lines of a file of the checker."""
    return (ROOT / file).read_text().splitlines()


def line_text(file: str, line: int) -> str:
    """One of them, by its number from 1."""
    return lines_of(file)[line - 1].strip()


def messages(function: ast.FunctionDef) -> set[int]:
    """The nodes that change no verdict: what is said when it is raised or required, f-strings, types, and `strict` of
    zips whose lengths were compared before."""
    silent: set[int] = set()
    for node in ast.walk(function):
        hidden: list[ast.AST | None] = [node] if isinstance(node, ast.JoinedStr | ast.Raise | ast.arguments) else []
        if isinstance(node, ast.FunctionDef):
            hidden += [node.returns, *node.decorator_list]
        if isinstance(node, ast.AnnAssign):
            hidden.append(node.annotation)
        if isinstance(node, ast.keyword) and node.arg == "strict":
            hidden.append(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "require":
            hidden += node.args[1:]
        silent |= {id(part) for top in hidden if top is not None for part in ast.walk(top)}
    return silent


def mutants(file: str) -> Iterator[Mutant]:
    """Every mutant of a file."""
    source = (ROOT / file).read_text()
    for name, function, _ in functions(ast.parse(source)):
        for place in places(function, source.splitlines(), messages(function), find, Counter()):
            yield Mutant(file, name, place)


@cache
def tree_of(file: str) -> ast.Module:
    """A file of the checker."""
    return ast.parse((ROOT / file).read_text())


def mutated(mutant: Mutant) -> CodeType:
    """The code of the broken function, compiled without the rest of its file."""
    function = next(one for name, one, _ in functions(tree_of(mutant.file)) if name == mutant.function)
    body: list[ast.stmt] = [broken(function, mutant.place, find)]
    for name in mutant.function.split(".")[:-1]:
        body = [ast.ClassDef(name, bases=[], keywords=[], body=body, decorator_list=[])]
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], level=0)
    return code_of(ast.Module([future, *body], type_ignores=[]), mutant.function, str(ROOT / mutant.file))


def code_of(tree: ast.Module, function: str, path: str) -> CodeType:
    """The code of one function of a tree."""
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


def module_of(file: str) -> ModuleType:
    """The module of a file."""
    return import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


# ------------------------------------------------------------------------------------------------ tests


@dataclass(frozen=True)
class Known:
    """A test: the hash of its file, how long it takes, and which statements of the checker it comes to."""

    source: str
    seconds: float
    reached: frozenset[Statement]


class Plugin:
    """Runs the tests once, then every mutant in a child."""

    def __init__(
        self, wanted: Sequence[Mutant], jobs: int, budget: float, kept: Path | None, results: Path | None
    ) -> None:
        self.wanted, self.jobs, self.budget, self.kept, self.results = wanted, jobs, budget, kept, results
        self.tests: list[tuple[pytest.Item, Known]] = []
        self.seconds: list[float] = []
        self.survivors: list[Mutant] = []
        self.done = 0
        self.noticed: dict[object, Counter[int]] = defaultdict(Counter)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of the usual loop."""
        known = recalled(self.kept)
        new = [item for item in session.items if item.nodeid not in known or known[item.nodeid].source != hashed(item)]
        if new:
            reached: set[Statement] = set()
            before = watch(all_files(), reached)
            for k, item in enumerate(new, 1):
                known[item.nodeid] = observed(item, reached)
                if self.kept is not None and (k % 500 == 0 or k == len(new)):
                    self.kept.write_bytes(pickle.dumps((known, sources())))
            for function, code in before.items():
                function.__code__ = code
        self.tests = [(item, known[item.nodeid]) for item in session.items if known[item.nodeid].reached]
        self.seconds = [one.seconds for _, one in self.tests]
        print(
            f"\n{len(self.tests)} of {len(session.items)} tests come to the checker, {len(new)} looked at", flush=True
        )
        gc.freeze()  # children share what there is
        running: dict[int, tuple[Mutant, int]] = {}
        for mutant in [*self.wanted, *[None] * self.jobs]:
            while running and (mutant is None or len(running) >= self.jobs):
                child, _ = os.wait()
                self.ended(child, *running.pop(child))
            if mutant is not None:
                order = self.order(mutant)
                reader, writer = os.pipe()
                child = os.fork()
                if not child:
                    attempt(mutant, [(k, self.tests[k][0], self.seconds[k]) for k in order], 2 * self.budget, writer)
                os.close(writer)
                running[child] = mutant, reader
        return True

    def order(self, mutant: Mutant) -> list[int]:
        """The tests to run, by their numbers."""
        here, there = self.noticed[mutant.statement], self.noticed[mutant.file, mutant.function]
        raises, last = ends_of(mutant.file, mutant.function)
        found = [k for k, (_, one) in enumerate(self.tests) if reaches(one, mutant)]

        def cost(k: int) -> float:
            reached = self.tests[k][1].reached
            near = 1 + 20 * here[k] + 4 * there[k] + 10 * (not raises.isdisjoint(reached)) + 4 * (last not in reached)
            return self.seconds[k] * len(reached) / near

        found.sort(key=cost)
        sums = accumulate(self.seconds[k] for k in found)
        return [k for k, total in zip(found, sums, strict=True) if k == found[0] or total <= self.budget]

    def ended(self, child: int, mutant: Mutant, reader: int) -> None:
        """What a child has said: how long each test took, and last `survived`, the number of the test that failed, or
        nothing if it was stopped."""
        if mutant.file in LEAVING:
            sweep(child)
        *times, said = drained(reader).split("\n")
        for line in times:
            k, took = line.split()
            self.seconds[int(k)] = (self.seconds[int(k)] + float(took)) / 2
        self.done += 1
        if said == "survived":
            self.survivors.append(mutant)
            print(f"survived {self.done}/{len(self.wanted)}  {mutant.name}", flush=True)
        elif said:
            self.noticed[mutant.statement][int(said)] += 1
            self.noticed[mutant.file, mutant.function][int(said)] += 1
        if self.results is not None:
            with self.results.open("a") as file:
                file.write(f"{'survived' if said == 'survived' else 'noticed'}\t{mutant.name}\n")
        if self.done % 100 == 0:
            print(f"{self.done}/{len(self.wanted)} done", flush=True)


def drained(reader: int) -> str:
    """What was written into a pipe; a process that is left may hold its other end."""
    os.set_blocking(reader, False)
    parts = []
    with suppress(BlockingIOError):
        while part := os.read(reader, 1 << 16):
            parts.append(part)
    os.close(reader)
    return b"".join(parts).decode()


def recalled(kept: Path | None) -> dict[str, Known]:
    """The tests that were looked at before and come to no function that was another one then."""
    if kept is None or not kept.exists():
        return {}
    known: dict[str, Known]
    known, before = pickle.loads(kept.read_bytes())
    changed = {place for place, source in sources().items() if before.get(place) != source}
    return {name: one for name, one in known.items() if changed.isdisjoint(place[:2] for place in one.reached)}


def sources() -> dict[tuple[str, str], str]:
    """Every function of the checker, by its file and name, as text."""
    trees = ((file, ast.parse((ROOT / file).read_text())) for file in all_files())
    return {(file, name): ast.unparse(function) for file, tree in trees for name, function, _ in functions(tree)}


@cache
def hash_of(path: Path) -> str:
    """Of a file."""
    return sha256(path.read_bytes()).hexdigest()


def hashed(item: pytest.Item) -> str:
    """Of the file of a test."""
    return hash_of(item.path)


def reaches(test: Known, mutant: Mutant) -> bool:
    """Whether a test comes to the place; what happens in the checker's child process was not seen."""
    forked = mutant.file in FORKED and any(file == FORKED[0] for file, _, _ in test.reached)
    return forked or mutant.statement in test.reached


def spent() -> float:
    """Seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def observed(item: pytest.Item, reached: set[Statement]) -> Known:
    """The test, run once while it is noted where it comes; one that fails is said to come to nothing."""
    reached.clear()
    start = spent()
    if any(report.failed for report in runtestprotocol(item, log=False, nextitem=None)):
        print(f"\nfails unchanged: {item.nodeid}", flush=True)
        reached.clear()
    return Known(hashed(item), spent() - start, frozenset(reached))


def watch(files: Sequence[str], reached: set[Statement]) -> dict[FunctionType, CodeType]:
    """Let every statement of these files note that it is come to; returns the functions as they were."""
    before = {}
    for file in files:
        tree, module = ast.parse((ROOT / file).read_text()), module_of(file)
        vars(module)["_reached_"] = reached.add
        for name, function, _ in functions(tree):
            for node in [*ast.walk(function)]:
                for field in ("body", "orelse", "finalbody"):
                    if isinstance(body := getattr(node, field, None), list) and not isinstance(node, ast.ClassDef):
                        keys = [(file, name, line_text(file, one.lineno)) for one in body]
                        noted = [
                            (ast.parse(f"_reached_({key!r})").body[0], one) for key, one in zip(keys, body, strict=True)
                        ]
                        body[:] = [part for pair in noted for part in pair]
        for name, _, _ in functions(tree):
            function_ = function_of(module, name)
            before[function_] = function_.__code__
            function_.__code__ = code_of(tree, name, str(ROOT / file))
    return before


def sweep(session: int) -> None:
    """End what a child has left."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[3]) == session:
                os.kill(int(path.parent.name), signal.SIGKILL)


def attempt(mutant: Mutant, tests: Sequence[tuple[int, pytest.Item, float]], most: float, writer: int) -> None:
    """The child: break the function, run the tests, say what became of it. It is stopped if it takes much longer."""
    me, said = os.getpid(), "survived"
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        for stop in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(stop, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        function_of(module_of(mutant.file), mutant.function).__code__ = mutated(mutant)
        forget()
        for k, item, seconds in tests:
            signal.setitimer(signal.ITIMER_PROF, 3 + 20 * seconds)
            signal.alarm(15 + int(40 * seconds))  # for those that wait
            start = spent()
            failed = any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))
            if os.getpid() == me:
                os.write(writer, f"{k} {spent() - start}\n".encode())
            if failed:
                said = str(k)
            if failed or spent() > most:
                break
    except BaseException:
        said = ""
    finally:
        if os.getpid() == me:
            os.write(writer, said.encode())
        os._exit(0)


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
    return dict(line.rsplit("  # ", 1) for line in lines if "  # " in line)


def all_files() -> list[str]:
    """The modules of the checker."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "verify").rglob("*.py"))


def drawn(every: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many at random, of each file in proportion: shuffled within the files, then every k-th; in any order, so that
    the first of them are a sample, too."""
    draw = random.Random(seed)
    mixed = sorted(every, key=lambda mutant: (mutant.file, draw.random()))
    step = len(mixed) / count
    start = draw.random() * step
    found = [mixed[int(start + step * i)] for i in range(count)]
    draw.shuffle(found)
    return found


def interval(good: int, total: int) -> tuple[float, float]:
    """95 % for a share of which `good` of `total` were seen (Wilson)."""
    if not total:
        return 0.0, 1.0
    share, z = good / total, NORMAL**2 / total
    middle, half = share + z / 2, NORMAL * sqrt(share * (1 - share) / total + z / (4 * total))
    return (middle - half) / (1 + z), (middle + half) / (1 + z)


def table(every: Sequence[Mutant], known: Container[str], results: Path) -> Iterator[str]:
    """By file: its mutants, how many have a reason, how many others were tried, and how many of these were noticed; a
    mutant that was tried twice is noticed if it was once."""
    lines = [line.split("\t") for line in results.read_text().splitlines()]
    tried, noticed = (
        {name for said, name in lines if said in words} for words in (("noticed", "survived"), ("noticed",))
    )
    yield "file\tmutants\twith a reason\ttried\tnoticed"
    for file in (*dict.fromkeys(mutant.file for mutant in every), ""):
        names = [mutant.name for mutant in every if mutant.file == file or not file]
        others = [name for name in names if name not in known]
        counts = (
            len(names) - len(others),
            sum(name in tried for name in others),
            sum(name in noticed for name in others),
        )
        yield f"{file or 'all'}\t{len(names)}\t{counts[0]}\t{counts[1]}\t{counts[2]}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.mutation", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="modules of verify/ (default: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--tests", nargs="+", default=list(TESTS), metavar="PATH", help="the tests that may notice")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="child processes at a time")
    parser.add_argument("--budget", type=float, default=20, metavar="SEC", help="of tests for each mutant (default 20)")
    parser.add_argument("--map", type=Path, metavar="FILE", help="where it is kept which test comes where")
    parser.add_argument("--only", metavar="FILE", help="the mutants that this file names, a line each")
    parser.add_argument("--results", type=Path, metavar="FILE", help="kept as a list; what it has is not tried again")
    parser.add_argument("--table", action="store_true", help="print what --results has, by file, and end")
    options, more = parser.parse_known_args(argv)  # the rest is for pytest
    os.chdir(ROOT)
    known = reasons()
    every = [mutant for file in options.files or all_files() for mutant in mutants(file)]
    wanted = [mutant for mutant in every if mutant.name not in known]
    if options.table:
        print(*table(every, known, options.results), sep="\n")
        return 0
    if options.only is not None:
        named = set(Path(options.only).read_text().splitlines())
        wanted = [mutant for mutant in wanted if mutant.name in named]
    if options.results is not None and options.results.exists():
        before = {line.partition("\t")[2] for line in options.results.read_text().splitlines()}
        wanted = [mutant for mutant in wanted if mutant.name not in before]
    if wanted:
        wanted = drawn(wanted, min(options.sample or len(wanted), len(wanted)), options.seed)
    plugin = Plugin(wanted, options.jobs, options.budget, options.map, options.results)
    start = time.monotonic()
    pytest.main(
        [
            "-q",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:faulthandler",
            f"--ignore={ALONE}",
            *more,
            *options.tests,
        ],
        plugins=[plugin],
    )
    noticed = plugin.done - len(plugin.survivors)
    low, high = interval(noticed, plugin.done)
    for mutant in plugin.survivors:
        print(f"survived: {mutant.name}")
    print(
        f"{len(every)} mutants, {len(every) - len([m for m in every if m.name not in known])} with a reason; ", end=""
    )
    print(f"of {plugin.done} tried {noticed} were noticed, {100 * noticed / max(plugin.done, 1):.1f} % ", end="")
    print(f"(95 %: {100 * low:.1f} to {100 * high:.1f}), in {time.monotonic() - start:.0f} s")
    return int(noticed < ENOUGH * plugin.done or not plugin.done)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main())
