"""Data with many features: the gaps and the times of a prototype in floats, as bars.

    python -m benchmarks.leaders --data DIR [--sets pima,spectf] [--ratios 0.5,0.2] [--seconds S]

The prototype was one conic program of a general solver for each of twelve UCI sets at four parts of lambda_max. Its
gaps, (upper - lower) / upper in per cent as it printed them, and its seconds are written below; they are those of the
conic program alone, without training a network. A line here is the whole of `check` with `--gap` of 1.1 times the
prototype's (a gap of 0.00 is taken for 0.005): train, prove, decide, write; processor seconds in one process after
compiling, and the certificate re-checked with its data. The bars: every gap is reached, and the prototype's seconds
are three times ours on average (the mean of the ratios, and of all seconds).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

from benchmarks.real import Case, Proved, prove, raw_data
from relu_cert import examples
from relu_cert.figures import upwards

RATIOS = ("0.5", "0.2", "0.1", "0.05")
PROTOTYPE = {
    "mammographic": ("0.01 6", "0.00 32", "0.36 25", "0.90 15"),
    "monks-1": ("0.31 3", "0.11 7", "0.44 7", "4.3 14"),
    "pima": ("0.11 13", "1.1 21", "3.2 37", "8.6 51"),
    "tic-tac-toe": ("1.2 24", "3.2 45", "4.3 49", "5.8 46"),
    "ilpd-indian-liver": ("0.04 19", "1.0 23", "1.5 27", "2.1 31"),
    "breast-cancer": ("0.55 9", "2.5 14", "5.7 12", "17 9"),
    "fertility": ("2.6 1", "5.8 1", "7.1 2", "8.5 1"),
    "heart-hungarian": ("0.05 12", "0.6 28", "2.7 20", "8.3 18"),
    "statlog-heart": ("0.06 12", "1.1 27", "5.7 21", "16 20"),
    "hepatitis": ("0.7 16", "3.4 19", "6.0 34", "10 28"),
    "parkinsons": ("0.00 52", "0.9 40", "1.9 25", "4.3 25"),
    "spectf": ("0.25 47", "4.0 73", "7.4 56", "14 35"),
}
WORSE, FASTER = Fraction(11, 10), 3
LEAST = Fraction(5, 1000)  # per cent
HEAD = (
    "| set | lambda / lambda_max | prototype's gap % | gap % | engine | prototype's s | find s | verify s "
    "| times faster | gap |\n|" + "---|" * 10
)


@dataclass(frozen=True)
class Line:
    """A set at a part of lambda_max, with what the prototype reached (in per cent) and its seconds."""

    name: str
    ratio: str
    gap: Fraction
    seconds: float

    @property
    def bar(self) -> Fraction:
        """The gap that is to be reached."""
        return WORSE * max(self.gap, LEAST) / 100


@dataclass(frozen=True)
class Reached:
    """What became of a line."""

    line: Line
    proved: Proved

    @property
    def faster(self) -> float:
        """The prototype's seconds over ours."""
        return self.line.seconds / self.proved.finding

    @property
    def met(self) -> bool:
        """Whether the gap is reached and the checker accepts it."""
        return not self.proved.refusal and self.proved.facts.value.relative_gap <= self.line.bar

    def row(self) -> str:
        """A line of the table."""
        gap = upwards(100 * self.proved.facts.value.relative_gap, 3)
        said = "met" if self.met else "not met" if not self.proved.refusal else f"rejected: {self.proved.refusal}"
        cells = (self.line.name, self.line.ratio, f"{float(self.line.gap):g}", gap, self.proved.engine)
        times = (f"{self.line.seconds:g}", f"{self.proved.finding:.1f}", f"{self.proved.checking:.1f}")
        return f"| {' | '.join((*cells, *times, f'{self.faster:.1f}', said))} |"


def lines(sets: list[str] | None = None, ratios: list[str] | None = None) -> Iterator[Line]:
    """The lines of a run."""
    for name, reached in PROTOTYPE.items():
        for ratio, text in zip(RATIOS, reached, strict=True):
            if (sets is None or name in sets) and (ratios is None or ratio in ratios):
                gap, seconds = text.split()
                yield Line(name, ratio, Fraction(gap), float(seconds))


def summary(done: list[Reached]) -> str:
    """Which bars are met."""
    met = sum(one.met for one in done)
    mean = prod(one.faster for one in done) ** (1 / len(done))
    total = sum(one.line.seconds for one in done) / sum(one.proved.finding for one in done)
    said = "met" if min(mean, total) >= FASTER else "not met"
    return f"gaps: {met} of {len(done)} met; times faster: {mean:.1f} in the geometric mean, {total:.1f} in all: {said}"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the CSV files")
    parser.add_argument("--sets", type=lambda text: text.split(","), help="only these, with commas between them")
    parser.add_argument("--ratios", type=lambda text: text.split(","), help="only these parts of lambda_max")
    parser.add_argument("--seconds", type=float, default=300.0, help="for one proof, by the clock on the wall")
    options = parser.parse_args()
    prove(Case("iris", Fraction(1, 10)), examples.path("iris").read_bytes(), 600.0)  # compiles
    print(HEAD, flush=True)
    done = []
    for line in lines(options.sets, options.ratios):
        case, raw = Case(line.name, Fraction(line.ratio)), raw_data(line.name, options.data)
        done.append(Reached(line, prove(case, raw, options.seconds, gap=line.bar)))
        print(done[-1].row(), flush=True)
    print("\n" + summary(done))


if __name__ == "__main__":
    main()
