"""The work of a proof in a file, so that it can be resumed: after a limit, after Ctrl-C, after a crash; and the pools
of processes that share it.

The file holds the trained network, of which theta follows, every root cone that is done, and the open cones of those
that are not. A root cone is known by a digest of everything that its tree depends on: going on gives the bytes that a
run without a break gives, and what belongs to another theta is never used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any
from zipfile import BadZipFile

import numpy as np

from relu_cert.clock import NEVER, Ended, Until, interrupted, stopped, until
from relu_cert.cover.build import DEPTH, Direction, Done, Exhausted, Pool, Rest, RootTask, grow
from relu_cert.cover.engine import ENGINE
from relu_cert.cover.limits import Limits
from relu_cert.cover.stack import DONE, NODES, Stack, Tape
from relu_cert.cover.train import Trained
from relu_cert.errors import UsageError
from relu_cert.evidence import Streams
from relu_cert.exact import rational
from relu_cert.files import refusal, replacing
from relu_cert.problem.problem import Problem

VERSION = 1
HEADER = "relu_cert_state"  # the first member of the file, by which it is known
SLICE, SHARE = 20.0, 20.0  # seconds between two writes, and as many times what a write takes, at least
RECENT = 8  # trees that are kept: those of the present theta and of the one before, for both signs, built twice
STREAMS = ("codes", "multipliers", "data", "rows")
Network = tuple[Trained, list[Direction], list[Direction]]


@dataclass
class State:
    """What was done: the network, with the directions that are kept aside and those where walks failed; `ends` of walks
    and `rests` of open ones, by their names; those that failed and so `decided` what came next; which of the `trees`
    they were last used in."""

    path: Path
    about: dict[str, Any]
    network: Network | None = None
    ends: dict[str, Done] = field(default_factory=dict)
    rests: dict[str, Rest] = field(default_factory=dict)
    decided: list[str] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)
    trees: int = 0

    def take(self, names: Sequence[str]) -> None:
        """A tree of these root cones begins; those of old trees are forgotten, but for the ones that decided."""
        self.trees += 1
        self.used |= dict.fromkeys(names, self.trees)
        old = {name for name, tree in self.used.items() if tree <= self.trees - RECENT}
        self.rests = {name: rest for name, rest in self.rests.items() if name not in old}
        self.ends = {name: end for name, end in self.ends.items() if name not in old or name in self.decided}

    def put(self, name: str, done: Done) -> None:
        """A walk has ended, or not yet."""
        self.rests.pop(name, None)
        if done.rest is None:
            self.ends[name] = done
        else:
            self.rests[name] = done.rest

    def write(self) -> None:
        """Replace the file, whole or not at all."""
        members: dict[str, Any] = {}
        if self.network is not None:
            trained, aside, troubled = self.network
            members |= {"V": trained.V, "xi": trained.xi, "residual": trained.residual}
            for key, directions in (("aside", aside), ("troubled", troubled)):
                members[key] = np.array([u for _, u in directions])
                members[f"signs of {key}"] = np.array([float(xi) for xi, _ in directions])
        for name, end in self.ends.items():
            members[f"end.{name}"] = np.array([end.code, end.streams.nodes, end.streams.leaves])
            members[f"at.{name}"] = end.at
            for key in STREAMS:
                members[f"{key}.{name}"] = np.frombuffer(getattr(end.streams, key), np.uint8)
        for name, rest in self.rests.items():
            for part in (rest.stack, rest.tape):
                members |= {f"{type(part).__name__}.{key}.{name}": x for key, x in part._asdict().items()}
        objective = None if self.network is None else self.network[0].objective
        about = self.about | {"objective": objective, "decided": self.decided}
        header = np.frombuffer(json.dumps(about).encode(), np.uint8)
        try:
            with replacing(self.path) as stream:
                np.savez(stream, allow_pickle=False, **{HEADER: header}, **members)
        except OSError as error:
            raise refusal(self.path, "--state", error) from None


def opened(path: Path, problem: Problem, lam: Fraction) -> State:
    """The state in the file, or a new one; UsageError if it is that of another problem, or none at all."""
    network, rows = problem.relu, [[str(x) for x in row] for row in problem.relu.Z]
    told = (problem.loss.name, problem.free, problem.appended, rows, [str(x) for x in problem.y], *network.bags.told)
    digest = sha256(repr(told).encode()).hexdigest()
    about = {"version": VERSION, "data": digest, "lambda": rational(lam)}
    if not path.exists():
        return State(path, about)
    advice = "choose another place with --state, or delete the file."
    try:
        with np.load(path, allow_pickle=False) as file:
            found = json.loads(file[HEADER].tobytes())
            if found["version"] != VERSION:
                raise UsageError(f"{path} was written by another version of relu_cert; {advice}")
            if found["data"] != digest:
                raise UsageError(f"{path} is the state of a proof about other data, or another objective; {advice}")
            if found["lambda"] != about["lambda"]:
                raise UsageError(
                    f"{path} is the state of a proof for lambda = {found['lambda']}, not {about['lambda']}; {advice}"
                )
            return _read(State(path, about, decided=found["decided"]), dict(file), found["objective"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path} cannot be read as the state of a proof; {advice}") from None


def _read(state: State, members: dict[str, Any], objective: float | None) -> State:
    """The members of the file."""
    if objective is not None:
        aside, troubled = (
            [(int(xi), u) for xi, u in zip(members[f"signs of {key}"].tolist(), members[key], strict=True)]
            for key in ("aside", "troubled")
        )
        state.network = Trained(members["V"], members["xi"], members["residual"], objective), aside, troubled
    for key, entries in members.items():
        kind, _, name = key.partition(".")
        if kind == "end":
            code, nodes, leaves = entries.tolist()
            codes, multipliers, data, rows = (members[f"{stream}.{name}"].tobytes() for stream in STREAMS)
            streams = Streams(codes, multipliers, data, rows, nodes, leaves)
            state.ends[name] = Done(code, streams, members[f"at.{name}"])
        elif key.startswith("Stack.counts."):
            name = key.removeprefix("Stack.counts.")
            stack = Stack(*(members[f"Stack.{part}.{name}"] for part in Stack._fields))
            state.rests[name] = Rest(stack, Tape(*(members[f"Tape.{part}.{name}"] for part in Tape._fields)))
    return state


@dataclass
class Kept:
    """A pool whose work is kept: it is done in slices of time, after each of which the state is written.

    `pool(deadline, nodes)` makes the pool for a slice, where so many nodes are done already; `deadline` and `most` are
    the limits of all slices together.
    """

    state: State
    pool: Callable[[Until, int], Pool]
    deadline: Until
    most: int
    slice: float = 0.0  # the first one is short: a little is kept at once
    nodes: int = 0

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do the tasks until one fails."""
        state = self.state
        left = dict(zip(names_of(tasks, violation), tasks, strict=True))
        state.take(list(left))
        for name in left:
            if name in state.decided:
                yield state.ends[name]
                return
        while True:
            self._slice({name: task for name, task in left.items() if name not in state.ends}, violation)
            for name in [*left]:
                if name not in state.ends:
                    break
                end = state.ends[name]
                del left[name]
                self.nodes += end.streams.nodes
                if end.code != DONE:
                    state.decided.append(name)
                yield end
                if end.code != DONE:
                    return
            if not left:
                return
            opened = sum(int(state.rests[name].stack.counts[NODES]) for name in left if name in state.rests)
            if stopped() or self.deadline.over or self.nodes + opened > self.most:
                raise Exhausted

    def _slice(self, tasks: dict[str, RootTask], violation: float) -> None:
        """Go on with the tasks for a while, and write the state."""
        if not tasks:
            return
        pool = self.pool(self.deadline.within(self.slice), self.nodes)
        begun = [replace(task, rest=self.state.rests.get(name)) for name, task in tasks.items()]
        try:
            for name, done in zip(tasks, pool.run(begun, violation), strict=False):  # until one fails
                self.state.put(name, done)
        finally:
            begin = perf_counter()
            self.state.write()
            self.slice = max(SLICE, SHARE * (perf_counter() - begin))


