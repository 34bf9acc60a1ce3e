"""The formulas of a path, judged by the definitions: what `path --exact --json` says, read as sympy expressions.

On a stretch, with |w_i|, u_i and p* as expressions in lambda (and in an alpha, or in weights and directions, that solve
its relations; those are found by Newton's method from the numbers `near` that are proposed):

    the network of (|w_i|, u_i) has |v_b(r)| <= lambda for all b, |w_i| >= 0, r.(Zu_i)_+ = sign lambda, |u_i| = 1 and
    p* = 1/2 |r|^2 + lambda sum |w_i|                                                   at lambdas of the stretch,
    d p*/d lambda = sum |w_i|                                          (the envelope theorem, by diff, on all of it),
    p* has the same limit on both sides of a breakpoint (prop:value-continuity-cgl).

Where movers share a weight, only its sum is told; then |v_b| <= lambda and the fit are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from sympy import QQ, Expr, Matrix, Poly, Rational, Symbol, diff, limit, nsolve, simplify, sympify, together
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import column, norm2
from properties.symbolic.program import dual_vectors, relu_program

PLACES, STEPS = 50, 6
NEAR = Rational(1, 10**30)  # of what is evaluated to so many places
lam = Symbol("lambda", positive=True)
SHARES = (Rational(1, 5), Rational(1, 2), Rational(4, 5))


def wrong_formulas(Z: DomainMatrix, y: DomainMatrix, told: dict[str, Any]) -> list[str]:
    """What is wrong with the stretches of a path of a ReLU network; empty if nothing is."""
    ways = [_Way(one) for one in (*told["stretches"], *told["moving"])]
    ways.sort(key=lambda way: -way.hi.evalf(PLACES))
    wrong = [f"{way.name}: {why}" for way in ways for why in (*_at_points(Z, y, way), *_derivative(way))]
    for upper, lower in pairwise(ways):
        if abs((upper.lo - lower.hi).evalf(PLACES)) < NEAR:
            gap = upper.value_near(upper.lo, "+") - lower.value_near(lower.hi, "-")
            if abs(gap) > NEAR:
                wrong.append(f"p* jumps by {gap.evalf(5)} at lambda = {upper.lo.evalf(10)}")
    return wrong


class _Way:
    """A stretch as it is told."""

    def __init__(self, told: dict[str, Any]) -> None:
        texts = (told["value"], told.get("lambda_squared", ""), *told.get("relations", ()))
        found = {name for text in texts for name in re.findall(r"alpha|w_\d+|u_\d+_\d+", text)}
        names = {name: Symbol(name, real=True) if name[0] == "u" else Symbol(name, positive=True) for name in found}
        self.alphas = sorted(names.values(), key=str)

        def read(text: str) -> Expr:
            return sympify(text.replace("lambda", "lam_"), locals=names | {"lam_": lam})

        self.lo, self.hi, self.value = read(told["lo"]), read(told["hi"]), read(told["value"])
        squared = told.get("lambda_squared")
        self.squared = squared is not None
        self.ties = [read(squared) - lam**2] if squared else [read(x) for x in told.get("relations", [])]
        neurons = (*told.get("movers", []), *told["neurons"])
        self.neurons: list[tuple[int, Any, Any]] = [
            (n["sign"], None if n["weight"] is None else read(n["weight"]), Matrix([read(x) for x in n["direction"]]))
            for n in neurons
        ]
        self.shared = bool(told.get("shared"))
        self.near = {lam if name == "lambda" else names[name]: Rational(x) for name, x in told.get("near", {}).items()}
        self.name = f"{self.lo.evalf(6)} <= lambda <= {self.hi.evalf(6)}"

    def at(self, share: Rational) -> Rational:
        """A lambda of the stretch."""
        return Rational(str((self.lo + share * (self.hi - self.lo)).evalf(12)))

    @property
    def total(self) -> Expr:
        """sum |w_i|"""
        if self.shared:
            return self.alphas[0] * lam
        return sum((weight for _, weight, _ in self.neurons), Rational(0))

    def solutions(self, at: Rational) -> Iterator[dict[Symbol, Any]]:
        """What solves the relations at a lambda: every positive alpha, or what Newton's method leads to."""
        if not self.alphas:
            yield {lam: at}
        elif len(self.alphas) == 1:
            (tie,) = self.ties
            for x in Poly(together(tie.subs(lam, at)).as_numer_denom()[0], self.alphas[0]).nroots(n=2 * PLACES):
                if x.is_real and x > 0:
                    yield {lam: at, self.alphas[0]: x}
        elif self.near:
            x, start = Matrix([self.near[a] for a in self.alphas]), self.near[lam]
            for k in range(STEPS + 1):
                here = start + (at - start) * Rational(k, STEPS)
                x = nsolve([tie.subs(lam, here) for tie in self.ties], self.alphas, list(x), prec=2 * PLACES)
            yield {lam: at} | dict(zip(self.alphas, x, strict=True))

    def value_near(self, end: Expr, side: str) -> Any:
        """The limit of p* at an end."""
        if not self.alphas:
            return limit(self.value, lam, end, side).evalf(PLACES)
        near = Rational(str(end.evalf(2 * PLACES)))
        values = [self.value.subs(known).evalf(PLACES) for known in self.solutions(near)]
        return values[0] if values else limit(self.value, self.alphas[0], 0).evalf(PLACES)  # at lambda_max


