"""A network in floats without a list of patterns: column generation over directions.

Local ascent of xi theta.(Zu)_+ / |u| from many starts proposes neurons, a non-negative lasso weighs them, Newton's
method on a smoothed network moves them. What local ascent misses is for the cover to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit

from relu_cert.bags import EACH, Each
from relu_cert.clock import stopped
from relu_cert.cover.stack import Floats

Signs = Floats
SMOOTH = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
COARSE_SMOOTH = (1e-2, 1e-3, 1e-4)
SHORT_SMOOTH = (1e-5, 1e-7)  # where rows are many, and every step is dear
STARTS, MOST_STARTS, MOST_HEIGHTS = 200, 10**4, 4 * 10**7  # of local ascent; more, in bounds, where fewer find nothing
MANY_ROWS, BLOCK = 4096, 256  # from so many rows on, heights are taken in blocks, which stay in the processor's memory,
FEW_STARTS, HEIGHTS = 40, 500_000  # and there are fewer starts, so many heights of them at a time
SAMPLE = 6000  # rows: where there are more, training begins with some of them
SEEN, MOST_SEEN = (
    30_000,
    40,
)  # rows from which on local ascent begins with some of them, and from how many maxima it ends
MOST_ENTRIES = 2**25  # of Newton's matrices; where there would be more, it sees some of the rows
FEW_ENTRIES, PLENTY = 2**21, 8192  # of those where a gap will do: second derivatives and weights are of some rows
ROUGH, SETTLED = 0.125, 1e-3  # parts of a gap that will do: for the training, and for a step of Newton's method
CANDIDATES, MOST_CANDIDATES = 15, 40  # of a sign in a round; more where no cover will find what is missing
ROUNDS, MOST_ROUNDS = 30, 200
LITTLE = 1e-6  # a round with most starts that gains no more than this is the last
MOST_WORK = 1200**3  # of a Newton step, in products; beyond, quasi-Newton
FLATTEST = 1e-9  # the least second derivative of the logistic loss that is believed
NEAR = 1e-7  # neurons with such a difference of directions are one


@dataclass(frozen=True)
class Trained:
    """Neurons xi_i (Z v_i)_+ (rows of V), the residual (theta, for the logistic loss) and the objective."""

    V: Floats
    xi: Signs
    residual: Floats
    objective: float


@dataclass(frozen=True)
class TrainingTask:
    """Z in orthonormal coordinates of its row space, y and lambda; squares, or the logistic loss for labels +-1 (and 0,
    where a row costs 1/2 f^2)."""

    Z: Floats
    y: Floats
    lam: float
    logistic: bool = False
    bags: Each = EACH
    stop: Callable[[], bool] = stopped  # long loops ask this
    enough: float = 0.0  # a relative gap that will do

    def pooled(self, A: Floats) -> Floats:
        """P A: sums over the rows of the data points."""
        return self.bags.pooled_floats(A)

    def spread(self, r: Floats) -> Floats:
        """P'r: the weights of the rows."""
        return self.bags.spread_floats(r)

    def outputs(self, V: Floats) -> Floats:
        """P (Zv)_+ of every neuron, as columns."""
        return self.pooled(np.maximum(self.Z @ V.T, 0.0))

    def slopes(self, on: Floats) -> Floats:
        """The outputs' derivatives by the weights of all neurons: P (on_k z_k), n x md; `on` is N x m."""
        n, m, d = len(self.y), on.shape[1], self.Z.shape[1]
        if self.bags is EACH:
            return (on[:, :, None] * self.Z[:, None, :]).reshape(n, m * d)
        return np.hstack([self.pooled(on[:, i : i + 1] * self.Z) for i in range(m)])

    def loss(self, fit: Floats) -> tuple[float, Floats]:
        """1/2 |fit - y|^2 and the residual; or sum log(1 + exp(-y fit)) and minus its gradient."""
        if self.logistic:
            scores, rest = self.y * fit, np.where(self.y, 0.0, fit)
            value = float((np.logaddexp(0.0, -scores) * self.y**2).sum() + 0.5 * rest @ rest)
            return value, self.y * expit(-scores) - rest
        r = self.y - fit
        return 0.5 * float(r @ r), r

    def bend(self, theta: Floats) -> Floats:
        """The second derivative of the loss where minus its gradient is theta."""
        if not self.logistic:
            return np.ones(len(theta))
        chance = self.y * theta
        return np.where(self.y, np.maximum(chance * (1.0 - chance), FLATTEST), 1.0)

    def weighted(self, A: Floats, bend: Floats) -> Floats:
        """W with W'W the second derivative of the loss along the columns of A, bend that of its terms."""
        weighted: Floats = np.sqrt(bend)[:, None] * A
        return weighted

    @property
    def seen(self) -> Floats:
        """1 for the weights that are in the norm, else 0."""
        return np.ones(self.Z.shape[1])

    @property
    def dear(self) -> int:
        """About how many times as long a climb takes as one without free biases."""
        return 1

    def sizes(self, V: Floats) -> Floats:
        """|v| of every neuron."""
        return np.asarray(np.linalg.norm(V, axis=1), dtype=np.float64)

    def project(self, A: Floats) -> Floats:
        """What the loss sees of columns of outputs: all of them."""
        return A

    def sample(self, rng: np.random.Generator) -> Self | None:
        """The same on some of the rows, with which training begins where rows are many: what they teach is nearly
        right, and lambda is their part of it."""
        n = len(self.Z)
        if n <= SAMPLE or self.bags is not EACH:
            return None
        return self.on(np.sort(rng.permutation(n)[: max(SAMPLE // 2, n // (16 if self.enough else 8))]))

    def some(self, entries: int, most: int) -> tuple[Self, int]:
        """The same on every k-th row, and k, where a gap will do and there would be more entries than `most`."""
        k = entries // most + 1 if self.enough and self.bags is EACH and len(self.Z) > MANY_ROWS else 1
        k = max(min(k, len(self.Z) // PLENTY), 1)
        return (self.on(np.arange(0, len(self.Z), k)), k) if k > 1 else (self, 1)

    def gap(self, value: float, theta: Floats, worst: float) -> float:
        """About the relative gap of a network with this objective, theta, and largest violation."""
        if self.logistic:
            return np.inf
        tau = 1.0 / (1.0 + max(worst, 0.0))
        return (value - tau * float(self.y @ theta) + 0.5 * tau * tau * float(theta @ theta)) / value

    def on(self, rows: NDArray[np.intp]) -> Self:
        """The same on these rows alone."""
        return replace(self, Z=self.Z[rows], y=self.y[rows], lam=self.lam * len(rows) / len(self.Z))

    def climb(self, t: Floats, U: Floats) -> tuple[Floats, Floats]:
        """Local maxima of t.P(Zu)_+ / |u| from every row of U, scaled to |u| = 1. Where rows are very many, some of
        them lead near the maxima, and all of them only the last steps."""
        t, every = self.spread(t), len(self.Z) // SEEN
        if every < 2:
            return ascend(self.Z, t, U, stop=self.stop)
        at, best = ascend(self.Z[::every], t[::every], U, stop=self.stop)
        return ascend(self.Z, t, apart(at, best, MOST_SEEN), 30, 0.1, self.stop)

    def climb_near(self, t: Floats, U: Floats) -> tuple[Floats, Floats]:
        """The same in small steps."""
        return ascend(self.Z, self.spread(t), U, 80, 1e-3, self.stop)


def objective(task: TrainingTask, V: Floats, xi: Signs) -> tuple[float, Floats]:
    """The loss + lambda sum |v|, and theta, minus the gradient of the loss: the residual of the squares."""
    value, theta = task.loss(smoothed(task, V, xi, 0.0))
    return value + task.lam * float(task.sizes(V).sum()), theta


def smoothed(task: TrainingTask, V: Floats, xi: Signs, mu: float) -> Floats:
    """P sum xi (s + sqrt(s^2 + mu^2)) / 2, s = Zv; where rows are many, so many of them at a time."""

    def of(Z: Floats) -> Floats:
        s = Z @ V.T
        found: Floats = (0.5 * (s + np.sqrt(s * s + mu * mu)) if mu else np.maximum(s, 0.0)) @ xi
        return found

    n = len(task.Z)
    return task.pooled(of(task.Z) if n <= PLENTY else np.concatenate([of(part) for part in parts(task.Z)]))


def parts(Z: Floats) -> Iterator[Floats]:
    """The rows, so many at a time."""
    return (Z[k : k + PLENTY] for k in range(0, len(Z), PLENTY))


def ascend(
    Z: Floats, t: Floats, U: Floats, steps: int = 60, first: float = 1.0, stop: Callable[[], bool] = stopped
) -> tuple[Floats, Floats]:
    """Local maxima of t.(Zu)_+ on the unit sphere, from every row of U at once; `first` is the first step."""
    U = U / np.linalg.norm(U, axis=1, keepdims=True)
    best, at, gradient = np.full(len(U), -np.inf), U.copy(), np.zeros_like(U)
    step = np.full(len(U), first)
    tZ = t[:, None] * Z
    blocks = [slice(k, k + BLOCK) for k in range(0, len(Z), BLOCK)] if len(Z) > MANY_ROWS else [slice(None)]
    for _ in range(steps):
        slope = sum(((U @ Z[block].T > 0.0) @ tZ[block] for block in blocks), np.zeros_like(U))
        value = np.einsum("ij,ij->i", slope, U)  # t.(Zu)_+
        better = value > best
        at[better], best[better] = U[better], value[better]
        gradient[better] = slope[better] / np.maximum(np.linalg.norm(slope[better], axis=1, keepdims=True), 1e-300)
        if stop():
            break
        step *= np.where(better, 1.1, 0.6)
        U = at + step[:, None] * gradient
        U /= np.linalg.norm(U, axis=1, keepdims=True)
    return at, best


def apart(at: Floats, best: Floats, most: int) -> Floats:
    """The highest of the maxima, each direction once."""
    chosen: list[Floats] = []
    for i in np.argsort(-best):
        if len(chosen) < most and not any(_near(at[i], u, 1e-3) for u in chosen):
            chosen.append(at[i])
    return np.array(chosen).reshape(-1, at.shape[1])


def starts_for(rows: int) -> int:
    """From how many directions local ascents start."""
    return STARTS if rows <= MANY_ROWS else max(FEW_STARTS, min(STARTS, HEIGHTS // rows))


def largest(task: TrainingTask, rng: np.random.Generator) -> tuple[float, int, Floats]:
    """About the least lambda for which no neuron is active; the sign and direction that say so."""
    theta, starts = task.loss(np.zeros(len(task.y)))[1], starts_for(len(task.Z))
    U = np.vstack([rng.standard_normal((starts, task.Z.shape[1])), task.Z[:starts], -task.Z[:starts]])
    U = U[task.sizes(U) > 1e-12]
    found = []
    for xi in (1, -1):
        at, best = task.climb(xi * theta, U)
        found.append((float(best.max()), xi, at[int(best.argmax())]))
    return max(found, key=lambda one: one[0])


def weigh(A: Floats, y: Floats, lam: float) -> Floats:
    """alpha >= 0 with the least 1/2 |A alpha - y|^2 + lambda sum alpha, by an active set. Columns that depend on each
    other, those of antipodal neurons, can go in and out for ever: ten steps a column are enough."""
    Q, c = A.T @ A, A.T @ y - lam
    alpha = np.zeros(A.shape[1])
    on = np.zeros(A.shape[1], dtype=bool)
    for _ in range(10 * A.shape[1]):
        while on.any():
            index = np.flatnonzero(on)
            z = np.linalg.lstsq(Q[np.ix_(index, index)], c[index], rcond=1e-13)[0]
            if (z > 0.0).all():
                alpha[:] = 0.0
                alpha[index] = z
                break
            now, negative = alpha[index], z <= 0.0
            part = float(np.min(now[negative] / np.maximum(now[negative] - z[negative], 1e-300)))
            now = now + part * (z - now)
            now[np.flatnonzero(negative)[int(now[negative].argmin())]] = 0.0
            now[negative & (now <= 1e-14)] = 0.0
            alpha[:] = 0.0
            alpha[index] = np.maximum(now, 0.0)
            on = alpha > 0.0
        gradient = np.where(on, -1.0, c - Q @ alpha)
        j = int(gradient.argmax())
        if gradient[j] <= 1e-13 * max(1.0, float(np.abs(c).max())):
            break
        on[j] = True
    return alpha


def _weights(task: TrainingTask, A: Floats, first: Floats) -> Floats:
    """alpha >= 0 with the least loss(A alpha) + lambda sum alpha: at once for the squares, for the logistic loss by
    quadratic models with a line search, from the weights of the first columns."""
    if not task.logistic:
        return weigh(A, task.y, task.lam)
    alpha = np.zeros(A.shape[1])
    alpha[: len(first)] = first
    loss, theta = task.loss(A @ alpha)
    now = loss + task.lam * float(alpha.sum())
    for _ in range(50):
        bend = np.maximum(task.bend(theta), 1e-3)
        W = task.weighted(A, bend)
        step = weigh(W, W @ alpha + theta / np.sqrt(bend), task.lam) - alpha
        part, before = 1.0, now
        while part > 1e-6:
            loss, theta = task.loss(A @ (alpha + part * step))
            value = loss + task.lam * float((alpha + part * step).sum())
            if value < now:
                alpha, now = alpha + part * step, value
                break
            part *= 0.5
        if before - now <= 1e-9 * now:
            break
        theta = task.loss(A @ alpha)[1]
    return alpha


@dataclass(frozen=True)
class Bend:
    """H = J'J + blocks on the diagonal, a block for each neuron: bent + stiff (I - EE'), where E (`linear`) has the
    directions along which the norm is linear: the neuron's own, and free biases."""

    J: Floats
    bent: Floats
    stiff: Floats
    linear: Floats

    @property
    def blocks(self) -> Floats:
        """The blocks but for -EE'."""
        m, d, _ = self.bent.shape
        blocks: Floats = self.bent + self.stiff[:, None, None] * np.broadcast_to(np.eye(d), (m, d, d))
        return blocks

    @cached_property
    def square(self) -> Floats:
        """J'J"""
        square: Floats = self.J.T @ self.J
        return square

    @property
    def trace(self) -> float:
        """The trace of H."""
        own = self.stiff * (self.linear**2).sum(axis=(1, 2))
        return float(np.vdot(self.J, self.J) + np.trace(self.blocks, axis1=1, axis2=2).sum() - own.sum())

    def solve(self, right: Floats, damping: float) -> Floats:
        """(H + damping I) x = right: as it is where rows are many, else with matrices of the order of the rows."""
        m, d, _ = self.bent.shape
        blocks = self.blocks + damping * np.eye(d)
        if len(self.J) < m * d:
            with suppress(np.linalg.LinAlgError):  # blocks that are not definite in floats
                return self._solve_by_rows(right, blocks)
        H = self.square.copy()
        blocks -= self.stiff[:, None, None] * (self.linear @ self.linear.transpose(0, 2, 1))
        for i in range(m):
            H[i * d : (i + 1) * d, i * d : (i + 1) * d] += blocks[i]
        return np.asarray(np.linalg.solve(H, right), dtype=np.float64)

    def _solve_by_rows(self, right: Floats, blocks: Floats) -> Floats:
        """H = L (I + A'A - F stiff F') L' with blocks = LL': two times Woodbury's formula."""
        n, order = self.J.shape
        m, d, _ = blocks.shape
        root = np.linalg.inv(np.linalg.cholesky(blocks))
        A = (self.J.reshape(n, m, d).transpose(1, 0, 2) @ root.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(n, order)
        K = A @ A.T + np.eye(n)
        F = root @ self.linear
        AF = (A.reshape(n, m, d).transpose(1, 0, 2) @ F).transpose(1, 0, 2).reshape(n, -1)
        b = (root @ right.reshape(m, d, 1)).reshape(order)
        seen = np.linalg.solve(K, np.column_stack([AF, A @ b]))
        y = b - A.T @ seen[:, -1]
        r = F.shape[2]
        S = -AF.T @ seen[:, :-1]
        own = F.transpose(0, 2, 1) @ F
        for i in range(m):
            S[i * r : (i + 1) * r, i * r : (i + 1) * r] += own[i]
        S = np.diag(np.repeat(1.0 / self.stiff, r)) - S
        c = np.linalg.solve(S, (F.transpose(0, 2, 1) @ y.reshape(m, d, 1)).reshape(-1))
        y = y + (F @ c.reshape(m, r, 1)).reshape(order) - A.T @ (seen[:, :-1] @ c)
        return np.asarray((root.transpose(0, 2, 1) @ y.reshape(m, d, 1)).reshape(order), dtype=np.float64)


def newton(task: TrainingTask, V: Floats, xi: Signs, smooth: list[float], most: int) -> tuple[Floats, Signs]:
    """Newton's method on the neurons, (s)_+ smoothed as (s + sqrt(s^2 + mu^2)) / 2, mu from large to small."""
    if (every := len(task.Z) * V.size // MOST_ENTRIES) and task.bags is EACH and not task.enough:
        return newton(task.on(np.arange(0, len(task.Z), every + 1)), V, xi, smooth, most)
    if _work(len(task.y), *V.shape) > MOST_WORK:
        return _quasi_newton(task, V, xi, smooth)
    Z, lam = task.Z, task.lam
    free = np.eye(Z.shape[1])[:, task.seen == 0.0]
    for mu in smooth:
        damping = 1e-10
        for _ in range(most):
            if task.stop():
                return V, xi
            m = len(V)
            loss, r = task.loss(smoothed(task, V, xi, mu))
            size = task.sizes(V) + 1e-300
            now = loss + lam * float(size.sum())
            unit = V * task.seen / size[:, None]
            part, k = task.some(len(Z) * V.size, FEW_ENTRIES)
            s = part.Z @ V.T
            root = np.sqrt(s * s + mu * mu)
            slope, bend = 0.5 * (1.0 + s / root), 0.5 * mu * mu / (root * root * root)
            J = part.slopes(slope * xi)
            gradient = lam * unit.ravel() - (J.T @ r if k == 1 else _pull(task, V, xi, mu, r))
            J = np.sqrt(k) * (part.weighted(J, part.bend(r[::k])) if task.logistic else part.project(J))
            weight = np.maximum(-k * part.spread(r[::k])[:, None] * xi * bend, 0.0)
            bent = _bent(part.Z, weight)
            linear = np.concatenate([unit[:, :, None], np.broadcast_to(free, (m, *free.shape))], axis=2)
            moved, step, damping = _line_search(
                task, V, xi, mu, now, gradient, Bend(J, bent, lam / size, linear), damping
            )
            if moved is None:
                break
            V = moved
            decrease = -float(gradient @ step)
            lengths = task.sizes(V)
            kept = lengths >= 1e-7 * lengths.max()
            V, xi = V[kept], xi[kept]
            enough = max(1e-12 if mu != smooth[-1] and len(Z) > MANY_ROWS else 1e-15, SETTLED * task.enough)
            if decrease < enough * now and kept.all():
                break
    return V, xi


def _pull(task: TrainingTask, V: Floats, xi: Signs, mu: float, r: Floats) -> Floats:
    """J'r, where J has the derivatives of `smoothed` by the weights."""
    found, weight = np.zeros(V.shape), task.spread(r)[:, None]
    for Z, t in zip(parts(task.Z), parts(weight), strict=True):
        s = Z @ V.T
        found += (0.5 * (1.0 + s / np.sqrt(s * s + mu * mu)) * xi * t).T @ Z
    return found.ravel()


def _bent(Z: Floats, weight: Floats) -> Floats:
    """Z' diag(w) Z for every column w of the weights; where rows are many, those whose weight counts."""
    if len(Z) <= MANY_ROWS:
        return np.asarray((Z[:, None, :] * weight[:, :, None]).transpose(1, 2, 0) @ Z)
    found = []
    for w in weight.T:
        rows = np.flatnonzero(w > 1e-14 * w.max(initial=0.0))
        found.append((Z[rows] * w[rows, None]).T @ Z[rows])
    return np.array(found)


def _work(n: int, m: int, d: int) -> int:
    """Products of a Newton step for m neurons with d weights, as `Bend.solve` does it."""
    return min((m * d) ** 3, n * n * m * d + m * d**3) if n < m * d else (m * d) ** 3


def _quasi_newton(task: TrainingTask, V: Floats, xi: Signs, smooth: list[float]) -> tuple[Floats, Signs]:
    """The same where the Hessian is too large: L-BFGS."""
    Z, lam = task.Z, task.lam

    def value(x: Floats, mu: float) -> tuple[float, Floats]:
        W = x.reshape(V.shape)
        s = Z @ W.T
        root = np.sqrt(s * s + mu * mu)
        loss, r = task.loss(task.pooled(0.5 * (s + root) @ xi))
        size = task.sizes(W) + 1e-300
        gradient = (
            -((0.5 * (1.0 + s / root) * xi) * task.spread(r)[:, None]).T @ Z + lam * W * task.seen / size[:, None]
        )
        return loss + lam * float(size.sum()), gradient.ravel()

    x = V.ravel()
    for mu in smooth:
        options = {"maxiter": 200}
        x = minimize(value, x, args=(mu,), jac=True, method="L-BFGS-B", options=options, callback=_unless_interrupted).x
    found = np.asarray(x.reshape(V.shape), dtype=np.float64)
    lengths = task.sizes(found)
    kept = lengths >= 1e-7 * lengths.max()
    return found[kept], xi[kept]


def _unless_interrupted(intermediate_result: OptimizeResult) -> None:
    """Ends the search when that is asked for."""
    if stopped():
        raise StopIteration


def _line_search(
    task: TrainingTask, V: Floats, xi: Signs, mu: float, now: float, gradient: Floats, H: Bend, damping: float
) -> tuple[Floats | None, Floats, float]:
    """A damped Newton step that decreases the smoothed objective; None where there is none."""
    mean = H.trace / V.size
    step: Floats = np.zeros(V.size)
    for _ in range(12):
        step = -H.solve(gradient, damping * mean)
        part = 1.0
        while part > 1e-3:
            moved = V + part * step.reshape(V.shape)
            loss, _ = task.loss(smoothed(task, moved, xi, mu))
            value = loss + task.lam * float(task.sizes(moved).sum())
            if value <= now + 1e-4 * part * float(gradient @ step) + 1e-14 * abs(now):
                return moved, step, max(damping * 0.3, 1e-13)
            part *= 0.5
        damping = max(damping * 10.0, 1e-8)
    return None, step, damping


def merged(task: TrainingTask, V: Floats, xi: Signs) -> tuple[Floats, Signs]:
    """Neurons of one direction and sign are one."""
    V, xi = V.copy(), xi.copy()
    U = V / task.sizes(V)[:, None]
    kept = np.ones(len(V), dtype=bool)
    for i in range(len(V)):
        for j in range(i + 1, len(V)):
            if kept[i] and kept[j] and xi[i] == xi[j] and _near(U[i], U[j], NEAR):
                V[i] += V[j]
                kept[j] = False
    return V[kept], xi[kept]


def _near(u: Floats, v: Floats, by: float) -> bool:
    """Whether 1 - u.v < `by`, for unit vectors."""
    return float(((u - v) ** 2).sum()) < 2.0 * by


def _violators(
    task: TrainingTask, r: Floats, V: Floats, xi: Signs, rng: np.random.Generator, starts: int, candidates: int
) -> tuple[Floats, Signs, float]:
    """Local maxima above lambda, and by how much, relatively; from random starts, rows, neurons, their opposites
    and directions beside them."""
    found, signs, worst = [], [], 0.0
    for sign in (1.0, -1.0):
        n, d = task.Z.shape
        rows = (sign * task.spread(r)[:, None] * task.Z)[rng.permutation(n)[: starts_for(n) // 2]]
        own = V[xi == sign] / task.sizes(V[xi == sign])[:, None]
        near = own[rng.integers(len(own), size=starts // 2)] if len(own) else own
        near = near + 0.3 / np.sqrt(d) * rng.standard_normal(near.shape)
        U = np.vstack([rng.standard_normal((starts, d)), near, V, -V, rows])
        at, best = task.climb(sign * r, U[task.sizes(U) > 1e-12])
        worst = max(worst, float(best.max()) / task.lam - 1.0)
        chosen: list[Floats] = []
        for i in np.argsort(-best):
            if best[i] <= task.lam * (1.0 + 1e-7) or len(chosen) >= candidates:
                break
            if not any(_near(at[i], u, 1e-3) for u in chosen):
                chosen.append(at[i])
        found += chosen
        signs += [sign] * len(chosen)
    return np.array(found).reshape(-1, task.Z.shape[1]), np.array(signs), worst


def train(
    task: TrainingTask,
    V: Floats | None = None,
    xi: Signs | None = None,
    told: Callable[[int, float], None] = lambda neurons, value: None,
    stop: Callable[[], bool] = stopped,
    *,
    thorough: bool = False,
) -> Trained:
    """A network that no local ascent improves, from given neurons or from none; the best so far when it is to stop.

    `thorough`: where no cover will find what is missing, there are more rounds, and more starts before the last one.
    """
    rng, task = np.random.default_rng(1), replace(task, stop=stop)
    if V is None and (part := task.sample(rng)) is not None:
        begun = train(part, told=told, stop=stop)
        V, xi = begun.V, begun.xi
    d = task.Z.shape[1]
    V = np.zeros((0, d)) if V is None else V
    xi = np.zeros(0) if xi is None else xi
    few = starts_for(len(task.Z))
    starts, last = few, np.inf
    candidates = MOST_CANDIDATES if thorough else CANDIDATES
    most = max(few, min(MOST_STARTS, MOST_HEIGHTS // task.Z.size) // task.dear) if thorough else few
    for _ in range(MOST_ROUNDS if thorough else ROUNDS):
        value, r = objective(task, V, xi)
        told(len(V), value)
        if stop():
            return Trained(V, xi, r, value)
        if thorough and starts == most and value > last * (1.0 - LITTLE):
            V, xi = polished(task, V, xi)
            break
        last = value if starts == most else np.inf
        U, signs, worst = _violators(task, r, V, xi, rng, starts, candidates)
        if task.enough and task.gap(value, r, worst) <= ROUGH * task.enough:
            break
        if not len(U):
            V, xi = polished(task, V, xi)
            if objective(task, V, xi)[0] < value * (1.0 - 1e-9):
                continue  # what is above lambda now was not before
            if starts == most:
                break
            starts = min(4 * starts, most)
            continue
        directions = np.vstack([V / task.sizes(V)[:, None], U])
        signs = np.concatenate([xi, signs])
        part, _ = task.some(len(task.Z) * len(directions), FEW_ENTRIES)
        columns = part.project(part.outputs(directions) * signs)
        alpha = _weights(part, columns, part.sizes(V))
        used = alpha > 1e-10 * max(float(alpha.max(initial=0.0)), 1e-300)
        if not used.any():
            break
        V, xi = directions[used] * alpha[used, None], signs[used]
        V, xi = moved(task, V, xi, far=worst > 1e-2)
        V, xi = merged(task, V, xi)
    else:
        V, xi = polished(task, V, xi)
    value, r = objective(task, V, xi)
    return Trained(V, xi, r, value)


def polished(task: TrainingTask, V: Floats, xi: Signs) -> tuple[Floats, Signs]:
    """The neurons after Newton's method with hardly any smoothing; as they are where that would see some rows only."""
    if not len(V) or task.enough or len(task.Z) * V.size > MOST_ENTRIES:
        return V, xi
    size = float(task.sizes(V).max())
    V, xi = newton(task, V, xi, [10.0**-e * size for e in range(6, 11)], 40)
    lengths = task.sizes(V)
    kept = lengths > 1e-7 * lengths.max()
    return merged(task, V[kept], xi[kept])


def moved(task: TrainingTask, V: Floats, xi: Signs, *, far: bool) -> tuple[Floats, Signs]:
    """The neurons after Newton's method, if that helps."""
    size = float(task.sizes(V).max())
    before = objective(task, V, xi)[0]
    fine = SHORT_SMOOTH if len(task.Z) > MANY_ROWS else SMOOTH
    ladders = [COARSE_SMOOTH, COARSE_SMOOTH[2:]] if far else [fine, SMOOTH[2:], SMOOTH[4:]]
    for ladder in ladders:
        V2, xi2 = newton(task, V, xi, [mu * size for mu in ladder], 12 if far else 25)
        if len(V2) and objective(task, V2, xi2)[0] < before:
            return V2, xi2
    return V, xi
