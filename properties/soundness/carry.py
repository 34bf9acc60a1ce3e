"""Metamorphic relations: changes of the data under which the theory says what becomes of the optimum.

Each relation gives another case, p* -> factor p* + shift (+ log 2), and says whether general position (a question of
n, too) stays as it is. All other verdicts, the dimension, the widths and the edges of the optimal set carry over. Some
relations only say that p* does not fall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact import enclose
from properties.exact.linalg import matmul, scale, transpose
from properties.exact.patterns import Pattern, patterns
from properties.exact.problem import CGL
from properties.soundness.case import Answer, Case, DirectCase, NetworkCase
from properties.soundness.draw import any_network, any_variant
from properties.soundness.held import RELATED, Held
from properties.strategies import orthogonal, planted_elastic, positive_rationals

POSITION = frozenset({"ggp", "general-position"})
SHAPE = frozenset({"optimal-set", "minimal"})
OPPOSITES = {("PROVED", "REFUTED"), ("REFUTED", "PROVED")}
PYTHAGOREAN = ((3, 4, 5), (4, 3, 5), (5, 12, 13), (8, 15, 17))


@dataclass(frozen=True)
class Pair:
    """Two cases with p*(after) = factor p*(before) + shift + logs log 2. `position`: general position carries over.

    With `rises` all that is known is p*(after) >= p*(before); with `value` verdicts do not carry over.
    """

    relation: str
    before: Case
    after: Case
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    position: bool = False
    logs: int = 0
    rises: bool = False
    value: bool = False


def _scaled(draw: DrawFn, case: NetworkCase) -> Pair:
    """(Z, y, lambda, delta) -> (a Z, b y, a b lambda, a^2 delta): neurons u -> (b/a) u, p* -> b^2 p*. Labels stay."""
    a, b = draw(positive_rationals(5, 3)), Fraction(1) if case.logistic else draw(positive_rationals(5, 3))
    Z = tuple(scale(a, z) for z in case.Z)
    after = replace(case, Z=Z, y=scale(b, case.y), lam=a * b * case.lam, delta=a * a * case.delta)
    return Pair("scale", case, after, b * b, position=True)


def _permuted(draw: DrawFn, case: NetworkCase) -> Pair:
    """The data points in another order."""
    order = draw(st.permutations(range(len(case.y))))
    Z, y = tuple(case.Z[k] for k in order), tuple(case.y[k] for k in order)
    chosen = _bits(case, lambda pattern: tuple(pattern[k] for k in order))
    return Pair("permute", case, replace(case, Z=Z, y=y, chosen=chosen), position=True)


def _bits(case: NetworkCase, change: Callable[[Pattern], Pattern]) -> tuple[Pattern, ...] | None:
    """The chosen patterns, each changed like the rows."""
    return None if case.chosen is None else tuple(map(change, case.chosen))


def _rotated(draw: DrawFn, case: NetworkCase) -> Pair:
    """z -> Q z with a rational orthogonal Q. (The columns of X change: general position is left out.)"""
    Q = draw(orthogonal(len(case.Z[0])))
    return Pair("rotate", case, replace(case, Z=matmul(case.Z, transpose(Q))))


def _negated(draw: DrawFn, case: NetworkCase) -> Pair:
    """y -> -y: all second-layer signs flip."""
    return Pair("negate", case, replace(case, y=scale(-1, case.y)), position=True)


def _zero_row(draw: DrawFn, case: NetworkCase) -> Pair:
    """A data point z = 0 with target t: every network is 0 there, p* -> p* + t^2/2 (logistic: p* + log 2)."""
    k, t = draw(st.integers(0, len(case.y))), Fraction(draw(st.integers(-3, 3)), 2)
    t = Fraction(1 if t > 0 else -1) if case.logistic else t
    on = draw(st.booleans())
    Z = (*case.Z[:k], (Fraction(0),) * len(case.Z[0]), *case.Z[k:])
    chosen = _bits(case, lambda pattern: (*pattern[:k], on, *pattern[k:]))
    after = replace(case, Z=Z, y=(*case.y[:k], t, *case.y[k:]), chosen=chosen)
    shift = Fraction(0) if case.logistic else t * t / 2
    return Pair("zero row", case, after, shift=shift, logs=int(case.logistic))


def _zero_column(draw: DrawFn, case: NetworkCase) -> Pair:
    """A feature that is always 0: its weights are 0 in every solution."""
    return Pair("zero column", case, replace(case, Z=tuple((*z, Fraction(0)) for z in case.Z)))


def _split_row(draw: DrawFn, case: NetworkCase) -> Pair:
    """(z, t) -> (c z, c t), (s z, s t) with c^2 + s^2 = 1, c, s > 0: the same loss, as networks are homogeneous."""
    k = draw(st.integers(0, len(case.y) - 1))
    a, b, h = draw(st.sampled_from(PYTHAGOREAN))
    c, s = Fraction(a, h), Fraction(b, h)
    Z = (*case.Z[:k], scale(c, case.Z[k]), *case.Z[k + 1 :], scale(s, case.Z[k]))
    y = (*case.y[:k], c * case.y[k], *case.y[k + 1 :], s * case.y[k])
    chosen = _bits(case, lambda pattern: (*pattern, pattern[k]))
    return Pair("split row", case, replace(case, Z=Z, y=y, chosen=chosen))


def _twice(draw: DrawFn, case: NetworkCase) -> Pair:
    """All points twice, lambda and delta twice: the same problem, p* -> 2 p*."""
    chosen = _bits(case, lambda pattern: (*pattern, *pattern))
    after = replace(case, Z=case.Z * 2, y=case.y * 2, lam=2 * case.lam, chosen=chosen, delta=2 * case.delta)
    return Pair("points twice", case, after, Fraction(2))


def _written_out(draw: DrawFn, case: NetworkCase) -> Pair:
    """The convex program as a direct problem: another way through solver, proofs and checker."""
    return Pair("written out", case, case.written_out, position=case.model == "gated")


Change = Callable[[DrawFn, NetworkCase], Pair]
CHANGES: dict[str, Change] = {
    "scale": _scaled,
    "permute": _permuted,
    "rotate": _rotated,
    "negate": _negated,
    "zero row": _zero_row,
    "zero column": _zero_column,
    "split row": _split_row,
    "points twice": _twice,
}


def _stretched(draw: DrawFn, case: NetworkCase) -> Pair:
    """A larger delta (none before, perhaps): p* does not fall."""
    less = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(99, 100)]))
    delta = case.delta or Fraction(1)
    return Pair("more delta", replace(case, delta=less * delta), replace(case, delta=delta), rises=True)


def _thinned(draw: DrawFn, case: NetworkCase) -> Pair:
    """Fewer patterns: p* does not fall."""
    some = draw(st.lists(st.sampled_from(patterns(case.Z).all), min_size=1, max_size=4, unique=True))
    more = case.chosen if case.chosen is None else tuple(dict.fromkeys((*case.chosen, *some)))
    return Pair("fewer patterns", replace(case, chosen=more), replace(case, chosen=tuple(some)), rises=True)


def _every_pattern(draw: DrawFn, case: NetworkCase) -> Pair:
    """All of D_Z, and the same patterns one by one, in any order."""
    order = tuple(draw(st.permutations(patterns(case.Z).all)))
    return Pair("every pattern", replace(case, chosen=None), replace(case, chosen=order), position=True)


VARIANT_CHANGES: dict[str, Change] = {
    **CHANGES,
    "more delta": _stretched,
    "fewer patterns": _thinned,
    "every pattern": _every_pattern,
    "written out": _written_out,
}


@st.composite
def variant_pairs(draw: DrawFn) -> Pair:
    """A variant and a changed one. Rows cannot be split, and there is no delta, with the logistic loss."""
    case = draw(any_variant())
    barred = {"split row", "more delta"} if case.logistic else set()
    return VARIANT_CHANGES[draw(st.sampled_from(sorted(set(VARIANT_CHANGES) - barred)))](draw, case)


@st.composite
def doubled_pairs(draw: DrawFn) -> Pair:
    """Every block twice, and delta twice: w_b in halves has the same fit and the same penalty."""
    planted = draw(planted_elastic())
    p = planted.problem
    before = DirectCase(p, planted.delta)
    twice = tuple(b for b in p.blocks for _ in range(2))
    return Pair("every block twice", before, DirectCase(CGL(twice, p.y, p.lam2), 2 * planted.delta))


@st.composite
def network_pairs(draw: DrawFn) -> Pair:
    """A network and a changed one."""
    return CHANGES[draw(st.sampled_from(sorted(CHANGES)))](draw, draw(any_network()))


@st.composite
def written_out_pairs(draw: DrawFn) -> Pair:
    """A network and the same convex program as a direct problem."""
    return _written_out(draw, draw(any_network(max_n=4, max_d=2)))


def clash(pair: Pair, before: Answer, after: Answer) -> str:
    """Where two answers cannot both be right; "" if nowhere."""
    a, b = before.facts.value, after.facts.value
    if pair.rises:
        return f"{pair.relation}: p* falls below {float(a.lower)}" if b.upper < a.lower else ""
    log2 = enclose.entropy(Fraction(1, 2))
    low = pair.factor * a.lower + pair.shift + pair.logs * log2[0]
    high = pair.factor * a.upper + pair.shift + pair.logs * log2[1]
    if low > b.upper or high < b.lower:
        return f"{pair.relation}: [{float(low)}, {float(high)}] and [{float(b.lower)}, {float(b.upper)}] do not meet"
    if pair.value:
        return ""
    if isinstance(pair.before, NetworkCase) and isinstance(pair.after, DirectCase):
        return _clash_written_out(pair, before, after)
    for claim, verdict in before.said.items():
        if claim in POSITION and not pair.position:
            continue
        if (verdict, after.said.get(claim, "UNDECIDED")) in OPPOSITES:
            return f"{pair.relation}: {claim} is {verdict} before and {after.said[claim]} after"
    return _other_shape(pair, before, after)


def related(pair: Pair, before: Answer) -> Held:
    """The claims of the first answer that the second one is compared with."""
    if pair.rises or pair.value:
        return {"optimal": RELATED}
    claims = set(before.said) - {"patterns-complete", "fit"}
    if isinstance(pair.before, NetworkCase) and isinstance(pair.after, DirectCase):
        gated = pair.before.model == "gated"
        claims &= {"optimal", "p-unique", "convex-unique"} | (POSITION | SHAPE if gated else set())
    return dict.fromkeys(claims - (set() if pair.position else POSITION), RELATED)


def _clash_written_out(pair: Pair, before: Answer, after: Answer) -> str:
    """For a ReLU network uniqueness of the direct problem is that of the convex program."""
    gated = isinstance(pair.before, NetworkCase) and pair.before.model == "gated"
    if before.facts.lambda_max.squared != after.facts.lambda_max.squared:
        return f"{pair.relation}: lambda_max differs"
    for claim in ("p-unique", "convex-unique", "ggp", "general-position"):
        ours = before.said.get(claim if gated else "convex-unique", "UNDECIDED")
        theirs = after.said.get(claim, "UNDECIDED")
        if (gated or claim not in POSITION) and (ours, theirs) in OPPOSITES:
            return f"{pair.relation}: {claim} is {ours} for the network and {theirs} for the direct problem"
    if before.said.get("p-unique") == "REFUTED" and after.said["convex-unique"] == "PROVED":
        return f"{pair.relation}: two networks, but one solution of the direct problem"
    return _other_shape(pair, before, after) if gated else ""


def _other_shape(pair: Pair, before: Answer, after: Answer) -> str:
    """Whether both list the optimal set, but not the same one."""
    a, b = before.facts.polytope, after.facts.polytope
    if a is None or b is None:
        return ""
    ours = (a.dimension, a.rank, sorted(a.widths), len(a.edges), len(a.used))
    theirs = (b.dimension, b.rank, sorted(b.widths), len(b.edges), len(b.used))
    return "" if ours == theirs else f"{pair.relation}: (dimension, rank, widths, edges, used) {ours} and {theirs}"
