"""The exact problem a certificate speaks of: minimise 1/2|sum_b X_b w_b - y|^2 + lambda sum_b |w_b| over w_b in C_b.

Variants: delta/2 sum_b |w_b|^2 more; the logistic loss in the place of the squares; networks over some patterns only;
networks with free terms, whose coefficients or weights are not in the penalty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import mul

from verify.text import Matrix, Node, Vector

OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
SIGNS = {"+": 1, "-": -1}
FIRST = {"relu": "sign", "gated": "pattern", "cgl": "block"}  # what a neuron is named by


@dataclass(frozen=True)
class Problem:
    """Networks: the data Z (n x d) and y. Direct problems: `Z` is X, with its groups of columns and their K.

    `K[b]` is None, or the rows of the |b| x a matrix whose columns are the constraints K_j.w <= 0.
    `patterns`: the only patterns of a network, as bit masks; None: all of D_Z. `delta` > 0: the elastic variant.
    `blocks`, of a ReLU network that was written out as a direct problem: xi and D of each block.
    `free` names free terms of a ReLU network: `outputs` are their columns, as rows; with free `biases` no norm sees the
    weights of the last column of Z.
    `targets`: the number of outputs of a ReLU network. Where there are several, y is Y (n x targets), row by row.
    """

    model: str
    lam: Fraction
    Z: Matrix
    y: Vector
    groups: tuple[tuple[int, ...], ...] = ()
    K: tuple[Matrix | None, ...] = ()
    patterns: tuple[int, ...] | None = None
    delta: Fraction = Fraction(0)
    logistic: bool = False
    blocks: tuple[tuple[int, int], ...] = ()
    free: tuple[str, ...] = ()
    outputs: Matrix = ()
    biases: bool = False
    targets: int = 1

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y) // self.targets

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.Z[0])

    @cached_property
    def rows(self) -> list[tuple[list[int], int]]:
        """The rows of Z, each in integers over its denominator."""
        return [cleared(row) for row in self.Z]

    def times(self, w: Vector) -> Vector:
        """Zw"""
        p, q = cleared(w)
        return tuple(Fraction(sum(map(mul, row, p)), s * q) for row, s in self.rows)

    def length_squared(self, w: Vector) -> Fraction:
        """|w|^2, without the biases where they are free."""
        return square(w[:-1] if self.biases else w)

    def block(self, b: int) -> Matrix:
        """X_b of a direct problem: the columns of group b."""
        return tuple(tuple(row[j] for j in self.groups[b]) for row in self.Z)

    def constraints(self, b: int) -> Matrix:
        """The columns of K_b."""
        return tuple(zip(*(self.K[b] or ()), strict=True))


def read_problem(node: Node) -> Problem:
    """The problem, with shapes that fit together and lambda > 0."""
    if isinstance(node.value, dict) and "Y" in node.value:
        from verify.outputs.problem import read_several

        return read_several(node)
    direct = isinstance(node.value, dict) and node.value.get("model") == "cgl"
    keys = ("model", "objective", "lambda", *(("X", "groups", "K") if direct else ("Z",)), "y")
    fields = node.record(*keys, optional=("delta",) if direct else ("delta", "patterns", "free"))
    model = fields["model"].text("relu", "gated", "cgl")
    lam = fields["lambda"].number()
    fields["lambda"].require(lam > 0, "lambda > 0")
    data = fields["X" if direct else "Z"]
    Z = data.matrix()
    data.require(Z and Z[0], "at least one row and one column")
    y = fields["y"].vector(len(Z))
    problem = Problem(model, lam, Z, y)
    if direct or "patterns" in fields:
        from verify.blocks import with_blocks

        problem = with_blocks(problem, fields)
    if fields["objective"].value != OBJECTIVE or "delta" in fields or "free" in fields:
        from verify.variants import with_variants

        problem = with_variants(problem, fields)
    return problem


def dot(u: Iterable[Fraction], v: Iterable[Fraction]) -> Fraction:
    """u.v"""
    return times((tuple(u),), tuple(v))[0]


def square(u: Vector) -> Fraction:
    """|u|^2"""
    return dot(u, u)


def times(A: Matrix, u: Vector) -> Vector:
    """Au"""
    b, q = cleared(u)
    return tuple(Fraction(sum(x * y for x, y in zip(a, b, strict=True)), p * q) for a, p in map(cleared, A))


def transposed(A: Matrix, v: Vector) -> Vector:
    """A'v"""
    return times(tuple(zip(*A, strict=True)), v)


def cleared_rows(A: Matrix) -> tuple[list[list[int]], int]:
    """Rows of integers P and the least q > 0 with A = P / q."""
    q = lcm(*(x.denominator for row in A for x in row))
    return [[x.numerator * (q // x.denominator) for x in row] for row in A], q


def cleared(u: Iterable[Fraction]) -> tuple[list[int], int]:
    """Integers p and the least q > 0 with u = p / q."""
    (p,), q = cleared_rows((tuple(u),))
    return p, q
