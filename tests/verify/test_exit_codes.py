"""Exit codes of `python -m verify` where the system gives it little: 0 and 1 are verdicts, and never an accident."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.verify.score import CORPUS
from verify import __main__ as command
from verify import child

RIGHT, WRONG = (str(CORPUS / folder / "optimal-00.json") for folder in ("accepted", "rejected"))
SETTINGS = """
import os, resource, signal, sys
setting, *words = sys.argv[1:]
exec(setting)
os.execv(sys.executable, [sys.executable, "-m", "verify", *words])
"""


def code(setting: str, *words: str, called: tuple[str, ...] = ("-m", "verify")) -> int:
    """The exit code of the checker, or of what is `called`, in a process that begins with this."""
    place, program = Path(__file__).parents[2], SETTINGS.replace('"-m", "verify"', repr(called)[1:-1].rstrip(","))
    return subprocess.run(
        [sys.executable, "-c", program, setting, *words], cwd=place, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_closed_descriptors_change_no_verdict(closed: tuple[int, ...]) -> None:
    """Whichever of input, output and errors are closed, a pipe is not taken for one of them."""
    setting = f"for k in {closed}: os.close(k)"
    assert [code(setting, RIGHT), code(setting, WRONG)] == [0, 1]


def test_an_ignored_signal_of_children_changes_no_verdict() -> None:
    """Inherited as ignored, SIGCHLD would leave no child to wait for."""
    setting = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    assert [code(setting, RIGHT), code(setting, WRONG)] == [0, 1]


def test_a_lower_limit_of_time_is_kept() -> None:
    """A hard limit on the processor's time below the one that is wanted is taken as it is."""
    setting = "resource.setrlimit(resource.RLIMIT_CPU, (600, 600))"
    assert [code(setting, RIGHT), code(setting, WRONG), code(setting, RIGHT, "--max-seconds", "5")] == [0, 1, 0]


@pytest.mark.parametrize("most", range(4, 10))
def test_few_descriptors_are_no_verdict(most: int) -> None:
    """Where no pipe, file or library can be opened the answer is an error, for a right and for a wrong certificate."""
    setting = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({most}, {most}))"
    if code(setting, called=("-c", "pass")):
        pytest.skip("the interpreter itself does not start with so few")
    assert code(setting, RIGHT) in ((70,) if most < 6 else (0, 64, 70))
    assert code(setting, WRONG) in ((70,) if most < 6 else (1, 64, 70))


def failing(*given: object, **named: object) -> object:
    """What the system does that cannot."""
    raise OSError(11, "no")


def nothing(*given: object) -> bytes:
    """Not what anybody expects."""
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("where", "name", "instead"),
    [
        (os, "fork", failing),
        (os, "pipe", failing),
        (os, "waitpid", failing),
        (child, "received", nothing),
        (command, "told", nothing),
        (command, "parser", nothing),
        (resource, "getrlimit", failing),
    ],
)
def test_what_nobody_expects_is_70(
    where: object, name: str, instead: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails in the parent or in the child's beginning, the code is that of an error."""
    monkeypatch.setattr(where, name, instead)
    assert command.main([RIGHT, "--quiet"]) == 70


def test_the_handler_of_children_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a signal that is ignored gets its default again."""
    before = signal.signal(signal.SIGCHLD, handler := lambda *_: None)
    try:
        assert child.limited(lambda: {"a": 1}, 20, 1 << 32) == {"a": 1}
        assert signal.getsignal(signal.SIGCHLD) is handler
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        assert child.limited(lambda: {"a": 1}, 20, 1 << 32) == {"a": 1}
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_standard_streams_are_opened_and_nothing_else() -> None:
    """As many descriptors as before are open where all three are."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    child.open_standard_streams()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
