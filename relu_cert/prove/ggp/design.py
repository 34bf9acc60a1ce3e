"""The blocks as integer columns, and their null vectors. A common denominator of X changes no null space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from flint import fmpz_mat

from relu_cert.exact import primitive, scaled_rows
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.problem.problem import Gates, Problem
from relu_cert.prove.ggp.answers import BlockVector, IntVector

Columns = tuple[IntVector, ...]

REDUCED = 40  # larger null spaces are not reduced: that would cost more than it helps


@dataclass(frozen=True)
class Design:
    """n rows and the blocks, each a tuple of integer columns of length n (lazy for networks).

    `patterns` (networks only): block b is D Z for pattern b // `per_pattern`, or the column b % per_pattern of it.
    """

    n: int
    blocks: Sequence[Columns]
    patterns: PatternSet | None = None
    per_pattern: int = 1

    @property
    def m(self) -> int:
        """The size of the supports that have to be looked at: min(n + 1, number of blocks)."""
        return min(self.n + 1, len(self.blocks))

    @cached_property
    def singletons(self) -> bool:
        """Whether every block is one column."""
        return all(len(columns) == 1 for columns in self.blocks) if self.patterns is None else len(self.blocks[0]) == 1

    def null_basis(self, support: Sequence[int]) -> tuple[BlockVector, ...]:
        """A short basis (LLL) of {u : Xu = 0, u supported in `support`}."""
        blocks = [self.blocks[b] for b in support]
        return tuple(split(u, [len(block) for block in blocks]) for u in null_vectors(self.n, blocks))


def null_vectors(n: int, blocks: Sequence[Columns]) -> list[list[int]]:
    """Integer vectors that span the null space of the blocks side by side; reduced by LLL if there are not too many."""
    columns = [column for block in blocks for column in block]
    kernel, nullity = fmpz_mat(len(columns), n, [x for column in columns for x in column]).transpose().nullspace()
    if nullity == 0:
        return []
    spanning = fmpz_mat([[int(kernel[i, j]) for i in range(len(columns))] for j in range(nullity)])
    content = [list(primitive([int(x) for x in row])) for row in spanning.tolist()]
    return (
        content
        if nullity == 1 or nullity > REDUCED
        else [[int(x) for x in row] for row in fmpz_mat(content).lll().tolist()]
    )


def split(u: Sequence[int], sizes: Sequence[int]) -> BlockVector:
    """A flat vector block by block."""
    parts, start = [], 0
    for size in sizes:
        parts.append(tuple(int(x) for x in u[start : start + size]))
        start += size
    return tuple(parts)


def norms_squared(u: BlockVector) -> tuple[int, ...]:
    """|u_b|^2 for each block."""
    return tuple(sum(x * x for x in u_b) for u_b in u)


def group_design(problem: Problem) -> Design:
    """The blocks of a gated ReLU or direct problem."""
    if isinstance(problem.blocks, Gates):
        Z, _ = scaled_rows(problem.blocks.Z)
        patterns = problem.blocks.patterns
        return Design(problem.n, _GatedBlocks(tuple(map(tuple, Z)), patterns.array(), split=False), patterns)
    numbers = [x for block in problem.blocks for row in block.X for x in row]
    (flat,), _ = scaled_rows([numbers])
    blocks, start = [], 0
    for block in problem.blocks:
        size = len(block.X[0])
        rows = [flat[start + k * size : start + (k + 1) * size] for k in range(problem.n)]
        blocks.append(tuple(zip(*rows, strict=True)))
        start += size * problem.n
    return Design(problem.n, tuple(blocks))


def column_design(problem: Problem) -> Design:
    """Every column of X a block of its own: gated ReLU, column j of pattern b is b d + j; direct, the column of X."""
    groups = group_design(problem)
    if isinstance(problem.blocks, Gates):
        Z, _ = scaled_rows(problem.blocks.Z)
        patterns = problem.blocks.patterns
        columns = _GatedBlocks(tuple(map(tuple, Z)), patterns.array(), split=True)
        return Design(problem.n, columns, patterns, patterns.d)
    if problem.columns is None:
        raise ValueError("a direct problem knows its columns")
    placed = {
        place: column
        for places, block in zip(problem.columns, groups.blocks, strict=True)
        for place, column in zip(places, block, strict=True)
    }
    return Design(problem.n, tuple((placed[place],) for place in range(len(placed))))


@dataclass(frozen=True, eq=False)
class _GatedBlocks(Sequence[Columns]):
    """D Z for every pattern, made when asked for; with `split`, its columns one by one."""

    Z: tuple[tuple[int, ...], ...]
    on: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    split: bool

    def __len__(self) -> int:
        return len(self.on) * (len(self.Z[0]) if self.split else 1)

    @overload
    def __getitem__(self, b: int) -> Columns: ...
    @overload
    def __getitem__(self, b: slice) -> Sequence[Columns]: ...
    def __getitem__(self, b: int | slice) -> Columns | Sequence[Columns]:
        if isinstance(b, slice):
            return [self[i] for i in range(*b.indices(len(self)))]
        d = len(self.Z[0])
        number, chosen = (b // d, [b % d]) if self.split else (b, list(range(d)))
        on = self.on[number]
        return tuple(tuple(row[j] if on_k else 0 for on_k, row in zip(on, self.Z, strict=True)) for j in chosen)
