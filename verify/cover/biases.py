"""Classes where biases are free: with a kink the bias follows from the weights. A class without kinks is *level*: it
keeps its pattern for an interval of biases, and residuals orthogonal to its rows see none of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import fmpq_mat

from verify.ball import Ball, Face
from verify.bounds import column, fraction, rational, root_above, vector
from verify.problem import dot, square
from verify.superclasses import Candidates, length
from verify.text import Matrix, Node, Vector


def for_weights(face: Face, node: Node) -> Face:
    """The face for the norm of the weights: its maximiser is G c0 with G = P + p p' / (1 - p.p) in the place of P, p the
    last column of P, and its multipliers are -W c0 with W + (the last column of W) p' / (1 - p.p) in the place of W."""
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


def check_linear(ball: Ball, moved: Fraction, node: Node) -> None:
    """Reject unless no neuron that is on at all rows ties: |X'theta| + what the ball can change < lambda."""
    theta = column(ball.theta)
    node.require(length(of_weights(ball.Z).transpose() * theta) + moved < ball.problem.lam, "no linear neuron that ties")


def check_level(found: Candidates, masses: Vector, delta: Fraction, node: Node) -> tuple[Matrix, int]:
    """The lift, free columns and the rows of the level classes, whose number comes with it; rejected unless the bias
    that the lift gives to each of these, up to its possible error, keeps the pattern."""
    ball, problem = found.ball, found.ball.problem
    level = [a for a, class_ in enumerate(found.classes) if not class_.kinks]
    rows = [tuple(Fraction(found.classes[a].key[1] >> k & 1) for k in range(problem.n)) for a in level]
    lift = (*problem.outputs, *rows)
    if not level or found.lift != lift:
        return lift, len(level)
    node.require(len(found.members) == len(found.classes), "no two classes whose outputs differ by the lift")
    rest = column(y_k - t_k for y_k, t_k in zip(problem.y, ball.theta, strict=True))
    for q, mass in zip(found.outputs, masses, strict=True):
        rest -= q * rational(mass)
    sizes = sum((length(q) for q in found.outputs), Fraction(0))
    missed = ball.R + delta * sizes + (sum(map(abs, masses)) + len(masses) * delta) * found.moved
    for j, a in enumerate(level, len(problem.outputs)):
        class_, W_j = found.classes[a], fmpq_mat([found.W.tolist()[j]])
        node.require(masses[a] > delta, "a level class with weight")
        b = class_.key[0] * fraction((W_j * rest)[0, 0]) / masses[a]
        off = (length(W_j) * missed + abs(b) * delta) / (masses[a] - delta)
        w = tuple(class_.key[0] * x for x in vector(class_.B.transpose() * column(ball.theta)))
        for k, z in enumerate(problem.Z):
            height = (dot(z, w) + b) * (1 if class_.key[1] >> k & 1 else -1)
            kept = height > off + root_above(square(z) * ball.zeta_squared) * ball.R
            node.require(kept, f"a bias of class {a} that keeps its side of row {k}")
    return lift, len(level)
