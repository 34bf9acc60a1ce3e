"""Number texts and their exact values.

    number = [+-]? ( digits [. digits*] | . digits ) ( [eE] [+-]? digits )?    or    [+-]? digits / digits

with ASCII digits only. Read as `decimal`, the text is its exact rational: "0.1" is 1/10. Read as `binary64`, it is
the double nearest to that rational, exactly: "0.1" is 3602879701896397/36028797018963968.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from relu_cert.data.dataset import Numbers
from relu_cert.messages import shown

MAX_LENGTH = 20_000
MAX_EXPONENT = 5_000

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?")
_RATIO = re.compile(r"(?P<p>[+-]?[0-9]+)/(?P<q>[0-9]+)")
_MISSING = frozenset({"nan", "na", "n/a", "null", "?"})
_INFINITE = frozenset({"inf", "infinity"})


class NumberError(ValueError):
    """Why a text is not a number, as half a sentence that follows "found '...'"."""


def with_point(text: str) -> str:
    """The text with a decimal point, if it is a number with a decimal comma."""
    point = text.replace(",", ".", 1)
    return point if point != text and _DECIMAL.fullmatch(point) is not None else text


def is_value(text: str) -> bool:
    """Whether the text stands for a value, good or bad, and so cannot be a column's name.

    True for everything that has the shape of a number (even one that is over a limit, or divides by zero) and
    for the usual spellings of missing and infinite values; false for the empty text.
    """
    bare = _bare(text)
    return bare in _MISSING or bare in _INFINITE or _shape(text) is not None


def parse_number(text: str, numbers: Numbers = "decimal") -> Fraction:
    """The exact value of a number text; NumberError says why there is none."""
    if text == "":
        raise NumberError("a missing value; fill it in, or remove its row or column")
    shape = _shape(text)
    if shape is None:
        raise NumberError(_why_not(text))
    if len(text) > MAX_LENGTH:
        raise NumberError(f"a number of {len(text)} characters; at most {MAX_LENGTH} are read")
    value = _ratio(shape) if shape.re is _RATIO else _decimal(shape)
    return nearest_double(value) if numbers == "binary64" else value


def nearest_double(value: Fraction) -> Fraction:
    """The binary64 number nearest to the value (ties to even), as an exact rational."""
    try:
        # The quotient of two Python integers is correctly rounded, whatever their size.
        return Fraction(value.numerator / value.denominator)
    except OverflowError:
        raise NumberError("too large for a double; read it with --numbers decimal") from None


def integer(digits: str) -> int:
    """The integer of a text of digits, of any length (`int` alone refuses more than 4,300 digits)."""
    return int(Decimal(digits))


def _shape(text: str) -> re.Match[str] | None:
    return _DECIMAL.fullmatch(text) or _RATIO.fullmatch(text)


def _bare(text: str) -> str:
    return text[text[:1] in ("+", "-") :].lower()


def _decimal(shape: re.Match[str]) -> Fraction:
    exponent = shape["exponent"]
    if exponent is not None and abs(integer(exponent)) > MAX_EXPONENT:
        raise NumberError(f"a number with an exponent over {MAX_EXPONENT}; rescale the column")
    return Fraction(Decimal(shape[0]))


def _ratio(shape: re.Match[str]) -> Fraction:
    q = integer(shape["q"])
    if q == 0:
        raise NumberError("a division by zero; write a finite number")
    return Fraction(integer(shape["p"]), q)


def _why_not(text: str) -> str:
    bare = _bare(text)
    if bare in _MISSING:
        return "a missing value; fill it in, or remove its row or column"
    if bare in _INFINITE:
        return "which is not finite; write a finite number, or remove its row"
    point = text.replace(",", ".")
    if point != text and _shape(point) is not None:
        return f"not a number; with a decimal point it would be {shown(point)}"
    return "not a number; numbers look like 12, -0.5, 1e-3 or 3/7"
