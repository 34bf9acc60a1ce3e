"""Real data: the global optimum with its proof, and how far the usual methods stay from it.

    python -m benchmarks.real --data DIR [--results FILE] [--sets blood,pima] [--ratios 0.5,0.1] [--seconds S]
                              [--starts N] [--widths 50,500] [--proofs] [--print]
    python -m benchmarks.real --bars [--data DIR] [--quick] [--no-list] ...
    python -m benchmarks.real --growth [--least N] [--most N]

DIR holds NAME.csv for the UCI sets of the paper (a header, features, and last a label, 0 or 1). Labels become -1 and 1.
Every certificate is re-checked together with its data. Times are processor times in one process after a warm-up that
compiles; `find` is solving and proving all claims, `verify` the independent checker.

The first form prints, for each set and part of lambda_max, the proved interval of p*, and beside it how far above p*
other networks are, in per cent, at most. That is proved: exact objectives of the networks as they are against a proved
lower bound. Convex programs over 50, 100 and 500 random patterns (one draw); L-BFGS and Adam (full batches) on the
weights of networks of 50 and 500 neurons, from 20 random starts: the best, and the median. A trained neuron is balanced
before it is judged, which can only help it. With --results every figure is appended to a file as soon as it is there
and not measured again, so that a run can be stopped and gone on with; --print only prints the file.

--bars: lines with bars. The gap is at most 1e-30, every claim is decided or says why it is not, the checker accepts,
there are no more nodes than the mark, the process needs no more than 1 GB for the line, and all of it keeps to its
seconds where the line has some. Gaussian data have four decimals and random labels, seed 0. --growth: Gaussian data of
3 and 4 features at a tenth of lambda_max, with more and more rows.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import csv
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.methods import Neurons, Training, sampled
from relu_cert import examples
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import Result, Verdict, decide
from relu_cert.cover.limits import Limits
from relu_cert.data.dataset import Dataset
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.network import exact_point
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, WantedDerivatives, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.errors import UsageError
from relu_cert.evidence import Cover, Leaders
from relu_cert.exact import norm_squared, rational
from relu_cert.figures import at_most
from relu_cert.problem import unlisted_relu
from relu_cert.prove.facts import Facts
from relu_cert.report.progress import Progress
from verify import VerifyError
from verify import check as recheck

EXACT = Fraction(1, 10**30)
PATTERNS, WIDTHS, STARTS = (50, 100, 500), (50, 500), 20
RATIOS = ("0.5", "0.1", "0.05", "0.01")
UCI = (
    "blood", "mammographic", "monks-1", "pima", "tic-tac-toe", "ilpd-indian-liver", "breast-cancer", "fertility",
    "planning", "heart-hungarian", "statlog-heart", "hepatitis", "parkinsons", "horse-colic", "ionosphere", "spectf",
    "hill-valley",
)  # fmt: skip
LIST = 81  # processor seconds and megabytes of Gaussian 300 x 3 with all its patterns listed
LIST_BYTES = 40_000_000
FASTER, SMALLER = 50, 500
GIGABYTES = 1.0  # of memory for a line
GROWTH = {3: (100, 300, 1000, 3000, 10_000), 4: (100, 300, 1000, 2000)}


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
    memory: float = 0.0

    @property
    def engine(self) -> str:
        """What proved the bound."""
        found = self.facts.dual.multipliers
        return "cover" if isinstance(found, Cover) else "leaders" if isinstance(found, Leaders) else "list"

    @property
    def unique(self) -> str:
        """Whether the best network is."""
        said = {result.claim: result.verdict for result in self.results}
        return {Verdict.PROVED: "yes", Verdict.REFUTED: "no"}.get(said.get("p-unique", Verdict.UNDECIDED), "?")

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
            *(["memory"] if self.memory > GIGABYTES else []),
        ]

    def row(self) -> str:
        """A line of the table."""
        facts, value = self.facts, self.facts.value
        said = {result.claim: result.verdict for result in self.results}
        cover = facts.dual.multipliers
        nodes, leaves = (f"{cover.nodes:,}", f"{cover.leaves:,}") if isinstance(cover, Cover) else ("", "")
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
                self.unique,
                "?" if facts.polytope is None else f"{facts.polytope.m_star}",
                nodes,
                leaves,
                f"{self.size / 1000:,.0f} KB",
                f"{self.memory:.2f} GB",
                f"{len(said) - len(undecided)} of {len(said)}",
                "met" if not self.missed else f"not met: {', '.join(self.missed)}",
            ]
        ) + " |"  # fmt: skip


HEAD = (
    "| set | n x d | lambda / lambda_max | p* | gap | engine | find s | verify s | neurons | unique | m* | nodes "
    "| leaves | file | memory | decided | bars |\n|" + "---|" * 17
)


def _rounded(x: Fraction, rounded: Callable[[Fraction], int], places: int = 8) -> str:
    """So many places."""
    whole, rest = divmod(rounded(x * 10**places), 10**places)
    return f"{whole}.{rest:0{places}}"


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


def forget_memory() -> None:
    """Measure from now on, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def most_memory() -> float:
    """Gigabytes that the process had in memory at most: since they were forgotten, or, without Linux, in all."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e9


def prove(case: Case, raw: bytes, seconds: float, *, listed: bool = False, gap: Fraction = DEFAULT_GAP) -> Proved:
    """The whole of `check`: solve, prove, decide, write, re-check."""
    forget_memory()
    began = time.process_time()
    data = read_csv_bytes(raw, f"{case.title}.csv", bias=case.bias)
    with Progress(quiet=True) as stages:
        problem = network_problem(data, "relu", stages, listed=listed)
        choice, limits = LambdaChoice(ratio=case.ratio), Limits(seconds=seconds)
        facts = find_facts(problem, choice, gap, stages, derivatives=WantedDerivatives(), limits=limits)
    results = decide(facts)
    text = dumps(certificate(data.source, facts, results)).encode()
    found = time.process_time()
    refusal = ""
    try:
        recheck(text, raw)
    except VerifyError as error:
        refusal = str(error)
    ended = time.process_time()
    return Proved(case, data, facts, results, len(text), found - began, ended - found, refusal, most_memory())


def above(data: Dataset, lam: Fraction, lower: Fraction, neurons: Neurons) -> Fraction:
    """The network's objective is at most so much above p*, relatively, where lower <= p*; exact arithmetic."""
    point = exact_point(unlisted_relu(data.Z, data.y), (), tuple((xi, w) for xi, w in neurons if any(w)))
    loss = norm_squared([a - b for a, b in zip(point.fit, data.y, strict=True)]) / 2
    objective = loss + lam * sum((neuron.norm for neuron in point.neurons), Fraction(0))
    return (objective - lower) / lower


