"""python -m relu_cert explore: the paper's columns, on data where the answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import relu_cert
from tests.cli.run import Ran, run

# The rectangle: all optimal networks are t times the pair (3,4), (-3,-4) and 1 - t times the pair (3,-4), (-3,4).
TRAIN = "a,b,y\n3,0,10\n-3,0,10\n0,4,17\n0,-4,17\n"
LAMBDA = "5"


def explore(folder: Path, validation: str, test: str, *more: str, train: str = TRAIN) -> Ran:
    """The command on files with these texts."""
    paths = []
    for name, text in (("train", train), ("validation", validation), ("test", test)):
        paths.append(folder / f"{name}.csv")
        paths[-1].write_text(text)
    arguments = (str(paths[0]), "--validation", str(paths[1]), "--test", str(paths[2]), "--quiet", "--json")
    return run("explore", *arguments, *more)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """At (1,1) the two pairs say 7 a and 1 a, a the weight of each; the validation target 4 is halfway between."""
    ran = explore(tmp_path_factory.mktemp("box"), "a,b,y\n1,1,4\n", "a,b,y\n1,1,7\n1,-1,1\n", "--lambda", LAMBDA)
    assert ran.code == 0, ran.err
    return {one["name"]: one for one in ran.json["networks"]} | {"all": ran.json}


def test_the_best_networks_are_found(found: dict[str, dict[str, float]]) -> None:
    """V-MSE fits its target with the mean of both vertices, T-MSE its own with one vertex."""
    assert found["V-MSE"]["validation_mse"] == pytest.approx(0, abs=1e-12)
    assert found["V-MSE"]["width"] == 4
    assert found["T-MSE"]["test_mse"] == pytest.approx(0, abs=1e-12)
    assert found["V-MSE"]["test_mse"] == pytest.approx(9)


def test_the_shortest_and_the_longest(found: dict[str, dict[str, float]]) -> None:
    """Min L2 is the mean of both vertices (four weights 1/2, lambda = 5), EP a vertex (two weights 1)."""
    assert found["Min L2"]["squared_norm"] == pytest.approx(25 * 4 / 4)
    assert found["EP"]["squared_norm"] == pytest.approx(25 * 2)
    assert found["EP"]["width"] == 2


def test_what_is_said_about_the_set(found: dict[str, dict[str, object]]) -> None:
    """The polytope is described, and the least errors are proved least up to a slack, by all vertices."""
    whole = found["all"]
    assert whole["optimal_set"] == {"dimension": 1, "vertices": 2, "m_star": 2, "M_star": 2}
    assert all(found[name]["slack"] < 1e-6 for name in ("V-MSE", "T-MSE"))  # type: ignore[operator]


def test_a_random_vertex(tmp_path: Path) -> None:
    """--extreme random takes a vertex, too, and says so."""
    ran = explore(
        tmp_path, "a,b,y\n1,1,4\n", "a,b,y\n1,1,7\n", "--lambda", LAMBDA, "--extreme", "random", "--seed", "3"
    )
    assert ran.json["extreme"] == "random"
    assert next(one for one in ran.json["networks"] if one["name"] == "EP")["width"] == 2


def test_antipodal_pairs_are_one_function(tmp_path: Path) -> None:
    """Z'r = 0: neurons come in pairs v, -v, and the optimal networks, though many, are one function everywhere:
    weight that moves from v to -v adds the linear function v.x, and these cancel."""
    train = "a,y\n1,2\n2,1\n-1,3\n-3,1\n"
    ran = explore(tmp_path, "a,y\n5,1\n-7,2\n", "a,y\n4,1\n-9,3\n", "--bias", "--lambda-ratio", "1/100", train=train)
    assert ran.code == 0, ran.err
    errors = [one["test_mse"] for one in ran.json["networks"]]
    assert max(errors) == pytest.approx(min(errors), rel=1e-6)


def test_refusals(tmp_path: Path) -> None:
    """Other columns are a data error; lambda above lambda_max leaves nothing to explore."""
    ran = explore(tmp_path, "a,y\n1,4\n", "a,b,y\n1,1,7\n", "--lambda", LAMBDA)
    assert (ran.code, "columns" in ran.err) == (65, True)
    ran = explore(tmp_path, "a,b,y\n1,1,4\n", "a,b,y\n1,1,7\n", "--lambda", "1000")
    assert (ran.code, "lambda >= lambda_max" in ran.err) == (64, True)


def test_gates_through_data_points_are_decided_exactly(tmp_path: Path) -> None:
    """The optimal neuron has the pattern 111 of a lower face: its gate passes through the antipodal points, and a float
    product (0.1 * 3 - 0.3) would close it at one of them. On the training data all errors are those of the fit."""
    data = "a,b,y\n0.1,0.3,2\n-0.1,-0.3,-2\n0.3,-0.2,1\n"
    ran = explore(tmp_path, data, data, "--model", "gated", "--lambda-ratio", "1/10", train=data)
    errors = [one["validation_mse"] for one in ran.json["networks"]]
    assert errors == pytest.approx([0.0394706] * 4, rel=1e-5)


def test_data_with_many_features(tmp_path: Path) -> None:
    """Where the optimal networks cannot be known, the network found is measured, and said to be at most so far from
    the best; nothing is refused because of its size."""
    rng = np.random.default_rng(0)
    names = ",".join([*(f"x{j}" for j in range(20)), "y"])
    text = "\n".join([names, *(",".join(map(str, row)) for row in rng.integers(-3, 4, (40, 21)).tolist())]) + "\n"
    page = tmp_path / "page.html"
    ran = explore(tmp_path, text, text, "--seconds", "2", "--html", str(page), train=text)
    assert ran.code == 0, ran.err
    (network,) = ran.json["networks"]
    assert network["name"] == "found" and network["width"] > 0 and ran.json["optimal_set"] is None
    assert network["validation_mse"] == network["test_mse"] < 5
    assert "above the best of any width, proved" in page.read_text()
    assert "Four optimal networks" not in page.read_text()


def test_sets_of_rows(tmp_path: Path) -> None:
    """The rectangle with every row twice in its set: the same networks; a zero row in a set halves what is said."""
    train = "s,a,b,y\n" + "".join(2 * f"{k},{line}\n" for k, line in enumerate(TRAIN.splitlines()[1:]))
    other = "s,a,b,y\nu,1,1,2\nu,0,0,2\nv,0,0,0\n", "s,a,b,y\nu,1,1,7\nv,1,-1,1\n"
    ran = explore(tmp_path, *other, "--lambda", LAMBDA, "--bags", "s", "--extreme", "random", train=train)
    assert ran.code == 0, ran.err
    found = {one["name"]: one for one in ran.json["networks"]}
    assert found["V-MSE"]["validation_mse"] == pytest.approx(0, abs=1e-5)
    assert found["V-MSE"]["width"] == 4
    assert found["T-MSE"]["test_mse"] == pytest.approx(0, abs=1e-5)
    assert found["V-MSE"]["test_mse"] == pytest.approx(9, abs=1e-2)


def test_filters(tmp_path: Path) -> None:
    """Signals are read with the windows of the training data, in Python as well."""
    train = "a,b,c,y\n1,0,2,1\n0,-1,1,2\n2,1,-1,0\n"
    ran = explore(tmp_path, train, train, "--lambda", "1/10", "--conv", "1d:2", train=train)
    assert ran.code == 0, ran.err
    pair = [[1, 0, 2], [0, -1, 1], [2, 1, -1]], [1, 2, 0]
    same = relu_cert.explore(*pair, validation=pair, test=pair, lam="1/10", conv="1d:2").to_json()
    assert [one["test_mse"] for one in ran.json["networks"]] == [one["test_mse"] for one in same["networks"]]
    labelled = [[1], [2], [3]], [1, 1, 2], ["u", "u", "v"]
    said = relu_cert.explore(*labelled[:2], validation=labelled, test=labelled, lam=1, bags=labelled[2])
    assert said.rows
    with pytest.raises(relu_cert.UsageError, match="or \\(Z, y, bags\\)"):
        relu_cert.explore(*labelled[:2], validation=(1, 2, 3, 4), test=labelled, lam=1, bags=labelled[2])
