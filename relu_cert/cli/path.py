"""python -m relu_cert path: the optimal network as lambda changes, proved piece by piece."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relu_cert.cli.emit import (
    chosen_example,
    decide,
    input_path,
    is_problem,
    model_of,
    print_report,
    read_data,
    write_certificate,
    write_file,
)
from relu_cert.commands import follow
from relu_cert.driver.variant import network_problem
from relu_cert.errors import UsageError
from relu_cert.files import stem
from relu_cert.problem import read_problem_json
from relu_cert.report.path import PathReport, draft_text
from relu_cert.report.progress import Progress
from relu_cert.request import as_option, limits, path_ends

if TYPE_CHECKING:
    pass


def run(options: argparse.Namespace) -> int:
    """Read, cover, enclose, write, report."""
    example = chosen_example(options)
    limits(options.seconds, 1, None, as_option)
    between = path_ends(options.low, options.high, as_option)
    if options.plot and Path(options.plot).suffix != ".svg":
        raise UsageError(f"--plot draws SVG; the file must end in .svg, not {Path(options.plot).name!r}.")
    path = input_path(options, example)
    target = _decide_output(options, path)
    data = None
    with Progress(quiet=options.quiet) as stages:
        if any(str(end)[-3:] not in ("max", "abs") for end in (options.low, options.high)):
            stages.note(
                "--from and --to: plain numbers are parts of lambda_max; 1/10max says so, 2abs is lambda itself\n"
            )
        if is_problem(path):
            problem, source = read_problem_json(path)
        else:
            data = read_data(options, example)
            source = data.source
            model = model_of(options, example)
            problem = network_problem(data, model, stages, options.max_patterns, listed=False)
        report = follow(
            problem,
            source,
            between,
            stages,
            data,
            enclose=not options.no_breakpoints,
            target=target,
            drafted=lambda rows: stages.note(draft_text(rows)),
        )
        write_certificate(options, stages, report)
        if options.csv:
            write_file(Path(options.csv), report.to_csv(), "--csv")
        if options.plot:
            _draw(Path(options.plot), report)
    print_report(options, replace(report, exact=options.exact), table=options.csv, picture=options.plot)
    return 0


def _draw(path: Path, report: PathReport) -> None:
    """The first picture of the page as a file of its own."""
    from relu_cert.report.html.path import path_svg

    picture = path_svg(report)
    if picture is None:
        raise UsageError(f"--plot {path}: the numbers of the interval are too far from 1 to be drawn.")
    write_file(path, picture, "--plot")


def _decide_output(options: argparse.Namespace, path: Path) -> Path:
    """Where the certificate goes, once it is known that everything can be written."""
    target = Path(options.certificate) if options.certificate else Path(f"{stem(path)}.path.json")
    outputs = {"--certificate": target, "--html": options.html, "--csv": options.csv, "--plot": options.plot}
    decide(options, {"the data": path}, outputs)
    return target
