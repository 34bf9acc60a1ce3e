"""What the commands do, once their data are read: the command line and the Python interface share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from relu_cert.bags import EACH
from relu_cert.cover.facts import prove_lambda_max
from relu_cert.cover.limits import Limits
from relu_cert.data.dataset import Dataset, Source
from relu_cert.driver.refined import propose
from relu_cert.errors import UsageError
from relu_cert.free.decay import roots, with_zero_rows
from relu_cert.network.approximate import Strategy, pruning_path
from relu_cert.network.biases import OutputBias, fold
from relu_cert.network.claims import network_verdicts
from relu_cert.network.compare import own_problem
from relu_cert.network.examine import compare, examine
from relu_cert.network.explore import Extreme, OptimalNetworks, optimal_networks
from relu_cert.network.merge import merge_on_data
from relu_cert.network.objective import ConvexNeuron, convex_form
from relu_cert.network.penalty import Conversion
from relu_cert.network.prune import prune_best
from relu_cert.network.trained import TrainedNetwork
from relu_cert.path.breakpoints import Breakpoint, breakpoints
from relu_cert.path.curve import curve
from relu_cert.path.draft import Drafted, draft
from relu_cert.path.follow import follow_path, is_known
from relu_cert.path.jumps import find_jump
from relu_cert.path.one_neuron import one_neuron_path
from relu_cert.path.unlisted import Training
from relu_cert.pipeline import (
    DEFAULT_GAP,
    DEFAULT_MAX_PATTERNS,
    NO_LIMITS,
    IntervalChoice,
    LambdaChoice,
    Stages,
    find_facts,
    network_problem,
    optimum,
    prepared,
    verdicts,
)
from relu_cert.problem.problem import Model, Problem
from relu_cert.prove.facts import Along, Facts
from relu_cert.prove.lambda_max import lambda_max
from relu_cert.report.explore import Exploration, Row
from relu_cert.report.filters import results_of, windows_of
from relu_cert.report.network import NetworkReport
from relu_cert.report.one_neuron import OneNeuronReport
from relu_cert.report.path import PathReport
from relu_cert.report.prune import Pruning
from relu_cert.variants import Variant, varied, with_free_terms

NETWORK_GAP = Fraction(1, 1000)
PATH_CLAIMS = ("patterns-complete", "continuous", "set-continuous", "min-norm-continuous", "breakpoints", "curve")
LAMBDA_MAX_SECONDS = 20.0
OWN_SIZE = 5000  # points times neurons, where patterns are not listed: beyond, the program over the own ones takes long
ACTIVE = 1e-9  # of the largest weight: what counts as a neuron in the table of explore


def follow(
    problem: Problem,
    source: Source,
    ends: IntervalChoice,
    stages: Stages,
    data: Dataset | None = None,
    *,
    enclose: bool = True,
    target: Path | None = None,
    drafted: Callable[[Sequence[Drafted]], None] | None = None,
) -> PathReport:
    """The path between two ends; without `enclose` no breakpoints are enclosed. `drafted` is told what
    floats say, before the proof."""
    if problem.targets > 1:
        raise UsageError("the path is for networks with one output.")
    with stages.stage("lambda_max"):
        floats = prepared(problem)
        if isinstance(floats, Training):
            largest = prove_lambda_max(floats.given, Limits(seconds=LAMBDA_MAX_SECONDS))
        else:
            largest = lambda_max(problem, propose(floats, np.array([float(x) for x in problem.y]), 0.0))
        if not is_known(largest):
            raise UsageError("the path needs lambda_max, which could not be proved in time.")
        lo, hi = ends.resolve(Fraction(1), largest)
    if drafted is not None:
        with stages.stage("draft"):
            drafted(tuple(draft(floats, lo, hi)))
    with stages.stage("path"):
        found = follow_path(problem, floats, largest, lo, hi, stages.advance)
    enclosed: list[Breakpoint | None] = []
    if enclose:
        with stages.stage("breakpoints"):
            total = sum(1 for piece in found.pieces if len(piece.s) == 1)
            for one in breakpoints(problem, largest, found):
                enclosed.append(one)
                stages.advance(len(enclosed), total)
    with stages.stage("curve"):
        kept = tuple(one for one in enclosed if one is not None)
        drawn = curve(problem, found, kept)
    facts = optimum(problem, LambdaChoice(value=hi), DEFAULT_GAP, stages)
    jump = None
    if not found.complete and not isinstance(floats, Training):
        jump = find_jump(problem, floats, largest, facts, found)
    facts = replace(facts, path=Along(found, drawn, jump))
    results = verdicts(facts, PATH_CLAIMS[problem.unlisted :])
    target = target or Path(source.path).with_suffix(".path.json")
    lost = len(enclosed) - len(kept)
    return PathReport(source, data, results, target, facts, largest, found, kept, lost, drawn.all)


def follow_one_neuron(
    data: Dataset,
    stages: Stages,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    target: Path = Path("data.path.json"),
) -> OneNeuronReport:
    """The exact path of a single neuron on a single feature (prop:one-neuron)."""
    if len(data.Z[0]) != 1:
        name = Path(data.source.path).name
        raise UsageError(f"one neuron is for data with one feature; {name} has {len(data.Z[0])}.")
    found = one_neuron_path([row[0] for row in data.Z], data.y)
    problem = network_problem(data, "relu", stages, max_patterns)
    facts = optimum(problem, LambdaChoice(value=found.top or Fraction(1)), DEFAULT_GAP, stages)
    facts = replace(facts, one_neuron=found)
    results = verdicts(facts, ("patterns-complete", "one-neuron"))
    return OneNeuronReport(data.source, data, results, target, facts, found)


def examined(
    trained: TrainedNetwork,
    data: Dataset,
    conversion: Conversion,
    stages: Stages,
    *,
    gap: Fraction = NETWORK_GAP,
    own: bool = True,
    output_bias: OutputBias = "refuse",
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    target: Path = Path("network.cert.json"),
    limits: Limits = NO_LIMITS,
) -> NetworkReport:
    """What a trained network is worth; `own`: also over its own patterns."""
    _require_kernel(trained, data)
    if output_bias == "neuron" and data.source.pool == "sum":
        raise UsageError("--output-bias neuron is for --pool mean: a sum of constants grows with the bag.")
    a = roots(conversion.lam) if conversion.decays and trained.b2 and output_bias == "refuse" else ()
    free, rows = (("output-bias",), with_zero_rows(data, a)) if a else (conversion.free, data)
    conversion = replace(conversion, decayed=bool(a))
    network = fold(trained, data.d, ones=data.source.bias, output_bias=output_bias, free=free)
    choice = LambdaChoice(value=conversion.lam)
    problem = with_free_terms(network_problem(rows, "relu", stages, max_patterns, listed=False), data, free)
    problem = varied(replace(problem, roots=a), Variant(loss=conversion.loss))
    with stages.stage("examine"):
        on = rows.Z, problem.y, conversion.lam, rows.bags, conversion.loss
        found = examine(replace(network, roots=a), *on)
    facts = find_facts(problem, choice, DEFAULT_GAP, stages, limits=limits)
    among = None
    size = len(data.Z) * len(found.neurons) if problem.unlisted else 0
    left_out = ""
    if found.neurons and own and data.bags is not EACH:
        left_out = "that program is about single rows"
    elif found.neurons and own and found.logistic:
        left_out = "that program has the squares"
    elif found.neurons and own and free:
        left_out = "that program has no free terms"
    elif found.neurons and own and size > OWN_SIZE:
        left_out = f"points times neurons are {size:,}, too many for that"
    elif found.neurons and own:
        among = find_facts(own_problem(found.neurons, data.Z, data.y), choice, DEFAULT_GAP, stages)
    comparison = compare(found, facts, among)
    results = results_of(data.source, network_verdicts(comparison, gap))
    return NetworkReport(
        data.source, data, results, target, trained, conversion, comparison, gap=gap, own_left_out=left_out
    )


def _require_kernel(trained: TrainedNetwork, data: Dataset) -> None:
    """UsageError where the shape of a network's filters is not that of the windows."""
    windows = windows_of(data.source)
    if trained.kernel and windows is None:
        by = "x".join(map(str, trained.kernel[1:]))
        raise UsageError(f"the network is a convolution with filters of {by}; say --conv, too, how it slides.")
    if trained.slides and windows is not None and trained.slides != (windows.stride, windows.padding):
        own, here = trained.slides, (windows.stride, windows.padding)
        raise UsageError(f"the network has stride {own[0]} and padding {own[1]}, the windows {here[0]} and {here[1]}.")
    if trained.kernel and windows is not None and trained.kernel != windows.shape:
        shapes = [" x ".join(map(str, shape)) for shape in (trained.kernel, windows.shape)]
        raise UsageError(f"the network's filters have shape {shapes[0]}, the windows {shapes[1]} (channels first).")


