"""The proof of dual feasibility: ties, theta shrunk until they hold, a tree of cones for each sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import floor
from time import perf_counter
from typing import Protocol

import numpy as np

from relu_cert.cover.cones import start
from relu_cert.cover.dense import start_dense
from relu_cert.cover.engine import advance, advance_dense
from relu_cert.cover.lines import (
    SignedLines,
    coarse,
    coarse_bits,
    dense_side,
    doubtful,
    frame_of,
    lower_root,
    margin_for,
    row_space,
    side_of,
    weights_of,
)
from relu_cert.cover.refine import RefineData
from relu_cert.cover.stack import (
    DONE,
    FULL,
    GO_ON,
    LEAVES,
    NODES,
    STUCK,
    TOP,
    VIOLATED,
    Floats,
    Integers,
    SharpCones,
    SignedProblem,
    Stack,
    Tape,
    empty_room,
    empty_stack,
    empty_tape,
    longer,
)
from relu_cert.cover.ties import SAME, Untied, engine_ties, ties_at, unit, value
from relu_cert.evidence import Cover, Row, Streams, Tie
from relu_cert.exact import Vector

THETA_BITS = 220
DEPTH = 160
FIRST, CHUNK, OFTEN = 50, 20_000, 0.25  # nodes before the clock is looked at: at first, at most; about so many seconds
TRIED, HEIGHTS = 3000, 3 * 10**6  # nodes, and lines times nodes: while trees are so small, other root cones are tried
FEW_LINES = 24  # covers of so few lines are small as they are, and interpreted
DENSE = 1000  # lines from which on walks without ties look at all rows
AHEAD = 8  # nodes: so far a walk looks ahead
FEW_NODES, SOME_EDGES = 20_000, 4  # covers of so few nodes are built again, looking ahead, from so many dimensions on
UNLEVELLED = ("counts", "at")  # the parts of a stack that it has once


Direction = tuple[int, Floats]  # a sign xi and a vector u


class Missed(Exception):
    """The walk found a direction at which the constraint fails: a neuron is missing."""

    def __init__(self, xi: int, u: Floats) -> None:
        super().__init__("a neuron is missing")
        self.xi, self.u = xi, u


class Exhausted(Exception):
    """The limit of nodes or of time was reached."""


class Stuck(Exception):
    """The walk got too deep at a direction that is not known as a tie."""

    def __init__(self, xi: int, u: Floats) -> None:
        super().__init__("a cone could not be settled")
        self.xi, self.u = xi, u


@dataclass(frozen=True)
class Rest:
    """A walk that is not at its end: its open levels, and what was written."""

    stack: Stack
    tape: Tape


@dataclass(frozen=True)
class RootTask:
    """One root cone of one sign, or what is left of it; how many nodes the walk looks ahead; or that it looks at all
    rows."""

    xi: int
    side: SignedProblem
    ties: SharpCones
    cone: Integers
    rest: Rest | None = None
    ahead: int = 0
    dense: bool = False


@dataclass(frozen=True)
class Done:
    """What became of a task: its bytes; or why there are none (the code of the engine) and where; or what is left."""

    code: int
    streams: Streams
    at: Floats
    rest: Rest | None = None


def prisms(basis: Sequence[Row], height: int) -> list[Integers]:
    """The cones that cover all directions which count where biases are free, in the checker's order."""
    found = []
    for cone in roots(basis[:-1]):
        low, high = (cone + s * height * np.array(basis[-1], dtype=np.int64) for s in (-1, 1))
        found += [np.vstack([low[: j + 1], high[j:]]) for j in range(len(cone))]
    return found


def roots(basis: Sequence[Row]) -> list[Integers]:
    """The sign cones of the basis, in order."""
    return [
        np.array([[x if m >> i & 1 else -x for x in g] for i, g in enumerate(basis)], dtype=np.int64)
        for m in range(1 << len(basis))
    ]


def roots_of(basis: Sequence[Row], u: Floats, biases: bool) -> range:
    """The number of a sign cone that holds u; with free biases those of the prisms over one that holds its weights."""
    x = np.linalg.lstsq(np.array(basis, dtype=np.float64).T, u, rcond=None)[0][: len(basis) - biases]
    cone, many = sum(1 << i for i, x_i in enumerate(x) if x_i > 0.0), len(x) if biases else 1
    return range(cone * many, (cone + 1) * many)


