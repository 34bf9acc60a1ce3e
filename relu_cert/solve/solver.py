"""The float solver: exact pricing over all blocks, a restricted master, Newton's method in kernel form.

Each round (1) prices every block at the residual, which gives the true gap, (2) adds the violated directions and
solves the master over fixed directions, (3) follows the faces of its support and runs Newton on them. Any neuron is a
feasible direction, so whatever Newton returns is only one more proposal to the master: the objective never rises, and
once the faces are right Newton squares the error.

The logistic loss in float64: Newton's method, each step a least-squares problem with weighted rows.

    minimise   sum_k log(1 + exp(-y_k f_k)) + lambda sum_b |w_b|,    f = Xw,   y_k = +-1    (app:general-losses)

At a fit f let a_k = 1/(1 + exp(y_k f_k)) and h_k = a_k (1 - a_k). The loss has slope -y_k a_k and curvature h_k: its
quadratic model is 1/2 sum_k h_k (f_k' - z_k)^2 with z_k = f_k + y_k a_k / h_k, the same blocks with row k scaled by
sqrt(h_k) > 0, which changes no pattern and no cone. Where its solution is no better, a part of the way is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from time import perf_counter

import numpy as np

from relu_cert.clock import require_time
from relu_cert.problem.problem import Problem
from relu_cert.solve.cones import piece_multipliers
from relu_cert.solve.kernel import newton, nonnegative_lasso
from relu_cert.solve.oracle import BlockOracle, Oracle, PatternedOracle, oracle_of
from relu_cert.solve.prepare import (
    BlockArrays,
    FloatMultipliers,
    FloatProblem,
    Floats,
    Key,
    NetworkArrays,
    Neuron,
    ResidualFace,
    Solution,
    Stats,
    one_thread,
    prepare,
)
from relu_cert.solve.proximal import interior_point, proximal_point

Progress = Callable[[int, float], None]  # round, relative gap

_MARGIN = 1e-9  # multipliers may stop this far (relative) below lambda
_NEAR = 0.8  # Newton keeps watching faces with |v|^2 above this share of lambda^2
_ROUGH = 1e-3  # the accuracy of Newton's method while the faces still change
_PATIENCE = 12  # rounds without a gap that is a tenth smaller
_RESCUE = 3  # such rounds until a direct problem is handed to an interior-point method
_FOLLOW = 4  # Newton follows changing faces so many times
_FAR = 0.3  # but only once while the relative gap is above this and shrinks, and more often when it does not
_SHARP = 0.01  # and, where blocks are given directly, to the last bit only when it is below this
_FRESH = 40  # at most so many new faces go straight to Newton


@dataclass(frozen=True)
class _Point:
    """Neurons, their outputs (n x k), the residual r = y - fit, and a proposal for the dual point: r, or what
    Newton's method holds for r* with a smaller error."""

    neurons: list[Neuron]
    outputs: Floats
    r: Floats
    proposal: Floats


def solve(
    problem: Problem | FloatProblem,
    lam: float,
    *,
    warm: Solution | None = None,
    tol: float = 1e-12,
    progress: Progress | None = None,
    rounds: int = 200,
) -> Solution:
    """The optimal network at lambda > 0, to a relative gap of `tol` if floats allow it.

    The gap of the answer is true up to rounding whatever happened; `stats.reason` says whether the solver stalled.
    `warm` may be a solution of the same problem at another lambda.
    """
    if not lam > 0.0:
        raise ValueError(f"lambda must be positive, not {lam}")
    with one_thread():
        return _solve(prepare(problem), lam, warm, tol, progress, rounds)


def _solve(
    data: FloatProblem, lam: float, warm: Solution | None, tol: float, progress: Progress | None, rounds: int
) -> Solution:
    began = perf_counter()
    oracle, y = oracle_of(data), data.y
    point = _point(oracle, y, [])
    if warm is not None:
        point = _step(oracle, y, lam, _point(oracle, y, list(warm.neurons)), [], _FOLLOW) or point
    elif isinstance(oracle, PatternedOracle) and oracle.cones.large:
        point = _rescue(oracle, data, lam, point)
    best: Solution | None = None
    idle, reason = 0, "rounds"
    for count in range(1, rounds + 1):
        top, faces = oracle.price(point.proposal, lam * (1.0 - _MARGIN))
        found = _measure(lam, point, top, Stats(count, perf_counter() - began, "solved"))
        if progress is not None:
            progress(count, found.relative_gap)
        idle = 0 if best is None or found.gap < 0.9 * best.gap else idle + 1
        best = found if best is None or found.gap < best.gap else best
        if best.relative_gap <= tol:
            return best
        fresh = [Neuron(f.sign, f.block, f.v) for f in faces]
        most = 1 if best.relative_gap > _FAR and not idle else _FOLLOW + idle
        sharp = best.relative_gap <= _SHARP or idle > 0 or not isinstance(oracle, BlockOracle)
        better = _step(oracle, y, lam, point, fresh, most, sharp=sharp)
        if idle >= _PATIENCE or better is None:
            reason = "stalled"
            break
        point = better
        if idle == _RESCUE:
            point = _rescue(oracle, data, lam, point)
    if best is None:
        raise ValueError("at least one round is needed")
    return replace(best, stats=Stats(best.stats.rounds, perf_counter() - began, reason))


