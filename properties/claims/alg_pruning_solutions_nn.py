"""alg:pruning-solutions-nn: the printed step leaves out beta_j = -1 and the sign of t (and q_i must use w2_i).

A neuron is its output q_i = (Z W_i)_+ w2_i. The least-squares beta writes q_j by the others; with beta_j = -1 it is a
dependence whenever q_j is in their span, and t = 1/beta_i with its sign keeps the fit and prunes a neuron.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, in_span, least_squares, scale, total, vec
from properties.exact.network import Network, Neuron, network_fit, output
from properties.exact.prune import apply_step, printed_step, signed_step
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, vacuous

LABEL = "alg:pruning-solutions-nn"
STATEMENT = "If q_j depends on the other outputs, the printed step prunes a neuron and keeps the fit."
REPAIRED = "With beta_j = -1 and t = 1/beta_i (signed) the step prunes a neuron and keeps the fit."

Outputs = tuple[tuple[Vector, ...], int]


@st.composite
def instances(draw: DrawFn) -> Outputs:
    """Outputs that are non-negative multiples and sums of few vectors, as those of optimal neurons often are."""
    n = draw(st.integers(1, 3))
    vector = st.tuples(*[st.integers(0, 3).map(Fraction)] * n).filter(any)
    q = draw(st.lists(vector, min_size=2, max_size=4))
    return tuple(q), draw(st.integers(0, len(q) - 1))


def step(instance: Outputs, beta_j: int, rule: Callable[[Vector], Fraction]) -> Outcome:
    """One step of the algorithm on the outputs. Since |t| = 1/max |beta_i|, every factor 1 - t beta_i has a root."""
    q, j = instance
    others = [qi for i, qi in enumerate(q) if i != j]
    if not in_span(q[j], others):
        return vacuous("q_j is independent of the others: approximate pruning")
    solution = iter(least_squares(others, q[j]))
    beta = tuple(Fraction(beta_j) if i == j else next(solution) for i in range(len(q)))
    if not any(beta):
        return vacuous("beta = 0")
    factors = apply_step((Fraction(1),) * len(q), beta, rule(beta))
    before, after = (total(v, len(q[0])) for v in (q, tuple(scale(f, qi) for f, qi in zip(factors, q, strict=True))))
    if all(factors):
        return fails("nothing is pruned")
    show = ["(" + ", ".join(map(str, x)) + ")" for x in (before, after)]
    return expect(before == after, f"the fit changes from {show[0]} to {show[1]}")


def check(instance: Outputs) -> Outcome:
    """beta_j is missing (zero) and t = 1/|beta_i|."""
    return step(instance, 0, printed_step)


def check_half(instance: Outputs) -> Outcome:
    """beta_j = -1 is there, but t = 1/|beta_i|."""
    return step(instance, -1, printed_step)


def check_repaired(instance: Outputs) -> Outcome:
    """beta_j = -1 and t = 1/beta_i."""
    return step(instance, -1, signed_step)


def whole_layer(instance: tuple[Matrix, Network]) -> Outcome:
    """q_i = (Z W_i)_+ w2 with one w2 for all neurons (the first one's, the index being missing) gives the fit."""
    Z, net = instance
    q = [scale(net[0].w2, output(Z, i.W)) for i in net]
    if total(q, len(Z)) != network_fit(Z, net):
        return fails("the outputs do not add up to the fit")
    return HOLDS


PAIR = (vec([2]), vec([1])), 1
TWO_NEURONS: tuple[Matrix, Network] = (
    (vec([1]),),
    (Neuron(vec([1]), Fraction(1)), Neuron(vec([2]), Fraction(-2))),
)


CLAIM = Claim(
    LABEL,
    "Pruning networks",
    Property(STATEMENT, instances(), check),
    witnesses=(Witness("q = (2, 1), j = 2", PAIR),),
    repaired=Property(REPAIRED, instances(), check_repaired),
    slips=(
        Slip("beta_j = -1 alone repairs it (t = 1/|beta_i|)", check_half, Witness("q = (2, 1), j = 2", PAIR)),
        Slip("q_i = (Z W_i)_+ w2, without the index of w2", whole_layer, Witness("w2 = (1, -2)", TWO_NEURONS)),
    ),
)
