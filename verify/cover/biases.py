"""Classes where biases are free: with a kink the bias follows from the weights. A class without kinks is *level*: it
keeps its pattern for an interval of biases, and residuals orthogonal to its rows see none of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import fmpq_mat

from verify.ball import Face
from verify.bounds import column, fraction, rational, root_above, vector
from verify.problem import dot, square
from verify.superclasses import Candidates, length
from verify.text import Fields, Matrix, Node, Vector, show


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


def check_level(found: Candidates, masses: Vector, delta: Fraction, fields: Fields) -> tuple[Matrix, int]:
    """The lift, free columns and the rows of the level classes, and how many of these have weight: at least one, if
    there are any. Rejected unless the first class of every superclass can carry its mass alone, with the bias that the
    lift gives it: it keeps the pattern. *Linear* classes, on at all rows, need neither; there is one, or none can tie.
    """
    ball, problem, node = found.ball, found.ball.problem, fields["masses"]
    theta, keys = column(ball.theta), [class_.key for class_ in found.classes]
    level = [a for a, class_ in enumerate(found.classes) if not class_.kinks]
    bent = [a for a in level if keys[a][1] + 1 < 1 << problem.n]
    slope = length(of_weights(ball.Z).transpose() * theta) + root_above(ball.zeta_squared) * ball.R
    fields["classes"].require(level != bent or slope < problem.lam, "a linear class, or no linear neuron that ties")
    lift = (*problem.lift, *(tuple(Fraction(keys[a][1] >> k & 1) for k in range(problem.n)) for a in bent))
    if not level or found.lift != lift:
        return lift, 0
    mass_of = {group[0]: mass for group, mass in zip(found.members, masses, strict=True)}
    heavy = [a for a in level if mass_of.get(a, delta) > delta]
    node.require(heavy and {*bent} <= {*heavy}, f"masses above {show(delta)}, each of the first in a superclass")
    rest = column(problem.y)  # and no residual: they are orthogonal to the lift
    for a, mass in mass_of.items():
        rest -= found.outputs[a] * rational(mass)
    sizes = sum((length(found.outputs[a]) for a in mass_of), Fraction(0))
    missed = delta * sizes + (sum(map(abs, masses)) + len(masses) * delta) * found.moved
    for j, a in enumerate(bent, len(problem.lift)):
        (xi, D), W_j = keys[a], fmpq_mat([found.W.tolist()[j]])
        b = xi * fraction((W_j * rest)[0, 0]) / mass_of[a]
        off = (length(W_j) * missed + abs(b) * delta) / (mass_of[a] - delta)
        w = vector(found.classes[a].B.transpose() * theta)
        for k, z in enumerate(problem.Z):
            height, room = xi * dot(z, w) + b, off + root_above(square(z) * ball.zeta_squared) * ball.R
            kept = height > room if D >> k & 1 else -height > room
            node.require(kept, f"a bias of class {a} that keeps its side of row {k}")
    return lift, len(heavy)
