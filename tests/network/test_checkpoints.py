"""Networks as people save them: checkpoints, prefixes, deeper networks, parts that are no ReLU."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from relu_cert import certify_network
from relu_cert.errors import DataError, UsageError
from relu_cert.network.formats import read_network
from relu_cert.network.given import given_network
from tests.cli.run import run
from verify.__main__ import main as verify

STATE = {
    "module.net.0.weight": np.array([[1.0, 2.0], [-1.0, 1.0]]),
    "module.net.0.bias": np.array([0.5, 0.0]),
    "module.net.2.weight": np.array([[1.0, -1.0]]),
}
DEEP = {
    "0.weight": np.array([[1.0, 0.5], [-1.0, 1.0], [0.25, 1.0]]),
    "0.bias": np.array([0.0, 0.5, 1.0]),
    "2.weight": np.array([[1.0, 2.0, 0.5], [-1.0, 1.0, 0.25]]),
    "4.weight": np.array([[1.0, -1.0]]),
}


@pytest.mark.parametrize("key", ["model_state_dict", "state_dict", "model"])
def test_a_checkpoint_is_opened(key):
    """The epoch and the optimiser are passed over, and prefixes say nothing."""
    found = given_network({"epoch": 7, key: STATE, "optimizer_state_dict": {"lr": 0.1}})
    assert found == given_network(STATE) and found.m == 2 and found.d == 2


class Part:
    """As much of a torch Module as is looked at."""

    def __init__(self, *parts, state=None):
        self.parts, self.state = parts, state

    def children(self):
        return iter(self.parts)

    def modules(self):
        yield self
        for part in self.parts:
            yield from part.modules()

    def state_dict(self):
        return self.state


class Linear(Part):
    pass


class Tanh(Part):
    pass


class Sigmoid(Part):
    pass


class ReLU(Part):
    pass


class LeakyReLU(Part):
    negative_slope = 0.01


class Sequential(Part):
    pass


class Flatten(Part):
    pass


class Conv2d(Part):
    stride, padding, dilation, groups = (1, 1), (0, 0), (1, 1), 1


class AdaptiveAvgPool2d(Part):
    output_size = 1


class Dropout(Part):
    pass


@pytest.mark.parametrize(("part", "said"), [(Tanh, "Tanh is not understood: only max"), (Sigmoid, "leave it out")])
def test_a_module_with_another_activation_is_refused(part, said):
    """A state dict has no activation; a module has, and one that is no ReLU is not judged as if it were."""
    with pytest.raises(DataError, match=said):
        given_network(Part(Linear(), part(), Linear(), state=STATE))
    assert given_network(Part(Linear(), ReLU(), Dropout(), Linear(), state=STATE)).m == 2


def test_a_leaky_module_knows_its_slope():
    """LeakyReLU(0.01) has the slope that the double 0.01 is; it is judged with it, and the report says so."""
    net = Part(Linear(), LeakyReLU(), Linear(), state=STATE)
    assert given_network(net).slope == Fraction(0.01)
    Z, targets = [[1, 0], [0, 1], [1, 1], [-1, 2]], [1, -1, 1, 0]
    found = certify_network(net, Z, targets, "1/10", bias=True)
    assert "slope s = 0.01, in binary 5764607523034235/2^59" in " ".join(str(found).split())
    W = np.column_stack([STATE["module.net.0.weight"], STATE["module.net.0.bias"]])
    w2, total = STATE["module.net.2.weight"][0], Fraction(0)
    for z, y in zip(Z, targets, strict=True):
        heights = [sum(Fraction(a) * x for a, x in zip(w, (*z, 1), strict=True)) for w in W]
        total += (sum(Fraction(v) * max(h, Fraction(0.01) * h) for v, h in zip(w2, heights, strict=True)) - y) ** 2
    size = sum(Fraction(x) ** 2 for x in (*W.ravel(), *w2))
    assert found.objective == total / 2 + size / 20


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((Linear(), Linear()), "in this order"),
        ((Linear(), ReLU(), Linear(), ReLU()), "in this order"),
        ((Conv2d(), ReLU(), Flatten(), Linear()), "each position of a filter"),
        ((Linear(), ReLU(), Conv2d(), ReLU(), Linear()), "expected it to be the first"),
        ((Linear(), ReLU(), AdaptiveAvgPool2d(), Linear()), "after a convolution"),
        ((Linear(), ReLU(), Linear(), LeakyReLU(), Linear()), "2 different slopes"),
    ],
)
def test_parts_in_another_order_are_refused(parts, said):
    """A Sequential says the order of its parts: one that is another function is not judged as that network."""
    with pytest.raises(DataError, match=said):
        given_network(Sequential(*parts, state=STATE))


class Strided(Conv2d):
    stride = (2, 2)


Strided.__name__ = "Conv2d"


class Dilated(Conv2d):
    dilation = (2, 2)


Dilated.__name__ = "Conv2d"


def test_a_convolutional_module_says_how_it_slides():
    """Stride and padding of Conv2d are the module's own; what --conv says must agree, and dilation is refused."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, (6, 1, 4, 4)), [1, -1, 2, 0, 1, -2]
    state = {"0.weight": rng.integers(-4, 5, (2, 1, 2, 2)) / 8, "4.weight": np.array([[1.0, -0.5]])}
    net = Sequential(Strided(), ReLU(), AdaptiveAvgPool2d(), Flatten(), Linear(), state=state)
    found = certify_network(net, X, y, "1/2")
    assert found.objective == certify_network(state, X, y, "1/2", conv="2x2:stride=2").objective
    with pytest.raises(UsageError, match="stride 2 and padding 0, the windows 1 and 0"):
        certify_network(net, X, y, "1/2", conv="2x2")
    with pytest.raises(DataError, match="dilation"):
        given_network(Sequential(Dilated(), ReLU(), AdaptiveAvgPool2d(), Linear(), state=state))


