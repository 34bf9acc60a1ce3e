"""Root cones are done here, in processes, or by a dask cluster: the same evidence whatever does the work."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from relu_cert.cover import build
from relu_cert.cover.build import Done, Exhausted, RootTask, dual_cover, prisms, roots, roots_of
from relu_cert.cover.limits import Limits
from relu_cert.cover.lines import coarse, row_space, side_of, weights_of
from relu_cert.cover.setting import CoverData, setting
from relu_cert.cover.state import Cluster, Pools, Processes, Serial
from relu_cert.cover.ties import engine_ties
from relu_cert.cover.train import largest
from relu_cert.evidence import Cover, Streams
from relu_cert.problem import unlisted_relu

pytestmark = pytest.mark.long

F = Fraction


def given(d: int = 3) -> CoverData:
    """Thirty points, in three dimensions if nothing else is said."""
    rng = np.random.default_rng(5)
    Z = tuple(tuple(F(int(x), 100) for x in row) for row in rng.integers(-300, 300, (30, d)))
    return setting(unlisted_relu(Z, tuple(F(int(x)) for x in rng.integers(-3, 4, 30))))


def above(one: CoverData) -> Fraction:
    """A lambda that is a little above lambda_max, so that trees have many nodes."""
    return F(round(1050 * largest(one.task, np.random.default_rng(0))[0]), 1000)


def evidence(pool: Pools) -> list[Streams]:
    """The trees that prove y dual feasible for a lambda above lambda_max."""
    one = given()
    weights = weights_of(one.data.lines, one.y, 1)
    lam = above(one)
    side = side_of(weights, coarse(weights, lam, 0), one.frame, [])
    tasks = [RootTask(1, side, engine_ties(one.data, (), weights, side, 1, ()), cone) for cone in roots(one.data.basis)]
    return [done.streams for done in pool.run(tasks, np.inf)]


def test_processes_write_what_one_process_writes() -> None:
    """Two processes give the bytes of one."""
    assert evidence(Processes(Limits(jobs=2))) == evidence(Serial(Limits(seconds=100.0)))


def test_a_cluster_that_loses_a_worker_writes_the_same() -> None:
    """dask with two workers, one of which is killed as soon as the first cone is done: what it had, and what it had
    done and nobody had fetched, is done again."""
    distributed = pytest.importorskip("dask.distributed")
    left: list[int] = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            pids = list(client.run(os.getpid).values())

        def told(nodes: int, open_cones: int) -> None:
            if not left:
                os.kill(pids[0], signal.SIGKILL)
            left.append(open_cones)

        found = evidence(Cluster(cluster.scheduler_address, Limits(), told=told))
    assert left == [7, 6, 5, 4, 3, 2, 1, 0]
    assert found == evidence(Serial(Limits()))


def test_the_order_of_root_cones_is_not_seen() -> None:
    """The cones of troubled directions are done first, and the evidence is the same."""
    one = given()
    lam = above(one)
    covers = [
        dual_cover(one.data, one.frame, one.y, lam**2, (), F(0), Serial(Limits()), first=first)
        for first in ((), ((-1, np.array([1.0, -2.0, 3.0])), (1, np.array([-1.0, 1.0, 1.0]))))
    ]
    assert covers[0] == covers[1]


def test_small_trees_have_the_best_of_some_root_cones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two axes turned by 45 degrees where that gives fewer nodes; a tree that is not small stays as it is."""
    one = given()

    def found() -> Cover:
        return dual_cover(one.data, one.frame, one.y, above(one) ** 2, (), F(0), Serial(Limits()))

    best = found()
    monkeypatch.setattr(build, "TRIED", 0)
    plain = found()
    assert plain.basis == one.data.basis != best.basis
    assert best.nodes < plain.nodes
    assert best.basis in [row_space(one.data.lines, pair) for pair in ((0, 1), (0, 2), (1, 2))]


class Brief(Serial):
    """No time is left to look ahead."""

    def run(self, tasks: Sequence[RootTask], violation: float) -> Iterator[Done]:
        """Do what does not look ahead."""
        if any(task.ahead for task in tasks):
            raise Exhausted
        return super().run(tasks, violation)


def test_walks_that_look_ahead_make_smaller_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where fewer nodes are wanted, trees that are not large are built again, the same by one process or two; a large
    tree stays as it is, and so does one whose second building is not finished."""
    one = given(4)

    def found(pool: Pools, short: bool) -> Cover:
        return dual_cover(one.data, one.frame, one.y, above(one) ** 2, (), F(0), pool, short=short)

    plain, best = found(Serial(Limits()), False), found(Serial(Limits()), True)
    assert best.nodes < 0.97 * plain.nodes
    assert found(Processes(Limits(jobs=2)), True) == best
    assert found(Brief(Limits()), True) == plain
    monkeypatch.setattr(build, "FEW_NODES", plain.nodes - 1)
    assert found(Serial(Limits()), True) == plain


def test_the_root_cone_of_a_direction() -> None:
    """A sum of its generators lies in every root cone."""
    basis = given().data.basis
    sums = [cone.sum(axis=0).astype(float) for cone in roots(basis)]
    assert [list(roots_of(basis, u, False)) for u in sums] == [[k] for k in range(8)]
    biased = ((2, 1, 0), (-1, 3, 0), (0, 0, 1))
    inside = [cone.sum(axis=0).astype(float) for cone in prisms(biased, 3)]
    assert all(k in roots_of(biased, u, True) for k, u in enumerate(inside)) and len(inside) == 8


def test_the_clock_is_looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a node takes, a walk comes back in a fraction of a second; what it writes does not depend on that.

    It had looked at the clock after twenty thousand nodes, which took minutes."""
    asked: list[int] = []
    whole = evidence(Serial(Limits()))
    monkeypatch.setattr(build, "OFTEN", 0.0)
    assert evidence(Serial(Limits(), told=lambda nodes, open_cones: asked.append(nodes))) == whole
    one_by_one = [b - a for a, b in pairwise(asked)]
    assert one_by_one.count(1) > sum(part.nodes for part in whole) - 8 * (build.FIRST + 2)
