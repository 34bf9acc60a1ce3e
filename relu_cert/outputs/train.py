"""Training of networks with several outputs in floats: min 1/2 |P (Z W')_+ V - Y|^2 + lambda sum |w_j||v_j|.

Neurons come in where |F(u)| exceeds lambda, F(u) = T'(Zu)_+, T = P'Theta with the residual Theta, exactly on the faces
on which the maxima lie (`faces`). A group lasso weighs the directions; damped Newton steps move them on their faces,
and stop them where a row holds them back; what is a better maximum comes in, until nothing is. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from relu_cert.bags import EACH, Each
from relu_cert.outputs import biases
from relu_cert.outputs.ascent import Floats, alike, maxima, near, sizes, starts, unit
from relu_cert.outputs.faces import EXACTLY, Face, Model, Squares, face_at, firsts, owners, peaks, stopped
from relu_cert.outputs.jit import compile_

FINE = 1e-10
SETTLED = 1e-11  # an error at which the network is asked about
EACH_ROUND = 100  # how much nearer to the optimum the network comes before directions are searched for again
MOST_ROUNDS, MOST_KEPT = 60, 60
REMNANT = 1e-9  # of the largest weight
NEIGHBOURS, SAME_LINE = 1e-3, 1e-9
NEW = 40  # neurons that come in at a time
STEPS, EASED = 60, 15
SHORT = 1e-5  # steps after which the objective may have no digits left to fall
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
    biased: bool = False  # the last entries of neurons are biases, which lengths do not see

    def unit(self, W: Floats) -> Floats:
        """The rows at length 1."""
        return unit(W, self.biased)

    def lengths(self, W: Floats) -> Floats:
        """|w_j|"""
        found: Floats = np.linalg.norm(W[:, :-1] if self.biased else W, axis=1)
        return found

    def starts(self, T: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Directions to start from."""
        return (biases.begun if self.biased else starts)(self.Z, T, rng, count)

    def maxima(self, T: Floats, U: Floats, above: float) -> tuple[Floats, Floats]:
        """Local maxima of |F(u)| from these directions, and the values."""
        return (biases.maxima if self.biased else maxima)(self.Z, T, U, above)

    def peaks(self, T: Floats, U: Floats) -> tuple[Floats, Floats]:
        """The maxima near these directions, exactly on their faces."""
        return peaks(self.Z, T, (biases.near if self.biased else near)(self.Z, T, U), self.biased)

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

    def loss(self, f: Floats) -> float:
        """The loss of outputs."""
        return 0.5 * float(((f - self.Y) ** 2).sum())

    def model(self, faces: Sequence[Face]) -> Model:
        """The loss while neurons stay on these faces."""
        A = self.pooled(np.concatenate([(self.Z @ face.basis) * face.on[:, None] for face in faces], axis=1))
        return Squares(A.T @ A, A.T @ self.Y, owners(faces))


@dataclass(frozen=True)
class Net:
    """Neurons (w_j, v_j) as rows, |w_j| = |v_j|."""

    W: Floats
    V: Floats

    def kept(self, chosen: Floats) -> Net:
        """Some of the neurons."""
        return Net(self.W[chosen], self.V[chosen])


def objective(task: OutputsTask, net: Net) -> float:
    """The objective."""
    return task.loss(task.outputs(net.W) @ net.V) + task.lam * float(weights(task, net).sum())


def weights(task: OutputsTask, net: Net) -> Floats:
    """|w_j||v_j|"""
    found: Floats = task.lengths(net.W) * np.linalg.norm(net.V, axis=1)
    return found


def balanced(U: Floats, X: Floats) -> Net:
    """The neurons with directions U and outputs X, |w| = |v|; those without outputs are left out."""
    size = np.linalg.norm(X, axis=1)
    keep = size > 1e-10 * size.max(initial=1e-300)
    root = np.sqrt(size[keep])[:, None]
    return Net(U[keep] * root, X[keep] / root)


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
    size = task.lengths(net.W)[:, None]
    U = np.vstack([net.W / size, more])
    X = np.vstack([net.V * size, np.zeros((len(more), task.Y.shape[1]))])
    S = task.outputs(U)
    seen = (S * S).sum(axis=0) > 1e-14
    S, U, X = S[:, seen], U[seen], X[seen]
    return task.weighed(U, S, X) if seen.any() else net


def error(task: OutputsTask, net: Net, others: Floats | None = None) -> float:
    """How far the neurons are from ties, |F(u)| = lambda and v along F(u); and how much others exceed it."""
    T = task.spread(task.residual(net))
    U = task.unit(net.W)
    F = np.maximum(U @ task.Z.T, 0) @ T
    far = np.abs(F / task.lam - net.V / np.linalg.norm(net.V, axis=1)[:, None]).max(initial=0.0)
    over = sizes(task.Z, T, others).max(initial=0.0) / task.lam - 1 if others is not None and len(others) else 0.0
    return float(max(far, over))


def one_each(task: OutputsTask, net: Net) -> Net:
    """Without neurons of little weight, and with one in the place of neighbours that are on at the same rows."""
    lengths, sizes_, U = np.linalg.norm(task.Z, axis=1), weights(task, net), task.unit(net.W)
    heights, close = task.Z @ U.T, alike(U, U)
    signs = np.sign(heights) * (np.abs(heights) > EXACTLY * lengths[:, None])
    W, V = net.W.copy(), net.V.copy()
    kept: list[int] = []
    for j in np.argsort(-sizes_).tolist():
        if sizes_[j] < REMNANT * sizes_.max():
            break
        beside = (i for i in kept if close[i, j] < NEIGHBOURS and (signs[:, i] == signs[:, j]).all())
        if (same := next(beside, None)) is None:
            kept.append(j)
            continue
        a, s, b = np.linalg.svd(np.outer(W[same], V[same]) + np.outer(W[j], V[j]), full_matrices=False)
        turn = np.sqrt(s[0]) * (1.0 if a[:, 0] @ U[same] > 0 else -1.0)
        W[same], V[same] = turn * a[:, 0], turn * b[0]
    return Net(W[kept], V[kept])


