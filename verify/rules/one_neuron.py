"""The network of one neuron on one feature: its whole path in lambda, branches and the jumps between them.

On a branch (the sign of v, and gamma) |v| = (b - lambda)/a, and the objective is (b - lambda)^2/(2a) below that of
v = 0. So the best branch has the largest (b - lambda)/sqrt(a): lines, compared at the two ends of an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.facts import ONE_NEURON, proved
from verify.problem.problem import SIGNS, Problem
from verify.rule import Rule
from verify.text import Node, show

Line = tuple[Fraction, Fraction]  # a and b


@dataclass(frozen=True)
class OneNeuron:
    """The neuron is zero from `top` on; below, so many branches with jumps between them.

    `twins`: the branch with the other sign of v has the same line, and is optimal wherever the listed one is.
    """

    top: Fraction
    branches: int
    twins: bool


def check_one_neuron(problem: Problem, node: Node) -> OneNeuron:
    """Reject unless each listed branch is optimal from the jump above it down to the one below it."""
    node.require(problem.d == 1 and problem.model == "relu", "a ReLU network with one feature")
    fields = node.record("branches", "jumps")
    keys = [(sign, gamma) for sign in (1, -1) for gamma in (1, -1)]
    lines = {key: line for key in keys if (line := branch(problem, *key))[1] > 0}
    top = max((b for _, b in lines.values()), default=Fraction(0))
    listed = [read_branch(lines, entry) for entry in fields["branches"].array()]
    jumps = fields["jumps"].array(max(len(listed) - 1, 0))
    if bool(listed) != bool(lines):
        raise fields["branches"].reject("a branch, if one is ever better than zero, and only then")
    upper = top
    for i, (key, entry) in enumerate(zip(listed, fields["branches"].array(), strict=True)):
        lo = hi = Fraction(0)
        if i < len(jumps):
            parts = jumps[i].record("lo", "hi")
            lo, hi = parts["lo"].number(), parts["hi"].number()
            below = lines[listed[i + 1]]
            if not (0 <= lo <= hi < upper) or below == lines[key]:
                raise jumps[i].reject(f"0 <= lo <= hi < {show(upper)}, and another line below", f"{show(lo)}")
            if not lo and at_least(lines[key], below, lo):
                raise jumps[i].reject("a jump at some lambda > 0", "none: the branch above is best down to 0")
        for lam in (hi, upper):
            for other, line in lines.items():
                if not at_least(lines[key], line, lam):
                    raise entry.reject(f"the best branch at {show(lam)}", f"{other} is better")
        upper = lo
    return OneNeuron(top, len(listed), twins=len(lines) > len(set(lines.values())))


def branch(problem: Problem, sign: int, gamma: int) -> Line:
    """a = sum of x_k^2 and b = gamma sum of |x_k| y_k over the points with x_k v > 0."""
    on = [(row[0], y) for row, y in zip(problem.Z, problem.y, strict=True) if row[0] * sign > 0]
    a = sum((x * x for x, _ in on), Fraction(0))
    return a, gamma * sum((abs(x) * y for x, y in on), Fraction(0))


def read_branch(lines: dict[tuple[int, int], Line], node: Node) -> tuple[int, int]:
    """The sign of v, and gamma."""
    parts = node.record("sign", "gamma")
    key = SIGNS[parts["sign"].text("+", "-")], SIGNS[parts["gamma"].text("+", "-")]
    node.require(key in lines, "a branch that is better than zero for some lambda")
    return key


def at_least(mine: Line, other: Line, lam: Fraction) -> bool:
    """(b - lambda)/sqrt(a) is >= 0, and at least that of the other branch."""
    (a, b), (c, d) = mine, other
    return b >= lam and (d <= lam or (b - lam) ** 2 * c >= (d - lam) ** 2 * a)


RULE = Rule((ONE_NEURON,), lambda problem, facts, node: proved(ONE_NEURON, check_one_neuron(problem, node)))
