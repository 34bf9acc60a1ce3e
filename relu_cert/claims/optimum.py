"""Claims about the optimum: the patterns that were looked at, the value, and the fit.

What is said of all optimal networks with several outputs: where they are one, the set is a point.
"""

from __future__ import annotations

from relu_cert.claims.claim import VARIANTS, Answer, claim, proved, refuted, undecided
from relu_cert.evidence import Pair, Turned
from relu_cert.exact import sqrt_upper
from relu_cert.figures import about, at_most, count, percent_at_most
from relu_cert.problem.loss import LOGISTIC, SOFTMAX
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts

EVERYWHERE = (*VARIANTS, "outputs")


def _not_all_patterns(problem: Problem) -> str:
    return "" if problem.listed is not None or problem.unlisted else "it is about networks over all patterns"


@claim(
    "patterns-complete",
    "The listed activation patterns are exactly D_Z.",
    applies=lambda facts: facts.problem.listed is not None,
    refused=_not_all_patterns,
    variants=VARIANTS,
)
def patterns_complete(facts: Facts) -> Answer:
    """Every pattern has a witness, and the listed circuits leave room for no other (Whitney's bound is attained)."""
    patterns = facts.problem.listed
    if patterns is None:
        raise ValueError("a direct problem has no patterns")
    circuits = sum(len(g.circuits) for g in patterns.groups)
    lower = len(patterns) - patterns.open_cells
    faces = f" and {lower} of lower faces" if lower else ""
    by = count(circuits, "circuit") if circuits else "Cover's bound"
    found = f"{count(len(patterns), 'pattern')}: {count(patterns.open_cells, 'open cell')}{faces}"
    return proved("witnesses and count", f"{found}, each with a witness; none is missing by {by}.")


@claim("optimal", "The network found is globally optimal up to the relative gap.", variants=EVERYWHERE)
def optimal(facts: Facts) -> Answer:
    """lower <= p* <= upper with upper - lower <= gap * upper (weak duality, eq:dual-program with rho >= 0)."""
    value = facts.value
    if not value.reached:
        return undecided(f"{_above(facts)}; --gap asks for {about(value.gap)}.")
    if facts.zero:
        detail = "lambda >= lambda_max: the zero network is the only solution."
    elif value.upper == value.lower:
        detail = "primal and dual value are equal."
    else:
        detail = f"relative gap at most {at_most(value.relative_gap)}, over {_patterns(facts)}."
    candidate = " Optimal for these patterns only: a candidate for a stationary point." * bool(facts.problem.some)
    return proved("duality", detail + candidate)


def _above(facts: Facts) -> str:
    """What is proved where it is not enough."""
    value = facts.value
    if facts.problem.unlisted and value.lower > 0:
        return f"the network found is at most {percent_at_most(value.above)} above the best of any width"
    return f"the proved relative gap is at most {at_most(value.relative_gap)}"


def _patterns(facts: Facts) -> str:
    if facts.problem.unlisted:
        return "all networks of any width"
    some = facts.problem.some
    return f"these {len(some)} patterns" if some else "all patterns"


@claim("fit", "The fit of all optimal networks is one and the same, and lies in the ball.", variants=EVERYWHERE)
def fit(facts: Facts) -> Answer:
    """|yhat - Xw| <= sqrt(2 (upper - lower)) for the fit yhat of every solution (lemma:unique-fit-cgl, with a radius).

    Logistic: |p(yhat) - p(Xw)| <= sqrt((upper - lower) / 2) for the probabilities (Pinsker).
    """
    radius = sqrt_upper(facts.fit.radius_squared)
    if facts.problem.loss is SOFTMAX:
        if facts.problem.free and not all(y > t for y, t in zip(facts.problem.y, facts.dual.theta, strict=True)):
            return undecided("a class may have no chance beside the free terms; the infimum may not be attained.")
        but = " but for numbers that all outputs have in common" if facts.problem.free else ""
        detail = (
            f"one fit for all optimal networks{but}; its probabilities are within {at_most(radius)} of those found."
        )
        return proved("strict convexity", detail)
    if facts.problem.loss is LOGISTIC:
        if facts.problem.free and not facts.problem.roots and not all(facts.dual.theta):
            return undecided(
                "the free terms alone may come as near to the infimum as one likes; it may not be attained."
            )
        detail = f"one fit for all optimal networks; its probabilities are within {at_most(radius)} of those found."
        return proved("strict convexity", detail)
    detail = "known exactly." if radius == 0 else f"within {at_most(radius)} of the fit of the network found."
    return proved("strong convexity", f"one fit for all optimal networks, {detail}")


OF_THE_SET = ("p-unique", "e-equals-a", "optimal-set", "minimal", "connected", "min-norm")
OF_THE_POLYTOPE = OF_THE_SET[2:]


def of_the_set(facts: Facts, claim: str) -> Answer:
    """The answer to a claim about all optimal networks."""
    found = facts.alone
    if found is None:
        return undecided(f"{facts.unsettled}.")
    if isinstance(found, Pair):
        if claim != "p-unique":
            return undecided("there are two optimal networks, and mixtures of them; the set is not described.")
        widths = f"of widths {len(found.first)} and {len(found.second)}"
        return refuted(
            "exact optimum", f"two different optimal networks, exactly, {widths}; mixtures of them are, too."
        )
    if isinstance(found, Turned):
        if claim != "p-unique":
            return undecided("optimal networks are a continuum, that of all ways to share one sum of w w'.")
        many = count(len(found.neurons), "neuron")
        return refuted(
            "multiple singular value",
            f"a continuum: an optimal network has {many} strictly within one pattern (the same rows are on), where "
            "lambda is a singular value as many times; only the sum of w w' over them is fixed, and all that have this "
            "sum there are optimal. They agree on the data, and differ elsewhere.",
        )
    K = len(found.classes)
    if claim == "p-unique":
        outputs = "its output is not zero" if K == 1 else "their outputs are independent"
        each = f"{count(K, 'neuron')} can be active, {'each ' * (K > 1)}with one direction; {outputs}."
        return proved("independence", each if K else "no neuron can be active.")
    if not found.active:
        return undecided("a neuron may have weight zero.")
    joined = f"{K}! isolated networks of width {K}; connected for every width from {K + 1} on."
    said = {
        "e-equals-a": f"{count(K, 'neuron')} tied at lambda, all of them active.",
        "optimal-set": f"one point: the weights of {count(K, 'neuron')}.",
        "minimal": f"m* = M* = {K}: no optimal network is narrower.",
        "connected": joined if K else "connected for every width.",
        "min-norm": f"the weights are known within {at_most(found.error)}.",
    }
    return proved("polytope" if claim in OF_THE_POLYTOPE else "independence", said[claim])
