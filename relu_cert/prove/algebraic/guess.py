"""A field and a residual in it, guessed from many digits: integer relations, found by lattice reduction (LLL).

A root t of an integer polynomial m makes (m_0, ..., m_d) an unusually short vector of the lattice that is spanned by
the unit vectors, each with a last entry 10^D t^i; x in Q(t) is a short relation between x and 1, t, ..., t^(d-1). A
wrong guess costs time, never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_poly, fmpz_mat, fmpz_poly

from relu_cert.exact import Vector, to_fmpq
from relu_cert.prove.algebraic.field import Field, Number

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
            field, t = _generated(x, digits, degrees)
        elif _inside(field, t, x, digits) is None:
            larger = (_generated(t + c * x, digits, degrees) for c in COMBINATIONS)
            field, t = next((found for found in larger if found[0] is not None), (None, t))
        if field is None:
            return None
    return field


def _rational(x: Fraction, digits: int) -> bool:
    return _relation([x, Fraction(1)], digits) is not None


def _generated(x: Fraction, digits: int, degrees: Sequence[int]) -> tuple[Field | None, Fraction]:
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
