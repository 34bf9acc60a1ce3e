"""Rows of a lift beside free terms: vectors to which theta is orthogonal, exactly.

Where the residual is orthogonal to Z u for all u of a neuron's face, its antipode on the face ties with it, and their
outputs differ by such a Z u. Where it is zero at a row, it does not see on which side of the row a level neuron is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import fmpq_mat

from relu_cert.exact import Matrix, Vector, dot
from relu_cert.problem.hyperplanes import parallel_classes
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.lifts import independent
from relu_cert.prove.split import null_space
from relu_cert.rationals import matrix_of, to_vector


def rows_beside(
    problem: Problem, classes: Sequence[NeuronClass], theta: Vector, free: Matrix, level: Sequence[int]
) -> Matrix:
    """Independent rows, orthogonal to the free ones and to theta."""
    Z, bags = problem.relu.Z, problem.relu.bags
    proposed: list[Vector] = []
    for kinks in {neuron.kinks: None for neuron in classes}:
        columns = [bags.pooled(one) for one in on_face(Z, kinks)]
        if not any(dot(one, theta) for one in columns):
            proposed += columns
    if level:
        proposed += _without_weight(problem.relu, theta, free)
    chosen = independent((*free, *proposed))[len(free) :]
    if not chosen or not free:
        return chosen
    B, rows = matrix_of(free), matrix_of(chosen)
    inside = (B * B.transpose()).solve(B * rows.transpose())
    return tuple(to_vector(fmpq_mat([row])) for row in (rows - inside.transpose() * B).tolist())


def on_face(Z: Matrix, kinks: Sequence[int]) -> list[Vector]:
    """Z u for a basis of the u that vanish on these rows."""
    d = len(Z[0])
    face = null_space(matrix_of([*(Z[k] for k in kinks), (Fraction(0),) * d]))
    return [to_vector(matrix_of(Z) * u) for u in face]


def _without_weight(network: Network, theta: Vector, free: Matrix) -> Iterator[Vector]:
    """The lines that have no weight: differences of those that the free rows do not tell apart, then one of each."""
    first: dict[tuple[Fraction, ...], Vector] = {}
    t = network.bags.spread(theta)
    for rows in parallel_classes(network.Z).values():
        if not sum((t[k] for k in rows), Fraction(0)):
            line = network.bags.pooled([Fraction(k in rows) for k in range(len(network.Z))])
            other = first.setdefault(tuple(dot(row, line) for row in free), line)
            yield tuple(a - b for a, b in zip(line, other, strict=True)) if other != line else line