def names_of(tasks: Sequence[RootTask], violation: float) -> list[str]:
    """Digests of all that the trees of these root cones, which are of one sign and theta, depend on."""
    shared = sha256(repr((DEPTH, violation, tasks[0].ahead)).encode())
    for part in (*tasks[0].side, *tasks[0].ties):
        shared.update(repr((np.shape(part), np.asarray(part).dtype.str)).encode())
        shared.update(np.ascontiguousarray(part).tobytes())
    return [sha256(shared.digest() + np.ascontiguousarray(task.cone).tobytes()).hexdigest()[:32] for task in tasks]


@dataclass
class Serial:
    """One after the other, with a look at the clock and at the nodes, and a word to whoever listens."""

    limits: Limits
    deadline: Until = NEVER
    told: Callable[[int, int], None] = lambda nodes, open: None
    nodes: int = field(default=0)

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do the tasks until one fails."""
        for number, task in enumerate(tasks):
            before = self.nodes

            def go_on(nodes: int, open_cones: int, before: int = before, left: int = len(tasks) - 1 - number) -> bool:
                self.told(before + nodes, open_cones + left)
                late = stopped() or self.deadline.over
                return before + nodes < self.limits.nodes and not late

            done = grow(task, self.limits.nodes, violation, go_on)
            self.nodes += done.streams.nodes
            yield done
            if done.code != DONE:
                return


@dataclass
class Processes:
    """In several processes of this machine (joblib)."""

    limits: Limits
    deadline: Until = NEVER
    told: Callable[[int, int], None] = lambda nodes, open: None
    nodes: int = field(default=0)

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do all tasks; the first one in order that failed decides."""
        from joblib import Parallel, delayed

        if interrupted():  # only what is quick is still done
            yield from Serial(self.limits, self.deadline, self.told).run(tasks, violation)
            return
        ENGINE.walk.compile()  # once, and not in every process
        left = max(self.deadline.left, 0.0)
        work = Parallel(n_jobs=self.limits.jobs, return_as="generator")
        results = work(delayed(timed)(task, self.limits.nodes, violation, left) for task in tasks)
        number = len(tasks)
        try:
            for done in results:
                number -= 1
                self.nodes += done.streams.nodes
                self.told(self.nodes, number)
                yield done
                if interrupted():
                    break
        except Ended:
            raise
        except (Exception, KeyboardInterrupt):  # Ctrl-C ends the processes, too, and they say so in several ways
            if not interrupted():
                raise
        if number:
            raise Exhausted("it was interrupted")


@dataclass
class Cluster:
    """On the workers of a dask cluster; what a lost worker had is done again by another."""

    address: str
    limits: Limits
    deadline: Until = NEVER
    told: Callable[[int, int], None] = lambda nodes, open: None
    nodes: int = field(default=0)

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do all tasks; the first one in order that failed decides."""
        from dask.distributed import Client

        left = max(self.deadline.left, 0.0)
        with Client(self.address) as client:
            futures: list[Any] = [  # the scheduler keeps the tasks: what is scattered is lost with its worker
                client.submit(timed, task, self.limits.nodes, violation, left, pure=False, retries=3) for task in tasks
            ]
            for number, future in enumerate(futures):
                done: Done = future.result()
                self.nodes += done.streams.nodes
                self.told(self.nodes, len(tasks) - 1 - number)
                yield done


def timed(task: RootTask, nodes: int, violation: float, seconds: float) -> Done:
    """One task in another process, for at most so many seconds."""
    end = until(seconds, shared=True)
    return grow(task, nodes, violation, lambda *_: not end.over)


Pools = Serial | Processes | Cluster
