"""Which problem it is: the data, the kind of network, its patterns, its penalty and its loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from relu_cert.bags import EACH
from relu_cert.clock import require_time
from relu_cert.data.dataset import Dataset
from relu_cert.driver.optimum import Stages
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector
from relu_cert.free import Free, roots, with_zero_rows
from relu_cert.patterns import enumerate_patterns
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.patterns.predict import draw_gates, predict
from relu_cert.problem import gated, over_patterns, relu, unlisted_relu, written_out
from relu_cert.problem.loss import LOGISTIC, SOFTMAX, SQUARES, Loss
from relu_cert.problem.problem import Model, Problem

DEFAULT_MAX_PATTERNS = 10**6
MANY_PATTERNS = 20_000  # beyond, a cover is faster than the list
MOST_WRITTEN_OUT = 5000  # patterns whose blocks are treated one by one
NetworkModel = Literal["relu", "gated"]
Gates = Mapping[str, Vector | None]  # patterns, each with a vector that has it if one is known


@dataclass(frozen=True)
class Variant:
    """Which problem it is; by default the paper's own, over all patterns.

    `gates`  only these patterns
    `delta`  delta/2 sum |w_b|^2 is added (eq:l2-penalized-cgl)
    `loss`   half the sum of squares, or the logistic loss for labels -1 (or 0) and 1 (app:general-losses)
    `free`   the terms that are not penalised (relu_cert.free)
    """

    gates: Gates | None = None
    delta: Fraction = Fraction(0)
    loss: Loss = SQUARES
    free: Free = ()
    rho: Fraction = Fraction(0)  # an output bias b that costs rho/2 b^2


def sample_gates(Z: Matrix, count: int, seed: int) -> Gates:
    """The patterns of random Gaussian gates; UsageError if there are none."""
    found = draw_gates(Z, count, seed)
    if not found:
        raise UsageError("no pattern of the data carries a neuron (Z is zero, or no draw met one); give the gates.")
    return found


def has_many_patterns(Z: Matrix) -> bool:
    """Whether there may be so many that a cover is faster than their list. Some of the rows mostly tell: masks of all
    would take memory that grows with the square of their number."""
    return any(predict(rows).bound > MANY_PATTERNS for rows in (Z[: MANY_PATTERNS // 4], Z[:MANY_PATTERNS], Z))


def network_problem(
    data: Dataset, model: Model, stages: Stages, max_patterns: int = DEFAULT_MAX_PATTERNS, *, listed: bool = True
) -> Problem:
    """The ReLU or gated ReLU problem over all patterns of the data; a ReLU problem with many of them need not list
    them, unless the list itself is wanted."""
    if data.bags is not EACH or data.targets > 1:
        if model == "gated":
            which = "several outputs" if data.targets > 1 else data.source.what_sums
            raise UsageError(f"gated networks with {which} are not offered: their gates would have to be listed.")
        return unlisted_relu(data.Z, data.y, data.bags, data.targets)
    if model == "relu" and not listed and has_many_patterns(data.Z):
        return unlisted_relu(data.Z, data.y)
    return (gated if model == "gated" else relu)(data.Z, data.y, list_patterns(data.Z, stages, max_patterns))


def list_patterns(Z: Matrix, stages: Stages, max_patterns: int) -> PatternSet:
    """All patterns of the rows, while there is time."""

    def advance(done: int, total: int) -> None:
        require_time()
        stages.advance(done, total)

    with stages.stage("patterns"):
        return enumerate_patterns(Z, max_patterns=max_patterns, progress=advance)


def network_variant(
    data: Dataset, model: NetworkModel, variant: Variant, stages: Stages, max_patterns: int, *, listed: bool = True
) -> Problem:
    """The problem of a network in that variant. Not `listed`: the patterns need not be, where a cover will do."""
    gates = variant.gates
    for given, option in ((gates is not None, "--patterns (and --gates)"), (variant.delta, "--l2")):
        if given:
            data.require_single_rows(option)
            data.require_one_output(option)
    if data.targets > 1 and variant.loss is LOGISTIC:
        raise UsageError("--loss logistic is for networks with one output; classes have --loss softmax.")
    if variant.loss is SOFTMAX:
        require_softmax(data, variant.free, variant.rho)
    if variant.rho:
        if model != "relu" or gates is not None or variant.delta or variant.free:
            raise UsageError("a decayed bias is for ReLU networks over all patterns, without --free, --l2.")
        a = roots(variant.rho)
        problem = network_problem(with_zero_rows(data, a), model, stages, max_patterns, listed=listed)
        return apply_variant(replace(problem, free=("output-bias",), roots=a, appended=data.source.bias), variant)
    if variant.free:
        if model != "relu" or gates is not None or variant.delta:
            raise UsageError("--free is for ReLU networks over all patterns and without --l2.")
        plain = network_problem(data, model, stages, max_patterns, listed=listed)
        return apply_variant(with_free_terms(plain, data, variant.free), variant)
    if gates is not None:
        return apply_variant(over_patterns(data.Z, data.y, tuple(gates), model, gates=tuple(gates.values())), variant)
    problem = network_problem(data, model, stages, max_patterns, listed=listed or bool(variant.delta))
    if variant.delta:
        if problem.listed is not None and len(problem.listed) > MOST_WRITTEN_OUT:
            raise UsageError(
                f"--l2 treats the patterns one by one, and there are {len(problem.listed)}, over "
                f"{MOST_WRITTEN_OUT}; take some of them with --patterns N."
            )
        problem = written_out(problem)
    return apply_variant(problem, variant)


def require_softmax(data: Dataset, free: Free, rho: Fraction = Fraction(0)) -> None:
    """UsageError where the softmax cross-entropy is not known."""
    if data.targets == 1 or not one_hot(data.y, data.targets):
        raise UsageError("--loss softmax is for classes (--classes COLUMN), without --center.")
    if "skip" in free or rho:
        raise UsageError("--loss softmax is for networks without a skip connection or a decayed bias.")


def with_free_terms(problem: Problem, data: Dataset, free: Free) -> Problem:
    """The problem with terms that are not penalised."""
    if "biases" in free and not data.source.bias:
        raise UsageError("--free biases needs the column of ones whose weights they are; read the data with --bias.")
    if "biases" in free and data.source.pool == "sum":
        raise UsageError("--free biases is for --pool mean: a sum of constants grows with the bag.")
    if data.source.opposites and (terms := ",".join(term for term in free if term != "output-bias")):
        raise UsageError(f"--free {terms} is not offered with {data.source.what_sums}: rows are there as z and as -z.")
    return replace(problem, free=free, appended=data.source.bias)


def apply_variant(problem: Problem, variant: Variant) -> Problem:
    """The problem with its penalty and its loss."""
    if variant.rho and not problem.roots:
        raise UsageError("--decayed-bias is for networks; a group lasso has an intercept.")
    if variant.delta and variant.loss is LOGISTIC:
        raise UsageError("--l2 and --loss logistic do not go together.")
    if variant.delta:
        return replace(problem, delta=variant.delta)
    if variant.loss is SQUARES:
        return problem
    if variant.loss is SOFTMAX and problem.targets == 1:
        raise UsageError("--loss softmax is for networks with several classes.")
    if variant.loss is SOFTMAX:
        return replace(problem, loss=SOFTMAX)
    labels, rest = problem.y[: problem.points], problem.y[problem.points :]  # of a decayed bias: targets 0
    if problem.kind != "cgl" and zero_or_one(labels):
        labels = tuple(2 * label - 1 for label in labels)
    if any(abs(label) != 1 for label in labels):
        raise UsageError("--loss logistic needs labels 1 and -1, or 1 and 0, in the target column.")
    return replace(problem, loss=LOGISTIC, y=labels + rest)


def one_hot(y: Vector, C: int) -> bool:
    """Whether every row of C numbers is 1 for one class, and 0 for the others."""
    return all(sorted(y[k : k + C]) == [0] * (C - 1) + [1] for k in range(0, len(y), C))


def zero_or_one(y: Vector) -> bool:
    """Whether all labels are 0 or 1: for the logistic loss 0 stands for -1 then."""
    return all(label in (0, 1) for label in y)
