"""The blocks as integer columns, and their null vectors. A common denominator of X changes no null space.

Null vectors on which a signed sum vanishes or changes its sign. Floats choose them, integers decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import chain, combinations, islice, product
from math import isqrt
from operator import and_, or_
from typing import overload

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from relu_cert.clock import require_time
from relu_cert.exact import primitive, scaled_rows
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.problem.problem import Gates, Problem
from relu_cert.prove.ggp.answers import (
    BlockVector,
    ConeWin,
    Crossing,
    Cut,
    IntVector,
    TooManyTerms,
    Zero,
    root_sum_sign,
    vanishing_signs,
)

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


BITS = 64
MOST_DIMENSIONS = 8

Cone = tuple[BlockVector, ...]


def cone_win(blocks: Sequence[int], basis: tuple[BlockVector, ...], P: Sequence[int], most_cuts: int) -> ConeWin | None:
    """Cuts that prove that P wins, or None where more than `most_cuts` nodes would be needed."""
    if len(basis) > MOST_DIMENSIONS:
        return None
    M = [b for b in range(len(blocks)) if b not in P]
    cuts: list[Cut | None] = []
    pending = first_cones(basis)[::-1]
    while pending:
        require_time()
        if len(cuts) + len(pending) > most_cuts:
            return None
        cone = pending.pop()
        if bound_holds(cone, P, M):
            cuts.append(None)
            continue
        cut = longest_edge(cone)
        cuts.append(cut)
        first, second = split_cone(cone, cut)
        pending += [second, first]
    return ConeWin(tuple(blocks[b] for b in P), tuple(cuts))


def first_cones(basis: tuple[BlockVector, ...]) -> list[Cone]:
    """Cones spanned by +-(the basis): with their negatives they cover its span."""
    return [
        (basis[0], *(_combine(u, -1 if code >> i & 1 else 1, u, 0) for i, u in enumerate(basis[1:])))
        for code in range(2 ** (len(basis) - 1))
    ]


def split_cone(cone: Cone, cut: Cut) -> tuple[Cone, Cone]:
    """The two cones with h = p g_i + q g_j in the place of g_i, and of g_j."""
    i, j, p, q = cut
    h = _combine(cone[i], p, cone[j], q)
    return (*cone[:i], h, *cone[i + 1 :]), (*cone[:j], h, *cone[j + 1 :])


def bound_holds(cone: Cone, P: Sequence[int], M: Sequence[int]) -> bool:
    """sum_P g_b.w_b / |w_b| - sum_M |g_b| > 0 at every generator g, w their sum; square roots rounded against it."""
    w = tuple(tuple(map(sum, zip(*parts, strict=True))) for parts in zip(*cone, strict=True))
    squares = [sum(x * x for x in part) for part in w]
    for g in cone:
        low = 0
        for b in P:
            a = sum(x * y for x, y in zip(g[b], w[b], strict=True))
            if a:
                root = isqrt((a * a << 2 * BITS) // squares[b])
                low += root if a > 0 else -root - 1
        for b in M:
            low -= _root_above(sum(x * x for x in g[b]))
        if low <= 0:
            return False
    return True


@lru_cache(maxsize=4096)
def _root_above(r: int) -> int:
    """An integer >= 2^BITS sqrt(r)."""
    return isqrt((r << 2 * BITS) - 1) + 1 if r else 0


def longest_edge(cone: Cone) -> Cut:
    """The two generators with the widest angle, weighted to about the same length."""
    flat = [[x for part in g for x in part] for g in cone]
    lengths = [max(1, isqrt(sum(x * x for x in g))) for g in flat]

    def cosine(pair: tuple[int, int]) -> float:
        i, j = pair
        scale = lengths[i] * lengths[j]
        return (sum(x * y for x, y in zip(flat[i], flat[j], strict=True)) << 30) // scale / 2**30

    i, j = min(combinations(range(len(cone)), 2), key=cosine)
    return (
        i,
        j,
        max(1, (2 * lengths[j] + lengths[i]) // (2 * lengths[i])),
        max(1, (2 * lengths[i] + lengths[j]) // (2 * lengths[j])),
    )


def _combine(u: BlockVector, p: int, v: BlockVector, q: int) -> BlockVector:
    return tuple(tuple(p * x + q * y for x, y in zip(a, b, strict=True)) for a, b in zip(u, v, strict=True))


Floats = NDArray[np.float64]
Signs = tuple[int, ...]

ALL_SIGNS = 13  # up to so many blocks every choice of signs is looked at
RANDOM_SIGNS = 4096
MOST_SUPPORTS, MOST_PAIRS, MOST_RANDOM = 150, 60, 24
FIRST_PATTERNS = 200
FLOAT_NOISE = 1e-10  # below it a float says nothing about a sign; it only decides what is tried


@dataclass(frozen=True)
class Probe:
    """Null vectors of a support that has two or more: `samples` exactly, and their norms `weights`, rows of sum 1."""

    blocks: tuple[int, ...]
    basis: tuple[BlockVector, ...]
    samples: tuple[BlockVector, ...]
    weights: Floats


def refute_gates(design: Design) -> Zero | None:
    """Four patterns with D_1 + D_2 = D_3 + D_4: (c, c, -c, -c) is a null vector of equal norms (n >= 3).

    An open cell and its negative have complementary patterns (on the rows that are not zero), so two such pairs do.
    """
    if design.patterns is None or design.n < 3:
        return None
    masks = [int.from_bytes(row.tobytes(), "big") for row in design.patterns.bits()]
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for a, b in chain(
        _opposite(masks, design.patterns.open_cells), combinations(range(len(masks[:FIRST_PATTERNS])), 2)
    ):
        total = masks[a] & masks[b], masks[a] ^ masks[b]  # which determine D_a + D_b
        c, d = sums.setdefault(total, (a, b))
        if {a, b} != {c, d}:
            return _four(design, (a, b), (c, d))
    return None


def _opposite(masks: Sequence[int], cells: int) -> Iterator[tuple[int, int]]:
    """The first open cells with their opposite ones: the patterns are complementary on the rows that are not zero."""
    always = reduce(and_, masks[:cells])
    ever = reduce(or_, masks[:cells])
    number = {mask: c for c, mask in enumerate(masks[:cells])}
    for a in range(min(3, cells)):
        yield a, number[masks[a] ^ ever ^ always]


def _four(design: Design, plus: tuple[int, int], minus: tuple[int, int]) -> Zero:
    unit = (1, *[0] * (len(design.blocks[0]) - 1))
    parts = [(b * design.per_pattern, 1, unit) for b in plus]
    parts += [(b * design.per_pattern, -1, tuple(-x for x in unit)) for b in minus]
    blocks, signs, u = zip(*sorted(parts), strict=True)
    return Zero(blocks, signs, u)


def refute_kernels(design: Design, most: int) -> Crossing | None:
    """Two blocks that both have a null vector of their own: it can be shifted from one to the other."""
    if design.m < 2:
        return None
    found: list[tuple[int, BlockVector]] = []
    for b in range(min(most, len(design.blocks))):
        basis = design.null_basis([b])
        if basis:
            found.append((b, basis[0]))
        if len(found) == 2:
            (first, (u,)), (second, (v,)) = found
            return Crossing((first, second), (1, -1), (u, (0,) * len(v)), ((0,) * len(u), v))
    return None


def refute_line(blocks: Sequence[int], u: BlockVector) -> Zero | None:
    """Signs for which the sum over one null vector vanishes. Raises TooManyTerms."""
    signs = vanishing_signs(norms_squared(u))
    return None if signs is None else without_zeros(Zero(tuple(blocks), signs, u))


def refute_columns(blocks: Sequence[int], basis: Sequence[BlockVector]) -> Zero:
    """Singleton blocks with two null vectors u, v: one in their span has sum u_b = 0; take the signs of its entries."""
    u, v = ([x for (x,) in vector] for vector in basis[:2])
    a, b = sum(u), sum(v)
    mixed = primitive([b * x - a * y for x, y in zip(u, v, strict=True)] if b else v)
    signs = tuple(1 if x >= 0 else -1 for x in mixed)
    return without_zeros(Zero(tuple(blocks), signs, tuple((x,) for x in mixed)))


def probe(design: Design, blocks: Sequence[int], basis: tuple[BlockVector, ...], seed: int = 0) -> Probe:
    """Null vectors that are likely to disagree: of small supports (circuits), the basis, its sums, and random ones."""
    sizes = [len(part) for part in basis[0]]
    flat = [[x for part in u for x in part] for u in basis]
    samples: dict[BlockVector, None] = dict.fromkeys(basis)
    for inner in islice(_inner_supports(len(blocks)), MOST_SUPPORTS):
        for u in design.null_basis([blocks[i] for i in inner]):
            parts = dict(zip(inner, u, strict=True))
            samples[tuple(parts.get(i, (0,) * size) for i, size in enumerate(sizes))] = None
    for a, b in islice(combinations(flat, 2), MOST_PAIRS):
        for sign in (1, -1):
            samples[split(primitive([x + sign * y for x, y in zip(a, b, strict=True)]), sizes)] = None
    random = np.random.default_rng(seed)
    for row in random.integers(-3, 4, size=(MOST_RANDOM, len(flat))).tolist():
        mixed = [sum(c * u[i] for c, u in zip(row, flat, strict=True)) for i in range(len(flat[0]))]
        samples[split(primitive(mixed), sizes)] = None
    chosen = tuple(u for u in samples if any(map(any, u)))
    return Probe(tuple(blocks), basis, chosen, np.array([float_weights(u) for u in chosen]))


def _inner_supports(count: int) -> Iterable[tuple[int, ...]]:
    for size in range(2, min(count, 5)):
        yield from combinations(range(count), size)


def float_weights(u: BlockVector) -> list[float]:
    """|u_b| as floats with sum 1."""
    squares = norms_squared(u)
    largest = max(squares)
    weights = [float(Fraction(r, largest)) ** 0.5 for r in squares]
    return [w / sum(weights) for w in weights]


def refute_samples(found: Probe) -> Zero | Crossing | None:
    """Two samples on which some signed sum has opposite signs, or a sample with a sum that vanishes."""
    signs = sign_table(len(found.blocks))
    values = found.weights @ signs.T
    spread = np.minimum(values.max(axis=0), -values.min(axis=0))
    for column in np.argsort(-spread)[:8]:
        if spread[column] > FLOAT_NOISE:
            u, v = found.samples[int(values[:, column].argmax())], found.samples[int(values[:, column].argmin())]
            crossing = crossing_of(found.blocks, tuple(int(s) for s in signs[column]), u, v)
            if crossing is not None:
                return crossing
    for u in found.samples:
        with suppress(TooManyTerms):
            zero = refute_line(found.blocks, u)
            if zero is not None:
                return zero
    return None


def sign_table(count: int) -> Floats:
    """All signs up to a common one where there are few blocks, else many random ones."""
    if count <= ALL_SIGNS:
        return np.array([(*signs, 1) for signs in product((1, -1), repeat=count - 1)], dtype=float)
    return np.random.default_rng(1).choice([-1.0, 1.0], size=(RANDOM_SIGNS, count))


def crossing_of(blocks: Sequence[int], signs: Signs, u: BlockVector, v: BlockVector) -> Crossing | None:
    """The crossing, if the exact sums are strictly positive at u and strictly negative at v."""
    if root_sum_sign(signs, norms_squared(u)) > 0 > root_sum_sign(signs, norms_squared(v)):
        kept = [i for i in range(len(blocks)) if any(u[i]) or any(v[i])]
        return Crossing(
            tuple(blocks[i] for i in kept),
            tuple(signs[i] for i in kept),
            tuple(u[i] for i in kept),
            tuple(v[i] for i in kept),
        )
    return None


def without_zeros(zero: Zero) -> Zero:
    """The same null vector on its support."""
    kept = [i for i, part in enumerate(zero.u) if any(part)]
    return Zero(tuple(zero.blocks[i] for i in kept), tuple(zero.signs[i] for i in kept), tuple(zero.u[i] for i in kept))
