"""Kernel dependences: sum_s kappa_s Pi G_s Pi = 0 with sum kappa_s = 0, an exact identity of rational matrices.

Then sum kappa_s q_s is in L and sum kappa_s |v_s|^2 = 0 for every residual orthogonal to L: outputs are dependent and
ties are exact whatever the residual is (the cube that refutes prop:relu-unique, on an open set of data). Floats choose
superclasses that have positive masses together; the others are mixtures of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Vector, column, to_fraction
from relu_cert.prove.classes import ClassMap
from relu_cert.prove.projection import floats
from relu_cert.prove.split import null_space

MOST_ENTRIES = 400_000  # superclasses times entries of a kernel

Groups = tuple[tuple[int, ...], ...]
Mixed = tuple[tuple[int, Vector], ...]


def mixtures(
    maps: Sequence[ClassMap], groups: Groups, Pi: fmpq_mat, Q: fmpq_mat, fit: Sequence[Fraction]
) -> tuple[Groups, Mixed] | None:
    """The superclasses that are left, and the classes of the others as mixtures of them; None without a dependence."""
    n = Pi.nrows()
    if len(groups) * n * n > MOST_ENTRIES:
        return None
    K = _dependences([Pi * maps[group[0]].B() for group in groups])
    if K is None:
        return None
    outputs = floats(Pi) @ floats(Q)[:, [group[0] for group in groups]]
    extra = _idle(outputs, floats(Pi * column(fit))[:, 0], floats(K))
    if extra is None:
        return None
    chosen = fmpq_mat([[K[e, j] for j in range(K.ncols())] for e in extra])
    try:
        shares = (K * chosen.inv()).tolist()  # column i: kappa with kappa = 1 at the i-th extra one, 0 at the others
    except ZeroDivisionError:
        return None
    base = [s for s in range(len(groups)) if s not in extra]
    betas = {e: tuple(to_fraction(-shares[s][i]) for s in base) for i, e in enumerate(extra)}
    mixed = sorted((a, betas[e]) for e in extra for a in groups[e])
    return tuple(groups[s] for s in base), tuple(mixed)


def _dependences(kernels: Sequence[fmpq_mat]) -> fmpq_mat | None:
    """A basis of {kappa : sum_s kappa_s B_s B_s' = 0, sum_s kappa_s = 0} as columns; None if it is empty."""
    rows = [[*(B * B.transpose()).entries(), fmpq(1)] for B in kernels]
    basis = null_space(fmpq_mat(rows).transpose())
    return fmpq_mat([kappa.entries() for kappa in basis]).transpose() if basis else None


def _idle(outputs: NDArray[np.float64], fit: NDArray[np.float64], K: NDArray[np.float64]) -> list[int] | None:
    """Superclasses, as many as there are dependences, that are zero at a vertex of {A >= 0 : outputs A = fit}."""
    from scipy.optimize import linprog

    A = np.linalg.lstsq(outputs, fit, rcond=None)[0]
    size = max(float(np.abs(A).max()), 1e-300)
    count = K.shape[1]
    scale = np.abs(K).max(axis=0)
    direction = np.cos(np.arange(1, count + 1))  # any one that is not orthogonal to an edge
    found = linprog(direction, A_ub=-K / scale, b_ub=A / size, bounds=[(None, None)] * count, method="highs-ds")
    if found.x is None:
        return None
    left = A / size + (K / scale) @ found.x
    return sorted(int(s) for s in np.argsort(left)[:count])
