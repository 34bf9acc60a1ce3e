"""cor:relu-continuity: the path of a p-unique network is continuous modulo splits, not modulo permutations only.

Z = (1, -1)', y = (y1, y2), y1 > y2 > 0, width 2. For lambda in [y2, y1) one neuron is active and the second is free,
so it may carry a part of the first. For lambda < y2 both are needed: the split network at y2 is not a limit.

An instance holds both optima and which part of the neuron is split off; the check looks at all of it again. For any
data with one feature the convex program is a lasso, whose path has exact limits from both sides: where the network is
unique up to permutations and splits, these are it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import left_limit, right_limit
from properties.exact.linalg import Vector, mat, scale
from properties.exact.network import Neuron, merge
from properties.exact.problem import Weights, is_optimal
from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, fails, first_failure, vacuous
from properties.strategies import PlantedReLU, plant_relu, planted_relu, positive_rationals

LABEL = "cor:relu-continuity"
STATEMENT = "Where the network is p-unique on an interval, its path is continuous up to permutations."
REPAIRED = "Where the network is p-unique on an interval, its path is continuous up to permutations and splits."
TWO, THREE = Fraction(2), Fraction(3)


@dataclass(frozen=True)
class Approach:
    """The optimum at lambda, that of the same problem at a smaller lambda, and the part of a neuron split off."""

    here: PlantedReLU
    near: PlantedReLU
    share: Fraction

    @property
    def gap(self) -> Fraction:
        """How far lambda moves."""
        return self.here.problem.lam - self.near.problem.lam


def at(y1: Fraction, y2: Fraction, lam: Fraction) -> PlantedReLU:
    """The optimum at lambda <= y1: residual (lambda, min(lambda, y2)), images y1 - lambda and (y2 - lambda)_+."""
    weights = ((y2 - lam) / lam, (y1 - lam) / lam) if lam <= y2 else ((y1 - lam) / lam,)
    found = plant_relu(mat([[1], [-1]]), (lam, min(lam, y2)), weights)
    if found is None:
        raise ArithmeticError("a neuron ties")
    return found


@st.composite
def instances(draw: DrawFn) -> Approach:
    """Any such targets; lambda is y2, below it or above, and moves down or up by a part of it, or not at all."""
    y2, rise = draw(positive_rationals()), draw(positive_rationals())
    y1 = y2 + rise
    lam = draw(st.sampled_from([y2, y2, y2 / 2, y2 + rise / 2, y1]))
    k = draw(st.integers(2, 1000))
    moved = draw(st.sampled_from([lam - lam / k, lam - lam / k, lam, lam + (y1 - lam) / k]))
    return Approach(at(y1, y2, lam), at(y1, y2, moved), Fraction(1, draw(st.integers(2, 5))))


def hypotheses(a: Approach) -> Outcome:
    """Two optima of one problem, lambda decreasing, both p-unique."""
    if (a.here.Z, a.here.y) != (a.near.Z, a.near.y):
        return vacuous("two different problems")
    if not (is_optimal(a.here.problem, a.here.convex.w) and is_optimal(a.near.problem, a.near.convex.w)):
        return vacuous("a network is not optimal")
    if not (a.here.p_unique and a.near.p_unique):
        return vacuous("not p-unique")
    return HOLDS if a.gap > 0 else vacuous("lambda does not decrease")


def images(planted: PlantedReLU) -> dict[tuple[int, Vector], Fraction]:
    """|alpha v| of every tied neuron, by its sign and its direction v / lambda."""
    lam = planted.problem.lam
    pairs = zip(planted.alpha, planted.neurons, strict=True)
    return {(xi, tuple(x / lam for x in v)): alpha * lam for alpha, (xi, v) in pairs}


def split_distance(a: Approach) -> Fraction:
    """A lower bound on the squared distance of the split network at lambda from all optimal ones at smaller lambdas.

    There is one neuron at lambda, of direction u, and another one, of direction -u, ties with weight 0 and has some at
    the smaller lambda, however near. That stands in the place of one part of the first, whose |W|^2 is its share of
    |alpha v|. Zero if there are no such neurons.
    """
    here, near = images(a.here), images(a.near)
    active = [key for key, image in here.items() if image]
    fresh = [(xi, scale(-1, u)) for (xi, u), image in here.items() if not image and near[xi, u]]
    return min(a.share, 1 - a.share) * here[active[0]] if active and fresh == active else Fraction(0)


def check(a: Approach) -> Outcome:
    """The split network at lambda against all optimal networks of width 2 beside it, however small the gap."""
    unmet = hypotheses(a)
    if unmet is not HOLDS:
        return unmet
    distance = split_distance(a)
    if not distance:
        return vacuous("no neuron is split off")
    return fails(
        f"p-unique, but the split network at lambda = {a.here.problem.lam} stays at squared distance {distance}"
    )


@dataclass(frozen=True)
class Limits:
    """Data with one feature, and the limits of the solution of the convex program from both sides of lambda."""

    planted: PlantedReLU
    below: Weights
    above: Weights


def with_limits(planted: PlantedReLU) -> Limits:
    """Both limits along an exact path."""
    p = planted.problem
    return Limits(planted, left_limit(p, p.lam), right_limit(p, p.lam))


def merged(w: Weights) -> tuple[tuple[int, Vector], ...]:
    """The network of a convex solution, collinear neurons merged. Blocks take turns with their signs."""
    return merge(tuple(Neuron(wb, Fraction((-1) ** b)) for b, wb in enumerate(w)))


def check_limits(a: Limits) -> Outcome:
    """The network and its limits."""
    if not a.planted.p_unique:
        return vacuous("not p-unique")
    found = {merged(w) for w in (a.below, a.planted.convex.w, a.above)}
    return expect(len(found) == 1, f"the path jumps at lambda = {a.planted.problem.lam}")


def check_repaired(a: Approach | Limits) -> Outcome:
    """Both limits are the network; and on two points a bound, however far lambda moves."""
    return check_limits(a) if isinstance(a, Limits) else check_moves(a)


def check_moves(a: Approach) -> Outcome:
    """Merged images: none moves by more than lambda does (one that does not tie is zero)."""
    here, near = images(a.here), images(a.near)
    moved = [abs(here.get(key, Fraction(0)) - near.get(key, Fraction(0))) for key in here | near]
    return first_failure(
        expect(max(moved) <= abs(a.gap), f"a neuron moves by {max(moved)}, lambda by {a.gap}"),
        hypotheses(a),
    )


CLAIM = Claim(
    LABEL,
    "Continuity of the path",
    Property(STATEMENT, instances(), check),
    witnesses=(
        Witness(
            "Z = (1,-1)', y = (3,2), m = 2, lambda = 2",
            Approach(at(THREE, TWO, TWO), at(THREE, TWO, TWO - Fraction(1, 100)), Fraction(1, 2)),
        ),
    ),
    repaired=Property(REPAIRED, st.one_of(instances(), planted_relu(max_d=1).map(with_limits)), check_repaired),
)
