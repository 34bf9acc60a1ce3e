"""Training of networks with several outputs in floats: min 1/2 |P (Z W')_+ V - Y|^2 + lambda sum |w_j||v_j|.

Neurons come in where |F(u)| exceeds lambda, F(u) = T'(Zu)_+, T = P'Theta with the residual Theta; a group lasso weighs
fixed directions; Newton moves all of them at once, smoothed less and less; at the end the rows on which a neuron is
zero are held there. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from relu_cert.bags import EACH, Each
from relu_cert.outputs.ascent import Floats, maxima, sizes, starts, unit
from relu_cert.outputs.jit import compile_

FINE = 1e-10
SAME = 1e-13  # errors that are as good as none
SETTLED = 1e-10  # an error at which the network is asked about
NEARLY = 1e-3  # an error from which on kinks can be seen
MOST_ROUNDS, MOST_KEPT = 60, 60
REMNANT = 1e-6  # of the largest weight: smoothing leaves such neurons behind
HARDLY = 1e-5  # of the largest pivot of a Cholesky factor
NEW = 12  # neurons that come in at a time
Oracle = Callable[["Net"], Floats]  # violators; none: there are none


@dataclass(frozen=True)
class OutputsTask:
    """The problem in floats. Rows of Z are in `bags`; Q is an orthonormal basis of the columns with free coefficients,
    which are projected away: Y is orthogonal to them, and so is what `pooled` makes of the outputs of rows."""

    Z: Floats
    Y: Floats
    lam: float
    bags: Each = EACH
    Q: Floats | None = None

    def pooled(self, A: Floats) -> Floats:
        """P A, P the bags and the projection: from columns of numbers of rows to columns of numbers of data points."""
        return self.projected(self.bags.pooled_floats(A))

    def spread(self, Theta: Floats) -> Floats:
        """T = P'Theta: from data points to rows. F(u) = T'(Zu)_+."""
        return np.ascontiguousarray(self.bags.spread_floats(self.projected(Theta)))

    def projected(self, A: Floats) -> Floats:
        """Without the part in the free columns."""
        return A if self.Q is None else A - self.Q @ (self.Q.T @ A)

    def outputs(self, U: Floats) -> Floats:
        """P (ZU')_+, a column for each direction."""
        return self.pooled(np.maximum(self.Z @ U.T, 0))

    def residual(self, net: Net) -> Floats:
        """Theta = Y - fit"""
        found: Floats = self.Y - self.outputs(net.W) @ net.V
        return found

    def weighed(self, U: Floats, S: Floats, X: Floats) -> Net:
        """The best weights of fixed directions with the outputs S."""
        return balanced(U, lasso(S.T @ S, S.T @ self.Y, self.lam, X))

    def newton(self, net: Net, mu: float, steps: int) -> Net:
        """Steps for all neurons, smoothed."""
        return newton(self, net, mu, steps)

    def polished(self, net: Net, width: float) -> Net | None:
        """Newton with kinks held; None where that leaves a neuron nothing."""
        return polished(self, net, width)


@dataclass(frozen=True)
class Net:
    """Neurons (w_j, v_j) as rows, |w_j| = |v_j|."""

    W: Floats
    V: Floats

    @property
    def weights(self) -> Floats:
        """|w_j||v_j|"""
        found: Floats = np.linalg.norm(self.W, axis=1) * np.linalg.norm(self.V, axis=1)
        return found

    def kept(self, chosen: Floats) -> Net:
        """Some of the neurons."""
        return Net(self.W[chosen], self.V[chosen])


def objective(task: OutputsTask, net: Net) -> float:
    """The objective."""
    E = task.residual(net)
    return float(0.5 * (E * E).sum() + task.lam * net.weights.sum())


def balanced(U: Floats, X: Floats) -> Net:
    """The neurons with directions U and outputs X, |w| = |v|; those without outputs are left out."""
    size = np.linalg.norm(X, axis=1)
    keep = size > 1e-10 * size.max(initial=1e-300)
    root = np.sqrt(size[keep])[:, None]
    return Net(U[keep] * root, X[keep] / root)


def merged(net: Net, least: float = 1e-9, near: float = 1e-9) -> Net:
    """Without neurons of little weight, and with one in the place of those of about one direction."""
    weights = net.weights
    net = net.kept(weights > least * weights.max(initial=0.0))
    order = np.argsort(-net.weights)
    size = np.linalg.norm(net.W, axis=1)[:, None]
    U, X = (net.W / size)[order], (net.V * size)[order]
    first: list[int] = []
    for i in range(len(U)):
        same = next((j for j in first if U[i] @ U[j] > 1 - near), None)
        if same is None:
            first.append(i)
        else:
            X[same] += X[i]
    return balanced(U[first], X[first]) if first else net


@compile_
def descend(K, b, lam, X, rounds, tol):  # type: ignore[no-untyped-def]
    """Block descent for min 1/2 tr X'KX - <b, X> + lam sum |X_j|, in place."""
    m, C = X.shape
    R = b - K @ X
    x = np.zeros(C)
    whole = True
    for it in range(rounds):
        change = scale = 0.0
        for j in range(m):
            size = 0.0
            for c in range(C):
                size += X[j, c] ** 2
            if not whole and size == 0.0:
                continue
            size = 0.0
            for c in range(C):
                x[c] = R[j, c] + K[j, j] * X[j, c]
                size += x[c] ** 2
            factor = max(0.0, 1 - lam / max(np.sqrt(size), 1e-300)) / K[j, j]
            moved = 0.0
            for c in range(C):
                x[c] = factor * x[c] - X[j, c]
                moved = max(moved, abs(x[c]))
            if moved > 0.0:
                for l in range(m):
                    for c in range(C):
                        R[l, c] -= K[l, j] * x[c]
                for c in range(C):
                    X[j, c] += x[c]
            change = max(change, moved)
            for c in range(C):
                scale = max(scale, abs(X[j, c]))
        if change < tol * scale:
            if whole:
                break
            whole = True
        else:
            whole = it % 20 == 19


def lasso(K: Floats, b: Floats, lam: float, X: Floats, steps: int = 25) -> Floats:
    """The group lasso: block descent, then Newton on the groups that are there."""
    X = np.ascontiguousarray(X)
    descend(K, b, lam, X, 300, 1e-9)

    def value(X: Floats) -> float:
        return float(0.5 * (X * (K @ X)).sum() - (b * X).sum() + lam * np.linalg.norm(X, axis=1).sum())

    C = X.shape[1]
    for _ in range(steps):
        size = np.linalg.norm(X, axis=1)
        X[size <= 1e-10 * size.max(initial=0.0)] = 0.0
        a = np.flatnonzero(np.linalg.norm(X, axis=1))
        if not len(a):
            break
        way = X[a] / size[a][:, None]
        g = K[np.ix_(a, a)] @ X[a] - b[a] + lam * way
        if np.abs(g).max() < 1e-12 * lam:
            break
        H = np.kron(K[np.ix_(a, a)], np.eye(C))
        for j in range(len(a)):
            at = slice(j * C, j * C + C)
            H[at, at] += lam / size[a[j]] * (np.eye(C) - np.outer(way[j], way[j]))
        H[np.diag_indices(len(H))] += 1e-12 * np.trace(H) / len(H)
        try:
            p = -cho_solve(cho_factor(H), g.ravel()).reshape(g.shape)
        except LinAlgError:
            break
        step, before = 1.0, value(X)
        while step > 1e-4:
            trial = X.copy()
            trial[a] += step * p
            trial[a[(trial[a] * way).sum(axis=1) < 0]] = 0.0
            if value(trial) < before:
                break
            step *= 0.4
        if step <= 1e-4:
            descend(K, b, lam, X, 200, 1e-12)
            break
        X = np.ascontiguousarray(trial)
        descend(K, b, lam, X, 3, 1e-13)
    return X


def weighed(task: OutputsTask, net: Net, more: Floats) -> Net:
    """The best weights for the directions of the network and more of them."""
    size = np.linalg.norm(net.W, axis=1)[:, None]
    U = np.vstack([net.W / size, more])
    X = np.vstack([net.V * size, np.zeros((len(more), task.Y.shape[1]))])
    S = task.outputs(U)
    seen = (S * S).sum(axis=0) > 1e-14
    S, U, X = S[:, seen], U[seen], X[seen]
    return task.weighed(U, S, X) if seen.any() else net


def newton(task: OutputsTask, net: Net, mu: float, steps: int, tol: float = 1e-15) -> Net:
    """Damped Newton steps for all neurons, with (a + sqrt(a^2 + mu^2)) / 2 for (a)_+."""
    Z, Y, lam = task.Z, task.Y, task.lam
    d, C = Z.shape[1], Y.shape[1]
    W, V = net.W, net.V
    damping = 1e-6

    def at(W: Floats, V: Floats) -> tuple[Floats, Floats, Floats, Floats, float]:
        A = Z @ W.T
        R = np.sqrt(A * A + mu * mu)
        S = task.pooled(0.5 * (A + R))
        E = S @ V - Y
        return A, R, S, E, float(0.5 * (E * E).sum() + 0.5 * lam * ((W * W).sum() + (V * V).sum()))

    now = at(W, V)
    for _ in range(steps):
        A, R, S, E, f = now
        m = len(W)
        slope = 0.5 * (1 + A / R)
        bend = (task.spread(E) @ V.T) * (0.5 * mu * mu / R**3)
        J = task.pooled((slope[:, :, None] * Z[:, None, :]).reshape(len(Z), m * d))
        X = (J.T @ E).reshape(m, d, C)
        g = np.concatenate([(np.einsum("jac,jc->ja", X, V) + lam * W).ravel(), (S.T @ E + lam * V).ravel()])
        md = m * d
        H = np.zeros((md + m * C, md + m * C))
        H[:md, :md] = (J.T @ J) * np.kron(V @ V.T, np.ones((d, d)))
        H[:md, md:] = np.einsum("iaj,ic->iajc", (J.T @ S).reshape(m, d, m), V).reshape(md, m * C)
        H[md:, md:] = np.kron(S.T @ S, np.eye(C))
        for j in range(m):
            own = slice(j * d, j * d + d)
            H[own, own] += (Z * bend[:, j : j + 1]).T @ Z
            H[own, md + j * C : md + j * C + C] += X[j]
        H[md:, :md] = H[:md, md:].T
        H[np.diag_indices(len(H))] += lam
        scale = np.abs(np.diag(H)).mean()
        spectrum: tuple[Floats, Floats] | None = None
        better = False
        for _ in range(15):
            p, spectrum = against(H, g, damping * scale, spectrum)
            W1, V1 = W + p[:md].reshape(m, d), V + p[md:].reshape(m, C)
            trial = at(W1, V1)
            if trial[4] < f:
                better = True
                break
            damping = max(damping * 10, 1e-10)
        if not better:
            break
        W, V, now = W1, V1, trial
        damping = max(damping * 0.1, 1e-14)
        if f - now[4] < tol * f:
            break
        weights = Net(W, V).weights
        if (weights < 1e-10 * weights.max()).any():
            keep = weights >= 1e-10 * weights.max()
            W, V = W[keep], V[keep]
            now = at(W, V)
    return Net(W, V)


def tight_rows(Z: Floats, net: Net, width: float) -> list[NDArray[np.bool_]]:
    """For each neuron, the rows at which it is zero up to a width."""
    lengths = np.linalg.norm(Z, axis=1) + 1e-300
    heights = Z @ unit(net.W).T / lengths[:, None]
    return [np.abs(heights[:, j]) < width for j in range(heights.shape[1])]


def held(task: OutputsTask, net: Net, width: float) -> tuple[list[Floats], list[Floats]] | None:
    """For each neuron a basis of the vectors that are zero at the rows at which it nearly is, and the outputs of these;
    None where that leaves a neuron nothing."""
    Z = task.Z
    lengths = np.linalg.norm(Z, axis=1) + 1e-300
    bases, moved = [], []
    for w, tight in zip(net.W, tight_rows(Z, net, width), strict=True):
        basis = np.eye(Z.shape[1])
        if tight.any():
            _, s, axes = np.linalg.svd(Z[tight] / lengths[tight, None])
            basis = axes[int((s > 1e-6).sum()) :].T
        if not basis.shape[1]:
            return None
        bases.append(basis)
        moved.append(task.pooled((Z @ basis) * ((Z @ w > 0) & ~tight)[:, None]))
    return bases, moved


def polished(task: OutputsTask, net: Net, width: float, steps: int = 50) -> Net | None:
    """Newton with the rows at which a neuron is nearly zero held there; None where that leaves a neuron nothing."""
    found = held(task, net, width)
    if found is None:
        return None
    bases, moved = found
    Y, lam, C = task.Y, task.lam, task.Y.shape[1]
    x, V = np.concatenate([b.T @ w for b, w in zip(bases, net.W, strict=True)]), net.V.copy()
    m, A = len(bases), np.concatenate(moved, axis=1)
    own = np.repeat(np.arange(m), [b.shape[1] for b in bases])  # the neuron of each entry of x
    starts_, D, AA = np.flatnonzero(np.diff(own, prepend=-1)), len(own), A.T @ A
    for _ in range(steps):
        S = np.add.reduceat(A * x, starts_, axis=1)
        E = S @ V - Y
        X, AS = A.T @ E, A.T @ S
        g = np.concatenate([(X * V[own]).sum(axis=1) + lam * x, (S.T @ E + lam * V).ravel()])
        H = np.empty((len(g), len(g)))
        H[:D, :D] = AA * (V @ V.T)[np.ix_(own, own)]
        cross = AS[:, :, None] * V[own][:, None, :]
        cross[np.arange(D), own] += X
        H[:D, D:] = cross.reshape(D, m * C)
        H[D:, :D] = H[:D, D:].T
        H[D:, D:] = np.kron(S.T @ S, np.eye(C))
        H[np.diag_indices(len(H))] += lam
        p = newton_step(H, g)
        if not np.isfinite(p).all():
            return None
        size = float(np.sqrt(x @ x + (V * V).sum()))
        step = min(1.0, 0.3 * size / max(float(np.linalg.norm(p)), 1e-300))
        x, V = x + step * p[:D], V + step * p[D:].reshape(m, C)
        if np.linalg.norm(g) < 1e-15 * lam or np.linalg.norm(p) < 1e-16 * size:
            break
    parts = np.split(x, starts_[1:])
    return Net(np.stack([b @ o for b, o in zip(bases, parts, strict=True)]), V)


def against(
    H: Floats, g: Floats, damping: float, known: tuple[Floats, Floats] | None
) -> tuple[Floats, tuple[Floats, Floats] | None]:
    """-(|H| + damping)^-1 g, |H| by the spectrum of H, which is kept, unless H is definite."""
    if known is None:
        direct = definite_step(H + damping * np.eye(len(H)), g)
        if direct is not None:
            return direct, None
        values, vectors = np.linalg.eigh(H)
        known = np.abs(values), vectors
    values, vectors = known
    least = 1e-12 * float(np.abs(np.diag(H)).mean())
    found: Floats = -vectors @ ((vectors.T @ g) / (np.maximum(values, least) + damping))
    return found, known


def newton_step(H: Floats, g: Floats) -> Floats:
    """-H^-1 g; the shortest least squares where H is not definite, or hardly; no numbers where H has none."""
    if not np.isfinite(H).all():
        return np.full_like(g, np.nan)
    direct = definite_step(H, g)
    if direct is not None:
        return direct
    values, vectors = np.linalg.eigh(H)
    large = np.abs(values) > 1e-12 * np.abs(values).max()
    found: Floats = -vectors[:, large] @ ((vectors[:, large].T @ g) / values[large])
    return found


def definite_step(H: Floats, g: Floats) -> Floats | None:
    """-H^-1 g, unless H is not definite, or hardly."""
    try:
        factor = cho_factor(H, check_finite=False)
    except LinAlgError:
        return None
    pivots = np.abs(np.diag(factor[0]))
    if pivots.min() < HARDLY * pivots.max():
        return None
    found: Floats = -cho_solve(factor, g)
    return found


def error(task: OutputsTask, net: Net, others: Floats | None = None) -> float:
    """How far the neurons are from ties, |F(u)| = lambda and v along F(u); and how much others exceed it."""
    T = task.spread(task.residual(net))
    U = unit(net.W)
    F = np.maximum(U @ task.Z.T, 0) @ T
    far = np.abs(F / task.lam - net.V / np.linalg.norm(net.V, axis=1)[:, None]).max(initial=0.0)
    over = sizes(task.Z, T, others).max(initial=0.0) / task.lam - 1 if others is not None and len(others) else 0.0
    return float(max(far, over))


def finished(task: OutputsTask, net: Net, others: Floats) -> Net:
    """The network with its kinks held, where that makes it better."""
    best, least = net, error(task, net, others)
    for width in (1e-4, 1e-5, 1e-6, 1e-7, 0.0):
        found = task.polished(net, width)
        while found is not None and len((fewer := merged(found, near=1e-7)).W) < len(found.W):
            found = task.polished(fewer, max(width, 1e-9))  # two were one, or one was nothing
        if found is not None and (far := error(task, found, others)) < max(least, SAME):
            best, least = found, far
    return best


def train(
    task: OutputsTask,
    oracle: Oracle | None = None,
    over: Callable[[], bool] = lambda: False,
    begin: Net | None = None,
    tol: float = FINE,
) -> Net:
    """A network near the optimum; `oracle` is asked for violators where the search finds none."""
    rng = np.random.default_rng(0)
    d = task.Z.shape[1]
    net, bank = begin or Net(np.zeros((0, d)), np.zeros((0, task.Y.shape[1]))), np.zeros((0, d))
    scale = float(np.linalg.norm(task.Z, axis=1).mean())
    for _ in range(MOST_ROUNDS):
        T = task.spread(task.residual(net))
        found, values = maxima(task.Z, T, np.vstack([starts(task.Z, T, rng, 60), net.W, bank]), 0.9 * task.lam)
        far = max(float(values.max(initial=0.0)) / task.lam - 1, 0.0)
        own = error(task, net)
        bank = found[values > 0.98 * task.lam][:MOST_KEPT]
        more = apart(found[values > task.lam * (1 + tol)], NEW)
        if max(far, own) < SETTLED:
            violators = np.zeros((0, d)) if oracle is None else oracle(net)
            if not len(violators):
                return net
            more = np.vstack([more, violators, maxima(task.Z, T, violators, 0.0)[0]])
        if over():
            break
        net = moved(task, weighed(task, net, more), max(far, own, 1e-8), scale, bank)
        if not len(net.W):
            return net
    return finished(task, net, bank)


def apart(U: Floats, most: int) -> Floats:
    """The first of the directions that are not about the same."""
    kept: list[Floats] = []
    for u in U:
        if len(kept) < most and all(u @ q < 1 - 1e-6 for q in kept):
            kept.append(u)
    found: Floats = np.array(kept).reshape(-1, U.shape[1])
    return found


def moved(task: OutputsTask, net: Net, far: float, scale: float, others: Floats) -> Net:
    """The network where Newton takes it: smoothed less and less, from what it is away; near the end with its kinks
    held, if that makes them ties."""
    if not len(net.W):
        return net
    mu = min(1e-2, far / 30) * scale * float(np.sqrt(net.weights.max()))
    for k in range(3 if far > 0.1 else 5):
        net = merged(task.newton(net, max(mu / 10**k, 1e-12), 25 if k < 2 else 40), REMNANT)
        if far < NEARLY or k > 1:
            held = finished(task, net, others)
            if error(task, held) < SETTLED:
                return held
    return net
