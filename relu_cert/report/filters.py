"""Filters: neurons that slide over signals or images, and neurons that see the members of sets, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Dataset, Source
from relu_cert.data.windows import Windows, read_windows
from relu_cert.figures import count, decimal

_FILTERS = tuple(
    (re.compile(rf"\b{one}\b"), other)
    for one, other in {
        "neuron": "filter",
        "neurons": "filters",
        "Neurons": "Filters",
        "data point": "window",
        "data points": "windows",
        "row": "window",
        "rows": "windows",
    }.items()
)
_MEMBERS = ((re.compile(r"\bdata point\b"), "row"), (re.compile(r"\bdata points\b"), "rows"))


def windows_of(source: Source) -> Windows | None:
    """The rule of the windows, if there is one."""
    return read_windows(source.conv) if source.conv else None


def in_words_of(source: Source, text: str) -> str:
    """A sentence about neurons and the data points where they are zero, as one about filters and windows, or about
    neurons and the rows of sets."""
    for pattern, words in _FILTERS if source.conv else _MEMBERS if source.bags else ():
        text = pattern.sub(words, text)
    return text


def results_of(source: Source, results: Sequence[Result]) -> tuple[Result, ...]:
    """The verdicts in these words."""
    return tuple(replace(one, detail=in_words_of(source, one.detail)) for one in results)


def described(data: Dataset) -> str:
    """What the data points are, and how many different rows they have; empty where each is a row."""
    source, bias = data.source, ", the last one the bias" if data.source.bias else ""
    if source.bags:
        rows = f"{count(len(data.Z), 'different row')} of {count(data.d, 'feature')}{bias}"
        return f"{count(data.n, 'set')} of rows, one for each {source.bags}; {source.pool} over the set; {rows}"
    windows = windows_of(source)
    if windows is None:
        return ""
    by = " x ".join(map(str, windows.kernel))
    options = {
        "stride": windows.stride if windows.stride > 1 else 0,
        "padding": windows.padding,
    }
    told = "".join(f", {name} {x}" for name, x in options.items() if x)
    channels = f" in {windows.channels} channels" if windows.channels > 1 else ""
    size = f" of {' x '.join(map(str, windows.size))}" if windows.size else ""
    images = f"{count(data.n, 'image' if windows.size else 'signal')}{size}{channels}"
    over = f"{source.pool} over the {'image' if windows.size else 'signal'}"
    rows = f"{count(len(data.Z), 'different window')}, d = {data.d}{bias}"
    return f"{images}, windows of {by}{told}; {over}; {rows}"


def matrices(source: Source, direction: Sequence[Fraction], digits: int) -> list[str]:
    """A filter as a matrix, one below the other for several channels, and its bias."""
    windows = windows_of(source)
    if windows is None:
        raise ValueError("only a convolution has filters")
    texts = [decimal(x, digits) for x in direction]
    width, columns = max(map(len, texts), default=0), windows.kernel[-1]
    rows = windows.entries // columns
    lines = [" ".join(f"{x:>{width}}" for x in texts[r * columns : (r + 1) * columns]) for r in range(rows)]
    if windows.channels > 1:
        height = rows // windows.channels
        lines = [
            f"channel {r // height}: {line}" if not r % height else f"{'':11}{line}" for r, line in enumerate(lines)
        ]
    return [*lines, *([f"bias {texts[-1]}"] if source.bias else [])]
