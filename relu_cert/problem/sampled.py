"""Networks over some patterns only, block by block.

The concave pieces that serve a whole ReLU network need all patterns; over some of them the cones matter, and every
block stands for itself:   X_b = xi D Z,   K_b = -Z'(2D - I)   (gated: no cone).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

from relu_cert.exact import Matrix, Vector
from relu_cert.patterns.model import PatternSet
from relu_cert.problem.model import Block, Problem, Sampled


def over_patterns(
    Z: Matrix,
    y: Vector,
    patterns: tuple[str, ...],
    model: Literal["relu", "gated"],
    complete: PatternSet | None = None,
    gates: tuple[Vector | None, ...] = (),
) -> Problem:
    """The convex program of a ReLU or gated ReLU network over the given patterns, strings of n bits, all different;
    `gates` are vectors that have them, where they are known.

    A ReLU block's weights are a neuron of the network whatever the pattern is: on its cone D Z u = (Zu)_+.
    """
    if not patterns or len(set(patterns)) != len(patterns) or any(len(p) != len(Z) for p in patterns):
        raise ValueError("patterns are different strings of n bits, and there is at least one")
    blocks = tuple(_blocks(Z, patterns, model))
    d = len(Z[0])
    columns = tuple(tuple(range(b * d, (b + 1) * d)) for b in range(len(blocks)))
    some = () if complete is not None else patterns
    return Problem("cgl", y, blocks, columns=columns, sampled=Sampled(model, Z, some, complete, gates))


def written_out(problem: Problem) -> Problem:
    """A network over all its patterns, lower faces included, with every block written out."""
    whole, listed = problem.source, problem.listed
    if whole is None or listed is None or problem.kind == "cgl":
        return problem
    return over_patterns(whole.Z, problem.y, listed.texts(), problem.kind, listed)


def _blocks(Z: Matrix, patterns: tuple[str, ...], model: Literal["relu", "gated"]) -> Iterator[Block]:
    zero = (Fraction(0),) * len(Z[0])
    minus = tuple(tuple(-z for z in row) for row in Z)
    for pattern in patterns:
        X = tuple(row if on == "1" else zero for on, row in zip(pattern, Z, strict=True))
        if model == "gated":
            yield Block(X, None)
            continue
        sides = (minus_row if on == "1" else row for on, row, minus_row in zip(pattern, Z, minus, strict=True))
        K = tuple(zip(*sides, strict=True))
        yield Block(X, K)
        yield Block(tuple(row if on == "1" else zero for on, row in zip(pattern, minus, strict=True)), K)
