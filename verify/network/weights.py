"""The weights of a given network as exact rationals, its neurons on the data, and its objectives.

f(z) = sum_i w2_i (W1_i.z)_+,    J = 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2),    xi_i = sign(w2_i),
w_i = |w2_i| W1_i,               P = 1/2 |f(Z) - y|^2 + lambda sum_i |w_i| <= J.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.bounds import root_above
from verify.patterns import mask_of
from verify.problem import Problem, square, times
from verify.rules.value import equal
from verify.text import Matrix, Node, Vector, show


@dataclass(frozen=True)
class Neuron:
    """xi (w.z)_+ with w other than zero: its number in W1, its output q on the data, and the rows where w.z > 0, < 0.

    `number` is that of the first, for a neuron that others were merged into.
    """

    number: int
    sign: int
    w: Vector
    q: Vector
    above: int
    below: int


@dataclass(frozen=True)
class Weights:
    """W1 (m x d), w2 (m), the neurons that are not zero, the residual r = y - f(Z), and J."""

    W1: Matrix
    w2: Vector
    neurons: tuple[Neuron, ...]
    residual: Vector
    objective: Fraction

    def neuron(self, number: int) -> Neuron | None:
        """The neuron of that row of W1, unless it is zero."""
        return next((a for a in self.neurons if a.number == number), None)


def read_weights(problem: Problem, W1_node: Node, w2_node: Node) -> Weights:
    """The network; shapes that fit together and the data."""
    W1 = tuple(row.vector(problem.d) for row in W1_node.array())
    w2 = w2_node.vector(len(W1))
    if not W1:
        raise W1_node.reject("at least one neuron")
    neurons = []
    for i, (row, v) in enumerate(zip(W1, w2, strict=True)):
        if v and any(row):
            neurons.append(neuron_of(problem, i, 1 if v > 0 else -1, tuple(abs(v) * x for x in row)))
    r = residual(problem, neurons)
    penalty = square(w2) + sum((square(row) for row in W1), Fraction(0))
    return Weights(W1, w2, tuple(neurons), r, square(r) / 2 + problem.lam * penalty / 2)


def neuron_of(problem: Problem, number: int, sign: int, w: Vector) -> Neuron:
    """The neuron with its output and its signs on the data."""
    heights = times(problem.Z, w)
    above = mask_of(k for k, h in enumerate(heights) if h > 0)
    below = mask_of(k for k, h in enumerate(heights) if h < 0)
    return Neuron(number, sign, w, tuple(sign * max(h, Fraction(0)) for h in heights), above, below)


def residual(problem: Problem, neurons: list[Neuron]) -> Vector:
    """y - sum of the outputs."""
    left = list(problem.y)
    for neuron in neurons:
        left = [a - b for a, b in zip(left, neuron.q, strict=True)]
    return tuple(left)


def check_objectives(problem: Problem, weights: Weights, objective: Node, balanced: Node) -> tuple[Fraction, Fraction]:
    """Reject unless J is exactly as stated, and lower <= P <= upper. Returns these bounds."""
    equal(objective, "J = 1/2|f - y|^2 + lambda/2 (|W1|^2 + |w2|^2)", weights.objective)
    fields = balanced.record("lower", "upper")
    lower, upper = fields["lower"].number(), fields["upper"].number()
    below, above = (square(weights.residual) / 2 + problem.lam * x for x in norms(weights.neurons))
    if lower > below:
        raise fields["lower"].reject(f"at most P, which is above {show(below)}", show(lower))
    if upper < above:
        raise fields["upper"].reject(f"at least P, which is below {show(above)}", show(upper))
    return lower, upper


def norms(neurons: tuple[Neuron, ...]) -> tuple[Fraction, Fraction]:
    """Rationals below and above sum |w_i|; equal where every |w_i| is rational."""
    below = above = Fraction(0)
    for neuron in neurons:
        squared = square(neuron.w)
        root = root_above(squared)
        above += root
        below += squared / root
    return below, above
