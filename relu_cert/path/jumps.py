"""Jumps of the minimum-norm path, proved exactly: the closing conjecture of the paper fails at them.

At lambda_0 several neurons tie, and their outputs are dependent. Beside lambda_0 only some of them are active: on their
branch s(e), alpha(e), e = eta - eta_0 (power series with rational coefficients, because their outputs are independent),
weights that are 0 at e = 0 grow, and each other tied neuron b either falls below, |v_b|^2 < 1, or stays tied and gets
no weight: then a vector h has h.y = 0 and G_a h = 0 for the active neurons, so h.s = 0 and h.q_a = 0 on the branch; G_b
and some G_a agree on the complement of h, and h.q_b > 0. So the optimal network on that side is unique and tends to the
weights `limit` = alpha(0), while at lambda_0 shorter weights are optimal too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice
from math import floor

from flint import fmpq, fmpq_mat

from relu_cert.exact import Vector, column, dot, express, norm_squared, rank, to_fmpq, to_vector
from relu_cert.path.pieces import Gap, Jump, PathPieces
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import class_map, projector
from relu_cert.prove.facts import ExactSet, Facts, LambdaMax, NeuronClass, Tied
from relu_cert.prove.listed import Goal, refine_and_prove
from relu_cert.prove.polytope.shortest import shortest
from relu_cert.prove.polytope.walk import exact_system
from relu_cert.prove.split import null_space
from relu_cert.solve import FloatProblem, solve

MOST_SUPPORTS = 4096
MOST_ORDER = 8  # coefficients of |v|^2 that may vanish before one decides
LOOKED_AT = 24  # gaps


def find_jump(
    problem: Problem, floats: FloatProblem, largest: LambdaMax, here: Facts, cover: PathPieces
) -> Jump | None:
    """A proved jump inside the interval: at the lambda of the facts, or at a simple rational in one of the gaps. It
    rests on multipliers of the pieces: where the facts have a cover in their place, the list proves them again."""

    def listed(lam: Fraction) -> Facts:
        question = Goal(problem, floats, lam, largest, Fraction(1, 10**9))
        return refine_and_prove(question, solve(floats, float(lam)))

    for lam in (here.lam, *(lam for lam in _simple(cover.gaps[:LOOKED_AT]) if lam != here.lam)):
        if cover.lo < lam < cover.hi and lam * lam < largest.squared:
            facts = here if lam == here.lam and not here.covered else listed(lam)
            if (found := jump_at(facts)) is not None:
                return found
    return None


def simplest(lo: Fraction, hi: Fraction) -> Fraction:
    """The fraction with the smallest denominator in [lo, hi], 0 < lo <= hi."""
    whole = floor(lo)
    if whole == lo:
        return lo
    if whole + 1 <= hi:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (hi - whole), 1 / (lo - whole))


def _simple(gaps: Iterable[Gap]) -> list[Fraction]:
    found = [simplest(gap.lo, gap.hi) for gap in gaps]
    return sorted(set(found), key=lambda x: x.denominator)


def jump_at(facts: Facts) -> Jump | None:
    """The jump at the lambda of exact facts with more than one solution, if there is one."""
    known = facts.optimal_set
    if not isinstance(known, ExactSet) or len(known.solutions) < 2:
        return None
    problem, lam, theta, tied = facts.problem, facts.lam, facts.dual.theta, known.tied
    kernels = [_kernel(problem, one) for one in tied]
    if any(G is None for G in kernels):
        return None
    target = tuple(a - b for a, b in zip(problem.y, theta, strict=True))
    shorter = _shortest(tied, target)
    s_0 = tuple(x / lam for x in theta)
    if shorter is None:
        return None
    branches = (
        Branch(problem.y, s_0, tuple(G for G in kernels if G is not None), limit, active, side)
        for limit, active in _limits(tied, target)
        for side in (1, -1)
        if norm_squared(shorter) < norm_squared(limit)
    )
    for branch in branches:
        farkas = optimal_on_its_side(branch)
        if farkas is not None:
            at = (facts.dual.multipliers, branch.limit, shorter, branch.active, branch.side, farkas)
            return Jump(lam, theta, *at)
    return None


@dataclass(frozen=True)
class Branch:
    """The kernel equations of the active neurons beside eta_0."""

    y: Vector
    s_0: Vector
    kernels: tuple[fmpq_mat, ...]
    limit: Vector
    active: tuple[int, ...]
    side: int


def optimal_on_its_side(branch: Branch) -> Vector | None:
    """The Farkas vector (perhaps empty) by which the branch is the optimum on its side; None if that is not proved."""
    found = _series(branch)
    if found is None:
        return None
    s, alpha = found
    side, kernels = branch.side, branch.kernels
    for k, a in enumerate(branch.active):
        if not branch.limit[a] and _first([x[k] for x in alpha[1:]], side) <= 0:
            return None
    staying = []
    for b in (b for b in range(len(kernels)) if b not in branch.active):
        sign = _first([_coefficient(kernels[b], s, m) for m in range(1, len(s))], side)
        if sign > 0:
            return None
        if sign == 0:
            staying.append(b)
    if not staying:
        return ()
    return next((h for h in _void(branch) if _no_weight(branch, s, staying, h)), None)


def _series(branch: Branch) -> tuple[list[fmpq_mat], list[list[fmpq]]] | None:
    """s_0, s_1, ... and alpha_0, alpha_1, ... in e; None where the outputs of the active neurons are dependent."""
    n, active, kernels = len(branch.y), branch.active, branch.kernels
    size = n + len(active)
    J = fmpq_mat(size, size)
    for i in range(n):
        J[i, i] = fmpq(1)
    for G, x in zip(kernels, branch.limit, strict=True):
        for i in range(n):
            for j in range(n):
                J[i, j] += to_fmpq(x) * G[i, j]
    s = [column(branch.s_0)]
    for k, a in enumerate(active):
        for i, q_i in enumerate((kernels[a] * s[0]).entries()):
            J[i, n + k] = J[n + k, i] = q_i
    if J.rank() < size:
        return None
    alpha = [[to_fmpq(branch.limit[a]) for a in active]]
    for m in range(1, MOST_ORDER + 1):
        top = column(branch.y) if m == 1 else fmpq_mat(n, 1)
        for i in range(1, m):
            for k, a in enumerate(active):
                top -= kernels[a] * s[m - i] * alpha[i][k]
        bottom = [-_mixed(kernels[a], s, m) / 2 for a in active]
        solved = J.solve(fmpq_mat([*top.tolist(), *[[x] for x in bottom]])).entries()
        s.append(fmpq_mat([[x] for x in solved[:n]]))
        alpha.append(solved[n:])
    return s, alpha


def _coefficient(G: fmpq_mat, s: Sequence[fmpq_mat], m: int) -> fmpq:
    """The coefficient of e^m in s'G s."""
    return 2 * _product(G * s[0], s[m]) + _mixed(G, s, m)


