"""The walk, compiled by numba, and kept on disk for the next time.

Only the two entries have a form that Python calls, and are kept; the functions that they call are compiled with them.
Arithmetic is strict: every sum is rounded in the order in which it is written, so that compiled and interpreted walks
give the same bytes, on every machine. `python -m relu_cert.cover.compiled NAME` compiles one, and ends.
"""

from __future__ import annotations

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

from relu_cert.cover.stack import Room, SharpCones, SignedProblem, Stack, Tape, empty_room, empty_stack, empty_tape
from relu_cert.cover.star import walk_stars
from relu_cert.cover.walk import walk

HERE = "relu_cert.cover."
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
    """The walk over cones without tips, or that over cones with tips (`walk_stars`)."""
    side, ties, stack, tape, room, count, real, flag = map(typeof, (*samples(), 1, 1.0, True))
    given = (side, ties, stack, tape, room, count, count)
    found = compile_entry(*((walk_stars, given) if name == "walk_stars" else (walk, (*given, real, flag))))
    return cast("Entry", found)


def compile_entry(f: Any, types: tuple[Any, ...]) -> Any:
    """A function that Python calls. It is kept under a digest of all sources: numba itself looks at one file only."""
    copy = with_compiled(f)
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
    return njit(**_INNER)(with_compiled(f))


def with_compiled(f: Any) -> FunctionType:
    """A copy of a function that calls compiled copies of the functions of this package."""
    names = dict(f.__globals__)
    for name in f.__code__.co_names:
        called = names.get(name)
        if isinstance(called, FunctionType) and called.__module__.startswith(HERE):
            names[name] = inner(called)
    return FunctionType(f.__code__, names, f.__name__)


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

    load_here(sys.argv[1], compiling=True)
