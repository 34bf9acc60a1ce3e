"""The polytope of optimal weights, listed: what the claims and the certificate read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from relu_cert.exact import Matrix, Vector
from relu_cert.prove.field import Numbers
from relu_cert.serialize import UNWRITTEN

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class MinNorm:
    """The shortest weights (eq:min-norm-program, |w|^2 = lambda^2 |alpha|^2, every neuron merged): within `radius` of
    `weights` in every entry, and zero where these are zero."""

    weights: Vector
    radius: Fraction


@dataclass(frozen=True)
class ShortestWeights:
    """The shortest weights of a polytope that is not listed, with their own proof.

    `bits`  as in `Polytope`
    `mu`    exact: F_a.mu = alpha_a where alpha_a > 0 and F_a.mu <= 0 elsewhere, so that alpha.(beta - alpha) >=
            mu.(F beta - F alpha) = 0 for all beta of the polytope; empty where they are enclosed; in a field of
            algebraic numbers where the weights are irrational, and only they are rounded
    """

    bits: int
    weights: Vector
    radius: Fraction
    mu: Vector | Numbers

    @property
    def found(self) -> MinNorm:
        """The weights, as a polytope has them."""
        return MinNorm(self.weights, self.radius)


@dataclass(frozen=True)
class Polytope:
    """All vertices and edges of {alpha >= 0 : sum_a alpha_a q_a = yhat} (cor:minimal-unique: the minimal networks).

    Neurons are numbered as the classes of the optimal set, or as the tied neurons where the optimum is exact.

    `bits`      F and g were rounded to multiples of 2^-bits (0: they are exact)
    `tilt`      g was disturbed by eps sum_b tilt_b F_b over the first basis, so that no ratios tie
    `bases`     what is closed under pivots, and so proves that the list is complete
    `vertices`  supports; `points` their weights, exact or about right, one entry for each of the `tied` neurons
    `edges`     pairs of numbers of vertices
    `rank`      that of the outputs of the neurons that some solution uses
    """

    bits: int
    tilt: Vector
    bases: tuple[tuple[int, ...], ...]
    vertices: tuple[tuple[int, ...], ...]
    points: Annotated[Matrix, UNWRITTEN]
    edges: tuple[tuple[int, int], ...]
    min_norm: MinNorm | None
    tied: Annotated[int, UNWRITTEN]
    rank: Annotated[int, UNWRITTEN]

    @property
    def used(self) -> tuple[int, ...]:
        """S: the neurons that some solution uses."""
        return tuple(sorted({a for support in self.vertices for a in support}))

    @property
    def dimension(self) -> int:
        """The dimension of the polytope."""
        return len(self.used) - self.rank

    @property
    def widths(self) -> tuple[int, ...]:
        """The numbers of neurons of the minimal networks, one for each vertex."""
        return tuple(len(support) for support in self.vertices)

    @property
    def m_star(self) -> int:
        """m*: the least width of an optimal network."""
        return min(self.widths)

    @property
    def M_star(self) -> int:
        """M*: the largest width of a minimal network."""
        return max(self.widths)

    @property
    def nondegenerate(self) -> bool:
        """Whether every vertex has as many neurons as their outputs have rank; then m* = M* = rank."""
        return all(width == self.rank for width in self.widths)

    def graph(self) -> nx.Graph:
        """The vertices, each with its `support`, and the edges."""
        import networkx as nx  # slow to load

        graph = nx.Graph()
        graph.add_nodes_from((i, {"support": support}) for i, support in enumerate(self.vertices))
        graph.add_edges_from(self.edges)
        return graph


@dataclass(frozen=True)
class Unlisted:
    """Why there is no list; without a reason none was asked for. `final`: more digits would not help."""

    reason: str = ""
    final: bool = False
