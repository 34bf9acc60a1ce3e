"""relu_cert from Python.

>>> import relu_cert
>>> found = relu_cert.certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], "1/10", bias=True)
>>> print(found.claims["optimal"].verdict, found.claims["p-unique"].verdict)
PROVED PROVED
>>> found.network.width
3
>>> [round(float(x), 3) for x in found.network.predict([[0, 1], [1, 1]])]
[0.859, 0.116]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from relu_cert.clock import limited
from relu_cert.commands import (
    NETWORK_GAP,
    check_lasso,
    check_problem,
    compare_optima,
    examine_network,
    follow,
    prune_network,
)
from relu_cert.cover.limits import Limits
from relu_cert.data.arrays import dataset_from_arrays, exact_matrix
from relu_cert.data.dataset import Dataset, Number, exact_number
from relu_cert.driver.optimum import DEFAULT_GAP
from relu_cert.driver.variant import DEFAULT_MAX_PATTERNS, network_problem
from relu_cert.errors import DataError, UsageError
from relu_cert.files import Place, decide_places, written_here
from relu_cert.free import read_free
from relu_cert.lasso import fitted_intercept, given_coefficients, lasso
from relu_cert.models import (
    fitted_alpha,
    in_order_of,
    labels_of,
    require_same,
    require_same_function,
    require_same_lasso,
    through_pipeline,
    trained_with,
)
from relu_cert.network.explore import Extreme
from relu_cert.network.given import given_network
from relu_cert.network.penalty import PYTORCH, convert, implied, without_decay
from relu_cert.network.penalty import penalty as named_penalty
from relu_cert.network.prune import Strategy
from relu_cert.network.trained import OutputBias, fold
from relu_cert.patterns import enumerate_patterns, predict
from relu_cert.problem.loss import LOSSES, SOFTMAX, LossName
from relu_cert.report.explore import Exploration
from relu_cert.report.patterns import Patterns
from relu_cert.report.progress import Progress
from relu_cert.report.prune import Pruning
from relu_cert.request import (
    absolute,
    decay_of,
    in_python,
    lambda_choice,
    limits,
    path_ends,
    positive,
    request,
    spoken,
    variant,
)
from relu_cert.results.certified import Certified, CertifiedNetwork, CertifiedPath, CertifiedResult
from relu_cert.results.solution import DEFAULT_GAP as SOLUTION_GAP
from relu_cert.results.solution import CertifiedGroupLasso, CertifiedSolution, certified_solution

__all__ = [
    "Certified",
    "CertifiedGroupLasso",
    "CertifiedNetwork",
    "CertifiedPath",
    "CertifiedSolution",
    "Exploration",
    "Number",
    "Patterns",
    "Pruning",
    "certify",
    "certify_group_lasso",
    "certify_network",
    "certify_solution",
    "explore",
    "group_lasso_path",
    "path",
    "patterns",
    "prune",
]

Groups = int | Sequence[Any]


P = ParamSpec("P")
R = TypeVar("R")


def _in_python_words(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose refusals speak of its arguments and not of options."""

    @wraps(function)
    def told(*args: P.args, **kwargs: P.kwargs) -> R:
        seconds: Any = kwargs.get("seconds")
        shared = kwargs.get("jobs", 1) != 1 or kwargs.get("dask") is not None
        try:
            with limited(seconds, shared=shared):
                return function(*args, **kwargs)
        except (UsageError, DataError) as error:
            error.args = (spoken(str(error)), *error.args[1:])
            raise

    return told


