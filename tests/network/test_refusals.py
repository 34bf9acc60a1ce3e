"""What is not a two-layer ReLU network with one output is refused, each with a sentence that says why."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from relu_cert.errors import DataError, ReluCertError, UsageError
from relu_cert.network.formats import from_scnn, from_sklearn, read_network, write_network
from relu_cert.network.formats.named import MAX_BYTES
from relu_cert.network.trained import TrainedNetwork

ONE = np.ones((2, 3))
NAN = np.array([[1.0, np.nan, 0], [0, 0, 0]])

ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"W1": ONE}, "the array w2 is missing"),
    "unknown": ({"W1": ONE, "w2": np.ones(2), "gamma": np.ones(2)}, "unknown array 'gamma'"),
    "vector": ({"W1": np.ones(2), "w2": np.ones(2)}, r"W1 has shape \(2,\); expected neurons x inputs"),
    "no neurons": ({"W1": np.ones((0, 3)), "w2": np.ones(0)}, r"W1 has shape \(0, 3\)"),
    "transposed": ({"W1": ONE, "w2": np.ones(3)}, r"W1 seems to be transposed"),
    "outputs": ({"W1": ONE, "w2": np.ones((2, 3))}, "with several outputs a row of these for each"),
    "outputs and a skip": (
        {"W1": ONE, "w2": np.ones((3, 2)), "skip": np.ones(2)},
        "a skip connection beside 3 outputs",
    ),
    "outputs and a bias": (
        {"W1": ONE, "w2": np.ones((3, 2)), "b2": np.ones(1)},
        "one number for each of the 3 outputs",
    ),
    "lengths": ({"W1": ONE, "w2": np.ones(5)}, "one entry of w2 for each of the 2 rows of W1"),
    "b1": (
        {"W1": ONE, "w2": np.ones(2), "b1": np.ones(3)},
        r"b1 has shape \(3,\); expected one entry for each of the 2",
    ),
    "b2": ({"W1": ONE, "w2": np.ones(2), "b2": np.ones(3)}, r"b2 has shape \(3,\); expected one number"),
    "nan": ({"W1": NAN, "w2": np.ones(2)}, r"W1\[0\]\[1\] is nan; weights must be finite"),
    "inf": ({"W1": ONE, "w2": np.array([1, -np.inf])}, r"w2\[1\] is -inf"),
    "complex": ({"W1": ONE * 1j, "w2": np.ones(2)}, "type complex128; expected floats"),
    "text": ({"W1": np.array([["a"]]), "w2": np.ones(1)}, "expected floats"),
    "long": ({"W1": ONE.astype(np.longdouble), "w2": np.ones(2)}, "type float128; expected floats of 16, 32 or 64"),
    "deep": (
        {f"{k}.weight": np.ones((2, 2)) for k in range(4)},
        "a network of 3 hidden layers, of which nothing global is proved; .* --from-layer 3",
    ),
    "linear": ({"0.weight": np.ones((1, 2))}, "a network of 1 linear layer;"),
    "convolution": (
        {"0.weight": np.ones((2, 2, 3, 3, 3)), "2.weight": np.ones((1, 2))},
        r"'0.weight' has shape \(2, 2, 3, 3, 3\)",
    ),
    "normalisation": (
        {"0.weight": ONE, "1.running_mean": np.ones(2), "2.weight": np.ones((1, 2))},
        "numbers of '1.' .* do not say on which side of the activation .*; give the Sequential itself .* or fold it",
    ),
    "classes": ({"0.weight": ONE, "2.weight": np.ones((4, 3))}, "do not follow one another; expected"),
    "gap": ({"0.weight": ONE, "2.weight": np.ones((1, 5))}, "they do not follow one another"),
    "order": ({"a.weight": np.ones((1, 1)), "b.weight": np.ones((1, 1))}, "fit in both orders; name them W1, w2"),
    "nothing": ({}, "a network of 0 linear layers"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays(tmp_path: Path, case: str) -> None:
    """Wrong shapes, unknown layers, several outputs, several hidden layers, NaN and infinity, each by name."""
    arrays, message = ARRAYS[case]
    np.savez(tmp_path / "net.npz", **arrays)
    with pytest.raises(DataError, match=message) as caught:
        read_network(tmp_path / "net.npz")
    _one_sentence(caught.value)


JSON: dict[str, tuple[str, str]] = {
    "not json": ("{", r"line 1, column 2: not JSON"),
    "array": ("[1]", "expected an object with the keys W1 and w2"),
    "unknown": ('{"W1": [[1]], "w2": [1], "W3": 0}', "unknown key 'W3'"),
    "twice": ('{"W1": [[1]], "w2": [1], "w2": [2]}', "a key is given twice"),
    "missing": ('{"W1": [[1]]}', "the key w2 is missing"),
    "version": ('{"W1": [[1]], "w2": [1], "version": 2}', "version is '2'; expected 1"),
    "format": ('{"W1": [[1]], "w2": [1], "format": "x"}', "format is 'x'; expected 'relu_cert network'"),
    "ragged": ('{"W1": [[1, 2], [3]], "w2": [1, 1]}', "rows of W1 have different lengths"),
    "nan": ('{"W1": [[NaN]], "w2": [1]}', "found NaN; weights must be finite"),
    "infinity": ('{"W1": [[-Infinity]], "w2": [1]}', "found -Infinity"),
    "huge": ('{"W1": [[1e999]], "w2": [1]}', r"W1\[0\]\[0\] is too large for a double"),
    "null": ('{"W1": [[null]], "w2": [1]}', r"W1\[0\]\[0\] is null; expected a number"),
    "true": ('{"W1": [[true]], "w2": [1]}', "is true; expected a number"),
    "word": ('{"W1": [["a"]], "w2": [1]}', r"W1\[0\]\[0\]: found 'a', not a number"),
    "nested": ('{"W1": [[[1]]], "w2": [1]}', "an array or an object; expected a number"),
    "scalar": ('{"W1": 1, "w2": [1]}', "W1: expected an array of numbers, found '1'"),
    "outputs": ('{"W1": [[1]], "w2": [[1], [2, 3]]}', "the rows of w2 have different lengths"),
    "empty": ('{"W1": [], "w2": []}', "expected neurons x inputs"),
    "deep": ('{"W1": ' + "[" * 100_000, "nested too deeply"),
    "digits": ('{"W1": [[' + "1" * 10_000 + ']], "w2": [1]}', "too many digits"),
}


@pytest.mark.parametrize("case", JSON)
def test_json(tmp_path: Path, case: str) -> None:
    """Everything that the schema does not allow is named."""
    text, message = JSON[case]
    (tmp_path / "net.json").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_network(tmp_path / "net.json")
    _one_sentence(caught.value)


class _Bomb:
    """An object whose unpickling would leave a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return (Path.touch, (self.trace,))


