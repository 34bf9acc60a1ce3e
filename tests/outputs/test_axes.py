"""Many features and several outputs: a bound by directions of the outputs, and forged ones."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relu_cert import UsageError, certify
from relu_cert.outputs import axes as by_axes
from tests.outputs.data import drawn
from verify import VerifyError, check


@pytest.fixture(scope="module")
def wide() -> Any:
    """Twenty points with fourteen features and two outputs."""
    Z, Y = drawn(3, 20, 14, 2)
    return certify(Z, Y, lambda_ratio="1/2", seconds=6)


def test_a_bound_is_always_proved(wide: Any) -> None:
    """0 < lower <= upper, accepted by the checker; no random network is below the bound."""
    lines = {line.claim: line.verdict for line in check(wide.certificate.encode())}
    assert lines["fit"] == "PROVED" and lines["p-unique"] == "UNDECIDED"
    low, high = float(wide.value.lower), float(wide.value.upper)
    assert 0 < low <= high < 2 * low
    Z, Y = (np.array(A, dtype=float) for A in drawn(3, 20, 14, 2))
    rng = np.random.default_rng(0)
    for _ in range(300):
        W, V = rng.standard_normal((8, 14)), 0.2 * rng.standard_normal((8, 2))
        E = np.maximum(Z @ W.T, 0) @ V - Y
        weights = (np.linalg.norm(W, axis=1) * np.linalg.norm(V, axis=1)).sum()
        assert 0.5 * (E * E).sum() + float(wide.lam) * weights >= low


@pytest.fixture(scope="module")
def singly() -> Any:
    """Three outputs, each by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_axes, "too_dear", lambda *_: True)
        Z, Y = drawn(4, 16, 13, 3)
        return certify(Z, Y, lambda_ratio="1/2", seconds=4)


def forgery(found: Any, change: Any) -> None:
    """What is changed is rejected."""
    good = json.loads(found.certificate)
    bad = json.loads(found.certificate)
    change(bad["facts"]["leaders"], bad)
    assert bad != good
    with pytest.raises(VerifyError):
        check(json.dumps(bad).encode())


@pytest.mark.parametrize("which", ["wide", "singly"])
def test_forged_axes_are_rejected(which: str, request: pytest.FixtureRequest) -> None:
    """Larger lambda_i, a missing axis, an axis that is longer or turned, another value."""
    found = request.getfixturevalue(which)
    assert bool(json.loads(found.certificate)["facts"]["leaders"].get("across")) == (which == "wide")

    def longer(leaders: Any, _: Any) -> None:
        axis = leaders["axes"][0]
        axis["axis"] = " ".join(str(Fraction(x) * Fraction(11, 10)) for x in axis["axis"].split())

    def times(by: Fraction, leaders: Any) -> None:
        for one in (*leaders["axes"], *leaders.get("across", ())):
            one["lambda"] = str(Fraction(one["lambda"]) * by)

    def turned(leaders: Any, _: Any) -> None:
        leaders["axes"][1]["axis"] = leaders["axes"][0]["axis"]

    forgery(found, longer)
    forgery(found, lambda leaders, _: times(Fraction(2), leaders))
    forgery(found, lambda leaders, _: times(Fraction(1, 2), leaders))
    forgery(found, turned)
    forgery(found, lambda leaders, _: leaders["axes"].pop())
    forgery(found, lambda leaders, _: leaders["axes"].append(leaders["axes"][0]))
    forgery(found, lambda _, bad: bad["problem"].update({"lambda": str(Fraction(bad["problem"]["lambda"]) / 2)}))
    forgery(found, lambda _, bad: bad["facts"]["value"].update(lower=bad["facts"]["value"]["upper"]))
    forgery(found, lambda _, bad: bad["facts"].update(cover_set={"classes": [], "masses": ""}))


