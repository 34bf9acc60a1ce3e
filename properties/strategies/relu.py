"""Planted ReLU networks over all of D_Z: Z and the residual come first, lambda and y afterwards.

lambda^2 = max over all patterns and signs of |Proj_{K_D}(xi Z'D r)|^2 is rational, the maximisers are the possible
neurons, and y = sum alpha xi (Zv)_+ + r over them has residual r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import cycle, islice

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact import polytope
from properties.exact.linalg import Matrix, Vector, add, combine, dot, norm2, null_space, scale, sub, transpose, unit
from properties.exact.network import output
from properties.exact.patterns import patterns, relu_problem
from properties.exact.problem import CGL, Weights, dual_vectors
from properties.strategies.cgl import PlantedCGL
from properties.strategies.matrices import rational_matrix
from properties.strategies.numbers import orthogonal, vector

Direction = tuple[int, Vector]
SIDES: tuple[tuple[int, ...], ...] = ((3, 4), (1, 2, 2), (2, 3, 6))


@dataclass(frozen=True)
class PlantedReLU:
    """Data Z, y, lambda^2 with the residual r* and every possible neuron (xi, v), weighted by alpha >= 0.

    The convex program is over all of D_Z with both signs; `convex` is its planted form, block by block.
    """

    Z: Matrix
    y: Vector
    lam2: Fraction
    r: Vector
    neurons: tuple[Direction, ...]
    alpha: Vector

    @cached_property
    def problem(self) -> CGL:
        """The convex reformulation over D_Z."""
        return relu_problem(self.Z, patterns(self.Z).all, self.y, self.lam2)

    @cached_property
    def v(self) -> Weights:
        """The canonical dual vector of every block."""
        return _dual_vectors(self.Z, self.r)

    @cached_property
    def carriers(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that carry each neuron: more than one where the neuron is zero on a data point."""
        return tuple(tuple(b for b, v in enumerate(self.v) if v == u and (-1) ** b == xi) for xi, u in self.neurons)

    @cached_property
    def convex(self) -> PlantedCGL:
        """The planted convex program; each neuron's weight sits on its first block."""
        alpha = [Fraction(0)] * len(self.v)
        for blocks, a in zip(self.carriers, self.alpha, strict=True):
            alpha[blocks[0]] += a
        return PlantedCGL(self.problem, self.r, self.v, tuple(alpha))

    @cached_property
    def q(self) -> tuple[Vector, ...]:
        """The outputs xi (Zv)_+ of the neurons."""
        return tuple(scale(xi, output(self.Z, v)) for xi, v in self.neurons)

    @cached_property
    def yhat(self) -> Vector:
        """The fit of every optimal network."""
        return sub(self.y, self.r)

    @cached_property
    def vertices(self) -> tuple[Vector, ...]:
        """The minimal networks, as weights alpha on the neurons."""
        return polytope.vertices(self.q, self.yhat)

    @property
    def p_unique(self) -> bool:
        """One optimal network up to permutations and splits."""
        return len(self.vertices) == 1

    @property
    def m_star(self) -> int:
        """The least width of an optimal network."""
        return min(len(polytope.support(alpha)) for alpha in self.vertices)


@lru_cache(maxsize=256)
def _dual_vectors(Z: Matrix, r: Vector) -> Weights:
    """Of every block over D_Z; neither y nor lambda matters."""
    return dual_vectors(relu_problem(Z, patterns(Z).all, r, Fraction(1)), r)


def plant_relu(Z: Matrix, r: Vector, weights: Sequence[int | Fraction]) -> PlantedReLU | None:
    """The instance with residual r, its neurons weighted in turn by `weights`; None if no neuron could be active."""
    v = _dual_vectors(Z, r)
    lam2 = max(norm2(vb) for vb in v)
    if lam2 == 0:
        return None
    neurons = tuple(sorted({((-1) ** b, vb) for b, vb in enumerate(v) if norm2(vb) == lam2}))
    alpha = tuple(Fraction(weights[i % len(weights)]) for i in range(len(neurons)))
    q = [scale(xi, output(Z, u)) for xi, u in neurons]
    return PlantedReLU(Z, add(r, combine(alpha, q, len(r))), lam2, r, neurons, alpha)


def _accept(planted: PlantedReLU | None) -> PlantedReLU:
    assume(planted is not None)
    if planted is None:
        raise AssertionError("unreachable: assume raised")
    return planted


@cache
def _weights() -> SearchStrategy[tuple[int, ...]]:
    """All one, or some of them zero and some larger."""
    return st.one_of(st.just((1,)), st.tuples(*[st.sampled_from([1, 0, 2, 3, 1, 2])] * 4))


@cache
def _residuals(most: int) -> SearchStrategy[Vector]:
    """Any integers, or few different ones, so that neurons tie."""
    constant = st.sampled_from([(Fraction(1),) * most, (Fraction(-1),) * most])
    return st.one_of(vector(most, 1), constant, vector(most))


