"""python -m relu_cert check: solve to global optimality, and prove it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relu_cert.asked import as_option, lambda_choice, request
from relu_cert.claims import Result, Verdict, asked_for
from relu_cert.cli.emit import decide, recheck, stem, told, write_file
from relu_cert.cli.options import (
    chosen_example,
    input_path,
    is_problem,
    lasso_of,
    limits_of,
    read_data,
)
from relu_cert.cli.variants import beside, chosen_variant, compared, refuse_for_json
from relu_cert.data.dataset import Source
from relu_cert.data.raw import digest
from relu_cert.errors import DataError, UsageError
from relu_cert.free.terms import read_free
from relu_cert.lasso import Lasso, read_lasso
from relu_cert.pipeline import LambdaChoice, Request, answered
from relu_cert.problem import read_problem_json
from relu_cert.report.check import CheckReport
from relu_cert.report.progress import Progress
from relu_cert.variants import NetworkModel, network_variant, varied

if TYPE_CHECKING:
    from relu_cert.examples import Example

EXIT_REFUTED, EXIT_UNDECIDED = 1, 2


def run(options: argparse.Namespace) -> int:
    """Read, solve, prove, write, verify, report."""
    example = chosen_example(options)
    asked = _asked(options, example)
    path = input_path(options, example)
    target = Path(options.certificate) if options.certificate else Path(f"{stem(path)}.cert.json")
    given = _given_lasso(options, example, path)
    plain_at = target.with_name(f"{stem(target).removesuffix('.cert')}.problem.json")
    some = options.patterns is not None or options.gates is not None
    decide(
        options,
        {"the data": path, "the file of the gates": options.gates},
        {
            "--certificate": target,
            "--html": options.html,
            "--state": options.state,
            "--certificate (over all patterns)": beside(target) if some else None,
            "--certificate (for the plain problem)": None if given is None else plain_at,
        },
    )
    with Progress(quiet=options.quiet) as stages:
        data = None
        raw = None
        if given is not None:
            raw = given.raw
            source = Source(str(plain_at), digest(raw), "json")
            problem = varied(given.plain, chosen_variant(options, None))
            if asked.choice.value is not None:
                asked = replace(asked, choice=LambdaChoice(value=given.lam(asked.choice.value)))
        elif is_problem(path):
            problem, source = read_problem_json(path)
            problem = varied(problem, chosen_variant(options, None))
        else:
            options.bias = options.bias or "biases" in read_free(options.free) or None
            data = read_data(options, example)
            source = data.source
            model: NetworkModel = "gated" if "gated" in (options.model, _own_model(options, example)) else "relu"
            variant = chosen_variant(options, data)
            wanted = "patterns-complete" in asked.named
            problem = network_variant(data, model, variant, stages, options.max_patterns, listed=wanted)
        facts, results = answered(asked, problem, stages, limits_of(options))
        global_optimum = None if data is None else compared(options, data, model, variant, facts, target, stages)
        report = CheckReport(data, source, facts, results, target, global_optimum, given)
        text = report.certificate_text()
        if not options.no_verify:
            with stages.stage("verify"):
                recheck(text, source, raw)
        if raw is not None:
            write_file(plain_at, raw.decode(), "--certificate")
        write_file(target, text, "--certificate")
        if options.html:
            _write_page(Path(options.html), report)
    told(options, report, page=options.html, problem=None if raw is None else plain_at)
    return _exit_code(results, asked_for(options.require or ()))


def _given_lasso(options: argparse.Namespace, example: Example | None, path: Path) -> Lasso | None:
    """A group lasso that is not written in the plain form: CSV with --groups, or JSON with decimals, weights, ..."""
    if is_problem(path):
        _refuse_for_json(options)
        refuse_for_json(options)
        try:
            read_problem_json(path)
        except DataError as strict:
            try:
                return read_lasso(path)
            except DataError:
                raise strict from None
        return None
    if options.groups is None:
        if options.weights is not None or options.intercept or options.average:
            raise UsageError("--weights, --intercept and --average are for a group lasso; say --groups G, too.")
        return None
    if any(x is not None for x in (options.model, options.patterns, options.gates, options.free)):
        raise UsageError(
            "--groups makes a group lasso of the columns; --model, --patterns, --gates and --free are for networks."
        )
    return lasso_of(options, read_data(options, example))


def _own_model(options: argparse.Namespace, example: Example | None) -> str:
    """The model of the example, unless another one was asked for."""
    return example.model if example is not None and options.model is None else "relu"


def _asked(options: argparse.Namespace, example: Example | None) -> Request:
    choice = lambda_choice(options.lam, options.lambda_ratio, as_option)
    if choice == LambdaChoice() and example is not None and example.lam is not None:
        choice = LambdaChoice(value=example.lam)
    ends = None if options.interval is None else options.interval.split(",")
    return request(choice, options.gap, ends, options.noise, options.claims, options.require or (), as_option)


def _refuse_for_json(options: argparse.Namespace) -> None:
    for name in ("target", "bias", "delimiter", "numbers", "model", "groups", "weights", "free"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for CSV data; a problem in JSON has no such thing.")


def _write_page(path: Path, report: CheckReport) -> None:
    from relu_cert.report.html import check_page

    write_file(path, check_page(report), "--html")


def _exit_code(results: Sequence[Result], required: Sequence[str]) -> int:
    said = {result.claim: result.verdict for result in results}
    wanted = [said.get(name, Verdict.UNDECIDED) for name in required]
    if Verdict.REFUTED in wanted:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if Verdict.UNDECIDED in wanted else 0
