"""The path on an interval of lambdas: pieces, on each of which the optimal networks move continuously.

On a plain piece the network is unique for every lambda; on a lifted one the set of optimal networks is a polytope that
moves continuously.

With s = r*/lambda and eta = 1/lambda everything is said for lambda = 1 and the targets eta y (FORMAT.md: `path`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from flint import fmpq, fmpq_mat

from verify.facts import LAMBDA_MAX, PATH, PATTERNS, Facts, proved
from verify.numbers.bounds import column, matrix, rational, root_above, rows, vector
from verify.numbers.patterns import Patterns
from verify.numbers.polynomials import add, at_least, at_most, length_squared, multiply, never_negative, times_columns
from verify.optimal.ball import Ball, Class
from verify.path.around import check_around
from verify.path.lifted import Set, check_even, check_inverse, check_lifted, read_even
from verify.path.moving import check_concave, check_pinned, read_moving, read_pinned
from verify.path.onset import Moving
from verify.problem.problem import Problem, square
from verify.rule import Rule
from verify.sets.outs import check_outs
from verify.text import Node, Vector, show

MOST_COEFFICIENTS = 16


@dataclass(frozen=True)
class Frame:
    """eta = center + h tau on one piece."""

    problem: Problem
    center: Fraction
    h: Fraction


@dataclass(frozen=True)
class Piece(Moving):
    """lo <= lambda <= hi; |s(eta) - s(tau)| <= R, and W Q = I up to row sums `beta` < 1 for the true outputs Q.

    `ball` has its radius around s_0, or around s(-1) and s(1), for lambda = 1; `longest` is the largest |W_i|;
    `entries` are those of `classes`; `found` is what the set of optimal networks is. `lifted` pieces have no W.
    """

    lo: Fraction
    hi: Fraction
    frame: Frame
    entries: list[Node]
    found: Set
    lifted: bool
    longest: Fraction = Fraction(0)
    beta: Fraction = Fraction(0)

    @cached_property
    def still(self) -> bool:
        """Whether s(tau) = s_0."""
        return bool(self.S.ncols() == 1)

    def powers(self, lam: Fraction, node: Node) -> Vector:
        """1, tau, tau^2, ... at lambda."""
        if not self.lo <= lam <= self.hi:
            raise node.reject(f"a lambda of the piece, from {show(self.lo)} to {show(self.hi)}", show(lam))
        tau = (1 / lam - self.frame.center) / self.frame.h if self.frame.h else Fraction(0)
        return tuple(tau**j for j in range(self.S.ncols()))

    def near(self, lam: Fraction, node: Node) -> fmpq_mat:
        """s(tau) at lambda, as a column."""
        return self.S * column(self.powers(lam, node))

    def weight_error(self, missed: Fraction, R: Fraction, alpha: Vector) -> Fraction:
        """How far weights can be from the true ones, if they miss eta y - s by `missed` at a point within R of s(eta).

        (I + Delta)(alpha* - alpha) = W (eta y - s* - sum alpha_a q_a*), |Delta| <= beta, row sums.
        """
        moved = R * (1 + sum((a.bound * abs(x) for a, x in zip(self.classes, alpha, strict=True)), Fraction(0)))
        return self.longest * (missed + moved) / (1 - self.beta)


@dataclass(frozen=True)
class Path:
    """On the pieces in [lo, hi] the optimal networks move continuously. `complete`: they are the whole interval."""

    lo: Fraction
    hi: Fraction
    pieces: list[Piece]
    complete: bool


def check_path(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless each piece is a proof; whether they cover [lo, hi], at least up to lambda_max, is told."""
    fields = node.record("lo", "hi", "pieces")
    lo, hi = fields["lo"].number(), fields["hi"].number()
    node.require(0 < lo < hi, "0 < lo < hi", f"lo = {show(lo)}, hi = {show(hi)}")
    largest_squared = facts.get(LAMBDA_MAX)
    reached, complete = lo, True
    pieces = [check_piece(problem, facts.get(PATTERNS), entry) for entry in fields["pieces"].array()]
    for piece in pieces:
        complete = complete and piece.lo <= reached
        reached = max(reached, piece.hi)
    end = reached >= hi or (largest_squared is not None and reached**2 >= largest_squared)
    return proved(PATH, Path(lo, hi, pieces, complete and end))


