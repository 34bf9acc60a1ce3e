"""Networks other than dense ones: convolutions and sets, with the bars that each line has to keep.

    python -m benchmarks.networks --data DIR [--lines PART,PART] [--results FILE] [--starts N] [--widths 16,64] [--list]
    python -m benchmarks.networks --results FILE --print

DIR holds mnist-5v9.csv, mnist-1v7.csv, mnist-2v6.csv, hill-valley.csv, ionosphere.csv, cifar10-0v2.csv,
cifar10-1v8.csv, cifar10-3v5.csv: a header, features, and last a label, 0 or 1, which becomes -1 or 1. Every line runs
in a process of its own: it is read, solved and proved (`find`, processor seconds), its certificate is re-checked
together with its data (`verify`), and its memory is the most that the process had. A line is met if the gap is at most
its own (1e-30: exact), the checker accepts, and nodes, seconds and megabytes keep to their bars. --lines: those whose
names have one of the parts. Accuracy is that of the proved network on its own images; `held out`: of a network found
(to a gap of 1e-3) for three quarters of them, drawn, at the same part of their lambda_max, on the last quarter.

With --results every figure is appended to a file as soon as it is there, and no figure that is there is measured again;
--print shows them as a table.

With --starts, networks of these widths are trained as well, from random weights, by L-BFGS and by Adam (full batches,
on 1/2 |f - y|^2 + lambda/2 (|W1|^2 + |w2|^2), gradients by PyTorch if there is one, else written here): how far above
the proved lower bound the best and the median of the starts end, in per cent, in floats.
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
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from relu_cert.data.dataset import Dataset
    from relu_cert.prove.facts import Facts

Floats = NDArray[np.float64]
Rows = list[list[str]]
Objective = Callable[[Floats], tuple[float, Floats]]
EXACT = 1e-30
COARSE = Fraction(1, 1000)  # the gap of networks that are judged on held-out images
LATEST = 400  # steps of L-BFGS
STEPS, RATE = 500, 2e-2  # of Adam


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
    for ratio in ("0.1", "0.5", "0.05", "0.02"):
        for file in pairs:
            tenth, gap = ratio == "0.1", 1e-6 if ratio == "0.02" else EXACT
            find, verify = (60.0, 20.0) if tenth else (None, None)
            yield Line(file, patches, ratio, gap=gap, nodes=prototype.get((file, ratio)), find=find, verify=verify)
    for width in (3, 4):
        for ratio in ("0.1", "0.05"):
            yield Line("hill-valley.csv", f"1d:{width}", ratio, most=1212, change="centred", gap=1e-3)
    for ratio in ("0.5", "0.1"):
        yield Line("ionosphere.csv", "1d:1:channels=2", ratio, most=351, change="pulses")
    for ratio in ("0.5", "0.1"):
        for file in ("cifar10-1v8.csv", "cifar10-0v2.csv", "cifar10-3v5.csv"):
            yield Line(file, "2d:32x32:1x1:channels=3", ratio, most=120, gap=1e-3)
            yield Line(file, "2d:32x32:2x2:stride=2", ratio, most=120, change="grey", gap=1e-3)
    for ratio in ("0.5", "0.1"):
        for file in pairs:
            yield Line(file, patches, ratio, bias=True, gap=1e-6)
    for ratio in ("0.5", "0.1"):
        for file in pairs:
            yield Line(file, "2d:28x28:3x3:stride=3:padding=1", ratio, gap=0.1)


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


def prepared(line: Line, folder: Path, target: Path, part: slice = slice(None)) -> None:
    """The file of a line, or of a part of its data points, in a random order then."""
    with (folder / line.file).open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    order = np.random.default_rng(0).permutation(len(rows))[: line.most] if line.most < len(rows) else range(len(rows))
    order = order if part == slice(None) else np.random.default_rng(1).permutation(order)
    change = CHANGES[line.change]
    with target.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        first = change(rows[0][:-1])
        writer.writerow([*(f"x{j}" for j in range(len(first))), "y"])
        for k in list(order)[part]:
            writer.writerow([*change(rows[k][:-1]), "1" if float(rows[k][-1]) > 0.5 else "-1"])


def found_facts(line: Line, data: Dataset, gap: Fraction | None = None) -> Facts:
    """The facts about the best network of a line."""
    from relu_cert.cover.limits import Limits
    from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, WantedDerivatives, find_facts
    from relu_cert.driver.variant import network_problem
    from relu_cert.report.progress import Progress

    with Progress(quiet=True) as stages:
        problem = network_problem(data, "relu", stages, listed=False)
        choice, limits = LambdaChoice(ratio=Fraction(line.ratio)), Limits(seconds=line.seconds)
        wanted = None if gap else WantedDerivatives()
        return find_facts(problem, choice, gap or DEFAULT_GAP, stages, derivatives=wanted, limits=limits)


def measured(line: Line, folder: Path) -> dict[str, Any]:
    """The figures of a line's proof, in this process."""
    from relu_cert.certificate import certificate, dumps
    from relu_cert.claims import Verdict, decide
    from relu_cert.data.read import read_csv
    from relu_cert.evidence import Cover
    from verify import check as recheck

    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "data.csv"
        prepared(line, folder, path)
        begin = time.process_time()
        data = read_csv(path, conv=line.conv, bias=line.bias)
        facts = found_facts(line, data)
        results = decide(facts)
        found = time.process_time() - begin
        text = dumps(certificate(data.source, facts, results))
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        begin = time.process_time()
        recheck(text.encode(), path.read_bytes())
        checked = time.process_time() - begin
    proof, fit = facts.dual.multipliers, np.array([float(x) for x in facts.primal.fit])
    said = {result.claim: result for result in results}
    return {
        "p*": float(facts.value.upper),
        "lower": float(facts.value.lower),
        "lambda": float(facts.lam),
        "gap": float(facts.value.relative_gap),
        "rows": len(data.Z),
        "filters": len(facts.primal.neurons),
        "unique": str(said["p-unique"].verdict),
        "m*": None if facts.polytope is None else facts.polytope.m_star,
        "undecided": [r.claim for r in results if r.verdict is Verdict.UNDECIDED],
        "reason": said["p-unique"].detail if said["p-unique"].verdict is Verdict.UNDECIDED else "",
        "nodes": proof.nodes if isinstance(proof, Cover) else None,
        "find": found,
        "verify": checked,
        "megabytes": megabytes,
        "certificate": len(text),
        "accuracy": float(np.mean(np.sign(fit) == np.array([float(x) for x in data.y]))),
    }


