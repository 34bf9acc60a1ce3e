"""Hunting for exact instances by construction: `python -m properties hunt min-norm-continuous`.

Group lassos, and networks (`hunt_networks`), whose minimum-norm path jumps. For a group lasso plant lambda_0 and the
residual r; blocks X_a = diag(c_a / r) with integers c_a, |c_a| = lambda_0, tie at it: v_a = c_a, q_a = c_a^2 / r
entrywise. One more column x = q / lambda_0 with q = sum b_a q_a, sum b_a = 1, ties too, and its output is q: dependent.
With y = r + sum alpha_a q_a all of them are optimal together at lambda_0. Whether the path jumps there is then proved,
or not, by the certifier; the smallest instances are kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

import numpy as np

from relu_cert.exact import Vector, norm_squared
from relu_cert.path.jumps import jump_at
from relu_cert.path.pieces import Jump
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.exact_optimum import exact_facts
from relu_cert.prove.listed import propose
from relu_cert.prove.prove import lambda_max
from relu_cert.solve import prepare

LENGTHS = {2: (5, 10, 13), 3: (3, 7, 9)}
GAP = Fraction(1, 10**9)


@dataclass(frozen=True)
class Prey:
    """A problem with its proved jump."""

    problem: Problem
    jump: Jump

    @property
    def numbers(self) -> list[Fraction]:
        """The data: Z, or the blocks of X, and y."""
        network = self.problem.source
        rows = [row for block in self.problem.blocks for row in block.X] if network is None else list(network.Z)
        return [x for row in rows for x in row] + list(self.problem.y)

    @property
    def size(self) -> tuple[int, int]:
        """How many numbers there are, and how many digits: what is smaller is easier to read."""
        network = self.problem.source
        columns = sum(len(block.X[0]) for block in self.problem.blocks) if network is None else len(network.Z[0])
        return columns * self.problem.n, sum(len(str(x)) for x in self.numbers if x)

    def to_json(self) -> dict[str, Any]:
        """The problem as `relu_cert check` reads it (networks: the text of a CSV file), and the jump."""
        lam, network = self.jump.lam, self.problem.source
        norms = {
            "lambda": str(lam),
            "norm_squared_at_the_jump": str(lam**2 * norm_squared(self.jump.shorter)),
            "norm_squared_beside_it": str(lam**2 * norm_squared(self.jump.limit)),
        }
        y = list(map(str, self.problem.y))
        if network is not None:
            lines = [",".join([*map(str, z), t]) for z, t in zip(network.Z, y, strict=True)]
            return {"model": self.problem.model, "csv": "\n".join(lines) + "\n"} | norms
        X = [[str(x) for block in self.problem.blocks for x in block.X[k]] for k in range(self.problem.n)]
        groups = [list(g) for g in self.problem.columns or ()]
        return {"model": "cgl", "problem": {"X": X, "groups": groups, "y": y}} | norms


Plant = Callable[[random.Random], Prey | None]


def hunt(tries: int, seed: int, plant: Plant | None = None) -> Iterator[Prey]:
    """Instances with a proved jump, each smaller than the one before; group lassos, unless told otherwise."""
    rng = random.Random(seed)
    best: tuple[int, int] | None = None
    for _ in range(tries):
        found = (plant or planted)(rng)
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
    return proved(*_whole(blocks, y, tuple(map(Fraction, r)), Fraction(lam)))


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


def proved(problem: Problem, r: Vector, lam: Fraction) -> Prey | None:
    """The problem with its jump, if the certifier proves that r is its residual at lambda and that the path jumps."""
    largest, proposals = None, None
    if problem.model == "relu":
        floats = prepare(problem)
        largest = propose(floats, np.array([float(x) for x in problem.y]), 0.0)
        proposals = propose(floats, np.array([float(x) for x in r]), float(lam))
    facts = exact_facts(problem, lam, lambda_max(problem, largest), GAP, r, proposals)
    jump = None if facts is None else jump_at(facts)
    return None if jump is None else Prey(problem, jump)
