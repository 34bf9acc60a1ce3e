"""sec:convex-reformulations: |D_Z| <= O(r (n/r)^r) fails at full rank; and ">=" needs a bound of its own.

Open cells number at most 2 sum_{k<r} C(n-1, k) (Cover). D_Z = {1(Zu >= 0)} also holds patterns of lower faces (u = 0
gives all ones): it can exceed Cover's number, and is bounded by sum_{k<=r} C(n, k), the cells of the affine
arrangement z_k.u = -epsilon, since finitely many patterns 1(z_k.u >= 0) are patterns 1(z_k.u > -epsilon).

An instance carries its counts, and the check counts again: D_Z by composing cocircuits and, for few rows, pattern by
pattern with Farkas' lemma.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, eye, mat, rank
from properties.exact.patterns import count_patterns, patterns
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import rational_matrix

LABEL = "bound on |D_Z|"
STATEMENT = "|D_Z| <= C r (n/r)^r for a constant C (C = 10 is tried: any C fails at Z = I_n with 2^n > C n)."
REPAIRED = "Open cells: at most 2 sum_{k<r} C(n-1,k). All of D_Z (with >=): at most sum_{k<=r} C(n,k)."
CONSTANT = 10
FEW_ROWS = 4


@dataclass(frozen=True)
class Counted:
    """Z, the number of its open cells and |D_Z|."""

    Z: Matrix
    open_cells: int
    patterns: int


def counted(Z: Matrix) -> Counted:
    """Z with its exact counts."""
    found = patterns(Z)
    return Counted(Z, len(found.open), len(found.all))


@st.composite
def instances(draw: DrawFn) -> Counted:
    """Small data of every kind with up to six features."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return counted(draw(rational_matrix(n, d)))


def counts_are_right(c: Counted) -> Outcome:
    """Both counts, again; all of D_Z twice where there are few rows."""
    again = counted(c.Z)
    farkas = count_patterns(c.Z) if len(c.Z) <= FEW_ROWS else None
    return first_failure(
        expect(farkas in (None, c.patterns), f"{farkas} patterns by Farkas, not {c.patterns}"),
        expect(c.patterns == again.patterns, f"{again.patterns} patterns, not {c.patterns}"),
        expect(c.open_cells == again.open_cells, f"{again.open_cells} open cells, not {c.open_cells}"),
    )


def check(c: Counted) -> Outcome:
    """The printed bound with C = 10."""
    n, r = len(c.Z), rank(c.Z)
    if r == 0:
        return vacuous("Z = 0")
    bound = CONSTANT * r * Fraction(n, r) ** r
    return first_failure(
        expect(c.patterns <= bound, f"{c.patterns} patterns, r = {r}, n = {n}: C r (n/r)^r = {bound}"),
        counts_are_right(c),
    )


def cover(n: int, r: int) -> int:
    """2 sum_{k<r} C(n-1, k)"""
    return 2 * sum(comb(n - 1, k) for k in range(r)) if r else 1


def affine(n: int, r: int) -> int:
    """sum_{k<=r} C(n, k)"""
    return sum(comb(n, k) for k in range(r + 1))


def check_repaired(c: Counted) -> Outcome:
    """Cover's number for open cells, the affine number for all of D_Z."""
    n, r = len(c.Z), rank(c.Z)
    return first_failure(
        expect(c.open_cells <= cover(n, r), f"{c.open_cells} open cells exceed {cover(n, r)}"),
        expect(c.patterns <= affine(n, r), f"{c.patterns} patterns exceed {affine(n, r)}"),
        counts_are_right(c),
    )


def cover_for_all(c: Counted) -> Outcome:
    """Cover's number bounds all of D_Z, closed faces included."""
    bound = cover(len(c.Z), rank(c.Z))
    return first_failure(
        counts_are_right(c), expect(c.patterns <= bound, f"|D_Z| = {c.patterns} exceeds Cover's {bound}")
    )


CLAIM = Claim(
    LABEL,
    "How many patterns",
    Property(STATEMENT, instances(), check),
    witnesses=(Witness("Z = I_6", counted(eye(6))),),
    repaired=Property(REPAIRED, instances(), check_repaired),
    slips=(
        Slip(
            "Cover's 2 sum_{k<r} C(n-1,k) bounds D_Z as defined with >=",
            cover_for_all,
            Witness("Z = ((1,0),(-1,2),(-1,-2))", counted(mat([[1, 0], [-1, 2], [-1, -2]]))),
        ),
    ),
)
