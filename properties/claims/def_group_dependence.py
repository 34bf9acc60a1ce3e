"""def:group-dependence: as printed it is equivalent to independent ranges, so nothing is ever prunable under it.

With the partition D = B, I = {} (or with z_b = 0 on I) the definition says: sum X_b z_b = 0 implies X_b z_b = 0 for
all b.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, dependencies, in_span, matvec, rank, total, transpose
from properties.exact.problem import CGL, Weights
from properties.model import HOLDS, Claim, Outcome, Property, expect, first_failure, vacuous, yes
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


@dataclass(frozen=True)
class Choice:
    """A problem, vectors z_b, a part D of the blocks, and whether the ranges are said to be independent."""

    planted: PlantedCGL
    z: Weights
    D: tuple[int, ...]
    independent: bool


@st.composite
def choices(draw: DrawFn) -> Choice:
    """Blocks, of which half have independent ranges, any vectors and any part."""
    crowded = planted_cgl(max_active=3, max_inactive=1, max_n=5)
    planted = draw(st.one_of(crowded, planted_cgl(max_active=2, max_inactive=0, max_n=5, max_size=2)))
    z = tuple(draw(vector(b.size, 2)) for b in planted.problem.blocks)
    D = draw(st.lists(st.integers(0, len(z) - 1), min_size=1, max_size=len(z), unique=True))
    return Choice(planted, z, tuple(sorted(D)), independent_ranges(planted.problem))


def in_blocks(p: CGL, x: Vector) -> Weights:
    """A vector of all weights, block by block."""
    entries = iter(x)
    return tuple(tuple(islice(entries, b.size)) for b in p.blocks)


def check_equivalent(choice: Choice) -> Outcome:
    """Independent ranges respect every choice; dependent ranges have one that is not respected: a null vector of X.

    If X_b z_b = 0 for all b held for a basis of the null space, it would hold for all its vectors.
    """
    p = choice.planted.problem
    everything = frozenset(range(len(p.blocks)))
    respected = all(respects(p, in_blocks(p, x), everything) for x in dependencies(p.columns))
    found = respected, independent_ranges(p)
    why = f"respected: {yes(found[0])}; independent: {yes(found[1])}; both are to be: {yes(choice.independent)}"
    return first_failure(
        expect(respects(p, choice.z, frozenset(choice.D)) or not choice.independent, "the definition is violated"),
        expect({*found} == {choice.independent}, why),
    )


CLAIM = Claim(
    LABEL,
    "Group dependence",
    Property(STATEMENT, planted_cgl(), check),
    repaired=Property(EQUIVALENT, choices(), check_equivalent),
)
