"""python -m relu_cert patterns: every activation pattern of a data set."""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import Any

from relu_cert.cli.emit import decide
from relu_cert.cli.options import chosen_example, input_path, read_data
from relu_cert.data.model import Dataset
from relu_cert.files import refusal
from relu_cert.patterns import PatternSet, Prediction, enumerate_patterns, predict, save_npz
from relu_cert.patterns.predict import counted
from relu_cert.report.progress import Progress

WIDTH = 80


def run(options: argparse.Namespace) -> int:
    """Predict, enumerate, print, save."""
    example = chosen_example(options)
    decide(options, {"the data": input_path(options, example)}, {"--out": options.out})
    out = None if options.out is None else Path(options.out)
    data = read_data(options, example)
    prediction = predict(data.Z)
    if not options.json:
        for line in before(prediction):
            print(line, flush=True)
    with Progress(quiet=options.quiet) as stages:
        with stages.stage("patterns"):
            patterns = enumerate_patterns(data.Z, max_patterns=options.max_patterns, progress=stages.advance)
        if out is not None:
            with stages.stage("writing"):
                _save(out, patterns)
    if options.json:
        print(json.dumps(content(data, prediction, patterns, options.out), indent=2))
        return 0
    for line in after(patterns):
        print(line)
    if out is not None:
        print(f"written:   {options.out}")
    return 0


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


def content(data: Dataset, prediction: Prediction, patterns: PatternSet, out: str | None) -> dict[str, Any]:
    """The same for --json."""
    return {
        "n": patterns.n,
        "d": patterns.d,
        "rank": patterns.rank,
        "total": len(patterns),
        "open": patterns.open_cells,
        "lower": len(patterns) - patterns.open_cells,
        "flats": len(patterns.groups) - 1,
        "circuits": sum(len(group.circuits) for group in patterns.groups),
        "covers": len(patterns.covers),
        "predicted": {
            "bound": prediction.bound,
            "exact": prediction.exact,
            "hyperplanes": prediction.classes,
            "open": prediction.cells,
            "general": prediction.general,
        },
        "input": {"path": data.source.path, "sha256": data.source.sha256, "numbers": data.source.numbers},
        "out": out,
    }


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:11}", subsequent_indent=" " * 11)


def _save(path: Path, patterns: PatternSet) -> None:
    try:
        save_npz(path, patterns)
    except OSError as error:
        raise refusal(path, "--out", error) from None
