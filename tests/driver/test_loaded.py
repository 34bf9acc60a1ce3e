"""What answering a question loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = "import sys; from relu_cert.cli import main; main(sys.argv[1:]); print(*sys.modules)"


def test_small_data_wait_for_nothing_that_they_do_not_need(tmp_path: Path) -> None:
    """All claims about four points are decided and re-checked without the compiler and a library of graphs."""
    command = ("check", "--example", "xor", "--certificate", str(tmp_path / "xor.json"))
    ran = subprocess.run([sys.executable, "-c", CODE, *command], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "relu_cert.driver.optimum" in loaded
    assert not loaded & {"numba", "networkx", "sympy", "cvxpy", "relu_cert.cover.compiled", "relu_cert.leaders.find"}
