"""The cube: eight patterns whose kernels are linearly dependent for every data set near it.

Rows of Z lie near +-e_1, +-e_2, +-e_3, the same number near each. Pattern T = (s_1, s_2, s_3) switches on the rows near
s_k e_k. For two rows near s e_i and t e_j the third coordinate's sign is free, so

    sum over T of s_1 s_2 s_3 (D_T Z)(D_T Z)' = 0

for every such Z. The residual is chosen group by group so that Z'D_T r = (s_1, 2 s_2, 2 s_3), of norm 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, add, combine, least_squares, matvec, scale, total, unit
from properties.exact.patterns import Pattern, relu_problem
from properties.exact.problem import CGL

SIDES = (1, 2, 2)


@dataclass(frozen=True)
class Cube:
    """Z (rows grouped as +e_1, -e_1, +e_2, ...), the residual r, and the weights of the eight neurons."""

    Z: Matrix
    r: Vector
    alpha: Vector

    @property
    def signs(self) -> tuple[tuple[int, ...], ...]:
        """T = (s_1, s_2, s_3) of the eight patterns."""
        return tuple(product((1, -1), repeat=3))

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """D_T: the rows near s_k e_k are on."""
        size = len(self.Z) // 6
        return tuple(
            tuple(T[row // (2 * size)] == (1 if row // size % 2 == 0 else -1) for row in range(len(self.Z)))
            for T in self.signs
        )

    @property
    def directions(self) -> Matrix:
        """v_T = (s_1, 2 s_2, 2 s_3)"""
        return tuple(tuple(Fraction(s * side) for s, side in zip(T, SIDES, strict=True)) for T in self.signs)

    @property
    def problem(self) -> CGL:
        """The convex program of the eight patterns and both signs, lambda = 3."""
        q = [
            tuple(x if on else Fraction(0) for x, on in zip(matvec(self.Z, v), p, strict=True))
            for v, p in zip(self.directions, self.patterns, strict=True)
        ]
        y = add(self.r, combine(self.alpha, q, len(self.r)))
        return relu_problem(self.Z, self.patterns, y, Fraction(9))


def cube(Z: Matrix, alpha: Vector) -> Cube | None:
    """The cube instance on Z, or None if some group of rows cannot carry its share of the correlations."""
    size = len(Z) // 6
    r: list[Fraction] = []
    for g in range(6):
        rows = Z[g * size : (g + 1) * size]
        axis, sign = g // 2, 1 if g % 2 == 0 else -1
        target = scale(sign * SIDES[axis], unit(3, axis))
        part = least_squares(rows, target)
        if total((scale(x, z) for x, z in zip(part, rows, strict=True)), 3) != target:
            return None
        r += part
    return Cube(Z, tuple(r), alpha)


def _near(draw: DrawFn, axis: int, sign: int) -> Vector:
    jitter = tuple(Fraction(draw(st.integers(-2, 2)), 20) for _ in range(3))
    return add(scale(sign, unit(3, axis)), jitter)


@st.composite
def planted_cube(draw: DrawFn, *, rows: int = 3) -> Cube:
    """6 * rows data points near the axes (rows = 8 gives n = 48), all eight neurons with positive weight."""
    Z = tuple(_near(draw, g // 2, 1 if g % 2 == 0 else -1) for g in range(6) for _ in range(rows))
    out = cube(Z, tuple(Fraction(draw(st.integers(1, 3))) for _ in range(8)))
    assume(out is not None)
    if out is None:
        raise AssertionError("unreachable: assume raised")
    return out
