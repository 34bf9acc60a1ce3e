"""Claims about uniqueness: of the network, and of the solution of the convex program.

Claims about the design alone: group general position, and general position of the columns.

Gated and direct problems. The blocks of a ReLU network come with their negatives, and always tie.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from relu_cert.claims.claim import VARIANTS, Answer, claim, proved, refuted, undecided
from relu_cert.exact import sqrt_upper
from relu_cert.figures import at_most, count
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import AlgebraicSet, BallSet, Exactly, Facts, NeuronClass, UnknownSet
from relu_cert.prove.ggp.answers import Answer as Position
from relu_cert.prove.ggp.answers import ConeWin, Crossing, Proof, Unsettled, Zero


@claim(
    "p-unique",
    "The optimal network is unique, up to permuting and splitting its neurons.",
    variants=("logistic", "free"),
    zero="lambda >= lambda_max: the zero network is the only solution.",
)
def p_unique(facts: Facts) -> Answer:
    """The optimal set over all classes is a single point, or has dimension one or more (prop:p-unique, on classes)."""
    found = facts.optimal_set
    if isinstance(found, UnknownSet):
        return undecided(f"{found.reason}.")
    if isinstance(found, Exactly):
        return _exact_network(found)
    active = len(found.active)
    if found.level:
        detail = f"active neurons that are zero at no data point: {found.level}; each can be two of other free biases."
        return refuted("interval of biases", detail)
    if found.network_dimension == 0:
        number = active - found.repeated
        if not number:
            return proved("independence", "no neuron can be active.")
        outputs = "its output is not zero" if number == 1 else "their outputs are independent"
        return proved("independence", f"{count(number, 'neuron')} can be active; {outputs}.")
    evidence, reason = _dependence(found)
    where = f"optimal weights on {count(active, 'neuron')}"
    return refuted(evidence, f"a polytope of dimension {found.network_dimension} of {where}: {reason}.")


def _dependence(found: BallSet) -> tuple[str, str]:
    """The kind of proof, and why outputs are dependent."""
    if found.mixed:
        return "dependent kernels", "the kernel of one is a mixture of those of others"
    if found.lift and not found.split:
        return "free terms", "neurons whose outputs differ by free terms only share a weight in any way"
    if found.lift:
        return "lifted problem", "the residual is orthogonal to a known subspace"
    return "equal kernels", "neurons with the same kernel"


def _evidence(exact: Exactly) -> str:
    """The kind of proof where the optimum is known exactly."""
    within = f" in a field of degree {exact.field.degree}" if isinstance(exact, AlgebraicSet) else ""
    return f"exact optimum{within}"


def _exact_network(exact: Exactly) -> Answer:
    """The verdict where the optimum is known exactly."""
    solutions, evidence = exact.solutions, _evidence(exact)
    tied, widths = len(solutions[0]), [sum(1 for x in alpha if x) for alpha in solutions]
    if len(solutions) == 1:
        few = f"of {count(tied, 'neuron')} tied at lambda only {widths[0]} can be active, in one way."
        detail = few if widths[0] < tied else f"{count(tied, 'neuron')} tied at lambda, whose weights are unique."
        return proved(evidence, detail)
    on = f"of widths {widths[0]} and {widths[1]} on {count(tied, 'tied neuron')}"
    return refuted(evidence, f"two different optimal networks, exactly: {on}.")


@claim("convex-unique", "The solution of the convex program is unique.", variants=VARIANTS)
def convex_unique(facts: Facts) -> Answer:
    """Unique iff the network is, and every active neuron lies in exactly one block; always where delta > 0
    (lemma:unique-cgl). A ReLU neuron that is zero at a data point lies on the face between two patterns, and both
    blocks can carry it."""
    if facts.problem.delta:
        radius = sqrt_upper(facts.fit.radius_squared / facts.problem.delta)
        detail = f"delta > 0: strongly convex; the solution is within {at_most(radius)} of the one found."
        return proved("strong convexity", detail)
    if facts.zero:
        return proved("zero", "lambda >= lambda_max: zero is the only solution.")
    found = facts.optimal_set
    if isinstance(found, UnknownSet):
        return undecided(f"{found.reason}.")
    if isinstance(found, Exactly):
        return _exact_solution(facts.problem.kind == "relu", found)
    if "biases" in facts.problem.free:
        return refuted("free biases", "the bias of a block without weights costs nothing.")
    if found.dimension > found.network_dimension == 0:
        lie = f"{count(found.repeated, 'neuron')} {'lies' if found.repeated == 1 else 'lie'}"
        detail = f"{lie} on the face between two patterns; both blocks carry {'it' if found.repeated == 1 else 'them'}."
        return refuted("kink", detail)
    if found.dimension > 0:
        return refuted("optimal set", f"the optimal set has dimension {found.dimension} even between neurons.")
    kinked = [a for a, neuron in enumerate(found.classes) if _in_two_blocks(facts, neuron)]
    if not kinked:
        return proved("independence", "every neuron that can be active lies in one block only.")
    active = [a for a in kinked if weight_lower(found, a) > 0]
    if active:
        detail = f"active neurons that are zero at a data point: {len(active)}; two or more blocks carry each."
        return refuted("kink", detail)
    return undecided("a neuron that is zero at a data point may have weight zero or not.")


def weight_lower(found: BallSet, a: int) -> Fraction:
    """A positive number if the weight of class a is proved positive (the optimal set is a single point)."""
    if found.split:
        return found.split[a]  # a proved split is positive in every entry
    return found.masses[[group[0] for group in found.groups].index(a)] - found.mass_error


def _in_two_blocks(facts: Facts, neuron: NeuronClass) -> bool:
    return facts.problem.network is not None and bool(neuron.kinks)


def _exact_solution(relu: bool, exact: Exactly) -> Answer:
    """The verdict where the optimum is known exactly."""
    evidence = _evidence(exact)
    if len(exact.solutions) > 1:
        return refuted(evidence, "two different optimal networks are known exactly.")
    if relu and any(x and one.kinks for x, one in zip(exact.solutions[0], exact.tied, strict=True)):
        return refuted("kink", "an active neuron is zero at a data point, and two or more blocks carry it.")
    return proved(evidence, "one optimal network, and each of its neurons lies in one block.")


_SHOWN = 6


def _always_ties(problem: Problem) -> str:
    elsewhere = "it is about gated networks and group lassos; for ReLU networks ask for p-unique"
    return elsewhere if problem.kind == "relu" else ""


_claim = partial(claim, applies=lambda facts: facts.ggp is not None, refused=_always_ties)


@_claim("ggp", "The blocks are in group general position: the solution is unique for every lambda > 0.")
def ggp(facts: Facts) -> Answer:
    """No null vector of X on at most n + 1 blocks has norms that add up to zero with signs (prop:unique-sol)."""
    answer = None if facts.ggp is None else facts.ggp.groups
    return _position(answer, "block", "; the solution is unique for every lambda > 0")


@_claim("general-position", "The columns of X are in general position.")
def general_position(facts: Facts) -> Answer:
    """No null vector of X on at most n + 1 columns has entries that add up to zero with signs
    (prop:general-position-relation), for comparison with ggp.

    It says that the lasso, every column a block of its own, has one solution for every lambda > 0 (Tibshirani 2013). It
    neither implies nor follows from group general position.
    """
    return _position(None if facts.ggp is None else facts.ggp.columns, "column", "")


def _position(answer: Position | None, what: str, consequence: str) -> Answer:
    """The verdict on blocks or on columns."""
    match answer:
        case None:
            return undecided("general position was not looked at.")
        case Unsettled(reason):
            return undecided(f"{reason}.")
        case Zero(blocks, signs, u):
            return refuted("tie of norms", f"a null vector on {len(u)} {what}s has {_tie(blocks, signs)}.")
        case Crossing(blocks, signs):
            detail = f"{_difference(blocks, signs)} takes both signs on null vectors of {len(blocks)} {what}s."
            return refuted("change of sign", detail)
        case Proof(supports):
            wins = [win for support in supports for win in support.wins]
            cones = any(isinstance(win, ConeWin) for win in wins)
            evidence = ("forms and cones" if cones else "definite forms") if wins else "square classes"
            return proved(evidence, f"norms of null vectors never tie{consequence}.")


def _tie(blocks: tuple[int, ...], signs: tuple[int, ...]) -> str:
    """|u_0| + |u_1| = |u_2| + |u_3|"""
    return " = ".join(_side(blocks, signs, sign) for sign in (1, -1))


def _difference(blocks: tuple[int, ...], signs: tuple[int, ...]) -> str:
    """|u_0| - |u_1| - |u_2|"""
    plus, minus = _side(blocks, signs, 1), _side(blocks, signs, -1)
    return f"{plus} - ({minus})" if "+" in minus else f"{plus} - {minus}"


def _side(blocks: tuple[int, ...], signs: tuple[int, ...], sign: int) -> str:
    terms = [f"|u_{b}|" for b, s in zip(blocks, signs, strict=True) if s == sign]
    return " + ".join(terms[:_SHOWN]) + (" + ..." if len(terms) > _SHOWN else "")
