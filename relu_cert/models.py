"""What a fitted model of another library knows of its own training, and whether that is what is asked.

A proof about another objective than the one that was minimised is true, and misleading: it is refused unless the user
says `anyway`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relu_cert.data.dataset import exact_number
from relu_cert.data.windows import Windows
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Vector
from relu_cert.network.given import in_order
from relu_cert.network.penalty import Conversion, Penalty, convert
from relu_cert.network.trained import TrainedNetwork
from relu_cert.problem.loss import LOGISTIC, SOFTMAX, SQUARES, Loss

_ANYWAY = "Leave lam out, or say anyway=True to judge it by the problem that is asked for"


def through_pipeline(model: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a Pipeline, and X as the steps before it transform it; anything else as it is. A search stands
    for its best model."""
    model = getattr(model, "best_estimator_", model)  # of a search, fitted to all rows
    if not hasattr(model, "named_steps"):
        if type(model).__name__ == "TransformedTargetRegressor":
            raise DataError("the targets were transformed for this model; give model.regressor_ and these targets.")
        return model, X
    before = model[:-1]
    return model[-1], before.transform(X) if len(before) else X


@dataclass(frozen=True)
class TrainedWith:
    """The penalty that a fitted estimator was trained with, in its convention, its batch size and its loss."""

    value: Any
    penalty: str
    batch: int | None
    loss: Loss = SQUARES


def trained_with(network: Any, n: int) -> TrainedWith | None:
    """What a fitted MLPRegressor or MLPClassifier knows of its own training on n points; None for all else."""
    if not hasattr(network, "coefs_") or getattr(network, "alpha", None) is None:
        return None
    whole = getattr(network, "solver", "lbfgs") == "lbfgs"
    size = getattr(network, "batch_size", "auto")
    loss = {"logistic": LOGISTIC, "softmax": SOFTMAX}.get(getattr(network, "out_activation_", ""), SQUARES)
    return TrainedWith(network.alpha, "sklearn", None if whole else min(200 if size == "auto" else int(size), n), loss)


def require_same_function(module: Any, Z: Any, known: Callable[[], Vector], windows: Windows | None) -> bool:
    """Whether a torch Module was seen to make of Z what its linear layers with the activation between them do: its
    forward may be any function, and DataError is raised where it is another one. Floats are compared; of a Sequential
    that cannot be called on Z the parts are known."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(module, torch.nn.Module):
        return False
    name, rows = type(module).__name__, np.asarray(Z, dtype=np.float64)
    if windows is not None and rows.ndim == 2:
        rows = rows.reshape(len(rows), windows.channels, *windows.sizes(rows.shape[1]))
    first, was = next(module.parameters()), module.training
    module.eval()
    try:
        with torch.no_grad():
            found = module(torch.from_numpy(rows).to(first.dtype).to(first.device)).double().cpu().numpy().reshape(-1)
    except (RuntimeError, TypeError, ValueError) as error:
        if in_order(module):
            return False
        raise DataError(f"{name}: its forward cannot be called on these data ({str(error).splitlines()[0]}).") from None
    finally:
        module.train(was)
    values = np.array([float(x) for x in known()])
    if found.shape != values.shape:
        raise DataError(f"{name}: {found.size} outputs for {values.size} data points; expected one for each.")
    away, alike = np.abs(found - values).max(), torch.finfo(first.dtype).eps ** 0.5
    if not away <= alike * (1 + np.abs(found).max()):
        raise DataError(
            f"{name}: its forward is another function than its linear layers with max(t, s t) between them: outputs "
            f"differ by {away:.3g}. Its activation may be another one (a leaky one is asked for by its slope), or more "
            "is done than these layers do; only what is so built has a convex form here."
        )
    return True


def labels_of(network: Any, y: Any) -> Any:
    """The targets of a classifier of two classes as 0 and 1, the number of the class; other targets as they are."""
    if getattr(network, "out_activation_", "") != "logistic":
        return y
    classes = [*network.classes_]
    try:
        return [classes.index(label) for label in np.asarray(y).ravel().tolist()]
    except ValueError as error:
        raise DataError(f"y has labels other than those that the model was fitted to, {classes}: {error}.") from None


def in_order_of(network: Any, trained: TrainedNetwork, labels: tuple[str, ...] | None) -> TrainedNetwork:
    """The network with its outputs in the order of the labels of the data, where a fitted classifier names them."""
    if getattr(network, "out_activation_", "") != "softmax" or labels is None:
        return trained
    own = [str(label).strip() for label in network.classes_.tolist()]
    if {*own} != {*labels}:
        raise DataError(f"y has the labels {', '.join(labels)}, and the model was fitted to {', '.join(own)}.")
    order = [own.index(label) for label in labels]
    w2 = tuple(v[c] for v in trained.V for c in order)
    return replace(trained, w2=w2, constants=tuple(trained.offsets[c] for c in order))


def require_same(network: Any, asked: Conversion, n: int) -> None:
    """UsageError unless a fitted model was fitted to the objective that is asked about."""
    known = trained_with(network, n)
    if known is None:
        return
    if getattr(network, "early_stopping", False):
        raise UsageError(f"early_stopping held rows back from this model, so its objective was another one. {_ANYWAY}.")
    if not known.value:
        raise UsageError(f"this model was fitted with alpha = 0, without a penalty: there is no lambda. {_ANYWAY}.")
    own = convert(Penalty(known.penalty), exact_number(known.value), n, batch=known.batch, loss=known.loss)
    if (float(own.lam), own.free, own.loss) != (float(asked.lam), asked.free, asked.loss):
        batches = f"alpha = {float(own.value):.6g} on batches of {known.batch or n}"
        was = f"{batches}, lambda = {float(own.lam):.6g}, free biases"
        terms = f"free {', '.join(asked.free)}" if asked.free else "no free terms"
        here = f"lambda = {float(asked.lam):.6g}, {terms}"
        raise UsageError(f"this model was fitted with {was}; what is asked is {here}: another objective. {_ANYWAY}.")


def fitted_alpha(w: Any) -> Any:
    """The lambda of a fitted lasso, as its library counts it; None where it has none."""
    found = getattr(w, "alpha_", None)
    return getattr(w, "alpha", None) if found is None else found


def require_same_lasso(w: Any, lam: Any, *, average: bool, constrained: bool) -> None:
    """UsageError unless a fitted linear model was fitted to the lasso that is asked about."""
    name, alpha = type(w).__name__, fitted_alpha(w)
    share = getattr(w, "l1_ratio_", getattr(w, "l1_ratio", 1))
    wrong = ""
    if "Ridge" in name or name == "LinearRegression" or (share is not None and float(share) != 1.0):
        wrong = f"{name} minimises another objective than the lasso's"
    elif getattr(w, "positive", False) and not constrained:
        wrong = "it was fitted with positive=True, a constraint that K can say"
    elif alpha is not None and average and float(alpha) != float(exact_number(lam)):
        wrong = f"it was fitted with alpha = {float(alpha):.6g}, and lam = {float(exact_number(lam)):.6g} is asked for"
    if wrong:
        way = _ANYWAY if "alpha" in wrong else "Say anyway=True to judge them as a lasso's"
        raise UsageError(f"these coefficients are of another problem: {wrong}. {way}.")
