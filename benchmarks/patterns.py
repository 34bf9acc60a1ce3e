"""Enumerating activation patterns: this package, an incremental LP enumeration, and random sampling, in one run.

    python benchmarks/patterns.py [--quick] [--data DIR] [--only NAME]

The LP peer is the incremental enumeration of Rada and Cerny (2018) with HiGHS: depth first over the hyperplanes, one
warm-started feasibility LP for each new side. It lists open cells only and proves nothing; it is given the merged
hyperplanes, is credited with the antipodal cell of each that it finds, and is stopped after some seconds: its time per
cell is that of the part it has done. Ours is timed whole: exact reading, open cells, integer witnesses with proved
signs, circuits; and then with the lower faces and covers too. Times are the shortest of several runs, for both, by the
clock of the process (both run in one thread, and the machine may be busy); the wall clock is printed beside it. Nothing
is asserted about time; the table says which bars are met.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from relu_cert.exact import Matrix, matrix
from relu_cert.patterns import enumerate_patterns, predict
from relu_cert.patterns.arrangement import arrangement, both_halves, hyperplanes
from relu_cert.patterns.cells import cells, minimal

Rows = list[list[int]]
CLOCK = time.process_time
FLAT = 1.25  # the slowest and the fastest time per pattern are within this factor of their geometric mean


@dataclass(frozen=True)
class Instance:
    """A named data set and the ratio to the LP enumeration, per open cell, that it should reach (0: none)."""

    name: str
    rows: Rows
    bar: int


def gaussian(n: int, d: int, seed: int = 0) -> Rows:
    """Gaussian integers: normal variates times 1000, rounded."""
    rng = random.Random(f"{n} {d} {seed}")
    return [[round(rng.gauss(0, 1000)) for _ in range(d)] for _ in range(n)]


def cube(k: int) -> Rows:
    """0/1 points with a bias column: threshold functions of k variables."""
    return [[*point, 1] for point in product((0, 1), repeat=k)]


def grid(values: tuple[int, ...], k: int) -> Rows:
    """All points with the given coordinates."""
    return [list(point) for point in product(values, repeat=k)]


def one_hot(n: int, kinds: tuple[int, ...]) -> Rows:
    """Categorical variables, each as one-hot columns; distinct rows."""
    points = list(product(*map(range, kinds)))
    random.Random(1).shuffle(points)
    return [[int(v == l) for v, size in zip(point, kinds, strict=True) for l in range(size)] for point in points[:n]]


def duplicates(n: int, distinct: int, d: int) -> Rows:
    """Rows drawn with repetition, some negated."""
    rng = random.Random(2)
    base = [[rng.randint(-3, 3) for _ in range(d)] for _ in range(distinct)]
    return [[s * x for x in row] for row, s in zip(rng.choices(base, k=n), rng.choices((1, 1, -1), k=n), strict=True)]


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def boards(n: int) -> Rows:
    """Final boards of tic-tac-toe games played at random: 1, -1 and 0 for blank."""
    rng = random.Random(3)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < n:
        board, player = [0] * 9, 1
        for square in rng.sample(range(9), 9):
            board[square] = player
            if any(all(board[s] == player for s in line) for line in LINES):
                break
            player = -player
        found[tuple(board)] = None
    return [list(board) for board in found]


def boards_from(path: Path, n: int) -> Rows:
    """The first distinct boards of a file with three values in each column: -1, 0 and 1 in their order."""
    with path.open(newline="") as file:
        records = [tuple(float(x) for x in record[:9]) for record in list(csv.reader(file))[1:]]
    ranks = [{value: i - 1 for i, value in enumerate(sorted(set(column)))} for column in zip(*records, strict=True)]
    coded = [[ranks[c][x] for c, x in enumerate(record)] for record in dict.fromkeys(records)]
    return coded[:n]


def instances(data: Path | None, quick: bool) -> list[Instance]:
    """What is measured."""
    few, many = (boards_from(data / "tic-tac-toe.csv", n) if data else boards(n) for n in (22, 32))
    listed = [
        Instance("Gaussian integers 50 x 5", gaussian(50, 5), 1000),
        Instance("Gaussian integers 18 x 9", gaussian(18, 9), 0),
        Instance("Gaussian integers 20 x 8", gaussian(20, 8), 0),
        Instance("0/1 cube, 4 variables + bias", cube(4), 300),
        Instance("0/1 cube, 5 variables + bias", cube(5), 300),
        Instance("{-1,0,1}^4", grid((-1, 0, 1), 4), 300),
        Instance("{-2..2}^3 + bias", [[*row, 1] for row in grid((-2, -1, 0, 1, 2), 3)], 300),
        Instance("one-hot 3+3+3, 24 rows", one_hot(24, (3, 3, 3)), 300),
        Instance("duplicates, 90 rows of 30, d = 5", duplicates(90, 30, 5), 300),
        Instance("tic-tac-toe boards 22 x 9", few, 300),
        Instance("tic-tac-toe boards 32 x 9", many, 300),
    ]
    return listed[:7:2] if quick else listed


@dataclass(frozen=True)
class Times:
    """The shortest of some runs, in seconds: of the process, and by the wall clock."""

    cpu: float
    wall: float


def best(run: Callable[[], object], seconds: float = 1.0, most: int = 200) -> Times:
    """Repeat a run for some seconds: three times at least, `most` times at most (once if that is 1)."""
    cpu: list[float] = []
    wall: list[float] = []
    while len(cpu) < most and (len(cpu) < 3 or sum(cpu) < seconds):
        start, start_cpu = time.perf_counter(), CLOCK()
        run()
        cpu.append(CLOCK() - start_cpu)
        wall.append(time.perf_counter() - start)
    return Times(min(cpu), min(wall))


def open_cells(Z: Matrix) -> int:
    """Open cells alone, with witnesses, packed patterns and circuits: how many there are."""
    a = arrangement(Z)
    planes = hyperplanes(a.rows)
    found = cells(planes.normals, compiled=True)
    minimal(found.broken, compiled=True)
    return len(both_halves(found.bits, planes, a.n, compiled=True))


class LinearPrograms:
    """Incremental enumeration with one HiGHS model: row bounds are switched, the basis is kept."""

    def __init__(self, Z: np.ndarray[tuple[int, int], np.dtype[np.float64]], seconds: float) -> None:
        import highspy

        self.api, self.Z, self.seconds = highspy, Z / np.abs(Z).max(axis=1, keepdims=True), seconds
        self.inf = highspy.kHighsInf
        self.model = highspy.Highs()
        self.model.silent()
        for option, value in (("presolve", "off"), ("threads", 1), ("solver", "simplex")):
            self.model.setOptionValue(option, value)
        d = Z.shape[1]
        for _ in range(d):
            self.model.addVar(-self.inf, self.inf)
        for row in self.Z:
            self.model.addRow(-self.inf, self.inf, d, np.arange(d, dtype=np.int32), row)
        self.cells = self.programs = 0

    def run(self) -> tuple[int, int, float, bool]:
        """Cells (both of each pair), programs, seconds, and whether it came to the end."""
        start = CLOCK()
        self.stop = start + self.seconds
        self._side(0, 1)
        self.model.run()
        done = self._visit(1, np.array(self.model.getSolution().col_value))
        return 2 * self.cells, self.programs, CLOCK() - start, done

    def _side(self, k: int, side: int) -> None:
        bounds = {1: (1.0, self.inf), -1: (-self.inf, -1.0), 0: (-self.inf, self.inf)}[side]
        self.model.changeRowBounds(k, *bounds)

    def _visit(self, k: int, u: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
        """All cells below a sign vector of k hyperplanes with the point u. False: out of time."""
        if k == len(self.Z):
            self.cells += 1
            return True
        if CLOCK() > self.stop:
            return False
        here = 1 if self.Z[k] @ u >= 0 else -1
        self._side(k, here)
        if not self._visit(k + 1, u):
            return False
        self._side(k, -here)
        self.model.run()
        self.programs += 1
        if self.model.getModelStatus() == self.api.HighsModelStatus.kOptimal and not self._visit(
            k + 1, np.array(self.model.getSolution().col_value)
        ):
            return False
        self._side(k, 0)
        return True


def programs_per_cell(Z: Matrix, seconds: float) -> tuple[float, int, bool]:
    """Microseconds per cell of the LP enumeration (the best run, if there is time for several), cells, all of them?"""
    normals = np.array(hyperplanes(arrangement(Z).rows).normals, dtype=np.float64)
    spent, per_cell, found, done = 0.0, float("inf"), 0, True
    while spent < seconds and done:
        found, _, used, done = LinearPrograms(normals, seconds).run()
        spent += used
        per_cell = min(per_cell, used / max(found, 1) * 1e6)
    return per_cell, found, done


def against_programs(listed: list[Instance], seconds: float) -> None:
    """The table of ratios per open cell."""
    print(f"\nAgainst incremental linear programs (HiGHS, {seconds:g} s each), per open cell; process times, best run")
    print(
        f"{'instance':34}{'cells':>9}{'patterns':>10}{'all':>9}{'cells':>9}{'(wall)':>9}{'ours':>9}{'LP':>9}"
        f"{'ratio':>8}{'bar':>6}"
    )
    print(f"{'':34}{'':>9}{'':>10}{'s':>9}{'s':>9}{'s':>9}{'us/cell':>9}{'us/cell':>9}")
    missed = 0
    for instance in listed:
        Z = matrix(instance.rows)
        found = enumerate_patterns(Z, engine="compiled", max_patterns=10**8)
        whole = best(lambda Z=Z: enumerate_patterns(Z, engine="compiled", max_patterns=10**8))  # type: ignore[misc]
        alone = best(lambda Z=Z: open_cells(Z))  # type: ignore[misc]
        theirs, listed_cells, done = programs_per_cell(Z, seconds)
        ours = alone.cpu / found.open_cells * 1e6
        met = theirs / ours >= instance.bar
        missed += not met
        verdict = f"{instance.bar:6}  {'met' if met else 'NOT met'}" if instance.bar else f"{'':6}  -"
        note = "" if done else f"  (LP: first {listed_cells} cells)"
        if done and listed_cells != found.open_cells:
            note += f"  (LP found {listed_cells} cells: floats)"
        print(
            f"{instance.name:34}{found.open_cells:9}{len(found):10}{whole.cpu:9.4f}{alone.cpu:9.4f}{alone.wall:9.4f}"
            f"{ours:9.3f}{theirs:9.1f}{theirs / ours:8.0f}{verdict}{note}",
            flush=True,
        )
    print("every bar is met" if not missed else f"{missed} bars are NOT met")


def growth(quick: bool) -> None:
    """Time and memory per pattern from 10^3 to 10^6 patterns, lower faces and covers included."""
    print("\nGrowth, Gaussian integers, d = 4: everything, times of the process, best run")
    print(f"{'n':>5}{'patterns':>10}{'predicted':>11}{'compiled s':>12}{'(wall) s':>10}{'ns/pattern':>12}", end="")
    print(f"{'python us/p':>13}{'patterns/s':>12}{'bytes/pattern':>15}")
    each = []
    for n in (15, 31, 67) if quick else (15, 31, 67, 144):
        Z = matrix(gaussian(n, 4))
        found = enumerate_patterns(Z, engine="compiled")
        used = best(lambda Z=Z: enumerate_patterns(Z, engine="compiled"), 2.0)  # type: ignore[misc]
        plain = float("nan")
        if n < 40:
            plain = best(lambda Z=Z: enumerate_patterns(Z, engine="python"), 1.0, 3).cpu  # type: ignore[misc]
        size = sum(group.bits.nbytes + group.witnesses.nbytes for group in found.groups) / len(found)
        bits = sum(group.bits.nbytes for group in found.groups) / len(found)
        each.append(used.cpu / len(found) * 1e9)
        print(
            f"{n:5}{len(found):10}{predict(Z).general:11}{used.cpu:12.4f}{used.wall:10.4f}{each[-1]:12.0f}"
            f"{plain / len(found) * 1e6:13.1f}{len(found) / used.cpu:12.0f}{size:9.0f} ({bits:.0f} bits)",
            flush=True,
        )
    off = (max(each) / min(each)) ** 0.5
    print(
        f"flat to a factor of {off:.2f} about {(max(each) * min(each)) ** 0.5:.0f} ns per pattern (bar {FLAT}): ",
        end="",
    )
    print("met" if off <= FLAT else "NOT met")


def sampling(n: int, d: int) -> None:
    """What share of the patterns random gates find."""
    rows = gaussian(n, d)
    found = enumerate_patterns(matrix(rows), engine="compiled")
    everything = {row.tobytes() for row in found.bits()}
    Z = np.array(rows, dtype=np.float64)
    rng = np.random.default_rng(0)
    print(f"\nRandom sampling of gates, n = {n}, d = {d}, {len(found)} patterns")
    seen: set[bytes] = set()
    draws = 0
    start = CLOCK()
    for factor in (1, 10, 100):
        while draws < factor * len(found):
            size = min(10_000, factor * len(found) - draws)
            seen.update(row.tobytes() for row in np.packbits(rng.normal(size=(size, d)) @ Z.T >= 0, axis=1))
            draws += size
        share = len(seen & everything) / len(found)
        print(f"  {factor:4} draws per pattern: {share:6.1%} found, {CLOCK() - start:.2f} s")
    exact = best(lambda: enumerate_patterns(matrix(rows), engine="compiled")).cpu
    print(f"  exact enumeration:      100.0% found, {exact:.4f} s, with proof")


def compile_time() -> None:
    """Compilation in a fresh process with an empty cache, then with the cache."""
    code = "from relu_cert.patterns import cells; import itertools; from relu_cert.patterns.cells import cells; "
    code += "cells([tuple(p) for p in itertools.product((0, 1), repeat=3) if any(p)], compiled=True)"
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        times = []
        for _ in range(2):
            start = children()
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            times.append(children() - start)
    print(f"Compilation: a fresh process takes {times[0]:.1f} s the first time, {times[1]:.1f} s with the cache")


def children() -> float:
    """Processor seconds of all processes that were started here and have ended."""
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer instances and shorter LP runs")
    parser.add_argument("--data", type=Path, help="folder with tic-tac-toe.csv (otherwise random final boards)")
    parser.add_argument("--only", default="", help="instances whose name contains this, and nothing else")
    options = parser.parse_args()
    if not options.quick and not options.only:
        compile_time()
    enumerate_patterns(matrix(gaussian(8, 3)), engine="compiled")  # not measured: loading the compiled kernel
    listed = [instance for instance in instances(options.data, options.quick) if options.only in instance.name]
    against_programs(listed, 1.0 if options.quick else 5.0)
    if options.only:
        return
    growth(options.quick)
    sampling(*(20, 4) if options.quick else (40, 4))


if __name__ == "__main__":
    main()
