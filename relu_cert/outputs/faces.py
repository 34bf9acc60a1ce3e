"""Neurons exactly on faces: on the sphere, where rows at which they are zero are held there.

Where rows are many nearly all optimal neurons are zero at some of them, most at as many as they can be (vertices). On a
face F(u) = L'u, so that its maximum is the top singular vector of L there. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from relu_cert.outputs.ascent import Floats, alike, sizes, unit

WIDTHS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)  # of the rows that may be on a face
EXACTLY = 1e-11
DEPENDENT = 1e-6  # singular values of unit rows below which they are dependent
SAME_DIRECTION = 1e-9


@dataclass(frozen=True)
class Face:
    """The rows at which a neuron is zero, those at which it is on, a basis (columns) of the vectors that are zero where
    it is, orthonormal in what lengths see, and what takes vectors to their coordinates."""

    zero: NDArray[np.bool_]
    on: NDArray[np.bool_]
    basis: Floats
    inverse: Floats
    biased: bool = False


def face_of(Z: Floats, lengths: Floats, w: Floats, zero: NDArray[np.bool_], biased: bool = False) -> Face:
    """The face of a vector that is to be zero at these rows; a bias is there where some row is zero."""
    basis = np.eye(len(w))
    if biased and not zero.any():
        zero = np.arange(len(Z)) == (np.abs(Z @ w) / lengths).argmin()
    if zero.any():
        _, s, axes = np.linalg.svd(Z[zero] / np.maximum(lengths[zero, None], 1e-300), full_matrices=True)
        basis = axes[int((s > DEPENDENT).sum()) :].T
    on = (Z @ w > 0) & ~zero
    if not biased:
        return Face(zero, on, basis, basis.T)
    R = np.linalg.qr(basis[:-1])[1]
    return Face(zero, on, np.linalg.solve(R.T, basis.T).T, R @ basis.T, biased)


def face_at(Z: Floats, lengths: Floats, w: Floats, width: float = EXACTLY, biased: bool = False) -> Face:
    """The face of a vector, with the rows at which it is zero up to a width."""
    return face_of(Z, lengths, w, np.abs(Z @ w) <= width * float(np.linalg.norm(w)) * lengths, biased)


def peak(Z: Floats, lengths: Floats, T: Floats, u: Floats, biased: bool = False) -> Floats:
    """The best of the maxima of |F| on the faces on which u nearly lies; u itself if none is better."""
    best, value, seen = u, float(sizes(Z, T, u[None])[0]) * (1 - 1e-14), -1
    for width in WIDTHS:
        face = face_at(Z, lengths, u, width, biased)
        if not face.basis.shape[1] or (count := int(face.zero.sum())) == seen:
            continue
        seen = count
        v = face.basis @ np.linalg.svd(face.basis.T @ (Z[face.on].T @ T[face.on]))[0][:, 0]
        v *= 1.0 if face.inverse @ v @ (face.inverse @ u) > 0 else -1.0
        if (there := float(sizes(Z, T, v[None])[0])) > value:
            best, value = v, there * (1 + 1e-14)
    return best


def peaks(Z: Floats, T: Floats, U: Floats, biased: bool = False) -> tuple[Floats, Floats]:
    """Maxima of |F| near these directions, on their faces, each once, and their values."""
    lengths, kept = np.linalg.norm(Z, axis=1), np.zeros((0, Z.shape[1]))
    for u in unit(U, biased):
        v = peak(Z, lengths, T, u, biased)
        if alike(kept, v[None]).min(initial=1.0) > SAME_DIRECTION:
            kept = np.vstack([kept, v])
    return kept, sizes(Z, T, kept)


def stopped(
    Z: Floats, lengths: Floats, face: Face, w: Floats, to: Floats, back: NDArray[np.bool_]
) -> tuple[Floats, Face]:
    """Where a neuron comes to on its way, and its face there: at the first row that it would cross and that holds it
    `back`, it stays."""
    if face.basis.shape[1] < 2:
        return to, face
    before, after = Z @ w, Z @ to
    crossed = (before * after < 0) & ~face.zero
    if not crossed.any():
        return to, face
    zero = face.zero
    if len(holds := np.flatnonzero(crossed & back)):
        parts = before[holds] / (before[holds] - after[holds])
        to = w + parts.min() * (to - w)
        zero = zero.copy()
        zero[holds[parts.argmin()]] = True
    there = face_of(Z, lengths, to, zero, face.biased)
    return there.basis @ (there.inverse @ to), there


class Model(Protocol):
    """The loss of a network whose neurons stay on the pieces of their faces, w_j = B_j x_j."""

    def equations(self, x: Floats, V: Floats) -> tuple[Floats, Floats]:
        """The gradient in all x and V, and its derivative."""


def owners(faces: Sequence[Face]) -> NDArray[np.int64]:
    """The neuron of each entry of x."""
    return np.repeat(np.arange(len(faces)), [face.basis.shape[1] for face in faces])


def firsts(own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the entries of each neuron begin."""
    return np.flatnonzero(np.diff(own, prepend=-1))


@dataclass(frozen=True)
class Squares:
    """1/2 |sum_j A_j x_j v_j' - Y|^2, in products."""

    AA: Floats
    AY: Floats
    own: NDArray[np.int64]

    def equations(self, x: Floats, V: Floats) -> tuple[Floats, Floats]:
        """The gradient in all x and V, and its derivative."""
        m, C, D, own, first = len(V), V.shape[1], len(x), self.own, firsts(self.own)
        X = self.AA @ (x[:, None] * V[own]) - self.AY
        AS = np.add.reduceat(self.AA * x, first, axis=1)
        SS = np.add.reduceat(x[:, None] * AS, first, axis=0)
        gV = np.add.reduceat(x[:, None] * X, first, axis=0)
        g = np.concatenate([(X * V[own]).sum(axis=1), gV.ravel()])
        H = np.empty((len(g), len(g)))
        H[:D, :D] = self.AA * (V @ V.T)[np.ix_(own, own)]
        cross = AS[:, :, None] * V[own][:, None, :]
        cross[np.arange(D), own] += X
        H[:D, D:] = cross.reshape(D, m * C)
        H[D:, :D] = H[:D, D:].T
        H[D:, D:] = np.kron(SS, np.eye(C))
        return g, H
