"""Concave pieces: their number, their prices, their multipliers."""

from __future__ import annotations

import numpy as np
import pytest

from relu_cert.solve import FloatMultipliers, multipliers, prepare
from relu_cert.solve.cones import correlations, unpack
from relu_cert.solve.prepare import NetworkArrays
from tests.solve.instances import random_network


def arrays_of(seed: int) -> NetworkArrays:
    """The float arrays of a random ReLU problem."""
    arrays = prepare(random_network(seed, "relu")).arrays
    assert isinstance(arrays, NetworkArrays)
    return arrays


@pytest.mark.parametrize("seed", range(6))
def test_correlations_by_table_are_the_matrix_product(seed: int) -> None:
    """Z'Dt by packed bytes is Z'Dt."""
    arrays = arrays_of(seed)
    t = np.random.default_rng(seed).standard_normal(arrays.n)
    dense = (unpack(arrays.bits, arrays.n) * t) @ arrays.Z
    assert correlations(arrays, t) == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize("seed", range(18))
@pytest.mark.parametrize("enough", [0.0, 5.0])
def test_multipliers_prove_what_they_say(seed: int, enough: float) -> None:
    """There is one multiplier for each piece, inside its box, and no direction of any piece beats its norm; where
    the norm is above `enough` the direction v itself attains it."""
    problem = random_network(seed, "relu")
    data = prepare(problem)
    arrays = data.arrays
    assert isinstance(arrays, NetworkArrays)
    theta = np.random.default_rng(seed).standard_normal(arrays.n).round(2)
    found = multipliers(data, theta, enough)
    assert isinstance(found, dict)
    for sign, part in found.items():
        check_pieces(arrays, sign * theta, part, enough)


def check_pieces(arrays: NetworkArrays, t: np.ndarray, part: FloatMultipliers, enough: float) -> None:
    """The promises of PieceMultipliers."""
    P = t > 0.0
    wanted = {row.tobytes() for row in arrays.bits & np.packbits(P)}
    pieces = [row.tobytes() for row in np.packbits(part.base & P, axis=1)]
    assert set(pieces) == wanted
    assert len(pieces) == len(wanted)
    low = np.where(P, np.where(part.base, t, -np.inf), t)
    high = np.where(P & part.base, np.inf, 0.0)
    assert (low <= part.m).all()
    assert (part.m <= high).all()
    assert part.m @ arrays.Z == pytest.approx(part.v, abs=1e-12)
    corrected = (part.m != np.where(part.base, t, 0.0)).sum(axis=1)
    assert (corrected <= arrays.Z.shape[1]).all()
    above = part.norm > enough * (1 + 1e-9) + 1e-9
    u = part.v[above] / part.norm[above, None]
    assert (np.maximum(u @ arrays.Z.T, 0.0) @ t) == pytest.approx(part.norm[above], rel=1e-9)
    sampled = np.random.default_rng(0).standard_normal((4000, arrays.Z.shape[1]))
    sampled /= np.linalg.norm(sampled, axis=1)[:, None]
    slack = sampled @ arrays.Z.T
    piece = {row: i for i, row in enumerate(pieces)}
    owner = [piece[row.tobytes()] for row in np.packbits((slack >= 0.0) & P, axis=1)]
    assert (np.maximum(slack, 0.0) @ t <= part.norm[owner] + 1e-9).all()
