"""Classes where biases are free: with a kink the bias follows from the weights. A class without kinks is *level*: it
keeps its pattern for an interval of biases, and residuals orthogonal to its rows see none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from flint import fmpq_mat

from verify.numbers.bounds import column, fraction, rational, root_above, vector
from verify.optimal.ball import Ball, Class, Face
from verify.problem.problem import Problem, dot, square
from verify.sets.solutions import OptimalSet
from verify.sets.superclasses import Candidates, length
from verify.text import Fields, Node, Vector, show


def for_weights(face: Face, node: Node) -> Face:
    """The face for the norm of the weights: its maximiser is G c0 with G = P + p p' / (1 - p.p) in the place of P, p
    the last column of P, its multipliers -W c0 with W + (the last column of W) p' / (1 - p.p) in the place of W."""
    P, W, last = face.P, face.W, face.P.nrows() - 1
    if not face.basis:
        node.require(not face.kinks, "no kinks, or some of them in the basis")
        return face
    p, w = (fmpq_mat(A.nrows(), 1, [A[i, last] for i in range(A.nrows())]) for A in (P, W))
    bias = p.transpose() * (1 / (1 - P[last, last]))
    return replace(face, P=P + p * bias, W=W + w * bias)


def of_weights(B: fmpq_mat) -> fmpq_mat:
    """B with zeros in the column of the bias, which the norm does not see."""
    d = B.ncols()
    return fmpq_mat(B.nrows(), d, [0 if i % d == d - 1 else x for i, x in enumerate(B.entries())])


def rows_of(problem: Problem, classes: Sequence[Class]) -> dict[int, Vector]:
    """P 1_D of the level classes by D, but for *linear* ones, on at all rows, and the other rows of one before."""
    named: dict[int, Vector] = {}
    for D in (class_.key[1] for class_ in classes if not class_.kinks):
        if (others := (1 << problem.N) - 1 - D) and others not in named:
            named[D] = problem.pooled([Fraction(D >> k & 1) for k in range(problem.N)])
    return named


def kept(ball: Ball, class_: Class, node: Node) -> Vector:
    """The ends of an interval of biases that keep the pattern of a level class, for every residual of the ball."""
    (xi, D), w = class_.key, vector(class_.B.transpose() * column(ball.theta))
    ends = [(-xi * dot(z, w), root_above(square(z) * ball.zeta_squared) * ball.R) for z in ball.problem.seen]
    low = max(b + room for k, (b, room) in enumerate(ends) if D >> k & 1)
    high = min(b - room for k, (b, room) in enumerate(ends) if not D >> k & 1)
    node.require(low < high, "a bias that keeps the pattern")
    return low, high


def check_level(found: Candidates, solved: OptimalSet, fields: Fields) -> int:
    """How many level classes have weight: at least one, if there are any. Rejected unless biases that keep all patterns
    add up to what the lift has: then some optimal network has these weights. Linear classes have any bias; there is
    one, or none can tie."""
    ball, problem, node, error = found.ball, found.ball.problem, fields["masses"], solved.weight_error
    pull = of_weights(ball.pooled(ball.Z)).transpose() * column(ball.theta)
    slope = length(pull) + root_above(ball.zeta_squared) * ball.R
    every, named = (1 << problem.N) - 1, rows_of(problem, found.classes)
    linear = any(found.classes[a].key[1] == every for a in found.level)
    fields["classes"].require(linear or slope < problem.lam, "a linear class, or no linear neuron that ties")
    weights = {a: one.weight for a, one in enumerate(solved.neurons) if one.weight or one.active is None}
    heavy = [a for a in found.level if weights.get(a, error) > error]
    node.require(heavy or not found.level, f"a level class of weight above {show(error)}")
    rest, missed = column(problem.y), Fraction(0)  # and no residual: they are orthogonal to the lift
    for a, weight in weights.items():
        rest -= found.outputs[a] * rational(weight)
        missed += error * length(found.outputs[a]) + (abs(weight) + error) * found.moved
    for D, row in zip(named, found.W.tolist()[found.free - len(named) : found.free], strict=True):
        total, off = fraction((fmpq_mat([row]) * rest)[0, 0]), length(fmpq_mat([row])) * missed
        low, high = off, -off
        for a in (a for a in weights if a in found.level and found.classes[a].key[1] in (D, every - D)):
            xi, own = found.classes[a].key
            least, most = sorted((xi if own == D else -xi) * b for b in kept(ball, found.classes[a], node))
            low += weights[a] * least + error * abs(least)
            high += weights[a] * most - error * abs(most)
        node.require(low < total < high, f"biases between {show(low)} and {show(high)}", show(total))
    return len(heavy)
