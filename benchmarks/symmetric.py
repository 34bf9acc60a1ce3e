"""Symmetric data sets, on which ties are exact: cubes, grids, one-hot codes, polygons, lattices, lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from relu_cert.exact import Matrix, Vector, matrix, vector

Points = Sequence[Sequence[Fraction | int]]


@dataclass(frozen=True)
class Symmetric:
    """A data set with its name."""

    name: str
    Z: Matrix
    y: Vector


def symmetric_data() -> Iterator[Symmetric]:
    """All of them, each without and with a bias."""
    for name, points, targets in _point_sets():
        for label, y in targets.items():
            for bias in (0, 1):
                Z = matrix([(*point, *(1,) * bias) for point in points])
                yield Symmetric(f"{name}, {label}{', bias' * bias}", Z, vector(y))


def _point_sets() -> Iterator[tuple[str, Points, dict[str, Sequence[Fraction | int]]]]:
    for low, size in product((0, -1), (2, 3)):
        yield f"cube {low} {size}", list(product((low, 1), repeat=size)), _labels(low, size)
    grid = list(product((-1, 0, 1), repeat=2))
    yield (
        "grid",
        grid,
        {
            "checkerboard": [1 - 2 * ((a + b) % 2) for a, b in grid],
            "saddle": [a * b for a, b in grid],
            "bowl": [a * a + b * b for a, b in grid],
            "cross": [int(a * b == 0) for a, b in grid],
            "centre": [int(a == b == 0) for a, b in grid],
            "stripe": [a * a for a, _ in grid],
            "diagonal": [int(a == b) for a, b in grid],
            "hyperbola": [a * a - b * b for a, b in grid],
            "ramp": [a for a, _ in grid],
        },
    )
    for size in (3, 4):
        codes = [[int(i == j) for j in range(size)] for i in range(size)]
        yield (
            f"one-hot {size}",
            codes,
            {"alternating": [(-1) ** i for i in range(size)], "ones": [1] * size, "ramp": list(range(size))},
        )
    axes = [[s * int(i == j) for j in range(3)] for s in (1, -1) for i in range(3)]
    yield "axes", axes, {"even": [1] * 6, "odd": [1, 1, 1, -1, -1, -1], "mixed": [1, 1, -2] * 2}
    circle = [
        (Fraction(a, 5), Fraction(b, 5)) for s in (1, -1) for a, b in ((3, 4 * s), (4, 3 * s), (-3, 4 * s), (-4, 3 * s))
    ]
    yield (
        "octagon",
        circle,
        {"alternating": [1, -1, -1, 1, -1, 1, 1, -1], "absolute": [abs(a) for a, _ in circle], "ones": [1] * 8},
    )
    twice = list(product((0, 1), repeat=2)) * 2
    yield "repeated", twice, {"xor": [0, 1, 1, 0] * 2, "noisy": [0, 1, 1, 0, 0, 1, 1, 1]}
    pairs = list(product(range(2), range(3)))
    codes = [[*(int(a == i) for i in range(2)), *(int(b == j) for j in range(3))] for a, b in pairs]
    yield "two categories", codes, {"product": [a * b % 2 for a, b in pairs]}
    line = [[x] for x in (-2, -1, 0, 1, 2)]
    yield (
        "line",
        line,
        {
            "absolute": [2, 1, 0, 1, 2],
            "hat": [0, 1, 2, 1, 0],
            "zigzag": [1, -1, 1, -1, 1],
            "odd": [-1, 1, 0, -1, 1],
            "step": [-1, -1, 0, 1, 1],
        },
    )
    hexagon = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]
    yield "lattice hexagon", hexagon, {"alternating": [1, -1] * 3, "two": [1, 1, -1] * 2}


def _labels(low: int, size: int) -> dict[str, Sequence[Fraction | int]]:
    points = list(product((low, 1), repeat=size))
    ones = [sum(x == 1 for x in point) for point in points]
    return {
        "parity": [k % 2 for k in ones],
        "signed parity": [2 * (k % 2) - 1 for k in ones],
        "majority": [1 if 2 * k > size else -1 for k in ones],
        "and": [int(k == size) for k in ones],
        "count": ones,
        "first": [int(point[0] == 1) for point in points],
    }
