"""Real algebraic numbers p(t): t is one root of a polynomial m, known by nested intervals, and p a polynomial mod m.

Nothing rests on m being irreducible. p = 0 mod m gives p(t) = 0; a sign is decided by intervals around t; a quotient by
Bezout's identity a p + b m = 1, which gives a(t) = 1 / p(t). What these do not decide is rejected, so that every answer
is right for the t in all the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import total_ordering

from flint import fmpq, fmpq_poly, fmpz

from verify.numbers.bounds import fraction, rational
from verify.numbers.integers import cleared
from verify.text import Node

MOST_DEGREE = 16
FIRST_BITS, NARROW_BITS, MOST_BITS = 256, 1024, 4096
Rational = int | Fraction | fmpq | fmpz


@dataclass
class Field:
    """m, and an interval [lo, hi], 0 <= lo < hi, at whose ends m has opposite signs: it holds the root t.

    `powers`, for so many bits: integers (low, high) with low <= 2^bits t^i <= high, i below the degree.
    """

    m: fmpq_poly
    lo: Fraction
    hi: Fraction
    node: Node
    powers: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    @property
    def degree(self) -> int:
        """The degree of m."""
        return int(self.m.degree())

    def number(self, coefficients: Sequence[Fraction]) -> Number:
        """The number with these coefficients, of 1, t, t^2, ..."""
        return Number(self, fmpq_poly([rational(c) for c in coefficients]))

    def powers_of_t(self, bits: int) -> list[tuple[int, int]]:
        """The powers of t, enclosed in an interval of length 2^-bits around t, or shorter."""
        if bits not in self.powers:
            self.bisect(bits)
            low, high = (end.numerator << bits for end in (self.lo, self.hi))
            ends = [low // self.lo.denominator, -(-high // self.hi.denominator)]
            enclosed = [(1 << bits, 1 << bits)]
            for _ in range(self.degree - 1):
                low, high = enclosed[-1]
                enclosed.append((low * ends[0] >> bits, -(-high * ends[1] >> bits)))
            self.powers[bits] = enclosed
        return self.powers[bits]

    def bisect(self, bits: int) -> None:
        """Halve the interval until it is no longer than 2^-bits; the half at whose ends m changes its sign is kept."""
        low, high = rational(self.lo), rational(self.hi)
        rising, most = self.m(low) < 0, fmpq(1, fmpz(1) << bits)
        while high - low > most:
            middle = (low + high) / 2
            at = self.m(middle)
            self.node.require(at, "a polynomial whose root is not found by bisection", str(middle))
            low, high = (middle, high) if (at < 0) == rising else (low, middle)
        self.lo, self.hi = fraction(low), fraction(high)


@total_ordering
class Number:
    """p(t)"""

    __slots__ = ("field", "p")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, in_field: Field, p: fmpq_poly) -> None:
        self.field = in_field
        self.p = p

    def other(self, x: Number | Rational) -> fmpq_poly:
        """The polynomial of a number, or of a rational."""
        if isinstance(x, Number):
            return x.p
        return fmpq_poly([rational(x)])

    def __add__(self, x: Number | Rational) -> Number:
        return Number(self.field, self.p + self.other(x))

    def __sub__(self, x: Number | Rational) -> Number:
        return Number(self.field, self.p - self.other(x))

    def __rsub__(self, x: Rational) -> Number:
        return Number(self.field, self.other(x) - self.p)

    def __neg__(self) -> Number:
        return Number(self.field, -self.p)

    def __mul__(self, x: Number | Rational) -> Number:
        return Number(self.field, self.p * self.other(x) % self.field.m)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, x: Number | Rational) -> Number:
        divisor = Number(self.field, self.other(x))
        if not divisor.sign():
            raise ZeroDivisionError
        common, a, _ = divisor.p.xgcd(self.field.m)
        if common.degree():
            raise self.field.node.reject("an irreducible polynomial", "one that has a divisor in common with a number")
        return Number(self.field, self.p * (a / common[0]) % self.field.m)

    def __abs__(self) -> Number:
        return -self if self.sign() < 0 else self

    def __bool__(self) -> bool:
        return self.sign() != 0

    def __eq__(self, x: object) -> bool:
        if not isinstance(x, Number | int | Fraction | fmpq | fmpz):
            return NotImplemented
        return (self - x).sign() == 0

    def __lt__(self, x: Number | Rational) -> bool:
        return (self - x).sign() < 0

    def sign(self) -> int:
        """1, 0 or -1: 0 if p = 0 mod m, else by intervals, finer until they exclude 0."""
        if not self.p:
            return 0
        p = [int(c) for c in self.p.numer().coeffs()]
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            powers = self.field.powers_of_t(bits)[: len(p)]
            if sum(c * power[c < 0] for c, power in zip(p, powers, strict=True)) > 0:
                return 1
            if sum(c * power[c > 0] for c, power in zip(p, powers, strict=True)) < 0:
                return -1
            bits *= 4
        raise self.field.node.reject("numbers that intervals tell from 0", f"one within 2^-{MOST_BITS} of it")

    def upper(self) -> Fraction:
        """A rational above the number by little."""
        p, q = self.p.numer().coeffs(), int(self.p.denom())
        powers = self.field.powers_of_t(NARROW_BITS)[: len(p)]
        return Fraction(sum(int(c) * power[c > 0] for c, power in zip(p, powers, strict=True)), q << NARROW_BITS)


def read_field(node: Node) -> Field:
    """m of degree 1 to 16 with different signs at both ends of an interval."""
    fields = node.record("polynomial", "lo", "hi")
    coefficients = fields["polynomial"].vector()
    proper = 2 <= len(coefficients) <= MOST_DEGREE + 1 and coefficients[-1]
    fields["polynomial"].require(proper, f"the coefficients of a polynomial of degree 1 to {MOST_DEGREE}, lowest first")
    lo, hi = fields["lo"].number(), fields["hi"].number()
    if not 0 <= lo < hi <= lo + 1 or max(lo.denominator, hi.denominator, hi.numerator).bit_length() > MOST_BITS:
        raise fields["lo"].reject(f"0 <= lo < hi <= lo + 1, in at most {MOST_BITS} bits")
    m = fmpq_poly(cleared(coefficients)[0])
    fields["polynomial"].require(m(rational(lo)) * m(rational(hi)) < 0, "different signs at lo and at hi")
    return Field(m, lo, hi, node)


class FieldMatrix:
    """As much as is needed of what flint's matrices are over the rationals."""

    def __init__(self, rows: int, columns: int, entries: Sequence[Number]) -> None:
        self.rows, self.columns = [list(entries[i * columns : (i + 1) * columns]) for i in range(rows)], columns

    def tolist(self) -> list[list[Number]]:
        """Row by row."""
        return self.rows

    def rref(self) -> tuple[FieldMatrix, int]:
        """The reduced echelon form, by Gauss and Jordan, and the rank."""
        rows, rank = [*self.rows], 0
        for j in range(self.columns):
            found = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
            if found is None:
                continue
            rows[rank], rows[found] = rows[found], rows[rank]
            pivot = rows[rank][j]
            rows[rank] = [x / pivot if x.p else x for x in rows[rank]]
            for i, row in enumerate(rows):
                if i != rank and row[j].p:
                    factor = row[j]
                    rows[i] = [x - factor * y if y.p else x for x, y in zip(row, rows[rank], strict=True)]
            rank += 1
        return FieldMatrix(len(rows), self.columns, [x for row in rows for x in row]), rank


def read_numbers(in_field: Field, node: Node, length: int) -> list[Number]:
    """An array of so many numbers, each a vector with a coefficient for each power of t below the degree."""
    return [in_field.number(entry.vector(in_field.degree)) for entry in node.array(length)]