def held_out(line: Line, folder: Path) -> dict[str, float]:
    """The accuracy on the last quarter of a network found for the first three quarters."""
    from relu_cert.data.read import read_csv

    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "data.csv"
        prepared(line, folder, path)
        quarter = (len(path.read_text().splitlines()) - 1) // 4
        prepared(line, folder, path, slice(None, -quarter))
        facts = found_facts(line, read_csv(path, conv=line.conv, bias=line.bias), COARSE)
        prepared(line, folder, path, slice(-quarter, None))
        rest = read_csv(path, conv=line.conv, bias=line.bias)
    W = np.array([[float(x) for x in one.w] for one in facts.primal.neurons])
    signs = np.array([one.sign for one in facts.primal.neurons])
    heights = np.array([[float(x) for x in z] for z in rest.Z]) @ W.T
    fit = rest.bags.pooled_floats(np.maximum(heights, 0.0)) @ signs
    return {"held out": float(np.mean(np.sign(fit) == np.array([float(x) for x in rest.y])))}


def trained(line: Line, folder: Path, known: dict[str, Any], starts: int, widths: Sequence[int]) -> dict[str, Any]:
    """Per cent above the lower bound, the best and the median of the starts, for both methods and every width."""
    from scipy.optimize import minimize

    from relu_cert.data.read import read_csv

    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "data.csv"
        prepared(line, folder, path)
        data = read_csv(path, conv=line.conv, bias=line.bias)
    Z, y = np.array([[float(x) for x in z] for z in data.Z]), np.array([float(x) for x in data.y])
    scale = float(np.linalg.norm(Z, axis=1).max())
    told: dict[str, Any] = {"starts": starts}
    for m in widths:
        value = objective(Z / scale, y, data.bags, known["lambda"] / scale, m)
        ends: dict[str, list[float]] = {"L-BFGS": [], "Adam": []}
        for seed in range(starts):
            x = np.random.default_rng(seed).standard_normal(m * (Z.shape[1] + 1)) * np.sqrt(2.0 / Z.shape[1])
            ends["L-BFGS"].append(minimize(value, x, jac=True, method="L-BFGS-B", options={"maxiter": LATEST}).fun)
            ends["Adam"].append(adam(value, x))
        for method, values in ends.items():
            above = 100.0 * (np.array(values) / known["lower"] - 1.0)
            told[f"{method} {m}"] = [float(above.min()), float(np.median(above))]
    return told


