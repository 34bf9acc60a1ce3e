"""What the checkers of refutations share: projections, optimal points, the vertices of an optimal set, D_Z by trial.

Everything is exact and made for tiny instances; what is too large is declined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from verify.errors import Declined, bounded
from verify.numbers.bounds import column, matrix, vector
from verify.problem.blocks import written_out
from verify.problem.problem import Problem, dot, read_problem, square, times, transposed
from verify.text import Matrix, Node, Vector

Weights = tuple[Vector, ...]

MOST_ROWS = 8  # of Z where all 2^n patterns are tried
MOST_CONSTRAINTS = 64  # of one block
MOST_TIED = 12  # blocks whose sets are all tried
ZERO = Fraction(0)


def rank(vectors: Sequence[Vector]) -> int:
    """dim span"""
    return int(matrix(vectors, len(vectors[0])).rank()) if vectors else 0


def solve(A: Matrix, b: Vector) -> Vector | None:
    """The x with Ax = b for a square A, None if A is singular."""
    try:
        return vector(matrix(A, len(b)).solve(column(b)))
    except ZeroDivisionError:
        return None


def combine(x: Sequence[Fraction], vectors: Sequence[Vector], n: int) -> Vector:
    """sum_j x_j vectors_j"""
    return tuple(sum((a * u[k] for a, u in zip(x, vectors, strict=True)), ZERO) for k in range(n))


def minus(u: Vector, v: Vector) -> Vector:
    """u - v"""
    return tuple(a - b for a, b in zip(u, v, strict=True))


def scaled(t: Fraction | int, u: Vector) -> Vector:
    """t u"""
    return tuple(t * x for x in u)


def nearest(vectors: Sequence[Vector], b: Vector) -> Vector:
    """The coefficients x of a least-squares fit of b by independent vectors."""
    x = solve(tuple(tuple(dot(u, v) for v in vectors) for u in vectors), tuple(dot(u, b) for u in vectors))
    if x is None:
        raise Declined("file", "independent vectors", "dependent ones")
    return x


def multiple(u: Vector, v: Vector) -> Fraction | None:
    """t with u = t v, v != 0; None if there is none."""
    k = next((k for k, x in enumerate(v) if x), None)
    if k is None:
        return None
    return u[k] / v[k] if u == scaled(u[k] / v[k], v) else None


def project(K: Sequence[Vector], c: Vector) -> Vector:
    """The point v of {w : k.w <= 0, k in K} nearest to c, by Moreau: c - v = sum rho_k k, rho >= 0, v.(c - v) = 0.

    The active-set method keeps independent k with rho_k > 0. These conditions are checked for what it ends with.
    """
    bounded(len(K), MOST_CONSTRAINTS, "constraints of a block", "file")
    rho = [ZERO] * len(K)
    v = c
    for _ in range(200 + 10 * len(K)):
        entering = max(range(len(K)), key=lambda k: (dot(K[k], v), -k), default=None)
        if entering is None or dot(K[entering], v) <= 0:
            break
        used = [k for k in range(len(K)) if rho[k] or k == entering]
        while True:
            x = dict(zip(used, nearest([K[k] for k in used], c), strict=True))
            step = min((rho[k] / (rho[k] - x[k]) for k in used if x[k] <= 0), default=Fraction(1))
            for k in used:
                rho[k] += step * (x[k] - rho[k])
            if step == 1:
                break
            used = [k for k in used if rho[k]]
        v = minus(c, combine(rho, K, len(c)))
    if min(rho, default=ZERO) < 0 or any(dot(k, v) > 0 for k in K) or dot(v, minus(c, v)):
        raise Declined("file", "a projection after few steps of the active-set method", "none")
    return v


def d_z(Z: Matrix, node: Node) -> dict[int, bool]:
    """All of D_Z as bit masks, each with whether it is the pattern of an open cell: every mask is tried.

    p is in D_Z iff for every row j that is off some u in the cone of p has z_j.u < 0, that is, the projection of -z_j
    onto the cone is not zero (add these u). It is an open cell iff the same holds for +z_j and the non-zero rows on.
    """
    n = len(Z)
    bounded(n, MOST_ROWS, "rows to try all patterns", node.place)
    found = {}
    for mask in range(1 << n):
        out = [scaled(-1, z) if mask >> k & 1 else z for k, z in enumerate(Z)]  # K with K'u <= 0 on the cone
        meets = [any(project(out, scaled(-1, k))) for k in out]
        if all(meets[k] for k in range(n) if not mask >> k & 1):
            found[mask] = all(meets[k] for k in range(n) if any(Z[k]))
    return found


def read_instance(node: Node, *models: str, complete: bool = True) -> Problem:
    """A direct problem, or a network written out as one: over all of D_Z, or over some patterns if not `complete`."""
    problem = read_problem(node)
    if problem.logistic or problem.delta or problem.model not in models:
        raise node.reject(f"a problem of the model {' or '.join(models)} with the plain objective")
    if problem.model == "cgl":
        return problem
    if problem.patterns is None:
        raise node.reject("a network with its patterns")
    if complete and set(problem.patterns) != set(d_z(problem.Z, node)):
        raise node.reject("all of D_Z as the patterns", "other patterns")
    return written_out(problem, problem.patterns)


def correlation(p: Problem, b: int, r: Vector) -> Vector:
    """c_b = X_b'r"""
    return transposed(p.block(b), r)


