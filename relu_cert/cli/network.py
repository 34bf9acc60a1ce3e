"""python -m relu_cert network: prove what a trained network is worth."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path

from relu_cert.certificate import dumps
from relu_cert.check import DEFAULT_GAP, LambdaChoice, find_facts, network_problem, verdicts
from relu_cert.cli.emit import decide, recheck, require_ending, stem, write_file
from relu_cert.cli.options import chosen_example, input_path, positive, read_data
from relu_cert.errors import UsageError
from relu_cert.network import Conversion, Penalty, convert, fold, network_of, penalty, read_network, write_network
from relu_cert.network.compare import own_problem
from relu_cert.network.examine import compare, examine
from relu_cert.network.record import network_certificate
from relu_cert.network.verdicts import network_verdicts
from relu_cert.report.network import NetworkOutcome
from relu_cert.report.progress import Progress

DEFAULT_NETWORK_GAP = Fraction(1, 1000)
CERTIFIED = ("patterns-complete", "optimal", "fit", "p-unique", "optimal-set")


def run(options: argparse.Namespace) -> int:
    """Read, solve, compare, write, verify, report."""
    example = chosen_example(options)
    target = Path(options.certificate or f"{stem(Path(options.network))}.network.cert.json")
    require_ending("--pruned", options.pruned)
    require_ending("--optimal", options.optimal)
    decide(
        options,
        {"the data": input_path(options, example), "the network": options.network},
        {
            "--certificate": target,
            "--pruned": options.pruned,
            "--optimal": options.optimal,
            "--html": options.html,
        },
    )
    data = read_data(options, example)
    trained = read_network(options.network)
    network = fold(trained, data.d, ones=data.source.bias, output_bias=options.output_bias)
    conversion = _conversion(options, example.lam if example else None, data.n)
    gap = DEFAULT_NETWORK_GAP if options.gap is None else positive(options.gap, "the gap")
    choice = LambdaChoice(value=conversion.lam)
    with Progress(quiet=options.quiet) as stages:
        with stages.stage("examine"):
            found = examine(network, data.Z, data.y, conversion.lam)
        facts = find_facts(network_problem(data, "relu", stages, options.max_patterns), choice, DEFAULT_GAP, stages)
        own = None
        if found.neurons and not options.no_own:
            own = find_facts(own_problem(found.neurons, data.Z, data.y), choice, DEFAULT_GAP, stages)
        comparison = compare(found, facts, own)
        results = network_verdicts(comparison, gap)
        said = (*verdicts(facts, CERTIFIED), *results)
        text = dumps(network_certificate(data.source, comparison, conversion, trained.origin, gap, said))
        if not options.no_verify:
            with stages.stage("verify"):
                recheck(text, data.source)
        write_file(target, text, "--certificate")
        written = []
        if options.pruned:
            write_network(network_of(found.pruned.neurons, data.d), options.pruned)
            written.append(("pruned", Path(options.pruned)))
        if options.optimal:
            write_network(network_of(facts.primal.neurons, data.d), options.optimal)
            written.append(("optimal", Path(options.optimal)))
    outcome = NetworkOutcome(trained, data, conversion, comparison, results, target, tuple(written), gap)
    if options.html:
        from relu_cert.report.html.network import network_page

        write_file(Path(options.html), network_page(outcome, text), "--html")
    print(json.dumps(outcome.to_json(), indent=2) if options.json else outcome.to_text().rstrip("\n"))
    return 0


def _conversion(options: argparse.Namespace, default: Fraction | None, n: int) -> Conversion:
    convention = penalty(options.penalty)
    if options.lam is not None:
        return convert(convention, positive(options.lam, "lambda"), n, batch=options.batch_size)
    if default is None or convention is not Penalty.PAPER:
        raise UsageError(
            "say with --lambda what the network was trained with (and with --penalty whose lambda that is)."
        )
    return convert(convention, default, n, batch=options.batch_size)
