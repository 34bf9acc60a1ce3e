"""lemma:mapping-equality: networks with the same convex image differ by permutations and splits only.

Two slips: the sparsest pattern to which a neuron conforms may not be unique, and the cone is (2D - I)ZW >= 0, not
2(D - I)ZW >= 0.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, dot, mat, vec
from properties.exact.network import Network, merge, network_fit, network_objective
from properties.exact.patterns import pattern_of, patterns
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, first_failure
from properties.strategies.networks import data_and_network, split

LABEL = "lemma:mapping-equality"
STATEMENT = "Solutions that map to the same convex solution are equal up to permutations and splits of neurons."


@st.composite
def instances(draw: DrawFn) -> tuple[Matrix, Vector, Network, Network]:
    """Data and two networks, each a split and permuted copy of one network, or of two different ones."""
    Z, y, net = draw(data_and_network())
    other = draw(data_and_network())[2] if draw(st.integers(0, 3)) == 3 else net
    other = other if all(len(i.W) == len(Z[0]) for i in other) else net
    return Z, y, draw(split(net)), draw(split(other))


def check(instance: tuple[Matrix, Vector, Network, Network]) -> Outcome:
    """Equal merged images mean equal fit and equal objective (balanced networks), so a split changes nothing."""
    Z, y, one, two = instance
    if merge(one) != merge(two):
        return expect(sorted(map(repr, one)) != sorted(map(repr, two)), "equal networks have different images")
    a, b = (network_objective(Z, y, Fraction(1), net) for net in (one, two))
    return first_failure(
        expect(network_fit(Z, one) == network_fit(Z, two), "the same image, another fit"),
        expect(a == b, "the same image, another objective"),
    )


def one_sparsest(instance: tuple[Matrix, Vector]) -> Outcome:
    """The sparsest pattern to which W conforms is unique."""
    Z, W = instance
    signs = [dot(z, W) for z in Z]
    conforming = [
        p for p in patterns(Z).all if all((s >= 0) if on else (s <= 0) for s, on in zip(signs, p, strict=True))
    ]
    least = min(sum(p) for p in conforming)
    sparsest = [p for p in conforming if sum(p) == least]
    return expect(len(sparsest) == 1, f"{len(sparsest)} sparsest patterns with {least} ones each")


def printed_cone(instance: tuple[Matrix, Vector]) -> Outcome:
    """2(D - I)ZW >= 0 for a pattern D implies that D gives (ZW)_+."""
    Z, W = instance
    for p in patterns(Z).all:
        if all(2 * (int(on) - 1) * dot(z, W) >= 0 for z, on in zip(Z, p, strict=True)):
            wrong = [k for k, z in enumerate(Z) if p[k] and dot(z, W) < 0]
            if wrong:
                return fails(f"D = {tuple(map(int, p))} passes 2(D - I)ZW >= 0; W has {pattern_of(Z, W)}")
    return HOLDS


CLAIM = Claim(
    LABEL,
    "Merge and split symmetry",
    Property(STATEMENT, instances(), check),
    slips=(
        Slip(
            "proof: the sparsest pattern of a neuron is unique",
            one_sparsest,
            Witness("Z = ((1,0),(-1,0),(0,1)), W = (0,1)", (mat([[1, 0], [-1, 0], [0, 1]]), vec([0, 1]))),
        ),
        Slip(
            "proof: W conforms to D iff 2(D - I)ZW >= 0",
            printed_cone,
            Witness("Z = 1, W = -1, D = 1", (mat([[1]]), vec([-1]))),
        ),
    ),
)
