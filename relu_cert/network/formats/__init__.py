"""Network files, by their ending: .npz, .json, .safetensors, .onnx, .pt and .pth."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from relu_cert.data.raw import digest, read_bytes
from relu_cert.errors import UsageError, file_name
from relu_cert.files import refusal, replacing
from relu_cert.network.formats import json_text, onnx_file
from relu_cert.network.formats.json_text import rounded
from relu_cert.network.formats.named import (
    from_scnn,
    from_sklearn,
    read_npz,
    read_safetensors,
    read_torch,
    write_npz,
    write_safetensors,
    write_torch,
)
from relu_cert.network.trained import Origin, TrainedNetwork


@dataclass(frozen=True)
class _Format:
    name: str
    read: Callable[[bytes, str, Origin], TrainedNetwork]
    write: Callable[[TrainedNetwork, str], bytes]
    exact: bool = False


_TORCH = _Format("torch", read_torch, write_torch)
_FORMATS = {
    ".npz": _Format("npz", read_npz, write_npz),
    ".json": _Format("json", json_text.read, json_text.write, exact=True),
    ".safetensors": _Format("safetensors", read_safetensors, write_safetensors),
    ".onnx": _Format("onnx", onnx_file.read, onnx_file.write),
    ".pt": _TORCH,
    ".pth": _TORCH,
}
ENDINGS = tuple(_FORMATS)


def read_network(path: str | os.PathLike[str], layer: int = 1) -> TrainedNetwork:
    """The network in a file, exactly, from its linear layer of that number on; DataError says in one sentence why there
    is none."""
    kind = _format(path)
    raw = read_bytes(path)
    name = file_name(os.fspath(path))
    found = kind.read(raw, name, Origin(kind.name, os.fspath(path), digest(raw), layer))
    if layer > 1 and not found.before:
        raise UsageError(f"{name}: --from-layer is for networks of more than two linear layers, and this one has two.")
    return found


def write_network(network: TrainedNetwork, path: str | os.PathLike[str]) -> TrainedNetwork:
    """Write the network, whole or not at all, and return what the file says.

    JSON holds every rational exactly; the other formats hold doubles, so weights that are no doubles are rounded.
    """
    kind = _format(path)
    name = file_name(os.fspath(path))
    raw = kind.write(network, name)
    _write_bytes(Path(path), raw)
    held = network if kind.exact else rounded(network, name)
    return replace(held, origin=Origin(kind.name, os.fspath(path), digest(raw)))


PICKLES = (".pkl", ".pickle", ".joblib")
_IN_PYTHON = 'in Python relu_cert.certify_network(model, X, y, alpha, penalty="sklearn") takes a fitted MLPRegressor'


def _format(path: str | os.PathLike[str]) -> _Format:
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        name = file_name(os.fspath(path))
        if ending in PICKLES:
            raise UsageError(f"{name}: pickles can run code and are not loaded; {_IN_PYTHON}.")
        raise UsageError(f"{name}: unknown kind of network file; the endings are {', '.join(ENDINGS)}.")
    return _FORMATS[ending]


def _write_bytes(path: Path, raw: bytes) -> None:
    try:
        with replacing(path) as stream:
            stream.write(raw)
    except OSError as error:
        raise refusal(path, "", error) from None


__all__ = ["ENDINGS", "from_scnn", "from_sklearn", "read_network", "rounded", "write_network"]
