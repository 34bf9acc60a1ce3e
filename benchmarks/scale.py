"""Large n: processor seconds and memory of `check` and of the checker, with bars.

    python -m benchmarks.scale [--lines 50000x3,20000x8] [--growth 2,3,4,5] [--largest N] [--folder DIR]

The data are made here: standard normal features in four digits, y = sin 2 x_1 + x_2 x_3 + noise (x_2 where there are
two), lambda = lambda_max / 10. Every line is one run of the command in a process of its own, with its certificate
re-checked in another; seconds are processor seconds of the whole process (after compiling: a small problem is proved
first), memory is the most that it had. A bar has a gap that is to be proved ("exact": 10^-9), seconds and gigabytes;
the memory of every line is to be at most 20 times the doubles of its data and 500 MB more. Growth: n is doubled, and
time is to grow no faster than n^1.25 from the first n to the last.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log2
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

EXACT = 1e-9
GB = 2**30
STEEPEST = 1.25  # time grows at most like this power of n
HEAD = "| n x d | gap | find s | find GB | verify s | bars |\n|" + "---|" * 6


@dataclass(frozen=True)
class Bar:
    """What a line is to reach: a gap, in so many seconds and gigabytes, and seconds of the checker."""

    n: int
    d: int
    gap: float
    seconds: float = float("inf")
    gigabytes: float = float("inf")
    verify: float = float("inf")

    @property
    def linear(self) -> float:
        """Gigabytes: 20 times the doubles of the data, and 500 MB."""
        return (20 * 8 * self.n * (self.d + 1) + 500 * 2**20) / GB


BARS = (
    Bar(50_000, 3, EXACT, 120, 1.5, 60),
    Bar(200_000, 3, 1e-6, 600),
    Bar(100_000, 5, 1e-2, 120),
    Bar(1_000_000, 2, 1e-2, 600),
    Bar(1_000_000, 3, 1e-2, 600),
    Bar(20_000, 8, 1.0, 120),
)


@dataclass(frozen=True)
class Cost:
    """The exit code of a process, its processor seconds and the most memory that it had, in gigabytes."""

    code: int
    seconds: float
    gigabytes: float


@dataclass(frozen=True)
class Line:
    """What a run reached: its relative gap (None: nothing was proved), and what finding and checking cost."""

    bar: Bar
    gap: float | None
    find: Cost
    verify: Cost | None

    def bars(self) -> list[tuple[str, bool]]:
        """Every bar of the line, and whether it is met."""
        bar, find, verify = self.bar, self.find, self.verify
        wanted = "exact" if bar.gap == EXACT else f"gap {bar.gap:g}"
        found = [(wanted, self.gap is not None and self.gap <= bar.gap)]
        found += [(f"{bar.seconds:g} s", find.seconds <= bar.seconds)] * isfinite(bar.seconds)
        found += [(f"{bar.gigabytes:g} GB", find.gigabytes <= bar.gigabytes)] * isfinite(bar.gigabytes)
        found.append((f"linear {bar.linear:.2f} GB", find.gigabytes <= bar.linear))
        accepted = verify is not None and verify.code == 0
        limit = f" in {bar.verify:g} s" if isfinite(bar.verify) else ""
        found.append((f"verified{limit}", accepted and verify is not None and verify.seconds <= bar.verify))
        return found

    def row(self) -> str:
        """The line of the table."""
        gap = "none" if self.gap is None else f"{self.gap:.1e}"
        verify = "-" if self.verify is None else f"{self.verify.seconds:.1f}"
        bars = "; ".join(f"{name}: {'met' if met else 'NOT MET'}" for name, met in self.bars())
        size = f"{self.bar.n:,} x {self.bar.d}"
        return f"| {size} | {gap} | {self.find.seconds:.1f} | {self.find.gigabytes:.2f} | {verify} | {bars} |"


def write_data(path: Path, n: int, d: int) -> None:
    """The data of a line."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sin(2 * X[:, 0]) + (X[:, 1] * X[:, 2] if d > 2 else X[:, 1]) + 0.1 * rng.standard_normal(n)
    names = ",".join([*(f"x{j}" for j in range(d)), "y"])
    np.savetxt(path, np.column_stack([X, y]), fmt="%.4f", delimiter=",", header=names, comments="")