def _first(coefficients: Sequence[fmpq], side: int) -> int:
    """The sign, for small e > 0 (side 1) or e < 0, of c_1 e + c_2 e^2 + ...; 0 if all these vanish."""
    for m, c in enumerate(coefficients, 1):
        if c != 0:
            return 1 if (c > 0) == (side > 0 or m % 2 == 0) else -1
    return 0


def _void(branch: Branch) -> Iterator[Vector]:
    """A basis of {h : h.y = 0, G_a h = 0 for the active neurons}, with both signs."""
    rows = column(branch.y).transpose().tolist()
    for a in branch.active:
        rows += branch.kernels[a].tolist()
    for h in null_space(fmpq_mat(rows)):
        yield to_vector(h)
        yield to_vector(-h)


def _no_weight(branch: Branch, s: Sequence[fmpq_mat], staying: Sequence[int], h: Vector) -> bool:
    """Whether h shows that the neurons that seem to stay tied do so, and have weight 0 beside eta_0."""
    Pi = projector([h], len(h))
    kernels = branch.kernels
    for b in staying:
        if not any(not any((Pi * (kernels[b] - kernels[a]) * Pi).entries()) for a in branch.active):
            return False
        if _first([_product(column(h), kernels[b] * s_m) for s_m in s[1:]], branch.side) <= 0:
            return False
    return not any(_product(column(h), kernels[b] * s[0]) != 0 for b in staying)


def _product(u: fmpq_mat, v: fmpq_mat) -> fmpq:
    return (u.transpose() * v)[0, 0]


def _mixed(G: fmpq_mat, s: Sequence[fmpq_mat], m: int) -> fmpq:
    """sum of s_i'G s_(m-i), 0 < i < m"""
    return sum((_product(s[i], G * s[m - i]) for i in range(1, m)), fmpq(0))


def _kernel(problem: Problem, tied: Tied) -> fmpq_mat | None:
    """G with output G s near s_0; None for a neuron on a kink or on the boundary of its cone."""
    if problem.network is None:
        K = problem.blocks[tied.block or 0].K
        inside = K is None or not any(any(k) and dot(k, tied.v) >= 0 for k in zip(*K, strict=True))
    else:
        inside = not tied.kinks
    if not inside:
        return None
    X = class_map(problem, NeuronClass(tied.sign, tied.pattern, tied.block)).X
    return X * X.transpose()


def _limits(tied: Sequence[Tied], target: Vector) -> Iterator[tuple[Vector, tuple[int, ...]]]:
    """Weights on independent outputs (vertices of the optimal set), each with a set of neurons that may be active."""
    most = rank([one.q for one in tied])
    sets = chain.from_iterable(combinations(range(len(tied)), size) for size in range(1, most + 1))
    for active in islice(sets, MOST_SUPPORTS):
        limit = _weights(tied, active, target)
        if limit is not None:
            yield limit, active


def _weights(tied: Sequence[Tied], support: Sequence[int], target: Vector) -> Vector | None:
    """The only weights >= 0 of the support with the target as their sum, exactly; None if there are none."""
    outputs = [tied[a].q for a in support]
    if rank(outputs) < len(support):
        return None
    solution = express(outputs, target)
    if solution is None or any(x < 0 for x in solution):
        return None
    alpha = dict(zip(support, solution, strict=True))
    return tuple(alpha.get(a, Fraction(0)) for a in range(len(tied)))


def _shortest(tied: Sequence[Tied], target: Vector) -> Vector | None:
    """Weights of least norm: floats choose their support, and on it they are exact; None if that is not >= 0."""
    found = shortest(exact_system([one.q for one in tied], target), ())
    return None if found is None else found.weights
