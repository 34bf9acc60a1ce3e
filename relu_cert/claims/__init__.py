"""One module per claim. Each has NAME, STATEMENT, `applies` and `decide`, which turns facts into a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from relu_cert.claims import (
    breakpoints,
    connected,
    continuous,
    convex_unique,
    curve,
    e_equals_a,
    fit,
    general_position,
    ggp,
    licq,
    min_norm,
    min_norm_continuous,
    minimal,
    one_neuron,
    optimal,
    optimal_set,
    p_unique,
    patterns_complete,
    sensitivity,
    set_continuous,
    strict_complementarity,
)
from relu_cert.claims.model import Result, Verdict
from relu_cert.cover.model import MANY_FEATURES, MOST_DIRECTIONS
from relu_cert.errors import UsageError
from relu_cert.interrupt import INTERRUPTED
from relu_cert.problem.model import Problem
from relu_cert.prove.facts import Facts
from relu_cert.words import of_groups

CLAIMS: tuple[ModuleType, ...] = (
    patterns_complete,
    optimal,
    fit,
    p_unique,
    convex_unique,
    optimal_set,
    minimal,
    connected,
    min_norm,
    ggp,
    general_position,
    continuous,
    set_continuous,
    min_norm_continuous,
    breakpoints,
    curve,
    one_neuron,
    e_equals_a,
    licq,
    strict_complementarity,
    sensitivity,
)
NAMES: tuple[str, ...] = tuple(claim.NAME for claim in CLAIMS)
SENSITIVITY: tuple[str, ...] = tuple(c.NAME for c in (e_equals_a, licq, strict_complementarity, sensitivity))


def decide(facts: Facts, names: Sequence[str] = NAMES) -> tuple[Result, ...]:
    """The verdicts of the named claims, in the order of the list."""
    return tuple(
        _qualified(facts, claim.decide(facts))
        for claim in CLAIMS
        if claim.NAME in names and (facts.problem.plain or claim in _variant(facts.problem)) and claim.applies(facts)
    )


def require_applicable(names: Sequence[str], problem: Problem) -> None:
    """UsageError if one of the claims that were asked for by name says nothing about such a problem."""
    for claim in CLAIMS:
        if claim.NAME in names and (reason := _inapplicable(claim, problem)):
            raise UsageError(f"the claim {claim.NAME} does not apply here: {reason}.")


def _inapplicable(claim: ModuleType, problem: Problem) -> str:
    """Why `check` cannot decide the claim for the problem, whatever its solution is; empty if it can."""
    if claim in (breakpoints, curve):
        return "it is about a path; ask for it with `path`"
    if claim is one_neuron:
        return "it is about networks of one neuron; ask for it with `path --one-neuron`"
    if not problem.plain and claim not in _variant(problem):
        return "it is for least squares without an l2 penalty"
    if claim in (ggp, general_position) and problem.kind == "relu":
        return "it is about gated networks and group lassos; for ReLU networks ask for p-unique"
    if claim is connected and problem.model != "relu":
        return "it is about ReLU networks over all patterns"
    everything = problem.network is not None or (problem.sampled is not None and problem.sampled.all is not None)
    return "it is about networks over all patterns" if claim is patterns_complete and not everything else ""


def _qualified(facts: Facts, result: Result) -> Result:
    """Where only some patterns are looked at, every line says so; a group lasso has groups, not neurons."""
    if facts.problem.kind == "cgl":
        return replace(result, detail=of_groups(result.detail))
    if facts.problem.unlisted and result.verdict is Verdict.UNDECIDED:
        return replace(result, detail=f"{result.detail} {advice(facts, result.claim)}".rstrip())
    sampled = facts.problem.sampled
    if sampled is None or sampled.all is not None or "these patterns only" in result.detail:
        return result
    return replace(result, detail=f"{result.detail.removesuffix('.')}; for these patterns only.")


def advice(facts: Facts, claim: str) -> str:
    """What would settle a claim that is undecided where patterns are not listed; empty where nothing is known to."""
    network = facts.problem.network
    variant = facts.problem.loss == "logistic" or bool(facts.problem.free)
    if network is None or (variant and claim != optimal.NAME):
        return ""
    less = ", a wider --gap" if claim == optimal.NAME else ""
    if facts.unsettled == INTERRUPTED:
        return "It would go on if it were not interrupted."
    if facts.unsettled == MANY_FEATURES:
        return f"What would settle it: at most {MOST_DIRECTIONS} features{less}, or a larger lambda."
    if facts.optimal_set is None and not facts.value.reached:
        return f"What would settle it: more time (--seconds), fewer features{less}, or a larger lambda."
    return "What may settle it: another lambda." if facts.optimal_set is None else ""


def _variant(problem: Problem) -> tuple[ModuleType, ...]:
    """The claims about the elastic variant, the logistic loss and free terms. With delta > 0 a split neuron has another
    value."""
    common = (patterns_complete, optimal, fit, convex_unique)
    if problem.free:
        return (*common, p_unique, optimal_set, minimal)
    return common if problem.delta else (*common, p_unique)


__all__ = ["CLAIMS", "NAMES", "SENSITIVITY", "Result", "Verdict", "decide", "require_applicable"]
