"""The file that a network was read from, given again: its bytes are hashed, and its weights compared where they can be
read: JSON, numpy archives and safetensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256

from verify.errors import Rejected, Usage, VerifyError
from verify.network.arrays import READERS, Array, read_arrays
from verify.network.check import Network
from verify.text import Limits, Matrix, Vector

PLACE = "certificate.facts.network"
Layers = tuple[Array, Vector, Vector, Fraction]  # W1, b1 (none: empty), w2, b2


def compare_file(network: Network | None, raw: bytes, limits: Limits) -> bool:
    """Reject unless the file has the hash that the certificate states, and these weights. Whether they were read."""
    if network is None:
        raise Usage("--network", "a certificate with the fact network", "none")
    if (digest := sha256(raw).hexdigest()) != network.sha256:
        found = network.sha256 or "no file"
        raise Rejected(f"{PLACE}.file.sha256", f"{digest} (the hash of the network given)", found)
    arrays = read_arrays(raw, network.format, limits)
    if arrays is None:
        if (kind := readable(raw, limits)) is not None:
            raise Rejected(
                f"{PLACE}.file.format", f"{kind}: the network given can be read and compared", network.format
            )
        return False
    if not any(same(network.weights.W1, network.weights.w2, layers) for layers in readings(arrays)):
        raise Rejected(PLACE, f"the weights of the {network.format} file given", "others")
    return True


def readable(raw: bytes, limits: Limits) -> str | None:
    """The kind of file that these bytes are, if the checker can read a network from them."""
    for kind in READERS:
        try:
            arrays = read_arrays(raw, kind, limits)
        except VerifyError:
            continue
        if arrays is not None and any(True for _ in readings(arrays)):
            return kind
    return None


def readings(arrays: dict[str, Array]) -> Iterator[Layers]:
    """The two layers of the file: W1, b1, w2, b2, or the weights and biases of two linear layers, m x d and 1 x m, and
    nothing else. Where both orders fit (one input, one neuron), the numbers in the layers' names decide."""
    none = Array((0,), ())
    if "W1" in arrays and "w2" in arrays:
        if arrays.keys() <= {"W1", "b1", "w2", "b2"}:
            yield from layers(arrays["W1"], arrays.get("b1", none), arrays["w2"], arrays.get("b2", none))
        return
    names = [name.removesuffix("weight") for name in arrays if name == "weight" or name.endswith(".weight")]
    if len(names) != 2 or not arrays.keys() <= {name + part for name in names for part in ("weight", "bias")}:
        return
    orders = [(a, b) for a, b in (names, names[::-1]) if follows(arrays[f"{a}weight"], arrays[f"{b}weight"])]
    for first, second in orders:
        if len(orders) == 1 or numbers(first) < numbers(second):
            b1, b2 = (arrays.get(f"{name}bias", none) for name in (first, second))
            yield from layers(arrays[f"{first}weight"], b1, arrays[f"{second}weight"], b2)


def follows(first: Array, second: Array) -> bool:
    """Whether the outputs of the first layer are the inputs of the second, which has one output."""
    return len(first.shape) == 2 and second.shape == (1, first.shape[0])


def numbers(name: str) -> list[int]:
    """The numbers in a layer's name."""
    return [int(digits) for digits in re.findall("[0-9]+", name)]


def layers(W1: Array, b1: Array, w2: Array, b2: Array) -> Iterator[Layers]:
    """The layers, if their shapes fit: W1 is m x d, w2 has m entries, b1 none or m, b2 at most one."""
    m = W1.shape[0] if len(W1.shape) == 2 else 0
    if m and len(w2.entries) == m and len(b1.entries) in (0, m) and len(b2.entries) <= 1:
        yield W1, b1.entries, w2.entries, b2.entries[0] if b2.entries else Fraction(0)


def same(W1: Matrix, w2: Vector, found: Layers) -> bool:
    """Whether these are the weights of the file after folding its biases: b1 is the last column, or zero; b2, unless it
    is zero, is one more neuron (0, ..., 0, c), s with c > 0 and c s = b2 on the column of ones."""
    first, b1, second, b2 = found
    m, d = first.shape
    rows = [first.entries[i * d : (i + 1) * d] for i in range(m)]
    width = len(W1[0])
    if width == d + 1:
        zero = (Fraction(0),) * m
        rows = [(*row, b) for row, b in zip(rows, b1 or zero, strict=True)]
    elif width != d or any(b1):
        return False
    if b2:
        if len(W1) != m + 1 or width == d or any(W1[m][:-1]) or W1[m][-1] <= 0 or W1[m][-1] * w2[m] != b2:
            return False
    elif len(W1) != m:
        return False
    return list(W1[:m]) == rows and w2[:m] == second
