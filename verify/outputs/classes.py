"""A direction near which E* has at most one point, for every dual point of the ball: FORMAT.md, Several outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from flint import fmpq, fmpq_mat, fmpz_mat

from verify.cover.lines import Row
from verify.cover.lines import dot as product
from verify.numbers.bounds import column, dual_basis, matrix, root_above, rows
from verify.numbers.integers import cleared
from verify.outputs.check import Proof
from verify.outputs.forms import definite
from verify.problem.problem import Problem, dot, square, times
from verify.text import Fields, Matrix, Node, Vector, show

NEAREST = Fraction(1, 2)  # delta is less


@dataclass(frozen=True)
class Around:
    """The optimal dual point is at most R from the one that is proved feasible; |F* - F| <= rho |u|."""

    problem: Problem
    proof: Proof
    R: Fraction
    rho: Fraction
    zeta: Fraction
    Lambda: Fraction

    @classmethod
    def of(cls, problem: Problem, proof: Proof, theta: Vector, R_squared: Fraction) -> Around:
        """The ball of this radius."""
        zeta = problem.zeta_squared
        rho, Lambda = root_above(zeta * R_squared), root_above(zeta * square(theta))
        return cls(problem, proof, root_above(R_squared), rho, root_above(zeta), Lambda)

    @property
    def low(self) -> int:
        """The largest integer below (lambda - rho)^2 unit^2."""
        return ceil(((self.problem.lam - self.rho) * self.proof.values.unit) ** 2) - 1

    @cached_property
    def free(self) -> tuple[fmpq_mat, fmpq_mat]:
        """The free columns, as rows, and their dual basis."""
        B = matrix(self.problem.outputs, self.problem.n)
        found = dual_basis(B)
        return B, found if found is not None else B

    def across(self, columns: fmpq_mat) -> fmpq_mat:
        """Less their parts in the free columns."""
        B, W = self.free
        return columns - B.transpose() * (W * columns)


@dataclass(frozen=True)
class OneDirection:
    """u and |u|^2; `times` units of the form that the leaves near it hold with; the outputs P(Zũ)_+, less their part in
    the free columns, v^, and how far a column may be off."""

    u: Row
    size: int
    times: int
    outputs: fmpq_mat
    v: Vector
    moved: Fraction


def read_class(around: Around, node: Node) -> OneDirection:
    """Reject unless E* has at most one direction among those x, x.u > 0, with |x_| <= delta |x|."""
    fields = node.record("u", "margin", "basis", "fixed")
    problem, values, lam, rho = around.problem, around.proof.values, around.problem.lam, around.rho
    u = tuple(fields["u"].integers(problem.d))
    basis = [list(b) for b in around.proof.basis]
    fields["u"].require(any(u) and fmpz_mat([*basis, list(u)]).rank() == len(basis), "a vector != 0 in the row space")
    size, margin = product(u, u), fields["margin"].number()
    fields["margin"].require(margin > 0, "margin > 0")
    delta_squared = (lam**2 - (lam - rho) ** 2) / margin
    delta = root_above(delta_squared)
    fields["margin"].require(delta < NEAREST, f"delta < {show(NEAREST)}", show(delta))
    heights = values.lines.heights(u)
    for c, (h, p) in enumerate(zip(heights, values.lines.rows, strict=True)):
        if h and h * h * (1 - delta_squared) <= delta_squared * product(p, p) * size:
            raise fields["u"].reject("lines through u, or so far from it that they have one sign", f"line {c}")
    tight = [c for c, h in enumerate(heights) if not h]
    root = root_above(Fraction(size))
    off = 1 - Fraction(size) / root**2
    short = tuple(Fraction(x) / root for x in u)
    L = linear(around, heights)
    v = tuple(x / lam for x in times(tuple(zip(*L, strict=True)), short))
    near = Fraction(3, 2) * delta + off
    eps = (rho + around.Lambda * near) / lam
    if tight:
        check_kinks(around, L, v, eps, tight, fields)
    else:
        fields["basis"].array(0)
        fields["fixed"].vector(0)
    if not one_at_most(around, L, [u, *(values.lines.rows[c] for c in tight)]):
        raise node.reject("(lambda - rho)^2 |x|^2 > |L'x|^2 for x orthogonal to u on its face", "no")
    outputs = around.across(column(problem.output(short)))
    length = root_above(square(tuple(entry for row in rows(outputs) for entry in row)))
    count = ceil(margin * values.unit**2 / size)
    return OneDirection(u, size, count, outputs, v, around.zeta * near + length * eps)


def linear(around: Around, heights: Sequence[int]) -> Matrix:
    """L (d x C): F(x) = L'x where the lines that are 0 at u are off, and the others as they are there."""
    values = around.proof.values
    L = fmpz_mat(values.M0)
    if on := [c for c, h in enumerate(heights) if h > 0]:
        P = fmpz_mat([list(values.lines.rows[c]) for c in on])
        L += P.transpose() * fmpz_mat([values.W[c] for c in on])
    return tuple(tuple(Fraction(int(x), values.unit) for x in row) for row in L.tolist())


