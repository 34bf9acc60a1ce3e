"""Every format round-trips exactly, and other programs read what we write with equal predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert import certify_network
from relu_cert.errors import DataError
from relu_cert.network.formats import read_network, rounded, write_network
from relu_cert.network.formats.json_text import read as read_json
from relu_cert.network.formats.json_text import write as write_json
from relu_cert.network.objective import ConvexNeuron, network_of
from relu_cert.network.trained import Origin, TrainedNetwork

FORMATS = {"npz": None, "json": None, "safetensors": "safetensors", "onnx": "onnx", "pt": "torch", "pth": "torch"}
X = np.array([[0.5, -1.25], [3.0, 0.1], [-2.0, -0.75], [1e-3, 7.0]])


def floats(seed: int, m: int, d: int, *, biases: bool) -> TrainedNetwork:
    """A network with random doubles for weights."""
    rng = np.random.default_rng(seed)
    row = lambda k: tuple(F(float(x)) for x in rng.normal(size=k))  # noqa: E731
    return TrainedNetwork(
        tuple(row(d) for _ in range(m)), row(m), row(m) if biases else None, row(1)[0] if biases else F(0)
    )


def without_origin(network: TrainedNetwork) -> TrainedNetwork:
    """The network as a value, for comparisons."""
    return replace(network, origin=Origin("relu_cert"))


@pytest.fixture(params=FORMATS)
def ending(request: pytest.FixtureRequest) -> str:
    """One format after the other; those whose package is not installed are skipped."""
    if module := FORMATS[request.param]:
        pytest.importorskip(module)
    return str(request.param)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize(("m", "d"), [(1, 1), (1, 2), (4, 2), (3, 3), (2, 5)])
def test_round_trip(tmp_path: Path, ending: str, m: int, d: int, biases: bool) -> None:
    """What is written is read back exactly, weight by weight, and the origin names the file's bytes."""
    network = floats(m + 10 * d, m, d, biases=biases)
    held = write_network(network, tmp_path / f"net.{ending}")
    again = read_network(tmp_path / f"net.{ending}")
    assert again == held
    assert without_origin(again) == without_origin(network)
    assert len(again.origin.sha256) == 64
    assert again.origin.path == str(tmp_path / f"net.{ending}")
    assert [path.name for path in tmp_path.iterdir()] == [f"net.{ending}"]


@pytest.mark.parametrize(("b1", "b2"), [(None, F(1, 4)), ((F(1), F(-2)), F(0))])
def test_one_bias_without_the_other(tmp_path: Path, ending: str, b1: tuple[F, F] | None, b2: F) -> None:
    """An output bias alone, and first-layer biases alone, are written and read."""
    network = TrainedNetwork(((F(1), F(2)), (F(3), F(4))), (F(5), F(6)), b1, b2)
    write_network(network, tmp_path / f"net.{ending}")
    assert without_origin(read_network(tmp_path / f"net.{ending}")) == network


def test_rationals_are_kept_by_json_and_rounded_elsewhere(tmp_path: Path, ending: str) -> None:
    """1/3 is itself in JSON; a file of floats holds the nearest double, and the writer says so."""
    network = TrainedNetwork(((F(1, 3), F(2)),), (F(-1, 7),), (F(1, 10),))
    held = write_network(network, tmp_path / f"net.{ending}")
    expected = network if ending == "json" else rounded(network)
    assert without_origin(held) == without_origin(expected) == without_origin(read_network(tmp_path / f"net.{ending}"))
    assert rounded(network).W1[0][0] == F(1 / 3) != F(1, 3)


def test_float32_and_float16_are_exact(tmp_path: Path) -> None:
    """Narrow floats are the dyadic rationals they are, not the decimals they print as."""
    np.savez(tmp_path / "a.npz", W1=np.array([[0.1, 2]], dtype=np.float32), w2=np.array([0.1], dtype=np.float16))
    network = read_network(tmp_path / "a.npz")
    assert network.W1[0][0] == F(13421773, 134217728)
    assert network.w2[0] == F(819, 8192)


