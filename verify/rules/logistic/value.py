"""The value of the logistic loss: sums of logarithms and exponentials, enclosed by integers in fixed point.

    upper >= sum_k log(1 + exp(-y_k fit_k)) + lambda sum norm,      lower <= sum_k H(a_k),  a_k = y_k theta_k,

with H(a) = -a log a - (1-a) log(1-a), the least value of log(1 + exp(-s)) + a s over all s. Rows of zeros, which a
decayed output bias has after the data points, cost 1/2 fit_k^2 >= -theta_k fit_k - 1/2 theta_k^2. A number x is
enclosed by integers low <= 2^BITS x <= high; every operation rounds outwards.
"""

from __future__ import annotations

from fractions import Fraction

from verify.facts import DUAL, PRIMAL, VALUE, Facts, proved
from verify.problem.problem import Problem, square
from verify.problem.variants import check_chances
from verify.rule import Rule, everywhere
from verify.rules.value import Value, read_gap
from verify.text import Node, show

BITS = 400
ONE = 1 << BITS
Enclosure = tuple[int, int]


def check_logistic(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the two bounds hold."""
    fields = node.record("lower", "upper", "gap")
    lower, upper = fields["lower"], fields["upper"]
    gap, low, high = read_gap(fields["gap"]), lower.number(), upper.number()
    primal = facts[PRIMAL]
    check_chances(problem, facts[DUAL].theta, lower)
    n, theta = problem.points, facts[DUAL].theta
    chances = [y_k * t_k for y_k, t_k in zip(problem.y[:n], theta[:n], strict=True)]
    entropy = Fraction(sum(entropy_of(a)[0] for a in chances), ONE) - square(theta[n:]) / 2
    lower.require(low <= entropy, "lower <= sum H(y_k theta_k)", f"{show(low)} > {show(entropy)}")
    scores = [y_k * f_k for y_k, f_k in zip(problem.y[:n], primal.fit[:n], strict=True)]
    loss = Fraction(sum(loss_of(s)[1] for s in scores), ONE) + square(primal.fit[n:]) / 2
    value = loss + problem.lam * primal.penalty
    if high < value:
        raise upper.reject("upper >= sum log(1 + exp(-y_k fit_k)) + lambda sum norm", f"{show(high)} < {show(value)}")
    return proved(VALUE, Value(low, high, gap))


def loss_of(s: Fraction) -> Enclosure:
    """log(1 + exp(-s)) = max(-s, 0) + log(1 + exp(-|s|))"""
    low, high = exp_of_minus(abs(s))
    steps = (log_of(Fraction(ONE + low, ONE))[0], log_of(Fraction(ONE + high, ONE))[1])
    linear = max(-s, Fraction(0))
    return floor(linear) + steps[0], ceiling(linear) + steps[1]


def entropy_of(a: Fraction) -> Enclosure:
    """H(a) for 0 <= a <= 1; H(0) = H(1) = 0."""
    low = high = 0
    for x in (a, 1 - a):
        if x:
            below, above = log_of(x)  # both are at most 0: log x <= 0
            low += floor(-x * Fraction(above, ONE))
            high += ceiling(-x * Fraction(below, ONE))
    return low, high


def exp_of_minus(x: Fraction) -> Enclosure:
    """exp(-x), x >= 0: exp(-x / 2^m)^(2^m) with x / 2^m <= 1/2, by the alternating series."""
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)
    if halvings > 40:
        return 0, 1  # x > 2^38: exp(-x) < 2^-400
    low, high = alternating(x / (1 << halvings))
    for _ in range(halvings):
        low, high = low * low >> BITS, -(-high * high >> BITS)
    return max(low, 0), min(high, ONE)


def alternating(x: Fraction) -> Enclosure:
    """exp(-x) for 0 <= x <= 1/2: sum (-x)^k / k!, terms falling, so that two sums in a row enclose it."""
    below, above = floor(x), ceiling(x)
    term, sums = (ONE, ONE), (ONE, ONE)
    k = 0
    while term[1] > 1:
        k += 1
        term = (term[0] * below >> BITS) // k, -(-term[1] * above >> BITS) // k + 1
        sums = (sums[0] + term[0], sums[1] + term[1]) if k % 2 == 0 else (sums[0] - term[1], sums[1] - term[0])
    return sums[0] - 2, sums[1] + 2


def log_of(x: Fraction) -> Enclosure:
    """log x for x > 0: x = 2^e m with 1/2 <= m < 2, log x = e log 2 + 2 artanh((m - 1)/(m + 1))."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Fraction(2) ** e
    low, high = twice_artanh((m - 1) / (m + 1))
    two = twice_artanh(Fraction(1, 3))
    steps = (e * two[0], e * two[1])
    return min(steps) + low, max(steps) + high


def twice_artanh(t: Fraction) -> Enclosure:
    """2 artanh(t) = 2 sum t^k / k over odd k, |t| <= 1/3; what is left out is at most 9/8 of its first term."""
    if t < 0:
        low, high = twice_artanh(-t)
        return -high, -low
    power = (floor(t), ceiling(t))
    square = (power[0] ** 2 >> BITS, -(-(power[1] ** 2) >> BITS))
    low = high = 0
    k = 1
    while power[1] > 1:
        low += power[0] // k
        high += power[1] // k + 1
        power = power[0] * square[0] >> BITS, -(-power[1] * square[1] >> BITS)
        k += 2
    return 2 * low, 2 * (high + 2)


def floor(x: Fraction) -> int:
    """The largest integer <= 2^BITS x."""
    return (x.numerator << BITS) // x.denominator


def ceiling(x: Fraction) -> int:
    """The smallest integer >= 2^BITS x."""
    return -((-x.numerator << BITS) // x.denominator)


RULE = Rule((VALUE,), check_logistic, rests=(PRIMAL, DUAL), applies=everywhere, bags=True)
