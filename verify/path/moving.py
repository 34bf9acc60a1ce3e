"""Classes along a path s(tau): v = P X's is the maximiser of its region for every tau (FORMAT.md: `path`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

from flint import fmpq_mat

from verify.numbers.bounds import column, fraction, matrix, root_above, rows
from verify.numbers.patterns import Patterns
from verify.numbers.polynomials import at_least, never_negative
from verify.optimal.ball import Ball, Class
from verify.problem.problem import dot, square
from verify.sets.classes import read_class, relu_class
from verify.sets.split import spanned
from verify.text import Matrix, Node, Vector, show

MOST_FLANKS = 4096


@dataclass(frozen=True, kw_only=True)
class Along(Ball):
    """A path S(tau), by its coefficients: what is asked of a class holds for every tau, perhaps without strictness."""

    S: fmpq_mat

    @cached_property
    def residuals(self) -> fmpq_mat:
        """All coefficients."""
        return self.S

    def holds(self, x: Sequence[Any], moved_squared: Any, node: Node, k: int) -> None:
        """Reject unless the polynomial is >= 0 on the piece."""
        if not never_negative(x):
            raise node.reject(f"what stays >= 0 on the piece at {k}", f"a bound of {show(at_least(x))}")


def read_moving(ball: Ball, patterns: Patterns | None, S: fmpq_mat, node: Node, known: Class | None = None) -> Class:
    """Reject unless the class, read before or not, has its face on the whole path."""
    return read_class(Along(ball.problem, ball.theta, ball.R_squared, S=S), patterns, node, known=known)


def check_concave(ball: Ball, S: fmpq_mat, class_: Class, R: Fraction, node: Node) -> None:
    """relu: l_c - p_c = -xi sum |a_k| (P's)_k > 0 for every kink and every s within R of the path."""
    if ball.problem.model != "relu":
        return
    for c in class_.kinks:
        a, problem = ball.planes[c].a, ball.problem
        sizes = problem.pooled([-class_.key[0] * abs(a.get(k, Fraction(0))) for k in range(problem.N)])
        bend, moved = at_least(rows(matrix([sizes], problem.n) * S)[0]), root_above(ball.bends(c)[2]) * R
        node.require(bend > moved, f"a kink that stays concave, l_c - p_c > {show(moved)} at row {c}", show(bend))


def read_pinned(ball: Ball, node: Node) -> Class:
    """The class as it is written; that it is pinned is for `check_pinned`."""
    node.require(ball.problem.model == "relu" and not ball.problem.biases, "no pinned class but of relu networks")
    fields = node.record("sign", "pattern", "kinks", "basis", "idle", "fixed")
    fields["idle"].require(not fields["idle"].length(), "no idle kink of a pinned class")
    return relu_class(ball, fields)[0]


def check_pinned(ball: Ball, S: fmpq_mat, class_: Class, R: Fraction, node: Node, lift: Matrix = ()) -> None:
    """Reject unless v = P X's has its pattern within R of the path, and next to its face nothing is as good, for s
    orthogonal to `lift`."""
    (xi, D), problem, face = class_.key, ball.problem, class_.face
    if face is None:
        raise node.reject("a class with a face")
    heights = (ball.Z * (class_.B.transpose() * S)).tolist()
    moved = root_above(ball.zeta_squared) * R
    for k, (z, row) in enumerate(zip(problem.seen, heights, strict=True)):
        if (ball.nonzero & ~class_.zeros) >> k & 1:
            least, far = at_least([xi * x if D >> k & 1 else -xi * x for x in row]), root_above(square(z)) * moved
            node.require(least > far, f"a height above {show(far)} on its side at row {k}", show(least))
    for w in flanks([problem.seen[c] for c in face.kinks], [problem.seen[c] for c in face.basis], node):
        on = [max(h, Fraction(0)) if class_.zeros >> k & 1 else h * (D >> k & 1) for k, h in products(problem.seen, w)]
        o = problem.pooled(on)
        loss, far = at_least(rows(matrix([[-xi * x for x in o]], problem.n) * S)[0]), root_above(square(o)) * R
        if loss <= far and not (lift and spanned(lift, column(o))):
            raise node.reject(f"a loss above {show(far)} beside the face of the class", show(loss))


def products(Z: Sequence[Vector], w: Vector) -> Iterator[tuple[int, Fraction]]:
    """z_k.w with k"""
    return ((k, dot(z, w)) for k, z in enumerate(Z))


def flanks(kinks: Sequence[Vector], basis: Sequence[Vector], node: Node) -> Iterator[Vector]:
    """The vectors of the span of `basis` that are orthogonal to so many independent kinks that two are left, +-w."""
    m = len(basis)
    node.require(comb(len(kinks), max(m - 1, 0)) <= MOST_FLANKS, f"at most {MOST_FLANKS} choices of kinks")
    if not m:
        return
    A = matrix(basis, len(basis[0]))
    for chosen in combinations(kinks, m - 1):
        gram = matrix(chosen, len(basis[0])) * A.transpose()
        reduced, rank = gram.rref()
        if rank < m - 1:
            continue
        heads = [next(j for j in range(m) if reduced[i, j]) for i in range(rank)]
        (free,) = set(range(m)) - set(heads)
        x = [fraction(-reduced[heads.index(j), free]) if j in heads else Fraction(1) for j in range(m)]
        w = tuple(sum((x_i * b[l] for x_i, b in zip(x, basis, strict=True)), Fraction(0)) for l in range(len(basis[0])))
        yield w
        yield tuple(-entry for entry in w)