def test_optimal_network_export(tmp_path: Path, ending: str) -> None:
    """An exact convex neuron becomes balanced weights with |w2| W1 = w exactly; 9 has the exact root of its root."""
    network = network_of([ConvexNeuron(-1, (F(9), F(0))), ConvexNeuron(1, (F(1), F(1)))], 2)
    assert network.W1[0] == (F(3), F(0))
    assert network.w2[0] == F(-3)
    assert tuple(network.w2[1] * x for x in network.W1[1]) == (F(1), F(1))
    norm = sum(x * x for x in network.W1[1])
    assert abs(norm / network.w2[1] ** 2 - 1) < F(1, 2**50)
    held = write_network(network, tmp_path / f"net.{ending}")
    assert all(abs(a - b) < F(1, 2**48) for a, b in zip(held(_exact(X)), network(_exact(X)), strict=True))


def test_the_zero_network_has_one_zero_neuron(tmp_path: Path, ending: str) -> None:
    """No neurons are exported as one that does nothing, so that every library can load the file."""
    write_network(network_of([], 2), tmp_path / f"net.{ending}")
    assert read_network(tmp_path / f"net.{ending}")(_exact(X)) == (F(0),) * 4


@pytest.mark.parametrize("biases", [False, True])
def test_onnxruntime_predicts_the_same(tmp_path: Path, biases: bool) -> None:
    """onnxruntime runs the exported graph and gives f(Z) up to the rounding of doubles."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    network = floats(3, 6, 2, biases=biases)
    write_network(network, tmp_path / "net.onnx")
    session = runtime.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"x": X})
    np.testing.assert_allclose(got[:, 0], [float(v) for v in network(_exact(X))], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("ending", ["pt", "safetensors"])
def test_torch_predicts_the_same(tmp_path: Path, ending: str, biases: bool) -> None:
    """PyTorch loads the exported state dict into Sequential(Linear, ReLU, Linear) and predicts f(Z)."""
    torch = pytest.importorskip("torch")
    network = floats(4, 6, 2, biases=biases)
    if ending == "safetensors":
        load = pytest.importorskip("safetensors.torch").load_file
    else:
        load = lambda path: torch.load(path, weights_only=True)  # noqa: E731
    write_network(network, tmp_path / f"net.{ending}")
    linear = torch.nn.Linear
    model = torch.nn.Sequential(linear(2, 6, bias=biases), torch.nn.ReLU(), linear(6, 1, bias=biases)).double()
    model.load_state_dict(load(str(tmp_path / f"net.{ending}")))
    got = model(torch.from_numpy(X)).detach().numpy()[:, 0]
    np.testing.assert_allclose(got, [float(v) for v in network(_exact(X))], rtol=1e-13, atol=1e-13)


def test_torch_module_with_named_layers(tmp_path: Path) -> None:
    """A module's own state dict, in float32 and in any order of names, is read as it computes."""
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.readout = torch.nn.Linear(5, 1)
            self.hidden = torch.nn.Linear(2, 5)

        def forward(self, x: Any) -> Any:
            return self.readout(torch.relu(self.hidden(x)))

    torch.manual_seed(0)
    model = Net()
    torch.save(model.state_dict(), tmp_path / "net.pt")
    network = read_network(tmp_path / "net.pt")
    assert (network.m, network.d) == (5, 2)
    got = model.double()(torch.from_numpy(X)).detach().numpy()[:, 0]
    np.testing.assert_allclose(got, [float(v) for v in network(_exact(X))], rtol=1e-13, atol=1e-13)


