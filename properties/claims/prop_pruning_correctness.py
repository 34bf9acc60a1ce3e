"""prop:pruning-correctness: alg:pruning-solutions returns a minimal solution, if t keeps the sign of beta.

A step that prunes c blocks lowers the rank of the outputs by at most c - 1, so l active blocks with outputs of rank k
need at most l - k steps.
"""

from __future__ import annotations

from properties.claims.alg_pruning_solutions import CLAIM as ALGORITHM
from properties.claims.alg_pruning_solutions import Instance, check_with, instances, verdict
from properties.exact.linalg import Vector, rank
from properties.exact.polytope import support
from properties.exact.prune import Choice, Run, printed_step, prune, signed_step
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL

LABEL = "prop:pruning-correctness"
STATEMENT = "alg:pruning-solutions, as printed, returns a minimal solution after at most l steps."
SIGNED = "With the sign kept it does, after at most l - rank steps (l active blocks)."


def check(instance: Instance) -> Outcome:
    """The printed algorithm."""
    return check_with(printed_step, instance)


Walk = tuple[PlantedCGL, Vector, Choice, tuple[Vector, ...]]


def walked(instance: Instance) -> Walk:
    """With the iterates of the repaired algorithm."""
    planted, alpha, choice = instance
    return planted, alpha, choice, prune(alpha, planted.q, signed_step, choice).iterates


def check_steps(walk: Walk) -> Outcome:
    """The repaired algorithm and its number of steps."""
    planted, alpha, choice, iterates = walk
    most = len(support(alpha)) - rank([planted.q[b] for b in support(alpha)])
    return first_failure(
        expect(len(iterates) <= most + 1, f"{len(iterates) - 1} steps, more than {most}"),
        verdict((planted, alpha, choice), Run(iterates)),
        expect(walk == walked((planted, alpha, choice)), "this is not the algorithm's walk"),
    )


CLAIM = Claim(
    LABEL,
    "Correctness of pruning",
    Property(STATEMENT, instances(), check),
    witnesses=ALGORITHM.witnesses,
    repaired=Property(SIGNED, instances().map(walked), check_steps),
)