def _rescue(oracle: Oracle, data: FloatProblem, lam: float, point: _Point) -> _Point:
    """The solution of a method that does not follow faces if it is better, with Newton's polish: where there are many
    cones, and where Newton's faces run in circles. Whole networks have no such method."""
    if isinstance(oracle, PatternedOracle):
        neurons = proximal_point(oracle.cones, data.y, lam)
    elif isinstance(data.arrays, BlockArrays):
        neurons = interior_point(data.arrays, data.y, lam)
    else:
        return point
    found = _point(oracle, data.y, neurons)
    if _value(lam, found) >= _value(lam, point):
        return point
    return _step(oracle, data.y, lam, found, [], _FOLLOW) or found


def _step(
    oracle: Oracle, y: Floats, lam: float, point: _Point, fresh: Sequence[Neuron], most: int, *, sharp: bool = True
) -> _Point | None:
    """Master, then Newton on at most so many sets of faces; None if the numbers break down."""
    try:
        return _improve(oracle, y, lam, _master(oracle, y, lam, point, fresh), fresh[:_FRESH], most, sharp)
    except (np.linalg.LinAlgError, OverflowError):
        return None


def lambda_max(problem: Problem | FloatProblem) -> float:
    """The smallest lambda at which the zero network is optimal: max_b |Proj_{C_b}(X_b'y)|."""
    data = prepare(problem)
    return oracle_of(data).price(data.y, 0.0)[0]


def multipliers(problem: Problem | FloatProblem, theta: Floats, lam: float) -> dict[int, FloatMultipliers] | None:
    """Multipliers for every piece and sign of a ReLU network, which show that theta is dual feasible; None for blocks.
    They may stop once |Z'm| <= lambda (1 - 1e-9); above that they are the best ones."""
    arrays = prepare(problem).arrays
    if not isinstance(arrays, NetworkArrays) or arrays.gated:
        return None
    return {sign: piece_multipliers(arrays, sign * theta, lam * (1.0 - _MARGIN)) for sign in (1, -1)}


def _point(oracle: Oracle, y: Floats, neurons: list[Neuron]) -> _Point:
    """The point with these neurons."""
    neurons = oracle.feasible(neurons)
    outputs = oracle.outputs(neurons)
    r = y - outputs.sum(axis=1)
    return _Point(neurons, outputs, r, r)


def _value(lam: float, point: _Point) -> float:
    """P = 1/2|r|^2 + lambda sum |w_b|"""
    return 0.5 * float(point.r @ point.r) + lam * sum(norm(n.w) for n in point.neurons)


def _measure(lam: float, point: _Point, top: float, stats: Stats) -> Solution:
    """The true gap of a point whose largest price is `top`, without cancellation."""
    r = point.r
    theta = (min(1.0, lam / top) if top > 0.0 else 1.0) * point.proposal
    norms = np.array([norm(n.w) for n in point.neurons])
    slack = lam * norms - point.outputs.T @ theta
    gap = 0.5 * float((r - theta) @ (r - theta)) + float(slack.sum())
    return Solution(lam, tuple(point.neurons), r, theta, _value(lam, point), max(gap, 0.0), stats)


