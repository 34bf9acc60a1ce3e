"""What is proved of a network with several outputs, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relu_cert.certificate import FORMAT, VERSION
from relu_cert.claims.claim import Result, Verdict
from relu_cert.cover.limits import MOST_DIRECTIONS, Limits, Moment, Tell
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, sqrt_upper
from relu_cert.interrupt import interrupted
from relu_cert.outputs.build import Unproved
from relu_cert.outputs.dataset import OutputsData
from relu_cert.outputs.evidence import Outputs, Residual
from relu_cert.outputs.optimum import (
    Neuron,
    Primal,
    Prover,
    Setting,
    best_coefficients,
    left_by,
    norm,
    problem_of,
    setting,
    spread,
    top_direction,
)
from relu_cert.outputs.unique import Alone
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Attained, LambdaMax, Value
from relu_cert.report.text import about, at_most, count, percent_at_most
from relu_cert.solve.threads import one_thread
from relu_cert.written import matrix, number, vector, written

OBJECTIVE = "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|"
CLAIMS = ("optimal", "fit", "p-unique", "e-equals-a", "optimal-set", "minimal", "connected", "min-norm")
DEFAULT_SECONDS = 120.0
POINT_BITS = 128
ONLY = f"for networks with several outputs the claims are {', '.join(CLAIMS[:-1])} and {CLAIMS[-1]}"
Choice = Callable[[LambdaMax], Fraction]


@dataclass(frozen=True)
class OutputsFacts:
    """A network, a dual point with its evidence, and the bounds that they give; `top` is at most lambda_max^2."""

    lam: Fraction
    top: Fraction
    primal: Primal
    fit: Matrix
    source: Residual
    evidence: Outputs
    value: Value
    alone: Alone | str = ""  # all optimal networks are one; or why that is open

    @property
    def neurons(self) -> tuple[Neuron, ...]:
        """The neurons of the network."""
        return self.primal.neurons

    @property
    def radius_squared(self) -> Fraction:
        """Every optimal network has the same fit, at most the root of this from the one found."""
        return 2 * (self.value.upper - self.value.lower)


def problem_with_outputs(data: OutputsData) -> Problem:
    """The problem of a network with several outputs."""
    return problem_of(data.Z, data.Y, data.bags)


def optimum_with_outputs(problem: Problem, choice: Choice, gap: Fraction, limits: Limits, tell: Tell) -> OutputsFacts:
    """The facts about the optimum of a network with several outputs."""
    given = setting(problem)
    if len(given.basis) > MOST_DIRECTIONS:
        raise UsageError(
            f"networks with several outputs are proved for data of rank at most {MOST_DIRECTIONS}; these have rank "
            f"{len(given.basis)}. Take fewer features, or their principal components."
        )
    with one_thread():
        top = reached(given)
        lam = choice(LambdaMax(top, None, Attained(), least=top))
        until = limits.until if limits.seconds is not None else Limits(DEFAULT_SECONDS).until
        tell(Moment("train"))
        prover = Prover(given, lam, lambda: until.over or interrupted())
        try:
            found = prover.run()
        except Unproved as why:
            raise UsageError(
                f"nothing could be proved: {why}; give more time with --seconds, or a larger lambda."
            ) from None
    fit = found.primal.fit(given)[: problem.points]
    value = Value(found.lower, found.upper, gap)
    return OutputsFacts(lam, top, found.primal, fit, found.source, found.evidence, value, found.alone)


def reached(given: Setting) -> Fraction:
    """|F(u)|^2 / |u|^2 of the zero network at a rational u where it is about the largest: at most lambda_max^2."""
    u = top_direction(given)
    if u is None:
        return Fraction(0)
    row = tuple(Fraction(round(float(x) / float(np.abs(u).max()) * 10**9)) for x in u)
    F = [Fraction(0)] * len(given.Y[0])
    Theta = left_by(given.free, best_coefficients(given.free, given.Y), given.Y)
    for z, y in zip(given.Z, spread(given.bags, Theta), strict=True):
        h = sum((a * b for a, b in zip(z, row, strict=True)), Fraction(0))
        if h > 0:
            F = [f + h * t for f, t in zip(F, y, strict=True)]
    return sum((f * f for f in F), Fraction(0)) / sum((x * x for x in row), Fraction(0))


def verdicts(facts: OutputsFacts, asked: tuple[str, ...], named: tuple[str, ...]) -> tuple[Result, ...]:
    """What the facts say about the claims that were asked for."""
    if others := [name for name in named if name not in CLAIMS]:
        raise UsageError(f"the claim {others[0]} does not apply here: {ONLY}.")
    found = {"optimal": _optimal(facts), "fit": _fit(facts)} | {one.claim: one for one in _of_the_set(facts)}
    return tuple(found[name] for name in CLAIMS if name in asked)


def _optimal(facts: OutputsFacts) -> Result:
    value = facts.value
    if value.reached:
        detail = f"relative gap at most {at_most(value.relative_gap)}, over all networks of any width."
        return Result("optimal", Verdict.PROVED, "duality", detail if value.relative_gap else "both bounds are equal.")
    above = (
        f"the network found is at most {percent_at_most(value.above)} above the best" if value.lower > 0 else "no bound"
    )
    return Result("optimal", Verdict.UNDECIDED, "", f"{above}; --gap asks for {about(value.gap)}.")


def _fit(facts: OutputsFacts) -> Result:
    radius = sqrt_upper(facts.radius_squared)
    far = "known exactly." if radius == 0 else f"within {at_most(radius)} of the fit of the network found."
    return Result("fit", Verdict.PROVED, "strong convexity", f"one fit for all optimal networks, {far}")


def _of_the_set(facts: OutputsFacts) -> list[Result]:
    """What follows where all optimal networks are one: the set is a point, and so are its vertices."""
    found, of_polytope = facts.alone, CLAIMS[4:]
    if isinstance(found, str):
        return [Result(name, Verdict.UNDECIDED, "", f"{found}.") for name in CLAIMS[2:]]
    K, proved = len(found.classes), Verdict.PROVED
    outputs = "its output is not zero" if K == 1 else "their outputs are independent"
    said = (
        f"{count(K, 'neuron')} can be active, each with one direction; {outputs}." if K else "no neuron can be active."
    )
    results = [Result("p-unique", proved, "independence", said)]
    if not found.active:
        why = "a neuron may have weight zero."
        return results + [Result(name, Verdict.UNDECIDED, "", why) for name in CLAIMS[3:]]
    told = {
        "e-equals-a": f"{count(K, 'neuron')} tied at lambda, all of them active.",
        "optimal-set": f"one point: the weights of {count(K, 'neuron')}.",
        "minimal": f"m* = M* = {K}: no optimal network is narrower.",
        "connected": f"{K}! isolated networks of width {K}; connected for every width from {K + 1} on." if K else "",
        "min-norm": f"the weights are known within {at_most(found.error)}.",
    }
    told["connected"] = told["connected"] or "connected for every width."
    return results + [
        Result(name, proved, "polytope" if name in of_polytope else "independence", told[name]) for name in CLAIMS[3:]
    ]


def _of_all(found: Alone | str) -> dict[str, Any]:
    """The facts about all optimal networks, if there are some."""
    if isinstance(found, str):
        return {}
    return {"cover_set": written(found)} | ({"polytope": polytope(found)} if found.active else {})


def polytope(found: Alone) -> dict[str, Any]:
    """The point that the optimal set is, as a polytope with one vertex."""
    everyone = list(range(len(found.masses)))
    return {
        "bits": POINT_BITS,
        "tilt": vector(Fraction(1) for _ in everyone),
        "bases": [everyone],
        "vertices": [everyone],
        "edges": [],
        "min_norm": {"weights": vector(found.masses), "radius": number(4 * found.error + Fraction(1, 2**64))},
    }


def certificate(data: OutputsData, facts: OutputsFacts, results: tuple[Result, ...]) -> dict[str, Any]:
    """The certificate as a JSON object (verify/FORMAT.md, Several outputs)."""
    neurons = [{"w": vector(w), "v": vector(v), "norm": number(norm((w, v)))} for w, v in facts.neurons]
    return {
        "format": FORMAT,
        "version": VERSION,
        "input": written(data.source),
        "problem": {
            "model": "relu",
            "objective": OBJECTIVE,
            "lambda": number(facts.lam),
            "Z": matrix(data.Z),
            "Y": matrix(data.Y),
        },
        "facts": {
            "primal": {"neurons": neurons},
            "cover": {"theta": written(facts.source), "proof": written(facts.evidence)},
            "value": written(facts.value),
            "fit": {"center": None, "radius_squared": number(facts.radius_squared)},
        }
        | _of_all(facts.alone),
        "claims": [{"claim": r.claim, "verdict": str(r.verdict)} for r in results],
        "end": FORMAT,
    }
