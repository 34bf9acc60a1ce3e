"""Exploring the optimal set: the paper's tables tuning-small and tuning-full.

    python -m benchmarks.paper.tuning --data DIR --out DIR [--quick] [--sets NAME ...] [--split 15/5/80] [--repeats K]

For each data set and repeat: split the rows, sample 500 patterns, solve the ReLU program (lambda = 0.001 in the
convention of scnn, which the paper's code uses: n times that in the paper's own objective), and look for networks in
the optimal set: Min L2, EP, V-MSE, T-MSE. Reported are test accuracies, medians and quartiles over repeats.

Four columns can be computed in two ways, and both are kept:

    network   the network's own predictions, xi (Zu)_+
    gates     the convex program's with its sampled gates, xi 1(Zg > 0) Zu: what the published code scores

and over two sets of weights with the same training fit:

    optimal   the blocks that are tied at the optimum: the optimal set
    all       every sampled block in its direction v_b: equal fit, but a larger penalty, hence not optimal (`excess`
              says by how much). The published code tunes all blocks that are not exactly zero, and an interior-point
              method leaves small weights in every block. Min L2 is the solver's own network here, EP the printed one.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: small matrices

import argparse
import csv
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.paper import explore
from benchmarks.paper.command import base_parser, finish, how_often, progress
from benchmarks.paper.data import (
    FULL_TABLE,
    SMALL_TABLE,
    Bits,
    Floats,
    Parts,
    Points,
    Split,
    read_points,
    sample_gates,
    three_parts,
)
from benchmarks.paper.sampled import Optimum, Sampled, optimum, sampled_program
from benchmarks.paper.store import Record, Store

COLUMNS = ("min_l2", "ep", "v_mse", "t_mse")
TITLES = {"min_l2": "Min L2", "ep": "EP", "v_mse": "V-MSE", "t_mse": "T-MSE", "max_diff": "Max Diff"}
KINDS = ("optimal/network", "optimal/gates", "all/network", "all/gates")
QUICK = ("fertility", "monks-1", "planning", "spectf")
PRINTED = Path(__file__).with_name("printed.json")


def printed(table: str = "table:tuning-full") -> dict[str, dict[str, str]]:
    """The paper's table: a row for each data set, cells as printed."""
    rows: dict[str, dict[str, str]] = json.loads(PRINTED.read_text())[table]
    return rows


def tune(parts: Parts, repeat: int, settings: Record) -> Record:
    """One repeat: everything that is reported."""
    began = time.process_time()
    gates, D = sample_gates(parts.train.Z, settings["patterns"], repeat)
    lam = settings["lambda"] * (len(parts.train) if settings["penalty"] == "scnn" else 1)
    program = sampled_program(parts.train, D, lam, gated=settings["model"] == "gated")
    found = optimum(program)
    base = np.zeros(program.blocks)
    for neuron in found.solution.neurons:
        base[neuron.block or 0] = np.linalg.norm(neuron.w)
    tied = explore.tied_blocks(found.prices, lam) | (base > 0.0)
    best = _set(program, found, gates, tied, base)
    points = {
        "min_l2": explore.shortest_point(best),
        "ep": explore.long_vertex(best, repeat),
        "v_mse": explore.least_error(best, parts.validation),
        "t_mse": explore.least_error(best, parts.test),
    }
    record: Record = {
        "rows": [len(parts.train), len(parts.validation), len(parts.test)],
        "features": parts.train.Z.shape[1],
        "patterns": len(D),
        "lambda": lam,
        "relative_gap": found.solution.relative_gap,
        "active_blocks": int((base > 0.0).sum()),
        "tied_blocks": int(tied.sum()),
        "neurons": len(explore.neuron_groups(best.directions)),
        "dimension": best.dimension,
        "next_price": float(np.max(found.prices.norm[~tied], initial=0.0) / lam),
        "optimal": _scores(best, points, parts, found, base),
    }
    wide = _set(program, found, gates, tied | (found.prices.norm > 1e-6 * lam), base)
    others = {
        "min_l2": wide.start,
        "ep": explore.heaviest(wide),
        "v_mse": explore.least_error(wide, parts.validation),
        "t_mse": explore.least_error(wide, parts.test),
    }
    record["all"] = _scores(wide, others, parts, found, base)
    record["seconds"] = time.process_time() - began
    return record


def _set(program: Sampled, found: Optimum, gates: Floats, which: Bits, base: Floats) -> explore.Set:
    fit = program.y - found.solution.residual
    return explore.fitting(explore.directions(program, found, gates, which), fit, base[which])


def _scores(given: explore.Set, points: dict[str, Floats], parts: Parts, found: Optimum, base: Floats) -> Record:
    """Test accuracies of both kinds, and by how much the objective exceeds the optimum."""
    network, gated = given.directions.network(parts.test.Z), given.directions.gated(parts.test.Z)
    primal, lam = found.solution.primal, found.solution.lam
    return {
        "network": {name: explore.accuracy(network @ a, parts.test.y) for name, a in points.items()},
        "gates": {name: explore.accuracy(gated @ a, parts.test.y) for name, a in points.items()},
        "excess": {name: lam * float(a.sum() - base.sum()) / primal for name, a in points.items()},
    }


