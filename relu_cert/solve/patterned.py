"""The oracle of ReLU programs over some patterns: every block with its own cone, all priced at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relu_cert.solve.cones import Cones, Projected
from relu_cert.solve.prepare import Numbers
from relu_cert.solve.solution import Face, Floats, Neuron, add_blocks

_MOST = 120  # new faces in a round


@dataclass(frozen=True)
class PatternedOracle:
    """Blocks (D, xi) with X = xi D Z and the cone of D."""

    cones: Cones

    def price(self, r: Floats, enough: float) -> tuple[float, list[Face]]:
        """|Proj_{C_b}(X_b'r)| of every block."""
        found = self._all(r, enough)
        hot = np.flatnonzero(found.norm > enough)
        hot = hot[np.argsort(-found.norm[hot], kind="stable")][:_MOST]
        return float(found.norm.max(initial=0.0)), self._faces(found.some(hot))

    def follow(self, neurons: Sequence[Neuron], r: Floats) -> list[Face]:
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

    def _faces(self, found: Projected) -> list[Face]:
        arrays = self.cones.arrays
        P = self.cones.tangent(found)
        side = arrays.on[arrays.pattern(found.blocks)] * arrays.xi(found.blocks)[:, None]
        B = side[:, :, None] * (arrays.Z @ P)
        kinks = [tuple(sorted(row[row >= 0].tolist())) for row in found.kinks]
        return [Face(1, b, kinks[i], B[i], found.v[i], P[i]) for i, b in enumerate(found.blocks.tolist())]


def _blocks(neurons: Sequence[Neuron]) -> Numbers:
    return np.array([neuron.block or 0 for neuron in neurons], dtype=np.intp)
