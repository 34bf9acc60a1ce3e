"""The raw file behind a certificate, read and unfolded again: tables, classes, sets of rows, windows of signals and
images.

A network over bags sees the rows z of Z, each once; bag i has them with multiplicities P_ik / scale_i. Windows of a
record, positions row by row, are its bag; the entries of a window go channel by channel, row by row. Padding is zeros.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any

from properties.symbolic.reader import Certificate, OtherDataError, times_of

Row = tuple[Fraction, ...]


def compare(certificate: Certificate, raw: bytes) -> None:
    """OtherDataError unless the problem is the one of the file."""
    stated, problem = certificate.tree["input"], certificate.problem
    if stated.get("sha256") and sha256(raw).hexdigest() != stated["sha256"]:
        raise OtherDataError("the hash of the file is another")
    content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    given = _of_json(content) if stated["kind"] == "json" else _of_table(content.decode("utf-8-sig"), stated, problem)
    for key, value in given.items():
        stored = problem[key]
        if key == "bags":
            stored = [bag | {"times": times_of(bag)} for bag in stored]
        if value != stored:
            raise OtherDataError(f"{key} of the problem is not that of the file")


def _of_json(content: bytes) -> dict[str, Any]:
    """X, groups and y of a direct problem."""
    given = json.loads(content)
    X = [" ".join(str(Fraction(a)) for a in row) for row in given["X"]]
    return {"X": X, "groups": given["groups"], "y": " ".join(str(Fraction(a)) for a in given["y"])}


def _of_table(text: str, stated: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    """Z, the targets and the bags of a CSV file."""
    lines = [
        [field.strip() for field in row]
        for row in csv.reader(io.StringIO(text), delimiter=stated["delimiter"])
        if any(map(str.strip, row))
    ]
    names = lines.pop(0) if stated["header"] else []
    named = stated.get("bags")
    at = None if named is None else int(named) if named.isdecimal() else names.index(named)
    aims = stated["targets"] if "targets" in stated else [stated["target"]]
    inputs = [j for j in range(len(lines[0])) if j not in (*aims, at)]
    X = [tuple(_exact(row[j], stated) for j in inputs) for row in lines]
    if "labels" in stated:
        Y = [tuple(Fraction(row[aims[0]] == label) for label in stated["labels"]) for row in lines]
    else:
        Y = [tuple(_exact(row[j], stated) for j in aims) for row in lines]
    if at is not None:
        bags = list(dict.fromkeys(row[at] for row in lines))
        members = [[k for k, row in enumerate(lines) if row[at] == bag] for bag in bags]
        if any(Y[k] != Y[some[0]] for some in members for k in some):
            raise OtherDataError("targets are different within a bag")
        sets, Y = [[X[k] for k in some] for some in members], [Y[some[0]] for some in members]
    elif "conv" in stated:
        sets = [list(windows(record, stated["conv"])) for record in X]
    else:
        sets = [[row] for row in X]
    ones = (Fraction(1),) if stated["bias"] else ()
    return _bagged([[(*row, *ones) for row in some] for some in sets], stated) | _targets(Y, stated, problem)


def _exact(field: str, stated: dict[str, Any]) -> Fraction:
    return Fraction(float(Fraction(field))) if stated["numbers"] == "binary64" else Fraction(field)


def _bagged(sets: list[list[Row]], stated: dict[str, Any]) -> dict[str, Any]:
    """Z, and with bags the rows other than zero, each once, and how often each is in each bag. With a slope p/q, max(t,
    s t) = (t)_+ - s (-t)_+: z counts q times and -z counts -p times, of which each is 1/q."""
    if "pool" not in stated and "slope" not in stated:
        return {"Z": [" ".join(map(str, row)) for some in sets for row in some]}
    slope = Fraction(stated.get("slope", 0))
    p, q = slope.numerator, slope.denominator
    counts = []
    for some in sets:
        count = Counter[Row]()
        for row in filter(any, some):
            count[row] += q
            count[tuple(-a for a in row)] -= p
        counts.append(count)
    sides = (side for some in sets for row in some for side in ((row, tuple(-a for a in row)) if p else (row,)))
    Z = [row for row in dict.fromkeys(sides) if any(count[row] for count in counts)]
    bags = []
    for some, count in zip(sets, counts, strict=True):
        rows = [k for k, row in enumerate(Z) if count[row]]
        scale = Fraction(1, q * (len(some) if stated.get("pool") == "mean" else 1))
        bags.append({"scale": str(scale), "rows": rows, "times": [count[Z[k]] for k in rows]})
    return {"Z": [" ".join(map(str, row)) for row in Z], "bags": bags}


def _targets(Y: list[Row], stated: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    """y, or Y; labels 0 and 1 of the logistic loss are -1 and 1; with `center` columns have the mean 0."""
    if "Y" in problem:
        means = [sum(t) / len(Y) if stated.get("center") else Fraction(0) for t in zip(*Y, strict=True)]
        return {"Y": [" ".join(str(a - mean) for a, mean in zip(row, means, strict=True)) for row in Y]}
    y = [row[0] for row in Y]
    if problem["objective"].startswith("sum log") and set(y) <= {Fraction(0), Fraction(1)}:
        y = [2 * a - 1 for a in y]
    return {"y": " ".join(map(str, y))}


def windows(record: Row, conv: str) -> Iterator[Row]:
    """The windows of a signal or an image: `1d:K` or `2d:HxW:KxL`, perhaps with stride, channels and padding."""
    kind, *parts = conv.split(":")
    words = dict(part.split("=") for part in parts if "=" in part)
    sizes = [tuple(map(int, part.split("x"))) for part in parts if "=" not in part]
    stride, channels, padding = (
        int(words.get(name, default)) for name, default in (("stride", 1), ("channels", 1), ("padding", 0))
    )
    window = sizes[-1]
    shape = (len(record) // channels,) if kind == "1d" else sizes[0]
    steps = [range(-padding, length + padding - size + 1, stride) for length, size in zip(shape, window, strict=True)]
    for corner in product(*steps):
        offsets = product(range(channels), *map(range, window))
        yield tuple(
            _pixel(record, shape, c, [a + b for a, b in zip(corner, place, strict=True)]) for c, *place in offsets
        )


def _pixel(record: Row, shape: tuple[int, ...], channel: int, place: list[int]) -> Fraction:
    """An entry of a record, channels first, row by row; zero beyond its edge."""
    at = channel
    for length, k in zip(shape, place, strict=True):
        if not 0 <= k < length:
            return Fraction(0)
        at = at * length + k
    return record[at]
