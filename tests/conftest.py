"""Profiles of the tests: `pytest --hypothesis-profile=long` draws ten times as many planted instances."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("long", max_examples=1000)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that a test starts heed SIGINT, even if the tests run as a job in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
