"""The file of a network, given again: its hash, and every weight, folded on the columns of the data."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify
from relu_cert.certificate import dumps
from relu_cert.claims import decide
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.network.claims import network_verdicts
from relu_cert.network.examine import compare, examine, network_certificate
from relu_cert.network.formats import named
from relu_cert.network.formats.json_text import write as write_json
from relu_cert.network.penalty import Penalty, convert
from relu_cert.network.trained import Origin, TrainedNetwork, fold
from tests.verify.build.given_networks import QUIET, SETTLED, given
from verify.__main__ import main
from verify.network.check import Network
from verify.network.file import compare_file, from_bits, read_npy
from verify.network.weights import Weights
from verify.text import Limits

W1 = np.array([[1.2, -1e-310, 3.0], [0.1, -2.5e200, -0.0]])
w2 = np.array([1e-3, -7.0])
EXACT = tuple(tuple(map(Fraction, row)) for row in W1.tolist())
SECOND = tuple(map(Fraction, w2.tolist()))
NONE = Fraction(0)


def archive(**arrays: Any) -> bytes:
    """The bytes of numpy.savez."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def packed(compression: int, **members: bytes) -> bytes:
    """A zip file of such members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return stream.getvalue()


def member(**arrays: Any) -> dict[str, bytes]:
    """The .npy members of some arrays."""
    found = {}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        found[name] = stream.getvalue()
    return found


def compared(raw: bytes, first: Any = EXACT, second: Any = SECOND, b2: Fraction = NONE, bias: bool = False) -> None:
    """The file against a certificate of these weights."""
    weights = Weights(first, second, b2, (), (), (), (), NONE)
    nothing: Any = None
    network = Network(sha256(raw).hexdigest(), weights, NONE, 0, *[nothing] * 6)
    compare_file(network, raw, Limits(), bias)


def agrees(raw: bytes, first: Any = EXACT, second: Any = SECOND, b2: Fraction = NONE, bias: bool = False) -> bool:
    """Whether the file holds these weights."""
    try:
        compared(raw, first, second, b2, bias)
    except verify.Rejected:
        return False
    return True


FILES: dict[str, Callable[[], bytes]] = {
    "npz": lambda: archive(W1=W1, w2=w2),
    "npz, deflated": lambda: packed(zipfile.ZIP_DEFLATED, **member(W1=W1, w2=w2)),
    "npz, columns first": lambda: archive(W1=np.asfortranarray(W1), w2=w2),
    "npz, big endian": lambda: archive(W1=W1.astype(">f8"), w2=w2[:, None]),
    "npz, biases that are zero": lambda: archive(W1=W1, w2=w2[None, :], b1=np.zeros(2), b2=np.zeros(1)),
    "json, numbers": lambda: json.dumps({"W1": W1.tolist(), "w2": w2.tolist(), "b1": None}).encode(),
    "json, our own": lambda: write_json(TrainedNetwork(EXACT, SECOND), "x"),
    "npz, our own": lambda: named.write_npz(TrainedNetwork(EXACT, SECOND), "x"),
}


@pytest.mark.parametrize("name", FILES)
def test_weights_are_read_as_they_are(name: str) -> None:
    """Every way to write the same floats gives the same weights; a last bit more gives others."""
    raw = FILES[name]()
    assert agrees(raw)
    assert agrees(raw, bias=True)
    assert not agrees(raw, (EXACT[0], (EXACT[1][0] + Fraction(1, 2**60), *EXACT[1][1:])))
    assert not agrees(raw, EXACT, SECOND[::-1])
    assert not agrees(raw, EXACT, SECOND, Fraction(1))


def test_biases_are_folded() -> None:
    """b1 is the last column, where the data has been given one of ones; b2 stands for itself and is no neuron."""
    raw = archive(W1=W1, b1=np.array([0.5, -1.0]), w2=w2, b2=np.array(-0.75))
    first = ((*EXACT[0], Fraction(1, 2)), (*EXACT[1], Fraction(-1)))
    b2 = Fraction(-3, 4)
    assert agrees(raw, first, SECOND, b2, bias=True)
    assert not agrees(raw, first, SECOND, b2, bias=False)
    assert not agrees(raw, first, SECOND, -b2, bias=True)
    assert not agrees(raw, EXACT, SECOND, b2, bias=True)
    assert not agrees(raw, (*first, (NONE,) * 3 + (-b2,)), (*SECOND, Fraction(-1)), bias=True)
    zero = tuple((*row, NONE) for row in EXACT)
    assert agrees(archive(W1=W1, w2=w2), zero, SECOND, bias=True)
    assert not agrees(archive(W1=W1, w2=w2), zero, SECOND, bias=False)


def test_a_network_of_many_weights() -> None:
    """As many numbers as the certificate has are read, and no more."""
    first = np.arange(900.0).reshape(30, 30)
    exact = tuple(tuple(map(Fraction, row)) for row in first.tolist())
    assert agrees(archive(W1=first, w2=first[0]), exact, exact[0])


def test_small_floats_and_integers() -> None:
    """Half and single precision, subnormals, negative zero and integers, against numpy."""
    for dtype in (np.float16, np.float32, np.float64, np.int64, np.uint8, np.dtype(">i2")):
        if np.dtype(dtype).kind == "f":
            info = np.finfo(dtype)
            numbers = np.array([0.1, -2.75, info.tiny, info.smallest_subnormal, -info.max, 0.0, -0.0], dtype=dtype)
        else:
            least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
            numbers = np.array([least, most, 0, 1], dtype=dtype)
        raw = archive(W1=numbers[:, None], w2=numbers)
        exact = tuple(Fraction(x) for x in numbers.tolist())
        assert agrees(raw, tuple((x,) for x in exact), exact)
    with pytest.raises(ValueError, match="not finite"):
        from_bits(0x7FF << 52, 11, 52)


def lying() -> bytes:
    """A deflated member of a gigabyte of zeros that says it is small."""
    raw = bytearray(packed(zipfile.ZIP_DEFLATED, W1=b"\0" * 10**8, **member(w2=w2)))
    while (at := raw.find((10**8).to_bytes(4, "little"))) >= 0:
        raw[at : at + 4] = (100).to_bytes(4, "little")
    return bytes(raw)


DAMAGED: dict[str, tuple[Callable[[], bytes], str]] = {
    "no archive": (lambda: b"PK weights", "not a zip file"),
    "half an archive": (lambda: archive(W1=W1, w2=w2)[:200], "not a zip file"),
    "an archive of text": (lambda: archive(W1=np.array(["a"]), w2=w2), "as numpy.savez writes it"),
    "an archive of Python objects": (lambda: archive(W1=np.array([None, None]), w2=w2), "as numpy.savez writes it"),
    "an array that is not finite": (lambda: archive(W1=np.full((2, 3), np.inf), w2=w2), "not finite"),
    "an array twice": (lambda: archive(W1=W1, w2=w2, **{"W1.npy": W1}), "each once"),
    "a mask beside the weights": (lambda: archive(W1=W1, w2=w2, mask=np.ones(2)), "members, other than"),
    "layers under names of their own": (lambda: archive(**{"0.weight": W1, "2.weight": w2}), "members, other than"),
    "an archive packed by LZMA": (
        lambda: packed(zipfile.ZIP_LZMA, **member(W1=W1, w2=w2)),
        "neither stored nor deflated",
    ),
    "an archive that is too wide": (lambda: archive(W1=np.zeros((2, 300)), w2=w2), "more numbers than"),
    "an array of many dimensions": (lambda: archive(W1=W1.reshape(1, 2, 1, 3), w2=w2), "shapes"),
    "a shape of no numbers": (lambda: archive(W1=np.zeros((0, 10**8)), w2=w2), "shapes"),
    "a shape of too many numbers": (
        lambda: packed(0, W1=member(W1=W1)["W1"].replace(b"(2, 3), }        ", b"(2, 300000000), }"), **member(w2=w2)),
        "600000000 numbers of kind f8 in 48 bytes",
    ),
    "a member that is more than it says": (lying, "zip|CRC|as numpy"),
    "weights of several outputs": (lambda: archive(W1=W1, w2=np.ones((2, 2))), "shapes"),
    "a bias for each of three neurons": (lambda: archive(W1=W1, w2=w2, b1=np.zeros(3)), "biases of other shapes"),
    "two output biases": (lambda: archive(W1=W1, w2=w2, b2=np.zeros(2)), "biases of other shapes"),
    "no second layer": (lambda: archive(W1=W1), "the arrays W1"),
    "no JSON": (lambda: b"{", "Expecting property name"),
    "JSON of words": (lambda: b'{"W1": [["x"]], "w2": [1]}', "expected a number"),
    "JSON with true for a number": (lambda: b'{"W1": [[true]], "w2": [1]}', "a JSON number or a string"),
    "JSON with an infinity": (lambda: b'{"W1": [[Infinity]], "w2": [1]}', "or NaN: 'Infin"),
    "JSON with a number beyond doubles": (lambda: b'{"W1": [[1e999]], "w2": [1]}', "range of binary64"),
    "JSON with rows of two lengths": (lambda: b'{"W1": [[1], [1, 2]], "w2": [1, 2]}', "rows of different lengths"),
    "JSON with a key twice": (lambda: b'{"W1": [[1]], "W1": [[1]], "w2": [1]}', "a key twice"),
    "JSON with another activation": (lambda: b'{"W1": [[1]], "w2": [1], "activation": "tanh"}', "expected a number"),
    "JSON with another number": (lambda: b'{"W1": [[1]], "w2": [1], "scale": 2}', "the arrays W1, w2, scale"),
    "JSON of another version": (lambda: b'{"W1": [[1]], "w2": [1], "version": 2}', "another format or version"),
    "an array of JSON": (lambda: b"[]", "no object"),
    "a file that nobody reads": (lambda: b"\x80\x02weights", "decode"),
    "an integer of 5,000 digits": (lambda: b'{"W1": [[' + b"9" * 5000 + b', 0, 0]], "w2": [1]}', "the weights of"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_rejected(name: str) -> None:
    """A file that cannot be read and compared is rejected with a sentence, whatever the certificate says of it."""
    make, message = DAMAGED[name]
    with pytest.raises(verify.Rejected, match=message):
        compared(make())


def certificate(rows: str, network: TrainedNetwork, *, bias: bool = False, origin: Origin | None = None) -> Any:
    """The producer's certificate of a network, as a tree."""
    data = read_csv_bytes(rows.encode(), "data.csv", bias=bias)
    folded = fold(network, data.d, ones=bias, output_bias="neuron")
    facts = find_facts(network_problem(data, "relu", QUIET), LambdaChoice(value=Fraction(1)), Fraction(1, 10**9), QUIET)
    comparison = compare(examine(folded, data.Z, data.y, Fraction(1)), facts, None)
    said = (*decide(facts, SETTLED), *network_verdicts(comparison, Fraction(1, 10)))
    conversion = convert(Penalty.PAPER, Fraction(1), data.n)
    origin = origin or Origin("json", sha256=sha256(write_json(network, "")).hexdigest())
    return json.loads(dumps(network_certificate(data.source, comparison, conversion, origin, Fraction(1, 10), said)))