def check_kinks(around: Around, L: Matrix, v: Vector, eps: Fraction, tight: Sequence[int], fields: Fields) -> None:
    """Reject unless for all dual points of the ball and all q near v shares put the gradient on the face."""
    values = around.proof.values
    lines = values.lines
    basis = fields["basis"].ascending(len(lines.rows))
    fields["basis"].require(set(basis) <= set(tight), "lines through u")
    rest = [c for c in tight if c not in basis]
    shares = dict(zip(rest, fields["fixed"].vector(len(rest)), strict=True))
    fields["fixed"].require(all(0 <= s <= 1 for s in shares.values()), "numbers from 0 to 1")
    D = dual_basis(matrix([map(Fraction, lines.rows[c]) for c in basis], lines.d))
    if D is None or fmpz_mat([list(lines.rows[c]) for c in tight]).rank() != len(basis):
        raise fields["basis"].reject("independent lines that span all lines through u")
    W = {c: tuple(Fraction(x, values.unit) for x in values.W[c]) for c in tight}
    w = {c: dot(W[c], v) for c in tight}
    e = {c: omega(around, c) * around.R + root_above(square(W[c])) * eps for c in tight}
    g, moved = list(times(L, v)), around.rho + around.Lambda * eps
    for b, s in shares.items():
        fields["fixed"].require(w[b] + e[b] <= 0, f"w + e <= 0 for line {b}", show(w[b] + e[b]))
        g = [x + s * w[b] * p for x, p in zip(g, lines.rows[b], strict=True)]
        moved += s * e[b] * root_above(Fraction(product(lines.rows[b], lines.rows[b])))
    for c, D_c in zip(basis, rows(D), strict=True):
        m, f = -dot(D_c, g), root_above(square(tuple(D_c))) * moved
        if not w[c] + e[c] + f <= m <= -f:
            raise fields["basis"].reject(f"w + e + f <= m <= -f for line {c}", f"m = {show(m)}, f = {show(f)}")


def omega(around: Around, line: int) -> Fraction:
    """The length of P |a| over the rows of a line: what W_c changes by with Theta at most."""
    lines = around.proof.values.lines
    rows_of = zip(lines.line, lines.multiple, strict=True)
    a = {k: Fraction(abs(x), lines.scale) for k, (c, x) in enumerate(rows_of) if c == line}
    return root_above(around.problem.reach(a))


def one_at_most(around: Around, L: Matrix, others: Sequence[Sequence[int]]) -> bool:
    """Whether (lambda - rho)^2 |x|^2 > |L'x|^2 for all x != 0 of the row space orthogonal to the others."""
    E, A = (fmpz_mat([list(b) for b in rows]) for rows in (around.proof.basis, others))
    kernel, free = (A * E.transpose()).nullspace()
    if not free:
        return True
    X = fmpz_mat([[int(kernel[i, j]) for i in range(E.nrows())] for j in range(int(free))]) * E
    M = fmpq_mat(X) * matrix(L, len(L[0]))
    level = (around.problem.lam - around.rho) ** 2
    Q = fmpq_mat(X * X.transpose()) * fmpq(level.numerator, level.denominator) - M * M.transpose()
    entries, _ = cleared([x for row in rows(Q) for x in row])
    k = int(free)
    return definite([entries[k * i : k * (i + 1)] for i in range(k)])