def _master(oracle: Oracle, y: Floats, lam: float, point: _Point, fresh: Sequence[Neuron]) -> _Point:
    """Optimal weights for the directions at hand."""
    fresh = [Neuron(n.sign, n.block, n.w / norm(n.w)) for n in oracle.inside(fresh)]
    norms = [norm(n.w) for n in point.neurons]
    old = [Neuron(n.sign, n.block, n.w / a) for n, a in zip(point.neurons, norms, strict=True)]
    pool = [*old, *fresh]
    if not pool:
        return point
    outputs = np.concatenate([point.outputs / np.array(norms), oracle.outputs(fresh)], axis=1)
    support, x = nonnegative_lasso(
        outputs, y, np.full(len(pool), lam), list(range(len(old))), np.array(norms), 1e-14 * lam
    )
    neurons = [Neuron(pool[i].sign, pool[i].block, a * pool[i].w) for i, a in zip(support, x, strict=True)]
    return _point(oracle, y, neurons)


def _improve(
    oracle: Oracle, y: Floats, lam: float, point: _Point, fresh: Sequence[Neuron], most: int, sharp: bool
) -> _Point:
    """Newton on the faces of the neurons and of fresh directions, followed until they stay, then to the last bit if
    that is wanted. If they do not stay, the master decides."""
    tracked = [*point.neurons, *fresh]
    faces = oracle.follow(tracked, point.r)
    alpha = carry(faces, point.neurons, lam)
    neurons: list[Neuron] = []
    seen: set[frozenset[Key]] = set()
    accuracy = _ROUGH
    while faces and len(seen) < most:
        require_time()
        keys = frozenset(face.key for face in faces)
        result = newton(faces, y, lam, alpha, accuracy) if keys not in seen else None
        if result is None:
            break
        weight = [a * norm(v) for a, v in zip(result.alpha, result.v, strict=True)]
        near = [i for i, v in enumerate(result.v) if weight[i] > 0.0 or v @ v > _NEAR * lam * lam]
        tracked = [Neuron(faces[i].sign, faces[i].block, result.v[i]) for i in near]
        kept = [i for i in near if weight[i] > 0.0]
        neurons = [Neuron(faces[i].sign, faces[i].block, result.alpha[i] * result.v[i]) for i in kept]
        followed = oracle.follow(tracked, result.r)
        if not frozenset(face.key for face in followed) <= keys:
            seen.add(keys)
            faces, alpha, accuracy = followed, carry(followed, neurons, lam), _ROUGH
        elif accuracy > 0.0 and sharp:  # the faces are right for now: once more, to the last bit
            alpha, accuracy = result.alpha, 0.0
        else:
            return _choose(oracle, y, lam, point, neurons, result.r)
    return _master(oracle, y, lam, point, neurons)


def _choose(oracle: Oracle, y: Floats, lam: float, point: _Point, neurons: list[Neuron], r: Floats) -> _Point:
    """Newton's point if it has the fit that its faces promise and is no worse, else the master's choice."""
    reached = _point(oracle, y, neurons)
    promised = np.linalg.norm(reached.r - r) <= 1e-8 * np.linalg.norm(y)
    if promised and _value(lam, reached) <= (1.0 + 1e-13) * _value(lam, point):
        return _Point(reached.neurons, reached.outputs, reached.r, r)
    return _master(oracle, y, lam, point, neurons)


def carry(faces: Sequence[ResidualFace], neurons: Sequence[Neuron], lam: float) -> Floats:
    """Weights for the faces: each neuron gives its |w|/lambda to the face of its block with the nearest direction."""
    alpha = np.zeros(len(faces))
    places: dict[tuple[int, int | None], list[int]] = {}
    for i, face in enumerate(faces):
        places.setdefault((face.sign, face.block), []).append(i)
    units = {name: np.array([_unit(faces[i].v) for i in at]) for name, at in places.items()}
    for neuron in neurons:
        name = (neuron.sign, neuron.block)
        if name in places:
            alpha[places[name][int((units[name] @ neuron.w).argmax())]] += norm(neuron.w) / lam
    return alpha


def norm(v: Floats) -> float:
    """|v|"""
    return sqrt(float(v @ v))


def _unit(v: Floats) -> Floats:
    """v/|v|, or 0"""
    unit: Floats = v / max(norm(v), 1e-300)
    return unit


_IDLE = 12  # rounds without half the gap
_ROUGHLY = 1e-2  # the gap at the lambdas on the way
_HOPELESS = 0.99  # a gap that lower lambdas do not close
_LEAST = 1e-9  # curvatures below this are taken for this


