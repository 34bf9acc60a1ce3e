"""The tied neurons: whether all are active, how they sit on their faces, whether the network can be differentiated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import eq, ge, gt

from verify.claims import PROVED, REFUTED, Row, Says
from verify.claims.unique import WHAT, beyond
from verify.facts import DERIVATIVES, LAMBDA_MAX, NEURONS, Facts
from verify.problem.problem import Problem
from verify.text import Node, show


def plainly(sentence: str, compare: Callable[[Fraction, Fraction], bool]) -> Says:
    """The same as `beyond` for the squared loss without an l2 penalty, which these claims are about."""

    def says(problem: Problem, facts: Facts, node: Node) -> str:
        plain = not (problem.delta or problem.logistic)
        node.require(plain, "a problem with the squared loss and delta = 0", "another")
        return beyond(sentence, compare)(problem, facts, node)

    return says


def all_active(problem: Problem, facts: Facts, node: Node) -> str:
    """One solution, and all neurons that may tie are in it."""
    found = facts[NEURONS]
    proved = sum(neuron.active is True for neuron in found.neurons)
    expected = f"one solution with {len(found.neurons)} positive weights"
    node.require(found.all_active, expected, f"{proved} proved positive")
    return f"all neurons that can tie ({found.classes}) are active"


def some_idle(problem: Problem, facts: Facts, node: Node) -> str:
    """Some optimal network leaves a tied neuron out: a vertex, or the only network.

    For targets y + t q a tied neuron of output q without weight gets weight t for t > 0, but none for t < 0.
    """
    found = facts[NEURONS]
    if found.dimension:
        return "the optimal networks form a polytope, and its vertices leave tied neurons out"
    idle = sum(neuron.active is False for neuron in found.neurons)
    node.require(idle, "a tied neuron that some solution leaves out", "none")
    return f"tied neurons of weight 0: {idle} of {len(found.neurons)}"


def independent(problem: Problem, facts: Facts, node: Node) -> str:
    """The tight constraints are independent at every neuron that may be active."""
    wrong = sum(neuron.active is not False and not neuron.independent for neuron in facts[NEURONS].neurons)
    expected = "independent tight constraints at every neuron that may be active"
    node.require(not wrong, expected, f"{wrong} without")
    return counted("the constraints tight at the active neurons, each hyperplane counted once, are independent", facts)


def counted(said: str, facts: Facts) -> str:
    """The sentence, with the number of neurons that may be active and of those that it says something about; another
    one where there are none of these, which make it true of nothing."""
    used = [neuron for neuron in facts[NEURONS].neurons if neuron.active is not False]
    tight = sum(neuron.tight for neuron in used)
    if not tight:
        return f"no constraint is tight at a neuron that may be active (neurons: {len(used)})"
    return f"{said} (neurons: {len(used)}, with tight constraints: {tight})"


def dependent(problem: Problem, facts: Facts, node: Node) -> str:
    """They are dependent at a neuron that some optimal network uses."""
    wrong = sum(neuron.active is True and not neuron.independent for neuron in facts[NEURONS].neurons)
    node.require(wrong > 0, "an active neuron at which the tight constraints are dependent", "none")
    return f"active neurons at which the tight constraints, each hyperplane counted once, are dependent: {wrong}"


def strict(problem: Problem, facts: Facts, node: Node) -> str:
    """Multipliers strictly inside their bounds at every neuron that may be active: it costs to leave the face."""
    open_ = sum(neuron.active is not False and not neuron.strict for neuron in facts[NEURONS].neurons)
    expected = "strict multipliers at every neuron that may be active (fact faces)"
    node.require(not open_, expected, f"{open_} without")
    return counted("the multipliers of the active neurons can be chosen strictly inside their bounds", facts)


def free(problem: Problem, facts: Facts, node: Node) -> str:
    """An active neuron can leave its face without loss at first order."""
    wrong = sum(neuron.active is True and neuron.strict is False for neuron in facts[NEURONS].neurons)
    node.require(wrong > 0, "an active neuron that can leave its face without loss (fact faces)", "none")
    return f"active neurons that can leave their faces without loss at first order: {wrong}"


def smooth(problem: Problem, facts: Facts, node: Node) -> str:
    """E = A, and every face is stable near r*: so the implicit function theorem applies."""
    said = all_active(problem, facts, node)
    loose = sum(neuron.B is None for neuron in facts[NEURONS].neurons)
    found = f"{loose} faces that are not known to be stable"
    node.require(not loose, "stable faces (fact faces), or optimal_set", found)
    return f"{said} and keep their faces: the {WHAT[problem.model]} is differentiable in lambda and y"


def differentiated(problem: Problem, facts: Facts, node: Node) -> str:
    """The same, and the derivatives are known."""
    found = facts[DERIVATIVES]
    said = f"{smooth(problem, facts, node)}; derivatives within {show(found.radius)} of those listed"
    if found.freedom is None:
        return said
    return f"{said}, degrees of freedom {show(found.freedom[0])} within {show(found.freedom[1])}"


def breaking(problem: Problem, facts: Facts, node: Node) -> str:
    """E = A, and a neuron leaves its face along residuals on which all stay tied."""
    all_active(problem, facts, node)
    breaks = any(neuron.breaks for neuron in facts[NEURONS].neurons)
    node.require(breaks, "a neuron that leaves its face (fact faces)", "none")
    what = WHAT[problem.model]
    return f"an active neuron has no derivative: it leaves its face to one side only, and so the {what}"


NO_TIE = plainly("lambda > lambda_max: no neuron ties, and none is active", gt)
ONLY_ZERO = plainly("lambda = lambda_max: a neuron ties, and the only optimal network is zero", eq)
NO_NEURON = plainly("lambda >= lambda_max: no neuron is active", ge)
TABLE = (
    Row("e-equals-a", PROVED, (LAMBDA_MAX,), NO_TIE),
    Row("e-equals-a", PROVED, (NEURONS,), all_active),
    Row("e-equals-a", REFUTED, (LAMBDA_MAX,), ONLY_ZERO),
    Row("e-equals-a", REFUTED, (NEURONS,), some_idle),
    Row("licq", PROVED, (LAMBDA_MAX,), NO_NEURON),
    Row("licq", PROVED, (NEURONS,), independent),
    Row("licq", REFUTED, (NEURONS,), dependent),
    Row("strict-complementarity", PROVED, (LAMBDA_MAX,), NO_NEURON),
    Row("strict-complementarity", PROVED, (NEURONS,), strict),
    Row("strict-complementarity", REFUTED, (NEURONS,), free),
    Row("sensitivity", PROVED, (LAMBDA_MAX,), plainly("lambda > lambda_max: the {} is zero nearby", gt)),
    Row("sensitivity", PROVED, (NEURONS, DERIVATIVES), differentiated),
    Row("sensitivity", PROVED, (NEURONS,), smooth),
    Row("sensitivity", REFUTED, (LAMBDA_MAX,), ONLY_ZERO),
    Row("sensitivity", REFUTED, (NEURONS,), some_idle),
    Row("sensitivity", REFUTED, (NEURONS,), breaking),
)
