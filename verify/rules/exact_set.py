"""The set of all solutions where lower = upper, so that r* = theta: {alpha >= 0 : sum alpha_a q_a = y - theta}.

The sum is over the tied neurons v_a, |v_a| = lambda. One solution with a Farkas vector, or two solutions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq_mat

from verify.bounds import rational
from verify.classes import Ball
from verify.facts import DUAL, MULTIPLIERS, PATTERNS, VALUE, Facts
from verify.multipliers import Row, gated_rows, positive_rows, products, pushed, read_entries
from verify.neurons import Neuron, independent_in, of_tied
from verify.patterns import Patterns
from verify.problem import SIGNS, Problem, dot, square, times, transposed
from verify.solutions import OptimalSet, set_rule
from verify.system import exact_system
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Tied:
    """A neuron that can be active: its key, v and output q."""

    key: tuple[int, int]
    v: Vector
    q: Vector


def check_exact_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record("solutions", "farkas")
    value, theta, multipliers = facts[VALUE], facts[DUAL].theta, facts[MULTIPLIERS]
    if value.lower != value.upper:
        raise node.reject("lower = upper in the fact value", f"{show(value.lower)} < {show(value.upper)}")
    ball = Ball(problem, theta, value.upper - value.lower)
    tied = list(tied_neurons(ball, facts.get(PATTERNS), multipliers, node))
    solutions = [read_solution(ball, tied, entry) for entry in fields["solutions"].array()]
    if len(solutions) not in (1, 2) or len(set(solutions)) != len(solutions):
        raise fields["solutions"].reject("one solution, or two that are different")
    if len(solutions) == 1:
        check_farkas(ball, tied, solutions[0], fields["farkas"])
    else:
        fields["farkas"].vector(0)
    active = [a for a, weights in zip(tied, zip(*solutions, strict=True), strict=True) if any(weights)]
    bends = sum(on_a_row(problem, a.v) for a in active) if problem.model == "relu" else 0
    if problem.blocks:
        carriers: dict[tuple[int, Vector], list[int]] = defaultdict(list)
        for a in tied_blocks(ball, multipliers):
            carriers[name(problem, a)].append(a.key[1])
        bends = sum(len(carriers[name(problem, a)]) > 1 for a in active)
    fit = tuple(y_k - t_k for y_k, t_k in zip(problem.y, theta, strict=True))
    system = exact_system([a.q for a in tied], fit)
    one = len(solutions) == 1
    neurons = [
        of_tied(problem, a.key, a.v, a.q, weights, one=one)
        for a, weights in zip(tied, zip(*solutions, strict=True), strict=True)
    ]
    if problem.blocks:
        blocks = [carriers[name(problem, a)] for a in neurons]
        neurons = [
            replace(a, blocks=len(those), independent=independent_in(problem, those, a.v))
            for a, those in zip(neurons, blocks, strict=True)
        ]
    return OptimalSet(len(tied), len(solutions) - 1, bends, bends, system, exact=True, neurons=tuple(neurons))


def tied_neurons(ball: Ball, patterns: Patterns | None, multipliers: Node, node: Node) -> Iterator[Tied]:
    """All (xi, v) with |v| = lambda, in the order of the format, each once."""
    problem = ball.problem
    if problem.blocks:  # a ReLU neuron that lies in several of the blocks is one neuron
        first: dict[tuple[int, Vector], Tied] = {}
        for a in tied_blocks(ball, multipliers):
            first.setdefault(name(problem, a), a)
        yield from first.values()
    elif problem.model == "cgl":
        yield from tied_blocks(ball, multipliers)
    elif patterns is None:
        raise node.reject("the fact patterns, which this rests on", "none")
    elif problem.model == "gated":
        for mask, v in vectors(problem, gated_rows(patterns, ball.theta)):
            if square(v) == problem.lam**2:
                Zv = times(problem.Z, v)
                yield Tied((0, mask), v, tuple(x if mask >> k & 1 else x * 0 for k, x in enumerate(Zv)))
    else:
        seen: set[tuple[int, Vector]] = set()
        sides = multipliers.record("+", "-")
        for sign, xi in SIGNS.items():
            side = sides[sign]
            t = tuple(xi * x for x in ball.theta)
            rows = read_entries(t, positive_rows(t), side.array())
            for number, (base, v) in enumerate(vectors(problem, rows)):
                if square(v) < problem.lam**2 or (xi, v) in seen:
                    continue
                seen.add((xi, v))
                positive = tuple(max(x, x * 0) for x in times(problem.Z, v))
                if (reached := dot(t, positive)) != problem.lam**2:
                    found = f"{show(reached)}, though |v| = lambda"
                    raise side.item(number).reject(f"t.(Zv)_+ = lambda^2 = {show(problem.lam**2)}", found)
                yield Tied((xi, base), v, tuple(xi * x for x in positive))


def vectors(problem: Problem, rows: Iterable[Row]) -> Iterator[tuple[int, Vector]]:
    """The base and Z'm of every row."""
    for base, p, q in products(problem, rows):
        yield base, tuple(Fraction(x, q) for x in p)


