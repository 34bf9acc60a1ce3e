"""A trained network from whatever a user has of it in Python: a file, arrays, a PyTorch or scikit-learn model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from relu_cert.errors import DataError
from relu_cert.network.fitted import FittedNetwork
from relu_cert.network.formats import from_scnn, from_sklearn, read_network
from relu_cert.network.formats.json_text import Array, assemble
from relu_cert.network.formats.named import EPS, FOLD, Normal, from_named, opened
from relu_cert.network.trained import Origin, TrainedNetwork

SILENT = ("Dropout", "Identity", "Flatten", "Sequential")  # nothing happens there at evaluation
LINEAR = ("Linear", "Conv1d", "Conv2d")
ACTIVE = ("ReLU", "LeakyReLU")
MEANS = ("AdaptiveAvgPool1d", "AdaptiveAvgPool2d")
_EXPECTED = "Linear or Conv, ReLU or LeakyReLU, for Conv AdaptiveAvgPool(1), and Linear"
_HEAD = (
    "what can be done: fix the parts in front of its last two linear layers, and certify these on what is made of the "
    "data there: certify_network(model[k:], model[:k](X).detach(), y)"
)
_ADVICE = {
    "Sigmoid": "the loss of a classifier has it (BCEWithLogitsLoss); leave it out",
    "Softmax": "the loss of a classifier has it (CrossEntropyLoss); leave it out",
    "PReLU": "its slope is trained; if it is one number s, give the state dict without it, and slope=s",
    "AvgPool1d": "over the whole signal it is AdaptiveAvgPool1d(1); say that",
    "AvgPool2d": "over the whole image it is AdaptiveAvgPool2d(1); say that",
    "Tanh": "only max(t, s t) is a problem that has a convex form here",
}
TAKEN = (
    "a file name, (W1, w2), (W1, b1, w2), (W1, b1, w2, b2), a dict with these names, a torch Module or its state dict, "
    "a fitted MLPRegressor or MLPClassifier, or a network of relu_cert"
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
        slope, slides = of_module(network)
        told = type(network).__name__, Origin("torch", layer=layer), _arrays(network.state_dict())
        return replace(from_named(*told, normals_of(network)), slope=slope, slides=slides)
    if isinstance(network, Mapping):
        named = _arrays(opened(network))
        return from_named("the network", Origin("arrays" if "W1" in named else "state dict", layer=layer), named)
    if isinstance(network, tuple | list) and 2 <= len(network) <= 4:
        names = {2: ("W1", "w2"), 3: ("W1", "b1", "w2"), 4: ("W1", "b1", "w2", "b2")}[len(network)]
        found = dict(zip(names, map(_array, network), strict=True))
        return assemble("the network", Origin("arrays"), found["W1"], found["w2"], found.get("b1"), found.get("b2"))
    raise DataError(f"a network cannot be read from {type(network).__name__}; expected {TAKEN}.")


def of_module(module: Any) -> tuple[Fraction | None, tuple[int, int] | None]:
    """The slope of a torch Module's activations, None where it has none of its own (they are functions then), and
    stride and padding of its convolution; DataError where a part is not understood, or parts are in another order."""
    name = type(module).__name__
    parts = [one for one in module.modules() if not list(one.children())] if _tree(module) else []
    parts = [
        one for one in parts if type(one).__name__ not in SILENT and not type(one).__name__.startswith("BatchNorm")
    ]
    kinds = [type(one).__name__ for one in parts]
    if other := next((kind for kind in kinds if kind not in (*LINEAR, *ACTIVE, *MEANS)), None):
        advice = f": {_ADVICE[other]}" if other in _ADVICE else ""
        raise DataError(f"{name}: {other} is not understood{advice}; expected {_EXPECTED}; {_HEAD}.")
    if any(pooled := [one for one in parts if type(one).__name__ in MEANS]):
        for one in pooled:
            if {*np.atleast_1d(np.asarray(one.output_size, dtype=object)).tolist()} != {1}:
                raise DataError(
                    f"{name}: an average pool to the size {one.output_size}; expected 1, over the whole image; {_HEAD}."
                )
    if in_order(module):
        _require_order(name, kinds)
    slopes = {_slope(one) for one, kind in zip(parts, kinds, strict=True) if kind in ACTIVE}
    if len(slopes) > 1:
        raise DataError(f"{name}: activations of {len(slopes)} different slopes; expected one; {_HEAD}.")
    slides = [_slides(name, one) for one, kind in zip(parts, kinds, strict=True) if kind.startswith("Conv")]
    return next(iter(slopes), None), slides[0] if slides else None


def normals_of(module: Any) -> dict[str, Normal] | None:
    """Where the batch normalisations of a Sequential stand: after a linear layer and before its activation, or before
    the next linear layer. None where the order of the parts is in a function; DataError for one of batches."""
    name = type(module).__name__
    if not callable(getattr(module, "named_modules", None)):
        return None
    named = [(f"{prefix}.", one) for prefix, one in module.named_modules() if not list(one.children())]
    for _, one in named:
        if type(one).__name__.startswith("BatchNorm") and one.running_mean is None:
            raise DataError(
                f"{name}: {type(one).__name__} without running statistics takes those of the batch at hand, so that "
                "the network is no function of a point; train it with track_running_stats."
            )
        if type(one).__name__.startswith("BatchNorm") and one.eps != EPS and not in_order(module):
            raise DataError(f"{name}: batch normalisation with eps = {one.eps} in a module of its own; {FOLD}.")
    if not in_order(module):
        return None
    found: dict[str, Normal] = {}
    last, waiting = "", []  # the linear layer whose outputs are not bent yet, and what waits for the next one
    for prefix, one in named:
        kind = type(one).__name__
        if kind.startswith("BatchNorm"):
            found[prefix] = Normal(last, after=bool(last), eps=float(one.eps))
            waiting += [] if last else [prefix]
        elif kind in LINEAR:
            found |= {key: replace(found[key], layer=prefix) for key in waiting}
            last, waiting = prefix, []
        elif kind in ACTIVE:
            last = ""
    return found


def in_order(module: Any) -> bool:
    """Whether the parts do one after the other what the module does."""
    return _tree(module) and all(type(one).__name__ == "Sequential" for one in module.modules() if list(one.children()))


def _require_order(name: str, kinds: list[str]) -> None:
    """DataError unless linear layers, one at each end, alternate with activations (and means, after a convolution)."""
    told = ", ".join(kinds)
    steps = [kind for kind in kinds if kind not in MEANS]
    linear, active = steps[::2], steps[1::2]
    if len(steps) % 2 == 0 or not {*linear} <= {*LINEAR} or not {*active} <= {*ACTIVE}:
        raise DataError(f"{name}: the parts {told} in this order; expected {_EXPECTED}; {_HEAD}.")
    for at, kind in enumerate(kinds):
        if kind in MEANS and (at < 2 or not kinds[at - 2].startswith("Conv") or kinds[at - 1] not in ACTIVE):
            raise DataError(
                f"{name}: {kind} in the parts {told}; expected it after a convolution and its activation; {_HEAD}."
            )
    if any(kind.startswith("Conv") for kind in kinds[1:]):
        raise DataError(f"{name}: a convolution after another layer ({told}); expected it to be the first; {_HEAD}.")
    if kinds[0].startswith("Conv") and not any(kind in MEANS for kind in kinds):
        raise DataError(
            f"{name}: {told}: each position of a filter has weights of its own; expected AdaptiveAvgPool(1) before "
            f"the last layer, so that outputs are means over positions; {_HEAD}."
        )


def _slope(activation: Any) -> Fraction:
    """The slope of a ReLU or LeakyReLU, exactly the number that the module holds."""
    return Fraction(getattr(activation, "negative_slope", 0) if type(activation).__name__ == "LeakyReLU" else 0)


def _slides(name: str, conv: Any) -> tuple[int, int]:
    """Stride and padding of a convolution, the same along all axes; DataError for what --conv cannot say."""
    found = []
    for key, usual in (("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1)):
        values = {*np.atleast_1d(np.asarray(_padding(conv, getattr(conv, key, usual)), dtype=object)).tolist()}
        if len(values) != 1 or not all(isinstance(x, int) for x in values):
            raise DataError(f"{name}: {key} = {getattr(conv, key)}; expected one number for all axes; {_HEAD}.")
        found.append(values.pop())
    if found[2:] != [1, 1] or getattr(conv, "padding_mode", "zeros") != "zeros":
        raise DataError(
            f"{name}: a convolution with dilation, groups or a padding that is not zeros is not understood; {_HEAD}."
        )
    return found[0], found[1]


def _padding(conv: Any, value: Any) -> Any:
    """The padding that PyTorch means by a word: "same" is one number on all sides where filters have odd sizes."""
    sizes = {*np.atleast_1d(np.asarray(getattr(conv, "kernel_size", 0))).tolist()}
    if isinstance(value, str) and value == "same" and len(sizes) == 1 and sizes & {*range(1, 1000, 2)}:
        return sizes.pop() // 2
    return 0 if isinstance(value, str) and value == "valid" else value


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
