"""The verdicts of a certificate, judged by the definitions of this package.

A verdict is confirmed or contradicted where the definitions decide its claim; the others are not judged, with the
reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sympy import QQ, Matrix

from properties.symbolic.evidence import Evidence
from properties.symbolic.numbers import Number, column, norm2, rational
from properties.symbolic.optimum import Optimum, TooLargeError, is_minimal, kkt_of, pruned, value
from properties.symbolic.path_truth import PATH_TRUTHS
from properties.symbolic.patterns import activation_patterns
from properties.symbolic.position import blocks_of, general_position, group_general_position
from properties.symbolic.reader import MOST_WORK, Certificate, UnreadableError, rows, too_large, vector
from properties.symbolic.sensitivity import (
    Derivatives,
    face_projector,
    licq,
    local_solution_function,
    strictly_complementary,
)
from properties.symbolic.several_truth import SEVERAL_TRUTHS, SeveralEvidence
from properties.symbolic.truth import Truth


class Status(Enum):
    """What the definitions say to a verdict."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Judged:
    """A verdict of the certificate and what is said to it."""

    claim: str
    verdict: str
    status: Status
    why: str


def judge(certificate: Certificate, most: int = MOST_WORK) -> list[Judged]:
    """Every verdict of the certificate; `most` systems of equations for the projections of one residual."""
    large = too_large(certificate, most)
    evidence = SeveralEvidence(certificate) if "Y" in certificate.problem else Evidence(certificate)
    return [_judged(evidence, claim, verdict, large) for claim, verdict in certificate.verdicts.items()]


def _judged(evidence: Evidence | SeveralEvidence, claim: str, verdict: str, large: str) -> Judged:
    if verdict == "UNDECIDED":
        return Judged(claim, verdict, Status.NOT_JUDGED, "UNDECIDED promises nothing")
    if large:
        return Judged(claim, verdict, Status.NOT_JUDGED, f"too large: {large}")
    try:
        truth = truth_of(evidence, claim)
    except (TooLargeError, UnreadableError) as error:
        truth = Truth(None, str(error))
    if truth.holds is None:
        return Judged(claim, verdict, Status.NOT_JUDGED, truth.why)
    agrees = truth.holds == (verdict == "PROVED")
    return Judged(claim, verdict, Status.CONFIRMED if agrees else Status.CONTRADICTED, truth.why)


def truth_of(evidence: Evidence | SeveralEvidence, claim: str) -> Truth:
    """What the definitions say about one claim."""
    if isinstance(evidence, SeveralEvidence):
        about = SEVERAL_TRUTHS.get(claim)
        return Truth(None, "no definition with several outputs is written here") if about is None else about(evidence)
    found = (TRUTHS | PATH_TRUTHS).get(claim)
    if found is None:
        return Truth(None, "no definition of this claim is written here")
    if evidence.program.biases and claim not in LEVEL:
        return Truth(None, "no definition with free biases is written here")
    return found(evidence)


LEVEL = {
    "patterns-complete",
    "optimal",
    "fit",
    "p-unique",
    "convex-unique",
    "e-equals-a",
    "optimal-set",
    "minimal",
    "connected",
}


def patterns_complete(evidence: Evidence) -> Truth:
    """The listed patterns are D_Z."""
    certificate = evidence.certificate
    listed = certificate.listed
    if listed is None:
        return Truth(None, "no patterns are listed")
    found = activation_patterns(certificate.Z)
    return Truth(sorted(listed) == sorted(found), f"D_Z has {len(found)} patterns, {len(set(listed))} are listed")


def optimal(evidence: Evidence) -> Truth:
    """P(w) - p* <= gap P(w) for the stated weights."""
    fact = evidence.certificate.facts.get("value")
    if fact is None or evidence.upper is None:
        return Truth(None, "no weights in their cones are stated")
    upper, lower = evidence.upper, evidence.lower
    gap = rational(fact["gap"])
    if lower is not None and upper - lower <= gap * upper + _slack(evidence):
        return Truth(_kkt_holds(evidence), f"D(theta) <= p* <= P(w), relative gap at most {_short(gap)}")
    best = evidence.optimum
    if best is not None:
        p_star = best.program.reals.near(value(best))[1]
        return Truth(bool(upper - p_star <= gap * upper), "P(w) against p* in closed form")
    return Truth(None, "the stated dual point does not show the gap, and p* is not known in closed form")


