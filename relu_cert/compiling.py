"""Who is told that something is compiled: that takes a while, once on a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
