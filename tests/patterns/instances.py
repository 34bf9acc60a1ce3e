"""Instances with a known number of cells, as lists of integer rows."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, factorial


def cube(k: int) -> list[list[int]]:
    """The 0/1 cube with a bias column: its cells are the threshold functions of k variables."""
    return [[*point, 1] for point in product((0, 1), repeat=k)]


THRESHOLD_FUNCTIONS = {1: 4, 2: 14, 3: 104, 4: 1882, 5: 94572}  # OEIS A000609


def braid(k: int) -> list[list[int]]:
    """x_i - x_j for i < j: k! cells."""
    return [[(l == i) - (l == j) for l in range(k)] for i, j in combinations(range(k), 2)]


def braid_cells(k: int) -> int:
    return factorial(k)


def resonance(k: int) -> list[list[int]]:
    """All non-zero 0/1 vectors of length k."""
    return [list(point) for point in product((0, 1), repeat=k) if any(point)]


RESONANCE_CELLS = {1: 2, 2: 6, 3: 32, 4: 370, 5: 11292}  # OEIS A034997


def ternary(k: int) -> list[list[int]]:
    """{-1, 0, 1}^k."""
    return [list(point) for point in product((-1, 0, 1), repeat=k)]


def cover(m: int, r: int) -> int:
    """Cover's number of cells in general position."""
    return 2 * sum(comb(m - 1, k) for k in range(r))