def _slack(evidence: Evidence) -> Number:
    """What the rounding of logarithms may cost."""
    return QQ(0) if evidence.plain else QQ(1, 10**50)


def _kkt_holds(evidence: Evidence) -> bool:
    """eq:kkt-cgl for a solution, where the optimum is known exactly."""
    best = evidence.optimum
    return best is None or not kkt_of(best, best.vertices[0])


def fit_ball(evidence: Evidence) -> Truth:
    """The fit of all solutions lies in the stated ball (lemma:unique-fit-cgl)."""
    fact, point = evidence.certificate.facts.get("fit"), evidence.certificate.point
    if fact is None or point is None:
        return Truth(None, "no fit is stated")
    center = point[1] if fact["center"] is None else column(vector(fact["center"]))
    radius2 = rational(fact["radius_squared"])
    best = evidence.optimum
    if best is not None:
        K = best.program.reals
        away = best.program.y - best.r - center.convert_to(K.domain)
        return Truth(K.sign(norm2(away) - K.of(radius2)) <= 0, "|yhat - center|^2 against the radius, exactly")
    if evidence.upper is None or evidence.lower is None or center != point[1]:
        return Truth(None, "no bounds of p*")
    gap = evidence.upper - evidence.lower - _slack(evidence)
    far = gap / 2 if evidence.program.logistic else 2 * gap
    return Truth(True, "strong convexity") if far <= radius2 else Truth(None, "the bounds of p* show a larger ball")


def _exact(evidence: Evidence) -> Optimum | None:
    return evidence.optimum


KNOWN_TO_A_BALL = "r is known to a ball only, and that does not decide it"


def p_unique(evidence: Evidence) -> Truth:
    """prop:p-unique, lemma:unique-cgl"""
    best = _exact(evidence)
    if best is not None:
        return Truth(best.p_unique, f"the outputs of S ({len(best.S)} neurons): rank over the field")
    if evidence.program.logistic and evidence.zero:
        return Truth(True, "lambda >= lambda_max")
    if evidence.ball is not None and evidence.ball.weights is not None:
        return Truth(True, "the outputs of all classes are independent over the ball")
    return Truth(None, KNOWN_TO_A_BALL)


def convex_unique(evidence: Evidence) -> Truth:
    """lemma:unique-cgl"""
    if evidence.program.delta:
        return Truth(True, "strongly convex (eq:l2-penalized-cgl)")
    best = _exact(evidence)
    if best is not None:
        return Truth(best.convex_unique, "{X_b v_b : b in S}: rank over the field")
    active = _active(evidence)
    if active is None:
        return Truth(None, KNOWN_TO_A_BALL)
    several = [len(one.blocks) > 1 for one, certain in active if certain]
    if any(several):
        return Truth(False, "an active neuron lies in two blocks")
    if all(len(one.blocks) == 1 for one, _ in active):
        return Truth(True, "the outputs are independent over the ball, each neuron in one block")
    return Truth(None, KNOWN_TO_A_BALL)


def _active(evidence: Evidence) -> list[tuple[Any, bool]] | None:
    """The classes of the only solution over the ball, each with whether its weight is proved positive."""
    ball = evidence.ball
    if ball is None or ball.classes is None or ball.weights is None:
        return None
    alpha, error = ball.weights
    return [(one, bool(a > error)) for one, a in zip(ball.classes, alpha, strict=True)]


def _all_active(evidence: Evidence) -> int | None:
    """The number of neurons, if the solution is unique over the ball and uses every class."""
    active = _active(evidence)
    return None if active is None or not all(certain for _, certain in active) else len(active)


