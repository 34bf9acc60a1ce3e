"""The lift L, and the classes with their outputs in superclasses: those that only L tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from flint import arb_mat, ctx, fmpq, fmpq_mat

from verify.numbers.bounds import column, dual_basis, identity, matrix, root_above
from verify.optimal.ball import Ball, Class
from verify.text import Matrix, Node, Vector

INVERSE_BITS = 256


@dataclass(frozen=True)
class Candidates:
    """The classes, and L by its basis `lift`; W is the dual basis. `free` rows are in the given problem, too."""

    ball: Ball
    classes: Sequence[Class]
    lift: Matrix
    W: fmpq_mat
    mixed: Mapping[int, Vector] = field(default_factory=dict)
    free: int = 0

    @cached_property
    def level(self) -> list[int]:
        """The classes that are zero at no row where biases are free."""
        return [a for a, class_ in enumerate(self.classes) if self.ball.problem.biases and not class_.kinks]

    @cached_property
    def seen(self) -> list[fmpq_mat]:
        """Pi B of each class, Pi the projector on the complement of L; (Pi B)(Pi B)' = Pi G Pi is its kernel."""
        return [self.across(a.B) for a in self.classes]

    def across(self, columns: fmpq_mat) -> fmpq_mat:
        """Pi times a matrix."""
        return without(matrix(self.lift, self.ball.problem.n), self.W, columns)

    @cached_property
    def members(self) -> list[list[int]]:
        """The superclasses: classes that are not mixed with the same kernel, in the order of their first."""
        pure = [a for a in range(len(self.classes)) if a not in self.mixed]
        return [[pure[i] for i in group] for group in same_kernels([self.seen[a] for a in pure])]

    @cached_property
    def outputs(self) -> list[fmpq_mat]:
        """q_a = B_a B_a'theta as columns."""
        theta = column(self.ball.theta)
        return [a.B * (a.B.transpose() * theta) for a in self.classes]

    @cached_property
    def moved(self) -> Fraction:
        """g R: what the ball can change in an output, where g is at least |G_a| for every class a."""
        return max((a.bound for a in self.classes), default=Fraction(0)) * self.ball.R


def read_rows(S: fmpq_mat, node: Node) -> tuple[Matrix, fmpq_mat]:
    """A basis of L, independent rows that are orthogonal to all columns of S, and its dual basis."""
    n = S.nrows()
    rows = tuple(row.vector(n) for row in node.array())
    if (W := dual_basis(matrix(rows, n))) is None:
        raise node.reject("independent rows")
    for k, products in enumerate((matrix(rows, n) * S).tolist()):
        node.item(k).require(not any(products), "a row orthogonal to the residual")
    return rows, W


def without(basis: fmpq_mat, W: fmpq_mat, columns: fmpq_mat) -> fmpq_mat:
    """The columns less their projection on the span of the basis rows, of which W is the dual basis."""
    return columns - basis.transpose() * (W * columns)


def product(S: fmpq_mat, T: fmpq_mat) -> fmpq:
    """The product <SS', TT'> of kernels: the sum of the squares of S'T."""
    return sum((x * x for x in (S.transpose() * T).entries()), fmpq(0))


def same_kernels(seen: Sequence[fmpq_mat]) -> list[list[int]]:
    """The places with the same SS', in the order of their first: |SS' - TT'|^2 = <SS', SS'> - 2 <SS', TT'> + <TT', TT'>
    is 0 iff all three are the same."""
    sizes = [product(S, S) for S in seen]
    groups: list[list[int]] = []
    for a, (S, size) in enumerate(zip(seen, sizes, strict=True)):
        alike = (group for group in groups if sizes[group[0]] == size == product(S, seen[group[0]]))
        if (group := next(alike, None)) is None:
            groups.append([a])
        else:
            group.append(a)
    return groups


def side_by_side(columns: Sequence[fmpq_mat], n: int) -> fmpq_mat:
    """The n x len(columns) matrix with these columns."""
    entries = [column.entries() for column in columns]
    return fmpq_mat(n, len(entries), [entry[i] for i in range(n) for entry in entries])


def length(A: fmpq_mat) -> Fraction:
    """A rational >= the length of a vector, or the Frobenius norm of a matrix."""
    integers, q = A.numer_denom()
    return root_above(Fraction(sum(int(x) ** 2 for x in integers.entries()), int(q) ** 2))


def stretch(A: fmpq_mat) -> Fraction:
    """Some sigma with |A x| >= sigma |x| for all x; 0 if no other is found.

    Whatever W is, with N = W A - I: |x| = |W A x - N x| <= |W| |A x| + |N| |x|. It is about (A'A)^-1 A' here, in balls
    whose midpoints are taken as they are: nothing is believed of them. Entries of A are rounded down, each by less than
    a unit, which takes at most (rows times columns)^(1/2) units.
    """
    size, entries = A.ncols(), A.entries()
    if not size:
        return Fraction(1)
    one, largest = identity(size), max(map(abs, entries), default=fmpq(0)) or fmpq(1)
    units = fmpq(2) ** (INVERSE_BITS + int(largest.q).bit_length() - int(largest.p).bit_length())
    short = fmpq_mat(A.nrows(), size, [(x * units).floor() for x in entries])
    try:
        with ctx.workprec(2 * INVERSE_BITS):
            found = [x.mid().man_exp() for x in arb_mat(short.transpose() * short).inv().entries()]
    except ZeroDivisionError:
        return Fraction(0)
    W = fmpq_mat(size, size, [fmpq(p) * fmpq(2) ** int(e) for p, e in found]) * short.transpose()
    sigma = (1 - length(W * short - one)) / length(W) - root_above(Fraction(A.nrows() * size))
    return max(sigma, Fraction(0)) / Fraction(int(units.p), int(units.q))