def dual_vectors(p: Problem, r: Vector) -> Weights:
    """v_b = Proj(X_b'r) for every block."""
    return tuple(project(p.constraints(b), correlation(p, b, r)) for b in range(len(p.groups)))


def read_weights(p: Problem, node: Node) -> Weights:
    """One vector for each block."""
    return tuple(entry.vector(len(g)) for entry, g in zip(node.array(len(p.groups)), p.groups, strict=True))


def fit(p: Problem, w: Weights) -> Vector:
    """sum_b X_b w_b"""
    parts = [times(p.block(b), wb) for b, wb in enumerate(w) if any(wb)]
    return combine([Fraction(1)] * len(parts), parts, p.n)


@dataclass(frozen=True)
class Optimum:
    """An optimal w with r = y - Xw, v_b = Proj(X_b'r), and alpha >= 0 with w_b = alpha_b v_b."""

    p: Problem
    w: Weights
    r: Vector
    v: Weights
    alpha: Vector

    @property
    def active(self) -> list[int]:
        """The blocks that are not zero."""
        return [b for b, a in enumerate(self.alpha) if a]

    @property
    def E(self) -> list[int]:
        """The blocks with |v_b| = lambda: every solution is zero on the others."""
        return [b for b, v in enumerate(self.v) if square(v) == self.p.lam**2]

    def outputs(self, blocks: Sequence[int]) -> list[Vector]:
        """X_b v_b"""
        return [times(self.p.block(b), self.v[b]) for b in blocks]

    @property
    def unique(self) -> bool:
        """The outputs on E are independent: w is the only solution. (False says nothing.)"""
        return rank(self.outputs(self.E)) == len(self.E)

    @property
    def value(self) -> Fraction:
        """P(w) = D(r) = y.r - 1/2 |r|^2, by strong duality."""
        return dot(self.p.y, self.r) - square(self.r) / 2

    def images(self) -> dict[tuple[int, Vector], Fraction]:
        """The different neurons (xi, v) among the active blocks of a ReLU network, each with its weight in all."""
        found: dict[tuple[int, Vector], Fraction] = {}
        for b in self.active:
            neuron = self.p.blocks[b][0], self.v[b]
            found[neuron] = found.get(neuron, ZERO) + self.alpha[b]
        return found

    def vertices(self, node: Node) -> list[Vector]:
        """All vertices of the optimal set, as weights alpha on all blocks."""
        E, q = self.E, dict(zip(self.E, self.outputs(self.E), strict=True))
        bounded(len(E), MOST_TIED, "tied blocks", node.place)
        yhat, found = minus(self.p.y, self.r), []
        for size in range(len(E) + 1):
            for chosen in combinations(E, size):
                vectors = [q[b] for b in chosen]
                if rank(vectors) < size:
                    continue
                x = nearest(vectors, yhat)
                if all(a > 0 for a in x) and combine(x, vectors, self.p.n) == yhat:
                    weights = dict(zip(chosen, x, strict=True))
                    found.append(tuple(weights.get(b, ZERO) for b in range(len(self.v))))
        return found


def optimum(p: Problem, w: Weights, node: Node, r: Vector | None = None) -> Optimum:
    """The point w, which must satisfy the optimality conditions (eq:kkt-cgl with Moreau's multipliers).

    w_b = 0 and |v_b| <= lambda, or w_b = alpha_b v_b with alpha_b > 0 and |v_b| = lambda. Then w_b is in its cone too.
    `r` replaces y - Xw for another loss: minus the gradient of the loss at the fit.
    """
    r = minus(p.y, fit(p, w)) if r is None else r
    v = dual_vectors(p, r)
    alpha = []
    for b, (wb, vb) in enumerate(zip(w, v, strict=True)):
        a = multiple(wb, vb) if any(wb) else ZERO
        tied = square(vb) == p.lam**2 if any(wb) else square(vb) <= p.lam**2
        if a is None or not tied or a < 0:
            raise node.reject("an optimal point", f"one that fails the optimality conditions at block {b}")
        alpha.append(a)
    return Optimum(p, w, r, v, tuple(alpha))


def read_optimum(p: Problem, node: Node) -> Optimum:
    """Weights that must be optimal."""
    return optimum(p, read_weights(p, node), node)


def line(u: Sequence[Fraction]) -> str:
    """A vector for a reader."""
    return f"({', '.join(map(str, u))})"
