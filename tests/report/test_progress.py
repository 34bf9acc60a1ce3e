"""What stderr shows of a long proof."""

from __future__ import annotations

import io
import sys
import time

import pytest

from relu_cert.cover.limits import ProgressEvent
from relu_cert.report import progress
from relu_cert.report.progress import HEAD, Progress

MOMENT = ProgressEvent("prove", 3, 10.0, 9.0, 1234, 5)


def test_a_line_of_the_log() -> None:
    """Time, neurons, objective rounded up, bound rounded down, gap rounded up, nodes and open cones, under the head."""
    shown = Progress(quiet=True)
    line = shown.row(ProgressEvent("bound", 7, 321.77516838, 318.5, 12345, 17), shown._start + 65.43)
    assert line.split() == ["65.4s", "bound", "7", "321.776", "318.5", "1.02%", "12,345", "17"]
    for name, cell in zip(HEAD.split(), ("65.4s", "7", "321.776", "318.5", "1.02%", "12,345", "17"), strict=True):
        assert HEAD.index(name) + len(name) == line.index(cell) + len(cell)


def test_a_line_without_a_bound() -> None:
    """Before there is a bound there is no gap, and before there is a tree there are no nodes."""
    shown = Progress(quiet=True)
    assert shown.row(ProgressEvent("train", 3, 2.5), shown._start + 3.0).split() == ["3.0s", "train", "3", "2.5"]


def test_the_log_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where stderr is no terminal: nothing for two seconds, then the head once and a line every five seconds."""
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with Progress() as shown, shown.stage("prove"):
        for now in (101.0, 102.5, 103.0, 107.4, 107.6):  # noqa: B007
            shown.tell(ProgressEvent("prove", 1, 2.0, 1.5, 10, 2))
    told = capsys.readouterr().err.splitlines()
    assert told[0] == HEAD and [line.split()[0] for line in told[1:]] == ["2.5s", "7.6s"]
    with Progress(quiet=True) as silent:
        now = 120.0
        silent.tell(ProgressEvent("prove", 1))
    assert capsys.readouterr().err == ""


def test_rows_stay_every_few_seconds() -> None:
    """The head comes with the first row, and then a row whenever some seconds are over; none before there is news."""
    shown = Progress(quiet=True)
    assert shown.kept(time.monotonic()) == []
    shown.tell(MOMENT)
    now = time.monotonic() + 10.0
    head, first = shown.kept(now)
    assert head == HEAD and first.split()[1:] == ["prove", "3", "10", "9", "10.00%", "1,234", "5"]
    assert shown.kept(now + progress.EVERY / 2) == []
    (second,) = shown.kept(now + progress.EVERY + 1)
    assert second.split()[1:] == first.split()[1:] and float(second.split()[0][:-1]) > float(first.split()[0][:-1])


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        """It is."""
        return True


def test_a_terminal_shows_a_live_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Head and rows are lines of their own, the last row is drawn over, and is gone in the end."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    for name, seconds in (("PATIENCE", 0.0), ("TICK", 0.01), ("EVERY", 0.05)):
        monkeypatch.setattr(progress, name, seconds)
    with Progress() as shown:
        shown.tell(MOMENT)
        late = time.monotonic() + 30.0
        while sys.stderr.getvalue().count("\n") < 4 and time.monotonic() < late:  # type: ignore[attr-defined]
            time.sleep(0.01)
    text = sys.stderr.getvalue()  # type: ignore[attr-defined]
    lines = text.replace("\x1b[2K", "").split("\n")
    assert text.count(HEAD[:79]) == 1 and len(lines) > 3
    assert all("10.00%" in line for line in lines[1:])
    assert text.endswith("\r\x1b[2K")