def cost(arguments: Sequence[str], output: Path) -> Cost:
    """A Python module run by itself, its output in a file."""
    with output.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    return Cost(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / GB)


def run(bar: Bar, folder: Path) -> Line:
    """One line: `check`, and the checker in a process of its own."""
    data, certificate, told = (folder / name for name in ("data.csv", "certificate.json", "told.txt"))
    write_data(data, bar.n, bar.d)
    certificate.unlink(missing_ok=True)
    seconds = 0.9 * bar.seconds if isfinite(bar.seconds) else 300.0
    common = [str(data), "--lambda-ratio", "1/10", "--claims", "optimal", "--certificate", str(certificate), "--force"]
    limits = ["--seconds", f"{seconds:g}", "--gap", f"{min(bar.gap, 0.5):g}", "--no-verify", "--json"]
    find = cost(["relu_cert", "check", *common, *limits], told)
    if find.code not in (0, 1, 2) or not certificate.is_file():
        print("\n".join(told.read_text(errors="replace").splitlines()[-3:]), file=sys.stderr)
        return Line(bar, None, find, None)
    report = json.loads(told.read_text()[told.read_text().index("{") :])
    most = ["--max-seconds", "3600", "--max-memory", "16384", "--max-bytes", str(2**31)]
    return Line(bar, gap_of(report), find, cost(["verify", str(certificate), "--data", str(data), *most], told))


def gap_of(report: dict[str, object]) -> float:
    """(upper - lower) / upper of a report."""
    value = report["value"]
    if not isinstance(value, dict):
        raise ValueError("a report of an optimum")
    upper, lower = (Fraction(value[key]) for key in ("upper", "lower"))
    return float((upper - lower) / upper)


def growth(d: int, largest: int, folder: Path) -> Iterator[Line]:
    """n doubled from a sixteenth of the largest."""
    for k in range(4, -1, -1):
        yield run(Bar(largest >> k, d, EXACT if d <= 3 else 1e-2), folder)


def steepness(lines: Sequence[Line]) -> float:
    """The power of n with which the seconds grow, from the first line to the last."""
    first, last = lines[0], lines[-1]
    return log2(last.find.seconds / first.find.seconds) / log2(last.bar.n / first.bar.n)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", default=",".join(f"{bar.n}x{bar.d}" for bar in BARS), help="which, or none")
    parser.add_argument("--growth", default="", help="numbers of features for which n is doubled")
    parser.add_argument("--largest", type=int, default=40_000, help="the largest n of these")
    parser.add_argument("--folder", type=Path, help="where files are written (default: a folder that is removed)")
    options = parser.parse_args(arguments)
    chosen = {bar for bar in BARS if f"{bar.n}x{bar.d}" in options.lines.split(",")}
    met = True
    with TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        for warm in (Bar(200, 3, EXACT), Bar(2000, 3, EXACT), Bar(2000, 3, 1e-2)):  # what is compiled is compiled now
            run(warm, folder)
        print(HEAD, flush=True)
        for bar in (bar for bar in BARS if bar in chosen):
            line = run(bar, folder)
            print(line.row(), flush=True)
            met &= all(reached for _, reached in line.bars())
        for d in map(int, filter(None, options.growth.split(","))):
            lines = []
            for line in growth(d, options.largest, folder):
                print(line.row(), flush=True)
                lines.append(line)
            power = steepness(lines)
            met &= power <= STEEPEST
            print(
                f"\nd = {d}: seconds grow like n^{power:.2f}: {'met' if power <= STEEPEST else 'NOT MET'}", flush=True
            )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