def test_onnx_spellings(tmp_path: Path) -> None:
    """Gemm with alpha, beta and no transB, MatMul with Add on either side, and Constant nodes all mean the same."""
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    A, b = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[0.25, -1.0]])
    B = np.array([[2.0], [-1.0]])
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, None)  # noqa: E731
    constant = helper.make_node("Constant", [], ["B"], value=numpy_helper.from_array(B, "B"))
    matmul = [
        helper.make_node("MatMul", ["x", "A"], ["p"]),
        helper.make_node("Add", ["b", "p"], ["q"]),
        helper.make_node("Relu", ["q"], ["r"]),
        helper.make_node("Identity", ["r"], ["s"]),
        constant,
        helper.make_node("MatMul", ["s", "B"], ["y"]),
    ]
    gemm = [
        helper.make_node("Gemm", ["x", "A", "b"], ["q"], alpha=0.5, beta=2.0),
        helper.make_node("Relu", ["q"], ["r"]),
        constant,
        helper.make_node("Gemm", ["r", "B"], ["y"]),
    ]
    found = []
    for number, nodes in enumerate((matmul, gemm)):
        constants = [numpy_helper.from_array(A * (1, 2)[number], "A"), numpy_helper.from_array(b / (1, 2)[number], "b")]
        graph = helper.make_graph(nodes, "net", [value("x")], [value("y")], constants)
        path = tmp_path / f"{number}.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        found.append(without_origin(read_network(path)))
    assert found[0] == found[1]
    assert found[0] == TrainedNetwork(((F(1), F(1, 2)), (F(-2), F(3))), (F(2), F(-1)), (F(1, 4), F(-1)))


