"""The classes of an optimal set over a cover: one for each tie, in their order.

A neuron in a concave piece keeps its face over the ball if its shares stay inside (0, 1). A ray needs no multipliers:
its leaves show that the maximiser stays on it for every residual of the ball.
"""

from __future__ import annotations

from fractions import Fraction

from relu_cert.cover.lines import Lines, lines_of
from relu_cert.cover.model import Cover, Tie
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.classes import Ball, is_stable
from relu_cert.prove.faces import independent_rows, neuron_on_face
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.pieces import bit_string

SHORT = 10**6


def cover_classes(problem: Problem, cover: Cover, ball: Ball) -> tuple[NeuronClass, ...]:
    """The classes, each stable over the ball; Unsettled otherwise."""
    if problem.network is None:
        raise ValueError("a cover is about a network")
    lines = lines_of(problem.network.Z)
    first: dict[int, int] = {}
    for k, c in enumerate(lines.line):
        first.setdefault(c, k)
    if _doubtful(lines, ball):
        raise Unsettled("at a data point that some network fits exactly, signs are not settled")
    return tuple(_class(problem, lines, first, tie, ball) for tie in cover.ties)


def _doubtful(lines: Lines, ball: Ball) -> bool:
    """Whether the weight of some line may change its sign within the ball."""
    w: dict[int, Fraction] = {}
    size: dict[int, Fraction] = {}
    for c, a, t in zip(lines.line, lines.multiple, ball.center, strict=True):
        if c >= 0:
            w[c] = w.get(c, Fraction(0)) + abs(a) * t
            size[c] = size.get(c, Fraction(0)) + a * a
    return any(w[c] ** 2 <= size[c] * ball.radius_squared for c in w)


def _class(problem: Problem, lines: Lines, first: dict[int, int], tie: Tie, ball: Ball) -> NeuronClass:
    Z = problem.network.Z if problem.network else ()
    on = [c >= 0 and a * tie.side[c] > 0 for c, a in zip(lines.line, lines.multiple, strict=True)]
    tight = [c for c, s in enumerate(tie.side) if s == 0]
    kinks = sorted(first[c] for c in tight)
    if tie.shares is None:
        basis = independent_rows(Z, kinks)
        fixed = (Fraction(0),) * (len(kinks) - len(basis))
        return NeuronClass(tie.xi, bit_string(on), None, tuple(kinks), basis, fixed=fixed, ray=True)
    concave = dict(zip([first[c] for c in tight], tie.shares, strict=True))
    inside = [c for c in kinks if 0 < concave[c] < 1]
    share = {c: s.limit_denominator(SHORT) for c, s in concave.items()}
    neuron = neuron_on_face(Z, tie.xi, on, kinks, inside, share)
    if not is_stable(problem, neuron, ball):
        raise Unsettled("the face of a neuron is not settled")
    return neuron
