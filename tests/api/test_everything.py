"""What the command line does, Python does: the same objects, short reprs, pictures, sentences instead of silence."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relu_cert
from relu_cert import api
from relu_cert.claims import NAMES, PATH_CLAIMS
from relu_cert.cli.arguments import parser
from tests.cli.run import run
from verify.__main__ import main as verify

Z, Y = [[1], [2], [-1]], [1, 3, 2]
W1, w2 = [[1], [-1]], [1, 1]
OTHER = ([[3], [-2]], [2, 1])


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The same data as files."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x0,y\n1,1\n2,3\n-1,2\n")
    Path("other.csv").write_text("x0,y\n3,2\n-2,1\n")
    Path("n.json").write_text(json.dumps({"W1": W1, "w2": w2}))
    Path("problem.json").write_text(json.dumps({"X": [[1, 0], [0, 1]], "groups": [[0], [1]], "y": [3, 2]}))


CALLS: dict[str, Any] = {
    "check data.csv --lambda 1/2": lambda: relu_cert.certify(Z, Y, "1/2"),
    "check problem.json --lambda 1": lambda: relu_cert.certify_group_lasso([[1, 0], [0, 1]], [[0], [1]], [3, 2], 1),
    "network n.json data.csv --lambda 1/2": lambda: relu_cert.certify_network((W1, w2), Z, Y, "1/2"),
    "path data.csv --from 1/4": lambda: relu_cert.path(Z, Y, low="1/4"),
    "path problem.json --from 1/4": lambda: relu_cert.group_lasso_path([[1, 0], [0, 1]], [[0], [1]], [3, 2], low="1/4"),
    "prune data.csv --lambda 1/2": lambda: relu_cert.prune(Z, Y, "1/2"),
    "explore data.csv --validation other.csv --test other.csv --lambda 1": lambda: relu_cert.explore(
        Z, Y, OTHER, OTHER, 1
    ),
    "patterns data.csv": lambda: relu_cert.patterns(Z),
}
OWN = {"path", "sha256", "certificate", "input"}  # names and hashes of files


def stripped(value: Any) -> Any:
    """Without what names files."""
    if isinstance(value, dict):
        return {k: stripped(v) for k, v in value.items() if k not in OWN and not (k == "network" and "path" in v)}
    return [stripped(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("command", CALLS)
def test_the_same_object_as_json(command):
    """to_dict() is what --json prints, but for the names and hashes of files; str() is the report."""
    found = CALLS[command]()
    told = run(*command.split(), "--json").json
    assert stripped(json.loads(json.dumps(found.to_dict()))) == stripped(told)
    assert str(found) == found.to_text()


@pytest.mark.parametrize("command", CALLS)
def test_reprs_are_short_and_say_what_was_found(command):
    """A repr is one line with the headline; in a notebook there are the pictures of the page, too."""
    found = CALLS[command]()
    assert repr(found) == f"<{type(found).__name__}: {found.headline}>"
    assert len(repr(found)) < 250
    shown = found._repr_html_()
    assert found.headline.split(";")[0] in re.sub("<[^>]*>", "", shown)
    assert "patterns" in command or "data:image/svg+xml;base64," in shown


@pytest.mark.parametrize("command", [c for c in CALLS if c.split()[0] in {"check", "network", "path"}])
def test_what_is_saved_is_accepted(command):
    """Certificate and data are written, and the checker accepts them."""
    CALLS[command]().save("c.json", data="d.raw")
    assert verify(["c.json", "--data", "d.raw", "--quiet"]) == 0


def test_real_objects():
    """The optimal set, the derivatives, the network and the curve are objects, exact with floats beside them."""
    found = relu_cert.certify(Z, Y, "1/2")
    assert found.optimal_set is not None and found.derivatives is not None
    assert found.optimal_set.alphas.shape == (1, len(found.optimal_set.neurons))
    assert np.allclose(np.linalg.norm(found.optimal_set.directions, axis=1), 1.0)
    vertex = found.optimal_set.points[0]
    w = [[alpha * x for x in neuron.v] for alpha, neuron in zip(vertex, found.optimal_set.neurons, strict=True)]
    exact = sorted(n.w for n in found.facts.primal.neurons)
    assert np.allclose(sorted(map(tuple, np.array(w, dtype=float))), np.array(exact, dtype=float))
    assert found.derivatives.fit_by_y.shape == (3, 3)
    step = Fraction(1, 10**6)
    near = relu_cert.certify(Z, Y, Fraction(1, 2) + step).network.predict(Z)
    assert np.allclose((near - found.network.predict(Z)) / float(step), found.derivatives.fit_by_lambda, atol=1e-4)
    for one in (found.optimal_set, found.derivatives, found.network, found.facts, found.optimal_set.neurons[0]):
        assert len(repr(one)) < 200
    curve = relu_cert.path(Z, Y, low="1/4")
    assert (np.diff(curve.lambdas) >= 0).all() and (np.diff(curve.objectives) >= -1e-12).all()
    assert curve.to_csv().count("\n") > len(curve.samples)
    assert relu_cert.certify_group_lasso([[1, 1]], [[0], [1]], [3], 1).optimal_set.dimension == 1


class Tensor:
    """What of a tensor is used."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values, dtype=np.float32)

    def detach(self) -> Tensor:
        return self

    cpu = detach

    def double(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.values.astype(np.float64)


class Module:
    """What of a torch Module is used."""

    def state_dict(self) -> dict[str, Tensor]:
        return {"0.weight": Tensor(W1), "2.weight": Tensor([w2])}


@pytest.mark.parametrize(
    "network",
    [
        (W1, w2),
        (np.array(W1, dtype=np.float32), [0, 0], w2),
        {"W1": W1, "w2": w2},
        Module(),
        Module().state_dict(),
        "n.json",
        ([[Fraction(1)], [Fraction(-1)]], [Fraction(1), Fraction(1)]),
    ],
    ids=["pair", "biases", "dict", "module", "state dict", "file", "fractions"],
)
def test_networks_in_every_form(network):
    """However it is given, it is the same network, with the same exact objective."""
    bias = isinstance(network, tuple) and len(network) == 3
    found = relu_cert.certify_network(network, Z, Y, "1/2", bias=bias)
    assert found.objective == 2
    assert found.given.m == 2 and found.pruned.m == 2


def test_a_fitted_scikit_learn_network():
    """An MLPRegressor, its alpha as its own penalty."""
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(hidden_layer_sizes=(2,), alpha=0.1, solver="lbfgs", max_iter=300, random_state=0).fit(Z, Y)
    found = relu_cert.certify_network(model, Z, Y, "0.1", penalty="sklearn")
    assert str(found.claims["network-objective"].verdict) == "PROVED"
    assert float(found.objective) == pytest.approx(len(Y) * model.loss_)
    assert found.value.lower <= found.objective


def test_a_fitted_network_knows_its_own_penalty():
    """Without lam, alpha and the batch size of an MLPRegressor are its own; of arrays nothing is known."""
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(hidden_layer_sizes=(2,), alpha=0.125, solver="lbfgs", max_iter=300, random_state=0).fit(Z, Y)
    assert relu_cert.certify_network(model, Z, Y).lam == Fraction(1, 8)
    batches = model.set_params(solver="adam", batch_size=2)
    with pytest.raises(relu_cert.UsageError, match=r"batches of 2 do not divide 3 points evenly.*batch_size=3"):
        relu_cert.certify_network(batches, Z, Y)
    assert relu_cert.certify_network(batches, Z, Y, batch_size=3).lam == Fraction(1, 8)
    with pytest.raises(relu_cert.UsageError, match="lam is missing"):
        relu_cert.certify_network(([[1], [-1]], [1, 1]), Z, Y)
    with pytest.raises(relu_cert.UsageError, match="lam is missing"):
        relu_cert.certify_network(model, Z, Y, penalty="pytorch")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:lbfgs failed")
def test_seconds_bound_the_whole_call():
    """A network of 40 neurons on 300 points, far from optimal: the answer is there in time, with a proved gap."""
    from sklearn.neural_network import MLPRegressor

    rng = np.random.default_rng(0)
    points, targets = np.round(rng.standard_normal((300, 5)), 3), np.round(rng.standard_normal(300), 3)
    model = MLPRegressor(hidden_layer_sizes=(40,), alpha=0.01, solver="lbfgs", max_iter=50, random_state=0)
    model.fit(points, targets)
    relu_cert.certify_network(model, points, targets, seconds=1)  # what is compiled is compiled once
    start = time.process_time()
    found = relu_cert.certify_network(model, points, targets, seconds=6)
    assert time.process_time() - start < 20  # 6, and exact arithmetic about the network, and the checker
    assert 0 < found.value.lower <= found.objective
    assert str(found.claims["network-objective"].verdict) == "PROVED"


@pytest.mark.long
def test_own_patterns_of_a_large_network_are_left_out_and_that_is_said(monkeypatch):
    """Points times neurons decide whether the program over the network's own patterns is solved; nothing is silent."""
    rng = np.random.default_rng(2)
    points, targets = np.round(rng.standard_normal((90, 3)), 2), np.round(rng.standard_normal(90), 2)
    network = (np.round(rng.standard_normal((2, 3)), 2), [1, -1])
    small = relu_cert.certify_network(network, points, targets, 3, seconds=10).to_text()
    assert "over the network's own, proved" in small and "too many for that" not in small
    monkeypatch.setattr("relu_cert.commands.OWN_SIZE", 179)
    large = " ".join(relu_cert.certify_network(network, points, targets, 3, seconds=10).to_text().split())
    assert "not over its own patterns: points times neurons are 180, too many for that" in large
    assert "the network's own, proved" not in large
    asked = relu_cert.certify_network(network, points, targets, 3, seconds=10, own=False).to_text()
    assert "own patterns" not in asked  # who does not ask is not told


def test_own_patterns_with_free_terms_are_left_out_and_that_is_said():
    """The program over the network's own patterns has no free terms: the report says so, to who asks."""
    network = ([[1], [-1]], [1, -1])
    free = relu_cert.certify_network(network, Z, Y, 1, free=("output-bias",))
    assert "not over its own patterns: that program has no free terms" in " ".join(free.to_text().split())
    asked = relu_cert.certify_network(network, Z, Y, 1, free=("output-bias",), own=False)
    assert "own patterns" not in asked.to_text()


@pytest.mark.long
def test_a_neuron_on_a_data_point_needs_no_list():
    """Where patterns are not listed and a neuron is exactly zero at a row, all but its stationarity is told."""
    draw = np.random.default_rng(0)
    rows, targets = draw.integers(-3, 4, (60, 4)), draw.integers(-3, 4, 60)
    rows[0] = (1, 1, 0, 0)
    found = relu_cert.certify_network(([[1, -1, 0, 0]], [1]), rows, targets, 5, max_patterns=100)
    told = {one.claim: (str(one.verdict), one.detail) for one in found.results}
    assert told["network-stationary"][0] == "UNDECIDED" and "are not listed" in told["network-stationary"][1]
    assert told["network-optimal"][0] == "REFUTED"
    assert "stationary" not in json.loads(found.certificate)["facts"]["network"]


def test_the_optimum_is_never_above_the_network_itself():
    """Where the time is too short for a better network, the given one bounds the optimum from above."""
    found = relu_cert.certify_network((W1, w2), Z, Y, "1/2")
    outcome = found.report
    worse = replace(outcome.comparison.facts.value, lower=Fraction(1), upper=Fraction(1000))
    facts = replace(outcome.comparison.facts, value=worse)
    told = replace(outcome, comparison=replace(outcome.comparison, facts=facts)).to_text()
    assert "1000" not in told
    assert "optimum      from 1 to 2 over" in told and found.objective == 2


@pytest.mark.long
def test_a_proof_is_kept_in_a_file_and_gone_on_with():
    """`state` is `--state`: what is in the file is not done again, and a file of the user is not replaced."""
    rng = np.random.default_rng(1)
    points, targets = np.round(rng.standard_normal((120, 3)), 2), np.round(rng.standard_normal(120), 2)
    whole = relu_cert.certify(points, targets, 2, claims=["optimal"])
    first = relu_cert.certify(points, targets, 2, claims=["optimal"], state="work.npz")
    assert Path("work.npz").stat().st_size > 0
    again = relu_cert.certify(points, targets, 2, claims=["optimal"], state="work.npz")
    assert whole.certificate == first.certificate == again.certificate
    with pytest.raises(relu_cert.UsageError, match="lambda = 2, not 3; choose another"):
        relu_cert.certify(points, targets, 3, claims=["optimal"], state="work.npz")
    Path("notes.txt").write_text("mine")
    with pytest.raises(relu_cert.UsageError, match=r"notes.txt exists, and relu_cert did not write it; choose another"):
        relu_cert.certify(points, targets, 2, state="notes.txt")
    assert Path("notes.txt").read_text() == "mine"


@pytest.mark.parametrize(("more", "said"), [({"seconds": 0}, "seconds must be"), ({"jobs": 0}, "jobs must be")])
def test_limits_are_read_before_any_work(more, said):
    """As on the command line, in every function that takes them."""
    for call in (
        lambda: relu_cert.certify(Z, Y, 1, **more),
        lambda: relu_cert.certify_network((W1, w2), Z, Y, 1, **more),
        lambda: relu_cert.prune(Z, Y, 1, **more),
        lambda: relu_cert.explore(Z, Y, OTHER, OTHER, 1, **more),
    ):
        with pytest.raises(relu_cert.UsageError, match=said):
            call()


KEYWORDS = {  # where the name of an option is not that of its argument
    "--lambda": "lam",
    "--from": "low",
    "--to": "high",
    "--no-breakpoints": "breakpoints",
    "--no-own": "own",
    "--no-verify": "verify",
    "--drop": "correct",
    "--quiet": "progress",
}
OF_FILES = {  # how files are read and written, and examples: `save`, `to_dict`, `to_html` and arrays do that in Python
    *("--help", "--example", "--numbers", "--delimiter", "--json", "--force", "--html", "--certificate", "--csv"),
    *("--plot", "--pruned", "--optimal", "--out", "--width"),
}
FUNCTIONS = {  # which of them have the options of a command
    "check": ("certify", "certify_group_lasso"),
    "path": ("path", "group_lasso_path"),
    "network": ("certify_network",),
    "solution": ("certify_solution",),
    "prune": ("prune",),
    "explore": ("explore",),
    "patterns": ("patterns",),
}
ANSWERED = {  # by `claims`, y, `networks()`, `exact`; memory is that of the user's own process
    *("--require", "--target", "--all", "--exact", "--max-memory"),
    *("--proved",),  # by `python -m verify --proved` on what was saved
}
IDLE = {  # taken with all data, of no use here; patterns are those of the rows, which Python is given
    "solution": {"--bias", "--max-patterns"},
    "patterns": {"--bags", "--pool", "--slope"},
}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_every_option_is_an_argument(command):
    """What a command can be told, its functions can be told, too; a new option cannot be forgotten here."""
    known = {name for function in FUNCTIONS[command] for name in signature(getattr(api, function)).parameters}
    commands = parser()._subparsers._group_actions[0].choices
    options = {one for action in commands[command]._actions for one in action.option_strings if one.startswith("--")}
    asked = options - OF_FILES - ANSWERED - IDLE.get(command, set())
    assert not {one for one in asked if KEYWORDS.get(one, one[2:].replace("-", "_")) not in known}


def test_no_file_is_named_that_was_not_written():
    """In Python a report does not speak of a certificate file before it is saved."""
    found = relu_cert.certify([[1], [2], [-1]], [1, 3, 2], "1/2")
    assert "cert.json" not in found.to_text()
    assert ".save(" in found.to_text()


def test_a_torch_module():
    """A real Sequential, where PyTorch is installed."""
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(1, 2, bias=False), torch.nn.ReLU(), torch.nn.Linear(2, 1, bias=False))
    with torch.no_grad():
        module[0].weight[:] = torch.tensor(W1)
        module[2].weight[:] = torch.tensor([w2])
    assert relu_cert.certify_network(module, Z, Y, "1/2").objective == 2