@_in_python_words
def certify(
    Z: Any,
    y: Any,
    lam: Number | None = None,
    *,
    lambda_ratio: Number | None = None,
    model: Literal["relu", "gated"] = "relu",
    bias: bool = False,
    conv: str | None = None,
    bags: Any = None,
    pool: str | None = None,
    slope: Number | None = None,
    classes: bool = False,
    center: bool = False,
    gap: Number = DEFAULT_GAP,
    interval: tuple[Number, Number] | None = None,
    noise: Number | None = None,
    patterns: int | None = None,
    seed: int | None = None,
    gates: Any = None,
    l2: Number | None = None,
    loss: LossName = "squares",
    free: str | Sequence[str] | None = None,
    decayed_bias: bool = False,
    claims: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    target: str = "y",
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    listed: bool = False,
    seconds: float | None = None,
    jobs: int = 1,
    dask: str | None = None,
    state: str | os.PathLike[str] | None = None,
    verify: bool = True,
    progress: bool = False,
) -> Certified:
    """Train a two-layer network on Z (n x d) and y (n) to its global optimum, and prove what was found.

    minimise 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2)

    A table y (n x C) is a network with C outputs, f(z) = sum_j (w_j.z)_+ v_j in R^C; so are labels that are texts: each
    has an output, 1 for its rows and 0 for others.

    Numbers are exact. A float is the binary64 number it holds, so that 0.1 is not one tenth; "0.1", "1/10" and
    Fraction(1, 10) are. Arrays, lists of lists and data frames are taken.

    `lam`           lambda itself, or as a text "0.1max" a part of lambda_max, the least lambda with the zero network
    `lambda_ratio`  the same part as a number (1/10 if neither is given)
    `model`         "relu" or "gated"
    `bias`          append a column of ones to Z
    `conv`          Z is n signals or images (n x l, n x c x l, n x c x h x w), and neurons are filters that slide over
                    them: "1d:K", "2d:HxW:KxL", with ":stride=S", ":channels=C", ":padding=Q"; of images "KxL" will do
    `bags`          a label for each row of Z: rows with the same one are one data point, a set; or let Z be a list of
                    tables, the sets
    `pool`          "mean" (by default) or "sum": how the outputs at windows, or rows of a set, are pooled
    `slope`         s of the activation max(t, s t): "1/100" for a leaky ReLU, -1 for |t|; 0, the ReLU, by default
    `classes`       y has labels, also where they are numbers; with `center` the outputs are predicted less their means
    `gap`           the relative duality gap that the claim "optimal" asks for
    `interval`      (lo, hi), as `lam`: also prove the path for lo <= lambda <= hi (the claim "continuous")
    `noise`         the noise of the targets: derivatives with SURE (the claim "sensitivity")
    `claims`        the claims to decide; all by default
    `names`         names of the features (those of a data frame, or x0, x1, ...), `target` the name of y
    `max_patterns`  raise TooManyPatterns for data with more activation patterns, where they have to be listed
    `listed`        list them, also where a proof without a list would do
    `seconds`       processor time for the whole call (else 60 for a proof without them), and `jobs` the processes that
                    share it, or `dask` the address of a scheduler (then by the clock)
    `state`         a file in which that proof is kept: a call that was interrupted is gone on with by the next one
    `verify`        give the certificate to the independent checker before anything is returned
    `progress`      show long stages on a terminal

    Variants, named as on the command line; they go together as far as they do there:

    `patterns`      only so many activation patterns, those of random Gaussian gates (`seed`, 0 by default)
    `gates`         only the patterns of these gates: rows of d numbers (the bias counts), patterns as texts of n bits,
                    or the path of a CSV file of either
    `l2`            add l2/2 times the sum of |w_b|^2
    `loss`          "squares", or "logistic": sum log(1 + exp(-y f)) for labels -1 (or 0) and 1
    `free`          terms that are not penalised, "output-bias,biases,skip" or some of these: an output bias, the biases
                    of the first layer (with the column of ones of `bias`), a skip connection f(z) + s.z
    `decayed_bias`  an output bias b that costs lambda/2 b^2: with `bias` what PyTorch's weight_decay minimises

    >>> from fractions import Fraction
    >>> found = certify([[3, 0], [0, 4], [-3, 0], [0, -4]], [10, 10, 10, 10], lambda_ratio=2)
    >>> found.value.upper, found.network.width
    (Fraction(200, 1), 0)

    The path is continuous on a whole interval of lambdas:

    >>> Z, y = [[1], [2], [-1]], [1, 3, 2]
    >>> print(certify(Z, y, "1/2", interval=("1/4", 1)).claims["continuous"].verdict)
    PROVED

    Gated ReLU, and a network over one pattern only with its proved distance from the global optimum:

    >>> certify(Z, y, 1, model="gated").network.width
    2
    >>> some = certify(Z, y, 1, gates=[[1]])
    >>> print(some.claims["optimal"].verdict, some.network.width, some.distance.lower > 0)
    PROVED 1 True

    Filters of two entries that slide over signals, their outputs averaged; and sets of numbers, with outputs added:

    >>> signals = [[0, 0, 1, 3], [2, 0, 0, 0], [1, 1, 0, 2]]
    >>> found = certify(signals, [2, 0, 1], "1/10", conv="1d:2")
    >>> print(found.claims["p-unique"].verdict, found.network.predict(signals).round(3).tolist())
    PROVED [1.734, -0.054, 1.255]
    >>> print(certify([[[1], [2]], [[-1]]], [3, 1], "1/10", pool="sum").claims["optimal"].verdict)
    PROVED

    Several outputs, and classes:

    >>> found = certify([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1)
    >>> print(found.claims["optimal"].verdict, round(float(found.value.upper), 9))
    PROVED 5.0
    >>> flowers = certify([[2, 1], [1, 2], [3, 3]], ["a", "b", "c"], "1/2")
    >>> flowers.predict([[2, 1]]).tolist(), flowers.score([[2, 1], [1, 2]], ["a", "b"]), flowers.confusion
    (['a'], 1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    An elastic penalty, and the logistic loss:

    >>> round(float(certify([[1], [-1]], [2, 0], 1, l2=1).value.upper), 9)
    1.75
    >>> print(certify(Z, [1, 1, -1], "1/10", loss="logistic").claims["optimal"].verdict)
    PROVED
    """
    choice = lambda_choice(lam, lambda_ratio, in_python)
    asked = request(choice, gap, interval, noise, claims, (), in_python)
    bounds = _limits(seconds, jobs, dask, state)
    if model not in ("relu", "gated"):
        raise UsageError(f"model is 'relu' or 'gated', not {model!r}.")
    ones = bias or "biases" in read_free(free)
    parts: dict[str, Any] = {"bias": ones, "conv": conv, "bags": bags, "pool": pool, "slope": slope}
    data, raw = dataset_from_arrays(
        Z, y, names=names, target=target, outputs=True, classes=classes, center=center, **parts
    )
    which = variant(data.Z, patterns, seed, gates, l2, loss, free, in_python)
    which = replace(which, rho=decay_of(decayed_bias, lam, in_python))
    with Progress(quiet=not progress) as stages:
        report = check_problem(asked, data, model, which, stages, bounds, listed=listed, max_patterns=max_patterns)
        return _rechecked(Certified(report, raw), verify, stages)


