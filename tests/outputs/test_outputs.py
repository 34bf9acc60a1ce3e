"""The optimum of networks with several outputs: planted answers, other ways to the same value, data and commands."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relu_cert
from relu_cert import DataError, UsageError, certify
from relu_cert.data.arrays import several
from relu_cert.data.read import read_csv_bytes
from relu_cert.outputs.facts import reached
from relu_cert.outputs.optimum import OutputsProver, setting
from tests.cli.run import run
from tests.outputs.data import drawn, problem_of, ratio

GAP = Fraction(1, 10**9)


def test_a_planted_optimum_with_a_continuum_of_neurons() -> None:
    """Z = I, Y = S + lambda I: p* = 5, whatever factorisation of S the network has."""
    found = certify([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1)
    assert str(found.claims["optimal"].verdict) == "PROVED"
    assert found.value.lower <= 5 <= found.value.upper


def test_a_planted_optimum_of_three_outputs() -> None:
    """Z = I, Y = (3 + lambda) u u', u = (2, 2, 1) / 3: one neuron u = v of weight 3, p* = lambda^2/2 + 3 lambda."""
    u = [Fraction(x, 3) for x in (2, 2, 1)]
    lam = Fraction(1, 2)
    Y = [[(3 + lam) * a * b for b in u] for a in u]
    found = certify([[1, 0, 0], [0, 1, 0], [0, 0, 1]], Y, lam)
    assert found.value.lower <= lam * lam / 2 + 3 * lam <= found.value.upper
    assert found.value.relative_gap < GAP and found.network.width == 1


@pytest.mark.parametrize(("n", "d", "C", "part"), [(12, 2, 2, 0.3), (15, 3, 2, 0.3), (10, 3, 3, 0.5)])
def test_random_data_are_proved(n: int, d: int, C: int, part: float) -> None:
    """A gap far below 1e-9, and a certificate that the checker accepts."""
    Z, Y = drawn(n, n, d, C)
    found = certify(Z, Y, ratio(setting(problem_of(Z, Y)), part))
    assert found.value.relative_gap < GAP
    assert [str(result.verdict) for result in found.results][:2] == ["PROVED", "PROVED"]


def test_rotated_outputs_have_the_same_optimum() -> None:
    """Y R with a rational rotation R: p* is the same, and so is the fit, rotated."""
    Z, Y = drawn(1, 12, 2, 2)
    turned = tuple((Fraction(3, 5) * a - Fraction(4, 5) * b, Fraction(4, 5) * a + Fraction(3, 5) * b) for a, b in Y)
    lam = ratio(setting(problem_of(Z, Y)), 0.3)
    one, other = (certify(Z, y, lam) for y in (Y, turned))
    assert max(one.value.lower, other.value.lower) <= min(one.value.upper, other.value.upper)


def test_a_target_of_rank_one_is_the_problem_with_one_output() -> None:
    """Y = y (3/5, 4/5): the same p* and the same lambda_max as for y alone, which another engine proves."""
    Z, Y = drawn(2, 10, 2, 1)
    lam = ratio(setting(problem_of(Z, Y)), 0.3)
    scalar = certify(Z, [y for (y,) in Y], lam)
    found = certify(Z, [[y * Fraction(3, 5), y * Fraction(4, 5)] for (y,) in Y], lam)
    assert max(scalar.value.lower, found.value.lower) <= min(scalar.value.upper, found.value.upper)
    assert found.network.width == scalar.network.width


