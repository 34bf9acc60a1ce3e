"""Exact arithmetic in a field Q(t), t a root of an irreducible polynomial m, and its order as a part of the reals.

A number is a polynomial in t of degree below that of m; it is zero iff the polynomial is. Signs are read off balls
around t, of more and more bits.

A field and a residual in it, guessed from many digits: integer relations, found by lattice reduction (LLL).

A root t of an integer polynomial m makes (m_0, ..., m_d) an unusually short vector of the lattice that is spanned by
the unit vectors, each with a last entry 10^D t^i; x in Q(t) is a short relation between x and 1, t, ..., t^(d-1). A
wrong guess costs time, never a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any

from flint import acb, arb, arb_poly, ctx, fmpq, fmpq_mat, fmpq_poly, fmpz_mat, fmpz_poly

from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, middle, to_fmpq, to_fraction
from relu_cert.serialize import UNWRITTEN, Key, Via, vector

FIRST_BITS, MOST_BITS = 128, 2048  # the checker goes to 4096
Rational = int | Fraction | fmpq


def _coefficients(p: fmpq_poly) -> str:
    return vector(map(to_fraction, p.coeffs()))


@dataclass(frozen=True)
class Field:
    """m (irreducible) and a short interval that holds one root, t > 0; `balls` are enclosures of t by their bits."""

    m: Annotated[fmpq_poly, Key("polynomial"), Via(_coefficients)]
    lo: Fraction
    hi: Fraction
    balls: Annotated[dict[int, arb], UNWRITTEN] = field(default_factory=dict, compare=False, repr=False)

    @property
    def degree(self) -> int:
        """[Q(t) : Q]"""
        return int(self.m.degree())

    def number(self, coefficients: Iterable[Rational]) -> Number:
        """sum c_i t^i"""
        return Number(self, fmpq_poly([_exact(c) for c in coefficients]) % self.m)

    def rational(self, x: Rational) -> Number:
        """A rational as a number of the field."""
        return Number(self, fmpq_poly([_exact(x)]))

    def t(self, bits: int) -> arb:
        """A ball around t, of about so many bits."""
        if bits not in self.balls:
            with ctx.workprec(bits + 64):
                inside = _hull(self.lo, self.hi)
                found: Any = self.m.numer().complex_roots()
                roots: list[acb] = [root for root, _ in found if root.real.overlaps(inside)]
                if len(roots) != 1 or not roots[0].imag.contains(0):
                    raise Unsettled("the root of the field is not told from the others")
                self.balls[bits] = roots[0].real
        return self.balls[bits]

    def near_root(self, digits: int) -> Fraction:
        """t to so many digits."""
        return middle(self.t(4 * digits))


@dataclass(frozen=True, eq=False)
class Number:
    """p(t)"""

    field: Field
    p: fmpq_poly

    def __add__(self, x: Number | Rational) -> Number:
        return Number(self.field, self.p + self._of(x))

    def __radd__(self, x: Rational) -> Number:
        return self + x

    def __sub__(self, x: Number | Rational) -> Number:
        return Number(self.field, self.p - self._of(x))

    def __rsub__(self, x: Rational) -> Number:
        return Number(self.field, self._of(x) - self.p)

    def __neg__(self) -> Number:
        return Number(self.field, -self.p)

    def __mul__(self, x: Number | Rational) -> Number:
        return Number(self.field, self.p * self._of(x) % self.field.m)

    def __rmul__(self, x: Rational) -> Number:
        return self * x

    def __truediv__(self, x: Number | Rational) -> Number:
        p = self._of(x)
        if not p:
            raise ZeroDivisionError
        one, inverse, _ = p.xgcd(self.field.m)
        return self * Number(self.field, inverse / one[0])

    def __rtruediv__(self, x: Rational) -> Number:
        return Number(self.field, self._of(x)) / self

    def __abs__(self) -> Number:
        return -self if self.sign() < 0 else self

    def __bool__(self) -> bool:
        return bool(self.p)

    def __eq__(self, x: object) -> bool:
        if not isinstance(x, Number | int | Fraction | fmpq):
            return NotImplemented
        return not (self.p - self._of(x))

    def __hash__(self) -> int:
        return hash(tuple(self.coefficients()))

    def __lt__(self, x: Number | Rational) -> bool:
        return (self - x).sign() < 0

    def __le__(self, x: Number | Rational) -> bool:
        return (self - x).sign() <= 0

    def __gt__(self, x: Number | Rational) -> bool:
        return (self - x).sign() > 0

    def __ge__(self, x: Number | Rational) -> bool:
        return (self - x).sign() >= 0

    def __float__(self) -> float:
        return float(self.ball(FIRST_BITS).mid())

    def sign(self) -> int:
        """1, 0 or -1"""
        if not self.p:
            return 0
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            ball = self.ball(bits)
            if not ball.contains(0):
                return 1 if ball > 0 else -1
            bits *= 4
        raise Unsettled("an algebraic number is too near to zero")

    def coefficients(self) -> Vector:
        """Those of 1, t, t^2, ..., as many as the degree of the field."""
        found = [to_fraction(c) for c in self.p.coeffs()]
        return tuple(found + [Fraction(0)] * (self.field.degree - len(found)))

    def near(self, bits: int = 256) -> Fraction:
        """A rational near the number."""
        return middle(self.ball(bits))

    def rounded(self, bits: int) -> Fraction:
        """A multiple of 2^-bits that is less than 2^-bits from the number."""
        if self.p.degree() < 1:
            return Fraction(round(to_fraction(self.p[0]) * (1 << bits)), 1 << bits)
        extra = 2 * bits
        while True:
            with ctx.workprec(extra + bits):
                floor = (self.ball(extra) * (1 << bits)).floor().unique_fmpz()
            if floor is not None:
                return Fraction(int(floor), 1 << bits)
            extra *= 2

    def ball(self, bits: int) -> arb:
        """A ball around the number, of about so many bits."""
        t = self.field.t(bits)
        with ctx.workprec(bits + 64):
            return arb_poly(self.p)(t)

    def _of(self, x: Number | Rational) -> fmpq_poly:
        return x.p if isinstance(x, Number) else fmpq_poly([_exact(x)])


def _exact(x: Rational) -> fmpq:
    return to_fmpq(x) if isinstance(x, Fraction) else fmpq(x)


def _hull(lo: Fraction, hi: Fraction) -> arb:
    return arb(to_fmpq(lo)).union(arb(to_fmpq(hi)))


def _text(x: Number) -> str:
    return vector(x.coefficients())


Numbers = tuple[Annotated[Number, Via(_text)], ...]


Exact = tuple[Any, ...]  # Fractions, or numbers of a field
Rows = Sequence[Sequence[Any]]


class FieldMatrix:
    """As much as is needed of what flint's matrices are over the rationals."""

    def __init__(self, rows: Rows) -> None:
        self.rows = [list(row) for row in rows]

    def nrows(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def ncols(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    def tolist(self) -> list[list[Any]]:
        """Row by row."""
        return self.rows

    def entries(self) -> list[Any]:
        """The same, one row after the other."""
        return [x for row in self.rows for x in row]

    def rref(self) -> tuple[FieldMatrix, int]:
        """The reduced echelon form, by Gauss and Jordan, and the rank."""
        rows, rank = [*self.rows], 0
        for j in range(self.ncols()):
            place = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
            if place is None:
                continue
            rows[rank], rows[place] = rows[place], rows[rank]
            inverse = 1 / rows[rank][j]
            rows[rank] = [x * inverse if x else x for x in rows[rank]]
            for i, row in enumerate(rows):
                if i != rank and row[j]:
                    factor = row[j]
                    rows[i] = [x - factor * y if y else x for x, y in zip(row, rows[rank], strict=True)]
            rank += 1
        return FieldMatrix(rows), rank


def matrix(rows: Rows, columns: int) -> Any:
    """The matrix of these rows: flint's if its numbers are rational, or if there are none."""
    entries = [x for row in rows for x in row]
    if entries and not isinstance(entries[0], fmpq):
        return FieldMatrix(rows)
    return fmpq_mat(len(rows), columns, entries)


def reduced_rows(rows: Rows) -> tuple[list[list[Any]], list[int]]:
    """The rows of the reduced echelon form that are not zero, and their pivot columns."""
    if not rows or not rows[0]:
        return [], []
    form, rank = matrix(rows, len(rows[0])).rref()
    kept = form.tolist()[:rank]
    return kept, [next(j for j, x in enumerate(row) if x) for row in kept]


def solve(A: Rows, b: Sequence[Any]) -> list[Any] | None:
    """The only x with A x = b; None if there is none, or more than one."""
    k = len(A[0])
    rows, pivots = reduced_rows([[*row, right] for row, right in zip(A, b, strict=True)])
    return [row[k] for row in rows] if pivots == list(range(k)) else None


def product(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a.b, of numbers of one kind, or rationals of a field's numbers."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), b[0] * 0)


DEGREES = (2, 4, 8)
SPARE_DIGITS = 12
CLEAR = 0.8  # of the digits: what a relation may use so that it is hardly there by chance
INTERVAL_BITS = 256
COMBINATIONS = (1, -1, 2, 3, -2)


def guessed_residual(
    y: Vector, lam: Fraction, theta: Vector, digits: int, degrees: Sequence[int] = DEGREES
) -> list[Number] | None:
    """The residual as numbers of one field, or None. theta is right to about so many digits.

    The field is sought through (y - r)/lambda, whose coefficients are short where r is linear in lambda.
    """
    digits -= SPARE_DIGITS
    scaled = [(y_k - t_k) / lam for y_k, t_k in zip(y, theta, strict=True)]
    names = {round(x * 10 ** (digits // 2)): x for x in scaled}
    field = _field(list(names.values()), digits, degrees)
    if field is None:
        return None
    t = field.near_root(digits)
    numbers = {name: _inside(field, t, x, digits) for name, x in names.items()}
    found = []
    for x, y_k in zip(scaled, y, strict=True):
        number = numbers[round(x * 10 ** (digits // 2))]
        if number is None:
            return None
        found.append(y_k - lam * number)
    return found


def _field(values: Sequence[Fraction], digits: int, degrees: Sequence[int]) -> Field | None:
    """A field that seems to hold all values; None if they are all rational, or it has a large degree."""
    field: Field | None = None
    t = Fraction(0)
    for x in values:
        if _rational(x, digits):
            continue
        if field is None:
            field, t = _generate_field(x, digits, degrees)
        elif _inside(field, t, x, digits) is None:
            larger = (_generate_field(t + c * x, digits, degrees) for c in COMBINATIONS)
            field, t = next((found for found in larger if found[0] is not None), (None, t))
        if field is None:
            return None
    return field


def _rational(x: Fraction, digits: int) -> bool:
    return _relation([x, Fraction(1)], digits) is not None


def _generate_field(x: Fraction, digits: int, degrees: Sequence[int]) -> tuple[Field | None, Fraction]:
    """Q(x), with t = x or -x made positive, and the digits of t."""
    x = abs(x)
    for degree in degrees:
        powers = [Fraction(1)]
        for _ in range(degree):
            powers.append(_short(powers[-1] * x, digits))
        found = _relation(powers, digits)
        if found is not None:
            return _at(fmpz_poly(found), x), x
    return None, x


def _at(multiple: fmpz_poly, x: Fraction) -> Field | None:
    """The field of the irreducible factor with a root at x, and an interval around that root."""
    unit = Fraction(1, 1 << INTERVAL_BITS)
    lo = Fraction(int(x / unit), 1 << INTERVAL_BITS)
    for factor, _ in multiple.factor()[1]:
        m = fmpq_poly(factor)
        if factor.degree() > 1 and lo > unit and m(to_fmpq(lo - unit)) * m(to_fmpq(lo + 2 * unit)) < 0:
            return Field(m, lo - unit, lo + 2 * unit)
    return None


def _inside(field: Field, t: Fraction, x: Fraction, digits: int) -> Number | None:
    """x as a number of the field, or None."""
    powers = [Fraction(1)]
    for _ in range(field.degree - 1):
        powers.append(_short(powers[-1] * t, digits))
    found = _relation([*powers, x], digits)
    if found is None or not found[-1]:
        return None
    return field.number(Fraction(-c, found[-1]) for c in found[:-1])


def _relation(values: Sequence[Fraction], digits: int) -> list[int] | None:
    """Integers c, not all 0, with sum c_i x_i = 0 up to the digits, unusually short; None if there are none."""
    size = len(values)
    scale = 10**digits
    rows = [[int(i == j) for j in range(size)] + [round(x * scale)] for i, x in enumerate(values)]
    shortest = [int(x) for x in fmpz_mat(rows).lll().tolist()[0]]
    longest = max(map(abs, shortest))
    return shortest[:-1] if len(str(longest)) * size < CLEAR * digits else None


def _short(x: Fraction, digits: int) -> Fraction:
    scale = 10 ** (digits + SPARE_DIGITS)
    return Fraction(round(x * scale), scale)
