"""lemma:pruning-span: vacuous under def:group-dependence; a step that prunes exactly one block preserves the span.

Several blocks pruned at once may take a dimension with them.
"""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.alg_pruning_solutions import Instance, instances
from properties.claims.def_group_dependence import independent_ranges
from properties.claims.prop_minimal_sol_characterization import WITHOUT
from properties.exact.linalg import Vector, combine, rank, vec
from properties.exact.polytope import support
from properties.exact.prune import Choice, prune, signed_step
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import PlantedCGL

LABEL = "lemma:pruning-span"
STATEMENT = "Under group dependence every pruning step preserves span{X_b w_b}."
SINGLE = "A pruning step that removes exactly one block preserves span{X_b w_b} and, as every step does, the fit."

Step = tuple[PlantedCGL, Vector, Vector]  # the weights before and after


def spans(instance: Instance) -> list[tuple[int, int, int]]:
    """For every step: the number of blocks pruned, and dim span before and after."""
    planted, alpha, choice = instance
    iterates = prune(alpha, planted.q, signed_step, choice).iterates
    sizes = [(len(support(a)), rank([planted.q[b] for b in support(a)])) for a in iterates]
    return [(m - k, before, after) for (m, before), (k, after) in pairwise(sizes)]


def conclusion(instance: Instance) -> Outcome:
    """Every step preserves the span."""
    lost = [step for step in spans(instance) if step[1] != step[2]]
    if not spans(instance):
        return vacuous("nothing to prune")
    return expect(not lost, f"(blocks pruned, dim before, dim after) = {lost[0] if lost else ''}")


def check(instance: Instance) -> Outcome:
    """With the hypothesis."""
    if not independent_ranges(instance[0].problem):
        return vacuous("no group dependence")
    return conclusion(instance)


@st.composite
def steps(draw: DrawFn) -> Step:
    """One step of a run."""
    planted, alpha, choice = draw(instances())
    iterates = prune(alpha, planted.q, signed_step, choice).iterates
    return planted, *draw(st.sampled_from([*pairwise(iterates)] or [(alpha, alpha)]))


def check_single(step: Step) -> Outcome:
    """A step that prunes one block: the span and the fit before and after."""
    planted, *ends = step
    on = [support(alpha) for alpha in ends]
    if len({*on[0]} - {*on[1]}) != 1:
        return vacuous("the step does not prune exactly one block")
    before, after = (rank([planted.q[b] for b in part]) for part in on)
    fits = [combine(alpha, planted.q, planted.problem.n) for alpha in ends]
    return first_failure(
        expect(before == after, f"the dimension changes from {before} to {after}"),
        expect(fits[0] == fits[1], "the step changes the fit"),
    )


CLAIM = Claim(
    LABEL,
    "Pruning and the span",
    Property(STATEMENT, instances(), check),
    repaired=Property(SINGLE, steps(), check_single),
    slips=(
        Slip(
            "the conclusion holds without group dependence",
            conclusion,
            Witness(f"{WITHOUT.name}, alpha = (1/2, 1/2, 1)", (WITHOUT.instance, vec(["1/2", "1/2", "1"]), Choice())),
        ),
    ),
)
