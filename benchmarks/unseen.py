"""Real problems that nobody has looked at: how many of them are exact, and why the others are not.

    python -m benchmarks.unseen --data DIR [--draws N] [--seed S] [--seconds S] [--features 3,4,5] [--rows 600]
                                [--only K,K] [--verbose]

DIR holds NAME.csv with a header, features, and last a label, 0 or 1. A draw takes some rows of a set and some of its
columns, or as many principal components, written with six, five or two digits, with or without a column of ones, and a
lambda between lambda_max/2 and lambda_max/100. A problem is exact where its gap is at most 1e-30. Draws are numbered,
so that one can be looked at again by itself. Seconds are those of the processor.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import csv
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

import relu_cert
from relu_cert.errors import UsageError

EXACT = Fraction(1, 10**30)
RATIOS = ("1/2", "1/5", "1/10", "1/20", "1/50", "1/100")
DIGITS = (6, 6, 5, 2)
CLAIMS = ("p-unique", "optimal-set", "minimal")


@dataclass(frozen=True)
class Draw:
    """One problem: its name says where it comes from."""

    name: str
    Z: list[list[str]]
    y: list[int]
    bias: bool
    ratio: str


def tables(folder: Path) -> dict[str, tuple[np.ndarray, list[int]]]:
    """The sets by name."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        if path.stem.endswith(("_train", "_test")) or path.stem.startswith(("mnist", "cifar")):
            continue
        with path.open(newline="") as file:
            _, *rows = csv.reader(file)
        found[path.stem] = (np.array([[float(x) for x in row[:-1]] for row in rows]), [int(row[-1]) for row in rows])
    return found


def drawn(
    number: int, seed: int, sets: dict[str, tuple[np.ndarray, list[int]]], features: Sequence[int], most: int
) -> Draw:
    """The draw of this number."""
    rng = random.Random(f"{seed}:{number}")
    name = rng.choice(sorted(sets))
    X, y = sets[name]
    d = rng.choice([d for d in features if d <= X.shape[1]] or [X.shape[1]])
    n = min(len(X), rng.choice([60, 150, 300, most]))
    rows = sorted(rng.sample(range(len(X)), n))
    bias, components = rng.random() < 0.3, rng.random() < 0.5
    ratio, digits = rng.choice(RATIOS), rng.choice(DIGITS)
    A = X[rows]
    if components:
        A = A - A.mean(axis=0)
        Z = A @ np.linalg.svd(A, full_matrices=False)[2][:d].T
    else:
        Z = A[:, sorted(rng.sample(range(X.shape[1]), d))]
    kind = f"{d} components" if components else f"{d} columns"
    text = f"{number} {name}: {n} rows, {kind}{' + bias' * bias}, {digits} digits, lambda_max * {ratio}"
    entries = [[f"{x:.{digits}g}" for x in z] for z in Z]
    return Draw(text, entries, [2 * y[k] - 1 for k in rows], bias, ratio)


def main() -> None:
    """Run the draws and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--features", default="3,4,5")
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    sets = tables(options.data)
    features = [int(d) for d in options.features.split(",")]
    numbers = [int(k) for k in options.only.split(",") if k] or range(options.first, options.first + options.draws)
    reasons: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    exact, spent = 0, 0.0
    for number in numbers:
        one = drawn(number, options.seed, sets, features, options.rows)
        begin = time.process_time()
        try:
            found = relu_cert.certify(one.Z, one.y, lambda_ratio=one.ratio, bias=one.bias, seconds=options.seconds)
        except UsageError as why:
            reasons[str(why)] += 1
            print(f"{one.name}: {why}", flush=True)
            continue
        spent += time.process_time() - begin
        gap = found.value.relative_gap
        for claim in CLAIMS:
            undecided[claim] += str(found.claims[claim].verdict) == "UNDECIDED"
        exact += gap <= EXACT
        if gap > EXACT:
            reasons[found.facts.unsettled] += 1
        if gap > EXACT or options.verbose:
            says = "" if gap <= EXACT else f"; {found.facts.unsettled}"
            print(f"{one.name}: {float(gap):.1e}, {time.process_time() - begin:.1f} s{says}", flush=True)
    total = len(numbers)
    print(f"{total} problems, {exact} exact ({exact / total:.1%}), {spent / total:.1f} s each")
    print("undecided:", ", ".join(f"{claim} {undecided[claim]}" for claim in CLAIMS))
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


if __name__ == "__main__":
    main()
