"""Memory: how much there is for this process, and a sentence before it runs out.

A system whose memory is used up ends a process without a word. So the command line watches its own: where it takes more
than --max-memory, or than what was free when it began, it says so and ends. Nothing is half written then: files are
written whole, at the end.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

EXIT_MEMORY = 71
OFTEN = 0.2  # seconds
PART = 0.95  # of what is free
_NO_END = 2**62
_most: list[int] = []  # what was asked for, where something was: of the whole process


def memory_used() -> int:
    """The bytes of memory that this process has; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def free() -> int:
    """The bytes that are free on this machine; without end where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, ValueError, StopIteration):
        return _NO_END


def room() -> int:
    """The bytes that this process may still take."""
    there = int(PART * free())
    return max(min(there, _most[-1] - memory_used()) if _most else there, 0)


def _end() -> None:
    os._exit(EXIT_MEMORY)


@contextmanager
def watch_memory(most: float | None, end: Callable[[], None] = _end) -> Iterator[None]:
    """Within this context the process ends, with a sentence, where it takes more than so many gigabytes (None: than
    what is free now)."""
    asked = int(most * 2**30) if most is not None else memory_used() + room()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(OFTEN):
            if (now := memory_used()) > asked or free() < (1.0 - PART) * now:
                print(
                    f"relu_cert: {now / 2**30:.1f} GB of memory were not enough, and no more may be taken; ask for a "
                    "wider --gap, take fewer rows or columns, or allow more with --max-memory. Nothing was written.",
                    file=sys.stderr,
                    flush=True,
                )
                end()
                return

    thread = threading.Thread(target=watch, daemon=True)
    if most is not None:
        _most.append(asked)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if most is not None:
            _most.pop()
