"""General position and group general position, by definition.

prop:unique-sol: for no set of at most n + 1 blocks and unit vectors z_b does some X_j z_j lie in the affine hull of the
other X_b z_b. With u_b the coefficient times z_b that is the same as: there is no *tie*, u != 0 on at most n + 1 blocks
with Xu = 0 and signs s with sum_b s_b |u_b| = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import beside, column, entries, matrix, norm2, root_sum_sign

MOST_RANKS = 4_000


def general_position(columns: Sequence[DomainMatrix]) -> bool | None:
    """The columns of X, each a block: |u_j| = +-u_j, so a tie is u != 0 with X_T u = 0 and s.u = 0 for some signs s."""
    n = columns[0].shape[0]
    size = min(n + 1, len(columns))
    if comb(len(columns), size) << (size - 1) > MOST_RANKS:
        return None
    for T in combinations(columns, size):
        X = beside(T, n)
        if X.rank() == size:
            continue
        for s in product((1, -1), repeat=size - 1):
            signed = matrix([[QQ(1), *map(QQ, s)]], size)
            if X.vstack(signed).rank() < size:
                return False
    return True


def group_general_position(blocks: Sequence[DomainMatrix]) -> bool | None:
    """True or False; None where null spaces of more than one dimension leave it open."""
    n = blocks[0].shape[0]
    size = min(n + 1, len(blocks))
    if comb(len(blocks), size) << (size - 1) > MOST_RANKS:
        return None
    undecided = False
    for T in combinations(blocks, size):
        found = _ties(T)
        if found:
            return False
        undecided = undecided or found is None
    return None if undecided else True


def _ties(T: Sequence[DomainMatrix]) -> bool | None:
    """Whether there is a tie on these blocks.

    f_s(u) = sum_b s_b |u_b| is continuous and even. On a line of null vectors it vanishes or it does not; on more
    dimensions it vanishes somewhere iff it is not of one strict sign, because the sphere is connected.
    """
    null = beside(T, T[0].shape[0]).nullspace().to_dense().to_list()
    if not null:
        return False
    sizes = [X.shape[1] for X in T]
    parts = [[norm2(column(u)) for u in _parts(row, sizes)] for row in _tried(null)]
    open_ones = False
    for s in product((1, -1), repeat=len(T) - 1):
        signs = (1, *s)
        seen = {root_sum_sign((QQ(e), q) for e, q in zip(signs, row, strict=True) if q) for row in parts}
        if 0 in seen or len(seen) == 2:
            return True
        if len(null) > 1 and not _one_sign(null, sizes, signs if seen == {1} else tuple(-e for e in signs)):
            open_ones = True
    return None if open_ones else False


def _tried(null: list[list[object]]) -> list[list[object]]:
    """Null vectors at which signs are looked at: a basis, sums and differences."""
    out = list(null)
    for u, w in combinations(null, 2):
        out += [[a + e * b for a, b in zip(u, w, strict=True)] for e in (QQ(1), QQ(-1))]
    return out


def _parts(row: Sequence[object], sizes: Sequence[int]) -> list[list[object]]:
    out, start = [], 0
    for size in sizes:
        out.append(list(row[start : start + size]))
        start += size
    return out


def _one_sign(null: list[list[object]], sizes: Sequence[int], signs: Sequence[int]) -> bool:
    """sum_P |u_b| > sum_M |u_b| for all null vectors u != 0, if sum_P |u_b|^2 - |M| sum_M |u_b|^2 is positive
    definite."""
    minus = sum(e < 0 for e in signs)
    rows = [_parts(u, sizes) for u in null]
    form = [[QQ(0)] * len(null) for _ in null]
    for i, u in enumerate(rows):
        for j, w in enumerate(rows):
            for e, a, b in zip(signs, u, w, strict=True):
                product_ = sum((x * y for x, y in zip(a, b, strict=True)), QQ(0))  # type: ignore[operator]
                form[i][j] += product_ if e > 0 else -minus * product_
    return positive_definite(form)


def positive_definite(form: list[list[object]]) -> bool:
    """All leading minors are positive (Sylvester)."""
    k = len(form)
    return all(matrix([row[:i] for row in form[:i]], i).det() > 0 for i in range(1, k + 1))


def blocks_of(columns: Sequence[DomainMatrix]) -> list[DomainMatrix]:
    """The single columns of blocks."""
    return [X[:, j] for X in columns for j in range(X.shape[1]) if entries(X)]
