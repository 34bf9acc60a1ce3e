"""What multipliers prove: an upper bound of xi sum_k theta_k (z_k.u)_+ over the unit vectors of a cell (in floats)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from relu_cert.bags import EACH, Each
from relu_cert.leaders.cells import Cell, Floats, Indices, Slacks
from relu_cert.problem import loss as losses


@dataclass(frozen=True)
class TriangleTies:
    """Triangle inequalities between signs: of the leaders i, j, k (from 1; 0 is the sign 1), with signs x, y and with
    weights r >= 0: r (1 + x s_i s_j + y s_j s_k + x y s_i s_k) >= 0."""

    triangles: Indices
    weights: Floats

    def matrix(self, leaders: int) -> Floats:
        """C with s'C s = -2 sum r (x s_i s_j + y s_j s_k + x y s_i s_k), s_0 = 1."""
        i, j, k, x, y = self.triangles.T
        C = np.zeros((leaders + 1, leaders + 1))
        for a, b, sign in ((i, j, x), (j, k, y), (i, k, x * y)):
            np.subtract.at(C, (a, b), self.weights * sign)
        return C + C.T


@dataclass(frozen=True)
class Multipliers:
    """w[l, k] >= 0 of the neighbours, p of the rows that follow, q >= 0 of all followers, rho >= 0 of the normals
    (beyond what w and q ask for), c = 1/g > 0 of the leaders; and of ties between their signs, if there are any."""

    w: Floats
    p: Floats
    q: Floats
    rho: Floats
    c: Floats
    ties: TriangleTies | None = None

    def scaled(self, s: float) -> Multipliers:
        """All multipliers times s: they belong to s theta."""
        ties = None if self.ties is None else replace(self.ties, weights=s * self.ties.weights)
        return Multipliers(s * self.w, s * self.p, s * self.q, s * self.rho, s * self.c, ties)


def multipliers(cell: Cell, dual: Slacks) -> Multipliers:
    """The multipliers of the bound from those of the conic program."""
    w = 2 * np.where(cell.used, dual.cut, 0.0)
    q = np.where(np.isfinite(cell.lengths), 2 * dual.square, 0.0)
    need = np.bincount(cell.near.ravel(), w.ravel(), minlength=len(cell.F)) + q
    rho = np.maximum(2 * dual.inside - need[len(cell.N) :], 0.0)
    return Multipliers(w, 2 * (dual.plus - dual.minus), q, rho, 4 * dual.blocks[:-1, 0, 0])


def trim_multipliers(cell: Cell, theta: Floats, by: Multipliers) -> Multipliers:
    """Shorter multipliers, so that no row that follows carries more than its theta: nothing is left to pay there."""
    rows = len(cell.N)
    load = np.bincount(cell.near.ravel(), by.w.ravel(), minlength=len(cell.F)) + by.q
    load[:rows] += np.abs(by.p)
    share = np.ones(len(cell.F))
    most = np.maximum(-cell.xi * theta[cell.N], 0)
    share[:rows] = np.where(load[:rows] > most, most / np.maximum(load[:rows], 1e-300), 1.0)
    return replace(by, w=by.w * share[cell.near], p=by.p * share[:rows], q=by.q * share)


def bound(cell: Cell, theta: Floats, by: Multipliers) -> float:
    """const + sigma + nu, an upper bound on the cell's unit vectors if there is one."""
    const, beta, Q = form(cell, theta, by)
    if cell.norm.all():
        return const + sum(smallest(beta, Q))
    return const + sum(with_free_bias(beta, Q, cell.norm, cell.reach))


def form(cell: Cell, theta: Floats, by: Multipliers) -> tuple[float, Floats, Floats]:
    """const, beta and Q of const + beta.u + u'Qu, which is at least xi sum_k theta_k (z_k.u)_+ where |u| = 1."""
    rows = len(cell.N)
    load = np.bincount(cell.near.ravel(), by.w.ravel(), minlength=len(cell.F)) + by.q
    load[:rows] += np.abs(by.p)
    v = leading(cell, theta, by)
    left = np.maximum(cell.xi * theta[cell.N] + load[:rows], 0)
    loose = left[:, None] * cell.F[:rows]
    c = np.concatenate([np.zeros(0) if by.ties else by.c, free_weight(loose)])
    vs = np.concatenate([v[: len(c) - len(loose)], loose])[c > 0]
    c = c[c > 0]
    beta = 0.5 * (cell.xi * (cell.Z.T @ theta) - cell.F[:rows].T @ by.p + cell.A.T @ (load[rows:] + by.rho))
    Q = 0.25 * (vs / c[:, None]).T @ vs - 0.5 * (cell.F * (by.q / cell.lengths)[:, None]).T @ cell.F
    if by.ties is None:
        return 0.25 * float(c.sum()), beta, Q
    const, less, more = tied_quadratic(v, by.c, by.ties)
    return 0.25 * float(c.sum()) + const, beta - less, Q + more


