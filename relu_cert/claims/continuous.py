"""continuous: the optimal network is unique on an interval of lambdas, hence continuous (prop:map-continuity-cgl).

The solution map is closed and locally bounded for lambda > 0, so where it is single-valued it is continuous. The fit
and p* are continuous for every problem: r*(lambda) is the projection of y on lambda B, so for lo <= l <= l'

    |r*(l') - r*(l)| <= (l' - l) |r*(l)| / l <= (l' - l) |y| / lo      ((r' - r).(r' - (l'/l) r) <= 0),
    0 <= p*(l') - p*(l) <= (l' - l) |y|^2 / (4 lo)                     (p*' = sum |w_b| = r.(y - r) / l).
"""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims import p_unique
from relu_cert.claims.model import Result, Verdict
from relu_cert.exact import norm_squared
from relu_cert.path.model import Cover, Gap
from relu_cert.prove.facts import Facts
from relu_cert.report.text import at_most, count, decimal, short

NAME = "continuous"
STATEMENT = "On the whole interval of lambdas the optimal network is unique, and so it moves continuously."
SHOWN_GAPS = 3


def applies(facts: Facts) -> bool:
    """Where an interval was asked for."""
    return facts.path is not None


def decide(facts: Facts) -> Result:
    """Unique on every piece of the interval; or not unique at some lambda of it; or the list of what is open."""
    found = facts.path
    if found is None:
        raise ValueError("no interval was asked for")
    where = interval(found)
    if found.unique:
        if not found.pieces:
            detail = f"lambda >= lambda_max on {where}: the zero network is the only solution."
            return Result(NAME, Verdict.PROVED, "zero", detail)
        detail = (
            f"unique for every lambda in {where}, in {count(len(found.pieces), 'piece')}; {_lipschitz(facts, found)}."
        )
        return Result(NAME, Verdict.PROVED, "pieces", detail)
    if facts.jump is not None:
        detail = f"at lambda = {short(facts.jump.lam)} there are optimal networks that no nearby ones tend to."
        return Result(NAME, Verdict.REFUTED, "exact jump", detail)
    if (piece := found.several) is not None:
        lo, hi = max(piece.lo, found.lo), min(piece.hi, found.hi)
        detail = f"for {short(lo, 10)} <= lambda <= {short(hi, 10)} the optimal networks form a set of dimension "
        return Result(NAME, Verdict.REFUTED, "lifted pieces", f"not unique: {detail}{piece.dimension}.")
    if found.lo <= facts.lam <= found.hi and p_unique.decide(facts).verdict is Verdict.REFUTED:
        detail = f"not unique at lambda = {short(facts.lam)}, which lies in {where}."
        return Result(NAME, Verdict.REFUTED, "not unique at lambda", detail)
    return Result(NAME, Verdict.UNDECIDED, "", open_parts(found))


def interval(found: Cover) -> str:
    """[lo, hi]"""
    return f"[{short(found.lo, 10)}, {short(found.hi, 10)}]"


def open_parts(found: Cover) -> str:
    """What is not settled."""
    if not found.gaps:
        several = count(sum(1 for piece in found.pieces if not piece.unique), "piece")
        return f"the set of optimal networks moves continuously; whether it is one network is open on {several}."
    open_part = sum((gap.hi - gap.lo for gap in found.gaps), Fraction(0)) / (found.hi - found.lo)
    listed = "; ".join(_gap(gap) for gap in found.gaps[:SHOWN_GAPS])
    more = f"; and {len(found.gaps) - SHOWN_GAPS} more" if len(found.gaps) > SHOWN_GAPS else ""
    return f"{at_most(open_part)} of {interval(found)} is open: {listed}{more}."


def lipschitz_fit_squared(facts: Facts, lo: Fraction) -> Fraction:
    """The square of a Lipschitz constant of the fit on [lo, inf): (|y| / lo)^2."""
    return norm_squared(facts.problem.y) / lo**2


def lipschitz_value(facts: Facts, lo: Fraction) -> Fraction:
    """A Lipschitz constant of p* on [lo, inf): |y|^2 / (4 lo)."""
    return norm_squared(facts.problem.y) / (4 * lo)


def _lipschitz(facts: Facts, found: Cover) -> str:
    fit, value = lipschitz_fit_squared(facts, found.lo), lipschitz_value(facts, found.lo)
    return f"Lipschitz: fit sqrt({short(fit, 12)}), p* {short(value, 12)}"


def _gap(gap: Gap) -> str:
    middle = (gap.lo + gap.hi) / 2
    return f"{decimal(middle, 10)} (width {at_most(gap.hi - gap.lo)}: {gap.reason})"
