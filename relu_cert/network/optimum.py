"""What optimal networks look like, read off the facts: their neurons, each within an error, and all vertices.

A neuron that can be active is v* = xi B'r* with |r* - theta| <= R, so it is within |B| R of xi B'theta; where the
optimum is rational, r* = theta. The weights alpha are the polytope {alpha >= 0 : F alpha = g}, whose vertices are known
within errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from relu_cert.exact import Matrix, Vector, column, sqrt_upper, to_fraction, to_vector
from relu_cert.network.weights_set import WeightSet, weight_set
from relu_cert.prove.algebraic.field import Number
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import AlgebraicSet, BallSet, ExactSet, Facts, NeuronClass, UnknownSet
from relu_cert.prove.polytope.polytope import Polytope
from relu_cert.prove.polytope.system import System, weight_system

_ZERO = Fraction(0)
FIELD_BITS, POINT_BITS = 256, 60  # how near the numbers of a field are taken
_SPARE = 1 + Fraction(1, 2**20)  # the checker's square roots may be a little larger than ours


@dataclass(frozen=True)
class KnownNeuron:
    """A neuron xi, v* that optimal networks can have, |v* - v| <= error. `straight`: v* is a positive multiple of v.
    `used`: some optimal network has it (None: not known; False: none has). `in_field`: v* itself, as algebraic
    numbers, where it is known so."""

    sign: int
    v: Vector
    error: Fraction
    straight: bool
    used: bool | None
    in_field: tuple[Number, ...] = ()

    def along(self, w: Vector) -> bool:
        """Whether w is a positive multiple of v*, decided in the field where v* is known there."""
        if not self.in_field:
            return False
        v, i = self.in_field, next(i for i, x in enumerate(w) if x)
        return (v[i] * w[i]).sign() > 0 and all(not v[j] * w[i] - v[i] * x for j, x in enumerate(w))


@dataclass(frozen=True)
class Optimum:
    """All neurons that optimal networks can have, and the vertices of their weights with the error of each (None: they
    are not listed). `system` are the equations of the weights, where these are exact; `weights` is the set of the
    weights, where its vertices are not listed."""

    neurons: tuple[KnownNeuron, ...]
    points: Matrix | None
    errors: Vector
    system: System | None = None
    weights: WeightSet | None = None


def known_optimum(facts: Facts) -> Optimum | None:
    """The optimal networks that the facts know; None where they do not."""
    if facts.zero:
        return Optimum((), ((),), (_ZERO,))
    found, known = facts.polytope, facts.optimal_set
    if isinstance(known, UnknownSet):
        return None
    if isinstance(known, AlgebraicSet):
        return _in_field(known, found)
    if isinstance(known, ExactSet):
        used = known.used if found is None else _used(found)
        exact = tuple(KnownNeuron(a.sign, a.v, _ZERO, True, u) for a, u in zip(known.tied, used, strict=True))
        points = None if found is None else found.points
        unlisted = weight_set(facts) if points is None else None
        return Optimum(exact, points, (_ZERO,) * len(points or ()), weight_system(facts), unlisted)
    R = sqrt_upper(facts.fit.radius_squared)
    used = _used_within(known) if found is None else _used(found)
    pairs = zip(known.classes, used, strict=True)
    neurons = tuple(_enclosed(facts, neuron, R, u) for neuron, u in pairs)
    if found is None:
        return Optimum(neurons, None, (), weights=weight_set(facts))
    return Optimum(neurons, *_vertices(found, weight_system(facts, found.bits)))


def _in_field(exact: AlgebraicSet, found: Polytope | None) -> Optimum:
    """All is known in a field of algebraic numbers, and enclosed here."""
    used = exact.used if found is None else _used(found)
    neurons = []
    for a, u in zip(exact.tied, used, strict=True):
        v = tuple(x.rounded(FIELD_BITS) for x in a.v)
        neurons.append(KnownNeuron(a.sign, v, Fraction(len(v), 2**FIELD_BITS), False, u, a.v))
    if found is None:
        return Optimum(tuple(neurons), None, ())
    return Optimum(tuple(neurons), found.points, (Fraction(1, 2**POINT_BITS),) * len(found.points))


def _enclosed(facts: Facts, neuron: NeuronClass, R: Fraction, used: bool | None) -> KnownNeuron:
    B = class_map(facts.problem, neuron).B()
    v = to_vector(B.transpose() * column(facts.dual.theta))
    size = sqrt_upper(sum((to_fraction(x) ** 2 for x in B.entries()), _ZERO))
    error = size * R * _SPARE
    return KnownNeuron(neuron.sign, tuple(neuron.sign * x for x in v), error, bool(B.rank() <= 1), used)


def _used(found: Polytope) -> list[bool | None]:
    return [a in found.used for a in range(found.tied)]


def _used_within(found: BallSet) -> list[bool | None]:
    if found.split:
        return [a in found.active for a in range(len(found.classes))]
    return [True if mass > found.mass_error * _SPARE else None for mass in found.masses]


def _vertices(found: Polytope, system: System) -> tuple[Matrix, Vector]:
    """The weights of every vertex and the error of its entries, from the first basis with its support."""
    place = {name: i for i, name in enumerate(system.names)}
    errors: dict[tuple[int, ...], Fraction] = {}
    points: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for basis in found.bases:
        corner = system.basic([place[a] for a in basis])
        x, dx = [to_fraction(x_a) for x_a in corner.x], to_fraction(corner.dx)
        support = tuple(a for a, x_a in zip(basis, x, strict=True) if abs(x_a) > dx)
        if support not in errors:
            errors[support] = dx * _SPARE
            points[support] = dict(zip(basis, x, strict=True))
    rows = [tuple(points[s][a] if a in s else _ZERO for a in range(found.tied)) for s in found.vertices]
    return tuple(rows), tuple(errors[support] for support in found.vertices)
