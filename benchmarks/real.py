"""Real data: the global optimum with its proof, and how far the usual methods stay from it.

    python -m benchmarks.real --data DIR [--quick] [--sets blood,mammographic] [--ratios 0.5,0.1]
                              [--starts N] [--seconds S] [--no-list] [--no-peers]

DIR holds blood.csv, mammographic.csv and monks-1.csv (UCI; the last column is the label, 0 or 1). Labels become -1 and
1. Gaussian data have four decimals and random labels, seed 0. Every certificate is re-checked together with its data.
Times are processor times in one process after a warm-up that compiles; `find` is solving and proving all claims,
`verify` the independent checker.

The bars of a line: the gap is at most 1e-30, every claim is decided or says why it is not, the checker accepts, there
are no more nodes than the mark, and all of it keeps to its seconds where the line has some.

The second table is about networks that were found in other ways, and how far above the optimum each is, in per cent.
That is proved: exact objectives of the networks as they are against the proved lower bound. Convex programs over 50,
100 and 500 random patterns; L-BFGS and Adam (full batches) on the weights of a network of 50 neurons, from random
starts, the best of them and the median. A trained neuron is balanced before it is judged, which can only help it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import csv
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from relu_cert import examples
from relu_cert.certificate import certificate, dumps
from relu_cert.check import DEFAULT_GAP, Derivatives, LambdaChoice, find_facts, network_problem, verdicts
from relu_cert.claims import Result, Verdict
from relu_cert.cover.model import Cover, Limits
from relu_cert.cover.unlisted import exact_network
from relu_cert.data.model import Dataset
from relu_cert.data.read import read_csv_bytes
from relu_cert.errors import UsageError
from relu_cert.exact import Vector, norm_squared
from relu_cert.leaders.model import Leaders
from relu_cert.problem import unlisted_relu
from relu_cert.problem.sampled import over_patterns
from relu_cert.prove.facts import Facts
from relu_cert.report.progress import Progress
from relu_cert.report.text import at_most
from relu_cert.solve import prepare, solve
from relu_cert.variants import drawn
from verify import VerifyError
from verify import check as recheck

Floats = NDArray[np.float64]
Neurons = list[tuple[int, Vector]]
EXACT = Fraction(1, 10**30)
WIDTH, PATTERNS = 50, (50, 100, 500)
LBFGS_STEPS, ADAM_STEPS, RATE = 3000, 3000, 1e-2
GRID = 2**40  # weights are rounded to multiples of 1/GRID before they are judged
LIST = 81  # processor seconds and megabytes of Gaussian 300 x 3 with all its patterns listed
LIST_BYTES = 40_000_000
FASTER, SMALLER = 50, 500


@dataclass(frozen=True)
class Case:
    """A set at a ratio of lambda_max, with its marks: nodes of the cover, seconds for everything."""

    name: str
    ratio: Fraction
    bias: bool = False
    nodes: int | None = None
    seconds: float | None = None

    @property
    def title(self) -> str:
        """For the table."""
        return f"{self.name} + bias" if self.bias else self.name


def _cases(name: str, marks: dict[str, int | None], bias: bool = False, seconds: float | None = None) -> list[Case]:
    return [Case(name, Fraction(ratio), bias, nodes, seconds) for ratio, nodes in marks.items()]


CASES = [
    *_cases("blood", {"0.5": 296, "0.1": 1300, "0.05": 1300, "0.01": 3500}),
    *_cases("blood", {"0.5": 340, "0.1": 2500, "0.05": 6300, "0.01": 34_000}, bias=True),
    *_cases("mammographic", {"0.5": 2200}),
    *_cases("mammographic", {"0.1": 21_700, "0.05": 68_000}, seconds=20.0),
    *_cases("mammographic", {"0.5": 5700}, bias=True),
    *_cases("monks-1", {"0.5": 16_700}),
    *_cases("gaussian-300x3", {"0.1": None}, seconds=LIST / FASTER),
    *_cases("gaussian-2000x3", {"0.1": 8000}),
    *_cases("gaussian-500x4", {"0.1": 59_000}),
    *_cases("mammographic", {"0.1": 180_000, "0.05": None}, bias=True),
    *_cases("monks-1", {"0.1": 426_000}),
    *_cases("mammographic", {"0.01": 1_080_000}),
]
QUICK = [case for case in CASES if case.ratio >= Fraction(1, 10) and case.name in ("blood", "gaussian-300x3")]


@dataclass(frozen=True)
class Proved:
    """What became of a case."""

    case: Case
    data: Dataset
    facts: Facts
    results: tuple[Result, ...]
    size: int
    finding: float
    checking: float
    refusal: str

    @property
    def engine(self) -> str:
        """What proved the bound."""
        found = self.facts.dual.multipliers
        return "cover" if isinstance(found, Cover) else "leaders" if isinstance(found, Leaders) else "list"

    @property
    def missed(self) -> list[str]:
        """The bars that were not met."""
        case, found = self.case, self.facts.dual.multipliers
        silent = [r.claim for r in self.results if r.verdict is Verdict.UNDECIDED and not r.detail]
        total = self.finding + self.checking
        smaller = case.name == "gaussian-300x3" and self.size * SMALLER > LIST_BYTES
        return [
            *([] if self.facts.value.relative_gap <= EXACT else ["gap"]),
            *([f"no word about {', '.join(silent)}"] if silent else []),
            *([f"rejected: {self.refusal}"] if self.refusal else []),
            *(["nodes"] if case.nodes and isinstance(found, Cover) and found.nodes > case.nodes else []),
            *(["time"] if case.seconds and total > case.seconds else []),
            *(["size"] if smaller else []),
        ]

    def row(self) -> str:
        """A line of the table."""
        facts, value = self.facts, self.facts.value
        said = {result.claim: result.verdict for result in self.results}
        cover = facts.dual.multipliers
        nodes, leaves = (f"{cover.nodes:,}", f"{cover.leaves:,}") if isinstance(cover, Cover) else ("", "")
        unique = {Verdict.PROVED: "yes", Verdict.REFUTED: "no"}.get(said.get("p-unique", Verdict.UNDECIDED), "?")
        undecided = [claim for claim, verdict in said.items() if verdict is Verdict.UNDECIDED]
        return "| " + " | ".join(
            [
                self.case.title,
                f"{self.data.n} x {len(self.data.Z[0])}",
                f"{float(self.case.ratio):g}",
                f"[{_rounded(value.lower, floor)}, {_rounded(value.upper, ceil)}]",
                at_most(value.relative_gap),
                self.engine,
                f"{self.finding:.1f}",
                f"{self.checking:.1f}",
                f"{len(facts.primal.neurons)}",
                unique,
                "?" if facts.polytope is None else f"{facts.polytope.m_star}",
                nodes,
                leaves,
                f"{self.size / 1000:,.0f} KB",
                f"{len(said) - len(undecided)} of {len(said)}",
                "met" if not self.missed else f"not met: {', '.join(self.missed)}",
            ]
        ) + " |"  # fmt: skip


HEAD = (
    "| set | n x d | lambda / lambda_max | p* | gap | engine | find s | verify s | neurons | unique | m* | nodes "
    "| leaves | file | decided | bars |\n|" + "---|" * 16
)
PEER_HEAD = (
    f"| set | lambda / lambda_max | {' | '.join(f'{p} patterns' for p in PATTERNS)} | L-BFGS best | median "
    "| Adam best | median |\n|" + "---|" * (len(PATTERNS) + 6)
)


def _rounded(x: Fraction, rounded: Callable[[Fraction], int]) -> str:
    """Eight places."""
    whole, rest = divmod(rounded(x * 10**8), 10**8)
    return f"{whole}.{rest:08}"


def raw_data(name: str, folder: Path | None) -> bytes:
    """The data as a CSV file with labels -1 and 1."""
    if name.startswith("gaussian-"):
        n, d = map(int, name.removeprefix("gaussian-").split("x"))
        rng = np.random.default_rng(0)
        Z, y = rng.standard_normal((n, d)), np.sign(rng.standard_normal(n))
        lines = [",".join(f"{x:.4f}" for x in z) + f",{t:.0f}" for z, t in zip(Z, y, strict=True)]
    elif folder is None:
        raise UsageError(f"{name} needs --data")
    else:
        with (folder / f"{name}.csv").open(newline="") as stream:
            _, *rows = csv.reader(stream)
        lines = [",".join([*row[:-1], "1" if Fraction(row[-1]) > Fraction(1, 2) else "-1"]) for row in rows]
    names = [f"x{j + 1}" for j in range(lines[0].count(","))]
    return "\n".join([",".join([*names, "y"]), *lines, ""]).encode()


def prove(case: Case, raw: bytes, seconds: float, *, listed: bool = False) -> Proved:
    """The whole of `check`: solve, prove, decide, write, re-check."""
    began = time.process_time()
    data = read_csv_bytes(raw, f"{case.title}.csv", bias=case.bias)
    with Progress(quiet=True) as stages:
        problem = network_problem(data, "relu", stages, listed=listed)
        choice, limits = LambdaChoice(ratio=case.ratio), Limits(seconds=seconds)
        facts = find_facts(problem, choice, DEFAULT_GAP, stages, derivatives=Derivatives(), limits=limits)
    results = verdicts(facts)
    text = dumps(certificate(data.source, facts, results)).encode()
    found = time.process_time()
    refusal = ""
    try:
        recheck(text, raw)
    except VerifyError as error:
        refusal = str(error)
    return Proved(case, data, facts, results, len(text), found - began, time.process_time() - found, refusal)


@dataclass(frozen=True)
class Training:
    """1/2 |f(Z) - y|^2 + lambda/2 (|W|^2 + |v|^2), f(Z) = (Z W')_+ v, the weights in one vector."""

    Z: Floats
    y: Floats
    lam: float

    def start(self, seed: int) -> Floats:
        """Gaussian weights, scaled by the number of inputs of a layer."""
        rng, d = np.random.default_rng(seed), self.Z.shape[1]
        W = rng.standard_normal(WIDTH * d) * np.sqrt(2 / d)
        return np.concatenate([W, rng.standard_normal(WIDTH) * np.sqrt(2 / WIDTH)])

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The objective and its gradient."""
        d = self.Z.shape[1]
        W, v = weights[: WIDTH * d].reshape(WIDTH, d), weights[WIDTH * d :]
        H = np.maximum(self.Z @ W.T, 0.0)
        r = H @ v - self.y
        G = ((H > 0) * r[:, None] * v).T @ self.Z
        value = 0.5 * float(r @ r) + 0.5 * self.lam * float(weights @ weights)
        return value, np.concatenate([G.ravel(), H.T @ r]) + self.lam * weights

    def lbfgs(self, seed: int) -> Floats:
        """The weights that L-BFGS ends at."""
        options = {"maxiter": LBFGS_STEPS, "maxfun": 2 * LBFGS_STEPS, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-9}
        found: Floats = minimize(self, self.start(seed), jac=True, method="L-BFGS-B", options=options).x
        return found

    def adam(self, seed: int) -> Floats:
        """The weights that Adam ends at; its rate falls to zero along a cosine."""
        x = self.start(seed)
        m, s = np.zeros_like(x), np.zeros_like(x)
        for step in range(1, ADAM_STEPS + 1):
            _, g = self(x)
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / ADAM_STEPS))
            x = x - rate * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
        return x

    def neurons(self, weights: Floats) -> Neurons:
        """sign(v_i) and |v_i| W_i"""
        d = self.Z.shape[1]
        W, v = weights[: WIDTH * d].reshape(WIDTH, d), weights[WIDTH * d :]
        return [(1 if t > 0 else -1, _exactly(abs(t) * w)) for w, t in zip(W, v, strict=True)]


def _exactly(w: Floats) -> Vector:
    return tuple(Fraction(round(float(x) * GRID), GRID) for x in w)


def sampled(data: Dataset, lam: Fraction, count: int) -> Neurons:
    """The optimal network of the convex program over random patterns."""
    gates = drawn(data.Z, count, 0)
    problem = over_patterns(data.Z, data.y, tuple(gates), "relu", gates=tuple(gates.values()))
    found = solve(prepare(problem), float(lam))
    sign = problem.sampled.sign if problem.sampled is not None else (lambda _: 1)
    return [(sign(neuron.block or 0), _exactly(neuron.w)) for neuron in found.neurons]


def above(proved: Proved, neurons: Neurons) -> Fraction:
    """The network's objective is at most so much above p*, relatively; exact arithmetic."""
    network = unlisted_relu(proved.data.Z, proved.data.y).network
    if network is None:
        raise ValueError("a network has one")
    point = exact_network(network, [(xi, w) for xi, w in neurons if any(w)])
    loss = norm_squared([a - b for a, b in zip(point.fit, proved.data.y, strict=True)]) / 2
    objective = loss + proved.facts.lam * sum((neuron.norm for neuron in point.neurons), Fraction(0))
    lower = proved.facts.value.lower
    return (objective - lower) / lower


def peers(proved: Proved, starts: int) -> str:
    """A line of the second table."""
    data, lam = proved.data, proved.facts.lam
    Z = np.array([[float(x) for x in z] for z in data.Z])
    training = Training(Z, np.array([float(x) for x in data.y]), float(lam))
    found = [_percent(above(proved, sampled(data, lam, count))) for count in PATTERNS]
    for run in (training.lbfgs, training.adam):
        gaps = [above(proved, training.neurons(run(seed))) for seed in range(starts)]
        found += [_percent(min(gaps)), _percent(median(gaps))]
    return f"| {proved.case.title} | {float(proved.case.ratio):g} | {' | '.join(found)} |"


def _percent(x: Fraction) -> str:
    """100 x rounded up: two digits after the point, or two that count."""
    if x < Fraction(1, 10**4):
        return at_most(100 * x)
    return f"{ceil(x * 10**4) / 100:.2f}"


def chosen(options: argparse.Namespace) -> Iterator[Case]:
    """The cases of this run."""
    sets = None if options.sets is None else options.sets.split(",")
    ratios = None if options.ratios is None else [Fraction(ratio) for ratio in options.ratios.split(",")]
    for case in QUICK if options.quick else CASES:
        wanted = (sets is None or case.name in sets) and (ratios is None or case.ratio in ratios)
        if wanted and (options.data or case.name.startswith("gaussian")):
            yield case


def report(done: Sequence[Proved], options: argparse.Namespace) -> None:
    """The second table and the summary."""
    if not options.no_peers:
        print(f"\nPer cent above p*, at most (best and median of {options.starts} starts)\n\n{PEER_HEAD}")
        for proved in done:
            print(peers(proved, options.starts), flush=True)
    met = sum(not proved.missed for proved in done)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\nbars met: {met} of {len(done)}; memory at most {memory:.1f} GB")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the CSV files; without it Gaussian data alone")
    parser.add_argument("--quick", action="store_true", help="blood at .5 and .1 and one Gaussian set, one start")
    parser.add_argument("--sets", help="only these, by name, with commas between them")
    parser.add_argument("--ratios", help="only these parts of lambda_max, with commas between them")
    parser.add_argument("--starts", type=int, default=5, help="random starts of L-BFGS and Adam")
    parser.add_argument("--seconds", type=float, default=1800.0, help="for one case, by the clock on the wall")
    parser.add_argument("--no-list", action="store_true", help="do not run Gaussian 300 x 3 with all its patterns")
    parser.add_argument("--no-peers", action="store_true", help="the first table alone")
    options = parser.parse_args()
    if options.quick:
        options.starts, options.no_list = 1, True
    began = time.process_time()
    prove(Case("iris", Fraction(1, 10)), examples.path("iris").read_bytes(), 600.0)
    print(f"compiling, and irises as a warm-up: {time.process_time() - began:.1f} s\n\n{HEAD}", flush=True)
    done = []
    for case in chosen(options):
        raw = raw_data(case.name, options.data)
        try:
            proved = prove(case, raw, options.seconds)
        except UsageError as error:
            print(f"| {case.title} | | {float(case.ratio):g} | nothing: {error} |", flush=True)
            continue
        done.append(proved)
        print(proved.row(), flush=True)
        if case.name == "gaussian-300x3" and not options.no_list:
            listed = prove(case, raw, options.seconds, listed=True)
            ratio = (listed.finding + listed.checking) / (proved.finding + proved.checking)
            print(listed.row())
            print(f"(the cover: {ratio:.0f} times faster, a file {listed.size / proved.size:.0f} times smaller)")
    report(done, options)


if __name__ == "__main__":
    main()
