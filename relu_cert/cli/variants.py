"""Variants of the problem on the command line: some patterns only, the elastic penalty, the logistic loss."""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from relu_cert.asked import as_option, positive, some_patterns
from relu_cert.cli.emit import recheck, stem, write_file
from relu_cert.data.dataset import Dataset
from relu_cert.data.table import delimiter_character
from relu_cert.errors import UsageError
from relu_cert.free.terms import read_free
from relu_cert.global_optimum import GlobalOptimum
from relu_cert.pipeline import Stages, verdicts
from relu_cert.prove.facts import Facts
from relu_cert.report.check import CheckReport
from relu_cert.variants import NetworkModel, Variant, over_all


def chosen_variant(options: argparse.Namespace, data: Dataset | None) -> Variant:
    """The variant that the options name; only a data set has patterns."""
    delta = Fraction(0) if options.l2 is None else positive(options.l2, "--l2")
    chosen = options.patterns, options.seed, options.gates, as_option
    gates = None if data is None else some_patterns(data.Z, *chosen, delimiter_character(options.delimiter))
    return Variant(gates, delta, options.loss, read_free(options.free))


def refuse_for_json(options: argparse.Namespace) -> None:
    """A problem in JSON has its own blocks."""
    for name in ("patterns", "gates", "seed"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for CSV data; a problem in JSON has its own blocks.")


def beside(path: Path) -> Path:
    """Where the certificate over all patterns goes, beside the one over some of them."""
    return path.with_name(f"{stem(path).removesuffix('.cert')}.all-patterns.cert.json")


def compared(
    options: argparse.Namespace,
    data: Dataset,
    model: NetworkModel,
    variant: Variant,
    facts: Facts,
    path: Path,
    stages: Stages,
) -> GlobalOptimum | None:
    """The problem over all patterns, where the given one is over some of them and D_Z can be listed."""
    if variant.gates is None:
        return None
    every = over_all(data, model, variant, facts.lam, facts.value.gap, stages, options.max_patterns)
    if isinstance(every, str):
        return GlobalOptimum(reason=every)
    results = verdicts(every)
    target = beside(path)
    text = CheckReport(data, data.source, every, results, target).certificate_text()
    if not options.no_verify:
        with stages.stage("verify"):
            recheck(text, data.source)
    write_file(target, text, "--certificate")
    return GlobalOptimum(every, results, target)
