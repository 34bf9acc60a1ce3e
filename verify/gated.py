"""Gated networks: a block D Z for each pattern D of D_Z, without a cone: a multiplier would be D theta."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.multipliers import Row, on_bits
from verify.patterns import Patterns, bit_text
from verify.problem import Problem, cleared, square, transposed
from verify.text import Node, Vector, show


def gated_pattern(problem: Problem, patterns: Patterns | None, node: Node) -> int:
    """A pattern of D_Z."""
    mask = node.pattern(problem.n)
    if patterns is None or mask not in patterns:
        raise node.reject("a pattern in D_Z, by the fact patterns")
    return mask


def gated_output(problem: Problem, patterns: Patterns | None, first: Node, node: Node) -> tuple[Vector, Vector]:
    """D Z w and w, for D in D_Z."""
    mask, w = gated_pattern(problem, patterns, first), node.vector(problem.d)
    return tuple(x if mask >> k & 1 else Fraction(0) for k, x in enumerate(problem.times(w))), w


def gated_rows(patterns: Patterns, theta: Vector) -> Iterator[Row]:
    """m = D theta for every pattern D."""
    p, q = cleared(theta)
    for mask in patterns.masks:
        yield mask, on_bits(bit_text(mask, len(p)), p), q


def check_attained(problem: Problem, patterns: Patterns | None, y: Vector, squared: Fraction, node: Node) -> None:
    """|Z'D y|^2 = squared for the pattern D."""
    pattern = node.record("pattern")["pattern"]
    mask = gated_pattern(problem, patterns, pattern)
    reached = square(transposed(problem.Z, tuple(y_k if mask >> k & 1 else Fraction(0) for k, y_k in enumerate(y))))
    if reached != squared:
        raise pattern.reject(f"|Z'D y|^2 = {show(squared)}", show(reached))
