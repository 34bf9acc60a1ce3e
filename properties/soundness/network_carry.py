"""Metamorphic relations of given networks: the same network written otherwise, or changed together with its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import matmul, matvec, scale, transpose, zeros
from properties.exact.network import Neuron
from properties.soundness.carry import OPPOSITES, PYTHAGOREAN
from properties.soundness.held import RELATED, Held
from properties.soundness.networks import NetworkAnswer, Question, questions
from properties.strategies import orthogonal, positive_rationals
from relu_cert.network.objective import Interval

GAPS = ("network-optimal", "network-own-optimal")
SHAPE = ("network-merged", "network-independent")
BESIDE = ("patterns-complete", "optimal", "fit", "optimal-set")


@dataclass(frozen=True)
class NetworkPair:
    """Two questions with J -> factor J + shift and distances -> stretch distances. `other`: claims that may change."""

    relation: str
    before: Question
    after: Question
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    stretch: Fraction = Fraction(1)
    other: tuple[str, ...] = ()


def _split(draw: DrawFn, q: Question) -> NetworkPair:
    """(W, w2) -> (cW, c w2), (sW, s w2) with c^2 + s^2 = 1."""
    if not q.net:
        return _zero_neuron(draw, q)
    i, (a, b, h) = draw(st.integers(0, len(q.net) - 1)), draw(st.sampled_from(PYTHAGOREAN))
    one, parts = q.net[i], (Fraction(a, h), Fraction(b, h))
    both = tuple(Neuron(scale(t, one.W), t * one.w2) for t in parts)
    return NetworkPair("split a neuron", q, replace(q, net=(*q.net[:i], *both, *q.net[i + 1 :])), other=SHAPE)


def _zero_neuron(draw: DrawFn, q: Question) -> NetworkPair:
    """A neuron without weights."""
    return NetworkPair("zero neuron", q, replace(q, net=(*q.net, Neuron(zeros(len(q.Z[0])), Fraction(0)))))


def _reordered(draw: DrawFn, q: Question) -> NetworkPair:
    """The neurons in another order. (Which of several merges is done may depend on it, and so may the distance.)"""
    order = tuple(draw(st.permutations(q.net)))
    return NetworkPair("permute neurons", q, replace(q, net=order), stretch=Fraction(0))


def _scaled(draw: DrawFn, q: Question) -> NetworkPair:
    """(Z, y, lambda) -> (a^2 Z, b^2 y, a^2 b^2 lambda): W -> b/a W, w2 -> b/a w2, J -> b^4 J."""
    a, b = draw(positive_rationals(3, 2)), draw(positive_rationals(3, 2))
    t = b / a
    after = Question(
        tuple(scale(a * a, z) for z in q.Z),
        scale(b * b, q.y),
        a * a * b * b * q.lam,
        tuple(Neuron(scale(t, i.W), t * i.w2) for i in q.net),
        q.gap,
        scale(b * b, q.r),
    )
    return NetworkPair("scale", q, after, b**4, stretch=t * t)


def _rotated(draw: DrawFn, q: Question) -> NetworkPair:
    """z -> Q z, W -> Q W."""
    Q = draw(orthogonal(len(q.Z[0])))
    net = tuple(Neuron(matvec(Q, i.W), i.w2) for i in q.net)
    return NetworkPair("rotate", q, replace(q, Z=matmul(q.Z, transpose(Q)), net=net))


def _permuted(draw: DrawFn, q: Question) -> NetworkPair:
    """The data points in another order."""
    order = draw(st.permutations(range(len(q.y))))
    y, r = (tuple(of[k] for k in order) for of in (q.y, q.r))
    return NetworkPair("permute", q, replace(q, Z=tuple(q.Z[k] for k in order), y=y, r=r))


def _negated(draw: DrawFn, q: Question) -> NetworkPair:
    """y -> -y, w2 -> -w2."""
    net = tuple(Neuron(i.W, -i.w2) for i in q.net)
    return NetworkPair("negate", q, replace(q, y=scale(-1, q.y), r=scale(-1, q.r), net=net))


def _zero_row(draw: DrawFn, q: Question) -> NetworkPair:
    """A data point z = 0 with target t: J -> J + t^2/2, so that a relative gap is another one."""
    t = Fraction(draw(st.integers(-3, 3)), 2)
    after = replace(q, Z=(*q.Z, zeros(len(q.Z[0]))), y=(*q.y, t), r=(*q.r, t))
    return NetworkPair("zero row", q, after, shift=t * t / 2, other=GAPS if t else ())


def _split_row(draw: DrawFn, q: Question) -> NetworkPair:
    """(z, t) -> (c z, c t), (s z, s t) with c^2 + s^2 = 1."""
    k = draw(st.integers(0, len(q.y) - 1))
    a, b, h = draw(st.sampled_from(PYTHAGOREAN))
    c, s = Fraction(a, h), Fraction(b, h)
    Z = (*q.Z[:k], scale(c, q.Z[k]), *q.Z[k + 1 :], scale(s, q.Z[k]))
    y, r = ((*of[:k], c * of[k], *of[k + 1 :], s * of[k]) for of in (q.y, q.r))
    return NetworkPair("split row", q, replace(q, Z=Z, y=y, r=r))


Change = Callable[[DrawFn, Question], NetworkPair]
CHANGES: tuple[Change, ...] = (
    _split,
    _zero_neuron,
    _reordered,
    _scaled,
    _rotated,
    _permuted,
    _negated,
    _zero_row,
    _split_row,
)


@st.composite
def question_pairs(draw: DrawFn) -> NetworkPair:
    """A network and a changed one."""
    return draw(st.sampled_from(CHANGES))(draw, draw(questions()))


def network_related(pair: NetworkPair, said: dict[str, str]) -> Held:
    """The claims of the first answer that the second one is compared with."""
    return dict.fromkeys(set(said) - {*pair.other, *BESIDE}, RELATED)


def network_clash(pair: NetworkPair, before: NetworkAnswer, after: NetworkAnswer) -> str:
    """Where two answers cannot both be right; "" if nowhere."""
    J, other = before.comparison.examination.J, after.comparison.examination.J
    if pair.factor * J + pair.shift != other:
        return f"{pair.relation}: J is {J} before and {other} after"
    for claim, verdict in before.said.items():
        theirs = after.said.get(claim, "UNDECIDED")
        if claim not in pair.other and (verdict, theirs) in OPPOSITES:
            return f"{pair.relation}: {claim} is {verdict} before and {theirs} after"
    a, b = before.comparison.closest, after.comparison.closest
    if a is not None and b is not None and pair.stretch and not _meet(a.distance.scale(pair.stretch), b.distance):
        return f"{pair.relation}: the nearest optimal network is at another distance"
    ours, theirs_ = (x.comparison.examination.stationarity.distance_squared for x in (before, after))
    if pair.relation in {"rotate", "permute", "negate", "split row", "zero row"} and not _meet(ours, theirs_):
        return f"{pair.relation}: the shortest subgradient has another length"
    return ""


def _meet(a: Interval, b: Interval) -> bool:
    return a.lower <= b.upper and b.lower <= a.upper
