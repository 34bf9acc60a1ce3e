"""The set of all solutions where r* is known exactly, in a field of real algebraic numbers.

r is dual feasible, and y - r = sum alpha_a q_a with alpha >= 0 over the neurons with |v_a| = lambda: so r = r*, and the
solutions are {alpha >= 0 : sum alpha_a q_a = y - r}. FORMAT.md has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import and_

from verify.classes import Ball
from verify.facts import DUAL, MULTIPLIERS, PATTERNS, Facts
from verify.field import Field, Number, product, read_field, read_numbers
from verify.field_system import field_system, reduce
from verify.multipliers import gated_rows
from verify.neurons import Neuron, are_independent, constraints
from verify.outs import is_out, lengths, not_out
from verify.patterns import Patterns
from verify.problem import SIGNS, Problem
from verify.solutions import OptimalSet, set_rule
from verify.text import Matrix, Node, show

Numbers = list[Number]


@dataclass(frozen=True)
class Tied:
    """A neuron that can be active: its key, v and output q; `others`: the blocks of a network over some patterns that
    carry it besides that of the key."""

    key: tuple[int, int]
    v: Numbers
    q: Numbers
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class Optimum:
    """The residual r in its field, and the point theta of `dual`, whose distance from r is the radius of `ball`."""

    ball: Ball
    field: Field
    r: Numbers

    @property
    def zero(self) -> Number:
        """0"""
        return self.field.number(())

    def through(self, A: Sequence[Sequence[Fraction]], v: Numbers) -> Numbers:
        """A v for a rational matrix."""
        return [product(v, row, self.zero) for row in A]


def check_algebraic_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record("field", "residual", "multipliers", "solutions", "farkas")
    in_field, theta = read_field(fields["field"]), facts[DUAL].theta
    r = read_numbers(in_field, fields["residual"], problem.n)
    for k, (r_k, t_k) in enumerate(zip(r, theta, strict=True)):
        if r_k and r_k * t_k <= 0:
            raise fields["residual"].item(k).reject("0, or the sign of theta")
    off = [r_k - t_k for r_k, t_k in zip(r, theta, strict=True)]
    distance = product(off, off, in_field.number(())).upper()
    optimum = Optimum(Ball(problem, theta, distance), in_field, r)
    tied, kinked = tied_neurons(optimum, facts.get(PATTERNS), facts[MULTIPLIERS], fields["multipliers"])
    fit = [y_k - r_k for y_k, r_k in zip(problem.y, r, strict=True)]
    solutions = [read_solution(optimum, tied, fit, entry) for entry in fields["solutions"].array()]
    if len(solutions) not in (1, 2) or (len(solutions) == 2 and solutions[0] == solutions[1]):
        raise fields["solutions"].reject("one solution, or two that are different")
    if len(solutions) == 1:
        check_farkas(optimum, tied, solutions[0], fields["farkas"])
    else:
        fields["farkas"].array(0)
    active = [any(weights) for weights in zip(*solutions, strict=True)]
    bends = sum(map(and_, kinked, active))
    idle = False if len(solutions) == 1 else None
    neurons = tuple(of_tied(optimum, a, used or idle) for a, used in zip(tied, active, strict=True))
    system = field_system([a.q for a in tied], fit)
    return OptimalSet(
        len(tied), len(solutions) - 1, bends, bends, system, exact=True, neurons=neurons, in_field=[a.v for a in tied]
    )


def of_tied(optimum: Optimum, a: Tied, active: bool | None) -> Neuron:
    """What is known of a tied neuron: its face is not read, unless nothing is tight at it."""
    problem = optimum.ball.problem
    cones: list[Matrix] = []
    if problem.model == "relu":
        cones = [tuple(problem.Z[c] for c in optimum.ball.planes)]
    elif problem.model == "cgl":
        cones = [tuple(K_k for K_k in constraints(problem, b) if any(K_k)) for b in (a.key[1], *a.others)]
    tight = [[z for z, s in zip(cone, optimum.through(cone, a.v), strict=True) if not s] for cone in cones]
    return Neuron(a.key, active, all(map(are_independent, tight)), strict=None if any(tight) else True)


def tied_neurons(
    optimum: Optimum, patterns: Patterns | None, bounds: Node, node: Node
) -> tuple[list[Tied], list[bool]]:
    """All (xi, v) with |v| = lambda, each once, in the order of the format; and which of them two blocks carry.

    A relu neuron over all patterns lies in two blocks if it is zero on a row other than zero.
    """
    problem = optimum.ball.problem
    if problem.model == "cgl":
        found = list(direct(optimum, bounds, node))
        if not problem.blocks:
            return found, [False] * len(found)
        keys = [(problem.blocks[a.key[1]][0], a.v) for a in found]
        places = [keys.index(key) for key in keys]  # of the first block that carries the neuron
        firsts = sorted(set(places))
        others = [tuple(found[j].key[1] for j, place in enumerate(places) if place == i != j) for i in firsts]
        return [replace(found[i], others=rest) for i, rest in zip(firsts, others, strict=True)], list(map(bool, others))
    if patterns is None:
        raise node.reject("the fact patterns, which this rests on", "none")
    if problem.model == "gated":
        if node.value is not None:
            raise node.reject("null")
        found = list(gated(optimum, patterns, node))
        return found, [False] * len(found)
    entries, sides = node.record("+", "-"), bounds.record("+", "-")
    found = [a for sign, xi in SIGNS.items() for a in relu(optimum, patterns, xi, sides[sign], entries[sign])]
    rows = [z for z in problem.Z if any(z)]
    return found, [not all(optimum.through(rows, a.v)) for a in found]


def relu(optimum: Optimum, patterns: Patterns, xi: int, bounds: Node, node: Node) -> Iterator[Tied]:
    """Every piece that its multiplier of `dual` does not prove out has exactly one entry, and no other piece has."""
    ball, n = optimum.ball, optimum.ball.problem.n
    t = [xi * x for x in optimum.r]
    P, needed = not_out(ball, xi, bounds)
    seen: list[Numbers] = []
    columns = tuple(zip(*ball.problem.Z, strict=True))
    for entry in node.array():
        base_node, rows_node, values_node = entry.array(3)
        base = base_node.pattern(n)
        if base & P not in needed:
            raise base_node.reject("a piece that is not out by its multiplier, and has no entry yet")
        needed.remove(base & P)
        m = [t[k] if base >> k & 1 else optimum.zero for k in range(n)]
        rows = rows_node.ascending(n)
        for k, m_k in zip(rows, read_numbers(optimum.field, values_node, len(rows)), strict=True):
            m[k] = m_k
        for k, m_k in enumerate(m):
            holds = (m_k >= t[k] if base >> k & 1 else m_k <= 0) if P >> k & 1 else t[k] <= m_k <= 0
            if not holds:
                raise entry.reject(f"a value for row {k} within its bounds")
        v = optimum.through(columns, m)
        if not reaches(optimum, v, entry) or any(v == other for other in seen):
            continue
        seen.append(v)
        positive = [x if x > 0 else optimum.zero for x in optimum.through(ball.problem.Z, v)]
        if product(t, positive, optimum.zero) != ball.problem.lam**2:
            raise entry.reject("t.(Zv)_+ = lambda^2 where |v| = lambda")
        yield Tied((xi, base), v, [xi * x for x in positive])
    if needed:
        raise node.reject("an entry for every piece that is not out", f"{len(needed)} pieces without")


def gated(optimum: Optimum, patterns: Patterns, node: Node) -> Iterator[Tied]:
    """Every pattern D is out at theta, or |Z'D r| <= lambda."""
    ball = optimum.ball
    columns = tuple(zip(*ball.problem.Z, strict=True))
    for mask, length in lengths(ball.problem, gated_rows(patterns, ball.theta)):
        if length < ball.out_below:
            continue
        v = optimum.through(columns, [x if mask >> k & 1 else optimum.zero for k, x in enumerate(optimum.r)])
        if reaches(optimum, v, node):
            outputs = optimum.through(ball.problem.Z, v)
            yield Tied((0, mask), v, [x if mask >> k & 1 else optimum.zero for k, x in enumerate(outputs)])


