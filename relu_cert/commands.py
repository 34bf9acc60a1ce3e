"""What the commands do, once their data are read: the command line and the Python interface share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from relu_cert.bags import EACH
from relu_cert.claims import (
    NAMES,
    PATH_CLAIMS,
    POSITION,
    SENSITIVITY,
    Result,
    asked_for,
    decide,
    require_applicable,
)
from relu_cert.clock import planned, stopped
from relu_cert.cover.facts import prove_lambda_max
from relu_cert.cover.limits import Limits
from relu_cert.data.dataset import Dataset, Source
from relu_cert.driver.optimum import (
    DEFAULT_GAP,
    NO_LIMITS,
    IntervalChoice,
    LambdaChoice,
    Stages,
    WantedDerivatives,
    find_facts,
    optimum,
    solver_of_path,
)
from relu_cert.driver.variant import (
    DEFAULT_MAX_PATTERNS,
    MOST_WRITTEN_OUT,
    NetworkModel,
    Variant,
    apply_variant,
    list_patterns,
    network_problem,
    network_variant,
    require_softmax,
    with_free_terms,
)
from relu_cert.errors import Late, UsageError
from relu_cert.figures import count
from relu_cert.files import beside
from relu_cert.free import roots, with_zero_rows
from relu_cert.lasso import Lasso
from relu_cert.network.claims import network_verdicts
from relu_cert.network.directions import merge_on_data, own_problem
from relu_cert.network.examine import compare, examine
from relu_cert.network.explore import Extreme, optimal_networks
from relu_cert.network.objective import ConvexNeuron, convex_form
from relu_cert.network.penalty import Conversion
from relu_cert.network.prune import Strategy, prune_best, pruning_path
from relu_cert.network.trained import OutputBias, TrainedNetwork, fold
from relu_cert.path.curve import Breakpoint, breakpoints, curve
from relu_cert.path.follow import Drafted, draft, follow_path, is_known
from relu_cert.path.jumps import find_jump
from relu_cert.path.unlisted import Training
from relu_cert.patterns.predict import predict
from relu_cert.problem.loss import SOFTMAX
from relu_cert.problem.problem import Model, Problem
from relu_cert.prove.facts import Facts, PathFacts
from relu_cert.prove.listed import propose
from relu_cert.prove.prove import lambda_max
from relu_cert.report.check import CheckReport
from relu_cert.report.explore import Exploration, rows_of
from relu_cert.report.filters import results_of
from relu_cert.report.network import NetworkReport
from relu_cert.report.path import PathReport
from relu_cert.report.prune import Pruning


@dataclass(frozen=True)
class Request:
    """What is asked about a problem: `named` are the claims that were asked for by name."""

    choice: LambdaChoice
    gap: Fraction
    claims: tuple[str, ...]
    named: tuple[str, ...]
    interval: IntervalChoice | None
    derivatives: WantedDerivatives | None

    @classmethod
    def of(
        cls,
        choice: LambdaChoice,
        gap: Fraction,
        claims: str | Sequence[str] | None = None,
        required: str | Sequence[str] = (),
        interval: IntervalChoice | None = None,
        noise: Fraction | None = None,
    ) -> Request:
        """A claim about the path or about derivatives asks for these; without `claims` all are wanted."""
        named = (*asked_for(claims or ()), *asked_for(required))
        wanted = named if claims is not None else (*NAMES, *named)
        if interval is None and any(name in PATH_CLAIMS for name in named):
            interval = IntervalChoice()
        differentiated = noise is not None or any(name in SENSITIVITY for name in wanted)
        return cls(choice, gap, wanted, named, interval, WantedDerivatives(noise) if differentiated else None)


def answer(
    request: Request, problem: Problem, stages: Stages, limits: Limits = NO_LIMITS
) -> tuple[Facts, tuple[Result, ...]]:
    """The facts about the problem, and the verdicts that were asked for."""
    require_applicable(request.named, problem)
    position = any(name in POSITION for name in request.named)
    limits = replace(limits, value_alone=set(request.claims) <= set(OF_THE_VALUE))
    facts = find_facts(
        problem,
        request.choice,
        request.gap,
        stages,
        request.interval,
        request.derivatives,
        limits,
        position=position,
    )
    return facts, decide(facts, request.claims)


def check_problem(
    asked: Request,
    data: Dataset,
    model: NetworkModel,
    variant: Variant,
    stages: Stages,
    limits: Limits,
    *,
    listed: bool = False,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    target: Path = Path("data.cert.json"),
) -> CheckReport:
    """A network; over some patterns only, beside the same over all of them, at the same lambda, where D_Z can be
    listed."""
    listed = listed or "patterns-complete" in asked.named
    if "patterns-complete" in asked.named and data.source.opposites:
        raise UsageError("patterns are those of the rows, whatever the slope; leave --slope out.")
    problem = network_variant(data, model, variant, stages, max_patterns, listed=listed)
    apart = listed and problem.unlisted and problem.targets == 1 and not data.source.opposites
    patterns = list_patterns(problem.relu.Z, stages, max_patterns) if apart else None
    facts, results = answer(asked, problem, stages, limits)
    if patterns is not None:  # of windows or sets: a cover proves all but that
        whole = replace(problem, network=replace(problem.relu, all=patterns))
        facts = replace(facts, problem=whole)
        results = decide(facts, asked.claims)
    report = CheckReport(data.source, data, results_of(data.source, results), target, facts)
    if variant.gates is None:
        return report
    limit = min(max_patterns, MOST_WRITTEN_OUT) if variant.delta else max_patterns
    if (bound := predict(data.Z).bound) > limit:
        why = f"D_Z may have up to {bound} patterns, over the limit of {limit} (--max-patterns)"
        return replace(report, over_all=why)
    problem = network_variant(data, model, replace(variant, gates=None), stages, max_patterns)
    every = find_facts(problem, LambdaChoice(value=facts.lam), asked.gap, stages, derivatives=WantedDerivatives())
    path = beside(target, ".all-patterns.cert.json")
    return replace(report, over_all=CheckReport(data.source, data, decide(every), path, every))


def check_lasso(
    asked: Request, given: Lasso, variant: Variant, stages: Stages, source: Source, target: Path
) -> CheckReport:
    """A group lasso that need not be plain; `source` is the file of its plain problem."""
    problem = apply_variant(given.plain, variant)
    if asked.choice.value is not None:
        asked = replace(asked, choice=LambdaChoice(value=given.lam(asked.choice.value)))
    facts, results = answer(asked, problem, stages)
    return CheckReport(source, None, results, target, facts, lasso=given)


NETWORK_GAP = Fraction(1, 1000)
OF_THE_VALUE = ("optimal", "fit")
OF_A_PATH = ("patterns-complete", "continuous", "set-continuous", "min-norm-continuous", "breakpoints", "curve")
LAMBDA_MAX_SECONDS = 20.0
DRAFT, PIECES, BESIDE_PIECES = 0.15, 0.6, 0.4  # of the time that is left, for the stages of a path
OWN = 0.5  # of the time that is left, for the program over the own patterns
OWN_SIZE = 5000  # points times neurons, where patterns are not listed: beyond, the program over the own ones takes long


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
        floats = solver_of_path(problem)
        if isinstance(floats, Training):
            largest = prove_lambda_max(floats.given, Limits(seconds=LAMBDA_MAX_SECONDS))
        else:
            largest = lambda_max(problem, propose(floats, np.array([float(x) for x in problem.y]), 0.0))
        if not is_known(largest):
            raise UsageError("the path needs lambda_max, which could not be proved in time.")
        lo, hi = ends.resolve(Fraction(1), largest)
    if drafted is not None:
        with stages.stage("draft"), planned(DRAFT):
            drafted(tuple(draft(floats, lo, hi)))
    with stages.stage("path"), planned(PIECES):
        found = follow_path(problem, floats, largest, lo, hi, stages.advance)
    enclosed: list[Breakpoint | None] = []
    if enclose:
        with stages.stage("breakpoints"), planned(BESIDE_PIECES):
            total = sum(1 for piece in found.pieces if len(piece.s) == 1)
            for one in breakpoints(problem, largest, found):
                enclosed.append(one)
                stages.advance(len(enclosed), total)
    with stages.stage("curve"), planned(BESIDE_PIECES):
        kept = tuple(one for one in enclosed if one is not None)
        drawn = curve(problem, found, kept)
    facts = optimum(problem, LambdaChoice(value=hi), DEFAULT_GAP, stages)
    jump = None
    if not found.complete and not isinstance(floats, Training) and not stopped():
        jump = find_jump(problem, floats, largest, facts, found)
    facts = replace(facts, path=PathFacts(found, drawn, jump))
    results = decide(facts, OF_A_PATH[problem.unlisted :])
    target = target or Path(source.path).with_suffix(".path.json")
    lost = len(enclosed) - len(kept)
    return PathReport(source, data, results, target, facts, largest, found, kept, lost, drawn.all)


def examine_network(
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
    if trained.targets != data.targets:
        given, here = count(trained.targets, "output"), count(data.targets, "target")
        raise UsageError(f"the network has {given}, and the data {here}; say with --target or --classes which columns.")
    decays = conversion.decays and output_bias == "refuse" and any(trained.offsets)
    if decays and conversion.loss is SOFTMAX:
        raise UsageError(
            "weight_decay on output biases is not known with the softmax cross-entropy; train the last layer "
            "without a bias."
        )
    a = roots(conversion.lam) if decays else ()
    free, rows = (("output-bias",), with_zero_rows(data, a)) if a else (conversion.free, data)
    conversion = replace(conversion, decayed=bool(a))
    network = fold(trained, data.d, ones=data.source.bias, output_bias=output_bias, free=free)
    choice = LambdaChoice(value=conversion.lam)
    problem = with_free_terms(network_problem(rows, "relu", stages, max_patterns, listed=False), data, free)
    problem = apply_variant(replace(problem, roots=a), Variant(loss=conversion.loss))
    if problem.targets > 1:
        own = False
        if "skip" in free or output_bias == "neuron":
            raise UsageError("beside several outputs a given network has no skip connection, and no bias neuron.")
        if problem.loss is SOFTMAX:
            require_softmax(data, free)
    with stages.stage("examine"):
        on = rows.Z, problem.y, conversion.lam, rows.bags, conversion.loss
        found = examine(replace(network, roots=a), *on)
    facts = find_facts(problem, choice, DEFAULT_GAP, stages, limits=limits)
    among = None
    size = len(data.Z) * len(found.neurons) if problem.unlisted else 0
    left_out = ""
    if found.neurons and own and data.bags is not EACH:
        left_out = "that program has no slope" if data.source.opposites else "that program is about single rows"
    elif found.neurons and own and found.logistic:
        left_out = "that program has the squares"
    elif found.neurons and own and free:
        left_out = "that program has no free terms"
    elif found.neurons and own and size > OWN_SIZE:
        left_out = f"points times neurons are {size:,}, too many for that"
    elif found.neurons and own:
        try:
            with planned(OWN):
                among = find_facts(own_problem(found.neurons, data.Z, data.y), choice, DEFAULT_GAP, stages)
        except Late:
            left_out = "there was no time left for that"
    comparison = compare(found, facts, among)
    results = results_of(data.source, network_verdicts(comparison, gap))
    return NetworkReport(
        data.source, data, results, target, trained, conversion, comparison, gap=gap, own_left_out=left_out
    )


def _require_kernel(trained: TrainedNetwork, data: Dataset) -> None:
    """UsageError where the shape of a network's filters is not that of the windows."""
    windows = data.source.windows
    if trained.kernel and windows is None:
        by = "x".join(map(str, trained.kernel[1:]))
        raise UsageError(f"the network is a convolution with filters of {by}; say --conv, too, how it slides.")
    if trained.slides and windows is not None and trained.slides != (windows.stride, windows.padding):
        own, here = trained.slides, (windows.stride, windows.padding)
        raise UsageError(f"the network has stride {own[0]} and padding {own[1]}, the windows {here[0]} and {here[1]}.")
    if trained.kernel and windows is not None and trained.kernel != windows.shape:
        shapes = [" x ".join(map(str, shape)) for shape in (trained.kernel, windows.shape)]
        raise UsageError(f"the network's filters have shape {shapes[0]}, the windows {shapes[1]} (channels first).")


def prune_network(
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
        if trained.targets > 1:
            raise UsageError("the way of pruning is for networks with one output.")
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


def compare_optima(
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
    problem = network_problem(data, model, stages, max_patterns, listed=False)
    facts = find_facts(problem, choice, DEFAULT_GAP, stages, limits=limits)
    with stages.stage("explore"):
        networks = optimal_networks(facts)
        rows = rows_of(facts, networks, (data, validation, test), extreme, seed)
    return Exploration(facts, networks, rows, data, validation, test, extreme, seed)