@dataclass(frozen=True)
class LogisticSolution:
    """A network, and a dual point theta with 0 <= y_k theta_k <= 1 that is feasible up to rounding."""

    neurons: tuple[Neuron, ...]
    theta: Floats
    primal: float
    dual: float

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal"""
        return (self.primal - self.dual) / self.primal


def solve_logistic(data: FloatProblem, lam: float, tol: float = 1e-13) -> LogisticSolution:
    """The optimal network of the logistic loss at lambda, to a relative gap of `tol` if floats allow it.

    lambda is lowered from lambda_max by tens, each solution the start of the next. Far below, where curvatures are
    beyond doubles, nothing more is learnt, and the last solution is returned; it is feasible, and so is theta, scaled.
    """
    oracle = oracle_of(data)
    largest = oracle.price(0.5 * data.y, 0.0)[0]
    point = _LogisticPoint((), np.zeros(len(data.y)))
    for power in range(1, int(np.floor(np.log10(max(largest / lam, 1.0)))) + 1):
        point, found = _minimise(data, oracle, largest * 0.1**power, point, _ROUGHLY)
        if found.relative_gap > _HOPELESS:
            return found
    return _minimise(data, oracle, lam, point, tol)[1]


def _minimise(
    data: FloatProblem, oracle: Oracle, lam: float, point: _LogisticPoint, tol: float
) -> tuple[_LogisticPoint, LogisticSolution]:
    """Newton steps from a point, until the gap is small or has not been halved for some rounds."""
    y = data.y
    best: LogisticSolution | None = None
    idle = 0
    while True:
        require_time()
        a = 1.0 / (1.0 + np.exp(np.minimum(y * point.fit, 700.0)))
        h = np.maximum(a * (1.0 - a), _LEAST)
        step = solve(_weighted_squares(data, h, point.fit + y * a / h), lam)
        fit = oracle.outputs(step.neurons).sum(axis=1) if step.neurons else np.zeros(len(y))
        point = _towards(y, lam, point, _LogisticPoint(step.neurons, fit))
        proposal = y * np.clip(y * np.sqrt(h) * step.theta, 0.0, 1.0)
        top = oracle.price(proposal, 0.0)[0]
        theta = (min(1.0, lam / top) if top > 0.0 else 1.0) * proposal
        found = LogisticSolution(point.neurons, theta, _logistic_value(y, lam, point), _entropy(y * theta))
        idle = 0 if best is None or found.relative_gap < 0.5 * best.relative_gap else idle + 1
        if best is None or found.relative_gap < best.relative_gap:
            best = found
        if best.relative_gap <= tol or idle >= _IDLE:
            return point, best


@dataclass(frozen=True)
class _LogisticPoint:
    """A network and its fit."""

    neurons: tuple[Neuron, ...]
    fit: Floats


def _towards(y: Floats, lam: float, old: _LogisticPoint, new: _LogisticPoint) -> _LogisticPoint:
    """The first of the points old + t (new - old), t = 1, 1/2, 1/4, ..., that is better than the old one, if any is."""
    before = _logistic_value(y, lam, old)
    t = 1.0
    while t > 1e-6:
        kept = () if t == 1.0 else tuple(Neuron(n.sign, n.block, (1.0 - t) * n.w) for n in old.neurons)
        added = tuple(Neuron(n.sign, n.block, t * n.w) for n in new.neurons)
        mixed = _LogisticPoint((*kept, *added), (1.0 - t) * old.fit + t * new.fit)
        value = _logistic_value(y, lam, mixed)
        if value < before or (t == 1.0 and value <= before * (1.0 + 1e-15)):
            return mixed
        t /= 2.0
    return old


def _logistic_value(y: Floats, lam: float, point: _LogisticPoint) -> float:
    """sum log(1 + exp(-y_k f_k)) + lambda sum |w_b|; parts of one neuron count one by one, an upper bound."""
    return float(np.logaddexp(0.0, -y * point.fit).sum()) + lam * sum(norm(n.w) for n in point.neurons)


def _weighted_squares(data: FloatProblem, h: Floats, z: Floats) -> FloatProblem:
    """min 1/2 sum_k h_k (f_k - z_k)^2 + lambda sum_b |w_b| as a least-squares problem."""
    root = np.sqrt(h)
    arrays = data.arrays
    if isinstance(arrays, BlockArrays):
        return FloatProblem(root * z, BlockArrays(tuple(root[:, None] * X for X in arrays.X), arrays.K))
    return FloatProblem(root * z, replace(arrays, Z=root[:, None] * arrays.Z))


def _entropy(a: Floats) -> float:
    """sum H(a_k), H(a) = -a log a - (1-a) log(1-a)"""
    inside = a[(a > 0.0) & (a < 1.0)]
    return float(-(inside * np.log(inside) + (1.0 - inside) * np.log1p(-inside)).sum())
