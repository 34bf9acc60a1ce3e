"""What was read: a frozen data set, how it was read, number by number, and what network it is for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Rational
from typing import Annotated, Any, Literal, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each, with_slope
from relu_cert.data.windows import Windows, bags_of, number_rows, read_pool, read_windows
from relu_cert.errors import UsageError, quote
from relu_cert.exact import Matrix, Vector, rational
from relu_cert.serialize import OPTIONAL, UNWRITTEN

Number = Fraction | int | float | str
Numbers = Literal["decimal", "decimal-comma", "binary64"]
Heights = TypeVar("Heights", Fraction, NDArray[np.float64])


class Parts(TypedDict, total=False):
    """The parts of an `Architecture` as they are asked for."""

    bias: bool
    conv: str | None
    bags: str | int | None
    pool: str | None
    slope: Number | None


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """How rows of Z are made of the data, and what neurons do with them, as certificates state it: what was not asked
    for is empty. A part is a field here, an argument or option of its name, and read, stated and checked by that.

    `bias`   a column of ones is appended
    `conv`   the rule by which rows of the file are cut into windows (relu_cert.data.windows)
    `bags`   the column whose texts name the bags that rows belong to
    `pool`   whether outputs of the rows of a bag are averaged (mean) or added (sum)
    `slope`  s of the activation max(t, s t): each row is there as z, and with the weight -s as -z (relu_cert.bags)
    """

    bias: bool = False
    conv: Annotated[str, OPTIONAL] = ""
    bags: Annotated[str, OPTIONAL] = ""
    pool: Annotated[str, OPTIONAL] = ""
    slope: Annotated[str, OPTIONAL] = ""

    @classmethod
    def of(
        cls,
        bias: bool = False,
        conv: str | None = None,
        bags: str | int | None = None,
        pool: str | None = None,
        slope: Number | None = None,
    ) -> Architecture:
        """What was asked for; UsageError where the parts do not go together."""
        if conv is not None and bags is not None:
            raise UsageError("--conv makes bags of windows; --bags names bags of rows: give one of them.")
        single = conv is None and bags is None
        if pool is not None and single:
            raise UsageError("--pool is for --conv and --bags.")
        return cls(
            bias=bias,
            conv="" if conv is None else read_windows(conv).text,
            bags="" if bags is None else str(bags),
            pool="" if single else read_pool(pool),
            slope=rational(s) if (s := read_slope(slope)) else "",
        )

    @property
    def architecture(self) -> Architecture:
        """These parts alone."""
        return Architecture(**self.stated)

    @property
    def stated(self) -> dict[str, Any]:
        """The parts that were asked for."""
        parts = ((part.name, getattr(self, part.name)) for part in fields(Architecture))
        return {name: value for name, value in parts if value}

    @cached_property
    def windows(self) -> Windows | None:
        """The rule of the windows, if there is one."""
        return read_windows(self.conv) if self.conv else None

    @cached_property
    def s(self) -> Fraction:
        """The slope as a number: the activation is max(t, s t), and no other."""
        return Fraction(self.slope or 0)

    @property
    def opposites(self) -> bool:
        """Whether rows are there as z and as -z."""
        return bool(self.slope)

    @property
    def single(self) -> bool:
        """Whether data points are rows of the file, and rows those of Z."""
        return not (self.pool or self.slope)

    @property
    def what_sums(self) -> str:
        """What makes a data point more than a row of Z, in the words of options."""
        return "a slope" if self.opposites else "--conv or --bags"

    @property
    def activation(self) -> str:
        """The activation by its name."""
        return f"leaky ReLU max(t, {self.slope} t)" if self.slope else "ReLU"

    @property
    def neuron(self) -> str:
        """A neuron in a formula."""
        seen = "filter . window" if self.conv else f"direction . {'row' if self.bags else 'x'}"
        bent = f"phi({seen}), phi(t) = max(t, {self.slope} t)" if self.slope else f"({seen})_+"
        return {"mean": "the mean of ", "sum": "the sum of "}.get(self.pool, "") + bent

    def bent(self, heights: Heights) -> Heights:
        """The activation of heights, in floats or exactly."""
        if isinstance(heights, Fraction):
            return max(heights, self.s * heights)
        return np.maximum(heights, float(self.s) * heights)

    def rows(
        self, Z: Matrix, names: tuple[str, ...], bag: NDArray[np.int64] | None
    ) -> tuple[Matrix, Each, tuple[str, ...]]:
        """What neurons see of these records, the bags, and the names of the features; `bag` has the bag of each."""
        P: Each = EACH
        rows, values = number_rows(Z) if self.pool else (None, ())
        if rows is not None and self.windows is not None:
            seen, names = self.windows.of(rows, 0), self.windows.names
            bag, rows = np.repeat(np.arange(len(seen)), seen.shape[1]), seen.reshape(-1, self.windows.entries)
        if rows is not None and bag is not None:
            Z, P = bags_of(rows, bag, values, self.bias, read_pool(self.pool))
        elif self.bias:
            Z = tuple((*z, Fraction(1)) for z in Z)
        if self.slope:
            Z, P = with_slope(Z, P, self.s)
        return Z, P, names + ("bias",) * self.bias


def read_slope(x: Number | None) -> Fraction | None:
    """The slope s < 1 of an activation max(t, s t), if one was named."""
    try:
        s = None if x is None else exact_number(x)
    except NumberError as error:
        raise UsageError(f"--slope must be a number such as 1/100 or -1; {x!r} is {error}.") from None
    if s is None or s < 1:
        return s
    what = "is no activation, and the network linear" if s == 1 else "bends the other way, min(t, s t)"
    raise UsageError(f"--slope takes a number below 1, as 1/100 for a leaky ReLU or -1 for |t|; {s} {what}.")


@dataclass(frozen=True)
class Source(Architecture):
    """Where the numbers come from and how the text was read; enough for another program to read them again.

    `target` is the zero-based column of the file that became y. `header` says that the first record was names.
    `sha256` is the hash of the file's raw bytes (compressed bytes for a .gz file).
    `labels`: two texts, for which y has 0 and 1.
    Several outputs: `targets` are their columns, or the one of the classes, whose `labels` then have an output each;
    `center`: less their means.
    """

    path: Annotated[str, UNWRITTEN]
    sha256: str
    kind: Literal["csv", "json"]
    numbers: Numbers = "decimal"
    target: int = -1
    delimiter: str = ","
    header: bool = False
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
            raise UsageError(f"{what} is not offered with {self.source.what_sums}.")

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


def exact_number(x: Any) -> Fraction:
    """The number itself, as a rational; NumberError says why there is none."""
    if isinstance(x, str):
        return parse_number(x.strip(), "decimal")
    if isinstance(x, Integral):
        return Fraction(int(x))
    if isinstance(x, Rational):
        return Fraction(int(x.numerator), int(x.denominator))
    if isinstance(x, float | np.floating | Decimal):
        if not math.isfinite(x):
            raise NumberError("which is not finite; give a finite number")
        return Fraction(*x.as_integer_ratio())
    raise NumberError("not a real number; give integers, floats, Fractions, Decimals or texts")


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
