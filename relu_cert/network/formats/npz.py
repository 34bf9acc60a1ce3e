"""numpy archives: W1 (m x d), w2 (m) and perhaps b1 (m) and b2. Nothing is ever unpickled."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import replace

import numpy as np

from relu_cert.errors import DataError
from relu_cert.network.formats.arrays import weights
from relu_cert.network.formats.named import from_named, to_named
from relu_cert.network.trained import Origin, TrainedNetwork

MAX_BYTES = 2**24
_DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, LookupError, RuntimeError, MemoryError)


def read(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
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


def write(network: TrainedNetwork, name: str) -> bytes:
    """An .npz archive of float64 arrays."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **to_named(weights(network, name)))
    return stream.getvalue()