def test_pickles_in_numpy_archives_are_not_loaded(tmp_path: Path) -> None:
    """An archive with Python objects is refused without unpickling them."""
    np.savez(tmp_path / "net.npz", W1=np.array([_Bomb(tmp_path / "trace")], dtype=object), w2=np.ones(1))
    with pytest.raises(DataError, match="holds Python objects, which are never unpickled"):
        read_network(tmp_path / "net.npz")
    assert not (tmp_path / "trace").exists()


def test_damaged_and_swollen_archives(tmp_path: Path) -> None:
    """Bytes that are no archive, and an archive that unpacks to more than the limit, are refused."""
    (tmp_path / "net.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(DataError, match=r"it is damaged; save W1 and w2 with numpy.savez"):
        read_network(tmp_path / "net.npz")
    np.savez(tmp_path / "net.npz", W1=ONE, w2=np.ones(2))
    whole = bytearray((tmp_path / "net.npz").read_bytes())
    for place in range(0, len(whole), 3):
        torn = bytearray(whole)
        torn[place] ^= 0xFF
        (tmp_path / "torn.npz").write_bytes(torn)
        with contextlib.suppress(DataError):
            read_network(tmp_path / "torn.npz")
    with zipfile.ZipFile(tmp_path / "twice.npz", "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("W1.npy", b"")
        archive.writestr("W1.npy", b"")
    with pytest.raises(DataError, match="in the archive twice"):
        read_network(tmp_path / "twice.npz")
    with zipfile.ZipFile(tmp_path / "big.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("W1.npy", bytes(MAX_BYTES + 1))
    with pytest.raises(DataError, match=r"more than [0-9]+ MiB once decompressed"):
        read_network(tmp_path / "big.npz")


def test_files(tmp_path: Path) -> None:
    """A missing file, an unknown ending and a place that cannot be written are told apart."""
    with pytest.raises(DataError, match="there is no such file"):
        read_network(tmp_path / "net.npz")
    with pytest.raises(UsageError, match=r"unknown kind of network file; the endings are .npz, .json"):
        read_network(tmp_path / "net.txt")
    network = TrainedNetwork(((1,),), (1,))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot write"):
        write_network(network, tmp_path / "nowhere" / "net.json")


def test_a_pickle_is_not_loaded_and_the_way_is_shown(tmp_path: Path) -> None:
    """Whoever kept a fitted MLPRegressor as a pickle is told how it is certified."""
    for ending in (".pkl", ".joblib"):
        with pytest.raises(
            UsageError, match=r"not loaded; in Python relu_cert\.certify_network\(model, X, y, alpha, pen"
        ):
            read_network(tmp_path / f"model{ending}")


def test_weights_too_large_for_doubles(tmp_path: Path) -> None:
    """A rational beyond the doubles can be written as JSON only."""
    from fractions import Fraction

    network = TrainedNetwork(((Fraction(10**400),),), (Fraction(1),))
    with pytest.raises(DataError, match="too large for a double; write JSON"):
        write_network(network, tmp_path / "net.npz")
    write_network(network, tmp_path / "net.json")
    assert ((Fraction(10**400),),) == read_network(tmp_path / "net.json").W1


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of a format, the extra to install is named."""
    import sys

    for module, ending, extra in (
        ("onnx", "onnx", "onnx"),
        ("torch", "pt", "torch"),
        ("safetensors", "safetensors", "safetensors"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, f"{module}.numpy", None)
        (tmp_path / f"net.{ending}").write_bytes(b"x")
        with pytest.raises(UsageError, match=rf"needs the package {module}; install relu_cert\[{extra}\]"):
            read_network(tmp_path / f"net.{ending}")


def test_torch_files(tmp_path: Path) -> None:
    """A pickled module, a checkpoint, a lone tensor, integers and damaged bytes are refused; no code runs."""
    torch = pytest.importorskip("torch")
    cases = {
        "module": (torch.nn.Linear(1, 1), "more than tensors"),
        "bomb": (
            {"0.weight": _Bomb(tmp_path / "trace")},
            "more than tensors, or no PyTorch file; code is never loaded",
        ),
        "checkpoint": ({"model": {"0.weight": torch.ones(1, 1)}, "epoch": 3}, "a network of 1 linear layer;"),
        "more": ({"weights": {"0.weight": torch.ones(1, 1)}, "epoch": 3}, "'weights' is of type dict, not a tensor"),
        "tensor": (torch.ones(2, 2), "found Tensor, not a state dict"),
        "integers": ({"0.weight": torch.ones(2, 2, dtype=torch.int64)}, "holds torch.int64; expected a dense tensor"),
        "nan": (
            {"0.weight": torch.full((2, 2), float("nan")), "2.weight": torch.ones(1, 2)},
            "is nan; weights must be",
        ),
    }
    for case, (content, message) in cases.items():
        torch.save(content, tmp_path / f"{case}.pt")
        with pytest.raises(DataError, match=message):
            read_network(tmp_path / f"{case}.pt")
    (tmp_path / "net.pth").write_bytes(b"nothing")
    with pytest.raises(DataError, match="PyTorch file"):
        read_network(tmp_path / "net.pth")
    assert not (tmp_path / "trace").exists()


def test_safetensors_files(tmp_path: Path) -> None:
    """Damaged bytes and wrong layers are refused."""
    library = pytest.importorskip("safetensors.numpy")
    (tmp_path / "net.safetensors").write_bytes(b"nothing at all")
    with pytest.raises(DataError, match=r"not a readable .safetensors file"):
        read_network(tmp_path / "net.safetensors")
    library.save_file({"0.weight": np.ones((2, 2)), "2.weight": np.ones((3, 3))}, tmp_path / "net.safetensors")
    with pytest.raises(DataError, match="do not follow"):
        read_network(tmp_path / "net.safetensors")


def test_onnx_files(tmp_path: Path) -> None:
    """Other activations, several layers or outputs, forks, weights on the left and damaged bytes are refused."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    arrays = {"A": np.ones((2, 3)), "B": np.ones((3, 1)), "C": np.ones((3, 2)), "S": np.ones((3, 3)), "v": np.ones(2)}
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, None)  # noqa: E731
    node = helper.make_node
    first, last = node("MatMul", ["x", "A"], ["a"]), node("MatMul", ["h", "B"], ["y"])
    relu = node("Relu", ["a"], ["h"])
    cases = {
        "tanh": ([first, node("Tanh", ["a"], ["h"]), last], "unknown layer 'Tanh'; expected Gemm, or MatMul and Add"),
        "linear": ([first, node("MatMul", ["a", "B"], ["y"])], "0 ReLU layers and 2 linear layers"),
        "two hidden": (
            [
                first,
                relu,
                node("MatMul", ["h", "S"], ["b"]),
                node("Relu", ["b"], ["c"]),
                node("MatMul", ["c", "B"], ["y"]),
            ],
            "a network of 2 hidden layers, .* --from-layer 2",
        ),
        "left": ([node("MatMul", ["A", "x"], ["a"]), relu, last], "weights on the left"),
        "transA": ([node("Gemm", ["x", "A"], ["a"], transA=1), relu, last], "Gemm with transA"),
        "skip": (
            [first, relu, node("Add", ["h", "a"], ["s"]), node("MatMul", ["s", "B"], ["y"])],
            "not part of a chain",
        ),
        "square": (
            [first, relu, node("Mul", ["h", "h"], ["s"]), node("MatMul", ["s", "B"], ["y"])],
            "not part of a chain",
        ),
        "shapes": ([first, relu, node("MatMul", ["h", "A"], ["y"])], r"\(2, 3\) and \(2, 3\) do not follow"),
        "bias": (
            [first, node("Add", ["a", "v"], ["c"]), node("Relu", ["c"], ["h"]), last],
            r"bias of shape \(2,\) after 3",
        ),
        "output": ([first, relu, node("MatMul", ["h", "B"], ["z"])], "the last layer is not the output"),
        "vector": ([node("MatMul", ["x", "v"], ["a"]), relu, last], r"weights have shape \(2,\); expected a matrix"),
        "attribute": (
            [node("Gemm", ["x", "A"], ["a"], gamma=2.0), relu, last],
            "unknown attributes of the layer 'Gemm'",
        ),
        "sloped": ([first, node("Relu", ["a"], ["h"], alpha=0.1), last], "unknown attributes of the layer 'Relu'"),
        "infinite": ([node("Gemm", ["x", "A"], ["a"], alpha=np.inf), relu, last], "the attribute alpha is inf"),
        "twice": ([first, node("Relu", ["a"], ["A"]), node("MatMul", ["A", "B"], ["y"])], "a name is given twice"),
        "domain": ([first, relu, node("Gemm", ["h", "B"], ["y"], domain="my.own")], "unknown layer 'Gemm' of 'my.own'"),
    }
    for case, (nodes, message) in cases.items():
        constants = [onnx.numpy_helper.from_array(array, key) for key, array in arrays.items()]
        graph = helper.make_graph(nodes, case, [value("x")], [value("y")], constants)
        (tmp_path / "net.onnx").write_bytes(helper.make_model(graph).SerializeToString())
        with pytest.raises(DataError, match=message) as caught:
            read_network(tmp_path / "net.onnx")
        _one_sentence(caught.value)
    (tmp_path / "net.onnx").write_bytes(b"\xff\xff nothing")
    with pytest.raises(DataError, match="not a readable ONNX model"):
        read_network(tmp_path / "net.onnx")


def _mlp(**changes: Any) -> SimpleNamespace:
    parts: dict[str, Any] = {
        "coefs_": [np.ones((2, 3)), np.ones((3, 1))],
        "intercepts_": [np.ones(3), np.ones(1)],
        "activation": "relu",
        "out_activation_": "identity",
    }
    return SimpleNamespace(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"activation": "tanh"}, "the activation is tanh; only ReLU"),
        ({"out_activation_": "tanh"}, "the output activation is tanh; expected linear or logistic outputs"),
        ({"coefs_": [np.ones((2, 3)), np.ones((3, 3)), np.ones((3, 1))]}, "a network of 2 hidden layers"),
        ({"coefs_": [np.ones((2, 3)), np.ones((3, 2))]}, "one number for each of the 2 outputs"),
        ({"coefs_": [np.full((2, 3), np.nan), np.ones((3, 1))]}, "is nan"),
    ],
)
def test_sklearn_models(changes: dict[str, Any], message: str) -> None:
    """A classifier, another activation, several layers or outputs, and NaN are refused."""
    with pytest.raises(DataError, match=message):
        from_sklearn(_mlp(**changes))


