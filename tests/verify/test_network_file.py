"""The file of a network, given again: its hash and, where the checker can read it, every weight."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify
from relu_cert.network import TrainedNetwork
from relu_cert.network.formats import npz, safetensors_file
from relu_cert.network.formats.json_text import write as write_json
from tests.verify.given import given
from verify.__main__ import main
from verify.network.arrays import Array, from_bits, read_arrays
from verify.network.file import readings, same
from verify.text import Limits

W1 = np.array([[1.2, -1e-310, 3.0], [0.1, -2.5e200, -0.0]])
w2 = np.array([1e-3, -7.0])
EXACT = tuple(tuple(map(Fraction, row)) for row in W1.tolist())
SECOND = tuple(map(Fraction, w2.tolist()))


def archive(**arrays: Any) -> bytes:
    """The bytes of numpy.savez."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def safetensors(**arrays: np.ndarray) -> bytes:
    """The bytes of a safetensors file, by its specification."""
    kinds = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64"}
    header: dict[str, Any] = {"__metadata__": {"made": "by hand"}}
    body = b""
    for name, array in arrays.items():
        part = array.tobytes()
        entry = {"dtype": kinds[array.dtype.name], "shape": list(array.shape)}
        header[name] = entry | {"data_offsets": [len(body), len(body) + len(part)]}
        body += part
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


def agrees(kind: str, raw: bytes, first: Any = EXACT, second: Any = SECOND) -> bool:
    """Whether the file holds these weights."""
    arrays = read_arrays(raw, kind, Limits())
    assert arrays is not None
    return any(same(first, second, layers) for layers in readings(arrays))


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "npz": ("npz", lambda: archive(W1=W1, w2=w2)),
    "npz, columns first": ("npz", lambda: archive(W1=np.asfortranarray(W1), w2=w2)),
    "npz, big endian": ("npz", lambda: archive(W1=W1.astype(">f8"), w2=w2[:, None])),
    "npz, a state dict": ("npz", lambda: archive(**{"net.2.weight": w2[None, :], "net.0.weight": W1})),
    "npz, a state dict with biases that are zero": (
        "npz",
        lambda: archive(**{"0.weight": W1, "0.bias": np.zeros(2), "2.weight": w2[None, :], "2.bias": np.zeros(1)}),
    ),
    "safetensors": ("safetensors", lambda: safetensors(W1=W1, w2=w2)),
    "json, numbers": ("json", lambda: json.dumps({"W1": W1.tolist(), "w2": w2.tolist(), "b1": None}).encode()),
    "json, our own": ("json", lambda: write_json(TrainedNetwork(EXACT, SECOND), "x")),
    "npz, our own": ("npz", lambda: npz.write(TrainedNetwork(EXACT, SECOND), "x")),
}


@pytest.mark.parametrize("name", FILES)
def test_weights_are_read_as_they_are(name: str) -> None:
    """Every way to write the same floats gives the same weights; a last bit more gives others."""
    kind, make = FILES[name]
    assert agrees(kind, make())
    other = (EXACT[0], (EXACT[1][0] + Fraction(1, 2**60), *EXACT[1][1:]))
    assert not agrees(kind, make(), other)
    assert not agrees(kind, make(), EXACT, SECOND[::-1])


def test_safetensors_of_the_library() -> None:
    """What the library writes is read, where the library is installed."""
    pytest.importorskip("safetensors")
    assert agrees("safetensors", safetensors_file.write(TrainedNetwork(EXACT, SECOND), "x"))


def test_biases_are_folded() -> None:
    """b1 is the last column, b2 one more neuron c s = b2; nothing else."""
    raw = archive(W1=W1, b1=np.array([0.5, -1.0]), w2=w2, b2=np.array(-0.75))
    first = ((*EXACT[0], Fraction(1, 2)), (*EXACT[1], Fraction(-1)))
    zero = (Fraction(0),) * 3
    assert agrees("npz", raw, (*first, (*zero, Fraction(3, 8))), (*SECOND, Fraction(-2)))
    assert not agrees("npz", raw, (*first, (*zero, Fraction(3, 8))), (*SECOND, Fraction(2)))
    assert not agrees("npz", raw, (*first, (*zero, Fraction(-3, 8))), (*SECOND, Fraction(2)))
    assert not agrees("npz", raw, (*first, (Fraction(1), *zero)), (*SECOND, Fraction(-2)))
    assert not agrees("npz", raw, first, SECOND)
    assert not agrees("npz", raw)
    assert not agrees("npz", archive(W1=W1, w2=w2), (*first, (*zero, Fraction(1))), (*SECOND, Fraction(1)))


def test_small_floats_and_integers() -> None:
    """Half and single precision, subnormals, negative zero and integers, against numpy."""
    for dtype in (np.float16, np.float32, np.float64):
        info = np.finfo(dtype)
        numbers = np.array([0.1, -2.75, info.tiny, info.smallest_subnormal, -info.max, 0.0, -0.0], dtype=dtype)
        arrays = read_arrays(archive(x=numbers), "npz", Limits())
        assert arrays == {"x": Array((7,), tuple(Fraction(float(x)) for x in numbers))}
    whole = np.array([-(2**63), 2**63 - 1, -1, 0], dtype=np.int64)
    arrays = read_arrays(safetensors(x=whole), "safetensors", Limits())
    assert arrays == {"x": Array((4,), tuple(map(Fraction, whole.tolist())))}
    with pytest.raises(ValueError, match="not finite"):
        from_bits(0x7FF << 52, 11, 52)


