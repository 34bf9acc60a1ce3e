"""Problems of blocks: direct problems, networks over some patterns, written out as such, and gated networks, which have
a block D Z without a cone for each pattern D: no multiplier is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from verify.errors import bounded
from verify.numbers.integers import cleared
from verify.numbers.patterns import Patterns, Row, on_bits
from verify.problem.problem import Problem, dot, square, times, transposed
from verify.text import Fields, Matrix, Node, Vector, bit_text, show

MOST_WRITTEN_OUT = 2**26  # numbers in the blocks of a network


def with_blocks(problem: Problem, fields: Fields) -> Problem:
    """The problem with its groups and their cones, or with the only patterns of the network."""
    if problem.model != "cgl":
        return replace(problem, patterns=read_patterns(fields["patterns"], problem.n))
    groups = read_groups(fields["groups"], problem.d)
    K = tuple(read_cone(K_b, len(b)) for K_b, b in zip(fields["K"].array(len(groups)), groups, strict=True))
    return replace(problem, groups=groups, K=K)


def read_patterns(node: Node, n: int) -> tuple[int, ...]:
    """The only patterns of a network: at least one, all different."""
    masks = tuple(entry.pattern(n) for entry in node.array())
    node.require(masks and len(set(masks)) == len(masks), "at least one pattern, and each pattern once")
    return masks


def read_groups(node: Node, columns: int) -> tuple[tuple[int, ...], ...]:
    """Groups of column indices that are not empty and partition range(columns)."""
    groups = tuple(tuple(j.index(columns) for j in group.array()) for group in node.array())
    if not all(groups) or sorted(j for group in groups for j in group) != list(range(columns)):
        raise node.reject(f"groups that are not empty and hold each of the {columns} columns once")
    return groups


def read_cone(node: Node, size: int) -> Matrix | None:
    """K_b with one row for each column of the group, or None for a free block."""
    if node.value is None:
        return None
    K = node.matrix()
    node.require(len(K) == size, f"null or {size} rows", f"{len(K)} rows")
    return K


def written_out(problem: Problem, masks: Sequence[int]) -> Problem:
    """A network over these patterns as a direct problem: X_b = xi D Z, K_b = -Z'(2D - I); gated: D Z, no cone."""
    signs = (1, -1) if problem.model == "relu" else (1,)
    n, d = problem.n, problem.d
    bounded(len(masks) * len(signs) * n * d, MOST_WRITTEN_OUT, "numbers in blocks", "certificate.problem")
    pairs = tuple((xi, D) for D in masks for xi in signs)
    zero, minus = (Fraction(0),) * d, tuple(tuple(-z for z in row) for row in problem.Z)
    rows = []
    for k, (row, opposite) in enumerate(zip(problem.Z, minus, strict=True)):
        parts = ((row if xi > 0 else opposite) if D >> k & 1 else zero for xi, D in pairs)
        rows.append(tuple(z for part in parts for z in part))
    groups = tuple(tuple(range(b * d, (b + 1) * d)) for b in range(len(pairs)))
    if problem.model != "relu":
        return replace(problem, model="cgl", seen=tuple(rows), groups=groups, K=(None,) * len(groups))
    cones = [tuple(minus[k] if D >> k & 1 else problem.Z[k] for k in range(n)) for D in masks]
    K = tuple(tuple(zip(*cone, strict=True)) for cone in cones for _ in signs)
    return replace(problem, model="cgl", seen=tuple(rows), groups=groups, K=K, blocks=pairs)


def block_output(problem: Problem, patterns: Patterns | None, first: Node, node: Node) -> tuple[Vector, Vector]:
    """Gated: D Z w and w, for D in D_Z. Direct: X_b w and w, for w with K_b'w <= 0."""
    if problem.model == "gated":
        mask, w = gated_pattern(problem, patterns, first), node.vector(problem.d)
        return tuple(x if mask >> k & 1 else Fraction(0) for k, x in enumerate(problem.heights(w))), w
    b = first.index(len(problem.groups))
    w = node.vector(len(problem.groups[b]))
    for j, K_j in enumerate(problem.constraints(b)):
        node.require((slack := dot(K_j, w)) <= 0, f"K_j.w <= 0 for the constraint {j} of block {b}", show(slack))
    return times(problem.block(b), w), w


def check_direct(problem: Problem, theta: Vector, squared: Fraction, node: Node) -> None:
    """|X_b' theta - K_b rho|^2 <= squared with rho >= 0 for every block."""
    for b, entry in enumerate(node.array(len(problem.groups))):
        length = square(pushed(problem, theta, b, entry))
        if length > squared:
            raise entry.reject(f"|X_b'theta - K_b rho|^2 <= {show(squared)}", show(length))


def pushed(problem: Problem, theta: Vector, b: int, entry: Node) -> Vector:
    """X_b'theta - K_b rho with the rho >= 0 of an entry (null: rho = 0)."""
    c = transposed(problem.block(b), theta)
    K = problem.K[b]
    if entry.value is None:
        return c
    if K is None:
        raise entry.reject("null, because the block is free")
    rho = entry.vector(len(K[0]))
    entry.require(all(x >= 0 for x in rho), "multipliers >= 0")
    return tuple(c_i - k_i for c_i, k_i in zip(c, times(K, rho), strict=True))


def gated_pattern(problem: Problem, patterns: Patterns | None, node: Node) -> int:
    """A pattern of D_Z."""
    mask = node.pattern(problem.n)
    node.require(patterns is not None and mask in patterns, "a pattern in D_Z, by the fact patterns")
    return mask


def gated_rows(patterns: Patterns, theta: Vector, multipliers: Node) -> Iterator[Row]:
    """m = D theta for every pattern D; no multipliers are given."""
    multipliers.require(multipliers.value is None, "null")
    p, q = cleared(theta)
    for mask in patterns.masks:
        yield mask, on_bits(bit_text(mask, len(p)), p), q


def check_reached(problem: Problem, patterns: Patterns | None, y: Vector, squared: Fraction, node: Node) -> None:
    """|Z'D y|^2 = squared for the pattern D."""
    pattern = node.record("pattern")["pattern"]
    mask = gated_pattern(problem, patterns, pattern)
    reached = square(transposed(problem.Z, tuple(y_k if mask >> k & 1 else Fraction(0) for k, y_k in enumerate(y))))
    pattern.require(reached == squared, f"|Z'D y|^2 = {show(squared)}", show(reached))