def test_an_output_bias_has_one_cost() -> None:
    """b2 written as a neuron c, s with c s = b2, whose cost depends on the choice of c, is not the network of the file:
    neither a claim nor its negation is accepted for it."""
    network = TrainedNetwork(((Fraction(1),),), (Fraction(1),), (NONE,), Fraction(4))
    raw, rows = write_json(network, ""), "x,y\n1,6\n"
    tree = certificate(rows, network, bias=True)
    accepted = {line.claim: line.verdict for line in verify.check(dumps(tree).encode(), rows.encode(), network=raw)}
    fact = tree["facts"]["network"]
    assert fact["b2"] == "4" and Fraction(fact["objective"]) == Fraction(1, 2) + 1 + 4
    assert accepted["network-balanced"] == "PROVED"
    for c in (Fraction(2), Fraction(1, 2)):
        other = TrainedNetwork(((Fraction(1), NONE), (NONE, c)), (Fraction(1), 4 / c))
        chosen = certificate(rows, other, bias=True, origin=Origin("json", sha256=sha256(raw).hexdigest()))
        assert verify.check(dumps(chosen).encode(), rows.encode())
        with pytest.raises(verify.Rejected, match="the weights of the file given"):
            verify.check(dumps(chosen).encode(), rows.encode(), network=raw)


