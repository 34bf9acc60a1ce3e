"""p-unique: the optimal network is unique up to permutation and splitting of neurons (prop:p-unique, on classes)."""

from __future__ import annotations

from collections.abc import Sequence

from relu_cert.claims.model import Result, Verdict
from relu_cert.exact import Vector
from relu_cert.prove.algebraic.model import AlgebraicSet, Numbers
from relu_cert.prove.facts import Facts, OptimalSet
from relu_cert.report.text import count as how_many

NAME = "p-unique"
STATEMENT = "The optimal network is unique, up to permuting and splitting its neurons."


def applies(facts: Facts) -> bool:
    """Always; for a direct problem the neurons are its active groups."""
    return True


def decide(facts: Facts) -> Result:
    """The optimal set over all classes is a single point, or has dimension one or more."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: the zero network is the only solution.")
    if facts.exact_set is not None:
        return _exact(facts.exact_set.solutions, "exact optimum")
    if facts.algebraic is not None:
        return _exact(facts.algebraic.solutions, algebraic_evidence(facts.algebraic))
    found = facts.optimal_set
    if found is None:
        return Result(NAME, Verdict.UNDECIDED, "", f"{facts.unsettled}.")
    count = len(found.active)
    if found.network_dimension == 0:
        count -= found.repeated
        detail = f"{how_many(count, 'neuron')} can be active; their outputs are independent."
        return Result(NAME, Verdict.PROVED, "independence", detail)
    evidence, reason = _dependence(found)
    where = f"optimal weights on {how_many(count, 'neuron')}"
    detail = f"a polytope of dimension {found.network_dimension} of {where}: {reason}."
    return Result(NAME, Verdict.REFUTED, evidence, detail)


def _dependence(found: OptimalSet) -> tuple[str, str]:
    """The kind of proof, and why outputs are dependent."""
    if found.mixed:
        return "dependent kernels", "the kernel of one is a mixture of those of others"
    if found.lift and not found.split:
        return "free terms", "neurons whose outputs differ by free terms only share a weight in any way"
    if found.lift:
        return "lifted problem", "the residual is orthogonal to a known subspace"
    return "equal kernels", "neurons with the same kernel"


def algebraic_evidence(found: AlgebraicSet) -> str:
    """The kind of proof where the optimum is irrational."""
    return f"exact optimum in a field of degree {found.field.degree}"


def _exact(solutions: Sequence[Vector | Numbers], evidence: str) -> Result:
    """The verdict where the optimum is known exactly."""
    tied = len(solutions[0])
    if len(solutions) == 1:
        detail = f"of {how_many(tied, 'neuron')} tied at lambda only {_active(solutions[0])} can be active, in one way."
        return Result(NAME, Verdict.PROVED, evidence, detail)
    first, second = (_active(alpha) for alpha in solutions)
    detail = (
        f"two different optimal networks, exactly: of widths {first} and {second} on {how_many(tied, 'tied neuron')}."
    )
    return Result(NAME, Verdict.REFUTED, evidence, detail)


def _active(alpha: Vector | Numbers) -> int:
    return sum(1 for x in alpha if x)
