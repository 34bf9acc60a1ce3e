"""Variants of the problem on the command line: some patterns only, the elastic penalty, the logistic loss."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from relu_cert.check import LambdaChoice, Stages, find_facts, network_problem, verdicts
from relu_cert.cli.emit import recheck, stem, write_file
from relu_cert.cli.options import positive
from relu_cert.data.model import Dataset
from relu_cert.data.table import delimiter_character
from relu_cert.errors import UsageError
from relu_cert.patterns.sample import draw_patterns, read_gates
from relu_cert.problem import Model, Problem, over_patterns, written_out
from relu_cert.prove.facts import Facts
from relu_cert.report.outcome import Outcome
from relu_cert.whole import Whole, too_many

MOST_WRITTEN_OUT = 5000  # patterns whose blocks are treated one by one


def add_variant_options(command: argparse.ArgumentParser) -> None:
    """Which problem it is."""
    group = command.add_argument_group("variants of the problem")
    group.add_argument(
        "--patterns",
        type=int,
        metavar="N",
        help="only N activation patterns, those of random Gaussian gates; the optimum is then for these patterns only, "
        "and its distance from the global one is proved where all patterns can be listed",
    )
    group.add_argument("--seed", type=int, metavar="S", help="the seed of the random gates (default: 0)")
    group.add_argument(
        "--gates", metavar="FILE", help="only the patterns of these gate vectors (CSV), or these patterns"
    )
    group.add_argument("--l2", metavar="DELTA", help="add DELTA/2 times the sum of |w_b|^2, a rational > 0")
    group.add_argument(
        "--loss",
        choices=("squares", "logistic"),
        default="squares",
        help="half the sum of squares (default), or sum log(1 + exp(-y f)) for labels y in {-1, 1}",
    )


def chosen_network(options: argparse.Namespace, data: Dataset, model: Model, stages: Stages) -> Problem:
    """The problem of a data set in the variant that the options name."""
    if options.patterns is None and options.gates is None:
        problem = network_problem(data, model, stages, options.max_patterns)
        if options.l2 is None:
            return problem
        if problem.network is not None and len(problem.network.patterns) > MOST_WRITTEN_OUT:
            raise UsageError(
                f"--l2 treats the patterns one by one, and there are {len(problem.network.patterns)}, over "
                f"{MOST_WRITTEN_OUT}; take some of them with --patterns N."
            )
        return written_out(problem)
    if model == "cgl":
        raise UsageError("--patterns and --gates are for networks.")
    return over_patterns(data.Z, data.y, _some_patterns(options, data), model)


def varied(options: argparse.Namespace, problem: Problem) -> Problem:
    """The problem with its penalty and its loss."""
    if options.l2 is not None and options.loss == "logistic":
        raise UsageError("--l2 and --loss logistic do not go together.")
    if options.l2 is not None:
        return replace(problem, delta=positive(options.l2, "DELTA"))
    if options.loss == "squares":
        return problem
    if any(abs(label) != 1 for label in problem.y):
        raise UsageError("--loss logistic needs labels 1 and -1 in the target column.")
    return replace(problem, loss="logistic")


def refuse_for_json(options: argparse.Namespace) -> None:
    """A problem in JSON has its own blocks."""
    for name in ("patterns", "gates", "seed"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for CSV data; a problem in JSON has its own blocks.")


def compared(
    options: argparse.Namespace, data: Dataset, model: Model, facts: Facts, gap: Any, path: Path, stages: Stages
) -> Whole | None:
    """The problem over all patterns, where the given one is over some of them and D_Z can be listed."""
    if options.patterns is None and options.gates is None:
        return None
    if reason := too_many(data, options.max_patterns):
        return Whole(reason=reason)
    if options.l2 is not None and (reason := too_many(data, MOST_WRITTEN_OUT)):
        return Whole(reason=reason)
    problem = network_problem(data, model, stages, options.max_patterns)
    problem = varied(options, written_out(problem) if options.l2 is not None else problem)
    whole = find_facts(problem, LambdaChoice(value=facts.lam), gap, stages)
    results = verdicts(whole)
    target = path.with_name(f"{stem(path).removesuffix('.cert')}.all-patterns.cert.json")
    text = Outcome(data, data.source, whole, results, target).certificate_text()
    if not options.no_verify:
        with stages.stage("verify"):
            recheck(text)
    write_file(target, text, "--certificate")
    return Whole(whole, results, target)


def _some_patterns(options: argparse.Namespace, data: Dataset) -> tuple[str, ...]:
    if options.patterns is not None and options.gates is not None:
        raise UsageError("give --patterns or --gates, not both.")
    if options.gates is not None:
        if options.seed is not None:
            raise UsageError("--seed is for --patterns.")
        return read_gates(options.gates, data.Z, delimiter_character(options.delimiter))
    if options.patterns < 1:
        raise UsageError(f"--patterns must be at least 1, not {options.patterns}.")
    found = draw_patterns(data.Z, options.patterns, options.seed or 0)
    if not found:
        raise UsageError("no pattern of the data carries a neuron (Z is zero, or no draw met one); use --gates.")
    return found
