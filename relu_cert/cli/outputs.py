"""check with several outputs: --target A,B or --classes A."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from relu_cert.claims import Verdict, asked_for
from relu_cert.cli.emit import told, write_certificate
from relu_cert.cli.options import input_path
from relu_cert.cover.limits import Limits
from relu_cert.errors import UsageError
from relu_cert.pipeline import Request
from relu_cert.report.progress import Progress

if TYPE_CHECKING:
    from relu_cert.examples import Example

NOT_WITH_SEVERAL = (
    *("interval", "noise", "patterns", "gates", "seed", "l2", "free", "groups", "weights", "conv", "bags", "pool"),
    *("state", "dask", "all", "intercept", "average"),
)
EXIT_UNDECIDED = 2


def has_outputs(options: argparse.Namespace, example: Example | None) -> bool:
    """Whether several outputs are asked for."""
    asked = options.classes is not None or "," in (options.target or "")
    return asked or (example is not None and bool(example.classes) and options.target is None)


def run_outputs(
    options: argparse.Namespace, example: Example | None, asked: Request, limits: Limits, target: Path
) -> int:
    """Read, train, prove, write, verify, report."""
    from relu_cert.outputs.dataset import read_outputs
    from relu_cert.outputs.work import checked_outputs

    for name in NOT_WITH_SEVERAL:
        if getattr(options, name, None):
            raise UsageError(f"--{name} is for networks with one output.")
    if options.model == "gated" or options.loss != "squares":
        raise UsageError("networks with several outputs are ReLU networks with the squared loss.")
    if options.classes is not None and options.target is not None:
        raise UsageError("give --target A,B or --classes A, not both.")
    classes = options.classes or (example.classes if example is not None and options.target is None else None)
    bias = options.bias if options.bias is not None else (example.bias if example else False)
    data = read_outputs(
        input_path(options, example),
        targets=options.target,
        classes=classes or None,
        center=options.center or bool(example and example.center),
        numbers=options.numbers or "decimal",
        bias=bool(bias),
        delimiter=options.delimiter,
    )
    with Progress(quiet=options.quiet) as stages:
        report = checked_outputs(asked, data, stages, limits, target)
        write_certificate(options, stages, report)
    told(options, report)
    said = {result.claim: result.verdict for result in report.results}
    required = [said.get(name, Verdict.UNDECIDED) for name in asked_for(options.require or ())]
    return EXIT_UNDECIDED if Verdict.UNDECIDED in required else 0
