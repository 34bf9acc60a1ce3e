"""Networks trained here, by PyTorch and by scikit-learn, get a proved gap."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

from relu_cert import examples
from relu_cert.data import read_csv
from relu_cert.data.dataset import Dataset
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem, with_free_terms
from relu_cert.network.formats import from_sklearn, read_network
from relu_cert.network.given import given_network
from relu_cert.network.objective import objective
from relu_cert.network.penalty import Conversion, Penalty, convert
from relu_cert.network.trained import Origin, OutputBias, TrainedNetwork, fold
from relu_cert.report.progress import Progress

QUIET = Progress(quiet=True)


def _data() -> tuple[
    Dataset, np.ndarray[tuple[int, int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]]
]:
    data = read_csv(examples.path("xor"), bias=True)
    return data, np.array(data.Z, dtype=float)[:, :-1], np.array(data.y, dtype=float)


def _gap(trained: TrainedNetwork, data: Dataset, conversion: Conversion) -> tuple[F, F]:
    """The proved gap of the network, and p*'s lower bound."""
    choice = LambdaChoice(value=conversion.lam)
    problem = with_free_terms(network_problem(data, "relu", QUIET), data, conversion.free)
    facts = find_facts(problem, choice, F(1, 10**9), QUIET)
    way: OutputBias = "refuse" if conversion.free else "neuron"
    network = fold(trained, data.d, ones=True, output_bias=way, free=conversion.free)
    return objective(network, data.Z, data.y, conversion.lam) - facts.value.lower, facts.value.lower


def test_pytorch(tmp_path: Path) -> None:
    """SGD with weight decay on exclusive or, saved as a state dict: a gap is proved in the objective it minimises."""
    torch = pytest.importorskip("torch")
    data, X, y = _data()
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(2, 12), torch.nn.ReLU(), torch.nn.Linear(12, 1, bias=False))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.05)
    inputs, targets = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    for _ in range(3000):
        optimiser.zero_grad()
        torch.nn.MSELoss()(model(inputs)[:, 0], targets).backward()
        optimiser.step()
    torch.save(model.state_dict(), tmp_path / "xor.pt")
    trained = read_network(tmp_path / "xor.pt")
    conversion = convert(Penalty.PYTORCH, F(1, 20), data.n)
    assert conversion.lam == F(1, 10)
    assert conversion.bias_text(trained) == ""
    proved, optimum = _gap(trained, data, conversion)
    assert 0 <= proved < F(1, 4) * optimum
    with torch.no_grad():
        last = float(torch.nn.MSELoss()(model.double()(inputs.double())[:, 0], targets.double()))
    own = last + 0.025 * sum(float((p.detach().double() ** 2).sum()) for p in model.parameters())
    assert own * data.n / 2 == pytest.approx(float(proved + optimum), rel=1e-9)


def test_sklearn() -> None:
    """L-BFGS on exclusive or: biases are folded and free, and the gap is proved in scikit-learn's own objective."""
    neural = pytest.importorskip("sklearn.neural_network")
    data, X, y = _data()
    model = neural.MLPRegressor(hidden_layer_sizes=(10,), alpha=0.1, solver="lbfgs", max_iter=2000, random_state=0).fit(
        X, y
    )
    trained = from_sklearn(model)
    assert trained.origin == Origin("scikit-learn")
    conversion = convert(Penalty.SKLEARN, F(1, 10), data.n)
    proved, optimum = _gap(trained, data, conversion)
    assert 0 <= proved < optimum
    assert float(proved + optimum) == pytest.approx(data.n * model.loss_, rel=1e-6)


def test_batch_normalisation_of_torch_is_folded() -> None:
    """A Sequential with BatchNorm1d on both sides of its activation says in eval mode what the folded network says."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    nn = torch.nn
    parts = [nn.Linear(2, 4), nn.BatchNorm1d(4, eps=1e-3), nn.ReLU(), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 1)]
    model = nn.Sequential(*parts).double()
    X = _data()[1]
    inputs = torch.tensor(X, dtype=torch.float64)
    for _ in range(5):
        model(inputs)  # statistics move
    found = given_network(model)
    values = [float(v) for v in found([[F(a) for a in row] for row in X.tolist()])]
    np.testing.assert_allclose(values, model.eval()(inputs).detach().numpy()[:, 0], rtol=1e-12)
    assert found.origin.folded == ("1", "3")
