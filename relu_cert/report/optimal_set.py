"""The optimal set as an object and as JSON: E with its dual vectors as maps of the residual, S, polytope, staircase."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.claims.optimal_set import Step, staircase
from relu_cert.exact import Matrix, Vector, column, norm_squared, sqrt_upper, to_fraction, to_vector
from relu_cert.figures import count
from relu_cert.prove.classes import class_map, frobenius_squared, size_squared
from relu_cert.prove.facts import Exactly, ExactNeuron, ExactSet, Facts, NeuronClass, Tied, UnknownSet
from relu_cert.prove.polytope.polytope import Polytope
from relu_cert.report.shown import picked, plain

TOLD_BITS = 64
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class TiedNeuron:
    """A neuron of E: |v| = lambda; the true v is within `radius` of the one given, and it is map r* exactly, r* the
    optimal residual (None where r* is known exactly, and then so is v). `block` for group lassos, else the pattern."""

    v: Vector
    radius: Fraction
    map: Matrix | None
    sign: int = 1
    pattern: str | None = None
    block: int | None = None

    @property
    def direction(self) -> Floats:
        """v in floats, of length one."""
        v = np.array([float(x) for x in self.v])
        return v / (float(np.linalg.norm(v)) or 1.0)

    def __repr__(self) -> str:
        name = f"group {self.block}" if self.pattern is None else f"sign {self.sign:+d}"
        return f"<TiedNeuron: {name}, v = ({', '.join(f'{float(x):.4g}' for x in self.v)})>"

    def to_dict(self) -> dict[str, Any]:
        """The object of --json."""
        named = {"block": self.block} if self.pattern is None else {"sign": self.sign, "pattern": self.pattern}
        return named | dict(plain({"v": self.v, "radius": self.radius, "map": self.map}))


@dataclass(frozen=True, repr=False)
class OptimalSetView:
    """The set of all optimal networks: w_a = alpha_a v_a over the tied neurons a, alpha in a polytope.

    `points` are the vertices: one row of weights alpha each, one column for each of `neurons`; exact, or (with `bits`,
    or where they are irrational) about right. `supports` are the neurons that a vertex uses, exactly.
    """

    polytope: Polytope
    neurons: tuple[TiedNeuron, ...]
    staircase: tuple[Step, ...] | None

    @property
    def dimension(self) -> int:
        """0: there is one optimal network."""
        return self.polytope.dimension

    @property
    def m_star(self) -> int:
        """The least width of an optimal network."""
        return self.polytope.m_star

    @property
    def M_star(self) -> int:
        """The largest width of a minimal one."""
        return self.polytope.M_star

    @property
    def S(self) -> tuple[int, ...]:
        """The neurons of E that some optimal network uses."""
        return self.polytope.used

    @property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """The neurons of every vertex."""
        return self.polytope.vertices

    @property
    def points(self) -> Matrix:
        """The weights alpha of every vertex."""
        return self.polytope.points

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs of numbers of vertices."""
        return self.polytope.edges

    @property
    def alphas(self) -> Floats:
        """`points` in floats: vertices x neurons."""
        rows = [[float(x) for x in row] for row in self.points]
        return np.array(rows).reshape(len(rows), len(self.neurons))

    @property
    def directions(self) -> list[Floats]:
        """The unit directions of the neurons, in floats."""
        return [neuron.direction for neuron in self.neurons]

    def __repr__(self) -> str:
        vertices = f"{len(self.supports)} {'vertex' if len(self.supports) == 1 else 'vertices'}"
        tied = f"{count(len(self.neurons), 'tied neuron')}, m* = {self.m_star}, M* = {self.M_star}"
        return f"<OptimalSet: dimension {self.dimension}, {vertices}, {tied}>"

    def to_dict(self) -> dict[str, Any]:
        """The object of --json. `weights` of a vertex are alpha, one for each neuron of the support."""
        found = self.polytope
        pairs = zip(found.vertices, found.points, strict=True)
        content = picked(found, "dimension nondegenerate m_star M_star rank bits") | {
            "neurons": [neuron.to_dict() for neuron in self.neurons],
            "S": found.used,
            "vertices": [{"support": used, "weights": [point[a] for a in used]} for used, point in pairs],
            **picked(found, "edges min_norm"),
            "staircase": self.staircase,
        }
        return dict(plain(content))


def optimal_set_view(facts: Facts) -> OptimalSetView | None:
    """What is proved about the set of all optimal networks; None where it is not listed."""
    if facts.polytope is None:
        return None
    joined = facts.problem.network is not None and facts.problem.plain  # where the claim `connected` is made
    steps = tuple(staircase(facts.polytope)) if joined else None
    return OptimalSetView(facts.polytope, tuple(_neurons(facts)), steps)


def minimal_networks(facts: Facts) -> list[tuple[ExactNeuron, ...]]:
    """The vertices of the optimal set as networks, the narrowest first: every optimal network is a mixture of them.
    Their numbers are exact where those of the set are, else within its radii. Empty where they are not listed."""
    seen = optimal_set_view(facts)
    if seen is None or facts.problem.free:  # with free terms each has its own, which are not listed
        return []
    found = []
    for used, point in sorted(zip(seen.supports, seen.points, strict=True), key=lambda one: len(one[0])):
        found.append(tuple(_scaled(seen.neurons[a], point[a]) for a in used))
    return found


def _scaled(one: TiedNeuron, alpha: Fraction) -> ExactNeuron:
    """w = alpha v"""
    w = tuple(alpha * x for x in one.v)
    norm = sqrt_upper(norm_squared(w))
    return ExactNeuron(sign=1 if one.sign > 0 else -1, pattern=one.pattern, block=one.block, w=w, norm=norm)


def optimal_set_json(facts: Facts) -> dict[str, Any] | None:
    """The same as JSON; `neurons` are E, numbered from 0."""
    view = optimal_set_view(facts)
    return None if view is None else view.to_dict()


def _neurons(facts: Facts) -> list[TiedNeuron]:
    known = facts.optimal_set
    if isinstance(known, UnknownSet):
        raise ValueError("a listed polytope belongs to an optimal set")
    if isinstance(known, Exactly):
        return [_exact(one, isinstance(known, ExactSet)) for one in known.tied]
    return [_enclosed(facts, neuron) for neuron in known.classes]


def _exact(one: Tied, rational: bool) -> TiedNeuron:
    """v is known exactly, perhaps as a vector over the field of the certificate: then it is rounded here."""
    v = one.v if rational else tuple(x.rounded(TOLD_BITS) for x in one.v)
    radius = Fraction(0) if rational else sqrt_upper(Fraction(len(v), 1 << 2 * TOLD_BITS), 16)
    return TiedNeuron(v, radius, None, one.sign, one.pattern, one.block)


def _enclosed(facts: Facts, neuron: NeuronClass) -> TiedNeuron:
    """v = xi P X'r*, and |v - xi P X'theta| <= |X|_F R (with free biases times a bound of |P|)."""
    one = class_map(facts.problem, neuron)
    sign = Fraction(neuron.sign)
    rows = tuple(tuple(sign * to_fraction(x) for x in row) for row in (one.P * one.X.transpose()).tolist())
    v = tuple(sign * x for x in to_vector(one.v(column(facts.dual.theta))))
    squared = frobenius_squared(tuple(tuple(to_fraction(x) for x in row) for row in one.X.tolist()))
    if one.biases:
        squared = size_squared(facts.problem)
    radius = sqrt_upper(squared * facts.fit.radius_squared, 32)
    return TiedNeuron(v, radius, rows, neuron.sign, neuron.pattern, neuron.block)
