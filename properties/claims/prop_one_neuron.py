"""prop:one-neuron: the qualitative claim holds, the printed numbers do not.

x = (-100, 1), y = (1, 10), one neuron: min over v of 1/2 sum ((x_k v)_+ - y_k)^2 + lambda |v|. On v > 0 the best
value is 1/2 + 10 lambda - lambda^2/2 at v = 10 - lambda, on v < 0 it is 50 + lambda/100 - lambda^2/20000 at v =
(lambda - 100)/10000. They cross at lambda = 100/11: v jumps from -1/110 to 10/11.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from properties.exact.linalg import Vector, norm2, sub
from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, first_failure, vacuous

LABEL = "prop:one-neuron"
STATEMENT = "The solution is lambda/100^2 - 0.01 above lambda = 99/9.99 and 0.1 - lambda/100 below it."
REPAIRED = "It is (lambda - 100)/10^4 above 100/11 and 10 - lambda below; at 100/11 both: not open, the fit jumps."
X, Y = (Fraction(-100), Fraction(1)), (Fraction(1), Fraction(10))
PRINTED_JUMP = Fraction(9900, 999)
JUMP = Fraction(100, 11)


def fit(v: Fraction) -> Vector:
    """((x_k v)_+)"""
    return tuple(max(x * v, Fraction(0)) for x in X)


def value(v: Fraction, lam: Fraction) -> Fraction:
    """The objective with second-layer sign +1 (sign -1 is never better than zero since y > 0)."""
    return norm2(sub(fit(v), Y)) / 2 + lam * abs(v)


def minimisers(lam: Fraction) -> tuple[Fraction, ...]:
    """All global minimisers: zero, or stationary where one point alone is on, (|x| |v| - y)|x| + lam = 0."""
    candidates = {Fraction(0), *((y - lam / abs(x)) / x for x, y in zip(X, Y, strict=True))}
    best = min(value(v, lam) for v in candidates)
    return tuple(sorted(v for v in candidates if value(v, lam) == best))


def printed(lam: Fraction) -> tuple[Fraction, ...]:
    """The printed solution function."""
    low, high = lam / 100**2 - Fraction(1, 100), Fraction(1, 10) - lam / 100
    return (low,) * (lam >= PRINTED_JUMP) + (high,) * (lam <= PRINTED_JUMP)


def repaired(lam: Fraction) -> tuple[Fraction, ...]:
    """The solution function."""
    return ((lam - 100) / 10**4,) * (lam >= JUMP) + (10 - lam,) * (lam <= JUMP)


def check(lam: Fraction) -> Outcome:
    """The printed solution is the exact one."""
    exact, claimed = minimisers(lam), printed(lam)
    return expect(exact == claimed, f"exact minimiser {_show(exact)}, printed {_show(claimed)}")


def _show(vs: tuple[Fraction, ...]) -> str:
    return ", ".join(map(str, vs))


def check_repaired(lams: tuple[Fraction, Fraction, Fraction]) -> Outcome:
    """The repaired solution function below, at and above the jump: two solutions there, fits more than 10/11 apart."""
    below, at, above = lams
    outcomes = [
        expect(minimisers(lam) == repaired(lam), f"minimisers {_show(minimisers(lam))} at lambda = {lam}")
        for lam in lams
    ]
    apart = [norm2(sub(fit(u), fit(v))) for u in minimisers(below) for v in minimisers(above)]
    return first_failure(
        *outcomes,
        expect(len(minimisers(at)) == 2, "one solution at the jump"),
        expect(min(apart) > Fraction(10, 11) ** 2, "the fit does not jump"),
        HOLDS if list(lams) == sorted(set(lams)) else vacuous("not below, at and above the jump"),
    )


def lambdas() -> st.SearchStrategy[Fraction]:
    """0 < lambda < 100, mostly near the jump."""
    near = st.builds(lambda p, q: JUMP + Fraction(p, q), st.integers(-40, 40), st.integers(10, 200))
    return st.one_of(near, st.builds(Fraction, st.integers(1, 99), st.just(1)), st.just(JUMP))


def both_sides() -> st.SearchStrategy[tuple[Fraction, Fraction, Fraction]]:
    """0 < below < 100/11 < above < 100."""
    share = st.fractions(Fraction(1, 100), Fraction(199, 200), max_denominator=200)
    return st.tuples(share.map(lambda t: JUMP * t), st.just(JUMP), share.map(lambda t: JUMP + (100 - JUMP) * t))


CLAIM = Claim(
    LABEL,
    "One neuron",
    Property(STATEMENT, lambdas(), check),
    witnesses=(Witness("lambda = 19/2", Fraction(19, 2)), Witness("lambda = 9", Fraction(9))),
    repaired=Property(REPAIRED, both_sides(), check_repaired),
)
