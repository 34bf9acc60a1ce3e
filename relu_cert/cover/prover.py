"""The global optimum by a cover: train, refine, prove; what the cover finds missing goes back to the training.

Where the exact finish succeeds, theta has many digits and the gap is tiny. Where it does not (the logistic loss, a tie
of a kind that is not known), the float network is moved to the optimum of its faces, and its theta is shrunk by some
2^-40 until the cover holds. Where that fails, too, or time is short, theta is scaled down until a smaller tree proves
it: a proved gap all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np
from flint import fmpz_mat

from relu_cert.clock import Until, stopped
from relu_cert.cover.build import (
    THETA_BITS,
    Direction,
    Exhausted,
    Missed,
    Stuck,
    dual_cover,
    known_ties,
    part_of,
    rounded,
)
from relu_cert.cover.limits import ENOUGH, Limits, ProgressEvent, Tell
from relu_cert.cover.lines import SignedLines, weights_of
from relu_cert.cover.refine import RefineData, RoundedNeuron, Unrefined, refine
from relu_cert.cover.setting import CoverData, Neurons, exact_theta, float_theta, moves_between, polished
from relu_cert.cover.stack import Floats
from relu_cert.cover.state import Cluster, Kept, Pools, Processes, Serial, State, opened
from relu_cert.cover.ties import (
    SAME,
    Untied,
    at_weights,
    faces_near,
    longest_squared,
    near_direction,
    pieces_near,
    ties_at,
    unit,
    value,
)
from relu_cert.cover.train import MANY_ROWS, Trained, objective, train, weigh
from relu_cert.evidence import Cover, Rounded, Tie
from relu_cert.exact import Matrix, Vector, norm_squared, scaled_rows, sqrt_upper
from relu_cert.free import coefficients, combined
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.loss import SQUARES, squares
from relu_cert.problem.problem import Network
from relu_cert.prove.classes import orthogonal_part
from relu_cert.solve.prepare import one_thread

TRAIN, REFINE = 0.5, 0.8  # of the time: when training stops, and the exact finish, where neither has come to its end
ATTEMPTS = 60
TRAINED = 1e-4  # violations above this (relative) are worth training again
SLIGHT = 1e-6  # with many rows training takes long, and those below this are kept aside at once
MOST_TIES = 250
LOOSE = (3, 5, 7, 9, 12, 15, 18, 21)  # theta times 1 - 2^-k: the steps of a proof without an exact finish
COARSE, SURELY = 1e-3, 0.98  # a wider gap, if it is asked for, is proved without an exact finish; with some room
PARTS = 1 << 10
CLOSE = Fraction(1, 10**4)  # theta that is scaled down by more stays so far from lambda that short floats will do
TINY = Fraction(1, 10**40)  # a tie above lambda by more than this (relative) is a missing neuron
FACES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
RADII = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
COEFFICIENT_BITS = 400
SHRINKS = 60  # theta times 1 - 2^-k: the most digits of floats for which that is tried
NO_BALL = Fraction(0)


@dataclass(frozen=True)
class Covered:
    """A network (sign, weights), a dual point and its cover. `reason`: why the finish is not exact (empty if it is)."""

    neurons: Neurons
    theta: Vector
    cover: Cover
    reason: str = ""


class Prover:
    """One run: the clock, the log, what was trained and set aside."""

    def __init__(self, given: CoverData, lam: Fraction, limits: Limits, tell: Tell) -> None:
        self.given = given.at(lam)
        self.data, self.frame, self.loss = self.given.data, given.frame, given.problem.loss
        self.limits, self.tell = limits, tell
        self.until = limits.until
        self.trained: Trained | None = None
        self.plain: tuple[Trained, Neurons, Vector] | None = None  # the same exactly, with its theta
        self.bound: float | None = None
        self.troubled: list[Direction] = []  # where walks failed, the last one first
        self.extra: list[Direction] = []  # directions of neurons that the training does not see: tiny weights
        self.state: State | None = None
        if limits.state is not None:
            self.state = opened(limits.state, given.problem, lam)

    def prepare(self, late: Until) -> None:
        """Train the network before the clock of the proof begins: where there are many features, a proof has little
        time, and the network, which the leaders need as well, more."""
        with one_thread():
            self.trained = train(
                self.given.task, told=self._trained, stop=lambda: stopped() or late.over, thorough=True
            )
        self.until = self.limits.until

    def run(self, enough: float = 0.0, *, loose: bool = True) -> Covered:
        """The best proof that the limits allow; without an exact finish, a relative gap of `enough` will do, or, not
        `loose`, Exhausted says why there is none."""
        with one_thread():
            return self._run(enough, loose)

    def _run(self, enough: float, loose: bool) -> Covered:
        reason = ""
        if self.state is not None and self.state.network is not None:
            self.trained, self.extra, self.troubled = self.state.network
        elif self.trained is None:
            task = replace(self.given.task, enough=enough if enough > COARSE and self.loss is SQUARES else 0.0)
            self.trained = train(task, told=self._trained, stop=self._half_over)
        for _ in range(ATTEMPTS):
            if self.state is not None and not self._late():
                self.state.network = self.trained, [*self.extra], [*self.troubled]
            try:
                return self._coarse(enough) if enough > COARSE else self._finish(self.trained)
            except Missed as missed:
                reason = "neurons kept being found"
                self.troubled.insert(0, (missed.xi, missed.u))
                self._with(self.trained, missed)
            except Exhausted:
                reason = "the limit of time or nodes was reached"
                if self.state is not None:
                    reason += f" (the same command goes on with {self.state.path})"
                break
            except (Unrefined, Untied, Stuck) as why:
                reason = str(why)
                break
        if not loose:
            raise Exhausted(reason)
        return self._loose(reason, enough)

    def _finish(self, trained: Trained) -> Covered:
        """The exact finish, or, where there is none, a proof to the digits of floats."""
        if self.loss is not SQUARES:
            return self._in_floats(trained)
        try:
            return self._exact(trained)
        except (Unrefined, Untied, Stuck) as why:
            try:
                return replace(self._in_floats(trained), reason=str(why))
            except (Untied, Stuck):
                raise why from None

    def _in_floats(self, trained: Trained) -> Covered:
        """A proof in which all ties are known, of a theta that has the digits of floats."""
        trained = polished(self.given.task, trained)
        base = float_theta(self.given, trained)
        weights = {xi: weights_of(self.data.lines, base, xi) for xi in (1, -1)}
        ties = ties_of_floats(self.data, weights, trained, self.frame)
        while True:
            longest = max((longest_squared(self.data, weights[t.xi], t) for t in ties), default=Fraction(0))
            theta = tuple(part_of(longest, self.data.lam, SHRINKS) * x for x in base)
            pool = self._pool("prove")
            try:
                cover = dual_cover(self.data, self.frame, theta, self.data.lam**2, ties, NO_BALL, pool, 1.0 + 1e-7)
                return Covered(neurons_of(trained, self.frame), theta, cover)
            except Stuck as stuck:
                ties += self._new_ties(weights, ties, stuck)

    def _exact(self, trained: Trained) -> Covered:
        """The exact finish."""
        data = self.data
        exact: Sequence[RoundedNeuron] = ()
        if len(trained.V):
            exact = refine(data, *self._start(trained), in_time=self._in_time)
            if self.extra:  # the next neuron that is missing is missing beside these, not beside the trained ones
                self.trained, self.extra = self._refined(exact), []
        neurons = tuple((one.xi, one.v) for one in exact)
        residual = self.residual(neurons)  # not that of refine: a row may be a hair beyond its line
        base, moves = exact_theta(self.given, residual, neurons)
        directions = [(one.xi, one.numerators) for one in exact]
        weights = {xi: weights_of(data.lines, base, xi) for xi in (1, -1)}
        ties = known_ties(data, weights, directions)
        lengths: list[Fraction] = []
        while True:
            lengths += [longest_squared(data, weights[t.xi], t) for t in ties[len(lengths) :]]
            self._no_excess(ties, lengths)
            tau = part_of(max(lengths, default=Fraction(0)), data.lam, THETA_BITS)
            theta = tuple(tau * x for x in base)
            radius = self._radius_squared(neurons, residual, theta)
            try:
                cover = dual_cover(
                    data,
                    self.frame,
                    theta,
                    data.lam**2,
                    ties,
                    radius,
                    self._pool("prove"),
                    1.0 + 1e-7,
                    self.troubled,
                    short=True,
                )
                return Covered(neurons, theta, replace(cover, source=Rounded(tau, THETA_BITS, moves)))
            except Stuck as stuck:
                self.troubled.insert(0, (stuck.xi, stuck.u))
                ties += self._new_ties(weights, ties, stuck)

    def more_digits(self, neurons: Neurons, bits: int) -> Neurons:
        """The same network with so many bits."""
        V = np.array([[float(x) for x in w] for _, w in neurons])
        found = refine(self.data, [float(xi) for xi, _ in neurons], V, bits, self._in_time)
        return tuple((one.xi, one.v) for one in found)

    def cover_at(self, theta: Vector, weights: dict[int, SignedLines], ties: list[Tie]) -> Cover:
        """A cover for theta as it is."""
        with one_thread():
            while True:
                pool = self._pool("prove")
                try:
                    return dual_cover(self.data, self.frame, theta, self.data.lam**2, ties, NO_BALL, pool, 1.0 + 1e-7)
                except Stuck as stuck:
                    ties = [*ties, *self._new_ties(weights, ties, stuck)]

    def moved(self, found: Covered, lift: Matrix) -> Covered:
        """The same network with a dual point that is orthogonal to the lift, proved again."""
        with one_thread():
            data = self.data
            source = found.cover.source
            if source is None:
                raise ValueError("a theta that follows from the network")
            plain = tuple(x / source.tau for x in found.theta)
            base = orthogonal_part(plain, lift)
            weights = {xi: weights_of(data.lines, base, xi) for xi in (1, -1)}
            before = {xi: weights_of(data.lines, found.theta, xi) for xi in (1, -1)}
            ties = [at_weights(tie, before[tie.xi], weights[tie.xi]) for tie in found.cover.ties]
            longest = max((longest_squared(data, weights[t.xi], t) for t in ties), default=Fraction(0))
            tau = part_of(longest, data.lam, THETA_BITS)
            theta = tuple(tau * x for x in base)
            radius = self._radius_squared(found.neurons, self.residual(found.neurons), theta)
            pool = self._pool("prove")
            cover = dual_cover(data, self.frame, theta, data.lam**2, ties, radius, pool, short=True)
            source = Rounded(tau, source.bits, moves_between(plain, base))
            return Covered(found.neurons, theta, replace(cover, source=source))

    def _no_excess(self, ties: Sequence[Tie], lengths: Sequence[Fraction]) -> None:
        """A tie that is truly above lambda, its length squared, is a neuron that is missing."""
        for tie, length in zip(ties, lengths, strict=True):
            if length > self.data.lam**2 * (1 + TINY):
                raise Missed(tie.xi, np.array([float(x) for x in tie.u]) / max(abs(float(x)) for x in tie.u))

    def _new_ties(self, weights: dict[int, SignedLines], ties: Sequence[Tie], stuck: Stuck) -> list[Tie]:
        """The ties near the direction at which the walk got stuck."""
        if len(ties) >= MOST_TIES:
            raise Untied("there are too many ties")
        found = nearby(self.data, weights[stuck.xi], ties, stuck)
        if found is None:
            raise Untied("a tie is neither inside a concave piece nor on a ray that the data fix")
        return found

    def _loose(self, reason: str, enough: float) -> Covered:
        """A proof with theta scaled down, as little as time allows."""
        best: Covered | None = None
        for k in LOOSE:
            try:
                best = self._scaled(1 - Fraction(1, 1 << k), reason)
            except (Exhausted, Stuck, Missed, Untied):
                break  # larger multiples of theta are harder still
            if self._gap <= enough:
                break
        if best is None:
            raise Exhausted(reason)
        return best

    def _coarse(self, enough: float) -> Covered:
        """A proof of the gap that was asked for and no more: which multiple of theta that needs is known beforehand."""
        _, base = self._plain()
        y, theta = (np.array([float(x) for x in v]) for v in (self.given.y, base))
        along, square = float(y @ theta), float(theta @ theta)
        lo, hi = 0, PARTS  # tau = 1 - m / PARTS for the largest m with the gap, by bisection
        while hi - lo > 1:
            m = (lo + hi) // 2
            tau = 1 - Fraction(m, PARTS)
            if self.loss is SQUARES:
                self.bound = float(tau) * along - 0.5 * float(tau) ** 2 * square
            else:
                self.bound = self._value(tuple(tau * x for x in base))
            lo, hi = (m, hi) if self._gap <= SURELY * enough else (lo, m)
        self.bound = None
        return self._scaled(1 - Fraction(lo, PARTS), ENOUGH, 1.0 + 1e-7)

    def _scaled(self, tau: Fraction, reason: str, violation: float = inf) -> Covered:
        """The proof for a multiple of theta."""
        neurons, base = self._plain()
        theta = tuple(tau * x for x in base)
        pool = self._pool("bound")
        loose = 1 - tau > CLOSE
        cover = dual_cover(self.data, self.frame, theta, self.data.lam**2, (), NO_BALL, pool, violation, loose=loose)
        self.bound = self._value(theta)
        self.tell(ProgressEvent("bound", len(neurons), self.network.objective, self.bound, cover.nodes))
        return Covered(neurons, theta, self._told(cover, tau), reason)

    @property
    def network(self) -> Trained:
        """What was trained."""
        if self.trained is None:
            raise ValueError("the network is trained first")
        return self.trained

    @property
    def _gap(self) -> float:
        """The relative gap of the trained network and the bound."""
        objective = self.network.objective
        return (objective - (0.0 if self.bound is None else self.bound)) / objective

    def _plain(self) -> tuple[Neurons, Vector]:
        """The trained network, exactly as it is, and its theta."""
        if self.plain is None or self.plain[0] is not self.network:
            neurons = neurons_of(self.network, self.frame)
            self.plain = self.network, neurons, self._theta(neurons)
        return self.plain[1:]

    @property
    def _follows(self) -> bool:
        """Whether theta follows from the network, digit by digit."""
        return self.loss is SQUARES and not self.given.columns

    def _theta(self, neurons: Neurons) -> Vector:
        """The dual point of the trained network."""
        if self._follows:
            return rounded(self.residual(neurons), THETA_BITS)
        return float_theta(self.given, self.network)

    def _value(self, theta: Vector) -> float:
        """About the dual value."""
        return float(self.loss.dual_value(self.given.y, theta))

    def _told(self, cover: Cover, tau: Fraction) -> Cover:
        """The cover with the way in which theta follows from the network, if it does."""
        return replace(cover, source=Rounded(tau, THETA_BITS)) if self._follows else cover

    def _with(self, trained: Trained, missed: Missed) -> None:
        """Train again with the missing neuron; where its weight is so small that floats do not find it, it is kept
        aside for the refinement."""
        task = self.given.task
        at, best = task.climb_near(missed.xi * trained.residual, (self.frame @ missed.u)[None, :])
        if len(task.Z) <= MANY_ROWS or float(best[0]) > task.lam * (1.0 + SLIGHT):
            size = float(task.sizes(trained.V).max(initial=1e-6))
            V, xi = np.vstack([trained.V, 1e-6 * size * at]), np.append(trained.xi, float(missed.xi))
            again = train(task, V, xi, told=self._trained, stop=self._late)
            if float(best[0]) > task.lam * (1.0 + TRAINED) or again.objective < trained.objective * (1.0 - 1e-11):
                self.trained, self.extra = again, []
                return
        self.extra.append((missed.xi, self.frame.T @ at[0]))

    def _start(self, trained: Trained) -> tuple[list[float], Floats]:
        """Signs and neurons from which to refine: the trained ones, and those kept aside with the weights that a lasso
        gives them."""
        V = trained.V @ self.frame
        if not self.extra:
            return [float(x) for x in trained.xi], V
        task = self.given.task
        U = np.vstack([V, *(u for _, u in self.extra)])
        U = U / task.sizes(U @ self.frame.T)[:, None]
        xi = np.concatenate([trained.xi, [float(x) for x, _ in self.extra]])
        A = task.project(task.outputs(U @ self.frame.T) * xi)
        alpha = weigh(A, task.project(task.y), task.lam)
        alpha = np.maximum(alpha, 1e-8 * alpha.max())
        return [float(x) for x in xi], U * alpha[:, None]

    def _refined(self, exact: Sequence[RoundedNeuron]) -> Trained:
        """The refined network in floats."""
        V = np.array([[float(x) for x in one.v] for one in exact]) @ self.frame.T
        xi = np.array([float(one.xi) for one in exact])
        value, residual = objective(self.given.task, V, xi)
        return Trained(V, xi, residual, value)

    def residual(self, neurons: Neurons) -> Vector:
        """y - sum xi (Zw)_+ - Bc with the best c."""
        left, columns = residual_of(self.given.problem.relu, self.given.y, neurons), self.given.columns
        if not columns:
            return left
        fitted = combined(columns, rounded_coefficients(columns, left), len(left))
        return tuple(a - b for a, b in zip(left, fitted, strict=True))

    def _upper(self, neurons: Neurons, r: Vector) -> Fraction:
        seen = (w[:-1] if self.given.biases else w for _, w in neurons)
        norms = sum((sqrt_upper(norm_squared(w), 400) for w in seen), Fraction(0))
        return squares(r) / 2 + self.data.lam * norms

    def _radius_squared(self, neurons: Neurons, residual: Vector, theta: Vector) -> Fraction:
        """The optimal residual is within this of theta, squared; with free biases times the largest |z_k|^4, by which a
        bias lengthens what is said of other residuals."""
        longer = max(map(norm_squared, self.given.Z)) ** 2 if self.given.biases else 1
        gap = self._upper(neurons, residual) - self.loss.dual_value(self.given.y, theta)
        return longer * max(2 * gap, Fraction(0))

    def _late(self, share: float = 1.0) -> bool:
        """Whether so much of the time is over."""
        seconds = self.limits.seconds
        return stopped() or (seconds is not None and self.until.left <= (1.0 - share) * seconds)

    def _half_over(self) -> bool:
        """Whether to stop the training; never so where the network is kept, and gone on with."""
        return self._late(TRAIN if self.state is None else 1.0)

    def _in_time(self) -> None:
        """Exhausted where the rest of the time is needed for a bound."""
        if self._late(REFINE):
            raise Exhausted("the limit of time or nodes was reached")

    def _pool(self, stage: str) -> Pools | Kept:
        def told(nodes: int, open_cones: int) -> None:
            trained = self.trained
            neurons, objective = (len(trained.V), trained.objective) if trained is not None else (0, None)
            self.tell(ProgressEvent(stage, neurons, objective, self.bound, nodes, open_cones))

        def pool(until: Until, nodes: int) -> Pools:
            if self.limits.dask is not None:
                return Cluster(self.limits.dask, self.limits, until, told, nodes)
            return (Processes if self.limits.jobs > 1 else Serial)(self.limits, until, told, nodes)

        if self.state is not None and stage == "prove":
            return Kept(self.state, pool, self.until, self.limits.nodes)
        return pool(self.until, 0)

    def _trained(self, neurons: int, objective: float) -> None:
        self.tell(ProgressEvent("train", neurons, objective))


def nearby(data: RefineData, weights: SignedLines, ties: Sequence[Tie], stuck: Stuck) -> list[Tie] | None:
    """Ties near the direction at which a walk got stuck, if there are any that are new."""
    for tolerance in FACES:
        try:
            u = near_direction(data, weights, stuck.u, tolerance)
            if abs(value(weights, u) / float(data.lam) - 1.0) > 1e-9:
                continue
            found = ties_at(data, weights, stuck.xi, u)
        except Untied:
            continue
        if new := _new(found, ties):
            return new
    for radius in RADII:
        pieces = pieces_near(data, weights, stuck.xi, stuck.u, radius)
        if new := _new(pieces, ties) or _new(faces_near(data, weights, stuck.xi, pieces), ties):
            return new  # one that is above lambda is a neuron that is missing
    return None


def _new(found: Sequence[Tie], ties: Sequence[Tie]) -> list[Tie]:
    return [t for t in found if not any(o.xi == t.xi and o.side == t.side for o in ties)]


def neurons_of(trained: Trained, frame: Floats) -> Neurons:
    """The float network, exactly as it is."""
    V = trained.V @ frame
    return tuple((int(xi), tuple(Fraction(float(x)) for x in v)) for xi, v in zip(trained.xi, V, strict=True))


def residual_of(network: Network, y: Vector, neurons: Sequence[tuple[int, Vector]]) -> Vector:
    """y - P sum xi (Zw)_+"""
    fit = exact_fit(network, neurons)[0]
    return tuple(a - b for a, b in zip(y, fit, strict=True))


def exact_fit(network: Network, neurons: Sequence[tuple[int, Vector]]) -> tuple[Vector, list[str]]:
    """P sum xi (Zw)_+ and the patterns 1(Zw >= 0), in integers as long as it goes."""
    N, q = network.integers
    if not neurons:
        return network.bags.pooled((Fraction(0),) * len(N)), []
    U, p = scaled_rows([w for _, w in neurons])
    total, patterns = np.zeros(len(N), dtype=object), []
    rows = fmpz_mat(N).transpose()
    for (xi, _), u in zip(neurons, U, strict=True):  # one after the other: numbers are long, and rows may be many
        heights = np.array([int(h) for h in (fmpz_mat([u]) * rows).entries()], dtype=object)
        on = (heights >= 0).astype(bool)
        total += xi * np.where(on, heights, 0)
        patterns.append(bit_string(on.tolist()))
    unit = p * q * network.bags.unit
    return tuple(Fraction(int(t), unit) for t in network.bags.sums(total)), patterns


def rounded_coefficients(columns: Sequence[Vector], residual: Sequence[Fraction]) -> Vector:
    """The coefficients of least squares, to many digits."""
    return rounded(coefficients(columns, residual), COEFFICIENT_BITS)


def ties_of_floats(data: RefineData, weights: dict[int, SignedLines], trained: Trained, frame: Floats) -> list[Tie]:
    """The ties at the neurons of a float network; one that is truly above lambda is a neuron that is missing."""
    found: list[Tie] = []
    lam = float(data.lam)
    for xi, u in zip(trained.xi, trained.V @ frame, strict=True):
        sign = int(xi)
        for tolerance in FACES:
            try:
                at = near_direction(data, weights[sign], u, tolerance)
                height = value(weights[sign], at) / lam
                if abs(height - 1.0) > SAME or float(unit(at) @ u) < (1.0 - 1e-6) * float(np.linalg.norm(u)):
                    continue
                own = ties_at(data, weights[sign], sign, at)
            except Untied:
                continue
            found += _new(own, found)
            break
        else:
            raise Untied("a neuron is not at the optimum of its face")
    return found
