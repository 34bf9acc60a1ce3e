"""The oracle of blocks that are given directly, each with its own X_b and its own cone {u : K_b'u <= 0}.

Most blocks are not projected: |X_b'r| bounds the price of a block, and so does |X_b'r - K_b rho| for any rho >= 0, of
which the last one is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relu_cert.solve.cones import Cones, Projected
from relu_cert.solve.prepare import BlockArrays, Floats, Neuron, Numbers, ResidualFace, add_blocks
from relu_cert.solve.shortest import shortest

_MOST = 120  # faces in a round


@dataclass(frozen=True)
class Priced:
    """A block at a residual: rho >= 0, v = X_b'r - K_b rho, |v|, and the rows with rho > 0. v is the projection where
    |v| is above what was enough."""

    rho: Floats
    v: Floats
    norm: float
    kinks: tuple[int, ...]


class BlockOracle:
    """Blocks given directly, each with its own cone, and the last rho of each."""

    def __init__(self, arrays: BlockArrays) -> None:
        self.arrays = arrays
        widths = [X.shape[1] for X in arrays.X]
        self._X = np.concatenate(arrays.X, axis=1) if widths else np.zeros((0, 0))
        self._ends = np.cumsum(widths)[:-1]
        self._starts = np.cumsum([0, *widths[:-1]])
        self._eyes = {width: np.eye(width) for width in set(widths)}
        self._last: dict[int, Priced] = {}

    def price(self, r: Floats, enough: float) -> tuple[float, list[ResidualFace]]:
        """|Proj_{C_b}(X_b'r)| of every block."""
        if not self.arrays.X:
            return 0.0, []
        c = self._X.T @ r
        norms = np.sqrt(np.add.reduceat(c * c, self._starts))
        parts = np.split(c, self._ends)
        priced = {b: self._project(b, parts[b], enough) for b in np.flatnonzero(norms > enough).tolist()}
        for b, found in priced.items():
            norms[b] = found.norm
        hot = [b for b in np.argsort(-norms)[:_MOST].tolist() if norms[b] > enough]
        return float(norms.max()), [self._face(b, priced[b]) for b in hot]

    def follow(self, neurons: Sequence[Neuron], r: Floats) -> list[ResidualFace]:
        """The face of each block at r."""
        blocks = dict.fromkeys(neuron.block for neuron in neurons if neuron.block is not None)
        found = {b: self._project(b, self.arrays.X[b].T @ r, 0.0) for b in blocks}
        return [self._face(b, priced) for b, priced in found.items() if priced.v.any()]

    def outputs(self, neurons: Sequence[Neuron]) -> Floats:
        """X_b w"""
        n = len(self.arrays.X[0]) if self.arrays.X else 0
        return np.array([self.arrays.X[neuron.block or 0] @ neuron.w for neuron in neurons]).reshape(-1, n).T

    def inside(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Proj_{C_b}(w)"""
        result = []
        for neuron in neurons:
            if not len(self.arrays.K[neuron.block or 0]):
                result.append(Neuron(1, neuron.block, neuron.w))
                continue
            w = project_on_block(neuron.w, self.arrays.K[neuron.block or 0], 0.0).v
            if w @ w > 1e-12 * (neuron.w @ neuron.w):  # what is left of a w outside its polar cone is not rounding
                result.append(Neuron(1, neuron.block, w))
        return result

    def feasible(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Weights of one block add up; what rounding pushed out of the cone is projected back."""
        return self.inside(add_blocks(neurons))

    def _project(self, b: int, c: Floats, enough: float) -> Priced:
        """c - K_b rho with the last rho if that is short enough, else the projection of c."""
        K, last = self.arrays.K[b], self._last.get(b)
        if last is not None and last.kinks:
            v = c - last.rho @ K
            if (norm := _norm(v)) <= enough:
                return Priced(last.rho, v, norm, last.kinks)
        found = project_on_block(c, K, enough)
        if found.kinks:
            self._last[b] = found
        return found

    def _face(self, b: int, priced: Priced) -> ResidualFace:
        X, G = self.arrays.X[b], self.arrays.K[b][list(priced.kinks)]
        eye = self._eyes[X.shape[1]]
        if not len(G):
            return ResidualFace(1, b, (), X, priced.v, eye)
        P = eye - np.linalg.pinv(G) @ G
        return ResidualFace(1, b, priced.kinks, X @ P, priced.v, P)


def project_on_block(c: Floats, K: Floats, enough: float) -> Priced:
    """The projection of c onto {u : K u <= 0}, or any c - K'rho of length at most `enough`."""
    rho = np.zeros(len(K))
    norm = _norm(c)
    if not len(K) or norm <= enough:
        return Priced(rho, c, norm, ())
    found = shortest(c[None], K, np.full((1, len(K)), -1.0), np.full((1, len(K)), np.inf), enough)
    kinks = found.kinks[0][found.kinks[0] >= 0]
    rho[kinks] = found.x[0][found.kinks[0] >= 0]
    return Priced(rho, found.v[0], _norm(found.v[0]), tuple(sorted(kinks.tolist())))


def _norm(v: Floats) -> float:
    return float(np.sqrt(v @ v))


@dataclass(frozen=True)
class PatternedOracle:
    """Blocks (D, xi) with X = xi D Z and the cone of D."""

    cones: Cones

    def price(self, r: Floats, enough: float) -> tuple[float, list[ResidualFace]]:
        """|Proj_{C_b}(X_b'r)| of every block."""
        found = self._all(r, enough)
        hot = np.flatnonzero(found.norm > enough)
        hot = hot[np.argsort(-found.norm[hot], kind="stable")][:_MOST]
        return float(found.norm.max(initial=0.0)), self._faces(found.some(hot))

    def follow(self, neurons: Sequence[Neuron], r: Floats) -> list[ResidualFace]:
        """The face of each block at r."""
        blocks = np.array(list(dict.fromkeys(neuron.block or 0 for neuron in neurons)), dtype=np.intp)
        found = self.cones.project(blocks, self.cones.correlations(r, blocks), 0.0)
        return self._faces(found.some(np.flatnonzero(found.norm > 0.0)))

    def outputs(self, neurons: Sequence[Neuron]) -> Floats:
        """xi D Z w"""
        arrays = self.cones.arrays
        if not neurons:
            return np.zeros((len(arrays.Z), 0))
        blocks = _blocks(neurons)
        shares = arrays.Z @ np.array([neuron.w for neuron in neurons]).T
        return np.where(arrays.on[arrays.pattern(blocks)].T, shares * arrays.xi(blocks), 0.0)

    def inside(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Proj_{C_b}(w)"""
        if not neurons:
            return []
        W = np.array([neuron.w for neuron in neurons])
        found = self.cones.project(_blocks(neurons), W, 0.0, remember=False)
        # what is left of a w outside its polar cone is not rounding
        kept = np.flatnonzero(found.norm**2 > 1e-12 * np.einsum("ij,ij->i", W, W))
        return [Neuron(1, neurons[i].block, found.v[i]) for i in kept.tolist()]

    def feasible(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Weights of one block add up; what rounding pushed out of the cone is projected back."""
        return self.inside(add_blocks(neurons))

    def _all(self, r: Floats, enough: float) -> Projected:
        return self.cones.project(np.arange(len(self.cones.arrays)), self.cones.correlations(r), enough)

    def _faces(self, found: Projected) -> list[ResidualFace]:
        arrays = self.cones.arrays
        P = self.cones.tangent(found)
        side = arrays.on[arrays.pattern(found.blocks)] * arrays.xi(found.blocks)[:, None]
        B = side[:, :, None] * (arrays.Z @ P)
        kinks = [tuple(sorted(row[row >= 0].tolist())) for row in found.kinks]
        return [ResidualFace(1, b, kinks[i], B[i], found.v[i], P[i]) for i, b in enumerate(found.blocks.tolist())]


def _blocks(neurons: Sequence[Neuron]) -> Numbers:
    return np.array([neuron.block or 0 for neuron in neurons], dtype=np.intp)
