"""Instances for the soundness statements: planted ones with rational lambda, and any small data at any lambda."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact.linalg import Matrix, add, combine, matvec, norm2, null_space, scale, transpose
from properties.exact.patterns import gated_problem, patterns
from properties.exact.problem import CGL, dual_vectors
from properties.exact.roots import rational_sqrt
from properties.soundness.bags import BagCase, any_bags
from properties.soundness.case import DirectCase, NetworkCase
from properties.strategies import (
    PlantedCGL,
    PlantedReLU,
    planted_antipodal,
    planted_box,
    planted_cgl,
    planted_corner,
    planted_edge,
    planted_kink,
    planted_lasso,
    planted_relu,
    positive_rationals,
    rational_matrix,
    vector,
)
from properties.strategies.variants import Gates, gates

MOST_TIED = 9  # the truth about a polytope is found by trying all sets of neurons


@dataclass(frozen=True)
class PlantedGated:
    """A planted gated ReLU network over all of D_Z."""

    Z: Matrix
    convex: PlantedCGL


def is_rational(planted: PlantedReLU) -> bool:
    """lambda itself is rational."""
    return rational_sqrt(planted.lam2) is not None


def planted_networks() -> SearchStrategy[PlantedReLU]:
    """Planted ReLU networks of every kind with rational lambda and not too many tied neurons."""
    drawn = st.one_of(
        planted_relu(max_n=6, max_d=1),
        planted_relu(max_n=5, max_d=2),
        planted_relu(max_n=4, max_d=3),
        planted_antipodal(max_n=6),
        planted_box(),
        planted_kink(),
        planted_edge(),
    )
    return drawn.filter(lambda planted: is_rational(planted) and len(planted.neurons) <= MOST_TIED)


def planted_intervals() -> SearchStrategy[PlantedReLU]:
    """Small planted networks: a path is bisected many times where it meets a lambda without uniqueness."""
    drawn = st.one_of(planted_relu(max_n=4, max_d=1), planted_relu(max_n=3), planted_antipodal(max_n=3))
    return drawn.filter(lambda planted: is_rational(planted) and len(planted.neurons) <= 4)


@st.composite
def planted_gated(draw: DrawFn) -> PlantedGated:
    """Z and r first: v_D = Z'D r, lambda the largest |v_D|, y = sum alpha D Z v + r. Some draws have Z'r = 0, in some
    points are interpolated, r_k = 0, and patterns that differ there tie."""
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    Z = draw(rational_matrix(n, d))
    r, kind = draw(vector(n)), draw(st.integers(0, 3))
    if kind == 1:
        r = tuple(x * draw(st.integers(0, 1)) for x in r)
    if kind == 0:
        basis = null_space(transpose(Z))
        r = combine([Fraction(draw(st.integers(-2, 2))) for _ in basis], basis, n)
    free = gated_problem(Z, patterns(Z).all, r, Fraction(1))
    v = dual_vectors(free, r)
    lam2 = max(norm2(u) for u in v)
    assume(lam2 and rational_sqrt(lam2) is not None)
    tied = [b for b, u in enumerate(v) if norm2(u) == lam2]
    assume(len(tied) <= MOST_TIED)
    alpha = [Fraction(0)] * len(v)
    y = r
    for b in tied:
        alpha[b] = Fraction(draw(st.integers(0, 3)))
        y = add(y, scale(alpha[b], matvec(free.blocks[b].X, v[b])))
    return PlantedGated(Z, PlantedCGL(CGL(free.blocks, y, lam2), r, v, tuple(alpha)))


def planted_direct() -> SearchStrategy[PlantedCGL]:
    """Planted problems with and without cones, with blocks of one column, with every constraint tight, or many."""
    drawn = st.one_of(
        planted_cgl(),
        planted_lasso(),
        planted_cgl(constrained=False),
        planted_cgl(tight=True, max_n=6),
        planted_corner(),
    )
    return drawn.filter(lambda planted: len(planted.E) <= MOST_TIED)


def lambdas() -> SearchStrategy[Fraction]:
    """Small and large, round and not."""
    return st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(2), Fraction(5), Fraction(1, 3), Fraction(1, 100)])


def _near(planted: PlantedReLU) -> Fraction:
    """lambda where it is rational, else a rational near to it: ties become near ties."""
    return rational_sqrt(planted.lam2) or Fraction(float(planted.lam2) ** 0.5).limit_denominator(1000)


@st.composite
def any_network(draw: DrawFn, *, max_n: int = 6, max_d: int = 3) -> NetworkCase:
    """Data of every kind at any lambda, sometimes planted, sometimes near a planted tie."""
    model = draw(st.sampled_from(["relu", "relu", "gated"]))
    if draw(st.integers(0, 3)) == 0:
        planted = draw(st.one_of(planted_relu(), planted_antipodal(), planted_kink(), planted_box(max_d=2)))
        return NetworkCase(model, planted.Z, planted.y, _near(planted))
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    return NetworkCase(model, draw(rational_matrix(n, d)), draw(vector(n)), draw(lambdas()))


@st.composite
def any_direct(draw: DrawFn) -> DirectCase:
    """A planted direct problem, at its own lambda or at another."""
    planted = draw(st.one_of(planted_cgl(), planted_lasso(), planted_cgl(constrained=False)))
    factor = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(9, 10), Fraction(3, 2)]))
    return DirectCase(planted.problem.at(factor * planted.problem.lam))


@st.composite
def any_variant(draw: DrawFn) -> NetworkCase:
    """A small network with delta, over some patterns, with the logistic loss, or with two of these."""
    of = draw(gates())
    n = len(of.Z)
    kind = draw(st.sampled_from(["elastic", "sampled", "logistic"]))
    if kind == "sampled" and of.chosen is None:
        of = Gates(
            of.model, of.Z, draw(st.lists(st.sampled_from(patterns(of.Z).all), min_size=1, unique=True).map(tuple))
        )
    delta = draw(positive_rationals(3, 4)) if kind == "elastic" else Fraction(0)
    if kind == "logistic":
        labels = tuple(Fraction(draw(st.sampled_from([1, -1]))) for _ in range(n))
        return NetworkCase(of.model, of.Z, labels, draw(lambdas()) / 2, of.chosen, delta, True)
    return NetworkCase(of.model, of.Z, draw(vector(n)), draw(lambdas()), of.chosen, delta)


@st.composite
def any_free(draw: DrawFn) -> NetworkCase:
    """A ReLU network with an output bias, a skip connection, or both, without penalty."""
    free = draw(st.sampled_from([("output-bias",), ("skip",), ("output-bias", "skip")]))
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    return NetworkCase("relu", draw(rational_matrix(n, d)), draw(vector(n)), draw(lambdas()), free=free)


@st.composite
def direct_variant(draw: DrawFn) -> DirectCase:
    """A group lasso with cones and delta, or with the logistic loss."""
    p = draw(any_direct()).convex
    if draw(st.booleans()):
        return DirectCase(p, delta=draw(positive_rationals(3, 4)))
    labels = tuple(Fraction(draw(st.sampled_from([1, -1]))) for _ in p.y)
    return DirectCase(CGL(p.blocks, labels, p.lam2), logistic=True)


def any_model() -> SearchStrategy[NetworkCase | DirectCase | BagCase]:
    """Every model: networks, gated ones, group lassos with cones, over some patterns, elastic, logistic, free terms,
    bags."""
    return st.one_of(any_variant(), any_network(max_n=5), any_direct(), direct_variant(), any_free(), any_bags())
