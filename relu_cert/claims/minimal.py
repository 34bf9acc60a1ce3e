"""minimal: all minimal networks (prop:minimal-solutions, cor:minimal-unique), the least width m* and the largest, M*.

A network is minimal iff the outputs of its neurons are independent, that is iff it is a vertex. A network with the
fewest neurons of all is minimal (else it could be pruned): so no optimal network has fewer than m* neurons.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.claims.optimal_set import counted, evidence, nouns, undecided
from relu_cert.prove.facts import Facts

NAME = "minimal"
STATEMENT = "All minimal networks are known, and no optimal network is narrower than m*."


def applies(facts: Facts) -> bool:
    """Always; for a direct problem the neurons are its active groups."""
    return True


def decide(facts: Facts) -> Result:
    """The numbers of neurons of all vertices."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: the zero network alone, m* = M* = 0.")
    found = facts.polytope
    if found is None:
        return undecided(NAME, facts)
    widths = found.widths
    _, one, many = nouns(facts)
    networks = [f"{counted(widths.count(m), one, many)} of width {m}" for m in sorted(set(widths))]
    detail = f"m* = {found.m_star}, M* = {found.M_star}; minimal: {', '.join(networks)}."
    return Result(NAME, Verdict.PROVED, evidence(found), detail)
