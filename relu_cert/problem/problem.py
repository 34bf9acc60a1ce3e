"""The constrained group lasso of the paper (eq:constrained-gl).

    minimise over w   P(w) = 1/2 |sum_b X_b w_b - y|^2 + lambda sum_b |w_b|   subject to   K_b' w_b <= 0

There are two kinds. The neurons of a ReLU network over all patterns are maximisers of concave pieces (`network`). All
other problems have blocks: gated networks, networks over some patterns (`patterned` says where theirs come from), and
group lassos given directly. Two variants have the same blocks and cones:

    delta > 0            P(w) + delta/2 sum_b |w_b|^2                                        (eq:l2-penalized-cgl)
    loss = LOGISTIC      sum_k log(1 + exp(-y_k (Xw)_k)) + lambda sum_b |w_b|,  y_k = +-1    (app:general-losses)

A ReLU network may have free terms: Xw + Bc in the place of Xw, and biases that are not in |w_b|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Literal, overload

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each
from relu_cert.exact import Matrix, Scaled, Vector, matrix_of, norm_squared, scaled_rows
from relu_cert.patterns.pattern_set import PatternSet, bit_string
from relu_cert.problem.loss import SQUARES, Loss

_ZERO = Fraction(0)

Model = Literal["relu", "gated", "cgl"]


class _Pickled:
    """What is pickled leaves out the matrix for flint: it cannot be, and is made again."""

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key != "matrix"}


@dataclass(frozen=True)
class Block(_Pickled):
    """One group b: X_b (n x |b|) and the columns of K_b (|b| x a), or None where w_b is free."""

    X: Matrix
    K: Matrix | None

    @cached_property
    def columns(self) -> tuple[list[list[int]], int]:
        """X_b' as integers over one denominator."""
        rows, q = scaled_rows(self.X)
        return [list(column) for column in zip(*rows, strict=True)], q

    @cached_property
    def matrix(self) -> fmpq_mat:
        """X_b for flint."""
        columns, q = self.columns
        N = fmpz_mat(len(columns), len(columns[0]) if columns else 0, [x for column in columns for x in column])
        return fmpq_mat(N.transpose()) * fmpq(1, q)

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """X_b in float64, each entry correctly rounded."""
        width = len(self.X[0]) if self.X else 0
        return np.array([[float(x) for x in row] for row in self.X], dtype=np.float64).reshape(-1, width)

    @cached_property
    def largest(self) -> Fraction:
        """max |x| over the entries x of X_b."""
        columns, q = self.columns
        return Fraction(max((abs(x) for column in columns for x in column), default=0), q)

    @cached_property
    def size_squared(self) -> Fraction:
        """|X_b|_F^2"""
        columns, q = self.columns
        return Fraction(sum(sum(map(mul, column, column)) for column in columns), q * q)

    def correlation(self, r: Scaled) -> Vector:
        """X_b'r"""
        columns, q = self.columns
        return tuple(Fraction(sum(map(mul, column, r.entries)), q * r.denominator) for column in columns)


class Gate(Block):
    """D Z of a gated network over all patterns. The bound on its size, |Z|_F, is the same for all."""

    def __init__(self, X: Matrix, size_squared: Fraction) -> None:
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "K", None)
        self.__dict__["size_squared"] = size_squared


@dataclass(frozen=True, eq=False)
class Gates(Sequence[Block]):
    """D Z for all patterns D of the data, made when they are asked for: there may be a million of them."""

    Z: Matrix
    patterns: PatternSet

    def __len__(self) -> int:
        return len(self.patterns)

    @overload
    def __getitem__(self, b: int) -> Block: ...
    @overload
    def __getitem__(self, b: slice) -> Sequence[Block]: ...
    def __getitem__(self, b: int | slice) -> Block | Sequence[Block]:
        if isinstance(b, slice):
            return [self[i] for i in range(*b.indices(len(self)))]
        on, zero = self.patterns.pattern(range(len(self))[b]), (_ZERO,) * self.patterns.d
        return Gate(tuple(z if on_k else zero for on_k, z in zip(on, self.Z, strict=True)), self.size_squared)

    @cached_property
    def size_squared(self) -> Fraction:
        """|Z|_F^2"""
        return sum((norm_squared(z) for z in self.Z), _ZERO)

    def lengths_squared(self, r: Vector) -> list[Fraction]:
        """|Z'D r|^2 for every pattern D."""
        N, q = scaled_rows([tuple(r_k * x for x in row) for r_k, row in zip(r, self.Z, strict=True)])
        on = self.patterns.array().astype(np.int8)
        sums = (fmpz_mat(len(on), len(r), on.ravel().tolist()) * fmpz_mat(N)).tolist()
        return [Fraction(int(sum(a * a for a in v)), q * q) for v in sums]