def test_the_bounds_hold_for_networks_that_others_find() -> None:
    """No network of random directions with the best outputs, and none nearby, is below the proved bound."""
    Z, Y = drawn(4, 12, 3, 2)
    lam = ratio(setting(problem_of(Z, Y)), 0.2)
    found = certify(Z, Y, lam)
    A, B = (np.array(M, dtype=float) for M in (Z, Y))
    rng = np.random.default_rng(0)
    for _ in range(200):
        W = rng.standard_normal((6, 3))
        V = rng.standard_normal((6, 2)) * rng.uniform(0, 1)
        if rng.uniform() < 0.5:
            W, V = found.network.W1 + 0.01 * rng.standard_normal(found.network.W1.shape), found.network.W2
        E = np.maximum(A @ W.T, 0) @ V - B
        value = 0.5 * (E * E).sum() + float(lam) * (np.linalg.norm(W, axis=1) * np.linalg.norm(V, axis=1)).sum()
        assert value >= float(found.value.lower) - 1e-9


def test_a_large_lambda_has_the_zero_network() -> None:
    """Above lambda_max no neuron is left, and the value is 1/2 |Y|^2."""
    Z, Y = drawn(6, 8, 2, 2)
    found = certify(Z, Y, ratio(setting(problem_of(Z, Y)), 1.1))
    assert found.network.width == 0
    assert found.value.upper == sum((x * x for row in Y for x in row), Fraction(0)) / 2
    assert found.value.relative_gap < GAP


def test_lambda_max_is_not_exceeded_by_what_is_reached() -> None:
    """|Y'(Zu)_+| / |u| at random u is at most what the search found, up to rounding."""
    Z, Y = drawn(8, 15, 3, 2)
    top = float(reached(setting(problem_of(Z, Y)))) ** 0.5
    A, B = (np.array(M, dtype=float) for M in (Z, Y))
    U = np.random.default_rng(0).standard_normal((2000, 3))
    values = np.linalg.norm(np.maximum(U @ A.T, 0) @ B, axis=1) / np.linalg.norm(U, axis=1)
    assert values.max() <= top * (1 + 1e-6)


def test_rows_of_zeros_and_copies_are_no_obstacle() -> None:
    """Zero rows, equal rows and opposite rows."""
    Z = [[0, 0], [1, 2], [1, 2], [-1, -2], [2, -1], [3, 1]]
    Y = [[1, 0], [2, 1], [1, 1], [-1, 0], [0, 2], [1, -1]]
    found = certify(Z, Y, "1/2")
    assert found.value.relative_gap < GAP


def test_classes_from_python() -> None:
    """Labels of any kind; the network predicts them, and the confusion matrix counts them."""
    Z = [[2, 1], [1, 2], [3, 3], [4, 2]]
    found = certify(Z, ["a", "b", "c", "a"], "1/10", bias=True, center=True)
    assert found.network.predict(Z).tolist() == ["a", "b", "c", "a"]
    assert found.confusion == [[2, 0, 0], [0, 1, 0], [0, 0, 1]]
    exact = found.network.exact_outputs(Z)
    assert np.allclose(found.network.outputs(Z), np.array(exact, dtype=float))
    assert several(["a", "b"]) and several([[1, 2]]) and not several([1, 2]) and not several(["1", "2"])


