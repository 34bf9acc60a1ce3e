"""python -m relu_cert network: prove what a trained network is worth."""

from __future__ import annotations

import argparse
import csv
import io
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path

from relu_cert.cli.emit import (
    chosen_example,
    decide,
    input_path,
    limits_of,
    print_report,
    read_data,
    require_ending,
    reread_input,
    write_certificate,
    write_file,
)
from relu_cert.commands import NETWORK_GAP, examine_network
from relu_cert.data import read_csv
from relu_cert.data.dataset import Dataset
from relu_cert.errors import UsageError
from relu_cert.exact import rational
from relu_cert.files import stem
from relu_cert.free import read_free
from relu_cert.network.examine import readable_copy
from relu_cert.network.formats import read_network, write_network
from relu_cert.network.penalty import PYTORCH, Conversion, Penalty, convert, implied, penalty, without_decay
from relu_cert.network.trained import TrainedNetwork
from relu_cert.problem.loss import LOSSES
from relu_cert.report.progress import Progress
from relu_cert.request import absolute, positive


def run(options: argparse.Namespace) -> int:
    """Read, solve, compare, write, verify, report."""
    example = chosen_example(options)
    target = Path(options.certificate or f"{stem(Path(options.network))}.network.cert.json")
    require_ending("--pruned", options.pruned)
    require_ending("--optimal", options.optimal)
    features = target.with_name(f"{stem(Path(options.network))}.features.csv")
    copy = target.with_name(f"{stem(Path(options.network))}.network.json")
    decide(
        options,
        {"the data": input_path(options, example), "the network": options.network},
        {
            "--certificate": target,
            "--certificate, beside which the checkable copy lies": None
            if Path(options.network).suffix in (".json", ".npz") and options.from_layer == 1
            else copy,
            "--pruned": options.pruned,
            "--optimal": options.optimal,
            "--html": options.html,
            "--from-layer (the features)": features if options.from_layer > 1 else None,
        },
    )
    free = implied(penalty(options.penalty), (*read_free(options.free), *without_decay(options.no_decay)))
    trained = read_network(options.network, options.from_layer)
    first = penalty(options.penalty) in PYTORCH and trained.b1 is not None
    options.bias = options.bias or "biases" in free or first or None
    trained = replace(trained, slope=trained.bent(options.slope))
    options.slope = None if trained.slope is None else rational(trained.slope)
    several = trained.targets > 1
    data = _features(options, trained, features) if trained.before else read_data(options, example, outputs=several)
    if options.pruned or options.optimal:
        data.require_single_rows("--pruned (and --optimal)")
    conversion = _conversion(options, example.lam if example else None, data)
    gap = NETWORK_GAP if options.gap is None else positive(options.gap, "--gap")
    with Progress(quiet=options.quiet) as stages:
        report = examine_network(
            trained,
            data,
            conversion,
            stages,
            gap=gap,
            own=not options.no_own,
            output_bias=options.output_bias,
            max_patterns=options.max_patterns,
            target=target,
            limits=limits_of(options),
        )
        text_copy = readable_copy(report.comparison.examination.network, trained.origin)
        files = {"checkable": None if text_copy is None else copy, "pruned": options.pruned, "optimal": options.optimal}
        report = replace(report, written=tuple((what, Path(name)) for what, name in files.items() if name))
        file = reread_input(options.network, trained.origin.sha256) if text_copy is None else text_copy
        write_certificate(options, stages, report, network=file)
        if text_copy is not None:
            write_file(copy, text_copy.decode(), "--certificate")
        if options.pruned:
            write_network(report.pruned, options.pruned)
        if options.optimal:
            write_network(report.optimal, options.optimal)
    print_report(options, report)
    return 0


def _features(options: argparse.Namespace, trained: TrainedNetwork, path: Path) -> Dataset:
    """What the layers before make of the data, written to a file of its own, which the certificate is about."""
    bias, options.bias, options.slope = options.bias, False, None
    data = read_data(options, chosen_example(options), outputs=trained.targets > 1)
    made = trained.features(data.Z)
    names, C, center = [f"h{j}" for j in range(made.shape[1])], data.targets, options.center
    labels, classes = data.source.labels, data.classes
    ends = [
        [rational(x + mean) for x, mean in zip_longest(data.y[C * k : C * (k + 1)], data.means, fillvalue=Fraction(0))]
        for k in range(data.n)
    ]
    heads, columns, several = [*(data.outputs or (data.target,))], range(len(names), len(names) + C), C > 1
    if labels is not None and classes is not None:
        ends, heads, several = [[labels[c]] for c in classes], [data.target], False
    text = io.StringIO()
    rows = ([*map(repr, row), *end] for row, end in zip(made.tolist(), ends, strict=True))
    csv.writer(text, lineterminator="\n").writerows([[*names, *heads], *rows])
    write_file(path, text.getvalue(), "--from-layer")
    target = ",".join(map(str, columns)) if several else None
    last = None if several or classes is None else str(len(names))
    return read_csv(path, bias=bool(bias), slope=trained.slope, center=center, target=target, classes=last)


def _conversion(options: argparse.Namespace, default: Fraction | None, data: Dataset) -> Conversion:
    convention = penalty(options.penalty)
    lam = default if options.lam is None else absolute(options.lam, "--lambda")
    if lam is None or (options.lam is None and convention is not Penalty.PAPER):
        raise UsageError(
            "say with --lambda what the network was trained with (and with --penalty whose lambda that is)."
        )
    return convert(
        convention,
        lam,
        data.n,
        batch=options.batch_size,
        free=read_free((*read_free(options.free), *without_decay(options.no_decay))),
        loss=LOSSES[options.loss],
        targets=data.targets,
    )
