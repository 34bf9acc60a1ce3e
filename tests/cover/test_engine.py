"""The walk: interpreted and compiled alike, compiled by another process, its parts as ordinary functions."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from relu_cert import clock as compiling
from relu_cert.clock import interruptible
from relu_cert.cover import compiled, engine
from relu_cert.cover.build import RootTask, grow, roots
from relu_cert.cover.compiled import NotKept, digest_of_sources, load
from relu_cert.cover.engine import Engine, Part
from relu_cert.cover.leaf import in_piece, slack
from relu_cert.cover.limits import Limits
from relu_cert.cover.lines import coarse, side_of, weights_of
from relu_cert.cover.setting import setting
from relu_cert.cover.stack import DONE, FACE, NEURON, RAY, SIGN, STUCK, WEIGHT
from relu_cert.cover.star import TOUCHES, all_rows
from relu_cert.cover.ties import engine_ties
from relu_cert.driver.network import optimum_of_network
from relu_cert.evidence import Cover, Streams
from relu_cert.problem import unlisted_relu
from verify.cover.strict import directions, unit
from verify.cover.tree import Leaves

F = Fraction
CUBE = [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
PLANE = [(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (1, 2), (2, -1), (-1, 2), (3, 1), (1, 3), (3, -2)]
TIED = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [1, 1, 0, 0],
    *([0, 0, a, b] for a, b in PLANE),
    *([0, 0, -a, -b] for a, b in PLANE[:4]),
]
TARGETS = ["67/12", "17/4", "25/12", *["-1/2"] * 4, *["1/16"] * 7, *["-1/2"] * 4]  # with a tie on a plane


@pytest.mark.parametrize(
    ("height", "c", "holds"),
    [
        (0.5, (0.1, 0.5), True),  # off: c alone is enough
        (0.99, (0.1, 0.5), False),  # floats call the row off; if integers call it on, it takes 1 at the last generator
        (1.01, (-0.5, 1.5), False),  # floats call the row on, and the second generator needs it
        (2.0, (-0.5, 1.5), True),
    ],
)
def test_a_row_that_hardly_touches_a_star_cone_counts_for_the_worse(
    height: float, c: tuple[float, float], holds: bool
) -> None:
    """At an atom whose height is near the threshold, floats and the checker's integers may differ: the leaf holds only
    if it does so either way."""
    normal = (0.0, 1.0, -1.0 + 2.0 * height * TOUCHES)
    side = SimpleNamespace(frame=np.eye(3), N=np.array([normal]), lengths=np.array([np.linalg.norm(normal)]))
    ties = SimpleNamespace(c=np.array([(0.0, *c)]), ray=np.eye(3)[:1], ray_N=np.array([[1]]))
    stack = SimpleNamespace(G=np.eye(3)[None], ray=np.array([[0, -1, -1]]))
    points, whole = np.array([[0, 1, 1]]), np.array([WEIGHT])
    left, v = np.zeros(3), np.zeros(3)
    assert bool(all_rows(side, ties, stack, 0, 0, np.zeros(3), 0.0, points, whole, 1, left, v)) is holds


@pytest.mark.parametrize(("split", "side", "holds"), [(0, 1, True), (1, 1, True), (0, -1, True), (1, -1, False)])
def test_a_cone_inside_a_piece_is_in_it_whatever_was_split_before(split: int, side: int, holds: bool) -> None:
    """A cone on one side of a line that was split to the other holds nothing but 0: it lies in both pieces."""
    one = SimpleNamespace(lines=np.array([[1, 0]]), exact_bits=40)
    stack = SimpleNamespace(
        ray=np.full((1, 2), -1),
        bits=np.ones((1, 2), dtype=int),
        n_signs=np.array([1]),
        signs=np.array([[split]]),
        g=np.array([[[1, 0], [1, 1]]]),
    )
    ties = SimpleNamespace(side=np.array([[side]]))
    assert bool(in_piece(one, ties, stack, 0, 0, 2, 2)) is holds


def test_the_direction_of_a_leaf_is_the_checkers() -> None:
    """What a leaf has to spare is that of the checker's own c, to more digits than its short integers have."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        g = rng.integers(-(10**6), 10**6, size=(3, 3))
        U = np.array([unit(tuple(row)) for row in g.tolist()])
        size, turn, bound = np.linalg.norm(g, axis=1), rng.integers(0, 256, size=3), (1 << 44) - (1 << 20)
        leaves = Leaves(turns=[bytes(turn.tolist())])
        (c,) = directions(leaves, U, np.array([[0, 1, 2]]), bound, False)
        exact = min(
            int(sum(int(a) * int(b) for a, b in zip(c, row, strict=True))) / s for row, s in zip(g, size, strict=True)
        )
        none = np.zeros(3)
        found = slack(g, size, U, none, none, turn.astype(float), 3, 3, np.zeros(3, dtype=np.int64), bound / 2**44, 0.0)
        assert abs(found - exact / 2**44) < 1e-12


def trees(Z: Sequence[Sequence[int]], y: Sequence[int | str], lam: str, free: str) -> tuple[Streams, Streams]:
    """Both trees of the cover that proves the optimum."""
    problem = unlisted_relu(tuple(tuple(map(F, z)) for z in Z), tuple(map(F, y)))
    if free:
        problem = replace(problem, free=(free,))
    found = optimum_of_network(problem, lambda top: F(lam), F(1, 10**9), Limits(100.0), lambda moment: None)
    cover = found.dual.multipliers
    assert isinstance(cover, Cover)
    return cover.plus, cover.minus


