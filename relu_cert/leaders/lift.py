"""Multipliers that were found with the first few directions of the rows, made to hold in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relu_cert.leaders.bound import LeadersLoss, Multipliers, bound, form, smallest
from relu_cert.leaders.cells import Cell, Floats
from relu_cert.leaders.interior import LeadersProof

SHARES = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # tried for the mass of the other directions
POWER = 4  # of what is nearest to the bound, before it is summed over the cells


def lift(proof: LeadersProof, cells: Sequence[Cell], loss: LeadersLoss, lam: float) -> LeadersProof:
    """theta and the same multipliers on the `cells` with whole rows; c makes room for what the other directions add to
    v_l, as if u were spread evenly over them, and theta is scaled until (*) holds."""
    top = proof.cells[0].Z.shape[1]
    pairs = zip(cells, proof.cells, strict=True)
    grown = tuple(replace(one, near=c.near, side=c.side, used=c.used) for one, c in pairs)
    t = loss.bags.spread_floats(proof.theta)
    best = [_best(cell, t, by, top) for cell, by in zip(grown, proof.multipliers, strict=True)]
    s, value = loss.best_scale(proof.theta, lam / max(b for b, _ in best))
    return LeadersProof(s * proof.theta, grown, tuple(by.scaled(s) for _, by in best), value, proof.points)


def telling(proof: LeadersProof, loss: LeadersLoss) -> Floats:
    """Orthonormal columns, those first in which the proof has least room: where beta.u + u'Qu is largest. They hold the
    u that count, and those that a proof with few directions did not see. What the norm does not see stays, as it is."""
    seen = np.flatnonzero(proof.cells[0].norm)
    total, t = np.zeros((len(seen), len(seen))), loss.bags.spread_floats(proof.theta)
    for cell, by in zip(proof.cells, proof.multipliers, strict=True):
        _, beta, Q = form(cell, t, by)
        beta, Q = beta[seen], Q[np.ix_(seen, seen)]
        sigma, nu = smallest(beta, Q)
        values, V = np.linalg.eigh(Q + np.outer(beta, beta) / max(4 * sigma, 1e-300))
        total += (V * np.maximum(values / nu, 0) ** POWER) @ V.T
    basis = np.eye(len(proof.cells[0].norm))
    basis[np.ix_(seen, seen)] = np.linalg.eigh(total)[1][:, ::-1]
    return basis


def _best(cell: Cell, theta: Floats, by: Multipliers, top: int) -> tuple[float, Multipliers]:
    """The multipliers with the best share of the other directions, and their bound."""
    pulled = np.einsum("lk,lkd->ld", by.w * cell.side, cell.F[cell.near][:, :, top:])
    v = np.maximum(cell.xi * theta[cell.L], 0)[:, None] * cell.Z[cell.L][:, top:] - pulled
    spread = (v**2).mean(axis=1)
    tried = [replace(by, c=np.sqrt(by.c**2 + share * spread)) for share in SHARES]
    return min(((bound(cell, theta, one), one) for one in tried), key=lambda pair: pair[0])
