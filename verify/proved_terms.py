"""The text of a certificate with bags, free terms or the logistic loss: a cover, or leaders, of the rows beside targets
0, for t = P'theta; then P, the free columns, the loss and the targets, and both bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from verify.cover.lines import dot
from verify.numbers.integers import cleared, cleared_rows
from verify.problem.problem import Problem, transposed
from verify.proved import BOUND_BITS, WEIGHT_BITS, Integers, Text, words
from verify.rules.logistic import value as logarithms
from verify.text import Vector

# exp x is bounded by (1 + x/2^SQUARINGS)^(2^SQUARINGS), with EXP_BITS bits; proposed numbers have LOG_BITS, and are
# SLACK beyond what they bound, relatively: more than what is lost there.
SQUARINGS, EXP_BITS, LOG_BITS = 300, 1200, 320
SLACK = Fraction(1, 1 << 240)
LARGE = 512  # of exp(-s), the bits for which EXP_BITS are enough


@dataclass(frozen=True)
class TermsText(Text):
    """`ground` proves that P'theta is feasible; `point` is theta; `free` are the coefficients of the free columns."""

    ground: Text
    free: Vector

    def lines(self) -> Iterator[str]:
        """The whole text."""
        logistic = self.problem.logistic
        yield self.statement
        yield self.terms
        yield from self.ground.grounds()
        yield f"exps {SQUARINGS} {1 << self.exp_bits} {1 << LOG_BITS}"
        yield f"upper {len(self.layers)} {1 << WEIGHT_BITS}"
        yield from (f"{words(w)} {v}" for w, v in self.layers)
        beta, bden = cleared(self.free)
        yield f"{bden} {words(beta)}"
        if logistic:
            yield from (f"{e} {u}" for e, u in self.losses)
        yield self.bounds[0].removeprefix("upper ")
        yield f"theta {self.point[1]} {words(self.point[0])}"
        if logistic:
            yield from map(words, self.entropies)
        yield self.bounds[1]

    @property
    def expected(self) -> list[str]:
        """The rows, the terms, and both bounds."""
        return [self.statement, self.terms, *(f"{line} accepted" for line in self.bounds)]

    @property
    def statement(self) -> str:
        """The rows and lambda beside targets 0. This is compared."""
        return self.ground.statement

    @cached_property
    def terms(self) -> str:
        """Everything else of the problem. This is compared."""
        y, yden = cleared(self.problem.y)
        return terms_of(self.problem, y, yden)

    @cached_property
    def fit(self) -> list[Fraction]:
        """The predictions of `layers`, with the coefficients of the free columns."""
        rows, rden = self.ground.rows
        unit = rden << 2 * WEIGHT_BITS
        outs = [sum(v * max(0, dot(z, w)) for w, v in self.layers) for z in rows]
        if self.problem.bags:
            P, pden = matrix_of(self.problem)
            outs, unit = [dot(row, outs) for row in P], unit * pden
        base = transposed(self.problem.outputs, self.free) if self.free else (Fraction(0),) * len(outs)
        return [Fraction(x, unit) + b for x, b in zip(outs, base, strict=True)]

    @cached_property
    def upper(self) -> Fraction:
        """The objective of `layers`, rounded up to a multiple of 2^-BOUND_BITS."""
        p = self.problem
        penalty = sum(dot(w[: p.d - p.biases], w) + v * v for w, v in self.layers)
        if p.logistic:
            loss = Fraction(sum(u for _, u in self.losses), 1 << LOG_BITS)
        else:
            loss = sum(((f - y) ** 2 for f, y in zip(self.fit, p.y, strict=True)), Fraction(0)) / 2
        exact = loss + p.lam * Fraction(penalty, 2 << 2 * WEIGHT_BITS)
        return Fraction(-(-(exact.numerator << BOUND_BITS) // exact.denominator), 1 << BOUND_BITS)

    @cached_property
    def lower(self) -> Fraction:
        """y.theta - 1/2|theta|^2, or the sum of -a L1 - (1 - a) L2 with a = y_k theta_k."""
        if not self.problem.logistic:
            return super().lower
        pairs = zip(self.chances, self.entropies, strict=True)
        found = ((a if y else 1, *pair) for (a, pair), y in zip(pairs, self.problem.y, strict=True))
        total = sum((Fraction(a * one + (1 - a) * other) for a, one, other in found), Fraction(0))
        return -total / (1 << LOG_BITS)

    @property
    def chances(self) -> list[Fraction]:
        """a = y_k theta_k"""
        theta, q = self.point
        return [y * Fraction(t, q) for y, t in zip(self.problem.y, theta, strict=True)]

    @property
    def scores(self) -> list[Fraction]:
        """s = y_k f_k"""
        return [y * f for y, f in zip(self.problem.y, self.fit, strict=True)]

    @cached_property
    def exp_bits(self) -> int:
        """More bits where some exp(-s) is very small, or very large."""
        most = max((abs(int(s)) for s in self.scores), default=0) if self.problem.logistic else 0
        return EXP_BITS + 2 * max(0, most - LARGE)

    @cached_property
    def losses(self) -> list[Integers]:
        """E >= exp(-s) and U >= log(1 + E), for each output, times 2^LOG_BITS; U >= 1/2 f^2 at rows of zeros."""
        found = []
        for s, f, y in zip(self.scores, self.fit, self.problem.y, strict=True):
            if not y:
                found.append([0, half_square(f)])
                continue
            e = 1 + int(exp_at_least(s) * (1 + SLACK) * (1 << LOG_BITS))
            found.append([e, log_above(1 + Fraction(e, 1 << LOG_BITS))])
        return found

    @cached_property
    def entropies(self) -> list[Integers]:
        """L1 >= log a and L2 >= log(1 - a), for each output, times 2^LOG_BITS; at rows of zeros L1 >= 1/2 theta^2."""
        theta, q = self.point
        given = zip(self.chances, theta, self.problem.y, strict=True)
        return [
            [log_above(x) if x > 0 else 0 for x in (a, 1 - a)] if y else [half_square(Fraction(t, q)), 0]
            for a, t, y in given
        ]

    def obstacle(self, cones: tuple[int, int] | None) -> str:
        """No more than the bounds is read."""
        return "with bags, free terms or the logistic loss both bounds are proved, and no more"


def exp_at_least(s: Fraction) -> Fraction:
    """At least exp(-s); where s < 0 by the square of the square of ... exp of a number above -64."""
    if s >= 0:
        return Fraction(logarithms.exp_of_minus(s)[1], logarithms.ONE)
    k = max(0, int(-s).bit_length() - 6)
    return Fraction(logarithms.ONE, logarithms.exp_of_minus(-s / (1 << k))[0]) ** (1 << k)


def half_square(x: Fraction) -> int:
    """At least x^2/2, times 2^LOG_BITS."""
    return 1 + int(x**2 * (1 << LOG_BITS) / 2)


def log_above(x: Fraction) -> int:
    """A number above log x, times 2^LOG_BITS."""
    _, high = logarithms.log_of(x)
    return 1 + (high >> logarithms.BITS - LOG_BITS) + int(SLACK * (1 << LOG_BITS))


def matrix_of(problem: Problem) -> tuple[list[Integers], int]:
    """P as integers over a common denominator; without bags nothing, over 1."""
    q = lcm(*(bag.scale.denominator for bag in problem.bags))
    rows = [[0] * problem.N for _ in problem.bags]
    for row, bag in zip(rows, problem.bags, strict=True):
        for k, m in zip(bag.rows, bag.times, strict=True):
            row[k] = int(bag.scale * q) * m
    return rows, q


def terms_of(problem: Problem, y: Sequence[int], yden: int) -> str:
    """P, the free columns, the loss, and these targets."""
    P, q = matrix_of(problem)
    pooled = f"{len(P)} {q} {words(x for row in P for x in row)}" if P else "0"
    columns, fden = cleared_rows(problem.outputs)
    free = (x for row in zip(*columns, strict=True) for x in row)
    parts = (len(columns), fden, len(y), *free, yden, *y)
    loss = ("softmax" if problem.targets > 1 else "logistic") if problem.logistic else "squares"
    return f"terms {loss} {problem.d - problem.biases} bags {pooled} free {words(parts)}"
