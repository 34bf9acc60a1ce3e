"""lemma:one-step-pruning: a maximal solution reaches any minimal one in one step, if t = 1/max beta.

From w~ = alpha~ v with support S to a minimal w = alpha v the dependence is beta_b = 1 - alpha_b/alpha~_b, equal to 1
on the blocks to be pruned and below 1 elsewhere. The entry of largest magnitude may be another one: neither 1/|beta|
nor the signed 1/beta at that entry lands at w. The largest beta does (t = 1).
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.alg_pruning_solutions import LINE
from properties.exact.linalg import Vector, vec
from properties.exact.polytope import barycentre
from properties.exact.prune import Step, apply_step, positive_step, printed_step, signed_step
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, vacuous
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "lemma:one-step-pruning"
STATEMENT = "One step (t = 1/|beta_i|, i of largest |beta|) prunes a solution with support S to any minimal solution."
POSITIVE = "One step with t = 1/max_i beta_i prunes a solution with support S to any minimal solution."

Instance = tuple[PlantedCGL, Vector, Vector]


@st.composite
def instances(draw: DrawFn) -> Instance:
    """A solution with support S and a minimal one."""
    planted = draw(planted_cgl(max_n=3, min_active=2, min_weight=1))
    extra = [draw(st.sampled_from(planted.vertices)) for _ in range(draw(st.integers(0, 2)))]
    return planted, barycentre([*planted.vertices, *extra]), draw(st.sampled_from(planted.vertices))


def step_with(rule: Step, instance: Instance) -> Outcome:
    """One step from the maximal solution with the lemma's beta."""
    _, start, target = instance
    beta = tuple(1 - b / a if a else a for a, b in zip(start, target, strict=True))
    if not any(beta):
        return vacuous("the maximal solution is minimal")
    end = apply_step(start, beta, rule(beta))
    shown = ["(" + ", ".join(map(str, x)) + ")" for x in (start, end, target)]
    return expect(end == target, f"from {shown[0]} the step lands at {shown[1]}, not at {shown[2]}")


def check(instance: Instance) -> Outcome:
    """t = 1/|beta_i|"""
    return step_with(printed_step, instance)


def check_signed(instance: Instance) -> Outcome:
    """t = 1/beta_i at the entry of largest magnitude."""
    return step_with(signed_step, instance)


def check_positive(instance: Instance) -> Outcome:
    """t = 1/max beta"""
    return step_with(positive_step, instance)


WITNESS = Witness("X = [1 1], y = 4, lambda = 1, w~ = (1, 2), w = (3, 0)", (LINE, vec([1, 2]), vec([3, 0])))

CLAIM = Claim(
    LABEL,
    "One step to any minimal solution",
    Property(STATEMENT, instances(), check),
    witnesses=(WITNESS,),
    repaired=Property(POSITIVE, instances(), check_positive),
    slips=(Slip("the sign alone repairs it: t = 1/beta_i at the largest |beta_i|", check_signed, WITNESS),),
)