def test_what_is_no_network_is_told():
    """The sentence lists what is understood."""
    with pytest.raises(relu_cert.DataError, match="a torch Module or its state dict"):
        relu_cert.certify_network(object(), Z, Y, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: relu_cert.certify(Z, Y, 0),
        lambda: relu_cert.certify([[1], ["x"]], [1, 2], 1),
        lambda: relu_cert.path(Z, Y, low=1, high="1/2"),
        lambda: relu_cert.prune(Z, Y, 1, strategy="none"),
        lambda: relu_cert.explore(Z, Y, OTHER, ([[1, 2]], [1]), 1),
        lambda: relu_cert.certify_network((W1, w2), Z, Y, 1, penalty="keras"),
    ],
)
def test_errors_are_value_errors(call):
    """Whoever catches ValueError catches wrong data and wrong arguments; the text is one sentence."""
    with pytest.raises(ValueError, match=r"\.$") as told:
        call()
    assert isinstance(told.value, relu_cert.ReluCertError)


INAPPLICABLE = [
    ("data.csv", "breakpoints", "ask for it with `path`"),
    ("data.csv", "curve", "ask for it with `path`"),
    ("data.csv", "ggp", "for ReLU networks ask for p-unique"),
    ("data.csv", "general-position", "gated networks and group lassos"),
    ("data.csv --model gated", "connected", "about ReLU networks"),
    ("data.csv --patterns 1", "patterns-complete", "over all patterns"),
    ("data.csv --l2 1", "p-unique", "without an l2 penalty"),
    ("problem.json", "patterns-complete", "over all patterns"),
    ("problem.json", "connected", "about ReLU networks"),
]