def objective(Z: Floats, y: Floats, bags: Any, lam: float, m: int) -> Objective:
    """1/2 |P (ZW')_+ v - y|^2 + lambda/2 (|W|^2 + |v|^2) of m neurons, with its gradient."""
    d = Z.shape[1]
    try:
        import torch
    except ImportError:
        return lambda x: by_hand(x, Z, y, bags, lam, m)
    P, T, target = bags.matrix, torch.from_numpy(np.ascontiguousarray(Z)), torch.from_numpy(y)
    P = torch.sparse_csr_tensor(P.indptr.astype(np.int64), P.indices.astype(np.int64), P.data, P.shape)

    def value(x: Floats) -> tuple[float, Floats]:
        at = torch.from_numpy(x).requires_grad_()
        fit = (P @ torch.relu(T @ at[: m * d].view(m, d).T)) @ at[m * d :]
        total = 0.5 * ((fit - target) ** 2).sum() + 0.5 * lam * (at**2).sum()
        total.backward()
        return float(total.detach()), at.grad.numpy()

    return value


def by_hand(x: Floats, Z: Floats, y: Floats, bags: Any, lam: float, m: int) -> tuple[float, Floats]:
    """The same without PyTorch."""
    W, v = x[:-m].reshape(m, -1), x[-m:]
    heights = Z @ W.T
    outputs = bags.pooled_floats(np.maximum(heights, 0.0))
    r = outputs @ v - y
    inner = ((heights > 0.0) * bags.spread_floats(r)[:, None]).T @ Z * v[:, None]
    gradient = np.concatenate([(inner + lam * W).ravel(), outputs.T @ r + lam * v])
    return 0.5 * float(r @ r) + 0.5 * lam * float(x @ x), gradient


def adam(value: Objective, x: Floats) -> float:
    """The least objective on the way of Adam, full batches, the step falling to a hundredth."""
    first, second, best = np.zeros_like(x), np.zeros_like(x), np.inf
    for k in range(1, STEPS + 1):
        now, gradient = value(x)
        best = min(best, now)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        way = first / (1 - 0.9**k) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
        x = x - RATE * 0.01 ** (k / STEPS) * way
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
    """The figures of a line, in words."""
    nodes = "-" if told["nodes"] is None else f"{told['nodes']:,}"
    parts = [
        f"p* {told['p*']:.10g} gap {told['gap']:.1e}, {told['rows']:,} rows, {told['filters']} filters",
        f"unique {told['unique']}, m* {told['m*']}, {nodes} nodes",
        f"find {told['find']:.1f} s, verify {told['verify']:.1f} s",
        f"{told['megabytes']:.0f} MB, certificate {told['certificate'] / 1e6:.2f} MB, accuracy {told['accuracy']:.3f}",
    ]
    if "held out" in told:
        parts.append(f"held out {told['held out']:.3f}")
    if told["undecided"]:
        parts.append(f"undecided {', '.join(told['undecided'])}: {told['reason']}")
    parts += [f"{name}: {told[name][0]:.4g} % above at best, median {told[name][1]:.4g} %" for name in methods(told)]
    misses = missed(line, told)
    return f"{'not met: ' + '; '.join(misses) if misses else 'met'}\n    " + "\n    ".join(parts)


def methods(told: dict[str, Any]) -> list[str]:
    """Which trained networks there are."""
    return [key for key in told if key.startswith(("L-BFGS", "Adam"))]


HEAD = (
    "| data, windows, lambda/lambda_max | p* | gap | filters, m*, unique | rows, nodes | find, verify s | MB "
    "| accuracy, held out | met |\n|---|---|---|---|---|---|---|---|---|"
)


