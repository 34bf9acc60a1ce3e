"""How far a network is from Clarke stationarity: the shortest element of the subdifferential of J, enclosed.

The subdifferential is a product over the neurons of one number, d/dw2_i = lambda w2_i - r.P(Z W1_i)_+, and the convex
hull of the gradients lambda W1_i - sum_k D_k a_k z_k in W1_i, a = w2_i t, t = P'r, on the open cells D around it
(several outputs: T = P'R, a_k = w2_i.T_k, and d/dw2_i is a vector).
FORMAT.md has why.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.network.weights import Weights, constants, free_constant
from verify.numbers.patterns import Patterns
from verify.problem.problem import Problem, dot, square, transposed
from verify.text import Node, Vector, bit_text, mask_of, show

MOST_CELLS = 1 << 16  # around one neuron; beyond, its lower bound is 0


@dataclass(frozen=True)
class Stationary:
    """lower <= (squared distance of 0 from the subdifferential) <= upper."""

    kinks: int
    lower: Fraction
    upper: Fraction


def check_stationary(problem: Problem, patterns: Patterns | None, weights: Weights, node: Node) -> Stationary:
    """What the cells around each neuron, and their weights, prove."""
    lower = upper = of_free(problem, weights) + of_bias(problem, weights)
    kinks = 0
    for i, entry in enumerate(node.array(len(weights.W1))):
        up = raised(problem, weights, i)
        second = square(tuple(problem.lam * v - x for v, x in zip(weights.V[i], up, strict=True)))
        a = pulls(problem, weights, i)
        bent = kinks_of(problem, weights.W1[i], a)
        kinks += len(bent)
        below, above = nearest(problem, patterns, weights.W1[i], a, bent, entry)
        lower, upper = lower + below + second, upper + above + second
    return Stationary(kinks, lower, upper)


def of_free(problem: Problem, weights: Weights) -> Fraction:
    """The squared gradient in b2, if it is free, and in the skip connection; no weight has the column P1 that is not
    the ones: it stands for neurons without weights."""
    parts = [residual_of(weights, c) for c in range(weights.targets)]
    columns = problem.outputs[: free_constant(problem)] + problem.outputs[constants(problem) :]
    return sum((dot(column, r) ** 2 for column in columns for r in parts), Fraction(0))


def of_bias(problem: Problem, weights: Weights) -> Fraction:
    """The squared gradient in the neuron sqrt|b2| e, sign(b2) sqrt|b2|, which is 0 on no row: |b2| times the squares of
    lambda - xi sum r and of lambda e - xi Z'D t, D the rows where it is on (all but with a slope); 0 if it is free."""
    if free_constant(problem) or not weights.b2:
        return Fraction(0)
    xi, lam = (1 if weights.b2 > 0 else -1), problem.lam
    t = problem.spread(weights.residual)
    on = tuple(t_k if z[-1] > 0 else Fraction(0) for t_k, z in zip(t, problem.seen, strict=True))
    *others, last = (xi * x for x in transposed(problem.seen, on))
    second = lam - xi * sum(weights.residual, Fraction(0))
    return abs(weights.b2) * (second**2 + (lam - last) ** 2 + square(tuple(others)))


def residual_of(weights: Weights, c: int) -> Vector:
    """The residual of one output."""
    return weights.residual[c :: weights.targets]


def raised(problem: Problem, weights: Weights, i: int) -> Vector:
    """r.P(Z W1_i)_+ for every output"""
    q = problem.output(weights.W1[i])
    return tuple(dot(residual_of(weights, c), q) for c in range(weights.targets))


def pulls(problem: Problem, weights: Weights, i: int) -> Vector:
    """a = sum over the outputs of w2_i P'r"""
    a = (Fraction(0),) * problem.N
    for c, v in enumerate(weights.V[i]):
        a = tuple(x + v * t for x, t in zip(a, problem.spread(residual_of(weights, c)), strict=True))
    return a


def kinks_of(problem: Problem, w: Vector, a: Vector) -> list[int]:
    """The rows with z_k.W1_i = 0 where a step of D_k changes the gradient: a_k z_k != 0."""
    return [k for k, z in enumerate(problem.seen) if a[k] and any(z) and not dot(z, w)]


def nearest(
    problem: Problem, patterns: Patterns | None, w: Vector, a: Vector, kinks: list[int], node: Node
) -> tuple[Fraction, Fraction]:
    """Bounds of the squared distance of 0 from d/dW1_i: x = sum t_c p_c is in it, so |x|^2 is one; and every corner p
    has x.p >= m, so that every element e has |e| >= e.x / |x| >= m / |x|."""
    bent = mask_of(kinks)
    heights = problem.heights(w)
    on = mask_of(k for k, h in enumerate(heights) if h > 0) & ~bent
    if not kinks:
        node.array(0)
        length = square(gradient(problem, w, a, on))
        return length, length
    if patterns is None:
        raise node.reject("the fact patterns, which cells at kinks rest on", "none")
    cells = patterns.masks[: patterns.open_cells]
    x, total = [Fraction(0)] * problem.d, Fraction(0)
    for entry in node.array():
        number, share = entry.array(2)
        t = share.number()
        share.require(t > 0, "a weight > 0")
        corner = gradient(problem, w, a, on | cells[number.index(len(cells))] & bent)
        x, total = [p + t * q for p, q in zip(x, corner, strict=True)], total + t
    node.require(total == 1, "weights that add up to 1", show(total))
    length = square(tuple(x))
    around = {mask & bent for mask in cells}
    if len(around) > MOST_CELLS:
        return Fraction(0), length
    least = min(dot(x, gradient(problem, w, a, on | cell)) for cell in around)
    return (least**2 / length if least > 0 else Fraction(0)), length


def gradient(problem: Problem, w: Vector, a: Vector, rows: int) -> Vector:
    """lambda W1_i - sum of a_k z_k over the rows; without lambda at a free bias."""
    on = tuple(a_k if bit == "1" else Fraction(0) for bit, a_k in zip(bit_text(rows, len(a)), a, strict=True))
    w = (*w[:-1], Fraction(0)) if problem.biases else w
    return tuple(problem.lam * x - pull for x, pull in zip(w, transposed(problem.seen, on), strict=True))
