"""Ctrl-C during a long proof: the first one asks for what has been proved so far, a second one ends the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
