"""python -m relu_cert check: solve to global optimality, and prove it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relu_cert.checker import second_opinion
from relu_cert.claims import Result, Verdict, asked_for
from relu_cert.cli.emit import (
    chosen_example,
    decide,
    input_path,
    is_problem,
    lasso_of,
    limits_of,
    model_of,
    print_report,
    read_data,
    write_certificate,
    write_file,
)
from relu_cert.commands import Request, answer, check_lasso, check_problem
from relu_cert.data.raw import delimiter_character
from relu_cert.driver.optimum import LambdaChoice
from relu_cert.driver.variant import Variant, apply_variant
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Matrix
from relu_cert.files import beside, stem
from relu_cert.free import read_free
from relu_cert.lasso import Lasso, read_lasso
from relu_cert.problem import read_problem_json
from relu_cert.report.check import CheckReport
from relu_cert.report.progress import Progress
from relu_cert.request import as_option, decay_of, lambda_choice, request, variant

if TYPE_CHECKING:
    from relu_cert.examples import Example

EXIT_REFUTED, EXIT_UNDECIDED = 1, 2
NOT_FOR_JSON = {
    "no such thing": ("target", "classes", "bias", "delimiter", "numbers", "model", "groups", "weights", "free"),
    "its own blocks": ("patterns", "gates", "seed"),
}


def run(options: argparse.Namespace) -> int:
    """Read, solve, prove, write, verify, report."""
    example = chosen_example(options)
    asked = _read_request(options, example)
    path = input_path(options, example)
    target = Path(options.certificate) if options.certificate else Path(f"{stem(path)}.cert.json")
    given = _given_lasso(options, example, path)
    plain_at = None if given is None else beside(target, ".problem.json")
    some = options.patterns is not None or options.gates is not None
    decide(
        options,
        {"the data": path, "the file of the gates": options.gates},
        {
            "--certificate": target,
            "--html": options.html,
            "--state": options.state,
            "--certificate (over all patterns)": beside(target, ".all-patterns.cert.json") if some else None,
            "--certificate (for the plain problem)": plain_at,
        },
    )
    if options.proved and options.json:
        raise UsageError("--proved adds a line to the report in words; it does not go with --json.")
    limits = limits_of(options)
    with Progress(quiet=options.quiet) as stages:
        if given is not None:
            source = given.source(str(plain_at))
            report = check_lasso(asked, given, _variant(options, None), stages, source, target)
        elif is_problem(path):
            problem, source = read_problem_json(path)
            facts, results = answer(asked, apply_variant(problem, _variant(options, None)), stages)
            report = CheckReport(source, None, results, target, facts)
        else:
            options.bias = options.bias or "biases" in read_free(options.free) or None
            data = read_data(options, example, outputs=True)
            if data.targets == 1 and options.loss != "logistic" and set(data.y) in ({0, 1}, {-1, 1}):
                stages.note("hint: the targets are two labels only; --loss logistic is for classes\n")
            kind, which, most = model_of(options, example), _variant(options, data.Z), options.max_patterns
            report = check_problem(asked, data, kind, which, stages, limits, max_patterns=most, target=target)
        for one in (report.over_all, report):
            if isinstance(one, CheckReport):
                write_certificate(options, stages, one, None if given is None else given.raw)
        if given is not None and plain_at is not None:
            write_file(plain_at, given.raw.decode(), "--certificate")
        second = None
        if options.proved:
            with stages.stage("verify"):
                second = second_opinion(report.certificate_text, None)
    print_report(options, replace(report, every=options.all, exact=options.exact), problem=plain_at, proved=second)
    return _exit_code(report.results, asked_for(options.require or ()))


def _variant(options: argparse.Namespace, Z: Matrix | None) -> Variant:
    """The variant that the options name."""
    some = options.patterns, options.seed, options.gates
    delimiter = delimiter_character(options.delimiter)
    found = variant(Z, *some, options.l2, options.loss, options.free, as_option, delimiter)
    return replace(found, rho=decay_of(options.decayed_bias, options.lam, as_option))


def _given_lasso(options: argparse.Namespace, example: Example | None, path: Path) -> Lasso | None:
    """A group lasso that is not written in the plain form: CSV with --groups, or JSON with decimals, weights, ..."""
    if is_problem(path):
        for has, names in NOT_FOR_JSON.items():
            for name in names:
                if getattr(options, name) is not None:
                    raise UsageError(f"--{name} is for CSV data; a problem in JSON has {has}.")
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


def _read_request(options: argparse.Namespace, example: Example | None) -> Request:
    choice = lambda_choice(options.lam, options.lambda_ratio, as_option)
    if choice == LambdaChoice() and example is not None and example.lam is not None:
        choice = LambdaChoice(value=example.lam)
    ends = None if options.interval is None else options.interval.split(",")
    return request(choice, options.gap, ends, options.noise, options.claims, options.require or (), as_option)


def _exit_code(results: Sequence[Result], required: Sequence[str]) -> int:
    said = {result.claim: result.verdict for result in results}
    wanted = [said.get(name, Verdict.UNDECIDED) for name in required]
    if Verdict.REFUTED in wanted:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if Verdict.UNDECIDED in wanted else 0
