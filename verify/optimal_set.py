"""The set of all optimal networks: its classes, the masses of its superclasses, a point strictly inside, its dimension.

FORMAT.md has the argument. Everything is said of every residual in the ball |r - theta| <= R.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from verify.bounds import column, identity, root_above, stretches
from verify.classes import Ball, read_class
from verify.field import Number
from verify.neurons import Neuron, of_class
from verify.outs import check_outs
from verify.patterns import Patterns
from verify.problem import Problem, square
from verify.split import check_split
from verify.superclasses import Candidates, length, read_lift, read_mixed, side_by_side
from verify.system import System
from verify.text import Node, Vector, show
from verify.value import Value


@dataclass(frozen=True)
class OptimalSet:
    """The polytope {alpha >= 0 : sum_a alpha_a q_a = fit}, `dimension` its own, with a weight for each of `classes`.

    `kinked` of the classes vanish on some row (relu) or constraint (direct problems), and of these `bends` are proved
    to have positive weight in a solution. If `exact`, the fact is `exact_set`: the dimension is 0 or at least 1, and
    only neurons with positive weight count as kinked. `neurons` says what is known of each class, or tied neuron; where
    the solution is unique, all weights are within `weight_error`. `system` are the equations of the polytope.
    `in_field`: v of each tied neuron in a field of algebraic numbers (`algebraic_set`).

    A ReLU network over some patterns (`problem.blocks`): blocks with the same B = X P have the same neuron v = B'r, and
    no other two have. `classes` and `dimension` count neurons, and kinked are those that lie in two of the blocks.
    """

    classes: int
    dimension: int
    kinked: int
    bends: int
    system: System
    exact: bool = False
    neurons: tuple[Neuron, ...] = ()
    weight_error: Fraction = Fraction(0)
    in_field: Sequence[Sequence[Number]] = ()

    def used_by(self, used: Collection[int]) -> OptimalSet:
        """The same where the neurons that some solution uses are known: those of all vertices (`exact_set`)."""
        if not self.exact:
            return self
        return replace(self, neurons=tuple(replace(one, active=a in used) for a, one in enumerate(self.neurons)))

    @property
    def all_active(self) -> bool:
        """One solution, and every neuron that may tie is in it: E = A."""
        return not self.dimension and all(neuron.active for neuron in self.neurons)

    @property
    def some_idle(self) -> bool:
        """Some solution leaves out a neuron that ties: a vertex of a polytope that is no point does."""
        return bool(self.dimension) or any(neuron.active is False for neuron in self.neurons)


def check_optimal_set(
    problem: Problem, patterns: Patterns | None, theta: Vector, multipliers: Node, value: Value, node: Node
) -> OptimalSet:
    """Reject unless the fact holds. `multipliers` are those of `dual`, which have been checked."""
    fields = node.record("lift", "classes", "out", "sigma", "masses", "split", "tau", "forced", optional=("mixed",))
    ball = Ball(problem, theta, 2 * (value.upper - value.lower))
    classes = [read_class(ball, patterns, entry) for entry in fields["classes"].array()]
    check_outs(ball, patterns, classes, multipliers, fields["out"])
    found = read_lift(ball, classes, fields["lift"])
    if "mixed" in fields:
        found = read_mixed(found, fields["mixed"])
    masses, delta = check_masses(found, fields)
    if found.lift or len(found.members) < len(classes):
        split = check_split(found, masses, delta, fields)
        neurons = tuple(of_class(problem, c, a in split.active, split.weights[a]) for a, c in enumerate(classes))
        if problem.blocks:
            carried = Counter(tuple(classes[a].B.entries()) for a in split.active)
            shared = sum(count > 1 for count in carried.values())
            dimension = split.dimension - len(split.active) + len(carried)
            return OptimalSet(
                len(carried), dimension, shared, shared, split.system, neurons=neurons, weight_error=split.off
            )
        kinked = sum(bool(classes[a].kinks) for a in split.active)
        return OptimalSet(
            len(split.active), split.dimension, kinked, kinked, split.system, neurons=neurons, weight_error=split.off
        )
    if fields["split"].vector(0) or fields["forced"].vector(0) or fields["tau"].number():
        raise fields["tau"].reject('"0", because no mass is split')
    if problem.blocks:
        kinked = bends = 0  # different kernels, different neurons: each lies in one of the blocks
    else:
        kinked = sum(bool(a.kinks) for a in classes)
        bends = sum(bool(a.kinks) and mass > delta for a, mass in zip(classes, masses, strict=True))
    k = len(classes)
    zero = (Fraction(0),) * k
    system = System(identity(k), masses, zero, (delta,) * k, tuple(range(k)), k, {}, exact=False)
    neurons = tuple(of_class(problem, a, mass > delta or None, mass) for a, mass in zip(classes, masses, strict=True))
    return OptimalSet(k, 0, kinked, bends, system, neurons=neurons, weight_error=delta)


def check_masses(found: Candidates, fields: dict[str, Node]) -> tuple[Vector, Fraction]:
    """The masses, and delta: the true ones, the same in all lifted solutions, are within delta of them."""
    ball, S = found.ball, len(found.members)
    R = root_above(ball.R_squared)
    A = side_by_side([found.across(found.outputs[group[0]]) for group in found.members], ball.problem.n)
    eps = root_above(Fraction(S)) * found.moved
    sigma = fields["sigma"].number()
    if sigma <= eps:
        raise fields["sigma"].reject(f"sigma > {show(eps)}, what the ball can change", show(sigma))
    if not stretches(A, sigma):
        raise fields["sigma"].reject("|A x| >= sigma |x| for all x", show(sigma))
    masses = fields["masses"].vector(S)
    fit = column(y_k - t_k for y_k, t_k in zip(ball.problem.y, ball.theta, strict=True))
    missed = length(A * column(masses) - found.across(fit))
    return masses, (missed + R + eps * root_above(square(masses))) / (sigma - eps)
