"""Patterns that are longer than what the checker reads."""

from __future__ import annotations

import pytest

from relu_cert import certify
from relu_cert.cover import facts


def test_without_patterns_that_the_checker_reads_the_value_is_proved_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exact optimum of 50,000 rows had a set whose patterns the checker declined, and so no answer at all."""
    monkeypatch.setattr(facts, "MOST_BITS", 3)
    rows, targets = [["1", "2"], ["-1", "1"], ["2", "-1"], ["1", "1"], ["-2", "1"]], ["1", "-1", "2", "1", "1"]
    found = certify(rows, targets, free=["output-bias"], lambda_ratio="1/3")
    assert found.value.reached
    assert found.report.facts.unsettled == facts.LONG_PATTERNS


@pytest.mark.parametrize("free", [(), ("output-bias",)])
def test_patterns_have_a_bit_for_every_row_of_a_bag(monkeypatch: pytest.MonkeyPatch, free: tuple[str, ...]) -> None:
    """120 images with 98,685 windows: their number is not what counts, and the checker declined the certificate."""
    monkeypatch.setattr(facts, "MOST_BITS", 4)
    signals = [[1, 0, 2], [0, -1, 1], [2, 1, -1]], [1, 2, -1]
    found = certify(*signals, conv="1d:2", free=free, lambda_ratio="1/3")
    assert found.value.reached
    assert found.report.facts.unsettled == facts.LONG_PATTERNS
