"""eq:kkt-cgl, "we always use the min-norm dual with no loss of generality": E and the tests on E do lose.

A block in no solution's support has least-norm multiplier zero as soon as |c_b| <= lambda, and a multiplier on the
sphere |c_b - K_b rho| = lambda beyond it: so E becomes S together with {|c_b| >= lambda}. For ReLU a neuron inside
its cone has c = v of norm lambda, and the block of the opposite sign has c = -v of the same norm: it always joins E,
with the same output X_b v_b, and independence on E never holds. The canonical dual has neither fault.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from properties.exact.linalg import independent, mat, matvec, norm2, vec
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import PlantedReLU, plant_relu, planted_box, planted_relu

LABEL = "min-norm dual w.l.o.g."
STATEMENT = "The choice of the dual optimal rho (least norm or another) does not change the equicorrelation set E."
CANONICAL = "S is contained in E of the canonical dual, and that in E of the least-norm dual."


def least_norm_E(planted: PlantedReLU) -> tuple[int, ...]:
    """E under the least-norm dual: the blocks of S and those with |c_b| >= lambda."""
    convex = planted.convex
    return tuple(
        b
        for b, block in enumerate(convex.problem.blocks)
        if b in convex.S or norm2(block.correlation(convex.r)) >= planted.lam2
    )


def check(planted: PlantedReLU) -> Outcome:
    """E by both duals."""
    canonical, least = planted.convex.E, least_norm_E(planted)
    return expect(
        canonical == least, f"E has {len(canonical)} blocks by the canonical dual, {len(least)} by the least-norm"
    )


Sets = tuple[PlantedReLU, tuple[int, ...], tuple[int, ...]]


def check_canonical(instance: Sets) -> Outcome:
    """S within canonical E within least-norm E (blocks with |v_b| = lambda have |c_b| >= lambda)."""
    planted, S, E = instance
    return first_failure(
        expect(set(S) <= set(E) <= set(least_norm_E(planted)), "the three sets of blocks are not nested"),
        expect((S, E) == (planted.convex.S, planted.convex.E), "these are not S and E"),
    )


def detects_unique(planted: PlantedReLU) -> Outcome:
    """The test {X_b v_b} on E, with the least-norm dual, recognises a unique solution."""
    convex = planted.convex
    if not convex.unique:
        return vacuous("not unique")
    E = least_norm_E(planted)
    # v = c on S: a neuron at a kink is in two blocks, with one output, and the solution would not be unique
    outputs = [matvec(b.X, b.correlation(convex.r)) for b in convex.problem.blocks]
    if any(norm2(convex.problem.blocks[b].correlation(convex.r)) != planted.lam2 for b in E):
        return vacuous("|c_b| > lambda somewhere: the least-norm multiplier is irrational")
    return expect(
        independent([outputs[b] for b in E]),
        f"one solution, but the {len(E)} outputs on E are dependent: the twin of the neuron",
    )


def _one() -> PlantedReLU:
    found = plant_relu(mat([[1]]), vec([1]), (2,))
    if found is None or found.y != (Fraction(3),):
        raise ArithmeticError("Z = 1, r = 1 plants y = 3 with weight 2")
    return found


ONE = Witness("Z = 1, y = 3, lambda = 1", _one())


def instances() -> st.SearchStrategy[PlantedReLU]:
    """Planted networks."""
    return st.one_of(planted_relu(), planted_box(max_d=2))


def with_sets() -> st.SearchStrategy[Sets]:
    """With S and the canonical E."""
    return instances().map(lambda planted: (planted, planted.convex.S, planted.convex.E))


CLAIM = Claim(
    LABEL,
    "The min-norm dual",
    Property(STATEMENT, instances(), check),
    witnesses=(ONE,),
    repaired=Property(CANONICAL, with_sets(), check_canonical),
    slips=(Slip("independence on E, with the least-norm dual, recognises uniqueness", detects_unique, ONE),),
)
