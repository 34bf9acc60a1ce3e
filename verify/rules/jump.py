"""A lambda at which the minimum-norm path jumps: what is optimal there is shorter than the limit from one side.

r* = theta exactly, and everything is rational (FORMAT.md: `jump`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from verify.facts import JUMP, PATH, PATTERNS, Facts, proved
from verify.numbers.bounds import column, identity, rational
from verify.optimal.ball import Ball
from verify.optimal.multipliers import check_multipliers
from verify.problem.problem import SIGNS, Problem, dot, square
from verify.rule import Rule
from verify.sets.ties import Optimum, Tied, neuron_of, read_solution, tied_neurons
from verify.text import Fields, Node, Vector, show

MOST_ORDER = 8


@dataclass(frozen=True)
class Jump:
    """At `lam` the weights `limit` are the only limit from one side, and the weights `shorter` are optimal too."""

    lo: Fraction
    hi: Fraction
    lam: Fraction
    limit: Fraction
    shorter: Fraction


def check_jump(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the optimal networks on one side of lambda tend to `limit`, and `shorter` is shorter."""
    fields = node.record("lo", "hi", "lambda", "theta", "multipliers", "limit", "shorter", "active", "side", "farkas")
    lam = fields["lambda"].number()
    lo, hi = fields["lo"].number(), fields["hi"].number()
    fields["lambda"].require(0 < lo < lam < hi, f"lambda strictly between lo = {show(lo)} > 0 and hi = {show(hi)}")
    path, patterns = facts.get(PATH), facts.get(PATTERNS)
    node.require(path is None or (path.lo, path.hi) == (lo, hi), "the interval of the path")
    here = replace(problem, lam=lam)
    theta = fields["theta"].vector(problem.n)
    check_multipliers(here, patterns, theta, lam**2, fields["multipliers"])
    ball = Ball(here, theta, Fraction(0))
    optimum = Optimum(ball, theta, fields["multipliers"])
    tied = tied_neurons(optimum, patterns, node)
    limit, shorter = (tuple(read_solution(optimum, tied, fields[key])) for key in ("limit", "shorter"))
    if square(shorter) >= square(limit):
        raise fields["shorter"].reject(f"weights of squared length below {show(square(limit))}", show(square(shorter)))
    kernels = [kernel(ball, a, node) for a in tied]
    active = fields["active"].ascending(len(tied))
    if any(alpha and a not in active for a, alpha in enumerate(limit)):
        raise fields["active"].reject("all neurons with positive weight in `limit`")
    beside = Beside(ball, kernels, limit, active, SIGNS[fields["side"].text("+", "-")])
    check_beside(beside, fields)
    return proved(JUMP, Jump(lo, hi, lam, square(limit), square(shorter)))


def kernel(ball: Ball, tied: Tied, node: Node) -> fmpq_mat:
    """G with output G s for all s near theta / lambda: no neuron lies on a kink or on the boundary of its cone."""
    optimum = Optimum(ball, ball.theta, node)
    B = optimum.known(neuron_of(optimum, tied, None), tied, optimum.zero).B
    if B is None:
        raise node.reject("tied neurons on no kink, and strictly inside their cones", "one on a boundary")
    return B * B.transpose()


@dataclass(frozen=True)
class Beside:
    """One side of lambda: side * (eta - eta_0) > 0."""

    ball: Ball
    kernels: list[fmpq_mat]
    limit: Vector
    active: tuple[int, ...]
    side: int

    def sign(self, coefficients: list[fmpq]) -> int:
        """The sign of c_1 e + c_2 e^2 + ... for all small e on this side; 0 if these coefficients vanish."""
        for m, c in enumerate(coefficients, 1):
            if c != 0:
                return 1 if (c > 0) == (self.side > 0 or m % 2 == 0) else -1
        return 0