def grow(
    task: RootTask, nodes: int, violation: float, go_on: Callable[[int, int], bool] = lambda nodes, open: True
) -> Done:
    """The tree of one root cone; `go_on(nodes, open cones)` is asked after every chunk, a few times in a second."""
    stack, tape = empty_stack(task.side, DEPTH), empty_tape()
    room = empty_room(task.side, dense=task.dense)
    aside, noted = (empty_stack(task.side, task.ahead), empty_tape()) if task.ahead else (None, None)
    if task.dense:
        start_dense(task.side, stack, room, task.cone)
    elif task.rest is None:
        start(task.side, stack, task.cone)
    else:
        tape = restored(task.rest, stack)
    chunk = min(FIRST, CHUNK)
    while True:
        begun = perf_counter()
        if task.dense:
            code = advance_dense(task.side, stack, tape, room, chunk, DEPTH, violation)
        else:
            code = advance(task.side, task.ties, stack, tape, room, chunk, DEPTH, violation, task.ahead, aside, noted)
        chunk = max(1, min(int(chunk * min(OFTEN / max(perf_counter() - begun, 1e-9), 4.0)), CHUNK))
        if code == FULL:
            tape = longer(tape)
        elif (
            code != GO_ON or stack.counts[NODES] > nodes or not go_on(int(stack.counts[NODES]), int(stack.counts[TOP]))
        ):
            written = streams(tape, int(stack.counts[NODES]), int(stack.counts[LEAVES]), len(task.side.P))
            return Done(
                code,
                written,
                task.side.frame.T @ stack.at,
                rest_of(stack, tape) if code == GO_ON and not task.dense else None,
            )


def rest_of(stack: Stack, tape: Tape) -> Rest:
    """What a walk needs to go on: the levels below the top, the part of the tape that is written."""
    top, (c, m, x, r) = int(stack.counts[TOP]), tape.used.tolist()
    levels = {key: part if key in UNLEVELLED else part[:top].copy() for key, part in stack._asdict().items()}
    return Rest(Stack(**levels), Tape(tape.codes[:c], tape.multipliers[:m], tape.data[:x], tape.rows[:r], tape.used))


def restored(rest: Rest, stack: Stack) -> Tape:
    """Put the levels on an empty stack; the tape, with room for more."""
    for key, x in rest.stack._asdict().items():
        getattr(stack, key)[: len(x)] = x
    tape = empty_tape()
    while any(len(part) > len(getattr(tape, key)) for key, part in rest.tape._asdict().items()):
        tape = longer(tape)
    for key, part in rest.tape._asdict().items():
        getattr(tape, key)[: len(part)] = part
    return tape


def streams(tape: Tape, nodes: int, leaves: int, lines: int) -> Streams:
    """What was written; numbers of convex lines have two bytes, or four where there are more than 2^16."""
    c, m, x, r = (int(n) for n in tape.used)
    rows = tape.rows[:r].astype("<u2" if lines <= 1 << 16 else "<u4").tobytes()
    return Streams(
        tape.codes[:c].tobytes(), tape.multipliers[:m].tobytes(), tape.data[:x].tobytes(), rows, nodes, leaves
    )


def joined(parts: Sequence[Streams]) -> Streams:
    """The trees of all root cones, one after the other."""
    return Streams(
        b"".join(part.codes for part in parts),
        b"".join(part.multipliers for part in parts),
        b"".join(part.data for part in parts),
        b"".join(part.rows for part in parts),
        sum(part.nodes for part in parts),
        sum(part.leaves for part in parts),
    )


def tree(
    side: SignedProblem,
    ties: SharpCones,
    basis: Sequence[Row],
    xi: int,
    pool: Pool,
    violation: float = np.inf,
    first: Sequence[Direction] = (),
    height: int | None = None,
    ahead: int = 0,
    *,
    dense: bool = False,
) -> Streams:
    """The tree of one sign; Missed, Stuck or Exhausted if there is none. The same whatever the pool and the order.
    `height` is that of prisms, where biases are free; `ahead`: how many nodes the walks look ahead; `dense`: that they
    look at all rows."""
    cones = roots(basis) if height is None else prisms(basis, height)
    early = (k for sign, u in first if sign == xi for k in roots_of(basis, u, height is not None))
    order = [*dict.fromkeys((*early, *range(len(cones))))]
    parts = {}
    tasks = [RootTask(xi, side, ties, cones[k], ahead=ahead, dense=dense) for k in order]
    for root, done in zip(order, pool.run(tasks, violation), strict=False):
        if done.code == STUCK:
            raise Stuck(xi, done.at)
        if done.code == VIOLATED:
            raise Missed(xi, done.at)
        if done.code != DONE:
            raise Exhausted
        parts[root] = done.streams
    return joined([parts[root] for root in range(len(cones))])


class Pool(Protocol):
    """Where tasks are done: here, in other processes, on other machines. Results come in the order of the tasks."""

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do the tasks."""


class Here:
    """The tasks one after the other, for trees that are small."""

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do the tasks."""
        return (grow(task, TRIED, violation) for task in tasks)


def rounded(residual: Sequence[Fraction], bits: int) -> Vector:
    """floor(r_k 2^bits) / 2^bits"""
    return tuple(Fraction(floor(r * (1 << bits)), 1 << bits) for r in residual)


