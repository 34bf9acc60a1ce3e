"""network-merged: no two neurons can be merged (merge and split symmetry, lemma:scaling-unique)."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.examine import Comparison

NAME = "network-merged"
STATEMENT = "No two of its neurons can be merged."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """Collinear neurons are one everywhere, neurons of one cone are one on the data."""
    del gap
    found = comparison.examination
    if not found.on_data.merges:
        return Result(NAME, Verdict.PROVED, "cones", "no two neurons of one sign lie in one cone of the data.")
    parts = [f"{len(group)} collinear neurons are one" for group in found.collinear.merges]
    left = len(found.on_data.neurons)
    parts.append(f"{len(found.neurons)} neurons merge into {left} with the same fit, at no higher objective")
    return Result(NAME, Verdict.REFUTED, "cones", "; ".join(parts) + ".")
