"""Many features and several outputs: a bound by the outputs one by one, and forged ones."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relu_cert import UsageError, certify
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


def test_forged_axes_are_rejected(wide: Any) -> None:
    """Larger lambda_i, a missing axis, an axis that is longer or turned, another value."""
    good = json.loads(wide.certificate)

    def rejected(change: Any) -> None:
        bad = json.loads(json.dumps(good))
        change(bad["facts"]["leaders"]["axes"], bad)
        assert bad != good
        with pytest.raises(VerifyError):
            check(json.dumps(bad).encode())

    def longer(axes: Any, _: Any) -> None:
        axes[0]["axis"] = " ".join(str(Fraction(x) * Fraction(11, 10)) for x in axes[0]["axis"].split())

    def larger(axes: Any, _: Any) -> None:
        axes[0]["lambda"] = str(Fraction(axes[0]["lambda"]) * 2)

    def smaller(axes: Any, _: Any) -> None:
        axes[0]["lambda"] = str(Fraction(axes[0]["lambda"]) / 2)

    def turned(axes: Any, _: Any) -> None:
        axes[1]["axis"] = axes[0]["axis"]

    rejected(longer)
    rejected(larger)
    rejected(smaller)
    rejected(turned)
    rejected(lambda axes, _: axes.pop())
    rejected(lambda axes, _: axes.append(axes[0]))
    rejected(lambda _, bad: bad["problem"].update({"lambda": str(Fraction(bad["problem"]["lambda"]) / 2)}))
    rejected(lambda _, bad: bad["facts"]["value"].update(lower=bad["facts"]["value"]["upper"]))
    rejected(lambda _, bad: bad["facts"].update(cover_set={"classes": [], "masses": ""}))


def test_softmax_with_many_features_is_refused_in_a_sentence() -> None:
    """There is no such bound for it."""
    Z, _ = drawn(3, 20, 14, 2)
    with pytest.raises(UsageError, match="fewer features"):
        certify(Z, ["a", "b"] * 10, lambda_ratio="1/2", loss="softmax")
