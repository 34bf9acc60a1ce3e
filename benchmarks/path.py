"""The path, proved and re-checked, beside one float solve for each breakpoint: python -m benchmarks.path [--quick]

Gaussian data with three decimals, lambda from lambda_max/100 to lambda_max, or from lambda_max/10 where patterns are
too many to be listed and covers prove the pieces. `proof` is the processor time of all that `path` does: patterns,
pieces, breakpoints, curve, certificate, and the checker; `solves` is that of the float solver, from scratch, at a
lambda in each enclosed breakpoint. Bars are processor seconds of `proof`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one thread

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from relu_cert.checker import accepted
from relu_cert.commands import follow
from relu_cert.data import read_csv
from relu_cert.path.build import solved
from relu_cert.pipeline import DEFAULT_MAX_PATTERNS, network_problem, prepared
from relu_cert.report.path import PathReport
from relu_cert.report.progress import Progress
from relu_cert.request import in_python, path_ends


@dataclass(frozen=True)
class Case:
    """n rows, d features, perhaps a bias, the bar in seconds, and the least part of lambda_max."""

    n: int
    d: int
    bias: bool
    bar: float
    least: Fraction = Fraction(1, 100)

    def __str__(self) -> str:
        """As it stands in the table."""
        return f"{self.n} x {self.d}{' + bias' * self.bias}"


CASES = (
    Case(12, 3, True, 10.0),
    Case(30, 2, False, 25.0),
    Case(100, 2, False, 180.0),
    Case(200, 3, False, 600.0, Fraction(1, 10)),
)


@dataclass(frozen=True)
class Row:
    """What was measured."""

    case: Case
    report: PathReport
    proof: float
    solves: float


def measured(case: Case, folder: Path) -> Row:
    """The path of one case, proved and re-checked."""
    rng = np.random.default_rng(0)
    Z, y = np.round(rng.standard_normal((case.n, case.d)), 3), np.round(rng.standard_normal(case.n), 3)
    path = folder / f"{case.n}x{case.d}.csv"
    path.write_text("".join(",".join(f"{x:g}" for x in (*z, t)) + "\n" for z, t in zip(Z, y, strict=True)))
    start = time.process_time()
    data, stages = read_csv(path, bias=case.bias), Progress(quiet=True)
    problem = network_problem(data, "relu", stages, DEFAULT_MAX_PATTERNS, listed=False)
    report = follow(problem, data.source, path_ends(case.least, 1, in_python), stages)
    accepted(report.certificate_text, path.read_bytes())
    proof = time.process_time() - start
    floats = prepared(problem)
    start = time.process_time()
    for one in report.breakpoints:
        solved(floats, 1 / one.lo, None)
    return Row(case, report, proof, time.process_time() - start)


def told(row: Row) -> str:
    """A line of the table."""
    report = row.report
    met = "met" if row.proof <= row.case.bar and not report.cover.gaps else "NOT MET"
    ratio = row.proof / row.solves if row.solves else float("inf")
    return (
        f"{row.case!s:<14} {len(report.cover.pieces):>6} {len(report.cover.gaps):>4} {len(report.breakpoints):>11} "
        f"{row.proof:>8.1f} {row.solves:>8.2f} {ratio:>6.0f} {row.case.bar:>6.0f}  {met}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; exit 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first case only")
    parser.add_argument("--only", help="the case of this name only, such as '200 x 3'")
    options = parser.parse_args(argv)
    print(
        f"{'data':<14} {'pieces':>6} {'gaps':>4} {'breakpoints':>11} {'proof':>8} {'solves':>8} {'ratio':>6} {'bar':>6}"
    )
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        chosen = [case for case in CASES if options.only in (None, str(case))]
        for case in chosen[:1] if options.quick else chosen:
            lines.append(told(measured(case, Path(folder))))
            print(lines[-1], flush=True)
    return int(any(line.endswith("NOT MET") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
