"""The pruning step of alg:pruning-solutions, as printed and repaired.

A solution is w_b = alpha_b v_b with outputs q_b = X_b v_b; beta with sum beta_b alpha_b q_b = 0 over the active
blocks is a dependence, and a step multiplies alpha_b by 1 - t beta_b.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from properties.exact.linalg import Matrix, Vector, add, dependencies, scale, zeros
from properties.exact.polytope import support

Step = Callable[[Vector], Fraction]


def printed_step(beta: Vector) -> Fraction:
    """t = 1/|beta_i| at the entry of largest magnitude, as printed."""
    return 1 / max(abs(b) for b in beta)


def signed_step(beta: Vector) -> Fraction:
    """t = 1/beta_i at the entry of largest magnitude: with the sign, that entry is pruned."""
    return 1 / max(beta, key=abs)


def positive_step(beta: Vector) -> Fraction:
    """t = 1/max_i beta_i, the first positive t at which an entry vanishes (beta has a positive entry)."""
    return 1 / max(beta)


def apply_step(alpha: Vector, beta: Vector, t: Fraction) -> Vector:
    """alpha_b (1 - t beta_b)"""
    return tuple(a * (1 - t * b) for a, b in zip(alpha, beta, strict=True))


@dataclass(frozen=True)
class Choice:
    """How a dependence is chosen: weights of the basis of dependences, and whether its largest entry is negative.

    The algorithm allows any beta; `contrary` takes the sign for which a step of length 1/|beta| prunes nothing.
    """

    mix: tuple[int, ...] = (1,)
    contrary: bool = False


def active_dependence(alpha: Vector, q: Sequence[Vector], choice: Choice) -> Vector | None:
    """A beta, zero off the support, with sum beta_b alpha_b q_b = 0, or None if there is none but zero."""
    on = support(alpha)
    basis: Matrix = dependencies([scale(alpha[i], q[i]) for i in on])
    if not basis:
        return None
    beta = zeros(len(on))
    for k, row in enumerate(basis):
        beta = add(beta, scale(choice.mix[k % len(choice.mix)], row))
    if not any(beta):
        beta = basis[0]
    if (max(beta, key=abs) < 0) != choice.contrary:
        beta = scale(-1, beta)
    full = [Fraction(0)] * len(alpha)
    for i, b in zip(on, beta, strict=True):
        full[i] = b
    return tuple(full)


@dataclass(frozen=True)
class Run:
    """What the algorithm did: all its iterates."""

    iterates: tuple[Vector, ...]


def prune(alpha: Vector, q: Sequence[Vector], step: Step, choice: Choice) -> Run:
    """alg:pruning-solutions with the given rule for t; stops too when it has done more steps than blocks."""
    iterates = [alpha]
    for _ in range(len(alpha) + 1):
        beta = active_dependence(iterates[-1], q, choice)
        if beta is None:
            return Run(tuple(iterates))
        iterates.append(apply_step(iterates[-1], beta, step(beta)))
    return Run(tuple(iterates))