Record = dict[str, Any]


class Results:
    """What was measured, in a file of one JSON object a line, or in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
        self.found: dict[tuple[str, str, str], Record] = {}
        for line in lines:
            one = json.loads(line)
            self.found[one["set"], one["ratio"], one["what"]] = one

    def once(self, name: str, ratio: str, what: str, measure: Callable[[], Record]) -> Record:
        """The record, measured now if it is not there yet."""
        key = (name, ratio, what)
        if key not in self.found:
            self.found[key] = {"set": name, "ratio": ratio, "what": what} | measure()
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(self.found[key]) + "\n")
        return self.found[key]


def proof(name: str, ratio: str, options: argparse.Namespace, results: Results) -> Record:
    """The proved interval of one line."""
    raw = raw_data(name, options.data)

    def found() -> Record:
        return _proved(prove(Case(name, Fraction(ratio)), raw, options.seconds))

    return results.once(name, ratio, "proved", found)


def measure(name: str, ratio: str, options: argparse.Namespace, results: Results) -> None:
    """What the methods of one line reach, each as soon as it is there."""
    data = read_csv_bytes(raw_data(name, options.data), f"{name}.csv")
    known = proof(name, ratio, options, results)
    lam, lower = Fraction(known["lambda"]), Fraction(known["lower"])

    def judged(found: Neurons) -> float:
        return nextafter(float(above(data, lam, lower, found)), inf)

    for count in PATTERNS:
        results.once(name, ratio, f"{count} patterns", lambda: {"best": judged(sampled(data, lam, count))})  # noqa: B023
    Z, y = (np.array([[float(x) for x in row] for row in rows]) for rows in (data.Z, [data.y]))
    for width in options.widths:
        training = Training(Z, y[0], float(lam), width)
        for method, run in (("L-BFGS", training.lbfgs), ("Adam", training.adam)):

            def trained(run: Callable[[int], Any] = run, training: Training = training) -> Record:
                found = run(options.starts)
                order = np.argsort(training(found)[0])
                best, middle = (judged(training.neurons(found[order[k]])) for k in (0, (len(order) - 1) // 2))
                return {"best": best, "median": middle, "starts": options.starts}

            results.once(name, ratio, f"{method} {width}", trained)


def _proved(one: Proved) -> Record:
    """The figures of a proof."""
    value = one.facts.value
    if one.refusal:
        raise RuntimeError(f"the checker does not accept it: {one.refusal}")
    return {
        "n": one.data.n,
        "d": len(one.data.Z[0]),
        "lambda": rational(one.facts.lam),
        "lower": rational(value.lower.limit_denominator(10**12) - Fraction(1, 10**12)),
        "interval": [_rounded(value.lower, floor, 4), _rounded(value.upper, ceil, 4)],
        "gap": _percent(value.relative_gap),
        "engine": one.engine,
        "find": round(one.finding, 1),
        "verify": round(one.checking, 1),
        "neurons": len(one.facts.primal.neurons),
        "unique": one.unique,
        "m*": "?" if one.facts.polytope is None else one.facts.polytope.m_star,
    }


def table(results: Results, widths: Sequence[int]) -> Iterator[str]:
    """The lines of the first form, as far as they were measured."""
    trained = [f"{method} {width}" for width in widths for method in ("L-BFGS", "Adam")]
    heads = [*(f"{count} patterns" for count in PATTERNS), *(f"{one}, best / median" for one in trained)]
    proved = (
        "set",
        "n x d",
        "lambda / lambda_max",
        "p*",
        "gap %",
        "engine",
        "find, verify s",
        "neurons",
        "unique",
        "m*",
    )
    yield f"| {' | '.join((*proved, *heads))} |"
    yield "|" + "---|" * (len(proved) + len(heads))
    for name, ratio in [(name, ratio) for name in UCI for ratio in RATIOS]:
        one = results.found.get((name, ratio, "proved"))
        if one is None:
            continue
        cells = [
            name,
            f"{one['n']} x {one['d']}",
            ratio,
            "[{}, {}]".format(*one["interval"]),
            one["gap"],
            one["engine"],
        ]
        cells += [f"{one['find']}, {one['verify']}", str(one["neurons"]), one["unique"], str(one["m*"])]
        for what in (*(f"{count} patterns" for count in PATTERNS), *trained):
            found = results.found.get((name, ratio, what), {})
            cells.append(" / ".join(_percent(Fraction(found[key])) for key in ("best", "median") if key in found))
        yield f"| {' | '.join(cells)} |"


def _percent(x: Fraction) -> str:
    """100 x rounded up: two digits after the point, or two that count."""
    if x < Fraction(1, 10**4):
        return at_most(100 * x)
    return f"{ceil(x * 10**4) / 100:.2f}"


def growth(least: int, most: int, seconds: float) -> None:
    """Gaussian data with more and more rows."""
    print("| d | n | neurons | nodes | leaves | gap | find s | verify s | file |\n|" + "---|" * 9)
    for d, sizes in GROWTH.items():
        for n in sizes:
            if least <= n <= most:
                one = prove(Case(f"gaussian-{n}x{d}", Fraction(1, 10)), raw_data(f"gaussian-{n}x{d}", None), seconds)
                cover = one.facts.dual.multipliers
                nodes, leaves = (cover.nodes, cover.leaves) if isinstance(cover, Cover) else (0, 0)
                cells = (d, f"{n:,}", len(one.facts.primal.neurons), f"{nodes:,}", f"{leaves:,}")
                more = (at_most(one.facts.value.relative_gap), f"{one.finding:.1f}", f"{one.checking:.1f}")
                size = f"{one.size / 1000:,.0f} KB" if not one.refusal else f"rejected: {one.refusal}"
                print(f"| {' | '.join(map(str, (*cells, *more, size)))} |", flush=True)


def chosen(options: argparse.Namespace) -> Iterator[Case]:
    """The lines with bars of this run."""
    ratios = None if options.ratios is None else [Fraction(ratio) for ratio in options.ratios]
    for case in QUICK if options.quick else CASES:
        wanted = (options.sets is None or case.name in options.sets) and (ratios is None or case.ratio in ratios)
        if wanted and (options.data or case.name.startswith("gaussian")):
            yield case


def bars(options: argparse.Namespace) -> None:
    """The lines with bars."""
    print(HEAD, flush=True)
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
    met = sum(not proved.missed for proved in done)
    memory = max((proved.memory for proved in done), default=0.0)
    print(f"\nbars met: {met} of {len(done)}; memory at most {memory:.2f} GB")


def _names(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the CSV files")
    parser.add_argument("--results", type=Path, help="a file to which figures are appended, and that is not repeated")
    parser.add_argument("--print", action="store_true", help="print the figures of --results, and measure nothing")
    parser.add_argument("--proofs", action="store_true", help="prove, but measure no other method")
    parser.add_argument("--bars", action="store_true", help="the lines with bars")
    parser.add_argument("--growth", action="store_true", help="more and more rows")
    parser.add_argument("--least", type=int, default=0, help="rows of --growth")
    parser.add_argument("--most", type=int, default=10_000, help="rows of --growth")
    parser.add_argument("--quick", action="store_true", help="a few lines with bars")
    parser.add_argument("--sets", type=_names, help="only these, with commas between them")
    parser.add_argument("--ratios", type=_names, help="only these parts of lambda_max, with commas between them")
    parser.add_argument("--widths", type=lambda text: tuple(map(int, _names(text))), default=WIDTHS)
    parser.add_argument("--starts", type=int, default=STARTS, help="random starts of L-BFGS and Adam")
    parser.add_argument("--seconds", type=float, help="for one proof, of processor time (120; with --bars 1000)")
    parser.add_argument("--no-list", action="store_true", help="do not run Gaussian 300 x 3 with all its patterns")
    options = parser.parse_args()
    options.seconds = options.seconds or (1000.0 if options.bars else 120.0)
    results = Results(options.results)
    if not options.print:
        prove(Case("iris", Fraction(1, 10)), examples.path("iris").read_bytes(), 600.0)  # compiles
    if options.growth:
        growth(options.least, options.most, options.seconds)
    elif options.bars:
        bars(options)
    else:
        if not options.print:
            if options.data is None:
                parser.error("the sets need --data")
            for stage in (proof,) if options.proofs else (proof, measure):
                for ratio in options.ratios or RATIOS:
                    for name in options.sets or UCI:
                        stage(name, ratio, options, results)
        print("\n".join(table(results, options.widths)))


if __name__ == "__main__":
    main()
