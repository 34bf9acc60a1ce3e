"""The claims about networks with several outputs, judged by their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.evidence import DENOMINATORS, above, below
from properties.symbolic.numbers import Number, column, entries, norm2, rational, root_above
from properties.symbolic.optimum import NotOptimalError, Optimum
from properties.symbolic.reader import Certificate, vector
from properties.symbolic.several import Several, Ties, dual_value, feasible, loss, several_optimum
from properties.symbolic.several_ball import Around
from properties.symbolic.truth import Truth

ROUNDED = QQ(1, 10**50)  # what logarithms may lose


@dataclass(frozen=True)
class SeveralEvidence:
    """A certificate, and what the definitions say about its optimum."""

    certificate: Certificate

    @property
    def problem(self) -> Several:
        """The problem."""
        return self.certificate.several

    @cached_property
    def upper(self) -> Number | None:
        """The objective of the stated network, rounded up a little."""
        point, p = self.certificate.several_point, self.problem
        if point is None:
            return None
        neurons, fit = point
        norms = sum((root_above(norm2(p.seen_part(w)) * norm2(v), 300) for w, v in neurons), QQ(0))
        return (above(loss(p, fit)) if p.softmax else norm2(fit - p.y) / 2) + p.lam * norms

    @cached_property
    def lower(self) -> Number | None:
        """The dual value of the stated dual point, rounded down a little; None if it is not feasible."""
        theta, p = self.certificate.theta, self.problem
        if theta is None or not feasible(p, theta):
            return None
        return below(dual_value(p, theta)) if p.softmax else QQ.from_sympy(dual_value(p, theta))

    @cached_property
    def optimum(self) -> tuple[Optimum, Ties] | None:
        """All optimal networks, where a rational residual near the stated dual point is that of one."""
        if self.problem.softmax or self.problem.biases or self.certificate.theta is None:
            return None
        for r in self._guesses():
            try:
                return several_optimum(self.problem, r)
            except NotOptimalError:
                continue
        return None

    @cached_property
    def only(self) -> tuple[list[Number], Number] | None:
        """The weights of the only network over the ball of dual points, with an error; None if it is not shown.

        1/2 |Theta* - theta|^2 <= p* - D(theta), and for the entropies of probabilities |Theta* - theta|^2 <= KL. The
        directions are those that the certificate proposes."""
        stated, p = self.certificate.facts.get("cover_set"), self.problem
        if stated is None or self.upper is None or self.lower is None or (p.softmax and p.B is not None):
            return None
        classes = [(column(vector(one["u"])), rational(one["margin"])) for one in stated["classes"]]
        gap = self.upper - self.lower
        return Around(p, self.certificate.theta, gap if p.softmax else 2 * gap, tuple(classes)).weights

    @property
    def sizes(self) -> list[Number] | None:
        """The weights, if all of them are proved positive."""
        if self.only is None:
            return None
        weights, error = self.only
        return weights if all(a > error for a in weights) else None

    def _guesses(self) -> Iterator[DomainMatrix]:
        theta = [Fraction(int(a.numerator), int(a.denominator)) for a in entries(self.certificate.theta)]
        for bound in DENOMINATORS:
            near = [a.limit_denominator(bound) for a in theta]
            yield column([QQ(a.numerator, a.denominator) for a in near])


def optimal(evidence: SeveralEvidence) -> Truth:
    """J - p* <= gap J for the stated network."""
    fact, upper, lower = evidence.certificate.facts.get("value"), evidence.upper, evidence.lower
    if fact is None or upper is None:
        return Truth(None, "no network is stated")
    if lower is None:
        return Truth(None, "the stated dual point is not feasible by the definition")
    gap, slack = rational(fact["gap"]), ROUNDED if evidence.problem.softmax else QQ(0)
    holds = upper - lower <= gap * upper + slack
    return Truth(True if holds else None, f"D(Theta) <= p* <= J, a gap of {float(upper - lower):.2g}")


def fit_ball(evidence: SeveralEvidence) -> Truth:
    """The fit of all optimal networks lies in the stated ball: J is strongly convex in the fit."""
    fact, point = evidence.certificate.facts.get("fit"), evidence.certificate.several_point
    if fact is None or point is None:
        return Truth(None, "no fit is stated")
    radius2, center = rational(fact["radius_squared"]), point[1]
    if fact["center"] is not None:
        center = column(vector(fact["center"]))
    if evidence.optimum is not None:
        best, p = evidence.optimum[0], evidence.problem
        return Truth(bool(norm2(p.y - best.r - center) <= radius2), "|yhat - center|^2 against the radius, exactly")
    if evidence.upper is None or evidence.lower is None or center != point[1]:
        return Truth(None, "the bounds of p* do not show it")
    gap = evidence.upper - evidence.lower
    if evidence.problem.softmax:  # of probabilities: KL(p, q) >= 1/2 |p - q|_1^2 >= |p - q|^2
        attained = evidence.problem.B is None
        return Truth(True if attained and gap - ROUNDED <= radius2 else None, "the entropy is strongly concave")
    far = 2 * gap <= radius2
    return Truth(True, "strong convexity") if far else Truth(None, "the bounds of p* show a larger ball")


NOT_EXACT = "Theta is known to a ball only, and that does not decide it"
OVER = "over the ball of dual points"


def p_unique(evidence: SeveralEvidence) -> Truth:
    """The matrices P(Zu)_+ F(u)' of the neurons in use are independent, and no others tie."""
    if evidence.optimum is None:
        if evidence.only is None:
            return Truth(None, NOT_EXACT)
        return Truth(True, f"at most {len(evidence.only[0])} neurons tie, their outputs are independent, {OVER}")
    best, found = evidence.optimum
    if found.continua and best.p_unique:
        return Truth(None, f"a continuum of neurons ties on {len(found.continua)} faces")
    return Truth(best.p_unique, f"{len(best.E)} neurons tie, {len(best.S)} are used: ranks")


