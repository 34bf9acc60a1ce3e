"""Leaky activations max(t, s t): data of the problem with bags, and proofs about networks with that activation."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest

import relu_cert
import verify
from relu_cert import patterns as all_patterns
from relu_cert.bags import EACH, Bags, with_slope
from relu_cert.cli import main
from relu_cert.data import read_csv_bytes
from relu_cert.errors import UsageError
from relu_cert.network.formats import read_network, write_network
from verify.errors import Rejected
from verify.problem.problem import Bag, Problem

Z, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
ROWS = [[2, 1], [-1, 3], [1, -2], [-3, -1], [1, 1]]
TARGETS = [3, -2, 1, 4, -1]


def phi(t: F, s: F) -> F:
    """max(t, s t)"""
    return max(t, s * t)


def written_out(rows: list[list[int]], s: F) -> tuple[list[list[F]], list[list[int]], list[Any]]:
    """The same problem as a group lasso with cones: blocks X_b = xi (D + s (I - D)) Z for each pattern."""
    found = all_patterns(rows).found
    table: list[list[F]] = [[] for _ in rows]
    groups, cones = [], []
    for number, sign in product(range(len(found)), (1, -1)):
        on = found.pattern(number)
        groups.append([len(table[0]), len(table[0]) + 1])
        for k, z in enumerate(rows):
            table[k] += [sign * (1 if on[k] else s) * x for x in z]
        cones.append([[(-1 if on[k] else 1) * z[j] for k, z in enumerate(rows)] for j in range(2)])
    return table, groups, cones


@pytest.mark.parametrize("slope", ["1/100", "1/2", "-1/3", "-1", "-2"])
def test_the_optimum_is_that_of_the_convex_program_with_leaky_blocks(slope: str) -> None:
    """p* with a slope lies where an independent formulation, a group lasso over all patterns, has it; both accepted."""
    leaky = relu_cert.certify(ROWS, TARGETS, 1, slope=slope)
    X, groups, K = written_out(ROWS, F(slope))
    lasso = relu_cert.certify_group_lasso(X, groups, TARGETS, 1, K=K, claims=["optimal"])
    assert leaky.claims["optimal"].verdict == lasso.claims["optimal"].verdict == "PROVED"
    assert leaky.value.lower <= lasso.value.upper and lasso.value.lower <= leaky.value.upper
    assert leaky.value.upper - leaky.value.lower < F(1, 10**20)


def test_the_network_is_worth_what_is_proved_with_that_activation() -> None:
    """The objective of the network, evaluated with max(t, s t) on the raw rows, is the proved one; 0 is the ReLU."""
    values = {}
    for slope in ("0", "1/100", "-1"):
        found, s = relu_cert.certify(Z, Y, "1/10", bias=True, slope=slope), F(slope)
        net = found.network.exact()
        fit = [
            sum(
                (
                    v * phi(sum((a * b for a, b in zip(w, (*z, 1), strict=True)), F(0)), s)
                    for w, v in zip(net.W1, net.w2, strict=True)
                ),
                F(0),
            )
            for z in Z
        ]
        size = sum(x * x for w in net.W1 for x in w) + sum(v * v for v in net.w2)
        J = sum((a - b) ** 2 for a, b in zip(fit, Y, strict=True)) / 2 + F(1, 20) * size
        assert abs(J - found.value.upper) < F(1, 10**14)
        assert tuple(fit) == tuple(net([(*map(F, z), F(1)) for z in Z]))
        assert np.abs(found.network.predict(Z) - [float(x) for x in fit]).max() < 1e-12
        assert max(abs(a - b) for a, b in zip(found.network.predict_exactly(Z), fit, strict=True)) < F(1, 10**14)
        values[slope] = found.value.upper
    assert values["0"] == relu_cert.certify(Z, Y, "1/10", bias=True).value.upper
    assert sorted(values, key=lambda slope: values[slope]) == ["-1", "0", "1/100"]


def test_a_planted_leaky_network_is_found_unique() -> None:
    """Rows along the axes: with slope s the problem splits, and its optimum is known by hand."""
    found = relu_cert.certify([[2], [-2]], [3, "-1/2"], 1, slope="1/4")
    # one neuron w > 0: outputs 2w and -w/2; min 1/2 (2w - 3)^2 + 1/2 (w/2 - 1/2)^2 + w at (17/4) w = 25/4 - 1
    w = F(21, 17)
    assert found.value.lower <= (2 * w - 3) ** 2 / 2 + (w / 2 - F(1, 2)) ** 2 / 2 + w <= found.value.upper
    assert found.network.width == 1 and found.claims["p-unique"].verdict == "PROVED"
    assert abs(found.network.neurons[0].w[0] - w) < F(1, 10**20)


def test_rows_and_bags_of_a_slope() -> None:
    """Each row counts q times, its opposite -p times; what counts nowhere, and zero rows, are left out."""
    rows = tuple(tuple(map(F, z)) for z in ([1, 2], [0, 0], [-1, -2], [1, 2]))
    seen, bags = with_slope(rows, EACH, F(1, 3))
    assert seen == (rows[0], rows[2])
    assert bags.scale == (F(1, 3),) * 4 and bags.rows == ((0, 1), (), (0, 1), (0, 1))
    assert bags.times == ((3, -1), (), (-1, 3), (3, -1))
    both = Bags(3, (F(1, 2),), ((0, 2),), ((1, 3),))  # counts 3 - 3 = 0 of (1, 2), 9 - 1 of (-1, -2)
    assert with_slope(rows[:3], both, F(1, 3))[1].times == ((8,),)


@pytest.mark.parametrize("seed", range(5))
def test_sizes_of_signed_bags_are_upper_bounds(seed: int) -> None:
    """Zeta^2 >= |P D Z u|^2 and reach(a) >= |P a'|^2 for parts a' of a, in the checker and in the program, alike."""
    draw = random.Random(seed)
    rows = tuple((F(draw.randint(-3, 3)), F(draw.randint(1, 3))) for _ in range(3))
    seen, bags = with_slope(
        rows, Bags(3, (F(1, 2), F(1)), ((0, 1, 2), (0, 2)), ((1, 2, 1), (1, 1))), F(draw.choice([-2, 1]), 3)
    )
    P = [[F(0)] * len(seen) for _ in bags.rows]
    for i, (s, members, times) in enumerate(zip(bags.scale, bags.rows, bags.times, strict=True)):
        for k, m in zip(members, times, strict=True):
            P[i][k] = s * m
    stated = tuple(Bag(*one) for one in zip(bags.scale, bags.rows, bags.times, strict=True))
    problem = Problem("relu", F(1), seen, (F(1),) * 2, bags=stated)
    zeta = bags.size_squared([sum(x * x for x in z) for z in seen])
    assert zeta == problem.zeta_squared
    a = {k: F(draw.randint(1, 4)) for k in range(len(seen))}
    assert bags.moved_squared(a) == problem.reach(a)
    for on in product((0, 1), repeat=len(seen)):
        u = F(draw.randint(-5, 5)), F(draw.randint(-5, 5))
        out = [
            sum((p * b * (z[0] * u[0] + z[1] * u[1]) for p, b, z in zip(row, on, seen, strict=True)), F(0)) for row in P
        ]
        assert sum(x * x for x in out) <= zeta * (u[0] ** 2 + u[1] ** 2)
        part = [sum((p * b * a[k] for k, (p, b) in enumerate(zip(row, on, strict=True))), F(0)) for row in P]
        assert sum(x * x for x in part) <= problem.reach(a)


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, Any], bytes]:
    """A certificate with a slope, and its data."""
    found = relu_cert.certify(Z, Y, "1/10", bias=True, slope="1/100")
    return json.loads(found.certificate), found.raw


def forged(tree: dict[str, Any], raw: bytes | None) -> None:
    """Whether the checker takes it."""
    verify.check(json.dumps(tree).encode(), raw)


def test_the_checker_states_the_slope(made: tuple[dict[str, Any], bytes]) -> None:
    """What is accepted is said of that activation, with the data and without."""
    tree, raw = made
    for data in (raw, None):
        lines = verify.check(json.dumps(tree).encode(), data)
        assert {line.under for line in lines} == {"with the activation max(t, 1/100 t)"}


FORGERIES = {
    "the slope left out": lambda t: t["input"].pop("slope"),
    "another slope": lambda t: t["input"].update(slope="1/50"),
    "a slope of the other sign": lambda t: t["input"].update(slope="-1/100"),
    "slope 1": lambda t: t["input"].update(slope="1"),
    "slope 0": lambda t: t["input"].update(slope="0"),
    "a pool beside it": lambda t: t["input"].update(pool="mean"),
    "a row counted once more": lambda t: t["problem"]["bags"][1].update(times="101 -1"),
    "an opposite row that is not counted": lambda t: t["problem"]["bags"][1].update(times="100 0"),
    "an opposite row with the other sign": lambda t: t["problem"]["bags"][1].update(times="100 1"),
    "a scale without the slope": lambda t: t["problem"]["bags"][1].update(scale="1"),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("with_data", [True, False])
def test_forged_slopes_are_rejected(made: tuple[dict[str, Any], bytes], name: str, with_data: bool) -> None:
    """A certificate that says another slope than its rows have, or none, is rejected, also without the data."""
    tree, raw = json.loads(json.dumps(made[0])), made[1] if with_data else None
    FORGERIES[name](tree)
    with pytest.raises(Rejected):
        forged(tree, raw)


def test_a_slope_of_other_data_is_rejected(made: tuple[dict[str, Any], bytes]) -> None:
    """The rows of another slope, restated, do not pass."""
    other = json.loads(relu_cert.certify(Z, Y, "1/10", bias=True, slope="1/50").certificate)
    other["input"]["slope"] = "1/100"
    for data in (made[1], None):
        with pytest.raises(Rejected):
            forged(other, data)


def test_every_kind_of_bags_has_slopes(tmp_path: Any) -> None:
    """Windows and sets, means and sums, logistic loss, a free and a decayed output bias: proved, and accepted."""
    signals = [[0, 0, 1, 3], [2, 0, 0, 0], [1, 1, 0, 2]]
    for more in (
        {},
        {"bias": True},
        {"pool": "sum"},
        {"bias": True, "free": "output-bias"},
        {"bias": True, "decayed_bias": True},
    ):
        found = relu_cert.certify(signals, [2, 0, 1], "1/10", conv="1d:2", slope="1/10", claims=["optimal"], **more)  # type: ignore[arg-type]
        assert found.claims["optimal"].verdict == "PROVED", more
        plain = relu_cert.certify(signals, [2, 0, 1], "1/10", conv="1d:2", claims=["optimal"], **more)  # type: ignore[arg-type]
        assert found.value.upper != plain.value.upper
    sets = relu_cert.certify([[[1], [2]], [[-1]]], [3, 1], "1/10", pool="sum", slope="-1", claims=["optimal"])
    assert sets.claims["optimal"].verdict == "PROVED"
    classes = relu_cert.certify(ROWS, [1, -1, 1, 1, -1], "1/10", loss="logistic", slope="1/10", claims=["optimal"])
    assert classes.claims["optimal"].verdict == "PROVED"


def test_check_and_verify_on_the_command_line(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    """`check --slope` says the activation, writes the slope, and `verify` prints it."""
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--example", "xor", "--slope", "1/100"]) == 0
    out = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "leaky ReLU max(t, 1/100 t)" in out
    assert "phi(direction . x), phi(t) = max(t, 1/100 t)" in out
    tree = json.loads((tmp_path / "xor.cert.json").read_text())
    assert tree["input"]["slope"] == "1/100"


REFUSALS = {
    "1": "linear",
    "3/2": "bends the other way",
    "one": "must be a number such as 1/100 or -1",
}


@pytest.mark.parametrize("slope", REFUSALS)
def test_slopes_that_are_none_get_a_sentence(slope: str) -> None:
    """1, more than 1, and words are refused with the reason."""
    with pytest.raises(UsageError, match=REFUSALS[slope]):
        relu_cert.certify(Z, Y, "1/10", slope=slope)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"free": "skip"}, "skip is not offered with a slope"),
        ({"free": "biases"}, "biases is not offered with a slope"),
        ({"model": "gated"}, "gated networks with a slope"),
        ({"l2": 1}, "l2` is not offered with a slope"),
        ({"patterns": 3}, "not offered with a slope"),
    ],
)
def test_what_slopes_do_not_know_is_refused(more: dict[str, Any], words: str) -> None:
    """What is not offered is named, with the reason, before any work is done."""
    with pytest.raises(UsageError, match=words):
        relu_cert.certify(Z, Y, "1/10", bias=True, slope="1/10", **more)


def test_data_of_a_file_are_read_with_a_slope() -> None:
    """The rows of a CSV file are there as z and -z, and zero rows drop out, as the checker has them."""
    data = read_csv_bytes(b"a,y\n1,2\n0,3\n-1,1\n", "d.csv", slope=F(1, 2))
    assert ((F(1),), (F(-1),)) == data.Z and data.n == 3 and data.source.slope == "1/2"


def test_a_given_network_with_a_slope(tmp_path: Any) -> None:
    """A network file says its slope; it is judged with it, another one that is asked for is refused."""
    best = relu_cert.certify(Z, Y, "1/10", bias=True, slope="1/100").network.exact()
    rows = [(*z, 1) for z in Z]
    for name in ("net.json", "net.npz"):
        write_network(best, tmp_path / name)
        assert read_network(tmp_path / name).slope is not None
        found = relu_cert.certify_network(tmp_path / name, rows, Y, "1/10")
        assert found.claims["network-optimal"].verdict == "PROVED"
    with pytest.raises(UsageError, match="own slope is 1/100, and `slope` 1/3 is asked for"):
        relu_cert.certify_network(tmp_path / "net.json", rows, Y, "1/10", slope="1/3")
    plain = {"W1": np.array([[1.0, 0.0, 0.0]]), "w2": np.array([1.0])}
    values = [
        relu_cert.certify_network(plain, rows, Y, "1/10", slope=s).claims["network-objective"].detail
        for s in (None, -1)
    ]
    assert values[0] != values[1]
