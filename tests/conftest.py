"""Profiles of the tests: `pytest --hypothesis-profile=long` draws ten times as many planted instances; `pytest -m "not
long"` leaves out what takes long by its nature and is marked so where it stands: mutants, campaigns, whole sites and
programs, and single tests of more than two seconds. It draws fewer instances, too: the first seeds of a run of them,
and at most FEW_EXAMPLES of a property; `pytest -m long` draws all of them."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("long", max_examples=1000)

FIRST_SEEDS = 6  # of a run 0, 1, 2, ...; seeds that stand for themselves are those of a bug
FEW_EXAMPLES = 40
_SETTINGS = "_hypothesis_internal_use_settings"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Later seeds are long; without long tests, draw little."""
    seeds: dict[str, set[object]] = defaultdict(set)
    for item in items:
        seeds[item.nodeid.partition("[")[0]].add(_seed(item))
    for item in items:
        seed, others = _seed(item), seeds[item.nodeid.partition("[")[0]]
        if seed is not None and seed >= FIRST_SEEDS and others.issuperset(range(seed)):
            item.add_marker(pytest.mark.long)
        test = getattr(item, "obj", None)
        drawn = getattr(test, _SETTINGS, None)
        if drawn is None or drawn.max_examples <= FEW_EXAMPLES:
            continue
        if config.option.markexpr == "not long":
            setattr(test, _SETTINGS, settings(drawn, max_examples=FEW_EXAMPLES))
        elif config.option.markexpr == "long":
            item.add_marker(pytest.mark.long)  # the other run drew few of its examples


def _seed(item: pytest.Item) -> int | None:
    """The seed of a random instance, if it is one."""
    seed = item.callspec.params.get("seed") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None
    return seed if isinstance(seed, int) else None


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that a test starts heed SIGINT, even if the tests run as a job in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