def summary(repeats: Sequence[Record], kind: str) -> dict[str, tuple[float, float, float]]:
    """Median and quartiles of each column. Max Diff is the spread of the columns' medians (and of their quartiles), as
    in the published script."""
    where, how = kind.split("/")
    values = np.array([[r[where][how][column] for column in COLUMNS] for r in repeats])
    quartiles = np.quantile(values, (0.5, 0.25, 0.75), axis=0)
    spread = quartiles.max(axis=1) - quartiles.min(axis=1)
    cells = np.column_stack([quartiles, spread]).T
    return {name: (float(m), float(lo), float(hi)) for name, (m, lo, hi) in zip(TITLES, cells, strict=True)}


def cell(value: tuple[float, float, float]) -> str:
    """median (lower/upper)"""
    m, lo, hi = value
    return f"{m:.2f} ({lo:.2f}/{hi:.2f})"


def short_table(results: dict[str, list[Record]], split: str) -> str:
    """Min L2 and Max Diff only: printed, and ours by the gates and by the network, over tied and over all blocks."""
    paper = printed()
    head = ["set", "repeats", "Min L2 printed", "gates", "network", "Max Diff printed", "optimal, network",
            "optimal, gates", "all, network", "all, gates"]  # fmt: skip
    lines = [f"### {split}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name, repeats in results.items():
        ours = {kind: summary(repeats, kind) for kind in KINDS}
        said = paper.get(name, {})
        shortest = [cell(ours[f"optimal/{how}"]["min_l2"]) for how in ("gates", "network")]
        spreads = [f"{ours[kind]['max_diff'][0]:.2f}" for kind in KINDS]
        most = said.get("max_diff", "").split(" ")[0]
        lines.append(f"| {' | '.join([name, str(len(repeats)), said.get('min_l2', ''), *shortest, most, *spreads])} |")
    return "\n".join(lines)


def table(results: dict[str, list[Record]], split: str) -> str:
    """Our columns beside the printed ones, in Markdown."""
    paper = printed()
    lines = [f"### {split}", "", f"| set | row | {' | '.join(TITLES.values())} |", f"|{'---|' * (len(TITLES) + 2)}"]
    for name, repeats in results.items():
        if name in paper:
            lines.append(f"| {name} | printed | {' | '.join(paper[name][c] for c in TITLES)} |")
        for kind in KINDS:
            ours = summary(repeats, kind)
            lines.append(f"| | {kind} | {' | '.join(cell(ours[c]) for c in TITLES)} |")
        single = sum(r["neurons"] == r["tied_blocks"] - r["dimension"] for r in repeats)
        excess = np.median([r["all"]["excess"]["t_mse"] for r in repeats])
        lines.append(
            f"| | {len(repeats)} repeats | one optimal network in {single}; gap at most "
            f"{max(r['relative_gap'] for r in repeats):.0e}; T-MSE over all blocks: objective + {excess:.0%} (median) |"
            + " |"
            * (len(TITLES) - 1)
        )
    return "\n".join(lines)


def write(folder: Path, results: dict[str, dict[str, list[Record]]]) -> str:
    """tuning.md and tuning.csv; the text of the former."""
    text = "\n\n".join(show(sets, split) for split, sets in results.items() for show in (short_table, table))
    (folder / "tuning.md").write_text(text + "\n")
    paper = printed()
    with (folder / "tuning.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["split", "set", "repeats", "kind", "column", "median", "lower", "upper", "printed"])
        for split, sets in results.items():
            for name, repeats in sets.items():
                for kind in KINDS:
                    for column, value in summary(repeats, kind).items():
                        said = paper.get(name, {}).get(column, "")
                        rows.writerow([split, name, len(repeats), kind, column, *(f"{x:.4f}" for x in value), said])
    return text


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = base_parser(__doc__ or "", 17, f"{', '.join(QUICK)}; 15/5/80; one repeat")
    options.add_argument("--small", action="store_true", help="the ten sets of table:tuning-small")
    options.add_argument("--split", choices=[str(s) for s in Split], action="append", help="default: both")
    options.add_argument("--patterns", type=int, default=500)
    options.add_argument("--lambda", dest="lam", type=float, default=0.001)
    options.add_argument("--penalty", choices=["scnn", "paper"], default="scnn", help="what lambda means")
    options.add_argument("--model", choices=["relu", "gated"], default="relu")
    return options


def experiment(options: argparse.Namespace) -> str:
    """Run what is missing; the tables."""
    names = options.sets or (QUICK if options.quick else SMALL_TABLE if options.small else FULL_TABLE)
    splits = [Split(s) for s in options.split or ([Split.FITTING] if options.quick else list(Split))]
    count = how_often(options)
    settings = {
        "experiment": "tuning",
        "version": 1,
        "model": options.model,
        "patterns": options.patterns,
        "lambda": options.lam,
        "penalty": options.penalty,
    }
    results: dict[str, dict[str, list[Record]]] = {}
    for split in splits:
        store = Store(options.out / f"tuning-{split.replace('/', '-')}", settings)
        results[split] = {}
        for name in names:
            points = read_points(options.data, name)

            def run(k: int, points: Points = points, split: Split = split) -> Record:
                return tune(three_parts(points, split, k), k, settings)

            for k, record, there in store.completed(name, count, run):
                results[split].setdefault(name, []).append(record)
                progress(f"{split} {name} {k + 1}/{count}", _line(record), there)
    return write(options.out, results)


def _line(record: Record) -> str:
    return (
        f"gap {record['relative_gap']:.0e}, {record['tied_blocks']} tied blocks, {record['neurons']} neurons, "
        f"dimension {record['dimension']}, {record['seconds']:.0f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return finish(experiment, parser().parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
