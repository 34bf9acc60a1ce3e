"""prop:pruning-correctness: alg:pruning-solutions returns a minimal solution, if t keeps the sign of beta.

A step that prunes c blocks lowers the rank of the outputs by at most c - 1, so l active blocks with outputs of rank k
need at most l - k steps.
"""

from __future__ import annotations

from properties.claims.alg_pruning_solutions import CLAIM as ALGORITHM
from properties.claims.alg_pruning_solutions import Instance, check_signed, check_with, instances
from properties.exact.linalg import rank
from properties.exact.polytope import support
from properties.exact.prune import printed_step, prune, signed_step
from properties.model import Claim, Outcome, Property, expect, first_failure

LABEL = "prop:pruning-correctness"
STATEMENT = "alg:pruning-solutions, as printed, returns a minimal solution after at most l steps."
SIGNED = "With the sign kept it does, after at most l - rank steps (l active blocks)."


def check(instance: Instance) -> Outcome:
    """The printed algorithm."""
    return check_with(printed_step, instance)


def check_steps(instance: Instance) -> Outcome:
    """The repaired algorithm and its number of steps."""
    planted, alpha, choice = instance
    steps = len(prune(alpha, planted.q, signed_step, choice).iterates) - 1
    most = len(support(alpha)) - rank([planted.q[b] for b in support(alpha)])
    return first_failure(expect(steps <= most, f"{steps} steps, more than {most}"), check_signed(instance))


CLAIM = Claim(
    LABEL,
    "Correctness of pruning",
    Property(STATEMENT, instances(), check),
    witnesses=ALGORITHM.witnesses,
    repaired=Property(SIGNED, instances(), check_steps),
)
