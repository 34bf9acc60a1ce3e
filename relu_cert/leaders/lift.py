"""Multipliers that were found with the first few principal directions of the rows, made to hold in all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relu_cert.leaders.bound import Multipliers, bound
from relu_cert.leaders.cells import Cell, Floats
from relu_cert.leaders.interior import Proof
from relu_cert.leaders.loss import Loss

SHARES = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # tried for the mass of the other directions


def lift(proof: Proof, rows: Floats, top: int, loss: Loss, lam: float) -> Proof:
    """theta and the same multipliers with the whole rows; c makes room for what the other directions add to v_l, as if
    u were spread evenly over them, and theta is scaled until (*) holds."""
    d = rows.shape[1]
    norm = [np.append(c.norm, np.ones(d - top)) for c in proof.cells]
    cells = tuple(
        replace(c, Z=rows, A=np.zeros((0, d)), centre=np.zeros(d), norm=own)
        for c, own in zip(proof.cells, norm, strict=True)
    )
    best = [_best(cell, proof.theta, by, top) for cell, by in zip(cells, proof.multipliers, strict=True)]
    s, value = loss.best_scale(proof.theta, lam / max(b for b, _ in best))
    return Proof(s * proof.theta, cells, tuple(by.scaled(s) for _, by in best), value)


def _best(cell: Cell, theta: Floats, by: Multipliers, top: int) -> tuple[float, Multipliers]:
    """The multipliers with the best share of the other directions, and their bound."""
    pulled = np.einsum("lk,lkd->ld", by.w * cell.side, cell.F[cell.near][:, :, top:])
    v = np.maximum(cell.xi * theta[cell.L], 0)[:, None] * cell.Z[cell.L][:, top:] - pulled
    spread = (v**2).mean(axis=1)
    tried = [replace(by, c=np.sqrt(by.c**2 + share * spread)) for share in SHARES]
    return min(((bound(cell, theta, one), one) for one in tried), key=lambda pair: pair[0])
