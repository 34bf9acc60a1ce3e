"""Network models as constrained group lasso problems.

ReLU    for each pattern D in D_Z and sign xi = +-1:   X_b = xi D Z,   C_b = {u : (2D - I) Z u >= 0}
gated   for each pattern D in D_Z:                     X_b = D Z,      no cone

The concave pieces that serve a whole ReLU network need all patterns; over some of them the cones matter, and every
block stands for itself, with K_b = -Z'(2D - I).

What is asked of all blocks of a problem, whatever they are made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal

from relu_cert.bags import EACH, Each
from relu_cert.exact import Matrix, Scaled, Vector, norm_squared, primitive, recent, scaled_rows
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.problem.direct import FloatBlocks
from relu_cert.problem.problem import Block, Gates, Network, Patterned, Problem


def relu(Z: Matrix, y: Vector, patterns: PatternSet) -> Problem:
    """The convex reformulation of a two-layer ReLU network over all patterns of Z (eq:convex-relu-mlp)."""
    _require_shapes(Z, y, patterns)
    return Problem("relu", y, (), Network(Z, patterns))


def unlisted_relu(Z: Matrix, y: Vector, bags: Each = EACH, targets: int = 1) -> Problem:
    """The same without a list of the patterns: every network of every width. Bags of rows are data points; with several
    `targets` y is Y, row by row."""
    return Problem("relu", y, (), Network(Z, None, bags), targets=targets)


def gated(Z: Matrix, y: Vector, patterns: PatternSet) -> Problem:
    """The same for a gated ReLU network with all patterns of Z as its gates (eq:convex-gated-relu-mlp)."""
    _require_shapes(Z, y, patterns)
    return Problem("gated", y, Gates(Z, patterns), patterned=Patterned("gated", Z, (), patterns))


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
    return Problem("cgl", y, blocks, columns=columns, patterned=Patterned(model, Z, some, complete, gates))


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


def _require_shapes(Z: Matrix, y: Vector, patterns: PatternSet) -> None:
    shape = (len(Z), len(Z[0]) if Z else 0)
    if shape != (patterns.n, patterns.d) or len(y) != len(Z):
        raise ValueError(f"Z is {shape}, y has {len(y)} entries, the patterns are of a {patterns.n, patterns.d} matrix")


_scaled = recent(Scaled.of)


def correlation(blocks: Sequence[Block], b: int, r: Vector) -> Vector:
    """X_b'r of one block."""
    return blocks.correlations(r)[b] if isinstance(blocks, FloatBlocks) else blocks[b].correlation(_scaled(r))


def lengths_squared(blocks: Sequence[Block], r: Vector) -> list[Fraction]:
    """|X_b'r|^2 of every block."""
    if isinstance(blocks, Gates):
        return blocks.lengths_squared(r)
    return [norm_squared(correlation(blocks, b, r)) for b in range(len(blocks))]


def reaching(blocks: Sequence[Block], r: Vector, square: Fraction) -> Iterator[tuple[int, Block, Vector]]:
    """The blocks with |X_b'r|^2 >= square, with their numbers and X_b'r."""
    for b, length in enumerate(lengths_squared(blocks, r)):
        if length >= square:
            yield b, blocks[b], correlation(blocks, b, r)


def widest_squared(blocks: Sequence[Block]) -> Fraction:
    """The largest bound on |X_b|_F^2."""
    if isinstance(blocks, Gates):
        return blocks.size_squared
    return max((block.size_squared for block in blocks), default=Fraction(0))


Hyperplanes = dict[int, dict[int, Fraction]]


@recent
def parallel_classes(Z: Matrix) -> Hyperplanes:
    """The hyperplanes of the rows: for each class of parallel rows, named by its smallest row c, z_k = a_k z_c."""
    names: dict[tuple[int, ...], int] = {}
    classes: dict[int, dict[int, Fraction]] = {}
    for k, z in enumerate(Z):
        first = next((j for j, x in enumerate(z) if x), None)
        if first is None:
            continue
        (integers,), _ = scaled_rows([tuple(x / z[first] for x in z)])
        c = names.setdefault(primitive(integers), k)
        classes.setdefault(c, {})[k] = z[first] / Z[c][first]
    return classes
