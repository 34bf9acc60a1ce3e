"""Claims about uniqueness: of the network, and of the solution of the convex program."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.claim import VARIANTS, Answer, claim, proved, refuted, undecided
from relu_cert.exact import sqrt_upper
from relu_cert.figures import at_most, count
from relu_cert.prove.facts import AlgebraicSet, BallSet, Exactly, Facts, NeuronClass, UnknownSet


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