def _at_points(Z: DomainMatrix, y: DomainMatrix, way: _Way) -> Iterator[str]:
    """What is wrong at lambdas of the stretch."""
    for share in SHARES:
        at = way.at(share)
        found = [_network(Z, y, way, known) for known in way.solutions(at)]
        if found and "" not in found:
            yield f"at lambda = {float(at):.6g} {found[0]}"


def _network(Z: DomainMatrix, y: DomainMatrix, way: _Way, known: dict[Symbol, Any]) -> str:
    """Why the network at one lambda is not optimal with this p*."""
    at, rows = known[lam], Z.to_Matrix()
    units = [(sign, Matrix([x.subs(known).evalf(PLACES) for x in u])) for sign, _, u in way.neurons]
    if any(abs(u.dot(u) - 1) > NEAR for _, u in units):
        return "a direction is no unit vector"
    if way.shared:
        return ""
    weights = [weight.subs(known).evalf(PLACES) for _, weight, _ in way.neurons]
    if min(weights, default=0) < -NEAR:
        return "a weight is negative"
    seen = [Matrix([max(h, 0) for h in rows * u]) for _, u in units]
    r = y.to_Matrix().evalf(PLACES)
    for w, (sign, _), h in zip(weights, units, seen, strict=True):
        r -= sign * w * h
    if any(abs(sign * r.dot(h) - at) > NEAR for (sign, _), h in zip(units, seen, strict=True)):
        return "a neuron does not tie"
    rational = column([QQ.from_sympy(Rational(str(x))) for x in r])
    longest = max(norm2(v) for v in dual_vectors(relu_program(Z, y, QQ.from_sympy(at)), rational))
    if QQ.to_sympy(longest) > at**2 + NEAR:
        return "another neuron is longer than lambda"
    if abs(r.dot(r) / 2 + at * sum(weights) - way.value.subs(known)) > NEAR:
        return "p* is not the objective"
    return ""


def _derivative(way: _Way) -> Iterator[str]:
    """d p*/d lambda = sum |w_i|; where alphas depend on lambda by the relations: as a formula where the relation is one
    for lambda, else at lambdas of the stretch."""
    change = Matrix([[diff(tie, alpha) for alpha in way.alphas] for tie in way.ties])
    slope = diff(way.value, lam)
    if len(way.alphas) > 1:
        for one in (known for share in SHARES for known in way.solutions(way.at(share))):
            moved = -change.subs(one).evalf(PLACES).LUsolve(Matrix(way.ties).diff(lam).subs(one).evalf(PLACES))
            up = Matrix([[diff(way.value, alpha) for alpha in way.alphas]]).subs(one).evalf(PLACES)
            if abs((slope - way.total).subs(one).evalf(PLACES) + (up * moved)[0]) > NEAR:
                yield "d p*/d lambda is not the sum of the weights"
                return
        return
    if len(way.alphas) == 1:
        slope -= diff(way.value, way.alphas[0]) * diff(way.ties[0], lam) / change[0]
    off = slope - way.total
    if not way.alphas:
        right = simplify(off) == 0
    elif way.squared:
        top = Poly(together(off * lam).as_numer_denom()[0], lam)
        right = top.rem(Poly(way.ties[0].as_numer_denom()[0], lam)).is_zero
    else:
        points = (way.at(share) for share in SHARES)
        right = all(any(abs(off.subs(one).evalf(PLACES)) < NEAR for one in way.solutions(at)) for at in points)
    if not right:
        yield "d p*/d lambda is not the sum of the weights"
