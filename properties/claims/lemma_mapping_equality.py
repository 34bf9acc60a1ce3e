"""lemma:mapping-equality: networks with the same convex image differ by permutations and splits only.

That is so for optimal networks (those of cor:relu-sol-fn): on one pattern they have one direction of each sign. Two
slips: the sparsest pattern to which a neuron conforms may not be unique (the first one is taken here), and the cone
is (2D - I)ZW >= 0, not 2(D - I)ZW >= 0.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.cor_relu_sol_fn import in_formula
from properties.exact.linalg import Matrix, Vector, dot, mat, total, vec
from properties.exact.network import Network, merge
from properties.exact.patterns import Pattern, pattern_of, patterns
from properties.exact.roots import rational_sqrt
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, vacuous, yes
from properties.strategies.networks import PlantedNetwork, optimal_network, planted_network, split

LABEL = "lemma:mapping-equality"
STATEMENT = "Solutions that map to the same convex solution are equal up to permutations and splits of neurons."


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedNetwork, Network, Network]:
    """A planted optimal network and two others: each a split and permuted copy of it, or any one on the same rays."""
    planted = draw(planted_network())
    return planted, draw(split(planted.net)), draw(st.one_of(split(planted.net), other_network(planted)))


@st.composite
def other_network(draw: DrawFn, planted: PlantedNetwork) -> Network:
    """Some neurons of the planted network exchanged: with their weights permuted it may be optimal, or not."""
    roots = tuple(rational_sqrt(a / planted.lam) or Fraction(0) for a in planted.planted.alpha)
    return draw(split(optimal_network(planted.planted, planted.lam, tuple(draw(st.permutations(roots))))))


def conforms(Z: Matrix, p: Pattern, u: Vector) -> bool:
    """(2D - I)Zu >= 0"""
    return all((s >= 0) if on else (s <= 0) for s, on in zip((dot(z, u) for z in Z), p, strict=True))


def convex_image(Z: Matrix, net: Network) -> dict[tuple[Pattern, int], Vector]:
    """The convex solution: each neuron's |w2| W goes to the sparsest pattern (the first of these) of its sign."""
    found = sorted(patterns(Z).all, key=sum)
    images: dict[tuple[Pattern, int], list[Vector]] = {}
    for i in net:
        block = next(p for p in found if conforms(Z, p, i.W)), i.sign
        images.setdefault(block, []).append(i.image)
    sums = {block: total(parts, len(Z[0])) for block, parts in images.items()}
    return {block: u for block, u in sums.items() if any(u)}


def check(instance: tuple[PlantedNetwork, Network, Network]) -> Outcome:
    """Two optimal networks have the same convex image iff they are equal when collinear neurons are merged."""
    planted, one, two = instance
    Z = planted.planted.Z
    if not (in_formula(planted, one) and in_formula(planted, two)):
        return vacuous("not two optimal networks")
    image, equal = convex_image(Z, one) == convex_image(Z, two), merge(one) == merge(two)
    return expect(
        image == equal, f"the same convex solution: {yes(image)}; equal up to permutations and splits: {yes(equal)}"
    )


def one_sparsest(instance: tuple[Matrix, Vector]) -> Outcome:
    """The sparsest pattern to which W conforms is unique."""
    Z, W = instance
    conforming = [p for p in patterns(Z).all if conforms(Z, p, W)]
    least = min(sum(p) for p in conforming)
    sparsest = [p for p in conforming if sum(p) == least]
    return expect(len(sparsest) == 1, f"{len(sparsest)} sparsest patterns with {least} ones each")


def printed_cone(instance: tuple[Matrix, Vector]) -> Outcome:
    """2(D - I)ZW >= 0 for a pattern D implies that D gives (ZW)_+."""
    Z, W = instance
    for p in patterns(Z).all:
        passes = all(on or dot(z, W) <= 0 for z, on in zip(Z, p, strict=True))  # where D = 1 it says 0 >= 0
        if passes and not conforms(Z, p, W):
            shown, own = ("".join("01"[on] for on in pattern) for pattern in (p, pattern_of(Z, W)))
            return fails(f"D = {shown} passes 2(D - I)ZW >= 0; W has {own}")
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
