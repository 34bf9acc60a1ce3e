"""The tied neurons where r* is known exactly, and all solutions: {alpha >= 0 : sum alpha_a q_a = y - r*}.

Numbers are rational (`exact_set`, `jump`) or real algebraic (`algebraic_set`). One solution with a Farkas vector, or
two solutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from verify.facts import PATTERNS, needed
from verify.numbers.bounds import fraction, matrix
from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball, on_rows
from verify.optimal.multipliers import products, read_entries
from verify.problem.problem import SIGNS, dot
from verify.sets.neurons import Neuron, are_independent
from verify.sets.solutions import OptimalSet, System
from verify.text import Fields, Matrix, Node, mask_of, show

Number = Any  # a Fraction, or a number of a field: exact, and ordered
Numbers = Sequence[Number]


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
    """r* = r, in rational numbers: r is theta of `dual`, which has these `bounds`. A ball around theta holds r."""

    ball: Ball
    r: Numbers
    bounds: Node

    @property
    def listed(self) -> bool:
        """Whether it rests on the patterns of a network."""
        return True

    @property
    def zero(self) -> Number:
        """0"""
        return self.r[0] * 0

    def dot(self, u: Numbers, v: Numbers) -> Number:
        """u.v"""
        return sum((a * b for a, b in zip(u, v, strict=True)), self.zero)

    def through(self, A: Matrix, v: Numbers) -> Numbers:
        """A v for a rational matrix."""
        return [self.dot(v, row) for row in A]

    def read(self, node: Node, length: int) -> Numbers:
        """So many numbers."""
        return node.vector(length)

    def table(self, columns: Sequence[Numbers]) -> Any:
        """The matrix with these columns, of as many numbers as there are data."""
        return matrix(zip(*columns, strict=True), len(columns))

    def pieces(self, sign: str, xi: int) -> Iterator[tuple[Node, int, Numbers]]:
        """ReLU: the base and v = Z'm of the pieces that are not out, each with the entry of its multiplier."""
        problem, t = self.ball.problem, tuple(xi * x for x in self.ball.problem.spread(self.ball.theta))
        entries = self.bounds.record("+", "-")[sign].array()
        P = mask_of(k for k, t_k in enumerate(t) if t_k > 0)
        found = products(problem, read_entries(t, P, entries))
        for entry, (base, p, q) in zip(entries, found, strict=True):
            if sum(x**2 for x in p) >= (problem.lam * q) ** 2:
                yield entry, base, tuple(Fraction(x, q) for x in p)

    def blocks(self) -> Iterator[tuple[int, Node, Numbers]]:
        """Direct problems: the multipliers of the blocks that are not out, each with its entry."""
        problem = self.ball.problem
        for b, entry in enumerate(self.bounds.array(len(problem.groups))):
            K = problem.K[b]
            yield b, entry, entry.vector(len(K[0])) if entry.value is not None and K is not None else ()

    def known(self, neuron: Neuron, tied: Tied, weight: Number) -> Neuron:
        """The neuron with its output and weight; where nothing is tight, with B: v = B'r for all residuals near r."""
        problem, v = self.ball.problem, tuple(tied.v)
        if problem.model == "cgl":
            B = matrix(problem.block(tied.key[1]), len(v))
        else:
            D = mask_of(k for k, z in enumerate(problem.seen) if dot(z, v) > 0)
            B = self.ball.pooled(on_rows(self.ball.Z, D if problem.model == "relu" else tied.key[1]))
        blocks = 1 + len(tied.others)
        return replace(neuron, B=B if neuron.strict else None, weight=weight, v=v, q=tuple(tied.q), blocks=blocks)


def check_solutions(optimum: Optimum, patterns: Patterns | None, node: Node, fields: Fields) -> OptimalSet:
    """Reject unless the solutions are some, and the only one if there is one."""
    problem = optimum.ball.problem
    tied = tied_neurons(optimum, patterns, node)
    solutions = [read_solution(optimum, tied, entry) for entry in fields["solutions"].array()]
    if len(solutions) not in (1, 2) or (len(solutions) == 2 and list(solutions[0]) == list(solutions[1])):
        raise fields["solutions"].reject("one solution, or two that are different")
    one = len(solutions) == 1
    if one:
        check_farkas(optimum, tied, solutions[0], fields["farkas"])
    else:
        optimum.read(fields["farkas"], 0)
    neurons, bends = [], 0
    for a, weights in zip(tied, zip(*solutions, strict=True), strict=True):
        neuron = neuron_of(optimum, a, True if any(weights) else False if one else None)
        neurons.append(optimum.known(neuron, a, weights[0] if one else optimum.zero))
        bends += bool(neuron.active and (a.others or (problem.model == "relu" and not neuron.strict)))  # in two blocks
    fit = [y_k - r_k for y_k, r_k in zip(problem.y, optimum.r, strict=True)]
    system = exact_system(optimum.table([*(a.q for a in tied), fit]), len(tied))
    return OptimalSet(len(tied), len(solutions) - 1, bends, bends, system, True, tuple(neurons))


