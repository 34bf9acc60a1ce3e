"""All solutions of CGL at one lambda, from the residual r = y - Xw that they share (lemma:unique-fit-cgl).

With v_b = c_b - K_b rho_b the canonical dual vectors at r,

    E = {b : |v_b| = lambda}                                     the equicorrelation set
    W*(lambda) = {w : w_b = alpha_b v_b, alpha_b >= 0 on E, w_b = 0 off E, Xw = y - r}      prop:sol-fn-cgl, repaired

so that the solutions are the polytope {alpha >= 0 : sum_b alpha_b X_b v_b = y - r}. In a ReLU network blocks with the
same sign and the same v are one neuron: its weight is the sum of theirs (lemma:scaling-unique). With free columns B the
equation is one modulo the span of B.

With free biases v_b has none: the neurons of a block that tie are (v_b, b), b in an interval, where 1_D'r = 0, and a
single one elsewhere. Outputs are affine in b, so that they are sums of those of the two ends. The block is *level* if
the ends are two, or one of them is missing (on at all rows, or at none: B has the output of a bias).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from math import comb

import networkx as nx
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.cones import biases, with_bias
from properties.symbolic.numbers import Number, beside, column, dot, entries, norm2, solve
from properties.symbolic.program import Program, fit, kkt_failures

MOST_BASES = 20_000
MOST_SUPPORTS = 1 << 12
MOST_PLACES = 3_000

Alpha = tuple[Number, ...]


class NotOptimalError(Exception):
    """The residual is not that of a solution; the message says why."""


class TooLargeError(Exception):
    """The definition asks for more cases than are tried here."""


@dataclass(frozen=True)
class Neuron:
    """A neuron that ties: |v| = lambda; w is v, perhaps with a bias, q = X_b w its output; the numbers of the blocks
    that carry it."""

    sign: int
    v: DomainMatrix
    w: DomainMatrix
    q: DomainMatrix
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Optimum:
    """The solutions of a program with the residual r."""

    program: Program
    r: DomainMatrix
    E: tuple[Neuron, ...]
    linear: frozenset[int] = frozenset()  # blocks that are on at all rows, whose biases have no upper end

    @property
    def level(self) -> list[int]:
        """The blocks of which infinitely many neurons tie."""
        carried = [i for one in self.E for i in one.blocks]
        return sorted(self.linear | {i for i in carried if carried.count(i) > 1})

    @cached_property
    def equations(self) -> tuple[DomainMatrix, DomainMatrix]:
        """F and g with W* = {alpha >= 0 : F alpha = g}: outputs and fit, modulo the span of B."""
        Q = beside([a.q for a in self.E], self.program.n, self.program.reals)
        target = self.program.y - self.r
        if self.program.B is None:
            return Q, target
        L = self.program.B.transpose().nullspace()
        return L * Q, L * target

    @cached_property
    def vertices(self) -> tuple[Alpha, ...]:
        """The extreme points of W*: the non-negative solutions on independent outputs (prop:minimal-solutions)."""
        F, g = self.equations
        return vertices(F, g, self.program)

    @property
    def S(self) -> tuple[int, ...]:
        """S_lambda: the neurons (numbers in E) that some solution uses."""
        return tuple(a for a in range(len(self.E)) if any(alpha[a] for alpha in self.vertices))

    @property
    def p_unique(self) -> bool:
        """prop:p-unique, for neurons: the outputs {q_a : a in S} are independent (lemma:unique-cgl). And no weight lies
        on both ends of a level block: one neuron between them has the same output; or on a linear neuron, whose bias is
        any."""
        used = [i for a in self.S for i in self.E[a].blocks]
        moved = any(i in self.linear or used.count(i) > 1 for i in used)
        return not moved and independent([self.equations[0][:, a] for a in self.S])

    @property
    def convex_unique(self) -> bool:
        """lemma:unique-cgl: {X_b v_b : b in S_lambda} are independent; a neuron in two blocks is there twice. With free
        biases (0, b) is in the block that is on everywhere, and c makes up for it."""
        F = self.equations[0]
        if self.program.biases:
            return False
        return independent([F[:, a] for a in self.S for _ in self.E[a].blocks])

    @property
    def dimension(self) -> int:
        """Of the polytope of weights."""
        F = self.equations[0]
        used = [F[:, a] for a in self.S]
        return len(used) - (beside(used, F.shape[0]).rank() if used else 0)

    @property
    def widths(self) -> list[int]:
        """The numbers of neurons of the minimal networks, ascending: m* is the first, M* the last."""
        return sorted(len(support(alpha)) for alpha in self.vertices)

    @cached_property
    def graph(self) -> nx.Graph:
        """Vertices and edges of W*: two vertices are joined iff the least face that holds both is a line."""
        F = self.equations[0]
        graph = nx.Graph()
        graph.add_nodes_from(range(len(self.vertices)))
        for i, j in combinations(range(len(self.vertices)), 2):
            both = sorted({*support(self.vertices[i]), *support(self.vertices[j])})
            if len(both) - beside([F[:, a] for a in both], F.shape[0]).rank() == 1:
                graph.add_edge(i, j)
        return graph

    def components(self, m: int) -> int:
        """The connected components of the set of optimal networks of width m.

        A network is a choice of a neuron (or none) for each of m places and of a split of the weights; it can be moved
        to a vertex whose neurons are in different places, and two of these lie in a common cell iff no place has
        different neurons.
        """
        placed = []
        for alpha in self.vertices:
            used = support(alpha)
            if len(used) > m:
                continue
            for places in permutations(range(m), len(used)):
                placed.append(dict(zip(places, used, strict=True)))
                if len(placed) > MOST_PLACES:
                    raise TooLargeError("too many ways to place the neurons")
        graph = nx.Graph()
        graph.add_nodes_from(range(len(placed)))
        for i, j in combinations(range(len(placed)), 2):
            if all(placed[i][k] == placed[j][k] for k in placed[i].keys() & placed[j].keys()):
                graph.add_edge(i, j)
        return int(nx.number_connected_components(graph)) if placed else 0

    @cached_property
    def shortest(self) -> Alpha:
        """argmin {|alpha|^2 : alpha >= 0, sum alpha_a q_a = yhat} (eq:min-norm-program).

        The minimiser is, on its support, the shortest solution of the linear system; so it is the best of these.
        """
        F, g = self.equations
        reals = self.program.reals
        if 1 << len(self.S) > MOST_SUPPORTS:
            raise TooLargeError("too many supports for the shortest weights")
        best: Alpha | None = None
        for k in range(len(self.S) + 1):
            for T in combinations(self.S, k):
                alpha = _least_norm(F, g, T, self.program)
                if alpha is not None and (best is None or reals.sign(_square(alpha, best)) < 0):
                    best = alpha
        if best is None:
            raise NotOptimalError("no weights give the fit")
        return best

    @property
    def e_equals_a(self) -> bool:
        """E = A(w) for every solution w: there is one, and it uses every neuron that ties."""
        return len(self.vertices) == 1 and all(self.vertices[0]) and not self.level

    def weights(self, alpha: Alpha) -> list[DomainMatrix]:
        """w_b = alpha_b v_b, each neuron in the first of its blocks."""
        reals = self.program.reals
        w = [DomainMatrix.zeros((b.size, 1), reals.domain).to_dense() for b in self.program.blocks]
        for a, neuron in zip(alpha, self.E, strict=True):
            w[neuron.blocks[0]] = w[neuron.blocks[0]] + neuron.w * a
        return w

    def coefficients(self, w: Sequence[DomainMatrix]) -> DomainMatrix | None:
        """c with Xw + Bc = y - r"""
        B = self.program.B
        if B is None:
            return None
        return (B.transpose() * B).inv() * B.transpose() * (self.program.y - self.r - fit(self.program, w))


def optimum(p: Program, r: DomainMatrix, among: Iterable[int] | None = None) -> Optimum:
    """The solutions with the residual r; NotOptimalError if there are none. Blocks that are not `among` these are out.

    r is dual feasible and y - r is a non-negative combination of the outputs of E: then (w, rho) satisfies eq:kkt-cgl.
    """
    reals, carried, linear = p.reals, list[Neuron](), set[int]()
    if p.B is not None and any(entries(p.B.transpose() * r)):
        raise NotOptimalError("B'r is not 0")
    for i in range(len(p.blocks)) if among is None else among:
        b = p.blocks[i]
        v, _, w = p.dual(b, r)
        over = reals.sign(norm2(v) - p.lam**2)
        if over > 0:
            raise NotOptimalError(f"|v_b| > lambda in block {b.name}")
        ends = [w]
        if p.biases and not entries(b.X.transpose() * r)[-1]:
            interval = biases(b.K, v, reals) or ()
            ends = [with_bias(v, one, reals) for one in dict.fromkeys(interval) if one is not None] or ends
            if over == 0 and None in interval:
                linear.add(i)
        if over == 0:
            carried += [Neuron(b.name[0] if p.neurons else 1, v, one, b.X * one, (i,)) for one in ends]
    found = Optimum(p, r, merged(carried) if p.neurons else tuple(carried), frozenset(linear))
    if not found.vertices:
        raise NotOptimalError("y - r is no non-negative combination of the outputs of E")
    return found


def merged(carried: Sequence[Neuron]) -> tuple[Neuron, ...]:
    """Blocks with equal sign and equal v (and bias) are one neuron."""
    out: list[Neuron] = []
    for one in carried:
        for i, known in enumerate(out):
            if known.sign == one.sign and known.w == one.w:
                out[i] = replace(known, blocks=known.blocks + one.blocks)
                break
        else:
            out.append(one)
    return tuple(out)


def kkt_of(found: Optimum, alpha: Alpha) -> list[str]:
    """What eq:kkt-cgl has against w_b = alpha_b v_b with the multipliers of eq:non-negative-regression."""
    p, w = found.program, found.weights(alpha)
    return kkt_failures(p, w, [p.dual(b, found.r)[1] for b in p.blocks], found.coefficients(w))


def support(alpha: Alpha) -> tuple[int, ...]:
    """A(w): the neurons with weight."""
    return tuple(a for a, x in enumerate(alpha) if x)


def independent(vectors: Sequence[DomainMatrix]) -> bool:
    """The columns are linearly independent."""
    return not vectors or beside(vectors, vectors[0].shape[0]).rank() == len(vectors)


def vertices(F: DomainMatrix, g: DomainMatrix, p: Program) -> tuple[Alpha, ...]:
    """All vertices of {alpha >= 0 : F alpha = g}: on every basis of the columns, the solution if it is >= 0."""
    reals, k = p.reals, F.shape[1]
    if k == 0:
        return () if any(entries(g)) else ((),)
    form, pivots = F.hstack(g).rref()
    if k in pivots:
        return ()
    rank = len(pivots)
    if comb(k, rank) > MOST_BASES:
        raise TooLargeError("too many bases for the vertices")
    rows = form.to_dense()[:rank, :]
    found: list[Alpha] = []
    for basis in combinations(range(k), rank):
        columns = [rows[:, j] for j in basis]
        x = solve(beside(columns, rank, reals), rows[:, k]) if rank else column([], reals)
        if x is not None and all(reals.sign(a) >= 0 for a in entries(x)):
            alpha = [reals.domain.zero] * k
            for j, a in zip(basis, entries(x), strict=True):
                alpha[j] = a
            if tuple(alpha) not in found:
                found.append(tuple(alpha))
    return tuple(found)


def _least_norm(F: DomainMatrix, g: DomainMatrix, T: Sequence[int], p: Program) -> Alpha | None:
    """The shortest alpha on T with F alpha = g, if it is >= 0: alpha = F_T'z with F_T F_T'z = g."""
    reals, alpha = p.reals, [p.reals.domain.zero] * F.shape[1]
    if not T:
        return None if any(entries(g)) else tuple(alpha)
    rows = beside([F[:, j] for j in T], F.shape[0], reals)
    gram = rows * rows.transpose()
    form, pivots = gram.hstack(g).rref()
    if gram.shape[0] in pivots:
        return None
    z = [reals.domain.zero] * gram.shape[0]
    listed = form.to_dense().to_list()
    for i, j in enumerate(pivots):
        z[j] = listed[i][gram.shape[0]]
    x = entries(rows.transpose() * column(z, reals))
    if any(reals.sign(a) < 0 for a in x):
        return None
    for j, a in zip(T, x, strict=True):
        alpha[j] = a
    return tuple(alpha)


def _square(a: Alpha, b: Alpha) -> Number:
    """|a|^2 - |b|^2"""
    return sum(x * x for x in a) - sum(x * x for x in b)


def is_minimal(found: Optimum, alpha: Alpha) -> bool:
    """prop:minimal-solutions: the outputs {X_b w_b : b in A(w)} are independent."""
    F = found.equations[0]
    return independent([F[:, a] for a in support(alpha)])


def pruned(found: Optimum, alpha: Alpha) -> Alpha:
    """alg:pruning-solutions, with t = 1/beta_b signed (the printed 1/|beta_b| may go on for ever): a minimal solution.

    While sum beta_a alpha_a q_a = 0 for some beta != 0: w <- (1 - t beta_a) w_a, t = 1/beta_b for the largest |beta_b|.
    """
    F, reals = found.equations[0], found.program.reals
    while not is_minimal(found, alpha):
        used = support(alpha)
        null = beside([F[:, a] * alpha[a] for a in used], F.shape[0], reals).nullspace()
        beta = null.to_dense().to_list()[0]
        largest = beta[0]
        for b in beta[1:]:
            if reals.sign(b * b - largest * largest) > 0:
                largest = b
        new = list(alpha)
        for a, b in zip(used, beta, strict=True):
            new[a] = alpha[a] * (1 - b / largest)
        alpha = tuple(new)
    return alpha


def value(found: Optimum) -> Number:
    """p*(lambda) = y.r - 1/2 |r|^2, by strong duality."""
    p = found.program
    return dot(p.y, found.r) - norm2(found.r) / 2
