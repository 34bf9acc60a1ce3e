"""A penalty of another library becomes the paper's lambda exactly; the libraries themselves are asked."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from relu_cert.errors import UsageError
from relu_cert.network.formats import from_sklearn
from relu_cert.network.objective import objective
from relu_cert.network.penalty import Penalty, convert, penalty
from relu_cert.network.trained import Origin, TrainedNetwork, fold

Z = ((F(1), F(2)), (F(-1), F(1, 2)), (F(3), F(-1)), (F(0), F(1)))
ONES = tuple((*z, F(1)) for z in Z)
Y = (F(1), F(-2), F(1, 3), F(4))
NETWORK = TrainedNetwork(((F(1), F(-1, 2)), (F(2), F(1, 3))), (F(3), F(-1, 4)), (F(1, 4), F(-1)), F(2, 3))


def _own(network: TrainedNetwork, lam: F, first: int, output: int) -> F:
    """1/2|f - y|^2 + lambda/2 (|W1|^2 + |w2|^2 + first |b1|^2 + output b2^2), written out."""
    loss = sum(((a - b) ** 2 for a, b in zip(network(Z), Y, strict=True)), F(0)) / 2
    weights = sum(x * x for row in network.W1 for x in row) + sum(x * x for x in network.w2)
    return loss + lam / 2 * (weights + first * sum(x * x for x in network.b1 or ()) + output * network.b2**2)


@pytest.mark.parametrize(
    ("name", "value", "batch", "lam"),
    [
        ("paper", F(1, 10), None, F(1, 10)),
        ("scnn", F(1, 100), None, F(3, 5)),
        ("sklearn", F(1, 100), None, F(1, 100)),
        ("sklearn", F(1, 100), 15, F(1, 25)),
        ("pytorch", F(1, 100), None, F(3, 10)),
        ("pytorch-sum", F(1, 100), None, F(1, 200)),
    ],
)
def test_conversions_on_sixty_points(name: str, value: F, batch: int | None, lam: F) -> None:
    """Each convention's formula, in exact arithmetic, and a sentence that ends in the result."""
    found = convert(penalty(name), value, 60, batch=batch)
    assert found.lam == lam
    assert found.text.startswith(f"{name}: ")
    assert found.text.endswith(f"= {lam}.")


def test_refusals() -> None:
    """No lambda for AdamW, for zero, for batches that do not divide the data, or for an unknown name."""
    with pytest.raises(UsageError, match="AdamW's decoupled decay is not the gradient of a penalty"):
        penalty("AdamW")
    with pytest.raises(UsageError, match="there is no penalty 'keras'; there are paper, scnn, sklearn"):
        penalty("keras")
    with pytest.raises(UsageError, match="must be positive, not 0"):
        convert(Penalty.PYTORCH, F(0), 10)
    with pytest.raises(UsageError, match="batches of 4 do not divide 10 points"):
        convert(Penalty.SKLEARN, F(1), 10, batch=4)
    with pytest.raises(UsageError, match="for sklearn only, not for paper"):
        convert(Penalty.PAPER, F(1), 10, batch=5)


@pytest.mark.parametrize(("name", "first", "output"), [("pytorch", 1, 1), ("paper", 1, 0)])
def test_objectives_differ_by_the_biases_alone(name: str, first: int, output: int) -> None:
    """J = J_own + lambda/2 E, with E as told: the ground for what a gap says in the convention's own objective."""
    conversion = convert(penalty(name), F(1, 5), len(Y))
    folded = fold(NETWORK, 3, ones=True, output_bias="neuron")
    own = _own(NETWORK, conversion.lam, first, output)
    difference = objective(folded, ONES, Y, conversion.lam) - own - conversion.lam / 2 * conversion.unlike(NETWORK)
    # The neuron of the output bias is balanced up to 53 bits, which costs a little and never gains.
    assert 0 <= difference < F(1, 2**90)
    assert conversion.bias_text(NETWORK)


