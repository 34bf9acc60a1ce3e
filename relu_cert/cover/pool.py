"""Where the root cones of a tree are done: one after the other here, in processes of this machine, or with dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from relu_cert.clock import NEVER, Until, until
from relu_cert.cover.build import Done, Exhausted, Task, grow
from relu_cert.cover.engine import ENGINE
from relu_cert.cover.limits import Limits
from relu_cert.cover.stack import DONE
from relu_cert.interrupt import Ended, interrupted


@dataclass
class Serial:
    """One after the other, with a look at the clock and at the nodes, and a word to whoever listens."""

    limits: Limits
    deadline: Until = NEVER
    told: Callable[[int, int], None] = lambda nodes, open: None
    nodes: int = field(default=0)

    def run(self, tasks: Sequence[Task], violation: float) -> Iterator[Done]:
        """Do the tasks until one fails."""
        for number, task in enumerate(tasks):
            before = self.nodes

            def go_on(nodes: int, open_cones: int, before: int = before, left: int = len(tasks) - 1 - number) -> bool:
                self.told(before + nodes, open_cones + left)
                late = interrupted() or self.deadline.over
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

    def run(self, tasks: Sequence[Task], violation: float) -> Iterator[Done]:
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

    def run(self, tasks: Sequence[Task], violation: float) -> Iterator[Done]:
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


def timed(task: Task, nodes: int, violation: float, seconds: float) -> Done:
    """One task in another process, for at most so many seconds."""
    end = until(seconds, shared=True)
    return grow(task, nodes, violation, lambda *_: not end.over)


Pools = Serial | Processes | Cluster