def test_biases_on_a_column_that_is_not_of_ones() -> None:
    """Two features and a network of one input with a bias: its bias is no weight of the second feature."""
    network = TrainedNetwork(((Fraction(1),),), (Fraction(1),), (Fraction(1, 2),))
    raw, rows = write_json(network, ""), "x,z,y\n1,3,2\n"
    other = TrainedNetwork(((Fraction(1), Fraction(1, 2)),), (Fraction(1),))
    tree = certificate(rows, other, origin=Origin("json", sha256=sha256(raw).hexdigest()))
    with pytest.raises(verify.Rejected, match="1 inputs and biases on 2 columns"):
        verify.check(dumps(tree).encode(), rows.encode(), network=raw)


@pytest.mark.parametrize("kind", ["keras", "torch", "onnx", "safetensors"])
def test_a_file_that_is_not_read_is_not_accepted(kind: str) -> None:
    """The right hash of a file that the checker does not read is no comparison: rejected under --network, and no
    name of a format changes that."""
    tree = json.loads(given("exactly optimal").text)
    raw = b"weights of a hundred"
    tree["facts"]["network"]["file"] = {"sha256": sha256(raw).hexdigest(), "origin": f"{kind} {'0' * 64}"}
    with pytest.raises(verify.Rejected, match="network file: expected W1, w2"):
        verify.check(json.dumps(tree).encode(), network=raw)
    tree["facts"]["network"]["file"]["format"] = kind
    with pytest.raises(verify.Rejected, match="unknown key"):
        verify.check(json.dumps(tree).encode(), network=raw)


