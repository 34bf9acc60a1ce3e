"""PyTorch state dicts, .pt or .pth (an extra). Only tensors are loaded; a file that needs more is refused."""

from __future__ import annotations

import io
import pickle

from relu_cert.errors import DataError, shown
from relu_cert.network.formats.arrays import Array, optional, weights
from relu_cert.network.formats.named import from_named, opened, to_layers
from relu_cert.network.trained import Origin, TrainedNetwork

EXTRA = "torch"
_ADVICE = (
    "save model.state_dict() of Sequential(Linear, ReLU, Linear) with torch.save, or give the Module itself to "
    "relu_cert.certify_network in Python"
)


def read(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of a state dict: the weight and bias of two linear layers."""
    torch = optional("torch", EXTRA, "reading a PyTorch state dict")
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
            raise DataError(f"{name}: {shown(str(key))} is of type {type(tensor).__name__}, not a tensor; {_ADVICE}.")
        if not tensor.is_floating_point() or tensor.layout != torch.strided or tensor.is_quantized:
            raise DataError(f"{name}: {shown(key)} holds {tensor.dtype}; expected a dense tensor of floats.")
        arrays[key] = tensor.detach().to(torch.float64).numpy()  # exact: no float type of PyTorch is wider
    return from_named(name, origin, arrays)


def write(network: TrainedNetwork, name: str) -> bytes:
    """The state dict of Sequential(Linear(d, m), ReLU(), Linear(m, C)), as float64."""
    torch = optional("torch", EXTRA, "writing a PyTorch state dict")
    stream = io.BytesIO()
    layers = to_layers(weights(network, name))
    torch.save({key: torch.from_numpy(array.copy()) for key, array in layers.items()}, stream)
    return stream.getvalue()
