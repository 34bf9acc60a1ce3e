"""The solver against its peers: python -m benchmarks.solve [--quick] [--no-peers] [--scnn]

Every solver gets the same problem. Its answer is judged by its true relative gap, measured here from the weights it
returned: the primal value of the network they make, and the dual value of the residual scaled by exact prices of all
patterns. Times are processor times of the solver's call alone, in one thread, after a warm-up, so that a busy machine
slows all alike. Ratios are against this solver.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: all solvers compete on one thread

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import environment
from relu_cert.certificate import certificate, dumps
from relu_cert.checker import accepted
from relu_cert.claims import decide
from relu_cert.claims.claim import Verdict
from relu_cert.data.dataset import Source
from relu_cert.data.raw import digest
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, find_facts
from relu_cert.lasso import lasso
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.problem.networks import over_patterns
from relu_cert.problem.problem import Problem
from relu_cert.report.progress import Progress
from relu_cert.solve import FloatProblem, lambda_max, prepare, solve
from relu_cert.solve.oracle import oracle_of
from relu_cert.solve.prepare import NetworkArrays, Neuron

Floats = NDArray[np.float64]
SIZE = 5  # of the groups of the lasso
LASSO_RATIOS = (0.5, 0.1, 0.05)  # of lambda_max
PROVED = ("optimal", "p-unique")
SAMPLED_TOLERANCES = [1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12]
TOLERANCES = {  # what each peer calls its tolerance; the true gaps are measured here
    "celer": [1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-15],
    "skglm": [1e-6, 1e-8, 1e-10, 1e-12],
    "adelie": [1e-8, 1e-10, 1e-12, 1e-14, 1e-16, 1e-18],
    "scnn": [1e-6, 1e-10],
}


@dataclass(frozen=True)
class Instance:
    """A problem with everything a peer may want."""

    model: str
    problem: Problem
    data: FloatProblem
    U: Floats  # a witness for every pattern
    lam: float
    ratio: float

    @property
    def arrays(self) -> NetworkArrays:
        """Z and the packed patterns."""
        assert isinstance(self.data.arrays, NetworkArrays)
        return self.data.arrays

    @property
    def D(self) -> NDArray[np.bool_]:
        """The patterns."""
        return np.unpackbits(self.arrays.bits, axis=1, count=self.arrays.n).astype(bool)

    @property
    def name(self) -> str:
        """What is printed."""
        n, d = self.arrays.Z.shape
        return f"{self.model} n={n} d={d}, {len(self.arrays.bits)} patterns, {self.ratio:g} lambda_max"


@dataclass(frozen=True)
class Score:
    """A solver's time and the true relative gap of its answer."""

    solver: str
    seconds: float
    gap: float


def instances(n: int, d: int, model: str, ratios: tuple[float, ...], seed: int = 0) -> list[Instance]:
    """Gaussian data with three decimals."""
    g = np.random.default_rng(seed)
    Z = [[Fraction(round(1000 * x), 1000) for x in row] for row in g.standard_normal((n, d)).tolist()]
    y = tuple(Fraction(round(1000 * x), 1000) for x in g.standard_normal(n).tolist())
    rows = tuple(tuple(row) for row in Z)
    patterns = enumerate_patterns(rows)
    problem = (relu if model == "relu" else gated)(rows, y, patterns)
    data = prepare(problem)
    count = len(patterns) if model == "gated" else patterns.open_cells
    witnesses = np.array([[float(x) for x in patterns.witness(i)] for i in range(count)]) if count <= 5000 else None
    largest = lambda_max(data)
    U = np.zeros((count, d)) if witnesses is None else witnesses
    return [Instance(model, problem, data, U, ratio * largest, ratio) for ratio in ratios]


def true_gap(instance: Instance, neurons: list[Neuron]) -> float:
    """(P - D)/P with D from the residual, scaled until every block is feasible."""
    oracle = oracle_of(instance.data)
    y, lam = instance.data.y, instance.lam
    outputs = oracle.outputs(neurons).T
    norms = np.array([np.linalg.norm(n.w) for n in neurons])
    r = y - outputs.sum(axis=0)
    top, _ = oracle.price(r, lam)
    s = min(1.0, lam / top)
    primal = 0.5 * float(r @ r) + lam * float(norms.sum())
    gap = 0.5 * (1 - s) ** 2 * float(r @ r) + float((lam * norms - s * (outputs @ r)).sum())
    return max(gap, 0.0) / primal


