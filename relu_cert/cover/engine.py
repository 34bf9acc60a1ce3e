"""Running walks: interpreted as long as they are short, compiled then. Both give the same bytes.

To load compiled code takes as long as some hundred nodes, to compile it as long as some thousand: small data need
neither. Another process compiles, so that Ctrl-C is heard meanwhile, and keeps the code on disk for the next time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep, thread_time

import relu_cert
from relu_cert import clock as compiling
from relu_cert.clock import interrupted
from relu_cert.cover.dense import walk_dense
from relu_cert.cover.stack import (
    BISECT,
    DONE,
    GO_ON,
    NODES,
    PENDING,
    STARRED,
    TOP,
    VISIT,
    WIDE,
    Room,
    SharpCones,
    SignedProblem,
    Stack,
    Tape,
)
from relu_cert.cover.star import walk_stars
from relu_cert.cover.walk import walk

SLICE, CHUNK = 50, 20_000  # nodes of an interpreted walk and of a compiled one between two looks at Ctrl-C
LOADED_AFTER, COMPILED_AFTER = 0.5, 1.5  # processor seconds of interpreted walks
MANY_LINES = 1000  # a node is no short work then, and the walk is compiled at once
AHEAD_LEAST = 2  # nodes below an edge: fewer there cannot be
GRACE = 1.0  # processor seconds of interpreted walks after Ctrl-C
TICK = 0.05
Entry = Callable[..., int]


class Part:
    """One of the two walks: how it runs at present, and how long it was interpreted."""

    def __init__(self, name: str, function: Entry) -> None:
        self.name, self.function = name, function
        self.compiled = False
        self.kept: bool | None = None  # on disk; None: not known yet
        self.seconds = self.late = 0.0  # of interpreted walks; of those after Ctrl-C

    def __call__(self, *given: object) -> int:
        """Go on with a walk."""
        if self.compiled:
            return int(self.function(*given))
        begin = thread_time()
        code = int(self.function(*given))
        seconds = thread_time() - begin
        self.seconds += seconds
        self.late = self.late + seconds if interrupted() else 0.0
        return code

    def hurry(self) -> None:
        """Load compiled code, or compile it, where walks have been interpreted for long enough."""
        if self.compiled or self.seconds < LOADED_AFTER:
            return
        if self.kept is None:
            self.load(compiling=False)
        if self.seconds >= COMPILED_AFTER and not interrupted():
            self.compile()

    def compile(self) -> None:
        """Compile, unless code is kept or Ctrl-C comes first."""
        if not self.compiled and self.kept is None:
            self.load(compiling=False)
        if not self.compiled and compile_elsewhere(self.name):
            self.load(compiling=True)

    def load(self, *, compiling: bool) -> None:
        """Run compiled code from now on: what is kept on disk, or else, if that may be, what is compiled here."""
        from relu_cert.cover.compiled import NotKept, load

        try:
            self.function = load(self.name, compiling=compiling)
            self.kept = self.compiled = True
        except NotKept:
            self.kept = False


@dataclass(frozen=True)
class Engine:
    """The walk over cones without tips, that over cones with tips, which few data have, and that which looks at all
    rows."""

    walk: Part = field(default_factory=lambda: Part("walk", walk))
    stars: Part = field(default_factory=lambda: Part("walk_stars", walk_stars))
    dense: Part = field(default_factory=lambda: Part("walk_dense", walk_dense))

    def hurry(self) -> None:
        """Compile what has been interpreted for long enough."""
        self.walk.hurry()
        self.stars.hurry()

    @property
    def late(self) -> bool:
        """Whether interpreted walks have gone on for too long after Ctrl-C."""
        return self.walk.late + self.stars.late > GRACE


ENGINE = Engine()


def compile_elsewhere(name: str) -> bool:
    """Compile in another process; False if Ctrl-C ended that."""
    compiling.tell()
    root = str(Path(relu_cert.__file__).parent.parent)
    path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
    command = [sys.executable, "-m", "relu_cert.cover.compiled", name]
    env, no = os.environ | {"PYTHONPATH": path}, subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, env=env, stdin=no, stdout=no, stderr=no, start_new_session=True)
    except OSError:  # no interpreter of that name: it is compiled here
        return True
    try:
        while process.poll() is None:
            if interrupted():
                return False
            sleep(TICK)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return True


def advance(
    side: SignedProblem,
    ties: SharpCones,
    stack: Stack,
    tape: Tape,
    room: Room,
    nodes: int,
    most_depth: int,
    violation: float,
    ahead: int = 0,
    aside: Stack | None = None,
    noted: Tape | None = None,
) -> int:
    """Go on with a walk for at most so many nodes: DONE, GO_ON, FULL, STUCK or VIOLATED.

    Where at most `ahead` nodes lie below the best edge, a few others are tried, too, and the one with the fewest nodes
    below it is bisected. A trial is a walk of its own from one node, on the stack `aside` with the tape `noted`."""

    def some(stack: Stack, tape: Tape, nodes: int, ahead: bool) -> int:
        """A walk, through stars and out of them."""
        counts, end = stack.counts, int(stack.counts[NODES]) + nodes
        while True:
            left = end - int(counts[NODES])
            code = ENGINE.walk(side, ties, stack, tape, room, left, most_depth, violation, ahead)
            if code != STARRED:
                return code
            left = end - int(counts[NODES])
            left = left if ENGINE.stars.compiled else min(left, SLICE)
            code = ENGINE.stars(side, ties, stack, tape, room, left, most_depth)
            if code != GO_ON or (counts[PENDING] == VISIT and (counts[NODES] >= end or ENGINE.late)):
                return code
            ENGINE.stars.hurry()

    def try_edges(aside: Stack, noted: Tape) -> None:
        """Put the edge first below which the tree is smallest."""
        edges = room.edges.copy()
        fewest, best = ahead + 1, 0
        for e, edge in enumerate(edges):
            set_aside(stack, aside, noted)
            room.edges[0] = edge
            if some(aside, noted, fewest - 1, False) == DONE:
                fewest, best = int(aside.counts[NODES]), e
            if not AHEAD_LEAST < fewest <= ahead:
                break
        room.edges[0] = edges[best]

    end = int(stack.counts[NODES]) + nodes
    if len(side.P) + len(side.N) > MANY_LINES:
        ENGINE.walk.compile()
    while True:
        ENGINE.hurry()
        left = end - int(stack.counts[NODES])
        code = some(stack, tape, min(left, CHUNK if ENGINE.walk.compiled else SLICE), ahead > 0)
        if code == WIDE and aside is not None and noted is not None:
            try_edges(aside, noted)
        if code == GO_ON and (ENGINE.late or stack.counts[NODES] >= end):
            return code
        if code not in (GO_ON, WIDE):
            return code


def advance_dense(
    side: SignedProblem, stack: Stack, tape: Tape, room: Room, nodes: int, most_depth: int, violation: float
) -> int:
    """The same where all rows are looked at; GO_ON at once where Ctrl-C came before it was compiled."""
    ENGINE.dense.compile()
    return ENGINE.dense(side, stack, tape, room, nodes, most_depth, violation) if ENGINE.dense.compiled else GO_ON


def set_aside(stack: Stack, aside: Stack, noted: Tape) -> None:
    """Make the level on top, which is to be bisected, the only one of another stack: a walk there leaves nothing."""
    top = int(stack.counts[TOP]) - 1
    for name, part in stack._asdict().items():
        if name not in ("counts", "at"):
            getattr(aside, name)[0] = part[top]
    aside.counts[:] = 0
    aside.counts[TOP] = 1
    aside.counts[PENDING] = BISECT
    noted.used[:] = 0
