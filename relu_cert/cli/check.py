"""python -m relu_cert check: solve to global optimality, and prove it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relu_cert.check import DEFAULT_GAP, Derivatives, IntervalChoice, LambdaChoice, find_facts, verdicts
from relu_cert.claims import NAMES, SENSITIVITY, Result, Verdict, require_applicable
from relu_cert.cli.emit import decide, recheck, stem, write_file
from relu_cert.cli.options import (
    chosen_example,
    input_path,
    is_problem,
    positive,
    read_data,
)
from relu_cert.cli.variants import beside, chosen_variant, compared, refuse_for_json
from relu_cert.errors import UsageError
from relu_cert.problem import read_problem_json
from relu_cert.report.outcome import Outcome
from relu_cert.report.progress import Progress
from relu_cert.variants import NetworkModel, network_variant, varied

if TYPE_CHECKING:
    from relu_cert.examples import Example

EXIT_REFUTED, EXIT_UNDECIDED = 1, 2
PATH_CLAIMS = ("continuous", "set-continuous", "min-norm-continuous")


@dataclass(frozen=True)
class _Asked:
    """The options, read and checked."""

    choice: LambdaChoice
    gap: Any
    claims: tuple[str, ...]
    named: tuple[str, ...]  # those that were asked for by name
    required: tuple[str, ...]
    interval: IntervalChoice | None
    derivatives: Derivatives | None


def run(options: argparse.Namespace) -> int:
    """Read, solve, prove, write, verify, report."""
    example = chosen_example(options)
    asked = _asked(options, example)
    path = input_path(options, example)
    target = Path(options.certificate) if options.certificate else Path(f"{stem(path)}.cert.json")
    some = options.patterns is not None or options.gates is not None
    decide(
        options,
        {"the data": path, "the file of the gates": options.gates},
        {"--certificate": target, "--html": options.html, "the second certificate": beside(target) if some else None},
    )
    with Progress(quiet=options.quiet) as stages:
        data = None
        if is_problem(path):
            _refuse_for_json(options)
            refuse_for_json(options)
            problem, source = read_problem_json(path)
            problem = varied(problem, chosen_variant(options, None))
        else:
            data = read_data(options, example)
            source = data.source
            model: NetworkModel = "gated" if "gated" in (options.model, _own_model(options, example)) else "relu"
            variant = chosen_variant(options, data)
            problem = network_variant(data, model, variant, stages, options.max_patterns)
        require_applicable(asked.named, problem)
        facts = find_facts(problem, asked.choice, asked.gap, stages, asked.interval, asked.derivatives)
        results = verdicts(facts, asked.claims)
        whole = None if data is None else compared(options, data, model, variant, facts, target, stages)
        outcome = Outcome(data, source, facts, results, target, whole)
        text = outcome.certificate_text()
        if not options.no_verify:
            with stages.stage("verify"):
                recheck(text, source)
        write_file(target, text, "--certificate")
        if options.html:
            _write_page(Path(options.html), outcome)
    print(
        json.dumps(outcome.to_json(), indent=2) if options.json else outcome.to_text(), end="\n" if options.json else ""
    )
    return _exit_code(results, asked.required)


def _own_model(options: argparse.Namespace, example: Example | None) -> str:
    """The model of the example, unless another one was asked for."""
    return example.model if example is not None and options.model is None else "relu"


def _asked(options: argparse.Namespace, example: Example | None) -> _Asked:
    if options.lam is not None and options.lambda_ratio is not None:
        raise UsageError("give --lambda or --lambda-ratio, not both.")
    choice = LambdaChoice()
    if options.lam is not None:
        choice = LambdaChoice(value=positive(options.lam, "lambda"))
    elif options.lambda_ratio is not None:
        choice = LambdaChoice(ratio=positive(options.lambda_ratio, "the ratio to lambda_max"))
    elif example is not None and example.lam is not None:
        choice = LambdaChoice(value=example.lam)
    gap = DEFAULT_GAP if options.gap is None else positive(options.gap, "the gap")
    required = _names(options.require, ())
    claims = (*_names(options.claims, NAMES), *required)
    named = (*_names(options.claims, ()), *required)
    return _Asked(choice, gap, claims, named, required, _interval(options), _derivatives(options))


def _derivatives(options: argparse.Namespace) -> Derivatives | None:
    """Whether derivatives and their conditions are wanted: by the noise, or by one of their claims."""
    if options.noise is not None:
        return Derivatives(positive(options.noise, "the noise level"))
    named = (*_names(options.claims, NAMES), *_names(options.require, ()))
    return Derivatives() if any(name in SENSITIVITY for name in named) else None


def _interval(options: argparse.Namespace) -> IntervalChoice | None:
    """The interval that was asked for, by itself or by a claim that is about one."""
    if options.interval is None:
        named = (*_names(options.claims, ()), *_names(options.require, ()))
        return IntervalChoice() if any(name in PATH_CLAIMS for name in named) else None
    ends = options.interval.split(",")
    if len(ends) != 2:
        raise UsageError(f"--interval takes two numbers, LO,HI, such as 1/20,1/5; not {options.interval!r}.")
    lo, hi = (positive(end, "an end of the interval") for end in ends)
    if lo >= hi:
        raise UsageError(f"--interval LO,HI needs LO < HI, not {options.interval!r}.")
    return IntervalChoice(lo, hi)


def _names(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    if text is None:
        return default
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in NAMES:
            raise UsageError(f"there is no claim {name!r}; there are {', '.join(NAMES)}.")
    return names


def _refuse_for_json(options: argparse.Namespace) -> None:
    for name in ("target", "bias", "delimiter", "numbers", "model"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for CSV data; a problem in JSON has no such thing.")


def _write_page(path: Path, outcome: Outcome) -> None:
    from relu_cert.report.html import check_page

    write_file(path, check_page(outcome), "--html")


def _exit_code(results: Sequence[Result], required: Sequence[str]) -> int:
    said = {result.claim: result.verdict for result in results}
    wanted = [said.get(name, Verdict.UNDECIDED) for name in required]
    if Verdict.REFUTED in wanted:
        return EXIT_REFUTED
    return EXIT_UNDECIDED if Verdict.UNDECIDED in wanted else 0
