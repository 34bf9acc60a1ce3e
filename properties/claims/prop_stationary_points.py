"""prop:stationary-points: false both ways at kinks; an equality where no active neuron is zero on a data point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, add, combine, dot, mat, null_space, scale, solve, vec
from properties.exact.network import Network, Neuron, clarke_stationary, in_stationary_set, network_fit, on_kink
from properties.model import Claim, Outcome, Property, Witness, expect, vacuous, yes
from properties.strategies import positive_rationals, rational_matrix, unit_vector, vector

LABEL = "prop:stationary-points"
STATEMENT = "The Clarke stationary points are exactly the networks optimal for some sub-sampled convex program."
REPAIRED = "Among networks without an active neuron at a kink the two sets are equal."


@dataclass(frozen=True)
class Trained:
    """Data, lambda, and a network."""

    Z: Matrix
    y: Vector
    lam: Fraction
    net: Network


@st.composite
def instances(draw: DrawFn) -> Trained:
    """Stationary networks planted by solving Z'D r = xi v for the residual; sometimes y is disturbed.

    In the plane a row is often added across a neuron. At such a kink it counts with a share s in v: 0 or 1 as one of
    the patterns has it, 1/2 (stationary, but perhaps no pattern will do), 2 or -1 (a pattern's cone may forgive it).
    """
    d = draw(st.integers(1, 2))
    Z = draw(rational_matrix(draw(st.integers(1, 4)), d))
    lam = draw(positive_rationals())
    directions = [(draw(unit_vector(d)), draw(st.sampled_from([1, -1]))) for _ in range(draw(st.integers(1, 2)))]
    if d == 2 and draw(st.booleans()):
        (a, b), _ = directions[0]
        Z = (*Z, scale(draw(positive_rationals()), (-b, a)))
    rows, target = [], []
    for u, xi in directions:
        at_kink = [Fraction(x) for x in (1, 0, "1/2", 2, -1)]
        share = [draw(st.sampled_from(at_kink)) if dot(z, u) == 0 else Fraction(dot(z, u) > 0) for z in Z]
        for j in range(d):
            rows.append(tuple(s * z[j] for z, s in zip(Z, share, strict=True)))
            target.append(xi * lam * u[j])
    some = solve(rows, tuple(target))
    assume(some is not None)
    if some is None:
        raise AssertionError("unreachable: assume raised")
    free = null_space(rows)
    r = add(some, combine([Fraction(draw(st.integers(-1, 1))) for _ in free], free, len(Z)))
    sizes = [draw(positive_rationals(2, 2)) for _ in directions]
    net = tuple(Neuron(scale(a, u), xi * a) for (u, xi), a in zip(directions, sizes, strict=True))
    y = add(r, network_fit(Z, net))
    if draw(st.integers(0, 3)) == 3:
        y = add(y, draw(vector(len(y), 1)))
    return Trained(Z, y, lam, net)


def check(t: Trained) -> Outcome:
    """Clarke stationarity and membership in C_lambda, each decided by itself."""
    stationary = clarke_stationary(t.Z, t.y, t.lam, t.net)
    member = in_stationary_set(t.Z, t.y, t.lam, t.net)
    return expect(stationary == member, f"Clarke stationary: {yes(stationary)}; in the set: {yes(member)}")


def check_repaired(t: Trained) -> Outcome:
    """The same away from kinks."""
    return vacuous("an active neuron is at a kink") if on_kink(t.Z, t.net) else check(t)


_Z = mat([[1, 0], [-1, 1]])
_NET = (Neuron(vec([0, 1]), Fraction(1)),)

CLAIM = Claim(
    LABEL,
    "Stationary points",
    Property(STATEMENT, instances(), check),
    witnesses=(
        Witness(
            "Z = ((1,0),(-1,1)), y = (1,3), lambda = 2, W = (0,1), w2 = 1", Trained(_Z, vec([1, 3]), Fraction(2), _NET)
        ),
        Witness(
            "Z = ((1,0),(-1,1)), y = (4,3), lambda = 2, W = (0,1), w2 = 1", Trained(_Z, vec([4, 3]), Fraction(2), _NET)
        ),
    ),
    repaired=Property(REPAIRED, instances(), check_repaired),
)
