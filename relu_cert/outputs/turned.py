"""A continuum of optimal networks: neurons of one pattern, lambda a multiple singular value of M' there (F(u) = M'u).

Then N = sum w v' is the optimum of 1/2 |A N - Y|^2 + lambda |N|_* over all matrices, v = M'w / lambda, and only
S = sum w w' is fixed. If it is written with vectors strictly within the pattern, these may be turned into each other.
The tree has to show that no neuron of another pattern does better: a leaf is out, or all lines that are not everywhere
on the sides of the pattern shorten F (verify/FORMAT.md, Several outputs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from relu_cert.evidence import Row, Turned
from relu_cert.exact import Matrix, sqrt_upper
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.exact import Form
from relu_cert.outputs.unique import Around, Near, around

if TYPE_CHECKING:
    from relu_cert.outputs.optimum import OutputsData, OutputsPoint

MULTIPLE = 1e-5  # how near to lambda singular values are lambda
DRAWS, BITS = 4000, 60
SPARE = 4  # times the errors that the checker adds


@dataclass
class Turning(Around):
    """What leaves have to be: out, or with lines that shorten F. `sides` of all lines; `slope` M, `weights` W_k."""

    sides: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    slope: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    weights: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    told: Turned = field(default_factory=lambda: Turned((), Fraction(0)))
    strict = True

    def weaker(
        self, Q: Form, cone: Sequence[Row], whole: int, tie: int
    ) -> Iterator[tuple[Form, Near | None, Fraction]]:
        """The form itself where the cone is inside, and that of being out."""
        if self.inside(cone):
            yield Q, None, Fraction(0)
        yield from super().weaker(Q, cone, whole, tie)

    def inside(self, cone: Sequence[Row]) -> bool:
        """Whether all lines that are somewhere not on their sides shorten F in the cone, with something to spare."""
        G = np.array([[float(x) for x in g] for g in cone])
        heights = self.pull.lines.floats @ G.T
        delta = np.maximum(np.where(self.sides[:, None], -heights, heights), 0)
        crossed = delta.max(axis=1) > 0
        W, sizes = self.weights[crossed], np.linalg.norm(self.weights[crossed], axis=1)
        T = 2 * W @ (G @ self.slope).T + np.maximum(W @ W.T, 0) @ delta[crossed]
        far, rho, lam = float(self.moved), float(self.rho), float(self.lam)
        off = 2 * (far * lam + sizes[:, None] * rho) * np.linalg.norm(G, axis=1)
        off = off + far * ((sizes[:, None] + far) * delta.sum(axis=0) + sizes @ delta[crossed])
        return bool((T + SPARE * off < 0).all())

    @property
    def moved(self) -> Fraction:
        """What a W_k changes by with Theta at most."""
        lines = self.pull.lines
        widest = sqrt_upper(Fraction(max(lines.moved_squared, default=0), (lines.scale * lines.bags.unit) ** 2))
        return widest * self.R


def turning(given: OutputsData, lam: Fraction, Theta: Matrix, primal: OutputsPoint, ball: Around) -> Turning | None:
    """What the leaves of a proof have to be; None where the neurons are not of one pattern, or no value is multiple."""
    lines, problem = ball.pull.lines, given.problem
    if given.softmax or given.free or problem.roots or len(primal.neurons) < 2 or len(given.basis) < len(given.Z[0]):
        return None
    W, V = (np.array([[float(x) for x in one[i]] for one in primal.neurons]) for i in (0, 1))
    heights = lines.floats @ W.T
    sides = heights[:, 0] > 0
    if ((heights > 0) != sides[:, None]).any():
        return None
    unit = float(ball.pull.unit)
    weights = np.array([[x / unit for x in w] for w in ball.pull.W])
    M = np.array([[x / unit for x in row] for row in ball.pull.M0]) + (lines.floats * sides[:, None]).T @ weights
    S = (W.T @ V) @ M.T / float(lam)
    rank = int((np.linalg.svd(M)[1] > (1 - MULTIPLE) * float(lam)).sum())
    if rank < 2 or (neurons := within(S, rank, lines.units, sides)) is None:
        return None
    one = 1 << BITS
    exact = tuple(tuple(Fraction(round(Fraction(x) * one), one) for x in w) for w in neurons.tolist())
    Z = np.array([[float(x) for x in z] for z in given.Z])
    A = given.bags.pooled_floats(Z * (Z @ W[0] > 0)[:, None])
    least = Fraction(float(np.linalg.svd(A)[1][-1]) ** 2 * 0.99).limit_denominator(10**6)
    squared = suboptimal(A, M, neurons, given, Theta, lam)
    if squared is None or least <= 0:
        return None
    found = around(ball.pull, lam, Theta, squared, given.basis, given.free, given.Z)
    return Turning(**vars(found), sides=sides, slope=M, weights=weights, told=Turned(exact, least))


def suboptimal(A: Floats, M: Floats, W: Floats, given: OutputsData, Theta: Matrix, lam: Fraction) -> Fraction | None:
    """At least about twice what the network of these neurons costs more than the dual value."""
    Y, T = (np.array([[float(x) for x in row] for row in B]) for B in (given.Y, Theta))
    fit = A @ W.T @ (W @ M) / float(lam)
    lengths = np.linalg.norm(W, axis=1) * np.linalg.norm(W @ M, axis=1)
    lower = float((Y * T).sum() - 0.5 * (T * T).sum())
    gap = 0.5 * float(((fit - Y) ** 2).sum()) + float(lengths.sum()) - lower
    return Fraction(2 * max(gap, 0.0) + 1e-12 * abs(lower)).limit_denominator(10**20)


def within(S: Floats, rank: int, units: Floats, sides: NDArray[np.bool_]) -> Floats | None:
    """Vectors with sum w w' = S, about, strictly on these sides of all lines: the best of many rotations of some."""
    values, E = np.linalg.eigh((S + S.T) / 2)
    if values[-rank] <= 0:
        return None
    B, rng = E[:, -rank:] * np.sqrt(values[-rank:]), np.random.default_rng(0)
    heights = units @ B * np.where(sides, 1.0, -1.0)[:, None]

    def margin(turn: Floats) -> float:
        return float((heights @ turn).min())

    best, high, width = np.eye(rank), -np.inf, 1.0
    for k in range(DRAWS):
        drawn = rng.standard_normal((rank, rank))
        turn = np.linalg.qr(drawn if k < DRAWS // 2 else best + width * drawn)[0]
        turn = turn * np.where((heights @ turn).sum(axis=0) > 0, 1.0, -1.0)
        if (now := margin(turn)) > high:
            best, high = turn, now
        width = max(0.998 * width, 1e-4) if k >= DRAWS // 2 else width
    found: Floats = (B @ best).T
    return found if high > 0 else None
