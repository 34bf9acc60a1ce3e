"""Proved gaps of the leaders on real data: the relaxation against its bars.

    python benchmarks/leaders.py --data DIR [--sets pima,spectf] [--ratios .5,.1] [--seconds 60] [--plain]

DIR holds CSV files NAME.csv with a header, features and a last column of labels 0 and 1. For each set and lambda the
network comes from column generation with local ascent (floats); the leaders prove a lower bound of p* over networks of
any width, and the independent checker proves it again. The gap is (objective - bound) / objective, in per cent. The bar
is 1.1 times the gap of the first sketch of the relaxation. Seconds are those of the processor (one thread), so that a
busy machine does not count; only `--seconds` is on the clock. "first" is the first answer, `--plain` stops there.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector
from relu_cert.leaders.find import Neuron, find_leaders
from relu_cert.leaders.model import Leaders, leaders_record
from verify.leaders import check_leaders
from verify.problem import Problem
from verify.text import Node

Floats = NDArray[np.float64]
RATIOS = (0.5, 0.2, 0.1, 0.05)
SKETCH = {  # gaps in per cent at these ratios
    "mammographic": (0.01, 0.00, 0.36, 0.90),
    "monks-1": (0.31, 0.11, 0.44, 4.3),
    "pima": (0.11, 1.1, 3.2, 8.6),
    "tic-tac-toe": (1.2, 3.2, 4.3, 5.8),
    "ilpd-indian-liver": (0.04, 1.0, 1.5, 2.1),
    "breast-cancer": (0.55, 2.5, 5.7, 17.0),
    "fertility": (2.6, 5.8, 7.1, 8.5),
    "heart-hungarian": (0.05, 0.6, 2.7, 8.3),
    "statlog-heart": (0.06, 1.1, 5.7, 16.0),
    "hepatitis": (0.7, 3.4, 6.0, 10.0),
    "parkinsons": (0.00, 0.9, 1.9, 4.3),
    "spectf": (0.25, 4.0, 7.4, 14.0),
}
OTHERS = ("blood", "planning", "horse-colic", "ionosphere", "hill-valley")
WIDE = ("mnist-2v6", "mnist-1v7", "mnist-5v9", "cifar10-0v2", "cifar10-1v8", "cifar10-3v5")
LEAST = 0.02  # a bar of less than this, in per cent, is this: the objective itself is not known better


@dataclass(frozen=True)
class Network:
    """A network found by column generation: its neurons' directions, signs and lengths, and its objective."""

    U: Floats
    signs: Floats
    lengths: Floats
    objective: float


def read(path: Path) -> tuple[Matrix, Vector]:
    """Features exactly as written, labels as 1 and -1."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    Z = tuple(tuple(map(Fraction, row[:-1])) for row in rows)
    return Z, tuple(Fraction(1) if Fraction(row[-1]) > Fraction(1, 2) else Fraction(-1) for row in rows)


def ascend(Z: Floats, theta: Floats, U: Floats, steps: int = 150) -> tuple[Floats, Floats]:
    """Local ascent of sum theta_k (z_k.u)_+ on the sphere from each column of U."""
    U = U / np.linalg.norm(U, axis=0)
    best, at = np.full(U.shape[1], -np.inf), U
    for step in range(steps):
        T = Z @ U
        heights = theta @ np.maximum(T, 0)
        better = heights > best
        best, at = np.where(better, heights, best), np.where(better, U, at)
        slope = Z.T @ ((T > 0) * theta[:, None])
        slope -= U * (U * slope).sum(axis=0)
        U = U + 0.3 * 0.96**step * slope / (np.linalg.norm(slope, axis=0) + 1e-12)
        U = U / np.linalg.norm(U, axis=0)
    return best, at


def weights(K: Floats, y: Floats, lam: float, a: Floats) -> Floats:
    """min 1/2|Ka - y|^2 + lambda sum a over a >= 0, by coordinate descent."""
    found: Floats = descend(K.T @ K, K.T @ y - lam, a.copy(), 1e-8 * np.sqrt(len(y)))
    return found


@njit(cache=False)  # type: ignore[untyped-decorator]
def descend(gram: Floats, pull: Floats, a: Floats, least: float) -> Floats:
    """min 1/2 a'gram a - pull.a over a >= 0"""
    slope = gram @ a - pull
    for _ in range(20000):
        moved = 0.0
        for j in range(len(a)):
            if gram[j, j] > 1e-14:
                change = max(a[j] - slope[j] / gram[j, j], 0.0) - a[j]
                if change != 0:
                    a[j] += change
                    slope += change * gram[:, j]
                    moved = max(moved, abs(change) * np.sqrt(gram[j, j]))
        if moved < least:
            break
    return a


