"""The optimum of networks with several outputs: train, sharpen, and prove that no neuron could do better.

First with a dual point so near to the optimum that its neurons are ties to thirty digits, and leaves around each that
know them; where that does not end (ties that are sharp, many or a continuum) with one that leaves a margin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.cover.evidence import Row
from relu_cert.cover.lines import Lines, frame_of, lines_of, row_space
from relu_cert.exact import Matrix, Vector, dot, norm_squared, scaled_rows, sqrt_upper
from relu_cert.outputs.ascent import Floats, maxima, starts
from relu_cert.outputs.build import Unproved, build, sign_cones
from relu_cert.outputs.engine import grown
from relu_cert.outputs.evidence import Outputs, Residual, Tie
from relu_cert.outputs.exact import pull_of
from relu_cert.outputs.sharpen import sharpen, ties_of
from relu_cert.outputs.train import Net, Task, error, train, weighed

TAU_BITS, THETA_BITS = 100, 200  # of a sharp dual point: Theta = (1 - 2^-TAU_BITS) R, R to THETA_BITS
MARGINS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
COARSE_BITS = 60
NORM_BITS = 300
ORACLE_NODES = 200_000
Neuron = tuple[Vector, Vector]


@dataclass(frozen=True)
class Setting:
    """The data with their lines, and what takes them to floats: an orthonormal frame of the row space, a scale."""

    Z: Matrix
    Y: Matrix
    lines: Lines
    basis: tuple[Row, ...]
    frame: Floats
    scale: float
    columns: Floats

    def task(self, lam: Fraction) -> Task:
        """The problem in floats, with as many outputs as Y has rank."""
        Z = np.array([[float(x) for x in z] for z in self.Z]) @ self.frame.T / self.scale
        Y = np.array([[float(x) for x in y] for y in self.Y]) @ self.columns
        return Task(np.ascontiguousarray(Z), np.ascontiguousarray(Y), float(lam) / self.scale)

    def lifted(self, net: Net) -> Net:
        """A network of the task, for the data as they are."""
        root = np.sqrt(self.scale)
        return Net(net.W @ self.frame / root, net.V @ self.columns.T / root)


@dataclass(frozen=True)
class Found:
    """A network and a dual point, with the evidence for it."""

    neurons: tuple[Neuron, ...]
    source: Residual
    Theta: Matrix
    evidence: Outputs
    lower: Fraction
    upper: Fraction


def setting(Z: Matrix, Y: Matrix) -> Setting:
    """The data."""
    lines = lines_of(Z)
    basis = row_space(lines) if lines.rows else ()
    D = len(Z[0])
    frame = frame_of(basis) if basis else np.zeros((0, D))
    rows = np.array([[float(x) for x in z] for z in Z]) @ frame.T
    targets = np.array([[float(x) for x in y] for y in Y])
    _, s, axes = np.linalg.svd(targets, full_matrices=False)
    rank = max(int((s > 1e-10 * max(float(s[0]), 1e-300)).sum()), 1)
    scale = float(np.linalg.norm(rows, axis=1).mean()) if basis else 1.0
    return Setting(Z, Y, lines, basis, frame, scale, np.ascontiguousarray(axes[:rank].T))


def top_direction(given: Setting) -> Floats | None:
    """Where |Y'(Zu)_+| / |u| is about the largest; None where it is 0 everywhere."""
    task = given.task(Fraction(0))
    if not given.basis or not task.Y.any():
        return None
    found, values = maxima(task.Z, task.Y, starts(task.Z, task.Y, np.random.default_rng(0), 300), 0.0)
    return found[0] @ given.frame if values[0] > 0 else None


def outputs_of(Z: Matrix, neurons: Sequence[Neuron], C: int) -> Matrix:
    """sum_j (Zw_j)_+ v_j', exactly."""
    N, q = scaled_rows(Z)
    fit = [[0] * C for _ in N]
    if not neurons:
        return tuple((Fraction(0),) * C for _ in N)
    ws, p = scaled_rows([w for w, _ in neurons])
    vs, r = scaled_rows([v for _, v in neurons])
    for w, v in zip(ws, vs, strict=True):
        for row, z in zip(fit, N, strict=True):
            if (h := sum(a * b for a, b in zip(z, w, strict=True))) > 0:
                for c, x in enumerate(v):
                    row[c] += h * x
    return tuple(tuple(Fraction(x, p * q * r) for x in row) for row in fit)


