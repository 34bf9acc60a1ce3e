"""All optimal networks with several outputs are one: every leaf is out or near a class, and a class has one direction.

FORMAT.md, Several outputs, has the lemma. A leaf that holds for lambda - zeta R has no optimal neuron; near a class the
bound falls off quadratically, optimal neurons lie on its face, where a strictly convex function has one zero at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat

from verify.facts import DUAL, FORMS, NEURONS, SET, VALUE, Facts
from verify.numbers.bounds import column, identity, matrix, root_above
from verify.outputs.check import Form, copositive
from verify.outputs.classes import Around, OneDirection, read_class
from verify.problem.problem import Problem, square
from verify.rule import Rule
from verify.sets.neurons import Neuron
from verify.sets.solutions import OptimalSet, System
from verify.sets.superclasses import length, side_by_side, stretch
from verify.text import Node, Vector, show

MOST_CLASSES = 255


def alone(problem: Problem) -> bool:
    """Nothing free but an output bias; with the softmax nothing."""
    free: tuple[tuple[str, ...], ...] = ((),) if problem.logistic else ((), ("output-bias",))
    return problem.targets > 1 and problem.free in free and not problem.roots


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every optimal network is the same, up to splitting and permutation."""
    fields = node.record("classes", "masses")
    value, proof, theta = facts[VALUE], facts[FORMS], facts[DUAL].theta
    around = Around.of(problem, proof, theta, (1 if problem.logistic else 2) * (value.upper - value.lower))
    node.require(around.rho < problem.lam, "zeta R < lambda", show(around.rho))
    entries = fields["classes"].array()
    fields["classes"].require(len(entries) <= MOST_CLASSES, f"at most {MOST_CLASSES} classes", str(len(entries)))
    classes = [read_class(around, entry) for entry in entries]
    slack = proof.level - around.low
    for number, leaf in enumerate(proof.forms()):
        if not (out(leaf, slack) or any(near(leaf, one) for one in classes)):
            raise fields["classes"].reject("every leaf out, or near a class", f"leaf {number} is neither")
    found = weighed(around, classes, theta, fields["masses"])
    return Facts({SET: found, NEURONS: found})


def out(leaf: Form, slack: int) -> bool:
    """Whether it holds with so much less in the place of the level."""
    part = 2 * leaf.whole**2 * slack
    return any(
        copositive(
            [[q - part * g for q, g in zip(*pair, strict=True)] for pair in zip(Q, leaf.gram, strict=True)], leaf
        )
        for Q in leaf.bounds()
    )


def near(leaf: Form, one: OneDirection) -> bool:
    """Whether lambda^2 |x|^2 - |F(x)|^2 >= margin |x_|^2 in the leaf, x_ the part orthogonal to u, and x.u >= 0."""
    h = [sum(a * b for a, b in zip(g, one.u, strict=True)) for g in leaf.cone]
    if min(h, default=0) < 0:
        return False
    part = 2 * leaf.whole**2 * one.times
    Q = [
        [q - part * (one.size * g - h_i * h_j) for q, g, h_j in zip(row, grams, h, strict=True)]
        for row, grams, h_i in zip(leaf.Q, leaf.gram, h, strict=True)
    ]
    return copositive(Q, leaf)


def weighed(around: Around, classes: Sequence[OneDirection], theta: Vector, node: Node) -> OptimalSet:
    """Independent columns over the ball: one vector of weights, within an error of `masses`."""
    problem, K, C = around.problem, len(classes), around.problem.targets
    rest, far = [y - t for y, t in zip(problem.y, theta, strict=True)], around.R
    if problem.logistic:
        from verify.outputs.softmax import logarithms

        rest, far = logarithms(problem, rest, around.R, node)
    fit = around.across(matrix([rest[C * k : C * (k + 1)] for k in range(problem.n)], C))
    A = side_by_side([one.outputs * matrix([one.v], C) for one in classes], problem.n * C)
    kappa = root_above(sum((one.moved**2 for one in classes), Fraction(0)))
    if (sigma := stretch(A)) <= kappa:
        raise node.reject(f"|A x| > {show(kappa)} |x| for all x, what the ball can change", show(sigma))
    masses = node.vector(K)
    goal = fmpq_mat(problem.n * C, 1, fit.entries())
    missed = length(A * column(masses) - goal) if K else length(goal)
    error = (missed + far + kappa * root_above(square(masses))) / (sigma - kappa)
    neurons = tuple(Neuron((1, a), m > error or None, independent=True, weight=m) for a, m in enumerate(masses))
    system = System(identity(K), masses, (Fraction(0),) * K, (error,) * K, tuple(range(K)), K, {}, exact=False)
    return OptimalSet(K, 0, 0, 0, system, neurons=neurons, weight_error=error)


RULE = Rule((SET, NEURONS), check, rests=(DUAL, FORMS, VALUE), applies=alone, bags=True)
