"""Windows of signals and images, and bags of rows: from one row for each signal to the rows that a neuron sees.

    1d:K           windows of K entries of a signal
    2d:HxW:KxL     windows of K x L of an image with H rows and W columns

with :stride=S, :channels=C and :padding=Q (zeros on all sides) as in PyTorch: a row of the file is one signal or image,
channels first, row-major; windows are in row-major order of their position, their entries channels first.
Equal rows are one row, which the bags count, and rows of zeros drop out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import Bags
from relu_cert.errors import DataError, UsageError, quote
from relu_cert.exact import Matrix

Numbered = NDArray[np.int32]  # entries by their numbers in a list of values
Pooling = Literal["mean", "sum"]
MOST = 10**6  # of a size
_SHAPES = {
    "1d": re.compile(r"1d:([0-9]{1,7})"),
    "2d": re.compile(r"2d:([0-9]{1,7})x([0-9]{1,7}):([0-9]{1,7})x([0-9]{1,7})"),
}
_OPTION = re.compile(r"(stride|channels|padding)=([0-9]{1,7})")
_FORMS = "1d:K or 2d:HxW:KxL, with :stride=S, :channels=C and :padding=Q as needed"


@dataclass(frozen=True)
class Windows:
    """Which windows: `kernel` is their size and `size` that of an image (empty for signals, of any length)."""

    kernel: tuple[int, ...]
    size: tuple[int, ...] = ()
    stride: int = 1
    channels: int = 1
    padding: int = 0

    @property
    def text(self) -> str:
        """The rule in words, as it is read."""
        size = f"2d:{_by(self.size)}:" if self.size else "1d:"
        least = {"stride": 1, "channels": 1, "padding": 0}
        options = (f":{name}={getattr(self, name)}" for name, x in least.items() if getattr(self, name) != x)
        return f"{size}{_by(self.kernel)}{''.join(options)}"

    @property
    def entries(self) -> int:
        """The number of entries of a window."""
        return self.channels * int(np.prod(self.kernel))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a window, as in PyTorch: channels first."""
        return (self.channels, *self.kernel)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entries of a window: row and column, after the channel where there are several."""
        shape = self.shape if self.channels > 1 else self.kernel
        return tuple(f"w[{','.join(map(str, at))}]" for at in product(*map(range, shape)))

    def sizes(self, width: int) -> tuple[int, ...]:
        """The size of a signal or image in a row of `width` entries; DataError if that does not fit."""
        many = f" in {self.channels} channels" if self.channels > 1 else ""
        if self.size and width != self.channels * int(np.prod(self.size)):
            image = f"images of {_by(self.size)}{many} have {self.channels * int(np.prod(self.size))}"
            raise DataError(f"--conv {self.text}: {image} entries, but there are {width} columns of features.")
        if not self.size and width % self.channels:
            raise DataError(f"--conv {self.text}: {width} columns of features cannot be signals{many}.")
        sizes = self.size or (width // self.channels,)
        for size, kernel in zip(sizes, self.kernel, strict=True):
            room = size + 2 * self.padding - kernel
            if room < 0:
                padded = f" with padding {self.padding}" if self.padding else ""
                what = f"an image of {_by(sizes)}" if self.size else f"a signal of {size} entries"
                raise DataError(f"--conv {self.text}: a window of {_by(self.kernel)} is larger than {what}{padded}.")
            if room % self.stride:
                last = f"({size} + 2*{self.padding} - {kernel}) is no multiple of the stride {self.stride}"
                raise DataError(
                    f"--conv {self.text}: windows do not end at the end of the data, {last}; crop or pad the data, or "
                    "choose another stride."
                )
        return sizes

    def of(self, images: NDArray[Any], zero: int) -> NDArray[Any]:
        """The windows of every row of images (n x positions x entries); `zero` stands for 0."""
        sizes = self.sizes(images.shape[1])
        shaped = images.reshape(len(images), self.channels, *sizes)
        around = [(0, 0), (0, 0), *([(self.padding, self.padding)] * len(sizes))]
        padded = np.pad(shaped, around, constant_values=zero)
        axes = tuple(range(2, 2 + len(sizes)))
        seen = np.lib.stride_tricks.sliding_window_view(padded, self.kernel, axis=axes)
        steps = (slice(None, None, self.stride),) * len(sizes)
        chosen = seen[(slice(None), slice(None), *steps)]  # n, channels, positions, kernel
        moved = np.moveaxis(chosen, 1, 1 + len(sizes))
        return moved.reshape(len(images), -1, self.entries)


def _by(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def read_windows(text: str) -> Windows:
    """The rule of a text; UsageError says what is wrong with it."""
    given = text.strip()
    head = re.match(r"1d:[^:]*|2d:[^:]*:[^:]*", given)
    shape = _SHAPES[given[:2]].fullmatch(head[0]) if head else None
    if head is None or shape is None:
        raise UsageError(f"--conv takes {_FORMS}; not {quote(text)}.")
    options: dict[str, int] = {}
    for part in given[len(head[0]) :].split(":")[1:]:
        option = _OPTION.fullmatch(part)
        if option is None or option[1] in options:
            raise UsageError(f"--conv takes {_FORMS}; {quote(part)} is none of these, or twice.")
        options[option[1]] = int(option[2])
    numbers = tuple(map(int, shape.groups()))
    kernel, size = (numbers, ()) if given[:2] == "1d" else (numbers[2:], numbers[:2])
    found = Windows(kernel, size, **options)
    if min((*kernel, *size, found.stride, found.channels)) < 1:
        raise UsageError(f"--conv {given}: sizes, stride and channels are at least 1.")
    return found


def read_pool(text: str | None) -> Pooling:
    """mean (by default) or sum."""
    if text is None or text == "mean":
        return "mean"
    if text == "sum":
        return "sum"
    raise UsageError(f"--pool is mean or sum, not {quote(str(text))}.")


def number_rows(rows: Matrix) -> tuple[Numbered, list[Fraction]]:
    """The rows by the numbers of their entries in a list of values, the first of which is 0."""
    numbers: dict[Fraction, int] = {Fraction(0): 0}
    entries = [[numbers.setdefault(x, len(numbers)) for x in row] for row in rows]
    return np.array(entries, dtype=np.int32).reshape(len(rows), -1), list(numbers)


def bags_of(
    rows: Numbered, bag: NDArray[Any], values: Sequence[Fraction], bias: bool, pool: Pooling
) -> tuple[Matrix, Bags]:
    """Z, the distinct rows in the order in which they appear, bag after bag, and the bags of them; bag_k is the number
    of the bag of row k. Rows of zeros drop out, unless a `bias` is appended."""
    order = np.argsort(bag, kind="stable")
    rows, bag = np.ascontiguousarray(rows[order]), bag[order]
    sizes = np.bincount(bag)
    kept = np.ones(len(rows), dtype=bool) if bias else rows.any(axis=1)
    rows, bag = rows[kept], bag[kept]
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    pairs, times = np.unique(bag * max(len(first), 1) + place[inverse], return_counts=True)
    starts = np.searchsorted(pairs // max(len(first), 1), np.arange(len(sizes) + 1))
    row = pairs % max(len(first), 1)
    one = (Fraction(1),) * bias
    Z = tuple((*(values[i] for i in z), *one) for z in rows[np.sort(first)].tolist())
    parts = [slice(a, b) for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    scale = tuple(Fraction(1, int(size)) if pool == "mean" else Fraction(1) for size in sizes)
    return Z, Bags(len(Z), scale, *(tuple(tuple(a[part].tolist()) for part in parts) for a in (row, times)))