def optimal_set(evidence: Evidence) -> Truth:
    """prop:sol-fn-cgl: the polytope of all solutions has the stated vertices and edges."""
    fact = evidence.certificate.facts.get("polytope")
    best = _exact(evidence)
    if best is None:
        only = _all_active(evidence)
        if only is None or fact is None:
            return Truth(None, KNOWN_TO_A_BALL)
        return Truth(_sizes(fact) == [only] and not fact["edges"], f"one vertex of {only} neurons, over the ball")
    if fact is None:
        return Truth(evidence.zero, "no polytope is stated; lambda >= lambda_max" if evidence.zero else "no polytope")
    shape = f"{len(best.vertices)} vertices of {best.widths} neurons, {best.graph.number_of_edges()} edges"
    degrees = sorted(d for _, d in best.graph.degree())
    stated = [0] * len(fact["vertices"])
    for i, j in fact["edges"]:
        stated[i] += 1
        stated[j] += 1
    same = _sizes(fact) == best.widths and sorted(stated) == degrees
    return Truth(same, f"dimension {best.dimension}, {shape}")


def _sizes(fact: dict[str, Any]) -> list[int]:
    return sorted(len(used) for used in fact["vertices"])


def minimal(evidence: Evidence) -> Truth:
    """prop:minimal-solutions: the vertices are the minimal solutions, and pruning ends at one of them."""
    found, best = optimal_set(evidence), _exact(evidence)
    if found.holds and best is not None and not best.program.neurons | bool(best.program.B):
        middle = [sum(a, best.program.reals.domain.zero) for a in zip(*best.vertices, strict=True)]
        mean = tuple(a / len(best.vertices) for a in middle)
        if pruned(best, mean) not in best.vertices:
            return Truth(False, "alg:pruning-solutions ends at no vertex")
    if found.holds and best is not None and not all(is_minimal(best, alpha) for alpha in best.vertices):
        return Truth(False, "a vertex is not minimal")
    return found


def connected(evidence: Evidence) -> Truth:
    """The components of the set of optimal networks of every width, by a graph."""
    found, best = optimal_set(evidence), _exact(evidence)
    if not found.holds or best is None:
        return found
    counts = {}
    for m in range(best.widths[0], min(best.widths[-1] + 2, best.widths[0] + 4)):
        try:
            counts[m] = best.components(m)
        except TooLargeError:
            break
    return Truth(True, "components by width " + ", ".join(f"{m}: {k}" for m, k in counts.items()))


def min_norm(evidence: Evidence) -> Truth:
    """eq:min-norm-program: the shortest weights are within the radius of those stated."""
    facts, best = evidence.certificate.facts, _exact(evidence)
    fact = facts.get("min_norm") or facts.get("polytope", {}).get("min_norm")
    if fact is None:
        return Truth(True if evidence.zero else None, "lambda >= lambda_max" if evidence.zero else "none are stated")
    stated, radius = sorted(vector(fact["weights"])), rational(fact["radius"])
    if best is not None:
        K = best.program.reals
        shortest = best.shortest
        ordered = sorted(shortest, key=lambda a: K.near(a)[0])
        pairs = zip(ordered, stated, strict=False)
        inside = all(K.sign(a - K.of(s + radius)) <= 0 and K.sign(a - K.of(s - radius)) >= 0 for a, s in pairs)
        return Truth(inside and len(ordered) == len(stated), "the shortest weights over all supports")
    ball = evidence.ball
    if _all_active(evidence) is None or ball is None or ball.weights is None:
        return Truth(None, KNOWN_TO_A_BALL)
    alpha, error = ball.weights
    near = len(alpha) == len(stated) and all(
        abs(a - s) <= radius + error for a, s in zip(sorted(alpha), stated, strict=True)
    )
    return Truth(near, "the only weights, over the ball")


def e_equals_a(evidence: Evidence) -> Truth:
    """E = A(w) for all solutions."""
    best = _exact(evidence)
    if best is not None:
        return Truth(best.e_equals_a, f"{len(best.E)} neurons tie, {len(best.S)} are used")
    only = _all_active(evidence)
    return Truth(None, KNOWN_TO_A_BALL) if only is None else Truth(True, f"{only} classes, all with weight")


