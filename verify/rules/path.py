"""The path on an interval of lambdas: pieces, on each of which the optimal networks move continuously.

On a plain piece the network is unique for every lambda; on a lifted one the set of optimal networks is a polytope that
moves continuously.

With s = r*/lambda and eta = 1/lambda everything is said for lambda = 1 and the targets eta y (FORMAT.md: `path`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq_mat

from verify.bounds import fraction, matrix, rational, root_above
from verify.classes import Ball, Class
from verify.facts import LAMBDA_MAX, PATH, PATTERNS, Facts, proved
from verify.lifted import Set, check_lifted
from verify.moving import check_concave, read_aside, read_moving
from verify.multipliers import check_multipliers
from verify.onset import Moving
from verify.outs import check_outs
from verify.patterns import Patterns
from verify.polynomials import add, at_least, at_most, length_squared, multiply, times_columns
from verify.problem import Problem, square
from verify.rules import Rule
from verify.text import Node, Vector, show

MOST_COEFFICIENTS = 16


@dataclass(frozen=True)
class Several:
    """From lo to hi the set of optimal networks has at least this dimension, which is not 0."""

    lo: Fraction
    hi: Fraction
    dimension: int


@dataclass(frozen=True)
class Path:
    """On the pieces in [lo, hi] the optimal networks move continuously.

    `pieces` are those of the fact. `complete`: they are the whole interval. `unique`: the network is unique on all of
    them. `several`: a piece, or its part in [lo, hi], where it is not.
    """

    lo: Fraction
    hi: Fraction
    pieces: list[Node]
    complete: bool
    unique: bool
    several: Several | None


@dataclass(frozen=True)
class Frame:
    """eta = center + h tau on one piece."""

    problem: Problem
    center: Fraction
    h: Fraction


def check_path(problem: Problem, facts: Facts, node: Node) -> Path:
    """Reject unless each piece is a proof; whether they cover [lo, hi], at least up to lambda_max, is told."""
    fields = node.record("lo", "hi", "pieces")
    lo, hi = fields["lo"].number(), fields["hi"].number()
    if not 0 < lo < hi:
        raise node.reject("0 < lo < hi", f"lo = {show(lo)}, hi = {show(hi)}")
    largest_squared = facts.get(LAMBDA_MAX)
    reached, complete, unique, several = lo, True, True, None
    pieces = fields["pieces"].array()
    for entry in pieces:
        low, high, found = check_piece(problem, facts.get(PATTERNS), entry)
        complete = complete and low <= reached
        unique = unique and found.unique
        reached = max(reached, high)
        if found.dimension > 0 and max(low, lo) <= min(high, hi):
            several = several or Several(max(low, lo), min(high, hi), found.dimension)
    end = reached >= hi or (largest_squared is not None and reached**2 >= largest_squared)
    return Path(lo, hi, pieces, complete and end, unique, several)


def check_piece(problem: Problem, patterns: Patterns | None, node: Node) -> tuple[Fraction, Fraction, Set]:
    """Reject unless the optimal networks move continuously on the piece; its ends, and what the set of them is."""
    names = ("lo", "hi", "s", "classes", "aside", "weights", "multipliers", "out", "inverse", "radius")
    fields = node.record(*names, optional=("lifted",))
    lo, hi = fields["lo"].number(), fields["hi"].number()
    if not 0 < lo <= hi:
        raise node.reject("0 < lo <= hi", f"lo = {show(lo)}, hi = {show(hi)}")
    s = [row.vector(problem.n) for row in fields["s"].array()]
    if not 1 <= len(s) <= MOST_COEFFICIENTS:
        raise fields["s"].reject(f"1 to {MOST_COEFFICIENTS} coefficients", str(len(s)))
    radius = fields["radius"].number()
    if radius < 0:
        raise fields["radius"].reject("a radius >= 0")
    unit = replace(problem, lam=Fraction(1))
    ball = Ball(unit, s[0], radius**2)
    S = matrix(s, problem.n).transpose()
    check_multipliers(unit, patterns, s[0], Fraction(1), fields["multipliers"])
    classes = [read_moving(ball, patterns, S, entry) for entry in fields["classes"].array()]
    frame = Frame(problem, (1 / lo + 1 / hi) / 2, (1 / lo - 1 / hi) / 2)
    alpha = [entry.vector(len(s)) for entry in fields["weights"].array(len(classes))]
    R, rho, miss = tube(frame, S, classes, alpha, fields["weights"])
    if rho > radius:
        raise fields["radius"].reject(f"a radius >= {show(rho)}", show(radius))
    for class_, entry in zip(classes, fields["classes"].array(), strict=True):
        check_concave(ball, S, class_, R, entry)
    aside = [read_aside(ball, patterns, S, R, entry) for entry in fields["aside"].array()]
    check_outs(ball, patterns, [*classes, *aside], fields["multipliers"], fields["out"])
    if "lifted" in fields:
        moving = Moving(ball, S, classes, alpha, R, miss)
        return lo, hi, check_lifted(moving, fields["inverse"], fields["lifted"])
    check_independent(S, classes, R, fields["inverse"])
    return lo, hi, Set(0, unique=True)


def tube(
    frame: Frame, S: fmpq_mat, classes: Sequence[Class], alpha: list[Vector], node: Node
) -> tuple[Fraction, Fraction, Fraction]:
    """R: |s(eta) - s(tau)| <= R on the piece. rho: all these points are within rho of s_0. A bound of |E|."""
    size = S.ncols()
    E = fmpq_mat(S.nrows(), 2 * size - 1)
    for k, y_k in enumerate(frame.problem.y):
        for j, eta_j in enumerate((frame.center, frame.h)[: 2 * size - 1]):
            E[k, j] = rational(eta_j * y_k)
        for j in range(size):
            E[k, j] -= S[k, j]
    slack = [Fraction(0)]
    for a, (class_, alpha_a) in enumerate(zip(classes, alpha, strict=True)):
        V = class_.B.transpose() * S
        room = add([Fraction(1)], [-x for x in length_squared(V)])
        if at_least(room) < 0:
            raise node.reject(f"|v| <= 1 on the piece for class {a}", f"1 - |v|^2 >= {show(at_least(room))}")
        if at_least(alpha_a) < 0:
            raise node.item(a).reject("a weight that stays >= 0 on the piece")
        E -= times_columns(alpha_a, class_.B * V, 2 * size - 1)
        slack = add(slack, multiply(alpha_a, room))
    R = root_above(max(at_most(add(length_squared(E), slack)), Fraction(0)))
    if size == 1:
        rho = R + (root_above(square(tuple(fraction(x) for x in S.entries()))) + R) * frame.h / frame.center
        return rho, rho, R + frame.h * root_above(square(frame.problem.y))
    moved = fmpq_mat([row[1:] for row in S.tolist()])
    return R, R + root_above(max(at_most(length_squared(moved)), Fraction(0))), R


def check_independent(S: fmpq_mat, classes: Sequence[Class], R: Fraction, node: Node) -> None:
    """Reject unless the row sums of |W Q(s) - I| are below 1 for all s within R of the path, Q the outputs."""
    n, count = S.nrows(), len(classes)
    inverse = [row.vector(n) for row in node.array(count)]
    if not classes:
        return
    W = matrix(inverse, n)
    products = [(W * (a.B * (a.B.transpose() * S))).tolist() for a in classes]
    for i, W_i in enumerate(inverse):
        total = root_above(square(W_i)) * R * sum((a.bound for a in classes), Fraction(0))
        for a, product in enumerate(products):
            entry = [fraction(x) for x in product[i]]
            entry[0] -= i == a
            total += max(at_most(entry), -at_least(entry))
        if total >= 1:
            raise node.item(i).reject("a row of W Q - I with a sum below 1", f"up to {show(total)}")


RULE = Rule(
    (PATH,), lambda problem, facts, node: proved(PATH, check_path(problem, facts, node)), listed=True, may=(LAMBDA_MAX,)
)
