"""Beyond the paper: one vector proves the dual constraint on a whole cone, whatever patterns meet it.

t.(Zu)_+ = f1(u) - f2(u) with f1(u) = sum over t_k > 0 of t_k (z_k.u)_+ and f2(u) = sum over t_k < 0 of |t_k| (z_k.u)_+.
On cone(g_1, ..., g_k) let a = c + sum s_k |t_k| z_k over t_k < 0, s_k in [0, 1]. f1 is sublinear: for u = sum tau_i
g_i, f1(u) <= sum tau_i f1(g_i) <= a.u = c.u + sum s_k |t_k| z_k.u <= |c| |u| + f2(u).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, combine, dot, mat, norm2, vec
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import rational_matrix, vector

LABEL = "cover: leaf lemma"
STATEMENT = (
    "If a = c + sum s_k |t_k| z_k over t_k < 0 with |c| <= lambda and 0 <= s_k <= 1 has a.g_i >= f1(g_i) at all "
    "generators of a cone, then t.(Zu)_+ <= lambda |u| on the cone."
)
SHARES = (Fraction(0), Fraction(1, 3), Fraction(1))


@dataclass(frozen=True)
class Leaf:
    """A cone by its generators, t, c, a share for each row, lambda^2, and a point of the cone by its coordinates."""

    Z: Matrix
    t: Vector
    generators: Matrix
    c: Vector
    shares: Vector
    lam2: Fraction
    tau: Vector


@st.composite
def instances(draw: DrawFn) -> Leaf:
    """A cone around a direction b, and c = beta b with the least beta >= 0 that is enough; lambda = |c|."""
    n, d, k = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    Z, t = draw(rational_matrix(n, d)), draw(vector(n))
    b = draw(vector(d).filter(any))
    drawn = draw(st.lists(vector(d).filter(lambda g: dot(g, b) > 0), min_size=k, max_size=k))
    shares = tuple(draw(st.sampled_from(SHARES)) for _ in range(n))
    plain = Leaf(Z, t, tuple(drawn), (Fraction(0),) * d, shares, Fraction(0), ())
    beta = max(Fraction(0), *((f1(plain, g) - dot(bound(plain), g)) / dot(b, g) for g in drawn))
    c = tuple(beta * x for x in b)
    tau = tuple(Fraction(draw(st.integers(0, 4))) for _ in range(k))
    return Leaf(Z, t, tuple(drawn), c, shares, norm2(c), tau)


def f1(leaf: Leaf, u: Vector) -> Fraction:
    """The part of t.(Zu)_+ with t_k > 0."""
    return sum((t * max(dot(z, u), Fraction(0)) for t, z in zip(leaf.t, leaf.Z, strict=True) if t > 0), Fraction(0))


def value(leaf: Leaf, u: Vector) -> Fraction:
    """t.(Zu)_+"""
    return sum((t * max(dot(z, u), Fraction(0)) for t, z in zip(leaf.t, leaf.Z, strict=True)), Fraction(0))


def bound(leaf: Leaf) -> Vector:
    """a"""
    weights = [-t * s if t < 0 else Fraction(0) for t, s in zip(leaf.t, leaf.shares, strict=True)]
    pushed = combine(weights, leaf.Z, len(leaf.c))
    return tuple(x + y for x, y in zip(leaf.c, pushed, strict=True))


def below(leaf: Leaf, u: Vector) -> bool:
    """t.(Zu)_+ <= lambda |u|"""
    top = value(leaf, u)
    return top <= 0 or top**2 <= leaf.lam2 * norm2(u)


def holds_at(leaf: Leaf) -> Outcome:
    """The conclusion at the point."""
    u = combine(leaf.tau, leaf.generators, len(leaf.c))
    at = f"u = ({', '.join(map(str, u))}), lambda^2 |u|^2 = {leaf.lam2 * norm2(u)}"
    return expect(below(leaf, u), f"t.(Zu)_+ = {value(leaf, u)} at {at}")


def check(leaf: Leaf) -> Outcome:
    """The lemma."""
    if norm2(leaf.c) > leaf.lam2 or not all(0 <= s <= 1 for s in leaf.shares) or any(x < 0 for x in leaf.tau):
        return vacuous("c is too long, a share or a coordinate is out of range")
    a = bound(leaf)
    if any(dot(a, g) < f1(leaf, g) for g in leaf.generators):
        return vacuous("a.g < f1(g) at a generator")
    return holds_at(leaf)


def at_generators_only(leaf: Leaf) -> Outcome:
    """It is enough that the constraint holds at the generators."""
    if not all(below(leaf, g) for g in leaf.generators):
        return vacuous("the constraint fails at a generator")
    return holds_at(leaf)


def with_any_share(leaf: Leaf) -> Outcome:
    """The shares need not lie in [0, 1]."""
    a = bound(leaf)
    if norm2(leaf.c) > leaf.lam2 or any(dot(a, g) < f1(leaf, g) for g in leaf.generators):
        return vacuous("the other conditions fail")
    return holds_at(leaf)


KINK = Leaf(mat([[1, 1]]), vec([1]), mat([[1, 0], [0, 1]]), vec([0, 0]), vec([0]), Fraction(1), vec([1, 1]))
PUSHED = Leaf(mat([[1, 0], [1, 0]]), vec([3, -1]), mat([[1, 0]]), vec([1, 0]), vec([0, 2]), Fraction(1), vec([1]))


def both(leaf: Leaf) -> Outcome:
    """The lemma, and the same at the sum of the generators."""
    again = Leaf(leaf.Z, leaf.t, leaf.generators, leaf.c, leaf.shares, leaf.lam2, (Fraction(1),) * len(leaf.generators))
    return first_failure(check(leaf), check(again))


CLAIM = Claim(
    LABEL,
    "One vector for a cone",
    Property(STATEMENT, instances(), both),
    slips=(
        Slip("It is enough that the constraint holds at the generators", at_generators_only, Witness("a line", KINK)),
        Slip("The shares need not lie in [0, 1]", with_any_share, Witness("a share of 2", PUSHED)),
    ),
)
