"""Beyond the paper: triangle inequalities between the signs of leaders, and the bound that they prove.

For signs, 1 + x s_i s_j + y s_j s_k + x y s_i s_k = (1 + x s_i s_j) (1 + y s_j s_k) is 0 or 4, with s_0 = 1. Let s'C s
be -2 sum r (x s_i s_j + y s_j s_k + x y s_i s_k), r >= 0, so that s'C s <= 2 sum r. If

    [[4 sigma + C_00, -b', C_0'], [-b, 4 nu I, -V'], [C_0, -V, C + diag c]]

is positive definite, then at (1, u, s) with |u| = 1 and s_l the sign of v_l.u it says 2 b.u + 2 sum_l |v_l.u| <= 4 nu
+ 4 sigma + sum c + 2 sum r. The left side is largest at u = (b + V's) / |b + V's| for some signs s, 2 |b + V's| there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import isqrt

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dot,
    mat,
    matvec,
    norm2,
    positive_definite,
    regular_inverse,
    transpose,
    vec,
)
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import rational_matrix, vector

LABEL = "leaders: triangles"
STATEMENT = (
    "1 + x s_i s_j + y s_j s_k + x y s_i s_k is 0 if s_i = -x s_j or s_j = -y s_k, else 4; and if the form with the "
    "triangles is positive definite, then b.u + sum_l |v_l.u| <= 2 (sigma + nu) + 1/2 sum c + sum r for all |u| = 1."
)
Triangle = tuple[int, int, int, int, int]  # corners i, j, k, of which 0 is the number 1 and l >= 1 leader l; signs x, y
FINE = 10**6


@dataclass(frozen=True)
class Tied:
    """Leaders v_l with their c, the linear part b, triangles with their weights, nu and sigma."""

    V: Matrix
    b: Vector
    c: Vector
    triangles: tuple[Triangle, ...]
    weights: Vector
    nu: Fraction
    sigma: Fraction


@st.composite
def instances(draw: DrawFn) -> Tied:
    """Up to four leaders and three triangles; c and nu are made larger until they are enough, sigma is nearly least."""
    m, d, count = draw(st.integers(0, 4)), draw(st.integers(1, 2)), draw(st.integers(0, 3))
    V, b = draw(rational_matrix(m, d)) if m else (), draw(vector(d))
    corner, sign = st.integers(0, m), st.sampled_from((1, -1))
    triangles = tuple(draw(st.tuples(corner, corner, corner, sign, sign)) for _ in range(count))
    weights = tuple(Fraction(draw(st.integers(0, 6)), 2) for _ in range(count))
    c = tuple(Fraction(draw(st.integers(1, 8)), 2) for _ in range(m))
    tied = Tied(V, b, c, triangles, weights, Fraction(1, 4), Fraction(0))
    while m and not positive_definite(block(tied, d + 1)):
        tied = replace(tied, c=tuple(2 * x for x in tied.c))
    while not positive_definite(block(tied, 1)):
        tied = replace(tied, nu=tied.nu * Fraction(9, 8))
    first, *side = form(tied)[0]
    least = dot(side, matvec(regular_inverse(block(tied, 1)), tuple(side))) - first
    return replace(tied, sigma=least / 4 + Fraction(1, 100))


def ties(tied: Tied) -> list[list[Fraction]]:
    """C"""
    size = len(tied.V) + 1
    C = [[Fraction(0)] * size for _ in range(size)]
    for (i, j, k, x, y), r in zip(tied.triangles, tied.weights, strict=True):
        for a, e, sign in ((i, j, x), (j, k, y), (i, k, x * y)):
            C[a][e] -= r * sign
            C[e][a] -= r * sign
    return C


def form(tied: Tied) -> Matrix:
    """The matrix."""
    C, d = ties(tied), len(tied.b)
    top = (4 * tied.sigma + C[0][0], *(-x for x in tied.b), *C[0][1:])
    columns = transpose(tied.V) if tied.V else ((),) * d
    middle = [
        (-x, *(4 * tied.nu * (i == j) for j in range(d)), *(-v for v in columns[i])) for i, x in enumerate(tied.b)
    ]
    below = [
        (line[0], *(-x for x in v), *(e + c * (i == j) for j, e in enumerate(line[1:])))
        for i, (line, v, c) in enumerate(zip(C[1:], tied.V, tied.c, strict=True))
    ]
    return (top, *middle, *below)


def block(tied: Tied, first: int) -> Matrix:
    """The matrix without its first rows and columns."""
    return tuple(row[first:] for row in form(tied)[first:])


def highest(tied: Tied) -> Fraction:
    """The square of the largest b.u + sum_l |v_l.u|, by all signs."""
    signs = product((Fraction(1), Fraction(-1)), repeat=len(tied.V))
    return max(norm2(add(tied.b, combine(s, tied.V, len(tied.b)))) for s in signs)


def price(tied: Tied) -> Fraction:
    """2 (sigma + nu) + 1/2 sum c"""
    return 2 * (tied.sigma + tied.nu) + sum(tied.c, Fraction(0)) / 2


def proved(tied: Tied) -> Fraction:
    """The bound, with the price of the triangles."""
    return price(tied) + sum(tied.weights, Fraction(0))


def above(tied: Tied, bound: Fraction) -> Outcome:
    """If the form is definite, this is a bound."""
    if not positive_definite(form(tied)):
        return vacuous("the form is not definite")
    top = highest(tied)
    return expect(bound > 0 and top < bound**2, f"the square of the largest value is {top}, the bound is {bound}")


def equalities(tied: Tied) -> Outcome:
    """The triangles at all signs."""
    for i, j, k, x, y in tied.triangles:
        for signs in product((1, -1), repeat=len(tied.V)):
            s = (1, *signs)
            found = 1 + x * s[i] * s[j] + y * s[j] * s[k] + x * y * s[i] * s[k]
            if found != (0 if s[i] == -x * s[j] or s[j] == -y * s[k] else 4):
                return expect(False, f"{found} at the signs {s}")
    return HOLDS


def check(tied: Tied) -> Outcome:
    """The lemma, and the bound."""
    if any(r < 0 for r in tied.weights):
        return vacuous("a weight is negative")
    return first_failure(equalities(tied), above(tied, proved(tied)))


def of_any_weight(tied: Tied) -> Outcome:
    """Weights may be negative."""
    return above(tied, proved(tied))


def for_nothing(tied: Tied) -> Outcome:
    """The triangles cost nothing."""
    return above(tied, price(tied))


def by_leaders_alone(tied: Tied) -> Outcome:
    """Without triangles nu I - Q >= 0, so that nu >= 1/4 sum |v_l|^2 / (c_l d), and the bound is at least the sum of
    all |v_l| / sqrt(d), here rounded down."""
    least = sum((Fraction(isqrt(int(norm2(v) * FINE**2 / len(v))), FINE) for v in tied.V), Fraction(0))
    return expect(least <= proved(tied), f"no less than {least}, with triangles {proved(tied)}")


TRIAD = Tied(
    mat([[8, 0], [-4, 7], [-4, -7]]),
    vec([0, 0]),
    vec([Fraction(103, 25)] * 3),
    ((1, 2, 3, 1, 1),),
    vec([Fraction(51, 25)]),
    Fraction(81, 20),
    Fraction(1, 25),
)
NEGATIVE = Tied((), vec([1]), (), ((0, 0, 0, 1, 1),), vec([-1]), Fraction(1, 2), Fraction(-6, 5))

CLAIM = Claim(
    LABEL,
    "Triangles between signs",
    Property(STATEMENT, instances(), check),
    slips=(
        Slip("The weights of triangles may be negative", of_any_weight, Witness("the number 1 alone", NEGATIVE)),
        Slip("Triangles cost nothing", for_nothing, Witness("three rows of sum zero", TRIAD)),
        Slip("Leaders alone prove as much", by_leaders_alone, Witness("three rows of sum zero", TRIAD)),
    ),
)
