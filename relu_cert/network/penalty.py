"""What a number such as 0.001 means to the library that trained the network, as the paper's lambda.

Everything here is proved about the paper's objective (eq:non-convex-relu-mlp)

    J(W1, w2) = 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2)

in which the first layer's biases are weights (of a column of ones), or about the same with terms that are free of
penalty. Other conventions minimise a multiple of it:

    paper         lambda                J
    scnn          n lambda              1/(2n) |f - y|^2 + lambda sum_i |w_i|
    sklearn       alpha n / B           1/(2B) |f - y|^2 + alpha/(2B) (|W1|^2 + |w2|^2) on batches of B points
    pytorch       n weight_decay / 2    1/n |f - y|^2 + weight_decay/2 |all parameters|^2    (MSELoss, reduction "mean")
    pytorch-sum   weight_decay / 2      |f - y|^2 + weight_decay/2 |all parameters|^2        (MSELoss, reduction "sum")

With the logistic loss (scikit-learn's MLPClassifier, PyTorch's BCEWithLogitsLoss) sum log(1 + exp(-y f)) takes the
place of 1/2 |f - y|^2.

With C outputs MSELoss "mean" divides by n C, so that n C takes the place of n for pytorch. (scikit-learn prints a loss
that is divided by C; its steps are along the gradient of the sum, and that is what is minimised.) With a cross-entropy,
logistic or softmax, the loss is a sum over points, and has no factor 1/2:

    pytorch       n weight_decay        1/n CE + weight_decay/2 |all parameters|^2           (reduction "mean")
    pytorch-sum   weight_decay          CE + weight_decay/2 |all parameters|^2               (reduction "sum")

The conversions are exact. scikit-learn penalises no bias: there the output bias and those of the first layer are free,
and what is proved is about its own objective. So it is for PyTorch's weight_decay (SGD and Adam): on all parameters
that the optimiser is given, the output bias b2 with them, lambda/2 b2^2 (relu_cert.free); where biases are left
out of it they are free. Where the output bias is made a neuron it has another weight here: see `Conversion.bias_text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal

from relu_cert.errors import UsageError
from relu_cert.figures import downwards, short
from relu_cert.free import Free, free_constant, read_free
from relu_cert.network.trained import TrainedNetwork, slope_text
from relu_cert.problem.loss import LOGISTIC, SOFTMAX, SQUARES, Loss
from relu_cert.serialize import UNWRITTEN

_NO_OBJECTIVE = {
    "adamw": "AdamW's decoupled decay is not the gradient of a penalty, so there is no objective with a lambda; "
    "train with Adam or SGD and their weight_decay.",
}


class Penalty(StrEnum):
    """The conventions."""

    PAPER = "paper"
    SCNN = "scnn"
    SKLEARN = "sklearn"
    PYTORCH = "pytorch"
    PYTORCH_SUM = "pytorch-sum"


PYTORCH = (Penalty.PYTORCH, Penalty.PYTORCH_SUM)
_NO_DECAY = {"bias": ("output-bias", "biases"), "b1": ("output-bias", "biases"), "b2": ("output-bias",)}
_Biases = Literal["first", "both"]
_PENALISED: dict[Penalty, _Biases] = {
    Penalty.PAPER: "first",
    Penalty.SCNN: "first",
    Penalty.SKLEARN: "first",
    Penalty.PYTORCH: "both",
    Penalty.PYTORCH_SUM: "both",
}
_OWN: dict[_Biases, tuple[str, str]] = {
    "first": ("has no output bias", "2|b2|"),
    "both": ("penalises both biases by their squares", "2|b2| - b2^2"),
}
_FREE: dict[Penalty, Free] = {Penalty.SKLEARN: ("output-bias", "biases")}


@dataclass(frozen=True)
class Conversion:
    """A number of some convention as the paper's lambda, with a sentence that says how.

    `penalised` says which biases the convention counts: the first layer's (there is no other), or both. `batch` is the
    batch size, where it was given; `free` are the terms without penalty. J is `times` what the convention minimises.
    """

    convention: Penalty
    value: Fraction
    lam: Annotated[Fraction, UNWRITTEN]
    text: Annotated[str, UNWRITTEN]
    penalised: Annotated[_Biases, UNWRITTEN]
    batch: int | None = None
    free: Annotated[Free, UNWRITTEN] = ()
    times: Annotated[Fraction, UNWRITTEN] = Fraction(1)
    loss: Annotated[Loss, UNWRITTEN] = SQUARES
    decayed: Annotated[bool, UNWRITTEN] = False  # the output bias costs lambda/2 b2^2, as in the convention

    @property
    def decays(self) -> bool:
        """Whether the convention decays an output bias, that of the network if it has one."""
        return self.penalised == "both" and not self.free

    def unlike(self, network: TrainedNetwork) -> Fraction:
        """E = 2 (J - J_own) / lambda, for the network (not folded) and its convention's own objective J_own times n.

        J counts, with the output bias as a balanced neuron, 2 |b2|; J_own counts what it penalises.
        """
        return 2 * abs(network.b2) - (network.b2**2 if self.penalised == "both" else 0)

    def bias_text(self, network: TrainedNetwork) -> str:
        """What a proved gap says in the convention's own objective. Empty where the two objectives are one.

        J_own(N') = J(N') - lambda/2 E(N') for every network N', so that J_own(N) - J_own(N') <= J(N) - p* for all N'
        with E(N') <= E(N): the gap proved for J holds for J_own against all networks whose biases weigh no more.
        """
        if not any(network.offsets) or free_constant(self.free) or self.decayed:
            return ""
        own, weight = _OWN[self.penalised]
        return (
            f"{self.convention} {own}; here the first layer's biases are weights and the output bias is a neuron. "
            f"In the objective of {self.convention} the proved gap holds against every network with "
            f"{weight} <= {downwards(self.unlike(network), 6)}, which is this network's."
        )


def penalty(name: str) -> Penalty:
    """The convention of that name."""
    if name.lower() in _NO_OBJECTIVE:
        raise UsageError(_NO_OBJECTIVE[name.lower()])
    try:
        return Penalty(name.lower())
    except ValueError:
        raise UsageError(f"there is no penalty {name!r}; there are {', '.join(Penalty)}.") from None


def without_decay(names: str | Sequence[str] | None) -> Free:
    """The free terms of parameters that PyTorch's weight_decay leaves out: bias (both), b1 or b2."""
    given = names.split(",") if isinstance(names, str) else names or ()
    for name in map(str.strip, given):
        if name not in _NO_DECAY:
            raise UsageError(
                f"no_decay knows {', '.join(_NO_DECAY)}, not {name!r}: weights without decay have no optimum here."
            )
    return read_free([term for name in given for term in _NO_DECAY[name.strip()]])


def implied(convention: Penalty, free: Free) -> Free:
    """The terms without penalty: those that were named, and those that the convention never penalises."""
    return read_free((*free, *_FREE.get(convention, ())))


def convert(
    convention: Penalty,
    value: Fraction,
    n: int,
    *,
    batch: int | None = None,
    free: Free = (),
    loss: Loss = SQUARES,
    targets: int = 1,
) -> Conversion:
    """The paper's lambda for the convention's number on n data points, with so many outputs, exactly."""
    if convention is Penalty.SCNN and (targets > 1 or loss is not SQUARES):
        raise UsageError("scnn's lambda is for networks with one output and squares.")
    if value <= 0:
        raise UsageError(f"the penalty must be positive, not {value}; without one there is no lambda.")
    if batch is not None and convention is not Penalty.SKLEARN:
        raise UsageError(f"the batch size changes the penalty for sklearn only, not for {convention}.")
    B = n if batch is None else batch
    if B < 1 or n % B:
        raise UsageError(
            f"batches of {B} do not divide {n} points evenly, so that no one objective is minimised; train on all "
            f'points at once (solver="lbfgs", or batch_size={n}), or say batch_size={n} to compare with that objective.'
        )
    decayed = "parameters with weight decay" if free else "all parameters"
    squares = "1/2 |f - y|^2 + lambda/2 (|W1|^2 + |w2|^2)"
    half = Fraction(1, 2) if loss is SQUARES else Fraction(1)
    N, entries = (n * targets, f"({n} * {targets})") if loss is SQUARES and targets > 1 else (n, f"{n}")
    by_two = " / 2" if half < 1 else ""
    given = short(value).removeprefix("~")
    lam, minimised, formula, times = {
        Penalty.PAPER: (value, squares, "", Fraction(1)),
        Penalty.SCNN: (
            n * value,
            "1/(2n) |f - y|^2 + lambda sum |w_i|, columns not unitised",
            f"{n} * {given}",
            Fraction(n),
        ),
        Penalty.SKLEARN: (
            value * n / B,
            f"1/(2B) |f - y|^2 + alpha/(2B) (|W1|^2 + |w2|^2) on batches of B = {B}",
            f"alpha n / B = {given} * {n} / {B}",
            Fraction(n),
        ),
        Penalty.PYTORCH: (
            N * value * half,
            f"1/{'n' if n == N else '(n C)'} |f - y|^2 + weight_decay/2 |{decayed}|^2",
            f"{'n' if n == N else 'n C'} * weight_decay{by_two} = {entries} * {given}{by_two}",
            N * half,
        ),
        Penalty.PYTORCH_SUM: (
            value * half,
            f"|f - y|^2 + weight_decay/2 |{decayed}|^2",
            f"weight_decay{by_two} = {given}{by_two}",
            half,
        ),
    }[convention]
    here = f"times {times} that is {squares} with " if formula else ""
    binary = "" if given == str(value) else f" ({given} is the double {slope_text(value).rpartition(' ')[2]})"
    size = short(lam).removeprefix("~" if binary else "")
    text = f"{convention}: {minimised}; {here}lambda = {formula}{' = ' if formula else ''}{size}{binary}."
    if loss is not SQUARES:
        logs = "sum log(1 + exp(-y f))" if loss is LOGISTIC else "CE"
        text = text.replace("1/(2B) |f - y|^2", f"1/B {logs}").replace("1/2 |f - y|^2", logs)
        text = text.replace("1/n |f - y|^2", f"1/n {logs}").replace("|f - y|^2", logs)
    if loss is SOFTMAX:
        text = f"{text[:-1]}, CE = sum_k log sum_c exp(f_kc) - f_k of its class."
    return Conversion(
        convention, value, lam, text, _PENALISED[convention], batch, implied(convention, free), times, loss
    )
