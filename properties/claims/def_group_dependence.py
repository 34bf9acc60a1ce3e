"""def:group-dependence: as printed it is equivalent to independent ranges, so nothing is ever prunable under it.

With the partition D = B, I = {} (or with z_b = 0 on I) the definition says: sum X_b z_b = 0 implies X_b z_b = 0 for
all b.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, dependencies, in_span, matvec, rank, total, transpose
from properties.exact.problem import CGL, Weights
from properties.model import HOLDS, Claim, Outcome, Property, expect, fails, vacuous
from properties.strategies import PlantedCGL, planted_cgl, vector

LABEL = "def:group-dependence"
STATEMENT = "Group dependence admits data whose solutions can be pruned (else it says nothing about pruning)."
EQUIVALENT = "Group dependence holds iff the ranges of the X_b are linearly independent."


def independent_ranges(p: CGL) -> bool:
    """rank X = sum of the ranks of the blocks."""
    return rank(p.columns) == sum(rank(transpose(b.X)) for b in p.blocks)


def outputs(p: CGL, z: Weights) -> list[Vector]:
    """X_b z_b"""
    return [matvec(b.X, zb) for b, zb in zip(p.blocks, z, strict=True)]


def respects(p: CGL, z: Weights, D: frozenset[int]) -> bool:
    """The definition's implication for one choice of vectors and one partition."""
    q = outputs(p, z)
    rest = [q[b] for b in range(len(q)) if b not in D]
    if not in_span(total((q[b] for b in D), p.n), rest):
        return True
    return all(in_span(q[b], rest) for b in D)


def check(planted: PlantedCGL) -> Outcome:
    """Data with group dependence (independent ranges, see the equivalence) and more than one solution."""
    if not independent_ranges(planted.problem):
        return vacuous("no group dependence")
    return vacuous("group dependence, and one solution") if planted.unique else HOLDS


@st.composite
def choices(draw: DrawFn) -> tuple[PlantedCGL, Weights, tuple[int, ...]]:
    """Blocks, vectors z_b, and a part D of the blocks."""
    planted = draw(planted_cgl(max_active=3, max_inactive=1, max_n=5))
    z = tuple(draw(vector(b.size, 2)) for b in planted.problem.blocks)
    D = draw(st.lists(st.integers(0, len(z) - 1), min_size=1, max_size=len(z), unique=True))
    return planted, z, tuple(sorted(D))


def check_equivalent(instance: tuple[PlantedCGL, Weights, tuple[int, ...]]) -> Outcome:
    """Independent ranges respect every choice; dependent ranges have a choice that is not respected."""
    planted, z, D = instance
    p = planted.problem
    if independent_ranges(p):
        return expect(respects(p, z, frozenset(D)), "independent ranges, but the definition is violated")
    for null in dependencies(p.columns):
        start, bad = 0, []
        for b in p.blocks:
            bad.append(null[start : start + b.size])
            start += b.size
        if any(any(x) for x in outputs(p, tuple(bad))):
            everything = frozenset(range(len(bad)))
            return expect(not respects(p, tuple(bad), everything), "dependent ranges, but the definition holds")
    return fails("the ranges are dependent, but no null vector shows it")


CLAIM = Claim(
    LABEL,
    "Group dependence",
    Property(STATEMENT, planted_cgl(), check),
    repaired=Property(EQUIVALENT, choices(), check_equivalent),
)