def exact_system(table: Any, k: int) -> System:
    """sum_a alpha_a q_a = fit as independent rows: the reduced echelon form of [Q | fit], Q with k columns."""
    reduced, rank = table.rref()
    rows = reduced.tolist()[:rank]
    F = type(table)(rank, k, [x for row in rows for x in row[:k]])
    zero = (Fraction(0),) * rank
    return System(F, tuple(fraction(row[k]) for row in rows), zero, zero, tuple(range(k)), k, {}, exact=True)


def neuron_of(optimum: Optimum, a: Tied, active: bool | None) -> Neuron:
    """What is known of a tied neuron: its face is not read, unless nothing is tight at it."""
    problem = optimum.ball.problem
    cones: list[Matrix] = []
    if problem.model == "relu":
        cones = [tuple(problem.seen[c] for c in optimum.ball.planes)]
    elif problem.model == "cgl":
        cones = [tuple(K_k for K_k in problem.constraints(b) if any(K_k)) for b in (a.key[1], *a.others)]
    tight = [[z for z, s in zip(cone, optimum.through(cone, a.v), strict=True) if not s] for cone in cones]
    independent, kinked = all(map(are_independent, tight)), any(tight)
    return Neuron(a.key, active, independent, strict=None if kinked else True, tight=kinked)


def tied_neurons(optimum: Optimum, patterns: Patterns | None, node: Node) -> list[Tied]:
    """All (xi, v) with |v| = lambda, each once, in the order of the format."""
    problem = optimum.ball.problem
    if problem.model == "cgl":
        from verify.sets.direct import direct, merged

        found = [a for b, entry, rho in optimum.blocks() for a in direct(optimum, b, entry, rho)]
        return merged(problem.blocks, found) if problem.blocks else found
    if optimum.listed:
        known = needed(patterns, PATTERNS.name, node)
        if problem.model == "gated":
            from verify.sets.direct import gated

            return list(gated(optimum, known, node))
    return [a for sign, xi in SIGNS.items() for a in relu(optimum, sign, xi)]


def relu(optimum: Optimum, sign: str, xi: int) -> Iterator[Tied]:
    """t.(Zv)_+ = lambda^2 where |v| = lambda: the neuron of the piece attains its bound."""
    problem, t = optimum.ball.problem, [xi * x for x in optimum.ball.problem.spread(optimum.r)]
    seen: list[Numbers] = []
    for entry, base, v in optimum.pieces(sign, xi):
        if not reaches(optimum, v, entry) or v in seen:
            continue
        seen.append(v)
        positive = [x if x > 0 else optimum.zero for x in optimum.through(problem.seen, v)]
        if optimum.dot(positive, t) != problem.lam**2:
            raise entry.reject(f"t.(Zv)_+ = lambda^2 = {show(problem.lam**2)}", "another number, though |v| = lambda")
        yield Tied((xi, base), v, [xi * x for x in problem.pooled(positive)])


def reaches(optimum: Optimum, v: Numbers, node: Node) -> bool:
    """Whether |v| = lambda; rejected if it is more."""
    over = optimum.dot(v, v) - optimum.ball.problem.lam**2
    node.require(over <= 0, f"|v|^2 <= lambda^2 = {show(optimum.ball.problem.lam**2)}", "more")
    return not over


def read_solution(optimum: Optimum, tied: Sequence[Tied], node: Node) -> Numbers:
    """alpha >= 0 with sum alpha_a q_a = y - r."""
    alpha = optimum.read(node, len(tied))
    node.require(all(x >= 0 for x in alpha), "weights >= 0")
    for k, (y_k, r_k) in enumerate(zip(optimum.ball.problem.y, optimum.r, strict=True)):
        node.require(optimum.dot(alpha, [a.q[k] for a in tied]) == y_k - r_k, f"the fit y - r at row {k}")
    return alpha


def check_farkas(optimum: Optimum, tied: Sequence[Tied], alpha: Numbers, node: Node) -> None:
    """h.q_a = 0 where alpha_a > 0, h.q_a > 0 elsewhere, and the outputs with alpha_a > 0 are independent."""
    h = optimum.read(node, optimum.ball.problem.n)
    for number, (a, weight) in enumerate(zip(tied, alpha, strict=True)):
        s = optimum.dot(h, a.q)
        if s < 0 or bool(s) == bool(weight):
            raise node.reject(f"h.q {'= 0' if weight else '> 0'} for the tied neuron {number}")
    support = [a.q for a, weight in zip(tied, alpha, strict=True) if weight]
    if optimum.table(support).rref()[1] < len(support):
        raise node.reject("independent outputs of the active neurons", f"{len(support)} that are dependent")