def test_only_certify_takes_a_matrix() -> None:
    """With variants that are not offered, and in other functions, a table of targets is refused."""
    with pytest.raises(UsageError, match="one output"):
        certify([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1, l2=1)
    with pytest.raises(DataError, match="one number for each row"):
        relu_cert.path([[1, 0], [0, 1]], [[3, 1], [1, 3]])


def test_commands_say_what_was_proved(tmp_path: Path) -> None:
    """check --target A,B and --classes A: text, JSON and page; the certificate is accepted with the raw file."""
    table = tmp_path / "data.csv"
    table.write_text("a,b,p,q\n1,0,3,1\n0,1,1,3\n")
    page = tmp_path / "page.html"
    ran = run("check", str(table), "--target", "p,q", "--lambda", "1", "--json", "--html", str(page))
    assert ran.code == 0, ran.err
    assert [claim["verdict"] for claim in ran.json["claims"]][:2] == ["PROVED", "PROVED"]
    assert ran.json["outputs"] == ["p", "q"] and "Verify it" in page.read_text()
    stored = json.loads(Path(ran.json["certificate"]).read_text())
    assert stored["input"]["targets"] == [2, 3] and "labels" not in stored["input"]
    named = tmp_path / "kinds.csv"
    named.write_text("1,0,x\n0,1,y\n2,1,x\n1,2,y\n")
    ran = run("check", str(named), "--classes", "2", "--center", "--lambda", "1/10", "--require", "optimal")
    assert ran.code == 0, ran.err
    assert "4 of 4 data points are put into their own" in ran.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "p,q", "--l2", "1"), "--l2 is for networks with one output"),
        (("--target", "p,q", "--model", "gated"), "several outputs are not offered"),
        (("--target", "p,q", "--loss", "logistic"), "for networks with one output"),
        (("--target", "p,q", "--interval", "1,2"), "for networks with one output"),
        (("--target", "p,q", "--groups", "1"), "for networks with one output"),
        (("--target", "p", "--center"), "for several outputs"),
        (("--target", "p,p"), "at least two different columns"),
        (("--target", "p,z"), "no target column"),
        (("--target", "p,q", "--classes", "a"), "not both"),
        (("--target", "p,q", "--claims", "convex-unique"), "the claims are optimal, fit, p-unique"),
        (("--target", "a,b,p,q"), "no feature"),
    ],
)
def test_what_is_not_offered_is_refused_in_a_sentence(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """No option is ignored in silence."""
    table = tmp_path / "data.csv"
    table.write_text("a,b,p,q\n1,0,3,1\n0,1,1,3\n")
    ran = run("check", str(table), "--lambda", "1", *options)
    assert ran.code != 0 and said in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,k\n1,x\n2,x\n", "from 2 to"), ("a,k\n1,x\n2,\n", "without a class"), ("a,k\n1,x\nz,y\n", "found")],
)
def test_tables_that_are_no_classes_are_refused(text: str, said: str) -> None:
    """One class, a row without one, a feature that is no number."""
    with pytest.raises(DataError, match=said):
        read_csv_bytes(text.encode(), "t.csv", classes="k")


def test_labels_are_in_order() -> None:
    """Numbers by their size, texts by their letters."""
    assert read_csv_bytes(b"1,10\n2,9\n3,10\n", "t.csv", classes=1).outputs == ("9", "10")
    assert read_csv_bytes(b"1,b\n2,a\n3,10\n", "t.csv", classes=1).outputs == ("10", "a", "b")


def test_the_prover_is_sharp_where_ties_are_simple() -> None:
    """Thirty digits on random data, by leaves that know the neurons."""
    Z, Y = drawn(9, 15, 3, 2)
    given = setting(problem_of(Z, Y))
    found = OutputsProver(given, ratio(given, 0.3), lambda: False).run()
    assert (found.upper - found.lower) / found.upper < Fraction(1, 10**28)
    assert found.evidence.ties


def test_rows_of_zeros_only() -> None:
    """No neuron sees anything: the zero network is optimal, by a tree of one cone without generators."""
    found = certify([[0], [0]], [[0, 0], [1, 0]], 1)
    assert found.claims["optimal"].verdict == "PROVED"
    assert found.value.lower <= Fraction(1, 2) <= found.value.upper


def small(seed: int, n: int, d: int, C: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (n, d)), rng.integers(-3, 4, (n, C))


PARTS: list[dict[str, Any]] = [
    {"free": "output-bias"},
    {"free": "skip"},
    {"free": "output-bias,skip", "bias": True},
    {"decayed_bias": True},
    {"decayed_bias": True, "bias": True},
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: ",".join(map(str, part.values())))
@pytest.mark.parametrize("bags", [None, [0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 5, 5]])
def test_parts_of_rank_one_are_the_problem_with_one_output(part: dict[str, Any], bags: list[int] | None) -> None:
    """Y = y (3/5, 4/5) with bags, free terms, a decayed bias: the same p* as with y alone, by another engine."""
    Z, y = small(3, 12, 2, 1)
    y = y[:, 0] if bags is None else y[bags, 0]
    Y = [[Fraction(3 * int(x), 5), Fraction(4 * int(x), 5)] for x in y]
    one, two = (certify(Z, one, "1/2", bags=bags, **part) for one in (y, Y))
    assert max(one.value.lower, two.value.lower) <= min(one.value.upper, two.value.upper)
    assert two.value.relative_gap < GAP and one.value.relative_gap < GAP


