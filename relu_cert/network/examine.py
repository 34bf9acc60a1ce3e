"""All that is said about one network, in one value; every number in it is exact or an exact enclosure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from relu_cert.bags import EACH, Each
from relu_cert.exact import Matrix, Vector
from relu_cert.network.closest import Closest, Matching, closest, match
from relu_cert.network.directions import direction_bounds
from relu_cert.network.merge import Merged, merge_cells, merge_collinear, merge_on_data
from relu_cert.network.objective import (
    ConvexNeuron,
    Interval,
    bias_free,
    convex_form,
    enclosed_loss,
    penalty,
    penalty_sum,
)
from relu_cert.network.optimum import known_optimum
from relu_cert.network.prune import Pruned, output_rank, prune_best
from relu_cert.network.scale import NeuronScale, scales
from relu_cert.network.stationarity import Stationarity, stationarity
from relu_cert.network.trained import TrainedNetwork
from relu_cert.problem.loss import SQUARES, Loss
from relu_cert.prove.facts import Facts, Value

_ZERO = Fraction(0)
NEAR = Fraction(1, 2**30)  # rows this near to a kink count as kinks in `near_stationarity`


@dataclass(frozen=True)
class Examination:
    """A folded network on data Z, y at lambda.

    `J` is its objective, or with the logistic loss an upper bound, to 2^-256; `loss` is its part. `P` is the one it has
    when its neurons are balanced; `near_stationarity` counts rows within NEAR of a kink as kinks; `collinear` and
    `on_data` are its merges, `cells` the merges of one cell of the data, which no order changes; `rank` is the
    dimension of its outputs' span; `pruned` is what is left of `on_data` after optimal pruning, at `pruned_P`.
    """

    network: TrainedNetwork
    lam: Fraction
    neurons: tuple[ConvexNeuron, ...]
    J: Fraction
    P: Interval
    scales: tuple[NeuronScale, ...]
    stationarity: Stationarity
    near_stationarity: Stationarity
    collinear: Merged
    on_data: Merged
    cells: Merged
    rank: int
    pruned: Pruned
    pruned_P: Interval
    loss: Interval
    logistic: bool = False

    @property
    def J_below(self) -> Fraction:
        """At most the objective; J itself with the squares."""
        return self.J - (self.loss.upper - self.loss.lower)


@dataclass(frozen=True)
class Comparison:
    """The network against the optimum over all patterns, over its own (None: not asked), and neuron by neuron.

    `nearest` matches the network, its cells merged, with the optimal network that was found. `directions` encloses the
    distance of every neuron's direction from the optimal ones; `closest` is the nearest of all optimal networks (None:
    they are not known).
    """

    examination: Examination
    facts: Facts
    own: Facts | None
    nearest: Matching
    directions: tuple[Interval, ...] = ()
    closest: Closest | None = None

    @property
    def excluded(self) -> tuple[bool, ...]:
        """Which neurons are proved to be in no optimal network; with free terms none is."""
        return tuple(one.lower > 0 for one in self.directions) or (False,) * len(self.examination.neurons)


@dataclass(frozen=True)
class Distance:
    """How far J and P are above the optimal value of a program: enclosures, not below zero."""

    trained: Interval
    balanced: Interval

    def relative(self, J: Fraction) -> Fraction:
        """The upper bound as a part of J (0 where J is 0)."""
        return self.trained.upper / J if J else _ZERO


def examine(
    network: TrainedNetwork, Z: Matrix, y: Vector, lam: Fraction, bags: Each = EACH, loss: Loss = SQUARES
) -> Examination:
    """Everything that needs no optimum to compare with. What is said of gradients is about the squares."""
    neurons = convex_form(network)
    found = enclosed_loss(loss, y, bias_free(network).on(Z, bags))
    on_data = merge_on_data(neurons, Z)
    pruned = prune_best(on_data.neurons, Z, bags)
    return Examination(
        network=network,
        lam=lam,
        neurons=neurons,
        J=found.upper + penalty(network, lam),
        P=found + penalty_sum(neurons).scale(lam),
        scales=scales(network, lam),
        stationarity=stationarity(network, Z, y, lam, bags=bags),
        near_stationarity=stationarity(network, Z, y, lam, NEAR, bags),
        collinear=merge_collinear(neurons),
        on_data=on_data,
        cells=merge_cells(neurons, Z),
        rank=output_rank(neurons, Z, bags),
        pruned=pruned,
        pruned_P=found + penalty_sum(pruned.neurons).scale(lam),
        loss=found,
        logistic=loss is not SQUARES,
    )


def compare(examination: Examination, facts: Facts, own: Facts | None) -> Comparison:
    """The network beside what was proved about the optimum over all patterns, and over its own."""
    best = merge_collinear([ConvexNeuron(neuron.sign, neuron.w) for neuron in facts.primal.neurons]).neurons
    nearest = match(examination.cells.neurons, best)
    if facts.problem.free or examination.logistic:  # neurons are not compared
        return Comparison(examination, facts, own, nearest)
    optimum = known_optimum(facts)
    return Comparison(
        examination,
        facts,
        own,
        nearest,
        direction_bounds(facts, optimum, examination.neurons),
        None if optimum is None else closest(optimum, examination.lam, examination.cells.neurons),
    )


def distance(examination: Examination, value: Value) -> Distance:
    """J - p and P - p for an optimal value lower <= p <= upper."""
    J, P = examination.J, examination.P
    return Distance(
        Interval(max(_ZERO, examination.J_below - value.upper), J - value.lower),
        Interval(max(_ZERO, P.lower - value.upper), P.upper - value.lower),
    )
