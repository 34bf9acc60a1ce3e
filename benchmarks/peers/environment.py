"""Environments for peers whose dependencies would quarrel with ours, made by pip in a cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCRIPT = Path(__file__).with_name("run_peer.py")
PACKAGES = {
    "celer": ["celer"],
    "skglm": ["skglm"],
    "adelie": ["adelie", "numpy<2"],
    "scnn": ["pyscnn"],
}


@dataclass(frozen=True)
class Attempt:
    """One run of a peer: its tolerance, its time, and the weights it found (patterns x d, xi = +1 then -1 for ReLU)."""

    tol: float
    seconds: float
    W: NDArray[np.float64]


def python_of(peer: str) -> Path | None:
    """The interpreter that has the peer: this one, or that of its own environment; None where it cannot be
    installed."""
    if find_spec(peer) is not None:
        return Path(sys.executable)
    home = Path(os.environ.get("RELU_CERT_PEERS", Path(tempfile.gettempdir()) / "relu_cert_peers")) / peer
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = home / "installed"
    if not done.exists():
        print(f"installing {peer} into {home} ...", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        made = subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES[peer]], capture_output=True, check=False)
        if made.returncode:
            print(made.stderr.decode()[-500:], file=sys.stderr)
            return None
        done.touch()
    return python


def run(
    peer: str, model: str, Z: NDArray[np.float64], D: NDArray[np.bool_], U: NDArray[np.float64],
    y: NDArray[np.float64], lam: float, tols: list[float], limit: float,
) -> list[Attempt]:  # fmt: skip
    """Run a peer at several tolerances, one after the other, until `limit` seconds are over. Its time is taken in
    its own process, around its own call, after a warm-up on a small problem."""
    return _attempts(peer, model, Z=Z, D=D, U=U, y=y, lam=lam, tols=tols, limit=limit)


def run_lasso(
    peer: str, X: NDArray[np.float64], y: NDArray[np.float64], size: int, lam: float, tols: list[float], limit: float
) -> list[Attempt]:
    """The same for a group lasso with groups of one size; W has the coefficients."""
    return _attempts(peer, "lasso", X=X, y=y, size=size, lam=lam, tols=tols, limit=limit)


def _attempts(peer: str, model: str, **given: Any) -> list[Attempt]:
    python, limit = python_of(peer), given["limit"]
    if python is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        source, found = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **given)
        command = [str(part) for part in (python, SCRIPT, peer, model, source, found)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=60 + 4 * limit)
            if done.returncode:
                print(f"{peer}: {done.stderr.decode()[-500:]}", file=sys.stderr)
        except subprocess.TimeoutExpired:
            print(f"{peer}: stopped after {60 + 4 * limit:.0f} seconds", file=sys.stderr)
        if not found.exists():
            return []
        with np.load(found) as out:
            return [
                Attempt(float(t), float(s), W) for t, s, W in zip(out["tols"], out["seconds"], out["W"], strict=True)
            ]