def norm(neuron: Neuron) -> Fraction:
    """At least |w||v|."""
    return sqrt_upper(norm_squared(neuron[0]) * norm_squared(neuron[1]), NORM_BITS)


def residual(given: Setting, neurons: Sequence[Neuron]) -> Matrix:
    """Y - fit"""
    fit = outputs_of(given.Z, neurons, len(given.Y[0]))
    return tuple(tuple(a - b for a, b in zip(*rows, strict=True)) for rows in zip(given.Y, fit, strict=True))


def dual_point(R: Matrix, source: Residual) -> Matrix:
    """Theta = tau floor(R 2^bits) / 2^bits."""
    one = 1 << source.bits
    return tuple(tuple(source.tau * Fraction(x.numerator * one // x.denominator, one) for x in row) for row in R)


@dataclass
class Prover:
    """One problem and its lambda."""

    given: Setting
    lam: Fraction
    over: Callable[[], bool]

    def oracle(self, net: Net) -> Floats:
        """Directions that would still help, found by a tree in floats; None within its limits is none."""
        task = self.given.task(self.lam)
        d, C = task.Z.shape[1], task.Y.shape[1]
        T = (task.Y - net.fit(task.Z)) / task.lam
        none = np.zeros((0, d)), np.zeros((0, len(T)))
        axes = tuple(tuple(int(x) for x in row) for row in 32 * np.eye(d, dtype=int))
        found = grown(
            task.Z, np.ascontiguousarray(T), np.zeros((d, C)), sign_cones(axes), 1e-8, *none, ORACLE_NODES, 80
        )
        return found.violators

    def found(self, neurons: Sequence[Neuron], R: Matrix, source: Residual, ties: tuple[Tie, ...]) -> Found:
        """The proof of one dual point."""
        Theta = dual_point(R, source)
        pull = pull_of(self.given.lines, Theta, self.lam**2)
        evidence = build(pull, self.given.basis, ties, self.over)
        upper = sum((norm_squared(row) for row in R), Fraction(0)) / 2 + self.lam * sum(map(norm, neurons), Fraction(0))
        lower = sum((dot(y, t) - norm_squared(t) / 2 for y, t in zip(self.given.Y, Theta, strict=True)), Fraction(0))
        return Found(tuple(neurons), source, Theta, evidence, lower, upper)

    def run(self) -> Found:
        """The best that can be proved; Unproved where nothing can."""
        task = self.given.task(self.lam)
        d, C = task.Z.shape[1], task.Y.shape[1]
        net = train(task, self.oracle, over=self.over) if d else Net(np.zeros((0, 0)), np.zeros((0, C)))
        for _ in range(5):
            try:
                return self.proved(net)
            except Unproved as why:
                if not len(why.violators) or self.over():
                    raise
                net = train(
                    task, self.oracle, over=self.over, begin=weighed(task, net, why.violators @ self.given.frame.T)
                )
        raise Unproved("training does not come to an end")

    def proved(self, net: Net) -> Found:
        """The proof of a network: sharp, or with a margin."""
        whole = self.given.lifted(net)
        given, lam = self.given, self.lam
        sharp = sharpen(given.Z, given.Y, lam, given.lines, given.basis, whole) if len(net.W) else None
        if sharp is not None:
            R = residual(given, sharp.neurons)
            ties = ties_of(given.lines, given.basis, sharp.neurons, R, lam, whole)
            bits = min(TAU_BITS, sharp.bits - 20)
            try:
                return self.found(sharp.neurons, R, Residual(1 - Fraction(1, 2**bits), THETA_BITS), ties)
            except Unproved:
                pass
        neurons = sharp.neurons if sharp is not None else rounded(whole)
        R = residual(given, neurons)
        ties = ties_of(given.lines, given.basis, neurons, R, lam, whole) if neurons else ()
        far = error(given.task(lam), net)
        last = Unproved("no margin was tried")
        for margin in MARGINS:
            if margin < 2 * far:
                continue
            try:
                tau = 1 / (1 + Fraction(margin).limit_denominator(10**15))
                return self.found(neurons, R, Residual(tau, COARSE_BITS), ties)
            except Unproved as why:
                last = why
        raise last


def rounded(net: Net) -> tuple[Neuron, ...]:
    """The neurons in rationals of 60 bits after the point."""
    one = 1 << COARSE_BITS

    def exact(v: Floats) -> Vector:
        return tuple(Fraction(round(Fraction(float(x)) * one), one) for x in v)

    return tuple((exact(w), exact(v)) for w, v in zip(net.W, net.V, strict=True))
