"""Coalitions that win on a space of null vectors: sum_P |u_b| > sum_M |u_b| for every u != 0 in it.

Vectors are kept block by block; coalitions are sets of places (bit masks) in the support.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isqrt

from verify.errors import bounded
from verify.numbers.patterns import describe_indices
from verify.text import Node

BlockVector = list[list[int]]
BITS = 64
MOST_BLOCKS = 16


def check_wins(blocks: tuple[int, ...], basis: list[BlockVector], node: Node) -> None:
    """Reject unless each win is proved and, for any signs, the blocks of one sign contain a coalition that wins."""
    won = [check_win(blocks, basis, win) for win in node.array()]
    if any(P.bit_count() == 1 for P in won):
        return  # it has one sign or the other
    bounded(len(blocks), MOST_BLOCKS, "blocks, or one that wins alone", node.place)
    for plus in range(1 << (len(blocks) - 1)):
        if not any(not P & ~plus or not P & plus for P in won):
            signs = "".join("+" if plus >> i & 1 else "-" for i in range(len(blocks)))
            raise node.reject(f"a coalition that wins within one sign of {signs}", f"none of {len(won)}")


def check_win(blocks: tuple[int, ...], basis: list[BlockVector], node: Node) -> int:
    """The coalition of one win, proved by a form (`t`) or by cones (`cuts`)."""
    kind = "t" if isinstance(node.value, dict) and "t" in node.value else "cuts"
    fields = node.record("plus", kind)
    plus = fields["plus"].ascending(max(blocks) + 1)
    if not plus or not set(plus) <= set(blocks):
        raise fields["plus"].reject(f"blocks of {describe_indices(blocks)}", describe_indices(plus))
    P = [i for i, b in enumerate(blocks) if b in plus]
    M = [i for i, b in enumerate(blocks) if b not in plus]
    (check_form if kind == "t" else check_cones)(basis, P, M, fields[kind])
    return sum(1 << i for i in P)


def check_form(basis: list[BlockVector], P: list[int], M: list[int], node: Node) -> None:
    """t > 0, sum t <= 1, and sum_P |u_b|^2 - sum_M |u_b|^2 / t_b positive definite (its LDL' has positive pivots)."""
    t = node.vector(len(M))
    node.require(all(x > 0 for x in t) and sum(t) <= 1, "positive numbers with sum at most 1")
    factors = [(b, Fraction(1)) for b in P] + [(b, -1 / x) for b, x in zip(M, t, strict=True)]
    form = [[sum((f * dot(u[b], v[b]) for b, f in factors), Fraction(0)) for v in basis] for u in basis]
    for k, row in enumerate(form):
        node.require(row[k] > 0, "a positive definite form", f"pivot {k} is not positive")
        for other in form[k + 1 :]:
            ratio = other[k] / row[k]
            other[:] = [x - ratio * y for x, y in zip(other, row, strict=True)]


def check_cones(basis: list[BlockVector], P: list[int], M: list[int], node: Node) -> None:
    """The cuts of the cones spanned by +-(the basis), in preorder: each leaf's linear bound is positive."""
    cuts = iter(node.array())
    for tail in product((1, -1), repeat=len(basis) - 1):  # vector i + 1 has - where bit i of 0, 1, 2, ... is set
        signs = (1, *reversed(tail))
        pending = [[[[s * x for x in part] for part in u] for s, u in zip(signs, basis, strict=True)]]
        while pending:
            cone, cut = pending.pop(), next(cuts, None)
            if cut is None:
                raise node.reject("cuts for every cone", "too few")
            if cut.value is None:
                check_leaf(cone, P, M, cut)
                continue
            i, j, p, q = (entry.index(10**15) for entry in cut.array(4))
            if i == j or max(i, j) >= len(cone) or not p or not q:
                raise cut.reject(f"two different generators below {len(cone)} and two positive factors")
            between = [
                [p * x + q * y for x, y in zip(a, b, strict=True)] for a, b in zip(cone[i], cone[j], strict=True)
            ]
            first, second = cone.copy(), cone.copy()
            first[i] = second[j] = between
            pending += [second, first]
    if (left := next(cuts, None)) is not None:
        raise left.reject("no more cuts")


def check_leaf(cone: list[BlockVector], P: list[int], M: list[int], node: Node) -> None:
    """sum_P g_b.w_b / |w_b| - sum_M |g_b| > 0 for each generator g, with w the sum of all generators.

    On the cone |u_b| >= u_b.w_b / |w_b| is linear and sum_M |u_b| is convex, so P wins on all of it.
    """
    w = [[sum(entries) for entries in zip(*parts, strict=True)] for parts in zip(*cone, strict=True)]
    for k, g in enumerate(cone):
        low = 0
        for b in P:
            along = dot(g[b], w[b])
            root = isqrt((along**2 << 2 * BITS) // dot(w[b], w[b])) if along else 0
            low += root if along >= 0 else -root - 1
        for b in M:
            low -= isqrt(dot(g[b], g[b]) << 2 * BITS) + 1
        node.require(low > 0, "a positive bound at every generator of the cone", f"not at generator {k}")


def dot(u: list[int], v: list[int]) -> int:
    """u.v"""
    return sum(x * y for x, y in zip(u, v, strict=True))
