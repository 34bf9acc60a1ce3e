"""The work of a proof in a file: going on gives what a run without a break gives."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relu_cert.bags import Bags
from relu_cert.cover import build
from relu_cert.cover.limits import Limits
from relu_cert.cover.prover import Covered, Exhausted, Prover
from relu_cert.cover.setting import setting
from relu_cert.cover.state import opened
from relu_cert.errors import UsageError
from relu_cert.problem import Problem, unlisted_relu
from relu_cert.problem.loss import LOGISTIC

pytestmark = pytest.mark.long

F = Fraction
LAM = F(2)
ROOT = Path(__file__).parents[2]


def data(n: int = 60) -> Problem:
    """Points in three dimensions with random labels."""
    rng = np.random.default_rng(3)
    Z = tuple(tuple(F(int(x), 100) for x in row) for row in rng.integers(-300, 300, (n, 3)))
    return unlisted_relu(Z, tuple(F(int(x)) for x in rng.choice([-1, 1], n)))


def found(limits: Limits, lam: Fraction = LAM) -> Covered | None:
    """What the limits allow, or None where nothing was proved."""
    try:
        return Prover(setting(data()), lam, limits, lambda moment: None).run()
    except Exhausted:
        return None


def test_a_proof_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped by a limit of nodes many times, and each time gone on with from the file: the same evidence, byte for
    byte, as of a run without a break; open cones are kept, not only finished ones."""
    monkeypatch.setattr(build, "CHUNK", 20)
    whole, path = found(Limits()), tmp_path / "state.npz"
    assert whole is not None
    assert not whole.reason
    breaks = opens = 0
    for nodes in range(30, 10_000, 60):
        one = found(Limits(nodes=nodes, state=path))
        if one is not None and not one.reason:
            assert one == whole
            break
        breaks += 1
        opens += bool(opened(path, data(), LAM).rests)
    else:
        pytest.fail("it never ends")
    assert breaks > 3
    assert opens > 3
    again = found(Limits(nodes=1, state=path))  # all is in the file: no node is left to do
    assert again == whole


def test_processes_go_on_with_what_one_process_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open cones of a run in one process are finished by two."""
    path = tmp_path / "state.npz"
    with monkeypatch.context() as few:
        few.setattr(build, "CHUNK", 20)
        found(Limits(nodes=100, state=path))
    assert opened(path, data(), LAM).rests
    assert found(Limits(jobs=2, state=path)) == found(Limits())


def test_without_a_break_the_evidence_is_the_same(tmp_path: Path) -> None:
    """A file for the state changes nothing."""
    assert found(Limits(state=tmp_path / "state.npz")) == found(Limits())


def test_a_state_of_another_problem_is_refused(tmp_path: Path) -> None:
    """Other data, another lambda, another loss, another version and any other file: each with a sentence."""
    path = tmp_path / "state.npz"
    assert found(Limits(state=path)) is not None
    problem = data()
    state = opened(path, problem, LAM)
    assert state.network is not None
    assert state.ends
    with pytest.raises(UsageError, match=r"state.npz is the state of a proof for lambda = 2, not 3; choose another"):
        opened(path, problem, F(3))
    pairs = Bags(60, (F(1, 2),) * 60, tuple((k, (k + 1) % 60) for k in range(60)), ((1, 1),) * 60)
    others: list[dict[str, Any]] = [
        {"y": tuple(-t for t in problem.y)},
        {"loss": LOGISTIC},
        {"free": ("output-bias",)},
        {"network": replace(problem.relu, bags=pairs)},
    ]
    for other in (data(59), *(replace(problem, **one) for one in others)):
        with pytest.raises(UsageError, match="other data, or another objective"):
            opened(path, other, LAM)
    state.about["version"] = 0
    state.write()
    with pytest.raises(UsageError, match="another version"):
        opened(path, problem, LAM)
    whole = path.read_bytes()
    for raw in (b"", b"x1,x2\n", whole[: len(whole) // 2], whole[:200] + bytes(100) + whole[300:]):
        path.write_bytes(raw)
        with pytest.raises(UsageError, match="cannot be read as the state of a proof"):
            opened(path, problem, LAM)


CODE = """
import os, signal, sys
from relu_cert.cover import build, state
build.CHUNK, state.SLICE, state.SHARE = 20, 0.0, 0.0
writes, write = 0, state.State.write
def counted(self):
    global writes
    write(self)
    writes += 1
    if writes == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
state.State.write = counted
from relu_cert.cli import main
sys.exit(main(sys.argv[2:]))
"""


def test_killed_half_way_and_gone_on_with(tmp_path: Path) -> None:
    """`check --state` is killed after some writes, three times; the same command then writes the certificate that it
    writes without all that."""
    problem = data(170)
    pairs = zip(problem.relu.Z, problem.y, strict=True)
    rows = [",".join(str(float(x)) for x in (*z, t)) for z, t in pairs]
    (tmp_path / "points.csv").write_text("\n".join(["a,b,c,y", *rows, ""]))

    def run(kill: int, name: str, *more: str) -> int:
        places = (str(tmp_path / "points.csv"), "--certificate", str(tmp_path / name))
        one = [sys.executable, "-c", CODE, str(kill), "check", "--claims", "optimal", *places, *more]
        return subprocess.run(one, cwd=ROOT, capture_output=True, check=False).returncode

    state = ("--state", str(tmp_path / "state.npz"))
    assert run(0, "whole.json") == 0
    for kill in (3, 5, 4):
        assert run(kill, "state.json", *state) == -signal.SIGKILL
        assert not (tmp_path / "state.json").exists()
    assert run(0, "state.json", *state) == 0
    assert (tmp_path / "state.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["points.csv", "state.json", "state.npz", "whole.json"]


def test_a_file_of_the_user_is_not_replaced(tmp_path: Path) -> None:
    """--state names a state, or nothing yet; the data and other files are refused before any work."""
    from relu_cert.cli import main

    (tmp_path / "points.csv").write_text("a,y\n1,1\n2,1\n")
    (tmp_path / "notes.txt").write_text("mine")
    for name in ("points.csv", "notes.txt"):
        assert main(["check", str(tmp_path / "points.csv"), "--state", str(tmp_path / name)]) == 64
    assert (tmp_path / "notes.txt").read_text() == "mine"
