"""The sign of a sum of square roots of rationals, decided exactly.

Square roots of rationals whose quotients are no squares are linearly independent over the rationals (Besicovitch 1940).
So sum_i c_i sqrt(a_i) is zero iff, within every class of radicands that differ by squares, the rational coefficients
cancel. Where it is not zero, enclosures of growing precision find its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from relu_cert.exact import sqrt_lower, sqrt_upper

Term = tuple[Fraction, Fraction]  # c sqrt(a), a > 0


def rational_root(x: Fraction) -> Fraction | None:
    """sqrt(x) where it is rational."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if p * p == x.numerator and q * q == x.denominator else None


def root_sum_sign(terms: Sequence[Term]) -> int:
    """The sign of sum c sqrt(a): -1, 0 or 1."""
    bits = 128
    if sign := _enclosed_sign(terms, bits):
        return sign
    classes = _classes(terms)
    if not classes:
        return 0
    while not (sign := _enclosed_sign(classes, bits)):
        bits *= 2
    return sign


def _classes(terms: Sequence[Term]) -> list[Term]:
    """The same sum with radicands of different square classes, terms that cancel left out."""
    classes: list[Term] = []
    for c, a in terms:
        for i, (total, b) in enumerate(classes):
            if (product := rational_root(a * b)) is not None:  # sqrt(a) = sqrt(ab) / b * sqrt(b)
                classes[i] = (total + c * product / b, b)
                break
        else:
            classes.append((c, a))
    return [(c, a) for c, a in classes if c]


def _enclosed_sign(terms: Sequence[Term], bits: int) -> int:
    """The sign where enclosures of this precision show it, else 0."""
    lower = sum((c * (sqrt_lower(a, bits) if c > 0 else sqrt_upper(a, bits)) for c, a in terms), Fraction(0))
    upper = sum((c * (sqrt_upper(a, bits) if c > 0 else sqrt_lower(a, bits)) for c, a in terms), Fraction(0))
    return 1 if lower > 0 else -1 if upper < 0 else 0
