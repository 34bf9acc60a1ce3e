"""A trained network from whatever a user has of it in Python: a file, arrays, a PyTorch or scikit-learn model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relu_cert.errors import DataError
from relu_cert.network.fitted import FittedNetwork
from relu_cert.network.formats import from_scnn, from_sklearn, read_network
from relu_cert.network.formats.arrays import Array, assemble
from relu_cert.network.formats.named import from_named
from relu_cert.network.trained import Origin, TrainedNetwork

TAKEN = (
    "a file name, (W1, w2), (W1, b1, w2), (W1, b1, w2, b2), a dict with these names, a torch Module or its state dict, "
    "a fitted MLPRegressor, or a network of relu_cert"
)


def given_network(network: Any) -> TrainedNetwork:
    """The network, every weight exact; DataError says what is understood."""
    if isinstance(network, TrainedNetwork):
        return network
    if isinstance(network, FittedNetwork):
        return network.exact()
    if isinstance(network, str | os.PathLike):
        return read_network(network)
    if hasattr(network, "coefs_") or type(network).__name__.startswith("MLP"):
        return from_sklearn(network)
    if type(network).__name__ == "NonConvexReLU":
        return from_scnn(network)
    if callable(getattr(network, "state_dict", None)):
        return from_named(type(network).__name__, Origin("torch"), _arrays(network.state_dict()))
    if isinstance(network, Mapping):
        return from_named("the network", Origin("arrays"), _arrays(network))
    if isinstance(network, tuple | list) and 2 <= len(network) <= 4:
        names = {2: ("W1", "w2"), 3: ("W1", "b1", "w2"), 4: ("W1", "b1", "w2", "b2")}[len(network)]
        found = dict(zip(names, map(_array, network), strict=True))
        return assemble("the network", Origin("arrays"), found["W1"], found["w2"], found.get("b1"), found.get("b2"))
    raise DataError(f"a network cannot be read from a {type(network).__name__}; expected {TAKEN}.")


@dataclass(frozen=True)
class TrainedWith:
    """The penalty that a fitted estimator was trained with, in its convention, and its batch size."""

    value: Any
    penalty: str
    batch: int | None


def trained_with(network: Any, n: int) -> TrainedWith | None:
    """What a fitted MLPRegressor knows of its own training on n points; None for all else."""
    if not hasattr(network, "coefs_") or getattr(network, "alpha", None) is None:
        return None
    whole = getattr(network, "solver", "lbfgs") == "lbfgs"
    size = getattr(network, "batch_size", "auto")
    return TrainedWith(network.alpha, "sklearn", None if whole else min(200 if size == "auto" else int(size), n))


def _arrays(named: Mapping[Any, Any]) -> dict[str, Array]:
    return {str(key): _array(value) for key, value in named.items() if value is not None}


def _array(value: Any) -> Array:
    """A tensor or an array-like, in numbers that hold it exactly."""
    if callable(getattr(value, "detach", None)):
        value = value.detach().cpu().double().numpy()  # exact: no float type of PyTorch is wider
    array = np.asarray(value)
    return array if array.dtype.kind in "iufO" else array.astype(object)
