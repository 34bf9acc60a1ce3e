"""Networks as people save them: checkpoints, prefixes, deeper networks, parts that are no ReLU."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from relu_cert import certify_network
from relu_cert.errors import DataError, UsageError
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