def test_other_formats_are_converted() -> None:
    """The producer's own copy of a network that came from a file of another kind is what is hashed and compared."""
    network = TrainedNetwork(((Fraction(1), Fraction(2)),), (Fraction(1),), None, Fraction(3))
    tree = certificate("x,y\n1,6\n", network, bias=True, origin=Origin("torch", "net.pt", "a" * 64))
    copy = write_json(network, "")
    assert tree["facts"]["network"]["file"] == {"sha256": sha256(copy).hexdigest(), "origin": f"torch {'a' * 64}"}
    assert verify.check(dumps(tree).encode(), network=copy)


def test_the_merged_network_is_nobody_s_choice() -> None:
    """network-nearest is about the network in which all neurons of one cell are merged: the distance cannot be proved
    in two ways that exclude one another by merging others, or none."""
    tree = json.loads(given("inside the polytope, split, dead").text)
    assert verify.check(json.dumps(tree).encode())
    tree["facts"]["network"]["merged"] = {"collinear": [[3, 4]], "on_data": []}
    with pytest.raises(verify.Rejected, match="the unknown key 'merged'"):
        verify.check(json.dumps(tree).encode())


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --network the file must have the hash and the weights of the certificate, which must speak of a network."""
    tree = json.loads(given("exactly optimal").text)
    network = {"W1": [["6/5", "1.6"], ["-6/5", "-8/5"]], "w2": [2, "2"]}
    path, file, other = (tmp_path / name for name in ("net.cert.json", "net.json", "other.json"))
    file.write_text(json.dumps(network))
    other.write_text(json.dumps({**network, "w2": [2, 3]}))
    for target, code, message in ((file, 0, "accepted"), (other, 1, "the weights of the file given")):
        tree["facts"]["network"]["file"] = {"sha256": sha256(target.read_bytes()).hexdigest(), "origin": ""}
        path.write_text(json.dumps(tree))
        assert main([str(path), "--network", str(target)]) == code
        assert message in capsys.readouterr().out
    assert main([str(path), "--network", str(file)]) == 1
    assert "the hash of the network given" in capsys.readouterr().out
    assert main([str(path), "--network", str(tmp_path / "none.npz")]) == 65
    del tree["facts"]["network"]
    path.write_text(json.dumps({**tree, "claims": [], "end": tree.pop("end")}))
    assert main([str(path), "--network", str(file)]) == 64


def test_wide_networks_fit_into_what_is_read() -> None:
    """As many numbers as the certificate has weights, in all five arrays."""
    m = 3000
    first, second = np.arange(m, dtype=float).reshape(m, 1), np.ones(m)
    raw = archive(W1=first, b1=np.zeros(m), w2=second, b2=np.zeros(1), skip=np.zeros(1))
    exact = tuple((Fraction(k), NONE) for k in range(m))
    weights = Weights(exact, (Fraction(1),) * m, NONE, (), (), (), (), NONE)
    nothing: Any = None
    compare_file(Network(sha256(raw).hexdigest(), weights, NONE, 0, *[nothing] * 6), raw, Limits(), True)


def test_members_begin_as_numpy_says() -> None:
    """Its eight bytes, of version 1; an array of one axis may be said to be in the order of Fortran."""
    (good,) = member(w2=w2).values()
    assert read_npy(good).entries == SECOND
    turned = good.replace(b"'fortran_order': False, ", b"'fortran_order': True,  ").replace(b"True,  '", b"True, '")
    turned = turned[:-17] + b" " + turned[-17:] if len(turned) < len(good) else turned
    assert read_npy(turned).entries == SECOND
    for wrong in (b"\x93NUMPX" + good[6:], good[:6] + b"\x02" + good[7:], b"X" + good[1:]):
        with pytest.raises(ValueError, match=r"as numpy\.savez writes it"):
            read_npy(wrong)
