"""python -m relu_cert patterns: every activation pattern of a data set."""

from __future__ import annotations

import argparse
from pathlib import Path

from relu_cert.cli.emit import chosen_example, decide, input_path, print_report, read_data
from relu_cert.errors import UsageError
from relu_cert.files import Place
from relu_cert.patterns import enumerate_patterns, predict
from relu_cert.report.patterns import Patterns, before
from relu_cert.report.progress import Progress

MANY = 20_000


def run(options: argparse.Namespace) -> int:
    """Predict, enumerate, print, save."""
    example = chosen_example(options)
    decide(options, {"the data": input_path(options, example)}, {"--out": options.out})
    data = read_data(options, example)
    if data.source.opposites:
        raise UsageError("patterns are those of the rows, whatever the slope; leave --slope out.")
    prediction = predict(data.Z)
    early = not options.json and prediction.bound > MANY  # they take a while: what is known is printed at once
    if early:
        print("\n".join(before(prediction)), end="\n\n", flush=True)
    with Progress(quiet=options.quiet) as stages:
        with stages.stage("patterns"):
            patterns = enumerate_patterns(data.Z, max_patterns=options.max_patterns, progress=stages.advance)
        found = Patterns(data, prediction, patterns, options.out)
        if options.out is not None:
            with stages.stage("writing"):
                found.write(Place("--out", Path(options.out)))
    if early:
        print(found.to_text(early=True))
    else:
        print_report(options, found)
    return 0
