"""sec:intro: "there are always at least m! solutions". At lambda >= lambda_max there is one: zero."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import factorial

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import mat, norm2, vec
from properties.exact.network import network_objective
from properties.exact.patterns import patterns, relu_problem
from properties.exact.problem import dual_value, dual_vectors
from properties.model import Claim, Outcome, Property, Witness, expect, first_failure, vacuous
from properties.strategies import rational_matrix, vector
from properties.strategies.networks import PlantedNetwork, planted_network

LABEL = "m! solutions"
STATEMENT = "There are always at least m! optimal networks of width m."
DISTINCT = (
    "An optimal network of m non-zero, pairwise different neurons gives exactly m! optimal networks by permutation."
)

Data = tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...], Fraction, int]


@st.composite
def instances(draw: DrawFn) -> Data:
    """Z, y, lambda and a width m >= 2."""
    n, d = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    lam = Fraction(draw(st.integers(1, 12)))
    return draw(rational_matrix(n, d)), draw(vector(n)), lam, draw(st.integers(2, 4))


def check(instance: Data) -> Outcome:
    """lambda > lambda_max: zero is the only solution, of any width."""
    Z, y, lam, m = instance
    p = relu_problem(Z, patterns(Z).all, y, lam * lam)
    if all(norm2(v) < p.lam2 for v in dual_vectors(p, y)):
        return expect(factorial(m) <= 1, f"lambda > lambda_max: one solution of width {m}, not {factorial(m)}")
    return vacuous("lambda <= lambda_max")


def check_distinct(instance: PlantedNetwork) -> Outcome:
    """All orderings of the planted network's non-zero neurons are different networks with the optimal objective."""
    planted = instance.planted
    net = tuple(i for i in instance.net if i.sign)
    if len(net) > 4:
        return vacuous("more orderings than are listed here")
    orders = set(permutations(net))
    values = {network_objective(planted.Z, planted.y, instance.lam, o) for o in orders}
    best = dual_value(planted.problem, planted.r)
    return first_failure(
        expect(len(orders) == factorial(len(net)), f"{len(orders)} orderings of {len(net)} neurons"),
        expect(values == {best}, f"objectives {' and '.join(map(str, sorted(values)))}, not {best}"),
    )


CLAIM = Claim(
    LABEL,
    "Permutations",
    Property(STATEMENT, instances(), check),
    witnesses=(Witness("Z = 1, y = 1, lambda = 2, m = 2", (mat([[1]]), vec([1]), Fraction(2), 2)),),
    repaired=Property(DISTINCT, planted_network(), check_distinct),
)