def table(known: dict[str, dict[str, Any]]) -> str:
    """All figures as two tables."""
    rows = [HEAD]
    beside: list[str] = []
    for line in LINES:
        told = known.get(line.name, {})
        if "p*" in told:
            nodes = "leaders" if told["nodes"] is None else f"{told['nodes']:,}"
            held = f", {100 * told['held out']:.0f} %" if "held out" in told else ""
            m_star = "-" if told["m*"] is None else told["m*"]
            rows.append(
                f"| {line.name} | {told['p*']:.8g} | {told['gap']:.0e} | {told['filters']}, {m_star}, {told['unique']} "
                f"| {told['rows']:,}, {nodes} | {told['find']:.0f}, {told['verify']:.1f} | {told['megabytes']:.0f} | "
                f"{100 * told['accuracy']:.1f} %{held} | {'; '.join(missed(line, told)) or 'yes'} |"
            )
        if there := methods(told):
            cells = (f"{told[name][0]:.2g} / {told[name][1]:.2g}" for name in there)
            if not beside:
                beside = ["", f"| per cent above p* | {' | '.join(there)} |", "|---" * (len(there) + 1) + "|"]
            beside.append(f"| {line.name} ({told['starts']} starts) | {' | '.join(cells)} |")
    return "\n".join([*rows, *beside])


def read_results(path: Path | None) -> dict[str, dict[str, Any]]:
    """What is known of every line."""
    known: dict[str, dict[str, Any]] = {}
    for text in path.read_text().splitlines() if path is not None and path.exists() else ():
        one = json.loads(text)
        known.setdefault(one["line"], {}).update(one)
    return known


def measure(name: str, what: str, options: argparse.Namespace) -> dict[str, Any] | str:
    """One part of a line's figures, in a process of its own; or why there are none."""
    own = [
        *("--data", str(options.data), "--starts", str(options.starts), "--widths", options.widths),
        *("--results", str(options.results), "--one", name, "--what", what),
    ]
    own += [] if options.seconds is None else ["--seconds", str(options.seconds)]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.networks", *own], capture_output=True, text=True, check=False
    )
    if run.returncode:
        return (run.stderr.strip().split("\n") or [""])[-1]
    told: dict[str, Any] = {"line": name, **json.loads(run.stdout)}
    if options.results is not None:
        with options.results.open("a") as stream:
            stream.write(json.dumps(told) + "\n")
    return told


def one_part(options: argparse.Namespace) -> dict[str, Any]:
    """What a process of its own measures."""
    line = next(line for line in LINES if line.name == options.one)
    line = line if options.seconds is None else replace(line, seconds=options.seconds)
    if options.what == "proof":
        return measured(line, options.data)
    if options.what == "held out":
        return held_out(line, options.data)
    widths = [int(width) for width in options.widths.split(",")]
    return trained(line, options.data, read_results(options.results)[line.name], options.starts, widths)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="where the files are")
    parser.add_argument("--lines", default="", help="only lines whose names have one of these parts")
    parser.add_argument("--results", type=Path, help="a file to which figures are appended, and that is not repeated")
    parser.add_argument("--print", action="store_true", help="print the table of --results, and measure nothing")
    parser.add_argument("--starts", type=int, default=0, help="train networks, from so many starts (default: 0, none)")
    parser.add_argument("--widths", default="16,64", help="their widths")
    parser.add_argument("--seconds", type=float, help="for one proof, by the clock (300)")
    parser.add_argument("--list", action="store_true", help="only list the lines")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--what", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.data is None and not (options.list or options.print):
        parser.error("--data DIR is needed")
    if (options.print or options.starts) and options.results is None:
        parser.error("--results FILE is needed")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the lines; 1 if one is not met."""
    options = parse(arguments)
    wanted = [part.strip() for part in options.lines.split(",") if part.strip()]
    chosen = [line for line in LINES if not wanted or any(part in line.name for part in wanted)]
    if options.list:
        print("\n".join(line.name for line in chosen))
        return 0
    known = read_results(options.results)
    if options.print:
        print(table(known))
        return 0
    if options.one is not None:
        print(json.dumps(one_part(options)))
        return 0
    failed = 0
    for line in chosen:
        told = dict(known.get(line.name, {}))
        wants = {"proof": "p*", "held out": "held out"} | ({"trained": "starts"} if options.starts else {})
        for what, key in wants.items():
            if key not in told and (what == "proof" or "p*" in told):
                found = measure(line.name, what, options)
                told |= found if isinstance(found, dict) else {f"no {what}": found}
        met = "p*" in told and not missed(line, told)
        failed += not met
        print(f"{line.name}: {shown(line, told) if 'p*' in told else 'not met: ' + told['no proof']}", flush=True)
        for reason in (told[key] for key in told if key in ("no held out", "no trained")):
            print(f"    {reason}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} lines met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
