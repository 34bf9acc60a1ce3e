"""Profiles of the tests: `pytest --hypothesis-profile=long` draws ten times as many planted instances; `pytest -m "not
long"` leaves out what takes long by its nature, by file or by name: mutants, campaigns, whole sites and programs, and
single tests of more than a few seconds."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("long", max_examples=1000)

LONG_FILES = frozenset(
    {
        "api/test_sklearn.py",
        "benchmarks/test_paper.py",
        "benchmarks/test_real.py",
        "claims/test_a_new_claim.py",
        "cover/test_interrupt.py",
        "cover/test_pool.py",
        "cover/test_state.py",
        "cover/test_unlisted.py",
        "free/test_optimum.py",
        "path/test_unlisted.py",
        "path/test_jumps.py",
        "prove/test_polytope_planted.py",
        "properties/test_agree.py",
        "properties/test_campaign.py",
        "properties/test_claims.py",
        "properties/test_hunt.py",
        "properties/test_mutations.py",
        "properties/test_own_claims.py",
        "properties/test_soundness.py",
        "properties/test_soundness_networks.py",
        "report/test_html_browser.py",
        "test_docs.py",
        "test_readme.py",
        "verify/cover/test_cover_mutants.py",
        "verify/test_forged.py",
        "verify/test_large.py",
        "verify/test_mutants.py",
        "verify/test_mutation.py",
        "verify/test_proved_score.py",
        "verify/test_resources.py",
        "verify/test_rocq.py",
        "verify/test_trusted.py",
    }
)
LONG_NAMES = (
    "mutant",
    "every_changed_certificate",
    "every_verdict_is_accepted",
    "test_laws",
    "full_disk",
    "closed_pipe",
    "test_applicable_means_decided",
    "test_gaps_are_drawn_as_gaps",
    "test_many_independent_outputs_take_seconds",
    "test_no_change_of_the_fact_turns_a_verdict_round",
    "test_not_unique_is_not_proved",
    "test_seconds_bound_the_whole_call",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix() in LONG_FILES or any(name in item.name for name in LONG_NAMES):
            item.add_marker(pytest.mark.long)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that a test starts heed SIGINT, even if the tests run as a job in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
