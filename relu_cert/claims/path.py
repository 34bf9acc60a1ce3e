"""Claims about intervals of lambdas: how the optimal network, or the set of them, moves."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from relu_cert.claims.claim import VARIANTS, Answer, Verdict, claim, proved, refuted, undecided
from relu_cert.claims.unique import p_unique
from relu_cert.exact import norm_squared, rational, sqrt_upper
from relu_cert.figures import at_most, count, decimal, holds_on, short, short_at_most
from relu_cert.path.curve import Curve
from relu_cert.path.pieces import Gap, Jump, PathPieces
from relu_cert.prove.facts import Facts

SHOWN_GAPS = 3
SHORT = 10  # digits of the ends of an interval
_claim = partial(claim, applies=lambda facts: facts.path is not None)


def _path(facts: Facts) -> tuple[PathPieces, Jump | None]:
    if facts.path is None:
        raise ValueError("no interval was asked for")
    return facts.path.cover, facts.path.jump


def _curve(facts: Facts) -> Curve | None:
    return None if facts.path is None else facts.path.curve


@_claim("continuous", "On the whole interval of lambdas the optimal network is unique, and so it moves continuously.")
def continuous(facts: Facts) -> Answer:
    """Unique on every piece of the interval; or not unique at some lambda of it; or the list of what is open.

    The solution map is closed and locally bounded for lambda > 0, so where it is single-valued it is continuous
    (prop:map-continuity-cgl). The fit and p* are continuous for every problem: r*(lambda) is the projection of y on
    lambda B, so for lo <= l <= l'

        |r*(l') - r*(l)| <= (l' - l) |r*(l)| / l <= (l' - l) |y| / lo      ((r' - r).(r' - (l'/l) r) <= 0),
        0 <= p*(l') - p*(l) <= (l' - l) |y|^2 / (4 lo)                     (p*' = sum |w_b| = r.(y - r) / l).
    """
    found, jump = _path(facts)
    where = _interval(found)
    if found.unique:
        if not found.pieces:
            return proved("zero", f"lambda >= lambda_max on {where}: the zero network is the only solution.")
        fit, value = lipschitz_fit_squared(facts, found.lo), lipschitz_value(facts, found.lo)
        constants = f"Lipschitz: fit {short_at_most(sqrt_upper(fit), 12)}, p* {short_at_most(value, 12)}"
        detail = f"unique for every lambda in {where}, in {count(len(found.pieces), 'piece')}; {constants}."
        return proved("pieces", detail)
    if jump is not None:
        return _jumps(jump)
    if (piece := found.several) is not None:
        lo, hi = _ends(max(piece.lo, found.lo), min(piece.hi, found.hi))
        detail = f"for {lo} <= lambda <= {hi} the optimal networks form a set of dimension "
        return refuted("lifted pieces", f"not unique: {detail}{piece.dimension} or more.")
    if found.lo <= facts.lam <= found.hi and not facts.zero and p_unique(facts)[0] is Verdict.REFUTED:
        return refuted("not unique at lambda", f"not unique at lambda = {short(facts.lam)} of the interval.")
    return undecided(_open_parts(found))


def lipschitz_fit_squared(facts: Facts, lo: Fraction) -> Fraction:
    """The square of a Lipschitz constant of the fit on [lo, inf): (|y| / lo)^2."""
    return norm_squared(facts.problem.y) / lo**2


def lipschitz_value(facts: Facts, lo: Fraction) -> Fraction:
    """A Lipschitz constant of p* on [lo, inf): |y|^2 / (4 lo)."""
    return norm_squared(facts.problem.y) / (4 * lo)


@_claim("set-continuous", "On the whole interval of lambdas the set of optimal networks moves continuously.")
def set_continuous(facts: Facts) -> Answer:
    """Every piece of the interval is settled, plain or lifted; or an exact jump; or the list of what is open.

    Where the network is unique the set is a point that moves continuously. Where the residual is proved orthogonal to a
    subspace, the set is a polytope {alpha >= 0 : F alpha = g} whose equations have full rank and move continuously, and
    which keeps a point strictly inside: such a polytope is continuous in the Hausdorff distance. At the lambda where
    that sets in, the set is still a point or keeps a point strictly inside. So no optimal network appears or vanishes
    suddenly.
    """
    found, jump = _path(facts)
    if found.complete:
        if not found.pieces:
            return proved("zero", "lambda >= lambda_max: zero is the only solution.")
        detail = f"for every lambda in {_interval(found)}, in {count(len(found.pieces), 'piece')}"
        if found.unique:
            return proved("pieces", f"{detail}: the network is unique.")
        several = [piece for piece in found.pieces if piece.lifted is not None or piece.even is not None]
        largest = max(piece.dimension for piece in several)
        said = f"on some a set of dimension {largest} or more" if largest else "one network or more is open there"
        kinds = "lifted" if all(piece.lifted is not None for piece in several) else "lifted or even"
        return proved(f"{kinds} pieces", f"{detail}, {len(several)} of them {kinds}: {said}.")
    return undecided(_open_parts(found)) if jump is None else _jumps(jump)


@_claim("min-norm-continuous", "On the interval of lambdas the optimal weights of least norm move continuously.")
def min_norm_continuous(facts: Facts) -> Answer:
    """Unique, or a set that moves continuously, on the whole interval; or an exact jump.

    Where the network is unique it is the one of least norm, and continuous. Where the set of optimal networks moves
    continuously, so does its shortest point: the set is convex and compact, and the norm strictly convex. The paper's
    closing conjecture, that the minimum-norm path is always continuous, is false: at some lambda one more neuron ties,
    with an output that depends on the others, and only there.
    """
    found, jump = _path(facts)
    if found.unique:
        return proved("pieces", "the optimal network is unique on the whole interval, so it is the one of least norm.")
    if found.complete:
        detail = "the set of optimal networks moves continuously on the whole interval, and so does its shortest point."
        return proved("lifted pieces", detail)
    if jump is not None:
        return refuted("exact jump", _norms(jump))
    parts = f"{count(len(found.gaps), 'part')} of the interval {'are' if len(found.gaps) > 1 else 'is'} open"
    return undecided(f"{parts}, and no exact jump was found.")


def _jumps(jump: Jump) -> Answer:
    detail = f"at lambda = {short(jump.lam)} there are optimal networks that no nearby ones tend to."
    return refuted("exact jump", detail)


def _norms(jump: Jump) -> str:
    """|w|^2 = lambda^2 |alpha|^2 at the jump and beside it."""
    square = jump.lam**2
    here, beside = square * norm_squared(jump.shorter), square * norm_squared(jump.limit)
    side = "below" if jump.side > 0 else "above"
    jumps = f"it jumps at lambda = {short(jump.lam)}: |w|^2 <= {short_at_most(here)} there"
    return f"{jumps}, and tends to {short(beside)} from {side}."


def _interval(found: PathPieces) -> str:
    """[lo, hi]"""
    return "[{}, {}]".format(*_ends(found.lo, found.hi))


def _ends(lo: Fraction, hi: Fraction) -> tuple[str, str]:
    """The ends of an interval on all of which something holds: exact where they are short, else rounded inwards."""
    (low, first), (high, last) = zip(map(rational, (lo, hi)), holds_on(lo, hi, SHORT), strict=True)
    return low if len(low) <= SHORT else first, high if len(high) <= SHORT else last


def _open_parts(found: PathPieces) -> str:
    """What is not settled."""
    if not found.gaps:
        several = count(sum(1 for piece in found.pieces if not piece.unique), "piece")
        return f"the set of optimal networks moves continuously; whether it is one network is open on {several}."
    open_part = sum((gap.hi - gap.lo for gap in found.gaps), Fraction(0)) / (found.hi - found.lo)
    listed = "; ".join(_gap(gap) for gap in found.gaps[:SHOWN_GAPS])
    more = f"; and {len(found.gaps) - SHOWN_GAPS} more" if len(found.gaps) > SHOWN_GAPS else ""
    return f"{at_most(open_part)} of {_interval(found)} is open: {listed}{more}."


def _gap(gap: Gap) -> str:
    return f"about {decimal((gap.lo + gap.hi) / 2, 10)} (width {at_most(gap.hi - gap.lo)}: {gap.reason})"


_of_a_curve = partial(
    claim,
    applies=lambda facts: _curve(facts) is not None,
    refused=lambda problem: "it is about a path; ask for it with `path`",
    variants=VARIANTS,
)


@_of_a_curve(
    "breakpoints", "In every listed interval of relative width 1e-12 the active neurons, or their faces, change."
)
def breakpoints(facts: Facts) -> Answer:
    """Where a neuron enters, leaves, or changes its face: each has proved ends, or it is not listed."""
    found = _curve(facts)
    if found is None or not found.breakpoints:
        return undecided("no breakpoint is listed, so that there is nothing to prove.")
    events, smooth = count(len(found.breakpoints), "breakpoint"), count(len(found.branches), "smooth piece")
    detail = (
        f"{events}, with other active neurons, or other faces, on both sides; on {smooth} no neuron enters or leaves."
    )
    return proved("pieces", detail)


@_of_a_curve(
    "curve", "At every listed lambda the objective, the width, the weights and the directions are within their bounds."
)
def curve(facts: Facts) -> Answer:
    """Each lambda has a proved radius, or it is not listed."""
    found = _curve(facts)
    samples = () if found is None else found.samples
    radii = [one.radius for one in samples if one.radius is not None]
    widths = [len(one.neurons) for one in samples]
    if not radii:
        return undecided("no lambda of a smooth piece is listed.")
    seen = f"{count(len(radii), 'lambda')}, widths {min(widths)} to {max(widths)}"
    return proved("pieces", f"{seen}; weights and directions within {at_most(max(radii))}.")