def check_beside(beside: Beside, fields: Fields) -> None:
    """Reject unless the branch of the active neurons is the only optimum on this side, near lambda."""
    s, alpha = series(beside, fields["active"])
    for i, a in enumerate(beside.active):
        if not beside.limit[a] and beside.sign([alpha_m[i] for alpha_m in alpha[1:]]) <= 0:
            raise fields["active"].reject(f"a weight that grows from 0 for the tied neuron {a}")
    staying = []
    for b, G in enumerate(beside.kernels):
        if b in beside.active:
            continue
        falls = beside.sign([2 * product(G * s[0], s[m]) + mixed(G, s, m) for m in range(1, len(s))])
        fields["active"].require(falls <= 0, f"|v|^2 below 1 on this side for the tied neuron {b}", "above 1")
        if not falls:
            staying.append(b)
    h = fields["farkas"].vector(beside.ball.problem.n if staying else 0)
    if staying:
        check_farkas(beside, s, staying, h, fields["farkas"])


def series(beside: Beside, node: Node) -> tuple[list[fmpq_mat], list[list[fmpq]]]:
    """s_m and alpha_m with s + sum alpha_a G_a s = eta y and s'G_a s = 1 for the active neurons."""
    problem, kernels, active = beside.ball.problem, beside.kernels, beside.active
    s = [column(x / problem.lam for x in beside.ball.theta)]
    M = identity(problem.n)
    for G, weight in zip(kernels, beside.limit, strict=True):
        M += G * rational(weight)
    J = jacobian(M, [kernels[a] * s[0] for a in active])
    node.require(J.rank() >= J.nrows(), "independent outputs of the active neurons", "dependent ones")
    alpha = [[rational(beside.limit[a]) for a in active]]
    for m in range(1, MOST_ORDER + 1):
        top = column(problem.y) if m == 1 else fmpq_mat(problem.n, 1)
        for i in range(1, m):
            for a, alpha_i in zip(active, alpha[i], strict=True):
                top -= kernels[a] * s[m - i] * alpha_i
        right = [*top.entries(), *(-mixed(kernels[a], s, m) / 2 for a in active)]
        solved = J.solve(fmpq_mat(len(right), 1, right)).entries()
        s.append(fmpq_mat(problem.n, 1, solved[: problem.n]))
        alpha.append(solved[problem.n :])
    return s, alpha


def check_farkas(beside: Beside, s: list[fmpq_mat], staying: list[int], h: Vector, node: Node) -> None:
    """h.y = 0 and G_a h = 0 for the active neurons, so h.s = 0 beside lambda; there the others tie and have h.q > 0."""
    n, kernels = beside.ball.problem.n, beside.kernels
    H = column(h)
    silent = all(not any((kernels[a] * H).entries()) for a in beside.active)
    if not any(h) or dot(h, beside.ball.problem.y) or not silent:
        raise node.reject("h != 0 with h.y = 0 and G_a h = 0 for the active neurons")
    Pi = identity(n) - H * H.transpose() / rational(square(h))
    for b in staying:
        if not any(not any((Pi * (kernels[b] - kernels[a]) * Pi).entries()) for a in beside.active):
            raise node.reject(f"a neuron that ties with an active one wherever h.s = 0, at {b}")
        if product(H, kernels[b] * s[0]) or beside.sign([product(H, kernels[b] * s_m) for s_m in s[1:]]) <= 0:
            raise node.reject(f"h.q > 0 on this side, and 0 at lambda, for the tied neuron {b}")


def jacobian(M: fmpq_mat, Q: list[fmpq_mat]) -> fmpq_mat:
    """[[M, Q], [Q', 0]]"""
    above = [[*row, *(q[i, 0] for q in Q)] for i, row in enumerate(M.tolist())]
    return fmpq_mat([*above, *([*q.entries(), *[fmpq(0)] * len(Q)] for q in Q)])


def mixed(G: fmpq_mat, s: list[fmpq_mat], m: int) -> fmpq:
    """sum of s_i'G s_(m-i) over 0 < i < m"""
    return sum((product(s[i], G * s[m - i]) for i in range(1, m)), fmpq(0))


def product(u: fmpq_mat, v: fmpq_mat) -> fmpq:
    """u.v"""
    return (u.transpose() * v)[0, 0]


RULE = Rule((JUMP,), check_jump, listed=True, bags=True)