@pytest.mark.parametrize("part", [{}, *PARTS], ids=lambda part: ",".join(map(str, part.values())))
@pytest.mark.parametrize("pool", ["mean", "sum"])
def test_the_bounds_of_bags_hold_for_networks_that_others_find(part: dict[str, Any], pool: str) -> None:
    """Filters on signals: the network's own objective is the upper bound, and no network nearby is below the lower."""
    rng = np.random.default_rng(5)
    signals, Y = rng.standard_normal((8, 5)).round(2), rng.standard_normal((8, 3)).round(2)
    found = certify(signals, Y, "1/4" if pool == "mean" else "1", conv="1d:2", pool=pool, **part)
    bias, network, lam = bool(part.get("bias")), found.network, float(found.lam)
    windows = np.stack([signals[:, k : k + 2] for k in range(4)], axis=1).astype(float)
    if bias:
        windows = np.concatenate([windows, np.ones((8, 4, 1))], axis=2)
    pooled = np.mean if pool == "mean" else np.sum
    for trial in range(200):
        size = 0.02 * (trial > 0)
        W, V = (A + size * rng.standard_normal(A.shape) for A in (network.W1, network.W2))
        b = np.array([float(x) for x in network.constants]) + size * rng.standard_normal(3) * bool(part)
        if part.get("free") == "skip":
            b = b * 0
        S = np.array([[float(x) for x in row] for row in network.linear]) if network.linear else np.zeros((3, 2 + bias))
        f = pooled(np.maximum(windows @ W.T, 0) @ V + windows @ S.T, axis=1) + b
        value = 0.5 * ((f - Y) ** 2).sum() + lam / 2 * ((W * W).sum() + (V * V).sum())
        value += lam / 2 * (b * b).sum() * bool(part.get("decayed_bias"))
        assert value >= float(found.value.lower) - 1e-9
        if trial == 0:
            assert abs(value - float(found.value.upper)) < 1e-7
            assert np.allclose(f, network.outputs(signals))
            assert np.allclose(f, np.array(network.exact_outputs(signals), dtype=float))


def test_images_with_labels_from_python() -> None:
    """Small images of three classes: `predict`, `score` and the confusion matrix tell the same."""
    rng = np.random.default_rng(1)
    images = rng.integers(0, 3, (9, 1, 4, 4))
    labels = ["a", "b", "c"] * 3
    for i, label in enumerate(labels):
        images[i, 0, :, "abc".index(label)] += 4
    found = certify(images, labels, "1/2", conv="2x2:stride=2", center=True, free="output-bias")
    assert found.value.relative_gap < GAP
    right = sum(found.confusion[c][c] for c in range(3))
    assert found.score(images, labels) == right / 9
    assert (found.predict(images) == np.array(labels)).sum() == right
    assert "the filters" in found.html().lower() and "windows of 2 x 2" in found.to_text()


def test_sets_with_labels_from_python() -> None:
    """A list of tables with a label each, and the same in the long form."""
    tables = [[[1, 0], [2, 1]], [[0, 1]], [[1, 1], [0, 2], [1, 0]], [[2, 0]]]
    labels = [1, 2, 2, 1]
    found = certify(tables, labels, "1/10", classes=True, pool="sum")
    rows = [row for table in tables for row in table]
    names = [i for i, table in enumerate(tables) for _ in table]
    long = certify(rows, [labels[i] for i in names], "1/10", classes=True, pool="sum", bags=names)
    assert (found.value.lower, found.value.upper) == (long.value.lower, long.value.upper)
    assert found.predict(tables).tolist() == long.predict(tables).tolist()
    assert found.report.data.source.labels == ("1", "2")


