"""prop:minimal-sol-characterization: vacuous under def:group-dependence, false without it, right if nondegenerate."""

from __future__ import annotations

from properties.claims.def_group_dependence import independent_ranges
from properties.exact.linalg import rank, vec
from properties.exact.polytope import support
from properties.exact.problem import problem
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, vacuous, yes
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "prop:minimal-sol-characterization"
STATEMENT = "Under group dependence, where there is something to prune, every minimal solution has dim V active blocks."
NONDEGENERATE = "Every minimal solution has dim V active blocks iff the polytope of alphas is nondegenerate."


def widths(planted: PlantedCGL) -> tuple[int, ...]:
    """The numbers of active blocks of the minimal solutions."""
    return tuple(sorted({len(support(a)) for a in planted.vertices}))


def span(planted: PlantedCGL) -> int:
    """dim V for a solution with support S."""
    return rank([planted.q[b] for b in planted.S])


def conclusion(planted: PlantedCGL) -> Outcome:
    """All minimal solutions have dim V active blocks."""
    c = span(planted)
    return expect(widths(planted) in ((c,), ()), f"minimal solutions with {widths(planted)} blocks, dim V = {c}")


def check(planted: PlantedCGL) -> Outcome:
    """With the hypothesis, on data that can be pruned."""
    if not independent_ranges(planted.problem):
        return vacuous("no group dependence")
    return vacuous("nothing to prune") if planted.unique else conclusion(planted)


def check_nondegenerate(planted: PlantedCGL) -> Outcome:
    """Nondegenerate: at every vertex as many of the alphas in S vanish as the polytope has dimensions."""
    simple = all(len(planted.S) - len(support(a)) == planted.dimension for a in planted.vertices)
    same = widths(planted) == (span(planted),)
    return expect(simple == same, f"nondegenerate: {yes(simple)}; widths {widths(planted)}, dim V = {span(planted)}")


_P = problem([[1, -1, 0], [1, 1, 1]], [1, 1, 1], [0, 3], 1)
_ONE = vec([1])
WITHOUT = Witness(
    "X = [1 -1 0; 1 1 1], y = (0, 3), lambda = 1", PlantedCGL(_P, vec([0, 1]), (_ONE, _ONE, _ONE), vec([0, 0, 2]))
)

CLAIM = Claim(
    LABEL,
    "The size of minimal solutions",
    Property(STATEMENT, planted_cgl(), check),
    repaired=Property(NONDEGENERATE, planted_cgl(), check_nondegenerate),
    slips=(Slip("the conclusion holds without group dependence", conclusion, WITHOUT),),
)
