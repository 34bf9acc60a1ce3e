"""The convex program over sampled patterns: min 1/2|sum_b X_b w_b - y|^2 + lambda sum_b |w_b|, w_b in C_b.

Blocks are (D_i, xi): X_b = xi D_i Z and C_b = {u : (2 D_i - I) Z u >= 0} for ReLU networks; for gated ones X_b = D_i Z
without a cone. Most blocks are zero, so the package's solver gets a working set, and all blocks are priced at its
residual: a price above lambda brings a block in. The gap is that of the program with all sampled blocks.

Every optimal w_b is a multiple of v_b = Proj_{C_b}(X_b'r), which lies in the span of the rows of Z. Where there are
fewer rows than features, everything happens in orthonormal coordinates of that span.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from benchmarks.paper.data import Bits, Floats, Points
from relu_cert.solve import FloatProblem, Neuron, Solution, solve
from relu_cert.solve.model import Stats
from relu_cert.solve.prepare import BlockArrays, NetworkArrays
from relu_cert.solve.shortest import shortest

Signs = NDArray[np.int_]
Tell = Callable[[str], None]

_ENTER = 20  # blocks that enter the working set in a round
_ROUNDS = 30
_FACTOR = 3.0  # lambda comes down by this factor, or less
_LEAST_FACTOR = 1.01
_ATTEMPTS = 60
_ROUGH = 1e-2  # the relative gap that is enough on the way
_NEAR = 0.9  # blocks whose price is below this share of lambda leave the working set
_BATCH = 30  # from so many coordinates on, projections are computed one by one


@dataclass(frozen=True)
class Sampled:
    """The program: Z (n x d) in coordinates of its row space, y, the patterns (k x n), lambda, and whether it is gated.

    Block b is the pattern b // 2 with xi = 1 for even b and -1 for odd b (ReLU), or the pattern b (gated). `basis`
    (features x d) leads back: the weight of a block on the features is basis @ w.
    """

    Z: Floats
    y: Floats
    D: Bits
    lam: float
    gated: bool
    basis: Floats

    @property
    def blocks(self) -> int:
        """How many there are."""
        return len(self.D) * (1 if self.gated else 2)

    def pattern(self, b: NDArray[np.intp]) -> NDArray[np.intp]:
        """The blocks' patterns."""
        return b if self.gated else b // 2

    def sign(self, b: NDArray[np.intp]) -> Signs:
        """xi of the blocks."""
        return np.ones(len(b), dtype=np.int_) if self.gated else 1 - 2 * (b % 2)


@dataclass(frozen=True)
class Prices:
    """v_b = Proj_{C_b}(X_b'theta) of every block, and |v_b|."""

    v: Floats
    norm: Floats


@dataclass(frozen=True)
class Optimum:
    """The solver's answer (block numbers are those of all sampled blocks) and all prices at its residual."""

    solution: Solution
    prices: Prices


def sampled_program(points: Points, D: Bits, lam: float, *, gated: bool = False) -> Sampled:
    """The program of these points and patterns."""
    n, d = points.Z.shape
    if d <= n:
        return Sampled(points.Z, points.y, D, lam, gated, np.eye(d))
    _, s, rows = np.linalg.svd(points.Z, full_matrices=False)
    basis = rows[s > 1e-12 * s[0]].T
    return Sampled(points.Z @ basis, points.y, D, lam, gated, basis)


def prices(program: Sampled, theta: Floats) -> Prices:
    """All blocks at theta."""
    b = np.arange(program.blocks)
    on, xi = program.D[program.pattern(b)], program.sign(b)
    v = xi[:, None] * ((on * theta) @ program.Z)
    if not program.gated:
        v = _project(program.Z, np.where(on, 1.0, -1.0), v)
    return Prices(v, np.linalg.norm(v, axis=1))


def _project(Z: Floats, signs: Floats, c: Floats) -> Floats:
    """Each row of c onto its cone {u : signs_k z_k.u >= 0}."""
    if Z.shape[1] < _BATCH:
        return shortest(c, Z, signs, np.full(signs.shape, np.inf)).v
    return np.array(
        [
            a + nnls((s[:, None] * Z).T, -a, maxiter=50 * len(Z))[0] @ (s[:, None] * Z)
            for a, s in zip(c, signs, strict=True)
        ]
    ).reshape(c.shape)


