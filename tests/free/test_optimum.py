"""Networks with free terms: the proved interval holds p*, whatever proves it."""

from __future__ import annotations

import json
import signal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import relu_cert.cover.prover
import relu_cert.driver.variant
import verify
from relu_cert import UsageError, certify, certify_group_lasso
from relu_cert.clock import INTERRUPTED
from relu_cert.cover.build import THETA_BITS, rounded
from relu_cert.cover.setting import _two_sided, exact_theta, setting
from relu_cert.cover.train import train
from relu_cert.driver import network as driver
from relu_cert.evidence import Cover, Leaders
from relu_cert.exact import column
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import BallSet, PieceMultipliers
from tests.free.brute import best, spread, spread_of_some, unique_on_a_line

pytestmark = pytest.mark.long

COMBINATIONS = (
    ("output-bias",),
    ("skip",),
    ("biases",),
    ("output-bias", "skip"),
    ("output-bias", "biases"),
    ("biases", "skip"),
    ("output-bias", "biases", "skip"),
)


def drawn(seed: int, n: int, d: int) -> tuple[list[list[int]], list[int]]:
    """Small integers."""
    rng = np.random.default_rng(seed)
    return rng.integers(-6, 7, (n, d)).tolist(), rng.integers(-5, 6, n).tolist()


def over_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cover is tried: where patterns are listed, the list proves what is proved."""
    monkeypatch.setattr(driver, "setting_for_cover", lambda problem: None)


def holds(found: Any, value: float, tolerance: float) -> bool:
    """Whether the interval holds the value, which is right to so much."""
    return float(found.value.lower) - tolerance <= value <= float(found.value.upper) + tolerance


@pytest.mark.parametrize("free", COMBINATIONS)
@pytest.mark.parametrize(("seed", "n", "d"), [(0, 6, 1), (1, 7, 2), (2, 9, 2)])
def test_the_list_agrees_with_another_solver(
    free: tuple[str, ...], seed: int, n: int, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without a column of ones: a tiny interval that holds the value of a convex program over all patterns;
    the checker accepts it, and what it is about is said."""
    rows, y = drawn(seed, n, d)
    over_the_list(monkeypatch)
    bias = seed == 2 or "biases" in free
    found = certify(rows, y, "3/2", free=free, bias=bias, gap="1e-6")
    assert isinstance(found.facts.dual.multipliers, PieceMultipliers)
    assert str(found.claims["optimal"].verdict) == "PROVED"
    full = [[*row, 1] for row in rows] if bias else rows
    size = 0.5 * sum(t * t for t in y)
    assert holds(found, best(full, y, 1.5, free, appended=bias), 1e-5 * size)
    assert str(found.claims["fit"].verdict) == "PROVED"
    if "biases" in free:
        said = [str(found.claims[name].verdict) for name in ("p-unique", "minimal")]
        assert said == ["UNDECIDED", "UNDECIDED"] and "free biases" in found.claims["p-unique"].detail
    assert json.loads(found.certificate)["problem"]["free"] == list(free)


@pytest.mark.parametrize("seed", range(4))
def test_uniqueness_with_free_columns(seed: int) -> None:
    """An output bias leaves the optimal network unique where that is proved; a skip connection never does, because a
    neuron may be turned over: (t)_+ = t + (-t)_+. Another solver sees the one and the other; m* is the number of
    neurons up to turning over."""
    rows, y = drawn(20 + seed, 7, 2)
    g = [1.0, -0.7]
    alone = certify(rows, y, 2, free="output-bias")
    assert str(alone.claims["p-unique"].verdict) == "PROVED"
    assert spread(rows, y, 2.0, ("output-bias",), g) < 0.02
    assert alone.facts.polytope is not None and alone.facts.polytope.m_star == alone.network.width
    turned = certify(rows, y, 2, free="output-bias,skip")
    verdict = str(turned.claims["p-unique"].verdict)
    if turned.network.width:
        assert verdict == "REFUTED" and "differ by free terms" in turned.claims["p-unique"].detail
        assert spread(rows, y, 2.0, ("output-bias", "skip"), g) > 0.05
        found = turned.facts.polytope
        assert found is not None and found.m_star == found.M_star <= turned.network.width
        assert found.dimension >= found.m_star
    else:
        assert verdict == "PROVED"


