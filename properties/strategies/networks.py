"""Networks with rational weights: planted optimal ones, and the same network split and permuted."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, scale
from properties.exact.network import Network, Neuron
from properties.exact.roots import rational_sqrt
from properties.strategies.matrices import rational_matrix
from properties.strategies.numbers import positive_rationals, rationals, unit_vector, vector
from properties.strategies.relu import PlantedReLU, plant_relu, planted_box, planted_relu


@dataclass(frozen=True)
class PlantedNetwork:
    """A planted instance with rational lambda and an optimal network with rational weights.

    With alpha_i = lambda a_i^2 the formulas W_i = sqrt(alpha_i/lambda) v_i = a_i v_i and
    w2_i = xi_i sqrt(alpha_i lambda) = xi_i lambda a_i have no roots left.
    """

    planted: PlantedReLU
    lam: Fraction
    net: Network


def optimal_network(planted: PlantedReLU, lam: Fraction, roots: Vector) -> Network:
    """The neurons (a v, xi lambda a)."""
    return tuple(Neuron(scale(a, v), xi * lam * a) for (xi, v), a in zip(planted.neurons, roots, strict=True))


@st.composite
def planted_network(draw: DrawFn) -> PlantedNetwork:
    """Data planted once to learn lambda, and again with weights lambda a^2."""
    first = draw(st.one_of(planted_relu(max_d=1), planted_box(max_d=2), planted_relu()))
    lam = rational_sqrt(first.lam2)
    assume(lam is not None)
    if lam is None:
        raise AssertionError("unreachable: assume raised")
    roots = tuple(draw(rationals(2, 2).map(abs)) for _ in first.neurons)
    planted = plant_relu(first.Z, first.r, [lam * a * a for a in roots])
    if planted is None:
        raise AssertionError("the same residual has the same neurons")
    return PlantedNetwork(planted, lam, optimal_network(planted, lam, roots))


@st.composite
def split(draw: DrawFn, net: Network) -> Network:
    """The network with some neurons split into (cW, c w2) and (sW, s w2), c^2 + s^2 = 1, and permuted."""
    out: list[Neuron] = []
    for i in net:
        if draw(st.booleans()):
            s, c = draw(unit_vector(2))
            out += [Neuron(scale(abs(t), i.W), abs(t) * i.w2) for t in (c, s)]
        else:
            out.append(i)
    return tuple(draw(st.permutations(out))) if out else ()


@st.composite
def balanced_network(draw: DrawFn, d: int, width: int) -> Network:
    """Neurons with |W| = |w2|, rational."""
    net = []
    for _ in range(width):
        a = draw(positive_rationals(3, 2))
        net.append(Neuron(scale(a, draw(unit_vector(d))), a * draw(st.sampled_from([1, -1]))))
    return tuple(net)


@st.composite
def any_network(draw: DrawFn, d: int) -> Network:
    """Up to three neurons with small integer weights."""
    return tuple(Neuron(draw(vector(d, 2)), Fraction(draw(st.integers(-2, 2)))) for _ in range(draw(st.integers(0, 3))))


@st.composite
def data_and_network(draw: DrawFn) -> tuple[Matrix, Vector, Network]:
    """Z, y and a balanced network of width one to three."""
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    Z, y = draw(rational_matrix(n, d)), draw(vector(n))
    return Z, y, draw(balanced_network(d, draw(st.integers(1, 3))))
