"""Pruning curves: the paper's figures on UCI, MNIST and CIFAR-10 pairs, with four strategies.

    python -m benchmarks.paper.pruning --data DIR --out DIR [--quick] [--family uci mnist cifar10] [--repeats K]

For each data set and repeat: half of the rows to train on, half to test on; 25 sampled patterns and lambda = 0.01
(UCI), 50 patterns and lambda = 0.01 (MNIST) or 0.05 (CIFAR-10), in the convention of scnn: n lambda in the paper's own
objective. The start is the optimal network of smallest norm, which uses every tied block.

    Optimal/LS           free pruning until the outputs are independent (exact), then least squares, the neuron of
                         smallest residual first
    Neuron Magnitude, Gradient Magnitude, Random     the neuron is dropped, the others stay

A curve's value at k neurons is that of the widest network with at most k of them; medians and quartiles over repeats.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: small matrices

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.paper import explore
from benchmarks.paper.command import base_parser, finish, how_often, progress
from benchmarks.paper.data import (
    CIFAR_PRUNING,
    MNIST_PRUNING,
    UCI_PRUNING,
    Floats,
    Points,
    read_points,
    sample_gates,
    two_parts,
)
from benchmarks.paper.sampled import Sampled, optimum, sampled_program
from benchmarks.paper.store import Record, Store
from relu_cert.exact import Matrix
from relu_cert.network.directions import merge_collinear
from relu_cert.network.objective import ConvexNeuron
from relu_cert.network.prune import PruningStep, Strategy, output_rank, prune_best, pruning_path

FAMILIES = {"uci": UCI_PRUNING, "mnist": MNIST_PRUNING, "cifar10": CIFAR_PRUNING}
SETTINGS = {"uci": (25, 0.01), "mnist": (50, 0.01), "cifar10": (50, 0.05)}  # patterns, lambda
FIGURES = {
    "uci": ("breast-cancer", "fertility", "hill-valley", "monks-1", "spectf"),
    "uci-more": ("blood", "heart-hungarian", "hepatitis", "mammographic", "planning"),
    "mnist": MNIST_PRUNING,
    "cifar10": CIFAR_PRUNING,
}
QUICK = ("fertility", "monks-1", "spectf", "cifar10-1v8")
OURS = "Optimal/LS"
BASELINES = {
    "Neuron Magnitude": Strategy.MAGNITUDE,
    "Gradient Magnitude": Strategy.GRADIENT,
    "Random": Strategy.RANDOM,
}
CURVES = (OURS, *BASELINES)
_LINES = {OURS: ("#8c2d04", "-"), "Neuron Magnitude": ("#1f77b4", "--"), "Gradient Magnitude": ("#d95f9e", "-."),
          "Random": ("#4d9221", ":")}  # fmt: skip

Curve = dict[str, list[float]]

_ROUNDING = 1e-12  # |z.w| below this share of |z| |w| is 0


def family(name: str) -> str:
    """The family of a data set: images are named after theirs."""
    return next((f for f in ("mnist", "cifar10") if name.startswith(f)), "uci")


def starting_network(program: Sampled, gates: Floats) -> tuple[tuple[ConvexNeuron, ...], Record]:
    """The optimal network of smallest norm. Tied blocks with the same neuron have exactly the same direction."""
    found = optimum(program)
    base = np.zeros(program.blocks)
    for neuron in found.solution.neurons:
        base[neuron.block or 0] = np.linalg.norm(neuron.w)
    tied = explore.tied_blocks(found.prices, program.lam) | (base > 0.0)
    blocks = explore.directions(program, found, gates, tied)
    a = explore.shortest_point(explore.fitting(blocks, program.y - found.solution.residual, base[tied]))
    groups = explore.neuron_groups(blocks)
    u = blocks.u @ program.basis
    neurons = tuple(
        ConvexNeuron(int(blocks.sign[i]), tuple(Fraction(float(a[i])) * Fraction(float(x)) for x in u[group[0]]))
        for group in groups
        for i in group
        if a[i] > 0.0
    )
    facts = {"relative_gap": found.solution.relative_gap, "tied_blocks": int(tied.sum()), "neurons": len(groups)}
    return neurons, facts


def free_network(neurons: Sequence[ConvexNeuron], Z: Matrix) -> tuple[ConvexNeuron, ...]:
    """Exact pruning at no cost: neurons of one direction merged, and then all dependences used up."""
    merged = merge_collinear(neurons).neurons
    return merged if output_rank(merged, Z) == len(merged) else prune_best(merged, Z).neurons


def curves(train: Points, test: Points, repeat: int, settings: Record) -> Record:
    """One repeat: train and test accuracy along every strategy's path."""
    began = time.process_time()
    gates, D = sample_gates(train.Z, settings["patterns"], repeat)
    program = sampled_program(train, D, settings["lambda"] * len(train))
    start, record = starting_network(program, gates)
    rows = [Points(program.Z, train.y), Points(test.Z @ program.basis, test.y)]
    Z = tuple(tuple(map(Fraction, row)) for row in program.Z.tolist())
    y = tuple(map(Fraction, train.y.tolist()))
    lam = Fraction(program.lam)
    free = free_network(start, Z)
    paths = {OURS: list(pruning_path(free, Z, y, lam, Strategy.RESIDUAL))}
    for name, strategy in BASELINES.items():
        paths[name] = list(pruning_path(start, Z, y, lam, strategy, correct=False, seed=repeat))
    record |= {"rows": [len(train), len(test)], "start": len(start), "free": len(free), "curves": {}}
    record["curves"] = {name: _curve(path, *rows) for name, path in paths.items()}
    record["seconds"] = time.process_time() - began
    return record