def test_sklearn_model_that_was_not_fitted() -> None:
    """A model without weights is told to be fitted."""
    with pytest.raises(UsageError, match="fit the model first"):
        from_sklearn(SimpleNamespace())


def test_scnn_models() -> None:
    """The convex and gated models of scnn, and several outputs, are refused; the ReLU network is read."""

    class NonConvexReLU(SimpleNamespace):
        """Has the fields of scnn's class of that name."""

    class ConvexReLU(SimpleNamespace):
        """Has the name of scnn's class."""

    network = from_scnn(NonConvexReLU(bias=True, parameters=[np.ones((3, 2)), np.zeros(3), np.ones((1, 3))]))
    assert (network.m, network.d, network.b1) == (3, 2, (0, 0, 0))
    assert from_scnn(NonConvexReLU(bias=False, parameters=[np.ones((3, 2)), np.ones((1, 3))])).b1 is None
    with pytest.raises(DataError, match="ConvexReLU: expected scnn's NonConvexReLU"):
        from_scnn(ConvexReLU(bias=False, parameters=[]))
    with pytest.raises(DataError, match="several outputs"):
        from_scnn(NonConvexReLU(bias=False, parameters=[np.ones((3, 2)), np.ones((2, 3))]))
    with pytest.raises(DataError, match="2 arrays; expected W1, b1"):
        from_scnn(NonConvexReLU(bias=True, parameters=[np.ones((3, 2)), np.ones((1, 3))]))


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    """A name from a file cannot write to the terminal."""
    stream = io.BytesIO()
    np.savez(stream, **{"W1": ONE, "w2": np.ones(2), "\x1b[2J": np.ones(1)})
    (tmp_path / "net.npz").write_bytes(stream.getvalue())
    with pytest.raises(DataError, match=r"unknown array '\\x1b\[2J'"):
        read_network(tmp_path / "net.npz")
    (tmp_path / "net.json").write_text(json.dumps({"\x1b": 1}))
    with pytest.raises(DataError, match=r"unknown key '\\x1b'"):
        read_network(tmp_path / "net.json")


def _one_sentence(error: ReluCertError) -> None:
    text = str(error)
    assert text.endswith(".")
    assert "\n" not in text
    assert "Traceback" not in text