def test_forged_planes_are_rejected(wide: Any) -> None:
    """A direction less or with another lambda, weights that are others, a proof that belongs to another direction, a
    plane without axes or one that overlaps another."""

    def of(key: str, value: Any) -> Any:
        return lambda leaders, _: leaders["across"][0].update({key: value})

    def swapped(leaders: Any, _: Any) -> None:
        one, two = leaders["across"][:2]
        one["proof"], two["proof"] = two["proof"], one["proof"]

    def without(leaders: Any, _: Any) -> None:
        del leaders["across"]

    good = json.loads(wide.certificate)["facts"]["leaders"]["across"]
    c, s = (Fraction(x) for x in good[0]["weights"].split())
    forgery(wide, without)
    forgery(wide, lambda leaders, _: leaders["across"].pop())
    forgery(wide, lambda leaders, _: leaders["across"].clear())
    forgery(wide, of("lambda", str(2 * Fraction(good[0]["lambda"]))))
    forgery(wide, of("lambda", str(Fraction(good[0]["lambda"]) / 2)))
    forgery(wide, of("lambda", "0"))
    forgery(wide, of("weights", f"{-c} {-s}"))
    forgery(wide, of("weights", f"{2 * c} {2 * s}"))
    forgery(wide, of("weights", "0 0"))
    forgery(wide, of("weights", f"{c}"))
    forgery(wide, of("first", 1))
    forgery(wide, of("first", -1))
    forgery(wide, swapped)
    forgery(wide, lambda leaders, _: leaders["across"].extend(64 * leaders["across"][:1]))


def test_a_polygon_is_as_wide_as_its_vertices() -> None:
    """A square of sides 2 has |v|^2 = 2 at a corner; with its corners cut at 45 degrees, 1 + (sqrt 2 a - 1)^2 for a cut
    at a; axes that are not orthogonal count as they are; a cut outside changes nothing."""
    from verify.rules.outputs.leaders import Axis, widest

    one = Fraction(1)

    def width(b: tuple[int, int], *cuts: tuple[Fraction, Fraction, Fraction]) -> Fraction:
        first = Axis((one, Fraction(0)), one, (), list(cuts))
        second = Axis((Fraction(b[0]), Fraction(b[1])), one, ())
        return widest(first, second)

    a = Fraction(3, 2)
    assert width((0, 1)) == 2
    assert width((0, 1), (one, one, a)) == 2  # two corners are left
    assert width((0, 1), (one, one, a), (one, -one, a)) == 1 + (a - 1) ** 2
    assert width((0, 1), (one, one, Fraction(2)), (one, -one, Fraction(3))) == 2
    assert width((0, 1), (one, Fraction(0), Fraction(1, 3))) == 1 + Fraction(1, 9)  # parallel to an axis
    assert width((1, 1)) == 5
    assert width((1, 1), (one, one, Fraction(1))) == 2


def test_two_outputs_in_a_plane_are_better_than_one_by_one(wide: Any) -> None:
    """The same data with each output by itself: the bound is lower, and both are accepted."""
    Z, Y = drawn(3, 20, 14, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_axes, "too_dear", lambda *_: True)
        other = certify(Z, Y, lambda_ratio="1/2", seconds=6)
    assert other.value.lower < wide.value.lower <= wide.value.upper
    assert wide.value.relative_gap < Fraction(1, 50)


@pytest.mark.parametrize("free", [None, "output-bias"])
def test_planes_with_bags_equal_rows_and_three_outputs(free: str | None) -> None:
    """A plane and an axis; rows that are there twice, and bags of two rows each: accepted, and no network is below."""
    Z, Y = drawn(5, 16, 13, 3)
    Z, Y = (*Z, *Z[:4]), (*Y, *Y[:4])
    found = certify(Z, Y, lambda_ratio="1/2", seconds=8, free=free)
    said = json.loads(found.certificate)["facts"]["leaders"]
    assert len(said["axes"]) == 3 and {one["first"] for one in said["across"]} == {0}
    assert 0 < found.value.lower <= found.value.upper
    signals = [[str(float(x)) for x in (*a, *b)] for a, b in zip(Z[:10], Z[10:20], strict=True)]
    pooled = certify(signals, [list(map(str, map(float, y))) for y in Y[:10]], lambda_ratio="1/2", seconds=8,
                     conv="1d:13:stride=13", free=free)  # fmt: skip
    assert json.loads(pooled.certificate)["facts"]["leaders"]["across"]
    assert 0 < pooled.value.lower <= pooled.value.upper


def test_softmax_with_many_features_is_refused_in_a_sentence() -> None:
    """There is no such bound for it."""
    Z, _ = drawn(3, 20, 14, 2)
    with pytest.raises(UsageError, match="fewer features"):
        certify(Z, ["a", "b"] * 10, lambda_ratio="1/2", loss="softmax")
