"""Networks other than dense ones: convolutions and sets, with the bars that each line has to keep.

    python -m benchmarks.networks --data DIR [--lines PART,PART] [--starts N] [--widths 16,64] [--list]

DIR holds mnist-5v9.csv, mnist-1v7.csv, mnist-2v6.csv, hill-valley.csv, ionosphere.csv, cifar10-1v8.csv: a header,
features, and last a label, 0 or 1, which becomes -1 or 1. Every line runs in a process of its own: it is read, solved
and proved (`find`, processor seconds), its certificate is re-checked together with its data (`verify`), and its memory
is the most that the process had. A line is met if the gap is at most its own (1e-30: exact), the checker accepts, and
nodes, seconds and megabytes keep to their bars. --lines: those whose names have one of the parts.

With --starts, networks of these widths are trained beside it from random weights, by L-BFGS and by Adam (full batches),
on 1/2 |f - y|^2 + lambda/2 (|W1|^2 + |w2|^2), whose gradient is written here: how far above the proved lower bound the
best and the median of the starts end, in per cent, in floats.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EXACT = 1e-30
Rows = list[list[str]]


@dataclass(frozen=True)
class Line:
    """One line: a file, its first `most` data points, what is done to its rows, how windows are made, and its bars."""

    file: str
    conv: str
    ratio: str
    bias: bool = False
    most: int = 400
    change: str = ""
    gap: float = EXACT
    nodes: int | None = None
    find: float | None = None
    verify: float | None = None
    megabytes: float = 1500.0
    seconds: float = 300.0

    @property
    def name(self) -> str:
        """What a line is called."""
        parts = (self.file.removesuffix(".csv"), self.change, self.conv, "bias" * self.bias, self.ratio)
        return " ".join(filter(None, parts))


def _lines() -> Iterator[Line]:
    pairs = ("mnist-5v9.csv", "mnist-1v7.csv", "mnist-2v6.csv")
    prototype = {("mnist-5v9.csv", "0.5"): 4500, ("mnist-5v9.csv", "0.1"): 32_068, ("mnist-5v9.csv", "0.02"): 128_874}
    patches = "2d:28x28:2x2:stride=2"
    for file in pairs:
        for ratio in ("0.5", "0.1", "0.05", "0.02"):
            tenth = {"find": 60.0, "verify": 20.0} if ratio == "0.1" else {}
            gap = 1e-6 if ratio == "0.02" else EXACT
            yield Line(file, patches, ratio, gap=gap, nodes=prototype.get((file, ratio)), **tenth)
        for ratio in ("0.5", "0.1"):
            yield Line(file, patches, ratio, bias=True, gap=1e-6)
    for width in (3, 4):
        for ratio in ("0.1", "0.05"):
            yield Line("hill-valley.csv", f"1d:{width}", ratio, most=1212, change="centred", gap=1e-3)
    for ratio in ("0.5", "0.1"):
        yield Line("ionosphere.csv", "1d:1:channels=2", ratio, most=351, change="pulses")
        yield Line("cifar10-1v8.csv", "2d:32x32:1x1:channels=3", ratio, most=120, gap=1e-3)
        yield Line("cifar10-1v8.csv", "2d:32x32:2x2:stride=2", ratio, most=120, change="grey", gap=1e-3)


LINES = tuple(_lines())


def centred(row: list[str]) -> list[str]:
    """A series with mean 0 and deviation 1, to four decimals."""
    x = np.array([float(v) for v in row])
    return [f"{v:.4f}" for v in (x - x.mean()) / (x.std() or 1.0)]


def pulses(row: list[str]) -> list[str]:
    """Real and imaginary parts in turn, as two channels; the second column, which is constant, is not in the file."""
    whole = [row[0], "0", *row[1:]] if len(row) % 2 else row
    return [*whole[0::2], *whole[1::2]]


def grey(row: list[str]) -> list[str]:
    """The sum of three channels."""
    third = len(row) // 3
    return [str(sum(int(row[c * third + k]) for c in range(3))) for k in range(third)]


CHANGES: dict[str, Callable[[list[str]], list[str]]] = {"": list, "centred": centred, "pulses": pulses, "grey": grey}


def prepared(line: Line, folder: Path, target: Path) -> None:
    """The file of a line."""
    with (folder / line.file).open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    order = np.random.default_rng(0).permutation(len(rows))[: line.most] if line.most < len(rows) else range(len(rows))
    change = CHANGES[line.change]
    with target.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        first = change(rows[0][:-1])
        writer.writerow([*(f"x{j}" for j in range(len(first))), "y"])
        for k in order:
            writer.writerow([*change(rows[k][:-1]), "1" if float(rows[k][-1]) > 0.5 else "-1"])


def measured(line: Line, folder: Path, starts: int, widths: Sequence[int]) -> dict[str, Any]:
    """All figures of a line, in this process."""
    from relu_cert.certificate import certificate, dumps
    from relu_cert.claims import Verdict, decide
    from relu_cert.cover.limits import Limits
    from relu_cert.data.read import read_csv
    from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, WantedDerivatives, find_facts
    from relu_cert.driver.variant import network_problem
    from relu_cert.evidence import Cover
    from relu_cert.report.progress import Progress
    from verify import check as recheck

    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "data.csv"
        prepared(line, folder, path)
        begin = time.process_time()
        data = read_csv(path, conv=line.conv, bias=line.bias)
        with Progress(quiet=True) as stages:
            problem = network_problem(data, "relu", stages, listed=False)
            choice = LambdaChoice(ratio=Fraction(line.ratio))
            limits = Limits(seconds=line.seconds)
            facts = find_facts(problem, choice, DEFAULT_GAP, stages, derivatives=WantedDerivatives(), limits=limits)
            results = decide(facts)
        found = time.process_time() - begin
        text = dumps(certificate(data.source, facts, results))
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        begin = time.process_time()
        recheck(text.encode(), path.read_bytes())
        checked = time.process_time() - begin
        raw = path.read_bytes()
    cover, fit = facts.dual.multipliers, np.array([float(x) for x in facts.primal.fit])
    y = np.array([float(x) for x in problem.y])
    said = {result.claim: result for result in results}
    told = {
        "p*": float(facts.value.upper),
        "gap": float(facts.value.relative_gap),
        "rows": len(data.Z),
        "filters": len(facts.primal.neurons),
        "unique": str(said["p-unique"].verdict),
        "m*": None if facts.polytope is None else facts.polytope.m_star,
        "undecided": [r.claim for r in results if r.verdict is Verdict.UNDECIDED],
        "nodes": cover.nodes if isinstance(cover, Cover) else None,
        "find": found,
        "verify": checked,
        "megabytes": megabytes,
        "certificate": len(text),
        "accuracy": float(np.mean(np.sign(fit) == y)),
        "data": len(raw),
    }
    if starts:
        told["trained"] = trained(data, float(facts.lam), float(facts.value.lower), starts, widths)
    return told


def trained(data: Any, lam: float, lower: float, starts: int, widths: Sequence[int]) -> dict[str, tuple[float, float]]:
    """Per cent above the lower bound, the best and the median of the starts, for both methods and every width."""
    from scipy.optimize import minimize

    Z, y = np.array([[float(x) for x in z] for z in data.Z]), np.array([float(x) for x in data.y])
    Z, scale = Z / np.linalg.norm(Z, axis=1).max(), float(np.linalg.norm(Z, axis=1).max())
    lam, d, found = lam / scale, Z.shape[1], {}

    def value(x: Floats, m: int) -> tuple[float, Floats]:
        W, v = x[: m * d].reshape(m, d), x[m * d :]
        heights = Z @ W.T
        outputs = data.bags.pooled_floats(np.maximum(heights, 0.0))
        r = outputs @ v - y
        t = data.bags.spread_floats(r)
        inner = ((heights > 0.0) * t[:, None]).T @ Z * v[:, None]
        gradient = np.concatenate([(inner + lam * W).ravel(), outputs.T @ r + lam * v])
        return 0.5 * float(r @ r) + 0.5 * lam * float(x @ x), gradient

    for m in widths:
        ends: dict[str, list[float]] = {"L-BFGS": [], "Adam": []}
        for seed in range(starts):
            rng = np.random.default_rng(seed)
            x = rng.standard_normal(m * (d + 1)) * np.sqrt(2.0 / d)
            ends["L-BFGS"].append(
                minimize(value, x, args=(m,), jac=True, method="L-BFGS-B", options={"maxiter": 500}).fun
            )
            ends["Adam"].append(adam(lambda z, m=m: value(z, m), x))  # type: ignore[misc]
        for method, values in ends.items():
            above = 100.0 * (np.array(values) / lower - 1.0)
            found[f"{method} {m}"] = float(above.min()), float(np.median(above))
    return found


def adam(value: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int = 2000, rate: float = 1e-2) -> float:
    """The least objective on the way of Adam, full batches, the step falling to a hundredth."""
    first, second, best = np.zeros_like(x), np.zeros_like(x), np.inf
    for k in range(1, steps + 1):
        now, gradient = value(x)
        best = min(best, now)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        step = first / (1 - 0.9**k) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
        x = x - rate * 0.01 ** (k / steps) * step
    return best


def missed(line: Line, told: dict[str, Any]) -> list[str]:
    """The bars that a line does not keep."""
    bars = {"gap": line.gap, "nodes": line.nodes, "find": line.find, "verify": line.verify, "megabytes": line.megabytes}
    return [
        f"{name} {told[name]:.3g} > {bar:.3g}" if told[name] is not None else f"no {name}"
        for name, bar in bars.items()
        if bar is not None and (told[name] is None or told[name] > bar)
    ]


def shown(line: Line, told: dict[str, Any]) -> str:
    """A line of the table."""
    nodes = "-" if told["nodes"] is None else f"{told['nodes']:,}"
    parts = [
        f"p* {told['p*']:.10g} gap {told['gap']:.1e}, {told['rows']:,} rows, {told['filters']} filters",
        f"unique {told['unique']}, m* {told['m*']}, {nodes} nodes",
        f"find {told['find']:.1f} s, verify {told['verify']:.1f} s",
        f"{told['megabytes']:.0f} MB, certificate {told['certificate'] / 1e6:.2f} MB, accuracy {told['accuracy']:.3f}",
    ]
    if told["undecided"]:
        parts.append(f"undecided {', '.join(told['undecided'])}")
    for method, (best, median) in told.get("trained", {}).items():
        parts.append(f"{method}: {best:.4g} % above at best, median {median:.4g} %")
    misses = missed(line, told)
    return f"{'not met: ' + '; '.join(misses) if misses else 'met'}\n    " + "\n    ".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the lines; 1 if one is not met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="where the files are")
    parser.add_argument("--lines", default="", help="only lines whose names have one of these parts")
    parser.add_argument("--starts", type=int, default=0, help="starts of trained networks (default: 0, none)")
    parser.add_argument("--widths", default="16,64", help="their widths")
    parser.add_argument("--list", action="store_true", help="only list the lines")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    wanted = [part.strip() for part in options.lines.split(",") if part.strip()]
    chosen = [i for i, line in enumerate(LINES) if not wanted or any(part in line.name for part in wanted)]
    if options.list:
        print("\n".join(LINES[i].name for i in chosen))
        return 0
    if options.data is None:
        parser.error("--data DIR is needed")
    widths = [int(width) for width in options.widths.split(",")]
    if options.one is not None:
        print(json.dumps(measured(LINES[options.one], options.data, options.starts, widths)))
        return 0
    failed = 0
    for i in chosen:
        own = [
            "--data",
            str(options.data),
            "--starts",
            str(options.starts),
            "--widths",
            options.widths,
            "--one",
            str(i),
        ]
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.networks", *own], capture_output=True, text=True, check=False
        )
        if run.returncode:
            failed += 1
            last = run.stderr.strip().split("\n")[-1]
            print(f"{LINES[i].name}: not met: {last}", flush=True)
            continue
        told = json.loads(run.stdout)
        failed += bool(missed(LINES[i], told))
        print(f"{LINES[i].name}: {shown(LINES[i], told)}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} lines met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
