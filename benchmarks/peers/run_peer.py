"""Run one peer inside its own environment: run_peer.py PEER MODEL IN.npz OUT.npz

IN has Z (n x d), the patterns D (p x n) with witnesses U (p x d), y, lam, tols and limit. The problem is
1/2|sum_D D Z w_D - y|^2 + lam sum |w_D|; the peers divide the loss by n, so they get lam / n.
OUT has for each tolerance that was tried the time of the call and the weights (p x d; 2p x d for ReLU).
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

Array = Any


def design(Z: Array, D: Array) -> Array:
    """All D Z side by side."""
    return np.asfortranarray((D.T[:, :, None] * Z[:, None, :]).reshape(len(Z), -1))


def celer(Z: Array, D: Array, U: Array, y: Array, lam: float, tol: float, model: str) -> tuple[float, Array]:
    """celer.GroupLasso"""
    from celer import GroupLasso

    X = design(Z, D)
    solver = GroupLasso(Z.shape[1], lam / len(y), max_iter=500, tol=tol, fit_intercept=False)
    began = time.process_time()
    solver.fit(X, y)
    return time.process_time() - began, solver.coef_.reshape(len(D), -1)


def skglm(Z: Array, D: Array, U: Array, y: Array, lam: float, tol: float, model: str) -> tuple[float, Array]:
    """skglm.GroupLasso"""
    from skglm import GroupLasso

    X = design(Z, D)
    solver = GroupLasso(Z.shape[1], lam / len(y), max_iter=500, tol=tol, fit_intercept=False)
    began = time.process_time()
    solver.fit(X, y)
    return time.process_time() - began, np.asarray(solver.coef_).reshape(len(D), -1)


def adelie(Z: Array, D: Array, U: Array, y: Array, lam: float, tol: float, model: str) -> tuple[float, Array]:
    """adelie.grpnet"""
    import adelie as ad

    X = design(Z, D)
    groups = np.arange(len(D)) * Z.shape[1]
    began = time.process_time()
    state = ad.grpnet(
        X, ad.glm.gaussian(y), groups=groups, penalty=np.ones(len(D)), lmda_path=np.array([lam / len(y)]),
        tol=tol, newton_tol=1e-14, adev_tol=1.0, intercept=False, early_exit=False, progress_bar=False,
    )  # fmt: skip
    seconds = time.process_time() - began
    return seconds, np.asarray(state.betas.toarray())[-1].reshape(len(D), -1)


def scnn(Z: Array, D: Array, U: Array, y: Array, lam: float, tol: float, model: str) -> tuple[float, Array]:
    """scnn: accelerated proximal gradients (gated), augmented Lagrangian (ReLU)."""
    from scnn.metrics import Metrics
    from scnn.models import ConvexGatedReLU, ConvexReLU
    from scnn.optimize import optimize_model
    from scnn.regularizers import NeuronGL1
    from scnn.solvers import AL, RFISTA

    gates = U.T.copy()
    net = ConvexGatedReLU(gates) if model == "gated" else ConvexReLU(gates)
    if model == "gated":
        solver = RFISTA(net, tol=tol, max_iters=20000)
    else:
        solver = AL(net, 3000, 100, tol=tol, constraint_tol=tol)
    began = time.process_time()
    net, _ = optimize_model(
        net, solver, Metrics(), Z, y, regularizer=NeuronGL1(lam / len(y)), return_convex=True, unitize_data=False,
        dtype="float64",
    )  # fmt: skip
    seconds = time.process_time() - began
    return seconds, by_pattern(Z, D, net.G.T, [p[0] for p in net.parameters])


def by_pattern(Z: Array, D: Array, gates: Array, parts: list[Array]) -> Array:
    """Weights in the order of D; the peer may have reordered or merged its gates."""
    place = {row.tobytes(): i for i, row in enumerate(np.packbits(D.astype(bool), axis=1))}
    W = np.zeros((len(parts), len(D), Z.shape[1]))
    for j, gate in enumerate(np.packbits(gates @ Z.T > 0, axis=1)):
        i = place.get(gate.tobytes())
        if i is None:
            raise ValueError("a gate that is no pattern")
        for part, weights in enumerate(parts):
            W[part, i] += weights[j]
    return W.reshape(-1, Z.shape[1])


PEERS = {"celer": celer, "skglm": skglm, "adelie": adelie, "scnn": scnn}


def group_lasso(X: Array, y: Array, size: int, lam: float, tol: float) -> tuple[float, Array]:
    """celer.GroupLasso on a group lasso that is given directly: the best of three runs."""
    from celer import GroupLasso

    best, X = float("inf"), np.asfortranarray(X)
    for _ in range(3):
        solver = GroupLasso(size, lam / len(y), max_iter=500, tol=tol, fit_intercept=False)
        began = time.process_time()
        solver.fit(X, y)
        best = min(best, time.process_time() - began)
    return best, solver.coef_


def main() -> None:
    """Warm up, then try the tolerances in order until the time is over."""
    warnings.simplefilter("ignore")
    peer, model, given, found = sys.argv[1:]
    with np.load(given) as data:
        if model == "lasso":
            X, y, size, lam = data["X"], data["y"], int(data["size"]), float(data["lam"])
            group_lasso(X, y, size, lam, 1e-3)
            record(lambda tol: group_lasso(X, y, size, lam, tol), data["tols"].tolist(), float(data["limit"]), found)
            return
        Z, D, U, y, lam = data["Z"], data["D"].astype(float), data["U"], data["y"], float(data["lam"])
        tols, limit = data["tols"].tolist(), float(data["limit"])
    call = PEERS[peer]
    call(Z, D[:5], U[:5], y, lam, 1e-3, model)
    record(lambda tol: call(Z, D, U, y, lam, tol, model), tols, limit, found)


def record(run: Any, tols: list[float], limit: float, found: str) -> None:
    """Try the tolerances in order until the time is over."""
    seconds, weights, tried = [], [], []
    for tol in tols:
        elapsed, W = run(tol)
        seconds.append(elapsed)
        weights.append(W)
        tried.append(tol)
        np.savez(found + ".part.npz", tols=tried, seconds=seconds, W=np.array(weights))
        Path(found + ".part.npz").replace(found)  # what is done stays done, should the next one never end
        if sum(seconds) > limit:
            break


if __name__ == "__main__":
    main()
