"""lemma:pruning-paths-equiv: removing dependent vectors one by one, in any order, leaves the same number."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, in_span, rank
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
    """Both orders leave rank many vectors, which span what all of them did and so are independent."""
    vectors, *orders = instance
    left = [len(removed(vectors, order)) for order in orders]
    return expect({*left} == {rank(vectors)}, f"{' and '.join(map(str, left))} vectors are left")


CLAIM = Claim(LABEL, "Orders of pruning", Property(STATEMENT, instances(), check))
