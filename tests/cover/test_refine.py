"""Kinks that a neuron has, and those that it leaves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat

from relu_cert import certify
from relu_cert.cover.refine import (
    LineFace,
    beside,
    departure,
    face_basis,
    float_lines,
    kernel_of,
    proposed_face,
    refine,
)
from relu_cert.cover.setting import setting
from relu_cert.problem import unlisted_relu

ROWS = ((0, 1, 0), (0, 10**8, 1), (1, 0, 1))


def test_a_neuron_leaves_lines_that_are_nearly_one() -> None:
    """On two lines that differ by 1e-8 it can only stay where it is, or leave one of them: the way down hardly rises
    from either."""
    Z = tuple(tuple(map(Fraction, z)) for z in ROWS)
    data = replace(setting(unlisted_relu(Z, (Fraction(1),) * 3)).data, lam=Fraction(1))
    here = LineFace(1, frozenset({0, 1}), (0, 0, 1), np.array([1.0, 0.0, 0.0]))
    assert len(face_basis(data, [0, 1])) == 1
    left = departure(data, here, (1, 0, 0), np.array([-1.0, -1.0, 1.0]))
    assert left.side in ((0, 1, 1), (-1, 0, 1))
    assert len(face_basis(data, sorted(left.kinks))) == 2


def test_a_neuron_stays_where_it_is_stationary() -> None:
    """Without a way down the face is the same."""
    Z = tuple(tuple(map(Fraction, z)) for z in ROWS)
    data = replace(setting(unlisted_relu(Z, (Fraction(1),) * 3)).data, lam=Fraction(1))
    here = LineFace(1, frozenset({0, 1}), (0, 0, 1), np.array([1.0, 0.0, 1.0]))
    flat = LineFace(1, frozenset({0}), (0, 1, 1), np.array([1.0, 0.0, 1.0]))
    assert departure(data, replace(here, kinks=frozenset()), (1, 0, 0), np.zeros(3)).kinks == frozenset()
    stays = departure(data, flat, (2**60, 0, 2**60), np.array([-1.0, 0.0, 2**-0.5]))
    assert stays is flat


def test_the_clock_is_looked_at_while_digits_are_found() -> None:
    """Every round of the refinement may be the last."""
    Z = tuple(tuple(map(Fraction, z)) for z in ROWS)
    data = replace(setting(unlisted_relu(Z, (Fraction(1),) * 3)).data, lam=Fraction(1, 10))
    looks = iter(range(3))
    with pytest.raises(StopIteration):
        refine(data, [1.0], np.array([[0.3, 1e-9, 0.3]]), in_time=lambda: print(next(looks)))


def test_lines_that_meet_far_away_are_not_all_kinks() -> None:
    """Rounded decimals: three rows of rank 2 but for the last digit leave a direction far from the neuron that nearly
    lies on all of them. The face that is proposed holds the neuron, and so two of the lines."""
    rows = ((10**9, 0, 0, 1), (0, 10**9, 0, 1), (10**9, 10**9, 1, 0), (0, 0, 1, 1), (0, 0, 1, -1))
    Z = tuple(tuple(map(Fraction, z)) for z in rows)
    data = replace(setting(unlisted_relu(Z, (Fraction(1),) * 5)).data, lam=Fraction(1))
    v = np.array([-1e-10, -1e-10, 0.8, 0.1])
    assert beside(face_basis(data, [0, 1, 2]), v) > 0.1
    face = proposed_face(data, float_lines(data.lines), 1, v, 1e-8)
    assert len(face.kinks) == 2
    assert beside(face_basis(data, sorted(face.kinks)), v) < 1e-8
    assert all(side for c, side in enumerate(face.side) if c not in face.kinks)


def test_faces_of_long_kinks_have_room_for_their_digits() -> None:
    """Three kinks of binary64 numbers in five dimensions had a basis of 58 digits, and 300 bits were too few: Newton's
    method stood still at 2e-33 for a thousand steps, and nothing was said of uniqueness."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((30, 5)).round(2), rng.standard_normal(30).round(2)
    found = certify(Z, y, lambda_ratio="1/2", claims=["optimal", "p-unique"])
    assert found.value.relative_gap < Fraction(1, 10**60)
    assert str(found.claims["p-unique"].verdict) == "PROVED"


def test_a_long_basis_of_a_face_is_shortened() -> None:
    """It spans the same: as many vectors, independent, orthogonal to the kinks, and no longer than Minkowski allows."""
    rng = np.random.default_rng(0)
    rows = [tuple(int(x * 2**52) for x in row) for row in rng.standard_normal((3, 5))]
    basis = kernel_of([tuple(int(i == j) for j in range(5)) for i in range(5)], rows)
    assert len(basis) == 2 == fmpz_mat([list(b) for b in basis]).rank()
    assert not any(sum(x * y for x, y in zip(p, b, strict=True)) for p in rows for b in basis)
    assert all(abs(x).bit_length() < 100 for b in basis for x in b)
