"""Ctrl-C during a long proof: the best answer so far comes back, with a certificate that the checker accepts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import verify
from relu_cert import clock as interrupt
from relu_cert.clock import interrupted

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def gaussian(n: int, d: int) -> bytes:
    """Random data with labels."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((n, d)), rng.choice([-1, 1], n)
    rows = [",".join(f"{x:.2f}" for x in z) + f",{t}" for z, t in zip(Z, y, strict=True)]
    return "\n".join([",".join([*(f"x{j}" for j in range(d)), "y"]), *rows, ""]).encode()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("d", "stage"), [(8, "prove"), (30, "train"), (30, "leaders")])
def test_an_interrupt_gives_what_is_proved(tmp_path: Path, d: int, stage: str) -> None:
    """SIGINT while the cover grows, while a network is trained, while the leaders work: exit code 0, a proved interval,
    the word, an accepted certificate; long before its time is over."""
    raw = gaussian(80, d)
    (tmp_path / "d.csv").write_bytes(raw)
    command = [sys.executable, "-c", WATCHED, stage, "check", "d.csv", "--seconds", "3000", "--lambda-ratio", "1/5"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    found = json.loads(out)
    assert found["interrupted"] is True
    assert 0 < Fraction(found["value"]["lower"]) < Fraction(found["value"]["upper"])
    lines = verify.check((tmp_path / "d.cert.json").read_bytes(), raw)
    assert {line.claim: line.verdict for line in lines}["fit"] == "PROVED"
    undecided = [c["detail"] for c in found["claims"] if c["verdict"] == "UNDECIDED"]
    assert undecided and all("interrupted" in detail for detail in undecided)


# The program itself, but for a log that sends SIGINT to its own process when the stage is told of.
WATCHED = """
import os, signal, sys
stage = sys.argv.pop(1)
from relu_cert.cli import main
from relu_cert.report.progress import Progress
told = Progress.tell
def tell(self, moment):
    told(self, moment)
    if moment.stage == stage and moment.neurons and not tell.sent:
        tell.sent = True
        os.kill(os.getpid(), signal.SIGINT)
tell.sent = False
Progress.tell = tell
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_of_several_processes(tmp_path: Path) -> None:
    """Ctrl-C on a terminal reaches the whole group: the processes end, the program answers with what it has."""
    raw = gaussian(80, 8)
    (tmp_path / "d.csv").write_bytes(raw)
    command = [sys.executable, "-m", "relu_cert", "check", "d.csv", "--seconds", "3000", "--lambda-ratio", "1/5"]
    process = subprocess.Popen(
        [*command, "--jobs", "2", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        start_new_session=True,
    )
    said = ""
    try:
        assert process.stderr is not None
        while " prove " not in said:
            said = process.stderr.readline()
            assert said, "it ended before it was interrupted"
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0
    found = json.loads(out)
    assert found["interrupted"] is True and Fraction(found["value"]["lower"]) > 0
    verify.check((tmp_path / "d.cert.json").read_bytes(), raw)


@pytest.mark.usefixtures("interruptible")
def test_a_second_interrupt_ends_it() -> None:
    """The first one is heard, the second one is a KeyboardInterrupt; afterwards all is as before."""
    with pytest.raises(KeyboardInterrupt), interrupt.interruptible():
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        signal.raise_signal(signal.SIGINT)
    assert not interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_change_nothing() -> None:
    """Only the main thread hears signals."""
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with interrupt.interruptible():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
