"""What was read: a frozen data set and how it was read, number by number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

from relu_cert.bags import EACH, Each
from relu_cert.errors import UsageError, quote
from relu_cert.exact import Matrix, Vector
from relu_cert.serialize import OPTIONAL, UNWRITTEN

Numbers = Literal["decimal", "decimal-comma", "binary64"]


@dataclass(frozen=True)
class Source:
    """Where the numbers come from and how the text was read; enough for another program to read them again.

    `target` is the zero-based column of the file that became y. `header` says that the first record was names.
    `sha256` is the hash of the file's raw bytes (compressed bytes for a .gz file).
    `labels`: two texts, for which y has 0 and 1. `slope`: s of the activation max(t, s t), empty for ReLU: each row is
    there as z and as -z then (relu_cert.bags).
    `conv`: the rule by which rows of the file were cut into windows (relu_cert.data.windows). `bags`: the column whose
    values name the bags that rows belong to. `pool`: whether outputs of the rows of a bag are averaged or added.
    Several outputs: `targets` are their columns, or the one of the classes, whose `labels` then have an output each;
    `center`: less their means.
    """

    path: Annotated[str, UNWRITTEN]
    sha256: str
    kind: Literal["csv", "json"]
    numbers: Numbers = "decimal"
    bias: bool = False
    target: int = -1
    delimiter: str = ","
    header: bool = False
    conv: Annotated[str, OPTIONAL] = ""
    bags: Annotated[str, OPTIONAL] = ""
    pool: Annotated[str, OPTIONAL] = ""
    slope: Annotated[str, OPTIONAL] = ""
    targets: Annotated[tuple[int, ...], OPTIONAL] = ()
    labels: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    center: bool = False


@dataclass(frozen=True)
class Dataset:
    """Z (N x d) and y (n), exactly, with the names of the d features (a column of ones is called "bias"); data points
    are bags of rows of Z, each a row of its own unless windows, bags or a slope were asked for.

    With several `outputs`, by their names, y is Y (n x C), row by row, and `means` were taken from its columns.
    `samples`: the places of two signals or images with different targets, and all their entries, for pictures."""

    Z: Matrix
    y: Vector
    names: tuple[str, ...]
    target: str
    source: Source
    bags: Each = EACH
    outputs: tuple[str, ...] = ()
    means: Vector = ()
    samples: tuple[tuple[int, Vector], ...] = ()

    @property
    def targets(self) -> int:
        """The number of outputs."""
        return len(self.outputs) or 1

    @property
    def n(self) -> int:
        """The number of data points."""
        return len(self.y) // self.targets

    @property
    def classes(self) -> list[int] | None:
        """The class of each data point, if the outputs are classes."""
        C = self.targets
        points = (self.y[C * k : C * (k + 1)] for k in range(self.n))
        return (
            None
            if self.source.labels is None or not self.source.targets
            else [max(range(C), key=row.__getitem__) for row in points]
        )

    def require_one_output(self, what: str) -> None:
        """UsageError where there are several outputs, which `what` does not know."""
        if self.targets > 1:
            raise UsageError(f"{what} is for networks with one output.")

    def require_single_rows(self, what: str) -> None:
        """UsageError where rows are in bags, which `what` does not know."""
        if self.bags is not EACH:
            which = "a slope" if self.source.slope else "--conv or --bags"
            raise UsageError(f"{what} is not offered with {which}.")

    @property
    def d(self) -> int:
        """The number of features, the bias column included."""
        return len(self.names)


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
        return f"not a number; with a decimal point it would be {quote(point)}"
    return "not a number; numbers look like 12, -0.5, 1e-3 or 3/7"
