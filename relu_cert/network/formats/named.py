"""Networks as named arrays: W1, b1, w2, b2, or the layers of a PyTorch state dict; and those of fitted estimators.

numpy archives: W1 (m x d), w2 (m) and perhaps b1 (m) and b2. Nothing is ever unpickled.

.safetensors files: W1, w2, b1, b2, or the tensors of a PyTorch state dict (an extra).

PyTorch state dicts, .pt or .pth (an extra). Only tensors are loaded; a file that needs more is refused.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from relu_cert.errors import DataError, UsageError, quote
from relu_cert.figures import count
from relu_cert.network.formats.json_text import Array, Weights, assemble, optional, weights
from relu_cert.network.trained import Origin, TrainedNetwork

CHECKPOINT = ("model_state_dict", "state_dict", "model")
PLAIN = ("W1", "b1", "w2", "b2", "skip", "slope")
EPS = 1e-5  # of torch.nn.BatchNorm; no file holds it
_NORMAL = ("running_mean", "running_var", "weight", "bias")
FOLD = (
    "give the Sequential itself to certify_network, or fold it first (torch.nn.utils.fuse_linear_bn_eval or "
    "fuse_conv_bn_eval, before an activation) and save that"
)
_SPELLING = "W1, w2 and perhaps b1, b2, skip, slope, or the weight and bias of two linear layers"


def from_named(
    name: str, origin: Origin, arrays: Mapping[str, Array], places: Mapping[str, Normal] | None = None
) -> TrainedNetwork:
    """The network of W1, w2, b1, b2, or of the tensors `LAYER.weight` and `LAYER.bias` of two linear layers; `places`
    of batch normalisations, where they are known.

    A state dict does not name its activation: it is taken to be ReLU. Its first layer is the one whose outputs are the
    other one's inputs; where both orders fit (one input, one neuron), the numbers in the layers' names decide.
    """
    if "W1" in arrays or "w2" in arrays:
        for key in arrays:
            if key not in PLAIN:
                raise DataError(f"{name}: unknown array {quote(key)}; expected {_SPELLING}.")
        for key in ("W1", "w2"):
            if key not in arrays:
                raise DataError(f"{name}: the array {key} is missing; expected {_SPELLING}.")
        return assemble(name, origin, arrays["W1"], arrays["w2"], *map(arrays.get, ("b1", "b2", "skip", "slope")))
    arrays, normal = without_normals(name, arrays, places)
    arrays, kernel = _flat(arrays)
    before, (first, second) = _two_layers(name, arrays, origin.layer)
    W1, w2 = arrays[f"{first}weight"], arrays[f"{second}weight"]
    found = assemble(name, origin, W1, w2, arrays.get(f"{first}bias"), arrays.get(f"{second}bias"))
    layers = tuple((arrays[f"{one}weight"], arrays.get(f"{one}bias")) for one in before)
    return replace(found, before=layers, kernel=kernel, origin=replace(origin, folded=normal))


@dataclass(frozen=True)
class Normal:
    """Where a batch normalisation stands: the linear layer that it is folded into, whether it comes after that layer's
    outputs or before its inputs, and its eps."""

    layer: str
    after: bool
    eps: float = EPS


def without_normals(
    name: str, arrays: Mapping[str, Array], places: Mapping[str, Normal] | None
) -> tuple[Mapping[str, Array], tuple[str, ...]]:
    """The tensors without batch normalisation, which is affine at evaluation: s (x - mean) + beta with
    s = gamma / sqrt(var + eps), folded into a linear layer beside it, in doubles; and the names of what was folded."""
    arrays = {key: array for key, array in arrays.items() if not key.endswith("num_batches_tracked")}
    normals = [key.removesuffix("running_mean") for key in arrays if key.endswith("running_mean")]
    if not normals:
        return arrays, ()
    found = {key: np.asarray(array, dtype=np.float64) for key, array in arrays.items()}
    places = places or _numbered(name, found, normals)
    for one in normals:
        place = places[one]
        mean, var, gamma, beta = (found.pop(one + part, None) for part in _NORMAL)
        if mean is None or var is None:
            raise DataError(f"{name}: {quote(one)} has no running_mean or no running_var; save the whole state dict.")
        if not (var + place.eps > 0).all():
            raise DataError(f"{name}: {quote(one + 'running_var')} is negative; it must be a variance.")
        scale = (1.0 if gamma is None else gamma) / np.sqrt(var + place.eps)
        _fold(name, found, place, scale, (0.0 if beta is None else beta) - scale * mean)
    return found, tuple(one.removesuffix(".") for one in normals)


def _fold(name: str, found: dict[str, Array], place: Normal, scale: Array, shift: Array) -> None:
    """scale * (W x + b) + shift, or W (scale * x + shift) + b, as one linear layer."""
    W = found[f"{place.layer}weight"]
    b = found.get(f"{place.layer}bias", np.zeros(len(W)))
    if scale.shape != (W.shape[0 if place.after else 1],) or (W.ndim > 2 and not place.after):
        what = f"{len(scale)} channels beside {quote(place.layer)} of shape {W.shape}"
        raise DataError(f"{name}: batch normalisation of {what} cannot be folded; {FOLD}.")
    sizes = (-1, *[1] * (W.ndim - 1)) if place.after else (1, -1)
    found[f"{place.layer}weight"] = W * scale.reshape(sizes)
    found[f"{place.layer}bias"] = b * scale + shift if place.after else b + W @ shift


def _numbered(name: str, arrays: Mapping[str, Array], normals: Sequence[str]) -> dict[str, Normal]:
    """The places by the numbers of a Sequential: parts without tensors have numbers, too, and the activation is one of
    them. Where it stands before the normalisation or after it can be told unless there are such parts on both sides."""
    linear = [key.removesuffix("weight") for key, array in arrays.items() if key.endswith("weight") and array.ndim > 1]
    stems = {re.sub(r"[0-9]+\.$", "", one) for one in (*linear, *normals)}
    if len(stems) > 1 or not linear or not all(re.search(r"[0-9]\.$", one) for one in (*linear, *normals)):
        raise DataError(
            f"{name}: the names {quote(normals[0])} and {quote(linear[0] if linear else '')} do not say on which side "
            f"of the activation the batch normalisation is; {FOLD}."
        )
    at = {_numbers(one)[-1]: one for one in (*linear, *normals)}
    found = {}
    for one in normals:
        k = _numbers(one)[-1]
        before = max((i for i in at if i < k and at[i] in linear), default=None)
        after = min((i for i in at if i > k and at[i] in linear), default=None)
        ends = min(at) if before is None else before, max(at) if after is None else after
        silent = set(range(*ends)) - at.keys()
        left, right = any(i < k for i in silent), any(i > k for i in silent)
        if before is None and after is not None and not right:
            found[one] = Normal(at[after], after=False)
        elif after is None and before is not None and not left:
            found[one] = Normal(at[before], after=True)
        elif before is None or after is None or left == right:
            raise DataError(
                f"{name}: the numbers of {quote(one)} and of the linear layers do not say on which side of the "
                f"activation the batch normalisation is; {FOLD}."
            )
        else:
            found[one] = Normal(at[after if left else before], after=right)
    return found


def _flat(arrays: Mapping[str, Array]) -> tuple[Mapping[str, Array], tuple[int, ...]]:
    """The tensors with the weights of a first layer that is a convolution (filters x channels x sizes) as rows, and the
    shape of its filters; as they are where it is none."""
    first = next((key for key in arrays if re.fullmatch(r"(.*\.)?weight", key)), "")
    if not first or arrays[first].ndim not in (3, 4):
        return arrays, ()
    weight = arrays[first]
    return {**arrays, first: weight.reshape(len(weight), -1)}, weight.shape[1:]


def to_named(weights: Weights) -> dict[str, Array]:
    """W1, w2, and b1, b2 where they say something."""
    W1, b1, w2, b2, skip, slope = weights
    found: dict[str, Array] = {"W1": W1, "w2": w2}
    if b1 is not None:
        found["b1"] = b1
    if b2.any():
        found["b2"] = b2 if b2.size > 1 else b2.reshape(())
    if skip is not None:
        found["skip"] = skip
    if slope:
        found["slope"] = np.array(slope)
    return found


def to_layers(weights: Weights) -> dict[str, Array]:
    """The state dict of Sequential(Linear(d, m), ReLU(), Linear(m, C)); without biases where there are none."""
    W1, b1, w2, b2, skip, _ = weights.require_relu("a state dict")
    if skip is not None:
        raise UsageError("two layers in a row have no skip connection; write the network as .json or .npz.")
    found: dict[str, Array] = {"0.weight": W1}
    if b1 is not None:
        found["0.bias"] = b1
    found["2.weight"] = np.atleast_2d(w2)
    if b2.any() or b1 is not None:
        found["2.bias"] = b2
    return found


def opened(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state dict of a checkpoint that holds more than it, such as the epoch and the optimiser."""
    inner = next((found[key] for key in CHECKPOINT if isinstance(found.get(key), Mapping)), None)
    return found if inner is None else inner


