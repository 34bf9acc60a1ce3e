"""Refutations by several solutions of one problem, or by one where more are promised; and by counting patterns."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from verify.errors import Declined
from verify.numbers.bounds import matrix
from verify.problem.blocks import read_patterns, written_out
from verify.problem.problem import Problem, dot, read_problem, square
from verify.refutations.core import (
    MOST_ROWS,
    Optimum,
    correlation,
    d_z,
    dual_vectors,
    line,
    optimum,
    rank,
    read_instance,
    read_optimum,
    read_weights,
)
from verify.text import Node

CONSTANT = 10  # the constant tried against the bound on |D_Z|


def read_pair(node: Node, first: str, second: str, model: str) -> tuple[Problem, Optimum, Optimum]:
    """Two solutions of one problem."""
    fields = node.record("problem", first, second)
    p = read_instance(fields["problem"], model)
    return p, read_optimum(p, fields[first]), read_optimum(p, fields[second])


def group_position(node: Node) -> str:
    """Any two blocks have more than n + 1 columns, so nothing is asked of them; and there are two solutions."""
    p, one, other = read_pair(node, "w", "other", "cgl")
    node.require(all(K is None for K in p.K), "blocks without constraints")
    columns = [len(a) + len(b) for a, b in combinations(p.groups, 2)]
    node.require(bool(columns) and min(columns) > p.n + 1, f"more than n + 1 = {p.n + 1} columns in any two blocks")
    node.require(one.w != other.w, "two different solutions")
    return f"two solutions; any two blocks have at least {min(columns)} > n + 1 = {p.n + 1} columns"


def largest_norm(node: Node) -> str:
    """Two solutions of different norms; sum alpha = r.(y - r)/lambda^2 at both: r.X_b v_b = |v_b|^2 = lambda^2."""
    _, low, high = read_pair(node, "low", "high", "cgl")
    node.require(square(low.alpha) < square(high.alpha), "solutions of different norms")
    lengths = f"|alpha|^2 = {square(low.alpha)} < {square(high.alpha)} at two solutions"
    return f"{lengths}, and sum alpha = {sum(low.alpha)} at both: the program prefers neither"


def width(node: Node) -> str:
    """A solution of k neurons, so m* <= k, and one of more neurons, which no network of width k is mapped to."""
    _, small, large = read_pair(node, "small", "w", "relu")
    k, more = len(small.images()), len(large.images())
    node.require(k < more, "a solution with more neurons than another")
    return f"m* <= {k}, and a solution with {more} different neurons does not fit into width {k}"


def span(node: Node) -> str:
    """A solution of k neurons, so m* <= k, and one whose outputs span more than k dimensions."""
    _, small, large = read_pair(node, "small", "w", "relu")
    k, dimension = len(small.images()), rank(large.outputs(large.active))
    node.require(k < dimension, "outputs that span more dimensions than another solution has neurons")
    return f"m* <= {k}, and the outputs of an optimal network span {dimension} dimensions"


def min_norm_network(node: Node) -> str:
    """The solution of least norm uses two blocks for one neuron."""
    fields = node.record("problem", "w")
    p = read_instance(fields["problem"], "relu")
    at = read_optimum(p, fields["w"])
    # w_b = alpha_b v_b and |v_b| = lambda, so products of solutions are lambda^2 times products of alphas
    least = all(dot(at.alpha, corner) >= square(at.alpha) for corner in at.vertices(node))
    fields["w"].require(least, "the solution of least norm: w.(w' - w) >= 0 at every vertex w'")
    used, neurons = len(at.active), len(at.images())
    fields["w"].require(neurons < used, "two active blocks with one neuron")
    r = 2 * p.lam**2 * square(at.alpha)
    return f"the min-norm solution has {used} active blocks for {neurons} neuron(s): a merge symmetry, r = {r}"


def dual_choice(node: Node) -> str:
    """A block with |v_b| < lambda = |c_b|: not in E by the canonical dual, in E by rho_b = 0, the least dual."""
    fields = node.record("problem", "w")
    p = read_instance(fields["problem"], "relu")
    at = read_optimum(p, fields["w"])
    lengths = [(square(v), square(correlation(p, b, at.r))) for b, v in enumerate(at.v)]
    found = [b for b, (v, c) in enumerate(lengths) if v < p.lam**2 == c]
    node.require(found, "a block with |v_b| < lambda = |c_b|")
    b = found[0]
    return f"block {b}: |v_b|^2 = {lengths[b][0]} < lambda^2 = {p.lam**2} = |c_b|^2, so rho_b = 0 puts it into E"


def permutations(node: Node) -> str:
    """lambda > lambda_max: zero is the only optimal network of any width."""
    fields = node.record("problem", "m")
    p = read_instance(fields["problem"], "relu")
    m = fields["m"].index(1000)
    fields["m"].require(m >= 2, "a width of at least 2")
    largest = max(map(square, dual_vectors(p, p.y)))
    node.require(largest < p.lam**2, "lambda > lambda_max")
    return f"lambda_max^2 = {largest} < {p.lam**2}: the zero network alone is optimal, of width {m} too: 1 < {m}!"


def closed_faces(node: Node) -> str:
    """The gated optimum over D_Z is below that over the open cells."""
    fields = node.record("problem", "w", "open", "w_open")
    p, network = read_instance(fields["problem"], "gated"), read_problem(fields["problem"])
    masks = read_patterns(fields["open"], p.n)
    is_open = d_z(network.Z, node)
    fields["open"].require(set(masks) == {mask for mask in is_open if is_open[mask]}, "the patterns of the open cells")
    cells = written_out(network, masks)
    values = read_optimum(p, fields["w"]).value, read_optimum(cells, fields["w_open"]).value
    node.require(values[0] != values[1], "two different optima")
    return f"the gated optimum is {values[0]} over D_Z and {values[1]} over its open cells"


def count(node: Node) -> str:
    """|D_Z| > 10 r (n/r)^r"""
    fields = node.record("Z")
    Z = fields["Z"].matrix()
    if not Z or len(Z[0]) > MOST_ROWS:
        raise Declined(fields["Z"].place, f"at most {MOST_ROWS} rows and columns", "none or more")
    n, r = len(Z), rank(Z)
    fields["Z"].require(r > 0, "Z != 0")
    found, bound = len(d_z(Z, node)), CONSTANT * r * Fraction(n, r) ** r
    node.require(found > bound, "more patterns than the bound")
    return f"|D_Z| = {found} > {bound} = {CONSTANT} r (n/r)^r, n = {n}, r = {r}"


def sub_sampled(node: Node) -> str:
    """Two solutions of a sub-sampled ReLU problem, on an open set of data (REFUTATIONS.md)."""
    fields = node.record("problem", "w", "other")
    p = read_instance(fields["problem"], "relu", complete=False)
    one = read_optimum(p, fields["w"])
    other = optimum(p, read_weights(p, fields["other"]), fields["other"])
    masks = list(dict.fromkeys(D for _, D in p.blocks))
    d, size = len(p.groups[0]), len(masks)
    ones = min(D.bit_count() for D in masks)
    node.require(ones >= size * d, f"patterns with at least p d = {size * d} ones")
    E = one.E
    node.require(len(E) == size == len({p.blocks[b][1] for b in E}), "one tied block for each pattern")
    node.require(one.active == E and one.w != other.w, "two solutions, one with all tied blocks in use")
    q = one.outputs(E)
    node.require(rank(q) == size - 1, f"{size - 1} independent outputs among {size}")
    inside = all(dot(k, one.v[b]) < 0 for b in E for k in p.constraints(b))
    node.require(inside, "neurons strictly inside their cones")
    order = [p.blocks[b][1] for b in E]
    kinds = sorted({tuple(D >> k & 1 for D in order) for k in range(p.n)})
    system = [tuple(Fraction(a * b) for a, b in zip(s, t, strict=True)) for s, t in product(kinds, repeat=2)]
    null, nullity = matrix(system, size).numer_denom()[0].nullspace()
    node.require(nullity == 1, "one dependence of the D_i D_i', whatever Z is")
    c = [Fraction(int(null[i, 0])) for i in range(size)]
    return (
        f"two solutions with {size} patterns of >= {ones} ones, p d = {size * d}; sum c_i D_i zz' D_i = 0 for all z, "
        f"c ~ {line(c)}: so on an open set"
    )