def test_layers_in_the_wrong_order() -> None:
    """One input and one neuron: both orders fit, and the numbers of the layers decide. -(2x)_+ is not 2(-x)_+."""
    two, minus = np.array([[2.0]]), np.array([[-1.0]])
    raw = archive(**{"0.weight": two, "2.weight": minus})
    right, wrong = (((Fraction(2),),), (Fraction(-1),)), (((Fraction(-1),),), (Fraction(2),))
    assert agrees("npz", raw, *right) and not agrees("npz", raw, *wrong)
    assert agrees("npz", archive(**{"2.weight": minus, "0.weight": two}), *right)
    unnamed = archive(**{"a.weight": two, "b.weight": minus})
    assert not agrees("npz", unnamed, *right) and not agrees("npz", unnamed, *wrong)


@pytest.mark.parametrize("names", [("W1", "w2"), ("0.weight", "2.weight")])
def test_a_file_with_more_than_two_layers_of_weights(names: tuple[str, str]) -> None:
    """Another array may be another layer, or a mask: such a file is not the network of the two."""
    arrays = dict(zip(names, (W1, w2[None, :]), strict=True))
    assert agrees("npz", archive(**arrays))
    assert not agrees("npz", archive(**arrays, mask=np.ones(2)))


@pytest.mark.parametrize("kind", ["torch", "onnx", "mine"])
def test_a_file_that_could_be_compared_under_another_name(kind: str) -> None:
    """The right hash and other weights: no name of a format keeps the checker from reading what it can read."""
    tree = json.loads(given("exactly optimal").text)
    raw = archive(W1=W1, w2=w2)
    tree["facts"]["network"]["file"] = {"sha256": sha256(raw).hexdigest(), "format": kind}
    with pytest.raises(verify.Rejected, match="npz: the network given can be read"):
        verify.check(json.dumps(tree).encode(), network=raw)
    tree["facts"]["network"]["file"]["sha256"] = sha256(b"anything").hexdigest()
    assert verify.check(json.dumps(tree).encode(), network=b"anything")


DAMAGED: dict[str, tuple[str, bytes]] = {
    "no archive": ("npz", b"PK weights"),
    "half an archive": ("npz", archive(W1=W1, w2=w2)[:200]),
    "an archive of text": ("npz", archive(W1=np.array(["a"]), w2=w2)),
    "an array that is not finite": ("npz", archive(W1=np.array([[np.inf]]), w2=np.ones(1))),
    "no JSON": ("json", b"{"),
    "JSON of words": ("json", b'{"W1": [["x"]], "w2": [1]}'),
    "JSON with true for a number": ("json", b'{"W1": [[true]], "w2": [1]}'),
    "JSON with rows of two lengths": ("json", b'{"W1": [[1], [1, 2]], "w2": [1, 2]}'),
    "JSON with a key twice": ("json", b'{"W1": [[1]], "W1": [[1]], "w2": [1]}'),
    "an array of JSON": ("json", b"[]"),
    "no safetensors": ("safetensors", b"weights"),
    "safetensors of another kind": ("safetensors", b"\x02\0\0\0\0\0\0\0[]"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_rejected(name: str) -> None:
    """A file that cannot be read as its format is the certificate's fault: rejected, without a traceback."""
    kind, raw = DAMAGED[name]
    with pytest.raises(verify.Rejected, match="network file"):
        read_arrays(raw, kind, Limits())


def test_other_formats_are_hashed_only() -> None:
    """There is no second reader for ONNX and PyTorch files."""
    assert read_arrays(b"anything", "onnx", Limits()) is None
    assert read_arrays(b"anything", "torch", Limits()) is None


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --network the file must have the hash and the weights of the certificate, which must speak of a network."""
    tree = json.loads(given("exactly optimal").text)
    network = {"W1": [["6/5", "1.6"], ["-6/5", "-8/5"]], "w2": [2, "2"]}
    path, file, other = (tmp_path / name for name in ("net.cert.json", "net.json", "other.json"))
    file.write_text(json.dumps(network))
    other.write_text(json.dumps({**network, "w2": [2, 3]}))
    for target, code, message in ((file, 0, "accepted"), (other, 1, "the weights of the json file given")):
        tree["facts"]["network"]["file"] = {"sha256": sha256(target.read_bytes()).hexdigest(), "format": "json"}
        path.write_text(json.dumps(tree))
        assert main([str(path), "--network", str(target)]) == code
        assert message in capsys.readouterr().out
    assert main([str(path), "--network", str(file)]) == 1
    assert "the hash of the network given" in capsys.readouterr().out
    assert main([str(path), "--network", str(tmp_path / "none.npz")]) == 65
    del tree["facts"]["network"]
    path.write_text(json.dumps({**tree, "claims": [], "end": tree.pop("end")}))
    assert main([str(path), "--network", str(file)]) == 64
