"""The list of patterns and the cover on the same small data: seconds, and claims decided.

    python -m benchmarks.engines [--drawn N] [--sizes 12x2,12x3,25x3,50x3]

First how long a fresh process takes to answer `check --example xor`, its certificate written and re-checked (bar: two
seconds). Then N networks drawn as the soundness campaign draws them (few rows, small integers, symmetries, rows on one
line), then Gaussian data with random labels at a tenth of lambda_max. The list is kept for small data as long as the
cover is slower there, or leaves open what the list decides. Times are processor seconds.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from properties.soundness.carry import Pair
from properties.soundness.case import SILENT, ask, objection
from properties.soundness.statements.list_and_cover import instances
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.problem import unlisted_relu
from verify import check

FIRST = 2.0  # seconds
SIZES = "12x2,12x3,25x3,50x3,100x3,12x4,25x4"


@dataclass
class Tally:
    """Seconds of each engine, and the claims that only one of them decided."""

    list: float = 0.0
    cover: float = 0.0
    count: int = 0
    only_list: Counter[str] = field(default_factory=Counter)
    only_cover: Counter[str] = field(default_factory=Counter)

    def compare(self, pair: Pair) -> None:
        """One network by both."""
        began = time.process_time()
        listed = ask(pair.before)
        between = time.process_time()
        covered = ask(pair.after)
        self.list += between - began
        self.cover += time.process_time() - between
        self.count += 1
        for answer in (listed, covered):
            if wrong := objection(answer):
                raise SystemExit(wrong)
        for claim in listed.said.keys() & covered.said.keys():
            first, second = (answer.said[claim] != "UNDECIDED" for answer in (listed, covered))
            self.only_list[claim] += first > second
            self.only_cover[claim] += second > first


def first_answer() -> float:
    """Seconds of a fresh process for a bundled example, the checker's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = ["check", "--example", "xor", "--quiet", "--certificate", f"{folder}/xor.cert.json"]
        subprocess.run([sys.executable, "-m", "relu_cert", *command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def drawn(number: int) -> None:
    """The drawn networks, summed up."""
    tally = Tally()

    @seed(1)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(instances())
    def run(pair: Pair) -> None:
        tally.compare(pair)

    run()
    print(f"{tally.count} drawn networks: list {tally.list:.2f} s, cover {tally.cover:.2f} s", end="")
    print(f", cover / list {tally.cover / tally.list:.1f}")
    for name, only in (("list", tally.only_list), ("cover", tally.only_cover)):
        told = ", ".join(f"{claim} {count}" for claim, count in only.most_common() if count)
        print(f"decided by the {name} only: {told or 'nothing'}")


def gaussian(n: int, d: int) -> bytes:
    """Data with labels that are noise."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((n, d)), rng.choice((-1, 1), n)
    lines = (",".join([*(f"{x:.4f}" for x in z), str(label)]) for z, label in zip(Z, y, strict=True))
    return "\n".join([",".join([*(f"x{i}" for i in range(d)), "y"]), *lines]).encode() + b"\n"


def timed(raw: bytes, *, listed: bool) -> tuple[float, int, int]:
    """Seconds, bytes of the certificate, and claims left open."""
    began = time.process_time()
    data = read_csv_bytes(raw, "gaussian.csv")
    problem = network_problem(data, "relu", SILENT) if listed else unlisted_relu(data.Z, data.y)
    facts = find_facts(problem, LambdaChoice(ratio=Fraction(1, 10)), DEFAULT_GAP, SILENT)
    results = decide(facts)
    text = dumps(certificate(data.source, facts, results)).encode()
    check(text, raw)
    undecided = sum(str(result.verdict) == "UNDECIDED" for result in results)
    return time.process_time() - began, len(text), undecided


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", type=int, default=200)
    parser.add_argument("--sizes", default=SIZES)
    given_ = parser.parse_args()
    first = first_answer()
    print(f"the first answer: {first:.2f} s, bar {FIRST:.0f}: {'met' if first <= FIRST else 'NOT MET'}")
    for listed in (True, False):  # what is compiled is loaded
        timed(gaussian(12, 2), listed=listed)
    drawn(given_.drawn)
    print("\n| n x d | list s | cover s | cover / list | list KB | cover KB | open: list | cover |\n|" + "---|" * 8)
    for size in given_.sizes.split(","):
        raw = gaussian(*map(int, size.split("x")))
        (a, p, u), (b, q, v) = timed(raw, listed=True), timed(raw, listed=False)
        cells = [size, f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}", f"{p / 1e3:,.0f}", f"{q / 1e3:,.0f}", f"{u}", f"{v}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