def direct(optimum: Optimum, bounds: Node, node: Node) -> Iterator[Tied]:
    """Every block is out at theta, with its rho of `dual` or none, or |X_b'r - K_b rho| <= lambda by its entry."""
    ball, problem = optimum.ball, optimum.ball.problem
    entries: dict[int, Node] = {}
    for entry in node.array():
        name, rho_node = entry.array(2)
        b = name.index(len(problem.groups))
        if b in entries or problem.K[b] is None:
            raise name.reject("blocks with constraints, each once")
        entries[b] = rho_node
    for b, bound in enumerate(bounds.array(len(problem.groups))):
        X, K = problem.block(b), problem.K[b]
        if b not in entries and is_out(ball, b, bound):
            continue
        v = optimum.through(tuple(zip(*X, strict=True)), optimum.r)
        slopes: Numbers = []
        rho: Numbers = []
        if K is not None:
            if b in entries:
                rho = read_numbers(optimum.field, entries[b], len(K[0]))
                if any(x < 0 for x in rho):
                    raise entries[b].reject("multipliers >= 0")
                v = [x - push for x, push in zip(v, optimum.through(K, rho), strict=True)]
            slopes = optimum.through(tuple(zip(*K, strict=True)), v)
        if reaches(optimum, v, node):
            if any(s > 0 for s in slopes) or (rho and product(rho, slopes, optimum.zero)):
                raise node.reject(f"K_b'v <= 0 and rho.(K_b'v) = 0 where |v| = lambda, for block {b}")
            yield Tied((0, b), v, optimum.through(X, v))


