"""The classes of an optimal set over a cover: one for each tie, in their order.

A neuron in a concave piece keeps its face over the ball if its shares stay inside (0, 1). A ray needs no multipliers:
its leaves show that the maximiser stays on it for every residual of the ball.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from relu_cert.cover.lines import Weights, doubtful, lines_of, weights_of
from relu_cert.cover.ties import gradient_squared, heights, piece_squared
from relu_cert.evidence import Cover, Tie
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.problem import Problem
from relu_cert.prove.candidates import Candidates, distinct, find_candidates, out_threshold_squared
from relu_cert.prove.classes import Ball, has_biases, is_stable, size_squared
from relu_cert.prove.facts import Dual, ExactNeuron, NeuronClass
from relu_cert.prove.proposed_faces import independent_rows, neuron_on_face
from relu_cert.prove.unsettled import Unsettled

SHORT = 10**6
NO_WEIGHT = "a neuron that ties is zero only at rows of which the residual is zero"
ON_A_FACE = "with free biases a neuron on a face where pieces bend up is not settled"


def covered_candidates(
    problem: Problem, lam: Fraction, dual: Dual, ball: Ball, network: Sequence[ExactNeuron]
) -> Candidates:
    """All classes that may be active, where a cover proves the dual point; else as without one."""
    if not isinstance(dual.multipliers, Cover):
        return find_candidates(problem, lam, dual, ball, network)
    found = cover_classes(problem, lam, dual.multipliers, ball, network)
    return Candidates(distinct(found), ties=found)


def cover_classes(
    problem: Problem, lam: Fraction, cover: Cover, ball: Ball, network: Sequence[ExactNeuron]
) -> tuple[NeuronClass | None, ...]:
    """The classes, one for each tie, each stable over the ball, None where the piece is out; Unsettled otherwise."""
    Z = problem.relu.Z
    lines = lines_of(Z, has_biases(problem), problem.relu.bags)
    first: dict[int, int] = {}
    for k, c in enumerate(lines.line):
        first.setdefault(c, k)
    weights = {xi: weights_of(lines, ball.center, xi) for xi in (1, -1)}
    limit = out_threshold_squared(lam, size_squared(problem), ball.radius_squared)
    return tuple(
        None
        if _squared(weights[tie.xi], cover, tie) < limit
        else _class(problem, weights[tie.xi], first, tie, ball, network)
        for tie in cover.ties
    )


def _squared(weights: Weights, cover: Cover, tie: Tie) -> Fraction:
    if tie.shares is None:
        return gradient_squared(cover.basis, weights, tie)
    return piece_squared(weights, tie)


def _class(
    problem: Problem, weights: Weights, first: dict[int, int], tie: Tie, ball: Ball, network: Sequence[ExactNeuron]
) -> NeuronClass:
    Z, lines = problem.relu.Z, weights.lines
    through = [c for c, h in enumerate(heights(weights, tie.u)) if not h]
    side = [0 if c in set(through) else s for c, s in enumerate(tie.side)]
    on = [c >= 0 and a * side[c] > 0 for c, a in zip(lines.line, lines.multiple, strict=True)]
    kinks = sorted(first[c] for c in through)
    if tie.shares is None and has_biases(problem):
        raise Unsettled(ON_A_FACE)
    if tie.shares is None:
        basis = independent_rows(Z, kinks)
        fixed = (Fraction(0),) * (len(kinks) - len(basis))
        return NeuronClass(tie.xi, bit_string(on), None, tuple(kinks), basis, fixed=fixed, ray=True)
    weighty = [c for c in through if weights.w[c]]
    shares = {first[c]: Fraction(0) for c in through} | dict(zip([first[c] for c in weighty], tie.shares, strict=True))
    inside = [c for c in kinks if shares[c] not in (0, 1)]
    if has_biases(problem) and not inside:  # level: at an end of its interval of biases, or between
        if {c for c in through if weights.w[c]} & set(doubtful(weights, ball.radius_squared)):
            raise Unsettled(NO_WEIGHT)
        whole = {c for c in through if shares[first[c]] == 1}
        own = [o or c in whole for o, c in zip(on, lines.line, strict=True)]
        return NeuronClass(tie.xi, _level_pattern(own, weights, tie, network), None)
    short = {c: s.limit_denominator(SHORT) for c, s in shares.items()}
    sides = tuple((first[c], tie.side[c]) for c in weighty if weights.w[c] > 0)
    neuron = replace(neuron_on_face(Z, tie.xi, on, kinks, inside, short), sides=sides)
    if not is_stable(problem, neuron, ball):
        raise Unsettled("the face of a neuron is not settled")
    return neuron


def _level_pattern(on: Sequence[bool], weights: Weights, tie: Tie, network: Sequence[ExactNeuron]) -> str:
    """The pattern of a level neuron; at rows without weight, where the residual sees no side, that of the network,
    which may have neurons on both."""
    seen = [bool(weights.w[c]) for c in weights.lines.line]
    near = [
        one.pattern
        for one in network
        if one.pattern is not None
        and one.sign == tie.xi
        and all((bit == "1") == o for bit, o, s in zip(one.pattern, on, seen, strict=True) if s)
    ]
    own = bit_string(on)
    return near[0] if near and own not in near else own