def pruned(
    data: Dataset,
    lam: Fraction,
    stages: Stages,
    *,
    trained: TrainedNetwork | None = None,
    strategy: Strategy = Strategy.RESIDUAL,
    correct: bool = True,
    seed: int = 0,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    every: bool = True,
    output_bias: OutputBias = "refuse",
    limits: Limits = NO_LIMITS,
) -> Pruning:
    """The way down from a trained network, or from the optimal one; with `every`, by the other strategies, too."""
    value, constant = None, False
    if trained is not None:
        _require_kernel(trained, data)
        start = convex_form(fold(trained, data.d, ones=data.source.bias, output_bias=output_bias))
        constant = bool(trained.b2)
    else:
        problem = network_problem(data, "relu", stages, max_patterns, listed=False)
        facts = find_facts(problem, LambdaChoice(value=lam), DEFAULT_GAP, stages, limits=limits)
        start, value = tuple(ConvexNeuron(neuron.sign, neuron.w) for neuron in facts.primal.neurons), facts.value
    with stages.stage("prune"):
        free = prune_best(merge_on_data(start, data.Z).neurons, data.Z, data.bags).neurons
        ways = {
            one: tuple(pruning_path(free, data.Z, data.y, lam, one, correct=correct, seed=seed, bags=data.bags))
            for one in Strategy
            if every or one is strategy
        }
    given = None if trained is None else trained.origin.path or trained.origin.format
    return Pruning(
        data, lam, given, strategy, correct, start, free, ways[strategy], None,
        {one: steps for one, steps in ways.items() if one is not strategy}, value, constant,
    )  # fmt: skip