def train(
    Z: Floats, y: Floats, lam: float, start: Network | None, rng: np.random.Generator, rounds: int = 25
) -> Network:
    """Column generation: the best weights of the neurons, then new neurons where (*) fails."""
    d = Z.shape[1]
    U = np.zeros((d, 0)) if start is None else start.U
    signs = np.zeros(0) if start is None else start.signs
    a = np.zeros(len(signs)) if start is None else start.lengths.copy()
    for _ in range(rounds):
        a = weights(np.maximum(Z @ U, 0) * signs, y, lam, a)
        U, signs, a = U[:, a > 0], signs[a > 0], a[a > 0]
        theta = y - np.maximum(Z @ U, 0) @ (signs * a)
        fresh, sides = [], []
        for xi in (1.0, -1.0):
            seeds = np.concatenate([rng.standard_normal((d, 40)), U[:, signs == xi]], axis=1)
            heights, at = ascend(Z, xi * theta, seeds)
            for i in np.argsort(-heights):
                if heights[i] > lam * (1 + 1e-4) and all(at[:, i] @ u < 0.999 for u in fresh[-10:]):
                    fresh.append(at[:, i])
                    sides.append(xi)
                if len(sides) > 20:
                    break
        if not fresh:
            break
        U = np.concatenate([U, np.array(fresh).T], axis=1)
        signs, a = np.concatenate([signs, sides]), np.concatenate([a, np.zeros(len(sides))])
    a = weights(np.maximum(Z @ U, 0) * signs, y, lam, a)
    theta = y - np.maximum(Z @ U, 0) @ (signs * a)
    return Network(U, signs, a, float(0.5 * theta @ theta + lam * a.sum()))


@dataclass(frozen=True)
class Measured:
    """One line: gap in per cent, seconds to find (one cell for each sign, and in all) and to verify, cells and size."""

    gap: float
    first_gap: float
    first: float
    find: float
    verify: float
    cells: int
    size: int


def measure(Z: Matrix, y: Vector, lam: Fraction, network: Network, seconds: float, plain: bool) -> Measured:
    """Find the evidence, and verify it."""
    neurons = [
        Neuron(int(xi), (a * u).tolist())
        for xi, a, u in zip(network.signs, network.lengths, network.U.T, strict=True)
        if a > 0
    ]
    heard: list[tuple[float, Leaders]] = []
    began = time.process_time()
    good = 1.0 if plain else 1e-4
    best = find_leaders(
        Z, y, lam, neurons, seconds, good=good, tell=lambda one: heard.append((time.process_time() - began, one))
    )
    find = time.process_time() - began
    if best is None:
        raise RuntimeError("no evidence was found")
    text = json.dumps(leaders_record(best))
    began = time.process_time()
    _, lower = check_leaders(Problem("relu", lam, Z, y), Node(json.loads(text)))
    verify = time.process_time() - began
    if lower != best.lower:
        raise RuntimeError("the checker proves another bound")
    gaps = [100 * (network.objective - float(one.lower)) / network.objective for one in (best, heard[0][1])]
    cells = len(best.plus.cells) + len(best.minus.cells)
    return Measured(*gaps, heard[0][0], find, verify, cells, len(text))


def run(name: str, data: Path, ratios: Sequence[float], seconds: float, plain: bool) -> None:
    """The lines of one set."""
    Z, y = read(data / f"{name}.csv")
    rows, target = np.array(Z, dtype=np.float64), np.array(y, dtype=np.float64)
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    turn = directions[sizes > 1e-9 * sizes[0]]
    short = rows @ turn.T
    rng = np.random.default_rng(0)
    seeds = np.concatenate([rng.standard_normal((short.shape[1], 300)), short.T], axis=1)
    largest = max(float(ascend(short, xi * target, seeds)[0].max()) for xi in (1, -1))
    network: Network | None = None
    for ratio in sorted(ratios, reverse=True):
        began = time.process_time()
        network = train(short, target, ratio * largest, network, rng)
        solve = time.process_time() - began
        lifted = Network(turn.T @ network.U, network.signs, network.lengths, network.objective)
        got = measure(Z, y, Fraction(ratio * largest), lifted, seconds, plain)
        known = SKETCH.get(name)
        bar = max(LEAST, 1.1 * known[RATIOS.index(ratio)]) if known and ratio in RATIOS else None
        met = "" if bar is None else "met" if got.gap <= bar else "NOT MET"
        print(
            f"| {name} | {rows.shape[0]} x {rows.shape[1]} | {ratio:g} | {len(network.signs)} | {got.first_gap:.3f} | "
            f"{got.first:.1f} | {got.gap:.3f} | {got.find:.1f} | {got.cells} | {'' if bar is None else f'{bar:.2f}'} | "
            f"{met} | {got.verify:.2f} | {got.size / 1024:.0f} | {solve:.1f} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join((*SKETCH, *OTHERS)), help="names, or `wide` for the image pairs")
    parser.add_argument("--ratios", default=",".join(map(str, RATIOS)))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--plain", action="store_true", help="stop at the first answer")
    asked = parser.parse_args()
    names = WIDE if asked.sets == "wide" else asked.sets.split(",")
    print(
        "| set | n x d | lambda/lambda_max | neurons | first gap % | s | gap % | s | cells | bar % | | verify s | KB "
        "| network s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for name in names:
        run(name, asked.data, [float(r) for r in asked.ratios.split(",")], asked.seconds, asked.plain)


if __name__ == "__main__":
    main()