def neurons_of(instance: Instance, W: Floats) -> list[Neuron]:
    """Weights as neurons. For ReLU any w is a neuron xi (Zw)_+, whatever cone it was meant for."""
    p = len(instance.arrays.bits)
    kept = [i for i in range(len(W)) if W[i].any()]
    if instance.model == "gated":
        return [Neuron(1, i, W[i]) for i in kept]
    return [Neuron(1 if i < p else -1, None, W[i]) for i in kept]


def ours(instance: Instance, repeats: int) -> Score:
    """This solver: the best of some runs, with its true gap measured from scratch."""
    best, answer = float("inf"), None
    for _ in range(repeats):
        began = time.process_time()
        answer = solve(instance.data, instance.lam)
        best = min(best, time.process_time() - began)
    assert answer is not None
    return Score("relu_cert", best, true_gap(instance, list(answer.neurons)))


def clarabel(instance: Instance) -> Score:
    """The whole program by cvxpy and Clarabel at its tightest settings."""
    import cvxpy

    cp: Any = cvxpy

    Z, D, y = instance.arrays.Z, instance.D.astype(float), instance.data.y
    p, d = len(D), Z.shape[1]
    signs = (1.0,) if instance.model == "gated" else (1.0, -1.0)
    parts = [cp.Variable((p, d)) for _ in signs]
    fit = sum(s * cp.sum(cp.multiply(D.T, Z @ W.T), axis=1) for s, W in zip(signs, parts, strict=True))
    penalty = sum(cp.sum(cp.norm(W, 2, axis=1)) for W in parts)
    cones = [] if instance.model == "gated" else [cp.multiply(2 * D.T - 1, Z @ W.T) >= 0 for W in parts]
    program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(fit - y) + instance.lam * penalty), cones)
    began = time.process_time()
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate answer is measured like any other
        program.solve(solver=cp.CLARABEL, **tight)
    seconds = time.process_time() - began
    W = np.concatenate([np.zeros((p, d)) if V.value is None else V.value for V in parts])
    return Score("cvxpy + Clarabel", seconds, true_gap(instance, neurons_of(instance, W)))


def peer(instance: Instance, name: str, limit: float) -> list[Score]:
    """A peer in its own environment, at all tolerances it has time for."""
    data = instance.data
    attempts = environment.run(
        name, instance.model, instance.arrays.Z, instance.D, instance.U, data.y, instance.lam, TOLERANCES[name], limit
    )
    return [Score(name, a.seconds, true_gap(instance, neurons_of(instance, a.W))) for a in attempts]


def table(instance: Instance, scores: list[Score]) -> None:
    """Print the scores of one problem."""
    print(f"\n{instance.name}", flush=True)
    base = scores[0].seconds
    for score in scores:
        ratio = "" if score is scores[0] else f"{score.seconds / base:8.1f} x"
        print(f"  {score.solver:18s} {score.seconds:9.3f} s   true gap {score.gap:8.1e}   {ratio}")


@dataclass(frozen=True)
class Bar:
    """What is asked of the solver, in words, and whether it was met."""

    text: str
    met: bool


def compare_relu(quick: bool, peers: Sequence[str], bars: list[Bar]) -> None:
    """ReLU over all patterns, against the whole program."""
    n = 20 if quick else 50
    for instance in instances(n, 3, "relu", (0.1, 0.01)):
        scores = [ours(instance, 3)]
        if peers:
            scores.append(clarabel(instance))
        if "scnn" in peers:
            scores += peer(instance, "scnn", 30.0)
        table(instance, scores)
        if peers and not quick:
            ratio = scores[1].seconds / scores[0].seconds
            text = f"{instance.name}: {ratio:.0f} x faster than cvxpy + Clarabel (bar 25), gap {scores[0].gap:.0e}"
            bars.append(Bar(text, ratio >= 25 and scores[0].gap <= 1e-12))