@pytest.mark.parametrize(("data", "claim", "said"), INAPPLICABLE)
@pytest.mark.parametrize("option", ["--claims", "--require"])
def test_a_claim_that_does_not_apply_is_refused(data, claim, said, option):
    """Neither silence nor an exit code without a line."""
    ran = run("check", *data.split(), option, claim)
    assert ran.code == 64
    assert f"the claim {claim} does not apply here" in ran.err and said in ran.err
    assert not list(Path().glob("*.cert.json"))


def test_the_same_from_python():
    """Two names are both decided, and one that does not apply is not dropped in silence."""
    assert list(relu_cert.certify(Z, Y, 1, claims="optimal, fit").claims) == ["optimal", "fit"]
    with pytest.raises(relu_cert.UsageError, match="ggp does not apply here"):
        relu_cert.certify(Z, Y, 1, claims=["optimal", "ggp"])
    with pytest.raises(relu_cert.UsageError, match="patterns-complete does not apply here"):
        relu_cert.certify_group_lasso([[1]], [[0]], [1], 1, claims=["patterns-complete"])


def test_a_required_claim_is_decided_whatever_else_is_asked_for():
    """--require adds to --claims."""
    found = run("check", "data.csv", "--claims", "fit", "--require", "p-unique", "--json")
    assert found.code == 0
    assert [claim["claim"] for claim in found.json["claims"]] == ["fit", "p-unique"]


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [(), ("--model", "gated"), ("--l2", "1"), ("--patterns", "2"), ("--interval", "1,11/10")]
)
def test_applicable_means_decided(options):
    """Every claim is refused by name, or it has a line; none is lost between the two."""
    for claim in NAMES:
        short = ("--interval", "1,11/10") if claim in PATH_CLAIMS and "--l2" not in options else ()
        ran = run("check", "data.csv", "--lambda", "1", *options, *short, "--claims", claim, "--json", "--force")
        if ran.code == 0:
            assert [one["claim"] for one in ran.json["claims"]] == [claim]
        else:
            assert ran.code == 64 and ("does not apply" in ran.err or "is for least squares" in ran.err)


def test_everything_is_there_and_typed():
    """All names are importable, and all packages carry py.typed."""
    for name in relu_cert.__all__:
        assert getattr(relu_cert, name) is not None
    root = Path(__file__).parents[2]
    assert all((root / package / "py.typed").exists() for package in ("relu_cert", "verify", "properties"))