@_in_python_words
def certify_group_lasso(
    X: Any,
    groups: Groups,
    y: Any,
    lam: Number | None = None,
    *,
    K: Sequence[Any] | None = None,
    weights: Any = None,
    intercept: bool = False,
    average: bool = False,
    lambda_ratio: Number | None = None,
    gap: Number = DEFAULT_GAP,
    interval: tuple[Number, Number] | None = None,
    noise: Number | None = None,
    l2: Number | None = None,
    loss: LossName = "squares",
    claims: Sequence[str] | None = None,
    verify: bool = True,
    progress: bool = False,
) -> CertifiedGroupLasso:
    """Solve a lasso or a (constrained) group lasso, and prove what was found.

    minimise 1/2 |y - Xw - b 1|^2 + lambda sum_g omega_g |w_g|   subject to   K_g' w_g <= 0

    `groups`     the size of all groups (1: the lasso), a label for each column, or lists of columns
    `K`          for each group None (w_g is free), or a matrix with a row for each of its columns, whose columns are
                 the constraints
    `weights`    omega: "sqrt" (of the group's size), or a positive number for each group; 1 by default
    `intercept`  there is a free intercept b
    `average`    the loss is divided by n, as in scikit-learn, celer and skglm; lambda is then theirs

    The rest is as for `certify`. General position (`ggp`, `general-position`) is decided if it is asked for by name.
    The certificate speaks of the plain problem, without weights, intercept and average: see `relu_cert.lasso`.

    >>> found = certify_group_lasso([[0, 1, 1], [1, 1, 1]], [[0, 1], [2]], [2, 1], lam=1, interval=("1/2", 2))
    >>> found.value.lower == found.value.upper == Fraction(3, 2)
    True
    >>> print(found.claims["min-norm-continuous"].verdict)
    REFUTED

    Weights that must not be negative:

    >>> dict(certify_group_lasso([[1, 0], [0, 1]], [[0], [1]], [3, -2], 1, K=[[[-1]], [[-1]]]).weights)
    {0: (Fraction(2, 1),)}

    The lasso as scikit-learn writes it, with an intercept:

    >>> found = certify_group_lasso([[0], [1], [2]], 1, [1, 2, 4], "1/10", intercept=True, average=True)
    >>> found.coef_, round(found.intercept_, 6)
    (array([1.35]), 0.983333)
    """
    choice = lambda_choice(lam, lambda_ratio, in_python)
    asked = request(choice, gap, interval, noise, claims, (), in_python)
    given = lasso(X, groups, y, K=K, weights=weights, intercept=intercept, average=average)
    which = variant(None, None, None, None, l2, loss, None, in_python)
    with Progress(quiet=not progress) as stages:
        report = check_lasso(asked, given, which, stages, given.source(), Path("problem.cert.json"))
        return _rechecked(CertifiedGroupLasso(report, given.raw), verify, stages)


