"""What is said about a network, one line a claim."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.exact import sqrt_upper
from relu_cert.network.examine import NEAR, Comparison, Distance, Examination, distance
from relu_cert.report.text import decimal, scientific

PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED


def network_verdicts(comparison: Comparison, gap: Fraction) -> tuple[Result, ...]:
    """The verdicts, in the order in which they are read."""
    return tuple(_verdicts(comparison, gap))


def _verdicts(comparison: Comparison, gap: Fraction) -> Iterator[Result]:
    found = comparison.examination
    yield _optimal("network-optimal", found, distance(found, comparison.facts.value), gap, "over all patterns")
    if comparison.own is not None:
        yield _optimal(
            "network-own-optimal", found, distance(found, comparison.own.value), gap, "over its own patterns"
        )
    yield _stationary(found)
    yield _balanced(found)
    yield _merged(found)
    yield _independent(found)
    yield _directions(comparison)


def _optimal(claim: str, found: Examination, away: Distance, gap: Fraction, where: str) -> Result:
    """J - p* <= gap J proves it; a lower bound over gap J refutes it."""
    upper, lower = away.trained.upper, away.trained.lower
    relative = scientific(away.relative(found.J))
    bounds = f"at most {scientific(upper)} above the optimum {where} (relative {relative})"
    if upper <= gap * found.J:
        return Result(claim, PROVED, "duality", f"{bounds}.")
    if lower > gap * found.J:
        return Result(claim, REFUTED, "better point", f"{bounds}, at least {scientific(lower)}.")
    return Result(claim, UNDECIDED, "", f"{bounds}; more than the {scientific(gap)} asked for.")


def _stationary(found: Examination) -> Result:
    claim, squared = "network-stationary", found.stationarity.distance_squared
    kinks = sum(len(neuron.kinks) for neuron in found.stationarity.neurons)
    at = f", {kinks} kinks" if kinks else ""
    match found.stationarity.stationary:
        case True:
            return Result(claim, PROVED, "subdifferential", f"zero is in the Clarke subdifferential of J{at}.")
        case False:
            detail = f"the shortest Clarke subgradient of J has norm {scientific(sqrt_upper(squared.upper))}{at}"
            near = found.near_stationarity
            if (more := sum(len(neuron.kinks) for neuron in near.neurons)) > kinks:
                norm = scientific(sqrt_upper(near.distance_squared.upper))
                detail += f"; {norm} if the {more} rows within {scientific(NEAR)} of a kink count as kinks"
            return Result(claim, REFUTED, "subdifferential", f"{detail}.")
        case None:
            return Result(claim, UNDECIDED, "", f"too many activation cells at its{at[1:]}.")


def _balanced(found: Examination) -> Result:
    claim = "network-balanced"
    wrong = [i for i, scale in enumerate(found.scales) if not scale.balanced]
    if not wrong:
        return Result(claim, PROVED, "arithmetic", "|W1_i| = |w2_i| for every neuron, exactly.")
    costs = sum((found.scales[i].excess.upper for i in wrong), Fraction(0))
    dead = sum(scale.dead for scale in found.scales)
    also = f"; {dead} of them dead" if dead else ""
    return Result(
        claim,
        REFUTED,
        "arithmetic",
        f"{len(wrong)} of {found.network.m} neurons, at a cost of {scientific(costs)}{also}.",
    )


def _merged(found: Examination) -> Result:
    claim = "network-merged"
    everywhere, on_data = found.collinear, found.on_data
    if not on_data.merges:
        return Result(claim, PROVED, "cones", "no two neurons of one sign lie in one cone of the data.")
    parts = [f"{len(group)} collinear neurons are one" for group in everywhere.merges]
    parts.append(
        f"{len(found.neurons)} neurons merge into {len(on_data.neurons)} with the same fit, at no higher objective"
    )
    return Result(claim, REFUTED, "cones", "; ".join(parts) + ".")


def _independent(found: Examination) -> Result:
    claim, m = "network-independent", len(found.neurons)
    if found.rank == m:
        return Result(
            claim, PROVED, "exact rank", f"the outputs of the {m} neurons are independent: none can be pruned free."
        )
    left = len(found.pruned.neurons)
    return Result(
        claim,
        REFUTED,
        "exact rank",
        f"the outputs of {m} neurons have rank {found.rank}; merged and pruned, {left} neurons have the same fit at "
        f"P = {decimal(found.pruned_P.upper, 12)}, which is no higher.",
    )


def _directions(comparison: Comparison) -> Result:
    claim, out = "network-directions", [i for i, excluded in enumerate(comparison.excluded) if excluded]
    m = len(comparison.excluded)
    if not out:
        return Result(
            claim, UNDECIDED, "", f"none of the {m} directions is excluded; equality is not settled by floats."
        )
    return Result(claim, REFUTED, "ball", f"{len(out)} of {m} neurons have a direction that no optimal network has.")
