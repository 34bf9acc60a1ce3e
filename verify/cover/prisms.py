"""Roots where biases are free: prisms over the sign cones of the weights hold all u with z_k.u = 0 for some row k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

from verify.cover.lines import Row, root_above
from verify.cover.tree import sign_cones
from verify.problem.problem import Problem, dot, square
from verify.text import Node


def prism_height(problem: Problem, basis: Sequence[Row], node: Node) -> int:
    """At least |x_k.b_i| for the weights x_k of all rows and all vectors b_i but the last: z_k.u = 0 for u = sum tau_i
    (+-b_i) + x e, tau >= 0, makes |x| <= height sum tau_i."""
    *weights, last = basis
    if any(g[-1] for g in weights) or last != (0,) * (problem.d - 1) + (1,):
        raise node.reject("vectors of weights, without a bias, and last that of a bias alone")
    return max((ceil(abs(dot(z[:-1], map(Fraction, g[:-1])))) for z in problem.seen for g in weights), default=0)


def widest(problem: Problem) -> int:
    """At least sum_l |u_l| for weights of length 1 and a bias with z_k.u = 0 for some row k."""
    return root_above(problem.d - 1) + root_above(max(ceil(square(z[:-1])) for z in problem.seen))


def prisms(basis: Sequence[Row], height: int) -> Iterator[tuple[Row, ...]]:
    """For each sign cone of the basis without its last vector e, all sum tau_i g_i + x e with |x| <= height sum tau_i:
    cone j has g_i - height e for i <= j and g_i + height e for i >= j, the point x of the prism being where
    tau_1, ..., tau_j are below and the others above."""
    *weights, e = basis
    for cone in sign_cones(weights):
        low, high = ([tuple(x + s * height * y for x, y in zip(g, e, strict=True)) for g in cone] for s in (-1, 1))
        for j in range(len(cone)):
            yield (*low[: j + 1], *high[j:])
