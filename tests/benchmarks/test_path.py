"""The benchmark of the path, on data of a moment."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from benchmarks.path import CASES, Case, measured, told


def test_a_line_has_the_proof_and_its_ratio_to_float_solves(tmp_path: Path) -> None:
    """Pieces, gaps, breakpoints, seconds of proof and of float solves, their ratio, the bar, and whether it is met."""
    row = measured(Case(4, 1, False, 1000.0), tmp_path)
    line = told(row)
    report = row.report
    assert line.split()[:6] == ["4", "x", "1", str(len(report.cover.pieces)), "0", str(len(report.breakpoints))]
    assert line.endswith("1000  met")
    assert report.breakpoints and row.solves > 0.0
    assert told(measured(Case(4, 1, False, 0.0), tmp_path)).endswith("NOT MET")


def test_the_bars_are_those_that_were_set() -> None:
    """Twelve points with three features and a bias, thirty and a hundred points with two features over two decades of
    lambda; two hundred points with three features, whose patterns are not listed, over one."""
    decades = [(str(case), case.bar) for case in CASES if case.least == Fraction(1, 100)]
    assert decades == [("12 x 3 + bias", 10), ("30 x 2", 25), ("100 x 2", 180)]
    assert [(str(case), case.bar) for case in CASES if case.least == Fraction(1, 10)] == [("200 x 3", 600)]
