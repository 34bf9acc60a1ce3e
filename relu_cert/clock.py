"""One clock for all limits of time: the processor seconds of the thread that works.

A machine that is busy with other things gives a proof a part of its time only, and a limit by the clock on the wall
would turn an exact finish into a bound, silently. So limits count seconds of processor time; but a limit is
over, too, when SLOWEST times as many have passed on the wall. Where other processes share the work, this one waits for
them, and the wall counts.

A limit holds for a whole command: `limited` is entered before anything is read, and whatever asks for time within it
gets no more than what is left (`until`). Loops ask `stopped`, or `require_time` where a part of their work is worth
nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from time import monotonic, thread_time

from relu_cert.errors import Late

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
_present: ContextVar[Until] = ContextVar("the limit of the present command", default=NEVER)


def until(seconds: float | None, *, shared: bool = False) -> Until:
    """So many seconds from now, but no later than the present limit; `shared`: by the clock on the wall, because others
    do the work. None: when the present limit is over."""
    if seconds is None or seconds == inf:
        return _present.get()
    if shared:
        found = Until(passed=monotonic() + seconds)
    else:
        found = Until(thread_time() + seconds, monotonic() + SLOWEST * seconds, 1 / SLOWEST)
    return min(found, _present.get(), key=lambda one: one.left)


@contextmanager
def limited(seconds: float | None, *, shared: bool = False) -> Iterator[None]:
    """Within this context nothing goes on for longer; None: for no longer than outside of it. (What is no number of
    seconds is for others to refuse.)"""
    asked = seconds if isinstance(seconds, int | float) and seconds > 0 else None
    token = _present.set(until(asked, shared=shared))
    try:
        yield
    finally:
        _present.reset(token)


@contextmanager
def planned(share: float) -> Iterator[None]:
    """Within this context nothing takes more than this share of the time that is left: the rest is for what comes
    after it."""
    now = _present.get()
    token = _present.set(now if now == NEVER else now.within(share * max(now.left, 0.0)))
    try:
        yield
    finally:
        _present.reset(token)


def stopped() -> bool:
    """Whether the present work shall come to an end, because of Ctrl-C or of the limit of time."""
    return interrupted() or _present.get().over


def require_time() -> None:
    """Late where the time of the present work is over."""
    if _present.get().over:
        raise Late


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
