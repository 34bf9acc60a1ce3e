"""Rationals, vectors, unit vectors and orthogonal maps. Everything shrinks towards zero and small integers."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact.linalg import Matrix, Vector, add, eye, inverse, matmul, norm2, unit


def small_ints(bound: int = 3) -> SearchStrategy[int]:
    """Integers of magnitude at most `bound`."""
    return st.integers(-bound, bound)


def rationals(bound: int = 3, denominator: int = 3) -> SearchStrategy[Fraction]:
    """p/q with |p| <= bound and 1 <= q <= denominator."""
    return st.builds(Fraction, st.integers(-bound, bound), st.integers(1, denominator))


def positive_rationals(bound: int = 4, denominator: int = 3) -> SearchStrategy[Fraction]:
    """p/q with 1 <= p <= bound and 1 <= q <= denominator."""
    return st.builds(Fraction, st.integers(1, bound), st.integers(1, denominator))


def vector(n: int, bound: int = 3) -> SearchStrategy[Vector]:
    """An integer vector of length n, as Fractions."""
    return st.tuples(*[small_ints(bound).map(Fraction)] * n)


def nonzero_vector(n: int, bound: int = 3) -> SearchStrategy[Vector]:
    """An integer vector of length n that is not zero (zero becomes e_1, so it shrinks as far as a vector can)."""
    return vector(n, bound).map(lambda v: v if any(v) else unit(n, 0))


@st.composite
def unit_vector(draw: DrawFn, n: int) -> Vector:
    """A rational u with |u| = 1, by stereographic projection of t in Q^(n-1): (2t, 1 - |t|^2) / (1 + |t|^2).

    >>> from hypothesis import find
    >>> norm2(find(unit_vector(2), lambda u: u[0] != 0 and u[1] != 0))
    Fraction(1, 1)
    """
    t = tuple(draw(rationals(2, 2)) for _ in range(n - 1))
    s = norm2(t)
    u = (*(2 * x / (1 + s) for x in t), (1 - s) / (1 + s))
    return tuple(-x for x in u) if draw(st.booleans()) else u


@st.composite
def orthogonal(draw: DrawFn, n: int) -> Matrix:
    """A rational Q with Q'Q = I: Cayley's (I - A)(I + A)^-1 of a skew A, sometimes with one axis reflected.

    >>> from hypothesis import find
    >>> Q = find(orthogonal(2), lambda Q: Q[0][1] > 0)
    >>> matmul(Q, tuple(zip(*Q))) == eye(2)
    True
    """
    A = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            A[i][j] = draw(rationals(2, 2))
            A[j][i] = -A[i][j]
    skew = tuple(tuple(row) for row in A)
    minus = tuple(tuple(-x for x in row) for row in skew)
    plus_inverse = inverse(tuple(add(a, b) for a, b in zip(eye(n), skew, strict=True)))
    if plus_inverse is None:
        raise ArithmeticError("I + A is regular for skew A")
    Q = matmul(tuple(add(a, b) for a, b in zip(eye(n), minus, strict=True)), plus_inverse)
    return (tuple(-x for x in Q[0]), *Q[1:]) if draw(st.booleans()) else Q
