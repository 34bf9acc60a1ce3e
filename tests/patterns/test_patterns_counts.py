"""Numbers of cells that are known from elsewhere, and larger sets whose witnesses are checked one by one."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from relu_cert.exact import Matrix, matrix
from relu_cert.patterns import PatternSet, enumerate_patterns
from tests.patterns import instances


def prove(Z: Matrix, found: PatternSet) -> None:
    """Every witness has its pattern and vanishes on its flat only, in integers; no pattern occurs twice."""
    integers = [[int(x * row_lcm(row)) for x in row] for row in Z]
    bits = found.array()
    assert len(np.unique(found.bits(), axis=0)) == len(found)
    start = 0
    for group in found.groups:
        u = np.zeros((len(group), found.d), dtype=object)
        u[:, list(found.columns)] = group.witnesses
        values = u @ np.array(integers, dtype=object).T
        assert ((values >= 0) == bits[start : start + len(group)]).all()
        inside = np.zeros(found.n, dtype=bool)
        inside[list(group.flat)] = True
        assert ((values == 0) == inside).all()
        start += len(group)


def row_lcm(row: tuple[Fraction, ...]) -> int:
    out = 1
    for x in row:
        out = out * x.denominator // np.gcd(out, x.denominator)
    return int(out)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_threshold_functions(k):
    """The cells of the cube with bias are the threshold functions; the bias excludes lower faces."""
    Z = matrix(instances.cube(k))
    found = enumerate_patterns(Z)
    assert found.open_cells == len(found) == instances.THRESHOLD_FUNCTIONS[k]
    prove(Z, found)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_braid_arrangements(k):
    """k! cells, though the rank is k - 1 and every three hyperplanes x_i - x_j, x_j - x_l, x_i - x_l are dependent."""
    Z = matrix(instances.braid(k))
    found = enumerate_patterns(Z)
    assert found.rank == k - 1
    assert found.open_cells == instances.braid_cells(k)
    prove(Z, found)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_resonance_arrangements(k):
    """Known up to k = 9 in the literature."""
    found = enumerate_patterns(matrix(instances.resonance(k)), engine="python")
    assert found.open_cells == len(found) == instances.RESONANCE_CELLS[k]


@pytest.mark.parametrize(("k", "cells", "patterns"), [(1, 2, 3), (2, 8, 17), (3, 96, 291), (4, 5376, 25377)])
def test_ternary_grids(k, cells, patterns):
    """Every row has its opposite, so every face of the arrangement has a pattern of its own.

    In three dimensions: 96 triangles, so 144 edges and, by Euler, 50 vertices, and the origin.
    """
    Z = matrix(instances.ternary(k))
    found = enumerate_patterns(Z, engine="python")
    assert (found.open_cells, len(found)) == (cells, patterns)
    prove(Z, found)


@pytest.mark.parametrize(("n", "d"), [(30, 2), (25, 3), (18, 4), (14, 6), (11, 9), (6, 12)])
def test_general_position(n, d):
    """Cover's number, and the all-ones pattern of u = 0 where no cell has it."""
    rng = random.Random(n * 100 + d)
    Z = matrix([[rng.randint(-(10**6), 10**6) for _ in range(d)] for _ in range(n)])
    found = enumerate_patterns(Z)
    assert found.open_cells == instances.cover(n, min(n, d))
    assert len(found) - found.open_cells == (not found.array()[: found.open_cells].all(axis=1).any())
    assert all(not group.circuits for group in found.groups)
    prove(Z, found)


def test_one_zero_minor():
    """One dependent triple in the plane z_1 + z_2 = z_3 costs exactly the two cells that it closes, and one circuit."""
    rng = random.Random(5)
    rows = [[rng.randint(-999, 999) for _ in range(3)] for _ in range(9)]
    rows.append([a + b for a, b in zip(rows[2], rows[7], strict=True)])
    found = enumerate_patterns(matrix(rows))
    assert found.open_cells == instances.cover(10, 3) - 2
    assert found.groups[0].circuits == ((2, 7, 9),)
