"""alg:pruning-solutions: with t = 1/|beta| the algorithm may walk in a circle; with t = 1/beta it ends at a vertex."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, vec
from properties.exact.polytope import barycentre, support
from properties.exact.problem import is_optimal, problem
from properties.exact.prune import Choice, Run, Step, printed_step, prune, signed_step
from properties.model import Claim, Outcome, Property, Witness, expect, fails, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "alg:pruning-solutions"
STATEMENT = "From any solution, with any dependence beta and t = 1/|beta_i|, the algorithm ends at a minimal solution."
SIGNED = "With t = 1/beta_i (its sign kept) every step prunes a block, and the algorithm ends at a minimal solution."

Instance = tuple[PlantedCGL, Vector, Choice]


@st.composite
def instances(draw: DrawFn) -> Instance:
    """A solution to prune and the way in which dependences are chosen."""
    crowded = planted_cgl(max_n=draw(st.integers(2, 3)), min_active=3, min_weight=1)
    planted, alpha = draw(with_solution(crowded))
    if draw(st.integers(0, 3)):
        alpha = barycentre(planted.vertices)
    mix = tuple(draw(st.lists(st.integers(-2, 2), min_size=1, max_size=3)))
    return planted, alpha, Choice(mix, draw(st.booleans()))


def verdict(instance: Instance, run: Run) -> Outcome:
    """Every iterate is a solution with smaller support than the last (so the walk stops), and the end is minimal."""
    planted = instance[0]
    if len(run.iterates) == 1:
        return vacuous("nothing to prune")
    for before, after in zip(run.iterates, run.iterates[1:], strict=False):
        if any(a < 0 for a in after) or not is_optimal(planted.problem, planted.weights(after)):
            return fails("a step leaves the optimal set")
        if not set(support(after)) < set(support(before)):
            again = (
                " and an iterate comes back: it loops for ever" if len(set(run.iterates)) < len(run.iterates) else ""
            )
            return fails(f"a step from {_show(before)} to {_show(after)} prunes nothing{again}")
    return expect(run.iterates[-1] in planted.vertices, "the end is not minimal")


def _show(alpha: Vector) -> str:
    return "(" + ", ".join(map(str, alpha)) + ")"


def check_with(step: Step, instance: Instance) -> Outcome:
    """Run the algorithm with one rule for t."""
    planted, alpha, choice = instance
    return verdict(instance, prune(alpha, planted.q, step, choice))


def check(instance: Instance) -> Outcome:
    """t = 1/|beta_i|"""
    return check_with(printed_step, instance)


def check_signed(instance: Instance) -> Outcome:
    """t = 1/beta_i"""
    return check_with(signed_step, instance)


_LINE = problem([[1, 1]], [1, 1], [4], 1)
LINE = PlantedCGL(_LINE, vec([1]), (vec([1]), vec([1])), vec([2, 1]))

CLAIM = Claim(
    LABEL,
    "Pruning",
    Property(STATEMENT, instances(), check),
    witnesses=(
        Witness(
            "X = [1 1], y = 4, lambda = 1, w = (2, 1), beta = (1, -2), then (-2, 1)",
            (LINE, vec([2, 1]), Choice((1,), True)),
        ),
    ),
    repaired=Property(SIGNED, instances(), check_signed),
)
