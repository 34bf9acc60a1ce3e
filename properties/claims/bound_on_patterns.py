"""sec:convex-reformulations: |D_Z| <= O(r (n/r)^r) fails at full rank; and ">=" needs a bound of its own.

Open cells number at most 2 sum_{k<r} C(n-1, k) (Cover). D_Z = {1(Zu >= 0)} also holds patterns of lower faces (u = 0
gives all ones): it can exceed Cover's number, and is bounded by sum_{k<=r} C(n, k), the cells of the affine
arrangement z_k.u = -epsilon, since finitely many patterns 1(z_k.u >= 0) are patterns 1(z_k.u > -epsilon).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, eye, mat, rank, vec
from properties.exact.patterns import pattern_of, patterns
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import rational_matrix

LABEL = "bound on |D_Z|"
STATEMENT = "|D_Z| <= C r (n/r)^r for a constant C (C = 10 is tried: any C fails at Z = I_n with 2^n > C n)."
REPAIRED = "Open cells: at most 2 sum_{k<r} C(n-1,k). All of D_Z (with >=): at most sum_{k<=r} C(n,k)."
CONSTANT = 10


@st.composite
def instances(draw: DrawFn) -> Matrix:
    """Small data of every kind."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    return draw(rational_matrix(n, d))


def counted(Z: Matrix) -> int:
    """Patterns of D_Z met: all of them, or for many features those of u in {-1, 1}^d (a lower bound)."""
    if len(Z[0]) <= 3:
        return len(patterns(Z).all)
    return len({pattern_of(Z, vec(u)) for u in product((1, -1), repeat=len(Z[0]))})


def check(Z: Matrix) -> Outcome:
    """The printed bound with C = 10."""
    n, r = len(Z), rank(Z)
    if r == 0:
        return vacuous("Z = 0")
    bound = CONSTANT * r * Fraction(n, r) ** r
    return expect(counted(Z) <= bound, f"{counted(Z)} patterns, r = {r}, n = {n}: C r (n/r)^r = {bound}")


def cover(n: int, r: int) -> int:
    """2 sum_{k<r} C(n-1, k)"""
    return 2 * sum(comb(n - 1, k) for k in range(r)) if r else 1


def check_repaired(Z: Matrix) -> Outcome:
    """Cover's number for open cells, the affine number for all of D_Z."""
    found, n, r = patterns(Z), len(Z), rank(Z)
    affine = sum(comb(n, k) for k in range(r + 1))
    return first_failure(
        expect(len(found.open) <= cover(n, r), f"{len(found.open)} open cells exceed {cover(n, r)}"),
        expect(len(found.all) <= affine, f"{len(found.all)} patterns exceed {affine}"),
    )


def cover_for_all(Z: Matrix) -> Outcome:
    """Cover's number bounds all of D_Z, closed faces included."""
    size, bound = len(patterns(Z).all), cover(len(Z), rank(Z))
    return expect(size <= bound, f"|D_Z| = {size} exceeds Cover's {bound}")


CLAIM = Claim(
    LABEL,
    "How many patterns",
    Property(STATEMENT, instances(), check),
    witnesses=(Witness("Z = I_6", eye(6)),),
    repaired=Property(REPAIRED, instances(), check_repaired),
    slips=(
        Slip(
            "Cover's 2 sum_{k<r} C(n-1,k) bounds D_Z as defined with >=",
            cover_for_all,
            Witness("Z = ((1,0),(-1,2),(-1,-2))", mat([[1, 0], [-1, 2], [-1, -2]])),
        ),
    ),
)
