"""What is asked of all blocks of a problem, whatever they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from relu_cert.exact import Matrix, Scaled, Vector, norm_squared, primitive, scaled_rows
from relu_cert.identity_cache import recent
from relu_cert.problem.direct import FloatBlocks
from relu_cert.problem.problem import Block, Gates

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
