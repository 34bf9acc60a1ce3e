"""Limits of time: processor seconds, with an end on the wall; the wall alone where others work."""

from __future__ import annotations

from math import inf
from time import sleep, thread_time

import pytest

from relu_cert import clock
from relu_cert.clock import NEVER, SLOWEST, until
from relu_cert.cover.limits import Limits


class Clocks:
    """Both clocks, set by hand."""

    worked = passed = 0.0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """In the place of the true ones."""
    hands = Clocks()
    monkeypatch.setattr(clock, "thread_time", lambda: hands.worked)
    monkeypatch.setattr(clock, "monotonic", lambda: hands.passed)
    return hands


def test_a_busy_machine_takes_nothing(clocks: Clocks) -> None:
    """Three seconds on the wall with one of work leave nine of ten: a proof gets its seconds however busy it is."""
    end = until(10.0)
    clocks.worked, clocks.passed = 1.0, 3.0
    assert end.left == 9.0 and not end.over
    clocks.worked, clocks.passed = 10.0, 12.0
    assert end.over


def test_no_limit_is_waited_for_without_end(clocks: Clocks) -> None:
    """A limit is over when SLOWEST times as much has passed on the wall, whatever was done."""
    end = until(10.0)
    clocks.passed = 10.0 * SLOWEST - 1.0
    assert not end.over
    clocks.passed += 1.0
    assert end.over


def test_shared_work_goes_by_the_wall(clocks: Clocks) -> None:
    """This process waits for others: ten seconds are ten on the wall, and its own work does not count."""
    for limits in (Limits(seconds=10.0, jobs=2), Limits(seconds=10.0, dask="there")):
        clocks.worked = clocks.passed = 0.0
        end = limits.until
        clocks.worked, clocks.passed = 50.0, 9.0
        assert end.left == 1.0
        clocks.passed = 10.0
        assert end.over


def test_parts_are_no_later_than_the_whole(clocks: Clocks) -> None:
    """A part of a limit ends after its own seconds, of work or SLOWEST times on the wall, or with the limit."""
    end = until(10.0)
    assert end.within(4.0).left == 4.0
    assert end.within(40.0).left == 10.0
    part = end.within(4.0)
    clocks.worked = 4.0
    assert part.over and end.left == 6.0
    clocks.worked, clocks.passed = 0.0, 4.0 * SLOWEST
    assert part.over and not end.over


def test_no_seconds_are_no_limit() -> None:
    """Without seconds there is no end."""
    assert until(None) is NEVER is until(inf)
    assert NEVER.left == inf and not Limits().until.over


def test_the_true_clocks() -> None:
    """Sleep is no work."""
    end, begun = until(100.0), thread_time()
    sleep(0.2)
    spent = thread_time() - begun
    assert spent < 0.1 and 100.0 - end.left < 0.2
