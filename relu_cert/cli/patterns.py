"""python -m relu_cert patterns: every activation pattern of a data set."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from relu_cert.cli.options import add_data_options, add_output_options, chosen_example, read_data
from relu_cert.errors import UsageError
from relu_cert.patterns import enumerate_patterns, predict, save_npz
from relu_cert.report.progress import Progress


def add_parser(commands: Any) -> None:
    """The options of patterns."""
    command = commands.add_parser(
        "patterns",
        help="enumerate every activation pattern exactly",
        description="Enumerate D_Z = {1(Zu >= 0)} exactly, each pattern with a rational witness u.",
    )
    add_data_options(command)
    add_output_options(command)
    command.add_argument("--out", metavar="FILE.npz", help="write the packed patterns with their witnesses")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Predict, enumerate, print, save."""
    data = read_data(options, chosen_example(options))
    prediction = predict(data.Z)
    with Progress(quiet=options.quiet) as stages, stages.stage("patterns"):
        patterns = enumerate_patterns(data.Z, max_patterns=options.max_patterns, progress=stages.advance)
    if options.out:
        try:
            save_npz(Path(options.out), patterns)
        except OSError as error:
            raise UsageError(f"cannot write {options.out}: {error.strerror}.") from None
    content = {
        "n": patterns.n,
        "d": patterns.d,
        "rank": patterns.rank,
        "total": len(patterns),
        "open": patterns.open_cells,
        "lower": len(patterns) - patterns.open_cells,
        "flats": len(patterns.groups) - 1,
        "circuits": sum(len(group.circuits) for group in patterns.groups),
        "predicted": {"bound": prediction.bound, "exact": prediction.exact, "hyperplanes": prediction.classes},
        "input": {"path": data.source.path, "sha256": data.source.sha256, "numbers": data.source.numbers},
        "out": options.out,
    }
    if options.json:
        print(json.dumps(content, indent=2))
        return 0
    print(f"n = {patterns.n} rows, d = {patterns.d} features, rank {patterns.rank}, {prediction.classes} hyperplanes")
    print(f"predicted: {prediction.text}")
    lower = f"{content['lower']} of lower faces only"
    print(f"found:     {len(patterns)} patterns, {patterns.open_cells} of open cells, {lower}")
    if options.out:
        print(f"written:   {options.out}")
    return 0
