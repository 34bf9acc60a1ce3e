"""Numbers as text. Rounding here is for the eye only; whatever decides is exact."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor


def rational(x: Fraction) -> str:
    """p or p/q in lowest terms, of any length (`str` alone refuses more than 4,300 digits)."""
    p = f"{Decimal(x.numerator):f}"
    return p if x.denominator == 1 else f"{p}/{Decimal(x.denominator):f}"


def scientific(x: Fraction, digits: int = 2) -> str:
    """About x, to a few significant digits, also where x is far outside the range of floats: "3.1e-120"."""
    if x == 0:
        return "0"
    sign, size = ("-" if x < 0 else ""), abs(x)
    exponent = _decimal_exponent(size)
    mantissa = floor(size * Fraction(10) ** (digits - 1 - exponent) + Fraction(1, 2))
    if mantissa >= 10**digits:
        mantissa, exponent = mantissa // 10, exponent + 1
    text = str(mantissa)
    head = text[0] + ("." + text[1:] if digits > 1 else "")
    return f"{sign}{head}e{exponent}" if exponent else f"{sign}{head}"


def decimal(x: Fraction, digits: int = 10) -> str:
    """About x, to some significant digits, plainly where that is short."""
    if x == 0:
        return "0"
    exponent = _decimal_exponent(abs(x))
    if not -4 <= exponent <= digits:
        return scientific(x, digits)
    places = max(0, digits - 1 - exponent)
    scaled = floor(abs(x) * 10**places + Fraction(1, 2))
    whole, rest = divmod(scaled, 10**places)
    tail = str(rest).rjust(places, "0").rstrip("0") if places else ""
    return ("-" if x < 0 else "") + str(whole) + ("." + tail if tail else "")


def short(x: Fraction, width: int = 24) -> str:
    """The exact text where it is short, else about the number, marked as such."""
    text = rational(x)
    return text if len(text) <= width else "~" + decimal(x)


def _decimal_exponent(x: Fraction) -> int:
    """e with 10^e <= x < 10^(e+1), x > 0."""
    exponent = (x.numerator.bit_length() - x.denominator.bit_length()) * 30103 // 100000
    while Fraction(10) ** exponent > x:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= x:
        exponent += 1
    return exponent