@st.composite
def planted_relu(draw: DrawFn, *, max_n: int = 4, max_d: int = 2) -> PlantedReLU:
    """Any small data set of any kind of matrix with any integer residual; one in six has its rows on the axes."""
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    if draw(st.integers(0, 5)) == 3:
        return _accept(plant_relu(*_crossed(max(n, min(2 * d, max_n)), d, draw(vector(d, 2))), draw(_weights())))
    Z = draw(rational_matrix(n, d))
    return _accept(plant_relu(Z, draw(_residuals(max_n))[:n], draw(_weights())))


@st.composite
def planted_antipodal(draw: DrawFn, *, max_n: int = 5, max_d: int = 2) -> PlantedReLU:
    """Z'r = 0: optimal neurons come in pairs v, -v of one sign. Where the rows lie on the axes, 2^d neurons tie."""
    d = draw(st.integers(1, max_d))
    n = draw(st.integers(d + 1, max_n))
    coefficients, weights = draw(vector(max_n, 2)), draw(_weights())
    if draw(st.booleans()):
        return _accept(plant_relu(*_crossed(max(n, min(2 * d, max_n)), d, coefficients), weights))
    Z = draw(rational_matrix(n, d, draw(st.sampled_from(["general", "antipodal", "bias"]))))
    basis = null_space(transpose(Z))
    return _accept(plant_relu(Z, combine(coefficients[: len(basis)], basis, n), weights))


def _crossed(n: int, d: int, lengths: Vector) -> tuple[Matrix, Vector]:
    """Rows s e_1, -s e_1, t e_2, -t e_2, ... and from the beginning again; r = 1, but 0 on a row without a partner."""
    turns = [(k, sign) for k in range(d) for sign in (1, -1)]
    rows = [scale(sign * (1 + abs(lengths[k])), unit(d, k)) for k, sign in islice(cycle(turns), n)]
    paired = n - n % 2
    return tuple(rows), tuple(Fraction(int(i < paired)) for i in range(n))


@st.composite
def planted_box(draw: DrawFn, *, max_d: int = 3) -> PlantedReLU:
    """Rows +-s_k f_k along a rational orthogonal frame with sides (3,4), (1,2,2) or (2,3,6): 2^d neurons tie."""
    sides = draw(st.sampled_from([s for s in SIDES if len(s) <= max_d]))
    frame = draw(orthogonal(len(sides)))
    Z = tuple(scale(sign * s, f) for s, f in zip(sides, frame, strict=True) for sign in (1, -1))
    return _accept(plant_relu(Z, (Fraction(1),) * len(Z), draw(_weights())))


@st.composite
def planted_kink(draw: DrawFn) -> PlantedReLU:
    """A row with z_k.v = 0 and r_k < 0 for a neuron v of sign +1: two patterns carry the neuron.

    Start from any planted data in the plane; add a row orthogonal to a positive neuron with a negative residual.
    """
    start = draw(planted_relu(max_n=3))
    positive = [v for xi, v in start.neurons if xi == 1]
    assume(positive and len(positive[0]) == 2)
    v = positive[0]
    z = scale(Fraction(draw(st.sampled_from([1, -1]))), (v[1], -v[0]))
    out = _accept(plant_relu((*start.Z, z), (*start.r, -Fraction(draw(st.integers(1, 2)))), draw(_weights())))
    assume(any(dot(zk, u) == 0 and any(zk) for _, u in out.neurons for zk in out.Z))
    return out


LENGTHS: tuple[tuple[int, ...], ...] = ((1, 2, 2), (2, -1, 2), (0, 3, 4), (2, 3, 6), (0, 0, 1), (3, 4), (0, 1))


@st.composite
def edge_data(draw: DrawFn) -> tuple[Matrix, Vector, Vector]:
    """Z, r and v = r_0 z_0 + sum mu_k z_k with z_k.v = 0, r_k <= mu_k <= 0 for the other rows: a neuron on an edge.

    Three rows orthogonal to v in space are dependent; mu_k = 0 and mu_k = r_k leave the face at no cost.
    """
    v = tuple(map(Fraction, draw(st.sampled_from(LENGTHS))))
    across = null_space([v])
    rows, r, mu = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        z = combine([Fraction(draw(st.integers(-1, 1)), 2) for _ in across], across, len(v))
        rows.append(z)
        r.append(-Fraction(draw(st.integers(0, 2))))
        mu.append(r[-1] * draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])))
    first = Fraction(draw(st.integers(1, 2)))
    z_0 = scale(1 / first, sub(v, combine(mu, rows, len(v))))
    return (z_0, *rows), (first, *r), v


@st.composite
def planted_edge(draw: DrawFn) -> PlantedReLU:
    """A neuron that vanishes on several data points."""
    Z, r, v = draw(edge_data())
    out = _accept(plant_relu(Z, r, draw(_weights())))
    assume((1, v) in out.neurons)
    return out
