"""The weights of a given network as exact rationals, its neurons on the data, and its objectives.

f(Z) = P sum_i w2_i (Z W1_i)_+ + b2,    J = 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2) + lambda |b2|,
xi_i = sign(w2_i), w_i = |w2_i| W1_i, P = 1/2 |f(Z) - y|^2 + lambda sum_i |w_i| <= J.

The output bias is the neuron sign(b2), |b2| e on the column of ones, balanced: its cost is the statement's own. Where
it is free, or decayed (the rows of zeros have its cost), it is no neuron, f has PZs more for a skip connection, and
norms do not see free biases.

With C outputs w2_i is a vector and P = loss + lambda sum |W1_i||w2_i|; there are no numbered neurons then, and output
biases are free, decayed or 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from verify.numbers.bounds import root_above
from verify.problem.problem import Problem, square, transposed
from verify.text import Fields, Matrix, Vector, mask_of


@dataclass(frozen=True)
class Neuron:
    """xi (w.z)_+ with w other than zero: its number in W1, its output q on the data, and the rows where w.z > 0, < 0.

    `number` is that of the first, for a neuron that others were merged into; the output bias comes after W1. `squared`
    is |w|^2, without a free bias.
    """

    number: int
    sign: int
    w: Vector
    squared: Fraction
    q: Vector
    above: int
    below: int


@dataclass(frozen=True)
class Weights:
    """W1 (m x d), w2 (m), b2 and s (d, or none), the neurons that are not zero, what the free terms leave of y, the
    residual r = y - f(Z), and J, at most `slack` below `objective`: 0 but with logarithms. With C = `targets` outputs
    w2 is written neuron by neuron, and `constants` take the place of b2."""

    W1: Matrix
    w2: Vector
    b2: Fraction
    skip: Vector
    neurons: tuple[Neuron, ...]
    left: Vector
    residual: Vector
    objective: Fraction
    slack: Fraction = Fraction(0)
    targets: int = 1
    constants: Vector = ()

    @property
    def V(self) -> Matrix:
        """The second layer, a row for each neuron."""
        C = self.targets
        return tuple(self.w2[C * i : C * (i + 1)] for i in range(len(self.W1)))

    @property
    def below(self) -> Fraction:
        """At most J."""
        return self.objective - self.slack


def read_weights(problem: Problem, fields: Fields) -> Weights:
    """The network; shapes that fit together and the data."""
    W1 = tuple(row.vector(problem.d) for row in fields["W1"].array())
    if problem.targets > 1:
        return read_outputs(problem, fields, W1)
    w2, b2 = fields["w2"].vector(len(W1)), fields["b2"].number()
    skip = fields["skip"].vector(problem.d) if "skip" in fields else ()
    constant = free_constant(problem)
    inputs = problem.outputs[constants(problem) :]
    if any(skip[len(inputs) :]):
        raise fields["skip"].reject("0 for the column of ones, which is no input")
    fields["W1"].require(W1, "at least one neuron")
    neurons = []
    for i, (row, v) in enumerate(zip(W1, w2, strict=True)):
        if v and any(row):
            neurons.append(neuron_of(problem, i, 1 if v > 0 else -1, tuple(abs(v) * x for x in row)))
    if b2 and not constant:
        if any(abs(z[-1]) != 1 for z in problem.seen):
            raise fields["b2"].reject("0, because the last column of Z is not the column of ones")
        fields["b2"].require(is_constant(problem), "0, because outputs are not means of rows")
        neurons.append(neuron_of(problem, len(W1), 1 if b2 > 0 else -1, (Fraction(0),) * (problem.d - 1) + (abs(b2),)))
    linear = transposed(inputs, skip[: len(inputs)]) if skip and inputs else (Fraction(0),) * problem.n
    ones = problem.outputs[0] if constant else (Fraction(0),) * problem.n
    left = tuple(y_k - s_k - b2 * e_k for y_k, s_k, e_k in zip(problem.y, linear, ones, strict=True))
    r = residual(left, neurons)
    penalty = square(w2) + sum(map(problem.length_squared, W1), 0 if constant else 2 * abs(b2))
    low, high = loss_of_residual(problem, r)
    size = problem.lam * penalty / 2
    return Weights(W1, w2, b2, skip, tuple(neurons), left, r, high + size, high - low)


def read_outputs(problem: Problem, fields: Fields, W1: Matrix) -> Weights:
    """The network with several outputs."""
    C = problem.targets
    fields["W1"].require(W1, "at least one neuron")
    V = tuple(row.vector(C) for row in fields["W2"].array(len(W1)))
    constants = fields["b2"].vector(C)
    free = free_constant(problem)
    fields["b2"].require(free or not any(constants), "0 for every output, because no output bias is free or decayed")
    f = [b * e for e in problem.outputs[0] for b in constants] if free else [Fraction(0)] * len(problem.y)
    for w, v in zip(W1, V, strict=True):
        for k, q in enumerate(problem.output(w)):
            if q:
                f[C * k : C * (k + 1)] = [x + q * v_c for x, v_c in zip(f[C * k : C * (k + 1)], v, strict=True)]
    r = tuple(a - b for a, b in zip(problem.y, f, strict=True))
    low, high = loss_of_residual(problem, r)
    size = problem.lam * (sum(map(square, V)) + sum(map(problem.length_squared, W1))) / 2
    w2 = tuple(x for v in V for x in v)
    return Weights(W1, w2, Fraction(0), (), (), problem.y, r, high + size, high - low, C, constants)


def loss_of_residual(problem: Problem, r: Vector) -> tuple[Fraction, Fraction]:
    """Rationals below and above the loss of y - r; with the squares the number itself, twice."""
    if not problem.logistic:
        return (square(r) / 2,) * 2
    if problem.targets > 1:
        from verify.outputs.softmax import losses

        return losses(problem, tuple(y_k - r_k for y_k, r_k in zip(problem.y, r, strict=True)))
    from verify.rules.logistic.value import ONE, loss_of

    n = problem.points
    found = [loss_of(y_k * (y_k - r_k)) for y_k, r_k in zip(problem.y[:n], r[:n], strict=True)]
    decay = square(r[n:]) / 2  # at rows of zeros
    return Fraction(sum(low for low, _ in found), ONE) + decay, Fraction(sum(high for _, high in found), ONE) + decay


def free_constant(problem: Problem) -> bool:
    """Whether a constant has a free coefficient by itself."""
    return "output-bias" in problem.free or (problem.biases and adds_to_ones(problem))


def constants(problem: Problem) -> int:
    """How many free columns are constants: ones, or P1, or both where they differ."""
    named = ("output-bias" in problem.free) + problem.biases
    return named - (named == 2 and adds_to_ones(problem))


def is_constant(problem: Problem) -> bool:
    """Whether the neuron e on the column of ones (with a slope of ones and their opposites) is 1 at every output."""
    ones = all(abs(z[-1]) == 1 for z in problem.seen)
    return ones and set(problem.output((Fraction(0),) * (problem.d - 1) + (Fraction(1),))) == {1}


def adds_to_ones(problem: Problem) -> bool:
    """P1 = 1: every output is a mean of rows."""
    return set(problem.pooled([Fraction(1)] * problem.N)) == {1}


def neuron_of(problem: Problem, number: int, sign: int, w: Vector) -> Neuron:
    """The neuron with its output and its signs on the data."""
    heights = problem.heights(w)
    above = mask_of(k for k, h in enumerate(heights) if h > 0)
    below = mask_of(k for k, h in enumerate(heights) if h < 0)
    q = tuple(sign * x for x in problem.output(w))
    return Neuron(number, sign, w, problem.length_squared(w), q, above, below)


def residual(left: Vector, neurons: list[Neuron]) -> Vector:
    """What the free terms leave of y, less the sum of the outputs."""
    for neuron in neurons:
        left = tuple(a - b for a, b in zip(left, neuron.q, strict=True))
    return left


def balanced(problem: Problem, weights: Weights) -> tuple[Fraction, Fraction]:
    """Rationals below and above P, the objective after balancing."""
    low, high = loss_of_residual(problem, weights.residual)
    squares: Iterable[Fraction] = (neuron.squared for neuron in weights.neurons)
    if weights.targets > 1:
        squares = (problem.length_squared(w) * square(v) for w, v in zip(weights.W1, weights.V, strict=True))
    below, above = norms(squares)
    return low + problem.lam * below, high + problem.lam * above


def norms(squares: Iterable[Fraction]) -> tuple[Fraction, Fraction]:
    """Rationals below and above the sum of the lengths; equal where every one is rational."""
    below = above = Fraction(0)
    for squared in filter(None, squares):  # a neuron may have a free bias alone
        root = root_above(squared)
        above += root
        below += squared / root
    return below, above


def merged(problem: Problem, weights: Weights) -> tuple[Neuron, ...]:
    """The merged network: the neurons of one sign with the same signs on every row are one, their sum, in the place of
    the first; a sum 0 is left out. The same fit, at no higher P, in whatever order the neurons are given."""
    cells: dict[tuple[int, int, int], list[Neuron]] = {}
    for neuron in weights.neurons:
        cells.setdefault((neuron.sign, neuron.above, neuron.below), []).append(neuron)
    sums = []
    for (sign, _, _), group in cells.items():
        total = tuple(sum(column, Fraction(0)) for column in zip(*(neuron.w for neuron in group), strict=True))
        if any(total):
            sums.append(neuron_of(problem, group[0].number, sign, total))
    return tuple(sums)


def mergeable(weights: Weights) -> tuple[int, int] | None:
    """Two neurons of one sign without a row on which they are of opposite signs: (Zw)_+ + (Zw')_+ = (Z(w + w'))_+."""
    for i, a in enumerate(weights.neurons):
        for b in weights.neurons[:i]:
            if a.sign == b.sign and not a.above & b.below and not a.below & b.above:
                return b.number, a.number
    return None
