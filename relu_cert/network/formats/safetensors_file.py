""".safetensors files: W1, w2, b1, b2, or the tensors of a PyTorch state dict (an extra)."""

from __future__ import annotations

from relu_cert.errors import DataError
from relu_cert.network.formats.arrays import optional, weights
from relu_cert.network.formats.named import from_named, to_layers
from relu_cert.network.trained import Origin, TrainedNetwork

EXTRA = "safetensors"


def read(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of a .safetensors file."""
    library = optional("safetensors.numpy", EXTRA, "reading .safetensors")
    failure = optional("safetensors", EXTRA, "reading .safetensors").SafetensorError
    try:
        arrays = library.load(raw)
    except (failure, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{name}: not a readable .safetensors file ({error}); save floats of at most 64 bits."
        ) from None
    return from_named(name, origin, arrays)


def write(network: TrainedNetwork, name: str) -> bytes:
    """The state dict of Sequential(Linear, ReLU, Linear), as float64."""
    library = optional("safetensors.numpy", EXTRA, "writing .safetensors")
    saved: bytes = library.save(to_layers(weights(network, name)), metadata={"activation": "relu"})
    return saved