def convolution(onnx, *, alpha=None, reduce=False, **more):
    """An ONNX model as PyTorch writes Conv2d(1, 2, 2, stride=2), ReLU or LeakyReLU, a mean, Flatten, Linear(2, 1)."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    rng = np.random.default_rng(0)
    arrays = {"W": rng.normal(size=(2, 1, 2, 2)), "b": rng.normal(size=2), "v": rng.normal(size=(1, 2))}
    pool = ("ReduceMean", {"axes": [2, 3], "keepdims": 0}) if reduce else ("GlobalAveragePool", {})
    options = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0] * 4, "dilations": [1, 1], "group": 1} | more
    active = ("Relu", {}) if alpha is None else ("LeakyRelu", {"alpha": alpha})
    chain = [(*active, "p", "q"), (*pool, "q", "r"), *([] if reduce else [("Flatten", {"axis": 1}, "r", "s")])]
    nodes = [
        helper.make_node("Conv", ["x", "W", "b"], ["p"], **options),
        *(helper.make_node(kind, [a], [b], **given) for kind, given, a, b in chain),
        helper.make_node("Gemm", ["r" if reduce else "s", "v"], ["y"], transB=1),
    ]
    constants = [numpy_helper.from_array(array.astype(np.float32), key) for key, array in arrays.items()]
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)  # noqa: E731
    graph = helper.make_graph(nodes, "net", [value("x")], [value("y")], constants)
    return helper.make_model(graph).SerializeToString(), arrays


@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("alpha", [None, 0.01])
def test_onnx_convolutions(tmp_path: Path, reduce: bool, alpha: float | None) -> None:
    """Conv, Relu or LeakyRelu, a mean, Gemm is a convolution with its stride and slope, judged as the state dict of the
    same weights is."""
    onnx = pytest.importorskip("onnx")
    raw, arrays = convolution(onnx, reduce=reduce, alpha=alpha)
    (tmp_path / "net.onnx").write_bytes(raw)
    found = read_network(tmp_path / "net.onnx")
    slope = None if alpha is None else F(float(np.float32(alpha)))
    assert (found.kernel, found.slides, found.slope) == ((1, 2, 2), (2, 0), slope)
    rng = np.random.default_rng(1)
    X, y = rng.integers(-2, 3, (5, 1, 4, 4)), [1, -1, 2, 0, 1]
    judged = certify_network(tmp_path / "net.onnx", X, y, "1/2", bias=True)
    state = {"0.weight": arrays["W"], "0.bias": arrays["b"], "3.weight": arrays["v"]}
    state = {key: array.astype(np.float32) for key, array in state.items()}
    assert (
        judged.objective == certify_network(state, X, y, "1/2", bias=True, conv="2x2:stride=2", slope=slope).objective
    )


def test_onnx_convolutions_that_are_others_are_refused(tmp_path: Path) -> None:
    """Dilation, groups, strides that differ and a kernel_shape of other filters are named."""
    onnx = pytest.importorskip("onnx")
    for more in (
        {"dilations": [2, 2]},
        {"group": 2},
        {"strides": [1, 2]},
        {"pads": [0, 1, 0, 1]},
        {"kernel_shape": [1, 4]},
    ):
        (tmp_path / "net.onnx").write_bytes(convolution(onnx, **more)[0])
        with pytest.raises(DataError, match=r"convolution|kernel_shape"):
            read_network(tmp_path / "net.onnx")


def test_torch_onnx_export_is_read(tmp_path: Path) -> None:
    """A graph with transB Gemm nodes named as exporters name them is read as it computes."""
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    network = floats(9, 3, 2, biases=True)
    write_network(network, tmp_path / "net.onnx")
    model = onnx.load(str(tmp_path / "net.onnx"))
    for tensor in model.graph.initializer:  # initialisers that are also listed as inputs, as old exporters do
        model.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    (tmp_path / "old.onnx").write_bytes(model.SerializeToString())
    assert without_origin(read_network(tmp_path / "old.onnx")) == network
    session = runtime.InferenceSession(str(tmp_path / "old.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(
        session.run(["y"], {"x": X})[0][:, 0], [float(v) for v in network(_exact(X))], rtol=1e-12
    )


def test_state_dict_in_a_numpy_archive(tmp_path: Path) -> None:
    """Layers named as in a state dict are understood in every format of named arrays, whatever their order."""
    np.savez(
        tmp_path / "a.npz", **{"fc2.weight": np.ones((1, 3)), "fc1.weight": np.ones((3, 2)), "fc1.bias": np.ones(3)}
    )
    network = read_network(tmp_path / "a.npz")
    assert (network.m, network.d, network.b1) == (3, 2, (F(1),) * 3)


def test_one_by_one_layers_are_ordered_by_their_numbers(tmp_path: Path) -> None:
    """With one input and one neuron the shapes do not tell the layers apart; the numbers in their names do."""
    np.savez(tmp_path / "a.npz", **{"10.weight": np.array([[5.0]]), "9.weight": np.array([[7.0]])})
    network = read_network(tmp_path / "a.npz")
    assert (network.W1, network.w2) == (((F(7),),), (F(5),))


def test_json_floats_are_doubles_and_strings_are_exact() -> None:
    """0.1 without quotes is the nearest double, "0.1" is 1/10, and integers are themselves."""
    raw = json.dumps({"W1": [[0.1, "0.1", "1/3", 7]], "w2": [[2**60 + 1]], "b2": "-1/2"}).encode()
    network = read_json(raw, "net.json", Origin("json"))
    assert network.W1[0] == (F(0.1), F(1, 10), F(1, 3), F(7))
    assert network.w2 == (F(2**60 + 1),)
    assert network.b2 == F(-1, 2)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.fractions(), min_size=1, max_size=4), st.fractions(), st.booleans())
def test_json_holds_every_rational(entries: list[F], last: F, biased: bool) -> None:
    """JSON round-trips any rational weights exactly."""
    network = TrainedNetwork((tuple(entries),), (last,), (last,) if biased else None, last)
    assert without_origin(read_json(write_json(network, ""), "net.json", Origin("json"))) == network


def _exact(rows: np.ndarray[Any, Any]) -> list[list[F]]:
    return [[F(float(x)) for x in row] for row in rows]
