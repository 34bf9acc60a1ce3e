"""What is known about the optimum of a certificate's program, found again by the definitions: bounds on p*, the
residual exactly where it can be, and else a ball that holds it.

Of the certificate only its proposals are used: weights, a dual point, perhaps a residual in a field. Weights are looked
at in their cones, the dual point against every block, the residual in the KKT system.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.ball import Ball, squared_radius
from properties.symbolic.cones import in_cone
from properties.symbolic.numbers import (
    RATIONAL,
    Number,
    Reals,
    algebraic,
    column,
    dot,
    entries,
    norm2,
    rational,
    root_above,
)
from properties.symbolic.optimum import NotOptimalError, Optimum, optimum
from properties.symbolic.program import Program, dual_value, lambda_max2, objective
from properties.symbolic.reader import Certificate, vector

DIGITS = 60
DENOMINATORS = (10**2, 10**4, 10**6, 10**9)


@dataclass(frozen=True)
class Evidence:
    """A certificate, and what the definitions say about its optimum."""

    certificate: Certificate

    @property
    def program(self) -> Program:
        """The program."""
        return self.certificate.program

    @property
    def plain(self) -> bool:
        """Least squares without delta: what prop:sol-fn-cgl speaks of."""
        return not self.program.delta and not self.program.logistic

    @cached_property
    def zero(self) -> bool:
        """Whether w = 0 solves the program: lambda >= lambda_max."""
        p = self.program
        if p.B is None:
            return bool(p.lam**2 >= lambda_max2(p))
        if p.logistic:
            return False
        at = p.y - p.B * ((p.B.transpose() * p.B).inv() * (p.B.transpose() * p.y))
        return bool(p.lam**2 >= lambda_max2(replace(p, y=at)))

    @cached_property
    def upper(self) -> Number | None:
        """P(w) of the stated weights, rounded up a little; None if they are not in their cones, or there are none."""
        point = self.certificate.point
        if point is None:
            return None
        w, fit = point
        p = self.program
        if not all(in_cone(b.K, wb, p.reals) for b, wb in zip(p.blocks, w, strict=True)):
            return None
        if self.plain:
            norms = sum((root_above(norm2(p.normed(wb)), 300) for wb in w), QQ(0))
            return norm2(fit - p.y) / 2 + p.lam * norms
        moved = replace(p, B=None)
        if p.B is not None:
            return None
        return above(objective(moved, w))

    @cached_property
    def theta(self) -> DomainMatrix | None:
        """The stated dual point, scaled down if it is too long for a block: |v_b(theta)| <= lambda, B'theta = 0."""
        theta, p = self.certificate.theta, self.program
        if theta is None or (p.B is not None and any(entries(p.B.transpose() * theta))):
            return None
        if p.logistic and not all(0 <= t * a <= 1 for t, a in zip(entries(p.y), entries(theta), strict=True)):
            return None
        if p.delta:
            return theta
        longest = max((norm2(p.dual(b, theta)[0]) for b in p.blocks), default=0)
        return theta if longest <= p.lam**2 else theta * (p.lam / root_above(longest))

    @cached_property
    def lower(self) -> Number | None:
        """D(theta), rounded down a little."""
        if self.theta is None:
            return None
        p = self.program
        if self.plain:
            return dot(p.y, self.theta) - norm2(self.theta) / 2
        return below(dual_value(p, self.theta))

    @cached_property
    def ball(self) -> Ball | None:
        """The residuals that the two bounds leave."""
        if not self.plain or self.upper is None or self.lower is None or self.theta is None:
            return None
        return Ball(self.program, self.theta, squared_radius(self.program, self.upper, self.theta))

    @cached_property
    def optimum(self) -> Optimum | None:
        """All solutions, where the residual is known exactly."""
        if not self.plain:
            return None
        for p, r in self._residuals():
            try:
                return optimum(p, r)
            except NotOptimalError:
                continue
        return None

    def _residuals(self) -> Iterator[tuple[Program, DomainMatrix]]:
        """Residuals that may be the optimal one, each with the blocks that are not out and numbers of its field."""
        p = self.program
        if self.zero:
            r = p.y if p.B is None else p.y - p.B * ((p.B.transpose() * p.B).inv() * (p.B.transpose() * p.y))
            yield p, r
            return
        theta = self.certificate.theta
        if self.ball is None:
            if theta is not None:
                yield p, theta
            return
        left = replace(p, blocks=tuple(p.blocks[i] for i in self.ball.candidates))
        fact = self.certificate.facts.get("algebraic_set")
        if fact is not None:
            reals = field_of(fact)
            r = column([reals.number(vector(text)) for text in fact["residual"]], reals)
            if self._inside(r, reals):
                yield left.over(reals), r
        for r in self._guesses():
            if self._inside(r, RATIONAL):
                yield left, r

    def _inside(self, r: DomainMatrix, reals: Reals) -> bool:
        """Whether r is in the ball, so that the blocks that are out there are out at r."""
        if self.ball is None:
            return False
        away = r - self.ball.theta.convert_to(reals.domain)
        return reals.sign(norm2(away) - reals.of(self.ball.R2)) <= 0

    def _guesses(self) -> Iterator[DomainMatrix]:
        """Rational points near the stated dual point, simplest first, and the point itself."""
        theta = entries(self.certificate.theta)
        for bound in DENOMINATORS:
            near = [Fraction(int(a.numerator), int(a.denominator)).limit_denominator(bound) for a in theta]
            yield column([QQ(a.numerator, a.denominator) for a in near])
        yield column(theta)


def field_of(fact: dict[str, Any]) -> Reals:
    """The field of an `algebraic_set`."""
    field = fact["field"]
    return algebraic(vector(field["polynomial"]), rational(field["lo"]), rational(field["hi"]))


def above(expression: Any) -> Number:
    """A rational just above a sympy number."""
    return _scaled(expression) + QQ(2, 10 ** (DIGITS - 5))


def below(expression: Any) -> Number:
    """A rational just below a sympy number."""
    return _scaled(expression) - QQ(2, 10 ** (DIGITS - 5))


def _scaled(expression: Any) -> Number:
    """The number to about DIGITS - 5 places behind the point."""
    from sympy import Integer, floor, sympify

    value = sympify(expression)
    digits = DIGITS + max(0, int(floor(abs(value.evalf(15)) + 1)).bit_length())
    shown = value.evalf(digits, maxn=5000, strict=True) * Integer(10) ** (DIGITS - 5)
    return QQ(int(floor(shown)), 10 ** (DIGITS - 5))
