"""The optimum of networks with several outputs: train, sharpen, and prove that no neuron could do better.

First with a dual point so near to the optimum that its neurons are ties to thirty digits, and leaves around each that
know them; where that does not end (ties that are sharp, many or a continuum) with one that leaves a margin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import cast

import numpy as np

from relu_cert.bags import Each
from relu_cert.clock import NEVER, Until
from relu_cert.cover.build import prisms
from relu_cert.cover.free_task import orthonormal
from relu_cert.cover.lines import Lines, frame_of, lines_of, row_space
from relu_cert.evidence import Alone, Moves, Outputs, OutputTie, Pair, Residual, Row, Turned
from relu_cert.exact import Matrix, Vector, norm_squared, scaled_rows, sqrt_upper
from relu_cert.free import coefficients, combined, orthogonal, weights_of
from relu_cert.free import outputs as free_columns
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.build import Unproved, build, sign_cones
from relu_cert.outputs.engine import FULL, Grown, grown
from relu_cert.outputs.exact import pull_of
from relu_cert.outputs.pair import feasible, pair
from relu_cert.outputs.sharpen import sharpen, ties_of
from relu_cert.outputs.softmax import Chances, centred_logs, chances_of
from relu_cert.outputs.softmax import dual_point as probable
from relu_cert.outputs.train import Net, OutputsTask, error, folded, train, weighed
from relu_cert.outputs.turned import turning
from relu_cert.outputs.unique import Around, Open, alone, around, with_classes
from relu_cert.problem.loss import SOFTMAX
from relu_cert.problem.problem import Problem

TAU_BITS, THETA_BITS = 160, 280  # of a sharp dual point: Theta = (1 - 2^-TAU_BITS) R, R to THETA_BITS
MARGINS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
WIDE = (1e-3, 1e-2, 1e-1, 1.0)  # where training, or the proof, does not come to an end
LAST = (10.0, 100.0)
TRAINING, PROOF = 0.5, 0.7  # parts of the time that is left
COARSE_BITS, SMALLER_BITS = 60, 60
NORM_BITS = 400
FAR = 10**6  # zeta R is below lambda by this factor where uniqueness is looked at
ORACLE_NODES, ORACLE_WORK = 100_000, 4 * 10**8  # below one sign cone; nodes times lines
ORACLE_MARGIN, ORACLE_DEPTH, MOST_VIOLATORS = 1e-7, 120, 60  # work: nodes times lines
LARGE = 2_000_000  # lines in all leaves: then numbers are short
LARGE_MARGIN = 1e-7
UNFINISHED = 1e-6  # an error of training at which nothing is sharp
SHORT_BITS, LEAST_BITS = 53, 20  # of all sums of weights of lines; of Theta
Neuron = tuple[Vector, Vector]


@dataclass(frozen=True)
class OutputsData:
    """The problem with its lines and the columns that have free coefficients, and what takes it to floats: an
    orthonormal frame of the row space, a scale, orthonormal columns that span the targets."""

    problem: Problem
    lines: Lines
    free: tuple[Vector, ...]
    basis: tuple[Row, ...]
    frame: Floats
    scale: float
    columns: Floats

    @property
    def Z(self) -> Matrix:
        """The rows, N of them."""
        return self.problem.relu.Z

    @property
    def Y(self) -> Matrix:
        """The targets of the n data points, bags of rows: C each."""
        return self.problem.Y

    @property
    def softmax(self) -> bool:
        """Whether Y are classes, and the loss is the softmax cross-entropy."""
        return self.problem.loss is SOFTMAX

    @property
    def biased(self) -> bool:
        """Whether |u| is without the last entry of u, the bias."""
        return self.lines.biases

    @property
    def blind(self) -> bool:
        """Whether no neuron has weights that see anything."""
        return len(self.basis) <= self.biased or (self.biased and len({*self.Z}) == 1)

    def norm(self, neuron: Neuron) -> Fraction:
        """At least |w||v|."""
        return norm((weights_of(self.problem.free, neuron[0]), neuron[1]))

    @property
    def bags(self) -> Each:
        """P: outputs are P (ZW')_+ V, and T = P'Theta are the weights of the rows."""
        return self.problem.relu.bags

    def task(self, lam: Fraction) -> OutputsTask:
        """The problem in floats, with as many outputs as Y has rank."""
        Z = np.array([[float(x) for x in z] for z in self.Z]) @ self.frame.T / self.scale
        Y, Q = np.array([[float(x) for x in y] for y in self.Y]), basis_of(self.free)
        at_zero = projected(Q, Y - Y.mean(axis=1, keepdims=True) if self.softmax else Y) @ self.columns
        first = np.ascontiguousarray(Z), np.ascontiguousarray(at_zero), float(lam) / self.scale
        if self.softmax:
            return Chances(*first, self.bags, Q, self.biased, self.columns, Y)
        return OutputsTask(*first, self.bags, Q, self.biased)

    def lifted(self, net: Net) -> Net:
        """A network of the task, for the data as they are."""
        root = np.sqrt(self.scale)
        return Net(net.W @ self.frame / root, net.V @ self.columns.T / root)


@dataclass(frozen=True)
class OutputsPoint:
    """A network: neurons, and for each free column the coefficients of all outputs."""

    neurons: tuple[Neuron, ...]
    free: Matrix = ()

    def fit(self, given: OutputsData) -> Matrix:
        """P sum_j (Zw_j)_+ v_j' + Bc, exactly."""
        rows = outputs_of(given.Z, self.neurons, len(given.Y[0]))
        fit = tuple(zip(*(given.bags.pooled(column) for column in zip(*rows, strict=True)), strict=True))
        return left_by(given.free, tuple(tuple(-x for x in row) for row in self.free), fit)

    def residual(self, given: OutputsData) -> Matrix:
        """Y - fit"""
        return tuple(
            tuple(a - b for a, b in zip(*rows, strict=True)) for rows in zip(given.Y, self.fit(given), strict=True)
        )


@dataclass(frozen=True)
class Attained:
    """A network and a dual point, with the evidence for it."""

    primal: OutputsPoint
    source: Residual | None  # None: Theta is written as it is
    Theta: Matrix
    evidence: Outputs
    lower: Fraction
    upper: Fraction
    alone: Alone | Pair | Turned | str = ""


def setting(problem: Problem) -> OutputsData:
    """The problem, ready to be trained and proved."""
    Z, free = problem.relu.Z, free_columns(problem)
    biased = "biases" in problem.free
    lines = lines_of(Z, biased, problem.relu.bags)
    basis = row_space(lines, even=True) if lines.rows else ()
    frame = frame_of(basis[: len(basis) - biased]) if len(basis) > biased else np.zeros((0, len(Z[0])))
    floats = np.array([[float(x) for x in z] for z in Z])
    middle = floats.mean(axis=0) if biased else np.zeros(len(Z[0]))
    scale = float(np.linalg.norm((floats - middle) @ frame.T, axis=1).mean()) or 1.0 if len(frame) else 1.0
    if biased:  # weights w with the bias that is 0 at the middle of the data
        frame = np.vstack([frame, np.zeros(len(middle))])
        frame[:, -1] = [*(-frame[:-1] @ middle), scale]
    targets = projected(basis_of(free), np.array([[float(x) for x in y] for y in problem.Y]))
    _, s, axes = np.linalg.svd(targets, full_matrices=False)
    if problem.loss is SOFTMAX:  # outputs orthogonal to ones
        axes = np.linalg.svd(np.ones((1, targets.shape[1])))[2][1:]
        s = np.ones(len(axes))
    rank = max(int((s > 1e-10 * max(float(s[0]), 1e-300)).sum()), 1)
    return OutputsData(problem, lines, free, basis, frame, scale, np.ascontiguousarray(axes[:rank].T))


def basis_of(free: Sequence[Vector]) -> Floats | None:
    """An orthonormal basis of the free columns."""
    return orthonormal(np.array([[float(x) for x in column] for column in free]).T) if free else None


def projected(Q: Floats | None, A: Floats) -> Floats:
    """Without the part in the free columns."""
    return A if Q is None else A - Q @ (Q.T @ A)


def best_coefficients(free: Sequence[Vector], Y: Matrix) -> Matrix:
    """The coefficients of least squares for every output: a row for each free column."""
    return tuple(zip(*(coefficients(free, column) for column in zip(*Y, strict=True)), strict=True))


def left_by(free: Sequence[Vector], c: Matrix, Y: Matrix) -> Matrix:
    """Y - Bc"""
    if not c:
        return Y
    columns = [combined(free, c_j, len(Y)) for c_j in zip(*c, strict=True)]
    return tuple(
        tuple(a - b for a, b in zip(*rows, strict=True)) for rows in zip(Y, zip(*columns, strict=True), strict=True)
    )


def top_direction(given: OutputsData) -> Floats | None:
    """Where |F(u)| / |u| of the zero network is about the largest; None where it is 0 everywhere."""
    task = given.task(Fraction(0))
    if given.blind or not task.Y.any():
        return None
    T = task.spread(task.Y)  # softmax: Y - 1/C
    found, values = task.maxima(T, task.starts(T, np.random.default_rng(0), 300), 0.0)
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


def rounded_residual(R: Matrix, bits: int, free: Sequence[Vector]) -> tuple[Matrix, Moves]:
    """floor(R 2^bits) / 2^bits, and what must be added at some entries, numbered row by row, so that it is orthogonal
    to the free columns."""
    one = 1 << bits
    low = tuple(tuple(Fraction(x.numerator * one // x.denominator, one) for x in row) for row in R)
    C, moves = len(R[0]), []
    for c, column in enumerate(zip(*low, strict=True)):
        changed = orthogonal(free, column) if free else column
        moves += [(C * k + c, b - a) for k, (a, b) in enumerate(zip(column, changed, strict=True)) if a != b]
    return low, tuple(sorted(moves))


def dual_point(R: Matrix, source: Residual) -> Matrix:
    """Theta = tau (floor(R 2^bits) / 2^bits + moves)."""
    low, _ = rounded_residual(R, source.bits, ())
    C, Theta = len(R[0]), [list(row) for row in low]
    for k, m in source.moves:
        Theta[k // C][k % C] += m
    return tuple(tuple(source.tau * x for x in row) for row in Theta)


@dataclass
class OutputsProver:
    """One problem and its lambda."""

    given: OutputsData
    lam: Fraction
    over: Callable[[], bool]
    until: Until = NEVER
    limit: Until = NEVER  # of the present stage
    lines: int = 0  # in all leaves of the last tree in floats

    def oracle(self, net: Net) -> Floats:
        """Directions that would still help, found by a tree in floats; None within its limits is none."""
        found, self.lines = [], 0
        for grown_ in self.trees(net):
            found.append(grown_.violators)
            self.lines += LARGE if grown_.status == FULL else len(grown_.lines)
            if self.late() or sum(map(len, found)) > MOST_VIOLATORS:
                break
        return np.vstack(found)

    def trees(self, net: Net) -> Iterator[Grown]:
        """The trees in floats below all sign cones, at the residual of a network."""
        task = self.given.task(self.lam)
        d, C = task.Z.shape[1], task.Y.shape[1]
        T = np.ascontiguousarray(task.spread(task.residual(net)) / task.lam)
        none = np.zeros((0, d)), np.zeros((0, len(T)))
        axes = [tuple(map(int, row)) for row in 32 * np.eye(d, dtype=int)]
        roots = [*sign_cones(axes)]
        if task.biased:
            roots = prisms([*axes[:-1], (*(0,) * (d - 1), 1)], ceil(32 * np.abs(task.Z[:, :-1]).max()))
        most = min(ORACLE_WORK // max(len(T), 1), ORACLE_NODES)
        for root in roots:
            yield grown(
                task.Z, T, np.zeros((d, C)), root[None], ORACLE_MARGIN, *none, most, ORACLE_DEPTH, biased=task.biased
            )

    def found(self, primal: OutputsPoint, R: Matrix, tau: Fraction, bits: int, ties: tuple[OutputTie, ...]) -> Attained:
        """The proof of one dual point, about tau R."""
        source = None if self.given.softmax else Residual(tau, bits, rounded_residual(R, bits, self.given.free)[1])
        return self.judged(
            primal, R, self.chosen(R, tau, bits) if source is None else dual_point(R, source), source, ties
        )

    def judged(
        self, primal: OutputsPoint, R: Matrix, Theta: Matrix, source: Residual | None, ties: tuple[OutputTie, ...]
    ) -> Attained:
        """The proof of Theta."""
        given = self.given
        pull = pull_of(given.lines, Theta, self.lam**2)
        upper, lower = self.bounds(primal, Theta)
        if upper < lower:  # then no proof of Theta can exist
            raise Unproved("the dual value is above the objective: the dual constraint is violated")
        squared = given.problem.loss.radius_squared(upper - lower)
        ball = around(pull, self.lam, Theta, squared, given.basis, given.free, given.Z)
        known = near_enough(ball, given, primal.neurons, ties)
        evidence = build(pull, given.basis, ties, self.late, None if known else ball)
        if not known:
            try:
                return Attained(primal, source, Theta, evidence, lower, upper, alone(ball, *self.fitted(Theta, ball.R)))
            except Open as why:
                known = str(why)
        if (exactly := self.exactly(primal, R)) is not None:
            return exactly
        if (turn := turning(given, self.lam, Theta, primal, ball)) is not None:
            try:
                evidence = build(pull, given.basis, (), self.late, turn)
                return Attained(primal, source, Theta, evidence, lower, upper, turn.told)
            except Unproved:
                pass
        return Attained(primal, source, Theta, evidence, lower, upper, known)

    def bounds(self, primal: OutputsPoint, Theta: Matrix) -> tuple[Fraction, Fraction]:
        """At least the objective of a network, and at most the value of a dual point."""
        loss, y = self.given.problem.loss, self.given.problem.y
        penalty = self.lam * sum(map(self.given.norm, primal.neurons), Fraction(0))
        fit, theta = (tuple(x for row in A for x in row) for A in (primal.fit(self.given), Theta))
        return loss.upper(y, fit, penalty, Fraction(1)), loss.lower(y, theta, Fraction(1))

    def chosen(self, R: Matrix, tau: Fraction, bits: int) -> Matrix:
        """About tau (Y - P) for the softmax, R = Y - P."""
        Theta = probable(self.given.Y, minus(self.given.Y, R), tau, bits + SMALLER_BITS)
        if not self.given.free:
            return Theta
        likely = max(range(len(R)), key=lambda k: min(y - t for y, t in zip(self.given.Y[k], Theta[k], strict=True)))
        off = [sum(column, Fraction(0)) for column in zip(*Theta, strict=True)]  # the sum of these is 0
        moved = tuple(t - x for t, x in zip(Theta[likely], off, strict=True))
        return (*Theta[:likely], moved, *Theta[likely + 1 :])

    def exactly(self, primal: OutputsPoint, R: Matrix) -> Attained | None:
        """Two different optimal networks, and a simple dual point that proves it; None where there are none."""
        given = self.given
        if given.softmax or given.free or given.problem.roots or not primal.neurons:
            return None
        W = np.array([[float(x) for x in w] for w, _ in primal.neurons])
        if (two := pair(given.problem, self.lam, R, W)) is None:
            return None
        point, known = two
        evidence = feasible(given, point, self.lam, self.late)
        if evidence is None:
            return None
        network = OutputsPoint(tuple((one.w, one.v) for one in known.first))
        upper, lower = self.bounds(network, point)
        return Attained(network, None, point, evidence, lower, upper, known)

    def fitted(self, Theta: Matrix, R: Fraction) -> tuple[Matrix, Fraction]:
        """About the optimal fit, and how far it is at most: Y - Theta; softmax: the centred logarithms of that."""
        P = minus(self.given.Y, Theta)
        if not self.given.softmax:
            return P, R
        if (least := min(x for row in P for x in row)) <= R:
            raise Open("a chance is so small that the bounds do not tell it from zero")
        fit, off = centred_logs(P)
        return fit, off + R / (least - R)

    def completed(self, neurons: tuple[Neuron, ...], free: Matrix = ()) -> tuple[OutputsPoint, Matrix]:
        """The neurons with the best coefficients of the free columns, and the residual; the softmax has those given, or
        what floats find."""
        if self.given.softmax:
            if self.given.free and not free:
                free = self.best_constants(OutputsPoint(neurons))
            P = chances_of(OutputsPoint(neurons, free).fit(self.given), THETA_BITS)
            return OutputsPoint(neurons, free), minus(self.given.Y, P)
        one, R = 1 << THETA_BITS, OutputsPoint(neurons).residual(self.given)
        best = best_coefficients(self.given.free, R)
        free = tuple(tuple(Fraction(round(x * one), one) for x in row) for row in best)
        return OutputsPoint(neurons, free), left_by(self.given.free, free, R)

    def best_constants(self, primal: OutputsPoint) -> Matrix:
        """About the best coefficients of the free columns with the softmax."""
        task = cast("Chances", self.given.task(self.lam))
        fit = np.array([[float(x) for x in row] for row in primal.fit(self.given)]) @ self.given.columns
        B = np.array([[float(x) for x in column] for column in self.given.free]).T
        shift = (task.Q if task.Q is not None else B[:, :0]) @ task.coefficients(fit) @ self.given.columns.T
        return tuple(tuple(map(Fraction, row)) for row in np.linalg.lstsq(B, shift, rcond=None)[0].tolist())

    def late(self) -> bool:
        """Whether the time of the present stage is over."""
        return self.limit.over or self.over()

    def within(self, part: float) -> None:
        """The next stage has this part of the time that is left."""
        self.limit = self.until.within(self.until.left * part)

    def run(self) -> Attained:
        """The best that can be proved, and a bound in the end; Unproved where there is nothing."""
        task = self.given.task(self.lam)
        d, C = task.Z.shape[1], task.Y.shape[1]
        net = Net(np.zeros((0, d)), np.zeros((0, C)))
        for _ in range(5):
            self.within(TRAINING)
            net = net if self.given.blind else train(task, self.oracle, over=self.late, begin=net)
            net = folded(task, net) if "skip" in self.given.problem.free else net
            self.within(PROOF)
            try:
                return self.proved(net)
            except Unproved as why:
                if not len(why.violators) or self.late():
                    break
                net = weighed(task, net, task.unit(why.violators @ np.linalg.pinv(self.given.frame)))
        try:
            return self.proved(net, WIDE)
        except Unproved:
            self.limit, self.over = NEVER, lambda: False  # a tree of few nodes, whatever the time is
            return self.proved(net, LAST)

    def proved(self, net: Net, margins: tuple[float, ...] = MARGINS) -> Attained:
        """The proof of a network: sharp, or with a margin."""
        whole = self.given.lifted(net)
        given, lam = self.given, self.lam
        far = error(given.task(lam), net)
        large = self.lines > LARGE or far > UNFINISHED
        exactly = len(net.W) and margins is MARGINS and not large
        sharp = sharpen(given.problem, lam, given.lines, given.free, given.basis, whole) if exactly else None
        primal, R = self.completed(*(rounded(whole), ()) if sharp is None else (sharp.neurons, sharp.free))
        ties: tuple[OutputTie, ...] = ()
        if len(net.W) and not large:
            ties = ties_of(given.lines, given.basis, primal.neurons, spread(given.bags, R), lam, whole)
        if "skip" in given.problem.free:  # then F(-u) = F(u)
            ties += tuple(map(opposite, ties))
        if sharp is not None:
            bits = min(TAU_BITS, sharp.bits - 20)
            try:
                return self.found(primal, R, 1 - Fraction(1, 2**bits), THETA_BITS, ties)
            except Unproved:
                pass
        last = Unproved("no margin was tried")
        for margin in margins:
            if margin < max(2 * far, LARGE_MARGIN if large else 0.0):
                continue
            if margins is WIDE:
                self.within(PROOF)
            try:
                tau = 1 / (1 + Fraction(margin).limit_denominator(10**15))
                if large and (short := self.short(R, tau)) is not None:
                    return self.judged(primal, R, short, None, ())
                return self.found(primal, R, tau, COARSE_BITS, ties)
            except Unproved as why:
                last = why
                if self.over() if margins is WIDE else self.late():
                    break
        raise last

    def short(self, R: Matrix, tau: Fraction) -> Matrix | None:
        """tau R in numbers so short that the tree is proved in 64-bit integers; None where they would be too short."""
        given = self.given
        lines, Theta = given.lines, tuple(tuple(tau * x for x in row) for row in R)
        if given.softmax:
            return None
        T = np.array([[float(x) for x in row] for row in spread(given.bags, Theta)])
        lengths = [sum(map(abs, p)) for p in lines.rows]
        parts = zip(lines.line, lines.multiple, np.abs(T).sum(axis=1).tolist(), strict=True)
        total = sum(2 * lengths[c] * abs(a) * t for c, a, t in parts if c >= 0) * given.bags.unit
        bits = min(int(SHORT_BITS - np.log2(max(total, 1e-300))), COARSE_BITS)
        if bits < LEAST_BITS:
            return None
        one = 1 << bits
        low = [[Fraction(x.numerator * one // x.denominator, one) for x in row] for row in Theta]
        if given.free:
            return tuple(zip(*(orthogonal(given.free, column) for column in zip(*low, strict=True)), strict=True))
        return tuple(map(tuple, low))


def near_enough(ball: Around, given: OutputsData, neurons: Sequence[Neuron], ties: Sequence[OutputTie]) -> str:
    """Make the classes of the ball; or why uniqueness is left open."""
    if given.biased:
        return "with several outputs and free biases neurons are not told from each other"
    if given.problem.free not in ((), ("output-bias",)) or given.problem.roots or (given.softmax and given.free):
        return "with such free columns other networks may have the same outputs"
    if ball.rho * FAR >= ball.lam:
        return "the bounds are too far apart to tell neurons from each other"
    with_classes(ball, neurons, ties)
    return ""


def minus(A: Matrix, B: Matrix) -> Matrix:
    """A - B"""
    return tuple(tuple(a - b for a, b in zip(*rows, strict=True)) for rows in zip(A, B, strict=True))


def opposite(tie: OutputTie) -> OutputTie:
    """The tie at -u, where lines that are on at u are off."""
    return OutputTie(tie.lines, tuple(1 - s for s in tie.shares), tuple(-x for x in tie.u))


def spread(bags: Each, Theta: Matrix) -> Matrix:
    """T = P'Theta"""
    return tuple(zip(*map(bags.spread, zip(*Theta, strict=True)), strict=True))


def rounded(net: Net) -> tuple[Neuron, ...]:
    """The neurons in rationals of 60 bits after the point."""
    one = 1 << COARSE_BITS

    def exact(v: Floats) -> Vector:
        return tuple(Fraction(round(Fraction(float(x)) * one), one) for x in v)

    return tuple((exact(w), exact(v)) for w, v in zip(net.W, net.V, strict=True))
