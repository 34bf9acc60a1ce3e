"""benchmarks/scale.py: bars that can be met and missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import scale


def test_bars_are_met_and_missed() -> None:
    """A gap, seconds, gigabytes, memory that is linear in the data, and the checker's answer and time: each alone."""
    bar = scale.Bar(1000, 3, 1e-6, 10, 0.4, 5)
    good = scale.Line(bar, 1e-7, scale.Cost(0, 9, 0.3), scale.Cost(0, 4, 0.1))
    assert all(met for _, met in good.bars()) and len(good.bars()) == 5 and "NOT MET" not in good.row()
    for bad, which in (
        (replace(good, gap=1e-5), 0),
        (replace(good, gap=None), 0),
        (replace(good, find=scale.Cost(0, 11, 0.3)), 1),
        (replace(good, find=scale.Cost(0, 9, 0.45)), 2),
        (replace(good, bar=replace(bar, gigabytes=2), find=scale.Cost(0, 9, 0.6)), 3),
        (replace(good, verify=scale.Cost(1, 4, 0.1)), 4),
        (replace(good, verify=scale.Cost(0, 6, 0.1)), 4),
        (replace(good, verify=None), 4),
    ):
        assert [i for i, (_, met) in enumerate(bad.bars()) if not met] == [which] and "NOT MET" in bad.row()


def test_growth_is_a_power() -> None:
    """Four times the time for twice the data is n^2."""
    lines = [scale.Line(scale.Bar(n, 3, 1.0), 0.0, scale.Cost(0, s, 0.1), None) for n, s in ((10, 1.0), (20, 4.0))]
    assert scale.steepness(lines) == pytest.approx(2)


def test_a_line_is_run(tmp_path: Path) -> None:
    """A small problem is found and verified, and its gap is that of the report."""
    line = scale.run(scale.Bar(40, 2, 1e-9), tmp_path)
    assert line.gap is not None and line.gap <= 1e-9 and line.verify is not None and line.verify.code == 0
    assert line.find.seconds > 0 and 0 < line.find.gigabytes < 2
