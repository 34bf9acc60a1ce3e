"""General position of blocks, decided exactly where that is elementary.

A tie is u != 0 with sum_b X_b u_b = 0 on at most n + 1 blocks and signs s with sum_b s_b |u_b| = 0. The blocks are in
(group) general position iff there is none.

>>> general_position([((Fraction(1),),), ((Fraction(2),),)])
True
>>> general_position([((Fraction(1),),), ((Fraction(-1),),)])
False
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from math import comb

from properties.exact.linalg import Matrix, Vector, dot, norm2, null_space, positive_definite, rank, transpose
from properties.exact.roots import RootSum

MOST_SETS = 60
MOST_PAIRS = 60


def general_position(blocks: Sequence[Matrix]) -> bool | None:
    """True or False; None where it is not decided here.

    Two blocks: |u_a|^2 - |u_b|^2 on the null vectors is definite, or there is a tie. A set whose null vectors are a
    line: finitely many sums of roots. Blocks of one column: a tie is a null vector of X that some t in {1, -1}^k is
    orthogonal to. No null vector, no tie.
    """
    n, size = len(blocks[0]), min(len(blocks[0]) + 1, len(blocks))
    if any(_pair_ties(a, b) for a, b in islice(combinations(blocks, 2), MOST_PAIRS)):
        return False
    if not _null(blocks) or size < 2 or (size == 2 and comb(len(blocks), 2) <= MOST_PAIRS):
        return True
    found: list[bool | None] = [_ties(chosen, n) for chosen in islice(combinations(blocks, size), MOST_SETS)]
    if True in found:
        return False
    return None if None in found or comb(len(blocks), size) > MOST_SETS else True


def _null(blocks: Sequence[Matrix]) -> Matrix:
    """A basis of the null vectors of [X_1 ... X_k]."""
    return null_space([tuple(x for X in blocks for x in X[i]) for i in range(len(blocks[0]))])


def _pair_ties(A: Matrix, B: Matrix) -> bool:
    """Some null vector of [A B] has |u_A| = |u_B|."""
    null, k = _null((A, B)), len(A[0])
    form = tuple(tuple(dot(u[:k], w[:k]) - dot(u[k:], w[k:]) for w in null) for u in null)
    minus = tuple(tuple(-x for x in row) for row in form)
    return bool(null) and not positive_definite(form) and not positive_definite(minus)


def _ties(blocks: Sequence[Matrix], n: int) -> bool | None:
    """Whether there is a tie on these blocks, n + 1 of them at most."""
    null, sizes = _null(blocks), [len(X[0]) for X in blocks]
    if not null:
        return False
    if len(null) == 1:
        return _roots_tie(_parts(null[0], sizes))
    if any(size > 1 for size in sizes):
        return None
    columns = [transpose(X)[0] for X in blocks]
    rows = [tuple(x[i] for x in columns) for i in range(n)]
    signs = product((Fraction(1), Fraction(-1)), repeat=len(blocks) - 1)
    return any(rank([*rows, (Fraction(1), *t)]) < len(blocks) for t in signs)


def _parts(u: Vector, sizes: Sequence[int]) -> list[Vector]:
    out, start = [], 0
    for size in sizes:
        out.append(u[start : start + size])
        start += size
    return [part for part in out if any(part)]


def _roots_tie(parts: Sequence[Vector]) -> bool:
    """Some signs have sum s_b |u_b| = 0."""
    first, *rest = (RootSum.sqrt(norm2(part)) for part in parts)
    for signs in product((1, -1), repeat=len(rest)):
        total = first
        for s, root in zip(signs, rest, strict=True):
            total = total + root.times(s)
        if not total.terms:
            return True
    return False
