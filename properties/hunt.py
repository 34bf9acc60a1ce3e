"""Hunting for exact instances by construction: `python -m properties hunt min-norm-continuous`.

Group lassos whose minimum-norm path jumps. Plant lambda_0 and the residual r; blocks X_a = diag(c_a / r) with integers
c_a, |c_a| = lambda_0, tie at it: v_a = c_a, q_a = c_a^2 / r entrywise. One more column x = q / lambda_0 with
q = sum b_a q_a, sum b_a = 1, ties too, and its output is q: dependent. With y = r + sum alpha_a q_a all of
them are optimal together at lambda_0. Whether the path jumps there is then proved, or not, by the certifier; the
smallest instances are kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from relu_cert.exact import Vector, norm_squared
from relu_cert.path.jumps import jump_at
from relu_cert.path.model import Jump
from relu_cert.problem.model import Block, Problem
from relu_cert.prove.exact_optimum import exact_facts
from relu_cert.prove.lambda_max import lambda_max

LENGTHS = {2: (5, 10, 13), 3: (3, 7, 9)}
GAP = Fraction(1, 10**9)


@dataclass(frozen=True)
class Prey:
    """A problem with its proved jump."""

    problem: Problem
    jump: Jump

    @property
    def size(self) -> tuple[int, int]:
        """The number of columns, and of digits: what is smaller is easier to read."""
        numbers = [x for block in self.problem.blocks for row in block.X for x in row] + list(self.problem.y)
        columns = sum(len(block.X[0]) for block in self.problem.blocks)
        return columns, sum(len(str(x)) for x in numbers if x)

    def to_json(self) -> dict[str, Any]:
        """The problem as `relu_cert check` reads it, and the jump."""
        X = [[str(x) for block in self.problem.blocks for x in block.X[k]] for k in range(self.problem.n)]
        lam = self.jump.lam
        return {
            "problem": {
                "X": X,
                "groups": [list(g) for g in self.problem.columns or ()],
                "y": list(map(str, self.problem.y)),
            },
            "lambda": str(lam),
            "norm_squared_at_the_jump": str(lam**2 * norm_squared(self.jump.shorter)),
            "norm_squared_beside_it": str(lam**2 * norm_squared(self.jump.limit)),
        }


def hunt(tries: int, seed: int) -> Iterator[Prey]:
    """Instances with a proved jump, each smaller than the one before."""
    rng = random.Random(seed)
    best: tuple[int, int] | None = None
    for _ in range(tries):
        found = planted(rng)
        if found is not None and (best is None or found.size < best):
            best = found.size
            yield found


def planted(rng: random.Random) -> Prey | None:
    """One planted instance, if the certifier proves that it jumps."""
    n = rng.choice((2, 3))
    lam = rng.choice(LENGTHS[n])
    vectors = [c for c in product(range(1, lam), repeat=n) if sum(x * x for x in c) == lam * lam]
    if not vectors:
        return None
    c = rng.sample(vectors, min(len(vectors), rng.choice((1, 1, 2))))
    r = [rng.randint(1, 4) for _ in range(n)]
    b = _shares(rng, len(c))
    alpha = [Fraction(rng.randint(1, 3), lam * lam) * rng.choice((1, lam)) for _ in c]
    q = [tuple(Fraction(x * x, r_k) for x, r_k in zip(c_a, r, strict=True)) for c_a in c]
    column = tuple(sum((b_a * q_a[k] for b_a, q_a in zip(b, q, strict=True)), Fraction(0)) / lam for k in range(n))
    y = tuple(
        r[k] + sum((alpha_a * q_a[k] for alpha_a, q_a in zip(alpha, q, strict=True)), Fraction(0)) for k in range(n)
    )
    blocks = [Block(_diagonal([Fraction(x, r_k) for x, r_k in zip(c_a, r, strict=True)]), None) for c_a in c]
    blocks.append(Block(tuple((x,) for x in column), None))
    return _proved(_whole(blocks, y, tuple(map(Fraction, r)), Fraction(lam)))


def _shares(rng: random.Random, count: int) -> list[Fraction]:
    """b with sum 1."""
    if count == 1:
        return [Fraction(1)]
    first = Fraction(rng.randint(1, 5), rng.choice((2, 3, 6)))
    return [first, 1 - first]


def _diagonal(entries: list[Fraction]) -> tuple[Vector, ...]:
    return tuple(tuple(x if i == j else Fraction(0) for j in range(len(entries))) for i, x in enumerate(entries))


def _whole(blocks: list[Block], y: Vector, r: Vector, lam: Fraction) -> tuple[Problem, Vector, Fraction]:
    """The same instance in whole numbers: X -> p X, y -> q y, r -> q r, lambda -> p q lambda."""
    p = lcm(*(x.denominator for block in blocks for row in block.X for x in row))
    q = lcm(*(x.denominator for x in (*y, *r)))
    scaled = tuple(Block(tuple(tuple(p * x for x in row) for row in block.X), None) for block in blocks)
    columns, at = [], 0
    for block in scaled:
        columns.append(tuple(range(at, at + len(block.X[0]))))
        at += len(block.X[0])
    problem = Problem("cgl", tuple(q * x for x in y), scaled, columns=tuple(columns))
    return problem, tuple(q * x for x in r), p * q * lam


def _proved(instance: tuple[Problem, Vector, Fraction]) -> Prey | None:
    problem, r, lam = instance
    facts = exact_facts(problem, lam, lambda_max(problem, None), GAP, r, None)
    jump = None if facts is None else jump_at(facts)
    return None if jump is None else Prey(problem, jump)
