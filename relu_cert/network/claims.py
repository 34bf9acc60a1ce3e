"""What is said about a given network: claims on a comparison with the optimum, and the gap up to which it counts.

Of networks with several outputs the claims about single neurons are not offered: a neuron is a direction with a vector
of outputs, and what may be merged, pruned or compared with the neurons of optimal networks has no proof here yet.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from relu_cert.bags import EACH
from relu_cert.claims.claim import Answer, Claim, Result, Verdict, claim, proved, refuted, undecided
from relu_cert.exact import sqrt_lower, sqrt_upper
from relu_cert.figures import about, at_least, at_most, one_number, scientific, short
from relu_cert.network.examine import NEAR, Comparison, distance, hidden_cells, prunable
from relu_cert.network.objective import Interval
from relu_cert.prove.facts import Value

CLAIMS: list[Claim] = []
_claim = partial(claim, among=CLAIMS)
FREE_TERMS = "with free terms neurons are not compared with those of optimal networks"


OF_OUTPUTS = ("network-objective", "network-optimal", "network-stationary", "network-balanced")


def network_verdicts(comparison: Comparison, gap: Fraction) -> tuple[Result, ...]:
    """The verdicts, in the order in which they are read."""
    several = comparison.facts.problem.targets > 1
    answers = ((one.name, one.answer(comparison, gap)) for one in CLAIMS if not several or one.name in OF_OUTPUTS)
    return tuple(Result(name, *answer) for name, answer in answers if answer is not None)


@_claim("network-objective", "Its objective is an exact rational, at most so far above the global optimum.")
def objective(comparison: Comparison, _: Fraction) -> Answer:
    """J, and J - p* <= J - lower."""
    found = comparison.examination
    away = distance(found, comparison.facts.value).trained.upper
    over = "equal to the global optimum" if away == 0 else f"at most {at_most(away)} above the global optimum"
    J = short(found.J)
    exact = f"J is about {J[1:]}, an exact rational" if J.startswith("~") else f"J = {J}"
    exact = f"J is {J}" if found.logistic else exact
    return proved("duality", f"{exact}; {over}.")


@_claim("network-optimal", "It is globally optimal up to the relative gap.")
def optimal(comparison: Comparison, gap: Fraction) -> Answer:
    """J - p* <= gap J proves it; a better point of all patterns refutes it."""
    over = "over networks of any width" if comparison.facts.problem.unlisted else "over all patterns"
    return _against(comparison, comparison.facts.value, gap, over)


def _against(comparison: Comparison, value: Value, gap: Fraction, where: str) -> Answer:
    """J against the optimal value of one program: upper and lower bound of the difference."""
    found = comparison.examination
    away = distance(found, value)
    upper, lower = away.trained.upper, away.trained.lower
    relative = at_most(away.relative(found.J))
    bounds = f"at most {at_most(upper)} above the optimum {where} ({relative} of J)"
    if upper <= gap * found.J_below:
        return proved("duality", f"{bounds}.")
    if found.J_below - value.upper > gap * found.J:
        return refuted("better point", f"{bounds}, at least {at_least(lower)}.")
    return undecided(f"{bounds}; more than the {about(gap)} asked for.")


@_claim("network-own-optimal", "It is optimal among networks with its own activation patterns, up to the gap.")
def own_optimal(comparison: Comparison, gap: Fraction) -> Answer | None:
    """The same over its own patterns; None where that was not asked.

    Proved here and refuted over all patterns, it is stuck: a stationary point of a sub-sampled program (the candidates
    of prop:stationary-points) that only a new pattern can leave.
    """
    if comparison.own is None:
        return None
    verdict, evidence, detail = _against(comparison, comparison.own.value, gap, "over its own patterns")
    if verdict is Verdict.PROVED and optimal(comparison, gap)[0] is Verdict.REFUTED:
        detail += " Stuck: only a new pattern makes it better."
    return verdict, evidence, detail


@_claim("network-stationary", "It is a Clarke stationary point of its objective.")
def stationary(comparison: Comparison, _: Fraction) -> Answer:
    """Whether zero is in the Clarke subdifferential of J, and how far it is from it."""
    found = comparison.examination
    if found.logistic:
        return undecided(f"with the {comparison.facts.problem.loss.name} loss gradients are no rationals.")
    squared = found.stationarity.distance_squared
    kinks = sum(len(neuron.kinks) for neuron in found.stationarity.neurons)
    at = found.stationarity.meant + (f", {kinks} kinks" if kinks else "")
    low, high = sqrt_lower(squared.lower), sqrt_upper(squared.upper)
    if hidden_cells(comparison) and comparison.facts.problem.targets > 1:
        return undecided(f"the cells around its {kinks} kinks are not listed where there are several outputs.")
    if hidden_cells(comparison):
        return undecided(f"the cells around its {kinks} kinks are not listed; fewer rows would settle it.")
    match found.stationarity.stationary:
        case True:
            return proved("subdifferential", f"zero is in the Clarke subdifferential of J{at}.")
        case False:
            detail = f"the shortest Clarke subgradient of J has norm {_between(low, high)}{at}"
            near = found.near_stationarity
            if (more := sum(len(neuron.kinks) for neuron in near.neurons)) > kinks:
                norm = at_most(sqrt_upper(near.distance_squared.upper))
                detail += f"; at most {norm} if the {more} rows within {at_most(NEAR)} of a kink count as kinks"
            return refuted("subdifferential", f"{detail}.")
        case None:
            return undecided(f"too many activation cells at its {kinks} kinks; at most {at_most(high)}.")


@_claim("network-balanced", "Both layers of every neuron have the same norm.")
def balanced(comparison: Comparison, _: Fraction) -> Answer:
    """|W1_i|^2 = |w2_i|^2, exactly; balancing gains sum lambda/2 (|W1_i| - |w2_i|)^2 (lemma:scaling-unique)."""
    found = comparison.examination
    wrong = [scale for scale in found.scales if not scale.balanced]
    if not wrong:
        return proved("arithmetic", f"|W1_i| = |w2_i| for every neuron ({len(found.network.W1)}), exactly.")
    low, high = (sum((getattr(scale.excess, end) for scale in wrong), Fraction(0)) for end in ("lower", "upper"))
    cost = _between(low, high, ("from", "to"))
    dead = sum(scale.dead for scale in wrong)
    also = f"; {dead} of them dead" if dead else ""
    return refuted("arithmetic", f"{_some_of(len(wrong), found.network.m)}, at a cost of {cost}{also}.")


@_claim(
    "network-merged", "No two of its neurons can be merged: replaced by their sum, with the same effect on the data."
)
def merged(comparison: Comparison, _: Fraction) -> Answer:
    """Collinear neurons are one everywhere, neurons of one cone are one on the data (lemma:scaling-unique)."""
    found = comparison.examination
    if not found.on_data.merges:
        apart = "no two neurons of one sign lie in one cone of the data"
        if found.network.free:
            return undecided(f"{apart}, but free terms may make up for a neuron.")
        if comparison.facts.problem.relu.bags is not EACH:
            return undecided(f"{apart}, but outputs may agree otherwise where they are pooled.")
        return proved("cones", f"{apart} ({len(found.neurons)}).")
    parts = [f"{len(group)} collinear neurons are one" for group in found.collinear.merges]
    left = len(found.on_data.neurons)
    parts.append(f"{len(found.neurons)} neurons merge into {left} with the same fit, at no higher objective")
    return refuted("cones", "; ".join(parts) + ".")


@_claim("network-independent", "The outputs of its neurons are linearly independent.")
def independent(comparison: Comparison, _: Fraction) -> Answer:
    """The exact rank of the outputs."""
    found = comparison.examination
    m = len(found.neurons)
    if found.rank == m:
        if found.network.free:
            return proved("exact rank", f"{_neurons(m)} of rank {m}; free terms may make up for some of them.")
        if m < 2:
            only = "the network is zero" if m == 0 else "its only neuron has an output other than zero"
            return proved("exact rank", f"{only}.")
        return proved("exact rank", f"none of the outputs of the {m} neurons is a combination of the others.")
    left = len(found.pruned.neurons)
    fit = f"merged and pruned, {_neurons(left)} {_have(left)} the same fit at {_value(found.pruned_P)}"
    return refuted("exact rank", f"the outputs of {m} neurons have rank {found.rank}; {fit}, which is no higher.")


@_claim("network-prune", "Pruned to independent outputs it has the same fit and no higher objective.")
def prune(comparison: Comparison, _: Fraction) -> Answer:
    """The same fit exactly, sum |w| no larger, outputs independent."""
    found = comparison.examination
    m, left = found.network.m, len(found.pruned.neurons)
    if not prunable(found):
        return undecided("the pruned network has numbers of more digits than are checked.")
    at = _value(found.pruned_P)
    if left == m:
        return proved("exact rank", f"as many as before: {_neurons(m)}, {at}.")
    less = "lower" if found.pruned_P.upper < found.P.lower else "no higher"
    same = "does" if left == 1 else "do"
    return proved("exact rank", f"{left or 'none'} of {_neurons(m)} {same} the same on the data, {at}, {less}.")


@_claim("network-directions", "All its neurons have directions that optimal networks can have.")
def directions(comparison: Comparison, _: Fraction) -> Answer:
    """Distance 0 for all proves it, a positive distance of one refutes it."""
    if comparison.facts.problem.free or comparison.examination.logistic:
        return undecided(f"{comparison.facts.unsettled or FREE_TERMS}.")
    found = comparison.directions
    m = len(found)
    right, off = sum(not one.upper for one in found), [one for one in found if one.lower > 0]
    wrong = len(off)
    if right == m:
        same = f"{_some_of(m, m)} {_have(m)} the direction of an optimal one, exactly."
        return proved("equality", same if m else "the network is zero.")
    far = max(one.upper for one in found)
    if not wrong:
        known = f"all are within {at_most(far)} of optimal ones" if far < 2 else "the optimal ones are not known"
        return undecided(f"none of the {m} directions is excluded; {known}, equality is not settled.")
    also = f", {right} {_have(right)} one exactly" if right else ""
    low, high = min(one.lower for one in off), max(one.upper for one in off)
    spread = f"{_between(low, high, ('from', 'to'))} off"
    if not comparison.facts.known:
        spread = f"at least {at_least(low)} off"
    they = "it is" if wrong == 1 else "they are"
    who = f"{_some_of(wrong, m)} {_have(wrong)}"
    return refuted("ball", f"{who} a direction that no optimal network has{also}; {they} {spread}.")


@_claim("network-nearest", "The distance from the nearest optimal network, both with merged neurons, is enclosed.")
def nearest(comparison: Comparison, _: Fraction) -> Answer:
    """The least distance over all matchings of neurons and all optimal networks with merged neurons, from both sides.

    One in which a neuron is split into several of its direction can be nearer.
    """
    found = comparison.closest
    if found is None:
        free = FREE_TERMS if comparison.facts.problem.free else ""
        why = comparison.facts.unsettled or free or comparison.facts.unlisted or "the optimal set is not known"
        return undecided(f"{why}.")
    if found.distance.upper == 0:
        return proved("equality", "merged, the network is an optimal one, exactly.")
    far = f"{_between(found.distance.lower, found.distance.upper)} away"
    left, paired = len(comparison.examination.cells.neurons), len(found.pairs)
    pairs = f"; {paired} of its {_neurons(left)}, merged, {_have(paired)} a partner" if left else ""
    return proved("assignment", f"the nearest optimal network with merged neurons is {far}{pairs}.")


def _value(found: Interval) -> str:
    """P = 1.5, or P from 1.4 to 1.6"""
    shown = one_number(found.lower, found.upper, 12)
    return f"P {shown}" if shown.startswith("from") else f"P = {shown}"


def _between(low: Fraction, high: Fraction, words: tuple[str, str] = ("between", "and")) -> str:
    """A number, or its two bounds where the enclosure shows."""
    about = scientific(high)
    return about if scientific(low) == about else f"{words[0]} {at_least(low)} {words[1]} {at_most(high)}"


def _neurons(number: int) -> str:
    """1 neuron, 2 neurons"""
    return "1 neuron" if number == 1 else f"{number} neurons"


def _some_of(number: int, m: int) -> str:
    """2 of 5 neurons, all 5 neurons, the only neuron"""
    if number == m:
        return "the only neuron" if m == 1 else f"all {m} neurons"
    return f"{number} of {m} neurons"


def _have(number: int) -> str:
    """The verb."""
    return "has" if number == 1 else "have"


STATEMENTS: dict[str, str] = {one.name: one.statement for one in CLAIMS}
