"""How bags were made from the raw file: the windows of signals and images, or records with one text in a column; and
for a slope s each row z and -z, since max(t, s t) = (t)_+ - s (-t)_+."""

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
    slope, single = read_slope(problem, fields), "slope" in fields and not {"conv", "bags", "pool"} & fields.keys()
    if not single and (("conv" in fields) == ("bags" in fields) or "pool" not in fields):
        raise node.reject("how bags were made: conv or bags, and pool")
    pool = "" if single else fields["pool"].text("mean", "sum")
    most = []
    for i, bag in enumerate(problem.bags):
        scale, (rows, rest) = bag.scale * slope.denominator, divmod(sum(bag.times), slope.denominator - slope.numerator)
        count = scale.denominator  # zero rows are counted, and not there; a bias leaves none
        mean = scale.numerator == 1 and (count == rows if bias else count >= rows)
        if rest or (not mean if pool == "mean" else scale != 1 or (bias and not rows)) or (single and rows > 1):
            found = f"{bag.scale} times the sum of {sum(bag.times)} rows"
            raise fields["slope" if single else "pool"].reject(f"the {pool or 'record'} over bag {i}", found)
        most.append((rows, count))
    check_opposites(problem, fields, slope)
    if single:
        return {"slope": slope}
    if "bags" in fields:
        fields["bags"].require(name := fields["bags"].text(), "a column")
        return {"pool": pool, "bags": name, "slope": slope}
    windows = read_windows(fields["conv"])
    size = windows.size + bias
    fields["conv"].require(size == problem.d, f"windows of {problem.d} numbers, with the bias", str(size))
    if windows.shape:
        count = len(windows.places(windows.shape))
        for i, (rows, divisor) in enumerate(most):
            if rows > count or (pool == "mean" and divisor != count):
                raise fields["conv"].reject(f"{count} windows in bag {i}", f"{rows}, the scale {problem.bags[i].scale}")
    return {"pool": pool, "windows": windows, "slope": slope}


def read_slope(problem: Problem, fields: Fields) -> Fraction:
    """s < 1 of max(t, s t), where it is stated, and 0 else."""
    if "slope" not in fields:
        if any(m < 0 for bag in problem.bags for m in bag.times):
            raise Rejected("certificate.input", "a slope, because rows are counted with signs", "none")
        return Fraction(0)
    slope = fields["slope"].number()
    fields["slope"].require(slope and slope < 1, "a number < 1 other than 0")
    fields["slope"].require("skip" not in problem.free, "no skip connection, whose columns are those of the data")
    return slope


def check_opposites(problem: Problem, fields: Fields, slope: Fraction) -> None:
    """With a slope p/q reject unless rows z and -z count q a - p b and q b - p a times, for whole a, b >= 0."""
    if not slope:
        return
    p, q = slope.numerator, slope.denominator
    names = {z: k for k, z in enumerate(problem.seen)}
    opposite = [names.get(tuple(-x for x in z), -1) for z in problem.seen]
    for i, bag in enumerate(problem.bags):
        times = dict(zip(bag.rows, bag.times, strict=True))
        for k, m in times.items():
            other = times.get(opposite[k], 0)
            parts = [Fraction(x, q * q - p * p) for x in (q * m + p * other, q * other + p * m)] if p != -q else []
            if any(x < 0 or x.denominator > 1 for x in parts) or (p == -q and not m == other > 0):
                found = f"{m} and {other} at row {k} of bag {i}"
                raise fields["slope"].reject(f"rows and their opposites as max(t, {show(slope)} t) counts them", found)


def gathered(parts: Iterable[Sequence[Vector]], pool: str, slope: Fraction) -> tuple[Matrix, tuple[Bag, ...]]:
    """The distinct rows of all bags that are not zero, in the order in which they appear, and the bags; with a slope
    p/q each row z counts q times, and -z, which appears after it, -p times. What counts nowhere is left out."""
    names: dict[Vector, int] = {}
    counted = []
    for rows in parts:
        times: Counter[int] = Counter()
        for z in filter(any, rows):
            times[names.setdefault(z, len(names))] += slope.denominator
            if slope:
                times[names.setdefault(tuple(-x for x in z), len(names))] -= slope.numerator
        counted.append((Fraction(1, slope.denominator * (len(rows) if pool == "mean" else 1)), times))
    there = sorted({k for _, times in counted for k, m in times.items() if m})
    places, found = {k: i for i, k in enumerate(there)}, list(names)
    bags = []
    for scale, times in counted:
        own = sorted(k for k, m in times.items() if m)
        bags.append(Bag(scale, tuple(places[k] for k in own), tuple(times[k] for k in own)))
    return tuple(found[k] for k in there), tuple(bags)


def read_bags(raw: bytes, input_: Input, limits: Limits, problem: Problem) -> tuple[Matrix, Vector, bool]:
    """Rows, targets, and whether there was a header; rejected unless the bags are those of the problem: the windows of
    a record, or records of one name."""
    rows, names = read_fields(raw, input_, limits, MOST_FIELDS)
    header, several = bool(names), bool(input_.targets)
    if input_.windows is not None:
        Z, targets = read_parts(rows, replace(input_, bias=False), 1 + header)
        entries, one = input_.windows.entries(len(Z[0])), (Fraction(1),) * input_.bias
        padded = ((*record, Fraction(0)) for record in Z)
        found, bags = gathered(
            ([(*(z[i] for i in window), *one) for window in entries] for z in padded), input_.pool, input_.slope
        )
    elif not input_.pool:
        Z, targets = read_parts(rows, input_, 1 + header)
        found, bags = gathered(([z] for z in Z), "", input_.slope)
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
        found, bags = gathered(parts.values(), input_.pool, input_.slope)
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
    leaky = f", of max(t, s t) with s = {input_['slope']}" if "slope" in input_ else ""
    if "pool" not in input_:
        return f"{n} records{leaky}"
    pool = input_["pool"] + leaky
    if "bags" in input_:
        return f"{n} bags, records with the same text in column {input_['bags']}, {pool}"
    w = read_windows(Node(input_["conv"], None, "conv"))
    what = f"images of {w.shape[0]} x {w.shape[1]}" if w.shape else "signals"
    more = f", {w.channels} channels" * (w.channels > 1), f", zeros {w.padding} wide around" * (w.padding > 0)
    return f"{n} {what}{more[0]}, windows {' x '.join(map(str, w.kernel))}, stride {w.stride}{more[1]}, {pool}"
