"""A trained network from whatever a user has of it in Python: a file, arrays, a PyTorch or scikit-learn model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from relu_cert.errors import DataError
from relu_cert.network.fitted import FittedNetwork
from relu_cert.network.formats import from_scnn, from_sklearn, read_network
from relu_cert.network.formats.arrays import Array, assemble
from relu_cert.network.formats.named import from_named, opened
from relu_cert.network.trained import Origin, TrainedNetwork

SILENT = ("Linear", "ReLU", "Dropout", "Identity", "Flatten", "Sequential")
TAKEN = (
    "a file name, (W1, w2), (W1, b1, w2), (W1, b1, w2, b2), a dict with these names, a torch Module or its state dict, "
    "a fitted MLPRegressor, or a network of relu_cert"
)


def given_network(network: Any, layer: int = 1) -> TrainedNetwork:
    """The network, every weight exact, from its linear layer of that number on; DataError says what is understood."""
    if isinstance(network, TrainedNetwork):
        return network
    if isinstance(network, FittedNetwork):
        return network.exact()
    if isinstance(network, str | os.PathLike):
        return read_network(network, layer)
    if hasattr(network, "coefs_") or type(network).__name__.startswith("MLP"):
        return from_sklearn(network, layer)
    if type(network).__name__ == "NonConvexReLU":
        return from_scnn(network)
    if callable(getattr(network, "state_dict", None)):
        require_relu(network)
        return from_named(type(network).__name__, Origin("torch", layer=layer), _arrays(network.state_dict()))
    if isinstance(network, Mapping):
        return from_named("the network", Origin("arrays", layer=layer), _arrays(opened(network)))
    if isinstance(network, tuple | list) and 2 <= len(network) <= 4:
        names = {2: ("W1", "w2"), 3: ("W1", "b1", "w2"), 4: ("W1", "b1", "w2", "b2")}[len(network)]
        found = dict(zip(names, map(_array, network), strict=True))
        return assemble("the network", Origin("arrays"), found["W1"], found["w2"], found.get("b1"), found.get("b2"))
    raise DataError(f"a network cannot be read from {type(network).__name__}; expected {TAKEN}.")


def require_relu(module: Any) -> None:
    """DataError where a torch Module has a part that is no linear layer, no ReLU and nothing at evaluation."""
    parts = [type(one).__name__ for one in module.modules() if not list(one.children())] if _tree(module) else []
    other = [one for one in parts if one not in SILENT and not one.startswith("BatchNorm")]
    if other:
        leaky = "; a leaky ReLU has a slope, which no problem here has" if "LeakyReLU" in other else ""
        raise DataError(
            f"{type(module).__name__}: {other[0]} is not understood{leaky}; expected Linear, ReLU, Linear (Dropout and "
            "Flatten do nothing at evaluation)."
        )


def _tree(module: Any) -> bool:
    return callable(getattr(module, "modules", None)) and callable(getattr(module, "children", None))


def _arrays(named: Mapping[Any, Any]) -> dict[str, Array]:
    known = {str(key): value for key, value in named.items() if value is not None}
    return {key: _array(value) for key, value in known.items() if not key.endswith("num_batches_tracked")}


def _array(value: Any) -> Array:
    """A tensor or an array-like, in numbers that hold it exactly."""
    if callable(getattr(value, "detach", None)):
        value = value.detach().cpu().double().numpy()  # exact: no float type of PyTorch is wider
    array = np.asarray(value)
    return array if array.dtype.kind in "iufO" else array.astype(object)