@_in_python_words
def certify_solution(
    X: Any,
    groups: Groups,
    y: Any,
    lam: Number | None,
    w: Any,
    *,
    K: Sequence[Any] | None = None,
    weights: Any = None,
    intercept: bool | Number | None = None,
    average: bool | None = None,
    anyway: bool = False,
    gap: Number = SOLUTION_GAP,
    verify: bool = True,
    progress: bool = False,
) -> CertifiedSolution:
    """Prove how far coefficients `w` that some solver computed are from optimal, and whether the solution is unique.

    `w` is an array, or a fitted model with `coef_`; its floats are taken as the exact numbers they are. `intercept` may
    be the number that the solver found (True: its best value is taken). A fitted model of scikit-learn, celer or skglm
    knows its intercept, and its loss is divided by n: so it is judged, unless `intercept` or `average` says otherwise.
    It also knows its alpha (lam=None), and is refused where it was fitted to another problem, unless `anyway`.
    `gap` is the relative gap up to which they are called optimal. The rest is as for `certify_group_lasso`.

    >>> certify_solution([[1, 0], [0, 2]], 1, [3, 4], 1, [2, 1.75])
    <CertifiedSolution: These coefficients are optimal up to a relative 0; the solution is unique; proved.>
    """
    w, X = through_pipeline(w, X)
    fitted = hasattr(w, "coef_")
    if intercept is None:
        intercept = fitted_intercept(w)
    average = fitted if average is None else average
    lam = fitted_alpha(w) if lam is None else lam
    if lam is None:
        raise UsageError("lam is missing: what were the coefficients fitted with? Only a fitted model knows.")
    if fitted and not anyway:
        require_same_lasso(w, lam, average=average, constrained=K is not None)
    free = intercept is not False
    given = lasso(X, groups, y, K=K, weights=weights, intercept=free, average=average)
    at = None if isinstance(intercept, bool) else exact_number(intercept)
    coefficients = given_coefficients(w, given.d)
    size, wanted = absolute(lam, "lam"), positive(gap, "gap")
    with Progress(quiet=not progress) as stages:
        return _rechecked(certified_solution(given, size, coefficients, at, wanted, stages), verify, stages)


