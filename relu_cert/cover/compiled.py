"""The walk, compiled by numba, and kept on disk for the next time.

Only the two entries have a form that Python calls, and are kept; the functions that they call are compiled with them,
and get the arrays that they use, not the values that hold these: to pass all arrays takes longer than to compile most
functions.
Arithmetic is strict: every sum is rounded in the order in which it is written, so that compiled and interpreted walks
give the same bytes, on every machine. `python -m relu_cert.cover.compiled NAME` compiles one, and ends.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np
from numba import njit, typeof
from numba.core import event

from relu_cert.cover.dense import walk_dense
from relu_cert.cover.stack import Room, SharpCones, SignedProblem, Stack, Tape, empty_room, empty_stack, empty_tape
from relu_cert.cover.star import walk_stars
from relu_cert.cover.walk import walk

HERE = "relu_cert.cover."
VALUES = ("side", "ties", "stack", "tape", "room")  # the names of these values in all functions
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
Entry = Callable[..., int]


class NotKept(Exception):
    """There is no compiled code on disk."""


class _Refuse(event.Listener):
    """Ends what would be a compilation."""

    def on_start(self, event: event.Event) -> None:
        """A compilation begins."""
        raise NotKept

    def on_end(self, event: event.Event) -> None:
        """It is over."""


def load(name: str, *, compiling: bool) -> Entry:
    """An entry, from disk; NotKept if it is not there and may not be compiled now."""
    if compiling:
        return entry(name)
    with event.install_listener("numba:compile", _Refuse()):
        return entry(name)


@cache
def entry(name: str) -> Entry:
    """The walk over cones without tips, that over cones with tips (`walk_stars`), or that which looks at all rows."""
    side, ties, stack, tape, room, count, real, flag = map(typeof, (*samples(), 1, 1.0, True))
    given = (side, ties, stack, tape, room, count, count)
    entries: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "walk": (walk, (*given, real, flag)),
        "walk_stars": (walk_stars, given),
        "walk_dense": (walk_dense, (side, stack, tape, room, count, count, real)),
    }
    return cast("Entry", compile_entry(*entries[name]))


def compile_entry(f: Any, types: tuple[Any, ...]) -> Any:
    """A function that Python calls. It is kept under a digest of all sources: numba itself looks at one file only."""
    copy = with_arrays(f, entry=True)
    copy.__name__ = copy.__qualname__ = f"{f.__name__}_{digest_of_sources()}"
    try:
        found = njit(cache=True, **_OPTIONS)(copy)
    except RuntimeError:  # no place to keep it
        found = njit(**_OPTIONS)(copy)
    found.compile(types)
    return found


@cache
def inner(f: Any) -> Any:
    """A function that compiled code calls, compiled."""
    return njit(**_INNER)(with_arrays(f))


def functions_called(f: Any) -> dict[str, FunctionType]:
    """The functions of this package that a function calls."""
    named = {name: f.__globals__.get(name) for name in f.__code__.co_names}
    return {name: g for name, g in named.items() if isinstance(g, FunctionType) and g.__module__.startswith(HERE)}


@cache
def arrays_used(f: Any) -> tuple[tuple[str, str], ...]:
    """Value and field of what a function uses, and the functions that it calls."""
    nodes = ast.walk(ast.parse(inspect.getsource(f)))
    attributes = (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
    own = {(n.value.id, n.attr) for n in attributes if isinstance(n.value, ast.Name) and n.value.id in VALUES}
    return tuple(sorted(own.union(*map(arrays_used, functions_called(f).values()))))


class _Arrays(ast.NodeTransformer):
    """Writes `stack_G` for `stack.G`, and passes such arrays where a value is passed."""

    def __init__(self, called: dict[str, FunctionType]) -> None:
        self.called = called

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A field of a value."""
        if isinstance(node.value, ast.Name) and node.value.id in VALUES:
            return ast.Name(f"{node.value.id}_{node.attr}", node.ctx)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call, perhaps with values."""
        self.generic_visit(node)
        called = self.called.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if called is not None:
            node.args = [arg for given in node.args for arg in self._spread(called, given)]
        return node

    @staticmethod
    def _spread(called: FunctionType, given: ast.expr) -> list[ast.expr]:
        if not (isinstance(given, ast.Name) and given.id in VALUES):
            return [given]
        return [ast.Name(f"{value}_{field}", ast.Load()) for value, field in arrays_used(called) if value == given.id]


def with_arrays(f: Any, *, entry: bool = False) -> FunctionType:
    """A copy of a function that has arrays in the place of the values that hold them, and calls compiled copies of the
    functions of this package; an entry is given the values."""
    called, used = functions_called(f), arrays_used(f)
    tree = _Arrays(called).visit(ast.parse(inspect.getsource(f)))
    body = tree.body[0]
    if entry:
        arrays = (ast.Name(f"{value}_{field}", ast.Store()) for value, field in used)
        fields = (ast.Attribute(ast.Name(value, ast.Load()), field, ast.Load()) for value, field in used)
        body.body[:0] = [ast.Assign([name], field) for name, field in zip(arrays, fields, strict=True)]
    else:
        given = [[f"{v}_{x}" for v, x in used if v == a.arg] if a.arg in VALUES else [a.arg] for a in body.args.args]
        body.args.args = [ast.arg(name) for names in given for name in names]
    names = {**f.__globals__, **{name: inner(g) for name, g in called.items()}}
    exec(compile(ast.fix_missing_locations(tree), f.__code__.co_filename, "exec"), names)
    copy: FunctionType = names[f.__name__]
    return copy


def optimise_entries_only() -> None:
    """For a process that does nothing but compile: numba would optimise a function that another calls, and once more
    in each that calls it. Where numba has no such step, all is as it would be."""
    from numba.core.codegen import CPUCodeLibrary

    whole, digest = getattr(CPUCodeLibrary, "_optimize_final_module", None), digest_of_sources()

    def optimise(self: Any) -> None:
        if whole is not None and digest in self.name:
            whole(self)

    if whole is not None:
        setattr(CPUCodeLibrary, "_optimize_final_module", optimise)  # noqa: B010


def digest_of_sources() -> str:
    """Of all files from which functions are compiled."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]


def samples() -> tuple[SignedProblem, SharpCones, Stack, Tape, Room]:
    """Values of the types of which the arguments are."""
    row, rows, whole, wholes = np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    bytes_ = np.zeros((1, 1), np.uint8)
    side = SignedProblem(rows, rows, row, wholes, rows, wholes, row, rows, 1.0, 1.0, 1, 1.0)
    ties = SharpCones(rows, np.zeros((1, 1), np.int8), whole, rows, rows, rows, rows, bytes_, bytes_, whole)
    return side, ties, empty_stack(side, 1), empty_tape(1), empty_room(side)


if __name__ == "__main__":
    from relu_cert.cover.compiled import load as load_here  # under the name by which it is kept

    gc.disable()
    optimise_entries_only()
    load_here(sys.argv[1], compiling=True)