def compare_gated(quick: bool, peers: Sequence[str], bars: list[Bar]) -> None:
    """Gated ReLU, against the group-lasso codes."""
    n = 20 if quick else 50
    for instance in instances(n, 3, "gated", (0.1, 0.01)):
        scores = [ours(instance, 3)]
        if peers:
            scores.append(clarabel(instance))
        for name in peers:
            scores += peer(instance, name, 10.0 if quick else 30.0)
        table(instance, scores)
        good = [s for s in scores[1:] if s.gap <= 1e-8]
        if good and not quick:
            fastest = min(good, key=lambda s: s.seconds)
            text = (
                f"{instance.name}: {fastest.seconds / scores[0].seconds:.1f} x faster than the fastest peer with a gap "
                f"of 1e-8 ({fastest.solver}), gap {scores[0].gap:.0e}"
            )
            bars.append(Bar(text, fastest.seconds > scores[0].seconds and scores[0].gap <= 1e-12))


def compare_lasso(quick: bool, peers: Sequence[str], bars: list[Bar]) -> None:
    """The group lasso of doubles, proved (`optimal` and `p-unique`), against celer at its tightest tolerance.

    `proved` is the time from the arrays to the verdicts: reading, solving, the exact points, balls and faces that are
    the proof, and the claims decided from them. `written` is that of the certificate's text, nine tenths of which
    repeat the data. The bar is on both together. `re-checked` is the time of the independent checker.
    """
    if "celer" not in peers:
        return
    for n, d in ((30, 60),) if quick else ((100, 200), (200, 500)):
        for planted, ratio in product((True, False), LASSO_RATIOS):
            X, y, lam = lasso_data(n, d, planted, ratio)
            proved, written, checked = proved_lasso(X, y, lam)
            attempts = environment.run_lasso("celer", X, y, SIZE, lam, TOLERANCES["celer"], 10.0)
            if not attempts:
                continue
            tightest = attempts[-1]
            gap = lasso_gap(X, y, lam, tightest.W)
            targets, made = "planted" if planted else "Gaussian", proved + written
            print(f"\ngroup lasso {n} x {d}, groups of {SIZE}, {targets} targets, {ratio} lambda_max")
            print(f"  celer              {tightest.seconds:9.4f} s   tolerance {tightest.tol:g}, true gap {gap:.1e}")
            print(f"  relu_cert          {proved:9.4f} s   proved    {proved / tightest.seconds:8.1f} x celer")
            print(f"                     {written:9.4f} s   written   {made / tightest.seconds:8.1f} x with it")
            print(f"                     {checked:9.4f} s   re-checked")
            if not quick:
                text = (
                    f"group lasso {n} x {d}, {targets} targets, {ratio}: proved and written in "
                    f"{made / tightest.seconds:.1f} x celer's time (verdicts alone: {proved / tightest.seconds:.1f} x)"
                )
                bars.append(Bar(f"{text} (bar 25)", made <= 25 * tightest.seconds))


def compare_sampled(quick: bool, peers: Sequence[str], bars: list[Bar]) -> None:
    """Gated ReLU over 500 random patterns, against the first run of celer with a true gap of 1e-6."""
    for n, d, count in ((30, 3, 50),) if quick else ((100, 5, 500), (300, 10, 500)):
        g = np.random.default_rng(0)
        Z, y = np.round(g.standard_normal((n, d)), 3), np.round(g.standard_normal(n), 3)
        D = np.unique(Z @ g.standard_normal((d, 2 * count)) >= 0, axis=1).T[:count]
        rows, targets = ([[Fraction(str(x)) for x in row] for row in A.tolist()] for A in (Z, y[None]))
        names = tuple("".join("01"[bit] for bit in on) for on in D.tolist())
        data = prepare(over_patterns(tuple(map(tuple, rows)), tuple(targets[0]), names, "gated"))
        X = (D.T[:, :, None] * Z[:, None, :]).reshape(n, -1)
        lam, best = 0.1 * lambda_max(data), float("inf")
        for _ in range(3):
            began = time.process_time()
            found = solve(data, lam)
            best = min(best, time.process_time() - began)
        w = np.zeros((len(D), d))
        for neuron in found.neurons:
            w[neuron.block or 0] += neuron.w
        gap = lasso_gap(X, y, lam, w.ravel(), d)
        print(f"\ngated n={n} d={d}, {len(D)} random patterns, 0.1 lambda_max")
        print(f"  relu_cert          {best:9.3f} s   true gap {gap:8.1e}")
        if "celer" not in peers:
            continue
        for one in environment.run("celer", "gated", Z, D, np.zeros((len(D), d)), y, lam, SAMPLED_TOLERANCES, 10.0):
            theirs = lasso_gap(X, y, lam, one.W.ravel(), d)
            print(f"  celer              {one.seconds:9.3f} s   true gap {theirs:8.1e}   {one.seconds / best:8.1f} x")
            if theirs <= 1e-6:
                text = (
                    f"gated ({n}, {d}, {len(D)}) at 0.1: {one.seconds / best:.1f} x faster than celer to a gap of 1e-6"
                )
                bars.extend([] if quick else [Bar(f"{text}, gap {gap:.0e}", one.seconds >= best and gap <= 1e-12)])
                break


