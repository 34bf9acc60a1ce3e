"""A bound where there are many features: two principal axes of the targets at a time, with directions all around their
plane (`planes`), or one where that is too dear, as networks with one output.

F(u) = sum_i (theta_i.P(Zu)_+) b_i. In the plane g it is at most lambda_g |u| long, and sum lambda_g^2 <= lambda^2 as
long as the axes are orthogonal. lambda_g is in proportion to the weights of the best network of the plane's targets,
which is where the sum of the bounds is largest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from relu_cert.clock import Until
from relu_cert.evidence import Across, Axis, ByAxes
from relu_cert.exact import Matrix, Vector, dot
from relu_cert.leaders.find import FloatNeuron, find_leaders
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.optimum import OutputsData, OutputsPoint, rounded
from relu_cert.outputs.planes import Found, plane, too_dear
from relu_cert.outputs.train import Net, OutputsTask, apart, objective, weighed, weights

AXIS_BITS, ROUNDS, MORE = 40, 12, 16
HELD = 1 - Fraction(1, 2**30)  # of lambda, for axes that are not quite orthogonal
NEAR_ZERO = 1e-6
ROUNDS_OF_SHARES, GOOD = 3, 1e-3
DIRECTIONS = (4, 8, 16, 32)  # of a plane, as long as there is time


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


def along(given: OutputsData, axes: Sequence[Vector], lam: Fraction) -> tuple[OutputsTask, list[Vector]]:
    """The problem of the targets along some axes only, and these targets."""
    targets = [tuple(dot(row, axis) for row in given.Y) for axis in axes]
    task = given.task(lam)
    Y = np.array([[float(x) for x in row] for row in zip(*targets, strict=True)])
    return OutputsTask(
        task.Z, np.ascontiguousarray(task.projected(Y)), task.lam, task.bags, task.Q, task.biased
    ), targets


def shares(given: OutputsData, groups: Sequence[Sequence[tuple[Vector, float]]], lam: Fraction, late: Until) -> Floats:
    """The parts of lambda of the groups: the squares have the sum 1."""
    part = np.sqrt([sum(top * top for _, top in group) for group in groups])
    part /= np.linalg.norm(part)
    for _ in range(ROUNDS_OF_SHARES if len(groups) > 1 else 0):
        tasks = [
            along(given, [b for b, _ in group], lam * Fraction(x))[0] for group, x in zip(groups, part, strict=True)
        ]
        masses = np.array([weights(task, network(task, lambda: late.over)).sum() for task in tasks])
        if late.over or not masses.any():
            break
        part = np.maximum(part + masses / np.linalg.norm(masses), 0.05)
        part /= np.linalg.norm(part)
    return part


def by_axes(
    given: OutputsData, lam: Fraction, until: Until, planes: bool = True
) -> tuple[OutputsPoint, Matrix, ByAxes] | None:
    """A network, a dual point, and its evidence; None where leaders find none."""
    late = until.within(until.left / 3)
    net = network(given.task(lam), lambda: late.over)
    axes = axes_of(given, lam)
    size = 1 if not planes or too_dear(len(given.Z), len(given.basis), len(given.Y)) else 2
    groups = [axes[k : k + size] for k in range(0, len(axes), size)]
    found, across, theta = list[Axis](), list[Across](), [[Fraction(0)] * len(given.Y[0]) for _ in given.Y]
    for k, (group, part) in enumerate(zip(groups, shares(given, groups, lam, late).tolist(), strict=True)):
        share = (lam * HELD * Fraction(part)).limit_denominator(10**15)
        task, targets = along(given, [b for b, _ in group], share)
        own = network(task, lambda: until.over)
        seconds = max(until.left / (len(groups) - k), 2.0)
        proofs = in_plane(given, task, own, targets, share, until.within(seconds)) if len(group) == 2 else ()
        if len(group) == 1:
            lifted = own.W @ given.frame / np.sqrt(given.scale) if len(own.W) else np.zeros((0, len(given.Z[0])))
            neurons = [
                FloatNeuron(1 if v > 0 else -1, (w * abs(v) / np.sqrt(given.scale)).tolist())
                for w, v in zip(lifted, own.V[:, 0], strict=True)
            ]
            more: Any = {"outputs": given.free, "bags": given.bags, "biases": given.biased, "good": GOOD}
            proof = find_leaders(given.Z, targets[0], share, neurons, seconds, **more)
            proofs = [((Fraction(1), Fraction(0)), share, proof)] if proof is not None else ()
        if not proofs:
            return by_axes(given, lam, until, planes=False) if size == 2 else None
        across += [Across(len(found), *one) for one in proofs[len(group) :]]
        for (axis, _), (_, held, proof) in zip(group, proofs, strict=False):
            found.append(Axis(axis, held, proof))
            for row, t in zip(theta, proof.theta, strict=True):
                for c, b in enumerate(axis):
                    row[c] += t * b
    return OutputsPoint(rounded(given.lifted(net))), tuple(map(tuple, theta)), ByAxes(tuple(found), tuple(across))


def in_plane(
    given: OutputsData, task: OutputsTask, net: Net, targets: Sequence[Vector], lam: Fraction, until: Until
) -> Sequence[Found]:
    """The best proofs in a plane, of more and more directions."""
    upper, Theta = objective(task, net), task.residual(net)
    best: Sequence[Found] = ()
    value, last = Fraction(0), until.left
    for count in DIRECTIONS:
        left = until.left
        if best and left < 3 * (last - left):
            break
        last = left
        found = plane(
            given.Z, targets, lam, Theta, upper, until, count, outputs=given.free, bags=given.bags, biases=given.biased
        )
        if found is None:
            continue
        thetas = [proof.theta for _, _, proof in found[:2]]
        now = sum((dot(y, t) - dot(t, t) / 2 for y, t in zip(targets, thetas, strict=True)), Fraction(0))
        if now > value:
            best, value = found, now
        if upper - float(value) < GOOD * upper:
            break
    return best