def normalised(at: int, size: int) -> dict[str, np.ndarray]:
    """The tensors of BatchNorm1d at that place of a Sequential."""
    rng = np.random.default_rng(at)
    parts = {"weight": rng.uniform(-1, 1, size), "bias": rng.uniform(-1, 1, size)}
    parts |= {"running_mean": rng.uniform(-1, 1, size), "running_var": rng.uniform(0.5, 2, size)}
    return {f"{at}.{key}": array for key, array in parts.items()} | {f"{at}.num_batches_tracked": np.array(7)}


def through(state: dict[str, np.ndarray], X: np.ndarray, relu: int) -> np.ndarray:
    """The Sequential, layer by layer in doubles; its activation is at that place."""
    h = X
    for at in sorted({int(key.split(".")[0]) for key in state} | {relu}):
        if at == relu:
            h = np.maximum(h, 0)
        elif f"{at}.running_mean" in state:
            mean, var, gamma, beta = (state[f"{at}.{k}"] for k in ("running_mean", "running_var", "weight", "bias"))
            h = (h - mean) / np.sqrt(var + 1e-5) * gamma + beta
        else:
            h = h @ state[f"{at}.weight"].T + state.get(f"{at}.bias", 0)
    return h[:, 0]


FIRST, SECOND = np.array([[1.0, 2.0], [-1.0, 1.0], [0.5, -1.0]]), np.array([[1.0, -1.0, 0.5]])


