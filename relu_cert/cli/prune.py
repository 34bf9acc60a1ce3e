"""python -m relu_cert prune: fewer and fewer neurons, and what each one costs."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path

from relu_cert.check import DEFAULT_GAP, LambdaChoice, find_facts, network_problem
from relu_cert.cli.emit import decide, require_ending, write_file
from relu_cert.cli.options import chosen_example, input_path, positive, read_data
from relu_cert.data.model import Dataset
from relu_cert.errors import UsageError
from relu_cert.network import ConvexNeuron, convex_form, fold, network_of, read_network, write_network
from relu_cert.network.approximate import PruningStep, Strategy, pruning_path
from relu_cert.network.merge import merge_on_data
from relu_cert.network.prune import prune_best
from relu_cert.report.progress import Progress
from relu_cert.report.prune import Pruning


def run(options: argparse.Namespace) -> int:
    """Read, solve, prune, print, write."""
    example = chosen_example(options)
    require_ending("--out", options.out)
    decide(
        options,
        {"the data": input_path(options, example), "the network": options.network},
        {"--out": options.out, "--html": options.html},
    )
    data = read_data(options, example)
    lam = positive(options.lam, "lambda") if options.lam is not None else (example.lam if example else None)
    if lam is None:
        raise UsageError("say with --lambda what the regularisation is.")
    with Progress(quiet=options.quiet) as stages:
        start = _start(options, data, lam, stages)
        with stages.stage("prune"):
            free = prune_best(merge_on_data(start, data.Z).neurons, data.Z).neurons
            strategy = Strategy(options.strategy)
            steps = list(pruning_path(free, data.Z, data.y, lam, strategy, correct=not options.drop, seed=options.seed))
            others = {
                other: tuple(
                    pruning_path(free, data.Z, data.y, lam, other, correct=not options.drop, seed=options.seed)
                )
                for other in Strategy
                if options.html and other is not strategy
            }
        found = Pruning(
            data, lam, options.network, strategy, not options.drop, start, free, tuple(steps), options.out, others
        )
        if options.out:
            _write(options, data, free, steps)
        if options.html:
            from relu_cert.report.html.prune import prune_page

            write_file(Path(options.html), prune_page(found), "--html")
    print(json.dumps(found.to_json(), indent=2) if options.json else found.to_text())
    return 0


def _start(options: argparse.Namespace, data: Dataset, lam: Fraction, stages: Progress) -> tuple[ConvexNeuron, ...]:
    """The trained network, or the optimal one."""
    if options.network is not None:
        return convex_form(fold(read_network(options.network), data.d, ones=data.source.bias))
    problem = network_problem(data, "relu", stages, options.max_patterns)
    facts = find_facts(problem, LambdaChoice(value=lam), DEFAULT_GAP, stages)
    return tuple(ConvexNeuron(neuron.sign, neuron.w) for neuron in facts.primal.neurons)


def _write(
    options: argparse.Namespace, data: Dataset, free: tuple[ConvexNeuron, ...], steps: list[PruningStep]
) -> None:
    """The network of the width asked for; where pruning is free, with its exact weights."""
    width = len(free) if options.width is None else options.width
    found = [step for step in steps if step.width == width]
    if not found:
        there = ", ".join(str(step.width) for step in steps)
        raise UsageError(f"there is no pruned network of width {width}; there are widths {there}.")
    write_network(network_of(free if width == len(free) else found[0].neurons(), data.d), Path(options.out))