def test_the_command_takes_all_parts_together(tmp_path: Path) -> None:
    """Classes, windows and a free bias; several targets and sets and a decayed bias: accepted with the raw file."""
    images = tmp_path / "images.csv"
    rows = ["1,0,0,0,a", "0,1,1,0,b", "0,0,2,1,c", "1,1,0,0,a", "0,3,0,0,b"]
    images.write_text("p,q,r,s,label\n" + "\n".join(rows) + "\n")
    page = tmp_path / "page.html"
    options = ("--classes", "label", "--conv", "2d:2x2:1x2", "--center", "--free", "output-bias", "--lambda", "1/20")
    ran = run("check", str(images), *options, "--html", str(page), "--require", "optimal,fit")
    assert ran.code == 0, ran.err
    assert "5 images of 2 x 2" in ran.out and "output bias" in ran.out and "classes: " in ran.out
    assert "The filters" in page.read_text()
    sets = tmp_path / "sets.csv"
    sets.write_text("A,name,x,B\n1,u,1,2\n1,u,-1,2\n0,v,2,1\n3,w,1,0\n3,w,3,0\n")
    ran = run("check", str(sets), "--target", "A,B", "--bags", "name", "--decayed-bias", "--lambda", "1/4", "--json")
    assert ran.code == 0, ran.err
    assert (
        ran.json["decayed"] == "1/4"
        and ran.json["input"]["targets"] == [0, 3]
        and len(ran.json["network"]["output_bias"]) == 2
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "A,B", "--bags", "A"), "cannot be both"),
        (("--classes", "kind", "--bags", "name"), "differs within the bag 'u': it is '7' in row 2 and '8' in row 3"),
        (("--target", "A,x", "--bags", "name"), "differs within the bag 'u': it is 1 1 in row 2 and 1 -1 in row 3"),
    ],
)
def test_bags_that_do_not_fit_their_targets_are_refused(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """The bag and the lines are named, in the words of the file."""
    sets = tmp_path / "sets.csv"
    sets.write_text("A,name,x,B,kind\n1,u,1,2,7\n1,u,-1,2,8\n0,v,2,1,7\n")
    ran = run("check", str(sets), "--lambda", "1", *options)
    assert ran.code != 0 and said in ran.err


def test_lines_of_a_tie_without_a_slope() -> None:
    """Y = diag(2/3, 1/3), lambda = 1/3: at the neuron (1, 0) a line is tight whose slope is 0; any share will do."""
    third = Fraction(1, 3)
    found = certify([[1, 0], [0, 1]], [[2 * third, 0], [0, third]], third)
    assert found.value.lower <= 2 * third**2 <= found.value.upper  # 1/2 (1/9 + 1/9) + 1/3 * 1/3


def test_targets_of_zeros() -> None:
    """Y = 0: Theta is 0, and so is the level of its form; the zero network is optimal."""
    assert certify([[1], [1]], [[0, 0], [0, 0]], "1/100").value.upper == 0


def test_a_class_without_a_margin_leaves_uniqueness_open() -> None:
    """Where no margin around a neuron is found p-unique is open, and the optimum is proved all the same."""
    found = certify([[1, -3], [0, -1]], [[1, 1], [0, -1]], "1/100")
    assert found.claims["optimal"].verdict == "PROVED"


def test_a_dual_point_that_is_not_feasible_is_no_crash() -> None:
    """Sharpened digits may give a dual value above the objective: that point is left, another gives the bounds."""
    Z, Y = [[3, 1], [-3, 1], [-2, -2], [2, 3]], [[-3, 2, -1], [0, 0, 0], [1, 1, -3], [-3, -3, -3]]
    found = certify(Z, Y, "1/10")
    assert 0 < found.value.lower <= found.value.upper
