"""What is known of the set of all solutions, whichever rule proves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import fmpq_mat

from verify.facts import DUAL, MULTIPLIERS, NEURONS, SET, VALUE, Fact, Facts
from verify.problem.problem import Problem
from verify.rule import Applies, Rule, plain
from verify.sets.neurons import Neuron

if TYPE_CHECKING:
    from verify.text import Node, Vector


@dataclass(frozen=True)
class System:
    """{alpha >= 0 : F alpha = g}: one column of F for each class of `names`, `total` classes are tied at lambda.

    Every entry in row l of F is within F_error[l] of the true one, g[l] within g_error[l]; all errors are 0 if `exact`.
    The rows of the true F are independent, and the true polytope is bounded and not empty. `silent` names rows whose
    true g is exactly 0, each with the columns in which the true F is exactly 0.
    """

    F: Any  # a matrix of flint, or over a field
    g: Sequence[Any]
    F_error: Vector
    g_error: Vector
    names: tuple[int, ...]
    total: int
    silent: dict[int, frozenset[int]]
    exact: bool

    @property
    def rows(self) -> int:
        """The rank of F."""
        return len(self.g)

    @property
    def rational(self) -> bool:
        """Whether F and g are, and not of a field."""
        return isinstance(self.F, fmpq_mat)


@dataclass(frozen=True)
class OptimalSet:
    """The polytope {alpha >= 0 : sum_a alpha_a q_a = fit}, `dimension` its own, with a weight for each of `classes`.

    `kinked` of the classes vanish on some row (relu) or constraint (direct problems), and of these `bends` are proved
    to have positive weight in a solution. If `exact`, the fact is `exact_set`: the dimension is 0 or at least 1, and
    only neurons with positive weight count as kinked. `neurons` says what is known of each class, or tied neuron; where
    the solution is unique, all weights are within `weight_error`. `system` are the equations of the polytope.
    `level`: so many classes, all with weight, may change their free biases, and nothing is said of single neurons.

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
    level: int = 0

    @property
    def all_active(self) -> bool:
        """One solution, and every neuron that may tie is in it: E = A."""
        return not self.dimension and all(neuron.active for neuron in self.neurons)


Check = Callable[[Problem, Facts, "Node"], OptimalSet]


def lifted(problem: Problem) -> bool:
    """The plain problem, perhaps with free columns: these are a lift of it."""
    return not (problem.delta or problem.logistic)


def set_rule(check: Check, by: Fact[Any] | None = MULTIPLIERS, applies: Applies = plain) -> Rule:
    """A rule that proves the set and what is known of its neurons, on the ground of what proves the dual point (None:
    of multipliers or a cover, as the rule says itself)."""

    def both(problem: Problem, facts: Facts, node: Node) -> Facts:
        found = check(problem, facts, node)
        return Facts({SET: found} if found.level else {SET: found, NEURONS: found})

    rests = (DUAL, VALUE) if by is None else (DUAL, by, VALUE)
    return Rule((SET, NEURONS), both, rests, listed=by is MULTIPLIERS, applies=applies, bags=True)
