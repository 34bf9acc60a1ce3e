"""What `patterns` found, as text and JSON."""

from __future__ import annotations

from typing import Any

from relu_cert.data.dataset import Dataset
from relu_cert.patterns import PatternSet, Prediction
from relu_cert.patterns.predict import counted
from relu_cert.report.shown import picked
from relu_cert.report.terminal import wrapped


def before(prediction: Prediction) -> list[str]:
    """What is known before the enumeration, as lines of text."""
    size = ", ".join(
        [
            f"n = {counted(prediction.n, 'row')}",
            f"d = {counted(prediction.d, 'feature')}",
            f"rank {prediction.rank}",
            counted(prediction.classes, "hyperplane"),
        ]
    )
    return [size, *_wrapped("predicted:", prediction.text)]


def after(patterns: PatternSet) -> list[str]:
    """What was found, and what proves that it is all, as lines of text."""
    lower = len(patterns) - patterns.open_cells
    found = f"{counted(len(patterns), 'pattern')}, {patterns.open_cells:,} of open cells, {lower:,} of lower faces only"
    circuits, covers = sum(len(group.circuits) for group in patterns.groups), len(patterns.covers)
    proof = f"{counted(circuits, 'circuit')} and {counted(covers, 'cover')} show that none is missing"
    return [*_wrapped("found:", found), *_wrapped("proof:", proof)]


def headline(patterns: PatternSet) -> str:
    """What was found, in a sentence."""
    several = "pattern, and there is no other" if len(patterns) == 1 else "patterns, and there are no others"
    return f"{len(patterns):,} activation {several}; proved."


def content(data: Dataset, prediction: Prediction, patterns: PatternSet, out: str | None) -> dict[str, Any]:
    """The same for --json."""
    return picked(patterns, "n d rank") | {
        "total": len(patterns),
        "open": patterns.open_cells,
        "lower": len(patterns) - patterns.open_cells,
        "flats": len(patterns.groups) - 1,
        "circuits": sum(len(group.circuits) for group in patterns.groups),
        "covers": len(patterns.covers),
        "predicted": picked(prediction, "bound exact")
        | {"hyperplanes": prediction.classes, "open": prediction.cells, "general": prediction.general},
        "input": picked(data.source, "path sha256 numbers"),
        "out": out,
    }


def _wrapped(label: str, text: str) -> list[str]:
    return wrapped(f"{label:11}{text}", 11).splitlines()