def lasso_data(n: int, d: int, planted: bool, ratio: float) -> tuple[Floats, Floats, float]:
    """Gaussian doubles; targets of five groups with a little noise, or nothing but noise."""
    g = np.random.default_rng(0)
    X, w = g.standard_normal((n, d)), np.zeros(d)
    w[: 5 * SIZE] = g.standard_normal(5 * SIZE)
    noise = g.standard_normal(n)
    y = X @ w + 0.1 * noise if planted else noise
    return X, y, ratio * float(np.linalg.norm((X.T @ y).reshape(-1, SIZE), axis=1).max())


def lasso_gap(X: Floats, y: Floats, lam: float, w: Floats, size: int = SIZE) -> float:
    """The true relative gap of coefficients."""
    r = y - X @ w
    s = min(1.0, lam / float(np.linalg.norm((X.T @ r).reshape(-1, size), axis=1).max()))
    norms = np.linalg.norm(w.reshape(-1, size), axis=1)
    gap = 0.5 * (1 - s) ** 2 * float(r @ r) + float((lam * norms).sum() - s * ((X @ w) @ r))
    return max(gap, 0.0) / (0.5 * float(r @ r) + lam * float(norms.sum()))


def proved_lasso(X: Floats, y: Floats, lam: float) -> tuple[float, float, float]:
    """The times to the verdicts (best of five), of writing the certificate (likewise), and of the re-check."""
    proved, written, choice = [], [], LambdaChoice(value=Fraction(lam))
    raw = lasso(X, SIZE, y).raw
    source = Source("problem.json", digest(raw), "json")
    for _ in range(5):
        began = time.process_time()
        facts = find_facts(lasso(X, SIZE, y).plain, choice, DEFAULT_GAP, Progress(quiet=True), position=False)
        found = decide(facts, PROVED)
        done = time.process_time()
        text = dumps(certificate(source, facts, found))
        proved.append(done - began)
        written.append(time.process_time() - done)
        if any(one.verdict is not Verdict.PROVED for one in found):
            raise RuntimeError("not proved")
    began = time.process_time()
    accepted(text, raw)
    return min(proved), min(written), time.process_time() - began


def compare_sizes(quick: bool, bars: list[Bar]) -> None:
    """All patterns of n = 70, d = 4 against about 10,000 of n = 32."""
    for model in ("relu", "gated"):
        for small, large in zip(
            instances(16 if quick else 32, 4, model, (0.1, 0.01)),
            instances(32 if quick else 70, 4, model, (0.1, 0.01)),
            strict=True,
        ):
            first, second = ours(small, 3), ours(large, 3)
            table(small, [first])
            table(large, [second])
            ratio = second.seconds / first.seconds
            count = len(small.arrays.bits)
            text = f"{large.name}: {ratio:.1f} x the time of {count} patterns (bar 12), gap {second.gap:.0e}"
            if not quick:
                bars.append(Bar(text, ratio <= 12 and second.gap <= 1e-12))


def main() -> int:
    """Run all comparisons; 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small problems, no bars")
    parser.add_argument("--no-peers", action="store_true", help="only this solver")
    parser.add_argument("--scnn", action="store_true", help="scnn too (it installs torch: gigabytes, and is slow)")
    options = parser.parse_args()
    peers = [] if options.no_peers else ["celer", "skglm", "adelie"] + ["scnn"] * options.scnn
    bars: list[Bar] = []
    compare_relu(options.quick, peers, bars)
    compare_gated(options.quick, peers, bars)
    compare_lasso(options.quick, peers, bars)
    compare_sampled(options.quick, peers, bars)
    compare_sizes(options.quick, bars)
    print()
    for bar in bars:
        print(f"{'met    ' if bar.met else 'NOT MET'}  {bar.text}")
    return 0 if all(bar.met for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
