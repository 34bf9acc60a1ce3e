"""A bound where there are many features: the outputs along each of some axes by itself, as networks with one output.

F(u) = sum_i (theta_i.P(Zu)_+) b_i with |theta_i.P(Zu)_+| <= lambda_i |u| (leaders) and sum |b_i.b_j| lambda_i lambda_j
<= lambda^2. The axes are the principal ones of the targets, and lambda_i is in proportion to lambda_max of each.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from relu_cert.clock import Until
from relu_cert.evidence import Axis, ByAxes
from relu_cert.exact import Matrix, Vector, dot
from relu_cert.leaders.find import FloatNeuron, find_leaders
from relu_cert.outputs.optimum import OutputsData, OutputsPoint, rounded
from relu_cert.outputs.train import Net, OutputsTask, apart, objective, weighed

AXIS_BITS, ROUNDS, MORE = 40, 12, 16
HELD = 1 - Fraction(1, 2**30)  # of lambda, for axes that are not quite orthogonal
NEAR_ZERO = 1e-6


def network(task: OutputsTask, over: Callable[[], bool]) -> Net:
    """A network of good directions, with the best weights: neurons are not moved."""
    rng, d = np.random.default_rng(0), task.Z.shape[1]
    net, best = Net(np.zeros((0, d)), np.zeros((0, task.Y.shape[1]))), np.inf
    for _ in range(ROUNDS):
        T = task.spread(task.residual(net))
        found, values = task.maxima(T, np.vstack([task.starts(T, rng, 60), net.W]), task.lam)
        more = apart(found[values > task.lam * (1 + 1e-6)], MORE)
        if not len(more):
            break
        net = weighed(task, net, more)
        now = objective(task, net)
        if over() or now > best * (1 - 1e-6):
            break
        best = now
    return net


def axes_of(given: OutputsData, lam: Fraction) -> list[tuple[Vector, float]]:
    """Principal axes of the targets, each with about its lambda_max."""
    task = given.task(lam)
    columns = given.columns @ np.linalg.svd(task.Y, full_matrices=False)[2].T
    Y = task.Y @ np.linalg.svd(task.Y, full_matrices=False)[2].T
    found = []
    for i in range(Y.shape[1]):
        T = task.spread(np.ascontiguousarray(Y[:, i : i + 1]))
        _, values = task.maxima(T, task.starts(T, np.random.default_rng(0), 100), 0.0)
        axis = tuple(Fraction(round(x * 2**AXIS_BITS), 2**AXIS_BITS) for x in columns[:, i].tolist())
        found.append((axis, float(values.max(initial=0.0))))
    largest = max((top for _, top in found), default=0.0)
    return [(axis, top) for axis, top in found if top > NEAR_ZERO * largest]


def by_axes(given: OutputsData, lam: Fraction, until: Until) -> tuple[OutputsPoint, Matrix, ByAxes] | None:
    """A network, a dual point, and its evidence; None where leaders find none."""
    late = until.within(until.left / 3)
    net = network(given.task(lam), lambda: late.over)
    axes = axes_of(given, lam)
    size = sum(top * top for _, top in axes) ** 0.5
    found, theta = [], [[Fraction(0)] * len(given.Y[0]) for _ in given.Y]
    for k, (axis, top) in enumerate(axes):
        share = (lam * HELD * Fraction(top / size)).limit_denominator(10**15)
        y = tuple(dot(row, axis) for row in given.Y)
        task = given.task(share)
        part = np.array([[float(x)] for x in y])
        alone = OutputsTask(
            task.Z, np.ascontiguousarray(task.projected(part)), task.lam, task.bags, task.Q, task.biased
        )
        own = network(alone, lambda: until.over)
        lifted = own.W @ given.frame / np.sqrt(given.scale) if len(own.W) else np.zeros((0, len(given.Z[0])))
        neurons = [
            FloatNeuron(1 if v > 0 else -1, (w * abs(v) / np.sqrt(given.scale)).tolist())
            for w, v in zip(lifted, own.V[:, 0], strict=True)
        ]
        seconds = max(until.left / (len(axes) - k), 2.0)
        proof = find_leaders(
            given.Z, y, share, neurons, seconds, outputs=given.free, bags=given.bags, biases=given.biased, good=1e-3
        )
        if proof is None:
            return None
        found.append(Axis(axis, share, proof))
        for row, t in zip(theta, proof.theta, strict=True):
            for c, b in enumerate(axis):
                row[c] += t * b
    total = sum((abs(dot(a.axis, b.axis)) * a.lam * b.lam for a in found for b in found), Fraction(0))
    if total > lam * lam:
        return None
    return OutputsPoint(rounded(given.lifted(net))), tuple(map(tuple, theta)), ByAxes(tuple(found))
