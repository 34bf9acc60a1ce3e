"""Two-layer ReLU networks with rational weights: fit, objective, Clarke stationarity, membership in C_lambda.

Objective: 1/2 |sum_i (Z W_i)_+ w2_i - y|^2 + lambda/2 sum_i (|W_i|^2 + w2_i^2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from properties.exact.cone import feasible
from properties.exact.linalg import Matrix, Vector, add, dot, norm2, scale, sub, total, zeros
from properties.exact.patterns import Pattern, patterns, relu_block
from properties.exact.problem import CGL, is_optimal, positive_ratio


@dataclass(frozen=True)
class Neuron:
    """First-layer weights W and second-layer weight w2."""

    W: Vector
    w2: Fraction

    @property
    def image(self) -> Vector:
        """|w2| W: the neuron's vector in the convex program."""
        return scale(abs(self.w2), self.W)

    @property
    def sign(self) -> int:
        """xi = sign(w2)"""
        return (self.w2 > 0) - (self.w2 < 0)


Network = tuple[Neuron, ...]


def relu(x: Vector) -> Vector:
    """(x)_+"""
    return tuple(max(e, Fraction(0)) for e in x)


def output(Z: Matrix, u: Vector) -> Vector:
    """(Zu)_+"""
    return relu(tuple(dot(z, u) for z in Z))


def network_fit(Z: Matrix, net: Iterable[Neuron]) -> Vector:
    """f(Z)"""
    return total((scale(i.w2, output(Z, i.W)) for i in net), len(Z))


def penalty(net: Iterable[Neuron]) -> Fraction:
    """R(W_1, w_2) = sum_i |W_i|^2 + w2_i^2"""
    return sum((norm2(i.W) + i.w2**2 for i in net), Fraction(0))


def network_objective(Z: Matrix, y: Vector, lam: Fraction, net: Network) -> Fraction:
    """The non-convex objective, exactly."""
    return norm2(sub(network_fit(Z, net), y)) / 2 + lam * penalty(net) / 2


def merge(net: Network) -> tuple[tuple[int, Vector], ...]:
    """The network up to permutations and splits: images of collinear neurons of one sign added, sorted."""
    out: list[tuple[int, Vector]] = []
    for i in net:
        if not any(i.image):
            continue
        for k, (sign, u) in enumerate(out):
            if sign == i.sign and positive_ratio(i.image, u) is not None:
                out[k] = (sign, add(u, i.image))
                break
        else:
            out.append((i.sign, i.image))
    return tuple(sorted(out))


def on_kink(Z: Matrix, net: Network) -> bool:
    """Some active neuron is zero on some non-zero data point."""
    return any(any(i.image) and any(any(z) and dot(z, i.W) == 0 for z in Z) for i in net)


def adjacent_cells(Z: Matrix, W: Vector) -> tuple[Pattern, ...]:
    """The open cells whose closure holds W."""
    signs = [dot(z, W) for z in Z]
    return tuple(p for p in patterns(Z).open if all(s == 0 or (s > 0) == on for s, on in zip(signs, p, strict=True)))


def clarke_stationary(Z: Matrix, y: Vector, lam: Fraction, net: Network) -> bool:
    """0 is in the Clarke subdifferential, neuron by neuron.

    It is the convex hull of the limits of gradients from the open cells next to W, so the question for one
    neuron is whether lam W = w2 Z'D r for a mean D of adjacent cells: exact linear feasibility.
    """
    r = sub(y, network_fit(Z, net))
    for i in net:
        if dot(r, output(Z, i.W)) != lam * i.w2:
            return False
        columns = []
        for p in adjacent_cells(Z, i.W):
            g = total((scale(i.w2 * rk, z) for rk, z, on in zip(r, Z, p, strict=True) if on), len(i.W))
            columns.append((*g, Fraction(1)))
        if feasible(columns, (*scale(lam, i.W), Fraction(1))) is None:
            return False
    return True


def in_stationary_set(Z: Matrix, y: Vector, lam: Fraction, net: Network) -> bool:
    """The network is in the set of prop:stationary-points: optimal for some sub-sampled convex program.

    Balanced, and for some choice of a conforming pattern for every neuron, the merged images solve the program
    of exactly those patterns (further patterns could only make it harder to be optimal).
    """
    if any(norm2(i.W) != i.w2**2 for i in net):
        return False
    groups = merge(net)
    conforming = [[p for p in patterns(Z).all if _conforms(Z, p, u)] for _, u in groups]
    for choice in product(*conforming):
        chosen = tuple(sorted(set(choice)))
        blocks = [(p, xi) for p in chosen for xi in (1, -1)]
        w = {b: zeros(len(Z[0])) for b in blocks}
        for (s, u), p in zip(groups, choice, strict=True):
            w[p, s] = add(w[p, s], u)
        problem = CGL(tuple(relu_block(Z, p, xi) for p, xi in blocks), y, lam * lam)
        if is_optimal(problem, tuple(w[b] for b in blocks)):
            return True
    return False


def _conforms(Z: Matrix, p: Pattern, u: Vector) -> bool:
    return all((s >= 0) if on else (s <= 0) for s, on in zip((dot(z, u) for z in Z), p, strict=True))
