"""Rational matrices of every shape the theory cares about."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import islice, product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact.linalg import Matrix, Vector, matmul, unit
from properties.strategies.numbers import vector

Make = Callable[[int, int], SearchStrategy[Matrix]]


def _general(n: int, d: int) -> SearchStrategy[Matrix]:
    """Small integers, no structure."""
    return st.tuples(*[vector(d)] * n)


@st.composite
def _low_rank(draw: DrawFn, n: int, d: int) -> Matrix:
    """A product of n x k and k x d with k < min(n, d) where possible."""
    k = max(1, min(n, d) - 1)
    return matmul(draw(_general(n, k)), draw(_general(k, d)))


@st.composite
def _duplicate(draw: DrawFn, n: int, d: int) -> Matrix:
    """Some rows are repeated, some up to a positive factor."""
    rows = [draw(vector(d))]
    while len(rows) < n:
        old = draw(st.booleans())
        s = Fraction(draw(st.integers(1, 2)))
        rows.append(tuple(s * x for x in draw(st.sampled_from(rows))) if old else draw(vector(d)))
    return tuple(rows)


@st.composite
def _antipodal(draw: DrawFn, n: int, d: int) -> Matrix:
    """Rows come in pairs z, -z (one row is left over if n is odd)."""
    rows: list[Vector] = []
    while len(rows) < n:
        z = draw(vector(d))
        rows += [z, tuple(-x for x in z)]
    return tuple(rows[:n])


@st.composite
def _grid(draw: DrawFn, n: int, d: int) -> Matrix:
    """The first points of the grid {-1, 0, 1}^d in an order drawn at random."""
    points = draw(st.permutations(list(islice(product((0, 1, -1), repeat=d), 3 ** min(d, 3)))))
    return tuple(tuple(Fraction(x) for x in points[i % len(points)]) for i in range(n))


@st.composite
def _one_hot(draw: DrawFn, n: int, d: int) -> Matrix:
    """Every row is a unit vector: one categorical feature."""
    return tuple(unit(d, draw(st.integers(0, d - 1))) for _ in range(n))


@st.composite
def _bias(draw: DrawFn, n: int, d: int) -> Matrix:
    """The last column is one."""
    return tuple((*draw(vector(d - 1)), Fraction(1)) for _ in range(n))


KINDS: dict[str, Make] = {
    "general": _general,
    "low rank": _low_rank,
    "duplicate": _duplicate,
    "antipodal": _antipodal,
    "grid": _grid,
    "one-hot": _one_hot,
    "bias": _bias,
}


def rational_matrix(n: int, d: int, kind: str | None = None) -> SearchStrategy[Matrix]:
    """An n x d matrix of the given kind, or of any kind.

    >>> from hypothesis import find
    >>> find(rational_matrix(2, 2, "antipodal"), lambda Z: Z[0][0] > 0)[1][0] < 0
    True
    """
    if kind is not None:
        return KINDS[kind](n, d)
    return st.sampled_from(sorted(KINDS)).flatmap(lambda name: KINDS[name](n, d))