def test_no_word_where_the_objectives_agree() -> None:
    """Without biases, or with penalised first-layer biases only, the program is the convention's own."""
    plain = TrainedNetwork(NETWORK.W1, NETWORK.w2)
    biased = TrainedNetwork(NETWORK.W1, NETWORK.w2, NETWORK.b1)
    assert all(convert(p, F(1), 4).bias_text(plain) == "" for p in Penalty)
    assert convert(Penalty.PYTORCH, F(1), 4).bias_text(biased) == ""
    assert convert(Penalty.SKLEARN, F(1), 4).bias_text(NETWORK) == ""
    assert convert(Penalty.PYTORCH, F(1), 4, free=("output-bias",)).bias_text(NETWORK) == ""


def test_sklearn_minimises_what_is_said() -> None:
    """MLPRegressor's own loss_, times n, is 1/2|f - y|^2 + alpha/2 (|W1|^2 + |w2|^2): lambda is alpha."""
    neural = pytest.importorskip("sklearn.neural_network")
    X, y = np.array(Z, dtype=float), np.array(Y, dtype=float)
    model = neural.MLPRegressor(
        hidden_layer_sizes=(3,), alpha=0.25, solver="lbfgs", max_iter=200, random_state=1, tol=1e-12
    ).fit(X, y)
    network = from_sklearn(model)
    np.testing.assert_allclose([float(v) for v in network(Z)], model.predict(X), rtol=1e-12)
    alpha = convert(Penalty.SKLEARN, F(1, 4), len(y)).lam
    assert float(_own(network, alpha, 0, 0)) == pytest.approx(len(y) * model.loss_, rel=1e-9)
    free = convert(Penalty.SKLEARN, F(1, 4), len(y)).free
    assert objective(fold(network, 3, ones=True, free=free), ONES, Y, alpha) == _own(network, alpha, 0, 0)
    assert network.origin == Origin("scikit-learn")


def test_pytorch_minimises_what_is_said() -> None:
    """The step of SGD with weight_decay is -lr times the gradient of J_own * 2/n, at lambda = n weight_decay / 2."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1)).double()
    state = {"0.weight": NETWORK.W1, "0.bias": NETWORK.b1, "2.weight": (NETWORK.w2,), "2.bias": (NETWORK.b2,)}
    model.load_state_dict({key: torch.tensor(np.array(value, dtype=float)) for key, value in state.items()})
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0, weight_decay=0.125)
    before = [p.detach().clone() for p in model.parameters()]
    torch.nn.MSELoss()(
        model(torch.tensor(np.array(Z, dtype=float)))[:, 0], torch.tensor(np.array(Y, dtype=float))
    ).backward()
    optimiser.step()
    step = [(a - b.detach()).numpy().reshape(-1) for a, b in zip(before, model.parameters(), strict=True)]
    lam = convert(Penalty.PYTORCH, F(1, 8), 4).lam
    assert lam == F(1, 4)
    h = F(1, 10**6)
    bumps = [
        TrainedNetwork(((NETWORK.W1[0][0] + h, NETWORK.W1[0][1]), NETWORK.W1[1]), NETWORK.w2, NETWORK.b1, NETWORK.b2),
        TrainedNetwork(NETWORK.W1, NETWORK.w2, (F(1, 4) + h, F(-1)), NETWORK.b2),
        TrainedNetwork(NETWORK.W1, (NETWORK.w2[0] + h, NETWORK.w2[1]), NETWORK.b1, NETWORK.b2),
        TrainedNetwork(NETWORK.W1, NETWORK.w2, NETWORK.b1, NETWORK.b2 + h),
    ]
    slopes = [(_own(bump, lam, 1, 1) - _own(NETWORK, lam, 1, 1)) / h * F(2, 4) for bump in bumps]
    for number, slope in enumerate(slopes):
        assert float(slope) == pytest.approx(step[number][0], rel=1e-4)