def folded(task: OutputsTask, net: Net) -> Net:
    """With a free skip connection w and -w are as good: of opposite neurons there is one."""
    U = unit(net.W)
    opposite = np.any(np.tril(U @ U.T, -1) < SAME_LINE - 1, axis=1)
    return one_each(task, Net(np.where(opposite[:, None], -net.W, net.W), net.V)) if opposite.any() else net


def on_faces(task: OutputsTask, net: Net, over: Callable[[], bool]) -> Net:
    """Damped Newton steps for neurons on their faces; one that would cross a row that holds it back (T_k.v < 0) stays
    there, and has that row on its face."""
    Z, lam = task.Z, task.lam
    lengths = np.linalg.norm(Z, axis=1)
    faces = [face_at(Z, lengths, w, biased=task.biased) for w in net.W]
    if not faces or not all(face.basis.shape[1] for face in faces):
        return net
    now, damping, model = objective(task, net), 1e-4, task.model(faces)
    digits = 1e-13 * task.loss(np.zeros_like(task.Y))
    for _ in range(STEPS):
        x = np.concatenate([face.inverse @ w for face, w in zip(faces, net.W, strict=True)])
        T = task.spread(task.residual(net))
        g, H = model.equations(x, net.V)
        flat = np.concatenate([x, net.V.ravel()])
        g, scale, size = g + lam * flat, float(np.abs(np.diag(H)).mean()) + lam, float(np.linalg.norm(flat))
        for _ in range(EASED):
            p = definite_step(H, lam + damping * scale, g)
            if p is not None:
                V = net.V + p[len(x) :].reshape(net.V.shape)
                steps = np.split(p[: len(x)], firsts(owners(faces))[1:])
                there = [
                    stopped(Z, lengths, face, w, w + face.basis @ step, T @ v < 0)
                    for face, w, v, step in zip(faces, net.W, net.V, steps, strict=True)
                ]
                trial = Net(np.stack([w for w, _ in there]), V)
                value, length = objective(task, trial), float(np.linalg.norm(p))
                if value < now or (length < SHORT * size and value < now + digits):
                    break
            damping = max(damping * 10, 1e-12)
        else:
            return net
        if any(a is not b for a, (_, b) in zip(faces, there, strict=True)):
            faces = [face for _, face in there]
            model = task.model(faces)
        net, now = trial, value
        damping = damping * 0.03 if damping > 1e-14 else 0.0
        if length < 1e-15 * size or over():
            break
    return net


def definite_step(H: Floats, lift: float, g: Floats) -> Floats | None:
    """-(H + lift)^-1 g, unless that is not definite."""
    lifted = H.copy()
    lifted[np.diag_indices(len(H))] += lift
    try:
        found: Floats = -cho_solve(cho_factor(lifted, check_finite=False, overwrite_a=True), g, check_finite=False)
    except LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def settled(
    task: OutputsTask, net: Net, others: Floats, over: Callable[[], bool], enough: float = 0.0
) -> tuple[Net, Floats]:
    """The network on its faces, and no maximum near it or the `others` above lambda, if that can be had; and the
    maxima that are nearly as high."""
    Z, lam, first = task.Z, task.lam, True
    for _ in range(MOST_ROUNDS):
        T = task.spread(task.residual(net))
        found, values = task.peaks(T, np.vstack([task.unit(net.W), others]))
        far = max(float(values.max(initial=0.0)) / lam - 1, error(task, net))
        if far < max(enough, SETTLED) or over():
            break
        others = found[values > (1 - 30 * far) * lam]
        new = found[values > lam * (1 + 1e-13)]
        if first:  # the neurons themselves go onto their faces
            net, new, first = Net(np.zeros((0, Z.shape[1])), np.zeros((0, task.Y.shape[1]))), others, False
        elif len(net.W):
            new = new[alike(new, task.unit(net.W)).min(axis=1) > 1e-15]
        net = one_each(task, on_faces(task, one_each(task, weighed(task, net, new)), over))
    return net, others


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
    net = begin or Net(np.zeros((0, d)), np.zeros((0, task.Y.shape[1])))
    bank = near_by = np.zeros((0, d))
    for _ in range(MOST_ROUNDS):
        T = task.spread(task.residual(net))
        begin_at = np.vstack([task.starts(T, rng, 60), task.unit(net.W), bank, near_by])
        found, values = task.maxima(T, begin_at, 0.9 * task.lam)
        bank = found[values > 0.98 * task.lam][:MOST_KEPT]
        far = max(float(values.max(initial=0.0)) / task.lam - 1, 0.0)
        more = apart(found[values > task.lam * (1 + tol)], NEW)
        if max(far, error(task, net)) < SETTLED:
            violators = np.zeros((0, d)) if oracle is None or over() else oracle(net)
            if not len(violators):
                break
            more = np.vstack([more, violators, task.maxima(T, violators, 0.0)[0]])
        if over():
            break
        net, near_by = settled(task, net, np.vstack([more, near_by]), over, far / EACH_ROUND)
    return net


def apart(U: Floats, most: int) -> Floats:
    """The first of the directions that are not about the same."""
    kept: list[Floats] = []
    for u in U:
        if len(kept) < most and all(((u - q) ** 2).sum() > 2e-6 for q in kept):
            kept.append(u)
    found: Floats = np.array(kept).reshape(-1, U.shape[1])
    return found
