"""Networks from fitted models of other libraries, without pickle: their weights are read, nothing else is.

from relu_cert.network.formats import from_sklearn, write_network
write_network(from_sklearn(model), "model.npz")
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relu_cert.errors import DataError, UsageError
from relu_cert.network.formats.arrays import assemble
from relu_cert.network.formats.named import deep
from relu_cert.network.trained import Origin, TrainedNetwork


def from_sklearn(model: Any, layer: int = 1) -> TrainedNetwork:
    """The network of a fitted scikit-learn MLPRegressor, or MLPClassifier of two classes, with one hidden ReLU layer.

    A classifier's output f is the log of the odds of `classes_[1]`: its loss is log(1 + exp(-y f)), y = 1 there.
    Reads `coefs_` (d x m and m x 1) and `intercepts_`. MLPRegressor always has biases in both layers and penalises
    neither: see `relu_cert.network.penalty`.
    """
    name = type(model).__name__
    if not hasattr(model, "coefs_") or not hasattr(model, "intercepts_"):
        raise UsageError(f"{name}: no coefs_; fit the model first (expected a fitted MLPRegressor or MLPClassifier).")
    last = getattr(model, "out_activation_", None)
    if last == "softmax":
        raise DataError(
            f"{name}: {len(model.classes_)} classes; a given network has one output here, two classes. certify_outputs "
            "trains one with an output for each class."
        )
    if last == "logistic" and model.intercepts_[-1].size > 1:
        raise DataError(f"{name}: {model.intercepts_[-1].size} labels at once (multilabel); certify them one by one.")
    if last not in ("identity", "logistic"):
        raise DataError(f"{name}: the output activation is {last}; expected a linear or a logistic output.")
    if model.activation != "relu":
        raise DataError(f"{name}: the activation is {model.activation}; only ReLU is understood.")
    coefs, biases = ([np.asarray(a) for a in arrays] for arrays in (model.coefs_, model.intercepts_))
    before = tuple((W.T, b) for W, b in zip(coefs[: layer - 1], biases, strict=False))
    coefs = coefs[layer - 1 :]
    if len(coefs) != 2:
        raise DataError(f"{name}: {deep(len(model.coefs_), 'from_layer =')}.")
    if coefs[1].shape[1] != 1:
        raise DataError(f"{name}: a network with several outputs ({coefs[1].shape[1]}); only one output is understood.")
    found = assemble(name, Origin("scikit-learn", layer=layer), coefs[0].T, coefs[1].T, *biases[-2:])
    return replace(found, before=before)


def from_scnn(model: Any) -> TrainedNetwork:
    """The network of a trained scnn `NonConvexReLU`, which is what scnn's optimisers return for ReLU.

    Reads `parameters`: W1 (p x d), with `bias` b1 (p), and w2 (1 x p). A `ConvexReLU` (variables of the convex program,
    with gates) and gated models compute another function than a ReLU network and are refused.
    """
    name = type(model).__name__
    if name != "NonConvexReLU":
        raise DataError(f"{name}: expected scnn's NonConvexReLU, as its optimisers give with return_convex=False.")
    parameters = [np.asarray(a) for a in model.parameters]
    if len(parameters) != 2 + bool(model.bias):
        raise DataError(f"{name}: {len(parameters)} arrays; expected W1, b1 (with a bias) and w2.")
    w2 = parameters[-1]
    if w2.ndim != 2 or w2.shape[0] != 1:
        raise DataError(f"{name}: w2 has shape {w2.shape}, several outputs; only one output is understood.")
    return assemble(name, Origin("scnn"), parameters[0], w2, parameters[1] if model.bias else None, None)