def deep(layers: int, say: str = "--from-layer") -> str:
    """What can be done with a network of more layers than two."""
    return (
        f"a network of {layers - 1} hidden layers, of which nothing global is proved; fix all but the last two linear "
        f"layers and certify these on what the others make of the data: {say} {layers - 1}"
    )


def _two_layers(name: str, arrays: Mapping[str, Array], layer: int) -> tuple[list[str], tuple[str, str]]:
    """The prefixes of the first and the second layer's tensors, and before them those of the layers in front."""
    layers = [key.removesuffix("weight") for key in arrays if re.fullmatch(r"(.*\.)?weight", key)]
    known = {prefix + part for prefix in layers for part in ("weight", "bias")}
    for key in arrays:
        if key not in known:
            raise DataError(f"{name}: unknown tensor {quote(key)}; expected {_SPELLING}.")
    for prefix in layers:
        if arrays[f"{prefix}weight"].ndim != 2:
            shape = arrays[f"{prefix}weight"].shape
            raise DataError(f"{name}: {quote(f'{prefix}weight')} has shape {shape}; expected outputs x inputs.")
    before, layers = layers[: layer - 1], layers[layer - 1 :]
    if len(layers) > 2:
        raise DataError(f"{name}: {deep(len(layers) + len(before))}.")
    if len(layers) != 2:
        found = count(len(layers), "linear layer") + (f" from layer {layer} on" if before else "")
        raise DataError(f"{name}: a network of {found}; expected one hidden layer, that is two linear layers.")
    for one, two in pairwise([*before, layers[0]]):
        if arrays[f"{two}weight"].shape[1] != arrays[f"{one}weight"].shape[0]:
            raise DataError(f"{name}: the layers {quote(one)} and {quote(two)} do not follow one another.")
    a, b = layers
    fits = [pair for pair in ((a, b), (b, a)) if _follow(arrays, *pair)]
    if len(fits) == 2:
        fits = [pair for pair in fits if _numbers(pair[0]) < _numbers(pair[1])]
        if len(fits) != 1:
            raise DataError(f"{name}: the layers {quote(a)} and {quote(b)} fit in both orders; name them W1, w2.")
    if not fits:
        shapes = " and ".join(str(arrays[f"{prefix}weight"].shape) for prefix in layers)
        raise DataError(
            f"{name}: linear layers of shapes {shapes}: they do not follow one another; expected (m, d) and (C, m)."
        )
    return before, fits[0]


