"""The exact problem a certificate speaks of: minimise 1/2|sum_b X_b w_b - y|^2 + lambda sum_b |w_b| over w_b in C_b."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from verify.text import Matrix, Node, Vector

OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"


@dataclass(frozen=True)
class Problem:
    """Networks: the data Z (n x d) and y. Direct problems: `Z` is X, with its groups of columns and their K.

    `K[b]` is None, or the rows of the |b| x a matrix whose columns are the constraints K_j.w <= 0.
    """

    model: str
    lam: Fraction
    Z: Matrix
    y: Vector
    groups: tuple[tuple[int, ...], ...] = ()
    K: tuple[Matrix | None, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.Z[0])

    def block(self, b: int) -> Matrix:
        """X_b of a direct problem: the columns of group b."""
        return tuple(tuple(row[j] for j in self.groups[b]) for row in self.Z)


def read_problem(node: Node) -> Problem:
    """The problem, with shapes that fit together and lambda > 0."""
    direct = isinstance(node.value, dict) and node.value.get("model") == "cgl"
    fields = node.record("model", "objective", "lambda", *(("X", "groups", "K") if direct else ("Z",)), "y")
    model = fields["model"].text("relu", "gated", "cgl")
    fields["objective"].text(OBJECTIVE)
    lam = fields["lambda"].number()
    if lam <= 0:
        raise fields["lambda"].reject("lambda > 0")
    data = fields["X" if direct else "Z"]
    Z = data.matrix()
    if not Z or not Z[0]:
        raise data.reject("at least one row and one column")
    y = fields["y"].vector(len(Z))
    if not direct:
        return Problem(model, lam, Z, y)
    groups = read_groups(fields["groups"], len(Z[0]))
    K = tuple(read_cone(K_b, len(b)) for K_b, b in zip(fields["K"].array(len(groups)), groups, strict=True))
    return Problem(model, lam, Z, y, groups, K)


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
    if len(K) != size:
        raise node.reject(f"null or {size} rows", f"{len(K)} rows")
    return K


def dot(u: Iterable[Fraction], v: Iterable[Fraction]) -> Fraction:
    """u.v"""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def square(u: Vector) -> Fraction:
    """|u|^2"""
    return dot(u, u)


def times(A: Matrix, u: Vector) -> Vector:
    """Au"""
    return tuple(dot(row, u) for row in A)


def transposed(A: Matrix, v: Vector) -> Vector:
    """A'v"""
    return tuple(dot(column, v) for column in zip(*A, strict=True))


def cleared(u: Iterable[Fraction]) -> tuple[list[int], int]:
    """Integers p and the least q > 0 with u = p / q."""
    u = tuple(u)
    q = lcm(*(x.denominator for x in u))
    return [x.numerator * (q // x.denominator) for x in u], q
