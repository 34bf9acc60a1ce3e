"""How tied neurons sit on their faces: stable ones, and directions in which one leaves its face at no cost.

FORMAT.md (`faces`) has the argument. A stable face makes v a linear map of the residual near r*.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.facts import DUAL, NEURONS, PATTERNS, Facts, proved
from verify.numbers.bounds import column, matrix, vector
from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball
from verify.problem.problem import Problem, dot, times, transposed
from verify.rule import Rule
from verify.sets.classes import read_class
from verify.sets.masses import one_sided
from verify.sets.neurons import Neuron
from verify.text import Fields, Matrix, Node, Vector, show

ZERO = Fraction(0)


def check_faces(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every entry holds; what they say is added to the neurons."""
    found, theta, patterns = facts[NEURONS], facts[DUAL].theta, facts.get(PATTERNS)
    node.require(found.system.rational, "a set whose residual is theta, or near to it", "algebraic_set")
    fields = node.record("stable", "leaving")
    neurons = list(found.neurons)
    for a, entry in enumerate(fields["stable"].array(len(neurons) if found.exact else 0)):
        if entry.value is not None:
            neurons[a] = check_stable(Ball(problem, theta, ZERO), patterns, neurons[a], entry)
    last = -1
    for entry in fields["leaving"].array():
        parts = entry.record("neuron", "u", "h")
        a = parts["neuron"].index(len(neurons))
        parts["neuron"].require(a > last, "neurons in ascending order")
        last = a
        if found.exact:
            neurons[a] = check_leaving(problem, theta, neurons, a, parts)
        else:
            check_idle_direction(problem, neurons[a], parts)
            neurons[a] = replace(neurons[a], strict=False)
    return proved(NEURONS, replace(found, neurons=tuple(neurons)))


def check_stable(ball: Ball, patterns: Patterns | None, neuron: Neuron, node: Node) -> Neuron:
    """The class of a tied neuron: its conditions are strict at r* itself, so they hold nearby."""
    class_ = read_class(ball, patterns, node)
    node.require(neuron.blocks <= 1, "null, because several blocks carry the neuron", "a class")
    v = vector(class_.B.transpose() * column(ball.theta))
    if ball.problem.model == "relu":
        xi = class_.key[0]
        same = xi == neuron.key[0] and tuple(xi * x for x in v) == neuron.v
    else:
        same = class_.key == neuron.key and v == neuron.v
    node.require(same, "the class of the tied neuron", "another one")
    strict = class_.face is None or not one_sided(ball.problem, class_.face)
    return replace(neuron, B=class_.B, face=class_.face, strict=strict or None)


def check_idle_direction(problem: Problem, neuron: Neuron, parts: Fields) -> None:
    """A class over a ball: u keeps to the basis, and no multiplier of an idle kink can be off its bound."""
    face, at = neuron.face, parts["u"]
    parts["h"].vector(0)
    if face is None or not face.kinks:
        raise at.reject("a neuron with kinks")
    vectors = problem.seen if problem.model == "relu" else problem.constraints(neuron.key[1])
    u = at.vector(len(vectors[0]))
    free = one_sided(problem, face)
    for c in face.kinks:
        slope = dot(vectors[c], u)
        if slope > 0 or (slope and c not in free):
            raise at.reject(f"{'<= 0' if c in free else '0'} at the kink {c}", show(slope))
    at.require(any(dot(vectors[c], u) for c in free), "a direction that leaves the face")


def check_leaving(problem: Problem, theta: Vector, neurons: list[Neuron], a: int, parts: Fields) -> Neuron:
    """A neuron that ties exactly: along u it leaves its face without loss; with h, v has no derivative."""
    neuron, at = neurons[a], parts["u"]
    u = at.vector(len(neuron.v))
    tight, gain, moved = at_kinks(problem, theta, neuron, u, at)
    at.require(not gain, "a direction along which the gain is 0 at first order", show(gain))
    at.require(any(dot(vector_, u) for vector_ in tight), "a direction that leaves the face")
    h = parts["h"].vector()
    if h:
        check_break(problem, theta, neurons, a, tight, moved, parts)
    return replace(neuron, strict=False, breaks=neuron.breaks or bool(h))


def at_kinks(problem: Problem, theta: Vector, neuron: Neuron, u: Vector, node: Node) -> tuple[Matrix, Fraction, Vector]:
    """The tight constraints, the first-order gain along u (never positive), and the first-order output along u."""
    node.require(problem.model != "gated", "a neuron with a cone")
    if problem.model == "cgl":
        X, K = problem.block(neuron.key[1]), problem.constraints(neuron.key[1])
        tight = tuple(k for k in K if any(k) and not dot(k, neuron.v))
        node.require(all(dot(k, u) <= 0 for k in tight), "a direction into the cone")
        pull = tuple(c - x for c, x in zip(transposed(X, theta), neuron.v, strict=True))
        return tight, dot(pull, u), times(X, u)
    xi = neuron.key[0]
    heights, slopes = problem.heights(neuron.v), problem.heights(u)
    rises = [xi * (s if h > 0 else max(s, ZERO) if h == 0 else ZERO) for h, s in zip(heights, slopes, strict=True)]
    moved = problem.pooled(rises)
    tight = tuple(z for z, h in zip(problem.seen, heights, strict=True) if any(z) and not h)
    return tight, dot(theta, moved) - dot(neuron.v, u), moved


def check_break(
    problem: Problem, theta: Vector, neurons: list[Neuron], a: int, tight: Matrix, moved: Vector, parts: Fields
) -> None:
    """u is orthogonal to the face, kinks are strictly concave, h.q = 0 for all tied neurons, h.moved is not 0."""
    node, neuron = parts["h"], neurons[a]
    h, u = node.vector(problem.n), parts["u"].vector(len(neuron.v))
    node.require(neuron.blocks <= 1, "the empty vector, because several blocks carry the neuron")
    span = matrix(tight, len(u))
    parts["u"].require(matrix((*tight, u), len(u)).rank() <= span.rank(), "a combination of the tight constraints")
    if problem.model == "relu":
        ball = Ball(problem, theta, ZERO)
        for c, plane in ball.planes.items():
            if not dot(problem.seen[c], neuron.v):
                p, l = plane.slopes(tuple(neuron.key[0] * x for x in problem.spread(theta)))
                node.require(p < l, f"the empty vector, because the kink {c} is not concave")
    for c, other in enumerate(neurons):
        node.require(not (s := dot(h, other.q)), f"h.q = 0 for the tied neuron {c}", show(s))
    node.require(dot(h, moved), "an h that the output along u is not orthogonal to")


RULE = Rule((), check_faces, rests=(DUAL, NEURONS), sharpens=(NEURONS,), bags=True)
