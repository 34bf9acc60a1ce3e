"""lemma:pruning-paths-equiv: removing dependent vectors one by one, in any order, leaves the same number."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, in_span, independent, rank
from properties.model import Claim, Outcome, Property, expect
from properties.strategies import rational_matrix

LABEL = "lemma:pruning-paths-equiv"
STATEMENT = "All independent subsets obtained by removing linearly dependent vectors have the same cardinality."

Instance = tuple[Matrix, tuple[int, ...], tuple[int, ...]]


@st.composite
def instances(draw: DrawFn) -> Instance:
    """Vectors and two orders in which to try to remove them."""
    k, n = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    vectors = draw(rational_matrix(k, n))
    orders = [tuple(draw(st.permutations(range(k)))) for _ in range(2)]
    return vectors, orders[0], orders[1]


def removed(vectors: Matrix, order: tuple[int, ...]) -> Matrix:
    """What is left after every vector that depends on the rest has been removed, tried in this order."""
    left = list(range(len(vectors)))
    for i in order:
        if in_span(vectors[i], [vectors[j] for j in left if j != i]):
            left.remove(i)
    return tuple(vectors[i] for i in left)


def check(instance: Instance) -> Outcome:
    """Both orders end at an independent set of rank many vectors."""
    vectors, one, two = instance
    ends = removed(vectors, one), removed(vectors, two)
    same = len(ends[0]) == len(ends[1]) == rank(vectors)
    return expect(same and all(map(independent, ends)), f"{len(ends[0])} and {len(ends[1])} vectors are left")


CLAIM = Claim(LABEL, "Orders of pruning", Property(STATEMENT, instances(), check))