def optimum(program: Sampled, tol: float = 1e-12, tell: Tell = lambda text: None) -> Optimum:
    """The optimal weights to a relative gap of `tol`, if floats allow it.

    lambda comes down from lambda_max in steps, each a warm start for the next: a few blocks enter at a time. Where the
    solver stalls, the step was too long.
    """
    if program.gated:
        arrays = NetworkArrays(program.Z, np.packbits(program.D, axis=1), gated=True)
        found = solve(FloatProblem(program.y, arrays), program.lam, tol=tol)
        return Optimum(found, prices(program, found.theta))
    state = _State([], None, prices(program, program.y), program.y)
    lam, factor = float(state.prices.norm.max(initial=0.0)), _FACTOR
    best = _measured(program, program.lam, state), state
    if lam <= program.lam:
        return Optimum(best[0], state.prices)  # the zero network
    for _ in range(_ATTEMPTS):
        target = max(lam / factor, program.lam)
        last = target <= program.lam
        reached, gap = _descend(program, target, state, tol if last else _ROUGH, tell)
        if last and gap < best[0].relative_gap:
            best = _measured(program, target, reached), reached
        if gap > (tol if last else _ROUGH):
            factor = sqrt(min(factor, lam / target))
            if factor < _LEAST_FACTOR:
                break
            continue
        if last:
            break
        state, lam, factor = reached, target, min(_FACTOR, 1.5 * factor)
    return Optimum(best[0], best[1].prices)


@dataclass(frozen=True)
class _State:
    """The working set, the solution over it, and all prices at its dual point theta."""

    working: list[int]
    solution: Solution | None
    prices: Prices
    theta: Floats


def _descend(program: Sampled, lam: float, state: _State, tol: float, tell: Tell) -> tuple[_State, float]:
    """Blocks enter until the gap over all blocks is small, or none is left to enter: the best state and its gap."""
    best, least = state, np.inf
    for _ in range(_ROUNDS):
        inside = set(state.working)
        order = np.argsort(-state.prices.norm)[: len(inside) + _ENTER]
        fresh = [int(b) for b in order if b not in inside and state.prices.norm[b] > lam * (1.0 - 1e-9)][:_ENTER]
        if least < np.inf and not fresh:
            break
        used = {n.block for n in state.solution.neurons} if state.solution is not None else set()
        near = [b for b in state.working if b in used or state.prices.norm[b] > _NEAR * lam]
        working = near + fresh
        solution = _restricted(program, lam, working, state.solution, tol)
        state = _State(working, solution, prices(program, solution.theta), solution.theta)
        gap = _measured(program, lam, state).relative_gap
        tell(f"lambda {lam:.3g}: {len(working)} blocks, {len(solution.neurons)} neurons, gap {gap:.1e}")
        if gap < least:
            best, least = state, gap
        if gap <= tol:
            break
    return best, least


def _restricted(program: Sampled, lam: float, working: list[int], warm: Solution | None, tol: float) -> Solution:
    """The package's solver on some blocks; neurons carry the numbers that the blocks have among all."""
    b = np.array(working)
    on, xi = program.D[program.pattern(b)], program.sign(b)
    X = tuple((s * o)[:, None] * program.Z for s, o in zip(xi, on, strict=True))
    K = tuple(np.where(o, -1.0, 1.0)[:, None] * program.Z for o in on)
    place = {name: i for i, name in enumerate(working)}
    if warm is not None:
        warm = _renamed(warm, place)
    found = solve(FloatProblem(program.y, BlockArrays(X, K)), lam, warm=warm, tol=tol)
    return _renamed(found, dict(enumerate(working)))


def _renamed(solution: Solution, names: dict[int, int]) -> Solution:
    neurons = tuple(Neuron(n.sign, names[n.block or 0], n.w) for n in solution.neurons)
    s = solution
    return Solution(s.lam, neurons, s.residual, s.theta, s.primal, s.gap, s.stats)


def _measured(program: Sampled, lam: float, state: _State) -> Solution:
    """The solution with its gap over all sampled blocks: theta shrinks until every price is at most lambda."""
    found, y = state.solution, program.y
    scale = min(1.0, lam / max(float(state.prices.norm.max(initial=0.0)), 1e-300))
    neurons = () if found is None else found.neurons
    r = y if found is None else found.residual
    theta = scale * state.theta
    norms = np.array([np.linalg.norm(n.w) for n in neurons])
    slack = [lam * a - float(theta @ output(program, n)) for a, n in zip(norms, neurons, strict=True)]
    gap = 0.5 * float((r - theta) @ (r - theta)) + sum(slack)
    primal = 0.5 * float(r @ r) + lam * float(norms.sum())
    stats = Stats(0, 0.0, "trivial") if found is None else found.stats
    return Solution(lam, neurons, r, theta, primal, max(gap, 0.0), stats)


def output(program: Sampled, neuron: Neuron) -> Floats:
    """X_b w_b"""
    b = np.array([neuron.block])
    shares: Floats = program.sign(b)[0] * np.where(program.D[program.pattern(b)[0]], program.Z @ neuron.w, 0.0)
    return shares