def leading(cell: Cell, theta: Floats, by: Multipliers) -> Floats:
    """v_l, what is left of the leaders beside their neighbours."""
    pulled = np.einsum("lk,lkd->ld", by.w * cell.side, cell.F[cell.near])
    v: Floats = np.maximum(cell.xi * theta[cell.L], 0)[:, None] * cell.Z[cell.L] - pulled
    return v


def tied_quadratic(v: Floats, c: Floats, ties: TriangleTies) -> tuple[float, Floats, Floats]:
    """const, b and Q with 1/2 sum s_l v_l.u <= const - b.u + u'Qu for all signs s: C = diag(c) and the ties' own, and
    s'C s - 2 s'(v u - C_0) + (v u - C_0)'C^-1 (v u - C_0) >= 0."""
    whole = ties.matrix(len(c))
    first, C = whole[0, 1:], whole[1:, 1:] + np.diag(c)
    values, vectors = np.linalg.eigh(C)
    if not len(values) or values[0] <= 1e-12 * values[-1]:
        return np.inf, np.zeros(v.shape[1]), np.zeros((v.shape[1], v.shape[1]))
    half = (vectors / np.sqrt(values)).T
    V, f = half @ v, half @ first
    return 0.25 * float(c.sum() + 2 * ties.weights.sum() + f @ f), 0.5 * V.T @ f, 0.25 * V.T @ V


def free_weight(v: Floats) -> Floats:
    """c for vectors that no leader's multiplier belongs to: |v| / sqrt(d), right for a direction at random."""
    weight: Floats = np.linalg.norm(v, axis=1) / np.sqrt(v.shape[1])
    return weight


def smallest(beta: Floats, Q: Floats) -> tuple[float, float]:
    """sigma and nu of least sum with [[sigma, -beta'/2], [-beta/2, nu I - Q]] >= 0."""
    if not len(Q):
        return 0.0, 0.0
    values, V = np.linalg.eigh(Q)
    squares = (V.T @ beta) ** 2 / 4
    top = float(values[-1])
    low, high = top + 1e-13 * max(1.0, abs(top)), top + float(np.sqrt(squares.sum())) + 1e-12 * max(1.0, abs(top))
    for _ in range(80):
        middle = (low + high) / 2
        if (squares / (middle - values) ** 2).sum() > 1:
            low = middle
        else:
            high = middle
    return float((squares / (high - values)).sum()), high


def with_free_bias(beta: Floats, Q: Floats, norm: Floats, reach: float) -> tuple[float, float, float]:
    """The same where the norm does not see one coordinate b: sigma, nu and kappa reach^2 of least sum, where
    kappa (b^2 - reach^2 |w|^2), which is at most 0 where it counts, makes room for Q_bb."""
    b, rest = int(np.argmin(norm)), np.flatnonzero(norm)
    most, side = float(Q[b, b]), Q[rest, b]

    def at(room: float) -> tuple[float, float, float]:
        kappa = max(room + most, 0.0)
        room = kappa - most
        sigma, nu = smallest(beta[rest] + beta[b] * side / room, Q[np.ix_(rest, rest)] + np.outer(side, side) / room)
        return sigma + float(beta[b]) ** 2 / (4 * room), nu, kappa * reach**2

    size = max(abs(most), float(np.abs(side).max(initial=0.0)), abs(float(beta[b])), 1e-300)
    low, high = np.log(1e-12 * size), np.log(1e4 * size)
    for _ in range(30):  # the sum is convex in kappa
        one, two = low + 0.382 * (high - low), low + 0.618 * (high - low)
        if sum(at(float(np.exp(one)))) <= sum(at(float(np.exp(two)))):
            high = two
        else:
            low = one
    return at(float(np.exp((low + high) / 2)))


