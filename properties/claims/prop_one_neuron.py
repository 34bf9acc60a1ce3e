"""prop:one-neuron: the qualitative claim holds, the printed numbers do not.

x = (-100, 1), y = (1, 10), one neuron: min over v of 1/2 sum ((x_k v)_+ - y_k)^2 + lambda |v|. On v > 0 the best
value is 1/2 + 10 lambda - lambda^2/2 at v = 10 - lambda, on v < 0 it is 50 + lambda/100 - lambda^2/20000 at v =
(lambda - 100)/10000. They cross at lambda = 100/11: v jumps from -1/110 to 10/11.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, fails

LABEL = "prop:one-neuron"
STATEMENT = "The solution is lambda/100^2 - 0.01 above lambda = 99/9.99 and 0.1 - lambda/100 below it."
REPAIRED = "It is (lambda - 100)/10^4 above 100/11 and 10 - lambda below; at 100/11 both: not open, the fit jumps."
X, Y = (Fraction(-100), Fraction(1)), (Fraction(1), Fraction(10))
PRINTED_JUMP = Fraction(9900, 999)
JUMP = Fraction(100, 11)


def value(v: Fraction, gamma: int, lam: Fraction) -> Fraction:
    """The objective with second-layer sign gamma."""
    return sum(
        ((gamma * max(x * v, Fraction(0)) - y) ** 2 for x, y in zip(X, Y, strict=True)), Fraction(0)
    ) / 2 + lam * abs(v)


def minimisers(lam: Fraction) -> tuple[Fraction, ...]:
    """All global minimisers v (sign +1; sign -1 is never better than zero since y > 0)."""
    candidates = {Fraction(0)}
    for x, y in zip(X, Y, strict=True):
        # on the half line where x v > 0 only this point is on: (|x| |v| - y)|x| + lam = 0
        size = (abs(x) * y - lam) / x**2
        if size > 0:
            candidates.add(size if x > 0 else -size)
    best = min(value(v, 1, lam) for v in candidates)
    return tuple(sorted(v for v in candidates if value(v, 1, lam) == best))


def printed(lam: Fraction) -> tuple[Fraction, ...]:
    """The printed solution function."""
    low, high = lam / 100**2 - Fraction(1, 100), Fraction(1, 10) - lam / 100
    if lam == PRINTED_JUMP:
        return tuple(sorted((low, high)))
    return (low,) if lam > PRINTED_JUMP else (high,)


def check(lam: Fraction) -> Outcome:
    """The printed solution is the exact one."""
    exact, claimed = minimisers(lam), printed(lam)
    return expect(exact == claimed, f"exact minimiser {_show(exact)}, printed {_show(claimed)}")


def _show(vs: tuple[Fraction, ...]) -> str:
    return ", ".join(map(str, vs))


def check_repaired(lam: Fraction) -> Outcome:
    """The repaired solution function at lam, and the jump at 100/11 approached from lam's side."""
    expected = {(lam - 100) / 10**4} if lam >= JUMP else set()
    if lam <= JUMP:
        expected.add(10 - lam)
    if set(minimisers(lam)) != expected:
        return fails(f"minimisers {_show(minimisers(lam))} at lambda = {lam}")
    if minimisers(JUMP) != (Fraction(-1, 110), Fraction(10, 11)):
        return fails(f"at 100/11 the minimisers are {_show(minimisers(JUMP))}")
    # between lam and the jump nothing happens: the solution is affine in lambda there, so its limit is exact
    limit = Fraction(10, 11) if lam < JUMP else Fraction(-1, 110)
    missed = next(v for v in minimisers(JUMP) if v != limit)
    near = minimisers(lam + (JUMP - lam) * Fraction(999, 1000))
    if lam != JUMP and not all(abs(v - limit) < abs(v - missed) for v in near):
        return fails("the other minimiser at 100/11 is approached too")
    return HOLDS


def lambdas() -> st.SearchStrategy[Fraction]:
    """0 < lambda < 100, mostly near the jump."""
    near = st.builds(lambda p, q: JUMP + Fraction(p, q), st.integers(-40, 40), st.integers(10, 200))
    return st.one_of(near, st.builds(Fraction, st.integers(1, 99), st.just(1)), st.just(JUMP))


CLAIM = Claim(
    LABEL,
    "One neuron",
    Property(STATEMENT, lambdas(), check),
    witnesses=(Witness("lambda = 19/2", Fraction(19, 2)), Witness("lambda = 9", Fraction(9))),
    repaired=Property(REPAIRED, lambdas(), check_repaired),
)
