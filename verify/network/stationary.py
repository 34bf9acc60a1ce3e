"""How far a network is from Clarke stationarity: the shortest element of the subdifferential of J, enclosed.

The subdifferential is a product over the neurons of one number, d/dw2_i = lambda w2_i - r.(Z W1_i)_+, and the convex
hull of the gradients lambda W1_i - w2_i sum_k D_k r_k z_k in W1_i on the open cells D around it. FORMAT.md has why.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.network.weights import Weights
from verify.patterns import Patterns, mask_of
from verify.problem import Problem, dot, square, times
from verify.rules.value import equal
from verify.text import Node, Vector, show

MOST_CELLS = 1 << 16  # around one neuron; beyond, its lower bound is 0


@dataclass(frozen=True)
class Stationary:
    """lower <= (squared distance of 0 from the subdifferential) <= upper; rows within `tolerance` count as kinks."""

    tolerance: Fraction
    kinks: int
    lower: Fraction
    upper: Fraction


def check_stationary(problem: Problem, patterns: Patterns | None, weights: Weights, node: Node) -> Stationary:
    """Reject unless the cells and their weights give the upper bound exactly and the lower one at least."""
    fields = node.record("tolerance", "cells", "lower", "upper")
    tolerance = fields["tolerance"].number()
    if tolerance < 0:
        raise fields["tolerance"].reject("a number >= 0")
    lower = upper = Fraction(0)
    kinks = 0
    for i, entry in enumerate(fields["cells"].array(len(weights.W1))):
        second = problem.lam * weights.w2[i] - raised(problem, weights, i)
        bent = kinks_of(problem, weights, i, tolerance)
        kinks += len(bent)
        below, above = nearest(problem, patterns, weights, i, bent, entry)
        lower, upper = lower + below + second**2, upper + above + second**2
    stated = fields["lower"].number()
    if not 0 <= stated <= lower:
        raise fields["lower"].reject(f"a number from 0 to {show(lower)}, the sum of the neurons' bounds", show(stated))
    equal(fields["upper"], "the sum of the squared lengths of the neurons", upper)
    return Stationary(tolerance, kinks, stated, upper)


def raised(problem: Problem, weights: Weights, i: int) -> Fraction:
    """r.(Z W1_i)_+"""
    heights = times(problem.Z, weights.W1[i])
    return sum((r_k * h for r_k, h in zip(weights.residual, heights, strict=True) if h > 0), Fraction(0))


def kinks_of(problem: Problem, weights: Weights, i: int, tolerance: Fraction) -> list[int]:
    """The rows with |z_k.W1_i| <= tolerance |z_k||W1_i| where a step of D_k changes the gradient: w2_i r_k z_k != 0."""
    if not weights.w2[i]:
        return []
    w, r = weights.W1[i], weights.residual
    reach = tolerance**2 * square(w)
    return [k for k, z in enumerate(problem.Z) if r[k] and any(z) and dot(z, w) ** 2 <= reach * square(z)]


def nearest(
    problem: Problem, patterns: Patterns | None, weights: Weights, i: int, kinks: list[int], node: Node
) -> tuple[Fraction, Fraction]:
    """Bounds of the squared distance of 0 from d/dW1_i: x = sum t_c p_c is in it, so |x|^2 is one; and every corner p
    has x.p >= m, so that every element e has |e| >= e.x / |x| >= m / |x|."""
    w, v = weights.W1[i], weights.w2[i]
    bent = mask_of(kinks)
    heights = times(problem.Z, w)
    on = mask_of(k for k, h in enumerate(heights) if h > 0) & ~bent
    if not kinks:
        node.array(0)
        length = square(gradient(problem, weights, w, v, on))
        return length, length
    if patterns is None:
        raise node.reject("the fact patterns, which cells at kinks rest on", "none")
    cells = patterns.masks[: patterns.open_cells]
    x, total = [Fraction(0)] * problem.d, Fraction(0)
    for entry in node.array():
        number, share = entry.array(2)
        t = share.number()
        if t <= 0:
            raise share.reject("a weight > 0")
        corner = gradient(problem, weights, w, v, on | cells[number.index(len(cells))] & bent)
        x, total = [a + t * b for a, b in zip(x, corner, strict=True)], total + t
    if total != 1:
        raise node.reject("weights that add up to 1", show(total))
    length = square(tuple(x))
    around = {mask & bent for mask in cells}
    if len(around) > MOST_CELLS:
        return Fraction(0), length
    least = min(dot(x, gradient(problem, weights, w, v, on | cell)) for cell in around)
    return (least**2 / length if least > 0 else Fraction(0)), length


def gradient(problem: Problem, weights: Weights, w: Vector, v: Fraction, rows: int) -> Vector:
    """lambda W1_i - w2_i sum of r_k z_k over the rows."""
    chosen = [k for k in range(problem.n) if rows >> k & 1]
    return tuple(
        problem.lam * x - v * sum((weights.residual[k] * problem.Z[k][j] for k in chosen), Fraction(0))
        for j, x in enumerate(w)
    )
