"""The exact problem a certificate speaks of: minimise 1/2|sum_b X_b w_b - y|^2 + lambda sum_b |w_b| over w_b in C_b.

Variants: delta/2 sum_b |w_b|^2 more; the logistic loss in the place of the squares; networks over some patterns only;
networks with free terms, whose coefficients or weights are not in the penalty; networks whose outputs are sums over
bags of rows, X_b = P D Z; a leaky ReLU is one of them (FORMAT.md, "Slopes").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import mul
from typing import TYPE_CHECKING, Any

from verify.numbers.integers import cleared
from verify.text import Matrix, Node, Vector

if TYPE_CHECKING:
    from verify.problem.bags import Pooling

OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
SIGNS = {"+": 1, "-": -1}
FIRST = {"relu": "sign", "gated": "pattern", "cgl": "block"}  # what a neuron is named by


@dataclass(frozen=True)
class Bag:
    """A row of P, scale times `times` at `rows`: the output is scale sum_j times_j (z_{rows_j}.w)_+."""

    scale: Fraction
    rows: tuple[int, ...]
    times: tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """Networks: `seen` are the rows of Z (N x d), and y. Direct problems: they are X, with its groups and their K.

    `K[b]` is None, or the rows of the |b| x a matrix whose columns are the constraints K_j.w <= 0.
    `patterns`: the only patterns of a network, as bit masks; None: all of D_Z. `delta` > 0: the elastic variant.
    `blocks`, of a ReLU network that was written out as a direct problem: xi and D of each block.
    `free` names free terms of a ReLU network: `outputs` are their columns, as rows; with free `biases` no norm sees the
    weights of the last column of Z.
    `roots`: an output bias c with the penalty rho/2 c^2, rho the sum of their squares, is a free column on so many rows
    of zeros more (verify.problem.variants.with_zero_rows).
    `targets`: the number of outputs of a ReLU network. Where there are several, y is Y (n x targets), row by row.
    `bags`, of a ReLU network whose outputs are P (Zw)_+: the rows of P (n x N); none: P = I and N = n.
    """

    model: str
    lam: Fraction
    seen: Matrix
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
    bags: tuple[Bag, ...] = ()
    roots: Vector = ()

    @property
    def Z(self) -> Matrix:
        """The rows, where each has its own output: an argument that does not know bags asks for these."""
        if self.bags:
            raise TypeError("this argument is about outputs of single rows, and there are bags")
        return self.seen

    @property
    def n(self) -> int:
        """The number of data points: rows, or bags of rows."""
        return len(self.y) // self.targets

    @property
    def N(self) -> int:
        """The number of rows."""
        return len(self.seen)

    @property
    def points(self) -> int:
        """The number of data points: without the rows of zeros."""
        return self.n - len(self.roots)

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.seen[0])

    @cached_property
    def rows(self) -> list[tuple[list[int], int]]:
        """The rows of Z, each in integers over its denominator."""
        return [cleared(row) for row in self.seen]

    def heights(self, w: Vector) -> Vector:
        """Zw"""
        p, q = cleared(w)
        return tuple(Fraction(sum(map(mul, row, p)), s * q) for row, s in self.rows)

    def output(self, w: Vector) -> Vector:
        """P (Zw)_+"""
        return self.pooled([max(h, Fraction(0)) for h in self.heights(w)])

    def pooled(self, x: Sequence[Any]) -> tuple[Any, ...]:
        """P x"""
        return self.P.pooled(x) if self.bags else tuple(x)

    def spread(self, theta: Sequence[Any]) -> tuple[Any, ...]:
        """t = P'theta: theta.P(Zu)_+ = t.(Zu)_+."""
        return self.P.spread(theta) if self.bags else tuple(theta)

    def reach(self, a: Mapping[int, Fraction]) -> Fraction:
        """| |P| |a| |^2 >= |P a|^2, also of a part of a: sum_k a_k t_k moves by at most |P a| where theta does by 1."""
        return self.P.reach(a) if self.bags else square(tuple(a.values()))

    @cached_property
    def zeta_squared(self) -> Fraction:
        """At least |P D Z|^2 for all 0 <= D <= 1."""
        return self.P.zeta_squared(self.seen) if self.bags else frobenius(self.seen)

    @cached_property
    def P(self) -> Pooling:
        """The bags as a matrix."""
        from verify.problem.bags import Pooling

        return Pooling(self.bags, self.N)

    def length_squared(self, w: Vector) -> Fraction:
        """|w|^2, without the biases where they are free."""
        return square(w[:-1] if self.biases else w)

    def block(self, b: int) -> Matrix:
        """X_b of a direct problem: the columns of group b."""
        return tuple(tuple(row[j] for j in self.groups[b]) for row in self.seen)

    def constraints(self, b: int) -> Matrix:
        """The columns of K_b."""
        return tuple(zip(*(self.K[b] or ()), strict=True))


def read_problem(node: Node) -> Problem:
    """The problem, with shapes that fit together and lambda > 0."""
    said = node.value if isinstance(node.value, dict) else {}
    direct, several = said.get("model") == "cgl", "Y" in said
    keys = ("model", "objective", "lambda", *(("X", "groups", "K") if direct else ("Z",)), "Y" if several else "y")
    some = ("delta", "patterns", "free", "decayed", "bags")
    fields = node.record(*keys, optional=("delta",) if direct else some[2:] if several else some)
    model = fields["model"].text(*(("relu",) if several else ("relu", "gated", "cgl")))
    lam = fields["lambda"].number()
    fields["lambda"].require(lam > 0, "lambda > 0")
    data = fields["X" if direct else "Z"]
    Z = data.matrix()
    data.require(Z and Z[0], "at least one row and one column")
    count = None if "bags" in fields else len(Z)
    if several:
        from verify.problem.outputs import read_targets

        y, targets = read_targets(fields["Y"], count)
    else:
        y, targets = fields["y"].vector(count), 1
    problem = Problem(model, lam, Z, y, targets=targets)
    if "bags" in fields:
        from verify.problem.bags import with_bags

        problem = with_bags(problem, fields)
    if direct or "patterns" in fields:
        from verify.problem.blocks import with_blocks

        problem = with_blocks(problem, fields)
    if several or fields["objective"].value != OBJECTIVE or any(key in fields for key in ("delta", "free", "decayed")):
        from verify.problem.variants import with_variants

        problem = with_variants(problem, fields)
    return problem


def dot(u: Iterable[Fraction], v: Iterable[Fraction]) -> Fraction:
    """u.v"""
    return times((tuple(u),), tuple(v))[0]


def square(u: Vector) -> Fraction:
    """|u|^2"""
    return dot(u, u)


@lru_cache(maxsize=8)
def frobenius(A: Matrix) -> Fraction:
    """|A|_F^2"""
    return sum((square(row) for row in A), Fraction(0))


def times(A: Matrix, u: Vector) -> Vector:
    """Au"""
    b, q = cleared(u)
    return tuple(Fraction(sum(x * y for x, y in zip(a, b, strict=True)), p * q) for a, p in map(cleared, A))


def transposed(A: Matrix, v: Vector) -> Vector:
    """A'v"""
    return times(tuple(zip(*A, strict=True)), v)
