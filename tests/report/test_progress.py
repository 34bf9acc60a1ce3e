"""The log of a long proof: a table that grows, with its head once."""

from __future__ import annotations

import io
import sys
import time

import pytest

from relu_cert.cover.model import Moment
from relu_cert.report import progress
from relu_cert.report.progress import HEAD, Progress

MOMENT = Moment("prove", 3, 10.0, 9.0, 1234, 5)


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
    """Head and rows are lines of their own, the last row is drawn again and again, and is gone in the end."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    for name, seconds in (("PATIENCE", 0.0), ("TICK", 0.01), ("EVERY", 0.05)):
        monkeypatch.setattr(progress, name, seconds)
    with Progress() as shown:
        shown.tell(MOMENT)
        time.sleep(0.5)
    text = sys.stderr.getvalue()  # type: ignore[attr-defined]
    lines = text.replace("\x1b[2K", "").split("\n")
    assert text.count(HEAD[:79]) == 1 and len(lines) > 3
    assert all("10.00%" in line for line in lines[1:-1]) and lines[-1].count("\r") > 1
    assert text.endswith("\r\x1b[2K")
