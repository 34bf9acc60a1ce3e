"""Claims about derivatives by lambda and y: the conditions under which they exist, and that they do."""

from __future__ import annotations

from functools import partial

from relu_cert.claims.claim import Answer, claim, proved, refuted, undecided
from relu_cert.figures import count, enclosed_number
from relu_cert.path.conditions import Conditions, conditions
from relu_cert.path.sensitivity import Derivatives, differentiable, not_differentiable
from relu_cert.prove.facts import Facts

_claim = partial(claim, applies=lambda facts: facts.nearby is not None)
_INACTIVE = "lambda >= lambda_max: no neuron is active."
_NONE_TIGHT = "none is tight at a neuron that can be active"


def _unsettled(facts: Facts) -> Answer:
    return undecided(f"{facts.unsettled or 'the optimal set is not settled'}.")


@_claim("e-equals-a", "Every optimal network uses every neuron that ties at lambda: E = A.")
def e_equals_a(facts: Facts) -> Answer:
    """One network with every tied neuron in it, or a tied neuron that some optimal network leaves out.

    prop:local-sol-fn needs it and does not say so: with X = I, y = (2, 1), lambda = 1 and blocks of size one, LICQ and
    strict complementarity hold (there is no cone), and yet the solution has a kink.
    """
    if facts.lam**2 > facts.lambda_max.squared:
        return proved("zero", "lambda > lambda_max: no neuron ties, and none is active.")
    if facts.zero and facts.lambda_max.exact:
        return refuted("zero", "lambda = lambda_max: a neuron ties, and the only optimal network is zero.")
    known = conditions(facts)
    return _unsettled(facts) if known is None else _tied_and_active(known)


def _tied_and_active(known: Conditions) -> Answer:
    total = len(known.neurons)
    if known.all_active:
        who = "1 neuron ties, and it has" if total == 1 else f"{count(total, 'neuron')} tie, and all of them have"
        detail = f"{who} weight."
        return proved("optimal set", detail)
    if not known.unique:
        detail = "there are several optimal networks, and the minimal ones leave tied neurons out."
        return refuted("optimal set", detail)
    idle = sum(1 for one in known.neurons if one.active is False)
    if idle:
        return refuted("optimal set", f"{idle} of {total} tied neurons have weight 0.")
    open_ = sum(1 for one in known.neurons if one.active is None)
    return undecided(f"{open_} of {count(total, 'neuron')} that may tie have no weight that is proved positive.")


@_claim(
    "licq",
    "At every neuron of an optimal network the tight constraints are linearly independent (LICQ).",
    zero=_INACTIVE,
)
def licq(facts: Facts) -> Answer:
    """Independent at every neuron that may be active, or dependent at one that is (prop:local-sol-fn).

    Each hyperplane counts once, however often it is given and from whichever side, and zero rows are no constraint.
    Without it multipliers are not unique; derivatives may exist all the same.
    """
    known = conditions(facts)
    if known is None:
        return _unsettled(facts)
    wrong = [one for one in known.neurons if not one.independent and one.active is not False]
    if not wrong:
        tight, used = known.used
        if not tight:
            return proved("faces", f"{_NONE_TIGHT} ({used}).")
        return proved("faces", f"tight at {tight} of {count(used, 'neuron')}; independent, each hyperplane once.")
    if any(one.active for one in wrong):
        where = f"{len(wrong)} of {count(len(known.neurons), 'neuron')}"
        return refuted("faces", f"dependent at {where}: more hyperplanes meet there than needed.")
    return undecided(f"dependent at {count(len(wrong), 'neuron')} that may not be active.")


@_claim(
    "strict-complementarity",
    "Every neuron of an optimal network loses at first order when it leaves its face (strict complementarity).",
    zero=_INACTIVE,
)
def strict_complementarity(facts: Facts) -> Answer:
    """Strict at every neuron that may be active, or a direction in which one that is leaves its face at no cost.

    Equivalently: multipliers of the tight constraints can be strictly inside their bounds (prop:local-sol-fn). For a
    hyperplane of the data the bounds are the slopes on both sides; for a constraint of a cone the bound is 0.
    """
    known = conditions(facts)
    if known is None:
        return _unsettled(facts)
    open_ = [one for one in known.neurons if not one.strict and one.active is not False]
    if not open_:
        tight, used = known.used
        if not tight:
            return proved("faces", f"{_NONE_TIGHT} ({used}).")
        return proved("faces", f"tight at {tight} of {count(used, 'neuron')}, multipliers strictly inside at each.")
    free = sum(1 for one in open_ if one.active and one.strict is False)
    if free:
        detail = f"{free} of {count(len(known.neurons), 'neuron')} can leave their face at no cost at first order."
        return refuted("faces", detail)
    return undecided(f"the multipliers at {count(len(open_), 'neuron')} are not settled.")


@_claim(
    "sensitivity",
    "Every neuron that ties is active and keeps its face nearby, so the network is differentiable in lambda and y.",
)
def sensitivity(facts: Facts) -> Answer:
    """E = A and stable faces, or which of these fails (prop:local-sol-fn, corrected).

    The network is differentiable if E = A and every face is stable near r* (the implicit function theorem; the outputs
    are independent then). It is not, if a tied neuron has weight 0 in some optimal network: with its output q, targets
    y + t q give it the weight t for t > 0, and never a negative one. Nor if a neuron can leave its face at no cost
    while all others stay tied.
    """
    reason = differentiable(facts)
    if not reason:
        return proved("implicit function", _differentiable(facts))
    return refuted("conditions", f"{reason}.") if not_differentiable(facts) else undecided(f"{reason}.")


def _differentiable(facts: Facts) -> str:
    if facts.lam**2 > facts.lambda_max.squared:
        return "lambda > lambda_max: the network is zero nearby, all derivatives vanish."
    found = facts.derivatives
    if found is None:
        return "E = A, the outputs are independent, and all faces are stable."
    freedom, sure = freedom_and_sure(facts.problem.n, found)
    if not freedom:
        return "E = A and all faces are stable; the ball is too wide for the degrees of freedom."
    return f"E = A and all faces are stable; degrees of freedom {freedom}{f', SURE {sure}' if sure else ''}."


def freedom_and_sure(n: int, found: Derivatives) -> tuple[str, str]:
    """The degrees of freedom and SURE: as the certificate encloses them where it does, else by their balls."""
    freedom, sure = found.digits
    if found.freedom is not None and freedom:
        low, high = found.freedom - n * found.radius, found.freedom + n * found.radius
        freedom = enclosed_number(low, high, 10) if low > 0 else ""
    if found.sure is not None:
        value, radius = found.sure.value, found.sure.radius
        sure = enclosed_number(value - radius, value + radius, 10)
    return freedom, sure
