"""The path, proved and re-checked, beside one float solve for each breakpoint: python -m benchmarks.path [--quick]

With --symmetric N: the share of log lambda that is proved from lambda_max/100 to lambda_max on data with symmetries,
by name and N random ones; the bar is 95 % in 20 s of processor time for each.

Gaussian data with three decimals, lambda from lambda_max/100 to lambda_max, or from lambda_max/10 where patterns are
too many to be listed and covers prove the pieces. `proof` is the processor time of all that `path` does: patterns,
pieces, breakpoints, curve, certificate, and the checker; `solves` is that of the float solver, from scratch, at a
lambda in each enclosed breakpoint. Bars are processor seconds of `proof`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one thread

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np

from relu_cert import examples
from relu_cert.checker import accepted
from relu_cert.commands import follow
from relu_cert.data import read_csv
from relu_cert.driver.optimum import solver_of_path
from relu_cert.driver.variant import DEFAULT_MAX_PATTERNS, network_problem
from relu_cert.exact import Matrix, Vector, matrix, vector
from relu_cert.path.build import solved
from relu_cert.path.follow import follow_path
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import relu
from relu_cert.prove.listed import propose
from relu_cert.prove.prove import lambda_max
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
    floats = solver_of_path(problem)
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


GROUPS = {
    "minus": (-np.eye(2, dtype=int),),
    "mirror": (np.diag([-1, 1]),),
    "swap": (np.array([[0, 1], [1, 0]]),),
    "quarter": (np.array([[0, -1], [1, 0]]),),
    "klein": (np.diag([-1, 1]), np.diag([1, -1])),
    "minus in space": (-np.eye(3, dtype=int),),
    "mirror in space": (np.diag([-1, 1, 1]),),
    "cycle in space": (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]),),
    "half turn in space": (np.diag([-1, -1, 1]),),
    "klein in space": (np.diag([-1, -1, 1]), np.diag([1, -1, -1])),
}
SHARE, SECONDS, STOPPED = 0.95, 20.0, 40.0
Set = tuple[str, Matrix, Vector]


def planted(seed: int) -> Set:
    """Orbits of a group of signed permutations, small integers, with one target for each orbit; perhaps with a bias."""
    rng = np.random.default_rng(seed)
    name = sorted(GROUPS)[int(rng.integers(len(GROUPS)))]
    d = len(GROUPS[name][0])
    bias = bool(rng.integers(2))
    rows: dict[tuple[int, ...], int] = {}
    while True:
        orbit = [tuple(rng.integers(-3, 4, d).tolist())]
        for z in orbit:
            orbit += [w for g in GROUPS[name] if (w := tuple((g @ np.array(z)).tolist())) not in orbit]
        if len(rows.keys() | set(orbit)) > 12 - 2 * d + 2:
            break
        target = int(rng.integers(-3, 4)) or 1
        rows |= {z: rows.get(z, target) for z in orbit}
    return (
        f"{seed} {name}{', bias' * bias}",
        matrix([[*z, *[1] * bias] for z in rows]),
        vector(list(rows.values())),
    )


def named_sets() -> list[Set]:
    """The square, the hexagon, the cube, and the bundled examples of networks."""
    half = [("1", "0"), ("1/2", "433/500"), ("-1/2", "433/500")]
    six = [*half, *((str(-Fraction(a)), str(-Fraction(b))) for a, b in half)]
    found = [
        ("square, bias", matrix([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]]), vector([1, 1, -1, -1])),
        ("hexagon, bias", matrix([[a, b, 1] for a, b in six]), vector([1, -1] * 3)),
        ("xor of signs", matrix([[1, 1], [1, -1], [-1, 1], [-1, -1]]), vector([1, -1, -1, 1])),
    ]
    for name in ("xor", "cube", "checkerboard", "line", "moons", "twins", "conjecture-relu"):
        data = read_csv(examples.path(name), bias=bool(examples.describe(name).bias))
        found.append((name, data.Z, data.y))
    return found


def share(Z: Matrix, y: Vector) -> tuple[float, float]:
    """The proved share of log lambda, and the seconds; nothing is proved where it was stopped."""

    def stop(*_: object) -> None:
        raise TimeoutError

    start = time.process_time()
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, STOPPED)
    try:
        problem = relu(Z, y, enumerate_patterns(Z))
        floats = solver_of_path(problem)
        largest = lambda_max(problem, propose(floats, np.array([float(x) for x in y]), 0.0))
        top = Fraction(float(largest.squared) ** 0.5)
        found = follow_path(problem, floats, largest, top / 100, top)
        open_part = sum(log(min(gap.hi, top) / max(gap.lo, top / 100)) for gap in found.gaps if gap.lo < top)
        part = 1.0 - open_part / log(100)
    except TimeoutError:
        part = 0.0
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    return part, time.process_time() - start


def symmetric(count: int) -> int:
    """The table of symmetric data; 1 if a bar is not met."""
    met = []
    for name, Z, y in [*named_sets(), *map(planted, range(count))]:
        part, seconds = share(Z, y)
        met.append(part >= SHARE and seconds <= SECONDS)
        print(f"{name:<28} {100 * part:>8.3f} % {seconds:>7.1f} s  {'met' if met[-1] else 'NOT MET'}", flush=True)
    print(f"{sum(met)} of {len(met)} met")
    return int(not all(met))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; exit 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first case only")
    parser.add_argument("--only", help="the case of this name only, such as '200 x 3'")
    parser.add_argument(
        "--symmetric", type=int, metavar="N", help="instead: data with symmetries, by name and N random"
    )
    options = parser.parse_args(argv)
    if options.symmetric is not None:
        return symmetric(options.symmetric)
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