def part_of(longest: Fraction, lam: Fraction, bits: int) -> Fraction:
    """The largest tau = 1 - 2^-k or 1 with tau^2 longest <= lambda^2, where `longest` is a square of about lambda^2."""
    if longest <= lam * lam:
        return Fraction(1)
    for k in range(bits, 0, -1):
        tau = 1 - Fraction(1, 1 << k)
        if tau * tau * longest <= lam * lam:
            return tau
    raise Untied("theta cannot be shrunk until the ties hold")


def dual_cover(
    data: RefineData,
    frame: Floats,
    theta: Vector,
    squared: Fraction,
    ties: Sequence[Tie],
    radius_squared: Fraction,
    pool: Pool,
    violation: float = np.inf,
    first: Sequence[Direction] = (),
    *,
    short: bool = False,
    loose: bool = False,
) -> Cover:
    """The cover that proves theta dual feasible for lambda^2; its strict leaves hold for all residuals of the ball. The
    root cones of the directions named `first` are done first: trouble is mostly where it was before. `short`: it is
    worth some time to have fewer nodes. `loose`: nothing comes near lambda, so that short floats will do."""
    lam = lower_root(squared)
    height = data.lines.height(data.basis) if data.lines.biases else None
    if height is not None:
        frame = frame_of(data.basis)
    found, sides = {}, {}
    margins = []
    dense = loose and len(data.lines.rows) > DENSE
    weights = {xi: weights_of(data.lines, theta, xi) for xi in (1, -1)}
    for here in weights.values():
        bits = coarse_bits(here, lam)
        if bits < 8:
            raise Untied("lambda is too small for short integers")
        margins.append(margin_for(data.size_squared, lam, radius_squared, bits))
    margin = max(margins)
    for xi in dict.fromkeys((*(sign for sign, _ in first), *weights)):
        here = weights[xi]
        rows = coarse(here, lam, margin)
        if rows.bound <= 0:
            raise Untied("the ball of residuals is too wide")
        doubts = doubtful(here, radius_squared)
        side = dense_side(here, rows, frame) if dense else side_of(here, rows, frame, doubts)
        sides[xi] = side, engine_ties(data, ties, here, side, xi, doubts)
        found[xi] = tree(*sides[xi], data.basis, xi, pool, violation, first, height, dense=dense)
    cover = Cover(data.basis, tuple(ties), margin, found[1], found[-1])
    if height is not None or dense or len(data.lines.rows) <= FEW_LINES:
        return cover
    best = smallest(cover, data, sides, violation)
    return looked_ahead(best, sides, pool, violation) if short else best


def smallest(
    found: Cover, data: RefineData, sides: dict[int, tuple[SignedProblem, SharpCones]], violation: float
) -> Cover:
    """The cover, or a smaller one: where that takes no time, the trees of other root cones are tried."""
    tried, most = found.nodes, min(TRIED, HEIGHTS // max(len(data.lines.rows), 1))
    for turned in combinations(range(len(data.basis)), 2):
        if tried > most:
            break
        basis = row_space(data.lines, turned)
        try:
            plus, minus = (tree(*sides[xi], basis, xi, Here(), violation) for xi in (1, -1))
        except (Missed, Stuck, Exhausted):
            continue
        tried += plus.nodes + minus.nodes
        if plus.nodes + minus.nodes < found.nodes:
            found = replace(found, basis=basis, plus=plus, minus=minus)
    return found


def looked_ahead(
    found: Cover, sides: dict[int, tuple[SignedProblem, SharpCones]], pool: Pool, violation: float
) -> Cover:
    """The cover, or a smaller one: trees that are not large are built again by walks that look ahead."""
    if len(found.basis) < SOME_EDGES or found.nodes > FEW_NODES:
        return found
    try:
        plus, minus = (tree(*sides[xi], found.basis, xi, pool, violation, ahead=AHEAD) for xi in (1, -1))
    except (Missed, Stuck, Exhausted):
        return found
    return min(found, replace(found, plus=plus, minus=minus), key=lambda cover: cover.nodes)


def known_ties(data: RefineData, weights: dict[int, SignedLines], directions: Sequence[tuple[int, Row]]) -> list[Tie]:
    """The ties among the neurons, their antipodes, and both with the other sign."""
    found: list[Tie] = []
    for own, u in directions:
        for xi, v in ((own, u), (own, tuple(-x for x in u)), (-own, u), (-own, tuple(-x for x in u))):
            known = any(t.xi == xi and np.abs(unit(t.u) - unit(v)).max() < SAME for t in found)
            if not known and abs(value(weights[xi], v) / float(data.lam) - 1.0) < SAME:
                found += ties_at(data, weights[xi], xi, v)
    return found
