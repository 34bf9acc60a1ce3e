"""Ordered fields of exact real numbers: the rationals, and Q(t) for a real root t of a polynomial.

Matrices are sympy's DomainMatrix over the field. A number of Q(t) is zero iff its remainder modulo the minimal
polynomial is, and it has the sign that it has on a short enough interval around t: nothing is rounded.

>>> reals = algebraic([-2, 0, 1], QQ(1), QQ(2))
>>> t = reals.root
>>> reals.sign(t * t - 2), reals.sign(3 - 2 * t)
(0, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from sympy import QQ, CRootOf, Poly, Rational, Symbol, sqrt
from sympy.polys.matrices import DomainMatrix

Number = Any  # an element of a sympy domain
x = Symbol("x")
WIDTH = QQ(1, 10**40)
DIGITS_AT_ONCE = 4000


def rational(text: str | int) -> Number:
    """p/q"""
    p, _, q = str(text).partition("/")
    return QQ(integer(p), integer(q or "1"))


def integer(text: str) -> int:
    """An integer of any length; Python reads a few thousand digits at once."""
    if len(text) <= DIGITS_AT_ONCE:
        return int(text)
    head, tail = text[:-DIGITS_AT_ONCE], text[-DIGITS_AT_ONCE:]
    power = int(10**DIGITS_AT_ONCE)
    return integer(head) * power + (-1 if text.startswith("-") else 1) * int(tail)


@dataclass(frozen=True)
class Reals:
    """`domain` is QQ, or Q(t) with t the only root of `minimal` in [lo, hi]."""

    domain: Any = QQ
    minimal: Poly | None = None
    lo: Number = None
    hi: Number = None

    @property
    def root(self) -> Number:
        """t"""
        return self.domain.unit

    def number(self, coefficients: Sequence[Number]) -> Number:
        """c_0 + c_1 t + c_2 t^2 + ..."""
        total = self.domain.zero
        for c in reversed(coefficients):
            total = total * (self.root if self.minimal is not None else 0) + self.domain.convert(c, QQ)
        return total

    def of(self, q: Number) -> Number:
        """A rational as a number of the field."""
        return self.domain.convert(q, QQ)

    def sign(self, a: Number) -> int:
        """-1, 0 or 1"""
        if self.minimal is None:
            return int(a > 0) - int(a < 0)
        if not a:
            return 0
        lo, hi = self.lo, self.hi
        while True:
            low, high = _range([QQ(c) for c in a.to_list()], lo, hi)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            lo, hi = _halved(self.minimal, lo, hi)

    def near(self, a: Number, width: Number = WIDTH) -> tuple[Number, Number]:
        """Rationals below and above the number, so near to each other."""
        if self.minimal is None:
            return a, a
        lo, hi = self.lo, self.hi
        while True:
            low, high = _range([QQ(c) for c in a.to_list()], lo, hi)
            if high - low <= width:
                return low, high
            lo, hi = _halved(self.minimal, lo, hi)

    def expression(self, a: Number) -> Any:
        """The number as a sympy expression."""
        return self.domain.to_sympy(a)


RATIONAL = Reals()


def algebraic(coefficients: Sequence[Any], lo: Number, hi: Number) -> Reals:
    """Q(t), t the only root in [lo, hi] of the polynomial with these coefficients, lowest first."""
    given = Poly([QQ.to_sympy(QQ.convert(c)) for c in reversed(coefficients)], x, domain="QQ")
    for factor, _ in given.factor_list()[1]:
        roots = [CRootOf(factor, i) for i in range(factor.count_roots())] if factor.degree() > 1 else []
        inside = [t for i, t in enumerate(roots) if _between(factor, i, lo, hi)]
        if len(inside) == 1 and factor.count_roots(_sympy(lo), _sympy(hi)) == 1:
            domain = QQ.algebraic_field(inside[0])
            return Reals(domain, factor, lo, hi)
    raise ValueError("no irrational root between lo and hi")


def _between(factor: Poly, i: int, lo: Number, hi: Number) -> bool:
    """Whether root i is between lo and hi: roots below lo, and below hi, are counted."""
    below = factor.count_roots(None, _sympy(lo)), factor.count_roots(None, _sympy(hi))
    return bool(below[0] <= i < below[1])


def _sympy(q: Number) -> Rational:
    return QQ.to_sympy(q)


def _range(coefficients: Sequence[Number], lo: Number, hi: Number) -> tuple[Number, Number]:
    """Bounds of the polynomial (highest coefficient first) on [lo, hi], by Horner in intervals."""
    low = high = QQ(0)
    for c in coefficients:
        ends = (low * lo, low * hi, high * lo, high * hi)
        low, high = min(ends) + c, max(ends) + c
    return low, high


def _halved(minimal: Poly, lo: Number, hi: Number) -> tuple[Number, Number]:
    """The half of [lo, hi] with the root, sixteen times over."""
    below = minimal.eval(_sympy(lo)) > 0
    for _ in range(16):
        middle = (lo + hi) / 2
        if (minimal.eval(_sympy(middle)) > 0) == below:
            lo = middle
        else:
            hi = middle
    return lo, hi


def matrix(rows: Iterable[Iterable[Number]], columns: int, reals: Reals = RATIONAL) -> DomainMatrix:
    """A matrix over the field; `columns` for one without rows."""
    listed = [[reals.domain.convert(a) for a in row] for row in rows]
    return DomainMatrix(listed, (len(listed), columns), reals.domain)


def column(entries: Sequence[Number], reals: Reals = RATIONAL) -> DomainMatrix:
    """A vector, as a column."""
    return matrix([[a] for a in entries], 1, reals)


def entries(A: DomainMatrix) -> list[Number]:
    """All entries, row by row."""
    return [a for row in A.to_dense().to_list() for a in row]


def dot(a: DomainMatrix, b: DomainMatrix) -> Number:
    """a.b of two columns."""
    return sum((p * q for p, q in zip(entries(a), entries(b), strict=True)), a.domain.zero)


def norm2(a: DomainMatrix) -> Number:
    """|a|^2, of a column, or of all entries of a matrix."""
    return sum((p * p for p in entries(a)), a.domain.zero)


def beside(columns: Sequence[DomainMatrix], n: int, reals: Reals = RATIONAL) -> DomainMatrix:
    """The matrix of these columns, n numbers each."""
    if not columns:
        return matrix([[] for _ in range(n)], 0, reals)
    return columns[0].hstack(*columns[1:]) if len(columns) > 1 else columns[0]


def solve(A: DomainMatrix, b: DomainMatrix) -> DomainMatrix | None:
    """The only x with A x = b; None if there is none, or more than one."""
    k = A.shape[1]
    if k == 0:
        return None if any(entries(b)) else DomainMatrix.zeros((0, 1), b.domain)
    form, pivots = A.hstack(b).rref()
    if tuple(pivots) != tuple(range(k)):
        return None
    rows = form.to_dense().to_list()
    return DomainMatrix([[rows[i][k]] for i in range(k)], (k, 1), A.domain)


def root_above(q: Number, digits: int = 40) -> Number:
    """A rational just above sqrt(q), or sqrt(q) itself if it is rational."""
    p, r = int(q.numerator), int(q.denominator)
    s = isqrt(p * r)
    if s * s == p * r:
        return QQ(s, r)
    scale = 10**digits
    return QQ(isqrt(p * r * scale * scale) + 1, r * scale)


def root_sum_sign(terms: Iterable[tuple[Number, Number]]) -> int:
    """The sign of sum c sqrt(q) over pairs (c, q) of rationals, q > 0.

    Roots of different square classes (q q' is no square) are independent over Q: the sum is 0 iff it is in each class.
    """
    classes: list[tuple[Number, Number]] = []
    for c, q in terms:
        for i, (total, first) in enumerate(classes):
            ratio = sqrt(_sympy(q / first))
            if ratio.is_rational:
                classes[i] = (total + c * QQ.from_sympy(ratio), first)
                break
        else:
            classes.append((c, q))
    left = [(c, q) for c, q in classes if c]
    if not left:
        return 0
    value = sum(_sympy(c) * sqrt(_sympy(q)) for c, q in left)
    return 1 if value.evalf(30, maxn=10000, strict=True) > 0 else -1
