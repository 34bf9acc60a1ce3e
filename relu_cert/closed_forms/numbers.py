"""Exact numbers as sympy expressions: rationals, radicals where they are short, else the root of a stated
polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb, ctx, fmpq_mat

from relu_cert.exact import to_fmpq, to_fraction
from relu_cert.prove.field import Exact, Number

BITS = 400
MOST_OPERATIONS = 60  # of an expression in radicals; beyond that the polynomial says more


def expression(x: Fraction | int | Number) -> Any:
    """The number as a sympy expression."""
    from sympy import Rational

    if not isinstance(x, Number):
        x = Fraction(x)
        return Rational(x.numerator, x.denominator)
    return _root(minimal_polynomial(x), x)


def expressions(entries: Exact) -> Any:
    """A column of them."""
    from sympy import Matrix

    return Matrix([expression(x) for x in entries])


def minimal_polynomial(x: Number) -> tuple[Fraction, ...]:
    """The coefficients, lowest first, of the monic polynomial of least degree with the root x."""
    powers = [x.field.rational(1)]
    while True:
        powers.append(powers[-1] * x)
        rows = [[to_fmpq(c) for c in power.coefficients()] for power in powers]
        form, rank = fmpq_mat(list(map(list, zip(*rows, strict=True)))).rref()
        if rank < len(powers):
            last = len(powers) - 1
            return (*(-to_fraction(form[i, last]) for i in range(last)), Fraction(1))


def _root(coefficients: tuple[Fraction, ...], x: Number) -> Any:
    """The root of an irreducible polynomial that is x: the only one in a short interval around x."""
    from sympy import Rational, sqrt

    if len(coefficients) == 2:
        return expression(-coefficients[0])
    if len(coefficients) == 3:
        c, b, _ = coefficients
        side = (x + b / 2).sign()
        return Rational(*(-b / 2).as_integer_ratio()) + side * sqrt(Rational(*(b * b / 4 - c).as_integer_ratio()))
    near, off = x.near(BITS), Fraction(1, 1 << (BITS // 2))
    return _isolated(coefficients, near - off, near + off)


@cache
def _isolated(coefficients: tuple[Fraction, ...], lo: Fraction, hi: Fraction) -> Any:
    """In radicals, if they are real and short; else as a root of the polynomial."""
    from sympy import Poly, Rational, Symbol

    def rational(x: Fraction) -> Any:
        return Rational(*x.as_integer_ratio())

    poly = Poly([rational(c) for c in reversed(coefficients)], Symbol("x"))
    return short_root(poly, rational(lo), rational(hi))


def short_root(poly: Any, lo: Any, hi: Any) -> Any:
    """The only root of the irreducible polynomial between lo and hi."""
    from sympy import CRootOf, I, roots, sqrtdenest

    if poly.count_roots(lo, hi) != 1:
        raise ValueError("the root is not told from the others")
    if poly.degree() <= 4:
        for found in roots(poly, quartics=True):
            short = sqrtdenest(found)
            if short.has(I) or short.count_ops() > MOST_OPERATIONS or short.is_real is False:
                continue
            if lo < short.evalf(BITS // 4) < hi:
                return short
    return CRootOf(poly, poly.count_roots(None, lo))


def root(x: Fraction) -> Any:
    """sqrt(x)"""
    from sympy import sqrt

    return sqrt(expression(x))


def root_of(x: Any) -> Any:
    """The square root of an expression, denested where sympy does that."""
    from sympy import sqrt, sqrtdenest

    return sqrtdenest(sqrt(x))


PLACES = 12


def aligned(lines: str) -> str:
    """Equations as a notebook shows them."""
    return f"$$\\begin{{aligned}}{lines}\\end{{aligned}}$$"


def said(x: Any) -> str:
    """The expression as text; the roots of polynomials in it with what encloses its value."""
    from sympy import sstr

    return f"{sstr(x)}{enclosed(x)}"


def enclosed(x: Any) -> str:
    """Where a number is that is told by roots of polynomials; nothing for others."""
    from sympy import CRootOf, Expr, Integer, floor

    if not isinstance(x, Expr) or not x.has(CRootOf) or x.free_symbols:
        return ""
    low = Fraction(int(floor(x.evalf(40) * Integer(10) ** PLACES)), 10**PLACES)
    return f" in [{', '.join(holds(y) for y in (low, low + Fraction(1, 10**PLACES)))}]"


def holds(x: Fraction) -> str:
    """A multiple of 10^-PLACES in decimals."""
    whole = abs(x.numerator * 10**PLACES // x.denominator)
    return f"{'-' if x < 0 else ''}{whole // 10**PLACES}.{whole % 10**PLACES:0{PLACES}d}"


def near(entries: Exact) -> tuple[Fraction, ...]:
    """The numbers, to many digits."""
    return tuple(x.near(BITS) if isinstance(x, Number) else Fraction(x) for x in entries)


class Writer:
    """Writes numbers of one field: in powers of pure radicals that some seeds are, if they span the field; else one by
    one."""

    def __init__(self, seeds: Sequence[Any]) -> None:
        self.basis: list[tuple[Number, Any]] = []
        self.inverse: fmpq_mat | None = None
        numbers = [x for x in seeds if isinstance(x, Number)]
        if numbers:
            self._span(numbers)

    def __call__(self, x: Any) -> Any:
        """The number as a sympy expression."""
        if self.inverse is None or not isinstance(x, Number) or len(minimal_polynomial(x)) <= 3:
            return expression(x)
        shares = self.inverse * fmpq_mat([[to_fmpq(c)] for c in x.coefficients()])
        return sum(expression(to_fraction(shares[i, 0])) * one for i, (_, one) in enumerate(self.basis))

    def column(self, entries: Exact) -> Any:
        """A column of expressions."""
        from sympy import Matrix

        return Matrix([self(x) for x in entries])

    def _span(self, seeds: Sequence[Number]) -> None:
        """Products of pure radicals (x^k rational, k = 2 or 4) among the seeds, until they are a basis of the field."""
        field = seeds[0].field
        basis = [(field.rational(1), expression(1))]
        for seed in seeds:
            m = minimal_polynomial(seed)
            if len(m) not in (3, 5) or any(m[2:-1]) or (len(m) == 5 and m[1]):
                continue
            x = seed + m[1] / 2
            written, powers = expression(x), list(basis)
            for k in range(1, len(m) - 1):
                power, text = _power(x, k), written**k
                for number, one in basis:
                    if _rank([b for b, _ in [*powers, (number * power, None)]]) == len(powers) + 1:
                        powers.append((number * power, one * text))
            basis = powers
            if len(basis) == field.degree:
                rows = [[to_fmpq(c) for c in b.coefficients()] for b, _ in basis]
                self.basis, self.inverse = basis, fmpq_mat(rows).transpose().inv()
                return


def _power(x: Number, k: int) -> Number:
    out = x
    for _ in range(k - 1):
        out = out * x
    return out


def _rank(numbers: Sequence[Number]) -> int:
    return int(fmpq_mat([[to_fmpq(c) for c in x.coefficients()] for x in numbers]).rank())


def as_flint(x: Any) -> Any:
    """A rational for flint; numbers of a field as they are."""
    return to_fmpq(Fraction(x)) if isinstance(x, Fraction | int) else x


def as_exact(x: Any) -> Any:
    """A flint rational as a Fraction; numbers of a field as they are."""
    return x if isinstance(x, Number) else to_fraction(x)


def to_ball(x: Any) -> arb:
    """The number in a ball of the working precision."""
    return x.ball(ctx.prec) if isinstance(x, Number) else arb(to_fmpq(Fraction(x)))
