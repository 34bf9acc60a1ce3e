"""Claims about an interval of lambdas, judged by the definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.evidence import Evidence
from properties.symbolic.numbers import Number, beside, column, norm2, rational
from properties.symbolic.optimum import NotOptimalError, Optimum, optimum
from properties.symbolic.path import active_at, ball_near, limits, scaled, unique_between
from properties.symbolic.position import group_general_position
from properties.symbolic.program import lambda_max2
from properties.symbolic.reader import vector
from properties.symbolic.truth import Truth

NO_PATH = "no interval is stated"


def continuous(evidence: Evidence) -> Truth:
    """prop:map-continuity-cgl: the network is unique for every lambda of [lo, hi], and so continuous there."""
    found = _broken(evidence)
    if found is not None and not found.p_unique:
        return Truth(False, "at an exact lambda of the interval the network is not unique")
    best = evidence.optimum
    ends = _ends(evidence)
    if ends is not None and best is not None and ends[0] <= evidence.program.lam <= ends[1] and not best.p_unique:
        return Truth(False, "at the lambda of the certificate, which is in the interval, it is not unique")
    return _unique(evidence)


def set_continuous(evidence: Evidence) -> Truth:
    """The set of solutions is open at every lambda of [lo, hi] (it is closed): at a jump some solution is no limit."""
    found = _broken(evidence)
    if found is None:
        return _unique(evidence)
    reached = limits(found)
    if reached and len(found.vertices) > 1:
        return Truth(False, "beside an exact lambda there is one solution, and at it there are others than its limit")
    return Truth(None, "the branches beside the exact lambda were not settled")


def min_norm_continuous(evidence: Evidence) -> Truth:
    """The shortest weights: their limit at an exact lambda is, or is not, the shortest there."""
    found = _broken(evidence)
    if found is None:
        return _unique(evidence)
    reached = limits(found)
    if any(alpha != found.shortest for alpha in reached.values()):
        return Truth(False, "the weights tend to a limit that is not the shortest at the exact lambda")
    return Truth(None, "the branches beside the exact lambda were not settled")


def breakpoints(evidence: Evidence) -> Truth:
    """At the two ends of every listed interval the active neurons, or their faces, are different."""
    fact = evidence.certificate.facts.get("curve")
    if fact is None or not fact["breakpoints"]:
        return Truth(None, "no breakpoints are listed")
    p = evidence.program
    for one in fact["breakpoints"]:
        lo, hi = rational(one["lo"]), rational(one["hi"])
        below = active_at(p, 1 / lo, column(vector(one["below"]["s"])))
        above: object = frozenset()
        if one["above"] is not None:
            above = active_at(p, 1 / hi, column(vector(one["above"]["s"])))
        elif hi**2 < lambda_max2(p):
            return Truth(False, "above the last one lambda is below lambda_max")
        if below is None or above is None:
            return Truth(None, f"the active neurons beside lambda = {float(lo):.9g} were not settled")
        if below == above:
            return Truth(False, f"the active neurons are the same on both sides of {float(lo):.12g}")
    return Truth(True, f"{len(fact['breakpoints'])} changes, the active neurons found again on both sides of each")


def curve(evidence: Evidence) -> Truth:
    """At every sample p* is between the stated bounds, and the width is that of the listed weights."""
    fact = evidence.certificate.facts.get("curve")
    if fact is None or not fact["samples"]:
        return Truth(None, "no samples are listed")
    p, open_ones = evidence.program, 0
    for one in fact["samples"]:
        lam, s = rational(one["lambda"]), column(vector(one["s"]))
        ball = ball_near(scaled(p, 1 / lam), s)
        low = _dual(ball.program.y, ball.theta) * lam**2
        high = low + ball.R2 / 2 * lam**2
        if low > rational(one["upper"]) or high < rational(one["lower"]):
            return Truth(False, f"p* is outside the bounds at lambda = {float(lam):.9g}")
        active = active_at(p, 1 / lam, s)
        if active is None or low < rational(one["lower"]) - QQ(1, 10**25) * abs(low):
            open_ones += 1
        elif len(active) != sum(bool(a) for a in vector(one["weights"])):
            return Truth(False, f"another number of neurons is active at lambda = {float(lam):.9g}")
    if open_ones:
        return Truth(None, f"{open_ones} of {len(fact['samples'])} samples were not settled")
    return Truth(True, f"{len(fact['samples'])} samples: bounds of p* and active neurons found again")


def _dual(y: DomainMatrix, theta: DomainMatrix) -> Number:
    from properties.symbolic.numbers import dot

    return dot(y, theta) - norm2(theta) / 2


def _ends(evidence: Evidence) -> tuple[Number, Number] | None:
    fact = evidence.certificate.facts.get("path") or evidence.certificate.facts.get("jump")
    return None if fact is None else (rational(fact["lo"]), rational(fact["hi"]))


def _broken(evidence: Evidence) -> Optimum | None:
    """All solutions at the lambda of a `jump`, by its stated residual."""
    fact = evidence.certificate.facts.get("jump")
    if fact is None:
        return None
    try:
        return optimum(evidence.program.at(rational(fact["lambda"])), column(vector(fact["theta"])))
    except NotOptimalError:
        return None


def _unique(evidence: Evidence) -> Truth:
    """Unique for every lambda of the interval: X of full column rank, group general position, or balls along the
    path."""
    p, fact = evidence.program, evidence.certificate.facts.get("path")
    ends = _ends(evidence)
    if ends is None:
        return Truth(None, NO_PATH)
    X = beside([b.X for b in p.blocks], p.n)
    if X.rank() == X.shape[1] and not p.neurons:
        return Truth(True, "X has full column rank")
    if not p.neurons and all(b.K.shape[1] == 0 for b in p.blocks) and group_general_position([b.X for b in p.blocks]):
        return Truth(True, "group general position (prop:unique-sol)")
    if fact is None or not fact["pieces"]:
        return Truth(None, "no pieces propose residuals")
    lo, hi = ends
    top = lambda_max2(p)
    if lo**2 >= top:
        return Truth(True, "lambda >= lambda_max")
    last = max(rational(piece["hi"]) for piece in fact["pieces"])
    high = min(hi, last)
    why = unique_between(p, 1 / high, 1 / lo, _about(fact["pieces"]))
    if not why and high < hi and high**2 < top:
        why = f"not shown unique above lambda = {float(high):.6g}"
    return Truth(None, why) if why else Truth(True, "independent outputs over balls that cover the interval")


def _about(pieces: list[dict[str, Any]]) -> Callable[[Number], DomainMatrix]:
    """s(eta) as the pieces propose it."""
    known = [(rational(p["lo"]), rational(p["hi"]), [column(vector(c)) for c in p["s"]]) for p in pieces]

    def about(eta: Number) -> DomainMatrix:
        lam = 1 / eta
        lo, hi, s = min(known, key=lambda one: max(one[0] - lam, lam - one[1], QQ(0)))
        if len(s) == 1:
            return s[0]
        center, half = (1 / lo + 1 / hi) / 2, (1 / lo - 1 / hi) / 2
        tau = max(QQ(-1), min(QQ(1), (eta - center) / half))
        total = s[-1]
        for c in reversed(s[:-1]):
            total = total * tau + c
        return total

    return about


PATH_TRUTHS: dict[str, Callable[[Evidence], Truth]] = {
    "continuous": continuous,
    "set-continuous": set_continuous,
    "min-norm-continuous": min_norm_continuous,
    "breakpoints": breakpoints,
    "curve": curve,
}
