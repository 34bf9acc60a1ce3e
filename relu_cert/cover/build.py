"""The proof of dual feasibility: ties, theta shrunk until they hold, a tree of cones for each sign."""

from __future__ import annotations

import base64
import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

import numpy as np

from relu_cert.cover.engine import (
    DONE,
    FULL,
    GO_ON,
    LEAVES,
    NODES,
    STUCK,
    TOP,
    VIOLATED,
    Floats,
    Side,
    Tape,
    empty_stack,
    empty_tape,
    longer,
    start,
    walk,
)
from relu_cert.cover.engine import Ties as EngineTies
from relu_cert.cover.lines import Row, Weights, coarse, coarse_bits, margin_for, side_of, weights_of
from relu_cert.cover.refine import Data
from relu_cert.cover.ties import SAME, Tie, Untied, engine_ties, longest_squared, near_direction, tie_at, value
from relu_cert.exact import Matrix, Vector, sqrt_upper

THETA_BITS = 220
DELTA = 4e-8
DEPTH = 160
CHUNK = 20_000


@dataclass(frozen=True)
class Streams:
    """The bytes of one sign's tree."""

    codes: bytes
    multipliers: bytes
    data: bytes
    rows: bytes
    nodes: int
    leaves: int


@dataclass(frozen=True)
class Cover:
    """Evidence that theta is dual feasible."""

    basis: tuple[Row, ...]
    ties: tuple[Tie, ...]
    margin: int
    plus: Streams
    minus: Streams

    @property
    def nodes(self) -> int:
        """Nodes of both trees."""
        return self.plus.nodes + self.minus.nodes

    @property
    def leaves(self) -> int:
        """Leaves of both trees."""
        return self.plus.leaves + self.minus.leaves


@dataclass(frozen=True)
class Missed(Exception):
    """The walk found a direction at which the constraint fails: a neuron is missing."""

    xi: int
    u: Floats


class Exhausted(Exception):
    """The limit of nodes or of time was reached."""


class Stuck(Exception):
    """The walk got too deep at a direction that is not known as a tie."""

    def __init__(self, xi: int, u: Floats) -> None:
        super().__init__("a cone could not be settled")
        self.xi, self.u = xi, u


def roots(basis: Sequence[Row]) -> list[np.ndarray]:
    """The sign cones of the basis, in order."""
    return [
        np.array([[x if m >> i & 1 else -x for x in g] for i, g in enumerate(basis)], dtype=np.int64)
        for m in range(1 << len(basis))
    ]


def tree(
    side: Side,
    ties: EngineTies,
    basis: Sequence[Row],
    xi: int,
    go_on: Callable[[int, int], bool],
    violation: float = np.inf,
) -> Streams:
    """The tree of one sign. `go_on(nodes, open)` is asked after every chunk."""
    stack, tape = empty_stack(side, DEPTH), empty_tape()
    for number, cone in enumerate(roots(basis)):
        start(side, stack, cone)
        while True:
            code = walk(side, ties, stack, tape, CHUNK, DEPTH, DELTA, violation)
            if code == FULL:
                tape = longer(tape)
                continue
            if code == DONE:
                break
            if code == STUCK:
                raise Stuck(xi, side.frame.T @ stack.at)
            if code == VIOLATED:
                raise Missed(xi, side.frame.T @ stack.at)
            if code == GO_ON and not go_on(int(stack.count[NODES]), int(stack.count[TOP]) + (1 << len(basis)) - 1 - number):
                raise Exhausted
    return streams(tape, int(stack.count[NODES]), int(stack.count[LEAVES]))


def streams(tape: Tape, nodes: int, leaves: int) -> Streams:
    """What was written."""
    c, m, x, r = (int(n) for n in tape.used)
    rows = tape.rows[:r].astype("<u2").tobytes()
    return Streams(tape.codes[:c].tobytes(), tape.multipliers[:m].tobytes(), tape.data[:x].tobytes(), rows, nodes, leaves)


def packed(raw: bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(raw, preset=6)).decode()


def rounded(residual: Sequence[Fraction], tau: Fraction, bits: int) -> Vector:
    """floor(tau r_k 2^bits) / 2^bits"""
    return tuple(Fraction(floor(tau * r * (1 << bits)), 1 << bits) for r in residual)


def shrunk(data: Data, residual: Sequence[Fraction], ties: Sequence[Tie], bits: int) -> tuple[Vector, Fraction]:
    """theta = tau r, rounded, with the largest simple tau <= 1 for which every tie is at most lambda; and tau."""
    tau = Fraction(1)
    for _ in range(8):
        theta = rounded(residual, tau, bits)
        weights = {xi: weights_of(data.lines, theta, xi) for xi in (1, -1)}
        longest = max((longest_squared(data, weights[t.xi], t) for t in ties), default=Fraction(0))
        if longest <= data.lam**2:
            return theta, tau
        excess = sqrt_upper(longest, 2 * bits) / data.lam - 1
        k = 0
        while excess * 2 * (1 << (k + 1)) < 1 and k < bits:
            k += 1
        tau *= 1 - Fraction(1, 1 << max(k, 1))
    raise Untied("theta cannot be shrunk until the ties hold")


def certificate(cover: Cover) -> dict[str, object]:
    """The evidence as it is written."""

    def numbers(v: Sequence[int | Fraction]) -> str:
        return " ".join(map(str, v))

    def side(s: Streams) -> dict[str, str]:
        return {name: packed(getattr(s, name)) for name in ("codes", "multipliers", "data", "rows")}

    ties = [
        {"sign": "+" if t.xi > 0 else "-", "u": numbers(t.u), **({} if t.shares is None else {"shares": numbers(t.shares)})}
        for t in cover.ties
    ]
    return {
        "basis": [numbers(g) for g in cover.basis],
        "ties": ties,
        "margin": cover.margin,
        "+": side(cover.plus),
        "-": side(cover.minus),
    }


def known_ties(data: Data, weights: dict[int, Weights], directions: Sequence[tuple[int, Row]]) -> list[Tie]:
    """The ties among the neurons, their antipodes, and both with the other sign."""
    found: list[Tie] = []
    for own, u in directions:
        for xi, v in ((own, u), (own, tuple(-x for x in u)), (-own, u), (-own, tuple(-x for x in u))):
            if abs(value(weights[xi], v) / float(data.lam) - 1.0) < SAME:
                tie = tie_at(data, weights[xi], xi, v)
                if not any(t.xi == xi and np.abs(t.unit - tie.unit).max() < SAME for t in found):
                    found.append(tie)
    return found
