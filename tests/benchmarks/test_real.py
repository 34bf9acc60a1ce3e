"""benchmarks/real.py: data as described, bars that can fail, distances that are proved."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real
from benchmarks.methods import Neurons, sampled
from relu_cert import examples
from relu_cert.data import read_csv_bytes

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def irises() -> real.Proved:
    """Irises at a tenth of lambda_max."""
    found = real.prove(real.Case("iris", Fraction(1, 10)), examples.path("iris").read_bytes(), 600.0)
    assert found.memory > 0.05
    return replace(found, memory=0.5)  # the process of the tests may hold more from other tests


def test_labels_become_signs(tmp_path) -> None:
    """The last column of a file is read as 1 above one half and as -1 otherwise; the features stay as they are."""
    (tmp_path / "set.csv").write_text("a,b,y\n0.25,-1,1\n3,4,0\n", encoding="utf-8")
    data = read_csv_bytes(real.raw_data("set", tmp_path), "set.csv")
    assert ((Fraction(1, 4), Fraction(-1)), (Fraction(3), Fraction(4))) == data.Z
    assert data.y == (1, -1)


def test_gaussian_data_are_the_same_in_every_run() -> None:
    """Four decimals and labels of both signs, the same whenever they are drawn."""
    raw = real.raw_data("gaussian-20x3", None)
    data = read_csv_bytes(raw, "gaussian.csv")
    assert raw == real.raw_data("gaussian-20x3", None)
    assert (data.n, len(data.Z[0]), set(data.y)) == (20, 3, {1, -1})
    assert all((10**4 * x).denominator == 1 for row in data.Z for x in row)


def test_bars_are_met_and_can_be_missed(irises: real.Proved) -> None:
    """Irises are proved by a cover and meet every bar; stricter marks, a refusal and a wide gap are told."""
    assert irises.engine == "cover"
    assert irises.missed == []
    assert "| met |" in irises.row()
    assert replace(irises, case=replace(irises.case, nodes=1, seconds=0.0001)).missed == ["nodes", "time"]
    assert replace(irises, refusal="why").missed == ["rejected: why"]
    assert replace(irises, memory=1.01).missed == ["memory"]
    value = replace(irises.facts.value, lower=irises.facts.value.lower * Fraction(99, 100))
    wide = replace(irises, facts=replace(irises.facts, value=value))
    assert wide.missed == ["gap"]
    assert "not met: gap" in wide.row()


def test_memory_is_that_of_a_line() -> None:
    """What is needed at most is told in gigabytes, and what was needed before is forgotten where the system can."""
    big = np.ones(2**24)
    most = real.most_memory()
    del big
    real.forget_memory()
    assert most > 2**27 / 1e9
    assert real.most_memory() < most or not Path("/proc/self/clear_refs").exists()


def above(irises: real.Proved, neurons: Neurons) -> Fraction:
    """How far a network is above the optimum, at most."""
    return real.above(irises.data, irises.facts.lam, irises.facts.value.lower, neurons)


def test_distances_are_those_of_known_networks(irises: real.Proved) -> None:
    """The optimal network is at 0 up to the gap, the zero network at |y|^2/2 over p*, exactly."""
    value = irises.facts.value
    best = [(neuron.sign, neuron.w) for neuron in irises.facts.primal.neurons]
    assert 0 <= above(irises, best) <= Fraction(1, 10**30)
    assert above(irises, []) == Fraction(50) / value.lower - 1


def test_a_program_over_random_patterns_is_above_the_optimum(irises: real.Proved) -> None:
    """More patterns, drawn from the same seed, are no worse up to rounding; none is better than the optimum."""
    few, many = (above(irises, sampled(irises.data, irises.facts.lam, count)) for count in (5, 100))
    assert 0 <= many <= few + Fraction(1, 10**6)


def test_figures_are_measured_once_and_printed(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run appends its figures to the file, a second one measures nothing, and the table has them; distances are
    upper bounds of what the starts reach."""
    (tmp_path / "blood.csv").write_bytes(examples.path("iris").read_bytes())
    results = tmp_path / "results"
    command = ["real", "--data", str(tmp_path), "--results", str(results), "--sets", "blood", "--ratios", "0.5"]
    command += ["--starts", "2", "--widths", "5", "--seconds", "60"]
    monkeypatch.setattr("sys.argv", command)
    real.main()
    lines = results.read_text().splitlines()
    assert [json.loads(line)["what"] for line in lines] == [
        "proved", "50 patterns", "100 patterns", "500 patterns", "L-BFGS 5", "Adam 5",
    ]  # fmt: skip
    real.main()
    assert results.read_text().splitlines() == lines
    (head, _, row) = real.table(real.Results(results), (5,))
    assert row.startswith("| blood | 100 x 4 | 0.5 | [") and row.count("|") == head.count("|")
    one = json.loads(lines[-2])
    assert 0 <= one["best"] <= one["median"] < 1


@pytest.mark.parametrize(("x", "shown"), [("0.012341", "1.24"), ("0.5", "50.00"), ("1/1000000", "1.0e-4")])
def test_percentages_are_rounded_up(x: str, shown: str) -> None:
    """What is at most so many per cent stays at most that when it is printed."""
    assert real._percent(Fraction(x)) == shown
