"""network-stationary: the network is a Clarke stationary point of its objective."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.exact import sqrt_lower, sqrt_upper
from relu_cert.network.examine import NEAR, Comparison
from relu_cert.network.objective import Interval
from relu_cert.report.text import at_least, at_most, scientific

NAME = "network-stationary"
STATEMENT = "It is a Clarke stationary point of its objective."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """Whether zero is in the Clarke subdifferential of J, and how far it is from it."""
    del gap
    found = comparison.examination
    squared = found.stationarity.distance_squared
    kinks = sum(len(neuron.kinks) for neuron in found.stationarity.neurons)
    at = f", {kinks} kinks" if kinks else ""
    match found.stationarity.stationary:
        case True:
            return Result(NAME, Verdict.PROVED, "subdifferential", f"zero is in the Clarke subdifferential of J{at}.")
        case False:
            detail = f"the shortest Clarke subgradient of J has norm {_norm(squared)}{at}"
            near = found.near_stationarity
            if (more := sum(len(neuron.kinks) for neuron in near.neurons)) > kinks:
                norm = at_most(sqrt_upper(near.distance_squared.upper))
                detail += f"; at most {norm} if the {more} rows within {scientific(NEAR)} of a kink count as kinks"
            return Result(NAME, Verdict.REFUTED, "subdifferential", f"{detail}.")
        case None:
            most = at_most(sqrt_upper(squared.upper))
            return Result(NAME, Verdict.UNDECIDED, "", f"too many activation cells at its{at[1:]}; at most {most}.")


def _norm(squared: Interval) -> str:
    """The norm, or its two bounds where the enclosure shows."""
    low, high = sqrt_lower(squared.lower), sqrt_upper(squared.upper)
    about = scientific(high)
    return about if scientific(low) == about else f"between {at_least(low)} and {at_most(high)}"
