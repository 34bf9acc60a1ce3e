"""Profiles of the tests: `pytest --hypothesis-profile=long` draws ten times as many planted instances; `pytest -m "not
long"` leaves out what takes long by its nature, by file or by name: mutants, campaigns, whole sites and programs, and
single tests of more than two seconds. It draws fewer instances, too: the first seeds of a run of them, and at most
FEW_EXAMPLES of a property."""

from __future__ import annotations

import signal
from collections import defaultdict
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
    "[iris]",
    "mutant",
    "every_changed_certificate",
    "every_verdict_is_accepted",
    "test_laws",
    "full_disk",
    "closed_pipe",
    "test_applicable_means_decided",
    "test_a_false_statement_about",
    "test_a_neuron_on_a_data_point_needs_no_list",
    "test_a_proof_is_kept_in_a_file_and_gone_on_with",
    "test_cells_help",
    "test_examples_in_docstrings_are_true[strategies]",
    "test_few_directions",
    "test_every_check_is_needed",
    "test_every_shape_occurs_often_enough",
    "test_gaps_are_drawn_as_gaps",
    "test_list_and_cover_agree[long entries]",
    "test_many_independent_outputs_take_seconds",
    "test_no_change_of_the_fact_turns_a_verdict_round",
    "test_not_unique_is_not_proved",
    "test_own_patterns_of_a_large_network_are_left_out_and_that_is_said",
    "test_seconds_bound_the_whole_call",
    "test_stars_inside_stars_end_where_the_stack_does",
    "test_the_bound_is_below_the_optimum",
    "test_triangles_close_part_of_the_gap",
    "test_valid_certificates_are_accepted[cube]",
)
FIRST_SEEDS = 6  # of a run 0, 1, 2, ...; seeds that stand for themselves are those of a bug
FEW_EXAMPLES = 40
_SETTINGS = "_hypothesis_internal_use_settings"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the long tests; without them, draw little."""
    here = Path(__file__).parent
    seeds: dict[str, set[object]] = defaultdict(set)
    for item in items:
        seeds[item.nodeid.partition("[")[0]].add(_seed(item))
    for item in items:
        by_name = item.path.relative_to(here).as_posix() in LONG_FILES or any(name in item.name for name in LONG_NAMES)
        seed, others = _seed(item), seeds[item.nodeid.partition("[")[0]]
        if by_name or (seed is not None and seed >= FIRST_SEEDS and others.issuperset(range(seed))):
            item.add_marker(pytest.mark.long)
        test = getattr(item, "obj", None)
        drawn = getattr(test, _SETTINGS, None)
        if config.option.markexpr == "not long" and drawn is not None and drawn.max_examples > FEW_EXAMPLES:
            setattr(test, _SETTINGS, settings(drawn, max_examples=FEW_EXAMPLES))


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
