"""Networks as people save them: checkpoints, prefixes, deeper networks, parts that are no ReLU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relu_cert import certify_network
from relu_cert.errors import DataError
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


class ReLU(Part):
    pass


class LeakyReLU(Part):
    pass


class Dropout(Part):
    pass


@pytest.mark.parametrize(("part", "said"), [(Tanh, "Tanh is not understood"), (LeakyReLU, "has a slope")])
def test_a_module_with_another_activation_is_refused(part, said):
    """A state dict has no activation; a module has, and one that is no ReLU is not judged as if it were."""
    with pytest.raises(DataError, match=said):
        given_network(Part(Linear(), part(), Linear(), state=STATE))
    assert given_network(Part(Linear(), ReLU(), Dropout(), Linear(), state=STATE)).m == 2


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
