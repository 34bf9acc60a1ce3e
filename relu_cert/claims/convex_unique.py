"""convex-unique: the solution of the convex program is unique (lemma:unique-cgl). Usually not the same as p-unique:

a ReLU neuron that is zero at a data point lies on the face between two patterns, and both blocks can carry it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.claims.p_unique import algebraic_evidence
from relu_cert.exact import Vector, sqrt_upper
from relu_cert.prove.algebraic.model import Numbers
from relu_cert.prove.facts import Facts, NeuronClass, OptimalSet
from relu_cert.report.text import at_most, count

NAME = "convex-unique"
STATEMENT = "The solution of the convex program is unique."


def applies(facts: Facts) -> bool:
    """Always."""
    return True


def decide(facts: Facts) -> Result:
    """Unique iff the network is, and every active neuron lies in exactly one block; always where delta > 0."""
    if facts.problem.delta:
        radius = sqrt_upper(facts.fit.radius_squared / facts.problem.delta)
        detail = f"delta > 0: strongly convex; the solution is within {at_most(radius)} of the one found."
        return Result(NAME, Verdict.PROVED, "strong convexity", detail)
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: zero is the only solution.")
    if facts.exact_set is not None:
        return _exact(facts, facts.exact_set.solutions, facts.exact_set.kinks, "exact optimum")
    if facts.algebraic is not None:
        kinks = [a.kinks for a in facts.algebraic.tied]
        return _exact(facts, facts.algebraic.solutions, kinks, algebraic_evidence(facts.algebraic))
    found = facts.optimal_set
    if found is None:
        return Result(NAME, Verdict.UNDECIDED, "", f"{facts.unsettled}.")
    if found.dimension > found.network_dimension == 0:
        lie = f"{count(found.repeated, 'neuron')} {'lies' if found.repeated == 1 else 'lie'}"
        detail = f"{lie} on the face between two patterns; both blocks carry {'it' if found.repeated == 1 else 'them'}."
        return Result(NAME, Verdict.REFUTED, "kink", detail)
    if found.dimension > 0:
        detail = f"the optimal set has dimension {found.dimension} even between neurons."
        return Result(NAME, Verdict.REFUTED, "optimal set", detail)
    kinked = [a for a, neuron in enumerate(found.classes) if _in_two_blocks(facts, neuron)]
    if not kinked:
        return Result(NAME, Verdict.PROVED, "independence", "every neuron that can be active lies in one block only.")
    active = [a for a in kinked if weight_lower(found, a) > 0]
    if active:
        detail = f"active neurons that are zero at a data point: {len(active)}; two or more blocks carry each."
        return Result(NAME, Verdict.REFUTED, "kink", detail)
    return Result(NAME, Verdict.UNDECIDED, "", "a neuron that is zero at a data point may have weight zero or not.")


def weight_lower(found: OptimalSet, a: int) -> Fraction:
    """A positive number if the weight of class a is proved positive (the optimal set is a single point)."""
    if found.split:
        return found.split[a]  # a proved split is positive in every entry
    return found.masses[[group[0] for group in found.groups].index(a)] - found.mass_error


def _in_two_blocks(facts: Facts, neuron: NeuronClass) -> bool:
    return facts.problem.model == "relu" and bool(neuron.kinks)


def _exact(facts: Facts, solutions: Sequence[Vector | Numbers], kinks: Sequence[bool], evidence: str) -> Result:
    """The verdict where the optimum is known exactly; `kinks` says which neurons two blocks carry."""
    if len(solutions) > 1:
        return Result(NAME, Verdict.REFUTED, evidence, "two different optimal networks are known exactly.")
    kinked = facts.problem.kind == "relu" and any(x and kink for x, kink in zip(solutions[0], kinks, strict=True))
    if kinked:
        detail = "an active neuron is zero at a data point, and two or more blocks carry it."
        return Result(NAME, Verdict.REFUTED, "kink", detail)
    return Result(NAME, Verdict.PROVED, evidence, "one optimal network, and each of its neurons lies in one block.")
