"""The claims, in the order in which they are told: each is one function, declared in a module of this package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules

from relu_cert.claims.claim import CLAIMS, Claim, Result, Verdict, proved
from relu_cert.claims.optimum import OF_THE_SET, of_the_set
from relu_cert.clock import INTERRUPTED
from relu_cert.cover.limits import ENOUGH, MANY_FEATURES, MOST_DIRECTIONS
from relu_cert.errors import UsageError
from relu_cert.free import DEPENDENT
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from relu_cert.words import NAMES, of_groups

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
CLAIMS.sort(key=lambda claim: NAMES.index(claim.name))
STATEMENTS: dict[str, str] = {claim.name: claim.statement for claim in CLAIMS}
PATH_CLAIMS: tuple[str, ...] = ("continuous", "set-continuous", "min-norm-continuous")
POSITION: tuple[str, ...] = ("ggp", "general-position")
SENSITIVITY: tuple[str, ...] = ("e-equals-a", "licq", "strict-complementarity", "sensitivity")


def decide(facts: Facts, names: Sequence[str] = NAMES) -> tuple[Result, ...]:
    """The verdicts of the named claims, in the order of the list."""
    wanted = [claim for claim in CLAIMS if claim.name in names and _fits(claim, facts.problem)]
    several = facts.problem.targets > 1
    return tuple(_decided(claim, facts) for claim in wanted if several or claim.applies(facts))


def _decided(claim: Claim, facts: Facts) -> Result:
    if facts.problem.targets > 1 and claim.name in OF_THE_SET:
        return Result(claim.name, *of_the_set(facts, claim.name))
    answer = proved("zero", claim.zero) if claim.zero and facts.zero else claim.answer(facts)
    if answer is None:
        raise ValueError(f"{claim.name} has an answer for all facts that it applies to")
    return _qualified(facts, Result(claim.name, *answer))


def asked_for(names: str | Sequence[str]) -> tuple[str, ...]:
    """The claims of a list, or of a text with commas; UsageError if there is no such claim."""
    asked = tuple(filter(None, map(str.strip, names.split(",")))) if isinstance(names, str) else tuple(names)
    for name in asked:
        if name not in NAMES:
            raise UsageError(f"there is no claim {name!r}; there are {', '.join(NAMES)}.")
    return asked


def require_applicable(names: Sequence[str], problem: Problem) -> None:
    """UsageError if one of the claims that were asked for by name says nothing about such a problem."""
    for claim in CLAIMS:
        if claim.name not in names:
            continue
        plain = "" if _fits(claim, problem) else "it is for least squares without an l2 penalty"
        if plain and problem.targets > 1:
            others = [one.name for one in CLAIMS if _fits(one, problem)]
            told = f"{', '.join(others[:-1])} and {others[-1]}"
            plain = f"for networks with several outputs the claims are {told}"
        if reason := plain or ("" if problem.targets > 1 else claim.refused(problem)):
            raise UsageError(f"the claim {claim.name} does not apply here: {reason}.")


def _fits(claim: Claim, problem: Problem) -> bool:
    """Whether it is about such a variant of the problem. With delta > 0, for example, a split neuron has another value,
    so that the network has no uniqueness up to splitting."""
    if problem.targets > 1:
        return "outputs" in claim.variants or claim.name in OF_THE_SET
    variant = "free" if problem.free else "elastic" if problem.delta else "logistic"
    return problem.plain or variant in claim.variants


def _qualified(facts: Facts, result: Result) -> Result:
    """Where only some patterns are looked at, every line says so; a group lasso has groups, not neurons."""
    if facts.problem.kind == "cgl":
        return replace(result, detail=of_groups(result.detail))
    if facts.covered and result.verdict is Verdict.UNDECIDED:
        return replace(result, detail=f"{result.detail} {advice(facts, result.claim)}".rstrip())
    if not facts.problem.some or "these patterns only" in result.detail:
        return result
    return replace(result, detail=f"{result.detail.removesuffix('.')}; for these patterns only.")


def advice(facts: Facts, claim: str) -> str:
    """What would settle a claim that is undecided where nothing rests on a list; empty where nothing is known to."""
    network = facts.problem.network
    if network is None or (facts.problem.loss is LOGISTIC and claim != "optimal"):
        return ""
    less = ", a wider --gap" if claim == "optimal" else ""
    if facts.unsettled == INTERRUPTED:
        return "It would go on if it were not interrupted."
    if facts.unsettled == ENOUGH:
        return "What would settle it: a smaller --gap."
    if facts.unsettled == MANY_FEATURES:
        return f"What would settle it: at most {MOST_DIRECTIONS} features{less}, or a larger lambda."
    if facts.unsettled == DEPENDENT:
        return "What would settle it: fewer free terms."
    if facts.known:
        return ""
    if not facts.value.reached:
        return f"What would settle it: more time (--seconds), fewer features{less}, or a larger lambda."
    return "What may settle it: another lambda."


__all__ = [
    "CLAIMS",
    "NAMES",
    "PATH_CLAIMS",
    "POSITION",
    "SENSITIVITY",
    "STATEMENTS",
    "Result",
    "Verdict",
    "asked_for",
    "decide",
    "require_applicable",
]
