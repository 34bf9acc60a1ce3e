"""What is known of planted variants (delta, some patterns, the logistic loss), and whether an answer contradicts it."""

from __future__ import annotations

from fractions import Fraction

from properties.exact import enclose
from properties.exact.linalg import norm2, sub
from properties.exact.problem import dual_vectors
from properties.soundness.case import Answer, Case, DirectCase, NetworkCase
from properties.soundness.held import wrong
from properties.strategies.variants import Gates, PlantedElastic, PlantedLogistic


def case_of(planted: PlantedElastic | PlantedLogistic) -> Case:
    """The question whose answer is planted."""
    p = planted.problem
    delta = planted.delta if isinstance(planted, PlantedElastic) else Fraction(0)
    logistic = isinstance(planted, PlantedLogistic)
    if planted.gates is None:
        return DirectCase(p, delta, logistic)
    gates: Gates = planted.gates
    return NetworkCase(gates.model, gates.Z, p.y, p.lam, gates.chosen, delta, logistic)


def elastic_contradiction(answer: Answer, planted: PlantedElastic) -> str:
    """Where an answer about an elastic problem is wrong; "" if nowhere. Its solution is always unique."""
    facts, value = answer.facts, planted.value
    largest = max(norm2(v) for v in dual_vectors(planted.problem, planted.problem.y))
    if facts.lambda_max.squared != largest:
        return f"lambda_max^2 is {largest}, not {facts.lambda_max.squared}"
    if not facts.value.lower <= value <= facts.value.upper:
        return f"p* = {value} is not in [{float(facts.value.lower)}, {float(facts.value.upper)}]"
    if norm2(sub(facts.fit.center, sub(planted.problem.y, planted.r))) > facts.fit.radius_squared:
        return "the fit is not in its ball"
    if answer.said.get("convex-unique") == "REFUTED":
        return "convex-unique is REFUTED, but the objective is strongly convex"
    return ""


def known_of_logistic(planted: PlantedLogistic) -> dict[str, bool]:
    """The claims about a logistic problem that are true, and those that are not."""
    return {"p-unique": planted.unique, "convex-unique": planted.convex_unique}


def logistic_contradiction(answer: Answer, planted: PlantedLogistic) -> str:
    """Where an answer about a logistic problem is wrong; "" if nowhere."""
    facts = answer.facts
    half = tuple(y / 2 for y in planted.problem.y)
    largest = max(norm2(v) for v in dual_vectors(planted.problem, half))
    if facts.lambda_max.squared != largest:
        return f"lambda_max^2 is {largest}, not {facts.lambda_max.squared}"
    low, high = enclose.total(map(enclose.entropy, planted.a))
    if facts.value.lower > high or facts.value.upper < low:
        return f"p* = {float(low)} is not in [{float(facts.value.lower)}, {float(facts.value.upper)}]"
    if _distance(answer, planted) > facts.fit.radius_squared:
        return "the probabilities are not in their ball"
    return wrong(answer.said, known_of_logistic(planted))


def _distance(answer: Answer, planted: PlantedLogistic) -> Fraction:
    """A lower bound on the squared distance of the probabilities at the fit found from the true ones."""
    parts = []
    for fit, p in zip(answer.facts.fit.center, planted.probabilities, strict=True):
        low, high = enclose.sigmoid(fit)
        parts.append(enclose.square((low - p, high - p)))
    return enclose.total(parts)[0]
