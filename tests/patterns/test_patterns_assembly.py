"""Compiled helpers do what the plain ones do; a witness that is not proved is replaced by an exact one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numba import njit

from relu_cert.exact import matrix
from relu_cert.patterns import cells as cells_module
from relu_cert.patterns import compiled as compiled_module
from relu_cert.patterns.arrangement import arrangement, both_halves, hyperplanes
from relu_cert.patterns.cells import REACH, cells, minimal
from relu_cert.patterns.finish import finish
from relu_cert.patterns.tableau import lowest, pivot_integers, uncounted
from tests.patterns import instances


def test_lowest_one():
    """The position of the lowest one, for every position and whatever is above it."""
    rng = random.Random(1)
    for i in range(64):
        for above in (0, rng.getrandbits(64), 2**64 - 1):
            assert lowest(np.uint64((1 << i | above << (i + 1)) & 2**64 - 1)) == i


@pytest.mark.parametrize("rows", [7, 40, 130])
def test_packing(rows):
    """Rows that repeat, point the other way or vanish, in one and in several words."""
    rng = random.Random(rows)
    base = [[rng.randint(-9, 9) for _ in range(4)] for _ in range(max(rows // 2, 5))]
    Z = [[rng.choice((-2, 0, 1)) * x for x in rng.choice(base)] for _ in range(rows)]
    planes = hyperplanes(arrangement(matrix(Z)).rows)
    width = (len(planes) + 7) // 8
    half = np.random.default_rng(rows).integers(0, 256, size=(300, width), dtype=np.uint8)
    half[:, -1] &= (1 << (len(planes) - 8 * (width - 1))) - 1
    assert (both_halves(half, planes, rows, compiled=True) == both_halves(half, planes, rows)).all()


@pytest.mark.parametrize("rows", [instances.cube(4), instances.ternary(3), instances.braid(6)])
def test_minimal_circuits(rows):
    """The same circuits in the same order."""
    broken = cells(hyperplanes(arrangement(matrix(rows)).rows).normals, compiled=False).broken
    assert minimal(broken, compiled=True) == minimal(broken)


def test_wide_circuits():
    """Masks beyond one word are left to the plain search."""
    broken = {1 << 1 | 1 << 70: 0, 1 << 1 | 1 << 2 | 1 << 70: 0, 1 << 3 | 1 << 5: 2}
    assert minimal(broken, compiled=True) == minimal(broken) == [(0, (1, 70)), (2, (3, 5))]


@pytest.mark.parametrize("reach", [1.0, 6.0])
def test_unproved_witnesses_are_replaced(monkeypatch, reach):
    """With no or little room for rounding the proof fails for all or some cells; exact points take their place."""
    normals = hyperplanes(arrangement(matrix(instances.cube(4))).rows).normals
    monkeypatch.setattr(cells_module, "REACH", reach)
    found = cells(normals, compiled=True)
    assert len(found) == instances.THRESHOLD_FUNCTIONS[4] // 2
    values = found.points @ np.array(normals).T
    bits = np.unpackbits(found.bits, axis=1, count=len(normals), bitorder="little").astype(bool)
    assert (values != 0).all()
    assert ((values > 0) == bits).all()


@pytest.mark.parametrize(
    "rows",
    [instances.cube(4), instances.ternary(3), instances.braid(6), [[x, y, 1] for x in range(9) for y in range(9)]],
)
def test_floats_propose_points(monkeypatch, rows):
    """On small degenerate data no exact point is needed: each one would cost as much as a hundred cells."""

    def exact_point(*_):
        raise AssertionError("a cell was left to exact arithmetic")

    monkeypatch.setattr(cells_module, "exact_point", exact_point)
    cells(hyperplanes(arrangement(matrix(rows)).rows).normals, compiled=True)


def test_wrong_signs_are_not_proved():
    """A point is accepted for the cell that it lies in and refused for a cell that differs in one sign."""
    normals = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, -1)])
    m, r, lanes = *normals.shape, 8
    Z, scale = np.ascontiguousarray(normals.T, dtype=np.float64), 1 / np.abs(normals).sum(axis=1)
    masks = np.array([[0b1111], [0b0111], [0b1110]], dtype=np.uint64)
    points = np.array([[[3.0, 2.0, 1.0], [0.0, 0.0, 0.0]]] * 3)
    W, good = np.zeros((4, r), dtype=np.int64), np.zeros(3, dtype=np.int64)
    space, words = np.zeros((3 * r + 2 * m + 9, lanes)), np.zeros((2, 1, lanes), dtype=np.uint64)
    ranges = np.zeros((3, lanes), dtype=np.int64)
    finish(Z, scale, masks, np.zeros_like(masks), points, 3, W, 1, good, space, words, ranges, 0, 0, REACH)
    assert good.tolist() == [1, 0, 0]
    assert (W[1] @ normals.T > 0).all()
    assert not W[0].any()


@pytest.mark.parametrize("size", [30, 2**30, 2**70])
def test_little_room(monkeypatch, size):
    """Memory that is made larger again and again, and many returns from the engine, change nothing."""
    rng = random.Random(size)
    normals = hyperplanes(
        arrangement(matrix([[rng.randint(-size, size) for _ in range(4)] for _ in range(24)])).rows
    ).normals
    plenty = cells(normals, compiled=True)
    for name, value in (("FIRST_ROOM", 300), ("ROOM", 64), ("WORK", 5), ("CHUNKS", 1)):
        monkeypatch.setattr(compiled_module, name, value)
    little = cells(normals, compiled=True)
    assert (little.bits == plenty.bits).all()
    assert little.broken == plenty.broken
    values = little.points.astype(object) @ np.array(normals, dtype=object).T
    bits = np.unpackbits(little.bits, axis=1, count=len(normals), bitorder="little").astype(bool)
    assert (values != 0).all()
    assert ((values > 0) == bits).all()


def test_private_option_is_not_needed():
    """Where numba has lost its private option, functions are compiled without it, and do the same."""
    assert uncounted(object()) == {}
    rows = np.array([[3.0, 0.0, -2.0, 5.0], [1.0, 4.0, 0.0, -1.0]])
    X = np.zeros((2, 2, 2, 4))
    X[:, 0] = rows
    counted = njit(error_model="numpy", **uncounted(object()))(pivot_integers.py_func)
    for pivot, tableau in ((pivot_integers, X[0]), (counted, X[1])):
        pivot(tableau, 0, 0, 3, 1.0)
    assert (X[0] == X[1]).all()
    assert X[0, 1, 1].tolist() == [8.0, 20.0, -2.0, 0.0]
