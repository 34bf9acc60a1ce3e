"""From the classes of an optimal set to the set itself: masses of superclasses, a point strictly inside, its dimension.

FORMAT.md has the argument. Everything is said of every residual in the ball |r - theta| <= R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verify.numbers.bounds import column, matrix, root_above
from verify.optimal.ball import Ball, Class, Face, planes_of
from verify.problem.problem import Problem, dot, square
from verify.sets.neurons import Neuron, are_independent
from verify.sets.solutions import OptimalSet, System
from verify.sets.superclasses import Candidates, length, read_rows, side_by_side, stretch
from verify.text import Fields, Node, Vector, show

KEYS = ("lift", "classes", "masses", "split", "forced")


def check_set(ball: Ball, classes: Sequence[Class], fields: Fields) -> OptimalSet:
    """The set over these classes, which are all neurons that can be active; rejected unless its evidence holds."""
    problem, free = ball.problem, ball.problem.outputs
    if problem.biases:
        from verify.sets.biases import check_level, rows_of

        free = (*free, *rows_of(problem, classes).values())
    found = Candidates(ball, classes, *read_rows(ball.residuals, fields["lift"]), free=len(free))
    if "mixed" in fields:
        from verify.sets.split import read_mixed

        found = read_mixed(found, fields["mixed"])
    first, further = found.lift[: len(free)], found.lift[len(free) :]
    if first != free or (free and found.mixed) or any(dot(row, l) for row in free for l in further):
        raise fields["lift"].reject("the free columns, then rows orthogonal to them, and no mixed class", "others")
    masses, delta = check_masses(found, fields)
    if further or (len(found.members) < len(classes) and (not free or fields["split"].value)):
        from verify.sets.split import check_split

        solved = check_split(found, masses, delta, fields)
    else:
        fields["split"].vector(0)
        fields["forced"].vector(0)
        solved = shared_masses(found, masses, delta, fields["masses"])
    return replace(solved, level=check_level(found, solved, fields)) if problem.biases else solved


def shared_masses(found: Candidates, masses: Vector, delta: Fraction, node: Node) -> OptimalSet:
    """Without a split: classes that differ by free terms share their mass in any way, a product of simplices."""
    problem, classes, k, S = found.ball.problem, found.classes, len(found.classes), len(found.members)
    if k > S and not all(mass > delta for mass in masses):
        raise node.reject(f"masses above {show(delta)}, so that all classes tie")
    F = matrix(([Fraction(a in group) for a in range(k)] for group in found.members), k)
    system = System(F, masses, (Fraction(0),) * S, (delta,) * S, tuple(range(k)), k, {}, exact=False)
    mass = {a: mass for group, mass in zip(found.members, masses, strict=True) for a in group}
    first = [group[0] for group in found.members]
    neurons = tuple(
        of_class(problem, c, mass[a] > delta or None, mass[a] * (a in first)) for a, c in enumerate(classes)
    )
    kinked = [a for a, one in enumerate(classes) if one.kinks and not problem.blocks]  # each lies in one of the blocks
    bends = sum(mass[a] > delta for a in kinked)
    return OptimalSet(k, k - S, len(kinked), bends, system, neurons=neurons, weight_error=delta)


def check_masses(found: Candidates, fields: Fields) -> tuple[Vector, Fraction]:
    """The masses, and delta: the true ones, the same in all lifted solutions, are within delta of them."""
    ball, S = found.ball, len(found.members)
    A = side_by_side([found.across(found.outputs[group[0]]) for group in found.members], ball.problem.n)
    eps = root_above(Fraction(S)) * found.moved
    if (sigma := stretch(A)) <= eps:
        raise fields["masses"].reject(f"|A x| > {show(eps)} |x| for all x, what the ball can change", show(sigma))
    masses = fields["masses"].vector(S)
    fit = column(y_k - t_k for y_k, t_k in zip(ball.problem.y, ball.theta, strict=True))
    missed = length(A * column(masses) - found.across(fit))
    return masses, (missed + ball.R + eps * root_above(square(masses))) / (sigma - eps)


def of_class(problem: Problem, a: Class, active: bool | None, weight: Fraction) -> Neuron:
    """A neuron whose face is stable over the ball; an idle kink with a multiplier on its bound leaves `strict` open."""
    if a.face is None:
        return Neuron(a.key, active, independent=True, strict=True, B=a.B, weight=weight)
    vectors = problem.seen if problem.model == "relu" else problem.constraints(a.key[1])
    independent = are_independent(vectors[c] for c in a.kinks)
    strict = True if not one_sided(problem, a.face) else None
    return Neuron(a.key, active, independent, strict, a.B, weight, a.face, tight=bool(a.kinks))


def one_sided(problem: Problem, face: Face) -> tuple[int, ...]:
    """The idle kinks whose multiplier, 0, is on its bound: all of direct problems; relu: no row looks the other way."""
    if problem.model != "relu" or not face.idle:
        return face.idle
    planes = planes_of(problem.seen)
    return tuple(c for c in face.idle if min(planes[c].a.values()) > 0)
