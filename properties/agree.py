"""Where the certifier computes the same thing, both must agree on every instance.

Each agreement is a Property: the certifier's answer against the independent one of `properties.exact`.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector
from properties.exact.patterns import pattern_of, patterns, relu_problem
from properties.model import Outcome, Property, expect, first_failure
from properties.strategies import rational_matrix, vector
from relu_cert.patterns import PatternSet, enumerate_patterns
from relu_cert.problem import relu


@st.composite
def data(draw: DrawFn) -> Matrix:
    """Data of every kind, up to six points in three dimensions, some with denominators."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    Z = draw(rational_matrix(n, d))
    q = Fraction(1, draw(st.integers(1, 3)))
    return tuple(tuple(q * x for x in z) for z in Z)


@st.composite
def data_with_targets(draw: DrawFn) -> tuple[Matrix, Vector]:
    """Z and y."""
    Z = draw(data())
    return Z, draw(vector(len(Z)))


def _listed(found: PatternSet) -> list[tuple[bool, ...]]:
    return [found.pattern(i) for i in range(len(found))]


def check_patterns(Z: Matrix) -> Outcome:
    """The same set D_Z, the same open cells, nothing twice, and every witness has its pattern."""
    ours, theirs = patterns(Z), enumerate_patterns(Z, engine="python")
    listed = _listed(theirs)
    witnesses = [tuple(map(Fraction, theirs.witness(i))) for i in range(len(theirs))]
    return first_failure(
        expect(len(listed) == len(set(listed)), "the certifier lists a pattern twice"),
        expect(set(listed) == set(ours.all), f"{len(listed)} patterns by the certifier, {len(ours.all)} here"),
        expect(set(listed[: theirs.open_cells]) == set(ours.open), "the open cells differ"),
        expect(
            all(pattern_of(Z, u) == p for u, p in zip(witnesses, listed, strict=True)),
            "a witness of the certifier has another pattern",
        ),
    )


def check_blocks(instance: tuple[Matrix, Vector]) -> Outcome:
    """The same convex program, block by block: X_b = xi D Z and K_b = -Z'(2D - I)."""
    Z, y = instance
    theirs = relu(Z, y, enumerate_patterns(Z, engine="python"))
    listed = _listed(theirs.network.patterns) if theirs.network else []
    ours = relu_problem(Z, tuple(listed), y, Fraction(1))
    same = len(theirs.blocks) == len(ours.blocks) and all(
        a.X == b.X and a.K is not None and tuple(zip(*a.K, strict=True)) == b.K
        for a, b in zip(theirs.blocks, ours.blocks, strict=True)
    )
    return expect(same and theirs.y == y, "the blocks of the convex program differ")


PATTERNS = Property("The certifier's D_Z is the set found by composing cocircuits.", data(), check_patterns)
BLOCKS = Property(
    "The certifier's convex program has the blocks of eq:convex-relu-mlp.", data_with_targets(), check_blocks
)
