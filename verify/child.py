"""Work in a child process that the operating system stops when it takes too much time or memory."""

from __future__ import annotations

import faulthandler
import json
import os
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

Work = Callable[[], dict[str, Any]]


class Over(Exception):
    """The child was stopped; its text says by which limit."""


def limited(work: Work, seconds: int, memory: int) -> dict[str, Any]:
    """What `work` returns; Over if it takes more, OSError if there can be no child. Where the system has no fork there
    is no limit."""
    if not hasattr(os, "fork"):
        return work()
    open_standard_streams()
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # then nobody could wait for the child
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads of the caller do not take part
        child = os.fork()
    if not child:
        carry_out(work, writer, seconds, memory)
    os.close(writer)
    try:
        answer = received(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        for stop in (os.killpg, os.kill):  # its group, too: what it has started (the proved checker)
            with suppress(ProcessLookupError):
                stop(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    try:
        found: dict[str, Any] = json.loads(answer)
    except ValueError:  # nothing, or not all of it
        timed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
        raise Over("time (--max-seconds)" if timed else "memory (--max-memory)") from None
    return found


def mapped() -> int:
    """The address space that the caller's libraries have already (some have gigabytes), in bytes; 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0


def open_standard_streams() -> None:
    """Those of 0, 1, 2 that are closed lead nowhere, so that no pipe is taken for one of them."""
    while (stream := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(stream)


def received(reader: int, deadline: float) -> bytes:
    """All that the child says before the deadline; Over if it is not done by then."""
    answer = bytearray()
    while left := max(deadline - time.monotonic(), 0):
        if select.select([reader], [], [], left)[0]:
            part = os.read(reader, 1 << 16)
            if not part:
                return bytes(answer)
            answer += part
    raise Over("time (--max-seconds)")


def carry_out(work: Work, writer: int, seconds: int, memory: int) -> NoReturn:
    """The child: its limits, its work, its answer. What the C libraries say when they run out of memory is not told."""
    code = 1
    faulthandler.disable()
    try:
        os.setpgid(0, 0)
        import resource

        limits = {resource.RLIMIT_AS: mapped() + memory, resource.RLIMIT_CPU: seconds + 1, resource.RLIMIT_CORE: 0}
        for which, wanted in limits.items():
            _, most = resource.getrlimit(which)
            resource.setrlimit(which, (wanted if most < 0 else min(wanted, most), most))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        answer = json.dumps(work()).encode()
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
        code = 0
    except MemoryError:
        pass
    except BaseException:
        with os.fdopen(writer, "w") as pipe:
            json.dump({"code": 70, "result": "error", "claims": [], "told": traceback.format_exc()}, pipe)
    finally:
        os._exit(code)
