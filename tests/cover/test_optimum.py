"""The exact finish of a cover, by the states it goes through."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction as F

import numpy as np

from relu_cert import examples
from relu_cert.cover.build import Missed
from relu_cert.cover.limits import Limits
from relu_cert.cover.prover import Prover
from relu_cert.cover.setting import setting
from relu_cert.cover.train import Trained, objective, polished, train
from relu_cert.data.read import read_csv_bytes
from relu_cert.problem import unlisted_relu


def test_what_was_kept_aside_belongs_to_the_network_after_a_refinement() -> None:
    """A neuron is missing beside the refined network: beside the trained one mammographic.csv came to no end."""
    data = read_csv_bytes(examples.path("iris").read_bytes(), "iris.csv")
    prover = Prover(setting(unlisted_relu(data.Z, data.y)), F(1), Limits(), lambda moment: None)
    whole = train(prover.given.task)
    least = int(np.argmin(np.linalg.norm(whole.V, axis=1)))
    V, xi = polished(prover.given.task, np.delete(whole.V, least, 0), np.delete(whole.xi, least))
    value, residual = objective(prover.given.task, V, xi)
    rest = Trained(V, xi, residual, value)
    prover.extra = [(int(whole.xi[least]), whole.V[least] @ prover.frame)]
    with suppress(Missed):
        prover._exact(rest)
    assert prover.extra == []
    assert prover.network.objective < rest.objective
