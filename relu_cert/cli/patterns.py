"""python -m relu_cert patterns: every activation pattern of a data set."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from relu_cert.cli.emit import decide
from relu_cert.cli.options import chosen_example, input_path, read_data
from relu_cert.files import refusal
from relu_cert.patterns import PatternSet, enumerate_patterns, predict, save_npz
from relu_cert.report.patterns import after, before, content, headline
from relu_cert.report.progress import Progress
from relu_cert.report.terminal import wrapped

MANY = 20_000


def run(options: argparse.Namespace) -> int:
    """Predict, enumerate, print, save."""
    example = chosen_example(options)
    decide(options, {"the data": input_path(options, example)}, {"--out": options.out})
    out = None if options.out is None else Path(options.out)
    data = read_data(options, example)
    prediction = predict(data.Z)
    early = not options.json and prediction.bound > MANY  # they take a while: what is known is told at once
    if early:
        print("\n".join(before(prediction)), flush=True)
    with Progress(quiet=options.quiet) as stages:
        with stages.stage("patterns"):
            patterns = enumerate_patterns(data.Z, max_patterns=options.max_patterns, progress=stages.advance)
        if out is not None:
            with stages.stage("writing"):
                _save(out, patterns)
    if options.json:
        print(json.dumps(content(data, prediction, patterns, options.out), indent=2))
        return 0
    said = [wrapped(headline(patterns)), ""] + ([] if early else before(prediction)) + after(patterns)
    print("\n".join([""] * early + said))
    if out is not None:
        print(f"written:   {options.out}")
    return 0


def _save(path: Path, patterns: PatternSet) -> None:
    try:
        save_npz(path, patterns)
    except OSError as error:
        raise refusal(path, "--out", error) from None
