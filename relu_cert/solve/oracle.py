"""What the solver asks of a model: which blocks are violated at a residual, and on which face of its cone.

The oracle of blocks that are given directly, each with its own X_b and its own cone {u : K_b'u <= 0}.

Most blocks are not projected: |X_b'r| bounds the price of a block, and so does |X_b'r - K_b rho| for any rho >= 0, of
which the last one is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from relu_cert.solve.cones import (
    Cones,
    Pieces,
    Projected,
    correlations,
    lengths,
    price_pieces,
    representatives,
    shortest,
    unpack,
)
from relu_cert.solve.prepare import (
    BlockArrays,
    FloatProblem,
    Floats,
    NetworkArrays,
    Neuron,
    Numbers,
    PatternedArrays,
    ResidualFace,
    add_blocks,
)

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


class Oracle(Protocol):
    """One model's view of its blocks."""

    def price(self, r: Floats, enough: float) -> tuple[float, list[ResidualFace]]:
        """The largest price |Proj_{C_b}(X_b'r)| of all blocks (or some bound <= enough of it), and faces
        with prices above `enough`: all that can be maximisers, the best first."""

    def follow(self, neurons: Sequence[Neuron], r: Floats) -> list[ResidualFace]:
        """The faces of the neurons' blocks at the residual r, each once."""

    def outputs(self, neurons: Sequence[Neuron]) -> Floats:
        """The neurons' shares of the fit, one column each."""

    def inside(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """The neurons, each projected onto its cone; those that vanish are left out."""

    def feasible(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Neurons with (up to rounding) the same fit and no larger penalty, in their cones, each block at most once."""


_PROBES = 40  # directions that are tried for a lower bound of the largest price
_SHARE = 0.2  # pieces below this share of it are not looked at closely,
_LARGER_SHARE, _MANY = 0.5, 20_000  # nor below this one where there are so many patterns


@dataclass(frozen=True)
class ReluOracle:
    """Pieces instead of patterns: one projection serves all patterns that agree on P."""

    arrays: NetworkArrays

    def price(self, r: Floats, enough: float) -> tuple[float, list[ResidualFace]]:
        """Pieces with a kink on a row of P have a better neighbour (unless t_k is next to nothing): they are left
        out where they are no better than the best of the others."""
        hot, signs = [], []
        c = correlations(self.arrays, r)
        length = lengths(c)
        share = _SHARE if len(length) <= _MANY else _LARGER_SHARE
        enough = max(enough, share * self._reached(r, c, length))
        for sign in (1, -1):
            chosen, least = representatives(self.arrays, sign * r, length)
            hot.append(chosen[least > enough])
            signs.append(np.full(len(hot[-1]), sign))
        sign_of = np.concatenate(signs)
        t = sign_of[:, None] * r
        base = unpack(self.arrays.bits[np.concatenate(hot)], self.arrays.n)
        priced = price_pieces(self.arrays.Z, t, base, enough)
        line = np.arange(len(base))[:, None]
        inner = ~((priced.kinks >= 0) & (t[line, priced.kinks] > 0.0)).any(axis=1)
        inner |= priced.norm > priced.norm[inner].max(initial=0.0)
        which = np.flatnonzero((priced.norm > enough) & inner)
        which = which[np.argsort(-priced.norm[which])][:_MOST]
        return float(priced.norm.max(initial=0.0)), self._faces(sign_of, priced, which)

    def _reached(self, r: Floats, c: Floats, length: Floats) -> float:
        """A lower bound of the largest price: |r.(Zu)_+| in the directions +-Z'Dr of the longest correlations."""
        longest = np.argpartition(-length, _PROBES)[:_PROBES] if len(length) > _PROBES else np.arange(len(length))
        U = c[longest] / np.maximum(length[longest], 1e-300)[:, None]
        outputs = U @ self.arrays.Z.T
        plus, minus = np.maximum(outputs, 0.0) @ r, np.maximum(-outputs, 0.0) @ r
        return float(max(np.abs(plus).max(initial=0.0), np.abs(minus).max(initial=0.0)))

    def follow(self, neurons: Sequence[Neuron], r: Floats) -> list[ResidualFace]:
        """Neurons of one sign on one piece have one face. Rows on which a neuron vanishes are a guess of its kinks."""
        if not neurons:
            return []
        Z = self.arrays.Z
        sign_of = np.array([neuron.sign for neuron in neurons])
        W = np.array([neuron.w for neuron in neurons])
        t = sign_of[:, None] * r
        outputs = W @ Z.T
        base = outputs >= 0.0
        near = np.abs(outputs) / (np.linalg.norm(W, axis=1)[:, None] * np.maximum(np.linalg.norm(Z, axis=1), 1e-300))
        near[t >= 0.0] = np.inf
        least = np.argsort(near, axis=1)[:, : Z.shape[1] - 1]
        kinks = np.full((len(W), Z.shape[1]), -1)
        kinks[:, : least.shape[1]] = np.where(np.take_along_axis(near, least, axis=1) < 1e-11, least, -1)
        pieces = np.packbits(np.concatenate([base & (t > 0.0), sign_of[:, None] > 0], axis=1), axis=1)
        _, first = np.unique(pieces, axis=0, return_index=True)
        first.sort()
        priced = price_pieces(Z, t[first], base[first], 0.0, kinks[first])
        faces = self._faces(sign_of[first], priced, np.flatnonzero(priced.norm > 0.0))
        return list({face.key: face for face in faces}.values())

    def outputs(self, neurons: Sequence[Neuron]) -> Floats:
        """xi (Zw)_+"""
        if not neurons:
            return np.zeros((self.arrays.n, 0))
        W = np.array([neuron.w for neuron in neurons])
        shares: Floats = np.maximum(self.arrays.Z @ W.T, 0.0) * np.array([neuron.sign for neuron in neurons])
        return shares

    def inside(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Every w is a neuron."""
        return list(neurons)

    def feasible(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Every list of neurons is a network."""
        return list(neurons)

    def _faces(self, sign_of: NDArray[np.int_], priced: Pieces, which: NDArray[np.intp]) -> list[ResidualFace]:
        Z = self.arrays.Z
        kinks = priced.kinks[which]
        G = np.where((kinks >= 0)[:, :, None], Z[kinks], 0.0)
        P = np.eye(Z.shape[1]) - np.linalg.pinv(G) @ G
        ZP = Z @ P
        vanishing = np.einsum("pnd,pnd->pn", ZP, ZP) <= 1e-24 * np.einsum("nd,nd->n", Z, Z)
        on = priced.base[which] & ~vanishing
        B = (on * sign_of[which, None])[:, :, None] * ZP
        packed = np.packbits(on, axis=1)
        return [
            ResidualFace(
                sign=int(sign_of[k]),
                block=None,
                kinks=tuple(np.flatnonzero(vanishing[i]).tolist()),
                B=B[i],
                v=priced.v[k],
                P=P[i],
                on=packed[i].tobytes(),
            )
            for i, k in enumerate(which.tolist())
        ]


@dataclass(frozen=True)
class GatedOracle:
    """All correlations at once; no cones."""

    arrays: NetworkArrays

    def price(self, r: Floats, enough: float) -> tuple[float, list[ResidualFace]]:
        """|Z'Dr| of every pattern."""
        c = correlations(self.arrays, r)
        length = lengths(c)
        hot = np.flatnonzero(length > enough)
        if len(hot) > _MOST:
            hot = hot[np.argpartition(-length[hot], _MOST)[:_MOST]]
        hot = hot[np.argsort(-length[hot])]
        return float(length.max(initial=0.0)), self._faces(hot.tolist(), c[hot])

    def follow(self, neurons: Sequence[Neuron], r: Floats) -> list[ResidualFace]:
        """A block has one face, the whole space."""
        blocks = list(dict.fromkeys(neuron.block for neuron in neurons if neuron.block is not None))
        if not blocks:
            return []
        on = unpack(self.arrays.bits[blocks], self.arrays.n)
        return self._faces(blocks, (on * r) @ self.arrays.Z)

    def outputs(self, neurons: Sequence[Neuron]) -> Floats:
        """D Z w"""
        if not neurons:
            return np.zeros((self.arrays.n, 0))
        on = unpack(self.arrays.bits[[neuron.block or 0 for neuron in neurons]], self.arrays.n)
        return np.where(on.T, self.arrays.Z @ np.array([neuron.w for neuron in neurons]).T, 0.0)

    def inside(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """There are no cones."""
        return list(neurons)

    def feasible(self, neurons: Sequence[Neuron]) -> list[Neuron]:
        """Weights of one block add up."""
        return add_blocks(neurons)

    def _faces(self, blocks: Sequence[int], c: Floats) -> list[ResidualFace]:
        on = unpack(self.arrays.bits[blocks], self.arrays.n)
        B, eye = on[:, :, None] * self.arrays.Z, np.eye(c.shape[1])
        return [ResidualFace(1, b, (), B[i], c[i], eye) for i, b in enumerate(blocks)]


def oracle_of(problem: FloatProblem) -> ReluOracle | GatedOracle | PatternedOracle | BlockOracle:
    """The oracle of the problem's model."""
    match problem.arrays:
        case PatternedArrays():
            return PatternedOracle(Cones(problem.arrays))
        case BlockArrays():
            return BlockOracle(problem.arrays)
        case NetworkArrays(gated=True):
            return GatedOracle(problem.arrays)
        case _:
            return ReluOracle(problem.arrays)
