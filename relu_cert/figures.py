"""Numbers as text. Rounding is for the eye only, whatever decides is exact; bounds are rounded to the safe side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

from relu_cert.exact import rational

SHOWN_ENTRIES = 16  # of a vector


def at_most(x: Fraction) -> str:
    """An upper bound of x: two significant digits, rounded up."""
    return scientific(x, rounded=floor if x < 0 else ceil)


def at_least(x: Fraction) -> str:
    """A lower bound of x: two significant digits, rounded down."""
    return scientific(x, rounded=ceil if x < 0 else floor)


def _nearest(x: Fraction) -> int:
    return floor(x + Fraction(1, 2))


def scientific(x: Fraction, digits: int = 2, rounded: Callable[[Fraction], int] = _nearest) -> str:
    """About x, to a few significant digits, also far outside the range of floats: "3.1e-120", "0.13", "44"."""
    if x == 0:
        return "0"
    sign, size = ("-" if x < 0 else ""), abs(x)
    exponent = _decimal_exponent(size)
    mantissa = rounded(size * Fraction(10) ** (digits - 1 - exponent))
    if mantissa >= 10**digits:
        mantissa, exponent = mantissa // 10, exponent + 1
    text = str(mantissa)
    if -2 <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{text}"
    if 0 < exponent <= 3:
        text = text.ljust(exponent + 1, "0")
        return f"{sign}{text[: exponent + 1]}{'.' * (len(text) > exponent + 1)}{text[exponent + 1 :]}"
    head = text[0] + ("." + text[1:] if digits > 1 else "")
    return f"{sign}{head}e{exponent}" if exponent else f"{sign}{head}"


def decimal(x: Fraction, digits: int = 10, rounded: Callable[[Fraction], int] = _nearest) -> str:
    """About x, to some significant digits, plainly where that is short; `rounded` is about the size of x."""
    if x == 0:
        return "0"
    exponent = _decimal_exponent(abs(x))
    if not -4 <= exponent <= digits:
        return scientific(x, digits, rounded)
    places = max(0, digits - 1 - exponent)
    whole, rest = divmod(rounded(abs(x) * 10**places), 10**places)
    tail = str(rest).rjust(places, "0").rstrip("0") if places else ""
    return ("-" if x < 0 else "") + str(whole) + ("." + tail if tail else "")


def upwards(x: Fraction, digits: int) -> str:
    """An upper bound of x, as a decimal."""
    return decimal(x, digits, floor if x < 0 else ceil)


def downwards(x: Fraction, digits: int) -> str:
    """A lower bound of x, as a decimal."""
    return decimal(x, digits, ceil if x < 0 else floor)


def enclosed_number(lower: Fraction, upper: Fraction, digits: int) -> str:
    """A number between two bounds: to so many digits where both round to these, else the bounds, rounded outwards."""
    if decimal(lower, digits) == decimal(upper, digits):
        return decimal(upper, digits)
    size, width = max(abs(lower), abs(upper)), upper - lower
    enough = min(digits, max(2, _decimal_exponent(size) - _decimal_exponent(width) + 3))
    return f"from {downwards(lower, enough)} to {upwards(upper, enough)}"


def holds_on(lo: Fraction, hi: Fraction, digits: int) -> tuple[str, str]:
    """The ends of an interval on all of which something holds: rounded inwards."""
    enough = _telling(lo, hi, digits)
    return (upwards(lo, enough), downwards(hi, enough)) if lo < hi else (short(lo), short(hi))


def lies_in(lo: Fraction, hi: Fraction, digits: int) -> tuple[str, str]:
    """The ends of an interval in which something lies: rounded outwards."""
    enough = _telling(lo, hi, digits)
    return downwards(lo, enough), upwards(hi, enough)


def _telling(lo: Fraction, hi: Fraction, digits: int) -> int:
    """So many digits, or as many as tell the ends of a short interval apart."""
    if lo == hi:
        return digits
    return max(digits, _decimal_exponent(max(abs(lo), abs(hi))) - _decimal_exponent(hi - lo) + 2)


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 point", "2,000 points"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(low: Fraction, high: Fraction) -> str:
    """100 x for low <= x <= high, with two or three digits: "0.12 %", "12.3 %", "about 1,400 %", "from 12 to 14 %"."""
    shown = enclosed_number(100 * low, 100 * high, 3 if high < 10 else 2)
    written_out = 10 <= high < 10**4 and not shown.startswith("from")
    return f"about {int(Fraction(shown)):,} %" if written_out else f"{shown} %"


def percent_at_most(x: Fraction) -> str:
    """An upper bound of 100 x: "0.1 %", "1.2e-13 %"."""
    bound = at_most(100 * x)
    return f"{decimal(Fraction(bound)) if x >= Fraction(1, 10**6) else bound} %"


def entries(v: Sequence[Fraction], digits: int) -> str:
    """A vector in brackets, the first entries of a long one."""
    more = f", ... {len(v) - SHOWN_ENTRIES:,} more" if len(v) > SHOWN_ENTRIES else ""
    return f"({', '.join(decimal(x, digits) for x in v[:SHOWN_ENTRIES])}{more})"


def with_decimal(x: Fraction, longest: int = 40) -> str:
    """x as a decimal, and the exact number behind it: "0.1 = 1/10", "~0.333333333333 = 1/3", "2"."""
    shown, exact = decimal(x, 12), rational(x)
    if shown == exact:
        return shown
    sign = "" if Fraction(shown) == x else "~"
    return f"{sign}{shown}" if len(exact) > longest else f"{sign}{shown} = {exact}"


def short(x: Fraction, width: int = 24) -> str:
    """The exact text where it is short, else about the number, marked as such."""
    text = rational(x)
    return text if len(text) <= width else "~" + decimal(x)


def short_at_most(x: Fraction, width: int = 24) -> str:
    """The exact text where it is short, else an upper bound."""
    text = rational(x)
    return text if len(text) <= width else upwards(x, 10)


def about(x: Fraction) -> str:
    """Two significant digits, marked where there are more."""
    text = scientific(x)
    return text if Fraction(text) == x else f"~{text}"


def one_number(lower: Fraction, upper: Fraction, digits: int) -> str:
    """As `enclosed`; a number that is known exactly and has more digits is marked."""
    shown = enclosed_number(lower, upper, digits)
    return f"~{shown}" if lower == upper != Fraction(shown) else shown


def _decimal_exponent(x: Fraction) -> int:
    """e with 10^e <= x < 10^(e+1), x > 0."""
    exponent = (x.numerator.bit_length() - x.denominator.bit_length()) * 30103 // 100000
    while Fraction(10) ** exponent > x:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= x:
        exponent += 1
    return exponent