@pytest.mark.parametrize("free", COMBINATIONS)
@pytest.mark.parametrize(("seed", "n", "d"), [(0, 6, 1), (1, 7, 2), (2, 9, 3)])
def test_small_data_are_proved_by_a_cover(free: tuple[str, ...], seed: int, n: int, d: int) -> None:
    """The value to forty digits, which holds that of another solver, whatever gap is asked for; and the patterns are
    listed beside the cover, so that nothing is lost that is said of them."""
    rows, y = drawn(seed, n, d)
    bias = seed == 2 or "biases" in free
    found = certify(rows, y, "3/2", free=free, bias=bias, gap="1/10")
    full = [[*row, 1] for row in rows] if bias else rows
    assert holds(found, best(full, y, 1.5, free, appended=bias), 1e-5 * sum(t * t for t in y))
    assert found.value.relative_gap < Fraction(1, 10**40)
    assert str(found.claims["patterns-complete"].verdict) == "PROVED"
    assert {"patterns", "cover"} <= json.loads(found.certificate)["facts"].keys()


@pytest.mark.parametrize("free", ["output-bias", "skip", "biases", "output-bias,skip"])
def test_a_cover_decides_whatever_the_list_decides(free: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On small data no claim is lost, no verdict differs, and of some instances more is known."""
    cases = [(*drawn(70 + seed, 4 + seed, 1 + seed % 3), ("1/10", 1, 20)[seed % 3]) for seed in range(6)]
    founds = [certify(rows, y, lam, free=free).claims for rows, y, lam in cases]
    over_the_list(monkeypatch)
    more = 0
    for found, (rows, y, lam) in zip(founds, cases, strict=True):
        listed = certify(rows, y, lam, free=free).claims
        assert found.keys() == listed.keys()
        for claim, result in listed.items():
            assert result.verdict in ("UNDECIDED", found[claim].verdict), claim
            more += result.verdict != found[claim].verdict
    assert more or free != "biases"


WAYS = [("biases", 7, False), ("biases", 6, True), ("output-bias", 8, False), ("output-bias", 17, False),
        ("output-bias", 7, True)]  # fmt: skip


@pytest.mark.parametrize(("free", "d", "covered"), WAYS)
def test_few_points_of_many_features_keep_the_list(free: str, d: int, covered: bool) -> None:
    """A cover of eight directions takes seconds, and the checker takes sixteen columns: there the list, which is short
    where points are few, proves the optimum at once."""
    rows, y = drawn(40, 9, d)
    found = certify(rows, y, lambda_ratio="1/2", free=free, bias=free == "biases")
    assert isinstance(found.facts.dual.multipliers, Cover if covered else PieceMultipliers)
    assert str(found.claims["optimal"].verdict) == "PROVED"
    if free == "biases" and not covered:
        assert "so many features" in found.claims["p-unique"].detail


def test_wide_data_of_doubles_have_a_list() -> None:
    """Fewer points than features, all of many digits: a basis of their rows is too long for the integers of a cover."""
    rng = np.random.default_rng(0)
    for free in ("output-bias", "biases", "skip"):
        found = certify(rng.standard_normal((4, 9)), rng.standard_normal(4), "1/10", free=free)
        assert isinstance(found.facts.dual.multipliers, PieceMultipliers)
        assert free == "skip" or str(found.claims["optimal"].verdict) == "PROVED"


TINY: dict[str, tuple[list[list[int]], list[int]]] = {
    "one point": ([[2]], [3]),
    "one point at zero": ([[0]], [3]),
    "one point, three features": ([[2, 1, 3]], [1]),
    "one point twice": ([[1], [1]], [1, -1]),
    "rows twice": ([[1, 2], [1, 2], [-1, 0], [-1, 0], [3, 1], [3, 1]], [1, 1, 2, 0, -1, -1]),
    "all targets zero": ([[1, 2], [2, -1], [-1, 1], [0, 1]], [0, 0, 0, 0]),
    "one label": ([[1, 2], [2, -1], [-1, 1], [0, 1]], [1, 1, 1, 1]),
    "one feature": ([[-2], [-1], [0], [1], [3]], [1, -1, 1, 1, -1]),
    "a constant feature": ([[1, 5], [2, 5], [-1, 5], [0, 5], [4, 5]], [1, -1, 1, 1, -1]),
    "a constant feature alone": ([[5], [5], [5]], [1, -1, 1]),
    "zeros": ([[0], [0], [0]], [1, -1, 1]),
    "a feature of zeros": ([[1, 0], [2, 0], [-1, 0], [-3, 0]], [1, -1, 1, -1]),
    "a row of zeros": ([[1, 2], [0, 0], [-1, 1], [0, 1]], [1, -1, 1, -1]),
    "opposite rows": ([[1, 2], [-1, -2], [2, 1], [-2, -1]], [1, -1, 1, 1]),
    "points on a line": ([[1, 1], [2, 2], [-1, -1], [3, 3], [0, 0]], [1, -1, 1, 1, -1]),
}


@pytest.mark.parametrize("loss", ["squares", "logistic"])
@pytest.mark.parametrize("name", TINY)
def test_tiny_data_have_their_optimum(name: str, loss: Any) -> None:
    """Degenerate data, all free terms, lambda small and above lambda_max: no crash, on no page, and the proved interval
    holds the value of another solver; with squares it is the optimum."""
    rows, y = TINY[name]
    if loss == "logistic" and any(abs(t) != 1 for t in y):
        return
    for free in COMBINATIONS:
        bias = "biases" in free
        full = [[*row, 1] for row in rows] if bias else rows
        kind = {"logistic": loss == "logistic", "appended": bias}
        for lam in ("1/10", "1000"):
            found = certify(rows, y, lam, free=free, bias=bias, loss=loss)
            value = best(full, y, float(Fraction(lam)), free, **kind)
            assert holds(found, value, 1e-5), (free, lam)
            assert loss == "logistic" or str(found.claims["optimal"].verdict) == "PROVED", (free, lam)
            assert found.headline in found.to_text().replace("\n", " ") and found.html()


@pytest.mark.parametrize("free", ["output-bias,skip", "biases,skip"])
def test_a_constant_is_free_once(free: str) -> None:
    """A skip connection has no weight for the ones that were appended: the free columns are independent, and the sets
    are known; with free biases as well a neuron may be turned over."""
    rows, y = drawn(31, 7, 2)
    found = certify(rows, y, 1, free=free, bias=True)
    assert found.network.width > 0
    assert [str(found.claims[name].verdict) for name in ("p-unique", "optimal-set", "minimal")] == [
        "REFUTED", "PROVED", "PROVED",
    ]  # fmt: skip
    assert len(found.facts.primal.free) == 1 + len(rows[0])


def test_free_columns_that_depend_on_each_other() -> None:
    """A feature twice, or one that is constant: its coefficients are not unique, and no word is said on uniqueness."""
    rows, y = drawn(31, 7, 1)
    for more in (rows, [[3]] * 7):
        found = certify([[*a, *b] for a, b in zip(rows, more, strict=True)], y, 1, free="output-bias,skip")
        assert str(found.claims["optimal"].verdict) == "PROVED"
        assert found.claims["p-unique"].detail.startswith("the free columns depend on each other")
        assert found.claims["p-unique"].detail.endswith("What would settle it: fewer free terms.")


def test_a_level_neuron_beside_a_tie_without_weight() -> None:
    """Two classes differ by free terms, and their weight may be zero: nothing is said of the set. It was, and the
    checker rejected it."""
    found = certify([[0], [1], [-2], [-1], [2], [1]], [-2, -4, -2, -1, 5, 0], 1, free="output-bias,biases")
    assert "may have weight zero" in found.claims["p-unique"].detail


def test_a_neuron_beside_two_rows_has_no_face(monkeypatch: pytest.MonkeyPatch) -> None:
    """In floats it is zero at two rows that no vector but 0 is orthogonal to: nothing is asked of theta."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    Z = [["0", "1"], ["0.000000001", "1"], ["2", "0"], ["3", "1"], ["1", "-1"], ["-1", "2"]]
    problem = certify(Z, [0, 0, 4, 6, 2, -1], lambda_ratio="1/4", free="output-bias", seconds=8).facts.problem
    assert _two_sided(setting(problem), problem.y, ((1, (Fraction(1), Fraction(0))),)) == []


SYMMETRIC = [[-1, -1], [-2, -1], [-1, 0], [-2, -2], [1, 1], [2, 1], [1, 0], [2, 2]]


@pytest.mark.parametrize(
    ("Z", "y", "more"),
    [
        ([[-2], [-1], [0], [1], [2]], [-13, 0, 1, 4, -2], {"lam": 3}),
        (SYMMETRIC, [-3, -4, 2, -1, -3, -4, 2, -1], {"lambda_ratio": "1/4"}),
    ],
)
def test_digits_of_floats_leave_no_tiny_weights(
    Z: list[list[int]], y: list[int], more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an exact finish a row without weight had one of 1e-15, a share of a concave line was 1 + 7e-16, and the
    checker rejected our own certificates."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify(Z, y, free="biases", seconds=8, **more)
    assert str(found.claims["fit"].verdict) == "PROVED"
    assert 0 < found.value.lower <= found.value.upper < found.value.lower * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("free", COMBINATIONS)
def test_predictions_are_those_of_the_fit(free: tuple[str, ...]) -> None:
    """The network that is returned has the free terms in it: its outputs on the data are the proved fit, and its
    objective, with what is penalised only, is the upper bound."""
    rows, y = drawn(3, 8, 2)
    found = certify(rows, y, 2, free=free)
    network = found.network
    assert network.predict_exactly(rows) == found.facts.fit.center
    np.testing.assert_allclose(network.predict(rows), [float(x) for x in found.facts.fit.center], atol=1e-9)
    weights = network.W1[:, :-1] if "biases" in free else network.W1
    J = 0.5 * float(((network.predict(rows) - y) ** 2).sum()) + float((weights**2).sum() + (network.w2**2).sum())
    assert pytest.approx(float(found.value.upper), rel=1e-8) == J


def test_planted() -> None:
    """Two points, y = -2 and 2 at x = -1 and 1, lambda = 1: theta = (-t, t) with t as large as lambda allows."""
    rows, y = [[-1], [1]], [-2, 2]
    for free, value in (
        (("output-bias",), Fraction(3)),  # (x)_+ and (-x)_+: t <= 1, and 2 * 2 t - t^2
        (("biases",), Fraction(7, 4)),  # (x + 1)_+: 2 t <= 1
        (("output-bias", "biases"), Fraction(7, 4)),
        (("skip",), Fraction(0)),  # y is linear
        (("biases", "skip"), Fraction(0)),
    ):
        found = certify(rows, y, 1, free=free)
        assert found.value.lower <= value <= found.value.upper, free
        assert found.value.upper - found.value.lower < Fraction(1, 10**6)


@pytest.mark.parametrize("seed", range(6))
def test_one_feature_is_a_lasso(seed: int) -> None:
    """With free biases the kinks are at the data: on one feature a lasso on (x - x_k)_+ and (x_k - x)_+ with an
    intercept, which is solved and proved by other rules. The two intervals meet."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-9, 10, 8).tolist(), rng.integers(-5, 6, 8).tolist()
    kinks = sorted(set(x))
    hinges = [[max(s * (a - k), 0) for k in kinks for s in (1, -1)] for a in x]
    used = [j for j in range(len(hinges[0])) if any(row[j] for row in hinges)]
    other = certify_group_lasso([[row[j] for j in used] for row in hinges], 1, y, 2, intercept=True, claims=["optimal"])
    found = certify([[a] for a in x], y, 2, free="output-bias,biases")
    lower, upper = other.objective_bounds if hasattr(other, "objective_bounds") else _bounds(other)
    assert found.value.lower <= upper and lower <= found.value.upper
    assert found.value.upper - found.value.lower <= Fraction(1, 10**5) * max(found.value.upper, 1)


def _bounds(other: Any) -> tuple[Fraction, Fraction]:
    return other.value.lower, other.value.upper


@pytest.mark.parametrize("free", [("output-bias",), ("skip",), ("output-bias", "biases"), ("biases", "skip")])
def test_without_a_list(free: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A cover proves an interval that holds the one that the list proves, to forty digits, free biases or not."""
    rows, y = drawn(5, 12, 2)
    with monkeypatch.context() as patched:
        over_the_list(patched)
        listed = certify(rows, y, 2, free=free)
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify(rows, y, 2, free=free, seconds=20)
    assert isinstance(found.facts.dual.multipliers, Cover)
    assert found.value.lower <= listed.value.upper and listed.value.lower <= found.value.upper
    assert found.value.relative_gap < Fraction(1, 10**40)
    if "biases" in free:
        return
    for claim in ("p-unique", "convex-unique", "optimal-set", "minimal"):
        assert found.claims[claim].verdict == listed.claims[claim].verdict != "UNDECIDED", claim


@pytest.mark.parametrize("far", [1, 40])
@pytest.mark.parametrize("seed", range(5))
def test_free_biases_have_an_exact_finish(seed: int, far: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its neurons are (with kinks, or on at all rows but one far away, which has no weight then), the network
    is proved to sixty digits, and the checker accepts it. With a row far away the cones have long biases, and must not
    be taken for cones whose generators cancel."""
    rows, y = drawn(50 + seed, 14, 1 + seed % 3)
    rows[0] = [far * x for x in rows[0]]
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify(rows, y, lambda_ratio="1/2" if seed % 2 else "1/10", free="biases", seconds=20)
    assert isinstance(found.facts.dual.multipliers, Cover)
    assert found.value.relative_gap < Fraction(1, 10**60)


def bends(found: Any, rows: Any) -> list[bool]:
    """Of every neuron whether it is zero at some row."""
    Z = [[*map(Fraction, row), Fraction(1)] for row in rows]
    return [any(not sum(a * b for a, b in zip(z, one.w, strict=True)) for z in Z) for one in found.facts.primal.neurons]


@pytest.mark.parametrize("seed", range(16))
def test_uniqueness_with_free_biases_on_a_line(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one feature the verdict is that of a linear program over the kinks at the data points, and so is m*."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    x, y = rng.integers(-6, 7, n).tolist(), rng.integers(-5, 6, n).tolist()
    ratio = ("1/2", "1/4", "1/10", "1/3")[seed % 4]
    found = certify([[a] for a in x], y, lambda_ratio=ratio, free="output-bias,biases", seconds=20)
    unique, width = unique_on_a_line(x, found.facts.dual.theta, y, found.facts.lam)
    verdict = found.claims["p-unique"].verdict
    assert verdict in ("UNDECIDED", "PROVED" if unique else "REFUTED")
    assert verdict == "PROVED" or not unique  # what is unique is proved so
    if verdict == "PROVED":
        assert f"m* = {width}, M* = {width}" in found.claims["minimal"].detail
        assert all(bends(found, [[a] for a in x]))


@pytest.mark.parametrize("up", [1, -1])
def test_antipodal_neurons_on_a_line(up: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets near |x| or -|x|: most networks have neurons to both sides, and rows that the free terms fit. The verdict
    is that of the linear program in 40 of 40 cases, or is left open in at most four of them."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    open_, lifted = 0, 0
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        n = int(rng.integers(4, 12))
        x = rng.integers(-6, 7, n).tolist()
        y = [up * abs(a) + int(rng.integers(-1, 2)) for a in x]
        ratio = ("1/2", "1/10", "1/20", "1/50")[seed % 4]
        found = certify(
            [[a] for a in x], y, lambda_ratio=ratio, free="biases", seconds=20, claims=["p-unique", "minimal"]
        )
        unique, width = unique_on_a_line(x, found.facts.dual.theta, y, found.facts.lam)
        verdict = found.claims["p-unique"].verdict
        assert verdict in ("UNDECIDED", "PROVED" if unique else "REFUTED"), (x, y, ratio)
        if verdict == "PROVED" and found.claims["minimal"].verdict == "PROVED":
            assert f"m* = {width}, M* = {width}" in found.claims["minimal"].detail
        open_ += verdict == "UNDECIDED"
        lifted += isinstance(found.facts.optimal_set, BallSet) and bool(found.facts.optimal_set.split)
    assert open_ <= 4 and lifted >= 8


LEVEL: list[tuple[str, list[int], list[Any], dict[str, Any]]] = [  # found by hand and by draws: what was left open
    (
        "a linear neuron in the class of a bent one",
        [-3, 6, 6, -6, -4, -4, -4, 1],
        [-2, 0, -3, 5, 2, 2, -4, -4],
        {"lambda_ratio": "1/2"},
    ),
    (
        "level neurons on both sides of a row without weight",
        [-1, -2, -5, 4, -3, 1, -1, 5, 3],
        [2, 2, 6, 3, 4, 1, 2, 6, 4],
        {"lambda_ratio": "1/20"},
    ),
    ("a row that the output bias fits", [3, 1, 3, -1], [0, -4, -4, -5], {"lambda_ratio": "1/50"}),
    ("two such rows", [-4, 5, -6, -3, -4, 1, -2, -4], [-5, 1, -3, -3, 5, 1, 3, 2], {"lambda_ratio": "1/4"}),
    ("level neurons, each on where the other is off", [-2, -1, 1, 2], ["25/4", "-11/4", -3, 7], {"lam": 4}),
    ("two pairs with kinks", [-2, -1, 0, 1, 2], [11, -2, 7, -4, 9], {"lam": 4}),
]


@pytest.mark.parametrize(("name", "x", "y", "at"), LEVEL, ids=[one[0] for one in LEVEL])
def test_free_biases_that_are_not_unique(
    name: str, x: list[int], y: list[Any], at: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows without weight, linear neurons and neurons to both sides beside level ones: proved not to be unique."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify([[a] for a in x], y, free="biases", seconds=20, **at)
    unique, _ = unique_on_a_line(x, found.facts.dual.theta, [Fraction(t) for t in y], found.facts.lam)
    assert not unique and found.claims["p-unique"].verdict == "REFUTED", name
    assert found.value.relative_gap < Fraction(1, 10**60)


ROWS = [[4, 3], [0, 4], [4, 4], [-4, 0], [1, -2], [-1, 1], [3, 1]]
MORE = [[3, 3], [3, -4], [3, 4], [-2, -3], [-4, 3], [4, 1], [1, 3], [-4, 3]]


@pytest.mark.parametrize(
    ("rows", "y", "ratio", "more"),
    [
        (ROWS, [6, 5, 9, 3, 3, 2, 5], "1/100", [[-12, 95], [-93, -13]]),
        (MORE, [7, 6, 8, 6, 6, 5, 5, 8], "1/50", [[79, 73], [64, 71]]),
    ],
)
def test_antipodal_neurons_beside_an_output_bias(
    rows: Any, y: Any, ratio: str, more: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three pairs in the plane exchange weights, and all of these networks are one function: a segment, which another
    solver sees too. Both ends are networks with the proved value."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify(rows, y, lambda_ratio=ratio, free="output-bias", seconds=20)
    assert {str(found.claims[name].verdict) for name in ("p-unique", "convex-unique")} == {"REFUTED"}
    assert {str(found.claims[name].verdict) for name in ("optimal-set", "minimal")} == {"PROVED"}
    assert "m* = 5, M* = 5; minimal: 2 networks" in found.claims["minimal"].detail
    lam, free = float(found.facts.lam), ("output-bias",)
    assert spread_of_some(rows, y, lam, free, more, [0.6, -0.8]) > 0.01
    assert spread(rows, y, lam, free, [0.6, -0.8]) < 0.02
    known, polytope = found.facts.optimal_set, found.facts.polytope
    assert isinstance(known, BallSet) and known.dimension == 1 and len(known.lift) == 3 and polytope is not None
    theta = column(found.facts.dual.theta)
    maps = [class_map(found.facts.problem, neuron) for neuron in known.classes]
    Q = np.array([[float(x) for x in one.output(theta).entries()] for one in maps])
    fit = np.array([float(a - b) for a, b in zip(found.facts.problem.y, found.facts.dual.theta, strict=True)])
    for support in polytope.vertices:
        A = np.vstack([Q[list(support)], np.ones(len(y))]).T
        alpha = np.linalg.lstsq(A, fit, rcond=None)[0]
        assert np.abs(A @ alpha - fit).max() < 1e-9 and alpha[:-1].min() > 0
        value = 0.5 * float(((np.array(y, dtype=float) - fit) ** 2).sum()) + lam**2 * float(alpha[:-1].sum())
        assert value == pytest.approx(float(found.value.upper), rel=1e-9)


CASES = [(4, "PROVED"), (6, "PROVED"), (9, "PROVED"), (13, "PROVED"), (2, "REFUTED"), (7, "REFUTED"), (19, "REFUTED")]


@pytest.mark.parametrize(("seed", "verdict"), CASES)
def test_uniqueness_with_free_biases_in_the_plane(seed: int, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the network is unique, the weights of a convex program over all patterns have no room, and all neurons have
    kinks; where it is not, one has none, and its halves with other biases have the same fit and the same norm."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 8))
    rows, y = rng.integers(-6, 7, (n, 2)).tolist(), rng.integers(-5, 6, n).tolist()
    found = certify(rows, y, lambda_ratio="1/4", free="output-bias,biases", seconds=20)
    assert found.claims["p-unique"].verdict == verdict
    assert found.claims["convex-unique"].verdict == "REFUTED"
    assert all(bends(found, rows)) == (verdict == "PROVED")
    if verdict == "PROVED":
        with_ones = [[*row, 1] for row in rows]
        assert spread(with_ones, y, float(found.facts.lam), ("output-bias", "biases"), [0.6, -0.8, 0.0]) < 0.05


def test_rows_without_weight_do_not_part_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neuron is on at all rows but two that the output bias fits: there theta is 0, and its sum over the others as
    well, exactly. With the digits of the residual one of the two was a convex line, with a tie on both sides of it."""
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    problem = certify([[-4], [-3], [0], [1], [3]], [1, 1, 2, 3, 7], "1/2", free="biases", seconds=20).facts.problem
    tiny = Fraction(1, 2**215)
    residual = (tiny, -tiny, Fraction(1, 3), Fraction(1, 5), -Fraction(8, 15) + tiny)
    theta, moves = exact_theta(setting(problem), residual, ((1, (Fraction(1), Fraction(1))),))
    assert theta[:2] == (0, 0) and sum(theta) == 0
    assert all(abs(a - b) < 8 * tiny for a, b in zip(theta, residual, strict=True))
    digits = rounded(residual, THETA_BITS)
    assert [x + dict(moves).get(k, 0) for k, x in enumerate(digits)] == list(theta)


@pytest.mark.parametrize("free", ["output-bias", "skip", "output-bias,skip"])
@pytest.mark.parametrize("seed", range(6))
def test_sets_over_a_cover_are_those_over_the_list(seed: int, free: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a free constant or skip connection list and cover never disagree about the set of optimal networks, and the
    cover leaves open nothing but what it says."""
    rows, y = drawn(seed, 9, 2)
    with monkeypatch.context() as patched:
        over_the_list(patched)
        listed = certify(rows, y, 1, free=free)
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify(rows, y, 1, free=free, seconds=20)
    for claim in ("p-unique", "convex-unique", "optimal-set", "minimal"):
        one, other = found.claims[claim].verdict, listed.claims[claim].verdict
        assert one == other or "UNDECIDED" in (one, other), claim
    if found.claims["minimal"].verdict == listed.claims["minimal"].verdict == "PROVED":
        assert found.claims["minimal"].detail.split(";")[0] == listed.claims["minimal"].detail.split(";")[0]


def test_leaders_with_free_biases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many features for a cover the leaders prove an interval, and the gap is told."""
    rows, y = drawn(5, 12, 2)
    listed = certify(rows, y, 2, free="biases")
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    monkeypatch.setattr(driver, "setting_for_cover", lambda problem: None)
    found = certify(rows, y, 2, free="biases", seconds=20)
    assert isinstance(found.facts.dual.multipliers, Leaders)
    assert found.value.lower <= listed.value.upper and listed.value.lower <= found.value.upper
    assert found.value.relative_gap < Fraction(1, 10)
    assert "above the best network of any width" in found.headline


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("free", [("output-bias",), ("output-bias", "biases")])
def test_an_interrupt_is_said(free: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after the training: a proved interval, if a poor one, and what is open is open because of that."""
    rows, y = drawn(5, 12, 2)
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)

    def interrupted_training(*given: Any, **options: Any) -> Any:
        trained = train(*given, **options)
        signal.raise_signal(signal.SIGINT)
        return trained

    for module in (driver, relu_cert.cover.prover):
        monkeypatch.setattr(module, "train", interrupted_training)
    found = certify(rows, y, 2, free=free, seconds=600)
    assert found.facts.unsettled == INTERRUPTED
    assert "interrupted" in found.claims["p-unique"].detail
    assert 0 < found.value.lower < found.value.upper


@pytest.mark.parametrize("most", [10**6, 0])
@pytest.mark.parametrize("free", ["output-bias", "biases"])
def test_large_lambda_leaves_the_free_terms(free: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above lambda_max the free terms alone are optimal, and the only optimal network; that is said of no network
    without them. With a list, and without one."""
    rows, y = drawn(7, 9, 2)
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", most)
    found = certify(rows, y, 1000, free=free)
    mean = sum(y) / len(y)
    assert float(found.value.upper) == pytest.approx(0.5 * sum((t - mean) ** 2 for t in y))
    assert found.value.lower <= found.value.upper and found.value.relative_gap < Fraction(1, 10**40)
    assert found.network.width == 0
    assert found.network.predict(rows) == pytest.approx([mean] * len(y))
    assert str(found.claims["p-unique"].verdict) == "PROVED"
    assert found.claims["minimal"].detail.startswith("m* = 0, M* = 0")
    assert found.headline == "The best network has no neuron: it is the free terms alone; proved."


def labelled(seed: int, n: int, d: int) -> tuple[list[list[int]], list[int]]:
    """Small integers with labels 1 and -1 that no line divides."""
    rng = np.random.default_rng(seed)
    return rng.integers(-6, 7, (n, d)).tolist(), [1, -1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1, -1, 1, -1][:n]


@pytest.mark.parametrize("free", COMBINATIONS)
def test_logistic_loss_over_a_list(free: tuple[str, ...]) -> None:
    """A small interval that holds the value of a convex program over all patterns, and the checker accepts it."""
    rows, y = labelled(2, 10, 2)
    bias = "biases" in free
    found = certify(rows, y, "1/2", free=free, bias=bias, loss="logistic", gap="1e-3")
    assert isinstance(found.facts.dual.multipliers, PieceMultipliers)
    full = [[*row, 1] for row in rows] if bias else rows
    assert holds(found, best(full, y, 0.5, free, logistic=True, appended=bias), 1e-5)
    assert str(found.claims["optimal"].verdict) == "PROVED"
    assert str(found.claims["p-unique"].verdict) == "UNDECIDED"


@pytest.mark.parametrize("free", [("output-bias",), ("biases",), ("output-bias", "skip"), ("biases", "skip")])
def test_logistic_loss_without_a_list(free: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same by a cover."""
    rows, y = labelled(2, 10, 2)
    bias = "biases" in free
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = certify(rows, y, "1/2", free=free, bias=bias, loss="logistic", gap="1e-6", seconds=20)
    assert isinstance(found.facts.dual.multipliers, Cover)
    full = [[*row, 1] for row in rows] if bias else rows
    assert holds(found, best(full, y, 0.5, free, logistic=True, appended=bias), 1e-5)
    assert str(found.claims["optimal"].verdict) == "PROVED"


def test_another_theta_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the logistic loss, too: a theta a little beside the complement of the ones is rejected for that."""
    rows, y = labelled(2, 10, 2)
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    found = json.loads(certify(rows, y, "1/2", free="output-bias", loss="logistic", seconds=20).certificate)
    first, *others = found["facts"]["cover"]["theta"].split()
    verify.check(json.dumps(found).encode())
    found["facts"]["cover"]["theta"] = " ".join([str(Fraction(first) * Fraction(999, 1000)), *others])
    with pytest.raises(verify.VerifyError, match="orthogonal to the free column 0"):
        verify.check(json.dumps(found).encode())


def test_zero_rows_with_the_logistic_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of zeros costs log 2, and a cover is found as without it."""
    rows, y = labelled(2, 10, 2)
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
    plain, more = (certify(Z, t, "1/2", loss="logistic") for Z, t in ((rows, y), ([*rows, [0, 0]], [*y, 1])))
    assert float(more.value.upper) == pytest.approx(float(plain.value.upper) + np.log(2), rel=1e-8)
    assert float(more.value.lower) == pytest.approx(float(plain.value.lower) + np.log(2), rel=1e-8)


@pytest.mark.parametrize("most", [10**6, 0])
@pytest.mark.parametrize("free", ["output-bias", "biases", "skip"])
def test_labels_that_free_terms_divide(free: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """p* = 0 with the logistic loss, which no network attains: with a list, and without one."""
    rows, _ = drawn(8, 9, 2)
    y = [1 if a - 2 * b > 0 else -1 for a, b in rows] if free == "skip" else [1] * 9
    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", most)
    found = certify(rows, y, 1, free=free, bias=free == "biases", loss="logistic", seconds=5)
    assert -Fraction(1, 10**9) < found.value.lower <= 0 < found.value.upper < Fraction(1, 10**6)


def test_targets_that_free_terms_fit() -> None:
    """p* = 0: a linear target with a skip connection, a constant with an output bias."""
    rows, _ = drawn(8, 9, 2)
    for free, y in (("skip", [a - 2 * b for a, b in rows]), ("output-bias", [3] * 9), ("biases", [3] * 9)):
        found = certify(rows, y, 1, free=free)
        assert 0 <= found.value.lower <= found.value.upper < Fraction(1, 10**9)


def test_what_does_not_go_together() -> None:
    """Gated networks, some patterns and l2 have no free terms here."""
    rows, _ = drawn(9, 5, 1)
    for other in ({"model": "gated"}, {"patterns": 3}, {"l2": 1}):
        with pytest.raises(UsageError, match="`free` is for ReLU networks over all patterns"):
            certify(rows, [1, -1, 1, 1, -1], 1, free="skip", **other)  # type: ignore[arg-type]
