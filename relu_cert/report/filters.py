"""Filters: neurons that slide over signals or images, and neurons that see the members of sets, in words.

Several outputs in words: the neurons with their output vectors, the terms without penalty, and the classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Dataset, Source
from relu_cert.evidence import Outputs
from relu_cert.exact import Vector
from relu_cert.figures import count, decimal, entries
from relu_cert.free import free_constant, free_parts
from relu_cert.prove.facts import ExactNeuron, Facts

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
    windows = source.windows
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
    windows = source.windows
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


Confusion = list[list[int]]


def confusion(data: Dataset, fit: Vector) -> Confusion | None:
    """How many data points of each class (rows) a network with these outputs on the data, row by row, puts into each
    (columns), by the largest output with the means that were taken; None without classes."""
    true, C = data.classes, data.targets
    if true is None:
        return None
    counts = [[0] * C for _ in range(C)]
    for k, own in enumerate(true):
        row = [f + mean for f, mean in zip_longest(fit[C * k : C * (k + 1)], data.means, fillvalue=Fraction(0))]
        counts[own][max(range(C), key=row.__getitem__)] += 1
    return counts


def outputs_json(data: Dataset, facts: Facts) -> dict[str, Any]:
    """What the object of `check --json` has besides."""
    proof = facts.dual.multipliers
    sizes = {"nodes": proof.nodes, "leaves": proof.leaves} if isinstance(proof, Outputs) else None
    told = {"targets": data.source.targets, "labels": data.source.labels, "center": data.source.center}
    return {
        "input": told,
        "outputs": data.outputs,
        "means": data.means,
        "confusion": confusion(data, facts.fit.center),
        "proof": sizes,
    }


def network_json(facts: Facts) -> dict[str, Any]:
    """The network."""
    neurons = facts.primal.neurons
    found: dict[str, Any] = {"width": len(neurons), "neurons": [{"w": n.w, "v": n.v, "norm": n.norm} for n in neurons]}
    if facts.problem.free:
        parts = free_terms(facts)
        found |= {"output_bias": [b for b, _ in parts], "skip": [skip for _, skip in parts]}
    return found


def free_terms(facts: Facts) -> list[tuple[Fraction, Vector]]:
    """The output bias and the skip connection of every output."""
    C = facts.problem.targets
    return [free_parts(facts.problem, facts.primal.free[c::C]) for c in range(C)]


def directions(neuron: ExactNeuron) -> tuple[Vector, Vector]:
    """w and v at length 1, to be shown."""
    sizes = (float(sum(x * x for x in one)) ** 0.5 for one in (neuron.w, neuron.v))
    w, v = (tuple(Fraction(float(x) / a) for x in one) for one, a in zip((neuron.w, neuron.v), sizes, strict=True))
    return w, v


def neurons_in_lines(data: Dataset, neurons: Iterable[ExactNeuron]) -> Iterator[str]:
    """The neurons, the heaviest first: weight, direction and outputs; filters as matrices below."""
    for neuron in sorted(neurons, key=lambda one: one.norm, reverse=True):
        u, v = directions(neuron)
        head = f"  {decimal(neuron.norm, 8):<14}"
        if data.source.conv:
            below = "\n".join(f"      {line}" for line in matrices(data.source, u, 5))
            yield f"{head} ->  {entries(v, 5)}\n{below}"
        else:
            yield f"{head} {entries(u, 5)}  ->  {entries(v, 5)}"


def free_in_lines(data: Dataset, facts: Facts) -> Iterator[str]:
    """The terms without penalty."""
    parts = free_terms(facts) if facts.problem.free else []
    if free_constant(facts.problem.free):
        yield f"  output bias {entries([b for b, _ in parts], 6)}"
    for name, (_, skip) in zip(data.outputs, parts, strict=False):
        if skip:
            yield f"  skip        {name}: {entries(skip, 6)} . x"


def classes_in_lines(data: Dataset, fit: Vector) -> Iterator[str]:
    """How many are put into their own class, and the table."""
    counts = confusion(data, fit)
    if counts is None:
        return
    names = data.outputs
    wide = max(map(len, names))
    right, total = sum(counts[c][c] for c in range(len(names))), sum(map(sum, counts))
    yield ""
    what = count(total, "image" if data.source.conv.startswith("2d") else "data point")
    yield f"classes: {right} of {what} are put into their own (rows: true, columns: largest output)"
    yield f"  {'':<{wide}}  {' '.join(f'{name[:5]:>5}' for name in names)}"
    for name, row in zip(names, counts, strict=True):
        yield f"  {name:<{wide}}  {' '.join(f'{x:>5}' for x in row)}"