def check_piece(problem: Problem, patterns: Patterns | None, node: Node) -> Piece:
    """Reject unless the optimal networks move continuously on the piece."""
    names = ("lo", "hi", "s", "classes", "weights", "multipliers", "out", "inverse", "radius")
    fields = node.record(*names, optional=("lifted", "pinned", "even"))
    lo, hi = fields["lo"].number(), fields["hi"].number()
    node.require(0 < lo <= hi, "0 < lo <= hi", f"lo = {show(lo)}, hi = {show(hi)}")
    s = [row.vector(problem.n) for row in fields["s"].array()]
    fields["s"].require(1 <= len(s) <= MOST_COEFFICIENTS, f"1 to {MOST_COEFFICIENTS} coefficients", str(len(s)))
    radius = fields["radius"].number()
    S = matrix(s, problem.n).transpose()
    centres = ends(S)
    unit = replace(problem, lam=Fraction(1))
    balls = [Ball(unit, c, radius**2, tuple(centres)) for c in centres]
    ball = balls[0]
    bounds, outs = (fields[key].array(len(balls)) for key in ("multipliers", "out"))
    entries = fields["classes"].array()
    pinned = frozenset(fields["pinned"].ascending(len(entries)) if "pinned" in fields else ())
    classes = [
        read_pinned(ball, entry) if a in pinned else read_moving(ball, patterns, S, entry)
        for a, entry in enumerate(entries)
    ]
    frame = Frame(problem, (1 / lo + 1 / hi) / 2, (1 / lo - 1 / hi) / 2)
    alpha = [entry.vector(len(s)) for entry in fields["weights"].array(len(classes))]
    R, rho, miss = tube(frame, S, classes, alpha, fields["weights"])
    fields["radius"].require(rho <= radius, f"a radius >= {show(rho)}", show(radius))
    even = None
    if "even" in fields:
        fields["even"].require("lifted" not in fields, "a piece that is not lifted, too")
        even = read_even(problem, S, pinned, len(classes), fields["even"])
    for a, (class_, entry) in enumerate(zip(classes, entries, strict=True)):
        if a in pinned:
            check_pinned(ball, S, class_, R, entry, even.lift if even else ())
        else:
            check_concave(ball, S, class_, R, entry)
    for one, bound, out in zip(balls, bounds, outs, strict=True):
        if patterns is None and problem.model == "relu" and out.value is None:
            check_around(one, classes, bound)
        else:
            check_outs(one, patterns, classes, bound, out)
    point = Set(0, unique=True)
    known = Piece(ball, S, classes, alpha, R, miss, lo, hi, frame, entries, point, lifted=False, pinned=pinned)
    if even:
        found = check_even(known, even, fields["inverse"], fields["even"])
        return replace(known, found=found, lifted=True)
    if "lifted" in fields:
        return replace(known, found=check_lifted(known, fields["inverse"], fields["lifted"]), lifted=True)
    W = tuple(row.vector(problem.n) for row in fields["inverse"].array(len(classes)))
    beta = check_inverse(known, W, classes, fields["inverse"])
    return replace(known, longest=max((root_above(square(row)) for row in W), default=Fraction(0)), beta=beta)


def tube(
    frame: Frame, S: fmpq_mat, classes: Sequence[Class], alpha: list[Vector], node: Node
) -> tuple[Fraction, Fraction, Fraction]:
    """R: |s(eta) - s(tau)| <= R on the piece. rho: all these points are within rho of s_0 (a still piece), or of the
    chord from s(-1) to s(1), from which s(tau) is at most sum |s_j|, j >= 2, away. A bound of |E|."""
    size = S.ncols()
    E = fmpq_mat(S.nrows(), 2 * size - 1)
    for k, y_k in enumerate(frame.problem.y):
        for j, eta_j in enumerate((frame.center, frame.h)[: 2 * size - 1]):
            E[k, j] = rational(eta_j * y_k)
        for j in range(size):
            E[k, j] -= S[k, j]
    slack = [fmpq(0)]
    for a, (class_, alpha_a) in enumerate(zip(classes, alpha, strict=True)):
        V = class_.B.transpose() * S
        room = add([Fraction(1)], [-x for x in length_squared(V)])
        if not never_negative(room):
            raise node.reject(f"|v| <= 1 on the piece for class {a}", f"1 - |v|^2 >= {show(at_least(room))}")
        if not never_negative(alpha_a):
            raise node.reject(f"a weight that stays >= 0 for class {a}", f"a bound of {show(at_least(alpha_a))}")
        E -= times_columns(alpha_a, class_.B * V, 2 * size - 1)
        slack = add(slack, multiply(alpha_a, room))
    squared = length_squared(E)
    R, missed = root_above(max(at_most(add(squared, slack)), Fraction(0))), root_above(at_most(squared))
    if size == 1:
        rho = R + (root_above(square(vector(S))) + R) * frame.h / frame.center
        return rho, rho, missed + frame.h * root_above(square(frame.problem.y))
    return R, R + sum((root_above(square(tuple(s_j))) for s_j in rows(S.transpose())[2:]), Fraction(0)), missed


def ends(S: fmpq_mat) -> list[Vector]:
    """s(-1) and s(1); s_0 where the piece is still."""
    signs = (fmpq_mat(S.ncols(), 1, [sign**j for j in range(S.ncols())]) for sign in (-1, 1))
    return [vector(S * powers) for powers in signs][: S.ncols()]


RULE = Rule((PATH,), check_path, listed=True, bags=True)
