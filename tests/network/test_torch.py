"""Networks that PyTorch trained: what its own files and modules hold is certified in its own objective."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from relu_cert import certify_network
from relu_cert.errors import DataError, UsageError
from tests.cli.run import run
from verify.__main__ import main as verify

torch = pytest.importorskip("torch")
nn = torch.nn
DECAY = 0.01
ROWS = np.array([[-2, 1], [-1, 3], [0, -1], [1, 2], [2, 0], [3, -2], [-1, -2], [2, 2]], dtype=float)
TARGETS = np.array([3, 1, 0, 2, 1, -1, 2, 4], dtype=float)


def trained(model, optimiser=torch.optim.Adam, rows=ROWS, steps=300, **options):
    """The module after some steps of full batches, and what PyTorch counts as its objective."""
    torch.manual_seed(0)
    groups = options.pop("groups", None) or model.parameters()
    found = optimiser(groups, lr=0.05, weight_decay=DECAY, **options)
    X, y = torch.tensor(rows, dtype=torch.float32), torch.tensor(TARGETS[: len(rows)], dtype=torch.float32)
    for _ in range(steps):
        found.zero_grad()
        nn.MSELoss()(model(X)[:, 0], y).backward()
        found.step()
    model.eval()
    with torch.no_grad():
        loss = nn.MSELoss()(model.double()(X.double())[:, 0], y.double()).item()
        decayed = [p for group in found.param_groups if group["weight_decay"] for p in group["params"]]
        return model.float(), loss + DECAY / 2 * sum(float((p.double() ** 2).sum()) for p in decayed)


def mlp(activation=nn.ReLU) -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 6), activation(), nn.Linear(6, 1))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = (",".join(map(repr, [*map(float, row), float(y)])) for row, y in zip(ROWS, TARGETS, strict=True))
    Path("d.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    return tmp_path


ASKED = ("d.csv", "--lambda", str(DECAY), "--penalty", "pytorch", "--quiet", "--force")


@pytest.mark.long
@pytest.mark.parametrize("optimiser", [torch.optim.SGD, torch.optim.Adam])
def test_every_way_to_save_a_network_is_read(folder, optimiser):
    """A state dict, a checkpoint with the epoch, DataParallel's and torch.compile's names and an ONNX export are one
    network, with the objective that PyTorch minimised; the checker accepts, and says the same."""
    model, objective = trained(mlp(), optimiser)
    state = model.state_dict()
    torch.save(state, "plain.pt")
    torch.save({"epoch": 7, "model_state_dict": state, "loss": 0.1, "optimizer_state_dict": {"state": {}}}, "epoch.pt")
    torch.save({"state_dict": {f"module.{key}": value for key, value in state.items()}}, "parallel.pth")
    torch.save({f"_orig_mod.{key}": value for key, value in state.items()}, "compiled.pt")
    names = ["plain.pt", "epoch.pt", "parallel.pth", "compiled.pt"]
    if pytest.importorskip("onnx"):
        torch.onnx.export(model, (torch.zeros(3, 2),), "net.onnx", dynamo=False)
        names.append("net.onnx")
    said = set()
    for name in names:
        ran = run("network", name, *ASKED)
        assert ran.code == 0, ran.err
        words = " ".join(ran.out.split())
        assert f"as pytorch counts it, {objective:.5f}"[:-1] in words
        assert ("taken to be ReLU: a state dict does not name it" in words) == (name != "net.onnx")
        stem = name.partition(".")[0]
        check = ["--data", "d.csv", "--network", f"{stem}.network.json", "--quiet"]
        assert verify([f"{stem}.network.cert.json", *check]) == 0
        said.add(words.partition(".pt")[0].partition("proved.")[0])
    assert len(said) == 1


@pytest.mark.long
def test_parameter_groups_without_decay_are_free(folder):
    """Adam with two groups: the biases have no weight_decay, and both are free in what is judged."""
    model = mlp()
    weights, biases = ([p for name, p in model.named_parameters() if part in name] for part in ("weight", "bias"))
    groups = [{"params": weights}, {"params": biases, "weight_decay": 0.0}]
    model, objective = trained(model, groups=groups)
    found = certify_network(model, ROWS, TARGETS, DECAY, penalty="pytorch", no_decay="bias", seconds=30)
    assert f"as pytorch counts it, {objective:.5f}"[:-1] in found.report.to_text().replace("\n", " ").replace(
        "             ", ""
    )


@pytest.mark.long
def test_a_leaky_module_has_its_slope_and_its_state_dict_has_none(folder):
    """The module names LeakyReLU(0.1), in the binary number that it is; the state dict is told apart by --slope."""
    model, objective = trained(mlp(lambda: nn.LeakyReLU(0.1)))
    found = certify_network(model, ROWS, TARGETS, DECAY, penalty="pytorch", seconds=30)
    own = float(found.report.comparison.examination.J / found.report.conversion.times)
    assert own == pytest.approx(objective, rel=1e-5)
    torch.save(model.state_dict(), "leaky.pt")
    ran = run("network", "leaky.pt", *ASKED, "--slope", "0.1")
    assert ran.code == 0 and "slope s = 1/10" in ran.out and "taken to be ReLU" not in ran.out
    torch.save(model, "whole.pt")
    ran = run("network", "whole.pt", *ASKED)
    assert ran.code == 65 and "give the Module itself to relu_cert.certify_network" in ran.err


class Own(nn.Module):
    """A module whose forward is a function: its parts do not say what it does with them."""

    def __init__(self, activation):
        super().__init__()
        torch.manual_seed(2)
        self.hidden, self.out, self.activation = nn.Linear(2, 5), nn.Linear(5, 1), activation

    def forward(self, x):
        return self.out(self.activation(self.hidden(x)))


@pytest.mark.parametrize(
    ("activation", "slope", "right"),
    [
        (torch.relu, None, True),
        (torch.tanh, None, False),
        (nn.functional.leaky_relu, None, False),
        (nn.functional.leaky_relu, "0.01", True),
        (lambda x: torch.relu(x).clamp(max=0.1), None, False),
    ],
    ids=["relu", "tanh", "leaky", "leaky, said", "clamped"],
)
def test_a_forward_that_does_something_else_is_refused(activation, slope, right):
    """The module is called on the data: another activation than the one that would be judged is not judged."""
    model = Own(activation).train()
    asked = {"penalty": "pytorch", "slope": slope, "own": False, "seconds": 30}
    if right:
        assert certify_network(model, ROWS, TARGETS, "1", **asked).claims["network-objective"].verdict == "PROVED"
    else:
        with pytest.raises(DataError, match="its forward is another function"):
            certify_network(model, ROWS, TARGETS, "1", **asked)
    assert model.training  # as it was


def test_a_forward_that_these_data_do_not_fit_is_refused():
    """Nothing is judged that could not be called."""
    broken = Own(lambda x: x @ torch.zeros(7, 7))
    with pytest.raises(DataError, match="its forward cannot be called on these data"):
        certify_network(broken, ROWS, TARGETS, "1", penalty="pytorch")


def test_several_outputs_are_called_too():
    """The outputs of a module with three of them are compared row by row; its other activation is seen."""
    Y = np.stack([TARGETS, -TARGETS[::-1], TARGETS**2], axis=1)
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
    found = certify_network(model, ROWS, Y, "1", penalty="pytorch", seconds=30)
    assert found.claims["network-objective"].verdict == "PROVED"
    own = Own(torch.tanh)
    own.out = nn.Linear(5, 3)
    with pytest.raises(DataError, match="its forward is another function"):
        certify_network(own, ROWS, Y, "1", penalty="pytorch")


class Conv(nn.Module):
    """The same with filters, and a mean or a maximum over positions."""

    def __init__(self, pool):
        super().__init__()
        torch.manual_seed(3)
        self.filters, self.out, self.pool = nn.Conv2d(1, 3, 3, padding="same"), nn.Linear(3, 1), pool

    def forward(self, x):
        return self.out(self.pool(torch.relu(self.filters(x))))


@pytest.mark.long
def test_convolutions_of_torch():
    """A Sequential, its state dict and a module of its own, on images, rows and tensors; a maximum is refused."""
    images = np.array([[[[(3 * i + 5 * j + k * i * j) % 4 for j in range(4)] for i in range(4)]] for k in range(8)])
    rule, rows = "2d:4x4:3x3:padding=1", images.reshape(8, 16)
    torch.manual_seed(4)
    filters = nn.Conv2d(1, 3, 3, padding="same")
    model = nn.Sequential(filters, nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(3, 1))
    model, objective = trained(model, rows=images.astype(float))
    asked = {"penalty": "pytorch", "seconds": 5}
    for network, Z, conv in (
        (model, images, None),
        (model, torch.tensor(images), None),
        (model, rows, rule),
        (model.state_dict(), rows, rule),
    ):
        found = certify_network(network, Z, TARGETS, DECAY, conv=conv, **asked)
        own = float(found.report.comparison.examination.J / found.report.conversion.times)
        assert own == pytest.approx(objective, rel=1e-5)
    mean, most = Conv(lambda x: x.mean((2, 3))), Conv(lambda x: x.amax((2, 3)))
    assert certify_network(mean, rows, TARGETS, DECAY, conv=rule, **asked).claims["network-objective"].verdict == (
        "PROVED"
    )
    with pytest.raises(DataError, match="its forward is another function"):
        certify_network(most, rows, TARGETS, DECAY, conv=rule, **asked)


@pytest.mark.long
def test_what_is_judged_of_deeper_and_normalised_networks_is_said_first():
    """The headline does not speak of the whole network where two layers are judged, nor of weights as trained."""
    torch.manual_seed(5)
    parts = [nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1)]
    deep, _ = trained(nn.Sequential(*parts), torch.optim.SGD, steps=50, momentum=0.5)
    found = certify_network(deep, ROWS, TARGETS, DECAY, penalty="pytorch", from_layer=2, seconds=30)
    layers = "On what its layers in front make of the data and with batch normalisation folded in, "
    assert found.headline.startswith(layers)
    flat, _ = trained(nn.Sequential(*parts[:3], nn.Linear(4, 1)), torch.optim.SGD, steps=50)
    found = certify_network(flat, ROWS, TARGETS, DECAY, penalty="pytorch", seconds=30)
    assert found.headline.startswith("With batch normalisation folded in, ")


@pytest.mark.parametrize(("kind", "outputs"), [("logistic", 1), ("softmax", 3)])
def test_cross_entropies_of_torch(kind, outputs):
    """What PyTorch counts with BCEWithLogitsLoss or CrossEntropyLoss, and weight_decay, is what is judged."""
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, outputs, bias=outputs == 1))
    X = torch.tensor(ROWS, dtype=torch.float32)
    labels = (X[:, 0] > 0).long() + ((X[:, 1] > 0).long() if outputs > 1 else 0)
    loss = nn.CrossEntropyLoss() if outputs > 1 else lambda f, t: nn.BCEWithLogitsLoss()(f[:, 0], t.to(f.dtype))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=DECAY)
    for _ in range(300):
        optimiser.zero_grad()
        loss(model(X), labels).backward()
        optimiser.step()
    found = certify_network(model, ROWS, labels, str(DECAY), penalty="pytorch", loss=kind, classes=outputs > 1)
    own = copy.deepcopy(model).double()
    with torch.no_grad():
        counted = loss(own(X.double()), labels).item() + DECAY / 2 * sum(float((p**2).sum()) for p in own.parameters())
    assert float(found.objective) / len(ROWS) == pytest.approx(counted, rel=1e-12)
    assert found.claims["network-objective"].verdict == "PROVED"
    assert f"as pytorch counts it, {counted:.8g} as trained" in " ".join(found.report.to_text().split())


def test_a_decayed_output_bias_of_the_softmax_gets_a_sentence():
    """What can be done is said."""
    model = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 2))
    with pytest.raises(UsageError, match="not known with the softmax cross-entropy; train the last layer with"):
        certify_network(model, ROWS, [1, 0] * 4, "0.1", penalty="pytorch", loss="softmax", classes=True)