def reaches(optimum: Optimum, v: Numbers, node: Node) -> bool:
    """Whether |v| = lambda; rejected if it is more."""
    over = (product(v, v, optimum.zero) - optimum.ball.problem.lam**2).sign()
    if over > 0:
        raise node.reject(f"|v|^2 <= lambda^2 = {show(optimum.ball.problem.lam**2)}", "more")
    return over == 0


def read_solution(optimum: Optimum, tied: list[Tied], fit: Numbers, node: Node) -> Numbers:
    """alpha >= 0 with sum alpha_a q_a = y - r."""
    alpha = read_numbers(optimum.field, node, len(tied))
    if any(x < 0 for x in alpha):
        raise node.reject("weights >= 0")
    for k, fit_k in enumerate(fit):
        if product(alpha, [a.q[k] for a in tied], optimum.zero) != fit_k:
            raise node.reject(f"the fit y - r at row {k}")
    return alpha


def check_farkas(optimum: Optimum, tied: list[Tied], alpha: Numbers, node: Node) -> None:
    """h.q_a = 0 where alpha_a > 0, h.q_a > 0 elsewhere, and the outputs with alpha_a > 0 are independent."""
    h = read_numbers(optimum.field, node, optimum.ball.problem.n)
    for number, (a, weight) in enumerate(zip(tied, alpha, strict=True)):
        s = product(h, a.q, optimum.zero).sign()
        if s != (0 if weight else 1):
            raise node.reject(f"h.q {'= 0' if weight else '> 0'} for the tied neuron {number}")
    support = [list(a.q) for a, weight in zip(tied, alpha, strict=True) if weight]
    if len(reduce(support, optimum.ball.problem.n)) < len(support):
        raise node.reject("independent outputs of the active neurons", f"{len(support)} that are dependent")


RULE = set_rule(check_algebraic_set, "optimal_set", "exact_set")