@_in_python_words
def certify_network(
    network: Any,
    Z: Any,
    y: Any,
    lam: Number | None = None,
    *,
    penalty: str | None = None,
    batch_size: int | None = None,
    bias: bool = False,
    conv: str | None = None,
    bags: Any = None,
    pool: str | None = None,
    slope: Number | None = None,
    output_bias: OutputBias = "refuse",
    free: str | Sequence[str] | None = None,
    no_decay: str | Sequence[str] | None = None,
    from_layer: int = 1,
    anyway: bool = False,
    gap: Number = NETWORK_GAP,
    own: bool = True,
    loss: LossName | None = None,
    classes: bool = False,
    center: bool = False,
    names: Sequence[str] | None = None,
    target: str = "y",
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    seconds: float | None = None,
    jobs: int = 1,
    dask: str | None = None,
    verify: bool = True,
    progress: bool = False,
) -> CertifiedNetwork:
    """Prove how far a network that somebody trained on Z and y is from the global optimum.

    `network`      arrays (W1, w2), (W1, b1, w2) or (W1, b1, w2, b2), or a dict of them, with C outputs w2 of the shape
                   C x m; a torch Module or its state dict (two linear layers with a ReLU between them); a fitted
                   MLPRegressor or MLPClassifier, also as the last step of a Pipeline, whose other steps transform Z; a
                   file; a network of relu_cert
    `lam`          what it was trained with, in the convention `penalty`: "paper" (the default), "pytorch" (weight_decay
                   with the mean of squares), "pytorch-sum", "sklearn" (alpha; see `batch_size`), "scnn". A fitted
                   model knows its own alpha and batch size: leave `lam` and `penalty` out
    `bias`         append a column of ones to Z; the network's first-layer biases belong to it
    `conv`, `bags`, `pool`  as for `certify`: the network is a convolution (W1 may have the shape filters x channels x
                   sizes), or one over sets
    `slope`        s of a leaky ReLU max(t, s t), where the network does not say it: a state dict has no activation
    `output_bias`  "refuse", or "neuron": make an output bias that is not free a neuron on the column of ones
    `free`         terms that were not penalised, some of "output-bias,biases,skip" as for `certify` (with PyTorch: what
                   was excluded from weight_decay); "sklearn" means "output-bias,biases" by itself
    `no_decay`     with PyTorch the parameters without weight_decay, some of "bias" (all of them), "b1", "b2"
    `from_layer`   of a deeper network: the linear layers from this one on, two of them; what the layers before it make
                   of Z, in floats, is the data
    `loss`         "squares" (the default), "logistic" for two classes (BCEWithLogitsLoss), or for a network with an
                   output for each class "softmax", the cross-entropy; y may be a table (n x C), or labels, whose order
                   is that of the outputs; `classes` and `center` are those of `certify`. Claims about single neurons
                   are for networks with one output
    `anyway`       judge a fitted model by another objective than the one it was fitted to, which is refused else
    `gap`          the relative gap up to which the network is called optimal
    `own`          also solve the program over the network's own patterns (not with free terms, nor on large data)
    `seconds`      processor time for the whole call (else 60 for training and the bound of the optimum where the
                   patterns are not listed). `jobs` and `dask` are those of `certify`

    >>> found = certify_network(([[1], [-1]], [1, 1]), [[1], [2], [-1]], [1, 3, 2], lam="1/2")
    >>> print(found.claims["network-optimal"].verdict, found.claims["network-merged"].verdict)
    REFUTED PROVED
    """
    network, Z = through_pipeline(network, Z)
    trained = given_network(network, from_layer)
    trained = replace(trained, slope=trained.bent(slope))
    conv = conv or trained.rule
    given, Z = Z, trained.features(Z) if trained.before else Z
    own_penalty, y = trained_with(network, len(y)), labels_of(network, y)
    trained_by = LOSSES[loss or "squares"] if own_penalty is None or loss is not None else own_penalty.loss
    if lam is None:
        if own_penalty is None or penalty not in (None, own_penalty.penalty):
            raise UsageError("lam is missing: what was the network trained with? Only a fitted MLP model knows.")
        if not own_penalty.value:
            raise UsageError("this model was fitted with alpha = 0, without a penalty: there is no lambda.")
        lam, penalty = own_penalty.value, own_penalty.penalty
        anyway = anyway or batch_size is not None
    if own_penalty is not None and penalty == own_penalty.penalty and batch_size is None:
        batch_size = own_penalty.batch
    convention = named_penalty(penalty or "paper")
    terms = implied(convention, (*read_free(free), *without_decay(no_decay)))
    ones = bias or "biases" in terms or (convention in PYTORCH and trained.b1 is not None)
    data, raw = dataset_from_arrays(
        Z, y, bias=ones, names=names, target=target, conv=conv, bags=bags, pool=pool, slope=trained.slope,
        outputs=trained.targets > 1, classes=classes or trained_by is SOFTMAX, center=center,
    )  # fmt: skip
    trained = in_order_of(network, trained, data.source.labels)
    conversion = convert(
        convention, absolute(lam, "lam"), data.n, batch=batch_size, free=terms, loss=trained_by, targets=data.targets
    )
    if not anyway:
        require_same(network, conversion, data.n)
    there = tuple(term for term, x in (("output-bias", trained.offsets), ("skip", trained.skip)) if any(x))
    if bags is None and require_same_function(
        network,
        given,
        lambda: fold(trained, data.d, ones=ones, free=there).on(data.Z, data.bags),
        data.source.windows,
    ):
        trained = replace(trained, slope=trained.slope or Fraction(0))
    with Progress(quiet=not progress) as stages:
        report = examine_network(
            trained,
            data,
            conversion,
            stages,
            gap=positive(gap, "gap"),
            own=own,
            output_bias=output_bias,
            max_patterns=max_patterns,
            limits=_limits(seconds, jobs, dask),
        )
        return _rechecked(CertifiedNetwork(report, raw), verify, stages)