def compared(
    data: Dataset,
    validation: Dataset,
    test: Dataset,
    choice: LambdaChoice,
    stages: Stages,
    *,
    model: Model = "relu",
    extreme: Extreme = "norm",
    seed: int = 0,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    limits: Limits = NO_LIMITS,
) -> Exploration:
    """Optimal networks that differ off the training data: the shortest, an extreme one, the best on other data."""
    data.require_single_rows("explore")
    problem = network_problem(data, model, stages, max_patterns, listed=False)
    facts = find_facts(problem, choice, DEFAULT_GAP, stages, limits=limits)
    with stages.stage("explore"):
        networks = optimal_networks(facts)
        rows = _rows(facts, networks, (data, validation, test), extreme, seed)
    return Exploration(facts, networks, rows, data, validation, test, extreme, seed)


def _rows(
    facts: Facts, networks: OptimalNetworks, sets: Sequence[Dataset], extreme: Extreme, seed: int
) -> tuple[Row, ...]:
    """Min L2, EP, V-MSE and T-MSE; where the optimal networks are not known, the one that was found."""
    middle = _between_labels(sets)
    (Zv, yv), (Zt, yt) = ((part.Z, np.array([float(x) for x in part.y])) for part in sets[1:])
    found = {"found": networks.min_norm()}
    if facts.known:
        found = {
            "Min L2": networks.min_norm(),
            "EP": networks.extreme(extreme, seed),
            "V-MSE": networks.least_error(Zv, yv),
            "T-MSE": networks.least_error(Zt, yt),
        }
    slacks = {"V-MSE": (Zv, yv), "T-MSE": (Zt, yt)}
    rows = []
    for name, alpha in found.items():
        on_test = networks.outputs(Zt) @ alpha
        rows.append(
            Row(
                name,
                int((alpha > ACTIVE * alpha.max(initial=0.0)).sum()),
                float(facts.lam) ** 2 * float(alpha @ alpha),
                float(np.mean((networks.outputs(Zv) @ alpha - yv) ** 2)),
                float(np.mean((on_test - yt) ** 2)),
                None if middle is None else float(np.mean((on_test >= middle) == (yt >= middle))),
                networks.slack(*slacks[name], alpha) if name in slacks else None,
                tuple(float(a) for a in alpha),
            )
        )
    return tuple(rows)


def _between_labels(sets: Sequence[Dataset]) -> float | None:
    """The middle of the two values of the targets, if there are exactly two: the nearer one is predicted."""
    values: set[Fraction] = {y for data in sets for y in data.y}
    return (float(min(values)) + float(max(values))) / 2 if len(values) == 2 else None