def _follow(arrays: Mapping[str, Array], first: str, second: str) -> bool:
    return bool(arrays[f"{second}weight"].shape[1] == arrays[f"{first}weight"].shape[0])


def _numbers(prefix: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"[0-9]+", prefix)]


def from_sklearn(model: Any, layer: int = 1) -> TrainedNetwork:
    """The network of a fitted scikit-learn MLPRegressor or MLPClassifier with one hidden ReLU layer.

    With two classes the output f is the log of the odds of `classes_[1]`: its loss is log(1 + exp(-y f)), y = 1 there;
    with more there is an output for each of `classes_`, and the loss is the softmax cross-entropy.
    Reads `coefs_` (d x m and m x C) and `intercepts_`. MLPRegressor always has biases in both layers and penalises
    neither: see `relu_cert.network.penalty`.
    """
    name = type(model).__name__
    if not hasattr(model, "coefs_") or not hasattr(model, "intercepts_"):
        raise UsageError(f"{name}: no coefs_; fit the model first (expected a fitted MLPRegressor or MLPClassifier).")
    last = getattr(model, "out_activation_", None)
    if last == "logistic" and model.intercepts_[-1].size > 1:
        raise DataError(f"{name}: {model.intercepts_[-1].size} labels at once (multilabel); certify them one by one.")
    if last not in ("identity", "logistic", "softmax"):
        raise DataError(f"{name}: the output activation is {last}; expected linear or logistic outputs, or a softmax.")
    if model.activation != "relu":
        raise DataError(
            f'{name}: the activation is {model.activation}; only ReLU is understood: fit it with activation="relu".'
        )
    coefs, biases = ([np.asarray(a) for a in arrays] for arrays in (model.coefs_, model.intercepts_))
    before = tuple((W.T, b) for W, b in zip(coefs[: layer - 1], biases, strict=False))
    coefs = coefs[layer - 1 :]
    if len(coefs) != 2:
        raise DataError(f"{name}: {deep(len(model.coefs_), 'from_layer =')}.")
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


