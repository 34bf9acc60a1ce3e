"""Null vectors on which a signed sum vanishes or changes its sign. Floats choose them, integers decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import chain, combinations, islice, product
from operator import and_, or_

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import primitive
from relu_cert.prove.ggp.answers import BlockVector, Crossing, TooManyTerms, Zero, root_sum_sign, vanishing_signs
from relu_cert.prove.ggp.design import Design, norms_squared, split

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