def on_a_row(problem: Problem, v: Vector) -> bool:
    """Whether a neuron is zero on a data point other than zero."""
    return any(any(z) and not dot(z, v) for z in problem.Z)


def name(problem: Problem, tied: Tied | Neuron) -> tuple[int, Vector]:
    """xi and v: what makes a ReLU neuron, whichever block it was met in."""
    return problem.blocks[tied.key[1]][0], tied.v


def tied_blocks(ball: Ball, multipliers: Node) -> Iterator[Tied]:
    """Direct problems: v = X_b'theta - K_b rho_b, the projection of X_b'theta on C_b, where |v| = lambda."""
    problem = ball.problem
    for b, entry in enumerate(multipliers.array(len(problem.groups))):
        X, K = problem.block(b), problem.K[b]
        v = pushed(problem, ball.theta, b, entry)
        if square(v) == problem.lam**2:
            slopes = transposed(K, v) if K is not None else ()
            if any(s > 0 for s in slopes) or (entry.value is not None and dot(entry.vector(len(slopes)), slopes)):
                raise entry.reject("K_b'v <= 0 and rho.(K_b'v) = 0 where |v| = lambda")
            yield Tied((0, b), v, times(X, v))


def read_solution(ball: Ball, tied: list[Tied], node: Node) -> Vector:
    """alpha >= 0 with sum alpha_a q_a = y - theta."""
    alpha = node.vector(len(tied))
    if any(x < 0 for x in alpha):
        raise node.reject("weights >= 0")
    for k, (y_k, t_k) in enumerate(zip(ball.problem.y, ball.theta, strict=True)):
        if (fit := dot(alpha, (a.q[k] for a in tied))) != y_k - t_k:
            raise node.reject(f"the fit {show(y_k - t_k)} at row {k}", show(fit))
    return alpha


def check_farkas(ball: Ball, tied: list[Tied], alpha: Vector, node: Node) -> None:
    """h.q_a = 0 where alpha_a > 0, h.q_a > 0 elsewhere, and the outputs with alpha_a > 0 are independent."""
    h = node.vector(ball.problem.n)
    support = [a for a, weight in zip(tied, alpha, strict=True) if weight]
    for number, (a, weight) in enumerate(zip(tied, alpha, strict=True)):
        if (s := dot(h, a.q)) < 0 or bool(s) == bool(weight):
            raise node.reject(f"h.q {'= 0' if weight else '> 0'} for the tied neuron {number}", show(s))
    outputs = [rational(x) for a in support for x in a.q]
    if support and fmpq_mat(len(support), ball.problem.n, outputs).rank() < len(support):
        raise node.reject("independent outputs of the active neurons", f"{len(support)} that are dependent")


RULE = set_rule(check_exact_set, "optimal_set")
