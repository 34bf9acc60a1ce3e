"""What a walk over cones reads and writes: one sign of the data, its ties, the open cones, the tape, some room."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Short = NDArray[np.float32]
Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]

DONE, GO_ON, FULL, STUCK, VIOLATED, WIDE, STARRED = range(7)  # why a walk ended, or stopped
VISIT, AT_STAR, UNSTARRED, BISECT = range(4)  # what is pending for the cone on top
STEPS = 100  # Frank-Wolfe steps at a node
MOST_SIGNS = 8
MOST_EDGES = 4  # the best edge, and others that are tried where a walk looks ahead
ROOM = 4096  # bytes that one node may write at the most
LANES = 512  # rows that are worked on at a time where all are looked at


class SignedProblem(NamedTuple):
    """One sign xi in floats, lambda = 1, in orthonormal coordinates of the row space; and the integers behind it.

    `lines` are the primitive rows of the convex lines, `normals` their directions in floats, `light` the concave rows
    in few bits (signs at atoms), `frame` the orthonormal rows that take integer vectors to coordinates. `bound` is what
    |c| may be, `delta` by how much leaves hold. Where all rows are looked at (`dense`) P and N have a column for each,
    and there are no `lines`. `unseen` is 0, or the norm does not see the last coordinate: then
    projections see so much of it.
    """

    P: Floats
    N: Floats
    c0: Floats
    lines: Integers
    normals: Floats
    light: Integers
    lengths: Floats
    frame: Floats
    bound: float
    delta: float
    exact_bits: int
    unseen: float


class SharpCones(NamedTuple):
    """Where the bound is attained: concave pieces (`a` the gradient of f1, `side` the sign of every convex line), and
    rays (unit vectors, which lines pass through them). `names` and `ray_names` are their numbers in the evidence. Where
    the lines through u leave a plane, `across` is the unit vector of the plane that is orthogonal to u (else 0), and
    u + s across has the same pattern as u for s in `span`; c is the gradient on the ray or plane, tips are generators
    on it."""

    a: Floats
    side: NDArray[np.int8]
    names: Integers
    ray: Floats
    across: Floats
    span: Floats
    c: Floats
    ray_P: Bytes
    ray_N: Bytes
    ray_names: Integers


class Stack(NamedTuple):
    """The open nodes of a depth-first walk, one level each, and the counters of the walk."""

    VP: Floats
    VN: Floats
    IP: NDArray[np.int32]
    IN: NDArray[np.int32]
    n_P: Integers
    n_N: Integers
    lin: Floats
    low: Floats
    G: Floats
    slopes: Floats  # the gradient of f1 at every generator; this and the next two where all rows are looked at
    base: Floats  # the sums of the convex and of the concave rows that are on
    near: Integers  # from where to where the rows that cross the cone are, and at which depth that was tried
    g: Integers
    size: Floats
    unit: Integers
    bits: Integers
    depth: Integers
    ray: Integers
    signs: Integers
    n_signs: Integers
    counts: Integers  # top, nodes, leaves, deepest, longest, pending
    at: Floats  # where the walk got stuck or found a violation


class Tape(NamedTuple):
    """What is written: codes in the order of the walk, multipliers of bisections, data of leaves, rows of sign splits;
    `used` says how much of each."""

    codes: Bytes
    multipliers: Bytes
    data: Bytes
    rows: NDArray[np.uint32]
    used: Integers


TOP, NODES, LEAVES, DEEPEST, LONGEST, PENDING = range(6)


def empty_stack(side: SignedProblem, most_depth: int) -> Stack:
    """Room for a walk."""
    d, D = side.frame.shape
    S, n_P, n_N = most_depth + 8 * d + 12, max(len(side.P), 1), max(len(side.N), 1)
    return Stack(
        VP=np.empty((S, d, n_P)),
        VN=np.empty((S, d, n_N)),
        IP=np.zeros((S, n_P), np.int32),
        IN=np.zeros((S, n_N), np.int32),
        n_P=np.zeros(S, np.int64),
        n_N=np.zeros(S, np.int64),
        lin=np.zeros((S, d)),
        low=np.zeros((S, d)),
        G=np.zeros((S, d, d)),
        slopes=np.zeros((S, d, d)),
        base=np.zeros((S, 2, d)),
        near=np.zeros((S, 5), np.int64),
        g=np.zeros((S, d, D), np.int64),
        size=np.zeros((S, d)),
        unit=np.zeros((S, d, D), np.int64),
        bits=np.zeros((S, d), np.int64),
        depth=np.zeros(S, np.int64),
        ray=np.full((S, d), -1, np.int64),
        signs=np.zeros((S, MOST_SIGNS), np.int64),
        n_signs=np.zeros(S, np.int64),
        counts=np.zeros(6, np.int64),
        at=np.zeros(d),
    )


def empty_tape(room: int = 1 << 16) -> Tape:
    """An empty tape."""
    return Tape(
        np.zeros(room, np.uint8),
        np.zeros(room, np.uint8),
        np.zeros(8 * room + ROOM, np.uint8),
        np.zeros(room, np.uint32),
        np.zeros(4, np.int64),
    )


def longer(tape: Tape) -> Tape:
    """The same tape with twice the room."""

    def twice(a: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([a, np.zeros_like(a)])

    return Tape(twice(tape.codes), twice(tape.multipliers), twice(tape.data), twice(tape.rows), tape.used)


class Room(NamedTuple):
    """Room to work in at a node. What `best`, `M` and `edges` hold is for the choice of an edge: where the bound is
    largest, the products of the generators, and the edges that were chosen."""

    M: Floats
    T: Floats
    R: Floats
    off: Floats
    wide: Floats
    A: Floats
    AT: Floats
    f1: Floats
    b: Floats
    best: Floats
    mix: Floats
    found: Floats
    slope: Floats
    e: Floats
    r: Floats
    t: Floats
    t2: Floats
    x: Floats
    W: Floats
    W2: Floats
    dW: Floats
    Wq: Floats
    tq: Floats
    axis: Floats
    reach: Floats
    point: Floats
    total: Floats
    heights: Short
    lanes: Short
    least: Short
    kept: Floats
    near_P: Short
    near_N: Short
    shares: Floats
    new: Floats
    lowest: Floats
    highest: Floats
    q: Integers
    p: Integers
    v: Integers
    free: Integers
    order: Integers
    points: Integers
    whole: Integers
    edges: Integers
    tried: Bytes


def empty_room(side: SignedProblem, *, dense: bool = False) -> Room:
    """Room for the cones of one sign; for a `dense` walk with that for all rows, and twice as many."""
    d, D = side.frame.shape
    n, many = STEPS + 3, max(len(side.P), len(side.N), 1)
    M = np.zeros((d, d))
    vectors = ["f1", "b", "best", "mix", "found", "slope", "e", "r", "t", "t2", "x", "W", "W2", "dW", "Wq", "tq"]
    vectors += ["axis", "reach", "point", "total"]
    return Room(
        M=M,
        T=M if side.unseen == 0.0 else np.zeros((d, d)),
        R=M if side.unseen == 0.0 else np.zeros((d, d)),
        off=np.zeros((d, d)),
        wide=np.zeros((d, d + 1)),
        A=np.zeros((d, d)),
        AT=np.zeros((n, d)),
        **{name: np.zeros(d) for name in vectors},
        heights=np.zeros(LANES, np.float32),
        lanes=np.zeros((max(d, 2), LANES), np.float32),
        least=np.zeros(LANES, np.float32),
        kept=np.zeros((2, d)),
        near_P=np.empty((d, 3 * side.P.shape[1] if dense else 0), np.float32),
        near_N=np.empty((d, 3 * side.N.shape[1] if dense else 0), np.float32),
        shares=np.zeros(n),
        new=np.zeros(many),
        lowest=np.zeros(many),
        highest=np.zeros(many),
        q=np.zeros(d, np.int64),
        p=np.zeros(D, np.int64),
        v=np.zeros(D, np.int64),
        free=np.zeros(d, np.int64),
        order=np.zeros(d, np.int64),
        points=np.zeros((n, d), np.int64),
        whole=np.zeros(n, np.int64),
        edges=np.zeros((max(min(MOST_EDGES, d * (d - 1) // 2), 1), 2), np.int64),
        tried=np.zeros((d, d), np.uint8),
    )


# a bisection: the number of its edge (i, j), below 190
RULE = 200  # strict leaf: the atom and c point along the barycentre
TURNED = 201  # strict leaf: the atom is the barycentre's, d bytes for the direction of c
ATOMS = 202  # strict leaf: atoms with weights, then d bytes for the direction of c
NEURON = 203  # leaf inside the concave piece of a listed neuron: its number
RAY = 204  # leaf with generators on a listed ray or plane: its number, then atoms
SIGN = 210  # two children: a row of f1 is >= 0, or <= 0
STAR = 211  # a listed ray takes the place of each generator in turn: its number, a mask of the generators
FACE = 212  # likewise the point where a listed plane meets a facet of the cone: number, mask, number of the facet

WEIGHT = 256  # the weights of a leaf's atoms add up to this
STEP, OFFSET = 16, 1  # an atom's point is sum_i (STEP q_i + OFFSET) U_i, strictly inside the cone
