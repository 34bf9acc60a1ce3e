"""The solution as lambda changes: branches beside a lambda, limits at its ends, uniqueness on an interval.

With eta = 1/lambda and s = r/lambda the residual is the projection of eta y on the fixed set {s : |v_b(s)| <= 1 for
all b}, so it is the solution for lambda = 1 and targets eta y. Where the active neurons stay inside their cones, v_a =
X_a's and

    s + sum_a alpha_a G_a s = eta y,    s'G_a s = 1,    G_a = X_a X_a',

has one solution beside a point with independent outputs G_a s, analytic in eta (the implicit function theorem).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.ball import Ball, made_feasible, squared_radius, upper_value
from properties.symbolic.numbers import Number, Reals, beside, column, dot, entries, norm2, root_above
from properties.symbolic.optimum import Alpha, Optimum, independent, support
from properties.symbolic.program import Program
from properties.symbolic.sensitivity import tight

ORDER = 6
MOST_BALLS = 400
NARROWEST = QQ(1, 20_000)  # relative width of the last halves of an interval


@dataclass(frozen=True)
class Series:
    """s and alpha as power series in e = eta - eta_0: the coefficients of e^0, e^1, ..."""

    s: tuple[DomainMatrix, ...]
    alpha: tuple[tuple[Number, ...], ...]


def branch(
    G: Sequence[DomainMatrix], y: DomainMatrix, s: DomainMatrix, alpha: Sequence[Number], reals: Reals
) -> Series:
    """The only solution beside (s, alpha) with these neurons active, whose outputs at s are independent.

    Order by order a linear system: M s_m + Q alpha_m and 2 Q's_m, with M = I + sum alpha_a G_a and Q = [G_a s].
    """
    n, k = y.shape[0], len(G)
    K = reals.domain
    M = DomainMatrix.eye(n, K).to_dense()
    for a, Ga in zip(alpha, G, strict=True):
        M = M + Ga * a
    Q = beside([Ga * s for Ga in G], n, reals)
    top = M.hstack(Q)
    bottom = (Q.transpose() * K.convert(2)).hstack(DomainMatrix.zeros((k, k), K).to_dense())
    inverse = top.vstack(bottom).inv()
    found_s, found_alpha = [s], [tuple(alpha)]
    for m in range(1, ORDER + 1):
        right = y if m == 1 else DomainMatrix.zeros((n, 1), K).to_dense()
        for j in range(1, m):
            for a, Ga in enumerate(G):
                right = right - (Ga * found_s[m - j]) * found_alpha[j][a]
        ties = [-sum((dot(found_s[j], Ga * found_s[m - j]) for j in range(1, m)), K.zero) for Ga in G]
        x = entries(inverse * column([*entries(right), *ties], reals))
        found_s.append(column(x[:n], reals))
        found_alpha.append(tuple(x[n:]))
    return Series(tuple(found_s), tuple(found_alpha))


def sign_beside(coefficients: Sequence[Number], side: int, reals: Reals) -> int:
    """The sign of a power series for small e on one side (1: e > 0); 0 if all known coefficients vanish."""
    for m, c in enumerate(coefficients):
        if reals.sign(c):
            return int(reals.sign(c) * side**m)
    return 0


def limits(found: Optimum) -> dict[int, Alpha]:
    """For each side (1: smaller lambda) the weights to which the only solutions beside lambda tend, where that is
    shown.

    Every set of neurons with independent outputs that holds the support of a vertex is tried: its branch is the
    solution on a side if its weights are positive there and |v_b| < lambda for all others that tie.
    """
    p, reals = found.program, found.program.reals
    if any(tight(p.blocks[i], a.w, reals) for a in found.E for i in a.blocks):
        return {}
    G = [p.blocks[a.blocks[0]].X * p.blocks[a.blocks[0]].X.transpose() for a in found.E]
    s = found.r * (1 / p.lam)
    out: dict[int, Alpha] = {}
    for alpha in found.vertices:
        used = support(alpha)
        rest = [a for a in range(len(found.E)) if a not in used]
        for more in range(len(rest) + 1):
            for extra in combinations(rest, more):
                active = sorted((*used, *extra))
                if not independent([found.E[a].q for a in active]):
                    continue
                series = branch([G[a] for a in active], p.y, s, [alpha[a] for a in active], reals)
                for side in (1, -1):
                    if side not in out and _solves(series, alpha, active, G, side, reals):
                        out[side] = alpha
    return out


def _solves(
    series: Series, alpha: Alpha, active: Sequence[int], G: Sequence[DomainMatrix], side: int, reals: Reals
) -> bool:
    """The branch is the only solution on this side."""
    for i, a in enumerate(active):
        if not alpha[a] and sign_beside([row[i] for row in series.alpha], side, reals) <= 0:
            return False
    for b, Gb in enumerate(G):
        if b not in active:
            square = [
                sum((dot(series.s[j], Gb * series.s[m - j]) for j in range(m + 1)), reals.domain.zero)
                for m in range(ORDER + 1)
            ]
            if sign_beside([square[0] - 1, *square[1:]], side, reals) >= 0:
                return False
    return True


def scaled(p: Program, eta: Number) -> Program:
    """The program for s = r/lambda: lambda = 1 and the targets eta y."""
    return replace(p, y=p.y * eta, lam=p.reals.of(QQ(1)))


def ball_near(p: Program, s: DomainMatrix) -> Ball:
    """A ball around (about) s with the residual of the solutions, its radius found by weights of our own."""
    theta = made_feasible(p, s)
    near, outputs, vectors = [], list[DomainMatrix](), list[DomainMatrix]()
    for i, b in enumerate(p.blocks):
        v, _, _ = p.dual(b, theta)
        q = b.X * v
        if norm2(v) * 10**6 >= p.lam**2 * (10**6 - 1) and q not in outputs:
            near.append(i)
            outputs.append(q)
            vectors.append(v)
    w = [DomainMatrix.zeros((b.size, 1), QQ).to_dense() for b in p.blocks]
    Q = beside(outputs, p.n)
    chosen = Q.rref()[1] if outputs else ()
    Q = beside([outputs[j] for j in chosen], p.n)
    if chosen:
        alpha = entries((Q.transpose() * Q).inv() * (Q.transpose() * (p.y - theta)))
        for j, a in zip(chosen, alpha, strict=True):
            if a > 0:
                w[near[j]] = vectors[j] * a
    return Ball(p, theta, squared_radius(p, upper_value(p, w), theta))


def active_at(p: Program, eta: Number, s: DomainMatrix) -> frozenset[object] | None:
    """The active neurons of the only solution at lambda = 1/eta, each by its sign, kernel map and blocks; None if they
    are not all known."""
    ball = ball_near(scaled(p, eta), s)
    if ball.weights is None or ball.classes is None:
        return None
    alpha, error = ball.weights
    if not all(a > error for a in alpha):
        return None
    return frozenset((one.sign, tuple(entries(one.B)), () if p.neurons else one.blocks) for one in ball.classes)


def unique_between(p: Program, lo: Number, hi: Number, about: Callable[[Number], DomainMatrix]) -> str:
    """Nothing if the network is unique for all eta in [lo, hi]; else where that was not shown. `about` proposes s(eta).

    From (eta y - s).(z - s) <= 0 for z in the fixed set at two etas, |s(eta) - s(eta_0)| <= |s(eta_0)| |eta -
    eta_0|/eta_0: one ball holds the residuals of an interval, and the outputs of all its classes must be independent.
    """
    todo, balls = [(lo, hi)], 0
    while todo:
        a, b = todo.pop()
        middle = (a + b) / 2
        ball = ball_near(scaled(p, middle), about(middle))
        balls += 1
        R = root_above(ball.R2)
        radius = R + (root_above(norm2(ball.theta)) + R) * (b - a) / (2 * middle)
        wide = Ball(ball.program, ball.theta, radius * radius)
        if wide.weights is not None:
            continue
        if (b - a) / middle < NARROWEST or balls > MOST_BALLS:
            return f"not shown unique near lambda = {float(1 / middle):.6g}"
        todo += [(a, middle), (middle, b)]
    return ""


def pieces_of(fact: dict[str, object]) -> Iterator[dict[str, object]]:
    """The pieces of a `path`."""
    listed = fact["pieces"]
    if isinstance(listed, list):
        yield from listed
