"""Whether the optimal network is unique, up to permutation and splitting; whether the convex program's solution is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import ge

from verify.claims import PROVED, REFUTED, Row, Says
from verify.facts import LAMBDA_MAX, PAIR, SET, TURNED, Facts
from verify.problem.problem import Problem
from verify.text import Node, show

WHAT = {"relu": "network", "gated": "gated network", "cgl": "solution"}
ALSO = ", and the solution of the convex program is unique"


def only(problem: Problem) -> str:
    """That there is one: neurons of a network may be permuted, and split into parts of one direction."""
    same = "" if problem.model == "cgl" else " up to permutation and splitting"
    return f"the optimal {WHAT[problem.model]} is unique{same}"


def beyond(sentence: str, compare: Callable[[Fraction, Fraction], bool] = ge) -> Says:
    """lambda >= lambda_max, or > or =: then the fit is 0 and so is every solution."""

    def says(problem: Problem, facts: Facts, node: Node) -> str:
        lam, largest = problem.lam**2, facts[LAMBDA_MAX]
        node.require(compare(lam, largest), f"lambda beyond lambda_max, its square {show(largest)}", show(lam))
        return sentence.format(WHAT[problem.model])

    return says


def two(problem: Problem, facts: Facts, node: Node) -> str:
    """Two networks with the objective p*, whose directions or weights are others."""
    first, second = facts[PAIR]
    return f"two optimal networks, exactly, with {first} and {second} neurons, that differ by more than splitting"


def row(problem: Problem) -> str:
    """What a row of Z is."""
    return "row" if problem.bags else "data point"


def unique(problem: Problem, facts: Facts, node: Node) -> str:
    """The optimal set is a point."""
    found = facts[SET]
    node.require(not found.dimension, "an optimal set of dimension 0", f"dimension {found.dimension}")
    node.require(not found.level, f"neurons that are zero on a {row(problem)}", f"{found.level} that are not")
    return f"{only(problem)} (active neurons: at most {found.classes})"


def several(problem: Problem, facts: Facts, node: Node) -> str:
    """The optimal set is a polytope of positive dimension."""
    found, what = facts[SET], WHAT[problem.model]
    if found.level:
        return f"active neurons that are zero on no {row(problem)}: {found.level}; each can be two of other free biases"
    node.require(found.dimension > 0, "an optimal set of positive dimension", "dimension 0")
    size = "at least 1" if found.exact else str(found.dimension)
    return f"the {what}s that are optimal form a polytope of dimension {size} in the weights of {found.classes} neurons"


def elastic(problem: Problem, facts: Facts, node: Node) -> str:
    """The program is strongly convex."""
    node.require(problem.delta > 0, "delta > 0, or the fact lambda_max, optimal_set or exact_set", "none")
    return "delta > 0: the convex program is strongly convex, and its solution is unique"


def convex_unique(problem: Problem, facts: Facts, node: Node) -> str:
    """A point, and for ReLU no neuron that can be active is zero on a row (it would lie in two blocks)."""
    said, kinked = unique(problem, facts, node), facts[SET].kinked
    node.require(not problem.biases, "penalised biases")
    node.require(problem.model != "relu" or not kinked, "classes without kinks", f"{kinked} with kinks")
    return f"{said}{ALSO}"


def bent(problem: Problem, facts: Facts, node: Node) -> str:
    """An active ReLU neuron v is zero on a row z_k: the patterns of v and v - eps z_k differ, and v lies in the cones
    of both. A free bias below zero, without weights, is in the block of no row: it costs nothing and has no output."""
    if problem.biases:
        return "biases are free: that of a block without weights costs nothing"
    bends = facts[SET].bends if problem.model == "relu" else 0
    node.require(bends > 0, f"an active neuron that is zero on a {row(problem)}", "none")
    return f"active neurons that are zero on a {row(problem)}: {bends}; each lies in two blocks of the program"


def convex_several(problem: Problem, facts: Facts, node: Node) -> str:
    """The same for the convex program."""
    return f"{several(problem, facts, node)}, and so do the solutions of the convex program"


ZERO = "lambda >= lambda_max: zero is the only {} that is optimal"
TURN = "{} neurons of an optimal network, strictly within one pattern, may be turned into each other: a continuum"
TABLE = (
    Row("p-unique", PROVED, (LAMBDA_MAX,), beyond(ZERO)),
    Row("p-unique", PROVED, (SET,), unique),
    Row("p-unique", REFUTED, (SET,), several),
    Row("p-unique", REFUTED, (PAIR,), two),
    Row("p-unique", REFUTED, (TURNED,), lambda problem, facts, node: TURN.format(facts[TURNED])),
    Row("convex-unique", PROVED, (), elastic),
    Row("convex-unique", PROVED, (LAMBDA_MAX,), beyond(ZERO + ALSO)),
    Row("convex-unique", PROVED, (SET,), convex_unique),
    Row("convex-unique", REFUTED, (SET,), bent),
    Row("convex-unique", REFUTED, (SET,), convex_several),
)
