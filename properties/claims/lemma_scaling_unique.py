"""lemma:scaling-unique: an optimal neuron is fixed by its product W w2 and the sign of w2, because it is balanced."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, norm2, scale
from properties.exact.network import Network, Neuron, network_fit, penalty
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import positive_rationals
from properties.strategies.networks import data_and_network

LABEL = "lemma:scaling-unique"
STATEMENT = "Solutions with equal products W_i w2_i and equal signs of w2_i are equal."


@st.composite
def instances(draw: DrawFn) -> tuple[Matrix, Network, Fraction]:
    """Data, a balanced network, and a scaling s > 0 of its first neuron."""
    Z, _, net = draw(data_and_network())
    return Z, net, draw(positive_rationals())


def check(instance: tuple[Matrix, Network, Fraction]) -> Outcome:
    """(sW, w2/s) has the same product, sign and fit; its norms are as small iff s = 1, so only one can be optimal.

    The converse: from the product u and balance, |W|^2 = w2^2 = |u|, which gives W and w2 back.
    """
    Z, net, s = instance
    first = net[0]
    scaled = (Neuron(scale(s, first.W), first.w2 / s), *net[1:])
    before, after = penalty(net), penalty(scaled)
    return first_failure(
        expect(network_fit(Z, scaled) == network_fit(Z, net), "scaling changed the fit"),
        expect(
            (scaled[0].image, scaled[0].sign) == (first.image, first.sign), "scaling changed the product or the sign"
        ),
        expect((after > before) == (s != 1) and after >= before, "a scaled neuron is as good as the balanced one"),
        expect(norm2(first.image) == norm2(first.W) ** 2, "the product does not give the norm back"),
    )


CLAIM = Claim(LABEL, "Products determine neurons", Property(STATEMENT, instances(), check))