def licq_holds(evidence: Evidence) -> Truth:
    """LICQ, at all solutions."""
    best = _exact(evidence)
    if best is not None:
        return Truth(licq(best), "ranks of the tight constraints")
    if _all_active(evidence) is None or evidence.ball is None or evidence.ball.classes is None:
        return Truth(None, KNOWN_TO_A_BALL)
    from properties.symbolic.optimum import independent
    from properties.symbolic.sensitivity import _different

    for one in evidence.ball.classes:
        if not independent(_different(list(one.tight), evidence.program.reals, opposite=True)):
            return Truth(False, "tight constraints that are dependent, over the ball")
    return Truth(True, "ranks of the tight constraints, over the ball")


def strict(evidence: Evidence) -> Truth:
    """SCS, at all solutions."""
    best = _exact(evidence)
    if best is not None:
        return Truth(strictly_complementary(best), "the extreme directions that leave the faces")
    ball = evidence.ball
    if ball is None or ball.classes is None or ball.weights is None or not all(one.forced for one in ball.classes):
        return Truth(None, KNOWN_TO_A_BALL)
    return Truth(True, "all tight constraints have positive multipliers, over the ball")


def sensitivity(evidence: Evidence) -> Truth:
    """prop:local-sol-fn, repaired: differentiable where E = A and SCS holds; the stated derivatives are right."""
    best = _exact(evidence)
    stated = evidence.certificate.facts.get("derivatives")
    if best is None:
        if _all_active(evidence) is None:
            return Truth(None, KNOWN_TO_A_BALL)
        return Truth(
            True, "E = A and all faces are stable, over the ball" + (" (numbers not judged)" if stated else "")
        )
    if not best.e_equals_a:
        return Truth(False, "E is not A: no function of y, or a weight that a derivative would make negative")
    if not strictly_complementary(best):
        return Truth(None, "E = A, but strict complementarity fails: the definitions leave it open")
    if stated is None:
        return Truth(True, "E = A and strict complementarity")
    if best.program.reals.minimal is not None or best.program.B is not None:
        return Truth(True, "E = A and strict complementarity (numbers not judged)")
    found = local_solution_function(best, [face_projector(best.program, a) for a in best.E])
    return Truth(_same_derivatives(found, stated), "the derivatives by diff of the KKT system")


def _same_derivatives(found: Derivatives, stated: dict[str, Any]) -> bool:
    """Those by lambda, of r and (sorted) of alpha, and of r by y, within the radius."""
    radius2 = rational(stated["radius"]) ** 2
    r = [QQ.from_sympy(a) for a in found.r]
    near = [_distance2(r, vector(stated["lambda"]["r"])) <= radius2]
    alpha = sorted(QQ.from_sympy(a) for a in found.alpha)
    given = sorted(vector(stated["lambda"]["alpha"]))
    near.append(len(alpha) == len(given) and _distance2(alpha, given) <= radius2)
    if stated["y"] is not None:
        listed = rows(stated["y"]["r"]).to_dense().to_list()
        for j in range(found.r_y.shape[1]):
            mine = [QQ.from_sympy(a) for a in Matrix(found.r_y[:, j])]
            near.append(_distance2(mine, [row[j] for row in listed]) <= radius2)
    return all(near)


def _distance2(a: list[Number], b: list[Number]) -> Number:
    return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), QQ(0))


def ggp(evidence: Evidence) -> Truth:
    """prop:unique-sol"""
    found = group_general_position([b.X for b in evidence.program.blocks])
    return Truth(
        found, "ties on all sets of at most n + 1 blocks" if found is not None else "null spaces leave it open"
    )


def gp(evidence: Evidence) -> Truth:
    """The columns of X in general position."""
    found = general_position(blocks_of([b.X for b in evidence.program.blocks]))
    return Truth(found, "ranks with every choice of signs" if found is not None else "too many sets of columns")


def _short(x: Number) -> str:
    return f"{float(x):.3g}"


TRUTHS: dict[str, Callable[[Evidence], Truth]] = {
    "patterns-complete": patterns_complete,
    "optimal": optimal,
    "fit": fit_ball,
    "p-unique": p_unique,
    "convex-unique": convex_unique,
    "optimal-set": optimal_set,
    "minimal": minimal,
    "connected": connected,
    "min-norm": min_norm,
    "e-equals-a": e_equals_a,
    "licq": licq_holds,
    "strict-complementarity": strict,
    "sensitivity": sensitivity,
    "ggp": ggp,
    "general-position": gp,
}
