"""python -m relu_cert solution: prove how far given coefficients of a lasso or group lasso are from optimal."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from shlex import quote

from relu_cert.checker import recheck_command
from relu_cert.cli.emit import (
    chosen_example,
    decide,
    input_path,
    is_problem,
    lasso_of,
    name_files,
    read_data,
    write_file,
)
from relu_cert.data.raw import digest, read_bytes
from relu_cert.errors import UsageError
from relu_cert.files import beside, stem
from relu_cert.lasso import Lasso, read_coefficients, read_lasso
from relu_cert.report.progress import Progress
from relu_cert.request import absolute, positive
from relu_cert.results.solution import DEFAULT_GAP, Files, certified_solution


def run(options: argparse.Namespace) -> int:
    """Read, solve, compare, verify, write, report."""
    example = chosen_example(options)
    path = input_path(options, example)
    target = Path(options.certificate or f"{stem(Path(options.coefficients))}.solution.cert.json")
    optimum_at, problem_at = (beside(target, ending) for ending in (".optimum.cert.json", ".problem.json"))
    decide(
        options,
        {"the problem": path, "the file of the coefficients": options.coefficients},
        {
            "--certificate": target,
            "--certificate (for the optimum)": optimum_at,
            "--certificate (for the plain problem)": problem_at,
            "--html": options.html,
        },
    )
    given = _read_coefficients(options, path)
    if options.lam is None:
        raise UsageError("say with --lambda what the coefficients were computed with.")
    lam = absolute(options.lam, "--lambda")
    gap = DEFAULT_GAP if options.gap is None else positive(options.gap, "--gap")
    w = read_coefficients(options.coefficients, given.d)
    commands = [recheck_command(file, str(problem_at)) for file in (target, optimum_at)]
    commands[0] += f" --solution {quote(options.coefficients)}"
    with Progress(quiet=options.quiet) as stages:
        files = Files(*(digest(read_bytes(one)) for one in (options.coefficients, path)))
        found = certified_solution(given, lam, w, None, gap, stages, files)
        if not options.no_verify:
            with stages.stage("verify"):
                found.recheck()
        write_file(target, found.certificate, "--certificate")
        write_file(optimum_at, found.optimum.certificate, "--certificate")
        write_file(problem_at, found.optimum.raw.decode(), "--certificate")
        if options.html:
            write_file(Path(options.html), found.html(commands), "--html")
    if options.json:
        print(json.dumps(found.to_json() | {"certificate": str(target)}, indent=2))
        return 0
    print(found.to_text())
    name_files(certificate=target, optimum=optimum_at, problem=problem_at, page=options.html)
    print("\n".join(f"re-check it  {one}" for one in commands))
    return 0


def _read_coefficients(options: argparse.Namespace, path: Path) -> Lasso:
    if is_problem(path):
        for name in ("groups", "weights"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} is for CSV data; a problem in JSON has a key {name!r}.")
        return read_lasso(path)
    return lasso_of(options, read_data(options, None))