@dataclass(frozen=True)
class LeadersLoss:
    """`rows[k]` is the class of row k; of each class the number of rows, sum y and (logistic) the number with y > 0.

    theta here is the sum of theta_k over a class: (*) does not see more, and the best theta_k follow from it. Beside
    labels a row with y = 0 is a class of its own, and costs 1/2 f^2. With
    `bags` classes are single bags, and (*) sees t = P'theta.
    """

    rows: Indices
    y: Floats
    logistic: bool = False
    bags: Each = EACH

    @property
    def exact(self) -> losses.Loss:
        """The loss of single rows."""
        return losses.LOGISTIC if self.logistic else losses.SQUARES

    @cached_property
    def count(self) -> Floats:
        """The number of rows in each class."""
        return np.bincount(self.rows).astype(np.float64)

    @cached_property
    def sums(self) -> Floats:
        """sum y of each class."""
        sums: Floats = np.bincount(self.rows, self.y).astype(np.float64)
        return sums

    @cached_property
    def positive(self) -> Floats:
        """The number of rows with y > 0 in each class."""
        positive: Floats = np.bincount(self.rows, self.y > 0).astype(np.float64)
        return positive

    @cached_property
    def labels(self) -> Floats:
        """The number of rows with a label in each class: all, or none."""
        labels: Floats = np.bincount(self.rows, self.y != 0).astype(np.float64)
        return labels

    def seen_by(self, cell: Cell) -> Each:
        """P, for the rows of a cell."""
        return self.bags

    def value(self, fit: Floats) -> float:
        """The loss of the outputs."""
        if self.logistic:
            up, down, rest = self.positive, self.labels - self.positive, fit[self.labels == 0]
            return float(up @ np.logaddexp(0, -fit) + down @ np.logaddexp(0, fit) + 0.5 * rest @ rest)
        return float(0.5 * self.count @ fit**2 - self.sums @ fit + 0.5 * self.y @ self.y)

    def theta(self, fit: Floats) -> Floats:
        """Minus the gradient of the loss."""
        if self.logistic:
            down = self.positive - self.count / (1 + np.exp(-np.clip(fit, -700, 700)))
            return np.where(self.labels, down, -fit)
        residual: Floats = self.sums - self.count * fit
        return residual

    def flatness(self, fit: Floats) -> Floats:
        """1 / the second derivative of the loss."""
        if self.logistic:
            chance = 1 / (1 + np.exp(-np.clip(fit, -30, 30)))
            return 1 / (self.count * np.where(self.labels, chance * (1 - chance), 1.0))
        return 1 / self.count

    def dual(self, theta: Floats) -> float:
        """The dual value of theta, if its rows are chosen best; -inf if there is none."""
        if self.logistic:
            a = (theta + self.labels - self.positive) / self.count * (self.labels > 0)
            if a.min() < 0 or a.max() > 1:
                return -np.inf
            inner, rest = (np.clip(a, 1e-300, None), np.clip(1 - a, 1e-300, None)), theta[self.labels == 0]
            return float(-self.count @ (a * np.log(inner[0]) + (1 - a) * np.log(inner[1])) - 0.5 * rest @ rest)
        return float(0.5 * self.y @ self.y - 0.5 * ((self.sums - theta) ** 2 / self.count).sum())

    def best_scale(self, theta: Floats, most: float) -> tuple[float, float]:
        """s in [0, most] with the largest dual value of s theta, and that value (it is concave in s)."""
        low, high = 0.0, most
        for _ in range(60):
            one, two = low + 0.382 * (high - low), low + 0.618 * (high - low)
            if self.dual(one * theta) >= self.dual(two * theta):
                high = two
            else:
                low = one
        s = max((most, high, low), key=lambda s: self.dual(s * theta))
        return s, self.dual(s * theta)


def merge(rows: Sequence[Sequence[object]]) -> tuple[Indices, Indices]:
    """The class of each row, numbered by first appearance, and the first row of each class; rows that are equal are in
    one class."""
    names: dict[tuple[object, ...], int] = {}
    classes = np.array([names.setdefault(tuple(row), len(names)) for row in rows], dtype=np.intp)
    firsts = np.full(len(names), -1, dtype=np.intp)
    for k in range(len(classes) - 1, -1, -1):
        firsts[classes[k]] = k
    return classes, firsts