@dataclass(frozen=True, eq=False)
class Network(_Pickled):
    """What a ReLU network is built from: the rows, the bags of rows that are data points, and all activation patterns.
    Equal only to itself.

    `all` is None where the patterns are not listed: then proofs rest on a cover.
    """

    Z: Matrix
    all: PatternSet | None
    bags: Each = EACH

    @cached_property
    def integers(self) -> tuple[list[list[int]], int]:
        """Z as integers over one denominator."""
        return scaled_rows(self.Z)

    @cached_property
    def matrix(self) -> fmpq_mat:
        """Z for flint."""
        return matrix_of(self.Z)

    @cached_property
    def _rows(self) -> NDArray[np.object_]:
        """Z as integers, as an array."""
        return np.array(self.integers[0], dtype=object).reshape(len(self.Z), -1)

    def block(self, pattern: str) -> fmpq_mat:
        """P D Z"""
        on = np.array([bit == "1" for bit in pattern])
        rows = self.bags.sums(np.where(on[:, None], self._rows, 0))
        return fmpq_mat(fmpz_mat(rows.tolist())) * fmpq(1, self.integers[1] * self.bags.unit)

    @cached_property
    def size_squared(self) -> Fraction:
        """zeta^2 >= |P (Zu)_+|^2 / |u|^2; |Z|_F^2 without bags."""
        N, q = self.integers
        return self.bags.size_squared([sum(x * x for x in z) for z in N]) / q**2

    @property
    def patterns(self) -> PatternSet:
        """All patterns, where they are listed."""
        if self.all is None:
            raise ValueError("the patterns of this network are not listed")
        return self.all


@dataclass(frozen=True, eq=False)
class Patterned:
    """Where the blocks of a network come from: the data, and `some` patterns, all different, or `all` those of D_Z.

    Block numbers: gated ReLU, the pattern's number; ReLU, 2 * pattern for xi = +1 and 2 * pattern + 1 for xi = -1.
    `gates` (empty, or one for each pattern) are vectors u with 1(Zu >= 0) = D, None where none is known.
    """

    model: Literal["relu", "gated"]
    Z: Matrix
    some: tuple[str, ...]
    all: PatternSet | None = None
    gates: tuple[Vector | None, ...] = ()

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The patterns, in order."""
        return self.some if self.all is None else self.all.texts()

    def gate(self, pattern: str) -> Vector | None:
        """A vector u with 1(Zu >= 0) = D, if one is known."""
        number = self.patterns.index(pattern)
        if self.all is not None:
            return tuple(Fraction(x) for x in self.all.witness(number))
        return self.gates[number] if self.gates else None

    def sign(self, block: int) -> int:
        """xi of a block (+1 for gated ReLU)."""
        return -1 if self.model == "relu" and block % 2 else 1

    def pattern(self, block: int) -> str:
        """D of a block."""
        number = block // 2 if self.model == "relu" else block
        return self.some[number] if self.all is None else bit_string(self.all.pattern(number))


@dataclass(frozen=True)
class Problem:
    """A CGL problem: of a ReLU `network`, which has no blocks here, or of `blocks`.

    `model` says what certificates name neurons by: their sign and direction (relu), their pattern (gated), or the
    number of their block (cgl).
    `columns` (direct problems only) are the columns of X that each block took.
    `patterned`: the blocks are those of a network over the patterns named there.
    `free`: the terms of a ReLU network that are not penalised (relu_cert.free). `appended`: the last column of Z
    is the ones of a bias, no input, and a skip connection has no weight for it. `roots`: the output bias is decayed,
    and the last rows are zeros for it (relu_cert.free).
    `targets`: the number of outputs of a ReLU network; where there are several, y is Y (n x targets), row by row.
    """

    model: Model
    y: Vector
    blocks: Sequence[Block]
    network: Network | None = None
    columns: tuple[tuple[int, ...], ...] | None = None
    patterned: Patterned | None = None
    delta: Fraction = _ZERO
    loss: Loss = SQUARES
    free: tuple[str, ...] = ()
    appended: bool = False
    roots: Vector = ()
    targets: int = 1

    @property
    def relu(self) -> Network:
        """The network of a ReLU problem over all patterns."""
        if self.network is None:
            raise ValueError("this problem has blocks, and no ReLU network over all patterns")
        return self.network

    @property
    def source(self) -> Network | Patterned | None:
        """The data and patterns of a network; None for a problem that was given directly."""
        return self.network or self.patterned

    def pattern(self, block: int) -> str | None:
        """The pattern that is the name of a block: of a gated network."""
        return self.patterned.pattern(block) if self.model == "gated" and self.patterned is not None else None

    @property
    def unlisted(self) -> bool:
        """Whether this is a ReLU network whose patterns are not listed."""
        return self.network is not None and self.network.all is None

    @property
    def listed(self) -> PatternSet | None:
        """D_Z, where the blocks are all of its patterns."""
        return None if self.source is None else self.source.all

    @property
    def some(self) -> tuple[str, ...]:
        """The patterns of a network over some of them only."""
        return () if self.patterned is None else self.patterned.some

    @property
    def plain(self) -> bool:
        """Least squares of one output without delta and free terms: the problem of the paper itself."""
        return not self.delta and self.loss is SQUARES and not self.free and self.targets == 1

    @property
    def kind(self) -> Model:
        """What the blocks are, also where they are written out: those of a ReLU or gated network, or given directly."""
        return self.model if self.patterned is None else self.patterned.model

    @property
    def n(self) -> int:
        """The number of rows of the program."""
        return len(self.y) // self.targets

    @cached_property
    def Y(self) -> Matrix:
        """The targets, a row for each data point."""
        C = self.targets
        return tuple(self.y[C * k : C * (k + 1)] for k in range(self.n))

    @property
    def points(self) -> int:
        """The number of data points: without the rows of zeros for a decayed bias."""
        return self.n - len(self.roots)