@_in_python_words
def path(
    Z: Any,
    y: Any,
    *,
    low: Number = Fraction(1, 100),
    high: Number = 1,
    model: Literal["relu", "gated"] = "relu",
    bias: bool = False,
    breakpoints: bool = True,
    names: Sequence[str] | None = None,
    target: str = "y",
    conv: str | None = None,
    bags: Any = None,
    pool: str | None = None,
    slope: Number | None = None,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    seconds: float | None = None,
    verify: bool = True,
    progress: bool = False,
) -> CertifiedPath:
    """Prove the optimal network unique as lambda goes from `low` to `high`, piece by piece: parts of lambda_max, or as
    texts "0.1max" and "2abs", which is lambda itself. `conv`, `bags`, `pool`, `slope` as for `certify`. `seconds`:
    processor time for the whole call; what is not reached in it is a gap.

    >>> found = path([[1], [2], [-1]], [1, 3, 2], low="1/10")
    >>> found.headline
    'For every lambda from 0.7 to 7 the best network is unique and moves without a jump; its make-up changes at 1 \
value of lambda or more; proved.'
    >>> [(one.kind, round(float(one.hi), 9)) for one in found.breakpoints]
    [('enters', 2.0)]
    """
    kind: dict[str, Any] = {"conv": conv, "bags": bags, "pool": pool, "slope": slope}
    _limits(seconds, 1, None)
    data, raw = dataset_from_arrays(Z, y, bias=bias, names=names, target=target, **kind)
    with Progress(quiet=not progress) as stages:
        problem = network_problem(data, model, stages, max_patterns, listed=False)
        report = follow(problem, data.source, path_ends(low, high, in_python), stages, data, enclose=breakpoints)
        return _rechecked(CertifiedPath(report, raw), verify, stages)


@_in_python_words
def group_lasso_path(
    X: Any,
    groups: Groups,
    y: Any,
    *,
    low: Number = Fraction(1, 100),
    high: Number = 1,
    K: Sequence[Any] | None = None,
    breakpoints: bool = True,
    seconds: float | None = None,
    verify: bool = True,
    progress: bool = False,
) -> CertifiedPath:
    """The same for a group lasso that is given directly.

    >>> found = group_lasso_path([[1, 0], [0, 1]], [[0], [1]], [3, 2], low="1/10")
    >>> [(one.kind, round(float(one.hi), 9)) for one in found.breakpoints]
    [('enters', 2.0)]
    """
    _limits(seconds, 1, None)
    given = lasso(X, groups, y, K=K)
    with Progress(quiet=not progress) as stages:
        report = follow(given.plain, given.source(), path_ends(low, high, in_python), stages, enclose=breakpoints)
        return _rechecked(CertifiedPath(report, given.raw), verify, stages)


@_in_python_words
def prune(
    Z: Any,
    y: Any,
    lam: Number,
    *,
    network: Any = None,
    strategy: str = "residual",
    correct: bool = True,
    seed: int = 0,
    bias: bool = False,
    conv: str | None = None,
    bags: Any = None,
    pool: str | None = None,
    slope: Number | None = None,
    penalty: str = "paper",
    batch_size: int | None = None,
    output_bias: OutputBias = "refuse",
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    seconds: float | None = None,
    jobs: int = 1,
    dask: str | None = None,
    progress: bool = False,
) -> Pruning:
    """Prune the optimal network, or a given one: exactly while that is free, then at the least cost in fit.

    `strategy` chooses the next neuron once pruning costs: "residual", "magnitude", "gradient" or "random" (`seed`).
    Without `correct` the other neurons stay as they are. `conv`, `bags`, `pool`, `slope`, `penalty`, `batch_size`,
    `output_bias`, `seconds`, `jobs` and `dask` are those of `certify_network`. The result has `steps` (width,
    objective, loss) and `network_of_width`.

    >>> found = prune([[1], [2], [-1]], [1, 3, 2], 1, network=([[1], [1]], [1, 1]))
    >>> found
    <Pruning: Of the 2 neurons of this network, 1 can be removed without any loss; exact.>
    >>> found.network_of_width().m
    1
    """
    if strategy not in tuple(Strategy):
        raise UsageError(f"there is no strategy {strategy!r}; there are {', '.join(Strategy)}.")
    trained = None if network is None else given_network(network)
    if trained is not None:
        slope, conv = trained.bent(slope), conv or trained.rule
    data, _ = dataset_from_arrays(Z, y, bias=bias, conv=conv, bags=bags, pool=pool, slope=slope)
    with Progress(quiet=not progress) as stages:
        return prune_network(
            data,
            convert(named_penalty(penalty), absolute(lam, "lam"), data.n, batch=batch_size).lam,
            stages,
            trained=trained,
            strategy=Strategy(strategy),
            correct=correct,
            seed=seed,
            max_patterns=max_patterns,
            output_bias=output_bias,
            limits=_limits(seconds, jobs, dask),
        )


