"""How the time of a proof is shared."""

from __future__ import annotations

from typing import Any

import pytest

from relu_cert import certify
from relu_cert.driver import network


@pytest.mark.parametrize(("seconds", "most"), [(3, 1.0), (600, network.LAMBDA_MAX_SECONDS)])
def test_lambda_max_leaves_time_for_the_optimum(seconds: int, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 12 directions its cover does not end: it took all of 20 seconds, and the network was not trained."""
    found: list[float] = []
    prove = network.prove_lambda_max

    def noted(given: Any, limits: Any, **more: Any) -> Any:
        found.append(limits.seconds)
        return prove(given, limits, **more)

    monkeypatch.setattr(network, "prove_lambda_max", noted)
    certify([[1, 2, 0], [0, 1, 1], [2, 1, 1]], [1, -1, 2], conv="1d:2", lambda_ratio="1/3", seconds=seconds)
    assert found == [pytest.approx(most)]
