"""The whole program of a direct problem by an interior-point method: where Newton's faces run in circles.

    min 1/2|r|^2 + lambda sum_b t_b    subject to    sum_b X_b w_b + r = y,   K_b'w_b <= 0,   |w_b| <= t_b

Its answer is good to some nine digits; Newton's method goes on from there.
"""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from relu_cert.solve.prepare import BlockArrays
from relu_cert.solve.solution import Floats, Neuron


def interior_point(arrays: BlockArrays, y: Floats, lam: float) -> list[Neuron]:
    """Neurons near the optimum, not necessarily inside their cones to the last bit."""
    sizes = [X.shape[1] for X in arrays.X]
    W, B, n = sum(sizes), len(sizes), len(y)
    starts = np.cumsum([0, *sizes])
    quadratic = sparse.diags(np.concatenate([np.zeros(W + B), np.ones(n)])).tocsc()
    linear = np.concatenate([np.zeros(W), np.full(B, lam), np.zeros(n)])
    fit = sparse.hstack([sparse.csr_matrix(np.concatenate(arrays.X, axis=1)), sparse.csr_matrix((n, B)), sparse.eye(n)])
    cones = [sparse.csr_matrix(K) for K in arrays.K]
    rows = sum(len(K) for K in arrays.K)
    inside = sparse.hstack([sparse.block_diag(cones), sparse.csr_matrix((rows, B + n))])
    bounds = sparse.lil_matrix((W + B, W + B + n))
    row = 0
    for b, size in enumerate(sizes):
        bounds[row, W + b] = -1.0
        for j in range(size):
            bounds[row + 1 + j, starts[b] + j] = -1.0
        row += 1 + size
    A = sparse.csc_matrix(sparse.vstack([fit, inside, bounds]))
    kinds = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(rows)]
    kinds += [clarabel.SecondOrderConeT(1 + size) for size in sizes]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    found = clarabel.DefaultSolver(
        quadratic, linear, A, np.concatenate([y, np.zeros(rows + W + B)]), kinds, settings
    ).solve()
    w = np.array(found.x[:W])
    if not np.isfinite(w).all():
        return []
    parts = [Neuron(1, b, w[starts[b] : starts[b + 1]]) for b in range(B)]
    largest = max((float(p.w @ p.w) for p in parts), default=0.0)
    return [p for p in parts if p.w @ p.w > 1e-16 * largest]
