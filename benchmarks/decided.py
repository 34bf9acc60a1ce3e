"""How many instances are decided: uniqueness and the optimal set on random and on real data, by engine.

    python -m benchmarks.decided [--family random|real|symmetric] [--instances N] [--seed S] [--data DIR] [--verbose]
                                 [--verify] [--interval] [--factor F]

Random data: integers and Gaussian decimals, with and without bias, d in {1, 2, 3}, n <= 12, lambda from 0.01 to 0.5 of
lambda_max, ReLU and gated ReLU, all patterns. Real data: subsets of 2 or 3 features and up to 12 rows of the CSV files
in DIR. Symmetric data: cubes, grids, one-hot codes, polygons, lattices and lines with symmetric targets, on which ties
are exact; N instances of them, or all. With --interval also the path from lambda/2 to 2 lambda, with --factor that
from lambda_max/F to lambda_max: the share of intervals that are fully decided, and how many pieces they have.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.symmetric import symmetric_data
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import Result, Verdict, decide
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import IntervalChoice, LambdaChoice, find_facts
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from relu_cert.prove.listed import propose
from relu_cert.prove.prove import lambda_max
from relu_cert.report.progress import Progress
from relu_cert.solve import prepare
from verify import VerifyError
from verify import check as recheck

PATH_CLAIMS = ("continuous", "set-continuous", "min-norm-continuous")
CLAIMS = ("p-unique", "convex-unique", "optimal-set", "minimal", "connected", *PATH_CLAIMS)
GAP = Fraction(1, 10**9)
RATIOS = (Fraction(1, 100), Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2))


@dataclass(frozen=True)
class Instance:
    """One problem and lambda, with a name that says where it comes from."""

    name: str
    family: str
    Z: Matrix
    y: Vector
    model: str
    ratio: Fraction


def random_instances(count: int, seed: int) -> Iterator[Instance]:
    """Random data of the families above."""
    rng = random.Random(seed)
    for i in range(count):
        d, n, bias, whole = rng.choice((1, 2, 3)), rng.randint(3, 12), rng.random() < 0.5, rng.random() < 0.5

        def entry(whole: bool = whole) -> Fraction:
            return Fraction(rng.randint(-4, 4)) if whole else Fraction(f"{rng.gauss(0, 1):.3f}")

        Z = tuple(tuple(entry() for _ in range(d)) + (Fraction(1),) * bias for _ in range(n))
        y = tuple(entry() for _ in range(n))
        model, ratio = rng.choice(("relu", "gated")), rng.choice(RATIOS)
        yield Instance(f"{seed}:{i}", "integers" if whole else "decimals", Z, y, model, ratio)


def real_instances(count: int, seed: int, folder: Path) -> Iterator[Instance]:
    """Small subsets of real data: 2 or 3 features, 5 to 12 rows, labels as in the file or as -1 and 1."""
    rng = random.Random(seed)
    files = sorted(path for path in folder.glob("*.csv") if path.stat().st_size < 300_000)
    for i in range(count):
        path = rng.choice(files)
        with path.open(newline="") as stream:
            rows = list(csv.reader(stream))[1:]
        chosen = rng.sample(rows, min(len(rows), rng.randint(5, 12)))
        features = rng.sample(range(len(rows[0]) - 1), min(len(rows[0]) - 1, rng.choice((2, 3))))
        bias, signed = rng.random() < 0.5, rng.random() < 0.5
        Z = tuple(tuple(Fraction(row[j]) for j in features) + (Fraction(1),) * bias for row in chosen)
        y = tuple(2 * Fraction(row[-1]) - 1 if signed else Fraction(row[-1]) for row in chosen)
        yield Instance(f"{path.stem}:{seed}:{i}", "real", Z, y, rng.choice(("relu", "gated")), rng.choice(RATIOS))


def symmetric_instances(count: int, seed: int) -> Iterator[Instance]:
    """Symmetric data, both models, at all ratios: so many of them, or all."""
    found = [
        Instance(data.name, "symmetric", data.Z, data.y, model, ratio)
        for data in symmetric_data()
        for model in ("relu", "gated")
        for ratio in RATIOS
    ]
    yield from found if count >= len(found) else random.Random(seed).sample(found, count)


def problem_of(instance: Instance) -> Problem:
    """The problem over all patterns."""
    build = relu if instance.model == "relu" else gated
    return build(instance.Z, instance.y, enumerate_patterns(instance.Z))


@dataclass
class Tally:
    """What was decided, by which engine, and how long it took."""

    total: Counter[str] = field(default_factory=Counter)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    decided: Counter[tuple[str, str]] = field(default_factory=Counter)
    engines: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    intervals: Counter[tuple[str, str]] = field(default_factory=Counter)
    pieces: list[int] = field(default_factory=list)
    finding: float = 0.0
    checking: float = 0.0

    def add(self, key: str, results: Sequence[Result]) -> list[Result]:
        """Count the results; those that are undecided are returned."""
        self.total[key] += 1
        said = [result.verdict for result in results if result.claim in PATH_CLAIMS]
        if said:
            self.intervals["asked", key] += 1
            self.intervals["decided", key] += Verdict.UNDECIDED not in said
        open_ = []
        for result in results:
            if result.claim not in CLAIMS:
                continue
            self.asked[result.claim, key] += 1
            self.engines[result.claim, str(result.verdict), result.evidence or "-"] += 1
            if result.verdict is Verdict.UNDECIDED:
                open_.append(result)
            else:
                self.decided[result.claim, key] += 1
        return open_

    def show(self) -> None:
        """The shares."""
        count = sum(self.total.values())
        print(f"{count} instances, {self.finding / count * 1000:.0f} ms each to solve and prove", end="")
        print(f", {self.checking / count * 1000:.0f} ms to re-check" if self.checking else "")
        if self.pieces:
            keys = sorted(key for word, key in self.intervals if word == "asked")
            both = {word: sum(self.intervals[word, key] for key in keys) for word in ("decided", "asked")}
            most, mean = max(self.pieces), sum(self.pieces) / len(self.pieces)
            share = 100 * both["decided"] / both["asked"]
            print(f"intervals      fully decided {both['decided']} of {both['asked']} = {share:.1f} %", end="")
            print(f"; pieces: {mean:.0f} on average, {most} at most")
            for key in keys:
                print(f"    {key:<20} {self.intervals['decided', key]} of {self.intervals['asked', key]}")
        for claim in (claim for claim in CLAIMS if any(c == claim for c, _ in self.asked)):
            share, asked = (sum(v for (c, _), v in x.items() if c == claim) for x in (self.decided, self.asked))
            print(f"{claim:<14} decided {share} of {asked} = {100 * share / max(asked, 1):.1f} %")
            for key in sorted(key for c, key in self.asked if c == claim):
                print(f"    {key:<20} {self.decided[claim, key]} of {self.asked[claim, key]}")
            for (c, verdict, engine), number in sorted(self.engines.items()):
                if c == claim:
                    print(f"    {verdict:<10} {engine:<22} {number}")


def accepted(instance: Instance, facts: Facts, results: Sequence[Result]) -> bool:
    """Whether the checker accepts the certificate."""
    source = Source(instance.name, hashlib.sha256(instance.name.encode()).hexdigest(), "csv", target=0)
    try:
        recheck(dumps(certificate(source, facts, results)).encode())
    except VerifyError as error:
        print(f"NOT ACCEPTED  {instance.name}: {error}")
        return False
    return True


def wide(problem: Problem, factor: Fraction) -> IntervalChoice:
    """From lambda_max/factor to lambda_max."""
    floats = prepare(problem)
    largest = lambda_max(problem, propose(floats, np.array([float(x) for x in problem.y]), 0.0))
    return IntervalChoice(*(LambdaChoice(ratio=ratio).resolve(largest) for ratio in (1 / factor, Fraction(1))))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=("random", "real", "symmetric"), default="random", help="real needs --data")
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--verbose", action="store_true", help="print every undecided instance with its reason")
    parser.add_argument("--verify", action="store_true", help="re-check every certificate")
    parser.add_argument("--interval", action="store_true", help="also the path from lambda/2 to 2 lambda")
    parser.add_argument("--factor", type=Fraction, help="also the path from lambda_max/FACTOR to lambda_max")
    options = parser.parse_args()
    count, seed = options.instances, options.seed
    if options.family == "symmetric":
        instances = symmetric_instances(count, seed)
    elif options.data:
        instances = real_instances(count, seed, options.data)
    else:
        instances = random_instances(count, seed)
    tally = Tally()
    with Progress(quiet=True) as stages:
        for instance in instances:
            began = time.perf_counter()
            try:
                problem = problem_of(instance)
                interval = (
                    wide(problem, options.factor) if options.factor else IntervalChoice() if options.interval else None
                )
                facts = find_facts(problem, LambdaChoice(ratio=instance.ratio), GAP, stages, interval)
            except UsageError:  # lambda_max = 0: a ratio means nothing
                continue
            tally.finding += time.perf_counter() - began
            results = decide(facts, CLAIMS)
            if facts.path is not None:
                tally.pieces.append(len(facts.path.cover.pieces))
            for result in tally.add(f"{instance.model}, {instance.family}", results):
                if options.verbose:
                    print(f"undecided  {instance.name}  {instance.ratio}  {result.claim}: {result.detail}")
            if options.verify:
                began = time.perf_counter()
                accepted(instance, facts, results)
                tally.checking += time.perf_counter() - began
    tally.show()


if __name__ == "__main__":
    main()