@_in_python_words
def explore(
    Z: Any,
    y: Any,
    validation: tuple[Any, Any],
    test: tuple[Any, Any],
    lam: Number | None = None,
    *,
    lambda_ratio: Number | None = None,
    model: Literal["relu", "gated"] = "relu",
    extreme: Extreme = "norm",
    seed: int = 0,
    bias: bool = False,
    conv: str | None = None,
    bags: Any = None,
    pool: Literal["mean", "sum"] | None = None,
    slope: Number | None = None,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    seconds: float | None = None,
    jobs: int = 1,
    dask: str | None = None,
    progress: bool = False,
) -> Exploration:
    """Optimal networks that differ off the training data: the shortest, an extreme one, the best on (Z, y) pairs.
    `conv`, `bags`, `pool`, `slope` as for `certify`; with `bags`, the others are (Z, y, bags).

    >>> data = [[1], [2], [-1]], [1, 3, 2]
    >>> explore(*data, validation=data, test=data, lam=1)
    <Exploration: There is only one best network, proved: nothing is to be chosen on other data.>
    """
    kind: dict[str, Any] = {"conv": conv, "pool": pool, "slope": slope}
    data, _ = dataset_from_arrays(Z, y, bias=bias, bags=bags, **kind)
    first, second = (_other(*pair, data, kind) for pair in (("validation", validation), ("test", test)))
    with Progress(quiet=not progress) as stages:
        return compare_optima(
            data,
            first,
            second,
            lambda_choice(lam, lambda_ratio, in_python),
            stages,
            model=model,
            extreme=extreme,
            seed=seed,
            max_patterns=max_patterns,
            limits=_limits(seconds, jobs, dask),
        )


def patterns(
    Z: Any,
    *,
    bias: bool = False,
    conv: str | None = None,
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    progress: bool = False,
) -> Patterns:
    """Every activation pattern of the rows of Z, or with `conv` of its windows, each with a rational witness; none is
    missing.

    >>> len(patterns([[0, 0], [0, 1], [1, 0], [1, 1]], bias=True))
    14
    """
    rows = exact_matrix(Z, "Z") if conv is None else Z
    data, _ = dataset_from_arrays(Z, [0] * len(rows), bias=bias, conv=conv)
    expected = predict(data.Z)
    with Progress(quiet=not progress) as stages, stages.stage("patterns"):
        found = enumerate_patterns(data.Z, max_patterns=max_patterns, progress=stages.advance)
    return Patterns(data, expected, found)


def _other(what: str, pair: tuple[Any, ...], data: Dataset, kind: dict[str, Any]) -> Dataset:
    """Data of the same columns, read in the same way."""
    labelled = bool(data.source.bags)
    if not isinstance(pair, tuple | list) or not 2 <= len(pair) <= 2 + labelled:
        raise UsageError(f"{what} takes a pair (Z, y){', or (Z, y, bags)' if labelled else ''}.")
    Z, y, *bags = pair
    other, _ = dataset_from_arrays(Z, y, bias=data.source.bias, bags=bags[0] if bags else None, **kind)
    if other.d != data.d:
        raise DataError(f"the {what} data have {other.d} columns (the bias counts), the training data {data.d}.")
    return other


_Found = TypeVar("_Found", bound=CertifiedResult | CertifiedSolution)


def _rechecked(found: _Found, verify: bool, stages: Progress) -> _Found:
    """Nothing is returned that the independent checker does not accept, unless that is not wanted."""
    if verify:
        with stages.stage("verify"):
            found.recheck()
    return found


def _limits(seconds: float | None, jobs: int, dask: str | None, state: str | os.PathLike[str] | None = None) -> Limits:
    """The same as on the command line, which decides on all its files at once."""
    found = limits(seconds, jobs, dask, in_python, state)
    if found.state is not None:
        if found.state.is_file() and not written_here(found.state):
            raise UsageError(f"{found.state} exists, and relu_cert did not write it; choose another place with state.")
        decide_places((), [Place("state", found.state)])
    return found