def optimal_set(evidence: SeveralEvidence) -> Truth:
    """The polytope of the weights has the stated vertices and edges."""
    fact = evidence.certificate.facts.get("polytope")
    if fact is None:
        return Truth(None, "no polytope is stated")
    sizes = sorted(len(used) for used in fact["vertices"])
    if evidence.optimum is None:
        if evidence.sizes is None:
            return Truth(None, NOT_EXACT)
        only = len(evidence.sizes)
        return Truth(sizes == [only] and not fact["edges"], f"one vertex of {only} neurons, {OVER}")
    best, found = evidence.optimum
    if found.continua:
        return Truth(None, "a continuum of neurons ties")
    same = sizes == best.widths and len(fact["edges"]) == best.graph.number_of_edges()
    return Truth(same, f"{len(best.vertices)} vertices of {best.widths} neurons")


def e_equals_a(evidence: SeveralEvidence) -> Truth:
    """Every neuron that ties is used by every optimal network."""
    if evidence.optimum is None:
        if evidence.sizes is None:
            return Truth(None, NOT_EXACT)
        return Truth(True, f"{len(evidence.sizes)} classes, all with weight, {OVER}")
    best, found = evidence.optimum
    return Truth(best.e_equals_a and not found.continua, f"{len(best.E)} neurons tie, {len(best.S)} are used")


def min_norm(evidence: SeveralEvidence) -> Truth:
    """The weights |w||v| = alpha |u|^2 of the only network are within the radius of those stated."""
    fact = evidence.certificate.facts.get("polytope", {}).get("min_norm")
    if fact is None:
        return Truth(None, "none are stated")
    stated, radius = sorted(a for a in vector(fact["weights"]) if a), rational(fact["radius"])
    if evidence.optimum is None:
        if evidence.only is None or evidence.sizes is None:
            return Truth(None, NOT_EXACT)
        weights, radius = sorted(evidence.sizes), radius + evidence.only[1]
    else:
        best, found = evidence.optimum
        if found.continua or len(best.vertices) > 1:
            return Truth(None, "several networks")
        weights = sorted(a * norm2(one.w) for a, one in zip(best.vertices[0], best.E, strict=True) if a)
    near = len(weights) == len(stated) and all(abs(a - b) <= radius for a, b in zip(weights, stated, strict=True))
    return Truth(near, "the only weights, " + (OVER if evidence.optimum is None else "exactly"))


SEVERAL_TRUTHS: dict[str, Callable[[SeveralEvidence], Truth]] = {
    "optimal": optimal,
    "fit": fit_ball,
    "p-unique": p_unique,
    "optimal-set": optimal_set,
    "minimal": optimal_set,
    "connected": optimal_set,
    "min-norm": min_norm,
    "e-equals-a": e_equals_a,
}
