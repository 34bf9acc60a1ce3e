"""How bags were made from the raw file: the windows of signals and images, or records with one text in a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from verify.errors import Rejected, bounded
from verify.problem.data import bag_column, read_fields, read_numbers
from verify.problem.input import Input
from verify.problem.problem import Bag, Problem
from verify.text import Fields, Limits, Matrix, Node, Vector, describe, integer, show

NUMBER = "([1-9][0-9]{0,5})"
CONV = re.compile(f"(?:1d:{NUMBER}|2d:{NUMBER}x{NUMBER}:{NUMBER}x{NUMBER})((?::[a-z]+=[0-9]+)*)")
OPTION = re.compile(":(stride|channels|padding)=(0|[1-9][0-9]{0,5})")
MOST_ENTRIES = 2**26  # of all windows of one record
MOST_FIELDS = 2**24  # of data that are unfolded


@dataclass(frozen=True)
class Windows:
    """The windows of a signal, or of an image of this `shape` (none: as long as the record): channels first, row-major,
    zeros beyond the edge; positions and entries of windows in the same order, as PyTorch has them."""

    shape: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: int = 1
    channels: int = 1
    padding: int = 0

    def places(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Where the windows begin; rejected unless they are there, and the last one ends where the padding does."""
        q, s = self.padding, self.stride
        rests = [length + 2 * q - k for length, k in zip(shape, self.kernel, strict=True)]
        if any(rest < 0 or rest % s for rest in rests):
            raise Rejected("certificate.input.conv", "windows that fit, and a stride that divides", str(shape))
        bounded(prod(rest // s + 1 for rest in rests) * self.size, MOST_ENTRIES, "entries", "certificate.input.conv")
        return [*product(*(range(-q, rest - q + 1, s) for rest in rests))]

    @property
    def size(self) -> int:
        """The number of entries of a window."""
        return self.channels * prod(self.kernel)

    def entries(self, length: int) -> list[list[int]]:
        """Of every window, where its entries are in a record of this length; -1: beyond the edge."""
        shape = self.shape or (length // self.channels,)
        if prod(shape) * self.channels != length:
            raise Rejected("certificate.input.conv", f"records of {prod(shape) * self.channels} features", str(length))
        found = []
        for at in self.places(shape):
            inside = []
            for c, *offset in product(range(self.channels), *map(range, self.kernel)):
                place, index = c, [a + b for a, b in zip(at, offset, strict=True)]
                for i, side in zip(index, shape, strict=True):
                    place = place * side + i
                inside.append(place if all(0 <= i < side for i, side in zip(index, shape, strict=True)) else -1)
            found.append(inside)
        return found


def read_windows(node: Node) -> Windows:
    """1d:K or 2d:HxW:KxL, then perhaps :stride=S, :channels=C and :padding=Q, each once."""
    words = CONV.fullmatch(node.text())
    if words is None or len(given := OPTION.findall(words[6])) != words[6].count(":") or len(dict(given)) < len(given):
        raise node.reject("1d:K or 2d:HxW:KxL, perhaps with :stride=S, :channels=C, :padding=Q")
    options = {name: integer(value) for name, value in given}
    node.require(options.get("stride", 1) and options.get("channels", 1), "a stride and channels > 0")
    if words[1]:
        return Windows((), (integer(words[1]),), **options)
    H, W, K, L = (integer(words[i]) for i in (2, 3, 4, 5))
    return Windows((H, W), (K, L), **options)


def read_pool(node: Node, fields: Fields, problem: Problem, bias: bool) -> dict[str, Any]:
    """`pool` and `conv`, or `bags`; rejected unless the scales are those of means or sums, and rows are windows."""
    if ("conv" in fields) == ("bags" in fields) or "pool" not in fields:
        raise node.reject("how bags were made: conv or bags, and pool")
    pool = fields["pool"].text("mean", "sum")
    for i, bag in enumerate(problem.bags):
        count, rows = bag.scale.denominator, sum(bag.times)  # zero rows are counted, and not there; a bias leaves none
        mean = bag.scale.numerator == 1 and (count == rows if bias else count >= rows)
        if not mean if pool == "mean" else count != bag.scale.numerator or (bias and not rows):
            raise fields["pool"].reject(f"the {pool} over bag {i}", f"{bag.scale} times the sum of {rows} rows")
    if "bags" in fields:
        fields["bags"].require(name := fields["bags"].text(), "a column")
        return {"pool": pool, "bags": name}
    windows = read_windows(fields["conv"])
    size = windows.size + bias
    fields["conv"].require(size == problem.d, f"windows of {problem.d} numbers, with the bias", str(size))
    if windows.shape:
        count = len(windows.places(windows.shape))
        for i, bag in enumerate(problem.bags):
            if sum(bag.times) > count or (pool == "mean" and bag.scale.denominator != count):
                raise fields["conv"].reject(f"{count} windows in bag {i}", f"{sum(bag.times)}, the scale {bag.scale}")
    return {"pool": pool, "windows": windows}


def gathered(parts: Iterable[Sequence[Vector]], pool: str) -> tuple[Matrix, tuple[Bag, ...]]:
    """The distinct rows of all bags that are not zero, in the order in which they appear, and the bags."""
    names: dict[Vector, int] = {}
    bags = []
    for rows in parts:
        times = Counter(names.setdefault(z, len(names)) for z in rows if any(z))
        scale = Fraction(1, len(rows) if pool == "mean" else 1)
        bags.append(Bag(scale, tuple(sorted(times)), tuple(times[k] for k in sorted(times))))
    return tuple(names), tuple(bags)


def read_bags(raw: bytes, input_: Input, limits: Limits, problem: Problem) -> tuple[Matrix, Vector, bool]:
    """Rows, targets, and whether there was a header; rejected unless the bags are those of the problem: the windows of
    a record, or records of one name."""
    rows, names = read_fields(raw, input_, limits, MOST_FIELDS)
    header, several = bool(names), bool(input_.targets)
    if input_.windows is not None:
        Z, targets = read_parts(rows, replace(input_, bias=False), 1 + header)
        entries, one = input_.windows.entries(len(Z[0])), (Fraction(1),) * input_.bias
        padded = ((*record, Fraction(0)) for record in Z)
        found, bags = gathered(([(*(z[i] for i in window), *one) for window in entries] for z in padded), input_.pool)
    else:
        apart = bag_column(names or rows[0], input_.bags)
        texts = [row.pop(apart) for row in rows]
        asked = input_.targets if several else (input_.target,)
        if apart in asked:
            raise Rejected("certificate.input.bags", "another column than the targets", str(apart))
        left = tuple(j - (j > apart) for j in asked)
        Z, every = read_parts(rows, replace(input_, target=left[0], targets=left * several), 1 + header)
        parts: dict[str, list[Vector]] = {}
        firsts: dict[str, Vector] = {}
        for record, target, name in zip(Z, every, texts, strict=True):
            parts.setdefault(name, []).append(record)
            if firsts.setdefault(name, target) != target:
                both = " and ".join(" ".join(map(show, values)) for values in (firsts[name], target))
                raise Rejected("data", f"one target in the bag {describe(name)}", both)
        targets = tuple(firsts.values())
        found, bags = gathered(parts.values(), input_.pool)
    same_bags(bags, problem.bags)
    if several:
        from verify.problem.outputs import centered

        targets = centered(input_, targets)
    return found, tuple(x for row in targets for x in row), header


def read_parts(rows: list[list[str]], input_: Input, start: int) -> tuple[Matrix, Matrix]:
    """The rows and their targets, of the records from this one on."""
    if input_.targets:
        from verify.problem.outputs import read_columns

        return read_columns(rows, input_, start)
    Z, y = read_numbers(rows, input_, start)
    return Z, tuple((y_k,) for y_k in y)


def same_bags(read: Sequence[Bag], stated: Sequence[Bag]) -> None:
    """Reject unless these are the same, as far as they go: y tells how many there are."""
    for i, (bag, other) in enumerate(zip(read, stated, strict=False)):
        if bag != other:
            place = f"certificate.problem.bags[{i}]"
            raise Rejected(place, f"{describe(str(bag))} as in the data given", describe(str(other)))


def told(input_: dict[str, Any], n: int) -> str:
    """In words how the outputs came from the records."""
    pool = input_["pool"]
    if "bags" in input_:
        return f"{n} bags, records with the same text in column {input_['bags']}, {pool}"
    w = read_windows(Node(input_["conv"], None, "conv"))
    what = f"images of {w.shape[0]} x {w.shape[1]}" if w.shape else "signals"
    more = f", {w.channels} channels" * (w.channels > 1), f", zeros {w.padding} wide around" * (w.padding > 0)
    return f"{n} {what}{more[0]}, windows {' x '.join(map(str, w.kernel))}, stride {w.stride}{more[1]}, {pool}"
