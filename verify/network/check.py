"""The fact `network`: every part that is there is checked, whether or not a claim needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from verify.facts import DUAL, LAMBDA_MAX, NEURONS, PATTERNS, POLYTOPE, VALUE, Facts
from verify.network.directions import Directions, check_directions
from verify.network.nearest import Nearest, check_nearest
from verify.network.optimum import find_optimum
from verify.network.outputs import Pruned, check_pruned, rank
from verify.network.own import Own, check_own
from verify.network.stationary import Stationary, check_stationary
from verify.network.weights import Weights, free_constant, mergeable, merged, read_weights
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.rules.value import equal, read_gap
from verify.text import Fields, Node, show

REQUIRED = ("file", "penalty", "W1", "w2", "b2", "gap", "objective")
OPTIONAL = ("stationary", "own", "pruned", "directions", "nearest")
OPTIONAL_WITH_FREE_TERMS = ("stationary", "pruned")  # the others rest on a program without free terms
OPTIONAL_LOGISTIC = ("pruned",)  # gradients are no rationals
OPTIONAL_WITH_OUTPUTS = ("stationary",)  # the others are about neurons with one output
OPTIONAL_WITH_BAGS = ("stationary", "pruned", "directions", "nearest")  # its own patterns are a program of rows


@dataclass(frozen=True)
class Network:
    """What is proved about the given network; None for a part that the certificate does not have.

    `sha256`: of its file, empty for none. `rank`: of the outputs. `pair`: two neurons that can be merged on the data.
    """

    sha256: str
    weights: Weights
    gap: Fraction
    rank: int
    pair: tuple[int, int] | None
    stationary: Stationary | None
    own: Own | None
    pruned: Pruned | None
    directions: Directions | None
    nearest: Nearest | None


def check_network(problem: Problem, facts: Facts, node: Node) -> Network:
    """Reject unless everything that is said of the network holds."""
    fields = node.record(*required(problem, node), optional=parts_of(problem))
    file = fields["file"].record("sha256", "origin")
    digest, origin = file["sha256"].text(), file["origin"].text()
    if re.fullmatch(r"([0-9a-f]{64})?", digest) is None:
        raise file["sha256"].reject("64 lower-case hexadecimal digits, or nothing for a network without a file")
    if re.fullmatch(r"([a-z]{1,16} [0-9a-f]{64})?", origin) is None:
        raise file["origin"].reject("a format and 64 lower-case hexadecimal digits, or nothing")
    check_penalty(problem, fields["penalty"])
    weights = read_weights(problem, fields)
    gap = read_gap(fields["gap"])
    more = "" if free_constant(problem) else " + lambda |b2|"
    if problem.logistic:
        fields["objective"].require((J := fields["objective"].number()) >= weights.objective, "an upper bound of J")
        weights = replace(weights, objective=J, slack=J - weights.below)
    else:
        equal(fields["objective"], f"J = 1/2|f - y|^2 + lambda/2 (|W1|^2 + |w2|^2){more}", weights.objective)
    stationary = None
    if "stationary" in fields:
        stationary = check_stationary(problem, facts.get(PATTERNS), weights, fields["stationary"])
    own = check_own(problem, weights, fields["own"]) if "own" in fields else None
    pruned = check_pruned(problem, weights, fields["pruned"]) if "pruned" in fields else None
    beside = compared(problem, facts, weights, fields)
    parts = (rank(problem, weights.neurons), mergeable(weights), stationary, own, pruned, *beside)
    return Network(digest, weights, gap, *parts)


def required(problem: Problem, node: Node) -> tuple[str, ...]:
    """The keys that must be there."""
    skip = ("skip",) if "skip" in problem.free else ()
    if problem.targets == 1:
        return (*REQUIRED, *skip)
    node.require(not skip, "no skip connection beside several outputs")
    return tuple("W2" if name == "w2" else name for name in REQUIRED)


def parts_of(problem: Problem) -> tuple[str, ...]:
    """The parts that there may be."""
    if problem.targets > 1:
        return () if problem.logistic else OPTIONAL_WITH_OUTPUTS
    if problem.logistic:
        return OPTIONAL_LOGISTIC
    return OPTIONAL_WITH_FREE_TERMS if problem.free else OPTIONAL_WITH_BAGS if problem.bags else OPTIONAL


def compared(
    problem: Problem, facts: Facts, weights: Weights, fields: Fields
) -> tuple[Directions | None, Nearest | None]:
    """The parts that set the network beside the optimal ones."""
    directions = nearest = None
    dual, value, largest = facts.get(DUAL), facts.get(VALUE), facts.get(LAMBDA_MAX)
    zero = largest is not None and problem.lam**2 >= largest
    for name in ("directions", "nearest"):
        if name not in fields:
            continue
        if dual is None or value is None:
            raise fields[name].reject("the facts dual and value, which this rests on", "none")
        ball = Ball(problem, dual.theta, 2 * (value.upper - value.lower))
        optimum = find_optimum(ball, zero, facts.get(NEURONS), facts.get(POLYTOPE))
        if name == "directions":
            directions = check_directions(ball, optimum, weights, fields[name])
        elif optimum is None:
            raise fields[name].reject("the facts optimal_set or exact_set and polytope, which this rests on", "none")
        else:
            nearest = check_nearest(problem, optimum, merged(problem, weights), fields[name])
    return directions, nearest


def check_penalty(problem: Problem, node: Node) -> None:
    """Reject unless lambda is what the convention's number means on n data points in batches of B."""
    fields = node.record("convention", "value", "batch")
    n, C, several = problem.points, problem.targets, problem.targets > 1
    scnn = () if problem.logistic or several else ("scnn",)
    convention = fields["convention"].text("paper", "sklearn", *scnn, "pytorch", "pytorch-sum")
    batch = n if fields["batch"].value is None else fields["batch"].index(n + 1)
    if batch == 0 or n % batch or (batch != n and convention != "sklearn"):
        raise fields["batch"].reject("null, or for sklearn a batch size that divides the number of points")
    summed = Fraction(1) if problem.logistic else Fraction(1, 2)
    mean = Fraction(n) if problem.logistic else Fraction(n * C, 2)
    factor = {"paper": Fraction(1), "scnn": Fraction(n), "sklearn": Fraction(n, batch), "pytorch": mean}
    expected = problem.lam / factor.get(convention, summed)
    if (value := fields["value"].number()) != expected:
        raise fields["value"].reject(f"{show(expected)}, so that lambda is {show(problem.lam)}", show(value))