@pytest.mark.parametrize(
    ("places", "first", "relu", "second"),
    [((1,), 0, 2, 3), ((2,), 0, 1, 3), ((1, 3), 0, 2, 4), ((0, 3), 1, 2, 4), ((4,), 0, 2, 3)],
    ids=["before the ReLU", "after it", "on both sides", "at the inputs", "at the output"],
)
def test_batch_normalisation_is_folded_and_said(tmp_path, monkeypatch, places, first, relu, second):
    """Affine at evaluation, it is folded into the layer beside it; the report and the page say that penalties are those
    after that, and the checker accepts."""
    monkeypatch.chdir(tmp_path)
    state = {f"{first}.weight": FIRST, f"{first}.bias": np.array([0.5, 0, -1.0]), f"{second}.weight": SECOND}
    sizes = {0: 2, second + 1: 1}
    for at in places:
        state |= normalised(at, sizes.get(at, 3))
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 2.0]])
    found = given_network(state)
    values = found([[Fraction(x) for x in row] for row in X])
    np.testing.assert_allclose([float(v) for v in values], through(state, X, relu), rtol=1e-12, atol=1e-12)
    np.savez("net.npz", **state)
    Path("d.csv").write_text("a,b,y\n1,0,1\n0,1,-1\n1,1,1\n-1,2,0\n")
    asked = ["network", "net.npz", "d.csv", "--lambda", "0.1", "--penalty", "pytorch", "--html", "p.html"]
    ran = run(*asked, "--output-bias", "neuron")
    assert ran.code == 0, ran.err
    told, many = " ".join(ran.out.split()), "are" if len(places) > 1 else "is"
    said = f"{', '.join(f'part {one}' for one in places)} {many} folded into a linear layer, as at evaluation"
    assert said in told and "as trained" not in told and said in Path("p.html").read_text(encoding="utf-8")
    assert verify(["net.network.cert.json", "--data", "d.csv", "--network", "net.network.json"]) == 0


@pytest.mark.parametrize(
    ("first", "normal", "second"), [("0.", "2.", "4."), ("0.", "1.", "2."), ("fc1.", "bn1.", "fc2."), ("0.", "1.", "")]
)
def test_batch_normalisation_of_unknown_place_is_refused(first, normal, second):
    """Where names and numbers do not say on which side of the activation it is, the refusal says what can be done."""
    state = {f"{first}weight": FIRST, f"{second}weight": SECOND}
    state |= {f"{normal}{key[2:]}": array for key, array in normalised(2, 3).items()}
    with pytest.raises(DataError, match=r"on which side .* give the Sequential itself .*, or fold it first"):
        given_network(state)


class BatchNorm1d(Part):
    eps, running_mean = 1e-3, np.zeros(3)


class Named(Sequential):
    """A Sequential that tells its names, as those of torch do."""

    def named_modules(self):
        yield from ((str(at), part) for at, part in enumerate(self.parts))


Named.__name__ = "Sequential"


def test_a_module_says_where_its_batch_normalisation_stands():
    """Dropout on one side leaves no doubt in a module, and its own eps is taken; without statistics it is refused."""
    state = {"0.weight": FIRST, "4.weight": SECOND, **normalised(2, 3)}
    parts = [Linear(), ReLU(), BatchNorm1d(), Dropout(), Linear()]
    found = given_network(Named(*parts, state=state))
    scale = state["2.weight"] / np.sqrt(state["2.running_var"] + 1e-3)
    assert found.w2 == tuple(map(Fraction, SECOND[0] * scale)) and found.origin.folded == ("2",)
    parts[2].running_mean = None
    with pytest.raises(DataError, match="the batch at hand"):
        given_network(Named(*parts, state=state))


class GELU(Part):
    pass


@pytest.mark.parametrize("parts", [(Linear(), GELU(), Linear()), (Linear(), ReLU(), Conv2d(), ReLU(), Linear())])
def test_every_refusal_of_an_architecture_says_what_can_be_done(parts):
    """Fix what is in front, and certify the last two linear layers on what is made of the data there."""
    with pytest.raises(DataError, match=r"what can be done: .* certify_network\(model\[k:\], model\[:k\]\(X\)"):
        given_network(Sequential(*parts, state=STATE))


def chain(onnx, *nodes, **constants):
    """An ONNX model of nodes one after the other."""
    helper = onnx.helper
    made = [
        helper.make_node(kind, [f"h{k}", *names], [f"h{k + 1}"], **more) for k, (kind, names, more) in enumerate(nodes)
    ]
    number = onnx.TensorProto.DOUBLE
    ends = [helper.make_tensor_value_info(f"h{k}", number, ["n", w]) for k, w in ((0, 2), (len(nodes), 1))]
    weights = [onnx.numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()]
    graph = helper.make_graph(made, "g", ends[:1], ends[1:], weights)
    made_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    return made_model.SerializeToString()


