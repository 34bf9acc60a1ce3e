"""The rule: theta is dual feasible, xi theta.P(Zu)_+ <= lambda |u| for all u and xi = +-1, by a cover.

With free biases |u| is the norm of the weights, and theta.P1 = 0: then the left side, as a function of the bias, is
constant at both ends, so that it is enough to look at u with z_k.u = 0 for some row k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from flint import fmpz_mat

from verify.cover.lines import Lines, Weights, coarse, lines_of, root_above, weights_of
from verify.cover.strict import check_strict
from verify.cover.ties import Tie, check_special, in_piece, read_tie
from verify.cover.tree import Leaves, Walk, sign_cones
from verify.problem.problem import SIGNS, Problem
from verify.text import Node, Vector

MOST_DIRECTIONS, MOST_TIES = 12, 255


@dataclass(frozen=True)
class Cover:
    """A proved cover. Strict leaves hold for every residual r with Zeta |r - theta| <= slack[xi] lambda."""

    lines: Lines
    weights: dict[int, Weights]
    ties: tuple[Tie, ...]
    leaves: dict[int, Leaves]
    slack: dict[int, Fraction]

    def inside(self, xi: int, number: int, side: Sequence[int], lines: Sequence[int]) -> bool:
        """Whether on all leaves of this neuron these lines have the given sides."""
        own = [leaf for leaf in self.leaves[xi].special if leaf.number == number]
        return all(in_piece(leaf, self.weights[xi], side, lines) for leaf in own)


def check_cover(problem: Problem, theta: Vector, squared: Fraction, node: Node) -> Cover:
    """Reject unless (xi theta.P(Zu)_+)_+^2 <= squared |u|^2 for all u and both signs; with free biases theta.P1 = 0."""
    lam = Fraction(isqrt(squared.numerator * squared.denominator << 192), squared.denominator << 96)  # <= the root
    fields = node.record("basis", "ties", "margin", "+", "-")
    lines = lines_of(problem)
    basis = [tuple(row.integers(problem.d)) for row in fields["basis"].array()]
    fields["basis"].require(len(basis) <= MOST_DIRECTIONS, f"at most {MOST_DIRECTIONS} vectors", str(len(basis)))
    if any(fmpz_mat([list(u) for u in rows]).rank() != len(basis) for rows in (basis, [*basis, *lines.rows])):
        raise fields["basis"].reject("independent vectors that span the rows")
    roots, width = [*sign_cones(basis)], root_above(problem.d)
    if problem.biases:
        from verify.cover.prisms import prism_height, prisms, widest

        roots, width = [*prisms(basis, prism_height(problem, basis, fields["basis"]))], widest(problem)
    margin = fields["margin"].index(2**40)
    t = problem.spread(theta)
    weights = {xi: weights_of(lines, t, xi) for xi in SIGNS.values()}
    ties = tuple(read_tie(weights, basis, squared, entry, problem.biases) for entry in fields["ties"].array())
    fields["ties"].require(len(ties) <= MOST_TIES, f"at most {MOST_TIES}", str(len(ties)))
    leaves, slack = {}, {}
    for sign, xi in SIGNS.items():
        rows = coarse(weights[xi], lam, margin, width, node)
        own = {i: tie for i, tie in enumerate(ties) if tie.xi == xi}
        leaves[xi] = Walk(fields[sign], len(basis), len(weights[xi].convex), own).run(roots)
        slack[xi] = Fraction(margin, 1 << rows.bits)
        check_strict(leaves[xi], rows, fields[sign], problem.biases)
        check_special(leaves[xi], weights[xi], own, lam, slack[xi], fields[sign])
    return Cover(lines, weights, ties, leaves, slack)
