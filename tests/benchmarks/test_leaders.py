"""benchmarks/leaders.py: bars that can be met and missed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from benchmarks import leaders, real
from relu_cert import examples


def test_lines() -> None:
    """Twelve sets at four ratios; a gap of 0.00 is taken for half of the last digit; some of them can be chosen."""
    every = list(leaders.lines())
    assert len(every) == 48 and len({(line.name, line.ratio) for line in every}) == 48
    (none,) = leaders.lines(["parkinsons"], ["0.5"])
    assert (none.gap, none.bar, none.seconds) == (0, Fraction(55, 10**6), 52.0)
    (some,) = leaders.lines(["pima"], ["0.1"])
    assert (some.bar, some.seconds) == (Fraction(352, 10**4), 37.0)


@pytest.fixture(scope="module")
def irises() -> real.Proved:
    """Irises, with a gap of at most a tenth."""
    raw = examples.path("iris").read_bytes()
    return real.prove(real.Case("iris", Fraction(1, 10)), raw, 600.0, gap=Fraction(1, 10))


def test_bars_are_met_and_missed(irises: real.Proved) -> None:
    """A gap that is reached, one that is not, a certificate that is rejected; the sum of them."""
    line = leaders.Line("iris", "0.1", Fraction(10), 100 * irises.finding)
    good = leaders.Reached(line, irises)
    wide = leaders.Reached(replace(line, gap=Fraction(1, 10**9)), irises)
    refused = leaders.Reached(line, replace(irises, refusal="why"))
    assert good.met and not refused.met and "| met |" in good.row() and "rejected: why" in refused.row()
    assert good.faster == pytest.approx(100)
    assert leaders.summary([good]) == "gaps: 1 of 1 met; times faster: 100.0 in the geometric mean, 100.0 in all: met"
    slow = leaders.Reached(replace(line, seconds=irises.finding), irises)
    assert leaders.summary([slow, refused]).startswith("gaps: 1 of 2 met") and leaders.summary([slow]).endswith(
        "not met"
    )
    assert wide.met is (irises.facts.value.relative_gap <= leaders.WORSE * leaders.LEAST / 100)
