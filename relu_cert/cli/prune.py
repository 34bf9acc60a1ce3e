"""python -m relu_cert prune: fewer and fewer neurons, and what each one costs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from relu_cert.cli.emit import chosen_example, decide, input_path, limits_of, print_report, read_data, require_ending
from relu_cert.commands import prune_network
from relu_cert.errors import UsageError
from relu_cert.exact import rational
from relu_cert.network.formats import read_network, write_network
from relu_cert.network.penalty import convert, penalty
from relu_cert.network.prune import Strategy
from relu_cert.report.progress import Progress
from relu_cert.request import absolute


def run(options: argparse.Namespace) -> int:
    """Read, solve, prune, print, write."""
    example = chosen_example(options)
    require_ending("--out", options.out)
    decide(
        options,
        {"the data": input_path(options, example), "the network": options.network},
        {"--out": options.out, "--html": options.html},
    )
    trained = None if options.network is None else read_network(options.network)
    if trained is not None and (bent := trained.bent(options.slope)) is not None:
        options.slope = rational(bent)
    data = read_data(options, example)
    lam = absolute(options.lam, "--lambda") if options.lam is not None else (example.lam if example else None)
    if lam is None:
        raise UsageError("say with --lambda what the regularisation is.")
    if options.out:
        data.require_single_rows("--out")
    if trained is None and (options.penalty != "paper" or options.output_bias != "refuse"):
        raise UsageError("--penalty and --output-bias are for a given network; say --network NET, too.")
    lam = convert(penalty(options.penalty), lam, data.n, batch=options.batch_size).lam
    with Progress(quiet=options.quiet) as stages:
        found = prune_network(
            data,
            lam,
            stages,
            trained=trained,
            strategy=Strategy(options.strategy),
            correct=not options.drop,
            seed=options.seed,
            max_patterns=options.max_patterns,
            every=options.html is not None,
            output_bias=options.output_bias,
            limits=limits_of(options),
        )
        found = replace(found, written=options.out)
        if options.out:
            write_network(found.network_of_width(options.width), Path(options.out))
    print_report(options, found)
    return 0
