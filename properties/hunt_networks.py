"""Networks whose minimum-norm path jumps, planted from a few integers and made small.

Gated ReLU. Rows a_i e_i with residuals r_i and a_i r_i = v_i, |v| = lambda_0; one more row orthogonal to v with target
0. The patterns with and without that row have the same v and, at lambda_0 only, the same output: there the weight can
be shared, while beside lambda_0 the row is not orthogonal to v any more and only one of the two can have weight.

ReLU. v_1, v_2 with |v_1| = |v_2| = |v_1 + v_2| = lambda_0 (Hurwitz units, four features), v_1 = r_1 z_1 and
v_2 = r_2 z_2 + r_3 z_3 with z_2, z_3 orthogonal to 2 v_1 + v_2. Then the neuron v_3 = v_1 + v_2 is on at all rows,
ties, and has the output (q_1 + q_2)/2: at lambda_0 all three can share the weight.

An instance is a tuple of integers, its genome. `smaller` moves one of them towards zero as long as the certifier proves
the jump and the instance has fewer digits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import lcm

from properties.exact.linalg import Matrix, Vector, add, dot, norm2, null_space, scale, sub
from properties.hunt import Plant, Prey, planted, proved
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu

Genome = tuple[int, ...]
Build = Callable[[Genome], Prey | None]

LENGTHS = ((3, 4), (4, 3), (1, 2, 2), (2, 1, 2), (2, 2, 1), (2, 3, 6), (6, 2, 3))
UNITS: tuple[Vector, ...] = tuple(tuple(map(Fraction, signs)) for signs in product((1, -1), repeat=4))
PAIRS = tuple((u, v) for u in UNITS for v in UNITS if dot(u, v) == -2)


def network(model: str, Z: Matrix, y: Vector, r: Vector, lam: Fraction) -> Prey | None:
    """The instance in whole numbers, Z -> pZ, y -> q y, lambda -> p q lambda, if it jumps."""
    p = lcm(*(x.denominator for z in Z for x in z))
    q = lcm(*(x.denominator for x in (*y, *r)))
    rows = tuple(scale(p, z) for z in Z)
    problem = (gated if model == "gated" else relu)(rows, scale(q, y), enumerate_patterns(rows))
    return proved(problem, scale(q, r), p * q * lam)


def build_gated(genome: Genome) -> Prey | None:
    """(which v, numerator and denominator of alpha, the combination that is the last row, r_1, r_2, ...)"""
    which, numerator, denominator, *rest = genome
    v = tuple(map(Fraction, LENGTHS[which % len(LENGTHS)]))
    d = len(v)
    mix, r = rest[: d - 1], rest[d - 1 : 2 * d - 1]
    if not all(r) or not any(mix) or numerator < 1 or denominator < 1:
        return None
    last = (Fraction(0),) * d
    for k, h in zip(mix, null_space([v]), strict=True):
        last = add(last, scale(k, h))
    a = [x / r_i for x, r_i in zip(v, r, strict=True)]
    Z = (*(tuple(a_i if i == j else Fraction(0) for j in range(d)) for i, a_i in enumerate(a)), last)
    fit = (*(Fraction(numerator, denominator) * a_i * x for a_i, x in zip(a, v, strict=True)), Fraction(0))
    residual = (*map(Fraction, r), Fraction(0))
    lam2 = norm2(v)
    lam = Fraction(next(k for k in range(1, 20) if k * k == lam2))
    return network("gated", Z, add(fit, residual), residual, lam)


def build_relu(genome: Genome) -> Prey | None:
    """(which pair, the scale of v_1 and v_2, the combination that is z_2, r_1, r_2, r_3, alpha_1, alpha_2)"""
    which, size, *rest = genome
    mix, (r_1, r_2, r_3), (alpha_1, alpha_2) = rest[:3], rest[3:6], rest[6:]
    if min(size, r_1, r_2, r_3) < 1 or min(alpha_1, alpha_2) < 0 or not alpha_1 + alpha_2:
        return None
    v_1, v_2 = (scale(size, u) for u in PAIRS[which % len(PAIRS)])
    z_2: Vector = (Fraction(0),) * 4
    for k, h in zip(mix, null_space([add(scale(2, v_1), v_2)]), strict=True):
        z_2 = add(z_2, scale(k, h))
    z_1, z_3 = scale(Fraction(1, r_1), v_1), scale(Fraction(1, r_3), sub(v_2, scale(r_2, z_2)))
    if dot(z_2, v_2) <= 0 or dot(z_3, v_2) <= 0:
        return None
    q_2, q_3 = alpha_2 * dot(z_2, v_2), alpha_2 * dot(z_3, v_2)
    y = (r_1 + alpha_1 * dot(z_1, v_1), r_2 + q_2, r_3 + q_3)
    return network("relu", (z_1, z_2, z_3), y, tuple(map(Fraction, (r_1, r_2, r_3))), Fraction(2 * size))


def draw_gated(rng: random.Random) -> Genome:
    """A genome for `build_gated`."""
    return (rng.randrange(len(LENGTHS)), rng.randint(1, 3), rng.randint(1, 9), *_integers(rng, 5, 4))


def draw_relu(rng: random.Random) -> Genome:
    """A genome for `build_relu`."""
    signs = (rng.randint(-2, 2) for _ in range(3))
    return (rng.randrange(len(PAIRS)), rng.randint(1, 4), *signs, *(rng.randint(1, 4) for _ in range(5)))


def _integers(rng: random.Random, count: int, most: int) -> Iterator[int]:
    for _ in range(count):
        yield rng.choice((1, -1)) * rng.randint(1, most)


def smaller(genome: Genome, prey: Prey, build: Build) -> Prey:
    """The smallest instance on the way down: one integer at a time halved, or moved by one towards zero."""
    for i, x in enumerate(genome):
        for less in sorted({x // 2 if x > 0 else -(-x // 2), x - (x > 0) + (x < 0)} - {x}, key=abs):
            changed = (*genome[:i], less, *genome[i + 1 :])
            found = build(changed)
            if found is not None and found.size < prey.size:
                return smaller(changed, found, build)
    return prey


def plants(draw: Callable[[random.Random], Genome], build: Build) -> Plant:
    """Draw a genome; if its instance jumps, make it small."""

    def plant(rng: random.Random) -> Prey | None:
        genome = draw(rng)
        prey = build(genome)
        return None if prey is None else smaller(genome, prey, build)

    return plant


MODELS: dict[str, Plant] = {
    "cgl": planted,
    "gated": plants(draw_gated, build_gated),
    "relu": plants(draw_relu, build_relu),
}