MAX_BYTES = 2**24
_DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, LookupError, RuntimeError, MemoryError)


def read_npz(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of an .npz archive; its arrays may also be named as in a PyTorch state dict, the format `layers`."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            names = [member.filename.removesuffix(".npy") for member in archive.infolist()]
        if len(set(names)) < len(names):
            raise DataError(f"{name}: an array is in the archive twice; save it again.")
        if size > MAX_BYTES:
            raise DataError(f"{name}: more than {MAX_BYTES // 2**20} MiB once decompressed; expected a small network.")
        with np.load(io.BytesIO(raw), allow_pickle=False) as archive_arrays:
            arrays = {key: np.asarray(archive_arrays[key]) for key in archive_arrays.files}
    except DataError:
        raise
    except _DAMAGED as error:
        why = "it holds Python objects, which are never unpickled" if "allow_pickle" in str(error) else "it is damaged"
        raise DataError(f"{name}: not a readable .npz archive: {why}; save W1 and w2 with numpy.savez.") from None
    named = origin if "W1" in arrays else replace(origin, format="layers")
    return from_named(name, named, arrays)


def write_npz(network: TrainedNetwork, name: str) -> bytes:
    """An .npz archive of float64 arrays."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **to_named(weights(network, name)))
    return stream.getvalue()


SAFETENSORS = "safetensors"


def read_safetensors(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of a .safetensors file."""
    library = optional("safetensors.numpy", SAFETENSORS, "reading .safetensors")
    failure = optional("safetensors", SAFETENSORS, "reading .safetensors").SafetensorError
    try:
        arrays = library.load(raw)
    except (failure, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{name}: not a readable .safetensors file ({error}); save floats of at most 64 bits."
        ) from None
    return from_named(name, origin, arrays)


def write_safetensors(network: TrainedNetwork, name: str) -> bytes:
    """The state dict of Sequential(Linear, ReLU, Linear), as float64."""
    library = optional("safetensors.numpy", SAFETENSORS, "writing .safetensors")
    saved: bytes = library.save(to_layers(weights(network, name)), metadata={"activation": "relu"})
    return saved


TORCH = "torch"
_ADVICE = (
    "save model.state_dict() of Sequential(Linear, ReLU, Linear) with torch.save, or give the Module itself to "
    "relu_cert.certify_network in Python"
)


def read_torch(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of a state dict: the weight and bias of two linear layers."""
    torch = optional("torch", TORCH, "reading a PyTorch state dict")
    try:
        found = torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise DataError(f"{name}: more than tensors, or no PyTorch file; code is never loaded: {_ADVICE}.") from None
    except (RuntimeError, EOFError, ValueError, KeyError, OSError):
        raise DataError(f"{name}: not a readable PyTorch file; {_ADVICE}.") from None
    if not isinstance(found, dict):
        raise DataError(f"{name}: found {type(found).__name__}, not a state dict; {_ADVICE}.")
    arrays: dict[str, Array] = {}
    for key, tensor in opened(found).items():
        if str(key).endswith("num_batches_tracked"):
            continue
        if not isinstance(key, str) or not isinstance(tensor, torch.Tensor):
            raise DataError(f"{name}: {quote(str(key))} is of type {type(tensor).__name__}, not a tensor; {_ADVICE}.")
        if not tensor.is_floating_point() or tensor.layout != torch.strided or tensor.is_quantized:
            raise DataError(f"{name}: {quote(key)} holds {tensor.dtype}; expected a dense tensor of floats.")
        arrays[key] = tensor.detach().to(torch.float64).numpy()  # exact: no float type of PyTorch is wider
    return from_named(name, origin, arrays)


def write_torch(network: TrainedNetwork, name: str) -> bytes:
    """The state dict of Sequential(Linear(d, m), ReLU(), Linear(m, C)), as float64."""
    torch = optional("torch", TORCH, "writing a PyTorch state dict")
    stream = io.BytesIO()
    layers = to_layers(weights(network, name))
    torch.save({key: torch.from_numpy(array.copy()) for key, array in layers.items()}, stream)
    return stream.getvalue()