def _curve(path: Sequence[PruningStep], train: Points, test: Points) -> Curve:
    steps = [step for step in path if step.width]
    return {
        "width": [step.width for step in steps],
        "train": [_accuracy(step, train) for step in steps],
        "test": [_accuracy(step, test) for step in steps],
        "loss": [step.loss for step in steps],
    }


def _accuracy(step: PruningStep, points: Points) -> float:
    """Rows on which no neuron speaks count as errors, also where rounding leaves something of a row on a border."""
    inner = points.Z @ step.w.T
    silent = np.abs(inner) <= _ROUNDING * np.linalg.norm(points.Z, axis=1)[:, None] * np.linalg.norm(step.w, axis=1)
    scores: Floats = np.where(silent, 0.0, np.maximum(inner, 0.0)) @ step.signs
    return explore.accuracy(scores, points.y)


def at_width(curve: Curve, key: str, width: int) -> float:
    """The value of the widest network with at most so many neurons (the narrowest, where all are wider)."""
    fitting = [value for w, value in zip(curve["width"], curve[key], strict=True) if w <= width]
    return fitting[0] if fitting else curve[key][-1]


def quartiles(repeats: Sequence[Record], name: str, key: str) -> tuple[list[int], Floats]:
    """Widths 1, 2, ... and the median, lower and upper quartile at each."""
    widths = list(range(1, max(r["start"] for r in repeats) + 1))
    values = np.array([[at_width(r["curves"][name], key, w) for w in widths] for r in repeats])
    return widths, np.quantile(values, (0.5, 0.25, 0.75), axis=0)


def area(repeats: Sequence[Record], name: str, key: str = "test") -> float:
    """The mean of a curve over all widths from 1 to the start, averaged over repeats: one number to compare by."""
    means = [np.mean([at_width(r["curves"][name], key, w) for w in range(1, r["start"] + 1)]) for r in repeats]
    return float(np.mean(means))


def draw(folder: Path, title: str, results: dict[str, list[Record]]) -> None:
    """One figure, train and test accuracy of each data set (medians and quartiles), as SVG and PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    height = 2.3 * len(results) + 0.9
    figure, axes = plt.subplots(len(results), 2, figsize=(9, height), squeeze=False)
    for row, (name, repeats) in zip(axes, results.items(), strict=True):
        for axis, key in zip(row, ("train", "test"), strict=True):
            for curve in reversed(CURVES):  # ours on top
                colour, style = _LINES[curve]
                widths, (median, lower, upper) = quartiles(repeats, curve, key)
                axis.fill_between(widths, lower, upper, color=colour, alpha=0.13, linewidth=0)
                axis.plot(widths, median, color=colour, linestyle=style, label=curve, linewidth=1.9)
            axis.set_title(f"{name}: {key}", fontsize=10)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.grid(alpha=0.3)
            axis.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("accuracy")
    for axis in axes[-1]:
        axis.set_xlabel("neurons")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="upper center", ncol=len(CURVES), frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / height))
    for ending in ("svg", "png"):
        figure.savefig(folder / f"pruning-{title}.{ending}", dpi=130)
    plt.close(figure)


def write(folder: Path, results: dict[str, list[Record]]) -> str:
    """pruning.csv, the figures, and a table: the mean accuracy of each strategy over all widths."""
    with (folder / "pruning.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["set", "repeats", "strategy", "accuracy of", "width", "median", "lower", "upper"])
        for name, repeats in results.items():
            for curve in CURVES:
                for key in ("train", "test"):
                    widths, values = quartiles(repeats, curve, key)
                    for width, three in zip(widths, values.T, strict=True):
                        rows.writerow([name, len(repeats), curve, key, width, *(f"{x:.4f}" for x in three)])
    for title, names in FIGURES.items():
        shown = {name: results[name] for name in names if name in results}
        if shown:
            draw(folder, title, shown)
    lines = [
        "Mean accuracy over all widths, train / test:",
        "",
        f"| set | repeats | start | free | {' | '.join(CURVES)} | best on test |",
        f"|{'---|' * (len(CURVES) + 5)}",
    ]
    for name, repeats in results.items():
        scores = {curve: (area(repeats, curve, "train"), area(repeats, curve)) for curve in CURVES}
        sizes = [str(round(float(np.median([r[key] for r in repeats])))) for key in ("start", "free")]
        cells = [f"{a:.3f} / {b:.3f}" for a, b in scores.values()]
        best = max(scores, key=lambda curve: scores[curve][1])
        lines.append(f"| {name} | {len(repeats)} | {' | '.join([*sizes, *cells])} | {best} |")
    (folder / "pruning.md").write_text("\n".join(lines) + "\n")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = base_parser(__doc__ or "", 16, f"{', '.join(QUICK)}; one repeat")
    options.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    return options


def experiment(options: argparse.Namespace) -> str:
    """Run what is missing, write the figures; the table."""
    names = options.sets or (QUICK if options.quick else [n for f in options.family for n in FAMILIES[f]])
    count = how_often(options)
    results: dict[str, list[Record]] = {}
    for name in names:
        patterns, lam = SETTINGS[family(name)]
        settings = {"experiment": "pruning", "version": 2, "patterns": patterns, "lambda": lam, "penalty": "scnn"}
        points = read_points(options.data, name)

        def run(k: int, points: Points = points, settings: Record = settings) -> Record:
            return curves(*two_parts(points, k), k, settings)

        for k, record, there in Store(options.out / "pruning", settings).completed(name, count, run):
            results.setdefault(name, []).append(record)
            progress(f"{name} {k + 1}/{count}", _line(record), there)
    return write(options.out, results)


def _line(record: Record) -> str:
    text = f"gap {record['relative_gap']:.0e}, {record['start']} neurons, {record['free']} after free pruning"
    return f"{text}, {record['seconds']:.0f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return finish(experiment, parser().parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
