"""Paths where neurons see parts of the data: bags of rows, windows, slopes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import relu_cert
from relu_cert.cli import main
from relu_cert.results.certified import CertifiedPath

F = Fraction
Z = [[2, 1], [-1, 3], [2, -3], [-4, -1], [1, 1]]
Y = [3, -1, 2, 1, -2]
SETS = [[[2, 1], [-1, 0]], [[-1, 3]], [[2, -3], [1, 1], [0, 2]], [[-4, -1]], [[1, -2], [3, 1]]]


def breaks(found: CertifiedPath) -> list[tuple[str, int, int, float]]:
    """What happens along a path, and where."""
    return [(one.kind, one.above, one.below, round(float(one.hi), 9)) for one in found.breakpoints]


def test_bags_of_one_row_are_the_dense_network() -> None:
    """With P = I, said as bags, a cover follows the path that the list follows: the same breakpoints and verdicts."""
    dense = relu_cert.path(Z, Y, low="1/10")
    sets = relu_cert.path(Z, Y, bags=list("abcde"), low="1/10")
    assert breaks(sets) == breaks(dense) != []
    for claim in ("continuous", "set-continuous", "min-norm-continuous"):
        assert sets.claims[claim].verdict.value == dense.claims[claim].verdict.value == "PROVED"


@pytest.mark.long
def test_a_row_twice_in_a_bag_changes_nothing() -> None:
    """The mean over a bag that has each of its rows twice is the mean over the bag."""
    once = relu_cert.path(SETS, Y, low="1/4")
    twice = relu_cert.path([bag + bag for bag in SETS], Y, low="1/4")
    assert breaks(once) == breaks(twice) != []


@pytest.mark.long
def test_sums_are_means_at_another_lambda() -> None:
    """With bags of m rows each, sums at m lambda have the path of means at lambda."""
    pairs = [[a, b] for a, b in zip(Z, [*Z[1:], [3, 3]], strict=True)]
    mean = relu_cert.path(pairs, Y, low="1/3")
    total = relu_cert.path(pairs, Y, pool="sum", low="1/3")
    assert [(*one[:3], round(2 * one[3], 6)) for one in breaks(mean)] == [
        (*one[:3], round(one[3], 6)) for one in breaks(total)
    ]


@pytest.mark.long
def test_windows_are_bags() -> None:
    """A filter that slides over series is the same problem as the sets of its windows."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-4, 5, (6, 5)), rng.integers(-3, 4, 6).tolist()
    slid = relu_cert.path(X.tolist(), y, conv="1d:2", low="1/3")
    sets = relu_cert.path([[row[k : k + 2].tolist() for k in range(4)] for row in X], y, low="1/3")
    assert breaks(slid) == breaks(sets) != []


@pytest.mark.long
@pytest.mark.parametrize("part", [2, 3, 5])
def test_check_agrees_at_a_lambda(part: int) -> None:
    """Where the path is proved, p* of `certify` is inside the bounds of the samples around it."""
    found = relu_cert.path(SETS, Y, low="1/8")
    lam = F(float(found.report.largest.squared) ** 0.5).limit_denominator(1000) / part
    beside = [one for one in found.report.samples if one.radius is not None]
    below = max((one for one in beside if one.lam <= lam), key=lambda one: one.lam)
    above = min((one for one in beside if one.lam >= lam), key=lambda one: one.lam)
    here = relu_cert.certify(SETS, Y, lam)
    assert below.lower <= here.report.facts.value.upper
    assert here.report.facts.value.lower <= above.upper


def test_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`path --bags` and `path --slope` write certificates that `verify` accepts with the raw file."""
    monkeypatch.chdir(tmp_path)
    rows = [(*row, f"s{i}", Y[i]) for i, bag in enumerate(SETS) for row in bag]
    Path("sets.csv").write_text("a,b,set,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    for more in ([], ["--slope", "1/10"]):
        assert main(["path", "sets.csv", "--bags", "set", *more, "--from", "1/4", "--quiet", "--force"]) == 0


@pytest.mark.long
def test_slope_is_seen_along_the_path() -> None:
    """A leaky activation has the path of its own problem: the rows z and -z with signed P."""
    found = relu_cert.path(Z, Y, slope="1/10", low="1/4")
    lam = max(one.hi for one in found.breakpoints if one.above) if len(found.breakpoints) > 1 else F(1)
    at = relu_cert.certify(Z, Y, (lam * F(9, 10)).limit_denominator(1000), slope="1/10")
    widths = {len(one.neurons) for one in found.report.samples if abs(float(one.lam / lam) - 0.9) < 0.05}
    assert len(at.report.facts.primal.neurons) in widths