@pytest.mark.parametrize(
    ("Z", "y", "lam", "free", "codes"),
    [
        (CUBE, [1, 0, 0, 1, 0, 1, 1, 0], "1/4", "", {SIGN, NEURON}),
        (TIED, TARGETS, "5", "", {FACE, RAY}),
        ([[*z, 1] for z in CUBE], [1, 0, 0, 1, 0, 1, 1, 0], "1/4", "biases", set()),
    ],
    ids=["signs", "stars, looking ahead", "free biases"],
)
def test_interpreted_and_compiled_walks_write_the_same(
    monkeypatch: pytest.MonkeyPatch, Z: list[list[int]], y: list[int | str], lam: str, free: str, codes: set[int]
) -> None:
    """The same bytes, in trees with sign splits and neurons, with stars, with edges chosen by looking ahead, and where
    the norm does not see a coordinate."""
    monkeypatch.setattr(engine, "LOADED_AFTER", np.inf)
    interpreted, compiled = Engine(), Engine()
    monkeypatch.setattr(engine, "ENGINE", interpreted)
    plain = trees(Z, y, lam, free)
    assert codes <= {code for tree in plain for code in tree.codes}
    assert interpreted.walk.seconds > 0.0 and not interpreted.walk.compiled
    for part in (compiled.walk, compiled.stars):
        part.load(compiling=True)
    monkeypatch.setattr(engine, "ENGINE", compiled)
    assert trees(Z, y, lam, free) == plain
    assert compiled.walk.seconds == compiled.stars.seconds == 0.0


BY_ANOTHER = """
from tests.cover.test_engine import CUBE, engine, trees
engine.LOADED_AFTER = engine.COMPILED_AFTER = 0.0
found = trees(CUBE, [1, 0, 2, 0, 0, 3, 0, 1], "1/4", "")
assert engine.ENGINE.walk.kept and engine.ENGINE.walk.compiled
print([tree.codes.hex() for tree in found], [tree.multipliers.hex() for tree in found])
"""


@pytest.mark.long
def test_what_another_process_compiles_walks_alike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """There only the entries are optimised; the bytes are those of interpreted walks."""
    monkeypatch.setattr(engine, "LOADED_AFTER", np.inf)
    plain = trees(CUBE, [1, 0, 2, 0, 0, 3, 0, 1], "1/4", "")
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", BY_ANOTHER], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout == f"{[tree.codes.hex() for tree in plain]} {[tree.multipliers.hex() for tree in plain]}\n"
    assert [*tmp_path.rglob("walk.walk_*.nbi")]


def test_what_is_kept_is_loaded_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk that was interpreted for a while looks on disk first, and compiles only after a longer while."""
    asked: list[str] = []

    def kept(name: str, *, compiling: bool) -> compiled.Entry:
        asked.append("compile" if compiling else "load")
        if not compiling:
            raise NotKept
        return lambda: 7

    monkeypatch.setattr(compiled, "load", kept)
    monkeypatch.setattr(engine, "compile_elsewhere", lambda name: asked.append(f"compile {name} elsewhere") is None)
    part = Part("walk", lambda: 3)
    for seconds, order in ((0.0, []), (1.0, ["load"]), (100.0, ["load", "compile walk elsewhere", "compile"])):
        part.seconds = seconds
        part.hurry()
        assert asked == order
    assert part.compiled and part() == 7


def test_what_is_not_on_disk_is_not_compiled_by_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a name of its own nothing is kept: the look is refused as soon as numba begins to compile."""
    monkeypatch.setattr(compiled, "digest_of_sources", lambda: "of_nothing")
    compiled.entry.cache_clear()
    with pytest.raises(NotKept):
        load("walk", compiling=False)


def test_every_file_counts_for_what_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A change in any file of the engine is another digest, so that no old code is loaded."""
    for path in Path(compiled.__file__).parent.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "compiled.py"))
    before = digest_of_sources()
    (tmp_path / "small.py").write_bytes((tmp_path / "small.py").read_bytes() + b"#")
    assert digest_of_sources() != before


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_is_heard_while_it_is_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is said that it is compiled; then Ctrl-C ends the other process, although that would go on for an hour."""
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 3600\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(engine.sys, "executable", str(slow))
    said: list[str] = []

    def hear(text: str) -> None:
        said.append(text)
        signal.raise_signal(signal.SIGINT)

    with interruptible(), compiling.heard(hear):
        assert not engine.compile_elsewhere("walk")
    assert said == ["compiling, once on this machine ...\n"]


def test_a_ray_that_is_not_proved_is_not_bisected() -> None:
    """One column: a cone has one generator and no edge. Where theta is not feasible there, the walk is stuck."""
    one = setting(unlisted_relu(((F(1),), (F(2),)), (F(1), F(1))))
    weights = weights_of(one.data.lines, one.y, 1)
    side = side_of(weights, coarse(weights, F(1), 0), one.frame, [])
    ties = engine_ties(one.data, (), weights, side, 1, ())
    codes = [grow(RootTask(1, side, ties, cone), 100, np.inf).code for cone in roots(one.data.basis)]
    assert sorted(codes) == [DONE, STUCK]
