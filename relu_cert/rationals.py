"""Between Python's rationals and flint's."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq, fmpq_mat

from relu_cert.recent import recent


def to_fmpq(x: Fraction) -> fmpq:
    """A Fraction for flint."""
    return fmpq(x.numerator, x.denominator)


@recent
def rows_of(Z: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """The rows as a flint matrix."""
    return fmpq_mat([[to_fmpq(x) for x in z] for z in Z])


def to_fraction(x: fmpq) -> Fraction:
    """A flint rational as a Fraction."""
    return Fraction(int(x.p), int(x.q))


def middle(x: arb) -> Fraction:
    """The midpoint of a ball."""
    mantissa, exponent = (int(part) for part in x.mid().man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
