"""Rationals, vectors, unit vectors and orthogonal maps. Everything shrinks towards zero and small integers."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact.linalg import Matrix, Vector, add, eye, inverse, matmul, norm2, unit

LIST = 2500  # points in one list
T = TypeVar("T")


@st.composite
def several(draw: DrawFn, elements: SearchStrategy[T], least: int, most: int) -> tuple[T, ...]:
    """Between `least` and `most` elements: a number, then as many. Whatever an element is made of, each can be dropped.

    (Elements of more than a few choices cannot be dropped from `st.lists`.)
    """
    return tuple(draw(elements) for _ in range(draw(st.integers(least, most))))


def small_ints(bound: int = 3) -> SearchStrategy[int]:
    """Integers of magnitude at most `bound`."""
    return st.integers(-bound, bound)


def rationals(bound: int = 3, denominator: int = 3) -> SearchStrategy[Fraction]:
    """p/q with |p| <= bound and 1 <= q <= denominator, integers first, then halves, ...

    >>> from hypothesis import find
    >>> find(rationals(), lambda x: x > 0 and x.denominator > 1)
    Fraction(1, 2)
    """
    return points(1, bound, denominator).map(lambda x: x[0])


@cache
def positive_rationals(bound: int = 4, denominator: int = 3) -> SearchStrategy[Fraction]:
    """p/q with 1 <= p <= bound and 1 <= q <= denominator."""
    return st.sampled_from([x for x in _by_simplicity(bound, denominator) if x > 0])


@cache
def points(n: int, bound: int, denominator: int = 1) -> SearchStrategy[Vector]:
    """A point of Q^n with entries p/q, |p| <= bound, 1 <= q <= denominator.

    Few entries are one choice in a list that begins with the simplest points: a failing instance has few things to
    shrink, and each of them starts with zero.

    >>> from hypothesis import find
    >>> find(points(3, 2), any) == (Fraction(1), Fraction(0), Fraction(0))
    True
    """
    entries = _by_simplicity(bound, denominator)
    most = 1
    while len(entries) ** (most + 1) <= LIST:
        most += 1
    if n > most:
        halves = points(n - n // 2, bound, denominator), points(n // 2, bound, denominator)
        return st.tuples(*halves).map(lambda parts: parts[0] + parts[1])
    ranked = product(range(len(entries)), repeat=n)
    order = sorted(ranked, key=lambda x: (sum(x), max(x, default=0), tuple(-k for k in x)))
    listed = [tuple(entries[k] for k in x) for x in order]
    return st.integers(0, len(listed) - 1).map(lambda k: listed[k])


def _by_simplicity(bound: int, denominator: int) -> list[Fraction]:
    """0, 1, -1, 2, -2, ..., 1/2, -1/2, ..."""
    found = {Fraction(p, q) for p in range(-bound, bound + 1) for q in range(1, denominator + 1)}
    return sorted(found, key=lambda x: (x.denominator, abs(x.numerator), x < 0))


def vector(n: int, bound: int = 3) -> SearchStrategy[Vector]:
    """An integer vector of length n, as Fractions."""
    return points(n, bound)


@cache
def nonzero_vector(n: int, bound: int = 3) -> SearchStrategy[Vector]:
    """An integer vector of length n that is not zero (zero becomes e_1, so it shrinks as far as a vector can)."""
    return vector(n, bound).map(lambda v: v if any(v) else unit(n, 0))


def stereographic(t: Vector, minus: bool = False) -> Vector:
    """The point (2t, 1 - |t|^2) / (1 + |t|^2) of the unit sphere, or its negative."""
    s = norm2(t)
    u = (*(2 * x / (1 + s) for x in t), (1 - s) / (1 + s))
    return tuple(-x for x in u) if minus else u


@cache
def unit_vector(n: int) -> SearchStrategy[Vector]:
    """A rational u with |u| = 1, by stereographic projection of t in Q^(n-1).

    >>> from hypothesis import find
    >>> norm2(find(unit_vector(2), lambda u: u[0] != 0 and u[1] != 0))
    Fraction(1, 1)
    """
    return st.builds(stereographic, points(n - 1, 2, 2), st.booleans())


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
