"""A continuum of optimal networks with several outputs: neurons of one pattern that may be turned into each other.

FORMAT.md, Several outputs, has the lemma. Over networks of one pattern the optimum is that of a nuclear norm; its dual
point is feasible for all networks if every leaf is out, or has lines that only make F shorter; and its neurons lie
strictly within the pattern, so that small rotations of two of them do, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from flint import fmpq, fmpq_mat, fmpz_mat

from verify.errors import bounded
from verify.facts import DUAL, FORMS, TURNED, Facts, proved
from verify.numbers.bounds import dual_basis, identity, matrix, root_above, rows, vector
from verify.numbers.integers import cleared_rows
from verify.outputs.check import Form
from verify.outputs.classes import Around, omega, one_at_most
from verify.outputs.forms import definite, integers, length_above, semidefinite
from verify.problem.problem import Problem, dot, square
from verify.rule import Rule
from verify.rules.outputs.cover_set import out
from verify.rules.pair import squares
from verify.sets.superclasses import length
from verify.text import Node, show

MOST_LINES = 2000


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless networks that differ by a rotation of some neurons are optimal."""
    fields, d, C = node.record("neurons", "least"), problem.d, problem.targets
    proof, theta = facts[FORMS], facts[DUAL].theta
    neurons = tuple(entry.vector(d) for entry in fields["neurons"].array())
    W, lines = matrix(neurons, d), proof.values.lines
    bounded(len(lines.rows), MOST_LINES, "lines", fields["neurons"].place)
    Q = dual_basis(W) if len(neurons) > 1 else None
    if Q is None:
        raise fields["neurons"].reject("two or more independent vectors")
    inner = [[dot(tuple(map(Fraction, p)), w) for w in neurons] for p in lines.rows]
    sides = [h[0] > 0 for h in inner]
    on = [c >= 0 and (a > 0) == sides[c] for c, a in zip(lines.line, lines.multiple, strict=True)]
    A = pooled(problem, on)
    Theta, Y = (matrix([x[C * k : C * (k + 1)] for k in range(problem.n)], C) for x in (theta, problem.y))
    M, lam = A.transpose() * Theta, fmpq(problem.lam.numerator, problem.lam.denominator)
    top = whole(lam**2 * identity(d) - M * M.transpose())
    node.require(semidefinite(top), "|M'u| <= lambda |u| for all u", "no")
    S = W.transpose() * W
    N = S * M / lam
    pulls = rows(W * M)
    penalty = sum((root_above(square(w) * square(tuple(m))) for w, m in zip(neurons, pulls, strict=True)), Fraction(0))
    upper = square(vector(A * N - Y)) / 2 + penalty
    squared = 2 * (upper - dot(problem.y, theta)) + square(theta)
    around = Around.of(problem, proof, theta, squared)
    node.require(around.rho < problem.lam, "zeta R < lambda", show(around.rho))
    least = fields["least"].number()
    good = least > 0 and definite(whole(A.transpose() * A - fmpq(least.numerator, least.denominator) * identity(d)))
    fields["least"].require(good, "0 < least, A'A - least positive definite", show(least))
    only = one_at_most(around, tuple(map(tuple, rows(M))), cleared_rows(neurons)[0])
    node.require(only, "no other direction with |M'u| = lambda |u|", "one")
    off = around.R * root_above(1 / least) + length(N) * around.rho / problem.lam  # of S
    Q, size = Q.transpose(), length(Q)
    near = N * M.transpose() / lam * Q
    error = length(Q.transpose() * near - identity(len(neurons))) + size**2 * off
    node.require(error <= Fraction(1, 2), "neurons that are known well enough", show(error))
    moved = size * off + (length(near) + size * off) * error
    for p, side in zip(lines.rows, sides, strict=True):
        heights = vector(matrix([map(Fraction, p)], d) * near)
        strictly = all((h > 0) == side and h * h > moved**2 * sum(x * x for x in p) for h in heights)
        fields["neurons"].require(strictly, "neurons strictly on one side of every line", "a line through them")
    check_leaves(around, sides, node)
    return proved(TURNED, len(neurons))


def pooled(problem: Problem, on: Sequence[bool]) -> fmpq_mat:
    """A = P D Z"""
    kept = [z if k else (Fraction(0),) * problem.d for z, k in zip(problem.seen, on, strict=True)]
    return matrix(zip(*map(problem.pooled, zip(*kept, strict=True)), strict=True), problem.d)


def whole(A: fmpq_mat) -> list[list[int]]:
    """A times a positive number, in integers."""
    return cleared_rows(tuple(map(tuple, rows(A))))[0]


@dataclass(frozen=True)
class Beside:
    """F = M'u + sum over the lines that are not on their sides of W_k delta_k(u), in integers of one unit: the lines,
    W, the positive parts of W_k.W_l, M, |W_k|, and what W_k and M may be off, and lambda."""

    P: fmpz_mat
    W: fmpz_mat
    positive: fmpz_mat
    M: fmpz_mat
    sides: Sequence[bool]
    lengths: Sequence[int]
    moved: int
    rho: int
    lam: int


def check_leaves(around: Around, sides: Sequence[bool], node: Node) -> None:
    """Reject unless the dual point of the pattern is feasible on every leaf: out, or inside."""
    values, slack = around.proof.values, around.proof.level - around.low
    P, W = (fmpz_mat([list(row) for row in A]) for A in (values.lines.rows, values.W))
    chosen = fmpz_mat([[x * side for x in row] for row, side in zip(values.lines.rows, sides, strict=True)])
    widest = max((omega(around, c) for c in range(len(sides))), default=Fraction(0))
    beside = Beside(
        P,
        W,
        fmpz_mat([[max(x, 0) for x in row] for row in integers(W * W.transpose())]),
        fmpz_mat(values.M0) + chosen.transpose() * W,
        sides,
        [length_above(w) for w in values.W],
        *(ceil(x * values.unit) for x in (widest * around.R, around.rho, around.problem.lam)),
    )
    for number, leaf in enumerate(around.proof.forms()):
        if not (inside(leaf, beside) or out(leaf, slack)):
            raise node.reject("every leaf out, or with lines that shorten F", f"leaf {number} is neither")


def inside(leaf: Form, beside: Beside) -> bool:
    """Whether |F*(u)| <= |M*'u| in the leaf: W_k.(2 M'u + sum_l W_l delta_l(u)) <= 0 for all lines that are somewhere
    not on their sides, for every dual point of the ball."""
    G = fmpz_mat([list(g) for g in leaf.cone])
    heights = integers(beside.P * G.transpose())
    delta = [[max(-x, 0) if s else max(x, 0) for x in row] for row, s in zip(heights, beside.sides, strict=True)]
    crossed = [k for k, row in enumerate(delta) if any(row)]
    if not crossed:
        return True
    T = integers(2 * beside.W * (G * beside.M).transpose() + beside.positive * fmpz_mat(delta))
    sizes, e = [length_above(g) for g in leaf.cone], beside.moved
    total = [sum(delta[k][i] for k in crossed) for i in range(len(sizes))]
    heavy = [sum(beside.lengths[k] * delta[k][i] for k in crossed) for i in range(len(sizes))]
    for k in crossed:
        w = beside.lengths[k]
        for i, g in enumerate(sizes):
            if T[k][i] + 2 * (e * beside.lam + w * beside.rho) * g + e * ((w + e) * total[i] + heavy[i]) > 0:
                return False
    return True


RULE = Rule((TURNED,), check, rests=(DUAL, FORMS), applies=squares, bags=True)