def test_onnx_folds_batch_normalisation_and_has_layers_in_front(tmp_path, monkeypatch):
    """BatchNormalization is folded on both sides of the ReLU; of a deeper model --from-layer is named, and works."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    state = normalised(1, 3)
    normal = {f"n{k}": state[f"1.{key}"] for k, key in enumerate(("weight", "bias", "running_mean", "running_var"))}
    gemm, relu, bn = ("Gemm", ["W", "b"], {"transB": 1}), ("Relu", [], {}), ("BatchNormalization", [*normal], {})
    last, more = ("Gemm", ["v"], {"transB": 1}), ("Gemm", ["V", "b"], {"transB": 1})
    weights = normal | {"W": FIRST, "b": np.array([0.5, 0, -1.0]), "v": SECOND, "V": np.eye(3) + 0.5}
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 2.0]])
    Path("d.csv").write_text("a,b,y\n1,0,1\n0,1,-1\n1,1,1\n-1,2,0\n")
    for k, nodes in enumerate(((gemm, bn, relu, last), (gemm, relu, bn, last), (gemm, bn, relu, more, relu, bn, last))):
        raw = chain(onnx, *nodes, **weights)
        Path(f"{k}.onnx").write_bytes(raw)
        session = runtime.InferenceSession(raw, providers=["CPUExecutionProvider"])
        (wanted,) = session.run(None, {"h0": X})
        deep = k == 2
        if deep:
            refused = run("network", f"{k}.onnx", "d.csv", "--lambda", "1/10")
            assert refused.code == 65 and "--from-layer 2" in refused.err
        asked = ["network", f"{k}.onnx", "d.csv", "--lambda", "1/10", "--bias", "--output-bias", "neuron"]
        ran = run(*asked, *["--from-layer", "2"] * deep)
        assert ran.code == 0 and "folded into a linear layer" in ran.out, ran.err
        data = f"{k}.features.csv" if deep else "d.csv"
        assert verify([f"{k}.network.cert.json", "--data", data, "--network", f"{k}.network.json"]) == 0
        found = read_network(f"{k}.onnx", 1 + deep)
        rows = found.features(X) if deep else X
        values = [float(v) for v in found([[Fraction(x) for x in row] for row in rows.tolist()])]
        np.testing.assert_allclose(values, wanted[:, 0], rtol=1e-6)  # eps is a float there


def test_a_deeper_network_is_certified_from_a_layer_on(tmp_path, monkeypatch):
    """The refusal names the option, the option works, and the checker accepts with the files that it names."""
    monkeypatch.chdir(tmp_path)
    np.savez("deep.npz", **DEEP)
    Path("d.csv").write_text("a,b,y\n1,0,1\n0,1,-1\n1,1,1\n-1,1,-1\n")
    refused = run("network", "deep.npz", "d.csv", "--lambda", "1/10")
    assert refused.code == 65 and "--from-layer 2" in refused.err
    ran = run("network", "deep.npz", "d.csv", "--lambda", "1/10", "--from-layer", "2")
    assert ran.code == 0 and "its first layer is fixed" in ran.out
    args = ["deep.network.cert.json", "--data", "deep.features.csv", "--network", "deep.network.json"]
    assert verify(args) == 0
    rows = [list(map(float, line.split(","))) for line in Path("deep.features.csv").read_text().splitlines()[1:]]
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
    assert np.array_equal(np.array(rows)[:, :3], np.maximum(Z @ DEEP["0.weight"].T + DEEP["0.bias"], 0))
    found = certify_network(DEEP, Z, [1, -1, 1, -1], "1/10", from_layer=2, verify=False)
    assert str(found.objective) in " ".join(ran.out.split())
