"""One clock for all limits of time: the processor seconds of the thread that works.

A machine that is busy with other things gives a proof a part of its time only, and a limit by the clock on the wall
would turn an exact finish into a bound, silently. So a limit of so many seconds is one of processor time; but it is
over, too, when SLOWEST times as many have passed on the wall. Where other processes share the work, this one waits for
them, and the wall counts.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic, thread_time

SLOWEST = 4.0


@dataclass(frozen=True)
class Until:
    """When a time is over: the processor time of this thread, the clock on the wall, and what a second of it
    counts."""

    worked: float = inf
    passed: float = inf
    counts: float = 1.0

    @property
    def left(self) -> float:
        """Seconds, perhaps fewer than 0."""
        return min(self.worked - thread_time(), (self.passed - monotonic()) * self.counts)

    @property
    def over(self) -> bool:
        """Whether none is left."""
        return self.left <= 0

    def within(self, seconds: float) -> Until:
        """The same, but no later than so many seconds from now."""
        worked = inf if self.worked == inf else thread_time() + seconds
        passed = monotonic() + seconds / self.counts
        return Until(min(self.worked, worked), min(self.passed, passed), self.counts)


NEVER = Until()


def until(seconds: float | None, *, shared: bool = False) -> Until:
    """So many seconds from now; `shared`: by the clock on the wall, because others do the work. None: never."""
    if seconds is None or seconds == inf:
        return NEVER
    if shared:
        return Until(passed=monotonic() + seconds)
    return Until(thread_time() + seconds, monotonic() + SLOWEST * seconds, 1 / SLOWEST)


INTERRUPTED = "the proof was interrupted"
_asked = threading.Event()


class Ended(KeyboardInterrupt):
    """The second Ctrl-C."""


def interrupted() -> bool:
    """Whether the present proof shall come to an end; long loops ask this as they look at the clock."""
    return _asked.is_set()


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this context Ctrl-C is heard by `interrupted`. Signals reach the main thread only: elsewhere, and where
    somebody else handles them, nothing is changed."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def ask(number: int, frame: object) -> None:
        if _asked.is_set():
            raise Ended
        _asked.set()

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        _asked.clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)


COMPILING = "compiling, once on this machine"
_listeners: list[Callable[[str], None]] = []


@contextmanager
def heard(listener: Callable[[str], None]) -> Iterator[None]:
    """Within this context the listener is told."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell() -> None:
    """Something is compiled now."""
    for listener in _listeners:
        listener(f"{COMPILING} ...\n")
