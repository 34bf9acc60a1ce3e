"""What is asked of all blocks of a problem, whatever they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from relu_cert.exact import Scaled, Vector, norm_squared
from relu_cert.identity_cache import recent
from relu_cert.problem.doubles import FloatBlocks
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
